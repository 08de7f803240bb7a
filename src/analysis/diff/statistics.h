/* SPDX-License-Identifier: MIT */
/*
 * Are two sets of numbers different? The number of a recording is one observation, however many samples it is made of:
 * they say nothing about how much the next run differs.
 */
#ifndef PF_ANALYSIS_DIFF_STATISTICS_H
#define PF_ANALYSIS_DIFF_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

/* Student's t distribution; df INFINITY is the normal distribution, and df need not be an integer. */
double pf_t_upper(double t, double df);     /* the probability of more than t */
double pf_t_two_sided(double t, double df); /* of being as far from 0 */
double pf_t_quantile(double p, double df);  /* p above 0.5 */

/* An observation: what a recording weighs, and the samples that this was estimated from. */
struct pf_observations {
    const double *weights;
    size_t count;
    double samples; /* of all */
};

struct pf_comparison {
    struct pf_observations before, after;
    double unit;  /* what a sample weighs */
    double noise; /* assumed coefficient of variation between runs, where none can be seen; 0: none is */
};

struct pf_difference {
    double before, after; /* means */
    double difference, error, df;
    double p;                     /* two-sided */
    double low, high;             /* 95 % */
    double inner_low, inner_high; /* 90 % */
    double detectable;            /* would be found with a probability of 80 % */
    bool sampling_only;           /* nothing is known of how runs differ: no verdict can be given */
};

/*
 * Welch's test where both sides have several observations; one against three or more is compared with the spread of
 * those; else there is only the error of sampling, and the noise that is assumed. No variance is assumed to be less
 * than a quarter of that of counting: few observations may agree by chance.
 */
void pf_compare(const struct pf_comparison *comparison, struct pf_difference *difference);

/* One-sided p of a difference above `limit`. */
double pf_compare_above(const struct pf_difference *difference, double limit);

/*
 * The adjustment of Benjamini and Hochberg, in place: p becomes q. `order` has capacity for `count` numbers, and gets
 * the indexes of p in ascending order.
 */
void pf_adjust(double *p, size_t *order, size_t count);

/* Interval of the mean of one side alone, 95 %. */
void pf_mean_interval(const struct pf_observations *side, double unit, double *low, double *high);

#endif
