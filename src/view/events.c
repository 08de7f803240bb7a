/* SPDX-License-Identifier: MIT */
/* The events: what was recorded how. The members of attr are those of schema/attr.def. */
#include <stddef.h>

#include "base/error.h"
#include "schema/undef.h"
#include "view/reading.h"

struct events {
    struct pf_reading reading; /* first */
    const struct perfile_event *event;
    uint64_t *samples; /* by index */
    size_t capacity;
};

#define EVENT const struct perfile_event *event = ((const struct events *)state)->event

/* ---- members of attr --------------------------------------------------------------------------------------------- */

/* Where a member stands in struct perfile_attr, and which bytes of the file's it needs. */
static const struct member {
    size_t offset;
    unsigned bytes, wire_end;
} members[] = {
#define MEMBER(at, field, width)                                                                                       \
    {offsetof(struct perfile_attr, field), sizeof(((struct perfile_attr *)0)->field), (at) + (width)},
#define U16(at, field, ...) MEMBER(at, field, 2)
#define U32(at, field, ...) MEMBER(at, field, 4)
#define U64(at, field, ...) MEMBER(at, field, 8)
#define S32(at, field, ...) MEMBER(at, field, 4)
#define FLAGS(at, bits)
#define BITS(first, width, field, ...) MEMBER(0, field, 0)
#define END_FLAGS()
#include "schema/attr.def"
#include "schema/undef.h"
#undef MEMBER
};

static uint64_t value_of(const struct perfile_attr *attr, const struct member *member)
{
    const uint8_t *at = (const uint8_t *)attr + member->offset;
    switch (member->bytes) {
    case 1:
        return *at;
    case 2:
        return pf_load16(at, false);
    case 4:
        return pf_load32(at, false);
    default:
        return pf_load64(at, false);
    }
}

PF_PUT(member)
{
    EVENT;
    const struct member *member = &members[vector->column.index];
    const uint64_t value = value_of(event->attr, member);
    if (event->attr_bytes < member->wire_end)
        pf_set_null(vector);
    else if (vector->column.type == PERFILE_COLUMN_BOOL)
        pf_set_bool(vector, value);
    else if (pf_column_width(&vector->column) == sizeof(uint32_t))
        pf_set_u32(vector, (uint32_t)value);
    else
        pf_set_u64(vector, value);
}

