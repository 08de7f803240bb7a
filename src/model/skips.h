/* SPDX-License-Identifier: MIT */
/* Passing over samples that nobody wants, by the blocks of an index: with or without a session. */
#ifndef PF_MODEL_SKIPS_H
#define PF_MODEL_SKIPS_H

#include <perfile/index.h>

#include "format/reader.h"

struct pf_index_gap;

struct pf_skips {
    struct perfile_reader *reader;
    uint64_t at;           /* of the next gap; UINT64_MAX: there is none */
    const uint8_t *blocks; /* in the index */
    uint64_t block_count;
    uint64_t next_block;
    const uint8_t *gaps; /* of the block before that */
    uint64_t gap_count;
    uint64_t next_gap;
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
