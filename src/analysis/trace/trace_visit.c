/* SPDX-License-Identifier: MIT */
#include "analysis/trace/trace_visit.h"

#include "analysis/trace/trace_format.h"

/* ---- which tracepoint -------------------------------------------------------------------------------------------- */

void pf_trace_events_open(struct pf_trace_events *events, struct perfile_reader *reader,
                          const struct perfile_allocator *allocator)
{
    events->reader = reader;
    pf_map_open(&events->of_event, allocator);
}

void pf_trace_events_close(struct pf_trace_events *events)
{
    pf_map_close(&events->of_event);
}

/* A stream has its descriptions in a record: what was not known before may be from here on. */
static void discard(struct pf_trace_events *events)
{
    const struct perfile_allocator *allocator = events->of_event.allocator;
    pf_map_close(&events->of_event);
    pf_map_open(&events->of_event, allocator);
}

int pf_trace_events_find(struct pf_trace_events *events, const struct perfile_record *record,
                         const struct perfile_tracepoint **tracepoint, struct perfile_error *error)
{
    const struct perfile_tracing *tracing;
    uint64_t known;
    if (record->type != PERFILE_RECORD_SAMPLE) {
        discard(events);
        return 0;
    }
    if (pf_map_get(&events->of_event, record->event->index, &known)) {
        *tracepoint = (const struct perfile_tracepoint *)(uintptr_t)known;
        return 0;
    }
    /* absent and damaged ones are reported when they are read */
    const int result = perfile_tracing_get(events->reader, &tracing, error);
    *tracepoint = result < 0 ? NULL : perfile_tracepoint_find(events->reader, record->event);
    if (!pf_map_put(&events->of_event, record->event->index, (uintptr_t)*tracepoint) || result == PERFILE_ERROR_MEMORY)
        return PERFILE_ERROR_MEMORY;
    return result == PERFILE_ERROR_LIMIT ? result : 0;
}

/* ---- its fields -------------------------------------------------------------------------------------------------- */

struct walk {
    const struct perfile_visitor *visitor;
    const struct perfile_tracepoint_field *field;
    bool swap;
};

static bool is_number(uint64_t bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

static int visit_number(const struct walk *walk, const char *name, const uint8_t *data, uint64_t bytes)
{
    struct perfile_value value = {.name = name, .kind = PERFILE_VALUE_UNSIGNED};
    value.number.u = pf_trace_load(data, bytes, walk->field->is_signed, walk->swap);
    if (walk->field->is_signed)
        value.kind = PERFILE_VALUE_SIGNED;
    return walk->visitor->value(walk->visitor->context, &value);
}

static int visit_list(const struct walk *walk, const struct perfile_bytes *bytes, uint32_t element)
{
    const struct perfile_visitor *visitor = walk->visitor;
    int stopped = visitor->begin(visitor->context, walk->field->name, true);
    for (uint64_t at = 0; !stopped && at < bytes->bytes; at += element)
        stopped = visit_number(walk, NULL, bytes->data + at, element);
    return stopped ? stopped : visitor->end(visitor->context, true);
}

static int visit_data(const struct walk *walk, const struct perfile_bytes *bytes)
{
    struct perfile_value value = {.name = walk->field->name, .kind = PERFILE_VALUE_BYTES, .data = bytes->data};
    value.bytes = (size_t)bytes->bytes;
    if (walk->field->is_text) {
        value.kind = PERFILE_VALUE_TEXT;
        value.bytes = strnlen((const char *)bytes->data, value.bytes);
    }
    return walk->visitor->value(walk->visitor->context, &value);
}

static int visit_field(const struct walk *walk, const struct perfile_bytes *bytes)
{
    const struct perfile_tracepoint_field *field = walk->field;
    const bool list = field->is_array || field->is_dynamic || field->is_relative;
    if (!field->is_text && list && is_number(field->element_bytes) && bytes->bytes % field->element_bytes == 0)
        return visit_list(walk, bytes, field->element_bytes);
    if (!field->is_text && !list && is_number(bytes->bytes))
        return visit_number(walk, field->name, bytes->data, bytes->bytes);
    return visit_data(walk, bytes);
}

static int visit_fields(struct walk *walk, const struct perfile_tracepoint *tracepoint, const struct perfile_bytes *raw)
{
    const struct perfile_visitor *visitor = walk->visitor;
    struct perfile_bytes bytes;
    bool started = false;
    int stopped = 0;
    for (size_t i = 0; i < tracepoint->field_count && !stopped; i++) {
        walk->field = &tracepoint->fields[i];
        if (walk->field->is_common || !pf_trace_bytes(walk->field, raw, walk->swap, &bytes))
            continue;
        stopped = started ? 0 : visitor->begin(visitor->context, "trace", false);
        started = true;
        if (!stopped)
            stopped = visit_field(walk, &bytes);
    }
    return started && !stopped ? visitor->end(visitor->context, false) : stopped;
}

int pf_trace_visit(const struct perfile_tracepoint *tracepoint, const struct perfile_record *record, bool swap,
                   const struct perfile_visitor *visitor)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct walk walk = {.visitor = visitor, .swap = swap};
    if (record->damaged || perfile_sample_decode(record, &sample, NULL) < 0 || !(sample.present & PERFILE_SAMPLE_RAW))
        return 0;
    return visit_fields(&walk, tracepoint, &sample.raw) ? PERFILE_ERROR_STOPPED : 0;
}
