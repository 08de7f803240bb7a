/* SPDX-License-Identifier: MIT */
/*
 * Counts as `perf stat` shows them: added up by processor, core, socket ..., with what they say beside each other
 * (rates, instructions per cycle), and the mean of several recordings.
 */
#ifndef PF_OUTPUT_STAT_SHEET_H
#define PF_OUTPUT_STAT_SHEET_H

#include "analysis/expression.h"
#include "analysis/stat.h"
#include "analysis/topology.h"
#include "analysis/stats.h"
#include "output/output.h"

/* Kinds of events that metrics use. */
enum pf_stat_kind {
    PF_STAT_CLOCK,
    PF_STAT_CYCLES,
    PF_STAT_INSTRUCTIONS,
    PF_STAT_CACHE_REFERENCES,
    PF_STAT_CACHE_MISSES,
    PF_STAT_BRANCHES,
    PF_STAT_BRANCH_MISSES,
    PF_STAT_STALLED_FRONTEND,
    PF_STAT_STALLED_BACKEND,
    /* loads and those that missed, by cache */
    PF_STAT_L1D,
    PF_STAT_L1D_MISSES,
    PF_STAT_L1I,
    PF_STAT_L1I_MISSES,
    PF_STAT_LL,
    PF_STAT_LL_MISSES,
    PF_STAT_DTLB,
    PF_STAT_DTLB_MISSES,
    PF_STAT_ITLB,
    PF_STAT_ITLB_MISSES,
    PF_STAT_OTHER,
};

/* What counters are added up by: counters with the same values are in one group. */
struct pf_stat_where {
    struct pf_cpu_location location; /* of socket, die, core, node: the ids that the counters have in common */
    int32_t number; /* of a cpu: its number; of a thread: its index; of a cache: the first of its processors */
    uint32_t level; /* of the cache */
};

/* The counters of a location and a control group, and what they count together. */
struct pf_stat_group {
    struct pf_stat_where at;
    uint32_t cgroup;              /* as in struct pf_stat_name */
    double counts[PF_STAT_OTHER]; /* of the round; of several clocks their mean ... */
    unsigned clocks;              /* ... and how many there are */
    bool shown;                   /* its metrics, in this round */
};

struct pf_stat_line {
    const struct perfile_event *event;
    uint32_t group;            /* index */
    uint32_t cpus;             /* how many counters were added up */
    uint64_t count;            /* scaled to the time that they were enabled; with several recordings their mean */
    uint64_t enabled, running; /* ns */
    bool supported;            /* there are counters */
    bool hidden;
    struct pf_stats spread; /* over recordings */
};

/* The parts of an event's name; by the event's index. */
struct pf_stat_name {
    const char *text;
    size_t bytes;            /* without the control group */
    const char *cgroup_text; /* NULL: none */
    uint32_t cgroup;         /* 0: none; equal groups have equal numbers */
    uint32_t alike;          /* the first event of this name, in any control group */
};

/* A metric of the options. */
struct pf_stat_wanted {
    const char *name; /* as the user wrote it */
    size_t name_bytes;
    char *text; /* owned */
    struct pf_expression expression;
};

/* A metric in a row of metrics alone. */
struct pf_stat_column {
    const char *name;
    size_t bytes;
    double value; /* NAN: something that it needs was not counted */
};

/* Widths of columns of the text. */
struct pf_stat_widths {
    size_t location, name, cgroup, metric;
    bool no_metrics; /* the terminal is too narrow for them */
};

/* The lines of one round. */
struct pf_stat_sheet {
    const struct perfile_allocator *allocator;
    const struct perfile_output_options *options;
    struct perfile_reader *reader;
    struct pf_text *out;
    struct pf_stat stat;
    struct pf_topology topology;
    enum pf_stat_per per;
    uint32_t level; /* of caches; 0: the last one */
    bool intervals;
    bool summary;          /* the totals follow the intervals */
    uint64_t time;         /* ns from the start to the end of the round */
    uint64_t elapsed;      /* ns that the counts cover; 0: not known */
    struct pf_stats walls; /* the same for several recordings ... */
    uint64_t *times;       /* ... each by itself */
    size_t time_capacity;
    struct pf_map where_of, group_of, line_of;
    struct pf_stat_where *wheres;
    size_t where_count, where_capacity;
    struct pf_stat_group *groups;
    size_t group_count, group_capacity;
    struct pf_stat_name *names;
    size_t name_count, name_capacity;
    struct pf_map event_of; /* name (`alike`) and control group -> the first event */
    bool has_cgroups;
    struct pf_stat_line *lines; /* in the order in which they are shown */
    size_t line_count, line_capacity;
    struct pf_stat_wanted *wanted;
    size_t wanted_count, wanted_capacity;
    bool wanted_done;
    struct pf_stat_column *cells; /* of the row */
    size_t cell_count, cell_capacity;
    bool cells_named;     /* the names of the columns were printed */
    uint64_t unsupported; /* lines so far */
    unsigned unit_width;  /* of the longest unit */
    struct pf_stat_widths widths;
};

