/* SPDX-License-Identifier: MIT */
/* What a conversion may change, each as a step. */
#ifndef PF_EDIT_CONVERT_H
#define PF_EDIT_CONVERT_H

#include "edit/edit.h"

/* ---- strip.c ---- */

struct pf_strip {
    uint64_t parts; /* bits of sample_type that go */
    uint64_t bytes; /* of what was dropped with them */
};
/* ARGUMENT when a name is not known. */
int pf_strip_open(struct pf_strip *strip, const char *parts, struct perfile_error *error);
struct pf_edit_step pf_strip_step(struct pf_strip *strip);

/* ---- unwind.c ---- */

struct pf_unwind_step;
int pf_unwind_open(const struct perfile_convert_options *options, struct pf_edit *edit, struct pf_unwind_step **unwind,
                   struct perfile_error *error);
void pf_unwind_close(struct pf_unwind_step *unwind);
struct pf_edit_step pf_unwind_step(struct pf_unwind_step *unwind);

/* ---- compat.c ---- */

struct pf_compat;
/* Reads the recording for callchains that come later, when they must be joined. `version` is like "6.1". */
int pf_compat_open(const char *version, struct pf_edit *edit, struct pf_compat **age, struct perfile_error *error);
void pf_compat_close(struct pf_compat *age);
struct pf_edit_step pf_compat_step(struct pf_compat *age);

#endif
