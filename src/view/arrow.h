/* SPDX-License-Identifier: MIT */
/* Batches and schemas as others take them. */
#ifndef PF_VIEW_ARROW_H
#define PF_VIEW_ARROW_H

#include "view/view.h"

/* The shown columns. False when out of memory. */
bool pf_arrow_schema(const struct perfile_table *table, struct ArrowSchema *schema);
/* The rows in hand, which are the array's from now on. False when out of memory. */
bool pf_arrow_take(struct perfile_table *table, struct ArrowArray *array);

#endif
