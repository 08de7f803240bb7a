/* SPDX-License-Identifier: MIT */
#include "view/gathered.h"

#include "base/error.h"

int pf_gathered_open(struct pf_gathered *gathered, struct perfile_table *table, struct perfile_error *error)
{
    const struct pf_event_source source = {table->allocator, table->options.filter, table->options.progress,
                                           table->options.progress_context};
    gathered->table = table;
    return pf_event_source_open(&source, table->reader, &gathered->delivery, error);
}

void pf_gathered_close(struct pf_gathered *gathered)
{
    pf_delivery_close(gathered->delivery);
}

bool pf_gathered_read(struct pf_gathered *gathered, bool (*take)(void *state, const struct pf_delivered *item),
                      void *state)
{
    if (gathered->done)
        return false;
    gathered->done = true;
    while ((gathered->result = pf_delivery_next(gathered->delivery, &gathered->item, &gathered->error)) > 0)
        if (!take(state, &gathered->item)) {
            gathered->result = pf_fail_memory(&gathered->error, "events");
            break;
        }
    return true;
}

int pf_gathered_row(struct pf_gathered *gathered, size_t count, struct perfile_error *error)
{
    if (gathered->result < 0 && error)
        *error = gathered->error;
    if (gathered->result == PERFILE_ERROR_MEMORY || gathered->next_row >= count)
        return gathered->result;
    gathered->row = gathered->next_row++;
    return 1;
}

void pf_gathered_losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_gathered *gathered = state;
    const struct perfile_counts *counts = perfile_reader_counts(gathered->table->reader);
    losses->filtered = pf_delivery_filtered(gathered->delivery);
    losses->lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
}

void pf_gathered_unmatched(const void *state, perfile_on_unmatched *notify, void *context)
{
    pf_delivery_notify_unmatched(((const struct pf_gathered *)state)->delivery, notify, context);
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
