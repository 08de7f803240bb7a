/* SPDX-License-Identifier: MIT */
/*
 * Packets of hardware traces: what the bytes after an AUXTRACE record contain. Each kind of trace is one file with its
 * `const struct pf_aux_format`, and one line in formats.def. A format finds the end of each packet, reads its values,
 * and prints it in perf's words; what the packets mean is for the decoders, which read the same packets.
 */
#ifndef PF_HWTRACE_PACKETS_H
#define PF_HWTRACE_PACKETS_H

#include "base/text.h"

/*
 * The last argument of pf_load16, pf_load32 and pf_load64 for numbers that are little-endian, or big-endian, anywhere.
 */
#define PF_AUX_LITTLE PF_NATIVE_BIG_ENDIAN
#define PF_AUX_BIG (!PF_NATIVE_BIG_ENDIAN)

/* A little-endian number of up to eight bytes. */
static inline uint64_t pf_aux_number(const uint8_t *data, size_t bytes)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bytes; i++)
        number |= (uint64_t)data[i] << (8 * i);
    return number;
}

struct pf_aux_packet {
    const uint8_t *data; /* its bytes, in the buffer that was given */
    size_t bytes;        /* at least 1 */
    uint64_t offset;     /* of the first byte, in the payload */
    unsigned kind;       /* the row of pf_aux_format.kinds; PF_AUX_BAD when the bytes are not a packet */
    unsigned detail;     /* a small number: its meaning depends on the kind */
    uint64_t payload;    /* the value that the packet carries */
};

enum { PF_AUX_BAD, PF_AUX_PAD }; /* the first two kinds of every format */
enum { PF_AUX_SOURCES = 128 };   /* whose bytes one trace may mix: numbers of CoreSight */

/* What a format needs to know of the recording. */
struct pf_aux_machine {
    bool big_endian;       /* the recording is: numbers that the kernel wrote in its own byte order */
    uint32_t s390_machine; /* the type of an s390, such as 3931; 0: not known */
    bool unformatted;      /* CoreSight: the bytes of one source without frames, as flags of AUX records say */
};

/* What packets of a kind are good for, whatever the format. */
enum pf_aux_role {
    PF_AUX_SYNC = 1,          /* reading can start here */
    PF_AUX_RECORD = 2,        /* it ends a record, of which samples are made */
    PF_AUX_OVERFLOW = 4,      /* the processor lost packets here */
    PF_AUX_OVERFLOWS = 8,     /* detail says how many records were lost */
    PF_AUX_TIME = 16,         /* the payload is a time on the clock of the trace, */
    PF_AUX_TIME_56 = 32,      /* or the low 56 bits of one */
    PF_AUX_AT_REFERENCE = 64, /* its time is about that of the reference of its buffer */
    PF_AUX_ENTRY_AFTER = 128, /* reading can start after it */
};

/* `cpuid` is the text of the feature CPUID; NULL: the recording does not have it. */
struct pf_aux_machine pf_aux_machine_of(bool big_endian, const char *cpuid);

struct pf_aux_kind {
    const char *name;
    void (*put)(struct pf_text *text, const struct pf_aux_packet *packet); /* what perf prints after it; may be NULL */
    unsigned roles;                                                        /* enum pf_aux_role */
};

struct pf_aux_recording;

/* A packet of one source, whose bytes several packets of the format have. */
struct pf_aux_part {
    unsigned source;
    uint64_t offset;  /* of its first byte, in the payload */
    uint64_t bytes;   /* of the source */
    const char *text; /* its kind, and after a blank what it says */
};
typedef void pf_aux_put_part(void *context, const struct pf_aux_part *part);

/* Finds the packets of sources. Each packet of the format gives those that end in it. */
struct pf_aux_unpacker {
    size_t state_bytes;
    void (*open)(void *state, const struct pf_aux_recording *recording); /* which stays valid */
    void (*restart)(void *state); /* another payload, of recording->cpu, begins */
    void (*unpack)(void *state, const struct pf_aux_packet *packet, pf_aux_put_part *put, void *context);
    void (*close)(void *state);
};

