/* SPDX-License-Identifier: MIT */
/* From a reader to a writer: events, features, records. */
#include <stdio.h>

#include "format/transcode.h"
#include "format/writer.h"

/* ---- events ---- */

/* The hook's event: its attr is encoded anew when it is another one. */
static int ask_about_event(const struct perfile_writer *writer, const struct perfile_event *event,
                           struct pf_event_spec *spec, bool *changed, struct perfile_error *error)
{
    *spec = (struct pf_event_spec){
        .attr = *event->attr, .ids = event->ids, .id_count = event->id_count, .name = event->file_name};
    spec->attr.size = event->attr_bytes;
    const struct perfile_attr before = spec->attr;
    int result = writer->hooks ? writer->hooks->event(writer->hooks->context, spec, error) : 0;
    *changed = memcmp(&before, &spec->attr, sizeof(before)) != 0;
    return result;
}

/* Its records look different. */
static bool is_reshaped(const struct perfile_attr *before, const struct perfile_attr *after)
{
    struct pf_plan a, b;
    pf_plan_make(&a, before, false, false);
    pf_plan_make(&b, after, false, false);
    return !pf_plan_equal(&a, &b);
}

static int copy_event(struct perfile_writer *writer, const struct perfile_reader *reader,
                      const struct perfile_event *event, bool in_stream, struct perfile_error *error)
{
    struct pf_event_spec spec;
    bool changed;
    int result = ask_about_event(writer, event, &spec, &changed, error);
    if (result < 0)
        return result;
    struct pf_writer_event made = {.attr = (uint8_t *)(uintptr_t)event->attr_data,
                                   .attr_bytes = spec.attr.size,
                                   .ids = (uint64_t *)(uintptr_t)spec.ids,
                                   .id_count = spec.id_count,
                                   .name = spec.name,
                                   .changed = changed,
                                   .reshaped = changed && is_reshaped(event->attr, &spec.attr)};
    uint8_t *anew = NULL;
    if (changed || reader->file.swapped != writer->swap) {
        anew = pf_new(writer->allocator, spec.attr.size);
        if (!anew)
            return pf_fail_memory(error, "event");
        struct pf_out o = pf_out_make(anew, spec.attr.size, writer->swap);
        pf_encode_attr(&spec.attr, spec.attr.size, writer->big_endian, &o);
        made.attr = anew;
    }
    result = pf_writer_add_event(writer, &made, &spec.attr, in_stream, error);
    pf_free(writer->allocator, anew, spec.attr.size);
    return result;
}

int pf_writer_follow_names(struct perfile_writer *writer, const struct perfile_reader *reader, bool announces,
                           struct perfile_error *error)
{
    for (size_t i = 0; i < writer->event_count && i < reader->event_count; i++) {
        struct pf_writer_event *event = &writer->events[i];
        struct pf_event_spec spec;
        bool reshaped;
        int asked = ask_about_event(writer, &reader->events[i]->public, &spec, &reshaped, error);
        const char *name = spec.name;
        if (asked < 0)
            return asked;
        if (!name || (event->name && strcmp(event->name, name) == 0))
            continue;
        event->name = pf_arena_text(&writer->arena, name, strlen(name));
        int result = event->name ? 0 : pf_fail_memory(error, "event");
        if (result == 0 && announces)
            result = pf_writer_put_name(writer, event, error);
        if (result < 0)
            return result;
    }
    return 0;
}

/* ---- features ---- */

/* Entries of build ids come one by one from a stream, all at once from a file. */
static int put_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                       struct perfile_error *error)
{
    if (number == PERFILE_FEATURE_BUILD_ID && writer->options.mode != PERFILE_MODE_PIPE)
        return pf_writer_append_feature(writer, number, data, bytes, error);
    return pf_writer_set_feature(writer, number, data, bytes, error);
}

