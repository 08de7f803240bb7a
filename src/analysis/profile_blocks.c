/* SPDX-License-Identifier: MIT */
#include "analysis/profile_blocks.h"

#include "analysis/fields.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/stages.h"

/*
 * The limits of a block: it has to fit into the cache of the thread that reads it, and handing over a block costs as
 * much as a few hundred addresses. The first blocks are read by the caller alone, as starting threads costs time.
 */
enum { BLOCK_SAMPLES = 2048, BLOCK_ADDRESSES = 32 * 1024, BLOCK_BYTES = 256 * 1024, BLOCKS_ALONE = 2 };

enum flags {
    AGAIN = 1 << 0,    /* it has the stack of the sample before */
    LATE = 1 << 1,     /* its record is kept: the stack is more than a callchain */
    MISSING = 1 << 2,  /* some of its positions are not known yet */
    IN_LISTS = 1 << 3, /* its frames are in `lists` */
    IS_LEAF = 1 << 4,  /* its leaf is its only frame */
    HAS_CPU = 1 << 5,
    HAS_MORE = 1 << 6, /* in `more` */
};

/*
 * The part of a sample that goes from thread to thread, as small as possible. `leaf` is a position, and `frame_count` a
 * number of positions, until all positions are known.
 */
struct block_sample {
    const struct perfile_event *event;
    const char *comm;
    uint64_t time, period, ip;
    int32_t pid, tid;
    uint32_t cpu;
    uint32_t leaf, frame_count;
    uint32_t kernel, user; /* numbers of its spaces */
    uint32_t at;           /* in `ips` and `positions`, or in `lists` */
    uint32_t ip_count;
    uint8_t cpumode, flags;
};

/* What few samples have. */
struct more {
    uint64_t weight, alike;
    const char *cgroup;
};

/* A sample whose stack needs its record, which is in `bytes` with the part of its callchain that came later. */
struct late {
    struct perfile_record record;
    size_t sample;
    size_t at;
    uint64_t chain_count;
    struct perfile_u64s user_chain;
    const char *arch;
};

/* The record of a sample, where samples are decoded. */
struct copy {
    struct perfile_record record;
    size_t at; /* in `bytes` */
    uint64_t chain_count;
};

struct block {
    struct block_sample *samples;
    size_t count, capacity;
    struct copy *copies; /* one for each sample, or none */
    size_t copy_count, copy_capacity;
    struct more *more; /* of those samples that have it */
    size_t more_count, more_capacity;
    size_t delivered, more_delivered;
    uint64_t *ips; /* of callchains */
    size_t ip_count, ip_capacity;
    uint32_t *positions; /* of samples, at the same index as their ips; those of late samples are after them */
    size_t position_count, position_capacity;
    uint32_t *lists; /* of frames, where some are of inlined functions */
    size_t list_count, list_capacity;
    struct late *late;
    size_t late_count, late_capacity;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    uint32_t *spaces; /* numbers of those that samples are in */
    size_t space_count, space_capacity;
    char *notes; /* each ends with a NUL */
    size_t note_bytes, note_capacity;
    bool missing;       /* one of its samples is MISSING */
    bool retires;       /* the spaces that were retired before it are emptied */
    uint64_t discarded; /* pf_address_cache.discarded when positions were looked up */
    size_t frame_count; /* number of all frames when all positions are known */
    struct pf_profile_totals totals;
    int result;  /* after the samples: 1 for the next block, or what pf_profile_next returns */
    bool failed; /* out of memory: the block is not valid */
    struct perfile_error error;
};

enum { APART_BYTES = 128 }; /* two lines of a cache: they are fetched in pairs */

struct recent_space {
    const struct perfile_space *space;
    uint32_t number;
    uint64_t block; /* the last block that lists it; 0: there was no such block */
};

/* Members that other threads read for each address are in other cache lines than those that the reader changes. */
struct pf_blocks {
    struct pf_blocks_options options;
    struct pf_delivery *delivery;
    uint32_t nowhere; /* the number of the space that has no mappings */
    unsigned block_count;
    struct block *blocks;
    struct pf_stages *stages;
    struct pf_delivered late; /* of the thread that finds missing positions */
    uint8_t apart[APART_BYTES];
    struct block *delivered; /* the block that the caller reads, and its current sample */
    struct pf_profile_sample sample;
    struct pf_delivered decoded; /* of a copy */
    uint8_t apart_from_reader[APART_BYTES];
    struct pf_delivered item;         /* of the reading thread, as all members after it */
    struct recent_space kernel, user; /* of the last sample */
    uint64_t *listed; /* by number of the space: the last block that has it among its spaces, from 1 on */
    size_t listed_capacity;
    uint32_t *retired; /* numbers of spaces that no block has any more */
    size_t retired_count, retired_capacity;
    uint64_t retired_at;  /* the block that empties them; 0: no number is retired */
    uint64_t swept;       /* the block before which spaces were swept last; ... */
    size_t sweep_at;      /* ... and the number of spaces at which they are swept again */
    uint64_t started;     /* blocks */
    uint64_t trimmed;     /* how many there were when mappings were given back */
    struct block *filled; /* the one that is read */
};

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static void clear(struct block *block)
{
    block->count = block->delivered = block->more_count = block->more_delivered = 0;
    block->ip_count = block->position_count = block->list_count = 0;
    block->late_count = block->byte_count = block->space_count = block->note_bytes = block->copy_count = 0;
    block->missing = block->failed = false;
    block->totals = (struct pf_profile_totals){0};
    block->result = 1;
}

