/* SPDX-License-Identifier: MIT */
/*
 * Branches, and the code between them, by the calls that led there. A branch stack shows which calls and returns came
 * before a sample, so from the callchain of the sample the callers of each of its branches are known, too: the stack is
 * walked from the newest branch to the oldest one, and each of them is undone.
 */
#ifndef PF_ANALYSIS_PGO_CONTEXTS_H
#define PF_ANALYSIS_PGO_CONTEXTS_H

#include "analysis/pgo/code.h"
#include "analysis/pgo/tally.h"
#include "base/pairs.h"

/* A call, and the calls that led to it. Number 0 stands for unknown callers, and for a function without any. */
struct pf_pgo_context {
    uint64_t address; /* of the call; PERFILE_PGO_OUTSIDE: in other code; 0: not known, and left out */
    uint32_t caller;  /* the number of its context */
    uint32_t inner;   /* the number of this context without what is around other code, as compilers see it */
};

/* An entry of a branch stack. Both ends are instructions of the binary, or PERFILE_PGO_OUTSIDE; not both are that. */
struct pf_pgo_step {
    uint64_t from, to;
};

struct pf_pgo_contexts {
    const struct perfile_allocator *allocator;
    struct pf_pgo_code *code; /* NULL: contexts are not counted */
    struct pf_pgo_context *items;
    size_t count, capacity, max;
    struct pf_pairs number_of; /* caller, address -> number */
    struct pf_tally ranges;    /* context, begin, end; ends are inclusive */
    struct pf_tally branches;  /* context, from, to */
    struct perfile_pgo_counts counts;
    uint64_t *frames; /* of a sample: the address where it is, and those of the calls that led there */
    size_t frame_count, frame_capacity;
    struct pf_pgo_step *steps; /* of a sample, the newest first */
    size_t step_count, step_capacity;
};

/* Reads the code of the ELF file. There may be `max` contexts, and as many rows. Errors: as pf_pgo_code_open. */
int pf_pgo_contexts_open(struct pf_pgo_contexts *contexts, const char *path, size_t max,
                         const struct perfile_allocator *allocator, struct perfile_error *error);
/* Zeros may be closed, too. */
void pf_pgo_contexts_close(struct pf_pgo_contexts *contexts);
/* Counts what contexts->frames and steps have. False: out of memory, or there are too many. */
bool pf_pgo_contexts_count(struct pf_pgo_contexts *contexts);
/* The address of the call that returns to an address; 0: the instruction before it is not a call. */
uint64_t pf_pgo_call_before(const struct pf_pgo_code *code, uint64_t address);

#endif
