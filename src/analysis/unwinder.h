/* SPDX-License-Identifier: MIT */
/* Unwinders that are opened by other files of this folder. */
#ifndef PF_ANALYSIS_UNWINDER_H
#define PF_ANALYSIS_UNWINDER_H

#include <perfile/analysis.h>

/* As perfile_unwinder_open. `live`: the processes run on this machine now, see pf_find_options. */
int pf_unwinder_open(struct perfile_reader *reader, const struct perfile_symbol_options *options, bool live,
                     struct perfile_unwinder **unwinder, struct perfile_error *error);

/* How many of the stacks needed at most 1 << i bytes of their dump, and more than half of that; last: those cut. */
enum { PF_STACK_SIZES = 18 };
struct pf_stack_sizes {
    uint64_t counts[PF_STACK_SIZES];
};
/* The modules in which unwinding ended for one reason; those that came first. */
struct pf_lost_modules {
    struct pf_lost_module {
        char name[64];
        uint64_t count;
    } items[32];
    size_t count;
};
void pf_lost_modules_add(struct pf_lost_modules *modules, const char *name, uint64_t count);
/* PERFILE_UNWIND_REASONS of them. */
const struct pf_lost_modules *pf_unwinder_lost(const struct perfile_unwinder *unwinder);

const struct pf_stack_sizes *pf_unwinder_sizes(const struct perfile_unwinder *unwinder);

#endif