static int copy_feature_body(struct perfile_writer *writer, struct perfile_reader *reader, uint32_t number,
                             const struct perfile_bytes *body, struct perfile_error *error)
{
    struct perfile_bytes wanted = *body;
    int result = writer->hooks ? writer->hooks->feature(writer->hooks->context, reader, number, &wanted, error) : 0;
    if (result != 0)
        return result < 0 ? result : 0;
    body = &wanted;
    if (reader->file.swapped == writer->swap)
        return put_feature(writer, number, body->data, (size_t)body->bytes, error);
    uint8_t *turned = pf_new(writer->allocator, (size_t)body->bytes + 1);
    if (!turned)
        return pf_fail_memory(error, "feature");
    if (!pf_feature_turn(reader, number, body->data, (size_t)body->bytes, turned)) {
        char message[128];
        const char *name = perfile_feature_name(number);
        snprintf(message, sizeof(message), "feature %u%s%s is copied as it is: its byte order cannot be turned", number,
                 name ? " " : "", name ? name : "");
        pf_writer_diagnose(writer, "feature-order", message);
    }
    result = put_feature(writer, number, turned, (size_t)body->bytes, error);
    pf_free(writer->allocator, turned, (size_t)body->bytes + 1);
    return result;
}

static int copy_features(struct perfile_writer *writer, struct perfile_reader *reader, struct perfile_error *error)
{
    for (size_t i = 0; i < reader->feature_count; i++) {
        const struct perfile_feature *feature = &reader->features[i].public;
        struct perfile_error why;
        const uint8_t *data;
        size_t bytes;
        if (pf_writer_owns_feature(feature->number) || reader->features[i].from_record)
            continue; /* it came in a record, and is copied with that */
        if (!pf_feature_is_valid(feature->number)) {
            pf_writer_refuse_feature(writer, feature->number);
            continue;
        }
        int result = perfile_feature_bytes(reader, feature->number, &data, &bytes, &why);
        if (result == PERFILE_ERROR_MEMORY) {
            *error = why;
            return result;
        }
        if (result < 0) {
            pf_writer_diagnose(writer, "feature-lost", why.message);
            writer->features_dropped++;
            continue;
        }
        const struct perfile_bytes body = {data, bytes};
        result = copy_feature_body(writer, reader, feature->number, &body, error);
        if (result < 0)
            return result;
    }
    return 0;
}

int perfile_writer_copy_header(struct perfile_writer *writer, struct perfile_reader *reader,
                               struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result == 0 && writer->event_count)
        result = pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_writer_copy_header",
                         "the writer already has events");
    /* what a stream describes comes as records, but for events that were met before it was started again */
    const bool stream = reader->file.mode == PERFILE_MODE_PIPE;
    if (result == 0 && stream && !writer->hooks)
        return 0;
    for (size_t i = 0; i < reader->event_count && result == 0; i++)
        result = copy_event(writer, reader, &reader->events[i]->public, false, error);
    if (result == 0 && !stream && writer->options.mode == PERFILE_MODE_PIPE)
        result = pf_writer_describe_events(writer, error);
    if (result == 0 && !stream)
        result = copy_features(writer, reader, error);
    return pf_writer_keep(writer, result, error);
}

/* ---- records ---- */

int pf_writer_copy_payload(struct perfile_writer *writer, struct perfile_reader *reader, struct perfile_error *error)
{
    const uint8_t *data;
    size_t bytes;
    int result;
    if (writer->payload_apart)
        return 0;
    while ((result = perfile_reader_payload(reader, &data, &bytes, error)) > 0) {
        writer->payload_left -= pf_min(writer->payload_left, bytes);
        result = pf_writer_put_bytes(writer, data, bytes, error);
        if (result < 0)
            return result;
    }
    if (result == 0 || result == PERFILE_ERROR_TRUNCATED)
        result = writer->payload_left ? pf_writer_cut_payload(writer, error) : 0;
    return result;
}

bool pf_writer_sized(struct perfile_writer *writer, const struct perfile_record *record, struct perfile_bytes *body)
{
    *body = (struct perfile_bytes){record->data, record->bytes};
    if (PF_LIKELY(pf_load16(record->data + 6, writer->swap) == (uint16_t)record->bytes))
        return true;
    struct pf_out size = pf_out_make(writer->record + 6, 2, writer->swap);
    if (record->bytes > UINT16_MAX)
        return false;
    memcpy(writer->record, record->data, record->bytes);
    pf_out_u16(&size, (uint16_t)record->bytes);
    *body = (struct perfile_bytes){writer->record, record->bytes};
    return true;
}

/* As it stands, or turned; *data is valid until the next record. */
static int bytes_for(struct perfile_writer *writer, struct perfile_reader *reader, const struct perfile_record *record,
                     struct perfile_bytes *body, struct perfile_error *error)
{
    if (reader->file.swapped == writer->swap) {
        if (pf_writer_sized(writer, record, body))
            return 0;
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "record", "invalid size");
    }
    const struct perfile_event *event = record->event;
    const struct pf_transcoding how = {
        .plan = event && event->index < writer->event_count ? &writer->events[event->index].plan : NULL,
        .big_endian = writer->big_endian};
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    int result = pf_transcode(reader, record, &how, &o, error);
    *body = (struct perfile_bytes){writer->record, pf_out_bytes_used(&o)};
    return result;
}

