/* SPDX-License-Identifier: MIT */
/* What the two forms of the view `stacks` share. */
#ifndef PF_VIEW_DISTINCT_STACKS_H
#define PF_VIEW_DISTINCT_STACKS_H

#include "view/view.h"

#define PF_STACK_ID_DOC "The same for equal stacks in all recordings: a hash of modules and functions."
#define PF_STACK_DOC "Functions, leaf first, with inlined ones; [dso] where a function is not known."
#define PF_FUNCTION_IDS_DOC "The same as ids, which the view frames has, too."
#define PF_STACKS_INFO                                                                                                 \
    {                                                                                                                  \
        "stacks", "the distinct stacks of each event, with their samples and periods; threads, names and more "        \
                  "apart when asked for"                                                                               \
    }

extern const struct pf_view pf_view_distinct_stacks;

#endif
