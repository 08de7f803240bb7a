/* SPDX-License-Identifier: MIT */
/* Header features of a recording that is written: sections after the data, or records of pipe mode. */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "format/features.h"
#include "format/layout.h"
#include "format/writer.h"

enum {
    STRING_STEP = 64,                     /* perf pads the texts of features to multiples of it */
    PIPE_FEATURE_MAX = 65535 - 16,        /* what fits into a HEADER_FEATURE record after its header */
    COMPRESSED_MMAP_LEN = PF_BATCH_BYTES, /* what one compressed record may inflate to; full pages */
};

/* What depends on where things stand in this very file. */
bool pf_writer_owns_feature(uint32_t number)
{
    return number == PERFILE_FEATURE_EVENT_DESC || number == PERFILE_FEATURE_AUXTRACE ||
           number == PERFILE_FEATURE_DIR_FORMAT || number == PERFILE_FEATURE_COMPRESSED;
}

void pf_writer_refuse_feature(struct perfile_writer *writer, uint64_t number)
{
    char message[128];
    snprintf(message, sizeof(message), "invalid feature number %" PRIu64 ": dropped", number);
    pf_writer_diagnose(writer, "feature-number", message);
    writer->features_dropped++;
}

/* ---- a list of bodies ---- */

static struct pf_writer_feature *find_feature(const struct perfile_writer *writer, uint32_t number)
{
    for (size_t i = 0; i < writer->feature_count; i++)
        if (writer->features[i].number == number)
            return &writer->features[i];
    return NULL;
}

/* In the order of their numbers, as the table wants them. */
static struct pf_writer_feature *insert_feature(struct perfile_writer *writer, uint32_t number)
{
    if (!pf_grow(writer->allocator, &writer->features, &writer->feature_capacity, writer->feature_count + 1,
                 sizeof(*writer->features)))
        return NULL;
    size_t at = writer->feature_count++;
    for (; at && writer->features[at - 1].number > number; at--)
        writer->features[at] = writer->features[at - 1];
    writer->features[at] = (struct pf_writer_feature){.number = number};
    return &writer->features[at];
}

int pf_writer_append_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                             struct perfile_error *error)
{
    struct pf_writer_feature *feature = find_feature(writer, number);
    if (!pf_feature_is_valid(number)) /* the bitmap has no bit for it */
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "feature", "invalid number %" PRIu32, number);
    if (!feature)
        feature = insert_feature(writer, number);
    if (!feature ||
        (bytes && !pf_grow(writer->allocator, &feature->data, &feature->capacity, feature->bytes + bytes, 1)))
        return pf_fail_memory(error, "feature");
    if (bytes)
        memcpy(feature->data + feature->bytes, data, bytes);
    feature->bytes += bytes;
    return 0;
}

/* ---- pipe mode ---- */

static int put_feature_record(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                              struct perfile_error *error)
{
    char message[128];
    if (bytes > PIPE_FEATURE_MAX && (writer->keeps_large || writer->options.mode != PERFILE_MODE_PIPE))
        return 0; /* the recording has it at the end */
    if (bytes > PIPE_FEATURE_MAX) {
        const char *name = perfile_feature_name(number);
        snprintf(message, sizeof(message), "feature %s of %zu bytes is left out: pipe mode holds at most %d",
                 name ? name : "?", bytes, PIPE_FEATURE_MAX);
        pf_writer_diagnose(writer, "feature-size", message);
        writer->features_dropped++;
        return 0;
    }
    if (bytes == 0)
        return 0; /* an empty one would be the end mark */
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    pf_out_u32(&o, PERFILE_RECORD_HEADER_FEATURE);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, (uint16_t)(16 + bytes));
    pf_out_u64(&o, number);
    pf_out_put(&o, data, bytes);
    return pf_writer_put_plain(writer, writer->record, pf_out_bytes_used(&o), error);
}

static int put_tracing_record(struct perfile_writer *writer, const void *data, size_t bytes,
                              struct perfile_error *error)
{
    static const uint8_t zeros[8];
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    uint64_t padded = pf_align8(bytes);
    if (padded > UINT32_MAX)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "TRACING_DATA", "too large: %zu bytes", bytes);
    pf_out_u32(&o, PERFILE_RECORD_HEADER_TRACING_DATA);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, 16);
    pf_out_u32(&o, (uint32_t)padded);
    pf_out_u32(&o, 0);
    int result = pf_writer_put_plain(writer, writer->record, 16, error);
    if (result == 0)
        result = pf_writer_put_bytes(writer, data, bytes, error);
    return result < 0 ? result : pf_writer_put_bytes(writer, zeros, (size_t)padded - bytes, error);
}

