/* SPDX-License-Identifier: MIT */
/*
 * Decodes a trace of the flow ahead on other threads: from each synchronization to the next one. What they come to is a
 * list of steps, which are delivered one after the other. So whatever depends on more than one span, as stacks and
 * periods, is computed as with one thread.
 *
 * The queue's own decoder goes on where that is not possible: it is the only one that reads code, so it delivers what
 * runs for the first time. A span is used when that decoder, or the span before, arrives at its synchronization in the
 * state that was guessed for it, while code is that of the same mappings. Otherwise the own decoder decodes it again.
 */
#ifndef PF_HWTRACE_FLOW_SPANS_H
#define PF_HWTRACE_FLOW_SPANS_H

#include "base/workers.h"
#include "hwtrace/flow_samples.h"
#include "hwtrace/queues.h"

struct pf_flow_spans;

struct pf_flow_spans_setup {
    const struct perfile_allocator *allocator;
    struct pf_workers *workers;
    const struct pf_flow_decoder *decoder; /* with `ahead` */
    struct pf_flow_setup queue;            /* with which the state of the queue's own decoder was opened */
    void *state;                           /* that state */
    struct pf_aux_stream *stream;          /* the context of its walk */
    unsigned count;                        /* of spans that are decoded ahead at a time */
    size_t min_bytes;                      /* of a span, if the trace goes on; 0: as many as is good */
};

/* What the setup points at must outlive it. NULL when out of memory. */
struct pf_flow_spans *pf_flow_spans_open(const struct pf_flow_spans_setup *setup);
/* NULL is allowed. */
void pf_flow_spans_close(struct pf_flow_spans *spans);
/* The walk is at the start of a run of buffers, or where in there it shall start. */
void pf_flow_spans_start_run(struct pf_flow_spans *spans);
/* As those of the decoder. After `seek` the offset of the queue's walk is that up to which packets were read. */
int pf_flow_spans_seek(struct pf_flow_spans *spans, uint64_t *time, struct perfile_error *error);
int pf_flow_spans_next(struct pf_flow_spans *spans, struct pf_flow_step *step, struct perfile_error *error);
/*
 * Counts the steps that come next, as pf_flow_samples_merge does, as far as they were decoded ahead and their time, in
 * nanoseconds, is before this one. True: *time is that of what comes next, as if `seek` had come to it.
 */
bool pf_flow_spans_merge(struct pf_flow_spans *spans, struct pf_flow_samples *samples, uint64_t before, uint64_t *time);
/* Nothing is decoded ahead now, and bytes are counted up to what was delivered last. */
void pf_flow_spans_settle(struct pf_flow_spans *spans);

#endif
