/* SPDX-License-Identifier: MIT */
/* Control groups that events are counted in instead of everywhere. */
#ifndef PF_RECORD_EVENT_CGROUPS_H
#define PF_RECORD_EVENT_CGROUPS_H

#include "record/event_list.h"
#include "record/machine_files.h"
#include "record/target.h"

/* Whether they can be looked at instead of what the target says. ARGUMENT. */
int pf_event_cgroups_check(const struct pf_target *target, struct perfile_error *error);
/* Of all events; ABSENT. */
int pf_event_cgroups_of_all(struct pf_event_list *chosen, const char *path, struct perfile_error *error);
/* "a,b": of the first and second event; empty: no group. A single one is for all. ABSENT; ARGUMENT: too many. */
int pf_event_cgroups_of_each(struct pf_event_list *chosen, const char *paths, struct perfile_error *error);
/* "a,b", or expressions such as "^app-": each event in each of them. ABSENT; ARGUMENT: an invalid expression. */
int pf_event_cgroups_times_all(struct pf_event_list *chosen, const char *paths, struct perfile_error *error);

/* A hierarchy, from its root; inner folders come after outer ones, in the order of their names. */
struct pf_cgroup_walk {
    const struct perfile_allocator *allocator;
    int root;                    /* of the system */
    char path[PF_PATH_CAPACITY]; /* from there, without the first slash */
    size_t mount;                /* bytes of it that lead to the hierarchy */
    int (*each)(const struct pf_cgroup_walk *walk, const char *inner, struct perfile_error *error); /* 0 or an error */
    void *context;
};
/* False: none is mounted. */
bool pf_cgroup_walk_begin(struct pf_cgroup_walk *walk);
int pf_cgroup_walk_all(struct pf_cgroup_walk *walk, struct perfile_error *error);

#endif
