/* SPDX-License-Identifier: MIT */
/*
 * The structs of libperfile, see grown.h. Prints what it gets, which must be the same with all versions; with a second
 * argument the library is to refuse members that it does not know.
 */
#include "grown.h"

#include <perfile/edit.h>

enum {
    TYPE = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
           PERFILE_SAMPLE_READ | PERFILE_SAMPLE_BRANCH_STACK
};

static struct {
    uint8_t bytes[1 << 16];
    size_t count;
} memory;

static int store(void *context, const void *data, size_t bytes)
{
    (void)context;
    expect(memory.count + bytes <= sizeof(memory.bytes), "room");
    memcpy(memory.bytes + memory.count, data, bytes);
    memory.count += bytes;
    return 0;
}

static int discard(void *context, const void *data, size_t bytes)
{
    (void)context, (void)data, (void)bytes;
    return 0;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A writer keeps its first failure: what is refused goes to one of its own. */
static struct perfile_writer *writer_to(int (*write)(void *context, const void *data, size_t bytes))
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_sink sink = {NULL, write};
    struct perfile_writer *writer = NULL;
    options.mode = PERFILE_MODE_PIPE;
    CALL("perfile_writer_open_sink", options, perfile_writer_open_sink(&sink, &options, &writer, &error));
    return writer;
}

static void put_event(struct perfile_writer *writer, bool bad)
{
    static const uint64_t id = 7;
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    struct perfile_attr attr = {.type = 1, .sample_type = TYPE, .read_format = 4, .sample_id_all = 1};
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    event.ids = &id;
    event.id_count = 1;
    event.name = "made up";
    if (bad)
        SET_TAIL(attr);
    expect(perfile_writer_add_event(writer, &event, NULL, &error) == (bad ? PERFILE_ERROR_ARGUMENT : 0), "add_event");
}

static void put_comm(struct perfile_writer *writer, bool bad_record, bool bad_trailer)
{
    struct perfile_comm comm = {.pid = 5, .tid = 6, .comm = "worker"};
    struct perfile_sample_id trailer = PERFILE_SAMPLE_ID_INIT;
    trailer.pid = 5;
    trailer.tid = 6;
    trailer.time = 90;
    trailer.identifier = 7;
    if (bad_record)
        SET_TAIL(comm);
    if (bad_trailer)
        SET_TAIL(trailer);
    const int result = perfile_writer_record(writer, PERFILE_RECORD_COMM, 0, &comm, sizeof(comm), &trailer, &error);
    expect(result == (bad_record || bad_trailer ? PERFILE_ERROR_ARGUMENT : 0), "perfile_writer_record");
}

static void put_namespaces(struct perfile_writer *writer)
{
    static const uint64_t links[] = {1, 11, 2, 22};
    const struct perfile_namespaces spaces = {.pid = 5,
                                              .tid = 6,
                                              .nr_namespaces = 2,
                                              .link_info = {.data = (const uint8_t *)(const void *)links, .count = 2}};
    expect(perfile_writer_record(writer, PERFILE_RECORD_NAMESPACES, 0, &spaces, sizeof(spaces), NULL, &error) == 0,
           "NAMESPACES");
}

static void put_sample(struct perfile_writer *writer, bool bad)
{
    static const uint64_t values[] = {1000, 7}, branches[] = {0x10, 0x20, 1, 0x30, 0x40, 2};
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    sample.identifier = 7;
    sample.ip = 0x1000;
    sample.pid = 5;
    sample.tid = 6;
    sample.time = 100;
    sample.read =
        (struct perfile_read){.format = 4, .count = 1, .values = (const uint8_t *)(const void *)values, .stride = 16};
    sample.branch_stack = (struct perfile_branch_stack){
        .count = 2, .entries = {.data = (const uint8_t *)(const void *)branches, .count = 6}};
    if (bad)
        SET_TAIL(sample);
    expect(perfile_writer_sample(writer, 0, 2, &sample, &error) == (bad ? PERFILE_ERROR_ARGUMENT : 0), "sample");
}

