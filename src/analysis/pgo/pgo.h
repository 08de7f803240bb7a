/* SPDX-License-Identifier: MIT */
/*
 * Taken branches, the code between them, and sampled addresses, added up by binary (<perfile/pgo.h>): what the formats
 * of src/output/pgo are written from.
 */
#ifndef PF_ANALYSIS_PGO_PGO_H
#define PF_ANALYSIS_PGO_PGO_H

#include <perfile/pgo.h>

#include "analysis/pgo/code.h"
#include "base/memory.h"

/* A PT_LOAD of the binary. */
struct pf_pgo_segment {
    uint64_t offset; /* in the file */
    uint64_t bytes;  /* in the file */
    uint64_t address;
    bool executable;
};

/* Of a trace alone: it is not known from where the branch came, which therefore is not among the branches. */
#define PF_PGO_UNKNOWN (UINT64_MAX - 1)

/* Addresses are p_vaddr's; PERFILE_PGO_OUTSIDE is outside of all executable segments. */
struct pf_pgo_trace {
    uint64_t from, to;
    uint64_t end; /* the next branch that was taken after `to`; PERFILE_PGO_OUTSIDE: not known, or dropped */
    uint64_t count, mispredicted;
    uint8_t type; /* enum perfile_branch_type */
};
struct pf_pgo_branch {
    uint64_t from, to;
    uint64_t count, mispredicted;
    uint8_t type;
};
struct pf_pgo_address {
    uint64_t address;
    uint64_t count;
};

/* What is known of one binary. All arrays ascend by address (and then by the next member), without duplicates. */
struct pf_pgo_profile {
    const char *name;       /* as the recordings have it */
    const char *path;       /* of the ELF file; never NULL for formats */
    const char *debug_path; /* of the file with its debug info, where that is another one; NULL: the file itself */
    uint8_t build_id[20];   /* of the file */
    uint8_t build_id_bytes;
    const struct pf_pgo_segment *segments;
    size_t segment_count;
    const struct pf_pgo_trace *traces; /* branches and ranges are made of them */
    size_t trace_count;
    const struct pf_pgo_branch *branches; /* an end may be outside, not both */
    size_t branch_count;
    const struct pf_pgo_range *ranges;
    size_t range_count;
    const struct pf_pgo_address *addresses; /* of the event `event` alone where samples have no branches */
    size_t address_count;
    bool has_branches; /* of the recordings: false if no sample has a branch stack, and addresses are all there is */
    const char *event; /* of the addresses, for formats that name it; never NULL */
    const struct pf_pgo_contexts *contexts; /* branches and ranges by their callers; NULL: not counted */
    struct perfile_pgo_counts counts;
};

/* Returns NULL after the last binary. */
const struct pf_pgo_profile *pf_pgo_profile_at(const struct perfile_pgo *pgo, size_t index);
/* A branch of any binary was counted. */
bool pf_pgo_any_branches(const struct perfile_pgo *pgo);
/* Samples that the filter did not let pass. */
uint64_t pf_pgo_left_out(const struct perfile_pgo *pgo);
const struct perfile_allocator *pf_pgo_allocator(const struct perfile_pgo *pgo);
/* One sentence for the user, without a line end; printf's. */
void pf_pgo_note(const struct perfile_pgo *pgo, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
