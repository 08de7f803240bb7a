/* SPDX-License-Identifier: MIT */
/* Records of an input as records of the output: other ids, times and pids, and the shape that all events share. */
#include <stdio.h>

#include "base/error.h"
#include "edit/merge.h"
#include "format/transcode.h"
#include "schema/schema.h"

/* One record that is changed. */
struct change {
    struct pf_merge *merge;
    struct pf_merge_input *input;
    const struct pf_merge_event *event; /* of the output, or NULL */
    uint32_t type;
    bool bad_pid;
};

static uint64_t new_id(struct change *c, uint64_t id)
{
    return pf_merge_new_id(c->merge, c->input, id);
}

/* 0 and all ones are no times. */
static uint64_t new_time(const struct change *c, uint64_t time)
{
    return time && time != UINT64_MAX ? time + c->input->shift_ns : time;
}

/* 0 is the idle thread and -1 the kernel, on every host. */
static int32_t new_pid(struct change *c, int32_t pid)
{
    if (pid <= 0 || !c->input->pid_offset)
        return pid;
    c->bad_pid |= pid >= PF_PIDS_OF_A_HOST;
    return pid < PF_PIDS_OF_A_HOST ? pid + c->input->pid_offset : pid;
}

/* ---- fields by what they mean ---- */

static uint64_t new_word(struct change *c, int meaning, uint64_t value)
{
    if (meaning == PERFILE_MEANS_ID)
        return new_id(c, value);
    return meaning == PERFILE_MEANS_INSTANT ? new_time(c, value) : value;
}

