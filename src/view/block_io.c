/* SPDX-License-Identifier: MIT */
/* Requests to block devices: every one, and added up by device and operation. */
#include "analysis/events/block.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "view/gathered.h"

struct sum {
    uint32_t dev;
    char op[PF_BLOCK_OP];
    uint64_t bytes, errors, uncertain;
    struct pf_stats device, queue;
    struct pf_histogram device_histogram, queue_histogram;
};

struct block_io {
    struct pf_gathered gathered; /* first */
    struct pf_block_io blocks;
    struct pf_block_request request;        /* in hand */
    const struct pf_block_request *current; /* the same, or one that is not complete */
    size_t next_open;
    bool at_open;
    struct sum *sums; /* of the view of sums */
    size_t count, capacity;
    const struct sum *sum; /* in hand */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define REQUEST const struct pf_block_request *request = ((const struct block_io *)state)->current
#define PUT_IF(name, set, known, value) PF_PUT_IF(name, REQUEST, known, set, value)
#define SUM const struct sum *sum = ((const struct block_io *)state)->sum
#define PUT_SUM(name, set, value) PF_PUT_AS(name, SUM, set, value)
#define PUT_STAT(name, what, value) PF_PUT_AS(name, SUM, pf_set_stat, &sum->what, value)
#define PUT_QUANTILE(name, what, percent)                                                                              \
    PF_PUT_AS(name, SUM, pf_set_quantile, &sum->what, &sum->what##_histogram, percent)

static void set_device(struct pf_vector *vector, uint32_t dev)
{
    char text[32];
    snprintf(text, sizeof(text), "%u,%u", (unsigned)(dev >> 20), (unsigned)(dev & 0xfffff));
    pf_set_text(vector, text);
}

PUT_IF(time, pf_set_u64, true, request->issue)
PUT_IF(queue, pf_set_u64, request->insert && request->insert <= request->issue, request->issue - request->insert)
PUT_IF(device_time, pf_set_u64, request->complete, request->complete - pf_min(request->issue, request->complete))
PUT_IF(dev, set_device, true, request->dev)
PUT_IF(op, pf_set_text, true, request->op)
PUT_IF(sector, pf_set_u64, request->op[0] != 'F', request->first_sector)
PUT_IF(bytes, pf_set_u64, true, request->bytes)
PUT_IF(comm, pf_set_text, true, request->comm)
PUT_IF(pid, pf_set_i32, true, request->pid)
PUT_IF(tid, pf_set_i32, true, request->tid)
PUT_IF(cpu, pf_set_u32, request->cpu != UINT32_MAX, request->cpu)
PUT_IF(error, pf_set_i32, request->complete, request->error)
PUT_IF(uncertain, pf_set_bool, true, request->uncertain)

PUT_SUM(sum_dev, set_device, sum->dev)
PUT_SUM(sum_op, pf_set_text, sum->op)
PUT_SUM(requests, pf_set_u64, sum->device.count)
PUT_SUM(sum_bytes, pf_set_u64, sum->bytes)
PUT_SUM(errors, pf_set_u64, sum->errors)
PUT_SUM(total, pf_set_u64, sum->device.sum)
PUT_STAT(minimum, device, sum->device.min)
PUT_STAT(average, device, pf_stats_average(&sum->device))
PUT_STAT(maximum, device, sum->device.max)
PUT_QUANTILE(p50, device, 50)
PUT_QUANTILE(p90, device, 90)
PUT_QUANTILE(p99, device, 99)
PUT_STAT(queue_average, queue, pf_stats_average(&sum->queue))
PUT_STAT(queue_maximum, queue, sum->queue.max)
PUT_QUANTILE(queue_p50, queue, 50)
PUT_QUANTILE(queue_p99, queue, 99)
PUT_SUM(sum_uncertain, pf_set_u64, sum->uncertain)
PUT_SUM(histogram, pf_set_buckets, &sum->device_histogram)

#define NAMED(text, kind, what, function, sure, rare, about)                                                           \
    {                                                                                                                  \
        .name = text, .type = PERFILE_COLUMN_##kind, .unit = what, .doc = about, .put = put_##function,                \
        .required = sure, .extra = rare                                                                                \
    }

static const struct pf_column columns[] = {
    PF_REQUIRED(time, TIME, "ns", "When it was issued to the device."),
    PF_COLUMN(queue, DURATION, "ns", "How long it had waited in a queue; null: it did not, or that was not recorded."),
    NAMED("duration", DURATION, "ns", device_time, false, false, "How long the device took; null: up to the end."),
    PF_REQUIRED(dev, TEXT, "", "The device, MAJOR,MINOR."),
    PF_REQUIRED(op, TEXT, "", "What: R reads, W writes, D discards, F flushes; then A ahead, S sync, M metadata."),
    PF_COLUMN(sector, U64, "", "Where it began; null: a flush."),
    PF_REQUIRED(bytes, BYTES, "bytes", "How much."),
    PF_COLUMN(comm, TEXT, "", "Name of the thread that issued it, which may be a thread of the kernel."),
    PF_REQUIRED(pid, I32, "", "Process."),
    PF_REQUIRED(tid, I32, "", "Thread."),
    PF_COLUMN(cpu, U32, "", "Processor that issued it."),
    PF_COLUMN(error, I32, "", "0, or the error of the device; null: it did not complete."),
    PF_REQUIRED(uncertain, BOOL, "", "Events were lost between its start and its end."),
};

static const struct pf_column sum_columns[] = {
    NAMED("dev", TEXT, "", sum_dev, true, false, "The device, MAJOR,MINOR."),
    NAMED("op", TEXT, "", sum_op, true, false, "What: R reads, W writes, D discards, F flushes ..."),
    PF_REQUIRED(requests, U64, "", "Requests that are complete."),
    NAMED("bytes", BYTES, "bytes", sum_bytes, true, false, "How much they were."),
    PF_REQUIRED(errors, U64, "", "How many failed."),
    PF_REQUIRED(total, DURATION, "ns", "How long the device took, added up."),
    PF_COLUMN(minimum, DURATION, "ns", "The shortest of these."),
    PF_COLUMN(average, DURATION, "ns", "The average of these."),
    PF_COLUMN(p50, DURATION, "ns", "Half of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(p90, DURATION, "ns", "90 % of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(p99, DURATION, "ns", "99 % of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(maximum, DURATION, "ns", "The longest of these."),
    PF_COLUMN(queue_average, DURATION, "ns", "The average time in a queue before; null: it was not recorded."),
    PF_COLUMN(queue_p50, DURATION, "ns", "Half of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(queue_p99, DURATION, "ns", "99 % of these are no longer than this (estimated from the histogram)."),
    PF_COLUMN(queue_maximum, DURATION, "ns", "The longest of these."),
    NAMED("uncertain", U64, "", sum_uncertain, true, false, "Requests around lost events."),
    PF_REQUIRED_EXTRA(histogram, ADDRESSES, "", "Histogram: how many took the device at least 2^0, 2^1, ... ns."),
};

/* ---- every request ----------------------------------------------------------------------------------------------- */

static int next_open(struct block_io *io)
{
    while (io->next_open < io->blocks.count) {
        io->current = &io->blocks.requests[io->next_open++];
        if (io->current->used && io->current->issue)
            return 1;
    }
    return 0;
}

static int next_request(void *state, struct perfile_error *error)
{
    struct block_io *io = state;
    struct pf_gathered *gathered = &io->gathered;
    int result = 0;
    while (!io->at_open && (result = pf_delivery_next(gathered->delivery, &gathered->item, error)) > 0) {
        const int consumed = pf_block_io_take(&io->blocks, &gathered->item, &io->request);
        io->current = &io->request;
        if (consumed)
            return consumed < 0 ? pf_fail_memory(error, "requests") : 1;
    }
    if (result < 0)
        return result;
    io->at_open = true;
    return next_open(io);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* NULL: out of memory. */
static struct sum *find_sum(struct block_io *io, const struct pf_block_request *request)
{
    for (size_t i = 0; i < io->count; i++)
        if (io->sums[i].dev == request->dev && strcmp(io->sums[i].op, request->op) == 0)
            return &io->sums[i];
    if (!pf_grow(io->gathered.table->allocator, &io->sums, &io->capacity, io->count + 1, sizeof(*io->sums)))
        return NULL;
    io->sums[io->count] = (struct sum){.dev = request->dev};
    memcpy(io->sums[io->count].op, request->op, sizeof(request->op));
    return &io->sums[io->count++];
}

static bool take(void *state, const struct pf_delivered *item)
{
    enum { MAX = 4096 }; /* kinds; a real recording has some tens */
    struct block_io *io = state;
    const struct pf_block_request *request = &io->request;
    const int consumed = pf_block_io_take(&io->blocks, item, &io->request);
    if (consumed <= 0 || io->count >= MAX)
        return consumed >= 0;
    struct sum *sum = find_sum(io, request);
    if (!sum)
        return false;
    const uint64_t time = request->complete - pf_min(request->issue, request->complete);
    pf_stats_add(&sum->device, time);
    pf_histogram_add(&sum->device_histogram, time);
    if (request->insert && request->insert <= request->issue) {
        pf_stats_add(&sum->queue, request->issue - request->insert);
        pf_histogram_add(&sum->queue_histogram, request->issue - request->insert);
    }
    sum->bytes += request->bytes;
    sum->errors += request->error != 0;
    sum->uncertain += request->uncertain;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct sum *a = left, *b = right;
    return PF_COMPARE(b->device.sum, a->device.sum) ?: PF_COMPARE(a->dev, b->dev) ?: strcmp(a->op, b->op);
}

static int next_sum(void *state, struct perfile_error *error)
{
    struct block_io *io = state;
    if (pf_gathered_read(&io->gathered, take, io) && io->count)
        qsort(io->sums, io->count, sizeof(*io->sums), compare);
    const int result = pf_table_row(io->gathered.table, io->count, error);
    if (result > 0)
        io->sum = &io->sums[io->gathered.table->all.row];
    return result;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int open_io(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct block_io *io = state;
    pf_block_io_open(&io->blocks, table->reader, table->allocator);
    return pf_gathered_open(&io->gathered, table, error);
}

static void close_io(void *state)
{
    struct block_io *io = state;
    const struct perfile_allocator *allocator = io->gathered.table->allocator;
    pf_block_io_close(&io->blocks);
    pf_free(allocator, io->sums, io->capacity * sizeof(*io->sums));
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_block_io_notify(&((struct block_io *)state)->blocks, notify, context);
}

const struct pf_view pf_view_block_io = {
    .info = {"block_io", "every request to a block device: its thread, what, how long it waited and took"},
    .events = &pf_block_events,
    .lists = {PF_COLUMNS(columns)},
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct block_io),
    .open = open_io,
    .next = next_request,
    .close = close_io,
    .notes = notes,
};

const struct pf_view pf_view_block_latency = {
    .info = {"block_latency", "requests to block devices added up by device and operation"},
    .events = &pf_block_events,
    .lists = {PF_COLUMNS(sum_columns)},
    .answers = "total,average",
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct block_io),
    .open = open_io,
    .next = next_sum,
    .close = close_io,
    .notes = notes,
};
