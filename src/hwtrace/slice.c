/* SPDX-License-Identifier: MIT */
/*
 * Synchronizations have times that increase along a queue, so the one before a time is found by bisection, without an
 * index: first among the buffers, then inside of one. Kinds of traces without a pattern to synchronize with are read
 * from the start of a buffer.
 */
#include "hwtrace/slice.h"

#include "base/error.h"

enum {
    PIECE_BYTES = 16 * 1024,
    CLOSE_BYTES = 64 * 1024,  /* as close as that to the time is close enough */
    MARGIN_BYTES = 32 * 1024, /* what is missing is an error once: it shall have been one before the slice */
    MAX_PACKETS = 64,         /* of a synchronization, the time among them */
};

/* Reads one buffer from somewhere on. */
struct probe {
    const struct pf_aux_slice *slice;
    const struct pf_aux_buffer *buffer;
    uint64_t at;
    uint8_t piece[PIECE_BYTES];
};

static int more(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct probe *probe = context;
    size_t count = (size_t)pf_min(probe->buffer->bytes - pf_min(probe->at, probe->buffer->bytes), PIECE_BYTES);
    const int result =
        count ? probe->slice->read(probe->slice->context, probe->buffer, probe->at, probe->piece, &count, error) : 0;
    if (result < 0 || !count)
        return result;
    probe->at += count;
    *data = probe->piece;
    *bytes = count;
    return 1;
}

/* Other times of packets are not on the clock of the trace, or reading cannot start there. */
static bool has_time(unsigned roles)
{
    return roles & PF_AUX_TIME_56 || (roles & PF_AUX_TIME && roles & PF_AUX_ENTRY_AFTER);
}

/* The first time within the next packets: 1, 0, or an error. */
static int read_time(struct pf_aux_walk *walk, const struct pf_aux_buffer *buffer, uint64_t *cycles,
                     struct perfile_error *error)
{
    struct pf_aux_packet packet;
    int result = 0;
    for (unsigned i = 0; i < MAX_PACKETS && (result = pf_aux_walk_next(walk, &packet, error)) > 0; i++) {
        const unsigned roles = walk->format->kinds[packet.kind].roles;
        if (has_time(roles)) {
            *cycles = roles & PF_AUX_TIME ? packet.payload : pf_aux_extend(buffer->reference, packet.payload);
            return 1;
        }
        if (packet.kind == PF_AUX_BAD)
            return 0;
    }
    return result < 0 ? result : 0;
}

/* The first synchronization from *at on, and its time: 1, 0 when there is none with a time, or an error. */
static int find_sync(struct pf_aux_walk *walk, struct probe *probe, uint64_t *at, uint64_t *time,
                     struct perfile_error *error)
{
    const struct pf_aux_format *format = walk->format;
    uint64_t passed = 0, cycles;
    probe->at = *at;
    pf_aux_walk_restart(walk);
    int result = 1;
    if (format->sync)
        result = pf_aux_walk_find(walk, format->sync, format->sync_bytes, &passed, error);
    if (result > 0)
        result = read_time(walk, probe->buffer, &cycles, error);
    if (result <= 0)
        return result;
    *at += passed;
    *time = pf_aux_time(probe->slice->clock, cycles);
    return 1;
}

/* 1: from this position on the next synchronization is early enough; *found is where it is. */
static int is_early(struct pf_aux_walk *walk, const struct pf_aux_queue *queue, struct pf_aux_position from,
                    struct pf_aux_position *found, struct perfile_error *error)
{
    struct probe *probe = walk->context;
    uint64_t time;
    probe->buffer = &queue->buffers[from.buffer];
    from.at = pf_max(from.at, probe->buffer->repeated);
    const int result = find_sync(walk, probe, &from.at, &time, error);
    if (result <= 0 || time > probe->slice->first)
        return result < 0 ? result : 0;
    *found = from;
    return 1;
}

/* The last buffer whose first synchronization is early enough. */
static int find_buffer(struct pf_aux_walk *walk, const struct pf_aux_queue *queue, struct pf_aux_position *found,
                       struct perfile_error *error)
{
    size_t low = 0, high = queue->count;
    int any = 0;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int early = is_early(walk, queue, (struct pf_aux_position){middle, 0}, found, error);
        if (early < 0)
            return early;
        any |= early;
        *(early ? &low : &high) = early ? middle + 1 : middle;
    }
    return any;
}

/* The last one in that buffer, or one close to it. */
static int find_in_buffer(struct pf_aux_walk *walk, const struct pf_aux_queue *queue, struct pf_aux_position *found,
                          struct perfile_error *error)
{
    uint64_t high = queue->buffers[found->buffer].bytes;
    int result = 0;
    while (result >= 0 && high > found->at + CLOSE_BYTES) {
        const uint64_t middle = found->at + (high - found->at) / 2;
        const struct pf_aux_position from = {found->buffer, middle};
        result = is_early(walk, queue, from, found, error);
        if (result == 0)
            high = middle;
    }
    if (result < 0 || found->at <= MARGIN_BYTES)
        return result < 0 ? result : 0;
    const struct pf_aux_position earlier = {found->buffer, found->at - MARGIN_BYTES};
    const int again = is_early(walk, queue, earlier, found, error);
    return again < 0 ? again : 0;
}

int pf_aux_slice_start(const struct pf_aux_slice *slice, const struct pf_aux_queue *queue,
                       struct pf_aux_position *start, struct perfile_error *error)
{
    struct probe *probe = pf_new(slice->allocator, sizeof(*probe));
    struct pf_aux_walk walk = {.format = slice->format, .machine = slice->machine, .more = more, .context = probe};
    int result = 0;
    if (probe && pf_aux_walk_open(&walk, slice->allocator)) {
        probe->slice = slice;
        result = find_buffer(&walk, queue, start, error);
        if (result > 0 && slice->format->sync)
            result = find_in_buffer(&walk, queue, start, error) < 0 ? -1 : 1;
    } else {
        result = pf_fail_memory(error, "trace");
    }
    pf_aux_walk_close(&walk);
    pf_free(slice->allocator, probe, sizeof(*probe));
    return result;
}
