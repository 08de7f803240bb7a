/* SPDX-License-Identifier: MIT */
/* Where the processors of a recording were: sockets, dies, cores and memory nodes, as its header says. */
#ifndef PF_ANALYSIS_TOPOLOGY_H
#define PF_ANALYSIS_TOPOLOGY_H

#include <perfile/perfile.h>

/* -1: the recording does not say. */
enum { PF_CACHE_LEVELS = 4 };
struct pf_cpu_location {
    int32_t socket, die, core, node;
    int32_t caches[PF_CACHE_LEVELS]; /* of L1, L2 ...: the first of the processors that share it, as perf has it */
};
#define PF_NOWHERE ((struct pf_cpu_location){-1, -1, -1, -1, {-1, -1, -1, -1}})

struct pf_topology {
    const struct perfile_allocator *allocator;
    struct pf_cpu_location *cpus; /* by number */
    size_t count, capacity;
};

/* A recording without a topology gives an empty one. MEMORY. */
int pf_topology_open(struct pf_topology *topology, struct perfile_reader *reader,
                     const struct perfile_allocator *allocator, struct perfile_error *error);
/* Zeros may be closed, too. */
void pf_topology_close(struct pf_topology *topology);
struct pf_cpu_location pf_topology_at(const struct pf_topology *topology, int32_t cpu);

#endif
