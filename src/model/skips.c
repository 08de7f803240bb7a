/* SPDX-License-Identifier: MIT */
/* What the index says is looked at before it is believed, as in index_read.c. */
#include "model/skips.h"

#include "base/varint.h"
#include "model/index.h"

/*
 * A reader with a smaller queue than the index assumes delivers records before their order is certain, and gaps would
 * change that order.
 */
enum { QUEUE_SLACK = 256 * 1024 };

void pf_skips_open(struct pf_skips *skips, struct perfile_reader *reader,
                   bool (*unwanted)(void *context, const struct perfile_block *block), void *context)
{
    *skips = (struct pf_skips){.reader = reader, .at = UINT64_MAX, .unwanted = unwanted, .context = context};
    if (!reader->index.data)
        return;
    const struct pf_index_tail tail = pf_index_tail_of(reader);
    uint64_t bytes, min;
    if (!pf_multiply(tail.blocks.count, sizeof(struct perfile_block), &bytes) || bytes != tail.blocks.bytes ||
        !pf_add(tail.queue_bytes, QUEUE_SLACK, &min) || min > reader->options.limit_queue_bytes)
        return;
    skips->blocks = pf_index_piece_at(reader, &tail.blocks);
    skips->block_count = skips->blocks ? tail.blocks.count : 0;
    skips->at = skips->block_count ? 0 : UINT64_MAX;
}

static struct perfile_block block_at(const struct pf_skips *skips, uint64_t number)
{
    struct perfile_block block;
    memcpy(&block, skips->blocks + number * sizeof(block), sizeof(block));
    return block;
}

static struct pf_index_gaps gaps_of(const struct pf_skips *skips, const struct perfile_block *block)
{
    const uint8_t *from = pf_index_piece_at(skips->reader, &block->gaps);
    if (!from)
        return (struct pf_index_gaps){0};
    return (struct pf_index_gaps){from, from + block->gaps.bytes, block->gaps.count, block->at, block->first_time};
}

/* False: there is none, or it is damaged. */
static bool take_gap(struct pf_index_gaps *gaps, struct pf_index_gap *gap)
{
    uint64_t distance, bytes, samples, later;
    if (!gaps->count || !pf_leb128_take(&gaps->from, gaps->to, &distance) ||
        !pf_leb128_take(&gaps->from, gaps->to, &bytes) || !pf_leb128_take(&gaps->from, gaps->to, &samples) ||
        !pf_leb128_take(&gaps->from, gaps->to, &later) || !pf_add(gaps->end, distance, &gap->at) ||
        !pf_add(gap->at, bytes, &gaps->end) || bytes > UINT32_MAX || samples > UINT32_MAX)
        return false;
    gaps->count--;
    gaps->time += (uint64_t)pf_unzigzag(later);
    gap->bytes = (uint32_t)bytes;
    gap->samples = (uint32_t)samples;
    gap->last_time = gaps->time;
    return true;
}

/* Finds the next block that ends after `at`. Returns false when there is none. */
static bool next_block(struct pf_skips *skips, uint64_t at)
{
    while (skips->next_block < skips->block_count) {
        const struct perfile_block block = block_at(skips, skips->next_block++);
        if (block.end <= at || block.missing & PF_INDEX_NEEDED)
            continue;
        skips->gaps = gaps_of(skips, &block);
        return true;
    }
    return false;
}

/* Finds the first gap at or after `at`. */
static bool find_gap(struct pf_skips *skips, uint64_t at, struct pf_index_gap *gap)
{
    do {
        for (skips->after = skips->gaps; take_gap(&skips->after, gap); skips->gaps = skips->after)
            if (gap->at >= at)
                return true;
    } while (next_block(skips, at));
    return false;
}

static bool is_possible(const struct pf_skips *skips, const struct pf_index_gap *gap)
{
    const uint64_t end = skips->reader->parts[0].frame.end;
    return gap->at < end && gap->bytes <= end - gap->at && gap->samples && gap->samples <= gap->bytes / 8;
}

bool pf_skips_take(struct pf_skips *skips, struct pf_index_gap *gap)
{
    const struct pf_frame *frame = &skips->reader->parts[0].frame;
    while (find_gap(skips, frame->at, gap)) {
        const struct perfile_block block = block_at(skips, skips->next_block - 1);
        skips->at = gap->at;
        if (gap->at > frame->at)
            return false;
        skips->gaps = skips->after;
        if (is_possible(skips, gap) && skips->unwanted(skips->context, &block)) {
            pf_reader_pass_over(skips->reader, gap->at + gap->bytes, gap->samples, gap->last_time);
            return true;
        }
    }
    skips->at = UINT64_MAX;
    return false;
}
