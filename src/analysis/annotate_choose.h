/* SPDX-License-Identifier: MIT */
/* Which functions of an annotation are shown. */
#ifndef PF_ANALYSIS_ANNOTATE_CHOOSE_H
#define PF_ANALYSIS_ANNOTATE_CHOOSE_H

#include <perfile/annotate.h>

struct pf_annotation_choice {
    const struct perfile_allocator *allocator;
    uint32_t *ranks; /* ascending */
    size_t count, capacity;
};

/*
 * Chooses the functions that the options ask for; `dsos` and `symbol` are lists. Names that match nothing are reported
 * to the options of the annotation. Errors: ARGUMENT, MEMORY. May be closed after an error, too.
 */
int pf_annotation_choose(struct perfile_annotation *annotation, const struct perfile_annotate_options *options,
                         struct pf_annotation_choice *choice, struct perfile_error *error);
void pf_annotation_choice_close(struct pf_annotation_choice *choice);

#endif
