/* SPDX-License-Identifier: MIT */
/* Records from the structs of records.h back to bytes: the mirror of layout.h and plan.h, over the same schema. */
#ifndef PF_FORMAT_ENCODE_H
#define PF_FORMAT_ENCODE_H

#include "base/out.h"
#include "format/plan.h"

/* A record without a limit of its own: all of the fields that later versions brought are written. */
#define PF_ENCODE_ALL UINT32_MAX

struct pf_encoding {
    uint32_t type;
    uint16_t misc;
    const struct pf_plan *plan;         /* of the event it belongs to in the output, or NULL */
    const struct perfile_sample_id *id; /* what the trailer says; NULL: zeros */
    /*
     * PF_ENCODE_ALL, or how many bytes the body has in the recording that is read: fields that it does not have there
     * are left out, and bytes after the known fields are copied from `body`.
     */
    uint32_t body_bytes;
    const uint8_t *body;
    bool big_endian; /* byte order of the output */
};

/* A record other than SAMPLE, header and trailer included. False: it does not fit, or has no struct. */
bool pf_encode_record(const struct pf_encoding *encoding, const void *record, struct pf_out *out);
/*
 * Encodes a SAMPLE with the parts of the plan: 0 or empty where the sample does not have them. False: it does not fit.
 */
bool pf_encode_sample(const struct pf_plan *plan, uint16_t misc, const struct perfile_sample *sample,
                      struct pf_out *out);
/* The same for a decoded sample: bytes that `record` has after the known parts are copied. */
bool pf_encode_sample_of(const struct pf_plan *plan, const struct perfile_record *record,
                         const struct perfile_sample *sample, struct pf_out *out);
/* The first `bytes` bytes of an attr. */
void pf_encode_attr(const struct perfile_attr *attr, uint32_t bytes, bool big_endian, struct pf_out *out);

#endif
