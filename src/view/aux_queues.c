/* SPDX-License-Identifier: MIT */
/* The queues of hardware traces: a row for the payloads of each AUX area, and what their packets add up to. */
#include "analysis/aux_data.h"
#include "base/error.h"
#include "view/reading.h"

#include <inttypes.h>

struct queues {
    struct pf_reading reading; /* first */
    struct pf_aux_collector collector;
    struct perfile_time_conv clock;
    struct pf_text sources;
};

static const struct pf_aux_queue *queue_in_hand(const void *state)
{
    const struct queues *queues = state;
    return &queues->collector.queues.items[queues->reading.table->all.row];
}

#define QUEUE const struct pf_aux_queue *queue = queue_in_hand(state)
#define LOST const struct pf_aux_losses lost = lost_of(state)
#define SUMS const struct pf_aux_sums *sums = &queue_in_hand(state)->sums

static struct pf_aux_losses lost_of(const void *state)
{
    const struct queues *queues = state;
    return pf_aux_queues_lost(&queues->collector.queues, queue_in_hand(state));
}

static uint64_t time_of(const void *state, uint64_t cycles)
{
    const struct queues *queues = state;
    return pf_aux_time(&queues->clock, cycles);
}

PF_PUT_AS(queue, QUEUE, pf_set_u32, queue->number)
PF_PUT_IF(cpu, QUEUE, queue->cpu >= 0, pf_set_i32, queue->cpu)
PF_PUT_IF(tid, QUEUE, queue->tid >= 0, pf_set_i32, queue->tid)
PF_PUT_AS(buffers, QUEUE, pf_set_u64, queue->count)
PF_PUT_AS(bytes, QUEUE, pf_set_u64, queue->bytes)
PF_PUT_AS(missing_bytes, QUEUE, pf_set_u64, queue->missing)
PF_PUT_AS(conflict, QUEUE, pf_set_bool, queue->conflicts)
PF_PUT_AS(truncated, LOST, pf_set_u64, lost.truncated)
PF_PUT_AS(partial, LOST, pf_set_u64, lost.partial)
PF_PUT_AS(collided, LOST, pf_set_u64, lost.collided)
PF_PUT_AS(packets, SUMS, pf_set_u64, sums->packets)
PF_PUT_AS(bad_bytes, SUMS, pf_set_u64, sums->bad_bytes)
PF_PUT_AS(records, SUMS, pf_set_u64, sums->records)
PF_PUT_AS(syncs, SUMS, pf_set_u64, sums->syncs)
PF_PUT_AS(overflows, SUMS, pf_set_u64, sums->overflows)
PF_PUT_IF(first_time, SUMS, sums->has_time, pf_set_u64, time_of(state, sums->first_time))
PF_PUT_IF(last_time, SUMS, sums->has_time, pf_set_u64, time_of(state, sums->last_time))

PF_PUT(sources)
{
    struct queues *queues = state;
    QUEUE;
    queues->sources.used = 0;
    for (unsigned i = 0; queue->sources && i < PF_AUX_SOURCES; i++)
        if (queue->sources[i])
            pf_put_format(&queues->sources, "%s%u:%" PRIu64, queues->sources.used ? " " : "", i, queue->sources[i]);
    if (queues->sources.used)
        pf_set_text_bytes(vector, queues->sources.data, queues->sources.used);
    else
        pf_set_null(vector);
}

static const struct pf_column columns[] = {
    PF_REQUIRED(queue, U32, "", "Number of the AUX area; of AUX data in samples, the processor."),
    PF_COLUMN(cpu, I32, "", "Processor that was traced; null: one thread was, on all of them."),
    PF_COLUMN(tid, I32, "", "Thread that was traced; null: all on this processor."),
    PF_REQUIRED(bytes, BYTES, "bytes", "How large the trace is."),
    PF_REQUIRED(buffers, U64, "", "In how many pieces it was recorded."),
    PF_REQUIRED(truncated, U64, "", "Pieces that lost data because the AUX area was full."),
    PF_REQUIRED_EXTRA(partial, U64, "", "Pieces that may have gaps."),
    PF_REQUIRED_EXTRA(collided, U64, "", "Pieces whose samples collided in the processor."),
    PF_REQUIRED(missing_bytes, BYTES, "bytes", "Parts of the AUX area that were not recorded between the pieces."),
    PF_COLUMN(first_time, TIME, "ns", "Of the packets that have one; null: none has."),
    PF_COLUMN(last_time, TIME, "ns", "Of the packets that have one; null: none has."),
    PF_REQUIRED(packets, U64, "", "How many packets there are."),
    PF_REQUIRED(bad_bytes, BYTES, "bytes", "Bytes that are not packets."),
    PF_REQUIRED_EXTRA(records, U64, "", "Records that samples are made of, such as those of Arm SPE and Intel BTS."),
    PF_REQUIRED_EXTRA(syncs, U64, "", "Packets at which decoding can start, such as PSB of Intel PT."),
    PF_REQUIRED(overflows, U64, "", "How often the processor lost packets; of s390, the lost samples."),
    PF_REQUIRED_EXTRA(conflict, BOOL, "", "Its pieces belong to several processors or threads: perf refuses that."),
    PF_EXTRA(sources, TEXT, "", "CoreSight: the trace ids and how many bytes each has; null for other traces."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int take_record(void *state, const struct perfile_record *record, struct perfile_error *error)
{
    struct queues *queues = state;
    return pf_aux_collector_take(&queues->collector, record, error);
}

static int next_queue(void *state, struct perfile_error *error)
{
    struct queues *queues = state;
    if (!queues->reading.table->all.read)
        pf_reading_all(&queues->reading, take_record, queues);
    queues->clock = pf_aux_clock(&queues->collector.queues);
    return pf_table_row(queues->reading.table, queues->collector.queues.count, error);
}

static int open_queues(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct queues *queues = state;
    pf_aux_collector_open(&queues->collector, table->reader, table->allocator);
    if (pf_text_open(&queues->sources, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "queues");
    return pf_reading_open(&queues->reading, table, PF_BY_FILE, error);
}

static void close_queues(void *state)
{
    struct queues *queues = state;
    pf_aux_collector_close(&queues->collector);
    pf_text_close(&queues->sources);
    pf_reading_close(&queues->reading);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    const struct queues *queues = state;
    if (!queues->collector.queues.count)
        notify(context, "The recording has no hardware trace.");
}

const struct pf_view pf_view_aux_queues = {
    .info = {"aux_queues", "hardware traces: what was recorded of each processor or thread, and what is missing"},
    .lists = {PF_COLUMNS(columns)},
    .reads_aux = true,
    .not_filtered = ~0u,
    .state_bytes = sizeof(struct queues),
    .open = open_queues,
    .next = next_queue,
    .close = close_queues,
    .notes = notes,
};
