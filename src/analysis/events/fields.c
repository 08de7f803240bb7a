/* SPDX-License-Identifier: MIT */
#include "analysis/events/fields.h"

#include <string.h>

#include "base/bytes.h"

const struct pf_event_fields pf_event_not_required;

void pf_bound_events_open(struct pf_events *events, struct perfile_reader *reader,
                          const struct pf_required_events *required, const struct perfile_allocator *allocator)
{
    *events = (struct pf_events){.reader = reader, .required = required, .swap = perfile_reader_file(reader)->swapped};
    pf_arena_open(&events->arena, allocator);
}

void pf_bound_events_close(struct pf_events *events)
{
    if (!events->reader)
        return;
    pf_free(events->arena.allocator, events->of_event, events->capacity * sizeof(*events->of_event));
    pf_arena_close(&events->arena);
}

/* "sched:sched_switch" */
static bool is_tracepoint(const char *name, const struct perfile_tracepoint *tracepoint)
{
    const size_t bytes = strlen(tracepoint->system);
    return strncmp(name, tracepoint->system, bytes) == 0 && name[bytes] == ':' &&
           strcmp(name + bytes + 1, tracepoint->name) == 0;
}

/* NULL: it is not one of them. */
static const struct pf_required_event *find_required(const struct pf_required_events *required,
                                                     const struct perfile_tracepoint *tracepoint)
{
    for (size_t i = 0; i < required->count; i++)
        if (is_tracepoint(required->items[i].event.name, tracepoint))
            return &required->items[i];
    return NULL;
}

static struct pf_event_position position_of(const struct perfile_tracepoint_field *field, bool swap)
{
    struct pf_event_position position = {.end = UINT32_MAX};
    if (!field || field->bytes >= UINT32_MAX - field->offset)
        return position;
    position.offset = field->offset;
    position.end = field->offset + field->bytes;
    if (field->is_dynamic || field->is_relative)
        position.kind = field->bytes == 4 && !field->is_relative && !swap ? PF_FIELD_DYNAMIC : PF_FIELD_OTHER;
    else if (field->bytes == 4 && !swap)
        position.kind = field->is_signed ? PF_FIELD_I32 : PF_FIELD_U32;
    else if (field->bytes == 8 && !swap)
        position.kind = PF_FIELD_64;
    else if (field->bytes == 16)
        position.kind = PF_FIELD_NAME;
    return position;
}

/* NULL when out of memory. */
static const struct pf_event_fields *bind(struct pf_events *events, const struct perfile_tracepoint *tracepoint)
{
    const struct pf_required_event *required = find_required(events->required, tracepoint);
    if (!required)
        return &pf_event_not_required;
    struct pf_event_fields *made = pf_arena_new(&events->arena, sizeof(*made));
    if (!made)
        return NULL;
    made->id = (size_t)(required - events->required->items);
    for (size_t i = 0; i < PF_EVENT_FIELDS_MAX; i++) {
        made->fields[i] = required->fields[i] ? pf_trace_field(tracepoint, required->fields[i]) : NULL;
        made->positions[i] = position_of(made->fields[i], events->swap);
    }
    return made;
}

const struct pf_event_fields *pf_events_find_new(struct pf_events *events, const struct perfile_event *event)
{
    if (!PF_HAS_ELEMENT(events->arena.allocator, events->of_event, events->capacity, event->index))
        return NULL;
    const struct perfile_tracing *tracing;
    if (event->attr->type == PERFILE_TYPE_TRACEPOINT) /* out of memory would look like other events */
        (void)pf_memory_check(events->arena.allocator, perfile_tracing_get(events->reader, &tracing, NULL));
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(events->reader, event);
    const bool may_come = !tracepoint && event->attr->type == PERFILE_TYPE_TRACEPOINT; /* of a stream */
    const struct pf_event_fields *found = tracepoint ? bind(events, tracepoint)
                                          : may_come ? NULL
                                                     : &pf_event_not_required;
    events->of_event[event->index] = found;
    return found == &pf_event_not_required ? NULL : found;
}

bool pf_events_want(void *context, const struct perfile_event *event)
{
    struct pf_events *events = context;
    return pf_events_find(events, event) || event->index >= events->capacity ||
           events->of_event[event->index] != &pf_event_not_required;
}

bool pf_events_have(struct pf_events *events, size_t id)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(events->reader, i)); i++) {
        const struct pf_event_fields *fields = pf_events_find(events, event);
        if (fields && fields->id == id)
            return true;
    }
    return false;
}

void pf_event_name(const struct pf_events *events, const struct pf_event_fields *event, size_t field,
                   const struct perfile_bytes *raw, char name[16])
{
    enum { BYTES = 16 };
    const struct pf_event_position *at = &event->positions[field];
    uint32_t word;
    name[0] = '\0';
    if (PF_UNLIKELY(at->end > raw->bytes))
        return;
    if (at->kind == PF_FIELD_NAME) {
        memcpy(name, raw->data + at->offset, BYTES);
        name[BYTES - 1] = '\0';
        return;
    }
    if (at->kind == PF_FIELD_DYNAMIC) {
        memcpy(&word, raw->data + at->offset, sizeof(word));
        const uint64_t offset = word & 0xffff, length = word >> 16, left = raw->bytes - pf_min(offset, raw->bytes);
        if (PF_LIKELY(left >= BYTES && length <= left)) {
            memcpy(name, raw->data + offset, BYTES);
            name[pf_min(length, BYTES - 1)] = '\0';
            return;
        }
    }
    (void)pf_event_text(events, event, field, raw, name, BYTES);
}

bool pf_event_text(const struct pf_events *events, const struct pf_event_fields *event, size_t field,
                   const struct perfile_bytes *raw, char *text, size_t capacity)
{
    struct perfile_bytes bytes;
    if (!event->fields[field] || !pf_trace_bytes(event->fields[field], raw, events->swap, &bytes))
        return false;
    const size_t length = strnlen((const char *)bytes.data, pf_min(bytes.bytes, capacity - 1));
    memcpy(text, bytes.data, length);
    text[length] = '\0';
    return true;
}