#define U64(field, meaning, doc) r->field = new_word(c, PERFILE_MEANS_##meaning, r->field);
#define S32(field, meaning, doc)                                                                                       \
    if (PERFILE_MEANS_##meaning == PERFILE_MEANS_PID)                                                                  \
        r->field = new_pid(c, r->field);
#define BARE(...)
#define RECORD(number, NAME, name, class, since, doc)                                                                  \
    static void change_##name(struct change *c, union pf_any_record *body)                                             \
    {                                                                                                                  \
        struct perfile_##name *r = &body->name;                                                                        \
        (void)c, (void)r;
#define END_RECORD(name) }
#include "schema/no_fields.h"
#include "schema/records.def"
#include "schema/undef.h"

typedef void changer(struct change *c, union pf_any_record *body);

#include "schema/no_fields.h"
#define BARE(number, NAME, class, since, doc)
#define RECORD(number, NAME, name, class, since, doc) {number, change_##name},
#define END_RECORD(name)

static const struct {
    uint32_t type;
    changer *change;
} changers[] = {
#include "schema/records.def"
};
#include "schema/undef.h"

/* ---- lists ---- */

static void change_id_index_list(struct change *c, struct perfile_id_index *index)
{
    struct pf_out o = pf_out_make(c->merge->scratch, PF_MERGE_SCRATCH, false);
    for (uint64_t i = 0; i < index->entries.count; i++) {
        struct perfile_id_index_entry entry;
        perfile_id_index_entry_at(&index->entries, i, &entry, sizeof(entry));
        pf_out_u64(&o, new_id(c, entry.id));
        pf_out_u64(&o, entry.idx);
        pf_out_u64(&o, entry.cpu);
        pf_out_u64(&o, (uint64_t)(int64_t)new_pid(c, (int32_t)entry.tid));
    }
    index->entries.data = o.start;
    index->entries.swapped = false;
}

static void change_thread_map_list(struct change *c, struct perfile_thread_map *map)
{
    struct pf_out o = pf_out_make(c->merge->scratch, PF_MERGE_SCRATCH, false);
    for (uint64_t i = 0; i < map->entries.count; i++) {
        struct perfile_thread_map_entry entry;
        perfile_thread_map_entry_at(&map->entries, i, &entry, sizeof(entry));
        pf_out_u64(&o, (uint64_t)(int64_t)new_pid(c, (int32_t)entry.pid));
        pf_out_put(&o, entry.comm, sizeof(entry.comm) - 1);
    }
    map->entries.data = o.start;
    map->entries.swapped = false;
}

/* ---- counters ---- */

static void put_read_value(const struct pf_merge_event *event, const struct perfile_read *from, uint64_t format,
                           const struct perfile_read_value *value, struct pf_out *o)
{
    pf_out_u64(o, value->value);
    if (!(format & PERFILE_FORMAT_GROUP)) {
        if (format & PERFILE_FORMAT_TOTAL_TIME_ENABLED)
            pf_out_u64(o, from->time_enabled);
        if (format & PERFILE_FORMAT_TOTAL_TIME_RUNNING)
            pf_out_u64(o, from->time_running);
    }
    if (format & PERFILE_FORMAT_ID)
        pf_out_u64(o, from->format & PERFILE_FORMAT_ID ? value->id : event->lone_id);
    if (format & PERFILE_FORMAT_LOST)
        pf_out_u64(o, value->lost);
}

/* The values in the format of the output's event, with its ids. */
static void change_read(struct change *c, struct perfile_read *read)
{
    const uint64_t format = c->event ? c->event->attr.read_format : read->format;
    struct pf_out o = pf_out_make(c->merge->scratch, PF_MERGE_SCRATCH, false);
    for (uint64_t i = 0; i < read->count && c->event; i++) {
        struct perfile_read_value value;
        perfile_read_at(read, i, &value, sizeof(value));
        value.id = new_id(c, value.id);
        put_read_value(c->event, read, format, &value, &o);
    }
    if (!c->event)
        return;
    read->format = format;
    read->values = o.start;
    read->stride = 8u + (format & PERFILE_FORMAT_ID ? 8u : 0) + (format & PERFILE_FORMAT_LOST ? 8u : 0);
    read->swapped = false;
}

/* ---- records other than SAMPLE ---- */

/* An id of 0 means the first event, which has other parts in the output. */
static bool needs_id(const struct pf_merge *merge, const struct pf_merge_event *event)
{
    const struct pf_merge_event *first = merge->events;
    return event && event != first && event->lone_id &&
           (event->attr.sample_type != first->attr.sample_type || event->attr.read_format != first->attr.read_format);
}

static void change_trailer(struct change *c, struct pf_item *item)
{
    struct perfile_sample_id *id = &item->id;
    const struct pf_merge_event *event = c->event;
    const uint64_t had = event ? item->record->event->attr->sample_type : 0;
    id->time = new_time(c, id->time);
    id->pid = new_pid(c, id->pid);
    id->tid = new_pid(c, id->tid);
    id->stream_id = new_id(c, id->stream_id);
    id->identifier = new_id(c, id->identifier);
    id->id = new_id(c, id->id);
    if (!event)
        return;
    const uint64_t lone = item->record->time || needs_id(c->merge, event) ? event->lone_id : 0;
    if (!(had & PERFILE_SAMPLE_IDENTIFIER))
        id->identifier = had & PERFILE_SAMPLE_ID ? id->id : lone;
    if (!id->identifier && needs_id(c->merge, event))
        id->identifier = event->lone_id;
    if (!id->id && needs_id(c->merge, event))
        id->id = event->lone_id;
}

/* A kernel record that has no trailer gets one when all have one in the output. */
static void add_trailer(const struct change *c, struct pf_item *item)
{
    const struct pf_record_info *info = pf_record_info(c->type);
    if (item->has_id || !c->event || !c->event->reshaped || !info || info->record_class != PF_CLASS_KERNEL ||
        !c->event->attr.sample_id_all)
        return;
    item->id = (struct perfile_sample_id){.time = pf_merge_head_time(c->input)};
    item->has_id = true;
}

/* HOST:COMM */
static void prefix_comm(struct change *c, struct pf_item *item)
{
    struct pf_merge *merge = c->merge;
    if (!merge->options.separate_hosts || merge->input_count < 2 || !c->input->host)
        return;
    snprintf(merge->comm, sizeof(merge->comm), "%.127s:%.127s", c->input->host, item->body.comm.comm);
    item->body.comm.comm = merge->comm;
    item->changed = true;
}

static void change_body(struct change *c, struct pf_item *item)
{
    for (size_t i = 0; i < PF_COUNT(changers); i++)
        if (changers[i].type == c->type)
            changers[i].change(c, &item->body);
    switch (c->type) {
    case PERFILE_RECORD_COMM:
        prefix_comm(c, item);
        break;
    case PERFILE_RECORD_READ:
        change_read(c, &item->body.read_counters.values);
        item->changed |= c->event && c->event->reshaped;
        break;
    case PERFILE_RECORD_ID_INDEX:
        change_id_index_list(c, &item->body.id_index);
        break;
    case PERFILE_RECORD_THREAD_MAP:
        change_thread_map_list(c, &item->body.thread_map);
        break;
    default:
        break;
    }
}

/* ---- samples ---- */

static bool is_one_recording(const struct pf_merge *merge)
{
    size_t i = 0;
    while (i < merge->input_count && merge->inputs[i].duplicate == merge->inputs[0].duplicate)
        i++;
    return i == merge->input_count;
}

/*
 * Returns the id of a sample. Samples of some events of one kind are distinguished by their size alone; beside events
 * of other recordings they need an id of their own.
 */
static uint64_t sample_id(struct change *c, uint64_t id)
{
    const struct pf_merge *merge = c->merge;
    const uint64_t made = new_id(c, id);
    uint64_t owner;
    if (!made || !c->event || !pf_map_get(&merge->ids, made, &owner) || c->event == &merge->events[owner] ||
        is_one_recording(merge))
        return made;
    return c->event->lone_id;
}

/* Whether the ids of its samples may be those of other events. */
static bool shares_kind(const struct perfile_event *event)
{
    return ((const struct pf_event *)(const void *)event)->first_of_kind->next_layout;
}

static void change_sample(struct change *c, struct perfile_sample *sample)
{
    const struct pf_merge_event *event = c->event;
    const uint64_t had = sample->present;
    sample->time = new_time(c, sample->time);
    sample->pid = new_pid(c, sample->pid);
    sample->tid = new_pid(c, sample->tid);
    sample->id = sample_id(c, sample->id);
    sample->stream_id = new_id(c, sample->stream_id);
    sample->identifier = sample_id(c, sample->identifier);
    if (!(had & PERFILE_SAMPLE_IDENTIFIER))
        sample->identifier = had & PERFILE_SAMPLE_ID ? sample->id : event->lone_id;
    if (!sample->identifier)
        sample->identifier = event->lone_id;
    if (!sample->id)
        sample->id = event->lone_id;
    if (had & PERFILE_SAMPLE_READ)
        change_read(c, &sample->read);
}

static void put_id(const struct change *c, uint8_t *to, uint64_t id)
{
    id = pf_load64(&id, c->merge->writer->swap);
    memcpy(to, &id, sizeof(id));
}

static void patch_id(struct change *c, uint8_t *at)
{
    const uint64_t id = sample_id(c, pf_load64(at, c->merge->writer->swap));
    put_id(c, at, id || !c->event ? id : c->event->lone_id);
}

static void patch_pid(struct change *c, uint8_t *data)
{
    const bool swap = c->merge->writer->swap;
    uint32_t pid = (uint32_t)new_pid(c, (int32_t)pf_load32(data, swap));
    pid = pf_load32(&pid, swap);
    memcpy(data, &pid, sizeof(pid));
}

/* Everything that changes has a fixed position: the rest is copied. */
static void patch(struct change *c, const struct pf_merge_positions *at, uint8_t *data)
{
    const bool swap = c->merge->writer->swap;
    if (at->identifier)
        patch_id(c, data + at->identifier);
    if (at->id)
        patch_id(c, data + at->id);
    if (at->stream_id)
        put_id(c, data + at->stream_id, new_id(c, pf_load64(data + at->stream_id, swap)));
    if (at->time && c->input->shift_ns) {
        uint64_t time = new_time(c, pf_load64(data + at->time, swap));
        time = pf_load64(&time, swap);
        memcpy(data + at->time, &time, sizeof(time));
    }
    if (at->tid && c->input->pid_offset) {
        patch_pid(c, data + at->tid);
        patch_pid(c, data + at->tid + 4);
    }
}

static bool patch_fits(const struct pf_merge_positions *at, uint32_t bytes)
{
    return at->identifier + 8u <= bytes && at->id + 8u <= bytes && at->stream_id + 8u <= bytes &&
           at->time + 8u <= bytes && at->tid + 8u <= bytes;
}

static int put_patched(struct change *c, const struct pf_merge_positions *at, const struct perfile_record *record,
                       struct perfile_error *error)
{
    struct perfile_writer *writer = c->merge->writer;
    if (record->bytes > UINT16_MAX || !patch_fits(at, record->bytes))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "SAMPLE record", "it is too short for its event");
    struct pf_out size = pf_out_make(writer->record + 6, 2, writer->swap);
    memcpy(writer->record, record->data, record->bytes);
    pf_out_u16(&size, (uint16_t)record->bytes);
    patch(c, at, writer->record);
    if (c->bad_pid)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "SAMPLE record", "its pid is above 4194303");
    return pf_writer_put(writer, writer->record, record->bytes, error);
}

