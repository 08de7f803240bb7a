/* SPDX-License-Identifier: MIT */
/* The samples of the hardware trace of a reader, which perfile_trace_open has opened, for deliveries. */
#ifndef PF_ANALYSIS_TRACE_SAMPLES_H
#define PF_ANALYSIS_TRACE_SAMPLES_H

#include "analysis/synthesizer.h"

/* synthesizer->context is NULL when the reader has no trace that was opened. Nothing is to be closed. */
void pf_trace_samples_synthesizer(struct perfile_reader *reader, struct pf_synthesizer *synthesizer);

#endif
