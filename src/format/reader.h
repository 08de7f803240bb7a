/* SPDX-License-Identifier: MIT */
/* The reader from the inside: what the files of src/format share. */
#ifndef PF_FORMAT_READER_H
#define PF_FORMAT_READER_H

#include "base/map.h"
#include "base/memory.h"
#include "format/features.h"
#include "format/layout.h"
#include "format/plan.h"
#include "format/tracing.h"
#include "io/inflate.h"
#include "io/source.h"
#include "io/window.h"

/* Records back to back in a window: a data section, a file of a directory, or what a compressed stream inflates to. */
struct pf_frame {
    struct pf_window *window;
    uint64_t at;           /* where the next record starts */
    uint64_t end;          /* where the records end; UINT64_MAX: where the bytes end */
    uint64_t end_before;   /* what `end` was when the current record was started */
    uint64_t previous;     /* where the last record started */
    uint64_t last_time;    /* of the last record that had one */
    uint64_t believed;     /* records of unknown types before here need no further proof */
    uint64_t payload;      /* bytes that the last record with bytes outside of it stated, */
    uint32_t payload_type; /* and its type */
    bool previous_inexact; /* the size of the last record was not what its content asks for */
    bool compressed;
    bool open_ended; /* missing bytes may still come */
    uint8_t step;    /* records start at multiples of this */
};

/* One file of records. */
struct pf_part {
    struct perfile_reader *reader;
    struct pf_source source;
    struct pf_window window;
    struct pf_frame frame;
    uint64_t start;
    uint32_t number; /* 0: the file itself; n: parts[n - 1] of a directory */
    const char *name;
    bool inflating; /* the last compressed record may hold more */
    bool broken;    /* the compressed stream cannot be followed any further */
    bool endless;   /* the header of a growing recording does not say yet where the records end */
    struct pf_inflate *inflate;
    struct pf_window inflated;
    struct pf_frame inflated_frame;
    uint64_t inflated_of_record;
    uint64_t container; /* the compressed record that is unpacked: its offset and size */
    uint32_t container_bytes;
    uint64_t followed;   /* what records before here say about events and features is known: it is read once */
    uint64_t payload_at; /* what _payload gives next */
    uint64_t payload_left;
    uint8_t *kept; /* the last record that had a payload: reading a payload moves the window */
    size_t kept_capacity;
    uint8_t damaged_header[8];
};

struct pf_feature {
    struct perfile_feature public;
    const uint8_t *data; /* NULL: not read yet */
    bool from_record;    /* by a record, not by the header */
    bool lent;           /* the caller may have it until the reader is closed */
};

enum pf_reader_stop {
    PF_READER_FAILED = 1 << 0,
    PF_READER_DRIVEN = 1 << 1,  /* a session has it */
    PF_READER_STOPPED = 1 << 2, /* by the caller */
};

enum { PF_RECENT_IDS = 64 };

struct pf_recent_id {
    uint64_t id;
    struct pf_event *event; /* NULL: none yet */
};

struct perfile_reader {
    struct perfile_open_options options; /* with all limits filled in */
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct perfile_file file;
    struct pf_part *parts;
    uint32_t part_count;
    uint32_t part_now;
    struct pf_event **events;
    size_t event_count;
    size_t event_capacity;
    struct pf_map ids;   /* id to index of its event */
    struct pf_map kinds; /* a hash of type and config to the index of the first such event */
    struct pf_recent_id
        recent[PF_RECENT_IDS]; /* in front of it, by the id's low bits: ids are mostly a row of numbers */
    struct pf_feature *features;
    size_t feature_count;
    size_t feature_capacity;
    uint64_t ids_bytes;     /* read so far of the sections of ids, and of features: */
    uint64_t feature_bytes; /* sections that overlap must not add up to more than the file */
    struct pf_tracing *tracing;
    bool tracing_tried;
    const uint8_t *tracing_data; /* pipe mode */
    size_t tracing_bytes;
    uint64_t tracing_offset;
    struct perfile_counts counts;
    struct perfile_diagnostic *diagnostics; /* those that are kept */
    size_t diagnostic_count;
    size_t diagnostic_capacity;
    size_t opening_diagnostics; /* how many of them were met while opening */
    struct perfile_counts opening_counts;
    struct perfile_record record;
    uint64_t undecoded_bytes; /* of samples that were read before any event was known */
    bool leaked_bit_reported; /* a build id's bit without one */
    bool following;           /* the end of the recording has still to be dealt with */
    unsigned stops;           /* enum pf_reader_stop: not 0, and _next has nothing to give */
    bool muted;
    struct {
        const uint8_t *data; /* NULL: none */
        size_t bytes;
    } index; /* of the recording, for sessions */
    struct {
        void (*opened)(void *context, struct perfile_session *session); /* NULL: not needed */
        void (*closed)(void *context);                                  /* the reader was closed */
        void *context;
    } follower;       /* of sessions */
    void *attachment; /* of the caller, or NULL */
    void (*close_attachment)(void *attachment);
    int directory; /* of a directory recording, for what lies beside its files; -1: none */
};