static __attribute__((noinline)) bool list_space(struct pf_blocks *blocks, struct block *block, uint32_t number)
{
    const struct perfile_allocator *allocator = blocks->options.allocator;
    if (number == UINT32_MAX || !PF_HAS_ELEMENT(allocator, blocks->listed, blocks->listed_capacity, number))
        return false;
    if (PF_LIKELY(blocks->listed[number] == blocks->started))
        return true;
    blocks->listed[number] = blocks->started;
    return PF_APPEND(allocator, block->spaces, block->space_count, block->space_capacity, number);
}

/* Samples tend to be in the same spaces as the one before. */
static bool number_space(struct pf_blocks *blocks, struct block *block, struct recent_space *recent,
                         const struct perfile_space *space)
{
    if (PF_LIKELY(recent->space == space && recent->block == blocks->started))
        return true;
    const uint32_t number =
        pf_address_cache_number_of(&blocks->options.frames->positions, perfile_space_id(space), space);
    *recent = (struct recent_space){space, number, blocks->started};
    if (PF_LIKELY(number < blocks->listed_capacity && blocks->listed[number] == blocks->started))
        return true;
    return list_space(blocks, block, number);
}

static bool number_kernel(struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    const bool enough = number_space(blocks, block, &blocks->kernel, blocks->item.kernel_space);
    sample->kernel = blocks->kernel.number;
    return enough;
}

static bool number_user(struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    const bool enough = number_space(blocks, block, &blocks->user, blocks->item.user_space);
    sample->user = blocks->user.number;
    return enough;
}

static bool keep_chain(const struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    const struct perfile_allocator *allocator = blocks->options.allocator;
    const struct perfile_u64s *chain = &blocks->item.sample.callchain;
    const size_t count = (size_t)chain->count, end = block->ip_count + count;
    if (end > UINT32_MAX || !pf_grow(allocator, &block->ips, &block->ip_capacity, end, sizeof(*block->ips)) ||
        !pf_grow(allocator, &block->positions, &block->position_capacity, end, sizeof(*block->positions)))
        return false;
    if (chain->swapped)
        for (size_t i = 0; i < count; i++)
            block->ips[block->ip_count + i] = perfile_u64_at(chain, i);
    else if (count)
        memcpy(block->ips + block->ip_count, chain->data, count * sizeof(*block->ips));
    sample->at = (uint32_t)block->ip_count;
    sample->ip_count = (uint32_t)count;
    block->ip_count = end;
    return true;
}

static bool copy_bytes(const struct pf_blocks *blocks, struct block *block, const void *data, size_t bytes)
{
    const size_t end = block->byte_count + ((bytes + 7) & ~(size_t)7);
    if (!pf_grow(blocks->options.allocator, &block->bytes, &block->byte_capacity, end, 1))
        return false;
    if (bytes)
        memcpy(block->bytes + block->byte_count, data, bytes);
    block->byte_count = end;
    return true;
}

static bool keep_record(const struct pf_blocks *blocks, struct block *block, struct block_sample *sample,
                        const char *arch)
{
    const struct pf_delivered *item = &blocks->item;
    const size_t at = block->byte_count;
    if (!pf_grow(blocks->options.allocator, &block->late, &block->late_capacity, block->late_count + 1,
                 sizeof(*block->late)) ||
        !copy_bytes(blocks, block, item->record->data, item->record->bytes) ||
        !copy_bytes(blocks, block, item->user_chain.data, (size_t)item->user_chain.count * sizeof(uint64_t)))
        return false;
    block->late[block->late_count++] = (struct late){.record = *item->record,
                                                     .sample = (size_t)(sample - block->samples),
                                                     .at = at,
                                                     .chain_count = item->sample.callchain.count,
                                                     .user_chain = item->user_chain,
                                                     .arch = arch};
    sample->flags |= LATE;
    return true;
}

/* False: out of memory. */
static bool copy_record(const struct pf_blocks *blocks, struct block *block)
{
    const struct pf_delivered *item = &blocks->item;
    const struct copy copy = {*item->record, block->byte_count, item->sample.callchain.count};
    return copy_bytes(blocks, block, item->record->data, item->record->bytes) &&
           PF_APPEND(blocks->options.allocator, block->copies, block->copy_count, block->copy_capacity, copy);
}

