/* SPDX-License-Identifier: MIT */
/* Events of several recordings as those of one: which are the same, their ids, and what all of them must share. */
#include "base/bytes.h"
#include "base/error.h"
#include "edit/merge.h"

/* ---- parts of one recording ---- */

static bool same_feature(struct perfile_reader *a, struct perfile_reader *b, uint32_t number)
{
    const uint8_t *a_data, *b_data;
    size_t a_bytes, b_bytes;
    const bool in_a = pf_feature_look(a, number, &a_data, &a_bytes, NULL) == 0;
    const bool in_b = pf_feature_look(b, number, &b_data, &b_bytes, NULL) == 0;
    return in_a == in_b && (!in_a || (a_bytes == b_bytes && (!a_bytes || memcmp(a_data, b_data, a_bytes) == 0)));
}

/* Bytes of an attr that this version does not know. */
static struct perfile_bytes attr_tail(const struct perfile_event *event)
{
    const size_t known = sizeof(event->attr);
    uint32_t bytes = event->attr_bytes;
    while (bytes > known && !event->attr_data[bytes - 1])
        bytes--;
    return bytes > known ? (struct perfile_bytes){event->attr_data + known, bytes - known} : (struct perfile_bytes){0};
}

/* Compares attrs without the size, which only shows how new the recorder was. */
static bool same_attr(const struct perfile_event *a, const struct perfile_event *b)
{
    struct perfile_attr x = *a->attr, y = *b->attr;
    const struct perfile_bytes x_tail = attr_tail(a), y_tail = attr_tail(b);
    x.size = y.size = 0;
    return memcmp(&x, &y, sizeof(x)) == 0 && x_tail.bytes == y_tail.bytes &&
           (!x_tail.bytes || memcmp(x_tail.data, y_tail.data, (size_t)x_tail.bytes) == 0);
}

static bool same_ids(const struct perfile_event *a, const struct perfile_event *b)
{
    return a->id_count == b->id_count && (!a->id_count || memcmp(a->ids, b->ids, a->id_count * sizeof(*a->ids)) == 0);
}

const uint32_t pf_merge_facts[] = {PERFILE_FEATURE_HOSTNAME, PERFILE_FEATURE_OSRELEASE, PERFILE_FEATURE_CMDLINE, 0};

static bool same_recording(struct perfile_reader *a, struct perfile_reader *b)
{
    if (a->event_count != b->event_count || a->file.swapped != b->file.swapped)
        return false;
    for (size_t i = 0; i < a->event_count; i++) {
        const struct perfile_event *x = &a->events[i]->public, *y = &b->events[i]->public;
        if (!same_attr(x, y) || !same_ids(x, y) || strcmp(x->name, y->name) != 0)
            return false;
    }
    for (const uint32_t *fact = pf_merge_facts; *fact; fact++)
        if (!same_feature(a, b, *fact))
            return false;
    return true;
}

static uint64_t hash_event(const struct perfile_event *event)
{
    struct perfile_attr attr = *event->attr;
    attr.size = 0;
    return pf_hash_bytes(pf_hash_bytes(PF_HASH_START, &attr, sizeof(attr)), event->name, strlen(event->name));
}

/* Of what same_recording compares. False when out of memory. */
static bool hash_recording(struct perfile_reader *reader, uint64_t *made)
{
    uint64_t hash = PF_HASH_START;
    for (size_t i = 0; i < reader->event_count; i++) {
        const struct perfile_event *event = &reader->events[i]->public;
        const uint64_t of_event = hash_event(event);
        hash = pf_hash_bytes(hash, &of_event, sizeof(of_event));
        hash = pf_hash_bytes(hash, event->ids, event->id_count * sizeof(*event->ids));
    }
    for (const uint32_t *fact = pf_merge_facts; *fact; fact++) {
        const uint8_t *data;
        size_t bytes;
        const int result = pf_feature_look(reader, *fact, &data, &bytes, NULL);
        if (result == PERFILE_ERROR_MEMORY)
            return false;
        hash = result < 0 ? hash : pf_hash_bytes(hash, data, bytes);
    }
    *made = hash;
    return true;
}

bool pf_merge_find_duplicate(struct pf_merge *merge, struct pf_merge_input *input)
{
    uint64_t hash, known;
    if (!hash_recording(input->reader, &hash))
        return false;
    input->next_like = pf_map_get(&merge->recordings, hash, &known) ? (size_t)known + 1 : 0;
    for (size_t i = input->next_like; i; i = merge->inputs[i - 1].next_like) {
        input->duplicate = i - 1;
        if (same_recording(merge->inputs[i - 1].reader, input->reader))
            return true;
    }
    input->duplicate = input->number;
    return pf_map_put(&merge->recordings, hash, input->number);
}

