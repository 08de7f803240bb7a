/* SPDX-License-Identifier: MIT */
#include "analysis/stats.h"

#include <math.h>

void pf_stats_add(struct pf_stats *stats, uint64_t value)
{
    stats->min = stats->count ? pf_min(stats->min, value) : value;
    stats->max = pf_max(stats->max, value);
    stats->sum += value;
    stats->count++;
    const double difference = (double)value - stats->mean;
    stats->mean += difference / (double)stats->count;
    stats->squares += difference * ((double)value - stats->mean);
}

double pf_stats_error_percent(const struct pf_stats *stats)
{
    const double count = (double)stats->count;
    if (stats->count < 2 || stats->mean == 0)
        return 0;
    return 100 * sqrt(stats->squares / (count - 1) / count) / stats->mean;
}

/* Where in its bucket the number stands that `before` others of `count` are below. */
static uint64_t position_in_bucket(unsigned bucket, double before, double count)
{
    const double first = bucket ? (double)(1ull << bucket) : 0, width = bucket ? first : 2;
    return (uint64_t)(first + (width - 1) * (before + 0.5) / count);
}

uint64_t pf_histogram_percentile(const struct pf_histogram *histogram, const struct pf_stats *stats, double percent)
{
    if (!stats->count)
        return 0;
    const double rank = ceil(percent / 100 * (double)stats->count) - 1; /* from 0 on */
    double before = 0;
    for (unsigned i = 0; i < PF_HISTOGRAM_BUCKETS; i++) {
        const double count = (double)histogram->buckets[i];
        if (count > 0 && rank < before + count)
            return pf_min(pf_max(position_in_bucket(i, rank - before, count), stats->min), stats->max);
        before += count;
    }
    return stats->max;
}
