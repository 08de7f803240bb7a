/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are written from hostile ones: every edit in all its forms, into every mode, by a reader that was
 * just opened, or that has read all records and stored what they say. The result is read again. With fuzz_verb only the
 * forms of that edit are tested; with FUZZ_EVERY, for many inputs, one of so many forms for each.
 */
#include "output_file.h"

#include <ftw.h>

#include "../split_part.h"

extern const char *const fuzz_verb; /* NULL: all */

#ifndef FUZZ_EVERY
#define FUZZ_EVERY 1
#endif

struct editing {
    const uint8_t *data;
    size_t bytes;
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    struct perfile_writer_options how;
    struct perfile_edit_report report;
    const char *text;
    int number;
};

/* ---- where recordings go: one file and one folder, again and again ---- */

static char folder[4096], directory[sizeof(folder) + 8];

static int remove_one(const char *path, const struct stat *status, int flag, struct FTW *walk)
{
    (void)status, (void)flag, (void)walk;
    return remove(path);
}

static void remove_directory(void)
{
    nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
    const char *position = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/perfile-fuzz-XXXXXX", position && *position ? position : "/tmp");
    FUZZ_REQUIRE(mkdtemp(folder));
    snprintf(directory, sizeof(directory), "%s/out", folder);
    atexit(remove_folder);
}

static struct perfile_writer *open_writer(const struct perfile_writer_options *how)
{
    struct perfile_writer *writer;
    if (how->mode != PERFILE_MODE_DIRECTORY) {
        FUZZ_REQUIRE(ftruncate(fuzz_output_file(), 0) == 0);
        FUZZ_REQUIRE(perfile_writer_open_fd(fuzz_output_file(), how, &writer, NULL) == 0);
        return writer;
    }
    if (!*folder)
        make_folder();
    remove_directory();
    FUZZ_REQUIRE(perfile_writer_open_path(directory, how, &writer, NULL) == 0);
    return writer;
}

/* What was written opens, and every record of it can be asked for everything. */
static void read_again(const struct perfile_writer_options *how)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_reader *reader;
    struct perfile_error error;
    FUZZ_REQUIRE((how->mode == PERFILE_MODE_DIRECTORY
                      ? perfile_open_path(directory, &open, &reader, &error)
                      : perfile_open_fd(fuzz_output_file(), &open, &reader, &error)) == 0);
    fuzz_walk(reader, true);
    perfile_close(reader);
}

/* ---- the edits ---- */

static int repair(struct editing *e, struct perfile_error *error)
{
    return perfile_repair(e->reader, e->writer, NULL, &e->report, error);
}

static int convert(struct editing *e, struct perfile_error *error)
{
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    options.strip = e->text;
    return perfile_convert(e->reader, e->writer, &options, &e->report, error);
}

/* For any age of perf, also those that do not know such recordings. */
static int age(struct editing *e, struct perfile_error *error)
{
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    options.for_perf = e->text;
    int result = perfile_convert(e->reader, e->writer, &options, &e->report, error);
    return result == PERFILE_ERROR_ARGUMENT ? PERFILE_ERROR_UNSUPPORTED : result;
}

/* Returns frames from the dumped stack, as many as the capacity allows. */
static int take_stack(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                      uint64_t *addresses, size_t capacity)
{
    size_t count = 0;
    (void)context;
    if (perfile_space_find(perfile_session_space(session, sample->pid), sample->ip))
        addresses[count++] = sample->ip;
    for (uint64_t at = 0; at + 8 <= sample->stack_user.used && count < capacity; at += 8)
        memcpy(&addresses[count++], sample->stack_user.data + at, 8);
    return (int)count;
}

static int unwind(struct editing *e, struct perfile_error *error)
{
    struct perfile_convert_options options = PERFILE_CONVERT_OPTIONS_INIT;
    options.unwind = take_stack;
    options.strip = e->text;
    return perfile_convert(e->reader, e->writer, &options, &e->report, error);
}

enum { EVERY, SAMPLES, TIME, CPUS, PIDS, TIDS, COMMS, EVENTS, CGROUPS, CUT_ALL };