/* The entries of the section are records already; in the stream they say so. */
static int put_build_id_records(struct perfile_writer *writer, const uint8_t *data, size_t bytes,
                                struct perfile_error *error)
{
    while (bytes >= 8) {
        size_t size = pf_load16(data + 6, writer->swap), padded = (size_t)pf_align8(size);
        if (size < 8 || size > bytes || padded > UINT16_MAX)
            break;
        /* entries of files may have other sizes, but in streams perf 7.0 and later stop unless it is a multiple of 8 */
        struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
        pf_out_u32(&o, PERFILE_RECORD_HEADER_BUILD_ID);
        pf_out_put(&o, data + 4, 2);
        pf_out_u16(&o, (uint16_t)padded);
        pf_out_put(&o, data + 8, size - 8);
        pf_out_zeros(&o, padded - size);
        int result = pf_writer_put_plain(writer, writer->record, padded, error);
        if (result < 0)
            return result;
        data += size;
        bytes -= size;
    }
    return 0;
}

static int describe_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                            struct perfile_error *error)
{
    if (number == PERFILE_FEATURE_TRACING_DATA)
        return put_tracing_record(writer, data, bytes, error);
    if (number == PERFILE_FEATURE_BUILD_ID)
        return put_build_id_records(writer, data, bytes, error);
    return put_feature_record(writer, number, data, bytes, error);
}

static bool is_kept(const struct perfile_writer *writer, uint32_t number, size_t bytes)
{
    const bool has_records = number == PERFILE_FEATURE_TRACING_DATA || number == PERFILE_FEATURE_BUILD_ID;
    return writer->keeps_large && bytes > PIPE_FEATURE_MAX && !has_records;
}

int pf_writer_set_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                          struct perfile_error *error)
{
    int result = pf_writer_describes_now(writer) ? describe_feature(writer, number, data, bytes, error) : 0;
    if (result < 0 || (writer->options.mode == PERFILE_MODE_PIPE && !is_kept(writer, number, bytes)))
        return result;
    struct pf_writer_feature *feature = find_feature(writer, number);
    if (feature)
        feature->bytes = 0;
    return pf_writer_append_feature(writer, number, data, bytes, error);
}

/* ---- from writer to writer ---- */

void pf_writer_prepare_for(struct perfile_writer *from, const struct perfile_writer *to)
{
    from->keeps_large = to->options.mode != PERFILE_MODE_PIPE;
    from->options.diagnostic = to->options.diagnostic;
    from->options.diagnostic_context = to->options.diagnostic_context;
}

void pf_writer_take_features(struct perfile_writer *from, struct pf_writer_features *list)
{
    *list = (struct pf_writer_features){from->allocator, from->features, from->feature_count, from->feature_capacity};
    from->features = NULL;
    from->feature_count = from->feature_capacity = 0;
}

int pf_writer_give_features(struct pf_writer_features *list, struct perfile_writer *to, struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < list->count; i++) {
        struct pf_writer_feature *feature = &list->items[i];
        if (to && result == 0 && !pf_writer_owns_feature(feature->number))
            result = perfile_writer_feature(to, feature->number, feature->data, feature->bytes, error);
        pf_free(list->allocator, feature->data, feature->capacity);
    }
    pf_free(list->allocator, list->items, list->capacity * sizeof(*list->items));
    return result;
}

/* ---- what the writer says itself ---- */

static void compressed_body(const struct perfile_writer *writer, uint8_t body[20])
{
    struct pf_out o = pf_out_make(body, 20, writer->swap);
    pf_out_u32(&o, 0); /* version */
    pf_out_u32(&o, 1); /* zstd */
    pf_out_u32(&o, (uint32_t)writer->options.compression);
    pf_out_u32(&o, 1); /* ratio: for display only */
    pf_out_u32(&o, COMPRESSED_MMAP_LEN);
}

int pf_writer_announce_compression(struct perfile_writer *writer, struct perfile_error *error)
{
    uint8_t body[20];
    compressed_body(writer, body);
    return pf_writer_set_feature(writer, PERFILE_FEATURE_COMPRESSED, body, sizeof(body), error);
}

/* Bytes for a feature that is made piece by piece. */
struct builder {
    struct perfile_writer *writer;
    uint32_t number;
    int result;
    struct perfile_error *error;
};

