/* SPDX-License-Identifier: MIT */
/* What the files merge*.c share. */
#ifndef PF_EDIT_MERGE_H
#define PF_EDIT_MERGE_H

#include "base/heap.h"
#include "base/map.h"
#include "edit/edit.h"

enum { PF_PIDS_OF_A_HOST = 4194304 }; /* Linux has no greater pids */
/* More recordings than these are sorted into a temporary file first. */
enum { PF_MERGE_MANY_INPUTS = 128 };

/* An event of the output. */
struct pf_merge_event {
    const struct perfile_event *from; /* the first of the inputs' events that are this one */
    const struct perfile_reader *reader;
    struct perfile_attr attr; /* as it is written */
    const char *name;         /* or NULL */
    size_t routed;            /* 1 + the last input that has it; 0: none */
    size_t next;              /* 1 + the event that came before it under the same hash; 0: none */
    uint64_t *ids;
    size_t id_count;
    size_t id_capacity;
    uint64_t lone_id; /* the id of its samples that had no id; 0: not needed yet */
    bool reshaped;
};

/* The offsets in a SAMPLE of an input's event of the parts that may change; 0: not there. */
struct pf_merge_positions {
    uint16_t identifier, id, stream_id, tid, time;
};

/* An event of an input. */
struct pf_merge_route {
    uint32_t event; /* of the output */
    struct pf_merge_positions at;
};

struct pf_merge_input {
    struct perfile_reader *reader;
    struct perfile_session *session;
    size_t number;
    char *name;
    const struct perfile_record *head; /* its next record; NULL: at its end */
    struct pf_window spooled;          /* merge_spool.c: of the temporary file; it has no buffer when there is none */
    int spool_fd;
    uint64_t spool_at, spool_end; /* the range of the records that are left there */
    struct perfile_record record; /* the last one that was read from there */
    size_t duplicate;             /* the first input of the same recording; it may be this one */
    size_t next_like;             /* 1 + the first input of another recording under the same hash; 0: none */
    bool has_duplicates;
    struct pf_merge_route *routes; /* by the index of its events */
    size_t route_count;
    size_t route_capacity;
    struct pf_map ids;   /* its ids that change */
    uint64_t unknown_id; /* the new id for ids that it never declared and that another input has */
    uint64_t last_id, last_new_id;
    uint64_t other_files; /* files that have another build id in an earlier input */
    const char *host;     /* HOSTNAME, or NULL */
    int32_t pid_offset;
    bool has_clock; /* from CLOCK_DATA: */
    uint64_t wall_ns, clock_ns;
    uint64_t shift_ns;              /* added to its times */
    bool has_span;                  /* from SAMPLE_TIME, shifted: */
    uint64_t first_time, last_time; /* of its samples */
    bool started;                   /* one of its records was written */
    bool plain;                     /* its records change only where reshaped events require it */
    struct perfile_edit_report *counts;
};

struct pf_merge_feature {
    uint32_t number;
    size_t input; /* the input that it comes from */
    uint8_t *data;
    size_t bytes;
    size_t capacity;
};

struct pf_merge_added {
    const struct perfile_tracepoint *tracepoint;
    size_t input;
};

struct pf_merge {
    struct perfile_merge_options options;
    const struct perfile_allocator *allocator;
    struct perfile_writer *writer;
    struct pf_merge_input *inputs;
    size_t input_count;
    struct pf_heap queue; /* inputs, by the times of their next records, and their numbers */
    struct pf_merge_input **waiters;
    size_t waiting;
    struct pf_merge_event *events;
    size_t event_count;
    size_t event_capacity;
    size_t events_added;      /* events that were added to the writer */
    struct pf_map known;      /* hashes of attr and name to the last event that has them */
    struct pf_map ids;        /* all ids of the output, to their events */
    struct pf_map recordings; /* hashes of what the parts of a recording have in common, to its first input */
    uint64_t next_id;
    bool settled; /* the shape of the events is fixed */
    struct pf_merge_feature *features;
    size_t feature_count;
    size_t feature_capacity;
    struct pf_map build_ids;        /* hashes of the entries, to their positions */
    struct pf_map files;            /* hashes of the paths with a build id, to the input that came first */
    struct pf_merge_input *cpus;    /* the input whose features about CPUs are kept */
    struct pf_merge_input *tracing; /* the input whose TRACING_DATA is the base; NULL: none */
    struct pf_merge_added *added;   /* formats that the base does not have */
    size_t added_count;
    size_t added_capacity;
    struct pf_sink spool; /* the temporary file for many inputs */
    struct pf_dedup *duplicates;
    size_t aux_owner;  /* the recording that has AUX data; SIZE_MAX: none yet */
    size_t stat_owner; /* the recording that has the configuration of perf stat */
    bool rounds;       /* everything comes in the order of time */
    uint64_t round_at; /* bytes of the output at the last round */
    uint64_t last_time;
    struct pf_item *item;
    uint8_t *scratch; /* PF_MERGE_SCRATCH bytes for lists that change */
    char comm[256];
    struct perfile_edit_report *total;
    struct perfile_merge_report *report;
};