/* False: out of memory. */
static bool keep_more(const struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    const struct more more = {pf_field_weight(&blocks->item.sample), blocks->item.traced.alike,
                              pf_delivered_cgroup(&blocks->item, blocks->delivery)};
    if (PF_LIKELY(!more.weight && !more.alike && !more.cgroup))
        return true;
    if (!PF_APPEND(blocks->options.allocator, block->more, block->more_count, block->more_capacity, more))
        return false;
    sample->flags |= HAS_MORE;
    return true;
}

static bool take_fields(const struct pf_blocks *blocks, struct block *block, struct block_sample *into)
{
    const struct pf_delivered *item = &blocks->item;
    const struct perfile_sample *decoded = &item->sample;
    const bool has_cpu = decoded->present & PERFILE_SAMPLE_CPU;
    into->event = item->event;
    into->comm = item->comm;
    into->time = decoded->present & PERFILE_SAMPLE_TIME ? decoded->time : 0;
    into->period = decoded->period;
    into->ip = decoded->ip;
    into->pid = decoded->pid;
    into->tid = decoded->tid;
    into->cpu = has_cpu ? decoded->cpu : 0;
    into->leaf = into->frame_count = into->kernel = into->user = into->at = into->ip_count = 0;
    into->cpumode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    into->flags = has_cpu ? HAS_CPU : 0;
    return keep_more(blocks, block, into);
}

/* Only the space of its address is needed. */
static bool keep_leaf(struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    return sample->cpumode == PERFILE_MISC_USER     ? number_user(blocks, block, sample)
           : sample->cpumode == PERFILE_MISC_KERNEL ? number_kernel(blocks, block, sample)
                                                    : true;
}

static bool keep_stack(struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    const char *arch = pf_delivery_arch(blocks->delivery);
    return number_kernel(blocks, block, sample) && number_user(blocks, block, sample) &&
           (PF_LIKELY(pf_stack_is_plain(&blocks->item, arch)) ? keep_chain(blocks, block, sample)
                                                              : keep_record(blocks, block, sample, arch));
}

/* False: out of memory. */
static bool add_sample(struct pf_blocks *blocks, struct block *block)
{
    const struct pf_delivered *item = &blocks->item;
    if (PF_UNLIKELY(block->count == block->capacity) &&
        !pf_grow(blocks->options.allocator, &block->samples, &block->capacity, block->count + 1,
                 sizeof(*block->samples)))
        return false;
    struct block_sample *sample = &block->samples[block->count++];
    if (!take_fields(blocks, block, sample) || (blocks->options.decoded && !copy_record(blocks, block)))
        return false;
    if (item->again && block->count > 1) {
        sample->flags |= AGAIN;
        return true;
    }
    return pf_stack_is_leaf(item) ? keep_leaf(blocks, block, sample) : keep_stack(blocks, block, sample);
}

static bool is_full(const struct block *block)
{
    return block->count >= BLOCK_SAMPLES || block->ip_count >= BLOCK_ADDRESSES || block->byte_count >= BLOCK_BYTES;
}

/* Blocks that were not finished yet have spaces of before: these are good until it is done again. */
static void trim(struct pf_blocks *blocks)
{
    const bool may = blocks->started > blocks->trimmed + blocks->block_count + BLOCKS_ALONE;
    if (may && perfile_session_trim(pf_delivery_session(blocks->delivery)))
        blocks->trimmed = blocks->started;
}

/* Its numbers are other spaces' as soon as the block that emptied them is done. False: out of memory. */
static bool end_retiring(struct pf_blocks *blocks)
{
    struct pf_address_cache *positions = &blocks->options.frames->positions;
    if (!blocks->retired_at || blocks->started <= blocks->retired_at + blocks->block_count)
        return true;
    blocks->retired_at = 0;
    return pf_address_cache_reuse(positions, blocks->retired, blocks->retired_count);
}

/* Retires spaces without samples since the last sweep: their processes have likely ended. False: out of memory. */
static bool retire_spaces(struct pf_blocks *blocks)
{
    enum { SPACES_MIN = 4096 };
    struct pf_address_cache *positions = &blocks->options.frames->positions;
    const size_t used = positions->numbers.used;
    const uint64_t in_work = blocks->block_count + 1;
    if (blocks->retired_at || used < pf_max(blocks->sweep_at, SPACES_MIN) || blocks->started <= in_work)
        return true;
    const uint64_t before = pf_min(pf_max(blocks->swept, 2), blocks->started - in_work);
    blocks->retired_count = 0;
    for (size_t i = 0; i < pf_min(positions->count, blocks->listed_capacity); i++) {
        if (i == blocks->nowhere || !blocks->listed[i] || blocks->listed[i] >= before)
            continue;
        if (!PF_APPEND(blocks->options.allocator, blocks->retired, blocks->retired_count, blocks->retired_capacity,
                       (uint32_t)i))
            return false;
    }
    blocks->swept = blocks->started;
    if (blocks->retired_count && !pf_address_cache_retire(positions, blocks->retired, blocks->retired_count))
        return false;
    for (size_t i = 0; i < blocks->retired_count; i++)
        blocks->listed[blocks->retired[i]] = 0;
    blocks->retired_at = blocks->retired_count ? blocks->started : 0;
    blocks->sweep_at = 2 * positions->numbers.used;
    return true;
}