static void build(struct builder *b, const void *data, size_t bytes)
{
    if (b->result == 0)
        b->result = pf_writer_append_feature(b->writer, b->number, data, bytes, b->error);
}

static void build_u32(struct builder *b, uint32_t value)
{
    uint32_t v = pf_load32(&value, b->writer->swap);
    build(b, &v, sizeof(v));
}

static void build_u64(struct builder *b, uint64_t value)
{
    uint64_t v = pf_load64(&value, b->writer->swap);
    build(b, &v, sizeof(v));
}

static void build_text(struct builder *b, const char *text)
{
    static const uint8_t zeros[STRING_STEP];
    size_t length = strlen(text), capacity = (length + STRING_STEP) / STRING_STEP * STRING_STEP;
    build_u32(b, (uint32_t)capacity);
    build(b, text, length);
    build(b, zeros, capacity - length);
}

static bool has_names(const struct perfile_writer *writer)
{
    for (size_t i = 0; i < writer->event_count; i++)
        if (writer->events[i].name)
            return true;
    return false;
}

/* u32 count, u32 bytes of an attr, each: attr, u32 number of ids, name, ids. */
static int build_event_desc(struct perfile_writer *writer, struct perfile_error *error)
{
    struct builder b = {.writer = writer, .number = PERFILE_FEATURE_EVENT_DESC, .error = error};
    if (!has_names(writer))
        return 0;
    build_u32(&b, (uint32_t)writer->event_count);
    build_u32(&b, writer->events[0].attr_bytes);
    for (size_t i = 0; i < writer->event_count; i++) {
        const struct pf_writer_event *event = &writer->events[i];
        build(&b, event->attr, event->attr_bytes);
        build_u32(&b, (uint32_t)event->id_count);
        build_text(&b, event->name ? event->name : "");
        for (size_t j = 0; j < event->id_count; j++)
            build_u64(&b, event->ids[j]);
    }
    return b.result;
}

int pf_writer_describe_events(struct perfile_writer *writer, struct perfile_error *error)
{
    int result = build_event_desc(writer, error);
    struct pf_writer_feature *feature = find_feature(writer, PERFILE_FEATURE_EVENT_DESC);
    if (result < 0 || !feature)
        return result;
    result = put_feature_record(writer, feature->number, feature->data, feature->bytes, error);
    feature->bytes = 0;
    return result;
}

/* u64 count, then where each AUXTRACE record stands and how long it is. In directories it is only a flag. */
static int build_auxtrace(struct perfile_writer *writer, struct perfile_error *error)
{
    struct builder b = {.writer = writer, .number = PERFILE_FEATURE_AUXTRACE, .error = error};
    if (!writer->auxtrace_count)
        return 0;
    build_u64(&b, writer->auxtrace_count);
    for (size_t i = 0; i < writer->auxtrace_count; i++) {
        build_u64(&b, writer->auxtrace[i].offset);
        build_u64(&b, writer->auxtrace[i].bytes);
    }
    return b.result;
}

bool pf_writer_makes_host(const struct perfile_writer *writer)
{
    return writer->big_endian && !writer->no_host && writer->options.mode != PERFILE_MODE_PIPE &&
           !find_feature(writer, PERFILE_FEATURE_HOSTNAME);
}

static int build_host(struct perfile_writer *writer, struct perfile_error *error)
{
    struct builder b = {.writer = writer, .number = PERFILE_FEATURE_HOSTNAME, .error = error};
    if (pf_writer_makes_host(writer))
        build_text(&b, "");
    return b.result;
}

static int build_own(struct perfile_writer *writer, struct perfile_error *error)
{
    uint64_t version = 1;
    int result = build_host(writer, error);
    if (result == 0)
        result = build_event_desc(writer, error);
    if (result == 0)
        result = build_auxtrace(writer, error);
    if (result == 0 && writer->options.compression)
        result = pf_writer_announce_compression(writer, error);
    if (result == 0 && writer->options.mode == PERFILE_MODE_DIRECTORY) {
        version = pf_load64(&version, writer->swap);
        result = pf_writer_append_feature(writer, PERFILE_FEATURE_DIR_FORMAT, &version, sizeof(version), error);
    }
    return result;
}

/* ---- the table ---- */

