/* SPDX-License-Identifier: MIT */
/* Samples of the steps that decoders of the flow deliver: instructions, branches with their stacks, events. */
#ifndef PF_HWTRACE_FLOW_SAMPLES_H
#define PF_HWTRACE_FLOW_SAMPLES_H

#include "base/map.h"
#include "hwtrace/flow.h"
#include "hwtrace/itrace.h"

struct pf_flow_stack; /* the calls of a thread */

struct pf_flow_samples {
    const struct perfile_allocator *allocator;
    const struct pf_aux_decoder *decoder;
    const struct pf_itrace *itrace;
    const struct perfile_time_conv *clock;
    unsigned event_of[16]; /* by enum pf_flow_event: of the decoder, or UINT_MAX */
    unsigned branches, instructions, cycles_event;
    unsigned cbr_max;     /* the ratio of the time-stamp counter */
    struct pf_map stacks; /* of threads */
    struct pf_flow_stack *all_stacks;
    struct pf_flow_stack *stack; /* of the thread that runs; NULL: not needed, or memory is short */
    int32_t tid;
    /* The step that samples are made of. */
    struct pf_flow_step step;
    unsigned phase;
    uint64_t at; /* the next instruction */
    uint32_t index;
    uint64_t time_ns, time_of; /* the time of the step, converted */
    /* What was counted. */
    uint64_t since;      /* instructions since the last sample of one */
    uint64_t period_end; /* in periods of time: when the next sample is due; 0 before the first sample */
    uint64_t insns;      /* all */
    uint64_t skipped;    /* samples that are still to be left out */
    uint64_t ipc_insns, ipc_cycles, cycles_sampled;
    uint64_t run_insns, run_cycles; /* at the last sample of a branch or an error */
    uint64_t *ring;                 /* the last branches, three words each */
    unsigned ring_at, ring_count;
    bool starts_anew;                     /* branch stacks do, with the next step */
    bool merges;                          /* pf_flow_samples_merge counts steps */
    struct pf_flow_block *ran, **ran_end; /* the blocks that are counted, in the order in which they ran first */
    uint32_t merged_index;                /* of the first of them: the next instruction */
    uint64_t *branch_words, *chain_words;
    uint8_t raw[24];
    struct pf_aux_sample made;
};

bool pf_flow_samples_open(struct pf_flow_samples *samples, const struct perfile_allocator *allocator,
                          const struct pf_aux_decoder *decoder, const struct pf_itrace *itrace,
                          const struct perfile_time_conv *clock);
void pf_flow_samples_close(struct pf_flow_samples *samples);
/* The steps that follow are of this thread. */
void pf_flow_samples_enter(struct pf_flow_samples *samples, int32_t tid);
/*
 * From now on samples of the same address may come as one, of which the times and what came before do not matter.
 * False: what is asked for does not allow it, or the steps of this trace.
 */
bool pf_flow_samples_may_merge(struct pf_flow_samples *samples);
/* Counts samples->step: true when pf_flow_samples_merged will return its samples. */
bool pf_flow_samples_merge(struct pf_flow_samples *samples);
/* The same of a block that ran once, all of it; `flags` are those of the branch after it, or 0. */
void pf_flow_samples_merge_block(struct pf_flow_samples *samples, struct pf_flow_block *block, uint32_t flags);
/* As pf_flow_samples_next, of what was counted; to be called until there are none before another process is entered. */
int pf_flow_samples_merged(struct pf_flow_samples *samples);
/* Sets samples->step, of which samples are made from now on. */
void pf_flow_samples_begin(struct pf_flow_samples *samples);
/*
 * The next sample of the step, in samples->made: the event's number in the decoder, PF_FLOW_SAMPLE_ERROR for an error,
 * or PF_FLOW_SAMPLE_NONE after the last.
 */
enum { PF_FLOW_SAMPLE_NONE = -1, PF_FLOW_SAMPLE_ERROR = -2 };
int pf_flow_samples_next(struct pf_flow_samples *samples);
/* All samples of the step were made. */
bool pf_flow_samples_are_made(const struct pf_flow_samples *samples);

#endif
