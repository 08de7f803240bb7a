/* SPDX-License-Identifier: MIT */
/* The packets of hardware traces, in the order of the file. */
#include "analysis/aux_data.h"
#include "base/error.h"
#include "hwtrace/records.h"
#include "view/reading.h"

struct packets {
    struct pf_reading reading; /* first */
    struct pf_aux_payload payload;
    struct pf_aux_packet packet;    /* in hand */
    uint64_t record_offset;         /* of the record that has it */
    struct perfile_auxtrace stated; /* and what that says */
    struct pf_aux_queues queues;    /* what AUX records say of the trace */
    struct pf_text text;
    bool found;
};

#define PACKETS const struct packets *packets = state
#define PACKET const struct pf_aux_packet *packet = &((const struct packets *)state)->packet

PF_PUT_AS(record, PACKETS, pf_set_u64, packets->record_offset)
PF_PUT_AS(queue, PACKETS, pf_set_u32, packets->stated.idx)
PF_PUT_IF(cpu, PACKETS, packets->stated.cpu >= 0, pf_set_i32, packets->stated.cpu)
PF_PUT_IF(tid, PACKETS, packets->stated.tid >= 0, pf_set_i32, packets->stated.tid)
PF_PUT_AS(offset, PACKET, pf_set_u64, packet->offset)
PF_PUT_AS(bytes, PACKET, pf_set_u64, packet->bytes)

PF_PUT(kind)
{
    PACKETS;
    pf_set_lasting(vector, packets->payload.walk.format->kinds[packets->packet.kind].name);
}

PF_PUT(text)
{
    struct packets *packets = state;
    packets->text.used = 0;
    pf_aux_put(&packets->text, packets->payload.walk.format, &packets->packet);
    pf_set_text_bytes(vector, packets->text.data, packets->text.used);
}

static const struct pf_column columns[] = {
    PF_REQUIRED(record, U64, "bytes", "Where the record stands that has it."),
    PF_REQUIRED(queue, U32, "", "Number of the AUX area; of AUX data in samples, the processor."),
    PF_COLUMN(cpu, I32, "", "Processor that was traced; null: one thread was, on all of them."),
    PF_COLUMN(tid, I32, "", "Thread that was traced; null: all on this processor."),
    PF_REQUIRED(offset, U64, "bytes", "Where it begins in the data of the record."),
    PF_REQUIRED(bytes, BYTES, "bytes", "How large it is."),
    PF_REQUIRED(kind, TEXT, "", "What it is, such as TIP of Intel PT."),
    {.name = "text",
     .type = PERFILE_COLUMN_TEXT,
     .unit = "",
     .doc = "The packet as perf report -D prints it.",
     .put = put_text,
     .required = true,
     .fresh = true},
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* What an AUXTRACE record would say of the AUX data of a sample. */
static struct perfile_auxtrace stated_by_sample(const struct perfile_record *record)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    if (perfile_sample_decode(record, &sample, NULL) < 0)
        sample.present = 0;
    return (struct perfile_auxtrace){.idx = sample.cpu,
                                     .cpu = sample.present & PERFILE_SAMPLE_CPU ? (int32_t)sample.cpu : -1,
                                     .tid = sample.present & PERFILE_SAMPLE_TID ? sample.tid : -1};
}

static int begin_record(struct packets *packets, const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_reader *reader = packets->reading.table->reader;
    packets->record_offset = record->offset;
    if (record->type == PERFILE_RECORD_SAMPLE)
        packets->stated = stated_by_sample(record);
    else if (perfile_record_decode(reader, record, &packets->stated, sizeof(packets->stated), NULL) < 0)
        return 0;
    const int result = pf_aux_payload_open(&packets->payload, reader, record, packets->reading.table->allocator, error);
    packets->payload.walk.machine.unformatted = packets->queues.unformatted;
    return result;
}

/* AUX records say whether CoreSight's bytes are in frames. */
static int note_aux(struct packets *packets, const struct perfile_record *record, struct perfile_error *error)
{
    union pf_aux_body body;
    struct pf_aux_record from;
    if (record->type != PERFILE_RECORD_AUX ||
        !pf_aux_record_decode(packets->reading.table->reader, record, &body, &from))
        return 1;
    return pf_aux_queues_take(&packets->queues, &from, NULL) ? 1 : pf_fail_memory(error, "packets");
}

static int next_packet(void *state, struct perfile_error *error)
{
    struct packets *packets = state;
    const struct perfile_record *record;
    int result;
    while ((result = pf_aux_payload_next(&packets->payload, &packets->packet, error)) == 0) {
        pf_aux_payload_close(&packets->payload);
        result = pf_reading_next(&packets->reading, &record, error);
        if (result > 0)
            result = note_aux(packets, record, error);
        if (result > 0 && pf_aux_payload_is_in(record))
            result = begin_record(packets, record, error) < 0 ? PERFILE_ERROR_MEMORY : 1;
        if (result <= 0)
            return result;
    }
    packets->found |= result > 0;
    return result;
}

static int open_packets(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct packets *packets = state;
    pf_aux_queues_open(&packets->queues, table->allocator);
    if (pf_text_open(&packets->text, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "packets");
    return pf_reading_open(&packets->reading, table, PF_BY_FILE, error);
}

static void close_packets(void *state)
{
    struct packets *packets = state;
    pf_aux_payload_close(&packets->payload);
    pf_aux_queues_close(&packets->queues);
    pf_text_close(&packets->text);
    pf_reading_close(&packets->reading);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    const struct packets *packets = state;
    if (!packets->found)
        notify(context, "The recording has no hardware trace whose packets are known.");
}

const struct pf_view pf_view_aux_packets = {
    .info = {"aux_packets", "hardware traces packet by packet, in the words of perf report -D"},
    .lists = {PF_COLUMNS(columns)},
    .reads_aux = true,
    .not_filtered = ~0u,
    .state_bytes = sizeof(struct packets),
    .open = open_packets,
    .next = next_packet,
    .close = close_packets,
    .notes = notes,
};
