/* SPDX-License-Identifier: MIT */
/*
 * What recorders say of the machine and of what ran on it before: header features and records made from /proc and /sys.
 */
#ifndef PF_RECORD_MACHINE_H
#define PF_RECORD_MACHINE_H

#include <perfile/recorder.h>

#include "record/event_list.h"

/* Where the records go: as perfile_writer_record, which it may be. 0 or an error. */
struct pf_synthesis {
    int (*put)(void *context, uint32_t type, uint16_t misc, const void *record, size_t bytes,
               struct perfile_error *error);
    void *context;
    uint32_t version;                          /* PF_VERSION of the perf that is to read them; 0: any */
    const struct perfile_allocator *allocator; /* NULL: malloc's */
};

struct pf_machine_options {
    const int32_t *tids; /* the processes of these threads; NULL: all */
    size_t tid_count;
    bool build_ids; /* MMAP2 has build ids */
    bool data_maps; /* mappings that are not executable, too */
    bool namespaces;
    bool cgroups;
    bool user_only;                            /* names of the kernel are not needed */
    bool again;                                /* readers know of processes before: those that ended stay as they are */
    unsigned threads;                          /* that read /proc; 0 and 1: the caller's alone */
    const struct perfile_allocator *allocator; /* called in the caller's thread only */
    /* What could not be found out, a sentence each. May be NULL. */
    void (*note)(void *context, const char *sentence);
    void *note_context;
    const char *root; /* the folder that has proc and sys; NULL: / */
};

/* Perf refuses a stream with features that it does not know, but not a file: these may have to come at the end. */
enum pf_machine_ages { PF_MACHINE_COMMON = 1, PF_MACHINE_YOUNG = 2, PF_MACHINE_ALL = 3 };
/*
 * Writes HOSTNAME to CLN_SIZE: all features that are known before the first record; what this machine does not report
 * is left out. The attrs of the events are those that were opened: BRANCH_STACK depends on their sample_type. `ages`
 * selects features; the young ones are those that came after perf 6.1.
 */
int pf_machine_features(struct perfile_writer *writer, const struct pf_event_list *events, unsigned ages,
                        struct perfile_error *error);
int pf_machine_features_of(const char *root, struct perfile_writer *writer, const struct pf_event_list *events,
                           unsigned ages, struct perfile_error *error);
/* TRACING_DATA for the tracepoints among the events; nothing without one. OPEN: tracefs cannot be read. */
int pf_machine_tracing(struct perfile_writer *writer, const struct pf_event_list *events, struct perfile_error *error);
int pf_machine_tracing_of(const char *root, struct perfile_writer *writer, const struct pf_event_list *events,
                          struct perfile_error *error);
/*
 * The kernel and its modules, BPF programs, control groups, processes and their mappings: in this order, processes by
 * their numbers, all with times of 0. What ends meanwhile is left out.
 */
int pf_machine_synthesize(const struct pf_machine_options *options, const struct pf_synthesis *synthesis,
                          struct perfile_error *error);

/* ---- what depends on the events as they were opened ------------------------------------------------------------ */

struct pf_opened_id {
    uint64_t id;
    uint32_t buffer; /* index of the ring buffer that it writes to */
    int32_t cpu;     /* -1: any */
    int32_t tid;     /* -1: any */
};

/* ID_INDEX records: as many as the ids need. */
int pf_synthesize_id_index(const struct pf_opened_id *ids, size_t count, const struct pf_synthesis *synthesis,
                           struct perfile_error *error);
/*
 * EVENT_UPDATE records: unit, scale and CPUs of the events that have them, and, for pipe mode, the names. first_ids[i]
 * is the first id of event i.
 */
int pf_synthesize_event_updates(const struct pf_event_list *events, const uint64_t *first_ids, bool names,
                                const struct pf_synthesis *synthesis, struct perfile_error *error);
/* THREAD_MAP. No tids: all of the machine. Not `named`: what they are called now is not what they will be. */
int pf_synthesize_thread_map(const char *root, const int32_t *tids, size_t count, bool named,
                             const struct pf_synthesis *synthesis, struct perfile_error *error);
/* CPU_MAP of a list such as "0-3,7"; NULL: any CPU. ARGUMENT: no such list. */
int pf_synthesize_cpu_map(const char *cpus, const struct pf_synthesis *synthesis, struct perfile_error *error);
/* SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN: what the scheduler counted so far. OPEN: the kernel does not say. */
int pf_synthesize_schedstat(const char *root, const struct pf_synthesis *synthesis, struct perfile_error *error);
struct perf_event_mmap_page;
/* How TSC becomes time, from the control page of a ring buffer; false: the kernel does not say. */
bool pf_time_conv_of(const struct perf_event_mmap_page *page, struct perfile_time_conv *conversion);
/* The same as TIME_CONV; nothing where the kernel does not say. */
int pf_synthesize_time_conv(const struct perf_event_mmap_page *page, const struct pf_synthesis *synthesis,
                            struct perfile_error *error);
/* CLOCKID and CLOCK_DATA of a clock of clock_gettime, which the records use. */
int pf_machine_clock(struct perfile_writer *writer, int32_t clockid, struct perfile_error *error);
/* SAMPLE_TIME; 0 and 0 when there was none. */
int pf_machine_sample_time(struct perfile_writer *writer, uint64_t first, uint64_t last, struct perfile_error *error);

#endif
