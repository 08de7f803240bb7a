/* SPDX-License-Identifier: MIT */
/* Which of the inputs has the next record: by a heap, so that thousands of recordings cost little more than two. */
#include "edit/merge.h"

uint64_t pf_merge_body_time(const struct pf_merge_input *input)
{
    const struct perfile_record *record = input->head;
    union {
        struct perfile_fork fork;
        struct perfile_exit exit;
    } body;
    if (record->event && record->event->attr->sample_id_all)
        return 0; /* its trailer says that it has no time: the recorder wrote it at its start */
    if (record->type == PERFILE_RECORD_FORK &&
        perfile_record_decode(input->reader, record, &body.fork, sizeof(body.fork), NULL) == 0)
        return body.fork.time;
    if (record->type == PERFILE_RECORD_EXIT &&
        perfile_record_decode(input->reader, record, &body.exit, sizeof(body.exit), NULL) == 0)
        return body.exit.time;
    return 0;
}

/* Of equal times, the earlier input's comes first. */
static bool add(struct pf_merge *merge, struct pf_merge_input *input)
{
    const struct pf_heap_item item = {pf_merge_head_time(input), input->number, (uintptr_t)input};
    return pf_heap_put(&merge->queue, &item);
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
            if (ends.first && ends.first->duplicate != input->duplicate)
                ends.other = ends.first;
            ends.first = input;
        } else if (input->duplicate != ends.first->duplicate &&
                   (!ends.other || input->last_time < ends.other->last_time)) {
            ends.other = input;
        }
    }
    return ends;
}

/*
 * What a recorder found at its start has no time. When another recording ended before this one began, it must not be
 * written before the records of the former: the pids may belong to other processes.
 */
static bool must_wait(const struct pf_merge_input *input, const struct ends *ends)
{
    const struct pf_merge_input *end =
        ends->first && ends->first->duplicate == input->duplicate ? ends->other : ends->first;
    return !input->started && input->has_span && end && end->last_time < input->first_time;
}

/* False when out of memory, as below. */
static bool admit(struct pf_merge *merge)
{
    if (!merge->waiting)
        return true;
    const struct ends ends = find_ends(merge);
    const size_t count = merge->waiting;
    merge->waiting = 0;
    for (size_t i = 0; i < count; i++) {
        struct pf_merge_input *input = merge->waiters[i];
        if (must_wait(input, &ends))
            merge->waiters[merge->waiting++] = input;
        else if (!add(merge, input))
            return false;
    }
    return true;
}

bool pf_merge_open_queue(struct pf_merge *merge)
{
    merge->waiters = pf_new(merge->allocator, merge->input_count * sizeof(*merge->waiters));
    if (!merge->waiters)
        return false;
    for (size_t i = 0; i < merge->input_count; i++)
        if (merge->inputs[i].head)
            merge->waiters[merge->waiting++] = &merge->inputs[i];
    return admit(merge);
}

struct pf_merge_input *pf_merge_first(const struct pf_merge *merge, uint64_t *until)
{
    const struct pf_heap_item *first = pf_heap_first(&merge->queue);
    *until = pf_heap_second_time(&merge->queue);
    return first ? (struct pf_merge_input *)first->value : NULL;
}

bool pf_merge_moved(struct pf_merge *merge, const struct pf_merge_input *first)
{
    if (first->head) {
        pf_heap_move_first(&merge->queue, pf_merge_head_time(first));
        return true;
    }
    pf_heap_take(&merge->queue);
    return admit(merge);
}