/* ---- ids ---- */

static uint64_t fresh_id(struct pf_merge *merge)
{
    uint64_t known;
    do
        merge->next_id++;
    while (!merge->next_id || merge->next_id == UINT64_MAX || pf_map_get(&merge->ids, merge->next_id, &known));
    return merge->next_id;
}

uint64_t pf_merge_new_id(struct pf_merge *merge, struct pf_merge_input *input, uint64_t id)
{
    uint64_t found;
    if (id == input->last_id)
        return input->last_new_id;
    uint64_t made = id;
    if (!id || merge->input_count == 1)
        return id;
    if (pf_map_get(&input->ids, id, &found))
        made = found;
    else if (!pf_map_get(&input->reader->ids, id, &found) && pf_map_get(&merge->ids, id, &found)) {
        /* it was never declared, and must not become that of another input */
        if (!input->unknown_id)
            input->unknown_id = fresh_id(merge);
        made = input->unknown_id;
    }
    input->last_id = id;
    input->last_new_id = made;
    return made;
}

static bool add_id(struct pf_merge *merge, uint32_t index, uint64_t id)
{
    struct pf_merge_event *event = &merge->events[index];
    if (!pf_grow(merge->allocator, &event->ids, &event->id_capacity, event->id_count + 1, sizeof(*event->ids)) ||
        !pf_map_put(&merge->ids, id, index))
        return false;
    event->ids[event->id_count++] = id;
    return true;
}

/*
 * One id may stay for instances of two recordings when they are of the same event, but for counters: readers subtract
 * the value before.
 */
static bool may_share(const struct pf_merge *merge, const struct pf_merge_input *input, uint32_t event)
{
    return input->duplicate != input->number || !(merge->events[event].attr.sample_type & PERFILE_SAMPLE_READ);
}

static int take_id(struct pf_merge *merge, struct pf_merge_input *input, uint32_t event, uint64_t id)
{
    uint64_t owner, made = id;
    const bool consumed = pf_map_get(&merge->ids, id, &owner);
    struct pf_merge_input *duplicate = &merge->inputs[input->duplicate];
    if (merge->input_count == 1)
        return add_id(merge, event, id) ? 0 : PERFILE_ERROR_MEMORY;
    if (duplicate != input && pf_map_get(&duplicate->ids, id, &made))
        return pf_map_put(&input->ids, id, made) ? 0 : PERFILE_ERROR_MEMORY;
    if (consumed && owner == event && may_share(merge, input, event))
        return 0;
    if (consumed) {
        made = fresh_id(merge);
        merge->report->ids_renumbered++;
        if (!pf_map_put(&input->ids, id, made))
            return PERFILE_ERROR_MEMORY;
    }
    return add_id(merge, event, made) ? 0 : PERFILE_ERROR_MEMORY;
}

/* ---- which events are the same ---- */

/* Two events of one input stay two, however equal they are. */
static bool find_event(const struct pf_merge *merge, const struct pf_merge_input *input,
                       const struct perfile_event *event, uint32_t *index)
{
    uint64_t found;
    if (merge->settled || !pf_map_get(&merge->known, hash_event(event), &found))
        return false;
    size_t best = 0;
    for (size_t i = (size_t)found + 1; i; i = merge->events[i - 1].next) {
        const struct pf_merge_event *known = &merge->events[i - 1];
        if (known->routed != input->number + 1 && same_attr(known->from, event) &&
            strcmp(known->from->name, event->name) == 0)
            best = i; /* of several the first */
    }
    *index = best ? (uint32_t)best - 1 : *index;
    return best;
}

static bool add_event(struct pf_merge *merge, const struct pf_merge_input *input, const struct perfile_event *event)
{
    const uint64_t hash = hash_event(event);
    uint64_t before;
    if (!pf_grow(merge->allocator, &merge->events, &merge->event_capacity, merge->event_count + 1,
                 sizeof(*merge->events)))
        return false;
    /* where one event has a name, readers do not make one for the others */
    const char *name = event->file_name || merge->input_count == 1 ? event->file_name : event->name;
    struct pf_merge_event *made = &merge->events[merge->event_count];
    *made = (struct pf_merge_event){.from = event, .reader = input->reader, .attr = *event->attr, .name = name};
    made->attr.size = event->attr_bytes;
    made->next = pf_map_get(&merge->known, hash, &before) ? (size_t)before + 1 : 0;
    return pf_map_put(&merge->known, hash, merge->event_count++);
}

