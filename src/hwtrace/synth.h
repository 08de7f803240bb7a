/* SPDX-License-Identifier: MIT */
/* The text of samples that only decoded traces have: their raw data in perf's words, by the config of their event. */
#ifndef PF_HWTRACE_SYNTH_H
#define PF_HWTRACE_SYNTH_H

#include "base/text.h"

/* Prints nothing where the config is not known, or there are too few bytes. */
void pf_aux_put_synth(struct pf_text *text, uint64_t config, const struct perfile_bytes *raw);

#endif
