/* SPDX-License-Identifier: MIT */
/*
 * Merging keeps what was recorded. One recording merged alone has the same records, in whatever order; merged with
 * itself it has each sample twice and all else once; merged with another one the samples are those of both, but for the
 * ids that distinguish events. Of damaged recordings the records are only counted.
 *
 * merges FILE... : recordings; --corpus : files of the corpus, see walk.h.
 */
#include <inttypes.h>
#include <unistd.h>

#include <perfile/edit.h>

#include "base/text.h"
#include "walk.h"

static unsigned merged, refused, failures;
static char output[4096];
static bool trimmed; /* samples had to lose a piece in the last merge */

/* ---- a record as text ---- */

struct shown {
    struct pf_text text;
    bool without_ids;
};

static bool is_id(const struct perfile_value *v)
{
    return v->meaning == PERFILE_MEANS_ID && v->kind == PERFILE_VALUE_UNSIGNED;
}

static int begin(void *context, const char *name, bool list)
{
    struct shown *shown = context;
    if (!shown->without_ids)
        pf_put_format(&shown->text, "%s%s ", name ? name : "", list ? "[" : "{");
    return 0;
}

static int value(void *context, const struct perfile_value *v)
{
    struct shown *shown = context;
    if (shown->without_ids &&
        (is_id(v) || (v->name && !strcmp(v->name, "nr")) || (v->kind == PERFILE_VALUE_UNSIGNED && !v->number.u)))
        return 0; /* parts that were added are 0; one counter value may have become a group of one */
    if (!shown->without_ids)
        pf_put_format(&shown->text, "%s=", v->name ? v->name : "");
    if (v->kind == PERFILE_VALUE_TEXT || v->kind == PERFILE_VALUE_BYTES)
        pf_put_format(&shown->text, "%08" PRIx32 "/%zu ", pf_crc32(0, v->data, v->bytes), v->bytes);
    else if (v->kind == PERFILE_VALUE_DOUBLE)
        pf_put_format(&shown->text, "%g ", v->number.d);
    else
        pf_put_format(&shown->text, "%" PRIu64 " ", v->number.u);
    return 0;
}

/* ---- what a recording holds: sums of hashes do not depend on the order ---- */

struct content {
    uint64_t samples, others;
    uint64_t sample_sum, other_sum;
    bool damaged;
    bool strays; /* samples whose event was not known yet; at another position of the file it may be known */
};

static uint64_t hash(const char *data, size_t bytes)
{
    uint64_t h = 0xcbf29ce484222325ull;
    for (size_t i = 0; i < bytes; i++)
        h = (h ^ (uint8_t)data[i]) * 0x100000001b3ull;
    return h ^ h >> 31;
}

/* What says in one mode what other modes say elsewhere, and rounds, which are made anew. */
static bool describes(uint32_t type)
{
    return type == PERFILE_RECORD_HEADER_ATTR || type == PERFILE_RECORD_HEADER_EVENT_TYPE ||
           type == PERFILE_RECORD_HEADER_TRACING_DATA || type == PERFILE_RECORD_HEADER_BUILD_ID ||
           type == PERFILE_RECORD_HEADER_FEATURE || type == PERFILE_RECORD_COMPRESSED ||
           type == PERFILE_RECORD_COMPRESSED2 || type == PERFILE_RECORD_FINISHED_ROUND;
}

static void add(struct content *content, struct shown *shown, struct perfile_reader *reader,
                const struct perfile_record *record)
{
    const struct perfile_visitor visitor = {sizeof(visitor), shown, begin, NULL, value};
    const bool sample = record->type == PERFILE_RECORD_SAMPLE;
    shown->text.used = 0;
    pf_put_format(&shown->text, "%" PRIu32 " %u config %" PRIu64 " time %" PRIu64 " ", record->type, record->misc,
                  sample && record->event ? record->event->attr->config : 0, record->time);
    if (perfile_record_visit(reader, record, &visitor, NULL) < 0)
        pf_put_string(&shown->text, "failed");
    content->strays |= sample && !record->event;
    *(sample ? &content->samples : &content->others) += 1;
    *(sample ? &content->sample_sum : &content->other_sum) += hash(shown->text.data, shown->text.used);
}

static bool look(const char *path, bool without_ids, struct content *content)
{
    struct shown shown = {.without_ids = without_ids};
    struct perfile_reader *reader;
    const struct perfile_record *record;
    struct perfile_error error = {0};
    *content = (struct content){0};
    if (perfile_open_path(path, NULL, &reader, &error) < 0 ||
        pf_text_open(&shown.text, pf_allocator_or_default(NULL), NULL, NULL) < 0) {
        printf("%s: %s\n", path, error.message);
        return false;
    }
    int got;
    while ((got = perfile_reader_next(reader, &record, &error)) > 0)
        if (!describes(record->type) && !record->damaged)
            add(content, &shown, reader, record);
    if (got < 0)
        printf("%s: %s\n", path, error.message);
    content->damaged = perfile_reader_counts(reader)->losses > 0 || perfile_reader_counts(reader)->damaged > 0;
    pf_text_close(&shown.text);
    perfile_close(reader);
    return got == 0;
}

/* ---- one merge ---- */

