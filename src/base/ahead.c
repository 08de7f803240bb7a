/* SPDX-License-Identifier: MIT */
#include "base/ahead.h"

#include "base/error.h"
#include "base/stages.h"

/*
 * Batches stay in the caches, and reading one takes longer than waking a thread. What the caller reads is used at once:
 * it stays in the first cache.
 */
enum { BATCH_BYTES = 160 * 1024, BYTES_ALONE = 16 * 1024, BATCHES = 4 };

struct pf_ahead_batch {
    char *items;
    size_t count;
    int result; /* after the items: 1 for more, 0 at the end, or an error */
    struct perfile_error error;
    struct pf_ahead_counts counts;
};

void pf_ahead_open(struct pf_ahead *ahead, const struct pf_ahead_plan *plan)
{
    *ahead = (struct pf_ahead){.plan = *plan, .result = 1};
}

static bool fill(void *context, void *item, unsigned worker)
{
    const struct pf_ahead *ahead = context;
    const struct pf_ahead_plan *plan = &ahead->plan;
    struct pf_ahead_batch *batch = item;
    (void)worker;
    batch->count = 0;
    do
        batch->result = plan->next(plan->context, batch->items + batch->count * plan->item_bytes, &batch->error);
    while (batch->result > 0 && ++batch->count < ahead->batch_items);
    batch->counts = plan->count(plan->context);
    return batch->result > 0;
}

static unsigned count_batches(const struct pf_ahead_plan *plan)
{
    return plan->threads > 1 && !plan->one_by_one ? BATCHES : 1;
}

/* False: out of memory. */
static bool begin(struct pf_ahead *ahead)
{
    static const struct pf_stage stage = {.work = fill};
    const struct pf_ahead_plan *plan = &ahead->plan;
    const unsigned count = count_batches(plan);
    ahead->batch_items = plan->one_by_one ? 1 : (count > 1 ? BATCH_BYTES : BYTES_ALONE) / plan->item_bytes;
    ahead->batches = pf_new(plan->allocator, count * sizeof(*ahead->batches));
    if (!ahead->batches)
        return false;
    for (; ahead->batch_count < count; ahead->batch_count++)
        if (!(ahead->batches[ahead->batch_count].items =
                  pf_new(plan->allocator, ahead->batch_items * plan->item_bytes)))
            return false;
    const struct pf_stages_plan stages = {.stages = &stage,
                                          .stage_count = 1,
                                          .threads = count > 1 ? 2 : 1,
                                          .alone = BATCHES,
                                          .context = ahead,
                                          .items = ahead->batches,
                                          .item_bytes = sizeof(*ahead->batches),
                                          .item_count = count};
    return (ahead->stages = pf_stages_open(&stages, plan->allocator)) != NULL;
}

int pf_ahead_fetch(struct pf_ahead *ahead, struct perfile_error *error)
{
    if (ahead->result > 0 && !ahead->stages && !begin(ahead))
        ahead->result = pf_fail_memory(&ahead->error, "events");
    while (ahead->result > 0 && ahead->item == ahead->end) {
        const struct pf_ahead_batch *batch = pf_stages_next(ahead->stages);
        ahead->item = batch->items;
        ahead->end = batch->items + batch->count * ahead->plan.item_bytes;
        ahead->result = batch->result;
        ahead->error = batch->error;
        ahead->counts = batch->counts;
    }
    if (ahead->item < ahead->end)
        return 1;
    if (ahead->result < 0 && error)
        *error = ahead->error;
    return ahead->result;
}

void pf_ahead_stop(struct pf_ahead *ahead)
{
    pf_stages_close(ahead->stages);
    ahead->stages = NULL;
    if (ahead->result > 0)
        ahead->result = 0;
}

void pf_ahead_close(struct pf_ahead *ahead)
{
    const struct perfile_allocator *allocator = ahead->plan.allocator;
    pf_ahead_stop(ahead);
    for (size_t i = 0; i < ahead->batch_count; i++)
        pf_free(allocator, ahead->batches[i].items, ahead->batch_items * ahead->plan.item_bytes);
    pf_free(allocator, ahead->batches, count_batches(&ahead->plan) * sizeof(*ahead->batches));
    *ahead = (struct pf_ahead){.plan = {.allocator = allocator}};
}
