/* SPDX-License-Identifier: MIT */
/* What the public headers say of all calls alike, tried with each of them. */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfile/edit.h>
#include <perfile/profile.h>
#include <perfile/recorder.h>
#include <perfile/table.h>

#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

static struct perfile_reader *reader;
static struct perfile_writer *writer;
static struct perfile_error error;
static uint8_t *block;

static int discard(void *context, const void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return 0;
}

static const struct perfile_sink nowhere = {.write = discard};

static void open_both(void)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct recording r;
    options.mode = PERFILE_MODE_PIPE;
    recording_open(&r, TYPE, false);
    recording_comm(&r, 7, "worker", 1);
    recording_sample(&r, 0x1800, 7, 10);
    recording_sample(&r, 0x1800, 7, 11);
    recording_finish(&r);
    reader = recording_read(&r, &block);
    recording_close(&r);
    assert_int_equal(perfile_writer_open_sink(&nowhere, &options, &writer, &error), 0);
}

static void close_both(void)
{
    perfile_writer_close(writer);
    perfile_close(reader);
    free(block);
}

/* ---- structs that begin with their size ------------------------------------------------------------------------ */

static int open_reader(const void *sized)
{
    struct perfile_reader *other;
    int result = perfile_open_memory(block, 200, sized, &other, &error);
    perfile_close(other);
    return result;
}

static int open_writer(const void *sized)
{
    struct perfile_writer *other;
    int result = perfile_writer_open_sink(&nowhere, sized, &other, &error);
    perfile_writer_close(other);
    return result;
}

static int add_event(const void *sized)
{
    return perfile_writer_add_event(writer, sized, NULL, &error);
}

static int put_sample(const void *sized)
{
    const struct perfile_attr attr = {.type = 1};
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    return perfile_writer_add_event(writer, &event, NULL, &error) < 0
               ? -1
               : perfile_writer_sample(writer, 0, 2, sized, &error);
}

static int record_this(const void *sized)
{
    struct perfile_recorder *recorder;
    return perfile_recorder_open(sized, writer, &recorder, &error);
}

static int cut(const void *sized)
{
    return perfile_cut(reader, writer, sized, NULL, &error);
}

static int cut_with(const void *sized)
{
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    options.edit = sized;
    return cut(&options);
}

static int split(const void *sized)
{
    return perfile_split(reader, NULL, sized, NULL, &error);
}

static int convert(const void *sized)
{
    return perfile_convert(reader, writer, sized, NULL, &error);
}

static int inject(const void *sized)
{
    return perfile_inject(reader, writer, sized, NULL, &error);
}

static int anonymize(const void *sized)
{
    return perfile_anonymize(reader, writer, sized, NULL, &error);
}

static int merge(const void *sized)
{
    struct perfile_merge_report report = PERFILE_MERGE_REPORT_INIT;
    return perfile_merge(writer, sized, &report, &error);
}

static int repair(const void *sized)
{
    return perfile_repair(reader, writer, sized, NULL, &error);
}

static int visit_attr(const void *sized)
{
    return perfile_attr_visit(perfile_event_get(reader, 0), sized, &error);
}

static int visit_record(const void *sized)
{
    const struct perfile_record *record;
    return perfile_reader_next(reader, &record, &error) < 0 ? -1 : perfile_record_visit(reader, record, sized, &error);
}

static int visit_feature(const void *sized)
{
    return perfile_feature_visit(reader, PERFILE_FEATURE_HOSTNAME, sized, &error);
}

static int write_output(const void *sized)
{
    return perfile_output_write(reader, "script", "text", sized, &nowhere, &error);
}

static int open_stream(const void *sized)
{
    struct perfile_stream *stream;
    return perfile_stream_open(reader, sized, &stream, &error);
}

/* The structs that options point at. */

static int cut_by(const void *sized)
{
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    options.filter = sized;
    return cut(&options);
}

#define WRITE_WITH(member)                                                                                             \
    static int write_with_##member(const void *sized)                                                                  \
    {                                                                                                                  \
        struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;                                           \
        options.member = sized;                                                                                        \
        return write_output(&options);                                                                                 \
    }
