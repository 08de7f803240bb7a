/* SPDX-License-Identifier: MIT */
/* Which of the inputs has the next record: a heap, so that thousands of recordings cost little more than two. */
#include "edit/merge.h"

/* Of equal times, the earlier input's comes first. */
static bool is_before(const struct pf_merge_next *a, const struct pf_merge_next *b)
{
    return a->time < b->time || (a->time == b->time && a->input->number < b->input->number);
}

static void sift_down(struct pf_merge *merge, size_t at)
{
    struct pf_merge_next *queue = merge->queue;
    const struct pf_merge_next moved = queue[at];
    for (size_t child; (child = 2 * at + 1) < merge->queued; at = child) {
        child += child + 1 < merge->queued && is_before(&queue[child + 1], &queue[child]);
        if (is_before(&moved, &queue[child]))
            break;
        queue[at] = queue[child];
    }
    queue[at] = moved;
}

static void add(struct pf_merge *merge, struct pf_merge_input *input)
{
    struct pf_merge_next *queue = merge->queue;
    const struct pf_merge_next added = {pf_merge_head_time(input), input};
    size_t at = merge->queued++;
    for (; at && is_before(&added, &queue[(at - 1) / 2]); at = (at - 1) / 2)
        queue[at] = queue[(at - 1) / 2];
    queue[at] = added;
}

/* ---- those that wait ---- */

/* The recordings that end first, of two different machines or commands at least. */
struct ends {
    const struct pf_merge_input *first, *other; /* NULL: there is none */
};

static struct ends find_ends(const struct pf_merge *merge)
{
    struct ends ends = {NULL, NULL};
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct pf_merge_input *input = &merge->inputs[i];
        if (!input->head || !input->has_span)
            continue;
        if (!ends.first || input->last_time < ends.first->last_time) {
            if (ends.first && ends.first->twin != input->twin)
                ends.other = ends.first;
            ends.first = input;
        } else if (input->twin != ends.first->twin && (!ends.other || input->last_time < ends.other->last_time)) {
            ends.other = input;
        }
    }
    return ends;
}

/*
 * What a recorder found at its start has no time. When another recording was over by then, it must not be said before
 * that one's records: the pids may have become others.
 */
static bool must_wait(const struct pf_merge_input *input, const struct ends *ends)
{
    const struct pf_merge_input *end = ends->first && ends->first->twin == input->twin ? ends->other : ends->first;
    return !input->started && input->has_span && end && end->last_time < input->first_time;
}

static void admit(struct pf_merge *merge)
{
    const struct ends ends = find_ends(merge);
    const size_t count = merge->waiting;
    merge->waiting = 0;
    for (size_t i = 0; i < count; i++) {
        struct pf_merge_input *input = merge->waiters[i];
        if (must_wait(input, &ends))
            merge->waiters[merge->waiting++] = input;
        else
            add(merge, input);
    }
}

bool pf_merge_open_queue(struct pf_merge *merge)
{
    merge->queue = pf_new(merge->allocator, merge->input_count * sizeof(*merge->queue));
    merge->waiters = pf_new(merge->allocator, merge->input_count * sizeof(*merge->waiters));
    if (!merge->queue || !merge->waiters)
        return false;
    for (size_t i = 0; i < merge->input_count; i++)
        if (merge->inputs[i].head)
            merge->waiters[merge->waiting++] = &merge->inputs[i];
    admit(merge);
    return true;
}

struct pf_merge_input *pf_merge_first(const struct pf_merge *merge, uint64_t *until)
{
    *until = UINT64_MAX;
    for (size_t i = 1; i < 3 && i < merge->queued; i++)
        *until = pf_min(*until, merge->queue[i].time);
    return merge->queued ? merge->queue[0].input : NULL;
}

void pf_merge_moved(struct pf_merge *merge)
{
    struct pf_merge_next *first = merge->queue;
    const bool over = !first->input->head;
    if (over)
        *first = merge->queue[--merge->queued];
    else
        first->time = pf_merge_head_time(first->input);
    if (merge->queued)
        sift_down(merge, 0);
    if (over)
        admit(merge);
}
