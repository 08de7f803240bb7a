/* SPDX-License-Identifier: MIT */
#include "model/order.h"

#include "base/bytes.h"

enum { CHUNK_BYTES = 256 * 1024 };

struct pf_order_chunk {
    struct pf_order_chunk *next;
    uint32_t used;
    uint32_t held; /* records that were not popped yet */
    uint32_t room;
    _Alignas(8) uint8_t data[];
};

/* What is kept of a record besides its bytes, which follow. */
struct entry {
    uint64_t time;
    uint64_t offset;
    uint64_t container;
    const struct perfile_event *event;
    uint32_t type;
    uint32_t bytes;
    uint32_t part;
    uint16_t misc;
    bool compressed;
    bool damaged;
};

void pf_order_open(struct pf_order *order, const struct perfile_allocator *allocator)
{
    *order = (struct pf_order){.allocator = allocator, .min_time = UINT64_MAX};
}

static void free_chunks(struct pf_order *order, struct pf_order_chunk *chunk)
{
    while (chunk) {
        struct pf_order_chunk *next = chunk->next;
        pf_free(order->allocator, chunk, sizeof(*chunk) + chunk->room);
        chunk = next;
    }
}

void pf_order_close(struct pf_order *order)
{
    free_chunks(order, order->first);
    free_chunks(order, order->spare);
    pf_free(order->allocator, order->runs, order->run_room * sizeof(*order->runs));
    pf_free(order->allocator, order->losers, order->loser_room * sizeof(*order->losers));
    pf_order_open(order, order->allocator);
}

static uint32_t entry_bytes(uint32_t record_bytes)
{
    return (uint32_t)(sizeof(struct entry) + ((record_bytes + 7u) & ~7u));
}

/* A chunk with room for `bytes`. */
static struct pf_order_chunk *add_chunk(struct pf_order *order, uint32_t bytes)
{
    struct pf_order_chunk *chunk = order->spare;
    if (chunk && chunk->room >= bytes) {
        order->spare = chunk->next;
    } else {
        uint32_t room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
        chunk = pf_resize(order->allocator, NULL, 0, sizeof(*chunk) + room);
        if (!chunk)
            return NULL;
        chunk->room = room;
    }
    chunk->next = NULL;
    chunk->used = chunk->held = 0;
    if (order->last)
        order->last->next = chunk;
    else
        order->first = chunk;
    order->last = chunk;
    return chunk;
}

static bool start_run(struct pf_order *order, struct pf_order_chunk *chunk, uint64_t time)
{
    if (!pf_grow(order->allocator, &order->runs, &order->run_room, order->run_count + 1, sizeof(*order->runs)) ||
        !pf_grow(order->allocator, &order->losers, &order->loser_room, order->run_count + 1, sizeof(*order->losers)))
        return false;
    order->runs[order->run_count++] = (struct pf_order_run){.chunk = chunk, .at = chunk->used, .time = time};
    return true;
}

bool pf_order_push(struct pf_order *order, const struct perfile_record *record)
{
    uint32_t bytes = entry_bytes(record->bytes);
    struct pf_order_chunk *chunk = order->last;
    if (PF_UNLIKELY(!chunk || chunk->room - chunk->used < bytes)) {
        chunk = add_chunk(order, bytes);
        if (!chunk)
            return false;
    }
    if (PF_UNLIKELY(order->run_count == 0 || record->time < order->run_last_time) &&
        !start_run(order, chunk, record->time))
        return false;
    struct entry *entry = (struct entry *)(void *)(chunk->data + chunk->used);
    *entry = (struct entry){.time = record->time,
                            .offset = record->offset,
                            .container = record->container,
                            .event = record->event,
                            .type = record->type,
                            .bytes = record->bytes,
                            .part = record->part,
                            .misc = record->misc,
                            .compressed = record->compressed,
                            .damaged = record->damaged};
    memcpy(entry + 1, record->data, record->bytes);
    chunk->used += bytes;
    chunk->held++;
    order->bytes += bytes;
    order->run_last_time = record->time;
    order->max_time = pf_max(order->max_time, record->time);
    order->min_time = pf_min(order->min_time, record->time);
    order->runs[order->run_count - 1].left++;
    return true;
}

