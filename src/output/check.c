/* SPDX-License-Identifier: MIT */
/*
 * Check: reads everything and reports what is odd. The reader finds records that do not fit while it reads; the rules
 * below look at the complete recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/json.h"
#include "output/output.h"
#include "output/table/format.h"

enum { PROGRESS_RECORDS = 65536 };

static const char *const severities[] = {"note", "warning", "loss"};
static const char *const colors[] = {"", PF_YELLOW, PF_RED};

/* What is known when everything has been read. */
struct checked {
    struct perfile_reader *reader;
    const struct perfile_output_options *options;
    struct pf_text *out;
    void (*put)(const struct checked *checked, const struct perfile_diagnostic *finding);
    uint64_t findings; /* notes do not count */
    uint64_t unordered;
    bool has_schedstat;
    bool lost_events; /* reported by the reader */
    size_t shown;     /* of the reader's diagnostics */
    struct kept *kept;
    bool short_of_memory; /* a rule could not look */
};

static void put_file(struct pf_text *out, const char *name)
{
    pf_put_name(out, name);
    pf_put_char(out, ' ');
}

static void put_text(const struct checked *checked, const struct perfile_diagnostic *finding)
{
    struct pf_text *out = checked->out;
    char severity[16];
    snprintf(severity, sizeof(severity), "%-7s", severities[finding->severity]);
    pf_output_put_color(out, checked->options, colors[finding->severity], severity);
    pf_put_format(out, " %-18s ", finding->rule);
    if (finding->offset != PERFILE_NO_OFFSET)
        pf_put_format(out, "0x%08" PRIx64 " ", finding->offset);
    if (finding->file)
        put_file(out, finding->file);
    pf_put_name(out, finding->message);
    pf_put_char(out, '\n');
}

static void put_json(const struct checked *checked, const struct perfile_diagnostic *finding)
{
    struct pf_json json = {.text = checked->out};
    pf_json_begin(&json, NULL, false);
    pf_json_string(&json, "rule", finding->rule);
    pf_json_string(&json, "severity", severities[finding->severity]);
    pf_json_offset(&json, "offset", finding->offset);
    pf_json_unsigned(&json, "length", finding->length);
    if (finding->file)
        pf_json_string(&json, "file", finding->file);
    pf_json_string(&json, "message", finding->message);
    pf_json_end(&json, false);
    pf_put_char(checked->out, '\n');
}

static void put_finding(struct checked *checked, const struct perfile_diagnostic *finding)
{
    checked->put(checked, finding);
    checked->findings += finding->severity != PERFILE_NOTE;
}

static void put_new_findings(struct checked *checked)
{
    const struct perfile_diagnostic *finding;
    while ((finding = perfile_diagnostic_get(checked->reader, checked->shown))) {
        checked->shown++;
        checked->lost_events |= !strcmp(finding->rule, "events-lost");
        put_finding(checked, finding);
    }
}

/* ---- rules about the complete recording ---- */

