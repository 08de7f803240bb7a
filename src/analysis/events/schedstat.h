/* SPDX-License-Identifier: MIT */
/*
 * What the scheduler counted of each CPU and of each of its domains between the first and the last record of
 * /proc/schedstat: the records SCHEDSTAT_CPU and SCHEDSTAT_DOMAIN.
 */
#ifndef PF_ANALYSIS_EVENTS_SCHEDSTAT_H
#define PF_ANALYSIS_EVENTS_SCHEDSTAT_H

#include <perfile/analysis.h>

#include "base/filter.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/note.h"

enum { PF_SCHEDSTAT_COUNTERS_MAX = 64 };

/* Groups of counters, in the order of texts; records of old versions have the idle ones before the busy ones. */
enum pf_schedstat_category {
    PF_SCHEDSTAT_CPU,
    PF_SCHEDSTAT_BUSY,
    PF_SCHEDSTAT_IDLE,
    PF_SCHEDSTAT_NEWIDLE,
    PF_SCHEDSTAT_ACTIVE,
    PF_SCHEDSTAT_EXEC,
    PF_SCHEDSTAT_FORK,
    PF_SCHEDSTAT_WAKEUP,
};

/* What is known of the counters of one name. */
struct pf_schedstat_kind {
    const char *name;
    enum pf_schedstat_category category;
    const char *part_of; /* the counter that counts it, too; NULL: none */
    bool is_rare;        /* the time between two of them is shown */
    const char *doc;
};

struct pf_schedstat_counter {
    const struct pf_schedstat_kind *kind;
    uint64_t first, count; /* at the first record, and since then */
};

/* A CPU, or a domain of it. */
struct pf_schedstat_row {
    uint32_t cpu;
    int32_t domain; /* -1: the CPU */
    uint16_t version;
    uint64_t start, elapsed; /* jiffies */
    uint64_t records;
    const char *name, *cpus; /* of domains; NULL: the recording does not say */
    size_t first_counter;    /* in `counters` */
    size_t counter_count;
};

struct pf_schedstat {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_map index;
    struct pf_schedstat_row *rows; /* at the end sorted by CPU and domain */
    size_t count, capacity;
    struct pf_schedstat_counter *counters;
    size_t counter_count, counter_capacity;
    uint64_t unknown; /* counters that a record has too many */
};

void pf_schedstat_open(struct pf_schedstat *stats, struct perfile_reader *reader,
                       const struct perfile_allocator *allocator);
void pf_schedstat_close(struct pf_schedstat *stats);
/* Reads all records that pass the filter, to their end: 0, or an error. */
int pf_schedstat_read(struct pf_schedstat *stats, struct pf_filter *filter, struct perfile_error *error);
/* NULL: the recording has no counters of this processor and domain. */
const struct pf_schedstat_row *pf_schedstat_find(const struct pf_schedstat *stats, uint32_t cpu, int32_t domain);
/* The count of a row's counter of this name. False: the row has none. */
bool pf_schedstat_number(const struct pf_schedstat *stats, const struct pf_schedstat_row *row, const char *name,
                         uint64_t *count);
/* The same of the average of all rows of this domain (-1: of all CPUs), cut to an integer. */
bool pf_schedstat_average(const struct pf_schedstat *stats, int32_t domain, const char *name, uint64_t *count);
/* "busy". */
const char *pf_schedstat_category_name(enum pf_schedstat_category category);
void pf_schedstat_notify(const struct pf_schedstat *stats, pf_on_note *notify, void *context);

#endif
