/* SPDX-License-Identifier: MIT */
/* For tests of decoders that follow code: one of them runs over a trace to its end. */
#ifndef PF_TESTS_FLOW_RUN_H
#define PF_TESTS_FLOW_RUN_H

#include "hwtrace/decoder.h"
#include "hwtrace/flow.h"

#include "counting.h"

struct flow_run {
    const struct pf_aux_decoder *decoder;
    struct pf_aux_walk walk; /* its format and where its pieces come from */
    struct pf_code_source source;
    struct pf_aux_recording recording;
    struct pf_flow_bytes *bytes;
    void (*take)(void *context, const struct pf_flow_step *step);
    void *context;
};

static inline void flow_run(struct flow_run *run)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(NULL);
    const struct pf_flow_decoder *decoder = run->decoder->flow;
    struct pf_flow_code code;
    struct pf_flow_step step;
    uint64_t time;
    const struct pf_flow_setup setup = {
        .walk = &run->walk, .code = &code, .bytes = run->bytes, .recording = &run->recording};
    void *flow = pf_new(allocator, decoder->state_bytes);
    run->walk.format = run->decoder->format;
    assert_true(pf_aux_walk_open(&run->walk, allocator) && pf_flow_code_open(&code, allocator, &run->source) && flow);
    decoder->open(flow, &setup);
    pf_flow_code_enter(&code, 1);
    while (decoder->seek(flow, &time, NULL) > 0)
        while (decoder->next(flow, &step, NULL) > 0)
            run->take(run->context, &step);
    if (decoder->close)
        decoder->close(flow);
    pf_free(allocator, flow, decoder->state_bytes);
    pf_flow_code_close(&code);
    pf_aux_walk_close(&run->walk);
}

#endif