static struct pf_merge_positions find_positions(const struct perfile_attr *attr)
{
    const uint64_t type = attr->sample_type;
    struct pf_merge_positions at = {0};
    uint16_t next = 8;
#define POSITION(bit, NAME)                                                                                            \
    if (type & 1 << bit) {                                                                                             \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_IDENTIFIER)                                                        \
            at.identifier = next;                                                                                      \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_ID)                                                                \
            at.id = next;                                                                                              \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_STREAM_ID)                                                         \
            at.stream_id = next;                                                                                       \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_TID)                                                               \
            at.tid = next;                                                                                             \
        if (PERFILE_SAMPLE_##NAME == PERFILE_SAMPLE_TIME)                                                              \
            at.time = next;                                                                                            \
        next = (uint16_t)(next + 8);                                                                                   \
    }
#define WORD(bit, NAME, field, meaning, doc) POSITION(bit, NAME)
#define PAIR(bit, NAME, type1, field1, type2, field2, doc) POSITION(bit, NAME)
#define PART(bit, NAME, field, part, layout, doc)
#define TAIL(bit, NAME, field, meaning, doc)
#include "schema/sample.def"
#include "schema/undef.h"
#undef POSITION
    return at;
}

static int route_event(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_event *event)
{
    uint32_t index = (uint32_t)merge->event_count;
    if (merge->input_count > 1 && find_event(merge, input, event, &index))
        merge->report->events_unified++;
    else if (!add_event(merge, input, event))
        return PERFILE_ERROR_MEMORY;
    merge->events[index].routed = input->number + 1;
    if (!PF_APPEND(merge->allocator, input->routes, input->route_count, input->route_capacity,
                   (struct pf_merge_route){.event = index, .at = find_positions(event->attr)}))
        return PERFILE_ERROR_MEMORY;
    int result = 0;
    for (size_t i = 0; i < event->id_count && result == 0; i++)
        result = take_id(merge, input, index, event->ids[i]);
    return result;
}

/* ---- what all must share ---- */

static struct pf_plan plan_of(const struct pf_merge *merge, const struct perfile_attr *attr)
{
    struct pf_plan plan;
    pf_plan_make(&plan, attr, merge->writer->swap, merge->writer->big_endian);
    return plan;
}

/* Where perf looks for the ids, by the attr of the first event; the trailer's also when records have none. */
static bool same_positions(const struct pf_merge *merge, struct perfile_attr a, struct perfile_attr b)
{
    a.sample_id_all = b.sample_id_all = true;
    const struct pf_plan x = plan_of(merge, &a), y = plan_of(merge, &b);
    return x.id_at && x.id_at == y.id_at && x.id_back == y.id_back;
}

static bool are_alike(const struct pf_merge *merge, const struct perfile_attr *a, const struct perfile_attr *b)
{
    return same_positions(merge, *a, *b) && a->sample_id_all == b->sample_id_all && a->read_format == b->read_format;
}

static void reshape_all(struct pf_merge *merge)
{
    const struct perfile_attr *first = &merge->events[0].attr;
    bool positions = true, sample_id_all = false, formats = true;
    uint64_t read_format = 0;
    for (size_t i = 0; i < merge->event_count; i++) {
        const struct perfile_attr *attr = &merge->events[i].attr;
        positions &= same_positions(merge, *first, *attr);
        sample_id_all |= attr->sample_id_all;
        formats &= attr->read_format == first->read_format;
        read_format |= attr->read_format;
    }
    for (size_t i = 0; i < merge->event_count; i++) {
        struct pf_merge_event *event = &merge->events[i];
        const struct perfile_attr before = event->attr;
        if (!positions)
            event->attr.sample_type |= PERFILE_SAMPLE_IDENTIFIER;
        event->attr.sample_id_all = sample_id_all;
        if (!formats)
            event->attr.read_format = read_format | PERFILE_FORMAT_ID;
        event->reshaped = memcmp(&before, &event->attr, sizeof(before)) != 0;
        merge->report->reshaped |= event->reshaped;
    }
}

/* Samples that state no id get the first of their event. */
static int give_ids(struct pf_merge *merge)
{
    for (uint32_t i = 0; i < merge->event_count; i++) {
        struct pf_merge_event *event = &merge->events[i];
        if (!event->id_count && !add_id(merge, i, fresh_id(merge)))
            return PERFILE_ERROR_MEMORY;
        event->lone_id = event->ids[0];
    }
    return 0;
}

