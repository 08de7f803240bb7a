/* SPDX-License-Identifier: MIT */
/* The target of a recorder: the threads and processors that each event is opened for. */
#ifndef PF_RECORD_TARGET_H
#define PF_RECORD_TARGET_H

#include <perfile/recorder.h>

#include "base/memory.h"

struct pf_target {
    const struct perfile_allocator *allocator;
    int32_t *tids; /* one -1: everybody */
    size_t tid_count, tid_capacity;
    int32_t *cpus; /* one -1: wherever the thread runs */
    size_t cpu_count, cpu_capacity;
    bool everybody;
    bool some_cpus; /* not all that there are */
    /* A list: those for all events but the one that tracks, which is opened for `cpus`. NULL: no difference is made. */
    const char *sampled_cpus;
};

/* ARGUMENT: a list that cannot be understood; ABSENT: no such process or user. Close it also after a failure. */
int pf_target_open(struct pf_target *target, const struct perfile_recorder_options *options,
                   struct perfile_error *error);
/*
 * ARGUMENT: one of the processors is not online, for which kernels return the same error as for unsupported events.
 * Where /sys does not list them, all count as online.
 */
int pf_target_check_online(const struct pf_target *target, struct perfile_error *error);
/*
 * Tasks start and map files on other processors before they come to those that are recorded: adds all that are online,
 * for the event that tracks. MEMORY.
 */
int pf_target_track_everywhere(struct pf_target *target, const char *sampled, struct perfile_error *error);
/* Of everybody: all threads that there are now, each of its own. OPEN, MEMORY. */
int pf_target_split(struct pf_target *target, struct perfile_error *error);
void pf_target_close(struct pf_target *target);
/* A list such as "0-3,7" holds the number; NULL holds all. */
bool pf_list_holds(const char *list, int32_t number);

#endif
