/* SPDX-License-Identifier: MIT */
#include "analysis/basic_blocks.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "platform/platform.h"

void pf_basic_blocks_open(struct pf_basic_blocks *blocks, struct pf_profile *profile,
                          const struct perfile_allocator *allocator)
{
    *blocks = (struct pf_basic_blocks){.allocator = allocator, .profile = profile};
    pf_pairs_open(&blocks->index, allocator);
}

void pf_basic_blocks_close(struct pf_basic_blocks *blocks)
{
    pf_free(blocks->allocator, blocks->items, blocks->capacity * sizeof(*blocks->items));
    pf_free(blocks->allocator, blocks->events, blocks->event_capacity * sizeof(*blocks->events));
    pf_pairs_close(&blocks->index);
}

/* ---- blocks ---- */

static const struct pf_frame_info *frame_at(const struct pf_basic_blocks *blocks, uint32_t frame)
{
    return pf_profile_frame(blocks->profile, frame);
}

/* The block that ends with a branch from there; NULL when out of memory. */
static struct pf_basic_block *block_of(struct pf_basic_blocks *blocks, uint32_t event, uint32_t end_frame,
                                       uint64_t from)
{
    uint32_t number = (uint32_t)blocks->count;
    if (pf_pairs_get(&blocks->index, event, end_frame, &number))
        return &blocks->items[number];
    const uint64_t end = frame_at(blocks, end_frame)->address;
    const struct pf_basic_block block = {.event = event,
                                         .start_frame = pf_profile_frame_at(blocks->profile, from - end),
                                         .end_frame = end_frame,
                                         .start = PF_BLOCK_NO_START,
                                         .end = end};
    if (block.start_frame == UINT32_MAX || blocks->count == UINT32_MAX ||
        !pf_pairs_put(&blocks->index, event, end_frame, number) ||
        !PF_APPEND(blocks->allocator, blocks->items, blocks->count, blocks->capacity, block))
        return NULL;
    return &blocks->items[number];
}

/* A branch, and where the one before it went; UINT32_MAX: there was none. False when out of memory. */
static bool add_branch(struct pf_basic_blocks *blocks, uint32_t event, const struct perfile_branch *branch,
                       uint32_t came_to)
{
    const uint32_t end = pf_profile_frame_at(blocks->profile, branch->from);
    if (end == UINT32_MAX)
        return false;
    if (!branch->cycles || !frame_at(blocks, end)->name)
        return true;
    struct pf_basic_block *block = block_of(blocks, event, end, branch->from);
    if (!block)
        return false;
    block->count++;
    (void)pf_add_to_sum(&block->cycles, branch->cycles);
    const struct pf_frame_info *start = came_to == UINT32_MAX ? NULL : frame_at(blocks, came_to);
    if (start && start->function == frame_at(blocks, end)->function && start->address < block->end &&
        start->address < block->start) {
        block->start = start->address;
        block->start_frame = came_to;
    }
    return true;
}

/* Stacks have the last branch first; when that has no cycles, none of the stack has any. */
static bool add_branches(struct pf_basic_blocks *blocks, uint32_t event, const struct perfile_branch_stack *stack)
{
    struct pf_block_event *of = &blocks->events[event];
    struct perfile_branch branch;
    uint32_t came_to = UINT32_MAX;
    perfile_branch_at(stack, 0, &branch, sizeof(branch));
    if (!branch.cycles)
        return true;
    for (uint64_t i = stack->count; i-- > 0;) {
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        (void)pf_add_to_sum(&of->cycles, branch.cycles);
        if (!add_branch(blocks, event, &branch, came_to))
            return false;
        came_to = pf_profile_frame_at(blocks->profile, branch.to);
        if (came_to == UINT32_MAX)
            return false;
    }
    return true;
}

bool pf_basic_blocks_take(void *context, const struct pf_profile_sample *sample)
{
    struct pf_basic_blocks *blocks = context;
    if (!sample->event || !(sample->decoded->present & PERFILE_SAMPLE_BRANCH_STACK))
        return true;
    const struct perfile_branch_stack *stack = &sample->decoded->branch_stack;
    struct pf_block_event *of =
        PF_ELEMENT(blocks->allocator, blocks->events, blocks->event_capacity, sample->event->index);
    if (!of)
        return false;
    blocks->event_count = pf_max(blocks->event_count, (size_t)sample->event->index + 1);
    of->event = sample->event;
    of->samples += stack->count != 0;
    of->branches += stack->count;
    return !stack->count || add_branches(blocks, sample->event->index, stack);
}

/* ---- order ---- */

static int compare_blocks(const void *left, const void *right, void *context)
{
    const struct pf_basic_block *a = left, *b = right;
    (void)context;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (a->cycles != b->cycles)
        return a->cycles > b->cycles ? -1 : 1;
    return a->end_frame < b->end_frame ? -1 : a->end_frame > b->end_frame;
}

void pf_basic_blocks_end(struct pf_basic_blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++)
        blocks->events[blocks->items[i].event].averages += pf_basic_block_average(&blocks->items[i]);
    if (blocks->count)
        pf_platform_sort(blocks->items, blocks->count, sizeof(*blocks->items), compare_blocks, NULL);
}

double pf_basic_block_average(const struct pf_basic_block *block)
{
    return (double)block->cycles / (double)block->count;
}

/* ---- texts ---- */

void pf_basic_block_put_line(const struct pf_basic_blocks *blocks, const struct pf_basic_block *block, bool of_start,
                             bool full_path, struct pf_text *text)
{
    const struct pf_frame_info *frame = frame_at(blocks, of_start ? block->start_frame : block->end_frame);
    const char *file = pf_frame_address(frame)->file, *slash = file && !full_path ? strrchr(file, '/') : NULL;
    const uint64_t start = block->start == PF_BLOCK_NO_START ? 0 : block->start;
    if (file) {
        pf_put_name(text, slash ? slash + 1 : file);
        pf_put_format(text, ":%" PRIu32, pf_frame_address(frame)->line);
    } else {
        pf_put_name(text, frame->name);
        pf_put_format(text, "+%" PRIu64, of_start ? start : block->end);
    }
}
