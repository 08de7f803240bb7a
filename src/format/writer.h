/* SPDX-License-Identifier: MIT */
/* The writer from the inside: what writer*.c share. */
#ifndef PF_FORMAT_WRITER_H
#define PF_FORMAT_WRITER_H

#include <perfile/writer.h>

#include "base/memory.h"
#include "format/encode.h"
#include "io/deflate.h"
#include "io/folder.h"
#include "io/sink.h"

enum {
    PF_RECORD_CAPACITY = 65536,
    PF_FILE_HEADER_BYTES = 104,
    PF_BATCH_BYTES = 256 * 1024, /* of records that are compressed together */
};

/* One file of records. */
struct pf_writer_stream {
    struct pf_sink sink;
    struct pf_deflate *deflate;
    uint8_t *batch; /* records that wait for their compression */
    size_t batch_bytes;
    uint64_t framed_bytes; /* of records in the frame so far, */
    bool framed_in_round;  /* which is not the first of its round */
    bool open;
};

/* An event as it is to be written. */
struct pf_event_spec {
    struct perfile_attr attr;
    const uint64_t *ids;
    size_t id_count;
    const char *name; /* or NULL */
};

/* Callbacks that see what is copied from a reader, and may change it. */
struct pf_writer_hooks {
    void *context;
    int (*event)(void *context, struct pf_event_spec *event, struct perfile_error *error);
    /* 1: the feature is left out */
    int (*feature)(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                   struct perfile_error *error);
};

struct pf_writer_event {
    uint8_t *attr; /* attr_bytes bytes in the byte order of the output */
    uint32_t attr_bytes;
    uint64_t *ids;
    size_t id_count;
    const char *name; /* or NULL */
    struct pf_plan plan;
    bool changed;  /* a hook changed its attr, */
    bool reshaped; /* so that its records are not those of the reader */
};

struct pf_writer_feature {
    uint32_t number;
    uint8_t *data;
    size_t bytes;
    size_t capacity;
};

/* Features on the way from one writer to another. */
struct pf_writer_features {
    const struct perfile_allocator *allocator;
    struct pf_writer_feature *items;
    size_t count;
    size_t capacity;
};

struct perfile_writer {
    struct perfile_writer_options options;
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    bool big_endian;
    bool swap;
    struct pf_folder folder;          /* directory mode */
    struct pf_writer_stream *streams; /* 0: the file itself */
    size_t stream_count;
    size_t stream_capacity;
    size_t stream_now;
    struct pf_writer_event *events;
    size_t event_count;
    size_t event_capacity;
    size_t events_in_front; /* of them stand before the data */
    struct pf_writer_feature *features;
    size_t feature_count;
    size_t feature_capacity;
    struct perfile_section attrs;
    uint64_t data_start;
    bool data_started; /* live: the records that describe the recording are written */
    bool started;      /* writing records has started */
    bool finished;
    uint64_t payload_left;            /* of the AUXTRACE record that was written last, */
    uint64_t payload_of;              /* which starts here in its file, */
    uint64_t payload_at;              /* and its payload here */
    bool payload_apart;               /* not copied with the record: the caller writes it */
    struct perfile_section *auxtrace; /* where these records are */
    size_t auxtrace_count;
    size_t auxtrace_capacity;
    bool no_host;                        /* the intended readers do not know HOSTNAME: it is not added */
    bool keeps_large;                    /* pipe mode: features and ids may be larger than perf's records */
    uint64_t features_dropped;           /* of a reader: not readable, or not possible in this mode */
    const struct pf_writer_hooks *hooks; /* or NULL */
    struct perfile_writer_counts counts;
    struct perfile_error failure; /* the first one; code 0: none */
    uint8_t record[PF_RECORD_CAPACITY];
};

/* Keeps a failure, so that _finish reports it; returns `result`. `error` is not NULL. */
int pf_writer_keep(struct perfile_writer *writer, int result, const struct perfile_error *error);
/* The failure that was kept, again; 0: none. */
int pf_writer_failed(const struct perfile_writer *writer, struct perfile_error *error);
void pf_writer_diagnose(const struct perfile_writer *writer, const char *rule, const char *message);

/* ---- writer.c ---- */

/* The header, and in file mode the events, before the first record. */
int pf_writer_start(struct perfile_writer *writer, struct perfile_error *error);
/*
 * Live: the events as a file has them, in a record that says nothing, so that they stand in front of the data one day.
 */
int pf_writer_put_front(struct perfile_writer *writer, struct perfile_error *error);
/* An event by the bytes of its attr, in the output's byte order. `in_stream`: its record is written by the caller. */
int pf_writer_add_event(struct perfile_writer *writer, const struct pf_writer_event *event,
                        const struct perfile_attr *attr, bool in_stream, struct perfile_error *error);

/* More ids of an event. */
int pf_writer_add_ids(struct perfile_writer *writer, size_t index, const uint64_t *ids, size_t count,
                      struct perfile_error *error);