enum { PF_MERGE_SCRATCH = 4 * 65536 };

/* Reports how much of the inputs was read, now and then: `records` is a number that grows by 1. */
void pf_merge_report_progress(const struct pf_merge *merge, uint64_t records);
void pf_merge_note(const struct pf_merge *merge, const struct pf_merge_input *input, const char *rule, uint32_t feature,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- merge_queue.c ---- */

/* Returns the time of FORK and EXIT, which they have also without sample_id_all; 0: the next record has none. */
uint64_t pf_merge_body_time(const struct pf_merge_input *input);
/*
 * Returns the time of the input's next record; 0: it has none, and comes at once, after the record of this input before
 * it.
 */
static inline uint64_t pf_merge_head_time(const struct pf_merge_input *input)
{
    const struct perfile_record *record = input->head;
    if (record->type >= PERFILE_RECORD_HEADER_ATTR || record->damaged || record->time == UINT64_MAX)
        return 0;
    const uint64_t time = PF_LIKELY(record->time) ? record->time : pf_merge_body_time(input);
    return time ? time + input->shift_ns : 0;
}
/* False when out of memory. */
bool pf_merge_open_queue(struct pf_merge *merge);
/*
 * Returns the input of the next record, and the time until which the following ones are from it, too. NULL: there are
 * no more.
 */
struct pf_merge_input *pf_merge_first(const struct pf_merge *merge, uint64_t *until);
/* Called when the input has another head, or none. False when out of memory. */
bool pf_merge_moved(struct pf_merge *merge, const struct pf_merge_input *first);

/* ---- merge_spool.c ---- */

/* Returns whether bytes of the input can be read again later, as the payloads of records need. */
bool pf_merge_can_spool(const struct pf_merge_input *input);
/* Writes all records of the input's session to the temporary file. */
int pf_merge_spool(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
/* The next of these records is input->head. 1, 0 at the end, or an error. */
int pf_merge_unspool(struct pf_merge_input *input, struct perfile_error *error);

/* ---- merge_events.c ---- */

/*
 * Finds an earlier input with the same host, command, events and ids: both are parts of one recording. False when out
 * of memory.
 */
bool pf_merge_find_duplicate(struct pf_merge *merge, struct pf_merge_input *input);
/* Features that identify the recording; 0 after the last one. */
extern const uint32_t pf_merge_facts[];
/* Gives each event of the input that has none yet its event of the output. */
int pf_merge_route_events(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
/* Settles what all events of one recording must share; then they are added to the writer. */
int pf_merge_settle_events(struct pf_merge *merge, struct perfile_error *error);
/* Returns the id in the output for an id of the input. */
uint64_t pf_merge_new_id(struct pf_merge *merge, struct pf_merge_input *input, uint64_t id);

/* ---- merge_records.c ---- */

/* Writes one record, changed as its input requires. */
int pf_merge_write(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                   struct perfile_error *error);

/* ---- merge_features.c ---- */

/* Adds the features that the reader knows now. */
int pf_merge_take_features(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
/* Frees all features of the input, which were added, except those that later inputs are compared with. */
void pf_merge_discard_features(const struct pf_merge *merge, const struct pf_merge_input *input);
/* To be called before features are added. */
void pf_merge_choose_cpus(struct pf_merge *merge);
/* Reports and counts a feature whose number no header can state. */
bool pf_merge_refuses_feature(struct pf_merge *merge, struct pf_merge_input *input, uint64_t number);
/* Adds a feature of the input, in its byte order. */
int pf_merge_take_feature(struct pf_merge *merge, struct pf_merge_input *input, uint32_t number,
                          const struct perfile_bytes *body, struct perfile_error *error);
/* Adds a HEADER_BUILD_ID record. */
int pf_merge_take_build_id(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                           struct perfile_error *error);
/* Writes all features. */
int pf_merge_put_features(struct pf_merge *merge, struct perfile_error *error);
void pf_merge_close_features(struct pf_merge *merge);

/* ---- merge_hosts.c ---- */

/* Settles the offsets of times and pids, after all features are known. */
int pf_merge_settle_hosts(struct pf_merge *merge, struct perfile_error *error);

/* ---- merge_tracing.c ---- */

int pf_merge_take_tracing(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
int pf_merge_put_tracing(struct pf_merge *merge, struct perfile_error *error);

/* ---- dedup.c ---- */

/* Counts equal records of the parts of one recording. */
struct pf_dedup;
struct pf_dedup *pf_dedup_open(const struct perfile_allocator *allocator, uint64_t limit_bytes);
void pf_dedup_close(struct pf_dedup *duplicates);
/* 1: other parts have had as many of this record already; 0: it is new; MEMORY. */
int pf_dedup_seen(struct pf_dedup *duplicates, size_t recording, size_t part, const struct perfile_record *record);
/* Records could not be compared because the limit was reached. */
bool pf_dedup_full(const struct pf_dedup *duplicates);

#endif
