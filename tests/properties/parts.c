/* SPDX-License-Identifier: MIT */
/*
 * Cutting by what is true for all changes nothing: the records are those of the recording, byte for byte and in order.
 * Splitting loses and doubles nothing: every sample of the recording is in one part, once, and every other record in
 * one part at least.
 *
 * parts FILE... : recordings; --corpus : files of the corpus, see walk.h.
 */
#include <inttypes.h>
#include <unistd.h>

#include "../split_part.h"
#include "base/map.h"
#include "base/text.h"
#include "walk.h"

static unsigned checks, failures;
static char folder[4096];

static void expect(bool right, const char *path, const char *what)
{
    checks++;
    failures += !right;
    if (!right)
        printf("%s: %s\n", path, what);
}

/* ---- what a recording holds ---- */

static bool counts(const struct perfile_record *record)
{
    const uint32_t type = record->type;
    return !record->damaged && type != PERFILE_RECORD_HEADER_ATTR && type != PERFILE_RECORD_HEADER_EVENT_TYPE &&
           type != PERFILE_RECORD_HEADER_TRACING_DATA && type != PERFILE_RECORD_HEADER_BUILD_ID &&
           type != PERFILE_RECORD_HEADER_FEATURE && type != PERFILE_RECORD_COMPRESSED &&
           type != PERFILE_RECORD_COMPRESSED2;
}

static uint64_t hash_of(const struct perfile_record *record)
{
    uint64_t hash = 0xcbf29ce484222325ull;
    for (uint32_t i = 0; i < record->bytes; i++)
        hash = (hash ^ record->data[i]) * 0x100000001b3ull;
    return hash | 1;
}

struct content {
    uint64_t records, samples;
    uint64_t in_order;   /* of all records */
    uint64_t sample_sum; /* whatever the order */
    bool readable;
};

/* Adds the recording; `others` gets the records that are not samples. */
static struct content read_all(const char *path, struct pf_map *others)
{
    struct content content = {0};
    struct perfile_reader *reader;
    const struct perfile_record *record;
    int result = perfile_open_path(path, NULL, &reader, NULL);
    if (result < 0)
        return content;
    while ((result = perfile_reader_next(reader, &record, NULL)) > 0) {
        if (!counts(record))
            continue;
        const uint64_t hash = hash_of(record);
        content.records++;
        content.in_order = (content.in_order ^ hash) * 0x9e3779b97f4a7c15ull;
        if (record->type == PERFILE_RECORD_SAMPLE) {
            content.samples++;
            content.sample_sum += hash * (hash >> 32 | 1);
        } else if (others && !pf_map_put(others, hash, 1)) {
            exit(1);
        }
    }
    content.readable = result == 0;
    perfile_close(reader);
    return content;
}

/* ---- by what is true for all ---- */

static void cut_nothing(const char *path, const struct content *wanted, const char *time)
{
    char output[4128];
    struct perfile_reader *reader;
    struct perfile_writer *writer = NULL;
    struct perfile_error error = {0};
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_cut_options options = PERFILE_CUT_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    filter.time = time;
    options.filter = &filter;
    how.no_sync = true;
    snprintf(output, sizeof(output), "%s/whole", folder);
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return;
    how.byte_order = perfile_reader_file(reader)->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    how.mode = perfile_reader_file(reader)->mode;
    int result = perfile_writer_open_path(output, &how, &writer, &error);
    if (result == 0)
        result = perfile_cut(reader, writer, &options, &report, &error);
    if (result == 0)
        result = perfile_writer_finish(writer, &error);
    perfile_writer_close(writer);
    perfile_close(reader);
    expect(result == 0, path, error.message);
    if (result == 0 && wanted->records) {
        const struct content got = read_all(output, NULL);
        expect(got.records == wanted->records && got.in_order == wanted->in_order, path, "a cut by nothing changed it");
    }
    walk_remove(output);
}

/* ---- splits ---- */

struct parts {
    unsigned count;
    int byte_order;
};

static void part_path(const struct perfile_split_part *part, char path[4128])
{
    snprintf(path, 4128, "%s/part-%zu", folder, part->index);
}

