/* SPDX-License-Identifier: MIT */
/*
 * Memory accesses by cache line, and by the code and threads that accessed which of its bytes. Lines and offsets in
 * them are kept, never samples.
 */
#ifndef PF_ANALYSIS_EVENTS_LINES_H
#define PF_ANALYSIS_EVENTS_LINES_H

#include "analysis/profile.h"
#include "analysis/topology.h"
#include "base/map.h"
#include "base/pairs.h"

enum pf_access {
#define PF_ACCESS(id, extra, doc) PF_ACCESS_##id,
#include "analysis/events/accesses.def"
#undef PF_ACCESS
    PF_ACCESS_COUNT
};

/* Weights of loads: a load counts in the first class to which it belongs. */
enum pf_access_cost {
    PF_COST_REMOTE_HITM,
    PF_COST_LOCAL_HITM,
    PF_COST_REMOTE_PEER,
    PF_COST_LOCAL_PEER,
    PF_COST_LOAD,
    PF_COST_COUNT
};

struct pf_access_sums {
    uint64_t samples;
    uint64_t of[PF_ACCESS_COUNT];
    uint64_t weights[PF_COST_COUNT], weighed[PF_COST_COUNT];
};

static inline uint64_t pf_access_hitm(const struct pf_access_sums *sums)
{
    return sums->of[PF_ACCESS_local_hitm] + sums->of[PF_ACCESS_remote_hitm];
}

static inline uint64_t pf_access_peer(const struct pf_access_sums *sums)
{
    return sums->of[PF_ACCESS_local_peer] + sums->of[PF_ACCESS_remote_peer];
}

/* Loads that the caches of the node did not answer. */
uint64_t pf_access_llc_misses(const struct pf_access_sums *sums);
/* Accesses by where they were answered, each once. */
uint64_t pf_access_records(const struct pf_access_sums *sums);

/* The CPUs, nodes and threads that accessed something. */
struct pf_accessors {
    uint32_t *bits[2]; /* CPUs, nodes */
    uint32_t words[2];
    uint32_t threads; /* how many */
    int32_t tid;      /* the first one */
};
enum { PF_ACCESSOR_CPUS, PF_ACCESSOR_NODES };

uint32_t pf_accessors_count(const struct pf_accessors *accessors, unsigned which);
/* The next one from `from` on; UINT32_MAX: none. */
uint32_t pf_accessors_next(const struct pf_accessors *accessors, unsigned which, uint32_t from);

struct pf_line {
    uint64_t address; /* where the process that touched it first has it */
    uint64_t phys_address;
    bool has_phys;
    uint32_t frame;  /* of the address */
    uint32_t number; /* in the order in which lines were seen */
    uint32_t rows;
    struct pf_access_sums sums;
    struct pf_accessors accessors;
    bool false_sharing; /* threads use different bytes, and one of them stores */
    bool true_sharing;  /* threads use the same ones, and one of them stores */
};

struct pf_line_row {
    struct pf_line *line;
    uint32_t offset;
    uint32_t frame;   /* of the code; PF_NO_FRAME: of several functions */
    uint32_t module;  /* of it */
    int32_t pid, tid; /* -1: of several */
    const char *comm; /* NULL: of several */
    uint32_t number;
    struct pf_access_sums sums;
    struct pf_accessors accessors;
};

struct pf_lines_options {
    const struct perfile_allocator *allocator;
    const struct perfile_filter *filter;
    const struct perfile_symbol_options *symbols;
    struct pf_profile_drive drive;
    /* Words: tot, lcl, rmt, peer (order); pid, tid, iaddr, dso (rows); double (pairs of lines). NULL: "tot,iaddr". */
    const char *keys;
};

/* By what lines are sorted. */
enum pf_line_order { PF_LINES_BY_HITM, PF_LINES_BY_LOCAL, PF_LINES_BY_REMOTE, PF_LINES_BY_PEER };
enum { PF_LINES_PID = 1, PF_LINES_TID = 2, PF_LINES_IADDR = 4, PF_LINES_DSO = 8 };

/* Zeros may be closed, too. */
struct pf_lines {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct pf_profile *profile;
    struct pf_topology topology;
    struct pf_arena arena;
    struct pf_pairs line_of, row_of, thread_of; /* to numbers */
    struct pf_line **lines;
    struct pf_line_row **rows;
    size_t line_count, line_capacity, row_count, row_capacity;
    enum pf_line_order order;
    unsigned by; /* PF_LINES_... */
    uint32_t line_bytes;
    bool doubled;               /* they are of two neighbours */
    struct pf_access_sums sums; /* of all */
    uint64_t unmapped;          /* data or code that nothing was mapped at */
    uint64_t not_parsed;        /* neither a load nor a store */
    uint64_t not_reported;      /* samples whose event says nothing about the source of data */
    uint64_t remote_as_dram;    /* remote cache hits that perf counts as loads from remote memory as well */
};

/* ARGUMENT: keys. The reader must be at its start. Close it also after an error. */
int pf_lines_open(struct pf_lines *lines, struct perfile_reader *reader, const struct pf_lines_options *options,
                  struct perfile_error *error);
/* Reads all samples, and puts lines and rows in order, also after damage. MEMORY. */
int pf_lines_read(struct pf_lines *lines, struct perfile_error *error);
void pf_lines_close(struct pf_lines *lines);
/* What lines are sorted by. */
uint64_t pf_lines_score(const struct pf_lines *lines, const struct pf_access_sums *sums);
/* At the end: reports what the recording does not contain. `notify` may be NULL. */
void pf_lines_notify(struct pf_lines *lines, pf_on_note *notify, void *context);
/* Whether some event of the recording has the source of data. */
bool pf_lines_recorded(struct perfile_reader *reader);

#endif