static struct perfile_cut_options cut_options(int number, const char *text, struct perfile_filter *filter)
{
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    const char **const filters[] = {
        [TIME] = &filter->time,   [CPUS] = &filter->cpus,     [PIDS] = &filter->pids,       [TIDS] = &filter->tids,
        [COMMS] = &filter->comms, [EVENTS] = &filter->events, [CGROUPS] = &options.cgroups,
    };
    *filter = (struct perfile_filter)PERFILE_FILTER_INIT;
    options.filter = filter;
    if (number == EVERY)
        options.every = 2;
    else if (number == SAMPLES)
        options.samples = 3;
    else if (number != CUT_ALL)
        *filters[number] = text;
    return options;
}

static int cut(struct editing *e, struct perfile_error *error)
{
    struct perfile_filter filter;
    const struct perfile_cut_options options = cut_options(e->number, e->text, &filter);
    int result = perfile_cut(e->reader, e->writer, &options, &e->report, error);
    /* an event that is not there */
    return e->number == EVENTS && result == PERFILE_ERROR_ARGUMENT ? PERFILE_ERROR_ABSENT : result;
}

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                     struct perfile_error *error)
{
    const struct editing *e = context;
    fuzz_touch(part->name, part->name ? strlen(part->name) : 0);
    return perfile_writer_open_sink(&fuzz_sink, &e->how, writer, error);
}

/* Parts are streams: there may be many at once. The writer that was opened gets all of it when it is cut, too. */
static int split(struct editing *e, struct perfile_error *error)
{
    struct perfile_filter filter;
    const struct perfile_cut_options cut_by = cut_options(e->text ? TIME : CUT_ALL, e->text, &filter);
    struct perfile_split_options options = PERFILE_SPLIT_OPTIONS_INIT;
    struct perfile_writer *writer = e->writer;
    options.by = e->number;
    options.step = e->number == PERFILE_SPLIT_SIZE ? 4096 : 1 << 20;
    options.limit_parts = 24;
    options.limit_open = 5;
    options.context = e;
    options.open = open_part;
    options.close = close_part;
    e->how.mode = PERFILE_MODE_PIPE;
    e->writer = NULL;
    perfile_writer_close(writer);
    return perfile_split(e->reader, &cut_by, &options, &e->report, error);
}

/* With another reader of the same bytes; recordings that do not go together are refused. */
static int merge(struct editing *e, struct perfile_error *error)
{
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct perfile_open_options open = fuzz_options();
    struct perfile_reader *readers[2] = {e->reader, NULL};
    FUZZ_REQUIRE(perfile_open_memory(e->data, e->bytes, &open, &readers[1], error) == 0);
    options.readers = readers;
    options.reader_count = e->text ? 1 : 2;
    options.separate_hosts = e->bytes % 2;
    options.clock = e->number;
    int result = perfile_merge(e->writer, &options, NULL, error);
    perfile_close(readers[1]);
    return result == PERFILE_ERROR_ARGUMENT ? PERFILE_ERROR_UNSUPPORTED : result;
}

enum { USUAL, CHANGE, KEEP, DROP, STRICT };

static int anonymize(struct editing *e, struct perfile_error *error)
{
    struct perfile_anonymize_options options = PERFILE_ANONYMIZE_OPTIONS_INIT;
    struct perfile_anonymize_report report = PERFILE_ANONYMIZE_REPORT_INIT;
    options.key = "key";
    options.key_bytes = 3;
    options.change = e->number == CHANGE ? e->text : NULL;
    options.keep = e->number == KEEP ? e->text : NULL;
    options.drop = e->number == DROP ? e->text : NULL;
    options.strict = e->number == STRICT;
    return perfile_anonymize(e->reader, e->writer, &options, &report, error);
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
    const struct perfile_map map = {.size = sizeof(map),
                                    .start = read.addr,
                                    .end = read.addr | 0xfff,
                                    .pgoff = read.pgoff,
                                    .filename = read.filename,
                                    .pid = read.pid,
                                    .code = 1};
    int result = map.start < map.end ? add(adder, record->time ^ (read.len & 0xffff), &map, error) : 0;
    return result < 0 ? result : (int)(read.len % 2);
}

/* Of every other file, made of its name. */
static int find_build_id(void *context, const struct perfile_map *map, uint8_t build_id[20])
{
    const size_t bytes = strlen(map->filename);
    (void)context;
    memset(build_id, (int)bytes, 20);
    return bytes % 2 ? 20 : 0;
}

