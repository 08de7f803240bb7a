/* SPDX-License-Identifier: MIT */
/*
 * The events that a view reads (events.def) and their fields by name: the offset of a field in the raw data is looked
 * up once for each event of the recording.
 */
#ifndef PF_ANALYSIS_EVENTS_FIELDS_H
#define PF_ANALYSIS_EVENTS_FIELDS_H

#include <perfile/table.h>
#include <string.h>

#include "analysis/trace/trace_format.h"
#include "base/memory.h"

enum { PF_EVENT_FIELDS_MAX = 8 };

/* An event that a view reads, with the fields that it reads of it, at any positions. */
struct pf_required_event {
    struct perfile_view_event event;
    const char *fields[PF_EVENT_FIELDS_MAX];
};
struct pf_required_events {
    const struct pf_required_event *items;
    size_t count;
};
/* For the rows of events.def. */
#define PF_REQUIRED_EVENT(id, event_name, event_kind, event_need, ...)                                                 \
    [id] = {{event_name, event_kind, PERFILE_EVENT_##event_need}, {__VA_ARGS__}},

/* How most fields are read: without a look at what else is known of them. */
enum pf_event_field_kind { PF_FIELD_OTHER, PF_FIELD_U32, PF_FIELD_I32, PF_FIELD_64, PF_FIELD_NAME, PF_FIELD_DYNAMIC };

struct pf_event_position {
    uint32_t offset;
    uint32_t end; /* UINT32_MAX: there is no such field */
    enum pf_event_field_kind kind;
};

/* An event of the recording that is one of these; a field that is missing in it is NULL. */
struct pf_event_fields {
    size_t id; /* its position among the required ones */
    const struct perfile_tracepoint_field *fields[PF_EVENT_FIELDS_MAX];
    struct pf_event_position positions[PF_EVENT_FIELDS_MAX];
};

struct pf_events {
    struct perfile_reader *reader;
    struct pf_arena arena;
    const struct pf_required_events *required;
    const struct pf_event_fields **of_event; /* by index; NULL: not looked up yet */
    size_t capacity;
    bool swap;
};

/* What is all zeros may be closed, too. */
void pf_bound_events_open(struct pf_events *events, struct perfile_reader *reader,
                          const struct pf_required_events *required, const struct perfile_allocator *allocator);
void pf_bound_events_close(struct pf_events *events);
/* NULL: it is not required, or out of memory, which the allocator reports. */
const struct pf_event_fields *pf_events_find_new(struct pf_events *events, const struct perfile_event *event);
/* Whether the recording has the tracepoint, as far as its events are known. */
bool pf_events_have(struct pf_events *events, size_t id);

extern const struct pf_event_fields pf_event_not_required;

static inline const struct pf_event_fields *pf_events_find(struct pf_events *events, const struct perfile_event *event)
{
    const struct pf_event_fields *known =
        event && event->index < events->capacity ? events->of_event[event->index] : NULL;
    if (PF_UNLIKELY(!known))
        return event ? pf_events_find_new(events, event) : NULL;
    return known == &pf_event_not_required ? NULL : known;
}

/* What an engine over events must be given. */
struct pf_event_needs {
    struct pf_events *only;                                                /* samples of no other events; NULL: all */
    bool (*take_record)(void *state, const struct perfile_record *record); /* gets the records that are not samples */
    void *state;                                                           /* of it; it may be NULL */
};

/* For pf_delivery_options.wants, with the events: it is required, or may still turn out to be. */
bool pf_events_want(void *events, const struct perfile_event *event);

/* The number in a field; false: the data has none. */
static inline bool pf_event_number(const struct pf_events *events, const struct pf_event_fields *event, size_t field,
                                   const struct perfile_bytes *raw, uint64_t *number)
{
    const struct pf_event_position *at = &event->positions[field];
    uint32_t word;
    if (PF_UNLIKELY(at->end > raw->bytes))
        return false;
    const uint8_t *data = raw->data + at->offset;
    switch (at->kind) {
    case PF_FIELD_U32:
    case PF_FIELD_I32:
        memcpy(&word, data, sizeof(word));
        *number = at->kind == PF_FIELD_I32 ? (uint64_t)(int32_t)word : word;
        return true;
    case PF_FIELD_64:
        memcpy(number, data, sizeof(*number));
        return true;
    default:
        *number = pf_trace_load(data, at->end - at->offset, event->fields[field]->is_signed, events->swap);
        return true;
    }
}

/* The name of a task as kernels have it: 16 bytes, as text up to a NUL. "": the data has none. */
void pf_event_name(const struct pf_events *events, const struct pf_event_fields *event, size_t field,
                   const struct perfile_bytes *raw, char name[16]);
/* Copies the text of a field, with its NUL at most `capacity` bytes. Returns false when the data does not have it. */
bool pf_event_text(const struct pf_events *events, const struct pf_event_fields *event, size_t field,
                   const struct perfile_bytes *raw, char *text, size_t capacity);

#endif
