/* SPDX-License-Identifier: MIT */
#include "analysis/aux_data.h"

#include "base/error.h"

/* ---- the data of one record -------------------------------------------------------------------------------------- */

static bool is_sample_with_aux(const struct perfile_record *record)
{
    return record->type == PERFILE_RECORD_SAMPLE && record->event &&
           record->event->attr->sample_type & PERFILE_SAMPLE_AUX;
}

bool pf_aux_payload_is_in(const struct perfile_record *record)
{
    return !record->damaged && (record->type == PERFILE_RECORD_AUXTRACE || is_sample_with_aux(record));
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

static struct pf_aux_machine machine_of(struct perfile_reader *reader)
{
    const char *cpuid;
    const bool known = perfile_feature_text(reader, PERFILE_FEATURE_CPUID, NULL, &cpuid, NULL) >= 0;
    return pf_aux_machine_of(perfile_reader_file(reader)->big_endian, known ? cpuid : NULL);
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
                                         .machine = machine_of(reader),
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

static int take_sample(struct pf_aux_collector *collector, const struct perfile_record *record,
                       struct perfile_error *error)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct pf_aux_queue *queue;
    if (perfile_sample_decode(record, &sample, NULL) < 0 || !sample.aux.bytes)
        return 0;
    return pf_aux_queues_take_sample(&collector->queues, record, &sample, &queue)
               ? sum_packets(collector, record, queue, error)
               : pf_fail_memory(error, "trace");
}

/* The processor and the thread of an AUX record. */
static struct pf_aux_record record_of(const struct pf_aux_collector *collector, const struct perfile_record *record,
                                      const void *body)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    struct pf_aux_record from = {.record = record, .body = body, .tid = -1, .cpu = -1};
    if (record->type != PERFILE_RECORD_AUX || perfile_sample_id_decode(collector->reader, record, &id, NULL) < 0)
        return from;
    from.tid = id.present & PERFILE_SAMPLE_TID ? id.tid : -1;
    from.cpu = id.present & PERFILE_SAMPLE_CPU ? (int32_t)id.cpu : -1;
    return from;
}

int pf_aux_collector_take(struct pf_aux_collector *collector, const struct perfile_record *record,
                          struct perfile_error *error)
{
    union pf_aux_body body;
    struct pf_aux_queue *queue;
    if (record->damaged)
        return 0;
    if (is_sample_with_aux(record))
        return take_sample(collector, record, error);
    if (!pf_aux_queues_use(record->type) ||
        perfile_record_decode(collector->reader, record, &body, sizeof(body), NULL) < 0)
        return 0;
    const struct pf_aux_record from = record_of(collector, record, &body);
    if (!pf_aux_queues_take(&collector->queues, &from, &queue))
        return pf_fail_memory(error, "trace");
    return queue ? sum_packets(collector, record, queue, error) : 0;
}