static int copy_plain(struct perfile_writer *writer, struct perfile_reader *reader, const struct perfile_record *record,
                      struct perfile_error *error)
{
    struct perfile_bytes body;
    int result = bytes_for(writer, reader, record, &body, error);
    if (result == 0)
        result = pf_writer_put(writer, body.data, (size_t)body.bytes, error);
    return result < 0 || !writer->payload_left ? result : pf_writer_copy_payload(writer, reader, error);
}

/* ---- records of pipe mode that describe the recording ---- */

/* From stream to stream such records are copied unchanged, unless hooks have to see their content. */
static bool stays_record(const struct perfile_writer *writer, const struct perfile_reader *reader)
{
    return writer->options.mode == PERFILE_MODE_PIPE && reader->file.swapped == writer->swap && !writer->hooks;
}

static int copy_described(struct perfile_writer *writer, struct perfile_reader *reader,
                          const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_bytes body;
    int result = bytes_for(writer, reader, record, &body, error);
    if (result == 0)
        result = pf_writer_put_plain(writer, body.data, (size_t)body.bytes, error);
    return result < 0 || !record->payload_bytes ? result : pf_writer_copy_payload(writer, reader, error);
}

static int copy_attr_record(struct perfile_writer *writer, struct perfile_reader *reader,
                            const struct perfile_record *record, struct perfile_error *error)
{
    const bool stays = stays_record(writer, reader);
    int result = 0;
    /* a reader may know the event already, from a file that was repaired badly */
    while (writer->event_count < reader->event_count && result == 0)
        result = copy_event(writer, reader, &reader->events[writer->event_count]->public, stays, error);
    return result < 0 || !stays ? result : copy_described(writer, reader, record, error);
}

static int copy_feature_record(struct perfile_writer *writer, struct perfile_reader *reader,
                               const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_header_feature feature;
    int result = perfile_record_decode(reader, record, &feature, sizeof(feature), error);
    if (result < 0)
        return result;
    const uint32_t number = pf_feature_is_valid(feature.feat_id) ? (uint32_t)feature.feat_id : 0;
    const bool stays = stays_record(writer, reader), pipe = writer->options.mode == PERFILE_MODE_PIPE;
    if (number == PERFILE_FEATURE_COMPRESSED)
        return 0;
    if (number == PERFILE_FEATURE_EVENT_DESC)
        result = pf_writer_follow_names(writer, reader, pipe && !stays, error);
    if (result < 0)
        return result;
    if (stays)
        return copy_described(writer, reader, record, error);
    if (!feature.data.bytes || pf_writer_owns_feature(number))
        return 0;
    if (!number) {
        pf_writer_refuse_feature(writer, feature.feat_id);
        return 0;
    }
    const struct perfile_bytes body = {feature.data.data, feature.data.bytes};
    return copy_feature_body(writer, reader, number, &body, error);
}

static int copy_tracing_record(struct perfile_writer *writer, struct perfile_reader *reader,
                               const struct perfile_record *record, struct perfile_error *error)
{
    if (!reader->tracing_data)
        return 0; /* not all of it is there */
    if (stays_record(writer, reader))
        return copy_described(writer, reader, record, error);
    const struct perfile_bytes body = {reader->tracing_data, reader->tracing_bytes};
    return copy_feature_body(writer, reader, PERFILE_FEATURE_TRACING_DATA, &body, error);
}

/* It is an entry of the feature, where its type is 0. */
static int copy_build_id_record(struct perfile_writer *writer, struct perfile_reader *reader,
                                const struct perfile_record *record, struct perfile_error *error)
{
    if (stays_record(writer, reader))
        return copy_described(writer, reader, record, error);
    uint8_t *entry = pf_new(writer->allocator, record->bytes);
    if (!entry)
        return pf_fail_memory(error, "build id");
    memcpy(entry + 4, record->data + 4, record->bytes - 4);
    const struct perfile_bytes body = {entry, record->bytes};
    int result = copy_feature_body(writer, reader, PERFILE_FEATURE_BUILD_ID, &body, error);
    pf_free(writer->allocator, entry, record->bytes);
    return result;
}

