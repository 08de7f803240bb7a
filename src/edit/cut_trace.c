/* SPDX-License-Identifier: MIT */
#include "edit/cut_trace.h"

#include "base/error.h"
#include "hwtrace/records.h"

/* ---- pieces ------------------------------------------------------------------------------------------------------ */

static uint64_t key_of(uint32_t part, uint64_t position)
{
    enum { PART_AT = 48 };
    return position ^ (uint64_t)part << PART_AT;
}

static bool add_piece(struct pf_cut_trace *trace, const struct pf_aux_buffer *buffer, struct pf_cut_piece piece)
{
    return pf_map_put(&trace->numbers, key_of(buffer->part, buffer->position), trace->count) &&
           PF_APPEND(trace->queues.allocator, trace->pieces, trace->count, trace->capacity, piece);
}

struct pf_cut_piece pf_cut_trace_piece(const struct pf_cut_trace *trace, const struct perfile_record *record)
{
    uint64_t number;
    return pf_map_get(&trace->numbers, key_of(record->part, record->payload_offset), &number)
               ? trace->pieces[number]
               : (struct pf_cut_piece){0, record->payload_bytes};
}

/* ---- segments: what is kept or not, from one position where decoding can start to the next one ------------------- */

struct segment {
    uint64_t start, end;  /* in the run */
    uint64_t first, last; /* its times */
    bool has_time;
};

/* A queue while its segments are looked at. */
struct slicing {
    struct pf_cut_trace *trace;
    const struct pf_aux_queue *queue;
    const struct pf_range *times;
    struct perfile_time_conv clock;
    struct pf_aux_stream stream;
    struct pf_aux_walk walk;
    struct segment segment; /* that is read */
    struct segment before;  /* and the one before, which lasts until this one begins; end 0 before the first */
    size_t first_piece;     /* of the queue */
    uint64_t start, end;    /* of the run, what is kept; end 0: nothing so far */
    bool has_times;
};

/* Keeps bytes of the run, in the pieces of its buffers. */
static void keep(struct slicing *s)
{
    const uint64_t start = s->start, end = s->end;
    uint64_t at = 0;
    for (size_t i = s->stream.first; i <= s->stream.at && at < end; i++) {
        const struct pf_aux_buffer *buffer = &s->queue->buffers[i];
        const uint64_t bytes = buffer->bytes - pf_min(buffer->repeated, buffer->bytes), next = at + bytes;
        struct pf_cut_piece *piece = &s->trace->pieces[s->first_piece + i];
        if (start < next && end > at)
            *piece = (struct pf_cut_piece){buffer->repeated + (start > at ? start - at : 0),
                                           buffer->repeated + pf_min(end - at, bytes)};
        at = next;
    }
}

/* Whether a segment that lasts until `last` is kept. */
static void judge(struct slicing *s, const struct segment *segment, uint64_t last)
{
    s->has_times |= segment->has_time;
    if (!segment->has_time || segment->first > s->times->last || last < s->times->first)
        return;
    s->start = s->end ? pf_min(s->start, segment->start) : segment->start;
    s->end = pf_max(s->end, segment->end);
}

/* In the flow of a program a segment lasts until the next one; records have their own time. */
static bool is_flow(const struct slicing *s)
{
    return s->walk.format->sync;
}

static void note_time(struct slicing *s, uint64_t first, uint64_t last)
{
    struct segment *segment = &s->segment;
    if (!segment->has_time && is_flow(s) && s->before.end) {
        judge(s, &s->before, first);
        s->before.end = 0;
    }
    segment->first = segment->has_time ? pf_min(segment->first, first) : first;
    segment->last = segment->has_time ? pf_max(segment->last, last) : last;
    segment->has_time = true;
}

static void end_segment(struct slicing *s, uint64_t end)
{
    s->segment.end = end;
    if (!is_flow(s))
        judge(s, &s->segment, s->segment.last);
    else if (s->segment.has_time)
        s->before = s->segment;
    else if (s->before.end)
        s->before.end = end; /* the time of the one before is the last one that is known */
    s->segment = (struct segment){.start = end};
}

static void take_packet(struct slicing *s, const struct pf_aux_packet *packet)
{
    const unsigned roles = s->walk.format->kinds[packet->kind].roles;
    const struct pf_aux_buffer *buffer = pf_aux_stream_buffer(&s->stream, packet->offset);
    if (roles & PF_AUX_SYNC)
        end_segment(s, packet->offset);
    if (packet->kind == PF_AUX_PAD && packet->offset == s->segment.start)
        s->segment.start += packet->bytes;
    if (roles & (PF_AUX_TIME | PF_AUX_TIME_56)) {
        const uint64_t cycles =
            roles & PF_AUX_TIME_56 ? pf_aux_extend(buffer->reference, packet->payload) : packet->payload;
        const uint64_t time = pf_aux_time(&s->clock, cycles);
        note_time(s, time, time);
    } else if (roles & PF_AUX_AT_REFERENCE) {
        const uint64_t last = pf_aux_time(&s->clock, buffer->reference);
        const bool has_before = buffer > s->queue->buffers;
        note_time(s, has_before ? pf_min(last, pf_aux_time(&s->clock, buffer[-1].reference)) : 0, last);
    }
    if (roles & PF_AUX_ENTRY_AFTER)
        end_segment(s, packet->offset + packet->bytes);
}