static bool read_block(void *context, void *item, unsigned worker)
{
    struct pf_blocks *blocks = context;
    struct block *block = item;
    (void)worker;
    clear(block);
    blocks->started++;
    blocks->filled = block;
    pf_guard_begin_reading(blocks->options.guard);
    trim(blocks);
    bool enough = end_retiring(blocks) && retire_spaces(blocks) && list_space(blocks, block, blocks->nowhere);
    block->retires = enough && blocks->retired_at == blocks->started;
    while (enough && !is_full(block)) {
        block->result = pf_delivery_next(blocks->delivery, &blocks->item, &block->error);
        if (block->result <= 0)
            break;
        enough = !blocks->item.is_sample || add_sample(blocks, block);
        block->totals.full += blocks->item.is_sample && pf_stack_is_full(&blocks->item);
    }
    pf_guard_end_reading(blocks->options.guard);
    block->position_count = block->ip_count;
    block->failed |= !enough;
    return block->result > 0 && !block->failed;
}

/* ---- looking up what is known ------------------------------------------------------------------------------------ */

/* Tables are large: each address is asked for some time before it is looked at. */
enum { AHEAD = 64 };

struct look {
    const struct pf_address_slots *slots;
    size_t first;
    uint64_t ip;
    uint32_t *position;
    struct block_sample *sample;
};

struct looks {
    const struct pf_address_cache *positions;
    struct block *block;
    uint32_t space; /* the last one, and its slots */
    const struct pf_address_slots *slots;
    unsigned count;
    struct look looks[AHEAD];
};

static void look_at(struct looks *looks)
{
    for (unsigned i = 0; i < looks->count; i++) {
        const struct look *look = &looks->looks[i];
        const uint32_t value = look->slots ? pf_address_slots_value(look->slots, look->first, look->ip) : 0;
        *look->position = value - 1;
        if (PF_UNLIKELY(!value)) {
            look->sample->flags |= MISSING;
            looks->block->missing = true;
        }
    }
    looks->count = 0;
}

static void ask(struct looks *looks, struct block_sample *sample, uint32_t space, uint64_t ip, uint32_t *position)
{
    if (PF_UNLIKELY(looks->count == AHEAD))
        look_at(looks);
    if (space != looks->space) {
        looks->space = space;
        looks->slots = pf_address_cache_look(looks->positions, space);
    }
    struct look *look = &looks->looks[looks->count++];
    *look = (struct look){.slots = looks->slots, .ip = ip, .position = position, .sample = sample};
    if (!look->slots)
        return;
    look->first = pf_address_slots_first(looks->positions, look->slots, ip);
    __builtin_prefetch(&look->slots->at[look->first]);
}

static uint32_t space_of(const struct pf_blocks *blocks, const struct block_sample *sample, unsigned mode)
{
    return mode == PERFILE_MISC_USER ? sample->user : mode == PERFILE_MISC_KERNEL ? sample->kernel : blocks->nowhere;
}

/* Without addresses there may be no list yet. */
static struct perfile_u64s chain_of(const struct block *block, const struct block_sample *sample)
{
    const uint64_t *ips = sample->ip_count ? block->ips + sample->at : NULL;
    return (struct perfile_u64s){(const uint8_t *)ips, sample->ip_count, false};
}

static void ask_for_chain(const struct pf_blocks *blocks, struct looks *looks, struct block_sample *sample)
{
    const struct block *block = looks->block;
    const struct perfile_u64s chain = chain_of(block, sample);
    uint64_t ip;
    for (struct pf_callchain_walk walk = pf_callchain_start(&chain); pf_callchain_next(&walk, &ip);)
        ask(looks, sample, space_of(blocks, sample, walk.mode), ip - walk.calls,
            &block->positions[sample->at + sample->frame_count++]);
}

static bool look_up(void *context, void *item, unsigned worker)
{
    const struct pf_blocks *blocks = context;
    const struct pf_address_cache *positions = &blocks->options.frames->positions;
    struct block *block = item;
    struct looks looks = {.positions = positions, .block = block, .space = UINT32_MAX};
    (void)worker;
    block->discarded = pf_address_cache_discarded(positions);
    for (size_t i = 0; i < block->count && !block->failed; i++) {
        struct block_sample *sample = &block->samples[i];
        if (PF_UNLIKELY(sample->flags & AGAIN))
            continue;
        ask(&looks, sample, space_of(blocks, sample, sample->cpumode), sample->ip, &sample->leaf);
        if (sample->ip_count)
            ask_for_chain(blocks, &looks, sample);
    }
    look_at(&looks);
    return true;
}