WRITE_WITH(filter)
WRITE_WITH(symbols)
WRITE_WITH(flame)
WRITE_WITH(report)
WRITE_WITH(script)
WRITE_WITH(dump)
WRITE_WITH(stat)
WRITE_WITH(exports)
WRITE_WITH(annotate)
WRITE_WITH(events)
WRITE_WITH(changes)

static int filter_stream(const void *sized)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    options.filter = sized;
    return open_stream(&options);
}

static int find_for_stream(const void *sized)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    options.symbols = sized;
    return open_stream(&options);
}

static int open_unwinder(const void *sized)
{
    struct perfile_unwinder *unwinder;
    return perfile_unwinder_open(reader, sized, &unwinder, &error);
}

static int open_unwind_stage(const void *sized)
{
    struct perfile_unwind_stage *stage;
    const int result = perfile_unwind_stage_open(sized, &stage, &error);
    perfile_unwind_stage_close(stage);
    return result;
}

static int open_table(const void *sized)
{
    struct perfile_table *table;
    return perfile_table_open(reader, "samples", sized, &table, &error);
}

static int filter_table(const void *sized)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    options.filter = sized;
    return open_table(&options);
}

static int find_for_table(const void *sized)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    options.symbols = sized;
    return open_table(&options);
}

static int table_by(const void *sized)
{
    struct perfile_table_options options = PERFILE_TABLE_OPTIONS_INIT;
    options.report = sized;
    return open_table(&options);
}

static int open_jit(const void *sized)
{
    struct perfile_jit *jit;
    return perfile_jit_open(reader, sized, "/nonexistent", &jit, &error);
}

static int open_profile(const void *sized)
{
    struct perfile_profile *profile;
    return perfile_profile_open(reader, sized, &profile, &error);
}

static int merge_profiles(const void *sized)
{
    struct perfile_profile *merged;
    return perfile_profile_merge(NULL, 0, sized, &merged, &error);
}

static int filter_profile(const void *sized)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    options.filter = sized;
    return open_profile(&options);
}

static int find_for_profile(const void *sized)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    options.symbols = sized;
    return open_profile(&options);
}

static int open_resolver(const void *sized)
{
    struct perfile_resolver *resolver;
    return perfile_resolver_open(reader, NULL, sized, &resolver, &error);
}

static int find_for_resolver(const void *sized)
{
    struct perfile_resolver_options options = PERFILE_RESOLVER_OPTIONS_INIT;
    options.symbols = sized;
    return open_resolver(&options);
}