static const struct pf_column member_columns[] = {
#define MEMBER(field, kind, text)                                                                                      \
    {.name = #field, .type = PERFILE_COLUMN_##kind, .unit = "", .doc = text, .put = put_member, .extra = true},
#define U16(at, field, meaning, text) MEMBER(field, U32, text)
#define U32(at, field, meaning, text) MEMBER(field, U32, text)
#define U64(at, field, meaning, text) MEMBER(field, U64, text)
#define S32(at, field, meaning, text) MEMBER(field, I32, text)
#define FLAGS(at, bits)
#define BITS(first, width, field, text)                                                                                \
    {.name = #field,                                                                                                   \
     .type = (width) == 1 ? PERFILE_COLUMN_BOOL : PERFILE_COLUMN_U32,                                                  \
     .unit = "",                                                                                                       \
     .doc = text,                                                                                                      \
     .put = put_member,                                                                                                \
     .extra = true},
#define END_FLAGS()
#include "schema/attr.def"
#include "schema/undef.h"
#undef MEMBER
};

/* ---- what is made of them ---------------------------------------------------------------------------------------- */

PF_PUT_AS(index, EVENT, pf_set_u32, event->index)
PF_PUT_AS(name, EVENT, pf_set_text, event->name)
PF_PUT_IF(period, EVENT, !event->attr->freq, pf_set_u64, event->attr->sample_period_or_freq)
PF_PUT_IF(frequency, EVENT, event->attr->freq, pf_set_u64, event->attr->sample_period_or_freq)

PF_PUT(sample_fields)
{
    EVENT;
    for (unsigned bit = 0; bit < 64; bit++) {
        const char *name = perfile_sample_field_name(1ull << bit);
        if (event->attr->sample_type >> bit & 1 && name)
            pf_add_code(vector, pf_dictionary_put_lasting(&vector->dictionary, name));
    }
    pf_end_list(vector);
}

PF_PUT(unit)
{
    EVENT;
    char unit[64];
    pf_set_text(vector, perfile_event_unit(event, unit, sizeof(unit)));
}

PF_PUT_AS(ids, EVENT, pf_set_u64, event->id_count)

PF_PUT(samples)
{
    const struct events *events = state;
    const uint32_t index = events->event->index;
    pf_set_u64(vector, index < events->capacity ? events->samples[index] : 0);
}

PF_PUT_AS(file_name, EVENT, pf_set_text, event->file_name)
PF_PUT_AS(stat_unit, EVENT, pf_set_text, event->unit)
PF_PUT_AS(stat_scale, EVENT, pf_set_f64, event->scale)
PF_PUT_AS(attr_offset, EVENT, pf_set_u64, event->attr_offset)

static const struct pf_column first_columns[] = {
    PF_REQUIRED(index, U32, "", "Position among the events of the recording."),
    PF_REQUIRED(name, TEXT, "", "Its name."),
};
static const struct pf_column last_columns[] = {
    PF_COLUMN(period, U64, "", "The period: one sample is taken every so many events; null where a frequency was set."),
    PF_COLUMN(frequency, U64, "", "The frequency: samples per second; null where a period was set."),
    PF_REQUIRED(sample_fields, TEXTS, "", "What its samples have: the names of the bits of sample_type."),
    PF_REQUIRED(unit, TEXT, "", "What the period counts: ns, cycles, events ..."),
    PF_REQUIRED(ids, U64, "", "How many instances it has, one for each processor or thread."),
    PF_REQUIRED(samples, U64, "", "Samples of it in the recording, damaged ones not counted."),
    PF_EXTRA(file_name, TEXT, "", "The name that the file has for it; null: it has none."),
    PF_EXTRA(stat_unit, TEXT, "", "Unit of its counters, of perf stat."),
    PF_REQUIRED_EXTRA(stat_scale, F64, "", "What its counters are multiplied by."),
    PF_REQUIRED_EXTRA(attr_offset, U64, "bytes", "Where its attributes stand in the file."),
};

/* The members of attributes, and what is made of them. */
static bool column_at(size_t index, struct pf_column *column)
{
    static const char *const shown[] = {"type", "config", "precise_ip"};
    if (index >= PF_COUNT(member_columns) + PF_COUNT(last_columns))
        return false;
    if (index >= PF_COUNT(member_columns)) {
        *column = last_columns[index - PF_COUNT(member_columns)];
        return true;
    }
    *column = member_columns[index];
    column->index = (uint32_t)index;
    column->doc = *column->doc ? column->doc : "Reserved.";
    for (size_t k = 0; k < PF_COUNT(shown); k++)
        column->extra &= strcmp(shown[k], column->name) != 0;
    return true;
}

static bool add_columns(struct perfile_table *table)
{
    struct pf_column column;
    bool enough = pf_table_add_all(table, first_columns, PF_COUNT(first_columns));
    for (size_t i = 0; enough && column_at(i, &column); i++)
        enough = pf_table_add(table, &column);
    return enough;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int count_sample(void *state, const struct perfile_record *record, struct perfile_error *error)
{
    struct events *events = state;
    if (record->type != PERFILE_RECORD_SAMPLE || record->damaged || !record->event)
        return 0;
    if (!PF_HAS_ELEMENT(events->reading.table->allocator, events->samples, events->capacity, record->event->index))
        return pf_fail_memory(error, "events");
    events->samples[record->event->index]++;
    return 0;
}

static int next_event(void *state, struct perfile_error *error)
{
    struct events *events = state;
    struct perfile_reader *reader = events->reading.table->reader;
    int result;
    pf_reading_all(&events->reading, count_sample, events); /* a stream reports its events in records */
    while ((result = pf_table_row(events->reading.table, perfile_event_count(reader), error)) > 0) {
        events->event = perfile_event_get(reader, events->reading.table->all.row);
        const struct pf_filter_subject subject = {PF_NO_TIME,   PF_NO_NUMBER, PF_NO_NUMBER,
                                                  PF_NO_NUMBER, NULL,         events->event};
        if (pf_reading_passes(&events->reading, &subject))
            break;
    }
    return result;
}

static int open_events(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct events *events = state;
    if (!add_columns(table))
        return pf_fail_memory(error, "events");
    return pf_reading_open(&events->reading, table, PF_BY_FILE, error);
}

static void close_events(void *state)
{
    struct events *events = state;
    const struct perfile_allocator *allocator = events->reading.table->allocator;
    pf_reading_close(&events->reading);
    pf_free(allocator, events->samples, events->capacity * sizeof(*events->samples));
}

const struct pf_view pf_view_events = {
    .info = {"events", "the events: name, attributes, how often they were sampled"},
    .lists = {PF_COLUMNS(first_columns)},
    .column_at = column_at,
    .not_filtered = PF_FILTER_TIMES | PF_FILTER_CPUS | PF_FILTER_PIDS | PF_FILTER_TIDS | PF_FILTER_COMMS,
    .state_bytes = sizeof(struct events),
    .open = open_events,
    .next = next_event,
    .close = close_events,
    .unmatched = pf_reading_unmatched,
};