/* ---- finding out the rest ---------------------------------------------------------------------------------------- */

static bool find_out(const struct pf_blocks *blocks, uint32_t space, uint64_t ip, bool returns, uint32_t *position)
{
    if (*position == PF_NO_FRAME)
        *position = pf_frames_resolve_in(blocks->options.frames, space, ip, returns);
    return *position != PF_NO_FRAME;
}

static bool find_out_leaf(const struct pf_blocks *blocks, struct block_sample *sample)
{
    return find_out(blocks, space_of(blocks, sample, sample->cpumode), sample->ip, false, &sample->leaf);
}

static bool find_out_chain(const struct pf_blocks *blocks, const struct block *block, const struct block_sample *sample)
{
    const struct perfile_u64s chain = chain_of(block, sample);
    size_t at = sample->at;
    uint64_t ip;
    for (struct pf_callchain_walk walk = pf_callchain_start(&chain); pf_callchain_next(&walk, &ip); at++)
        if (!find_out(blocks, space_of(blocks, sample, walk.mode), ip, walk.calls, &block->positions[at]))
            return false;
    return true;
}

/* The sample as it was when it was read. */
static bool put_in_hand(struct pf_blocks *blocks, const struct block *block, struct late *late)
{
    const struct pf_address_cache *positions = &blocks->options.frames->positions;
    const struct block_sample *sample = &block->samples[late->sample];
    struct pf_delivered *item = &blocks->late;
    late->record.data = block->bytes + late->at;
    late->user_chain.data = late->record.data + ((late->record.bytes + 7) & ~7u);
    item->record = &late->record;
    item->event = sample->event;
    item->kernel_space = pf_address_cache_space(positions, sample->kernel);
    item->user_space = pf_address_cache_space(positions, sample->user);
    item->user_chain = late->user_chain;
    if (!pf_delivered_decode(item))
        return false; /* it could be decoded before */
    item->sample.callchain.count = late->chain_count;
    return true;
}

static bool find_out_stack(struct pf_blocks *blocks, struct block *block, struct late *late)
{
    const struct pf_stack_options options = {
        .symbols = blocks->options.frames->symbols, .arch = late->arch, .policy = blocks->options.policy};
    struct block_sample *sample = &block->samples[late->sample];
    struct pf_stack stack;
    struct pf_stack_address address;
    sample->at = (uint32_t)block->position_count;
    if (!put_in_hand(blocks, block, late))
        return true;
    pf_stack_gather(&stack, &blocks->late, &options);
    block->totals.truncated += stack.truncated;
    block->totals.guessed += stack.guessed;
    for (struct pf_stack_walk walk = pf_stack_start(&stack); pf_stack_next(&walk, &address);) {
        uint32_t position = PF_NO_FRAME;
        if (block->position_count >= UINT32_MAX ||
            !pf_grow(blocks->options.allocator, &block->positions, &block->position_capacity, block->position_count + 1,
                     sizeof(*block->positions)) ||
            !find_out(blocks, space_of(blocks, sample, address.mode), address.ip, address.returns, &position))
            return false;
        block->positions[block->position_count++] = position;
        sample->frame_count++;
    }
    return true;
}

static bool find_out_rest(struct pf_blocks *blocks, struct block *block)
{
    size_t late = 0;
    bool enough = true;
    for (size_t i = 0; i < block->count && enough; i++) {
        struct block_sample *sample = &block->samples[i];
        if (sample->flags & MISSING)
            enough = find_out_leaf(blocks, sample) && find_out_chain(blocks, block, sample);
        if (sample->flags & LATE)
            enough = enough && find_out_stack(blocks, block, &block->late[late++]);
    }
    return enough;
}

static void report_notes(const struct pf_blocks *blocks, const struct block *block)
{
    for (size_t at = 0; at < block->note_bytes; at += strlen(block->notes + at) + 1)
        blocks->options.note(blocks->options.note_context, block->notes + at);
}

/*
 * Tables were discarded since this block was looked up. With one thread that would have been before the lookup, so all
 * positions are found again, for the same results.
 */
static void discard_positions(struct block *block)
{
    block->missing = true;
    for (size_t i = 0; i < block->count; i++) {
        struct block_sample *sample = &block->samples[i];
        if (sample->flags & AGAIN)
            continue;
        sample->flags |= MISSING;
        sample->leaf = PF_NO_FRAME;
        if (sample->ip_count)
            memset(block->positions + sample->at, 0xff, sample->ip_count * sizeof(*block->positions));
    }
}

