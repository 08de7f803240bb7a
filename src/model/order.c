/* SPDX-License-Identifier: MIT */
#include "model/order.h"

#include "base/bytes.h"

/* A chunk has a fourth of what is held, up to the largest: of small recordings many may be open. */
enum { FIRST_BYTES = 2 * 1024, CHUNK_BYTES = 256 * 1024 };

struct pf_order_chunk {
    struct pf_order_chunk *next;
    uint32_t used;
    uint32_t capacity;
    _Alignas(8) uint8_t data[];
};

void pf_order_open(struct pf_order *order, const struct perfile_allocator *allocator)
{
    *order = (struct pf_order){.allocator = allocator, .min_time = UINT64_MAX};
}

static void free_chunks(struct pf_order *order, struct pf_order_chunk *chunk)
{
    while (chunk) {
        struct pf_order_chunk *next = chunk->next;
        pf_free(order->allocator, chunk, sizeof(*chunk) + chunk->capacity);
        chunk = next;
    }
}

void pf_order_close(struct pf_order *order)
{
    free_chunks(order, order->first);
    free_chunks(order, order->spare);
    pf_free(order->allocator, order->runs, order->run_capacity * sizeof(*order->runs));
    pf_free(order->allocator, order->losers, order->loser_capacity * sizeof(*order->losers));
    pf_order_open(order, order->allocator);
}

/* Returns the size of a record as it is delivered, followed by its bytes. */
static uint32_t entry_bytes(uint32_t record_bytes)
{
    return (uint32_t)(sizeof(struct perfile_record) + ((record_bytes + 7u) & ~7u));
}

static struct pf_order_chunk *new_chunk(struct pf_order *order, uint32_t bytes)
{
    uint32_t capacity = FIRST_BYTES;
    while (capacity < CHUNK_BYTES && capacity < order->bytes / 4)
        capacity *= 2;
    capacity = bytes > capacity ? bytes : capacity;
    struct pf_order_chunk *chunk = pf_resize(order->allocator, NULL, 0, sizeof(*chunk) + capacity);
    if (chunk)
        chunk->capacity = capacity;
    return chunk;
}

/* Adds a chunk with capacity for `bytes`. Frees spare chunks that are too small, from when less was held. */
static struct pf_order_chunk *add_chunk(struct pf_order *order, uint32_t bytes)
{
    struct pf_order_chunk *chunk;
    while ((chunk = order->spare) && chunk->capacity < bytes) {
        order->spare = chunk->next;
        pf_free(order->allocator, chunk, sizeof(*chunk) + chunk->capacity);
    }
    if (chunk)
        order->spare = chunk->next;
    else if (!(chunk = new_chunk(order, bytes)))
        return NULL;
    chunk->next = NULL;
    chunk->used = 0;
    if (order->last)
        order->last->next = chunk;
    else
        order->first = chunk;
    order->last = chunk;
    return chunk;
}

static bool start_run(struct pf_order *order, struct pf_order_chunk *chunk, uint64_t time)
{
    if (!pf_grow(order->allocator, &order->runs, &order->run_capacity, order->run_count + 1, sizeof(*order->runs)) ||
        !pf_grow(order->allocator, &order->losers, &order->loser_capacity, order->run_count + 1,
                 sizeof(*order->losers)))
        return false;
    order->min_time = pf_min(order->min_time, time);
    order->runs[order->run_count++] = (struct pf_order_run){.chunk = chunk, .at = chunk->used, .time = time};
    return true;
}

bool pf_order_push(struct pf_order *order, const struct perfile_record *record)
{
    uint32_t bytes = entry_bytes(record->bytes);
    struct pf_order_chunk *chunk = order->last;
    if (PF_UNLIKELY(!chunk || chunk->capacity - chunk->used < bytes)) {
        chunk = add_chunk(order, bytes);
        if (!chunk)
            return false;
    }
    if (PF_UNLIKELY(order->run_count == 0 || record->time < order->run_last_time) &&
        !start_run(order, chunk, record->time))
        return false;
    struct perfile_record *held = (struct perfile_record *)(void *)(chunk->data + chunk->used);
    *held = *record;
    held->data = memcpy(held + 1, record->data, record->bytes);
    chunk->used += bytes;
    order->bytes += bytes;
    order->run_last_time = record->time;
    order->max_time = pf_max(order->max_time, record->time);
    order->runs[order->run_count - 1].left++;
    return true;
}

