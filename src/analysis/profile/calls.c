/* SPDX-License-Identifier: MIT */
/*
 * What functions and calls weigh. Deep stacks have ten times more nodes than there are nodes where they part, so sums
 * are kept by chain: a node, its only callee and so on, down to where stacks end or part. All nodes of a chain weigh
 * the same.
 */
#include "analysis/profile/aggregate.h"
#include "analysis/profile/walk.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/sized.h"

struct chain {
    uint32_t parent; /* the node that called it, or NO_ID */
    uint32_t end;    /* the first node that is not below */
    uint32_t first;  /* node of the chain; its last one stands before the first of the next chain */
};

struct perfile_calls {
    const struct perfile_allocator *allocator;
    struct pf_arena arena; /* all that follows; nodes are numbered as in a walk */
    size_t node_count, chain_count, group_count, sample_count, value_count;
    uint32_t *groups; /* by node */
    uint64_t *starts; /* by node a bit: a chain starts there */
    uint32_t *before; /* by word of `starts`: the chains that start before it */
    struct chain *chains;
    uint64_t *outermost;   /* by node a bit: none of its callers has its group */
    uint32_t *outer;       /* these nodes, by group */
    uint32_t *outer_first; /* by group, and the end: its first one */
    uint32_t *ends;        /* by sample: a node, or NO_ID */
    uint32_t *leaves;      /* by sample: a group */
    uint64_t *apart;       /* by sample a bit: its stack does not have its leaf */
    uint64_t *values;      /* of samples */
    /* of the samples that were added; NULL before the first start */
    uint64_t *self, *total;                    /* of groups */
    uint64_t *sums;                            /* of chains */
    uint64_t *weighed_groups, *weighed_chains; /* a bit: one of its weights is not 0 */
    uint16_t *marks;                           /* of groups */
    uint16_t *through;                         /* by chain: the marks of its nodes and of those that called it */
};