static const struct {
    int (*call)(const void *sized);
    size_t bytes;
} calls[] = {
    {open_reader, sizeof(struct perfile_open_options)},
    {open_writer, sizeof(struct perfile_writer_options)},
    {add_event, sizeof(struct perfile_event_spec)},
    {put_sample, sizeof(struct perfile_sample)},
    {record_this, sizeof(struct perfile_recorder_options)},
    {cut, sizeof(struct perfile_cut_options)},
    {cut_with, sizeof(struct perfile_edit_options)},
    {split, sizeof(struct perfile_split_options)},
    {convert, sizeof(struct perfile_convert_options)},
    {inject, sizeof(struct perfile_inject_options)},
    {anonymize, sizeof(struct perfile_anonymize_options)},
    {merge, sizeof(struct perfile_merge_options)},
    {repair, sizeof(struct perfile_edit_options)},
    {visit_attr, sizeof(struct perfile_visitor)},
    {visit_record, sizeof(struct perfile_visitor)},
    {visit_feature, sizeof(struct perfile_visitor)},
    {write_output, sizeof(struct perfile_output_options)},
    {open_stream, sizeof(struct perfile_stream_options)},
    {open_table, sizeof(struct perfile_table_options)},
    {filter_table, sizeof(struct perfile_filter)},
    {find_for_table, sizeof(struct perfile_symbol_options)},
    {table_by, sizeof(struct perfile_report_options)},
    {cut_by, sizeof(struct perfile_filter)},
    {filter_stream, sizeof(struct perfile_filter)},
    {find_for_stream, sizeof(struct perfile_symbol_options)},
    {open_unwinder, sizeof(struct perfile_symbol_options)},
    {open_unwind_stage, sizeof(struct perfile_unwind_stage_options)},
    {open_jit, sizeof(struct perfile_symbol_options)},
    {write_with_filter, sizeof(struct perfile_filter)},
    {write_with_symbols, sizeof(struct perfile_symbol_options)},
    {write_with_flame, sizeof(struct perfile_flame_options)},
    {write_with_report, sizeof(struct perfile_report_options)},
    {write_with_script, sizeof(struct perfile_script_options)},
    {write_with_dump, sizeof(struct perfile_dump_options)},
    {write_with_stat, sizeof(struct perfile_stat_options)},
    {write_with_exports, sizeof(struct perfile_export_options)},
    {write_with_annotate, sizeof(struct perfile_annotate_options)},
    {write_with_events, sizeof(struct perfile_event_options)},
    {write_with_changes, sizeof(struct perfile_changes_options)},
    {open_profile, sizeof(struct perfile_profile_options)},
    {merge_profiles, sizeof(struct perfile_profile_merge_options)},
    {filter_profile, sizeof(struct perfile_filter)},
    {find_for_profile, sizeof(struct perfile_symbol_options)},
    {open_resolver, sizeof(struct perfile_resolver_options)},
    {find_for_resolver, sizeof(struct perfile_symbol_options)},
};

/* Checks that a struct is refused that has nothing set but its size, and the byte after what the library knows. */
static void expect_refused(size_t index, size_t size, uint8_t after, const char *why)
{
    uint8_t *sized = calloc(1, calls[index].bytes + 8);
    assert_non_null(sized);
    memcpy(sized, &size, sizeof(size));
    sized[calls[index].bytes] = after;
    open_both();
    assert_int_equal(calls[index].call(sized), PERFILE_ERROR_ARGUMENT);
    if (!strstr(error.message, why))
        fail_msg("call %zu: %s", index, error.message);
    close_both();
    free(sized);
}

static void sizes_that_are_not_set(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(calls); i++) {
        expect_refused(i, 0, 0, "size is not set");
        expect_refused(i, sizeof(size_t) - 1, 0, "size is not set");
    }
}

static void members_that_the_library_does_not_know(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(calls); i++)
        expect_refused(i, calls[i].bytes + 8, 1, "this version of the library does not know");
}

/* ---- reports, which the library fills ---------------------------------------------------------------------------- */

static int report_cut(void *report)
{
    return perfile_cut(reader, writer, NULL, report, &error);
}

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **made,
                     struct perfile_error *why)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    (void)context, (void)part;
    options.mode = PERFILE_MODE_PIPE;
    return perfile_writer_open_sink(&nowhere, &options, made, why);
}

static int close_part(void *context, const struct perfile_split_part *part, struct perfile_writer *made, bool complete,
                      struct perfile_error *why)
{
    (void)context, (void)part, (void)complete, (void)why;
    perfile_writer_close(made);
    return 0;
}

static int report_split(void *report)
{
    struct perfile_split_options options = PERFILE_SPLIT_OPTIONS_INIT;
    options.by = PERFILE_SPLIT_PID;
    options.open = open_part;
    options.close = close_part;
    return perfile_split(reader, NULL, &options, report, &error);
}

static int report_convert(void *report)
{
    return perfile_convert(reader, writer, NULL, report, &error);
}

static int report_inject(void *report)
{
    return perfile_inject(reader, writer, NULL, report, &error);
}

static int report_repair(void *report)
{
    return perfile_repair(reader, writer, NULL, report, &error);
}

static int report_anonymize(void *report)
{
    return perfile_anonymize(reader, writer, NULL, report, &error);
}

static int report_merge(void *report)
{
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    options.readers = &reader;
    options.reader_count = 1;
    return perfile_merge(writer, &options, report, &error);
}

