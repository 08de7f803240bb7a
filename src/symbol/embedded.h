/* SPDX-License-Identifier: MIT */
/*
 * Symbols that a recording has itself: Android's simpleperf writes those that its samples hit, file by file, because
 * the machine that reads the recording has no Android system.
 */
#ifndef PF_SYMBOL_EMBEDDED_H
#define PF_SYMBOL_EMBEDDED_H

#include <perfile/perfile.h>

#include "base/map.h"
#include "symbol/table.h"

enum pf_embedded_type {
    PF_EMBEDDED_KERNEL = 0,
    PF_EMBEDDED_KERNEL_MODULE = 1,
    PF_EMBEDDED_ELF = 2,
    PF_EMBEDDED_DEX = 3,
    PF_EMBEDDED_SYMBOL_MAP = 4, /* perf-PID.map */
};

struct pf_embedded_file {
    const char *path; /* as maps have it */
    uint64_t type;    /* enum pf_embedded_type, or another one */
    uint64_t min_vaddr;
    uint64_t offset; /* of min_vaddr: in the file, of a kernel module in memory */
    bool has_offset; /* old recordings do not say it */
    struct pf_symbol_table *table;
    struct pf_embedded_file *next;
};

struct pf_embedded {
    struct pf_arena arena;
    struct pf_map by_path; /* hash to a struct pf_embedded_file */
    struct pf_embedded_file *first;
};

/* Reads the features FILE2 and FILE. PERFILE_ERROR_MEMORY, or 0, also when there are none, or damaged ones. */
int pf_embedded_open(struct pf_embedded *embedded, struct perfile_reader *reader,
                     const struct perfile_allocator *allocator, struct perfile_error *error);
void pf_embedded_close(struct pf_embedded *embedded);
/* NULL: the recording has no symbols of it. */
const struct pf_embedded_file *pf_embedded_find(const struct pf_embedded *embedded, const char *path);
/* The address in the terms of its table. */
uint64_t pf_embedded_address(const struct pf_embedded_file *file, const struct perfile_map *map, uint64_t ip);

#endif