static void put_build_id(struct perfile_writer *writer, bool bad)
{
    struct perfile_header_build_id entry = {.pid = -1, .build_id = {1, 2}, .build_id_size = 20, .filename = "/bin/x"};
    if (bad)
        SET_TAIL(entry);
    expect(perfile_writer_build_id(writer, 2, &entry, sizeof(entry), &error) == (bad ? PERFILE_ERROR_ARGUMENT : 0),
           "perfile_writer_build_id");
}

static void refuse_one(int what)
{
    struct perfile_writer *writer = writer_to(discard);
    put_event(writer, what == 0);
    if (what == 1)
        put_comm(writer, true, false);
    else if (what == 2)
        put_comm(writer, false, true);
    else if (what == 3)
        put_sample(writer, true);
    else if (what == 4)
        put_build_id(writer, true);
    perfile_writer_close(writer);
}

static void write_recording(void)
{
    for (int i = 0; i < 5 && refuses; i++)
        refuse_one(i);
    struct perfile_writer *writer = writer_to(store);
    put_event(writer, false);
    put_build_id(writer, false);
    put_comm(writer, false, false);
    put_namespaces(writer);
    put_sample(writer, false);
    expect(perfile_writer_finish(writer, &error) == 0, "perfile_writer_finish");
    printf("%" PRIu64 " written\n", perfile_writer_progress(writer)->records);
    perfile_writer_close(writer);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static struct perfile_reader *open_recording(void)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader = NULL;
    CALL("perfile_open_memory", options, perfile_open_memory(memory.bytes, memory.count, &options, &reader, &error));
    return reader;
}

static void show_trailer(const struct perfile_reader *reader, const struct perfile_record *record)
{
    BESIDE(perfile_sample_id, id);
    id.it = (struct perfile_sample_id)PERFILE_SAMPLE_ID_INIT;
    SET_TAIL(id.it);
    if (perfile_sample_id_decode(reader, record, &id.it, &error) < 0)
        return;
    printf("  trailer %d %d %" PRIu64 " %" PRIu64 "\n", id.it.pid, id.it.tid, id.it.time, id.it.identifier);
    TAIL_IS_ZERO(id.it);
    UNTOUCHED(id);
}

static void show_comm(const struct perfile_reader *reader, const struct perfile_record *record)
{
    BESIDE(perfile_comm, comm);
    SET_TAIL(comm.it);
    expect(perfile_record_decode(reader, record, &comm.it, sizeof(comm.it), &error) == 0, "COMM");
    printf("  %d %d %s\n", comm.it.pid, comm.it.tid, comm.it.comm);
    TAIL_IS_ZERO(comm.it);
    UNTOUCHED(comm);
}

static void show_namespaces(const struct perfile_reader *reader, const struct perfile_record *record)
{
    BESIDE(perfile_namespaces, spaces);
    BESIDE(perfile_namespace_link, link);
    expect(perfile_record_decode(reader, record, &spaces.it, sizeof(spaces.it), &error) == 0, "NAMESPACES");
    for (uint64_t i = 0; i < spaces.it.link_info.count; i++) {
        SET_TAIL(link.it);
        perfile_namespace_link_at(&spaces.it.link_info, i, &link.it, sizeof(link.it));
        printf("  %" PRIu64 " %" PRIu64 "\n", link.it.dev, link.it.ino);
        TAIL_IS_ZERO(link.it);
    }
    UNTOUCHED(spaces);
    UNTOUCHED(link);
}

static void show_event(const struct perfile_event *event, const struct perfile_reader *reader,
                       const struct perfile_record *record)
{
    BESIDE(perfile_header_attr, attr);
    if (record->type == PERFILE_RECORD_HEADER_ATTR) {
        expect(perfile_record_decode(reader, record, &attr.it, sizeof(attr.it), &error) == 0, "HEADER_ATTR");
        printf("  %" PRIx64 " of %" PRIu64 "\n", (uint64_t)attr.it.attr.sample_type, attr.it.ids.count);
        TAIL_IS_ZERO(attr.it.attr);
        UNTOUCHED(attr);
    }
    if (event)
        printf("  event %u %" PRIx64 " %zu %s\n", event->index, (uint64_t)event->attr->sample_type, event->id_count,
               event->name);
}

