/* SPDX-License-Identifier: MIT */
/* Names of frames as flame graphs have them: short, and without what separates frames and lines. */
#ifndef PF_ANALYSIS_LABEL_H
#define PF_ANALYSIS_LABEL_H

#include <perfile/profile.h>

#include "base/memory.h"

/* Whether it names a function: else a label names the module. */
bool pf_label_is_named(const char *name);
/*
 * The name, or "[FILE]" of the module's path where there is none; `module` may be NULL. `more` bytes can be appended.
 * NULL: out of memory.
 */
char *pf_label_make(struct pf_arena *arena, const char *name, const char *module, size_t more);
/*
 * The name without separators, and with escapes for what cannot be printed; `more` bytes can be appended. NULL: out of
 * memory.
 */
char *pf_label_one_line(struct pf_arena *arena, char *name, size_t more, bool thread);
/*
 * Removes the parameters and quotes of the name of a function. An empty name becomes "-": `name` must have at least 2
 * bytes.
 */
void pf_label_tidy(char *name, bool jit);
/* All of these together: the name of a frame in folded stacks. NULL: out of memory. */
const char *pf_label_of_frame(struct pf_arena *arena, const char *name, const char *module, bool jit);

/* What tables and exports name a function: complete, or its label where it has no name. */
static inline const char *pf_label_or_name(const struct perfile_profile_function *function)
{
    return pf_label_is_named(function->name) ? function->name : function->label;
}

#endif
