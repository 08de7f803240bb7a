/* SPDX-License-Identifier: MIT */
/*
 * Recording into memory in parts: each part is a recording of one interval, which can be read separately. Its profile
 * is merged into the sum; only the last recording is kept.
 */
#ifndef PERFILE_CLI_LIVE_H
#define PERFILE_CLI_LIVE_H

#include "options.h"

#include <perfile/profile.h>
#include <perfile/recorder.h>

#include <stdatomic.h>

/* Settings of the verb top. */
struct pf_top_settings {
    uint64_t interval_s, duration_s; /* 0: 2; without end */
    const char *frequency;
    char *keys;         /* of profiles; owned by the verb */
    uint64_t more_than; /* samples of rows that are printed */
    bool each;
};

struct pf_live_part {
    uint8_t *data; /* owned */
    size_t used, capacity;
    struct perfile_writer *writer;
};

struct pf_live {
    struct pf_settings *settings;
    struct perfile_recorder *recorder;
    struct perfile_unwind_stage *unwinding;
    struct pf_live_part parts[2]; /* one is written; the other is the last one that was */
    unsigned writes;              /* which */
    struct perfile_profile *sum;  /* of the parts since the start, or since the last reset; NULL: there are none */
    struct perfile_error error;
    int64_t start_ms, sum_ms, part_ms,
        end_ms; /* of CLOCK_MONOTONIC: when all, the sum and this part began; 0: no end */
    int64_t interval_ms;
    bool each;                   /* the sum has only one part */
    bool is_counting;            /* samples count: --switch-on, --switch-off */
    bool ended;                  /* nothing more comes */
    atomic_bool stops, discards; /* set by other threads */
    bool (*is_stopped)(void);    /* asked often; may be NULL */
};

/* Opens the events and starts. PF_STATUS_OK, or a status when a message was printed. */
int pf_live_start(struct pf_live *live, struct pf_settings *settings);
/*
 * Waits for the end of the interval, and adds its profile to the sum. Returns 1 to continue; 0 when it was stopped or
 * all recorded tasks have ended, with a complete sum; negative on errors, with live->error filled.
 */
int pf_live_next(struct pf_live *live);
/* The recording of the last interval, which the caller frees; NULL: it was taken. */
uint8_t *pf_live_take(struct pf_live *live, size_t *bytes);
/* The message for a failure of _next; its exit status. */
int pf_live_failure(const struct pf_live *live, int result);
void pf_live_close(struct pf_live *live);

#endif
