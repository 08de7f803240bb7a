/* SPDX-License-Identifier: MIT */
/*
 * Starting to read in the middle of a recording.
 *
 * A mark is the end of a round: all records up to its `settled` time have been delivered, and those that had been read
 * but not delivered by then are in the round that ended, which starts at `resume`. The state is what the session knew
 * then: names of threads, mappings, control groups. A reader that loads the state, reads from `resume` on and passes
 * over the records that were delivered continues as if it had read from the start.
 *
 *     pieces of texts, of names that ended, of states, of histories, of gaps, as they come     marks  blocks  tail
 *
 * A block is a number of samples that are near each other, in gaps between other records. A reader that needs none of
 * them passes over the gaps and reads what is between them, because the other records may matter to other samples.
 *
 * The byte order and the sizes are those of this machine; an index of another kind of machine is not used. Each piece
 * has a checksum.
 */
#ifndef PF_MODEL_INDEX_H
#define PF_MODEL_INDEX_H

#include "format/reader.h"

struct perfile_session;

enum { PF_INDEX_VERSION = 6 };

struct pf_index_piece {
    uint64_t at, bytes;
    uint64_t count; /* of what is in it */
    uint64_t crc;
};

/* What a byte of a state may become. */
enum { PF_INDEX_INFLATES = 1024 };

struct pf_index_mark {
    uint64_t settled;
    struct pf_entry resume;        /* where the round starts */
    uint64_t end;                  /* where the round ends */
    struct pf_index_piece texts;   /* that are new, each with its NUL: their numbers count on from mark to mark */
    struct pf_index_piece gone;    /* names of threads that ended since the mark before: struct pf_index_name */
    struct pf_index_piece state;   /* a zstd frame that inflates to `count` bytes; so is `history` */
    struct pf_index_piece history; /* the records before `resume` that matter (model/history.h); no bytes: not known */
    struct perfile_counts counts;  /* when the reader stood at `resume` */
};

/* Sets of numbers: of those that say "no" the number is not in it. */
enum { PF_INDEX_SET_WORDS = 8, PF_INDEX_SET_MARKS = 3 };
struct pf_index_set {
    uint64_t words[PF_INDEX_SET_WORDS];
};

enum {
    PF_INDEX_NO_CPU = 1 << 0,    /* the CPU of a sample is not known */
    PF_INDEX_NO_THREAD = 1 << 1, /* the thread of a sample is not known */
    PF_INDEX_NEEDED = 1 << 2,    /* it has threads without a name, which matters to later threads with their ids */
};

struct perfile_block {
    uint64_t at, end;
    uint64_t first_time, last_time;
    struct pf_index_piece gaps;
    uint64_t missing;      /* PF_INDEX_NO_... */
    uint64_t cpus, events; /* a bit for each; 64 is 0 again */
    struct pf_index_set pids, tids;
};

struct pf_index_tail {
    struct pf_index_piece marks;
    struct pf_index_piece blocks;
    uint64_t queue_bytes; /* the most that waited for its turn */
    uint64_t file_bytes;
    int64_t modified_s, modified_ns;
    uint64_t ends_crc; /* of how the recording begins and ends */
    struct perfile_counts counts;
    uint32_t mark_bytes;
    uint32_t version;
    uint64_t crc; /* of all before it */
    char magic[8];
};

#define PF_INDEX_MAGIC "PFINDEX"
#define PF_INDEX_NO_TEXT UINT32_MAX

struct pf_index_name {
    uint32_t tid;
    uint32_t text;
};

/* A state: how many there are of each, and then these, in this order. */
struct pf_index_counts {
    uint32_t names, groups, maps, spaces, processes, alive, ended, execs, exec_times;
    uint32_t next_map; /* the number that the next one gets */
};

struct pf_index_group {
    uint64_t id;
    uint64_t text;
};

struct pf_index_map {
    uint64_t start, end, pgoff;
    uint32_t text, id, prot, flags;
    int32_t pid;
    uint8_t build_id[20];
    uint8_t build_id_bytes, kernel, data, symbol;
    uint32_t replaced; /* the number of an earlier one + 1, or 0 */
    uint64_t inode, executed;
    uint32_t device_major, device_minor;
};

/* Spaces are one number each, how many maps they have, and the numbers of these. */
struct pf_index_process {
    uint32_t pid;
    uint32_t space;
};

/* How many threads of a process are alive, when it ended, how many maps were made before its program, or when. */
struct pf_index_life {
    uint64_t pid;
    uint64_t value;
};

/* As perfile_index_write, with marks as near, and blocks and gaps as small, as tests want them. */
struct pf_index_sizes {
    uint64_t mark_bytes;  /* of the recording between two marks */
    uint64_t block_bytes; /* of it in a block, about */
    uint64_t gap_bytes;   /* in a gap, at least */
};
int pf_index_write(struct perfile_reader *reader, const struct perfile_sink *sink, const struct pf_index_sizes *sizes,
                   struct perfile_error *error);
/* Of a reader that has an index. */
struct pf_index_tail pf_index_tail_of(const struct perfile_reader *reader);
/* The piece is in the index, and is what it was: where it is; else NULL. */
const uint8_t *pf_index_piece_at(const struct perfile_reader *reader, const struct pf_index_piece *piece);
struct pf_index_mark pf_index_mark_at(const struct perfile_reader *reader, const struct pf_index_tail *tail,
                                      uint64_t number);
/* What is packed in a piece: 1, and `count` bytes, and one more, that are the caller's. 0: it is damaged. MEMORY. */
int pf_index_unpack(const struct perfile_reader *reader, const struct pf_index_piece *piece, uint8_t **bytes);
/* Where a number is in a set; false when it is not. */
bool pf_index_set_has(const struct pf_index_set *set, uint32_t number);
void pf_index_set_add(struct pf_index_set *set, uint32_t number);
/* Describes the reader's recording in `tail`. Returns false when the input is not a file. */
bool pf_index_describe(struct perfile_reader *reader, struct pf_index_tail *tail);
/* Moves the reader, which is after the first round, to the last mark before the times that are required. MEMORY. */
int pf_index_resume(struct perfile_session *session, struct perfile_error *error);
/* The session ends early: the rest counts as the index says. Returns how many samples are not among the `seen` ones. */
uint64_t pf_index_count_rest(struct perfile_reader *reader, uint64_t seen);

#endif
