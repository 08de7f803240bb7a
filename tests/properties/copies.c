/* SPDX-License-Identifier: MIT */
/*
 * Copying a recording changes nothing: for every mode, byte order and compression of the output, its events and records
 * are those of the input, byte for byte when the order is the same, and field by field always. Of a damaged recording
 * the complete records are counted only: damage may look different elsewhere.
 *
 * copies FILE... : recordings; --corpus : files of the corpus, see walk.h.
 */
#include <inttypes.h>
#include <unistd.h>

#include <perfile/writer.h>

#include "base/text.h"
#include "walk.h"

static unsigned compared, failures;
static char output[4096];
static bool damaged; /* the recording that is copied */

/* ---- a record as text ---- */

static int begin(void *context, const char *name, bool list)
{
    pf_put_format(context, "%s%s ", name ? name : "", list ? "[" : "{");
    return 0;
}

static int end(void *context, bool list)
{
    pf_put_string(context, list ? "] " : "} ");
    return 0;
}

static int value(void *context, const struct perfile_value *v)
{
    pf_put_format(context, "%s=", v->name ? v->name : "");
    if (v->kind == PERFILE_VALUE_TEXT || v->kind == PERFILE_VALUE_BYTES)
        pf_put_format(context, "%08" PRIx32 "/%zu ", pf_crc32(0, v->data, v->bytes), v->bytes);
    else if (v->kind == PERFILE_VALUE_DOUBLE)
        pf_put_format(context, "%g ", v->number.d);
    else
        pf_put_format(context, "%" PRIu64 " ", v->number.u);
    return 0;
}

/* ---- both sides ---- */

struct side {
    struct perfile_reader *reader;
    const struct perfile_record *record; /* NULL: at the end */
    struct pf_text text;
};

/* What says in one mode what other modes say elsewhere. */
static bool describes(uint32_t type)
{
    return type == PERFILE_RECORD_HEADER_ATTR || type == PERFILE_RECORD_HEADER_EVENT_TYPE ||
           type == PERFILE_RECORD_HEADER_TRACING_DATA || type == PERFILE_RECORD_HEADER_BUILD_ID ||
           type == PERFILE_RECORD_HEADER_FEATURE || type == PERFILE_RECORD_COMPRESSED ||
           type == PERFILE_RECORD_COMPRESSED2 || type == PERFILE_RECORD_EVENT_UPDATE;
}

static bool known_sample(const struct perfile_record *record)
{
    return record->type != PERFILE_RECORD_SAMPLE || record->event;
}

static void next(struct side *side, bool turned)
{
    do {
        if (perfile_reader_next(side->reader, &side->record, NULL) <= 0)
            side->record = NULL;
    } while (side->record &&
             (describes(side->record->type) || side->record->damaged || (turned && !known_sample(side->record))));
}

static void show(struct side *side)
{
    const struct perfile_visitor visitor = {sizeof(visitor), &side->text, begin, end, value};
    side->text.used = 0;
    pf_put_format(&side->text, "%" PRIu32 " %u event %d time %" PRIu64 " ", side->record->type, side->record->misc,
                  side->record->event ? (int)side->record->event->index : -1, side->record->time);
    if (perfile_record_visit(side->reader, side->record, &visitor, NULL) < 0)
        pf_put_string(&side->text, "failed");
}

static bool same_bytes(const struct perfile_record *a, const struct perfile_record *b)
{
    return a->bytes == b->bytes && memcmp(a->data, b->data, a->bytes) == 0;
}

/* The writer makes a record of its own when there is none at all. */
static bool says_nothing(const struct side *in, const struct side *out, unsigned n)
{
    return n == 0 && !in->record && out->record && out->record->type == PERFILE_RECORD_FINISHED_ROUND;
}

static bool same_records(struct side *in, struct side *out, const char *what)
{
    const bool same_order = perfile_reader_file(in->reader)->swapped == perfile_reader_file(out->reader)->swapped;
    for (unsigned n = 0;; n++) {
        next(in, !same_order);
        next(out, !same_order);
        if ((!in->record && !out->record) || says_nothing(in, out, n))
            return true;
        if (!in->record || !out->record) {
            printf("%s: record %u is only in the %s\n", what, n, in->record ? "input" : "output");
            return false;
        }
        compared++;
        if (same_order && !in->record->payload_bytes && same_bytes(in->record, out->record))
            continue;
        if (damaged || (!in->record->event && out->record->event))
            continue; /* a stream without its head reports its events after this record */
        show(in);
        show(out);
        if (in->text.used == out->text.used && memcmp(in->text.data, out->text.data, in->text.used) == 0 &&
            (!same_order || same_bytes(in->record, out->record)))
            continue;
        printf("%s: record %u at 0x%" PRIx64 " and 0x%" PRIx64 "\n< %.*s\n> %.*s\n", what, n, in->record->offset,
               out->record->offset, (int)pf_min(in->text.used, 2000), in->text.data, (int)pf_min(out->text.used, 2000),
               out->text.data);
        return false;
    }
}