static void check_features(struct checked *checked, const char *rule, int severity)
{
    const struct perfile_visitor none = {.size = sizeof(none)};
    for (size_t i = 0; i < perfile_feature_count(checked->reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(checked->reader, i);
        struct perfile_error error;
        if (!feature->readable || perfile_feature_visit(checked->reader, feature->number, &none, &error) >= 0)
            continue;
        if (error.code == PERFILE_ERROR_MEMORY) {
            checked->short_of_memory = true;
            return;
        }
        put_finding(checked, &(struct perfile_diagnostic){.rule = rule,
                                                          .severity = severity,
                                                          .offset = feature->section.offset,
                                                          .length = feature->section.bytes,
                                                          .message = error.message});
    }
}

static void put_count(struct checked *checked, const struct perfile_diagnostic *finding, uint64_t count,
                      const char *what)
{
    char message[PF_COUNTED_BYTES];
    struct perfile_diagnostic counted = *finding;
    counted.message = pf_count_of(count, what, message);
    counted.offset = PERFILE_NO_OFFSET;
    if (count)
        put_finding(checked, &counted);
}

static void check_order(struct checked *checked, const char *rule, int severity)
{
    put_count(checked, &(struct perfile_diagnostic){.rule = rule, .severity = severity}, checked->unordered,
              "records are out of order");
}

static void check_unknown(struct checked *checked, const char *rule, int severity)
{
    put_count(checked, &(struct perfile_diagnostic){.rule = rule, .severity = severity},
              perfile_reader_counts(checked->reader)->unknown, "records have unknown types");
}

static void check_lost(struct checked *checked, const char *rule, int severity)
{
    put_count(checked, &(struct perfile_diagnostic){.rule = rule, .severity = severity},
              perfile_reader_counts(checked->reader)->lost_events, "events were lost while recording");
}

/* What the bundle holds is looked at when it is unpacked. */
static void check_bundle(struct checked *checked, const char *rule, int severity)
{
    const char *path = checked->options->symbols->recording;
    struct perfile_bundle bundle = PERFILE_BUNDLE_INIT;
    struct perfile_error error;
    char message[256], files[PF_COUNTED_BYTES];
    const int result = path ? perfile_bundle_look(path, &bundle, &error) : PERFILE_ERROR_OPEN;
    checked->short_of_memory |= result == PERFILE_ERROR_MEMORY;
    if (result == PERFILE_ERROR_DAMAGED)
        snprintf(message, sizeof(message), "the bundle after the recording cannot be used: %.64s", error.message);
    else if (result == 0 && bundle.bytes)
        snprintf(message, sizeof(message), "a bundle of %s, %" PRIu64 " bytes, after the recording",
                 pf_count_of(bundle.files, "files", files), bundle.bytes);
    else
        return;
    put_finding(checked, &(struct perfile_diagnostic){.rule = rule,
                                                      .severity = result == 0 ? PERFILE_NOTE : severity,
                                                      .offset = PERFILE_NO_OFFSET,
                                                      .message = message});
}

/* `perf sched stats` records no event at all. */
static bool needs_events(const struct checked *checked)
{
    return !checked->has_schedstat && !checked->lost_events;
}

static void check_events(struct checked *checked, const char *rule, int severity)
{
    if (perfile_event_count(checked->reader) == 0 && needs_events(checked))
        put_finding(checked, &(struct perfile_diagnostic){.rule = rule,
                                                          .severity = severity,
                                                          .offset = PERFILE_NO_OFFSET,
                                                          .message = "the recording has no events"});
}

/* simpleperf writes the entries without their number before them, and perf refuses the complete recording. */
static void check_trace_index(struct checked *checked, const char *rule, int severity)
{
    enum { ENTRY_BYTES = 16 };
    const struct perfile_feature *feature;
    for (size_t i = 0; (feature = perfile_feature_get(checked->reader, i)); i++)
        if (feature->number == PERFILE_FEATURE_AUXTRACE && feature->section.bytes &&
            feature->section.bytes % ENTRY_BYTES == 0)
            put_finding(checked, &(struct perfile_diagnostic){.rule = rule,
                                                              .severity = severity,
                                                              .offset = feature->section.offset,
                                                              .length = feature->section.bytes,
                                                              .message = "the index of the AUX data is as simpleperf "
                                                                         "writes it, which perf refuses: repair and "
                                                                         "convert write it as perf does"});
}

static const struct {
    const char *rule;
    int severity;
    void (*check)(struct checked *checked, const char *rule, int severity);
} rules[] = {
    {"no-events", PERFILE_WARNING, check_events},     {"feature-content", PERFILE_LOSS, check_features},
    {"time-order", PERFILE_NOTE, check_order},        {"unknown-record", PERFILE_NOTE, check_unknown},
    {"lost-events", PERFILE_NOTE, check_lost},        {"bundle", PERFILE_WARNING, check_bundle},
    {"trace-index", PERFILE_NOTE, check_trace_index},
};

static int check_all(struct checked *checked, struct perfile_error *error)
{
    struct perfile_session *session;
    const struct perfile_record *record;
    int result = perfile_session_open(checked->reader, &session, error);
    for (uint64_t n = 0; result == 0; n++) {
        result = perfile_session_next(session, &record, error);
        if (result <= 0)
            break;
        result = 0;
        checked->has_schedstat |= record->type == PERFILE_RECORD_SCHEDSTAT_CPU;
        put_new_findings(checked);
        if (n % PROGRESS_RECORDS == 0)
            pf_output_progress(checked->reader, checked->options);
    }
    checked->unordered = result == 0 ? perfile_session_unordered(session) : 0;
    perfile_session_close(session);
    put_new_findings(checked);
    for (size_t i = 0; result == 0 && i < sizeof(rules) / sizeof(rules[0]); i++)
        rules[i].check(checked, rules[i].rule, rules[i].severity);
    return checked->short_of_memory ? pf_fail_memory(error, "check") : result;
}

static int write_check_text(struct perfile_reader *reader, const struct perfile_output_options *options,
                            struct pf_text *out, struct perfile_error *error)
{
    struct checked checked = {.reader = reader, .options = options, .out = out, .put = put_text};
    char records[PF_COUNTED_BYTES], samples[PF_COUNTED_BYTES], bytes[PF_COUNTED_BYTES], findings[PF_COUNTED_BYTES];
    int result = check_all(&checked, error);
    if (result < 0)
        return result;
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    pf_output_put_color(out, options, checked.findings ? PF_RED : PF_GREEN, checked.findings ? "damaged" : "valid");
    pf_put_format(out, ": %s and %s are complete, %s, %s\n", pf_count_of(counts->records, "records", records),
                  pf_count_of(counts->samples, "samples", samples),
                  pf_count_of(counts->bytes_lost, "bytes are not accounted for", bytes),
                  pf_count_of(checked.findings, "findings", findings));
    return checked.findings != 0;
}

static int write_check_json(struct perfile_reader *reader, const struct perfile_output_options *options,
                            struct pf_text *out, struct perfile_error *error)
{
    struct checked checked = {.reader = reader, .options = options, .out = out, .put = put_json};
    int result = check_all(&checked, error);
    return result < 0 ? result : checked.findings != 0;
}

/* ---- formats of tables ---- */

/* The findings, for when all of them are there. */
struct kept {
    const struct perfile_allocator *allocator;
    struct pf_arena arena; /* texts */
    struct perfile_diagnostic *all;
    size_t count, capacity;
    size_t next; /* the row after the current one */
    bool failed; /* out of memory */
};

static const char *keep_text(struct kept *kept, const char *text)
{
    const char *copy = text ? pf_arena_text(&kept->arena, text, strlen(text)) : NULL;
    kept->failed |= text && !copy;
    return copy;
}

static void keep(const struct checked *checked, const struct perfile_diagnostic *finding)
{
    struct kept *kept = checked->kept;
    if (!pf_grow(kept->allocator, &kept->all, &kept->capacity, kept->count + 1, sizeof(*kept->all))) {
        kept->failed = true;
        return;
    }
    struct perfile_diagnostic *copy = &kept->all[kept->count++];
    *copy = *finding; /* rules are static */
    copy->message = keep_text(kept, finding->message);
    copy->file = keep_text(kept, finding->file);
}

static int next_finding(void *context, struct perfile_error *error)
{
    struct kept *kept = context;
    (void)error;
    return kept->next < kept->count ? (int)!!++kept->next : 0;
}

enum { RULE, SEVERITY, OFFSET, LENGTH, FINDING_FILE, MESSAGE, COLUMNS };

static void put_value(void *context, size_t column, struct perfile_value *value)
{
    const struct kept *kept = context;
    const struct perfile_diagnostic *finding = &kept->all[kept->next - 1];
    const char *const texts[COLUMNS] = {[RULE] = finding->rule,
                                        [SEVERITY] = severities[finding->severity],
                                        [FINDING_FILE] = finding->file,
                                        [MESSAGE] = finding->message};
    const char *text = texts[column];
    if (text)
        *value =
            (struct perfile_value){.kind = PERFILE_VALUE_TEXT, .data = (const uint8_t *)text, .bytes = strlen(text)};
    else if (column == LENGTH || (column == OFFSET && finding->offset != PERFILE_NO_OFFSET))
        *value = (struct perfile_value){.kind = PERFILE_VALUE_UNSIGNED,
                                        .number.u = column == LENGTH ? finding->length : finding->offset};
}

/* What a finding has is what a row of the view diagnostics has. */
static int put_rows(const struct checked *checked, const char *format, struct perfile_error *error)
{
    struct perfile_column columns[COLUMNS];
    const struct perfile_column *list[COLUMNS];
    struct perfile_table *table;
    for (size_t i = 0; i < COLUMNS; i++) {
        columns[i] = (struct perfile_column)PERFILE_COLUMN_INIT;
        list[i] = &columns[i];
        (void)!perfile_view_column("diagnostics", i, &columns[i]); /* it has them, in this order */
    }
    const struct perfile_rows rows = {.size = sizeof(rows),
                                      .view = "findings",
                                      .columns = list,
                                      .column_count = COLUMNS,
                                      .next = next_finding,
                                      .value = put_value,
                                      .context = checked->kept,
                                      .allocator = checked->options->allocator};
    int result = perfile_table_of_rows(&rows, &table, error);
    if (result == 0)
        result = pf_table_write(table, format, &(struct pf_sheet_style){0}, checked->out, error);
    perfile_table_close(table);
    return result;
}

int pf_check_write_table(const struct pf_output *output, struct perfile_reader *reader,
                         const struct perfile_output_options *options, struct pf_text *out, struct perfile_error *error)
{
    struct kept kept = {.allocator = options->allocator};
    struct checked checked = {.reader = reader, .options = options, .out = out, .put = keep, .kept = &kept};
    pf_arena_open(&kept.arena, options->allocator);
    int result = check_all(&checked, error);
    if (result == 0 && kept.failed)
        result = pf_fail_memory(error, "check");
    if (result == 0)
        result = put_rows(&checked, output->info.format, error);
    pf_free(kept.allocator, kept.all, kept.capacity * sizeof(*kept.all));
    pf_arena_close(&kept.arena);
    return result < 0 ? result : checked.findings != 0;
}

const struct pf_output pf_output_check_text = {
    .info = {"check", "text", "one line per finding, and a summary"},
    .write = write_check_text,
};

const struct pf_output pf_output_check_json = {
    .info = {"check", "json", "one object per finding and line"},
    .write = write_check_json,
};