static int read_run(struct slicing *s, struct perfile_error *error)
{
    struct pf_aux_packet packet;
    int result;
    s->segment = s->before = (struct segment){.start = 0};
    s->start = s->end = 0;
    while ((result = pf_aux_walk_next(&s->walk, &packet, error)) > 0)
        take_packet(s, &packet);
    end_segment(s, s->walk.offset);
    if (is_flow(s) && s->before.end)
        judge(s, &s->before, UINT64_MAX);
    keep(s);
    return result;
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

static int read_runs(struct slicing *s, struct perfile_error *error)
{
    int result = 0;
    s->stream.read = pf_aux_read_buffer;
    s->stream.context = s->trace->reader;
    while (result == 0 && pf_aux_stream_next_run(&s->stream)) {
        pf_aux_walk_restart(&s->walk);
        result = read_run(s, error);
    }
    return result;
}

/* Without times and AUX records the trace is kept completely. */
static void keep_all(struct slicing *s)
{
    for (size_t i = 0; i < s->queue->count; i++)
        s->trace->pieces[s->first_piece + i] = (struct pf_cut_piece){0, s->queue->buffers[i].bytes};
}

/* The first buffer of the queue that does not end before this byte of the AUX area. */
static size_t buffer_at(const struct pf_aux_queue *queue, uint64_t offset)
{
    size_t low = 0, high = queue->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct pf_aux_buffer *buffer = &queue->buffers[middle];
        *(buffer->offset + buffer->bytes > offset ? &high : &low) =
            buffer->offset + buffer->bytes > offset ? middle : middle + 1;
    }
    return low;
}

static void keep_piece(struct slicing *s, const struct pf_aux_piece *piece)
{
    for (size_t i = buffer_at(s->queue, piece->offset); i < s->queue->count; i++) {
        const struct pf_aux_buffer *buffer = &s->queue->buffers[i];
        struct pf_cut_piece *kept = &s->trace->pieces[s->first_piece + i];
        const uint64_t start = buffer->offset, from = pf_max(piece->offset, start) - start;
        const uint64_t to = pf_min(piece->end, start + buffer->bytes) - start;
        if (start >= piece->end || from >= to)
            break;
        kept->from = kept->to ? pf_min(kept->from, from) : from;
        kept->to = pf_max(kept->to, to);
    }
}

/* Where packets have no times, AUX records say when bytes were written: those of the records that are kept are. */
static void keep_without_times(struct slicing *s)
{
    const struct pf_aux_queues *queues = &s->trace->queues;
    bool stated = false;
    for (size_t i = 0; i < queues->piece_count && s->queue->count; i++) {
        const struct pf_aux_piece *piece = &queues->pieces[i];
        if (!pf_aux_piece_has(piece, s->queue->buffers, piece->offset))
            continue;
        stated = true;
        if (piece->time >= s->times->first && piece->time <= s->times->last)
            keep_piece(s, piece);
    }
    if (!stated)
        keep_all(s);
}

static int slice_queue(struct pf_cut_trace *trace, size_t index, const struct pf_range *times,
                       struct perfile_error *error)
{
    const struct pf_aux_queues *queues = &trace->queues;
    const struct pf_aux_queue *queue = &queues->items[index];
    struct slicing s = {
        .trace = trace, .queue = queue, .times = times, .clock = pf_aux_clock(queues), .first_piece = trace->count};
    int result = 0;
    for (size_t i = 0; i < queue->count && result == 0; i++)
        result = add_piece(trace, &queue->buffers[i], (struct pf_cut_piece){0, 0}) ? 0 : pf_fail_memory(error, "cut");
    if (result < 0)
        return result;
    s.walk = (struct pf_aux_walk){.format = queues->format,
                                  .machine = pf_aux_machine_in(trace->reader),
                                  .more = pf_aux_stream_more,
                                  .context = &s.stream};
    const bool opened = pf_aux_walk_open(&s.walk, queues->allocator);
    if (pf_aux_stream_open(&s.stream, queues, queue) && opened)
        result = read_runs(&s, error);
    else
        result = pf_fail_memory(error, "cut");
    if (!s.has_times)
        keep_without_times(&s);
    pf_aux_stream_close(&s.stream);
    pf_aux_walk_close(&s.walk);
    return result;
}

static int collect(struct pf_cut_trace *trace, struct perfile_error *error)
{
    const struct perfile_record *record;
    union pf_aux_body body;
    struct pf_aux_record from;
    int result;
    while ((result = perfile_reader_next(trace->reader, &record, error)) > 0)
        if (pf_aux_record_decode(trace->reader, record, &body, &from) &&
            !pf_aux_queues_take(&trace->queues, &from, NULL))
            return pf_fail_memory(error, "cut");
    return result;
}

int pf_cut_trace_open(struct pf_cut_trace *trace, struct perfile_reader *reader, const struct pf_range *times,
                      struct perfile_error *error)
{
    trace->reader = reader;
    pf_aux_queues_open(&trace->queues, reader->allocator);
    pf_map_open(&trace->numbers, reader->allocator);
    int result = collect(trace, error);
    for (size_t i = 0; trace->queues.format && i < trace->queues.count && result == 0; i++)
        result = slice_queue(trace, i, times, error);
    return result < 0 ? result : perfile_reader_rewind(reader, error);
}

void pf_cut_trace_close(struct pf_cut_trace *trace)
{
    if (!trace->reader)
        return;
    pf_free(trace->queues.allocator, trace->pieces, trace->capacity * sizeof(*trace->pieces));
    pf_map_close(&trace->numbers);
    pf_aux_queues_close(&trace->queues);
}
