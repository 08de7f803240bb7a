/* SPDX-License-Identifier: MIT */
/*
 * The fields of the tracepoints that a view is made of, by their names: where they stand in the raw data is looked up once
 * for each event of the recording.
 */
#ifndef PF_ANALYSIS_EVENTS_FIELDS_H
#define PF_ANALYSIS_EVENTS_FIELDS_H

#include <perfile/perfile.h>
#include <string.h>

#include "analysis/trace/trace_format.h"
#include "base/memory.h"

enum { PF_EVENT_FIELDS_MAX = 8 };

/* A tracepoint that is asked for, with its fields; NULL ends them. */
struct pf_event_wish {
    const char *system, *name;
    const char *fields[PF_EVENT_FIELDS_MAX];
};

/* How most fields are read: without a look at what else is known of them. */
enum pf_event_field_kind { PF_FIELD_OTHER, PF_FIELD_U32, PF_FIELD_I32, PF_FIELD_64, PF_FIELD_NAME, PF_FIELD_DYNAMIC };

struct pf_event_position {
    uint32_t offset;
    uint32_t end; /* UINT32_MAX: there is no such field */
    enum pf_event_field_kind kind;
};

/* An event of the recording that is one of these. A field that it has not is NULL. */
struct pf_event_fields {
    size_t wish;
    const struct perfile_tracepoint_field *fields[PF_EVENT_FIELDS_MAX];
    struct pf_event_position positions[PF_EVENT_FIELDS_MAX];
};

struct pf_events {
    struct perfile_reader *reader;
    struct pf_arena arena;
    const struct pf_event_wish *wishes;
    size_t wish_count;
    const struct pf_event_fields **of_event; /* by index; `none`: it is not asked for; NULL: not looked at yet */
    size_t capacity;
    bool swap;
};

/* What is all zeros may be closed, too. The wishes must live as long. */
void pf_bound_events_open(struct pf_events *events, struct perfile_reader *reader, const struct pf_event_wish *wishes,
                          size_t count, const struct perfile_allocator *allocator);
void pf_bound_events_close(struct pf_events *events);
/* NULL: none of those that are asked for, or out of memory, which the allocator is told. */
const struct pf_event_fields *pf_events_find_new(struct pf_events *events, const struct perfile_event *event);
/* Whether the recording has the tracepoint, as far as its events are known. */
bool pf_events_have(struct pf_events *events, size_t wish);

extern const struct pf_event_fields pf_event_not_wished;

static inline const struct pf_event_fields *pf_events_find(struct pf_events *events, const struct perfile_event *event)
{
    const struct pf_event_fields *known =
        event && event->index < events->capacity ? events->of_event[event->index] : NULL;
    if (PF_UNLIKELY(!known))
        return event ? pf_events_find_new(events, event) : NULL;
    return known == &pf_event_not_wished ? NULL : known;
}

/* What an engine over events must be given. */
struct pf_event_needs {
    struct pf_events *only;                                                /* samples of no other events; NULL: all */
    bool (*take_record)(void *state, const struct perfile_record *record); /* is told of records that are no samples */
    void *state;                                                           /* of it; it may be NULL */
};

/* For pf_delivery_options.wants, with the events: it is one of those that are asked for, or may still become one. */
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
/* The text in a field, not longer than `room` with its NUL. False: the data has none. */
bool pf_event_text(const struct pf_events *events, const struct pf_event_fields *event, size_t field,
                   const struct perfile_bytes *raw, char *text, size_t capacity);

#endif