/* ---- the merge ---- */

/* Keys that are no run's. */
#define RUN_OVER UINT32_MAX
#define NOBODY (UINT32_MAX - 1)

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
    const struct pf_order_key nobody = {.run = NOBODY};
    struct pf_order_key *losers = order->losers;
    const size_t count = order->run_count;
    for (size_t i = 0; i < count; i++)
        losers[i] = nobody;
    for (size_t i = 0; i < count; i++) {
        struct pf_order_key key = {order->runs[i].time, (uint32_t)i};
        size_t place = (count + i) / 2;
        for (; place && losers[place].run != NOBODY; place /= 2)
            play(&losers[place], &key);
        losers[place] = key; /* it waits for who comes from the other side, or has won all */
    }
    order->flushing = true;
    order->limit = limit;
}

/* The run that won has another record next. */
static void replay(struct pf_order *order, struct pf_order_key key, size_t run)
{
    struct pf_order_key *losers = order->losers;
    for (size_t place = (order->run_count + run) / 2; place; place /= 2)
        play(&losers[place], &key);
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
    /* chunks that hold nothing any more, but for the one that is filled */
    while (order->first && order->first != order->last && order->first->held == 0) {
        struct pf_order_chunk *chunk = order->first;
        order->first = chunk->next;
        chunk->next = order->spare;
        order->spare = chunk;
    }
    if (order->first && order->first == order->last && order->first->held == 0)
        order->first->used = 0;
}

static void advance(struct pf_order *order, size_t number, const struct entry *entry)
{
    struct pf_order_run *run = &order->runs[number];
    run->at += entry_bytes(entry->bytes);
    run->chunk->held--;
    order->bytes -= entry_bytes(entry->bytes);
    if (PF_UNLIKELY(--run->left == 0)) {
        replay(order, (struct pf_order_key){UINT64_MAX, RUN_OVER}, number);
        return;
    }
    if (PF_UNLIKELY(run->at >= run->chunk->used)) {
        run->chunk = run->chunk->next;
        run->at = 0;
    }
    run->time = ((const struct entry *)(const void *)(run->chunk->data + run->at))->time;
    replay(order, (struct pf_order_key){run->time, (uint32_t)number}, number);
}

/* NULL: nothing comes out any more. */
static const struct entry *first_entry(const struct pf_order *order)
{
    const struct pf_order_key *first = order->losers;
    if (PF_UNLIKELY(order->run_count == 0 || first->time > order->limit || first->run == RUN_OVER))
        return NULL;
    const struct pf_order_run *run = &order->runs[first->run];
    return (const struct entry *)(const void *)(run->chunk->data + run->at);
}

bool pf_order_pop(struct pf_order *order, struct perfile_record *record)
{
    const struct entry *entry = first_entry(order);
    if (PF_UNLIKELY(!entry)) {
        stop_flushing(order);
        return false;
    }
    *record = (struct perfile_record){.type = entry->type,
                                      .misc = entry->misc,
                                      .compressed = entry->compressed,
                                      .damaged = entry->damaged,
                                      .bytes = entry->bytes,
                                      .stated_bytes = entry->bytes,
                                      .part = entry->part,
                                      .offset = entry->offset,
                                      .container = entry->container,
                                      .data = (const uint8_t *)(entry + 1),
                                      .event = entry->event,
                                      .time = entry->time};
    advance(order, order->losers[0].run, entry);
    return true;
}

bool pf_order_peek(const struct pf_order *order, struct perfile_record *record)
{
    const struct entry *entry = order->flushing ? first_entry(order) : NULL;
    if (!entry)
        return false;
    record->type = entry->type;
    record->misc = entry->misc;
    record->damaged = entry->damaged;
    record->bytes = record->stated_bytes = entry->bytes;
    record->data = (const uint8_t *)(entry + 1);
    record->event = entry->event;
    record->time = entry->time;
    return true;
}
