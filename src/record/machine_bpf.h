/* SPDX-License-Identifier: MIT */
/* The BPF programs that are loaded. Only root sees them: for others there are none. */
#ifndef PF_RECORD_MACHINE_BPF_H
#define PF_RECORD_MACHINE_BPF_H

#include <linux/bpf.h>

#include "base/memory.h"

/* A program with its arrays, one after the other in `data`; members of `info` are offsets into it. */
struct pf_bpf_program {
    struct bpf_prog_info info;
    uint32_t info_bytes; /* what the kernel filled in */
    uint64_t arrays;     /* bit i: array i of the table of perf's header is there */
    uint8_t *data;
    uint32_t data_bytes;
};

/* The id that follows; 0: there is none, or asking is not permitted. */
uint32_t pf_bpf_next_program(uint32_t id);
/* False: it is gone, too large, or out of memory. */
bool pf_bpf_program_read(const struct perfile_allocator *allocator, uint32_t id, struct pf_bpf_program *program);
void pf_bpf_program_free(const struct perfile_allocator *allocator, struct pf_bpf_program *program);
/* The BTF of an id; NULL as above. */
uint8_t *pf_bpf_types_read(const struct perfile_allocator *allocator, uint32_t id, uint32_t *bytes);

/* An array of the program: its start, and whether it has `count` elements of `stride` bytes. */
const uint8_t *pf_bpf_array(const struct pf_bpf_program *program, unsigned array, uint64_t count, uint32_t stride);

enum { PF_BPF_KSYMS = 3, PF_BPF_LENGTHS = 4, PF_BPF_FUNCTIONS = 5, PF_BPF_TAGS = 8 };

#endif
