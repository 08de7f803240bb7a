/* SPDX-License-Identifier: MIT */
#include "output/export/stacks.h"

#include "analysis/label.h"
#include "base/bytes.h"

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void name_function(struct pf_export_stacks *stacks, size_t number)
{
    struct pf_export_function *named = &stacks->functions[number];
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    if (perfile_profile_function_at(stacks->profile, number, &function) < 0)
        return;
    named->name = pf_label_or_name(&function);
    named->address = function.address;
    if (function.file && *function.file) {
        named->file = function.file;
        named->line = function.start_line;
    }
    if (function.module != PERFILE_NO_ID && perfile_profile_module_at(stacks->profile, function.module, &module) == 0 &&
        *module.name)
        named->module = module.name;
}

/*
 * Names all functions. Where the file that a function begins in is not known, the first file that a frame of it names
 * is used.
 */
static bool name_functions(struct pf_export_stacks *stacks)
{
    stacks->function_count = perfile_profile_function_count(stacks->profile);
    stacks->frame_count = perfile_profile_frame_count(stacks->profile);
    stacks->functions = pf_new(stacks->allocator, (stacks->function_count + 1) * sizeof(*stacks->functions));
    stacks->function_of = pf_new(stacks->allocator, (stacks->frame_count + 1) * sizeof(*stacks->function_of));
    if (!stacks->functions || !stacks->function_of)
        return false;
    for (size_t i = 0; i < stacks->function_count; i++)
        name_function(stacks, i);
    for (size_t i = 0; i < stacks->frame_count; i++) {
        struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
        (void)!perfile_profile_frame_at(stacks->profile, i, &frame); /* there is such a frame */
        stacks->function_of[i] = frame.function;
        if (!stacks->functions[frame.function].file && frame.file && *frame.file)
            stacks->functions[frame.function].file = frame.file;
    }
    return true;
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

uint32_t pf_export_number(struct pf_pairs *pairs, uint64_t a, uint64_t b, uint32_t *count)
{
    uint32_t number;
    if (PF_LIKELY(pf_pairs_get(pairs, a, b, &number)))
        return number;
    return *count < PERFILE_NO_ID - 1 && pf_pairs_put(pairs, a, b, *count) ? (*count)++ : PERFILE_NO_ID;
}

static bool take_nodes(struct pf_export_stacks *stacks)
{
    stacks->node_count = perfile_profile_stack_count(stacks->profile);
    if (!pf_grow(stacks->allocator, &stacks->nodes, &stacks->node_capacity, stacks->node_count + 1,
                 sizeof(*stacks->nodes)))
        return false;
    for (size_t i = 0; i < stacks->node_count; i++) {
        struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
        (void)!perfile_profile_stack_at(stacks->profile, i, &stack);
        stacks->nodes[i] = (struct pf_tree_link){stack.parent, stack.frame};
    }
    return true;
}

/* The innermost function of the stack that is not inlined is the leaf's. */
static bool begins_with(const struct pf_export_stacks *stacks, uint32_t node, uint32_t leaf)
{
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    for (; node != PERFILE_NO_ID; node = stacks->nodes[node].parent) {
        (void)!perfile_profile_frame_at(stacks->profile, stacks->nodes[node].frame, &frame);
        if (frame.kind != PERFILE_FRAME_INLINED)
            return frame.function == stacks->function_of[leaf];
    }
    return false;
}

/* The node of the leaf below the one of its callchain. NO_ID: out of memory. */
static uint32_t add_leaf(struct pf_export_stacks *stacks, struct pf_pairs *known, uint32_t parent, uint32_t leaf)
{
    uint32_t count = (uint32_t)stacks->node_count;
    const uint32_t node = pf_export_number(known, parent, leaf, &count);
    if (count == stacks->node_count)
        return node;
    if (!pf_grow(stacks->allocator, &stacks->nodes, &stacks->node_capacity, count, sizeof(*stacks->nodes)))
        return PERFILE_NO_ID;
    stacks->nodes[node] = (struct pf_tree_link){parent, leaf};
    stacks->node_count = count;
    return node;
}

static bool take_ends(struct pf_export_stacks *stacks)
{
    struct pf_pairs known;
    bool enough = true;
    stacks->sample_count = perfile_profile_sample_count(stacks->profile);
    stacks->ends = pf_new(stacks->allocator, (stacks->sample_count + 1) * sizeof(*stacks->ends));
    pf_pairs_open(&known, stacks->allocator);
    for (size_t i = 0; stacks->ends && i < stacks->sample_count && enough; i++) {
        struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
        (void)!perfile_profile_sample_at(stacks->profile, i, &sample);
        stacks->ends[i] = begins_with(stacks, sample.stack, sample.leaf)
                              ? sample.stack
                              : add_leaf(stacks, &known, sample.stack, sample.leaf);
        enough = stacks->ends[i] != PERFILE_NO_ID;
    }
    pf_pairs_close(&known);
    return stacks->ends && enough;
}

bool pf_export_stacks_open(struct pf_export_stacks *stacks, struct perfile_profile *profile,
                           const struct perfile_allocator *allocator)
{
    *stacks = (struct pf_export_stacks){.allocator = allocator, .profile = profile};
    return name_functions(stacks) && take_nodes(stacks) && take_ends(stacks);
}

void pf_export_stacks_close(struct pf_export_stacks *stacks)
{
    const struct perfile_allocator *allocator = stacks->allocator;
    if (!allocator)
        return;
    pf_free(allocator, stacks->functions, (stacks->function_count + 1) * sizeof(*stacks->functions));
    pf_free(allocator, stacks->function_of, (stacks->frame_count + 1) * sizeof(*stacks->function_of));
    pf_free(allocator, stacks->nodes, stacks->node_capacity * sizeof(*stacks->nodes));
    pf_free(allocator, stacks->ends, (stacks->sample_count + 1) * sizeof(*stacks->ends));
    perfile_profile_close(stacks->profile);
}
