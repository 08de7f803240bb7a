/* SPDX-License-Identifier: MIT */
#include "nodes.h"

#include <stdlib.h>

void pf_tui_nodes_close(struct pf_tui_nodes *nodes)
{
    free(nodes->functions);
    free(nodes->starts);
    free(nodes->before);
    free(nodes->chains);
    *nodes = (struct pf_tui_nodes){.count = 0};
}

void pf_tui_locations_close(struct pf_tui_locations *positions)
{
    free(positions->at);
    free(positions->ends);
    *positions = (struct pf_tui_locations){.at = NULL};
}

/* How many nodes there are from each on downwards; callers stand before callees. */
static bool count_nodes(struct pf_tui_locations *positions, size_t count, const struct perfile_profile *profile)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;

    for (size_t i = count; i-- > 0;) {
        if (perfile_profile_stack_at(profile, i, &stack) < 0 || (stack.parent != PERFILE_NO_ID && stack.parent >= i))
            return false;
        positions->at[i]++;
        if (stack.parent != PERFILE_NO_ID)
            positions->at[stack.parent] += positions->at[i];
    }
    return true;
}

/* Callees of a node keep their order. While they are placed, `ends` is where the next one goes. */
static bool position_nodes(struct pf_tui_locations *positions, size_t count, const struct perfile_profile *profile)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    uint32_t end = 0;

    for (size_t i = 0; i < count; i++) {
        if (perfile_profile_stack_at(profile, i, &stack) < 0)
            return false;
        uint32_t *next = stack.parent == PERFILE_NO_ID ? &end : &positions->ends[stack.parent];
        const uint32_t below = positions->at[i];
        positions->at[i] = *next;
        positions->ends[i] = *next + 1;
        *next += below;
    }
    return true;
}

/* A chain goes on where a node is the only callee of a node at which no stack of a sample ends. */
static bool find_starts(struct pf_tui_nodes *nodes, const struct pf_tui_locations *positions, const uint64_t *ending,
                        const struct perfile_profile *profile)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;

    for (size_t i = 0; i < nodes->count; i++) {
        if (perfile_profile_stack_at(profile, i, &stack) < 0 ||
            perfile_profile_frame_at(profile, stack.frame, &frame) < 0)
            return false;
        const uint32_t at = positions->at[i];
        nodes->functions[at] = frame.function;
        if (stack.parent != PERFILE_NO_ID && positions->ends[stack.parent] == positions->ends[i] &&
            positions->at[stack.parent] + 1 == at && !(ending[(at - 1) / 64] >> (at - 1) % 64 & 1))
            continue;
        nodes->starts[at / 64] |= (uint64_t)1 << at % 64;
        nodes->chain_count++;
    }
    return true;
}

static void count_starts(struct pf_tui_nodes *nodes)
{
    uint32_t count = 0;

    for (size_t i = 0; i < nodes->count / 64 + 1; i++) {
        nodes->before[i] = count;
        count += (uint32_t)__builtin_popcountll(nodes->starts[i]);
    }
}

static bool make_chains(struct pf_tui_nodes *nodes, const struct pf_tui_locations *positions,
                        const struct perfile_profile *profile)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;

    nodes->chains = malloc((nodes->chain_count + 1) * sizeof(*nodes->chains));
    for (size_t i = 0; i < nodes->count && nodes->chains; i++) {
        const uint32_t at = positions->at[i];
        if (!pf_tui_starts_chain(nodes, at))
            continue;
        if (perfile_profile_stack_at(profile, i, &stack) < 0)
            return false;
        nodes->chains[pf_tui_chain(nodes, at)] = (struct pf_tui_chain){
            stack.parent == PERFILE_NO_ID ? PF_TUI_NONE : positions->at[stack.parent], positions->ends[i]};
    }
    return nodes->chains;
}

/* By node a bit: the stack of a sample ends there. */
static uint64_t *find_ending(const struct pf_tui_nodes *nodes, const struct pf_tui_locations *positions,
                             const struct perfile_profile *profile)
{
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    uint64_t *ending = calloc(nodes->count / 64 + 1, sizeof(*ending));

    for (size_t i = 0; i < perfile_profile_sample_count(profile) && ending; i++) {
        if (perfile_profile_sample_at(profile, i, &sample) < 0 || sample.stack >= nodes->count) {
            free(ending);
            return NULL;
        }
        const uint32_t at = positions->at[sample.stack];
        ending[at / 64] |= (uint64_t)1 << at % 64;
    }
    return ending;
}

bool pf_tui_nodes_make(struct pf_tui_nodes *nodes, struct pf_tui_locations *positions,
                       const struct perfile_profile *profile)
{
    const size_t count = perfile_profile_stack_count(profile);

    *nodes = (struct pf_tui_nodes){.count = count};
    *positions =
        (struct pf_tui_locations){calloc(count + 1, sizeof(*positions->at)), malloc((count + 1) * sizeof(uint32_t))};
    nodes->functions = malloc((count + 1) * sizeof(*nodes->functions));
    nodes->starts = calloc(count / 64 + 1, sizeof(*nodes->starts));
    nodes->before = calloc(count / 64 + 1, sizeof(*nodes->before));
    if (!positions->at || !positions->ends || !nodes->functions || !nodes->starts || !nodes->before ||
        !count_nodes(positions, count, profile) || !position_nodes(positions, count, profile))
        return false;
    uint64_t *ending = find_ending(nodes, positions, profile);
    const bool fine = ending && find_starts(nodes, positions, ending, profile);
    free(ending);
    if (!fine)
        return false;
    count_starts(nodes);
    if (!make_chains(nodes, positions, profile))
        return false;
    free(positions->ends);
    positions->ends = NULL;
    return true;
}
