/* SPDX-License-Identifier: MIT */
/* The link that follows what records say about threads, mappings and control groups. It is as of the last record. */
#ifndef PF_MODEL_STATE_H
#define PF_MODEL_STATE_H

#include "model/cgroups.h"
#include "model/maps.h"
#include "model/sorting.h"
#include "model/threads.h"

struct pf_state {
    struct pf_sorting *before;
    struct pf_threads threads;
    struct pf_maps maps;
    struct pf_cgroups cgroups;
    bool keeps_comms;  /* names of threads that have ended */
    bool follows_maps; /* else there are no mappings */
    bool exit_pending; /* the last record ends a thread: its name is discarded when the next one comes */
    int32_t exit_tid;
};

void pf_state_open(struct pf_state *state, struct pf_sorting *before);
void pf_state_close(struct pf_state *state);
pf_next_record pf_state_next;

#endif
