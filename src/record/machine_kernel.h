/* SPDX-License-Identifier: MIT */
/* Records of the kernel: its text, its modules, BPF programs, control groups. */
#ifndef PF_RECORD_MACHINE_KERNEL_H
#define PF_RECORD_MACHINE_KERNEL_H

#include "record/machine.h"

/* Where things are read, and where the records go. */
struct pf_kernel {
    const struct pf_machine_options *options;
    const struct pf_synthesis *synthesis;
    const struct perfile_allocator *allocator;
    int root;
};

void pf_kernel_note(const struct pf_kernel *kernel, const char *sentence);
int pf_kernel_synthesize(const struct pf_kernel *kernel, struct perfile_error *error);
int pf_bpf_synthesize(const struct pf_kernel *kernel, struct perfile_error *error);
int pf_cgroups_synthesize(const struct pf_kernel *kernel, struct perfile_error *error);

/* Calls `each` for every line of /proc/kallsyms until it says false. False: it cannot be read. */
struct pf_kernel_symbol {
    uint64_t address;
    const char *name; /* ends with a NUL; the name of a module follows in brackets, after a tab */
};
bool pf_kernel_symbols(int root, bool (*each)(void *context, const struct pf_kernel_symbol *symbol), void *context);

#endif