static int open_part(void *context, const struct perfile_split_part *part, struct perfile_writer **writer,
                     struct perfile_error *error)
{
    struct parts *parts = context;
    char path[4128];
    struct perfile_writer_options how = PERFILE_WRITER_OPTIONS_INIT;
    how.no_sync = true;
    how.byte_order = parts->byte_order;
    parts->count++;
    part_path(part, path);
    return perfile_writer_open_path(path, &how, writer, error);
}

static bool holds_all(const struct pf_map *wanted, const struct pf_map *got)
{
    uint64_t value;
    for (size_t i = 0; i < wanted->size; i++)
        if (wanted->slots[i].value && !pf_map_get(got, wanted->slots[i].key, &value))
            return false;
    return true;
}

/* The parts together; they are removed. */
static void compare_parts(const char *path, const char *way, const struct content *wanted, const struct pf_map *others,
                          unsigned part_count)
{
    char output[4128], what[64];
    uint64_t samples = 0, sum = 0;
    struct pf_map got;
    pf_map_open(&got, pf_allocator_or_default(NULL));
    for (unsigned i = 0; i < part_count; i++) {
        const struct perfile_split_part part = {.index = i};
        part_path(&part, output);
        const struct content content = read_all(output, &got);
        expect(content.readable, path, "a part cannot be read");
        samples += content.samples;
        sum += content.sample_sum;
        unlink(output);
    }
    snprintf(what, sizeof(what), "split by %s: the samples are others", way);
    expect(samples == wanted->samples && sum == wanted->sample_sum, path, what);
    snprintf(what, sizeof(what), "split by %s: a record is in no part", way);
    expect(holds_all(others, &got), path, what);
    pf_map_close(&got);
}

static void split(const char *path, const char *way, struct perfile_split_options *how, const struct content *wanted,
                  const struct pf_map *others)
{
    struct perfile_reader *reader;
    struct perfile_error error = {0};
    struct parts parts = {0};
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return;
    parts.byte_order = perfile_reader_file(reader)->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    how->context = &parts;
    how->open = open_part;
    how->close = close_part;
    how->limit_open = 5; /* so that there are several rounds */
    int result = perfile_split(reader, NULL, how, &report, &error);
    perfile_close(reader);
    expect(result == 0, path, error.message);
    expect(result < 0 || report.samples_kept == wanted->samples, path, "the report miscounts samples");
    compare_parts(path, way, wanted, others, parts.count);
}

static void split_all(const char *path, const struct content *wanted, const struct pf_map *others, uint64_t bytes)
{
    static const struct {
        const char *name;
        int by;
    } ways[] = {{"time", PERFILE_SPLIT_TIME}, {"size", PERFILE_SPLIT_SIZE}, {"pid", PERFILE_SPLIT_PID},
                {"tid", PERFILE_SPLIT_TID},   {"cpu", PERFILE_SPLIT_CPU},   {"event", PERFILE_SPLIT_EVENT},
                {"comm", PERFILE_SPLIT_COMM}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct perfile_split_options how = PERFILE_SPLIT_OPTIONS_INIT;
        how.by = ways[i].by;
        how.step = how.by == PERFILE_SPLIT_TIME ? 50000000 : bytes / 6 + 100;
        split(path, ways[i].name, &how, wanted, others);
    }
}

static void try_all(const char *path)
{
    struct stat status;
    struct pf_map others;
    const uint64_t bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    pf_map_open(&others, pf_allocator_or_default(NULL));
    const struct content wanted = read_all(path, &others);
    if (wanted.readable) {
        cut_nothing(path, &wanted, NULL);
        split_all(path, &wanted, &others, bytes);
    }
    pf_map_close(&others);
}

static bool wants(const char *path, const struct stat *status)
{
    return status->st_size < 1 << 22 && !strstr(path, "/broken/");
}

int main(int argc, char **argv)
{
    walk_temporary(folder, "perfile-parts");
    if (mkdir(folder, 0700) < 0) {
        perror(folder);
        return 1;
    }
    walk.try_all = try_all;
    walk.wants = wants;
    const int status = walk_arguments(argc, argv);
    rmdir(folder);
    printf("%u checks, %u failures\n", checks, failures);
    return status ? status : failures || !checks;
}
