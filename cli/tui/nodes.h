/* SPDX-License-Identifier: MIT */
/*
 * The stacks of a profile as a tree that takes little memory: deep stacks have ten times more nodes than there are places where
 * they part. Each node stands before what it calls, and all that is below it follows it. A chain is a node, its only callee
 * and so on, down to where stacks end or part: all of a chain weigh the same. What is kept is the function of each node, and of
 * each chain who called it and where what is below it ends.
 */
#ifndef PERFILE_CLI_TUI_NODES_H
#define PERFILE_CLI_TUI_NODES_H

#include <perfile/profile.h>

#define PF_TUI_NONE UINT32_MAX

struct pf_tui_chain {
    uint32_t parent; /* node that called it, or NONE */
    uint32_t end;    /* the first node that is not below */
};

struct pf_tui_nodes {
    uint32_t *functions; /* by node */
    uint64_t *starts;    /* by node a bit: a chain starts there */
    uint32_t *before;    /* by word of `starts`: chains that start before it */
    struct pf_tui_chain *chains;
    size_t count, chain_count;
};

/* Where the stacks of the profile are, by their numbers there. */
struct pf_tui_locations {
    uint32_t *at;
    uint32_t *ends;
};

/* False: out of memory. Both have to be closed in any case. */
bool pf_tui_nodes_make(struct pf_tui_nodes *nodes, struct pf_tui_locations *positions,
                       const struct perfile_profile *profile);
void pf_tui_nodes_close(struct pf_tui_nodes *nodes);
void pf_tui_locations_close(struct pf_tui_locations *positions);

static inline bool pf_tui_starts_chain(const struct pf_tui_nodes *nodes, uint32_t node)
{
    return nodes->starts[node / 64] >> node % 64 & 1;
}

static inline uint32_t pf_tui_chain(const struct pf_tui_nodes *nodes, uint32_t node)
{
    const uint64_t up_to_it = nodes->starts[node / 64] << (63 - node % 64);

    return nodes->before[node / 64] + (uint32_t)__builtin_popcountll(up_to_it) - 1;
}

/* The caller of a node, or NONE. */
static inline uint32_t pf_tui_parent(const struct pf_tui_nodes *nodes, uint32_t node)
{
    return pf_tui_starts_chain(nodes, node) ? nodes->chains[pf_tui_chain(nodes, node)].parent : node - 1;
}

/* The first callee of a node, or NONE; of NONE the first node without a caller. */
static inline uint32_t pf_tui_first_child(const struct pf_tui_nodes *nodes, uint32_t node)
{
    if (node == PF_TUI_NONE)
        return nodes->count ? 0 : PF_TUI_NONE;
    return node + 1 < nodes->chains[pf_tui_chain(nodes, node)].end ? node + 1 : PF_TUI_NONE;
}

/* The next callee of the same caller, or NONE. */
static inline uint32_t pf_tui_next(const struct pf_tui_nodes *nodes, uint32_t node)
{
    if (!pf_tui_starts_chain(nodes, node))
        return PF_TUI_NONE;
    const struct pf_tui_chain *chain = &nodes->chains[pf_tui_chain(nodes, node)];
    const size_t end =
        chain->parent == PF_TUI_NONE ? nodes->count : nodes->chains[pf_tui_chain(nodes, chain->parent)].end;
    return chain->end < end ? chain->end : PF_TUI_NONE;
}

#endif