static void show_sample(const struct perfile_record *record)
{
    BESIDE(perfile_sample, sample);
    BESIDE(perfile_read_value, value);
    BESIDE(perfile_branch, branch);
    sample.it = (struct perfile_sample)PERFILE_SAMPLE_INIT;
    SET_TAIL(sample.it);
    SET_TAIL(value.it);
    SET_TAIL(branch.it);
    expect(perfile_sample_decode(record, &sample.it, &error) == 0, "SAMPLE");
    perfile_read_at(&sample.it.read, 0, &value.it, sizeof(value.it));
    perfile_branch_at(&sample.it.branch_stack, 1, &branch.it, sizeof(branch.it));
    printf("  %" PRIx64 " %d %" PRIu64 " value %" PRIu64 " id %" PRIu64 " branch %" PRIx64 " %d\n", sample.it.ip,
           sample.it.tid, sample.it.time, value.it.value, value.it.id, branch.it.to, branch.it.predicted);
    TAIL_IS_ZERO(sample.it);
    TAIL_IS_ZERO(value.it);
    TAIL_IS_ZERO(branch.it);
    UNTOUCHED(sample);
    UNTOUCHED(value);
    UNTOUCHED(branch);
}

static void read_recording(void)
{
    struct perfile_reader *reader = open_recording();
    const struct perfile_record *record;
    int got;
    while ((got = perfile_reader_next(reader, &record, &error)) > 0) {
        printf("%s %" PRIu64 " %u\n", perfile_record_name(record->type), record->time, record->bytes);
        show_event(record->event, reader, record);
        if (record->type == PERFILE_RECORD_COMM)
            show_comm(reader, record);
        if (record->type == PERFILE_RECORD_NAMESPACES)
            show_namespaces(reader, record);
        if (record->type == PERFILE_RECORD_SAMPLE)
            show_sample(record);
        show_trailer(reader, record);
    }
    expect(got == 0, "perfile_reader_next");
    printf("%" PRIu64 " read, %" PRIu64 " samples\n", perfile_reader_counts(reader)->records,
           perfile_reader_counts(reader)->samples);
    perfile_close(reader);
}

static void add_map(void)
{
    struct perfile_reader *reader = open_recording();
    struct perfile_session *session;
    const struct perfile_record *record;
    struct perfile_map map = PERFILE_MAP_INIT;
    expect(perfile_session_open(reader, &session, &error) == 0, "perfile_session_open");
    perfile_session_follow_maps(session);
    map.start = 0x1000;
    map.end = 0x2000;
    map.pid = 5;
    map.filename = "code";
    CALL("perfile_session_add_map", map, perfile_session_add_map(session, 1, &map, &error));
    while (perfile_session_next(session, &record, &error) > 0)
        ;
    const struct perfile_map *found = perfile_space_find(perfile_session_space(session, 5), 0x1800);
    printf("map %s\n", found ? found->filename : "none");
    perfile_session_close(session);
    perfile_close(reader);
}

/* ---- edits ------------------------------------------------------------------------------------------------------- */

enum { CUT, CONVERT, REPAIR, INJECT, SPLIT, EDITS };

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                     struct perfile_error *why)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_sink sink = {NULL, discard};
    (void)context;
    printf("part %" PRIu64 "\n", part->value);
    options.mode = PERFILE_MODE_PIPE;
    return perfile_writer_open_sink(&sink, &options, writer, why);
}

static int close_part(void *context, const struct perfile_split_part *part, struct perfile_writer *writer,
                      bool complete, struct perfile_error *why)
{
    (void)context, (void)part, (void)complete, (void)why;
    perfile_writer_close(writer);
    return 0;
}

