/* SPDX-License-Identifier: MIT */
#include "hwtrace/records.h"

bool pf_aux_record_decode(const struct perfile_reader *reader, const struct perfile_record *record,
                          union pf_aux_body *body, struct pf_aux_record *decoded)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    *decoded = (struct pf_aux_record){.record = record, .body = body, .tid = -1, .cpu = -1};
    if (record->damaged || !pf_aux_queues_use(record->type) ||
        perfile_record_decode(reader, record, body, sizeof(*body), NULL) < 0)
        return false;
    if (record->type == PERFILE_RECORD_AUX && perfile_sample_id_decode(reader, record, &id, NULL) == 0) {
        decoded->tid = id.present & PERFILE_SAMPLE_TID ? id.tid : -1;
        decoded->cpu = id.present & PERFILE_SAMPLE_CPU ? (int32_t)id.cpu : -1;
    }
    return true;
}

bool pf_aux_record_is_sample(const struct perfile_record *record)
{
    return record->type == PERFILE_RECORD_SAMPLE && record->event &&
           record->event->attr->sample_type & PERFILE_SAMPLE_AUX;
}

bool pf_aux_queues_take_sample(struct pf_aux_queues *queues, const struct perfile_record *record,
                               struct pf_aux_queue **queue)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    *queue = NULL;
    return perfile_sample_decode(record, &sample, NULL) < 0 || !sample.aux.bytes ||
           pf_aux_queues_take_data(queues, record, &sample, queue);
}

bool pf_aux_take_source(struct pf_map *source_cpus, const struct perfile_reader *reader,
                        const struct perfile_record *record)
{
    enum { SOURCE_BITS = 0x7f };
    struct perfile_aux_output_hw_id hw_id;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    if (record->damaged || perfile_record_decode(reader, record, &hw_id, sizeof(hw_id), NULL) < 0 ||
        perfile_sample_id_decode(reader, record, &id, NULL) < 0 || !(id.present & PERFILE_SAMPLE_CPU))
        return true;
    return pf_map_put(source_cpus, hw_id.hw_id & SOURCE_BITS, id.cpu);
}

const char *pf_aux_cpuid(struct perfile_reader *reader)
{
    const char *text;
    return perfile_feature_text(reader, PERFILE_FEATURE_CPUID, NULL, &text, NULL) >= 0 ? text : NULL;
}

struct pf_aux_machine pf_aux_machine_in(struct perfile_reader *reader)
{
    return pf_aux_machine_of(perfile_reader_file(reader)->big_endian, pf_aux_cpuid(reader));
}

int pf_aux_read_buffer(void *reader, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                       struct perfile_error *error)
{
    return perfile_reader_read_at(reader, buffer->part, buffer->position + at, to, *bytes, bytes, error);
}