enum { BUILD_IDS, ALL_BUILD_IDS, MAPS, HIT_MAPS, CODE, SCHED, STRIP };

static int inject(struct editing *e, struct perfile_error *error)
{
    struct perfile_inject_options options = PERFILE_INJECT_OPTIONS_INIT;
    options.build_ids = e->number == BUILD_IDS || e->number == CODE;
    options.all_build_ids = e->number == ALL_BUILD_IDS;
    options.map_build_ids = e->number == MAPS       ? PERFILE_MAP_BUILD_IDS_ALL
                            : e->number == HIT_MAPS ? PERFILE_MAP_BUILD_IDS_HIT
                                                    : PERFILE_MAP_BUILD_IDS_NONE;
    options.find_build_id = e->bytes % 3 ? find_build_id : NULL;
    options.follow_code = e->number == CODE || e->number == HIT_MAPS ? follow_code : NULL;
    options.code_context = e->reader;
    options.sched_stat = e->number == SCHED;
    options.strip = e->number == STRIP;
    return perfile_inject(e->reader, e->writer, &options, &e->report, error);
}

/* ---- all of them ---- */

enum { FILE_MODE = PERFILE_MODE_FILE, STREAM = PERFILE_MODE_PIPE, FOLDER = PERFILE_MODE_DIRECTORY };

static const struct form {
    const char *verb;
    int (*run)(struct editing *e, struct perfile_error *error);
    int mode;
    int number;
    const char *text;
} forms[] = {
    {"repair", repair, FILE_MODE, 0, NULL},
    {"repair", repair, STREAM, 0, NULL},
    {"repair", repair, FOLDER, 0, NULL},
    {"convert", convert, FILE_MODE, 0, NULL},
    {"convert", convert, STREAM, 0, NULL},
    {"convert", convert, FOLDER, 0, NULL},
    {"convert", convert, FILE_MODE, 0, "stack,regs"},
    {"convert", convert, STREAM, 0, "aux,branch,callchain,raw"},
    {"convert", unwind, FILE_MODE, 0, NULL},
    {"convert", unwind, STREAM, 0, "regs,aux,branch"},
    {"age", age, FILE_MODE, 0, "3.0"},
    {"age", age, FILE_MODE, 0, "3.4"},
    {"age", age, FILE_MODE, 0, "3.16"},
    {"age", age, FILE_MODE, 0, "4.1"},
    {"age", age, FILE_MODE, 0, "4.14"},
    {"age", age, FILE_MODE, 0, "5.2"},
    {"age", age, STREAM, 0, "5.8"},
    {"age", age, FILE_MODE, 0, "5.14"},
    {"age", age, FOLDER, 0, "6.1"},
    {"age", age, STREAM, 0, "6.12"},
    {"age", age, FILE_MODE, 0, "7.2"},
    {"cut", cut, FILE_MODE, CUT_ALL, NULL},
    {"cut", cut, FILE_MODE, EVERY, NULL},
    {"cut", cut, STREAM, EVERY, NULL},
    {"cut", cut, FILE_MODE, SAMPLES, NULL},
    {"cut", cut, FOLDER, SAMPLES, NULL},
    {"cut", cut, FILE_MODE, TIME, "10%-90%"},
    {"cut", cut, STREAM, TIME, "+0.0001,+1"},
    {"cut", cut, FILE_MODE, CPUS, "0-1,3"},
    {"cut", cut, FILE_MODE, PIDS, "0,1,1000"},
    {"cut", cut, FILE_MODE, TIDS, "7,8"},
    {"cut", cut, FILE_MODE, COMMS, "sh,perf,prime"},
    {"cut", cut, STREAM, COMMS, "swapper"},
    {"cut", cut, FILE_MODE, EVENTS, "cpu-clock,cycles"},
    {"cut", cut, FILE_MODE, CGROUPS, "/,/user.slice"},
    {"split", split, STREAM, PERFILE_SPLIT_TIME, NULL},
    {"split", split, STREAM, PERFILE_SPLIT_SIZE, NULL},
    {"split", split, STREAM, PERFILE_SPLIT_PID, NULL},
    {"split", split, STREAM, PERFILE_SPLIT_TID, NULL},
    {"split", split, STREAM, PERFILE_SPLIT_CPU, "10%-90%"},
    {"split", split, STREAM, PERFILE_SPLIT_EVENT, NULL},
    {"split", split, STREAM, PERFILE_SPLIT_COMM, NULL},
    {"merge", merge, FILE_MODE, PERFILE_MERGE_CLOCK_AUTO, NULL},
    {"merge", merge, STREAM, PERFILE_MERGE_CLOCK_KEEP, NULL},
    {"merge", merge, FILE_MODE, PERFILE_MERGE_CLOCK_ALIGN, NULL},
    {"merge", merge, FOLDER, PERFILE_MERGE_CLOCK_KEEP, "one"},
    {"anonymize", anonymize, FILE_MODE, USUAL, NULL},
    {"anonymize", anonymize, STREAM, CHANGE, "times,pids"},
    {"anonymize", anonymize, FILE_MODE, KEEP, "comms,paths,registers,stacks,aux,raw,code,bpf,other"},
    {"anonymize", anonymize, FILE_MODE, DROP, "comms,paths,inodes,build-ids,symbols,cgroups,tracing,raw,topology"},
    {"anonymize", anonymize, FOLDER, STRICT, NULL},
    {"inject", inject, FILE_MODE, BUILD_IDS, NULL},
    {"inject", inject, STREAM, ALL_BUILD_IDS, NULL},
    {"inject", inject, FILE_MODE, MAPS, NULL},
    {"inject", inject, FOLDER, HIT_MAPS, NULL},
    {"inject", inject, FILE_MODE, CODE, NULL},
    {"inject", inject, STREAM, SCHED, NULL},
    {"inject", inject, FILE_MODE, STRIP, NULL},
};

