/* SPDX-License-Identifier: MIT */
/* What many numbers have in common, taken one by one: sums, spread, and how they are distributed. */
#ifndef PF_ANALYSIS_STATS_H
#define PF_ANALYSIS_STATS_H

#include "base/bytes.h"

struct pf_stats {
    uint64_t count, sum, min, max; /* all 0 without numbers */
    double mean, squares;          /* Welford: of the differences to the mean */
};

void pf_stats_add(struct pf_stats *stats, uint64_t value);
/* The standard error of the mean in percent of it; 0 of less than two numbers. */
double pf_stats_error_percent(const struct pf_stats *stats);
/* Rounded down; 0 without numbers. */
static inline uint64_t pf_stats_average(const struct pf_stats *stats)
{
    return stats->count ? stats->sum / stats->count : 0;
}

enum { PF_HISTOGRAM_BUCKETS = 64 };

/* Bucket i has what is at least 2^i and below 2^(i+1); the first has 0, too. */
struct pf_histogram {
    uint64_t buckets[PF_HISTOGRAM_BUCKETS];
};

static inline unsigned pf_histogram_bucket(uint64_t value)
{
    return value ? 63u - (unsigned)__builtin_clzll(value) : 0;
}

static inline void pf_histogram_add(struct pf_histogram *histogram, uint64_t value)
{
    histogram->buckets[pf_histogram_bucket(value)]++;
}

/*
 * The number that `percent` of all numbers do not exceed, as if numbers were spread evenly in their bucket; never
 * outside of the smallest and the largest number of `stats`. 0 without numbers.
 */
uint64_t pf_histogram_percentile(const struct pf_histogram *histogram, const struct pf_stats *stats, double percent);

#endif