/* The next record of a run. */
static const struct perfile_record *record_of(const struct pf_order_run *run)
{
    return (const struct perfile_record *)(const void *)(run->chunk->data + run->at);
}

/* ---- the merge ---- */

/* Keys that are no run's. */
#define RUN_OVER UINT32_MAX
#define NO_ONE (UINT32_MAX - 1)

/* Without a jump: which run comes next cannot be foreseen. */
static inline void play(struct pf_order_key *loser, struct pf_order_key *winner)
{
    const uint64_t a = loser->time, b = winner->time;
    const uint32_t a_run = loser->run, b_run = winner->run;
    const uint64_t swap = PF_UNLIKELY(a == b) ? -(uint64_t)(a_run < b_run) : -(uint64_t)(a < b), time = (a ^ b) & swap;
    const uint32_t run = (a_run ^ b_run) & (uint32_t)swap;
    loser->time = a ^ time;
    loser->run = a_run ^ run;
    winner->time = b ^ time;
    winner->run = b_run ^ run;
}

void pf_order_flush(struct pf_order *order, uint64_t limit)
{
    const struct pf_order_key none = {.run = NO_ONE};
    struct pf_order_key *losers = order->losers;
    const size_t count = order->run_count;
    for (size_t i = 0; i < count; i++)
        losers[i] = none;
    for (size_t i = 0; i < count; i++) {
        struct pf_order_key key = {order->runs[i].time, (uint32_t)i};
        size_t position = (count + i) / 2;
        for (; position && losers[position].run != NO_ONE; position /= 2)
            play(&losers[position], &key);
        losers[position] = key; /* the key waits for the winner of the other half, or has won all games */
    }
    order->flushing = true;
    order->limit = limit;
}

/* The run that won has another record next. */
static inline void replay(struct pf_order *order, struct pf_order_key key, size_t run)
{
    struct pf_order_key *losers = order->losers;
    for (size_t position = (order->run_count + run) / 2; position; position /= 2)
        play(&losers[position], &key);
    losers[0] = key;
}

/* What is left are runs that go on: the one that grows must be the last again. */
static void stop_flushing(struct pf_order *order)
{
    size_t left = 0;
    order->flushing = false;
    for (size_t i = 0; i < order->run_count; i++)
        if (order->runs[i].left)
            order->runs[left++] = order->runs[i];
    order->run_count = left;
    order->min_time = left ? order->losers[0].time : UINT64_MAX;
    order->run_last_time = UINT64_MAX; /* the next record starts a run */
    /* runs follow each other in the chunks: nothing before the first one that is left is needed */
    while (order->first && order->first != (left ? order->runs[0].chunk : order->last)) {
        struct pf_order_chunk *chunk = order->first;
        order->first = chunk->next;
        chunk->next = order->spare;
        order->spare = chunk;
    }
    if (order->first && !left)
        order->first->used = 0;
}

/* Prefetches the record after this one of a run: with many runs or merged sessions the caches do not have it. */
static void fetch_after(const struct perfile_record *record)
{
    const uint8_t *next = (const uint8_t *)record + entry_bytes(record->bytes);
    for (unsigned line = 0; line < 3; line++)
        __builtin_prefetch(next + (size_t)64 * line);
}

static inline void advance(struct pf_order *order, size_t number, uint32_t bytes)
{
    struct pf_order_run *run = &order->runs[number];
    run->at += bytes;
    order->bytes -= bytes;
    if (PF_UNLIKELY(--run->left == 0)) {
        replay(order, (struct pf_order_key){UINT64_MAX, RUN_OVER}, number);
        return;
    }
    if (PF_UNLIKELY(run->at >= run->chunk->used)) {
        run->chunk = run->chunk->next;
        run->at = 0;
    }
    run->time = record_of(run)->time;
    fetch_after(record_of(run));
    replay(order, (struct pf_order_key){run->time, (uint32_t)number}, number);
}

/* NULL: nothing comes out any more. */
static const struct perfile_record *first_record(const struct pf_order *order)
{
    const struct pf_order_key *first = order->losers;
    if (PF_UNLIKELY(order->run_count == 0 || first->time > order->limit || first->run == RUN_OVER))
        return NULL;
    return record_of(&order->runs[first->run]);
}

const struct perfile_record *pf_order_pop(struct pf_order *order)
{
    const struct perfile_record *record = first_record(order);
    if (PF_LIKELY(record))
        advance(order, order->losers[0].run, entry_bytes(record->bytes));
    else
        stop_flushing(order);
    return record;
}
