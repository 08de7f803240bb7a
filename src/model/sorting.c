/* SPDX-License-Identifier: MIT */
#include "model/sorting.h"

#include "base/error.h"

/* A FINISHED_ROUND was read: records that come later can be as old as the round that ended, but not older. */
static void end_round(struct pf_sorting *sorting)
{
    pf_order_flush(&sorting->order, sorting->round_limit);
    sorting->settled = sorting->round_limit;
    sorting->round_limit = sorting->order.max_time;
}

/* The file has no rounds, or enormous ones: half of what waits is delivered, in order as far as it is known. */
static void relieve(struct pf_sorting *sorting)
{
    struct pf_order *order = &sorting->order;
    sorting->relieved = true;
    pf_order_flush(order, order->min_time + (order->max_time - order->min_time) / 2);
}

/* Of a directory: `time` was read. What is delivered then are stretches of time, not single records. */
static void settle_late(struct pf_sorting *sorting, uint64_t time)
{
    const uint64_t settled = time - pf_min(time, sorting->lateness);
    if (sorting->order.min_time >= settled || settled - sorting->order.min_time <= sorting->lateness)
        return;
    sorting->settled = settled;
    pf_order_flush(&sorting->order, settled);
}

static bool hold(struct pf_sorting *sorting, const struct perfile_record *record)
{
    if (PF_UNLIKELY(!pf_order_push(&sorting->order, record)))
        return false;
    if (PF_UNLIKELY(sorting->order.bytes > sorting->reader->options.limit_queue_bytes))
        relieve(sorting);
    else if (PF_UNLIKELY(sorting->lateness != 0))
        settle_late(sorting, record->time);
    return true;
}

/* 1: *record is one that does not wait, or NULL when others can be delivered now; 0 at the end, or an error. */
static int fill(struct pf_sorting *sorting, const struct perfile_record **record, struct perfile_error *error)
{
    int result;
    while ((result = pf_record_next(&sorting->before, record, error)) > 0 &&
           pf_sorting_must_wait(sorting->reader, *record)) {
        if (PF_UNLIKELY(!hold(sorting, *record)))
            return pf_fail_memory(error, "time order");
        *record = NULL;
        if (PF_UNLIKELY(sorting->order.flushing))
            break;
    }
    return result;
}

/* It is delivered where it stands. */
static int pass_on(struct pf_sorting *sorting, const struct perfile_record *record)
{
    if (record->type >= PERFILE_RECORD_HEADER_ATTR)
        sorting->reader->record = *record; /* for perfile_reader_payload: more parts than one may have been read */
    if (record->type == PERFILE_RECORD_FINISHED_ROUND && !sorting->lateness)
        end_round(sorting);
    return 1;
}

int pf_sorting_read_on(struct pf_sorting *sorting, const struct perfile_record **record, struct perfile_error *error)
{
    while (!sorting->at_end) {
        const int result = fill(sorting, record, error);
        if (result < 0)
            *record = NULL;
        if (result < 0)
            return result;
        if (result > 0 && *record)
            return pass_on(sorting, *record);
        if (result == 0) {
            sorting->at_end = true;
            pf_order_flush(&sorting->order, UINT64_MAX);
        }
        if ((*record = pf_order_pop(&sorting->order)))
            return 1;
    }
    pf_order_close(&sorting->order); /* callers that keep the session for its names need the memory */
    *record = NULL;
    return 0;
}
