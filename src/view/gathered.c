/* SPDX-License-Identifier: MIT */
#include "view/gathered.h"

#include "base/error.h"

int pf_gathered_open(struct pf_gathered *gathered, struct perfile_table *table, struct perfile_error *error)
{
    const struct pf_event_source source = {table->allocator, table->options.filter, table->options.progress,
                                           table->options.progress_context};
    gathered->table = table;
    const int result = pf_event_source_open(&source, table->reader, &gathered->delivery, error);
    table->delivery = gathered->delivery;
    return result;
}

bool pf_gathered_read(struct pf_gathered *gathered, bool (*take)(void *state, const struct pf_delivered *item),
                      void *state)
{
    struct pf_all_rows *all = &gathered->table->all;
    if (all->read)
        return false;
    all->read = true;
    while ((all->result = pf_delivery_next(gathered->delivery, &gathered->item, &all->error)) > 0)
        if (!take(state, &gathered->item)) {
            all->result = pf_fail_memory(&all->error, "events");
            break;
        }
    return true;
}

void pf_set_stat(struct pf_vector *vector, const struct pf_stats *stats, uint64_t value)
{
    if (stats->count)
        pf_set_u64(vector, value);
    else
        pf_set_null(vector);
}

void pf_set_quantile(struct pf_vector *vector, const struct pf_stats *stats, const struct pf_histogram *histogram,
                     double percent)
{
    pf_set_stat(vector, stats, pf_histogram_percentile(histogram, stats, percent));
}

void pf_set_buckets(struct pf_vector *vector, const struct pf_histogram *histogram)
{
    size_t count = PF_HISTOGRAM_BUCKETS;
    while (count && !histogram->buckets[count - 1])
        count--;
    for (size_t i = 0; i < count; i++)
        pf_add_address(vector, histogram->buckets[i]);
    pf_end_list(vector);
}
