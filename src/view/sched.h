/* SPDX-License-Identifier: MIT */
/* What the views of the scheduler share. */
#ifndef PF_VIEW_SCHED_H
#define PF_VIEW_SCHED_H

#include "analysis/events/sched.h"
#include "view/gathered.h"

/* To be the first member of a view's state. All zeros may be closed, too. */
struct pf_sched_view {
    struct perfile_table *table;
    struct pf_sched sched;
};

/*
 * `with_stacks`: switches come with their stacks, if these were recorded. Without, another thread may read ahead until
 * the end or pf_sched_stop.
 */
int pf_sched_view_open(struct pf_sched_view *view, struct perfile_table *table, bool with_stacks,
                       struct perfile_error *error);
/* Reads all, once, for table->all: `take` is called for each event; false: out of memory. */
void pf_sched_view_read(struct pf_sched_view *view, bool (*take)(void *state, struct pf_sched *sched), void *state);
/* For struct pf_view, where the state begins with this. */
void pf_sched_view_losses(const void *state, struct perfile_losses *losses);
void pf_sched_view_unmatched(const void *state, perfile_on_unmatched *notify, void *context);
void pf_sched_view_notes(void *state, pf_on_note *notify, void *context);

/* For views with a row for events of the scheduler as they come, whose state is nothing but this. */
void pf_sched_rows_close(void *state);

/* Null without a number. */
static inline void pf_set_percentile(struct pf_vector *vector, const struct pf_sched_sum *sum, double percent)
{
    pf_set_quantile(vector, &sum->stats, &sum->histogram, percent);
}
/* The values of a duration: null of none. */
static inline void pf_set_of(struct pf_vector *vector, const struct pf_sched_sum *sum, uint64_t value)
{
    pf_set_stat(vector, &sum->stats, value);
}
void pf_set_task_name(struct pf_vector *vector, const struct pf_sched_task *task);
/* Of the idle task it is 0. */
void pf_set_task_pid(struct pf_vector *vector, const struct pf_sched_task *task);
/* "S"; null when it is not known. */
void pf_set_letter(struct pf_vector *vector, char letter);

#endif
