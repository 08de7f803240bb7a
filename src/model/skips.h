/* SPDX-License-Identifier: MIT */
/* Passing over samples that are not required, by the blocks of an index: with or without a session. */
#ifndef PF_MODEL_SKIPS_H
#define PF_MODEL_SKIPS_H

#include <perfile/index.h>

#include "format/reader.h"

/* All of it is SAMPLE records that wait for their turn. */
struct pf_index_gap {
    uint64_t at;
    uint32_t bytes;
    uint32_t samples;
    uint64_t last_time;
};

/*
 * The gaps of a block as an index stores them. Each has, in LEB128, its distance from the gap before, its bytes, its
 * samples, and, as zigzag, how much later its last time is. The first one follows the start and the first time of the
 * block.
 */
struct pf_index_gaps {
    const uint8_t *from, *to; /* what is left */
    uint64_t count;           /* of them */
    uint64_t end, time;       /* of the one before */
};

struct pf_skips {
    struct perfile_reader *reader;
    uint64_t at;           /* of the next gap; UINT64_MAX: there is none */
    const uint8_t *blocks; /* in the index */
    uint64_t block_count;
    uint64_t next_block;
    struct pf_index_gaps gaps;  /* of the block before that, ... */
    struct pf_index_gaps after; /* ... and after the first of them */
    bool (*unwanted)(void *context, const struct perfile_block *block);
    void *context;
};

/* Without an index of the reader that has blocks nothing is ever due. */
void pf_skips_open(struct pf_skips *skips, struct perfile_reader *reader,
                   bool (*unwanted)(void *context, const struct perfile_block *block), void *context);

/* The next record may be in a gap. */
static inline bool pf_skips_due(const struct pf_skips *skips, const struct perfile_reader *reader)
{
    return reader->parts[0].frame.at >= skips->at;
}

/* Passes over the gap that begins here, if it is not wanted: true, and *gap says what is in it. Then ask again. */
bool pf_skips_take(struct pf_skips *skips, struct pf_index_gap *gap);

#endif