static int add_to_writer(struct pf_merge *merge, const struct pf_merge_event *event, struct perfile_error *error)
{
    struct perfile_writer *writer = merge->writer;
    const uint32_t bytes = event->attr.size;
    struct pf_writer_event made = {.attr = (uint8_t *)(uintptr_t)event->from->attr_data,
                                   .attr_bytes = bytes,
                                   .ids = event->ids,
                                   .id_count = event->id_count,
                                   .name = event->name,
                                   .reshaped = event->reshaped};
    uint8_t *anew = NULL;
    if (event->reshaped || event->reader->file.swapped != writer->swap) {
        anew = pf_new(merge->allocator, bytes);
        if (!anew)
            return pf_fail_memory(error, "event");
        struct pf_out o = pf_out_make(anew, bytes, writer->swap);
        pf_encode_attr(&event->attr, bytes, writer->big_endian, &o);
        made.attr = anew;
    }
    int result = pf_writer_add_event(writer, &made, &event->attr, false, error);
    pf_free(merge->allocator, anew, bytes);
    return result;
}

static int add_all_to_writer(struct pf_merge *merge, struct perfile_error *error)
{
    int result = 0;
    for (; merge->events_added < merge->event_count && result == 0; merge->events_added++)
        result = add_to_writer(merge, &merge->events[merge->events_added], error);
    return result;
}

/* Returns how much of an attr is used: what newer recorders write after that is zeros most of the time. */
static uint32_t needed_bytes(const struct pf_merge_event *event)
{
    enum { USUAL = 112 };
    uint32_t bytes = event->from->attr_bytes;
    while (bytes > USUAL && !event->from->attr_data[bytes - 1])
        bytes--;
    return (uint32_t)pf_align8(bytes);
}

/* All attrs have one size in the output, the smallest that fits: perf opens no file with larger attrs than its own. */
static void size_attrs(struct pf_merge *merge)
{
    uint32_t smallest = UINT32_MAX, needed = 0;
    for (size_t i = 0; i < merge->event_count; i++) {
        smallest = (uint32_t)pf_min(smallest, merge->events[i].from->attr_bytes);
        needed = (uint32_t)pf_max(needed, needed_bytes(&merge->events[i]));
    }
    const uint32_t max = (uint32_t)pf_max(smallest, needed);
    for (size_t i = 0; i < merge->event_count; i++)
        merge->events[i].attr.size = (uint32_t)pf_min(merge->events[i].attr.size, max);
}

int pf_merge_settle_events(struct pf_merge *merge, struct perfile_error *error)
{
    bool alike = true;
    for (size_t i = 0; i < merge->event_count; i++)
        alike &= are_alike(merge, &merge->events[0].attr, &merge->events[i].attr);
    merge->settled = true;
    if (merge->input_count > 1)
        size_attrs(merge);
    if (merge->input_count > 1 && merge->event_count > 1) {
        if (!alike)
            reshape_all(merge);
        if (give_ids(merge) < 0)
            return pf_fail_memory(error, "merge");
    }
    if (merge->report->reshaped)
        pf_merge_note(merge, &merge->inputs[0], "events-reshaped", 0,
                      "the events differ in the position of the sample id, in sample_id_all or in read_format: all are "
                      "extended to the same layout, with their records");
    return add_all_to_writer(merge, error);
}

/* Checks that an event of a stream that comes after records fits those that are written. */
static int check_late(const struct pf_merge *merge, const struct pf_merge_input *input, struct perfile_error *error)
{
    const struct perfile_attr *first = &merge->events[0].attr;
    for (size_t i = merge->events_added; i < merge->event_count && merge->input_count > 1; i++)
        if (!are_alike(merge, first, &merge->events[i].attr))
            return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, merge->events[i].from->attr_offset, "merge",
                           "%s declares an event after its first records that is incompatible with earlier events",
                           input->name);
    return 0;
}

static bool is_single_again(const struct pf_merge *merge)
{
    return merge->settled && merge->input_count > 1 && merge->events_added < 2;
}

int pf_merge_route_events(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    const struct perfile_reader *reader = input->reader;
    int result = 0;
    if (input->route_count == reader->event_count)
        return 0;
    if (is_single_again(merge))
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                       "%s declares an event after its first records", input->name);
    while (input->route_count < reader->event_count && result == 0)
        result = route_event(merge, input, &reader->events[input->route_count]->public);
    if (result < 0)
        return pf_fail_memory(error, "merge");
    if (!merge->settled)
        return 0;
    result = check_late(merge, input, error);
    return result < 0 ? result : add_all_to_writer(merge, error);
}