/* Reads all records once; then the reader is at its start again, with the events and features of the records. */
static bool read_before(struct perfile_reader *reader)
{
    const struct perfile_record *record;
    struct perfile_error error;
    int result;
    while ((result = perfile_reader_next(reader, &record, &error)) > 0)
        continue;
    return result == 0 && perfile_reader_rewind(reader, &error) == 0;
}

static void write_anew(struct editing *e, const struct form *form, bool load)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_error error;
    if (perfile_open_memory(e->data, e->bytes, &open, &e->reader, &error) < 0)
        return;
    if (!load || read_before(e->reader)) {
        e->writer = open_writer(&e->how);
        const int result = form->run(e, &error);
        FUZZ_REQUIRE(result != PERFILE_ERROR_WRITE && result != PERFILE_ERROR_ARGUMENT);
        FUZZ_REQUIRE(e->report.records_kept >= e->report.samples_kept);
        if (result == 0 && e->writer)
            FUZZ_REQUIRE(perfile_writer_finish(e->writer, &error) == 0);
        perfile_writer_close(e->writer);
        if (result == 0 && e->writer)
            read_again(&e->how);
    }
    perfile_close(e->reader);
}

/* Which order, compression and so on: each has its turn, and an input has the same ones every time. */
static unsigned turn_of(const uint8_t *data, size_t bytes, size_t form)
{
    unsigned turn = (unsigned)form * 2654435761u;
    for (size_t i = 0; i < bytes; i += 1 + bytes / 256)
        turn = (turn ^ data[i]) * 16777619u;
    return turn >> 16;
}

static void run_form(const uint8_t *data, size_t bytes, size_t number)
{
    const struct form *form = &forms[number];
    const unsigned turn = turn_of(data, bytes, number);
    if ((turn >> 4) % FUZZ_EVERY)
        return;
    struct editing e = {
        .data = data, .bytes = bytes, .text = form->text, .number = form->number, .report = PERFILE_EDIT_REPORT_INIT};
    e.how = (struct perfile_writer_options)PERFILE_WRITER_OPTIONS_INIT;
    e.how.mode = form->mode;
    e.how.byte_order = turn & 1 ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    e.how.compression = turn & 2 ? 1 : 0;
    e.how.compressed_v1 = turn & 4;
    e.how.no_sync = true;
    write_anew(&e, form, turn & 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    for (size_t i = 0; i < PF_COUNT(forms); i++) {
        if (!fuzz_verb || strcmp(forms[i].verb, fuzz_verb) == 0)
            run_form(data, bytes, i);
    }
    return 0;
}
