/* SPDX-License-Identifier: MIT */
/* Recordings that are written from hostile ones, in every mode that needs no file. */
#include "fuzz.h"

#include <perfile/edit.h>

enum edit { REPAIR, CONVERT, AGE, UNWIND, INJECT, MAPS, CUT, ANONYMIZE, MERGE, EDITS };

/* As many frames as there is room for, of what the dumped stack holds. */
static int unwind(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                  uint64_t *addresses, size_t room)
{
    size_t count = 0;
    (void)context;
    if (perfile_space_find(perfile_session_space(session, sample->pid), sample->ip))
        addresses[count++] = sample->ip;
    for (uint64_t at = 0; at + 8 <= sample->stack_user.used && count < room; at += 8)
        memcpy(&addresses[count++], sample->stack_user.data + at, 8);
    return (int)count;
}

static int cut(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_edit_report *report,
               struct perfile_error *error)
{
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    options.filter.comms = "sh,perf";
    options.every = 3;
    return perfile_cut(reader, writer, &options, report, error);
}

static int anonymize(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_edit_report *report,
                     struct perfile_error *error)
{
    struct perfile_anonymize_options options = PERFILE_ANONYMIZE_OPTIONS_INIT;
    *report = (struct perfile_edit_report){.records_kept = 0};
    options.key = "key";
    options.key_bytes = 3;
    options.change = "times,pids";
    return perfile_anonymize(reader, writer, &options, NULL, error);
}

/* With a sound copy of what it was, as far as that goes: two readers of the same bytes. */
static int merge(const uint8_t *data, size_t bytes, struct perfile_reader *reader, struct perfile_writer *writer,
                 struct perfile_error *error)
{
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct perfile_open_options open = fuzz_options();
    struct perfile_reader *readers[2] = {reader, NULL};
    FUZZ_REQUIRE(perfile_open_memory(data, bytes, &open, &readers[1], error) == 0);
    options.readers = readers;
    options.reader_count = 2;
    options.separate_hosts = bytes % 2;
    int result = perfile_merge(writer, &options, NULL, error);
    perfile_close(readers[1]);
    /* recordings that do not go together are refused */
    return result == PERFILE_ERROR_ARGUMENT ? PERFILE_ERROR_UNSUPPORTED : result;
}

/* Code at whatever the records of mappings say. */
static int follow_code(void *context, const struct perfile_record *record,
                       int (*add)(void *adder, uint64_t time, const struct perfile_map *map,
                                  struct perfile_error *error),
                       void *adder, struct perfile_error *error)
{
    struct perfile_reader *reader = context;
    struct perfile_mmap2 read;
    if (record->type != PERFILE_RECORD_MMAP2 || perfile_record_decode(reader, record, &read, sizeof(read), NULL) < 0 ||
        read.len % 3)
        return 0;
    const struct perfile_map map = {.start = read.addr,
                                    .end = read.addr | 0xfff,
                                    .pgoff = read.pgoff,
                                    .filename = read.filename,
                                    .pid = read.pid,
                                    .code = 1};
    int result = map.start < map.end ? add(adder, record->time ^ (read.len & 0xffff), &map, error) : 0;
    return result < 0 ? result : (int)(read.len % 2);
}

static int run(enum edit edit, struct perfile_reader *reader, struct perfile_writer *writer,
               struct perfile_edit_report *report, struct perfile_error *error)
{
    struct perfile_convert_options convert = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_inject_options inject = PERFILE_INJECT_OPTIONS_INIT;
    convert.for_perf = edit == AGE ? "5.2" : NULL;
    convert.strip = edit == UNWIND ? "regs,aux,branch" : NULL;
    convert.unwind = edit == UNWIND ? unwind : NULL;
    inject.build_ids = inject.sched_stat = inject.strip = edit == INJECT;
    inject.all_build_ids = true;
    inject.map_build_ids = edit == MAPS ? PERFILE_MAP_BUILD_IDS_HIT : PERFILE_MAP_BUILD_IDS_ALL;
    inject.follow_code = edit == MAPS ? follow_code : NULL;
    inject.code_context = reader;
    if (edit == CUT)
        return cut(reader, writer, report, error);
    if (edit == ANONYMIZE)
        return anonymize(reader, writer, report, error);
    if (edit == REPAIR)
        return perfile_repair(reader, writer, NULL, report, error);
    return edit == INJECT || edit == MAPS ? perfile_inject(reader, writer, &inject, report, error)
                                          : perfile_convert(reader, writer, &convert, report, error);
}

static void write_anew(const uint8_t *data, size_t bytes, const struct perfile_writer_options *options, enum edit edit)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_edit_report report = {.records_kept = 0};
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    struct perfile_error error;
    if (perfile_open_memory(data, bytes, &open, &reader, &error) < 0)
        return;
    FUZZ_REQUIRE(perfile_writer_open_sink(&fuzz_sink, options, &writer, &error) == 0);
    int result =
        edit == MERGE ? merge(data, bytes, reader, writer, &error) : run(edit, reader, writer, &report, &error);
    FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_ARGUMENT);
    if (result == 0)
        FUZZ_REQUIRE(perfile_writer_finish(writer, &error) == 0);
    FUZZ_REQUIRE(report.records_kept >= report.samples_kept);
    perfile_writer_close(writer);
    perfile_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    options.mode = PERFILE_MODE_PIPE;
    for (int edit = 0; edit < EDITS; edit++) {
        options.byte_order = edit % 2 ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
        options.compression = edit % 2 ? 0 : 1;
        write_anew(data, bytes, &options, (enum edit)edit);
    }
    return 0;
}