static const struct {
    int (*call)(void *report);
    size_t bytes;
} reports[] = {
    {report_cut, sizeof(struct perfile_edit_report)},     {report_split, sizeof(struct perfile_edit_report)},
    {report_convert, sizeof(struct perfile_edit_report)}, {report_inject, sizeof(struct perfile_edit_report)},
    {report_repair, sizeof(struct perfile_edit_report)},  {report_anonymize, sizeof(struct perfile_anonymize_report)},
    {report_merge, sizeof(struct perfile_merge_report)},
};

enum { AFTER = 24, UNTOUCHED = 0xa5 };

static uint8_t *report_of(size_t bytes, size_t size)
{
    uint8_t *report = malloc(bytes + AFTER);
    assert_non_null(report);
    memset(report, UNTOUCHED, bytes + AFTER);
    memcpy(report, &size, sizeof(size));
    return report;
}

static void expect_bytes(const uint8_t *bytes, size_t count, uint8_t value)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(bytes[i], value);
}

static void reports_without_a_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(reports); i++) {
        uint8_t *report = report_of(reports[i].bytes, 0);
        open_both();
        assert_int_equal(reports[i].call(report), PERFILE_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "size is not set"));
        expect_bytes(report + sizeof(size_t), reports[i].bytes, UNTOUCHED);
        close_both();
        free(report);
    }
}

/* Of the header of an older version, which ends earlier, and of a newer one. */
static void reports_of_other_versions(void **state)
{
    (void)state;
    for (size_t i = 0; i < PF_COUNT(reports); i++) {
        uint8_t *older = report_of(reports[i].bytes, 2 * sizeof(size_t));
        uint8_t *newer = report_of(reports[i].bytes, reports[i].bytes + 8);
        size_t size;
        open_both();
        assert_int_equal(reports[i].call(older), 0);
        close_both();
        open_both();
        assert_int_equal(reports[i].call(newer), 0);
        expect_bytes(older + 2 * sizeof(size_t), reports[i].bytes - sizeof(size_t), UNTOUCHED);
        expect_bytes(newer + reports[i].bytes, 8, 0);
        expect_bytes(newer + reports[i].bytes + 8, AFTER - 8, UNTOUCHED);
        memcpy(&size, newer, sizeof(size));
        assert_int_equal(size, reports[i].bytes + 8);
        close_both();
        free(older);
        free(newer);
    }
}

/* A program with the header of an older version, which knew fewer parts, and of a newer one. */
static void samples_of_other_versions(void **state)
{
    struct {
        struct perfile_sample sample;
        uint64_t after;
    } made = {.sample = PERFILE_SAMPLE_INIT, .after = 1};
    const struct perfile_record *record;
    (void)state;
    open_both();
    do
        assert_int_equal(perfile_reader_next(reader, &record, &error), 1);
    while (record->type != PERFILE_RECORD_SAMPLE);
    made.sample.size = sizeof(made);
    assert_int_equal(perfile_sample_decode(record, &made.sample, &error), 0);
    assert_int_equal(made.sample.ip, 0x1800);
    assert_int_equal(made.after, 0);
    memset(&made, 1, sizeof(made));
    made.sample.size = offsetof(struct perfile_sample, ip) + sizeof(made.sample.ip);
    assert_int_equal(perfile_sample_decode(record, &made.sample, &error), 0);
    assert_int_equal(made.sample.ip, 0x1800);
    assert_int_equal(((const uint8_t *)&made)[made.sample.size], 1);
    made.sample.size = 0;
    assert_int_equal(perfile_sample_decode(record, &made.sample, &error), PERFILE_ERROR_ARGUMENT);
    close_both();
}

/* ---- readers at their start, one session at a time -------------------------------------------------------------- */

static void read_one(void)
{
    const struct perfile_record *record;
    assert_int_equal(perfile_reader_next(reader, &record, &error), 1);
}

