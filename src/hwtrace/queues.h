/* SPDX-License-Identifier: MIT */
/*
 * What the records of a recording say about its hardware trace: its kind and its clock, what was lost, and the queues,
 * which are the payloads of each AUX area. inject, the views and info collect them here, record by record. The payloads
 * of a queue that continue each other are read as one: packets may begin in one and end in the next.
 */
#ifndef PF_HWTRACE_QUEUES_H
#define PF_HWTRACE_QUEUES_H

#include "base/map.h"
#include "hwtrace/packets.h"

/* The payload of an AUXTRACE record, or the AUX data of a sample. */
struct pf_aux_buffer {
    uint32_t part;      /* of a directory: the file that has the bytes */
    uint64_t position;  /* of the first byte in that file */
    uint64_t bytes;     /* that are there: fewer than the record states where the file ends */
    uint64_t offset;    /* of the first byte in all that the AUX area held over time */
    uint64_t reference; /* of PT and BTS the clock of the trace when the payload was copied */
    uint64_t repeated;  /* so many first bytes are the last ones of the buffer before */
    int32_t tid, cpu;   /* -1: not known */
    bool cut;           /* bytes at its end are missing in the file */
    bool from_sample;   /* nothing continues it */
};

/* What the packets of a queue add up to. */
struct pf_aux_sums {
    uint64_t packets, bad_bytes, syncs, overflows, records;
    uint64_t first_time, last_time; /* on the clock of the trace */
    bool has_time;
};

/* What AUX records say that was lost. */
struct pf_aux_losses {
    uint64_t truncated, partial, collided;
};

/* The buffers with one number, which continue each other. */
struct pf_aux_queue {
    uint32_t number;
    int32_t tid, cpu; /* of its first buffer */
    struct pf_aux_buffer *buffers;
    size_t count, capacity;
    uint64_t bytes;   /* of all buffers */
    uint64_t missing; /* bytes of the AUX area between the buffers, and those that the file does not have */
    bool conflicts;   /* a buffer has another processor or thread: the recording contradicts itself */
    struct pf_aux_sums sums;
    uint64_t *sources; /* PF_AUX_SOURCES numbers: bytes by the source that wrote them; NULL: the trace has one source */
};

/* A piece of the trace as an AUX record has it: it was written before that time. */
struct pf_aux_piece {
    uint64_t offset, end; /* in all that the AUX area held over time */
    uint64_t time;
    int32_t tid, cpu;
};
/* Whether the piece has this byte of the AUX area that the buffer belongs to. */
bool pf_aux_piece_has(const struct pf_aux_piece *piece, const struct pf_aux_buffer *buffer, uint64_t offset);

struct pf_aux_loss; /* of one processor and thread */

struct pf_aux_queues {
    const struct perfile_allocator *allocator;
    const struct pf_aux_format *format; /* NULL before the AUXTRACE_INFO record, or if its type is not known */
    uint32_t type;                      /* of AUXTRACE_INFO; 0 before that record */
    uint64_t *priv;                     /* the words of AUXTRACE_INFO */
    size_t priv_count;
    struct perfile_time_conv conversion; /* of the TIME_CONV record */
    struct pf_aux_queue *items;
    size_t count, capacity;
    struct pf_map numbers; /* of queues, to their indexes */
    struct pf_aux_loss *losses;
    size_t loss_count, loss_capacity;
    struct pf_aux_piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t aux_records;
    uint64_t errors;     /* AUXTRACE_ERROR records: what another decoder could not read */
    uint64_t in_samples; /* bytes of AUX data in samples */
    bool unformatted;    /* CoreSight: AUX records say that bytes are not in frames */
    bool overwrites;     /* snapshots of AUX areas that the kernel overwrites */
};

void pf_aux_queues_open(struct pf_aux_queues *queues, const struct perfile_allocator *allocator);
/* All zeros may be closed, too. */
void pf_aux_queues_close(struct pf_aux_queues *queues);