static bool settle(void *context, void *item, unsigned worker)
{
    struct pf_blocks *blocks = context;
    struct pf_frames *frames = blocks->options.frames;
    struct block *block = item;
    (void)worker;
    report_notes(blocks, block);
    pf_address_cache_pass(&frames->positions);
    for (size_t i = 0; block->retires && i < blocks->retired_count; i++)
        pf_address_cache_empty(&frames->positions, blocks->retired[i]);
    for (size_t i = 0; i < block->space_count; i++)
        pf_address_cache_ask(&frames->positions, block->spaces[i]);
    if (PF_UNLIKELY(block->discarded != pf_address_cache_discarded(&frames->positions)))
        discard_positions(block);
    if ((block->missing || block->late_count) && !block->failed) {
        pf_guard_lock(blocks->options.guard);
        block->failed = !find_out_rest(blocks, block);
        pf_guard_unlock(blocks->options.guard);
    }
    block->frame_count = frames->count;
    return true;
}

/* ---- rows of frames ---------------------------------------------------------------------------------------------- */

static bool append_frames(const struct pf_blocks *blocks, struct block *block, uint32_t position)
{
    const uint32_t *frames;
    const size_t count = pf_frames_of(blocks->options.frames, &position, &frames);
    if (block->list_count + count > UINT32_MAX ||
        !pf_grow(blocks->options.allocator, &block->lists, &block->list_capacity, block->list_count + count,
                 sizeof(*block->lists)))
        return false;
    memcpy(block->lists + block->list_count, frames, count * sizeof(*frames));
    block->list_count += count;
    return true;
}

/* Replaces the positions of a sample by their frames. */
static bool expand(const struct pf_blocks *blocks, struct block *block, struct block_sample *sample,
                   const uint32_t *positions)
{
    const size_t start = block->list_count, count = sample->frame_count;
    bool enough = true;
    for (size_t i = 0; i < count && enough; i++)
        enough = append_frames(blocks, block, positions[i]);
    sample->flags |= IN_LISTS;
    sample->at = (uint32_t)start;
    sample->frame_count = (uint32_t)(block->list_count - start);
    return enough;
}

static bool finish_stack(const struct pf_blocks *blocks, struct block *block, struct block_sample *sample)
{
    const uint32_t leaf = sample->leaf;
    uint32_t all = 0;
    if (PF_LIKELY(!sample->frame_count && !(leaf & PF_EXPANDED))) {
        sample->frame_count = 1;
        sample->flags |= IS_LEAF;
        return true;
    }
    sample->leaf = pf_frames_function(blocks->options.frames, leaf);
    if (!sample->frame_count) {
        sample->frame_count = 1;
        return expand(blocks, block, sample, &leaf);
    }
    const uint32_t *positions = block->positions + sample->at;
    for (size_t i = 0; i < sample->frame_count; i++)
        all |= positions[i];
    return !(all & PF_EXPANDED) || expand(blocks, block, sample, positions);
}

static void share_stack(struct block_sample *sample, const struct block_sample *before)
{
    sample->leaf = before->leaf;
    sample->frame_count = before->frame_count;
    sample->at = before->at;
    sample->flags |= before->flags & (IN_LISTS | IS_LEAF);
}

static void count_sample(const struct pf_blocks *blocks, struct block *block, const struct block_sample *sample,
                         uint64_t count)
{
    const struct pf_frame_info *leaf = pf_frames_at(blocks->options.frames, sample->leaf);
    block->totals.samples += count;
    block->totals.guests += pf_is_of_guest(sample->cpumode) ? count : 0;
    block->totals.unmapped += leaf->module == PF_NO_SYMBOL ? count : 0;
    block->totals.unresolved += leaf->symbol == PF_NO_SYMBOL ? count : 0;
}

/* When nothing moves any more. */
static const uint32_t *frames_of(const struct block *block, const struct block_sample *sample)
{
    return sample->flags & IS_LEAF    ? &sample->leaf
           : sample->flags & IN_LISTS ? block->lists + sample->at
                                      : block->positions + sample->at;
}

static void count_chains(const struct pf_blocks *blocks, struct block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        const struct block_sample *sample = &block->samples[i];
        if (sample->frame_count < 2)
            continue;
        const struct pf_profile_sample counted = {
            .event = sample->event, .frames = frames_of(block, sample), .frame_count = sample->frame_count};
        pf_profile_count_chain(&block->totals, blocks->options.frames, &counted);
    }
}

static bool finish(void *context, void *item, unsigned worker)
{
    enum { INFO_AHEAD = 8 };
    const struct pf_blocks *blocks = context;
    struct block *block = item;
    size_t more = 0;
    (void)worker;
    for (size_t i = 0; i < block->count && !block->failed; i++) {
        struct block_sample *sample = &block->samples[i];
        const uint64_t alike = PF_UNLIKELY(sample->flags & HAS_MORE) ? block->more[more++].alike : 0;
        if (i + INFO_AHEAD < block->count && !(sample[INFO_AHEAD].leaf & PF_EXPANDED))
            __builtin_prefetch(pf_frames_at(blocks->options.frames, sample[INFO_AHEAD].leaf));
        if (PF_UNLIKELY(sample->flags & AGAIN))
            share_stack(sample, sample - 1);
        else
            block->failed = !finish_stack(blocks, block, sample);
        if (!block->failed)
            count_sample(blocks, block, sample, 1 + alike);
    }
    if (!block->failed)
        count_chains(blocks, block);
    block->failed |= pf_memory_was_short(blocks->options.allocator);
    return true;
}

