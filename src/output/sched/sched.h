/* SPDX-License-Identifier: MIT */
/* The texts of `perf sched`: its columns and widths. */
#ifndef PF_OUTPUT_SCHED_SCHED_H
#define PF_OUTPUT_SCHED_SCHED_H

#include "analysis/events/sched.h"
#include "output/output.h"

/*
 * By what an output was asked for. `max_frames`: switches come with so much of their stacks, if these were recorded; 0:
 * without.
 */
int pf_sched_text_open(struct pf_sched *sched, struct perfile_reader *reader,
                       const struct perfile_output_options *options, size_t max_frames, struct perfile_error *error);
/* Reports what the recording does not have, then closes. */
void pf_sched_text_close(struct pf_sched *sched, const struct perfile_output_options *options);
/* Puts a time like "66.007431", cut to microseconds, right-aligned to `width` characters. */
void pf_put_sched_time(struct pf_text *out, uint64_t ns, int width);
/* Puts a time like "0.085 ", cut to microseconds, with `width` characters before the point. */
void pf_put_sched_ms(struct pf_text *out, uint64_t ns, int width);
/* Puts the text, and blanks after it up to the width. */
void pf_put_sched_padded(struct pf_text *out, const char *text, size_t bytes, int width);
/* Puts a CPU like " [0000] ". */
void pf_put_sched_cpu(struct pf_text *out, uint32_t cpu);
/* The lines about losses; `wakings` are those that the output counted. */
void pf_put_sched_losses(struct pf_text *out, const struct pf_sched *sched, uint64_t wakings);

#endif