/* ---- reader.c ---- */

/* Reports something odd. `part` may be NULL. In strict mode a loss also fails: then the result is negative. */
int pf_diagnose(struct perfile_reader *reader, const struct pf_part *part, const struct perfile_diagnostic *diagnostic,
                struct perfile_error *error);
/* As perfile_reader_next, for the session that has the reader. */
int pf_reader_next(struct perfile_reader *reader, const struct perfile_record **record, struct perfile_error *error);
/*
 * The records that were not walked yet are not needed: returns true, and counts them as unread. False: they have to be
 * read, because a stream describes events and features late, damage may have removed the marks of rounds, or AUX data
 * may be of any time; also for the last MiB, where it does not pay that losses and damage are then not counted.
 */
bool pf_reader_leave_rest(struct perfile_reader *reader);
/* All was read: what only reading needs is given back, as far as it can be had again. */
void pf_reader_rest(struct perfile_reader *reader);
/* Where reading can begin: the next record is there, and what is inflated from there on counts from `inflated` on. */
struct pf_entry {
    uint64_t offset;
    uint64_t inflated;
};
/* Where the only part of a file stands. False: reading cannot begin there, for something is being inflated. */
bool pf_reader_entry(const struct perfile_reader *reader, struct pf_entry *entry);
/* The only part of a file is read from there on; all before it counts as `counts` say. */
void pf_reader_go_to(struct perfile_reader *reader, const struct pf_entry *entry, const struct perfile_counts *counts);
/*
 * Some of it is passed over: `samples` samples and nothing else, up to `offset`, the last ones about as old as `time`.
 */
void pf_reader_pass_over(struct perfile_reader *reader, uint64_t offset, uint64_t samples, uint64_t time);
/* STOPPED after perfile_reader_stop, else 0. */
int pf_reader_check_stopped(const struct perfile_reader *reader, struct perfile_error *error);
/* perfile_reader_payload gives the bytes that this record, which was read before, has outside of it. */
void pf_reader_go_to_payload(struct perfile_reader *reader, const struct perfile_record *record);
/*
 * Gives the reader to a session, which sets `stops` back when it ends. ARGUMENT: not at its start, or another has it.
 */
int pf_reader_drive(struct perfile_reader *reader, struct perfile_error *error);
/* The next record of one part into *record; used by the reader and by sessions. */
int pf_part_next(struct perfile_reader *reader, struct pf_part *part, struct perfile_record *record,
                 struct perfile_error *error);
/* The caller's visitor as this build knows it. ARGUMENT. */
int pf_visitor_take(struct perfile_visitor *all, const struct perfile_visitor *visitor, struct perfile_error *error);
struct pf_layout pf_layout_of(const struct perfile_reader *reader, const struct perfile_record *record);

/* ---- frame.c ---- */

/* 1 and *record; 0: no more (open-ended: for now); negative on errors. */
int pf_frame_next(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                  struct perfile_record *record, struct perfile_error *error);

/* There are no more bytes: says so when the payload of the last record needs some. Negative in strict mode. */
int pf_frame_finish(struct perfile_reader *reader, struct pf_part *part, struct pf_frame *frame,
                    struct perfile_error *error);

/* All was read: samples without any event are a loss. Negative in strict mode. */
int pf_frame_finish_events(struct perfile_reader *reader, struct perfile_error *error);

/* ---- follow.c: recordings that are still being written ---- */