static bool has_bit(const uint64_t *bits, size_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

static void set_bit(uint64_t *bits, size_t i)
{
    bits[i / 64] |= (uint64_t)1 << i % 64;
}

/* ---- the tree ---- */

static uint32_t chain_of(const struct perfile_calls *calls, uint32_t node)
{
    const uint64_t up_to_it = calls->starts[node / 64] << (63 - node % 64);
    return calls->before[node / 64] + (uint32_t)__builtin_popcountll(up_to_it) - 1;
}

static uint32_t parent_of(const struct perfile_calls *calls, uint32_t node)
{
    return has_bit(calls->starts, node) ? calls->chains[chain_of(calls, node)].parent : node - 1;
}

size_t perfile_calls_node_count(const struct perfile_calls *calls)
{
    return calls->node_count;
}

uint32_t perfile_calls_group(const struct perfile_calls *calls, uint32_t node)
{
    return node < calls->node_count ? calls->groups[node] : PERFILE_NO_ID;
}

uint32_t perfile_calls_parent(const struct perfile_calls *calls, uint32_t node)
{
    return node < calls->node_count ? parent_of(calls, node) : PERFILE_NO_ID;
}

uint32_t perfile_calls_first(const struct perfile_calls *calls, uint32_t node)
{
    if (node == PERFILE_NO_ID)
        return calls->node_count ? 0 : PERFILE_NO_ID;
    return node < calls->node_count && node + 1 < calls->chains[chain_of(calls, node)].end ? node + 1 : PERFILE_NO_ID;
}

uint32_t perfile_calls_next(const struct perfile_calls *calls, uint32_t node)
{
    if (node >= calls->node_count || !has_bit(calls->starts, node))
        return PERFILE_NO_ID;
    const struct chain *chain = &calls->chains[chain_of(calls, node)];
    const size_t end =
        chain->parent == PERFILE_NO_ID ? calls->node_count : calls->chains[chain_of(calls, chain->parent)].end;
    return chain->end < end ? chain->end : PERFILE_NO_ID;
}

const uint32_t *perfile_calls_nodes(const struct perfile_calls *calls, uint32_t group, size_t *count)
{
    *count = group < calls->group_count ? calls->outer_first[group + 1] - calls->outer_first[group] : 0;
    return *count ? &calls->outer[calls->outer_first[group]] : NULL;
}

/* ---- samples ---- */

uint32_t perfile_calls_end(const struct perfile_calls *calls, size_t sample)
{
    return sample < calls->sample_count ? calls->ends[sample] : PERFILE_NO_ID;
}

uint32_t perfile_calls_leaf(const struct perfile_calls *calls, size_t sample)
{
    return sample < calls->sample_count ? calls->leaves[sample] : PERFILE_NO_ID;
}

/* An inlined function may be what runs; the sample counts for the function that it is in. */
static uint32_t find_leaf(const struct perfile_calls *calls, size_t sample)
{
    uint32_t node = calls->ends[sample];
    while (node != PERFILE_NO_ID && calls->groups[node] != calls->leaves[sample])
        node = parent_of(calls, node);
    return node;
}

uint32_t perfile_calls_leaf_node(const struct perfile_calls *calls, size_t sample)
{
    return sample < calls->sample_count && !has_bit(calls->apart, sample) ? find_leaf(calls, sample) : PERFILE_NO_ID;
}

void perfile_calls_mark(struct perfile_calls *calls, const uint16_t *marks)
{
    if (!calls->through)
        return;
    memset(calls->marks, 0, calls->group_count * sizeof(*marks));
    memset(calls->through, 0, calls->chain_count * sizeof(*marks));
    if (!marks)
        return;
    memcpy(calls->marks, marks, calls->group_count * sizeof(*marks));
    for (size_t i = 0; i < calls->chain_count; i++) { /* callers first */
        const struct chain *chain = &calls->chains[i];
        if (chain->parent != PERFILE_NO_ID)
            calls->through[i] = calls->through[chain_of(calls, chain->parent)];
        for (uint32_t node = chain[0].first; node < chain[1].first; node++)
            calls->through[i] |= marks[calls->groups[node]];
    }
}

/* Samples are of the last node of a chain. */
uint16_t perfile_calls_marks(const struct perfile_calls *calls, size_t sample)
{
    if (sample >= calls->sample_count || !calls->through)
        return 0;
    const uint16_t of_leaf = calls->marks[calls->leaves[sample]];
    return calls->ends[sample] == PERFILE_NO_ID
               ? of_leaf
               : (uint16_t)(of_leaf | calls->through[chain_of(calls, calls->ends[sample])]);
}

/* ---- weights ---- */

size_t perfile_calls_value_count(const struct perfile_calls *calls)
{
    return calls->value_count;
}

static const uint64_t *weight_at(const struct perfile_calls *calls, const uint64_t *weights, size_t i, size_t count)
{
    return i < count && weights ? weights + i * calls->value_count : NULL;
}

const uint64_t *perfile_calls_sample(const struct perfile_calls *calls, size_t sample)
{
    return weight_at(calls, calls->values, sample, calls->sample_count);
}

const uint64_t *perfile_calls_self(const struct perfile_calls *calls, uint32_t group)
{
    return weight_at(calls, calls->self, group, calls->group_count);
}

const uint64_t *perfile_calls_total(const struct perfile_calls *calls, uint32_t group)
{
    return weight_at(calls, calls->total, group, calls->group_count);
}

const uint64_t *perfile_calls_node(const struct perfile_calls *calls, uint32_t node)
{
    return node < calls->node_count && calls->through ? calls->sums + chain_of(calls, node) * calls->value_count : NULL;
}

/* The highest bit below *end, which it becomes. False: there is none. */
static bool previous_bit(const uint64_t *bits, size_t *end)
{
    size_t word = *end / 64;
    uint64_t left = *end % 64 ? bits[word] << (64 - *end % 64) : 0;
    if (left) {
        *end -= 1 + (size_t)__builtin_clzll(left);
        return true;
    }
    while (word-- > 0)
        if (bits[word]) {
            *end = 64 * word + 63 - (size_t)__builtin_clzll(bits[word]);
            return true;
        }
    return false;
}

/* Only what has a weight: few samples of a large profile cost little. */
static void clear(const struct perfile_calls *calls, uint64_t *weights, const uint64_t *weighed, size_t count)
{
    const size_t bytes = calls->value_count * sizeof(*weights);
    for (size_t i = count; previous_bit(weighed, &i);)
        memset(weights + i * calls->value_count, 0, bytes);
}

static bool make_weights(struct perfile_calls *calls)
{
    const size_t weight = calls->value_count * sizeof(uint64_t);
    if (calls->through)
        return true;
    calls->marks = pf_arena_new(&calls->arena, (calls->group_count + 1) * sizeof(*calls->marks));
    calls->self = pf_arena_new(&calls->arena, (calls->group_count + 1) * weight);
    calls->total = pf_arena_new(&calls->arena, (calls->group_count + 1) * weight);
    calls->sums = pf_arena_new(&calls->arena, (calls->chain_count + 1) * weight);
    calls->weighed_groups = pf_arena_new(&calls->arena, (calls->group_count / 64 + 1) * sizeof(uint64_t));
    calls->weighed_chains = pf_arena_new(&calls->arena, (calls->chain_count / 64 + 1) * sizeof(uint64_t));
    if (!calls->self || !calls->total || !calls->sums || !calls->weighed_groups || !calls->weighed_chains ||
        !calls->marks)
        return false;
    calls->through = pf_arena_new(&calls->arena, (calls->chain_count + 1) * sizeof(*calls->through));
    return calls->through;
}

int perfile_calls_start(struct perfile_calls *calls, struct perfile_error *error)
{
    if (!make_weights(calls))
        return pf_fail_memory(error, "calls");
    clear(calls, calls->self, calls->weighed_groups, calls->group_count);
    clear(calls, calls->total, calls->weighed_groups, calls->group_count);
    clear(calls, calls->sums, calls->weighed_chains, calls->chain_count);
    memset(calls->weighed_groups, 0, (calls->group_count / 64 + 1) * sizeof(uint64_t));
    memset(calls->weighed_chains, 0, (calls->chain_count / 64 + 1) * sizeof(uint64_t));
    return 0;
}

static void add(const struct perfile_calls *calls, uint64_t *weights, uint64_t *weighed, size_t i,
                const uint64_t *values)
{
    set_bit(weighed, i);
    for (size_t k = 0; k < calls->value_count; k++)
        (void)pf_add_to_sum(&weights[i * calls->value_count + k], values[k]);
}

void perfile_calls_add(struct perfile_calls *calls, size_t sample)
{
    if (sample >= calls->sample_count || !calls->through)
        return;
    const uint64_t *values = calls->values + sample * calls->value_count;
    add(calls, calls->self, calls->weighed_groups, calls->leaves[sample], values);
    if (has_bit(calls->apart, sample))
        add(calls, calls->total, calls->weighed_groups, calls->leaves[sample], values);
    if (calls->ends[sample] != PERFILE_NO_ID)
        add(calls, calls->sums, calls->weighed_chains, chain_of(calls, calls->ends[sample]), values);
}

/* Callees before callers. */
void perfile_calls_sum(struct perfile_calls *calls)
{
    for (size_t i = calls->through ? calls->chain_count : 0; previous_bit(calls->weighed_chains, &i);) {
        const struct chain *chain = &calls->chains[i];
        const uint64_t *values = calls->sums + i * calls->value_count;
        if (chain->parent != PERFILE_NO_ID)
            add(calls, calls->sums, calls->weighed_chains, chain_of(calls, chain->parent), values);
        for (uint32_t node = chain[0].first; node < chain[1].first; node++)
            if (has_bit(calls->outermost, node))
                add(calls, calls->total, calls->weighed_groups, calls->groups[node], values);
    }
}

/* ---- opening ---- */

/* What is needed only until the tree is made. */
struct making {
    struct perfile_calls *calls;
    const struct perfile_profile *profile;
    struct pf_walk_tree tree;
    size_t frame_count;
    uint32_t *of_frame;         /* its group */
    uint32_t *positions, *ends; /* by node of the profile: its own, and the first that is not below */
};

static const void *items(const struct making *making, enum pf_aggregate_kind kind)
{
    return making->profile->lists[kind].items;
}

/* ARGUMENT: a group has no such number. */
static int find_groups(struct making *making, const struct perfile_calls_options *options)
{
    const struct pf_aggregate_frame *frames = items(making, PF_AGGREGATE_FRAMES);
    const size_t functions = pf_aggregate_count(making->profile, PF_AGGREGATE_FUNCTIONS);
    making->calls->group_count = options->groups ? options->group_count : functions;
    for (size_t i = 0; options->groups && i < functions; i++)
        if (options->groups[i] >= options->group_count)
            return PERFILE_ERROR_ARGUMENT;
    for (size_t i = 0; i < making->frame_count; i++)
        making->of_frame[i] = options->groups ? options->groups[frames[i].function] : frames[i].function;
    return 0;
}

/*
 * A chain goes on where a node is the only callee of a node at which no stack of a sample ends: `ending` has a bit for
 * those.
 */
static void find_chains(const struct making *making, const uint64_t *ending)
{
    struct perfile_calls *calls = making->calls;
    const struct pf_tree_link *nodes = making->tree.nodes;
    const uint32_t *positions = making->positions, *ends = making->ends;
    for (size_t i = 0; i < calls->node_count; i++) {
        const uint32_t parent = nodes[i].parent;
        calls->groups[positions[i]] = making->of_frame[nodes[i].frame];
        if (parent == PERFILE_NO_ID || ends[parent] != ends[i] || positions[parent] + 1 != positions[i] ||
            has_bit(ending, parent)) {
            set_bit(calls->starts, positions[i]);
            calls->chain_count++;
        }
    }
    for (size_t i = 0, count = 0; i < calls->node_count / 64 + 1; i++) {
        calls->before[i] = (uint32_t)count;
        count += (size_t)__builtin_popcountll(calls->starts[i]);
    }
}

static bool make_chains(struct making *making)
{
    struct perfile_calls *calls = making->calls;
    calls->chains = pf_arena_new(&calls->arena, (calls->chain_count + 1) * sizeof(*calls->chains));
    if (!calls->chains)
        return false;
    for (size_t i = 0; i < calls->node_count; i++) {
        const uint32_t parent = making->tree.nodes[i].parent, node = making->positions[i];
        if (has_bit(calls->starts, node))
            calls->chains[chain_of(calls, node)] = (struct chain){
                parent == PERFILE_NO_ID ? PERFILE_NO_ID : making->positions[parent], making->ends[i], node};
    }
    calls->chains[calls->chain_count].first = (uint32_t)calls->node_count;
    return true;
}

static void free_nodes(const struct making *making, uint32_t **numbers)
{
    pf_free(making->calls->allocator, *numbers, (making->calls->node_count + 1) * sizeof(**numbers));
    *numbers = NULL;
}

static bool make_tree(struct making *making)
{
    struct perfile_calls *calls = making->calls;
    const struct pf_aggregate_row *rows = items(making, PF_AGGREGATE_ROWS);
    const size_t words = calls->node_count / 64 + 1;
    uint64_t *ending = calls->outermost = pf_arena_new(&calls->arena, words * sizeof(*ending));
    calls->groups = pf_arena_new(&calls->arena, (calls->node_count + 1) * sizeof(*calls->groups));
    calls->starts = pf_arena_new(&calls->arena, words * sizeof(*calls->starts));
    calls->before = pf_arena_new(&calls->arena, words * sizeof(*calls->before));
    if (!ending || !calls->groups || !calls->starts || !calls->before ||
        !pf_walk_positions(calls->allocator, &making->tree, making->positions, making->ends))
        return false;
    for (size_t i = 0; i < calls->sample_count; i++)
        if (rows[i].node != PERFILE_NO_ID)
            set_bit(ending, rows[i].node);
    find_chains(making, ending);
    memset(ending, 0, words * sizeof(*ending));
    const bool fine = make_chains(making);
    free_nodes(making, &making->ends);
    return fine;
}

static uint32_t walked_node(const void *calls, size_t step)
{
    (void)calls;
    return (uint32_t)step;
}

static uint32_t walked_parent(const void *calls, uint32_t node)
{
    return parent_of(calls, node);
}

static uint32_t walked_group(const void *calls, uint32_t node)
{
    return ((const struct perfile_calls *)calls)->groups[node];
}

static bool find_outermost(struct perfile_calls *calls)
{
    const struct pf_walk_steps steps = {calls, calls->node_count, walked_node, walked_parent, walked_group};
    uint32_t *inside = pf_new(calls->allocator, (calls->group_count + 1) * sizeof(*inside));
    if (inside)
        pf_walk_find_outermost(&steps, inside, calls->outermost);
    pf_free(calls->allocator, inside, (calls->group_count + 1) * sizeof(*inside));
    return inside;
}

/* Lists the outermost nodes of each group. */
static bool list_outermost(struct perfile_calls *calls)
{
    uint32_t *first = calls->outer_first =
        pf_arena_new(&calls->arena, (calls->group_count + 2) * sizeof(*calls->outer_first));
    if (!first || !find_outermost(calls))
        return false;
    for (uint32_t node = 0; node < calls->node_count; node++)
        first[calls->groups[node] + 2] += has_bit(calls->outermost, node);
    for (size_t i = 0; i <= calls->group_count; i++)
        first[i + 1] += first[i];
    calls->outer = pf_arena_new(&calls->arena, ((size_t)first[calls->group_count + 1] + 1) * sizeof(*calls->outer));
    for (uint32_t node = 0; calls->outer && node < calls->node_count; node++)
        if (has_bit(calls->outermost, node))
            calls->outer[first[calls->groups[node] + 1]++] = node;
    return calls->outer;
}

static bool take_samples(struct making *making)
{
    struct perfile_calls *calls = making->calls;
    const struct pf_aggregate_row *rows = items(making, PF_AGGREGATE_ROWS);
    const size_t weight = calls->value_count * sizeof(uint64_t);
    calls->ends = pf_arena_new(&calls->arena, (calls->sample_count + 1) * sizeof(*calls->ends));
    calls->leaves = pf_arena_new(&calls->arena, (calls->sample_count + 1) * sizeof(*calls->leaves));
    calls->apart = pf_arena_new(&calls->arena, (calls->sample_count / 64 + 1) * sizeof(*calls->apart));
    calls->values = pf_arena_new(&calls->arena, (calls->sample_count + 1) * weight);
    if (!calls->ends || !calls->leaves || !calls->apart || !calls->values)
        return false;
    for (size_t i = 0; i < calls->sample_count; i++) {
        calls->ends[i] = rows[i].node == PERFILE_NO_ID ? PERFILE_NO_ID : making->positions[rows[i].node];
        calls->leaves[i] = making->of_frame[rows[i].leaf];
        memcpy(calls->values + i * calls->value_count, rows[i].values, weight);
        if (find_leaf(calls, i) == PERFILE_NO_ID)
            set_bit(calls->apart, i);
    }
    return true;
}

static void count_things(struct perfile_calls *calls, const struct perfile_profile *profile)
{
    calls->node_count = pf_aggregate_count(profile, PF_AGGREGATE_NODES);
    calls->sample_count = pf_aggregate_count(profile, PF_AGGREGATE_ROWS);
    calls->value_count = 2;
    for (size_t i = 0; i < pf_aggregate_count(profile, PF_AGGREGATE_EVENTS); i++)
        calls->value_count = pf_max(calls->value_count, pf_aggregate_value_count(pf_aggregate_event(profile, i)));
}

static bool make_all(struct making *making)
{
    if (!make_tree(making) || !take_samples(making))
        return false;
    free_nodes(making, &making->positions); /* what follows takes memory, too */
    return list_outermost(making->calls);
}

static int make_calls(struct perfile_calls *calls, const struct perfile_profile *profile,
                      const struct perfile_calls_options *options)
{
    const size_t nodes = (calls->node_count + 1) * sizeof(uint32_t);
    struct making making = {.calls = calls,
                            .profile = profile,
                            .tree = {profile->lists[PF_AGGREGATE_NODES].items, calls->node_count},
                            .frame_count = pf_aggregate_count(profile, PF_AGGREGATE_FRAMES)};
    making.of_frame = pf_new(calls->allocator, (making.frame_count + 1) * sizeof(*making.of_frame));
    making.positions = pf_new(calls->allocator, nodes);
    making.ends = pf_new(calls->allocator, nodes);
    int result = PERFILE_ERROR_MEMORY;
    if (making.of_frame && making.positions && making.ends && (result = find_groups(&making, options)) == 0)
        result = make_all(&making) ? 0 : PERFILE_ERROR_MEMORY;
    free_nodes(&making, &making.positions);
    free_nodes(&making, &making.ends);
    pf_free(calls->allocator, making.of_frame, (making.frame_count + 1) * sizeof(*making.of_frame));
    return result;
}

int perfile_calls_open(const struct perfile_profile *profile, const struct perfile_calls_options *options,
                       struct perfile_calls **calls, struct perfile_error *error)
{
    struct perfile_calls_options all = PERFILE_CALLS_OPTIONS_INIT;
    *calls = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "calls options", error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_calls *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "calls");
    made->allocator = allocator;
    pf_arena_open(&made->arena, allocator);
    count_things(made, profile);
    result = make_calls(made, profile, &all);
    if (result == 0)
        *calls = made;
    else
        perfile_calls_close(made);
    if (result == PERFILE_ERROR_ARGUMENT)
        return pf_fail(error, result, PERFILE_NO_OFFSET, "calls options", "a group's number is not below group_count");
    return result == 0 ? 0 : pf_fail_memory(error, "calls");
}

void perfile_calls_close(struct perfile_calls *calls)
{
    if (!calls)
        return;
    pf_arena_close(&calls->arena);
    pf_free(calls->allocator, calls, sizeof(*calls));
}
