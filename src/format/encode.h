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
     * PF_ENCODE_ALL, or how many bytes the body has where the record comes from: fields that it lacks there are left
     * out, and what it has behind the known fields is taken over from `body`.
     */
    uint32_t body_bytes;
    const uint8_t *body;
    bool big_endian; /* byte order of the output */
};

/* A record other than SAMPLE, header and trailer included. False: it does not fit, or has no struct. */
bool pf_encode_record(const struct pf_encoding *encoding, const void *record, struct pf_out *out);
/* A SAMPLE with the parts that the plan has; what the sample lacks of them is 0 or empty. False: it does not fit. */
bool pf_encode_sample(const struct pf_plan *plan, uint16_t misc, const struct perfile_sample *sample,
                      struct pf_out *out);
/* The same of a sample that was decoded: bytes that `record` has behind the known parts are taken over. */
bool pf_encode_sample_of(const struct pf_plan *plan, const struct perfile_record *record,
                         const struct perfile_sample *sample, struct pf_out *out);
/* The first `bytes` bytes of an attr. */
void pf_encode_attr(const struct perfile_attr *attr, uint32_t bytes, bool big_endian, struct pf_out *out);

#endif
