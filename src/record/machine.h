/* SPDX-License-Identifier: MIT */
/* What recorders say of the machine and of what ran on it before: header features and records made from /proc and /sys. */
#ifndef PF_RECORD_MACHINE_H
#define PF_RECORD_MACHINE_H

#include <perfile/recorder.h>

#include "record/choose.h"

/* Where the records go: as perfile_writer_record, which it may be. 0 or an error. */
struct pf_told {
    int (*put)(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
               struct perfile_error *error);
    void *context;
};

struct pf_machine_options {
    const int32_t *tids; /* the processes of these threads; NULL: all */
    size_t tid_count;
    bool build_ids; /* MMAP2 has build ids */
    bool data_maps; /* mappings that are not executable, too */
    bool namespaces;
    bool cgroups;
    unsigned threads; /* that read /proc */
    const struct perfile_allocator *allocator;
};

/* HOSTNAME to CLN_SIZE: all that can be said before the first record. */
int pf_machine_features(struct perfile_writer *writer, const struct pf_chosen *events, struct perfile_error *error);
/* TRACING_DATA for the tracepoints among the events. OPEN: tracefs cannot be read. */
int pf_machine_tracing(struct perfile_writer *writer, const struct pf_chosen *events, struct perfile_error *error);
/* The kernel and its modules, BPF programs, control groups, processes and their mappings. */
int pf_machine_tell(const struct pf_machine_options *options, const struct pf_told *told, struct perfile_error *error);

#endif