/* ---- giving ------------------------------------------------------------------------------------------------------ */

/* Not before the first sample is asked for: until then the caller may look at the reader. */
static bool start(struct pf_blocks *blocks)
{
    static const struct pf_stage stages[] = {{.work = read_block},
                                             {.work = look_up, .parallel = true},
                                             {.work = settle},
                                             {.work = finish, .parallel = true}};
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = blocks->options.threads,
                                        .alone = BLOCKS_ALONE,
                                        .context = blocks,
                                        .items = blocks->blocks,
                                        .item_bytes = sizeof(*blocks->blocks),
                                        .item_count = blocks->block_count};
    blocks->nowhere = pf_address_cache_number(&blocks->options.frames->positions, NULL);
    if (blocks->nowhere != UINT32_MAX)
        blocks->stages = pf_stages_open(&plan, blocks->options.allocator);
    return blocks->stages;
}

static int end(struct pf_blocks *blocks, struct perfile_error *error)
{
    const struct block *last = blocks->delivered;
    pf_blocks_stop(blocks);
    if (last->result < 0 && error)
        *error = last->error;
    return last->result;
}

static void add_totals(const struct pf_profile_totals *of, struct pf_profile_totals *totals)
{
    totals->samples += of->samples;
    totals->guests += of->guests;
    totals->unmapped += of->unmapped;
    totals->unresolved += of->unresolved;
    totals->truncated += of->truncated;
    totals->full += of->full;
    totals->guessed += of->guessed;
    totals->chains += of->chains;
    totals->broken += of->broken;
    for (size_t i = 0; i < PF_COUNT(of->broken_in) && of->broken_in[i].count; i++)
        pf_profile_count_broken(totals, of->broken_in[i].module, of->broken_in[i].count);
}

/* The next block that has samples: 1, 0 at the end, or an error. */
static int next_block(struct pf_blocks *blocks, struct pf_profile_totals *totals, struct perfile_error *error)
{
    if (!blocks->delivered && !start(blocks))
        return pf_fail_memory(error, "profile");
    while (!blocks->delivered || blocks->delivered->delivered == blocks->delivered->count) {
        if (blocks->delivered && blocks->delivered->result <= 0)
            return end(blocks, error);
        blocks->delivered = pf_stages_next(blocks->stages);
        if (blocks->delivered->failed) {
            pf_blocks_stop(blocks);
            return pf_fail_memory(error, "profile");
        }
        add_totals(&blocks->delivered->totals, totals);
    }
    return 1;
}

/* Members that no sample of a block has stay zero. */
static void fill_sample(struct pf_profile_sample *into, struct block *delivered, const struct block_sample *sample)
{
    const struct more *more = NULL;
    if (PF_UNLIKELY(sample->flags & HAS_MORE))
        more = &delivered->more[delivered->more_delivered++];
    into->event = sample->event;
    into->time = sample->time;
    into->period = sample->period;
    into->weight = more ? more->weight : 0;
    into->alike = more ? more->alike : 0;
    into->pid = sample->pid;
    into->tid = sample->tid;
    into->cpu = sample->cpu;
    into->has_cpu = sample->flags & HAS_CPU;
    into->cpumode = sample->cpumode;
    into->comm = sample->comm;
    into->ip = sample->ip;
    into->leaf = sample->leaf;
    into->frames = frames_of(delivered, sample);
    into->frame_count = sample->frame_count;
    into->cgroup = more ? more->cgroup : NULL;
}

/* All that was recorded, as the delivery gave it: a counter has the period that it counted. */
static const struct perfile_sample *decode(struct pf_blocks *blocks, const struct block *block,
                                           const struct block_sample *sample)
{
    struct copy *copy = &block->copies[sample - block->samples];
    copy->record.data = block->bytes + copy->at;
    blocks->decoded.record = &copy->record;
    (void)pf_delivered_decode(&blocks->decoded); /* it could be decoded before */
    blocks->decoded.sample.callchain.count = copy->chain_count;
    blocks->decoded.sample.period = sample->period;
    return &blocks->decoded.sample;
}

/* They may be in another processor's cache. */
static void prefetch(const struct block *delivered, const struct block_sample *next)
{
    enum { SAMPLE_AHEAD = 4 };
    if (next + SAMPLE_AHEAD >= delivered->samples + delivered->count)
        return;
    const uint32_t *frames = frames_of(delivered, &next[SAMPLE_AHEAD / 2]);
    __builtin_prefetch(&next[SAMPLE_AHEAD]);
    __builtin_prefetch((const char *)(&next[SAMPLE_AHEAD] + 1) - 1);
    __builtin_prefetch(frames);
    __builtin_prefetch(frames + 16);
}