enum { PF_STAT_VALUE_BYTES = 400 }; /* scales of files may be huge */

enum pf_stat_form { PF_STAT_RATIO, PF_STAT_TENTHS, PF_STAT_HUNDREDTHS, PF_STAT_PERCENT };
/* A metric that is shown with a count. */
struct pf_stat_metric {
    double value;
    const char *unit; /* NULL: there is no metric */
    enum pf_stat_form form;
};

struct pf_stat_style {
    void (*begin)(struct pf_stat_sheet *sheet);   /* puts what comes before all lines; may be NULL */
    void (*measure)(struct pf_stat_sheet *sheet); /* called before lines are put; may be NULL */
    void (*line)(struct pf_stat_sheet *sheet, const struct pf_stat_line *line);
    /* Puts a metric of the group of a line; NAN: something that it needs was not counted. */
    void (*metric)(struct pf_stat_sheet *sheet, const struct pf_stat_line *of, const struct pf_stat_wanted *wanted,
                   double value);
    void (*end)(struct pf_stat_sheet *sheet); /* may be NULL */
    /* Metrics alone: the names of sheet->cells, once, which may be NULL, and the values of the group of a line. */
    void (*names)(struct pf_stat_sheet *sheet);
    void (*row)(struct pf_stat_sheet *sheet, const struct pf_stat_line *of);
};

/* Writes all rounds. */
int pf_stat_write(struct perfile_reader *reader, const struct perfile_output_options *options,
                  const struct pf_stat_style *style, struct pf_text *out, struct perfile_error *error);
struct pf_stat_metric pf_stat_metric_of(const struct pf_stat_sheet *sheet, const struct pf_stat_line *line);
enum pf_stat_kind pf_stat_kind_of(const struct perfile_event *event);
/* Finds the metrics of options->stat->metrics, as soon as the events are known. ARGUMENT, MEMORY. */
int pf_stat_wanted_open(struct pf_stat_sheet *sheet, struct perfile_error *error);
void pf_stat_wanted_close(struct pf_stat_sheet *sheet);
/* Puts the metrics of all groups, after the lines. */
void pf_stat_wanted_put(struct pf_stat_sheet *sheet, const struct pf_stat_style *style);
/* The value of the metric of this number for a group; NAN: something that it needs was not counted. */
double pf_stat_wanted_of(const struct pf_stat_sheet *sheet, size_t number, uint32_t group);
/* Puts rows of metrics alone. */
void pf_stat_cells_put(struct pf_stat_sheet *sheet, const struct pf_stat_style *style);
static inline bool pf_stat_has_only_metrics(const struct pf_stat_sheet *sheet)
{
    return sheet->options->stat->flags & PERFILE_STAT_METRICS_ONLY;
}
/* Returns why the line does not have a number; NULL: it has one. */
const char *pf_stat_missing(const struct pf_stat_line *line);
/* Returns the line of the event in the group; NULL: there is none. */
const struct pf_stat_line *pf_stat_line_of(const struct pf_stat_sheet *sheet, uint32_t event, uint32_t group);
static inline const struct pf_stat_name *pf_stat_name_of(const struct pf_stat_sheet *sheet,
                                                         const struct pf_stat_line *line)
{
    return &sheet->names[line->event->index];
}
static inline const struct pf_stat_where *pf_stat_where_of(const struct pf_stat_sheet *sheet,
                                                           const struct pf_stat_line *line)
{
    return &sheet->groups[line->group].at;
}
/* Returns the percentage of the time that the counter counted. */
static inline double pf_stat_share(const struct pf_stat_line *line)
{
    return line->enabled ? 100.0 * (double)line->running / (double)line->enabled : 100.0;
}
/* Returns the count in the event's unit. */
static inline double pf_stat_value(const struct pf_stat_line *line)
{
    return (double)line->count * line->event->scale;
}
/* Formats the value with so many digits after the point; numbers of events are exact. */
void pf_stat_format_value(const struct pf_stat_line *line, int digits, char text[PF_STAT_VALUE_BYTES]);
/* Returns the thread of a line that belongs to one thread. */
static inline const struct pf_stat_thread *pf_stat_thread_of(const struct pf_stat_sheet *sheet,
                                                             const struct pf_stat_line *line)
{
    return &sheet->stat.threads[pf_stat_where_of(sheet, line)->number];
}

#endif
