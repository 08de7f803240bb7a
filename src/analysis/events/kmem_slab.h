/* SPDX-License-Identifier: MIT */
/*
 * Allocations of the kernel's slab allocator by caller and by address: kmem:kmalloc, kmem_cache_alloc (and the older
 * ..._node), kfree and kmem_cache_free.
 */
#ifndef PF_ANALYSIS_EVENTS_KMEM_SLAB_H
#define PF_ANALYSIS_EVENTS_KMEM_SLAB_H

#include "analysis/events/fields.h"
#include "analysis/events/sort_keys.h"
#include "analysis/events/source.h"
#include "analysis/profile.h"

extern const struct pf_required_events pf_slab_events;

struct pf_slab_row {
    uint64_t key;       /* the caller, or the address that was given out */
    uint64_t address;   /* that; of callers 0 */
    uint64_t call_site; /* of the last allocation */
    const char *name;   /* of the caller: FUNCTION+OFFSET; NULL: not known */
    uint64_t hits, requested, allocated, frees, freed, ping_pong;
    /* of an address */
    uint64_t last_bytes;
    uint32_t last_cpu;
    bool live; /* it was not freed since */
};

struct pf_slab_rows {
    struct pf_map index;
    struct pf_slab_row *rows;
    size_t count, capacity;
};

struct pf_slab {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_profile *profile;
    struct pf_events events;
    struct pf_arena arena;
    struct pf_slab_rows callers, addresses;
    struct pf_sort_keys keys;
    bool raw; /* callers have no names */
    uint64_t hits, requested, allocated, freed, unknown_frees, cross;
    int64_t node;       /* the only one that was seen; -1: none */
    bool several_nodes; /* the node of a CPU is not known */
};

void pf_slab_open(struct pf_slab *slab, struct perfile_reader *reader, const struct perfile_allocator *allocator);
void pf_slab_close(struct pf_slab *slab);
/* False: out of memory. */
bool pf_slab_take(void *slab, const struct pf_profile_sample *sample);
/*
 * Sets the sort keys before the first sample: "frag,hit,bytes,pingpong,ptr,callsite"; NULL: the first three. ARGUMENT.
 */
int pf_slab_order(struct pf_slab *slab, const char *keys, struct perfile_error *error);
/* At the end. */
void pf_slab_sort(struct pf_slab *slab);
/* What was allocated and not asked for, in percent. */
double pf_slab_waste(uint64_t requested, uint64_t allocated);
void pf_slab_notify(struct pf_slab *slab, pf_on_note *notify, void *context);

#endif