static void expect_not_at_start(void)
{
    struct perfile_session *session;
    assert_false(perfile_reader_is_at_start(reader));
    assert_int_equal(perfile_session_open(reader, &session, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(session);
    assert_int_equal(open_stream(NULL), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "perfile_reader_rewind"));
    assert_int_equal(open_profile(NULL), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "perfile_reader_rewind"));
    for (size_t i = 0; perfile_output_at(i); i++) {
        const struct perfile_output_info *info = perfile_output_at(i);
        assert_int_equal(perfile_output_write(reader, info->kind, info->format, NULL, &nowhere, &error),
                         PERFILE_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, "perfile_reader_rewind"));
    }
}

static void readers_that_are_not_at_their_start(void **state)
{
    const struct perfile_record *record;
    (void)state;
    open_both();
    read_one();
    expect_not_at_start();
    assert_int_equal(perfile_reader_rewind(reader, &error), 0);
    while (perfile_reader_next(reader, &record, &error) > 0)
        ;
    expect_not_at_start();
    assert_int_equal(perfile_reader_rewind(reader, &error), 0);
    assert_true(perfile_reader_is_at_start(reader));
    assert_int_equal(write_output(NULL), 0);
    expect_not_at_start();
    close_both();
}

static void one_session_at_a_time(void **state)
{
    struct perfile_session *session, *second;
    const struct perfile_record *record;
    (void)state;
    open_both();
    assert_int_equal(perfile_session_open(reader, &session, &error), 0);
    assert_int_equal(perfile_session_open(reader, &second, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(second);
    assert_int_equal(perfile_reader_next(reader, &record, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(record);
    assert_int_equal(perfile_reader_rewind(reader, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(write_output(NULL), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_session_next(session, &record, &error), 1);
    perfile_session_close(session);
    assert_int_equal(perfile_reader_next(reader, &record, &error), 0); /* it was read ahead of what was given */
    assert_int_equal(perfile_reader_rewind(reader, &error), 0);
    assert_int_equal(perfile_session_open(reader, &session, &error), 0);
    perfile_session_close(session);
    close_both();
}

static void outputs_of_one_recording(void **state)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    (void)state;
    open_both();
    options.more = &reader;
    options.more_count = 1;
    assert_int_equal(write_output(&options), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "one recording"));
    close_both();
}

static void outputs_of_nothing(void **state)
{
    const struct perfile_sink no_function = {.context = NULL};
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_writer *other;
    (void)state;
    open_both();
    assert_int_equal(perfile_output_write(NULL, "script", NULL, NULL, &nowhere, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_output_write(reader, NULL, NULL, NULL, &nowhere, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_output_write(reader, "script", NULL, NULL, NULL, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_output_write(reader, "script", NULL, NULL, &no_function, &error), PERFILE_ERROR_ARGUMENT);
    options.mode = PERFILE_MODE_PIPE;
    assert_int_equal(perfile_writer_open_sink(&no_function, &options, &other, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(other);
    close_both();
}

/* ---- records in the structs of other versions -------------------------------------------------------------------- */

static void records_of_other_versions(void **state)
{
    struct {
        struct perfile_comm comm;
        uint64_t after;
    } made = {.after = 1};
    const struct perfile_record *record;
    (void)state;
    open_both();
    do
        assert_int_equal(perfile_reader_next(reader, &record, &error), 1);
    while (record->type != PERFILE_RECORD_COMM);
    assert_int_equal(perfile_record_decode(reader, record, &made, sizeof(made), &error), 0);
    assert_string_equal(made.comm.comm, "worker");
    assert_int_equal(made.after, 0);
    /* a pointer's size where the struct's was meant */
    assert_int_equal(perfile_record_decode(reader, record, &made, sizeof(&made), &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_writer_record(writer, PERFILE_RECORD_COMM, 0, &made, sizeof(made), NULL, &error), 0);
    close_both();
    open_both();
    made.after = 1;
    assert_int_equal(perfile_writer_record(writer, PERFILE_RECORD_COMM, 0, &made, sizeof(made), NULL, &error),
                     PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "this version of the library does not know"));
    close_both();
    open_both();
    assert_int_equal(perfile_writer_record(writer, PERFILE_RECORD_COMM, 0, &made, 8, NULL, &error),
                     PERFILE_ERROR_ARGUMENT);
    close_both();
}

/* ---- the word that is wrong -------------------------------------------------------------------------------------- */

static int token_of_output(const char *kind, struct perfile_output_options *options)
{
    return perfile_output_write(reader, kind, NULL, options, &nowhere, &error);
}

static void expect_token(int result, const char *token)
{
    assert_true(result < 0);
    assert_string_equal(error.token, token);
    assert_int_equal(perfile_reader_rewind(reader, NULL), 0);
}

static void tokens(void **state)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_report_options rows = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_flame_options flame = PERFILE_FLAME_OPTIONS_INIT;
    struct perfile_convert_options convert = PERFILE_CONVERT_OPTIONS_INIT;
    const struct perfile_stat_options stat = {.size = sizeof(stat), .metrics = "ipc=cycels"};
    (void)state;
    open_both();
    expect_token(token_of_output("scirpt", &options), "scirpt");
    options.fields = "comm,tdi";
    expect_token(token_of_output("script", &options), "tdi");
    options.fields = NULL;
    options.report = &rows;
    rows.sort = "comm,dos";
    expect_token(token_of_output("report", &options), "dos");
    rows.sort = NULL;
    rows.call_graph = "calle";
    expect_token(token_of_output("report", &options), "calle");
    options.report = NULL;
    options.flame = &flame;
    flame.by = "comm,time,cpus";
    expect_token(token_of_output("flame", &options), "cpus");
    options.flame = NULL;
    options.filter = &filter;
    filter.cpus = "1,x";
    expect_token(token_of_output("script", &options), "x");
    filter.cpus = NULL;
    filter.events = "cycels";
    expect_token(token_of_output("script", &options), "cycels");
    options = (struct perfile_output_options)PERFILE_OUTPUT_OPTIONS_INIT;
    options.stat = &stat;
    expect_token(token_of_output("stat", &options), "cycels");
    convert.strip = "stack,reg";
    expect_token(perfile_convert(reader, writer, &convert, NULL, &error), "reg");
    assert_true(perfile_open_path("/nonexistent", NULL, &(struct perfile_reader *){NULL}, &error) < 0);
    assert_string_equal(error.token, "");
    close_both();
}

/* ---- pipes and sockets without a reader ------------------------------------------------------------------------- */

/* In a process of its own, since it might be killed. 0: the write is an error and nothing else; else what is wrong. */
static int write_to_none(int fd)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_attr attr = {.type = 1};
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    struct perfile_writer *out;
    sigset_t mask, pending;
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    options.mode = PERFILE_MODE_PIPE;
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (perfile_writer_open_fd(fd, &options, &out, &error) < 0 ||
        perfile_writer_add_event(out, &event, NULL, &error) < 0)
        return 1;
    if (perfile_writer_finish(out, &error) != PERFILE_ERROR_WRITE || !strstr(error.message, strerror(EPIPE)))
        return 2;
    perfile_writer_close(out);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    return sigismember(&mask, SIGPIPE) || sigismember(&pending, SIGPIPE) ? 3 : 0;
}

static void expect_write_error(int reading, int writing)
{
    int status;
    close(reading);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(write_to_none(writing));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(writing);
}

static void readers_of_pipes_that_are_gone(void **state)
{
    int fds[2];
    (void)state;
    assert_int_equal(pipe(fds), 0);
    expect_write_error(fds[0], fds[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    expect_write_error(fds[0], fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_are_not_set),
        cmocka_unit_test(members_that_the_library_does_not_know),
        cmocka_unit_test(reports_without_a_size),
        cmocka_unit_test(reports_of_other_versions),
        cmocka_unit_test(samples_of_other_versions),
        cmocka_unit_test(records_of_other_versions),
        cmocka_unit_test(tokens),
        cmocka_unit_test(readers_that_are_not_at_their_start),
        cmocka_unit_test(one_session_at_a_time),
        cmocka_unit_test(outputs_of_one_recording),
        cmocka_unit_test(outputs_of_nothing),
        cmocka_unit_test(readers_of_pipes_that_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
