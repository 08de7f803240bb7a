/* SPDX-License-Identifier: MIT */
/* A feature, visited as rows: what the parts of header.h share. */
#ifndef PF_OUTPUT_HEADER_WALK_H
#define PF_OUTPUT_HEADER_WALK_H

#include "base/text.h"

enum { PF_HEADER_DEPTH = 8, PF_HEADER_MEMBERS = 128 };

/* One feature on its way to text. */
struct pf_header_walk {
    struct perfile_reader *reader;
    struct pf_text *out;
    struct pf_text scratch;             /* lines that are put after a value that is still to come */
    const struct pf_header_rows *rows;  /* functions that get the rows */
    const char *lists[PF_HEADER_DEPTH]; /* names of what is open, outermost first; NULL: an element of a list */
    unsigned starts[PF_HEADER_DEPTH];   /* the first member of each */
    unsigned depth;                     /* deeper ones are counted, not kept */
    struct perfile_value members[PF_HEADER_MEMBERS]; /* of the objects that are open */
    unsigned member_count;
    struct perfile_error damage; /* code 0: the feature is complete */
    uint64_t count;              /* of items of the feature; 0 at the start */
    void *context;
};

/* Any may be NULL. `list` is the innermost list that has a name. */
struct pf_header_rows {
    void (*begin)(struct pf_header_walk *walk, const char *name); /* a list with a name */
    void (*end)(struct pf_header_walk *walk, const char *name);
    void (*object)(struct pf_header_walk *walk, const char *list); /* its members are complete */
    void (*item)(struct pf_header_walk *walk, const char *list, const struct perfile_value *value);
};

/* The feature, row by row. 0, or MEMORY; what is damaged is kept in the walk. */
int pf_header_walk(struct pf_header_walk *walk, uint32_t feature, const struct pf_header_rows *rows,
                   struct perfile_error *error);
/* A number of the innermost object, or of those around it; 0 when it is not there. */
uint64_t pf_header_number(const struct pf_header_walk *walk, const char *name);
/* The same for texts. */
void pf_header_put_text(const struct pf_header_walk *walk, struct pf_text *out, const char *name);
void pf_header_put_value(struct pf_text *out, const struct perfile_value *value);

/* The parts: one feature each. 0, or MEMORY. */
typedef int pf_header_part(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error);
pf_header_part pf_header_put_events, pf_header_put_topology, pf_header_put_numa, pf_header_put_cache,
    pf_header_put_memory, pf_header_put_pmus, pf_header_put_cpu_caps, pf_header_put_pmu_caps, pf_header_put_hybrid,
    pf_header_put_domains, pf_header_put_bpf_programs, pf_header_put_bpf_types;

#endif
