/* SPDX-License-Identifier: MIT */
#include "format/transcode.h"

#include "base/error.h"
#include "format/layout.h"
#include "schema/schema.h"

static int fail_capacity(const struct perfile_record *record, struct perfile_error *error)
{
    const char *name = perfile_record_name(record->type);
    return pf_fail(error, PERFILE_ERROR_LIMIT, record->offset, name ? name : "record",
                   "it no longer fits in a record of 65,535 bytes");
}

static int transcode_sample(const struct perfile_record *record, const struct pf_transcoding *how, struct pf_out *out,
                            struct perfile_error *error)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    int result = perfile_sample_decode(record, &sample, error);
    if (result < 0)
        return result;
    if (!how->plan)
        return pf_fail(error, PERFILE_ERROR_EVENT, record->offset, "SAMPLE record", "its event is not in the output");
    return pf_encode_sample_of(how->plan, record, &sample, out) ? 0 : fail_capacity(record, error);
}

/* Converts the header and copies the body: its layout is unknown. */
static int take_over(const struct perfile_record *record, struct pf_out *out, struct perfile_error *error)
{
    pf_out_u32(out, record->type);
    pf_out_u16(out, record->misc);
    pf_out_u16(out, (uint16_t)record->bytes);
    pf_out_put(out, record->data + 8, record->bytes - 8);
    return out->failed ? fail_capacity(record, error) : 0;
}

int pf_transcode(struct perfile_reader *reader, const struct perfile_record *record, const struct pf_transcoding *how,
                 struct pf_out *out, struct perfile_error *error)
{
    if (record->damaged)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, record->offset, "record", "damaged");
    if (record->type == PERFILE_RECORD_SAMPLE)
        return transcode_sample(record, how, out, error);
    const struct pf_record_info *info = pf_record_info(record->type);
    if (!info)
        return take_over(record, out, error);
    const struct pf_layout layout = pf_layout_of(reader, record);
    const uint32_t trailer = pf_layout_trailer_bytes(record, &layout);
    struct perfile_sample_id id;
    union pf_any_record any;
    int result = info->bare ? 0 : pf_layout_decode(record, &layout, &any, error);
    if (result == 0 && trailer)
        result = pf_layout_trailer(record, &id, error);
    if (result < 0)
        return result;
    const struct pf_encoding encoding = {.type = record->type,
                                         .misc = record->misc,
                                         .plan = trailer ? how->plan : NULL,
                                         .id = &id,
                                         .body = record->data + 8,
                                         .body_bytes = record->bytes - 8 - trailer,
                                         .big_endian = how->big_endian};
    return pf_encode_record(&encoding, &any, out) ? 0 : fail_capacity(record, error);
}