/* The name of an event comes after the event. */
static int copy_event_type_record(struct perfile_writer *writer, struct perfile_reader *reader,
                                  const struct perfile_record *record, struct perfile_error *error)
{
    const bool stays = stays_record(writer, reader);
    int result = pf_writer_follow_names(writer, reader, writer->options.mode == PERFILE_MODE_PIPE && !stays, error);
    return result < 0 || !stays ? result : copy_described(writer, reader, record, error);
}

static int copy_update_record(struct perfile_writer *writer, struct perfile_reader *reader,
                              const struct perfile_record *record, struct perfile_error *error)
{
    int result = pf_writer_follow_names(writer, reader, false, error);
    return result < 0 ? result : copy_plain(writer, reader, record, error);
}

/* A stream may have more ids than fit into the records of its events; in files all are with their events. */
static int copy_event_ids(struct perfile_writer *writer, struct perfile_reader *reader,
                          const struct perfile_record *record, struct perfile_error *error)
{
    int result = 0;
    if (reader->file.mode != PERFILE_MODE_PIPE || writer->options.mode == PERFILE_MODE_PIPE)
        return copy_plain(writer, reader, record, error);
    for (size_t i = 0; i < writer->event_count && i < reader->event_count && result == 0; i++) {
        const struct perfile_event *event = &reader->events[i]->public;
        const size_t before = writer->events[i].id_count;
        if (event->id_count > before)
            result = pf_writer_add_ids(writer, i, event->ids + before, event->id_count - before, error);
    }
    return result;
}

/* In a stream only these records show that perf stat wrote it; readers of files look at the feature. */
static int copy_stat_record(struct perfile_writer *writer, struct perfile_reader *reader,
                            const struct perfile_record *record, struct perfile_error *error)
{
    int result = 0;
    if (writer->options.mode != PERFILE_MODE_PIPE)
        result = pf_writer_set_feature(writer, PERFILE_FEATURE_STAT, NULL, 0, error);
    return result < 0 ? result : copy_plain(writer, reader, record, error);
}

/* What a container holds follows as records of its own. */
static int skip_container(struct perfile_writer *writer, struct perfile_reader *reader,
                          const struct perfile_record *record, struct perfile_error *error)
{
    (void)writer, (void)reader, (void)record, (void)error;
    return 0;
}

typedef int copier(struct perfile_writer *writer, struct perfile_reader *reader, const struct perfile_record *record,
                   struct perfile_error *error);

static copier *special_copier(uint32_t type)
{
    static const struct {
        uint32_t type;
        copier *copy;
    } special[] = {
        {PERFILE_RECORD_HEADER_ATTR, copy_attr_record},
        {PERFILE_RECORD_HEADER_EVENT_TYPE, copy_event_type_record},
        {PERFILE_RECORD_HEADER_TRACING_DATA, copy_tracing_record},
        {PERFILE_RECORD_HEADER_BUILD_ID, copy_build_id_record},
        {PERFILE_RECORD_HEADER_FEATURE, copy_feature_record},
        {PERFILE_RECORD_EVENT_UPDATE, copy_update_record},
        {PERFILE_RECORD_STAT_CONFIG, copy_stat_record},
        {PERFILE_RECORD_SIMPLEPERF_EVENT_ID, copy_event_ids},
        {PERFILE_RECORD_COMPRESSED, skip_container},
        {PERFILE_RECORD_COMPRESSED2, skip_container},
    };
    if (type < PERFILE_RECORD_HEADER_ATTR)
        return copy_plain;
    for (size_t i = 0; i < PF_COUNT(special); i++)
        if (special[i].type == type)
            return special[i].copy;
    return copy_plain;
}

bool pf_writer_concerns_record(int result)
{
    return result == PERFILE_ERROR_DAMAGED || result == PERFILE_ERROR_TRUNCATED || result == PERFILE_ERROR_EVENT ||
           result == PERFILE_ERROR_LIMIT || result == PERFILE_ERROR_UNSUPPORTED;
}

int perfile_writer_copy(struct perfile_writer *writer, struct perfile_reader *reader,
                        const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_error here;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    if (record->damaged) /* not a failure of the writer */
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "record", "damaged, not copied");
    result = special_copier(record->type)(writer, reader, record, error);
    return pf_writer_concerns_record(result) ? result : pf_writer_keep(writer, result, error);
}