int pf_writer_put_features(struct perfile_writer *writer, uint64_t bitmap[4], struct perfile_error *error)
{
    struct pf_sink *sink = &writer->streams[0].sink;
    int result = build_own(writer, error);
    uint64_t at = sink->bytes + writer->feature_count * sizeof(struct perfile_section);
    for (size_t i = 0; i < writer->feature_count && result == 0; i++) {
        const struct pf_writer_feature *feature = &writer->features[i];
        uint8_t entry[16];
        struct pf_out o = pf_out_make(entry, sizeof(entry), writer->swap);
        pf_out_u64(&o, at);
        pf_out_u64(&o, feature->bytes);
        at += feature->bytes;
        bitmap[feature->number / 64] |= 1ull << feature->number % 64;
        result = pf_sink_put(sink, entry, sizeof(entry), error);
    }
    for (size_t i = 0; i < writer->feature_count && result == 0; i++)
        result = pf_sink_put(sink, writer->features[i].data, writer->features[i].bytes, error);
    return result;
}

/* ---- the public calls ---- */

static int check_number(uint32_t number, struct perfile_error *error)
{
    const char *name = perfile_feature_name(number);
    if (!pf_feature_is_valid(number))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_feature",
                       "invalid feature number: 1 to %d expected, not %u", PF_FEATURE_NUMBER_MAX, number);
    if (pf_writer_owns_feature(number))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_feature",
                       "the writer creates %s itself", name ? name : "this one");
    return 0;
}

int perfile_writer_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                           struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result == 0)
        result = check_number(number, error);
    if (result == 0)
        result = pf_writer_set_feature(writer, number, data, bytes, error);
    return pf_writer_keep(writer, result, error);
}

/* The same padded texts, counted when they are a list. */
static int put_texts(struct perfile_writer *writer, uint32_t number, const char *const *texts, const size_t *count,
                     struct perfile_error *error)
{
    struct pf_out o = pf_out_make(NULL, 0, writer->swap);
    size_t bytes = count ? 4 : 0, n = count ? *count : 1;
    for (size_t i = 0; i < n; i++)
        bytes += 4 + (strlen(texts[i]) + STRING_STEP) / STRING_STEP * STRING_STEP;
    uint8_t *body = pf_new(writer->allocator, bytes);
    if (!body)
        return pf_fail_memory(error, "feature");
    o = pf_out_make(body, bytes, writer->swap);
    if (count)
        pf_out_u32(&o, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        size_t length = strlen(texts[i]), capacity = (length + STRING_STEP) / STRING_STEP * STRING_STEP;
        pf_out_u32(&o, (uint32_t)capacity);
        pf_out_put(&o, texts[i], length);
        pf_out_zeros(&o, capacity - length);
    }
    int result = perfile_writer_feature(writer, number, body, bytes, error);
    pf_free(writer->allocator, body, bytes);
    return result;
}

int perfile_writer_feature_text(struct perfile_writer *writer, uint32_t number, const char *text,
                                struct perfile_error *error)
{
    return put_texts(writer, number, &text, NULL, error);
}

int perfile_writer_feature_texts(struct perfile_writer *writer, uint32_t number, const char *const *texts, size_t count,
                                 struct perfile_error *error)
{
    return put_texts(writer, number, texts, &count, error);
}

int perfile_writer_build_id(struct perfile_writer *writer, uint16_t misc, const struct perfile_header_build_id *entry,
                            size_t entry_bytes, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    const struct pf_encoding encoding = {.type = PERFILE_RECORD_HEADER_BUILD_ID,
                                         .misc = (uint16_t)(misc | PERFILE_MISC_BUILD_ID_SIZE),
                                         .body_bytes = PF_ENCODE_ALL,
                                         .big_endian = writer->big_endian};
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    union pf_any_record any;
    result = pf_layout_take(&any, PERFILE_RECORD_HEADER_BUILD_ID, entry, entry_bytes, error);
    if (result < 0)
        return pf_writer_keep(writer, result, error);
    if (!pf_encode_record(&encoding, &any, &o))
        result = pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "build id", "file name too long");
    else if (pf_writer_describes_now(writer))
        result = pf_writer_put_plain(writer, writer->record, pf_out_bytes_used(&o), error);
    if (result == 0 && writer->options.mode != PERFILE_MODE_PIPE) {
        memset(writer->record, 0, 4); /* in the section its type is 0 */
        result =
            pf_writer_append_feature(writer, PERFILE_FEATURE_BUILD_ID, writer->record, pf_out_bytes_used(&o), error);
    }
    return pf_writer_keep(writer, result, error);
}