struct pf_aux_format {
    uint32_t type;       /* enum perfile_auxtrace_type */
    const char *heading; /* perf's name for the data */
    const struct pf_aux_kind *kinds;
    unsigned kind_count;
    bool values_only;   /* what `put` prints stands alone, without the name */
    size_t state_bytes; /* what `read` keeps between packets; it is zero at the start of each payload */
    size_t max_bytes;   /* of a packet: unless fewer bytes are left in the payload, `read` gets as many */
    bool converts;      /* the clock of the trace is not that of the recording */
    uint8_t clock_at; /* the words of AUXTRACE_INFO from here on are shift, factor, zero, and whether that is valid; 0:
                           TIME_CONV has them */
    uint8_t snapshot_at; /* the word that is not 0 in snapshots of overwritten areas; 0: this kind has no such word */
    /* How repetitions in snapshots are found: by the bytes of a packet, or by the size of records; 0: not. */
    const uint8_t *sync;
    uint8_t sync_bytes, record_bytes;
    /*
     * Reads the packet that begins at packet->data, of at most packet->bytes bytes, which are at least 1; sets its
     * kind, its values and its length. Bytes that are not a packet become a bad one, from which reading continues.
     */
    void (*read)(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet);
    /* Adds the bytes of the packet to those of the sources that wrote them, by their numbers. NULL: there is one. */
    void (*add_sources)(const struct pf_aux_packet *packet, uint64_t bytes[PF_AUX_SOURCES]);
    const struct pf_aux_unpacker *unpacker; /* NULL: packets have nothing that could be unpacked here */
};

/* Prints a packet in perf's words. */
void pf_aux_put(struct pf_text *text, const struct pf_aux_format *format, const struct pf_aux_packet *packet);

/* The format of this type of AUXTRACE_INFO, or NULL. */
const struct pf_aux_format *pf_aux_format_find(uint32_t type);

/* ---- the packets of a payload, which comes in pieces ------------------------------------------------------------ */

struct pf_aux_walk {
    const struct pf_aux_format *format;
    struct pf_aux_machine machine;
    /* The next piece of the payload: 1, 0 at its end, or an error. It stays valid until the next call. */
    int (*more)(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error);
    void *context;
    const struct perfile_allocator *allocator;
    void *state;         /* of the format */
    const uint8_t *data; /* what is to be read next: a part of the piece, or of `joined` */
    size_t bytes;
    uint64_t offset;      /* of data[0] in the payload */
    uint64_t bad_bytes;   /* of all payloads, those that are not packets */
    uint8_t *joined;      /* the last bytes of one piece, then the first ones of the next */
    const uint8_t *piece; /* the piece whose first bytes are in `joined`, while that is read; else NULL */
    size_t piece_bytes, piece_joined;
    int end; /* 1: more pieces may follow; 0: all were read; or the error that `more` returned */
};

/* Fills the walk; its format, machine, more and context are the caller's. False when memory is short. */
bool pf_aux_walk_open(struct pf_aux_walk *walk, const struct perfile_allocator *allocator);
void pf_aux_walk_close(struct pf_aux_walk *walk);
/* The next payload begins with the next piece: nothing of what came before matters. */
void pf_aux_walk_restart(struct pf_aux_walk *walk);
/* The next piece begins at this offset of the same payload; the format's state is that of there. */
void pf_aux_walk_resume(struct pf_aux_walk *walk, uint64_t offset);
/*
 * The next packet: 1, 0 at the end of the payload, or the error of `more`, after the packets before it. *packet is
 * valid until the next call.
 */
int pf_aux_walk_next(struct pf_aux_walk *walk, struct pf_aux_packet *packet, struct perfile_error *error);
/* Gets more bytes, as many as the longest packet has if there are so many. Returns false at the end. */
bool pf_aux_walk_fill(struct pf_aux_walk *walk, struct perfile_error *error);
/* pf_aux_walk_next of a format that the caller knows: its `read` is inlined. */
static inline __attribute__((always_inline)) int
pf_aux_walk_next_by(struct pf_aux_walk *walk,
                    void (*read)(const struct pf_aux_machine *, void *, struct pf_aux_packet *),
                    struct pf_aux_packet *packet, struct perfile_error *error)
{
    if (PF_UNLIKELY(walk->bytes < walk->format->max_bytes) && !pf_aux_walk_fill(walk, error))
        return walk->end;
    *packet = (struct pf_aux_packet){.data = walk->data, .bytes = walk->bytes, .offset = walk->offset};
    read(&walk->machine, walk->state, packet);
    walk->data += packet->bytes;
    walk->bytes -= packet->bytes;
    walk->offset += packet->bytes;
    walk->bad_bytes += packet->kind == PF_AUX_BAD ? packet->bytes : 0;
    return 1;
}
/*
 * Goes on to where these bytes are, at most as many as the longest packet has: 1, 0 when they do not occur in what is
 * left, or the error of `more`. *passed counts the bytes before them.
 */
int pf_aux_walk_find(struct pf_aux_walk *walk, const void *pattern, size_t bytes, uint64_t *passed,
                     struct perfile_error *error);

#endif