/* ---- any record ---- */

/* As much of it as the record that was just written announces. */
static int put_payload(struct change *c, struct perfile_error *error)
{
    struct perfile_writer *writer = c->merge->writer;
    return writer->payload_left ? pf_writer_copy_payload(writer, c->input->reader, error) : 0;
}

static int put_bytes(struct change *c, const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_writer *writer = c->merge->writer;
    struct perfile_bytes body;
    if (!pf_writer_sized(writer, record, &body))
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "record", "invalid size");
    int result = pf_writer_put(writer, body.data, (size_t)body.bytes, error);
    return result < 0 ? result : put_payload(c, error);
}

/*
 * Samples whose user stack fills the record have no space for an id: the outermost words of the stack are dropped for
 * it, which loses less than dropping the sample.
 */
static int encode_trimmed(struct change *c, const struct pf_plan *plan, struct pf_out *o, struct perfile_error *error)
{
    enum { WORDS_MAX = 16 };
    struct perfile_writer *writer = c->merge->writer;
    struct pf_item *item = c->merge->item;
    struct perfile_stack *stack = &item->sample.stack_user;
    int result = pf_item_encode(item, plan, writer->big_endian, o, error);
    if (result != PERFILE_ERROR_LIMIT || c->type != PERFILE_RECORD_SAMPLE)
        return result;
    for (int i = 0; i < WORDS_MAX && result == PERFILE_ERROR_LIMIT && stack->bytes > 8; i++) {
        stack->bytes -= 8;
        stack->dyn_size = pf_min(stack->dyn_size, stack->bytes);
        *o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
        result = pf_item_encode(item, plan, writer->big_endian, o, error);
    }
    c->merge->report->stacks_trimmed += result == 0;
    return result;
}

