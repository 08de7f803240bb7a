/* SPDX-License-Identifier: MIT */
#include "base/work_parts.h"

#include "base/bytes.h"

struct doing {
    const struct pf_work_parts *parts;
    size_t next;
};

static bool choose_part(void *context, void *item, unsigned worker)
{
    struct doing *doing = context;
    (void)worker;
    *(size_t *)item = doing->next++;
    return doing->next < doing->parts->count;
}

static bool do_part(void *context, void *item, unsigned worker)
{
    const struct doing *doing = context;
    (void)worker;
    doing->parts->work(doing->parts->context, *(const size_t *)item);
    return true;
}

/* False: there is no memory for that. */
static bool do_together(const struct pf_work_parts *parts, const struct perfile_allocator *allocator)
{
    static const struct pf_stage stages[] = {{.work = choose_part}, {.work = do_part, .parallel = true}};
    struct doing doing = {.parts = parts};
    size_t items[2 * PF_THREADS_MAX + 1];
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = parts->threads,
                                        .context = &doing,
                                        .items = items,
                                        .item_bytes = sizeof(*items),
                                        .item_count = pf_stages_items(parts->threads)};
    struct pf_stages *running = pf_stages_open(&plan, allocator);
    while (running && pf_stages_next(running))
        ;
    pf_stages_close(running);
    return running;
}

void pf_work_parts_do(const struct pf_work_parts *parts, const struct perfile_allocator *allocator)
{
    if (parts->threads > 1 && parts->count > 1 && do_together(parts, allocator))
        return;
    for (size_t i = 0; i < parts->count; i++)
        parts->work(parts->context, i);
}