/* 1: done, 0: the recordings cannot stand in one, -1: failed. */
static int merge(const char *const *paths, size_t count, const struct perfile_writer_options *made,
                 struct perfile_edit_report *total)
{
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct perfile_merge_report report = PERFILE_MERGE_REPORT_INIT;
    struct perfile_reader *readers[2] = {NULL, NULL};
    struct perfile_writer *writer = NULL;
    struct perfile_error error = {0};
    int result = 0;
    options.readers = readers;
    options.reader_count = count;
    options.clock = PERFILE_MERGE_CLOCK_KEEP;
    for (size_t i = 0; i < count && result == 0; i++)
        result = perfile_open_path(paths[i], NULL, &readers[i], &error);
    if (result == 0)
        result = perfile_writer_open_path(output, made, &writer, &error);
    if (result == 0)
        result = perfile_merge(writer, &options, &report, &error);
    if (result == 0) {
        trimmed = report.stacks_trimmed > 0;
        *total = *report.total;
        result = perfile_writer_finish(writer, &error);
    }
    perfile_writer_close(writer);
    for (size_t i = 0; i < count; i++)
        perfile_close(readers[i]);
    merged += result == 0;
    refused += result == PERFILE_ERROR_UNSUPPORTED;
    if (result < 0 && result != PERFILE_ERROR_UNSUPPORTED)
        printf("%s: %s\n", paths[0], error.message);
    return result == 0 ? 1 : result == PERFILE_ERROR_UNSUPPORTED ? 0 : -1;
}

static bool same(const struct content *a, const struct content *b, bool others)
{
    return a->samples == b->samples && (trimmed || a->strays || a->sample_sum == b->sample_sum) &&
           (!others || (a->others == b->others && (a->strays || a->other_sum == b->other_sum)));
}

static void expect(const char *what, const char *path, const char *other, const struct content *wanted, bool others,
                   bool without_ids)
{
    struct content got;
    const bool valid = look(output, without_ids, &got);
    if (valid && same(wanted, &got, others))
        return;
    printf("%s %s %s: %" PRIu64 " samples and %" PRIu64 " others, not %" PRIu64 " and %" PRIu64 "%s%s\n", what, path,
           other ? other : "", got.samples, got.others, wanted->samples, wanted->others,
           wanted->sample_sum == got.sample_sum ? "" : ", samples differ",
           wanted->other_sum == got.other_sum || !others ? "" : ", others differ");
    failures++;
}

static bool counts_agree(const struct perfile_edit_report *total, uint64_t records)
{
    return total->records_kept + total->records_dropped + total->records_damaged >= records;
}

static void alone(const char *path, const struct content *in, const struct perfile_writer_options *made)
{
    struct perfile_edit_report total = PERFILE_EDIT_REPORT_INIT;
    const int result = merge(&path, 1, made, &total);
    if (result <= 0) {
        failures++;
        printf("alone: %s: not merged\n", path);
    } else if (!in->damaged) {
        expect("alone", path, NULL, in, true, false);
    } else if (!counts_agree(&total, in->samples + in->others)) {
        failures++;
        printf("alone: %s: %" PRIu64 " of %" PRIu64 " records\n", path, total.records_kept, in->samples + in->others);
    }
    remove(output);
}

static void twice(const char *path, const struct content *in, const struct perfile_writer_options *made)
{
    const char *const paths[] = {path, path};
    struct perfile_edit_report total = PERFILE_EDIT_REPORT_INIT;
    struct content wanted = *in;
    const int result = merge(paths, 2, made, &total);
    wanted.samples *= 2;
    wanted.sample_sum *= 2;
    if (result < 0)
        failures++;
    if (result > 0 && !in->damaged)
        expect("twice", path, NULL, &wanted, true, false);
    remove(output);
}

static void pair(const char *path, const char *other, const struct perfile_writer_options *made)
{
    const char *const paths[] = {path, other};
    struct perfile_edit_report total = PERFILE_EDIT_REPORT_INIT;
    struct content a, b;
    const int result = merge(paths, 2, made, &total);
    if (result < 0)
        failures++;
    if (result > 0 && look(path, true, &a) && look(other, true, &b) && !a.damaged && !b.damaged) {
        a.samples += b.samples;
        a.sample_sum += b.sample_sum;
        if (trimmed)
            puts("user stacks were trimmed: samples are only counted");
        expect("pair", path, other, &a, false, true);
    }
    remove(output);
}

/* ---- which recordings ---- */

static char last[4096];

static void try_all(const char *path)
{
    struct perfile_reader *reader;
    struct perfile_writer_options made = PERFILE_WRITER_OPTIONS_INIT;
    struct content in;
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return; /* no recording */
    made.byte_order = perfile_reader_file(reader)->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    made.no_sync = true;
    perfile_close(reader);
    if (look(path, false, &in)) {
        alone(path, &in, &made);
        twice(path, &in, &made);
        made.mode = merged % 2 ? PERFILE_MODE_PIPE : PERFILE_MODE_FILE;
        if (*last)
            pair(path, last, &made);
    }
    snprintf(last, sizeof(last), "%s", path);
}

static bool wants(const char *path, const struct stat *status)
{
    return status->st_size < 64 << 20 && walk_without_flips(path, status);
}

int main(int argc, char **argv)
{
    walk_temporary(output, "perfile-merges");
    walk.try_all = try_all;
    walk.wants = wants;
    const int status = walk_arguments(argc, argv);
    if (status)
        return status;
    printf("%u merges, %u refused, %u wrong\n", merged, refused, failures);
    return failures || !merged;
}
