/* SPDX-License-Identifier: MIT */
/*
 * Samples instead of a hardware trace. The recording is read once before for its AUXTRACE records, whose payloads are
 * queues by their number; then the samples of all queues are written in the order of time, each before the first record
 * that is later.
 */
#ifndef PF_EDIT_TRACE_H
#define PF_EDIT_TRACE_H

#include "edit/edit.h"

struct pf_trace;

/* How code is read: read_code of the options of inject. */
struct pf_trace_code {
    size_t (*read)(void *context, struct perfile_session *session, int32_t pid, uint64_t address, void *to,
                   size_t bytes);
    void *context;
};

/*
 * Reads `itrace` (letters as those of perf's --itrace; "" asks for the default) and the recording, which is rewound.
 * ABSENT: the recording has no trace, or it is a stream; UNSUPPORTED: a trace that is not decoded here; ARGUMENT.
 */
int pf_trace_open(struct pf_edit *edit, const char *itrace, const struct pf_trace_code *code, struct pf_trace **trace,
                  struct perfile_error *error);
/* How many samples were written. */
uint64_t pf_trace_samples(const struct pf_trace *trace);
/* NULL is allowed. */
void pf_trace_close(struct pf_trace *trace);
/* It has to be the last step: what others leave out is not seen. */
struct pf_edit_step pf_trace_step(struct pf_trace *trace);

#endif
