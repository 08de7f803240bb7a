/* SPDX-License-Identifier: MIT */
/* What views of sampled addresses share: the annotation, and which of its functions are in the table. */
#ifndef PF_VIEW_ANNOTATED_H
#define PF_VIEW_ANNOTATED_H

#include "analysis/annotate_choose.h"
#include "view/view.h"

/* To be the first member of a view's state. All zeros may be closed, too. */
struct pf_annotated {
    struct perfile_table *table;
    struct perfile_annotation *annotation;
    struct pf_annotation_choice choice;
    bool complete; /* all of a function, also where nothing was sampled */
    /* the function in hand */
    struct perfile_annotation_function function;
    struct perfile_module module;
    bool mapped;
    uint64_t function_id;
};

int pf_annotated_open(struct pf_annotated *annotated, struct perfile_table *table, struct perfile_error *error);
void pf_annotated_close(struct pf_annotated *annotated);
/* The chosen function of this number is in hand; MEMORY. */
int pf_annotated_take(struct pf_annotated *annotated, size_t number, struct perfile_error *error);
/* For struct pf_view. */
void pf_annotated_losses(const void *state, struct perfile_losses *losses);

/* Columns of the function in hand. */
void pf_annotated_put_symbol(void *state, struct pf_vector *vector);
void pf_annotated_put_function_id(void *state, struct pf_vector *vector);
void pf_annotated_put_label(void *state, struct pf_vector *vector);
void pf_annotated_put_dso(void *state, struct pf_vector *vector);
void pf_annotated_put_build_id(void *state, struct pf_vector *vector);
void pf_annotated_put_kind(void *state, struct pf_vector *vector);

/* Returns the share of the total, in percent. */
static inline double pf_annotated_percent(uint64_t value, uint64_t total)
{
    return total ? 100.0 * (double)value / (double)total : 0;
}

#endif