/* Makes the source of a reader with options.follow grow. UNSUPPORTED for sources that cannot. */
int pf_follow_open(struct perfile_reader *reader, struct perfile_error *error);
/* All that is there was read: 0 when it is worth to look again (also for the last time); AGAIN, READ. */
int pf_follow_wait(struct pf_part *part, struct perfile_error *error);
/* As pf_source_read, but waits for what is missing while the source grows. */
int pf_follow_read(struct pf_part *part, uint64_t offset, void *to, size_t bytes, size_t *got,
                   struct perfile_error *error);
/* What fills the window of a part: at least a byte, or none at the end. */
pf_window_fill pf_follow_fill;
/* The records have ended: what the header says now, the features, and names. */
int pf_follow_finish(struct perfile_reader *reader, struct perfile_error *error);

/* ---- open.c ---- */

void pf_file_header_read(struct perfile_file *file, const uint8_t *header, size_t bytes);
/* Reports something that concerns all of the file. */
int pf_diagnose_file(struct perfile_reader *reader, const char *rule, int severity, uint64_t offset,
                     const char *message, struct perfile_error *error);

/* ---- events.c ---- */

/* Adds the event whose attr is at `data`; ids and name come later. */
int pf_events_add(struct perfile_reader *reader, const uint8_t *data, uint32_t bytes, uint64_t offset,
                  struct perfile_error *error);
int pf_events_add_ids(struct perfile_reader *reader, struct pf_event *event, const struct perfile_u64s *ids,
                      struct perfile_error *error);
/* Names that features know: EVENT_DESC, META_INFO; then those made from the attr. */
int pf_events_name(struct perfile_reader *reader, struct perfile_error *error);
/* The event of a record with this header, or NULL. */
struct pf_event *pf_event_of(struct perfile_reader *reader, uint32_t type, const uint8_t *data, uint32_t bytes);
static inline struct pf_event *pf_event_of_sample(struct perfile_reader *reader, const uint8_t *data, uint32_t bytes)
{
    const struct pf_plan *first = reader->event_count > 1 ? &reader->events[0]->plan : NULL;
    if (PF_LIKELY(first && first->id_at && bytes >= first->id_at + 8u)) {
        const uint64_t id = pf_load64(data + first->id_at, first->swap);
        const struct pf_recent_id *recent = &reader->recent[id % PF_RECENT_IDS];
        if (PF_LIKELY(recent->id == id && recent->event))
            return recent->event;
    }
    return pf_event_of(reader, PERFILE_RECORD_SAMPLE, data, bytes);
}
/*
 * Kernels since 6.3 put the id of one event on the samples of all events that a moment hits. Returns, of the events of
 * the kind of `stamped`, the one whose layout gives a SAMPLE exactly its size; else `stamped` when its content fits
 * (*asked is not 0); else the one that needs the fewest bytes, so that no old bytes are read as values. *asked becomes
 * the size that the content asks for.
 */
struct pf_event *pf_event_fitting(struct pf_event *stamped, const uint8_t *data, uint32_t bytes, uint32_t *asked);
/* What the records of pipe mode say about events, features and tracing data. */
int pf_events_follow(struct perfile_reader *reader, struct pf_part *part, const struct perfile_record *record,
                     struct perfile_error *error);

/* ---- feature_table.c ---- */

/* Reads the table of the bitmap, which follows the data. */
int pf_feature_table_read(struct perfile_reader *reader, uint64_t table_offset, struct perfile_error *error);
/* 0 when the body has the layout of the feature, else DAMAGED. */
int pf_feature_check(struct perfile_reader *reader, uint32_t number, const uint8_t *data, size_t bytes,
                     struct perfile_error *error);
/*
 * A copy of a feature's body in the other byte order; false: its layout is unknown or damaged, and not all is turned.
 */
bool pf_feature_turn(struct perfile_reader *reader, uint32_t number, const uint8_t *data, size_t bytes, uint8_t *copy);
int pf_feature_add(struct perfile_reader *reader, uint32_t number, const struct perfile_section *section,
                   struct perfile_error *error);
/* As perfile_feature_bytes, but the result may be discarded later. */
int pf_feature_look(struct perfile_reader *reader, uint32_t number, const uint8_t **data, size_t *bytes,
                    struct perfile_error *error);
/* Frees the feature's bytes, if no other caller got them; they are read again when they are asked for. */
void pf_feature_discard(struct perfile_reader *reader, uint32_t number);
/* When the reader is closed. */
void pf_features_free(struct perfile_reader *reader);

#endif