/* Pipe mode: the name of an event, as a record. */
int pf_writer_put_name(struct perfile_writer *writer, const struct pf_writer_event *event, struct perfile_error *error);

/* Whether descriptions become records of the stream now: always in pipe mode, in live files until the data begins. */
static inline bool pf_writer_describes_now(const struct perfile_writer *writer)
{
    return writer->options.mode == PERFILE_MODE_PIPE || (writer->options.live && !writer->data_started);
}

/* ---- writer_stream.c ---- */

static inline struct pf_writer_stream *pf_writer_stream(struct perfile_writer *writer)
{
    return &writer->streams[writer->stream_now];
}
int pf_writer_open_streams(struct perfile_writer *writer, size_t count, struct perfile_error *error);
void pf_writer_close_streams(struct perfile_writer *writer);
/* Writes a complete record; records of the kernel are compressed if the options say so. */
int pf_writer_put(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error);
/* Writes complete records without gaps between them. */
int pf_writer_put_many(struct perfile_writer *writer, const uint8_t *data, size_t bytes, struct perfile_error *error);
/*
 * From here on features wait for the end. The records that described a live file so far are before its data when it
 * becomes a file: the header then overwrites the first of them.
 */
int pf_writer_begin_data(struct perfile_writer *writer, struct perfile_error *error);
/* The same past compression and counts: what describes the recording. */
int pf_writer_put_plain(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error);
/* Writes bytes that follow a record. */
int pf_writer_put_bytes(struct perfile_writer *writer, const void *data, size_t bytes, struct perfile_error *error);
/* No more of the payload will come: the record states what is there, or zeros take the place of the rest. */
int pf_writer_cut_payload(struct perfile_writer *writer, struct perfile_error *error);
/* Fails because the caller has not written the complete payload of the last record. */
int pf_writer_fail_payload(const struct perfile_writer *writer, struct perfile_error *error);
/* What waits for compression goes out. */
int pf_writer_flush(struct pf_writer_stream *stream, struct perfile_writer *writer, struct perfile_error *error);
/* The same, and a frame of compression ends with it, where they do and anything goes out. */
int pf_writer_flush_frame(struct pf_writer_stream *stream, struct perfile_writer *writer, struct perfile_error *error);

/* ---- writer_copy.c ---- */

/* The error is about one record that cannot be turned: the output is as it was before. */
bool pf_writer_concerns_record(int result);
/*
 * The record as it stands, in the byte order of the output; where the size in its header was wrong and the reader found
 * out the right one, a copy that states it, valid until the next record. False: no header can state it.
 */
bool pf_writer_sized(struct perfile_writer *writer, const struct perfile_record *record, struct perfile_bytes *body);
/* Updates names that came after their events. `announces`: the output is a stream, which then gets records of them. */
int pf_writer_follow_names(struct perfile_writer *writer, const struct perfile_reader *reader, bool announces,
                           struct perfile_error *error);
/* The payload of the record that the reader gave last. */
int pf_writer_copy_payload(struct perfile_writer *writer, struct perfile_reader *reader, struct perfile_error *error);

/* ---- writer_features.c ---- */

bool pf_writer_owns_feature(uint32_t number);
/* A number that no header can state: reports and counts it. */
void pf_writer_refuse_feature(struct perfile_writer *writer, uint64_t number);
/*
 * Whether an empty HOSTNAME will be added: by this feature perf on little-endian machines checks that it reads the
 * table of a big-endian file rightly. Without it, perf assumes that BUILD_ID is the only feature, and that it exists.
 */
bool pf_writer_makes_host(const struct perfile_writer *writer);
int pf_writer_set_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                          struct perfile_error *error);
int pf_writer_append_feature(struct perfile_writer *writer, uint32_t number, const void *data, size_t bytes,
                             struct perfile_error *error);
/*
 * The stream `from` becomes the recording `to`. Unless that is a stream, too, features that are too large for `from`
 * are kept for pf_writer_take_features, and events may have any number of ids.
 */
void pf_writer_prepare_for(struct perfile_writer *from, const struct perfile_writer *to);
/* Moves the features that are kept to *list, which the caller gives to another writer, or to none (NULL). */
void pf_writer_take_features(struct perfile_writer *from, struct pf_writer_features *list);
int pf_writer_give_features(struct pf_writer_features *list, struct perfile_writer *to, struct perfile_error *error);
/* Those that the writer makes, and the table with all of them, at the end of the file. */
int pf_writer_put_features(struct perfile_writer *writer, uint64_t bitmap[4], struct perfile_error *error);
/* Pipe mode: the names of all events so far, those without ids too. */
int pf_writer_describe_events(struct perfile_writer *writer, struct perfile_error *error);
/* Pipe mode: what readers must know before the first compressed record. */
int pf_writer_announce_compression(struct perfile_writer *writer, struct perfile_error *error);

#endif