static int put_changed(struct change *c, const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_writer *writer = c->merge->writer;
    struct pf_item *item = c->merge->item;
    pf_item_set(item, c->input->reader, record);
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    if (c->type == PERFILE_RECORD_SAMPLE) {
        change_sample(c, &item->sample);
    } else {
        add_trailer(c, item);
        change_body(c, item);
        change_trailer(c, item);
    }
    if (c->bad_pid)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, perfile_record_name(c->type),
                       "its pid is above 4194303");
    const struct pf_plan *plan = c->event ? &writer->events[c->event - c->merge->events].plan : NULL;
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    result = encode_trimmed(c, plan, &o, error);
    if (result == 0)
        result = pf_writer_put(writer, writer->record, pf_out_bytes_used(&o), error);
    return result < 0 ? result : put_payload(c, error);
}

/* The type is not known: its body is written as it is. */
static int put_unknown(struct change *c, const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_writer *writer = c->merge->writer;
    const struct pf_transcoding how = {.big_endian = writer->big_endian};
    if (c->input->reader->file.swapped == writer->swap)
        return put_bytes(c, record, error);
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    int result = pf_transcode(c->input->reader, record, &how, &o, error);
    return result < 0 ? result : pf_writer_put(writer, writer->record, pf_out_bytes_used(&o), error);
}

/*
 * A sample without a known event stays as it is if its input is the only one; else it might match another input's
 * event.
 */
static int put_stray(struct change *c, const struct perfile_record *record, struct perfile_error *error)
{
    if (c->input->reader->file.swapped == c->merge->writer->swap && c->merge->input_count == 1)
        return put_bytes(c, record, error);
    return pf_fail(error, PERFILE_ERROR_EVENT, record->offset, "SAMPLE record", "its event is not known");
}

int pf_merge_write(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                   struct perfile_error *error)
{
    const struct perfile_event *from = record->type < PERFILE_RECORD_HEADER_ATTR ? record->event : NULL;
    const struct pf_merge_route *route = from && from->index < input->route_count ? &input->routes[from->index] : NULL;
    struct change c = {
        .merge = merge, .input = input, .event = route ? &merge->events[route->event] : NULL, .type = record->type};
    const bool sample = record->type == PERFILE_RECORD_SAMPLE;
    const bool same_shape = input->reader->file.swapped == merge->writer->swap && !(c.event && c.event->reshaped);
    if (PF_UNLIKELY(sample && !route))
        return put_stray(&c, record, error);
    const bool id_is_enough = !sample || merge->input_count == 1 || !shares_kind(from);
    if (PF_LIKELY(same_shape && input->plain && id_is_enough && !needs_id(merge, c.event)))
        return put_bytes(&c, record, error);
    if (sample && same_shape && !(from->attr->sample_type & PERFILE_SAMPLE_READ))
        return put_patched(&c, &route->at, record, error);
    if (!pf_record_info(record->type))
        return put_unknown(&c, record, error);
    return put_changed(&c, record, error);
}