/* A decoded record, and what its sample_id says. */
struct pf_aux_record {
    const struct perfile_record *record;
    const void *body; /* struct perfile_auxtrace_info, perfile_auxtrace and so on, by its type */
    int32_t tid, cpu; /* of AUX records; -1: not known */
};
/* Whether records of this type say something about traces. */
bool pf_aux_queues_use(uint32_t type);
/*
 * Collects what the record says. *queue is that of an AUXTRACE record, else NULL; the argument may be NULL. False when
 * out of memory.
 */
bool pf_aux_queues_take(struct pf_aux_queues *queues, const struct pf_aux_record *record, struct pf_aux_queue **queue);
/* Collects the AUX data of a sample, which must have some. False when out of memory. */
bool pf_aux_queues_take_data(struct pf_aux_queues *queues, const struct perfile_record *record,
                             const struct perfile_sample *sample, struct pf_aux_queue **queue);
/* What was lost of this queue; NULL: of all. */
struct pf_aux_losses pf_aux_queues_lost(const struct pf_aux_queues *queues, const struct pf_aux_queue *queue);
/* The sums of all queues. */
struct pf_aux_sums pf_aux_queues_sum(const struct pf_aux_queues *queues);
/* Adds a packet of the queue's last buffer. */
void pf_aux_sums_add(struct pf_aux_queue *queue, const struct pf_aux_format *format,
                     const struct pf_aux_packet *packet);

/* The complete time: packets have the low 56 bits of one that was near the reference of their buffer. */
uint64_t pf_aux_extend(uint64_t reference, uint64_t low);
/* The clock of the trace in nanoseconds, as perf_event_open(2) describes it. Without a factor it is the recording's. */
uint64_t pf_aux_time(const struct perfile_time_conv *clock, uint64_t cycles);
/* The clock of the trace: that of AUXTRACE_INFO where the kind of trace has it there, else that of TIME_CONV. */
struct perfile_time_conv pf_aux_clock(const struct pf_aux_queues *queues);

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* Reads up to *bytes bytes of a buffer, from `at` on, and sets *bytes to how many there were. 0 or an error. */
typedef int pf_aux_read(void *context, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                        struct perfile_error *error);

/*
 * Finds in the snapshots of a queue what they repeat of the one before: from PSB to PSB in Intel PT, in steps of 24
 * bytes in BTS. 0, or an error.
 */
int pf_aux_queue_find_repeated(const struct pf_aux_queues *queues, struct pf_aux_queue *queue, pf_aux_read *read,
                               void *context, struct perfile_error *error);

/* Runs of buffers of a queue, each read as one payload. */
struct pf_aux_stream {
    const struct pf_aux_queues *queues;
    const struct pf_aux_queue *queue;
    pf_aux_read *read;
    void *context;
    size_t first, at;    /* buffers: the first one of the run, the one that is read */
    uint64_t done;       /* bytes of that buffer that were read */
    size_t current;      /* the buffer that pf_aux_stream_buffer found last ... */
    uint64_t current_at; /* ... and where it begins in the run */
    uint8_t *piece;
    size_t piece_bytes;
};
/* Before the first run. False when out of memory. */
bool pf_aux_stream_open(struct pf_aux_stream *stream, const struct pf_aux_queues *queues,
                        const struct pf_aux_queue *queue);
void pf_aux_stream_close(struct pf_aux_stream *stream);
/* The run with this byte of the queue, from that byte on. Returns where in the run that is. */
uint64_t pf_aux_stream_enter(struct pf_aux_stream *stream, size_t buffer, uint64_t at);
/* What is read next is what is at this offset of the run. */
void pf_aux_stream_go(struct pf_aux_stream *stream, uint64_t offset);
/* Goes to the next run. Returns false after the last. */
bool pf_aux_stream_next_run(struct pf_aux_stream *stream);
/* The `more` of a walk, whose context is the stream. */
int pf_aux_stream_more(void *stream, const uint8_t **data, size_t *bytes, struct perfile_error *error);
/* The buffer with this byte of the run; offsets do not decrease from call to call. */
const struct pf_aux_buffer *pf_aux_stream_buffer(struct pf_aux_stream *stream, uint64_t offset);

#endif
