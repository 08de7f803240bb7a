/* SPDX-License-Identifier: MIT */
/*
 * A recording as a timeline, for formats that keep single samples: threads, each with the samples of each event, what
 * happened to it, and when it ran. Read in one pass, so that streams will do. Memory grows with the samples (24 bytes
 * each), with what happened, with the data of tracepoints and with distinct stacks.
 */
#ifndef PF_OUTPUT_EXPORT_TIMELINE_H
#define PF_OUTPUT_EXPORT_TIMELINE_H

#include "analysis/profile.h"
#include "analysis/tree.h"
#include "output/output.h"

#define PF_TIMELINE_NONE UINT32_MAX

struct pf_timeline_row {
    uint64_t time;
    uint64_t weight; /* the period */
    uint32_t node;   /* the stack, a node of the tree */
    int32_t cpu;     /* -1: not recorded */
};

/* The samples of one event in one thread, by time. */
struct pf_timeline_series {
    const struct perfile_event *event;
    uint32_t thread;
    uint32_t next; /* series of the thread, in the order of their first samples; PF_TIMELINE_NONE: the last */
    struct pf_timeline_row *rows;
    size_t count, capacity;
};

enum pf_timeline_kind {
    PF_TIMELINE_FORK, /* number: the new thread */
    PF_TIMELINE_EXEC, /* text: its name from here on */
    PF_TIMELINE_EXIT,
    PF_TIMELINE_TRACE,      /* the sample of a tracepoint; text: its data, number: how many bytes */
    PF_TIMELINE_LOST,       /* number: records */
    PF_TIMELINE_THROTTLE,   /* this and the next: cpu */
    PF_TIMELINE_UNTHROTTLE, /* */
    PF_TIMELINE_KINDS
};

struct pf_timeline_mark {
    uint64_t time;
    const struct perfile_event *event; /* NULL: none */
    const void *text;
    uint64_t number;
    uint32_t node; /* the stack of a sample */
    int32_t cpu;
    uint8_t kind; /* enum pf_timeline_kind */
};

/* The thread came onto a processor, or left it. */
struct pf_timeline_switch {
    uint64_t time;
    int32_t cpu;
    bool in;
    uint8_t state; /* of a thread that left: 'R' it could have gone on, 'S', 'D' ... as in ps; 0: not known */
};

struct pf_timeline_marks {
    struct pf_timeline_mark *items;
    size_t count, capacity;
};

struct pf_timeline_thread {
    int32_t pid, tid;
    uint32_t turn, pid_turn; /* how often its id, and that of its process, was used before */
    uint32_t before;         /* the thread that had its thread id before; PF_TIMELINE_NONE: none */
    const char *comm;        /* the last one; NULL: not known */
    uint64_t start, end;     /* FORK and EXIT; 0: not known */
    uint64_t first, last;    /* the first and the last known time of the thread */
    uint32_t series;         /* the first; PF_TIMELINE_NONE: no samples */
    uint32_t last_series;
    struct pf_timeline_marks marks; /* by time, as the next */
    struct pf_timeline_switch *switches;
    size_t switch_count, switch_capacity;
};

/* What `perf stat record` counted up to a moment. */
struct pf_timeline_count {
    uint64_t time; /* ns since it began */
    const struct perfile_event *event;
    uint64_t value;
};

struct pf_timeline {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct pf_profile *profile;
    const struct pf_filter *filter;
    struct pf_arena arena;
    struct pf_tree tree; /* of the frames of the profile */
    struct pf_timeline_thread *threads;
    size_t thread_count, thread_capacity;
    struct pf_timeline_series *series;
    size_t series_count, series_capacity;
    struct pf_timeline_marks losses; /* those without a thread */
    struct pf_timeline_count *counts;
    size_t count_count, count_capacity;
    uint64_t first, last; /* of everything; UINT64_MAX and 0: nothing has a time */
    uint64_t start;       /* what is shown of it begins here: `first`, unless an option sets an earlier time */
    uint64_t offset;      /* pf_timelines_align: ns from the beginning of the earliest recording to that of this one */
    uint64_t samples;
    bool timed;        /* some samples have times */
    bool untimed;      /* others have no time: they are put 1 ms apart, or at the time of the sample before */
    bool has_switches; /* from SWITCH records or from sched:sched_switch */

