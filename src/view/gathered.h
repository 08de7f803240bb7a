/* SPDX-License-Identifier: MIT */
/* For views over events that read all of them before their first row. */
#ifndef PF_VIEW_GATHERED_H
#define PF_VIEW_GATHERED_H

#include "analysis/events/source.h"
#include "analysis/stats.h"
#include "view/view.h"

/* To be the first member of a view's state. All zeros may be closed, too. */
struct pf_gathered {
    struct perfile_table *table;
    struct pf_delivery *delivery;
    struct pf_delivered item;
    bool done;
    int result; /* how the reading ended */
    struct perfile_error error;
    size_t row, next_row; /* the one in hand, and the next one */
};

int pf_gathered_open(struct pf_gathered *gathered, struct perfile_table *table, struct perfile_error *error);
void pf_gathered_close(struct pf_gathered *gathered);
/* Reads all: `take` is called for each item; false: out of memory. False: it was done before. */
bool pf_gathered_read(struct pf_gathered *gathered, bool (*take)(void *state, const struct pf_delivered *item),
                      void *state);
/* 1 and gathered->row, 0 at the end, or the error of the reading. */
int pf_gathered_row(struct pf_gathered *gathered, size_t count, struct perfile_error *error);
/* For struct pf_view, where the state begins with this. */
void pf_gathered_losses(const void *state, struct perfile_losses *losses);
void pf_gathered_unmatched(const void *state, perfile_on_unmatched *notify, void *context);

/* Null without numbers. */
void pf_set_stat(struct pf_vector *vector, const struct pf_stats *stats, uint64_t value);
void pf_set_quantile(struct pf_vector *vector, const struct pf_stats *stats, const struct pf_histogram *histogram,
                     double percent);
/* Counts of the buckets from 2^0 ns on, without the zeros at the end. */
void pf_set_buckets(struct pf_vector *vector, const struct pf_histogram *histogram);

#endif
