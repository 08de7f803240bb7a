/* SPDX-License-Identifier: MIT */
#include "model/passes.h"

#include "model/session.h"

/* So many times, about, a stretch of a file is read at most: what is held grows with it then. */
enum { PASSES_MAX = 8 };

static struct pf_frame *frame_of(const struct perfile_session *session)
{
    return &session->reader->parts[0].frame;
}

static void mark(struct perfile_session *session, struct pf_pass_mark *at)
{
    at->can_enter = pf_reader_entry(session->reader, &at->entry);
}

void pf_session_hold_little(struct perfile_session *session, uint64_t bytes)
{
    const struct perfile_reader *reader = session->reader;
    session->nameless = true;
    if (session->record || reader->part_count != 1 || !reader->parts[0].window.can_skip || reader->options.follow ||
        reader->index.data || session->follower)
        return;
    struct pf_passes *passes = &session->passes;
    passes->capacity_bytes = pf_min(bytes, reader->options.limit_queue_bytes);
    session->hold_bytes = passes->capacity_bytes;
    mark(session, &passes->marks[2]);
    passes->marks[0] = passes->marks[1] = passes->marks[2];
}

void pf_passes_mark(struct perfile_session *session)
{
    struct pf_pass_mark *marks = session->passes.marks;
    marks[0] = marks[1];
    marks[1] = marks[2];
    mark(session, &marks[2]);
}

static void begin(struct perfile_session *session)
{
    struct perfile_reader *reader = session->reader;
    struct pf_passes *passes = &session->passes;
    passes->on = true;
    passes->consumed = passes->horizon;
    passes->horizon = UINT64_MAX;
    passes->until = session->at_end ? UINT64_MAX : frame_of(session)->at;
    passes->counts = reader->counts;
    passes->diagnostic_count = reader->diagnostic_count;
    passes->was_muted = reader->muted;
    reader->muted = true;
    reader->part_now = 0;
    pf_reader_go_to(reader, &passes->marks[0].entry, &reader->counts);
}

void pf_passes_finish(struct perfile_session *session)
{
    struct perfile_reader *reader = session->reader;
    struct pf_passes *passes = &session->passes;
    passes->on = false;
    reader->counts = passes->counts;
    reader->diagnostic_count = passes->diagnostic_count;
    reader->muted = passes->was_muted;
    pf_session_flush(session, passes->limit);
}

/* The round that was read last can be read again when the next one is over. */
static bool can_leave(const struct perfile_session *session)
{
    return session->at_end || session->passes.marks[1].can_enter;
}

static bool is_due(const struct perfile_session *session)
{
    const struct pf_passes *passes = &session->passes;
    return passes->limit && passes->horizon != UINT64_MAX && (passes->horizon <= passes->limit || !can_leave(session));
}

bool pf_passes_step(struct perfile_session *session)
{
    struct pf_passes *passes = &session->passes;
    if (!passes->on && is_due(session))
        begin(session);
    else if (!passes->on)
        passes->limit = 0;
    if (!passes->on || frame_of(session)->at < passes->until || session->reader->parts[0].inflating)
        return false;
    pf_passes_finish(session);
    return true;
}

bool pf_passes_leave(struct perfile_session *session, const struct perfile_record *record)
{
    const struct pf_passes *passes = &session->passes;
    const bool waits = pf_session_must_wait(session, record);
    if (passes->on && (!waits || record->time < passes->consumed))
        return true;
    if (!waits || record->time < passes->horizon)
        return false;
    session->order.max_time = pf_max(session->order.max_time, record->time);
    return true;
}

bool pf_passes_hold_less(struct perfile_session *session)
{
    struct pf_order *order = &session->order;
    struct pf_passes *passes = &session->passes;
    const struct pf_pass_mark *from = &passes->marks[passes->on ? 0 : 1];
    if (!passes->capacity_bytes || !from->can_enter || (passes->on && !can_leave(session)))
        return true;
    const uint64_t stretch = frame_of(session)->at - from->entry.offset;
    const uint64_t capacity = pf_max(passes->capacity_bytes, stretch / PASSES_MAX);
    const uint64_t first = order->min_time;
    uint64_t end = pf_min(passes->horizon, order->max_time + 1);
    while (order->bytes > capacity && end - first > 1) {
        end = passes->horizon = first + (end - first + 1) / 2;
        if (!pf_order_leave_from(order, end))
            return false;
    }
    /* of one time there may be any number */
    session->hold_bytes = pf_min(pf_max(capacity, 2 * order->bytes), session->reader->options.limit_queue_bytes);
    return true;
}