int pf_blocks_next(struct pf_blocks *blocks, const struct pf_profile_sample **sample, struct pf_profile_totals *totals,
                   struct perfile_error *error)
{
    if (PF_UNLIKELY(!blocks->delivered || blocks->delivered->delivered == blocks->delivered->count)) {
        const int result = next_block(blocks, totals, error);
        if (result <= 0)
            return result;
    }
    struct block *delivered = blocks->delivered;
    const struct block_sample *next = &delivered->samples[delivered->delivered++];
    if (blocks->options.threads > 1)
        prefetch(delivered, next);
    fill_sample(&blocks->sample, delivered, next);
    if (blocks->options.decoded)
        blocks->sample.decoded = decode(blocks, delivered, next);
    *sample = &blocks->sample;
    return 1;
}

size_t pf_blocks_frame_count(const struct pf_blocks *blocks)
{
    return blocks->delivered ? blocks->delivered->frame_count : 0;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

struct pf_blocks *pf_blocks_open(const struct pf_blocks_options *options)
{
    struct pf_blocks *blocks = pf_new(options->allocator, sizeof(*blocks));
    if (!blocks)
        return NULL;
    blocks->options = *options;
    blocks->block_count = pf_stages_items(options->threads);
    blocks->blocks = pf_new(options->allocator, blocks->block_count * sizeof(*blocks->blocks));
    if (!blocks->blocks) {
        pf_free(options->allocator, blocks, sizeof(*blocks));
        return NULL;
    }
    return blocks;
}

static void keep_note(void *context, const char *text)
{
    const struct pf_blocks *blocks = context;
    struct block *block = blocks->filled;
    const size_t bytes = strlen(text) + 1;
    if (!block) {
        blocks->options.note(blocks->options.note_context, text); /* while it is opened */
        return;
    }
    if (!pf_grow(blocks->options.allocator, &block->notes, &block->note_capacity, block->note_bytes + bytes, 1)) {
        block->failed = true;
        return;
    }
    memcpy(block->notes + block->note_bytes, text, bytes);
    block->note_bytes += bytes;
}

static void lock(void *context)
{
    pf_guard_lock_reading(context);
}

static void unlock(void *context)
{
    pf_guard_unlock(context);
}

void pf_blocks_watch(struct pf_blocks *blocks, struct pf_delivery_options *delivery, struct pf_find_options *find)
{
    delivery->lock = lock;
    delivery->unlock = unlock;
    delivery->lock_context = blocks->options.guard;
    if (find->note) {
        find->note = keep_note;
        find->note_context = blocks;
    }
}

void pf_blocks_begin(struct pf_blocks *blocks, struct pf_delivery *delivery)
{
    blocks->delivery = delivery;
    blocks->options.frames->positions.lag = blocks->options.threads > 1 ? blocks->block_count : 0;
}

void pf_blocks_stop(struct pf_blocks *blocks)
{
    pf_stages_close(blocks->stages);
    blocks->stages = NULL;
}

static void close_block(const struct perfile_allocator *allocator, const struct block *block)
{
    pf_free(allocator, block->samples, block->capacity * sizeof(*block->samples));
    pf_free(allocator, block->copies, block->copy_capacity * sizeof(*block->copies));
    pf_free(allocator, block->more, block->more_capacity * sizeof(*block->more));
    pf_free(allocator, block->ips, block->ip_capacity * sizeof(*block->ips));
    pf_free(allocator, block->positions, block->position_capacity * sizeof(*block->positions));
    pf_free(allocator, block->lists, block->list_capacity * sizeof(*block->lists));
    pf_free(allocator, block->late, block->late_capacity * sizeof(*block->late));
    pf_free(allocator, block->bytes, block->byte_capacity);
    pf_free(allocator, block->spaces, block->space_capacity * sizeof(*block->spaces));
    pf_free(allocator, block->notes, block->note_capacity);
}

void pf_blocks_close(struct pf_blocks *blocks)
{
    if (!blocks)
        return;
    const struct perfile_allocator *allocator = blocks->options.allocator;
    pf_blocks_stop(blocks);
    for (unsigned i = 0; i < blocks->block_count; i++)
        close_block(allocator, &blocks->blocks[i]);
    pf_free(allocator, blocks->blocks, blocks->block_count * sizeof(*blocks->blocks));
    pf_free(allocator, blocks->listed, blocks->listed_capacity * sizeof(*blocks->listed));
    pf_free(allocator, blocks->retired, blocks->retired_capacity * sizeof(*blocks->retired));
    pf_free(allocator, blocks, sizeof(*blocks));
}
