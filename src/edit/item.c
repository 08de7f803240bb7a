/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "edit/edit.h"
#include "schema/schema.h"

void pf_item_set(struct pf_item *item, struct perfile_reader *reader, const struct perfile_record *record)
{
    item->reader = reader;
    item->record = record;
    item->decoded = item->changed = item->has_id = false;
}

int pf_item_decode(struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    if (item->decoded)
        return 0;
    int result;
    if (record->type == PERFILE_RECORD_SAMPLE) {
        item->sample.size = sizeof(item->sample);
        result = perfile_sample_decode(record, &item->sample, error);
    } else {
        const struct pf_layout layout = pf_layout_of(item->reader, record);
        const struct pf_record_info *info = pf_record_info(record->type);
        result = info && info->bare ? 0 : pf_layout_decode(record, &layout, &item->body, error);
        item->trailer_bytes = pf_layout_trailer_bytes(record, &layout);
        item->has_id = item->trailer_bytes > 0;
        if (result == 0 && item->has_id)
            result = pf_layout_trailer(record, &item->id, error);
    }
    item->decoded = result == 0;
    return result;
}

int pf_item_encode(const struct pf_item *item, const struct pf_plan *plan, bool big_endian, struct pf_out *out,
                   struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    bool fits;
    if (record->type == PERFILE_RECORD_SAMPLE) {
        if (!plan)
            return pf_fail(error, PERFILE_ERROR_EVENT, record->offset, "SAMPLE record", "its event is not known");
        fits = pf_encode_sample_of(plan, record, &item->sample, out);
    } else {
        const struct pf_encoding encoding = {.type = record->type,
                                             .misc = record->misc,
                                             .plan = item->has_id ? plan : NULL,
                                             .id = &item->id,
                                             .body = record->data + 8,
                                             .body_bytes = item->changed ? PF_ENCODE_ALL
                                                                         : record->bytes - 8 - item->trailer_bytes,
                                             .big_endian = big_endian};
        fits = pf_encode_record(&encoding, &item->body, out);
    }
    const char *name = perfile_record_name(record->type);
    return fits ? 0
                : pf_fail(error, PERFILE_ERROR_LIMIT, record->offset, name ? name : "record",
                          "it no longer fits in a record of 65,535 bytes");
}

int pf_item_put(const struct pf_item *item, struct perfile_writer *writer, struct perfile_error *error)
{
    const struct perfile_event *event = item->record->event;
    const struct pf_plan *plan =
        event && event->index < writer->event_count ? &writer->events[event->index].plan : NULL;
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    int result = pf_item_encode(item, plan, writer->big_endian, &o, error);
    if (result < 0)
        return result;
    result = pf_writer_put(writer, writer->record, pf_out_bytes_used(&o), error);
    if (result == 0 && writer->payload_left)
        result = pf_writer_copy_payload(writer, item->reader, error);
    return pf_writer_concerns_record(result) ? result : pf_writer_keep(writer, result, error);
}
