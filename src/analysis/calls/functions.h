/* SPDX-License-Identifier: MIT */
/* The functions that code addresses are in, looked up once for each address that branches go to often. */
#ifndef PF_ANALYSIS_CALLS_FUNCTIONS_H
#define PF_ANALYSIS_CALLS_FUNCTIONS_H

#include "analysis/calls/stacks.h"
#include "analysis/trace_code.h"

struct pf_call_functions {
    const struct perfile_allocator *allocator;
    const struct pf_trace_code *code;
    struct pf_call_known *known; /* by a hash of the address */
};

/* False when out of memory. Zeros may be closed, too. */
bool pf_call_functions_open(struct pf_call_functions *functions, const struct perfile_allocator *allocator,
                            const struct pf_trace_code *code);
void pf_call_functions_close(struct pf_call_functions *functions);
/* As struct pf_call_stacks has it. */
struct pf_call_function pf_call_functions_find(void *functions, int32_t pid, uint64_t address);

#endif
