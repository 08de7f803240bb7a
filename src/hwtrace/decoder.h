/* SPDX-License-Identifier: MIT */
/*
 * Decoders: what the packets of a hardware trace say about the program, as samples of events that the recording itself
 * does not have. Each decoder is one file with its `const struct pf_aux_decoder`, and one line in decoders.def.
 */
#ifndef PF_HWTRACE_DECODER_H
#define PF_HWTRACE_DECODER_H

#include "base/map.h"
#include "hwtrace/packets.h"

#include <perfile/perfile.h>

/* The type of events that only decoded traces have, and their config, as perf numbers them. */
#define PF_AUX_TYPE_SYNTH 0x80000000u
enum {
    PF_AUX_SYNTH_PTWRITE,
    PF_AUX_SYNTH_MWAIT,
    PF_AUX_SYNTH_PWRE,
    PF_AUX_SYNTH_EXSTOP,
    PF_AUX_SYNTH_PWRX,
    PF_AUX_SYNTH_CBR,
    PF_AUX_SYNTH_PSB,
    PF_AUX_SYNTH_VPA_DTL = 9
};

/* An event that a decoder makes samples of. */
struct pf_aux_event {
    const char *name;
    char letter;          /* of --itrace, which asks for it */
    uint64_t config;      /* of its attr */
    uint64_t sample_type; /* what its samples have besides process, time, processor and period */
    uint32_t type;        /* of its attr */
    uint8_t of_flow;      /* the enum pf_flow_event that it stands for */
};

/* What a decoder has to know of the recording. */
struct pf_aux_recording {
    struct pf_aux_machine machine;
    const uint64_t *priv; /* of AUXTRACE_INFO */
    size_t priv_count;
    uint64_t config;                  /* of the trace's event */
    uint64_t midr;                    /* of an Arm processor's first core, from CPUID; 0: not known */
    int32_t cpu;                      /* that the item comes from; -1: not known */
    const struct pf_map *source_cpus; /* CoreSight: the processors by the numbers of their sources, from records */
};

/* A sample, apart from its event and its process. */
struct pf_aux_sample {
    uint64_t ip, addr, phys_addr, weight, data_src;
    int32_t tid;
    bool has_thread;          /* the trace says the thread: tid, which may be 0 */
    uint16_t misc;            /* the processor's mode */
    uint64_t branch[3];       /* where, to where, and flags as in a branch stack */
    uint64_t previous_target; /* of the branch that was taken before; 0: the trace does not say */
    bool has_branch;
    const uint8_t *raw; /* of events whose samples have raw data */
    size_t raw_bytes;
    /* Of traces of the flow: */
    uint64_t period;
    uint64_t alike;                 /* while samples are merged: so many more are the same, but for their times */
    uint32_t flags;                 /* of the branch, enum pf_flow_flags */
    uint32_t depth;                 /* of calls, after the branch */
    uint32_t insn_bytes;            /* of the instruction; 0: not known */
    uint64_t insns, cycles;         /* since the last sample that has them */
    uint64_t run_insns, run_cycles; /* of branches and errors: since the one before, where the trace counts them */
    const uint64_t *branches;       /* newest first, three words each */
    unsigned branch_count;
    const uint64_t *chain;
    unsigned chain_count;
};

struct pf_aux_decoder {
    const struct pf_aux_format *format;
    const struct pf_aux_event *events;
    unsigned event_count;
    size_t item_bytes;  /* of what `next` reads */
    bool timeless;      /* items have no time of their own */
    bool without_clock; /* nothing has a time: samples come with the AUX record that says what was written until then */
    bool reads_code;    /* the code at the address of a branch says what it is */
    const struct pf_flow_decoder *flow; /* of the trace of the flow, which has no items; else NULL */
    /*
     * Reads the next item of the trace, from which samples are made: 1, 0 at the end of the payload, or an error.
     * *time is on the clock of the trace.
     */
    int (*next)(struct pf_aux_walk *walk, void *item, uint64_t *time, struct perfile_error *error);
    /*
     * The sample of an event that the item makes, in all members that samples of this kind of trace have; the others
     * are zero before. False: it makes none.
     */
    bool (*make)(const struct pf_aux_recording *recording, const void *item, unsigned event,
                 struct pf_aux_sample *sample);
};

/* The decoder for this type of AUXTRACE_INFO, or NULL. */
const struct pf_aux_decoder *pf_aux_decoder_find(uint32_t type);

#endif