/* With the member that `bad` counts to set, among the options of the edit. */
static int edit(int which, int bad, struct perfile_reader *reader, struct perfile_writer *writer,
                struct perfile_edit_report *report)
{
    struct perfile_edit_options notify = PERFILE_EDIT_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_cut_options cut = PERFILE_CUT_OPTIONS_INIT;
    struct perfile_convert_options convert = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_inject_options inject = PERFILE_INJECT_OPTIONS_INIT;
    struct perfile_split_options split = PERFILE_SPLIT_OPTIONS_INIT;
    filter.pids = "5";
    cut.filter = &filter;
    cut.edit = convert.edit = inject.edit = &notify;
    split.by = PERFILE_SPLIT_PID;
    split.open = open_part;
    split.close = close_part;
    if (bad == 1)
        SET_TAIL(notify);
    if (bad == 2) {
        SET_TAIL(cut);
        SET_TAIL(convert);
        SET_TAIL(inject);
        SET_TAIL(split);
        SET_TAIL(notify);
    }
    if (bad == 3)
        SET_TAIL(filter);
    switch (which) {
    case CUT:
        return perfile_cut(reader, writer, &cut, report, &error);
    case CONVERT:
        return perfile_convert(reader, writer, &convert, report, &error);
    case REPAIR:
        return perfile_repair(reader, writer, &notify, report, &error);
    case INJECT:
        return perfile_inject(reader, writer, &inject, report, &error);
    default:
        return perfile_split(reader, &cut, &split, report, &error);
    }
}

static void edit_recording(int which)
{
    for (int bad = 0; bad <= (refuses ? 3 : 0); bad++) {
        struct perfile_reader *reader = open_recording();
        struct perfile_writer *writer = writer_to(discard);
        BESIDE(perfile_edit_report, report);
        report.it = (struct perfile_edit_report)PERFILE_EDIT_REPORT_INIT;
        SET_TAIL(report.it);
        const bool refused = bad && (bad < 3 || which == CUT || which == SPLIT);
        expect(edit(which, bad, reader, writer, &report.it) == (refused ? PERFILE_ERROR_ARGUMENT : 0), "edit");
        if (!bad)
            printf("edit %d: %" PRIu64 " kept\n", which, report.it.records_kept);
        TAIL_IS_ZERO(report.it);
        UNTOUCHED(report);
        perfile_writer_close(writer);
        perfile_close(reader);
    }
}

static void anonymize_recording(void)
{
    struct perfile_anonymize_options options = PERFILE_ANONYMIZE_OPTIONS_INIT;
    struct perfile_reader *reader = open_recording();
    struct perfile_writer *writer = writer_to(discard);
    BESIDE(perfile_anonymize_report, report);
    report.it = (struct perfile_anonymize_report)PERFILE_ANONYMIZE_REPORT_INIT;
    SET_TAIL(report.it);
    CALL("perfile_anonymize", options, perfile_anonymize(reader, writer, &options, &report.it, &error));
    printf("anonymize: %" PRIu64 " kept, %zu categories, last %s\n", report.it.edit->records_kept,
           report.it.category_count, report.it.categories[report.it.category_count - 1]->name);
    TAIL_IS_ZERO(report.it);
    UNTOUCHED(report);
    perfile_writer_close(writer);
    perfile_close(reader);
}

static void merge_recording(void)
{
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct perfile_reader *readers[] = {open_recording(), open_recording()};
    struct perfile_writer *writer = writer_to(discard);
    BESIDE(perfile_merge_report, report);
    report.it = (struct perfile_merge_report)PERFILE_MERGE_REPORT_INIT;
    SET_TAIL(report.it);
    options.readers = readers;
    options.reader_count = 2;
    if (refuses) {
        struct perfile_writer *other = writer_to(discard);
        SET_TAIL(options);
        expect(perfile_merge(other, &options, &report.it, &error) == PERFILE_ERROR_ARGUMENT, "perfile_merge");
        CLEAR_TAIL(options);
        perfile_writer_close(other);
    }
    expect(perfile_merge(writer, &options, &report.it, &error) == 0, "perfile_merge");
    printf("merge: %" PRIu64 " kept, of the second %" PRIu64 "\n", report.it.total->records_kept,
           report.it.inputs[1]->records_kept);
    TAIL_IS_ZERO(report.it);
    UNTOUCHED(report);
    perfile_writer_close(writer);
    perfile_close(readers[0]);
    perfile_close(readers[1]);
}

int main(int count, char **arguments)
{
    (void)arguments;
    refuses = count > 2;
    write_recording();
    read_recording();
    add_map();
    for (int i = 0; i < EDITS; i++)
        edit_recording(i);
    anonymize_recording();
    merge_recording();
    return 0;
}
