/* SPDX-License-Identifier: MIT */
/* The thread that reads the recording, and what it has so far. */
#ifndef PERFILE_CLI_TUI_LOAD_H
#define PERFILE_CLI_TUI_LOAD_H

#include "../input.h"
#include "../live.h"
#include "index.h"
#include "tui.h"

#include <pthread.h>

struct pf_tui_load {
    struct pf_input *input;
    struct pf_live *live;                     /* what is recorded meanwhile; NULL: input is read */
    const struct pf_profile_columns *columns; /* of rows by keys; NULL: they are not needed */
    const struct pf_tui_end *end;
    uint8_t *held; /* what input->reader reads then */
    pthread_t thread;
    pthread_mutex_t lock;
    bool started;
    uint64_t quantum_ns;
    /* under the lock */
    struct pf_tui_index *fresh; /* not taken yet */
    uint64_t done, total;
    bool finished, quits, woken;
    int result;    /* when finished: of the library */
    int status;    /* of `end` */
    uint8_t *part; /* the recording of the last interval, when it is new */
    size_t part_bytes;
};

/* `live` may be NULL; load->columns is set before. False: no thread could be started. */
bool pf_tui_load_start(struct pf_tui_load *load, struct pf_input *input, struct pf_live *live,
                       const struct pf_tui_end *end);
/* Returns a new index, which the caller owns; NULL: there is nothing new. */
struct pf_tui_index *pf_tui_load_take(struct pf_tui_load *load);
/* Whether the loader is still reading; *percent is its progress, -1 if not known. */
bool pf_tui_load_running(struct pf_tui_load *load, int *percent);
/*
 * While recording: opens the last interval as input->reader, if there is a new one. Returns 1 if there was, 0 if not;
 * negative: see input->error.
 */
int pf_tui_load_take_part(struct pf_tui_load *load);
/* Ends the reading if it has not. True: it is over, and load->result is set; false: it does not end just now. */
bool pf_tui_load_stop(struct pf_tui_load *load);
void pf_tui_load_close(struct pf_tui_load *load);

#endif
