/* SPDX-License-Identifier: MIT */
#include "analysis/aux_data.h"

#include "base/error.h"
#include "hwtrace/records.h"

/* ---- the data of one record -------------------------------------------------------------------------------------- */

bool pf_aux_payload_is_in(const struct perfile_record *record)
{
    return !record->damaged && (record->type == PERFILE_RECORD_AUXTRACE || pf_aux_record_is_sample(record));
}

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct pf_aux_payload *payload = context;
    if (!payload->in_sample)
        return perfile_reader_payload(payload->reader, data, bytes, error);
    *data = payload->sample.data;
    *bytes = (size_t)payload->sample.bytes;
    payload->sample.bytes = 0;
    return *bytes > 0;
}

int pf_aux_payload_open(struct pf_aux_payload *payload, struct perfile_reader *reader,
                        const struct perfile_record *record, const struct perfile_allocator *allocator,
                        struct perfile_error *error)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const bool in_sample = record->type == PERFILE_RECORD_SAMPLE;
    if (in_sample && perfile_sample_decode(record, &sample, NULL) < 0)
        sample.aux.bytes = 0;
    *payload = (struct pf_aux_payload){.reader = reader, .in_sample = in_sample, .sample = sample.aux};
    payload->walk = (struct pf_aux_walk){.format = pf_aux_format_find(perfile_reader_counts(reader)->aux_type),
                                         .machine = pf_aux_machine_in(reader),
                                         .more = next_piece,
                                         .context = payload};
    payload->is_open = payload->walk.format;
    return !payload->is_open || pf_aux_walk_open(&payload->walk, allocator) ? 0 : pf_fail_memory(error, "trace");
}

void pf_aux_payload_close(struct pf_aux_payload *payload)
{
    if (payload->is_open)
        pf_aux_walk_close(&payload->walk);
    payload->is_open = false;
}

int pf_aux_payload_next(struct pf_aux_payload *payload, struct pf_aux_packet *packet, struct perfile_error *error)
{
    const int result = payload->is_open ? pf_aux_walk_next(&payload->walk, packet, error) : 0;
    return result == PERFILE_ERROR_TRUNCATED ? 0 : result;
}

/* ---- all records ------------------------------------------------------------------------------------------------- */

void pf_aux_collector_open(struct pf_aux_collector *collector, struct perfile_reader *reader,
                           const struct perfile_allocator *allocator)
{
    collector->reader = reader;
    pf_aux_queues_open(&collector->queues, allocator);
}

void pf_aux_collector_close(struct pf_aux_collector *collector)
{
    pf_aux_queues_close(&collector->queues);
}

static int sum_packets(struct pf_aux_collector *collector, const struct perfile_record *record,
                       struct pf_aux_queue *queue, struct perfile_error *error)
{
    struct pf_aux_payload payload;
    struct pf_aux_packet packet;
    int result = pf_aux_payload_open(&payload, collector->reader, record, collector->queues.allocator, error);
    payload.walk.machine.unformatted = collector->queues.unformatted;
    while (result == 0 && (result = pf_aux_payload_next(&payload, &packet, error)) > 0) {
        pf_aux_sums_add(queue, payload.walk.format, &packet);
        result = 0;
    }
    pf_aux_payload_close(&payload);
    return result;
}

int pf_aux_collector_take(struct pf_aux_collector *collector, const struct perfile_record *record,
                          struct perfile_error *error)
{
    union pf_aux_body body;
    struct pf_aux_record from;
    struct pf_aux_queue *queue = NULL;
    bool kept = true;
    if (record->damaged)
        return 0;
    if (pf_aux_record_is_sample(record))
        kept = pf_aux_queues_take_sample(&collector->queues, record, &queue);
    else if (pf_aux_record_decode(collector->reader, record, &body, &from))
        kept = pf_aux_queues_take(&collector->queues, &from, &queue);
    if (!kept)
        return pf_fail_memory(error, "trace");
    return queue ? sum_packets(collector, record, queue, error) : 0;
}
