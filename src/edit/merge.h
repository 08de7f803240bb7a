/* SPDX-License-Identifier: MIT */
/* Merging from the inside: what merge*.c share. */
#ifndef PF_EDIT_MERGE_H
#define PF_EDIT_MERGE_H

#include "base/heap.h"
#include "base/map.h"
#include "edit/edit.h"

enum { PF_PIDS_OF_A_HOST = 4194304 }; /* Linux has no greater ones */
/* More recordings than these are sorted into a temporary file first. */
enum { PF_MERGE_MANY_INPUTS = 128 };

/* An event of the output. */
struct pf_merge_event {
    const struct perfile_event *from; /* the first of the inputs' events that it is */
    const struct perfile_reader *reader;
    struct perfile_attr attr; /* as it goes out */
    const char *name;         /* or NULL */
    size_t routed;            /* 1 + the last input that has it; 0: none */
    size_t next;              /* 1 + the event that came before it under the same hash; 0: none */
    uint64_t *ids;
    size_t id_count;
    size_t id_capacity;
    uint64_t lone_id; /* what its samples say that said no id; 0: not needed yet */
    bool reshaped;
};

/* Where a SAMPLE of an input's event has what may change; 0: nowhere. */
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
    struct pf_window spooled;          /* merge_spool.c: of the temporary file; without a buffer when it is not used */
    int spool_fd;
    uint64_t spool_at, spool_end; /* the records there that are left */
    struct perfile_record record; /* the last one of them */
    size_t duplicate;             /* the first input that is of the same recording; it may be this one */
    size_t next_like;             /* 1 + the first input of another recording under the same hash; 0: none */
    bool has_duplicates;
    struct pf_merge_route *routes; /* by the index of its events */
    size_t route_count;
    size_t route_capacity;
    struct pf_map ids;   /* its ids that become others */
    uint64_t unknown_id; /* what becomes of ids that it never declared and that another input has */
    uint64_t last_id, last_new_id;
    uint64_t other_files; /* files that have another build id in an earlier input */
    const char *host;     /* HOSTNAME, or NULL */
    int32_t pid_offset;
    bool has_clock; /* CLOCK_DATA: */
    uint64_t wall_ns, clock_ns;
    uint64_t shift_ns;              /* is added to its times */
    bool has_span;                  /* SAMPLE_TIME, shifted: */
    uint64_t first_time, last_time; /* of its samples */
    bool started;                   /* one of its records has gone out */
    bool plain;                     /* nothing of its records changes but what reshaped events make necessary */
    struct perfile_edit_report *counts;
};

struct pf_merge_feature {
    uint32_t number;
    size_t input; /* whose it is */
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
    struct pf_heap queue; /* inputs, by the times of what they have next, and their numbers */
    struct pf_merge_input **waiters;
    size_t waiting;
    struct pf_merge_event *events;
    size_t event_count;
    size_t event_capacity;
    size_t events_added;      /* to the writer */
    struct pf_map known;      /* hashes of attr and name to the last event that has them */
    struct pf_map ids;        /* all ids of the output, to their events */
    struct pf_map recordings; /* hashes of what the parts of a recording have in common, to its first input */
    uint64_t next_id;
    bool settled; /* the shape of the events is fixed */
    struct pf_merge_feature *features;
    size_t feature_count;
    size_t feature_capacity;
    struct pf_map build_ids;        /* hashes of the entries, to where they stand */
    struct pf_map files;            /* hashes of the paths with a build id, to the input that came first */
    struct pf_merge_input *cpus;    /* whose features about CPUs are kept */
    struct pf_merge_input *tracing; /* whose TRACING_DATA is the base; NULL: none */
    struct pf_merge_added *added;   /* formats that it lacks */
    size_t added_count;
    size_t added_capacity;
    struct pf_sink spool; /* the temporary file for many inputs */
    struct pf_dedup *duplicates;
    size_t aux_owner;  /* which recording has AUX data; SIZE_MAX: none yet */
    size_t stat_owner; /* and the configuration of perf stat */
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

/* FORK and EXIT have a time of their own, without sample_id_all, too; 0: the next record has none. */
uint64_t pf_merge_body_time(const struct pf_merge_input *input);
/* Of its next record; 0: it has none, and comes at once, after the record of this input that was before it. */
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
/* The input whose record is next, and up to which time the following ones are, too. NULL: there are no more. */
struct pf_merge_input *pf_merge_first(const struct pf_merge *merge, uint64_t *until);
/* It has another head, or none. False when out of memory. */
bool pf_merge_moved(struct pf_merge *merge, const struct pf_merge_input *first);

/* ---- merge_spool.c ---- */

/* It can be read again where records have bytes outside of them. */
bool pf_merge_can_spool(const struct pf_merge_input *input);
/* Writes all records of the input's session to the temporary file. */
int pf_merge_spool(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
/* The next of these records is input->head. 1, 0 at the end, or an error. */
int pf_merge_unspool(struct pf_merge_input *input, struct perfile_error *error);

/* ---- merge_events.c ---- */

/* Same host, command, events and ids: a part of the recording of an earlier input. False when out of memory. */
bool pf_merge_find_duplicate(struct pf_merge *merge, struct pf_merge_input *input);
/* Features that tell which recording it is; 0 behind the last one. */
extern const uint32_t pf_merge_facts[];
/* Gives each event of the input that has none yet its event of the output. */
int pf_merge_route_events(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
/* What all events of one recording must share; then they go to the writer. */
int pf_merge_settle_events(struct pf_merge *merge, struct perfile_error *error);
/* What an id of the input is in the output. */
uint64_t pf_merge_new_id(struct pf_merge *merge, struct pf_merge_input *input, uint64_t id);

/* ---- merge_records.c ---- */

/* One record that is to be in the output, changed as its input demands. */
int pf_merge_write(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                   struct perfile_error *error);

/* ---- merge_features.c ---- */

/* The features that the reader knows now. */
int pf_merge_take_features(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error);
/* All features of the input were taken: their memory is given back, but what later inputs are compared with. */
void pf_merge_discard_features(const struct pf_merge *merge, const struct pf_merge_input *input);
/* Before features are taken. */
void pf_merge_choose_cpus(struct pf_merge *merge);
/* No header can state the number: said and counted. */
bool pf_merge_refuses_feature(struct pf_merge *merge, struct pf_merge_input *input, uint64_t number);
/* A feature of the input, in its byte order. */
int pf_merge_take_feature(struct pf_merge *merge, struct pf_merge_input *input, uint32_t number,
                          const struct perfile_bytes *body, struct perfile_error *error);
/* A HEADER_BUILD_ID record. */
int pf_merge_take_build_id(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                           struct perfile_error *error);
/* All features to the writer. */
int pf_merge_put_features(struct pf_merge *merge, struct perfile_error *error);
void pf_merge_close_features(struct pf_merge *merge);

/* ---- merge_hosts.c ---- */

/* Offsets of times and pids, after all features are known. */
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
