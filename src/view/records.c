/* SPDX-License-Identifier: MIT */
/* Every record in the order of the file. */
#include <stdio.h>

#include "analysis/trace/trace_visit.h"
#include "base/error.h"
#include "base/json.h"
#include "view/reading.h"

enum { MAX_BYTES = 4096 }; /* longer byte strings become length and checksum, as in a dump */

struct records {
    struct pf_reading reading; /* first */
    struct pf_trace_events events;
    const struct perfile_record *record; /* in hand */
    const struct perfile_tracepoint *tracepoint;
    struct perfile_sample_id id;
    struct pf_text fields;
};

#define RECORDS const struct records *records = state
/* Null where the record does not say it. */
#define PUT_STATED(name, bits, set, value) PF_PUT_IF(name, RECORDS, records->id.present &(bits), set, value)
#define PUT_MEMBER(name, set, member) PF_PUT_AS(name, RECORDS, set, records->record->member)

PUT_STATED(time, PERFILE_SAMPLE_TIME, pf_set_u64, records->id.time)
PUT_STATED(pid, PERFILE_SAMPLE_TID, pf_set_i32, records->id.pid)
PUT_STATED(tid, PERFILE_SAMPLE_TID, pf_set_i32, records->id.tid)
PUT_STATED(cpu, PERFILE_SAMPLE_CPU, pf_set_u32, records->id.cpu)
PUT_STATED(id, PERFILE_SAMPLE_ID | PERFILE_SAMPLE_IDENTIFIER, pf_set_u64,
           records->id.present &PERFILE_SAMPLE_IDENTIFIER ? records->id.identifier : records->id.id)
PUT_MEMBER(offset, pf_set_u64, offset)
PUT_MEMBER(misc, pf_set_u32, misc)
PUT_MEMBER(size, pf_set_u64, stated_bytes)
PUT_MEMBER(compressed, pf_set_bool, compressed)
PUT_MEMBER(damaged, pf_set_bool, damaged)

PF_PUT(type)
{
    RECORDS;
    char number[16];
    const char *name = perfile_record_name(records->record->type);
    snprintf(number, sizeof(number), "%u", (unsigned)records->record->type);
    pf_set_text(vector, name ? name : number);
}

PF_PUT(event)
{
    RECORDS;
    const struct perfile_event *event = records->record->event;
    pf_set_text(vector, event ? event->name : NULL);
}

PF_PUT(event_index)
{
    RECORDS;
    const struct perfile_event *event = records->record->event;
    if (event)
        pf_set_u32(vector, event->index);
    else
        pf_set_null(vector);
}

PF_PUT(part)
{
    RECORDS;
    const struct perfile_file *file = perfile_reader_file(records->reading.table->reader);
    pf_set_text(vector, records->record->part ? file->parts[records->record->part - 1] : NULL);
}

PF_PUT_IF(container, RECORDS, records->record->container != PERFILE_NO_OFFSET, pf_set_u64, records->record->container)

PF_PUT(fields)
{
    struct records *records = state;
    struct perfile_reader *reader = records->reading.table->reader;
    struct pf_json json = {.text = &records->fields, .max_bytes = MAX_BYTES};
    const struct perfile_visitor visitor = pf_json_visitor(&json);
    records->fields.used = 0;
    pf_json_begin(&json, NULL, false);
    int result = perfile_record_visit(reader, records->record, &visitor, NULL);
    if (result >= 0 && records->tracepoint)
        result = pf_trace_visit(records->tracepoint, records->record, perfile_reader_file(reader)->swapped, &visitor);
    pf_json_end(&json, false);
    if (result < 0 || records->fields.failed)
        pf_memory_note_short(records->reading.table->allocator);
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, records->fields.data, records->fields.used));
}

static const struct pf_column columns[] = {
    PF_REQUIRED(offset, U64, "bytes", "Where the record stands; of a compressed one, in the decompressed stream."),
    PF_REQUIRED(type, TEXT, "", "What it is: SAMPLE, MMAP2 ...; the number of an unknown one."),
    PF_REQUIRED(misc, U32, "", "Bits whose meaning depends on the type."),
    PF_REQUIRED(size, BYTES, "bytes", "The size that its header states."),
    PF_EXTRA(part, TEXT, "", "Directories: the file that holds it; null: the first one."),
    PF_REQUIRED_EXTRA(compressed, BOOL, "", "It came out of a compressed record."),
    PF_EXTRA(container, U64, "bytes", "Where that compressed record stands."),
    PF_COLUMN(event, TEXT, "", "Name of the event it belongs to."),
    PF_EXTRA(event_index, U32, "", "Position of that event among the events."),
    PF_COLUMN(time, TIME, "ns", "When, on the recording's clock, as the record itself says."),
    PF_COLUMN(pid, I32, "", "Process that ran, as the record itself says."),
    PF_COLUMN(tid, I32, "", "Thread that ran, as the record itself says."),
    PF_COLUMN(cpu, I32, "", "Processor, as the record itself says."),
    PF_EXTRA(id, U64, "", "Id of the event instance."),
    PF_REQUIRED(damaged, BOOL, "", "Its content contradicts its event or its size."),
    {.name = "fields",
     .type = PERFILE_COLUMN_TEXT,
     .unit = "",
     .doc = "All that it holds, as a JSON object with the members that a dump has.",
     .put = put_fields,
     .extra = true,
     .fresh = true},
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What the recorder wrote itself says nothing that is asked for. */
static bool passes(struct records *records)
{
    if (!records->reading.filter.active || !records->record->event)
        return true;
    const struct pf_filter_subject subject =
        pf_reading_subject(&records->reading, &records->id, records->record->event);
    return pf_reading_passes(&records->reading, &subject);
}

static int next_record(void *state, struct perfile_error *error)
{
    struct records *records = state;
    int result;
    while ((result = pf_reading_next(&records->reading, &records->record, error)) > 0) {
        result = pf_trace_events_take(&records->events, records->record, &records->tracepoint, error);
        if (result < 0)
            return result;
        pf_reading_decode_id(&records->reading, records->record, &records->id);
        if (passes(records))
            return 1;
    }
    return result;
}

static int open_records(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct records *records = state;
    pf_trace_events_open(&records->events, table->reader, table->allocator);
    if (pf_text_open(&records->fields, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "records");
    return pf_reading_open(&records->reading, table, PF_BY_FILE, error);
}

static void close_records(void *state)
{
    struct records *records = state;
    pf_trace_events_close(&records->events);
    pf_text_close(&records->fields);
    pf_reading_close(&records->reading);
}

const struct pf_view pf_view_records = {
    .info = {"records", "every record in the order of the file: where, what, when and whose, and all that it holds"},
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_COMMS, /* names of threads are known in the order of time */
    .state_bytes = sizeof(struct records),
    .open = open_records,
    .next = next_record,
    .close = close_records,
    .losses = pf_reading_losses,
    .unmatched = pf_reading_unmatched,
};