    struct pf_map positions; /* process and thread id to the thread that has them now */
    struct pf_map tids;      /* thread id to the thread that has it now */
    struct pf_map comms;     /* hash of a name to the name */
    struct pf_pairs series_of;
    struct pf_timeline_step {
        uint32_t frame, node;
    } * path; /* of the last stack, from the root */
    size_t path_count, path_capacity;
    uint64_t last_time;
    uint64_t *sums; /* by event: sums of the values of this interval */
    size_t sum_capacity;
    bool summed;   /* some value was added to them */
    bool *sampled; /* by event: it has samples */
    size_t sampled_capacity;
};

/*
 * Reads the complete recording. `by_address` as in pf_frames_options; else functions without names are one for each
 * module. Returns 0, or an error; call pf_timeline_close in both cases.
 */
int pf_timeline_open(struct pf_timeline *timeline, struct perfile_reader *reader,
                     const struct perfile_output_options *options, bool by_address, struct perfile_error *error);
void pf_timeline_close(struct pf_timeline *timeline);

/* Returns the wall-clock time of a moment, ns since 1970; 0: not known. */
uint64_t pf_timeline_wall(const struct pf_timeline *timeline, uint64_t time);
/*
 * An output of recordings that are shown together, each as a part. The parts are an array of items that are 0 at first
 * and begin with their struct pf_timeline.
 */
struct pf_timelines_format {
    size_t part_bytes;
    bool by_address; /* as pf_timeline_open */
    /* Called before a recording is read. `name` distinguishes it from the others; NULL: it is the only one. */
    void (*begin)(void *part, struct pf_text *out, unsigned number, const char *name);
    /* Called when the timeline of the recording is complete. False: out of memory. */
    bool (*make)(void *part);
    /*
     * Called when all recordings are complete, and their offsets are known from their wall clocks; those without one
     * start at the beginning, which is reported. `wall` is the wall-clock time of the beginning, 0: not known. False:
     * out of memory.
     */
    bool (*put)(void *parts, size_t count, uint64_t wall, const struct perfile_output_options *options);
    void (*close)(void *part); /* called for each part that `begin` was called for */
};
int pf_timelines_write(const struct pf_timelines_format *format, struct perfile_reader *reader,
                       const struct perfile_output_options *options, struct pf_text *out, struct perfile_error *error);
bool pf_timeline_has_samples(const struct pf_timeline *timeline, const struct perfile_event *event);
/* Returns whether the period of the event is time: that of cpu-clock and task-clock is. */
bool pf_timeline_is_clock(const struct perfile_event *event);
/* Returns what a thread does after a switch: "running", "preempted", "sleeping" ...; NULL: not known. */
const char *pf_timeline_state(const struct pf_timeline_switch *change);
/* Returns the time between two samples of an event in ns; 0: not known. */
uint64_t pf_timeline_interval(const struct perfile_event *event);
/* Returns the text of a feature; NULL: the recording has none. */
const char *pf_timeline_text(const struct pf_timeline *timeline, uint32_t feature);
/* Calls `put` for each field of a mark's data, but for those that all tracepoints have. */
typedef void pf_timeline_put_field(void *context, const struct perfile_tracepoint_field *field,
                                   const struct perfile_bytes *bytes);
void pf_timeline_fields(const struct pf_timeline *timeline, const struct pf_timeline_mark *mark,
                        pf_timeline_put_field *put, void *context);
const struct perfile_tracepoint *pf_timeline_tracepoint(const struct pf_timeline *timeline,
                                                        const struct perfile_event *event);
/* The value of a field as JSON: a number that every reader keeps, or a string. `scratch` is a text without a sink. */
void pf_timeline_put_value(const struct pf_timeline *timeline, const struct perfile_tracepoint_field *field,
                           const struct perfile_bytes *bytes, struct pf_text *scratch, struct pf_text *out);
/* The field's values are such numbers. */
bool pf_timeline_is_number(const struct perfile_tracepoint_field *field);

#endif