static void show_event(struct side *side, const struct perfile_event *event)
{
    const struct perfile_visitor visitor = {sizeof(visitor), &side->text, begin, end, value};
    side->text.used = 0;
    if (!event)
        return;
    pf_put_format(&side->text, "%s ids %zu %08" PRIx32 " ", event->name, event->id_count,
                  pf_crc32(0, event->ids, event->id_count * sizeof(*event->ids)));
    if (perfile_attr_visit(event, &visitor, NULL) < 0)
        pf_put_string(&side->text, "failed");
}

static bool same_events(struct side *in, struct side *out, const char *what)
{
    for (size_t i = 0;; i++) {
        const struct perfile_event *a = perfile_event_get(in->reader, i), *b = perfile_event_get(out->reader, i);
        if (!a && !b)
            return true;
        if (damaged)
            continue;
        show_event(in, a);
        show_event(out, b);
        if (in->text.used == out->text.used && memcmp(in->text.data, out->text.data, in->text.used) == 0)
            continue;
        printf("%s: event %zu\n< %.*s\n> %.*s\n", what, i, (int)in->text.used, in->text.data, (int)out->text.used,
               out->text.data);
        return false;
    }
}

/* ---- one copy ---- */

static bool copy(const char *path, const struct perfile_writer_options *options, const char *what)
{
    struct perfile_error error = {0};
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    const struct perfile_record *record;
    if (perfile_open_path(path, NULL, &reader, &error) < 0)
        return false;
    int result = perfile_writer_open_path(output, options, &writer, &error);
    if (result == 0)
        result = perfile_writer_copy_header(writer, reader, &error);
    int got = 0;
    while (result == 0 && (got = perfile_reader_next(reader, &record, &error)) > 0) {
        if (record->damaged)
            continue;
        if (options->mode == PERFILE_MODE_DIRECTORY)
            result = perfile_writer_part(writer, record->part, &error);
        if (result == 0)
            result = perfile_writer_copy(writer, reader, record, &error);
        if (result == PERFILE_ERROR_EVENT)
            result = 0; /* a sample of no event cannot be turned */
    }
    if (result == 0)
        result = got < 0 ? got : perfile_writer_finish(writer, &error);
    if (result < 0)
        printf("%s: not written: %s\n", what, error.message);
    damaged = perfile_reader_counts(reader)->losses > 0;
    perfile_writer_close(writer);
    perfile_close(reader);
    return result == 0;
}

static bool compare(const char *path, const char *what)
{
    struct side in = {0}, out = {0};
    struct perfile_error error = {0};
    bool same = false;
    if (perfile_open_path(path, NULL, &in.reader, &error) == 0 &&
        perfile_open_path(output, NULL, &out.reader, &error) == 0 &&
        pf_text_open(&in.text, pf_allocator_or_default(NULL), NULL, NULL) == 0 &&
        pf_text_open(&out.text, pf_allocator_or_default(NULL), NULL, NULL) == 0)
        same = same_records(&in, &out, what) && same_events(&in, &out, what);
    else
        printf("%s: %s\n", what, error.message);
    pf_text_close(&in.text);
    pf_text_close(&out.text);
    perfile_close(in.reader);
    perfile_close(out.reader);
    return same;
}

static void try(const char *path, const struct perfile_writer_options *options)
{
    static const char *const modes[] = {"file", "pipe", "directory"}, *const orders[] = {"native", "little", "big"};
    char what[512];
    snprintf(what, sizeof(what), "%s as %s, %s%s%s", path, modes[options->mode], orders[options->byte_order],
             options->compression ? ", compressed" : "", options->compressed_v1 ? " v1" : "");
    if (!copy(path, options, what) || !compare(path, what))
        failures++;
    walk_remove(output);
}

static void try_all(const char *path)
{
    struct perfile_reader *reader;
    if (perfile_open_path(path, NULL, &reader, NULL) < 0)
        return; /* no recording */
    const bool directory = perfile_reader_file(reader)->mode == PERFILE_MODE_DIRECTORY;
    const int order = perfile_reader_file(reader)->big_endian ? PERFILE_ORDER_BIG : PERFILE_ORDER_LITTLE;
    const int other = order == PERFILE_ORDER_BIG ? PERFILE_ORDER_LITTLE : PERFILE_ORDER_BIG;
    perfile_close(reader);
    for (int mode = PERFILE_MODE_FILE; mode <= (directory ? PERFILE_MODE_DIRECTORY : PERFILE_MODE_PIPE); mode++)
        for (unsigned variant = 0; variant < 4; variant++) {
            struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
            options.mode = mode;
            options.byte_order = variant & 1 ? other : order;
            options.compression = variant & 2 ? 1 : 0;
            options.compressed_v1 = variant == 3;
            options.no_sync = true;
            try(path, &options);
        }
}

int main(int argc, char **argv)
{
    walk_temporary(output, "perfile-copies");
    walk.try_all = try_all;
    walk.wants = walk_without_flips;
    const int status = walk_arguments(argc, argv);
    if (status)
        return status;
    printf("%u records compared, %u copies differ\n", compared, failures);
    return failures || !compared;
}
