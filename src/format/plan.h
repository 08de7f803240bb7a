/* SPDX-License-Identifier: MIT */
/* What attr.sample_type means for the bytes of a record: worked out once per event. */
#ifndef PF_FORMAT_PLAN_H
#define PF_FORMAT_PLAN_H

#include "base/cursor.h"

enum { PF_PLAN_WORDS = 16 };

struct pf_plan {
    uint64_t sample_type;
    uint64_t parts; /* bits of sample_type whose offset is not fixed */
    uint64_t read_format;
    uint64_t regs_user;
    uint64_t regs_intr;
    uint64_t period; /* of samples that do not say */
    bool swap;
    bool big_endian;
    bool known; /* no bit of sample_type is unknown: samples can be decoded */
    bool sample_id_all;
    bool hw_idx; /* branch stacks begin with an index */
    bool branch_counters;
    uint16_t fixed_bytes; /* of a SAMPLE, with its header, until the first part */
    uint16_t trailer_bytes;
    /* offsets from the start of a SAMPLE, and back from the end of other records; 0 = absent */
    uint16_t id_at;
    uint16_t time_at;
    uint16_t tid_at; /* of the process; the thread follows */
    uint16_t cpu_at;
    uint16_t period_at;
    uint16_t id_back;
    uint16_t time_back;
    uint16_t cpu_back;
    uint16_t word_count;           /* of the fixed part, each of 8 bytes */
    uint16_t words[PF_PLAN_WORDS]; /* where they go in struct perfile_sample */
};

/* An event with all that the library keeps of it. */
struct pf_event {
    struct perfile_event public; /* first: the public pointer is this one */
    struct perfile_attr attr;
    struct pf_plan plan;
    size_t ids_capacity;
    /* of the events with its type and config: the first, and from that one on one for each layout of samples */
    struct pf_event *first_of_kind;
    struct pf_event *next_layout;
    bool misfit_reported; /* that its id is on samples of other layouts */
};

void pf_plan_make(struct pf_plan *plan, const struct perfile_attr *attr, bool swap, bool big_endian);

/* The processor that a record of the kernel names; false when it does not. */
bool pf_plan_cpu(const struct pf_plan *plan, const struct perfile_record *record, uint32_t *cpu);

/* Both make the same of the same bytes of a record. */
bool pf_plan_equal(const struct pf_plan *a, const struct pf_plan *b);

/* For tracepoints, which have only RAW after their fixed part. False: it does not fit. */
static inline bool pf_plan_raw_fits(const struct pf_plan *plan, const uint8_t *data, uint32_t bytes,
                                    uint32_t *raw_bytes)
{
    const uint32_t left = bytes - plan->fixed_bytes;
    if (PF_UNLIKELY(left < 4))
        return false;
    *raw_bytes = pf_load32(data + plan->fixed_bytes, plan->swap);
    return *raw_bytes <= left - 4;
}

/* The same as pf_plan_measure, where the fixed part fits and others follow it. */
uint32_t pf_plan_measure_parts(const struct pf_plan *plan, const uint8_t *data, uint32_t bytes);
/*
 * The size that the content of a SAMPLE asks for; 0 when it does not fit into `bytes`. Equal to `bytes` in a valid one.
 */
static inline uint32_t pf_plan_measure(const struct pf_plan *plan, const uint8_t *data, uint32_t bytes)
{
    uint32_t raw;
    if (PF_UNLIKELY(bytes < plan->fixed_bytes))
        return 0;
    if (!plan->parts)
        return plan->fixed_bytes;
    if (plan->parts == PERFILE_SAMPLE_RAW)
        return pf_plan_raw_fits(plan, data, bytes, &raw) ? plan->fixed_bytes + 4 + raw : 0;
    return pf_plan_measure_parts(plan, data, bytes);
}

/* Decodes a SAMPLE. Bytes after what its content asks for are ignored: pf_plan_tail returns them. */
int pf_plan_decode(const struct pf_plan *plan, const struct perfile_record *record, struct perfile_sample *sample,
                   struct perfile_error *error);

/* The bytes of a SAMPLE after its known parts. */
struct perfile_bytes pf_plan_tail(const struct pf_plan *plan, const struct perfile_record *record);

/* Values packed as read_format says. False when they do not fit. */
bool pf_read_take(struct pf_cursor *c, uint64_t format, struct perfile_read *read);

#endif
