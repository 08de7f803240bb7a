/* SPDX-License-Identifier: MIT */
/*
 * One run of `stat`: events of a command or of running tasks are counted into a recording. The recording goes to a
 * file, or is read while it is written: reading then waits for the next interval, or for the end.
 */
#ifndef PERFILE_CLI_COUNT_H
#define PERFILE_CLI_COUNT_H

#include "control.h"
#include "options.h"
#include "workload.h"

#include <perfile/recorder.h>

#include <signal.h>
#include <sys/resource.h>

/* Settings of the verb stat. */
struct pf_stat_settings {
    uint64_t delay_ms, timeout_ms, interval_ms, interval_count;
    const char *delay, *repeat_text, *control; /* NULL: not given */
    uint64_t repeat;                           /* 0: not given */
    uint64_t detail;
    const char *log_fd; /* NULL: not given */
    bool start_disabled, forever;
    bool no_aggregation, per_socket, per_die, per_core, per_node, per_thread;
    bool per_cluster; /* as per_die on machines without clusters */
    bool unscaled;
    bool as_json;
    const char *per_cache;    /* NULL: not given */
    char *metrics;            /* a line each; owned */
    const char *metrics_from; /* a folder; NULL: not given */
    bool topdown;
    uint64_t topdown_level; /* 0: not given */
    const char *pre, *post; /* NULL: not given */
    bool syncs, appends;
    int output_fd; /* of --append; 0: none */
    char *cgroups; /* of the first event, of the second ...; owned */
    const char *for_each_cgroup;
    size_t cgroup_events; /* that stood before the last of `cgroups` */
};

struct pf_count {
    const struct pf_settings *settings;
    struct perfile_recorder_options what;
    struct pf_workload workload;
    struct pf_control *control;
    struct perfile_writer *writer;
    struct perfile_counter *counter;
    struct perfile_error error;
    int signals;   /* a signalfd */
    sigset_t mask; /* of signals before us, which the command gets */
    int signal;    /* that ended it; 0: none came */
    bool targets;  /* others than the command are counted: it says for how long */
    bool ended, stop_wanted;
    int64_t start_ns, next_ns, end_ns, enable_ns; /* of CLOCK_MONOTONIC; 0: none */
    uint64_t intervals;
    char pid[16];
    struct rusage before; /* of children */
    /* what was written and not read yet */
    uint8_t *data; /* owned */
    size_t used, capacity, read;
    int failed; /* of the counting or the writing: a PERFILE_ERROR_ */
};

#define PF_COUNT_INIT ((struct pf_count){.signals = -1, .workload = {.verb = "stat", .go = -1, .news = -1}})

/*
 * Starts counting; `control` must outlive it. If `path` is NULL, the recording is read with pf_count_read.
 * PF_STATUS_OK, or a status when a message was printed.
 */
int pf_count_start(struct pf_count *count, const struct pf_settings *settings, struct pf_control *control,
                   const char *path);
/* Waits until it has ended; a status. */
int pf_count_wait(struct pf_count *count);
/* For struct perfile_source. */
int64_t pf_count_read(void *count, void *to, size_t bytes);
/* Ends the command if it still runs, and waits for it. */
void pf_count_end(struct pf_count *count);
/* The same; its exit status, or 0. */
int pf_count_status(struct pf_count *count);
void pf_count_close(struct pf_count *count);

#endif
