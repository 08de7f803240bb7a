/* SPDX-License-Identifier: MIT */
/*
 * Edits as steps over a stream of records: a step may read each event, feature and record, change it or leave it out.
 * What no step changes is copied byte for byte.
 */
#ifndef PF_EDIT_EDIT_H
#define PF_EDIT_EDIT_H

#include <perfile/edit.h>

#include "format/layout.h"
#include "format/reader.h"
#include "format/writer.h"
#include "model/history.h"
#include "model/skips.h"

/* What the functions of a step return unless they fail. */
enum pf_edit_verdict { PF_EDIT_KEEP = 0, PF_EDIT_DROP = 1 };

/* A record on its way from the reader to the writer. */
struct pf_item {
    struct perfile_reader *reader;
    const struct perfile_record *record; /* as it was read */
    bool decoded;
    bool changed; /* the decoded members are written, not the record's bytes */
    bool has_id;
    uint32_t trailer_bytes;
    union pf_any_record body;     /* decoded, when the record is not a SAMPLE */
    struct perfile_sample sample; /* decoded, when it is a SAMPLE */
    struct perfile_sample_id id;  /* the trailer, when has_id */
};

struct pf_edit_step {
    void *context;
    /* Functions may be NULL. An event before it is added: what is changed in *event is in the output. No verdict. */
    int (*event)(void *context, struct pf_event_spec *event, struct perfile_error *error);
    /* A feature; another body in the recording's byte order may be put in, which must live until the next call. */
    int (*feature)(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                   struct perfile_error *error);
    /*
     * Called for a record. Call pf_item_decode before looking inside, and set item->changed after changing something.
     */
    int (*record)(void *context, struct pf_item *item, struct perfile_error *error);
    /* Called after the last record: features may be added. */
    int (*end)(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
               struct perfile_error *error);
};

struct pf_edit {
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    const struct pf_edit_step *steps;
    size_t step_count;
    bool by_time;      /* records come by time, not as in the file */
    bool follows_maps; /* records come by time, and `session` knows the mappings when the steps see them */
    bool has_last_time;
    uint64_t last_time;              /* with has_last_time: later records are not wanted */
    struct perfile_session *session; /* NULL: records come in the order of the file */
    /*
     * Returns whether none of these steps needs the records in such a block; NULL: all are needed. Called only in the
     * order of the file.
     */
    bool (*unwanted)(void *context, const struct perfile_block *block);
    void *unwanted_context;
    /* Called with the numbers of records and samples that were not read; or NULL. */
    void (*passed_over)(void *context, uint64_t records, uint64_t samples);
    struct pf_history
        *history;   /* NULL, or in the order of the file: of the records before its mark those that matter are enough */
    bool from_mark; /* and not even these */
    struct perfile_edit_options options;
    struct perfile_edit_report *report;
    bool no_kernel_copy;  /* kcore_dir is left out, also of a directory */
    bool reshapes;        /* attrs are changed: samples of no event would be misread */
    uint64_t bytes_saved; /* by which records that were encoded anew became shorter; modulo 2^64 */
    struct pf_writer_hooks hooks;
};

/* Takes the options over; `report` may be NULL. */
int pf_edit_open(struct pf_edit *edit, struct perfile_reader *reader, struct perfile_writer *writer,
                 const struct perfile_edit_options *options, struct perfile_error *error);
/* Reads all, asks the steps, writes. Fills *report (may be NULL) also after a failure. */
int pf_edit_run(struct pf_edit *edit, struct perfile_edit_report *report, struct perfile_error *error);

/* The pieces of _run, for edits that write several recordings at once: events and features, ... */
int pf_edit_begin(struct pf_edit *edit, struct perfile_error *error);
/* ... one record through the steps to the writer; errors of this record alone are counted, and 0 is returned, ... */
int pf_edit_record(struct pf_edit *edit, struct pf_item *item, struct perfile_error *error);
/* ... what the steps do after the last record, and the counts that are known then. */
int pf_edit_end(struct pf_edit *edit, int result, struct perfile_error *error);
/*
 * Samples of a stream count as kept or dropped until it has ended, since their events may follow. At the end of one
 * without any event they are damaged, as other readers of the recording report them.
 */
void pf_edit_count_undecodable(const struct perfile_reader *reader, struct perfile_edit_report *report);
/*
 * Rounds of ring buffers would be wrong for a file made of the parts of a directory, except in the order of time. In a
 * directory every file is expected to be in that order.
 */
bool pf_edit_needs_order(const struct perfile_reader *reader, const struct perfile_writer *writer);
/* Returns whether a record describes the recording: the writer states the same in the way of its mode. */
bool pf_edit_describes(uint32_t type);
/* Returns whether callchains come in two parts. */
bool pf_edit_defers_callchains(const struct perfile_reader *reader);
/* All records from where the reader stands, in the order of time or of the file, until `each` fails. */
int pf_edit_walk(struct pf_edit *edit, bool by_time,
                 int (*each)(void *context, struct pf_item *item, struct perfile_error *error), void *context,
                 struct perfile_error *error);

/* ---- repair.c ---- */

/*
 * Returns whether the feature has its layout, and nothing that makes perf refuse a complete recording. *result < 0:
 * MEMORY.
 */
bool pf_repair_believes(struct perfile_reader *reader, uint32_t number, const struct perfile_bytes *body, int *result,
                        struct perfile_error *error);

/* ---- item.c ---- */

void pf_item_set(struct pf_item *item, struct perfile_reader *reader, const struct perfile_record *record);
/* Fills the decoded members; DAMAGED, EVENT, UNSUPPORTED (a type without a struct). Once is enough. */
int pf_item_decode(struct pf_item *item, struct perfile_error *error);
/* Writes what is decoded, with the payload of the record. */
int pf_item_put(const struct pf_item *item, struct perfile_writer *writer, struct perfile_error *error);
/* The record as it is to be in the output, where `plan` is that of its event. LIMIT: it does not fit any more. */
int pf_item_encode(const struct pf_item *item, const struct pf_plan *plan, bool big_endian, struct pf_out *out,
                   struct perfile_error *error);

#endif
