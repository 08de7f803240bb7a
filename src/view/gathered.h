/* SPDX-License-Identifier: MIT */
/* For views over events that read all of them before their first row. */
#ifndef PF_VIEW_GATHERED_H
#define PF_VIEW_GATHERED_H

#include "analysis/events/source.h"
#include "analysis/stats.h"
#include "view/view.h"

/* To be the first member of a view's state. */
struct pf_gathered {
    struct perfile_table *table;
    struct pf_delivery *delivery; /* that the table closes */
    struct pf_delivered item;
};

int pf_gathered_open(struct pf_gathered *gathered, struct perfile_table *table, struct perfile_error *error);
/* Reads all, for table->all: `take` is called for each item; false: out of memory. False: it was done before. */
bool pf_gathered_read(struct pf_gathered *gathered, bool (*take)(void *state, const struct pf_delivered *item),
                      void *state);

/* Null without numbers. */
void pf_set_stat(struct pf_vector *vector, const struct pf_stats *stats, uint64_t value);
void pf_set_quantile(struct pf_vector *vector, const struct pf_stats *stats, const struct pf_histogram *histogram,
                     double percent);
/* Counts of the buckets from 2^0 ns on, without the zeros at the end. */
void pf_set_buckets(struct pf_vector *vector, const struct pf_histogram *histogram);

#endif
