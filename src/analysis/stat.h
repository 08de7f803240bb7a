/* SPDX-License-Identifier: MIT */
/*
 * The counts of `perf stat record`: what each counter of an event, thread and processor counted, in rounds. Recorded
 * values are sums since the start; the count of a round is the difference to the round before.
 */
#ifndef PF_ANALYSIS_STAT_H
#define PF_ANALYSIS_STAT_H

#include <perfile/perfile.h>

#include "base/map.h"

struct pf_stat_count {
    uint64_t value, enabled, running; /* counted; ns that it was to count, and that it did */
};

/* One counter. */
struct pf_stat_cell {
    uint32_t event, thread;  /* indices */
    int32_t cpu;             /* -1: any */
    bool delivered;          /* in this round ... */
    uint32_t next_delivered; /* ... and the next one that was */
    struct pf_stat_count now, last;
};

struct pf_stat_thread {
    int32_t tid; /* -1: everybody */
    char comm[17];
};

/* What counts are added up by: the order of perf before 6.5; the numbers of later versions are translated. */
enum pf_stat_per {
    PF_STAT_CPU,
    PF_STAT_ALL,
    PF_STAT_SOCKET,
    PF_STAT_DIE,
    PF_STAT_CORE,
    PF_STAT_THREAD,
    PF_STAT_NODE,
    PF_STAT_CACHE,
};

struct pf_stat {
    const struct perfile_allocator *allocator;
    int32_t *cpus;
    size_t cpu_count, cpu_capacity;
    struct pf_stat_thread *threads;
    size_t thread_count, thread_capacity;
    struct pf_map known_cpus; /* those of `cpus` */
    struct pf_map index;      /* event, thread and processor -> index in places */
    struct pf_stat_cell *positions;
    size_t position_count, position_capacity;
    uint32_t first_delivered;        /* UINT32_MAX: none */
    struct perfile_stat_round round; /* the one that has ended */
    uint64_t round_count;
    uint64_t interval_ms; /* STAT_CONFIG; 0: one round */
    uint64_t level;       /* STAT_CONFIG: of caches; 0, or more than there may be: the last one */
    uint64_t per;         /* STAT_CONFIG's number of what counts are added up by; see pf_stat_per_of */
    bool is_raw;          /* STAT_CONFIG: counts are not to be scaled to the time that they were enabled */
    bool has_config;
    bool round_ended; /* by the record that was taken last */
};

/* Zeros may be closed, too. */
void pf_stat_open(struct pf_stat *stat, const struct perfile_allocator *allocator);
void pf_stat_close(struct pf_stat *stat);
/* 1: a round has ended, whose counts are there until the next record is taken; 0; or MEMORY. */
int pf_stat_take(struct pf_stat *stat, const struct perfile_reader *reader, const struct perfile_record *record,
                 struct perfile_error *error);
/* NULL: nothing was counted there. */
const struct pf_stat_cell *pf_stat_at(const struct pf_stat *stat, uint64_t event, uint64_t thread, int32_t cpu);
/* What this round added. */
struct pf_stat_count pf_stat_added(const struct pf_stat_cell *position);
/* What would have been counted if the counter had counted all the time: it shared the hardware with others. */
uint64_t pf_stat_scaled(const struct pf_stat *stat, const struct pf_stat_count *count);
/* What the recording asks for, whose numbers depend on the version of the recorder. */
enum pf_stat_per pf_stat_per_of(const struct pf_stat *stat, struct perfile_reader *reader);

#endif
