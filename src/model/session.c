/* SPDX-License-Identifier: MIT */
/* Records in time order, and who they are about. */
#include "model/session.h"

#include "base/error.h"
#include "base/filter_clock.h"
#include "base/sized.h"
#include "model/index.h"

int perfile_session_open(struct perfile_reader *reader, struct perfile_session **session, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = reader->allocator;
    *session = NULL;
    int result = pf_reader_drive(reader, error);
    if (result < 0)
        return result;
    struct perfile_session *made = pf_new(allocator, sizeof(*made));
    if (!made) {
        reader->stops &= ~(unsigned)PF_READER_DRIVEN;
        return pf_fail_memory(error, "session");
    }
    made->reader = reader;
    made->last_wanted = UINT64_MAX;
    made->skips.at = UINT64_MAX;
    pf_order_open(&made->order, allocator);
    pf_threads_open(&made->threads, allocator);
    pf_maps_open(&made->maps, allocator);
    pf_cgroups_open(&made->cgroups, allocator);
    if (reader->part_count > 1) {
        made->heads = pf_new(allocator, reader->part_count * sizeof(*made->heads));
        made->has_head = pf_new(allocator, reader->part_count * sizeof(*made->has_head));
        if (!made->heads || !made->has_head) {
            perfile_session_close(made);
            return pf_fail_memory(error, "session");
        }
    }
    *session = made;
    if (reader->follower.opened)
        reader->follower.opened(reader->follower.context, made);
    return 0;
}

void perfile_session_close(struct perfile_session *session)
{
    if (!session)
        return;
    struct perfile_reader *reader = session->reader;
    reader->stops &= ~(unsigned)PF_READER_DRIVEN;
    pf_order_close(&session->order);
    pf_threads_close(&session->threads);
    pf_maps_close(&session->maps);
    pf_cgroups_close(&session->cgroups);
    if (session->has_filter)
        pf_filter_close(&session->filter);
    pf_free(reader->allocator, session->heads, reader->part_count * sizeof(*session->heads));
    pf_free(reader->allocator, session->has_head, reader->part_count * sizeof(*session->has_head));
    pf_free(reader->allocator, session, sizeof(*session));
}

static void note_exit(struct perfile_session *session)
{
    struct perfile_exit gone;
    if (session->record->damaged ||
        perfile_record_decode(session->reader, session->record, &gone, sizeof(gone), NULL) < 0)
        return;
    session->exit_pending = true;
    session->exit_tid = gone.tid;
}

/* The record's time is now, and what it says about threads holds from now on. */
static int deliver(struct perfile_session *session, const struct perfile_record *now,
                   const struct perfile_record **record, struct perfile_error *error)
{
    *record = session->record = now;
    if (PF_UNLIKELY(now->type >= PERFILE_RECORD_HEADER_ATTR))
        session->reader->record = *now; /* for perfile_reader_payload: heads of several parts were read meanwhile */
    if (now->time) {
        session->unordered += now->time < session->last_time;
        session->last_time = pf_max(session->last_time, now->time);
    }
    if (PF_UNLIKELY(now->time >= session->maps.next_time) && now->time != UINT64_MAX &&
        !pf_maps_advance(&session->maps, now->time))
        return pf_fail_memory(error, "maps");
    if (PF_LIKELY(now->type == PERFILE_RECORD_SAMPLE)) {
        session->delivered++;
        return 1;
    }
    if (PF_UNLIKELY(session->nameless))
        return 1;
    if (now->type == PERFILE_RECORD_EXIT && !session->keeps_comms)
        note_exit(session);
    else if ((now->type == PERFILE_RECORD_COMM || now->type == PERFILE_RECORD_FORK) &&
             !pf_threads_follow(&session->threads, session->reader, now))
        return pf_fail_memory(error, "threads");
    else if (now->type == PERFILE_RECORD_CGROUP && !pf_cgroups_follow(&session->cgroups, session->reader, now))
        return pf_fail_memory(error, "control groups");
    if (session->follows_maps && !pf_maps_follow(&session->maps, session->reader, now))
        return pf_maps_fail(&session->maps, error);
    return 1;
}

/* A sample that nobody wants need not wait for its turn. */
static bool leave_out(struct perfile_session *session, const struct perfile_record *record)
{
    if (record->type != PERFILE_RECORD_SAMPLE)
        return false;
    session->unordered += record->time < session->settled;
    session->order.max_time = pf_max(session->order.max_time, record->time);
    session->left_out++;
    return true;
}

/* True: the sample is taken, and is not given any more. */
static bool is_used(struct perfile_session *session, const struct perfile_record *record)
{
    if (!session->take(session->take_context, record) || record->type != PERFILE_RECORD_SAMPLE ||
        !pf_session_must_wait(session, record))
        return false;
    session->unordered += record->time < session->settled;
    session->order.max_time = pf_max(session->order.max_time, record->time);
    session->delivered++;
    return true;
}

/* ---- one stream: rounds of ring buffers ---- */

static void flush(struct perfile_session *session, uint64_t limit)
{
    session->plain = !session->has_filter && !session->follower && !session->heads;
    pf_order_flush(&session->order, limit);
}

static void end_round(struct perfile_session *session)
{
    session->round_before = session->round_at;
    session->can_enter_before = session->can_enter;
    session->counts_before = session->counts_at;
    session->can_enter = pf_reader_entry(session->reader, &session->round_at);
    session->counts_at = session->reader->counts;
    session->round_over = true;
    flush(session, session->round_limit);
    session->settled = session->round_limit;
    session->round_limit = session->order.max_time;
}

/* The file has no rounds, or enormous ones: give up half of what is held, in order as far as it is known. */
static void relieve(struct perfile_session *session)
{
    struct pf_order *order = &session->order;
    session->relieved = true;
    pf_order_flush(order, order->min_time + (order->max_time - order->min_time) / 2);
}

/* There is nothing more to be read: what waits has its turn. */
static void end_reading(struct perfile_session *session)
{
    session->at_end = true;
    pf_reader_rest(session->reader);
    flush(session, UINT64_MAX);
}

/* All that the last round settled has been delivered. */
static int settle(struct perfile_session *session, struct perfile_error *error)
{
    session->round_over = false;
    if (session->follower)
        session->follower->round(session->follower_context);
    if (session->resumed || !session->reader->index.data || !session->first_wanted)
        return 0;
    session->resumed = true;
    return pf_index_resume(session, error);
}

/* In the round that the session has begun with: the record belongs to what it took over. */
static bool was_delivered(struct perfile_session *session, const struct perfile_record *record)
{
    if ((record->compressed ? record->container : record->offset) >= session->resumed_until) {
        session->resumed_until = 0;
        return false;
    }
    if (record->type == PERFILE_RECORD_FINISHED_ROUND ||
        (pf_session_must_wait(session, record) && record->time > session->settled))
        return false;
    session->left_out += record->type == PERFILE_RECORD_SAMPLE;
    return true;
}

/* What nobody wants counts as if it had been read, and as what is left out. */
static void pass_over(struct perfile_session *session)
{
    struct pf_index_gap gap;
    while (pf_skips_take(&session->skips, &gap)) {
        session->order.max_time = pf_max(session->order.max_time, gap.last_time);
        session->left_out += gap.samples;
    }
}

/* Samples are for the order of time, and for who previews them. */
static bool holds_all(const struct perfile_session *session)
{
    return !session->follower && !session->resumed_until && !session->first_wanted && session->skips.at == UINT64_MAX;
}

static inline int hold(struct perfile_session *session, const struct perfile_record *read, struct perfile_error *error)
{
    if (PF_UNLIKELY(!pf_order_push(&session->order, read)))
        return pf_fail_memory(error, "time order");
    if (PF_UNLIKELY(session->order.bytes > session->reader->options.limit_queue_bytes))
        relieve(session);
    return 1;
}

/*
 * As pf_reader_next, but past the samples that wait for their turn: the way of nearly every record. *read is NULL when some
 * of these have it already.
 */
static int hold_samples(struct perfile_session *session, const struct perfile_record **read,
                        struct perfile_error *error)
{
    int result;
    while ((result = pf_reader_next(session->reader, read, error)) > 0 && (*read)->type == PERFILE_RECORD_SAMPLE &&
           pf_session_must_wait(session, *read)) {
        if (session->take && is_used(session, *read))
            continue;
        result = hold(session, *read, error);
        *read = NULL;
        if (PF_UNLIKELY(result < 0 || session->order.flushing))
            break;
    }
    return result;
}

static int next_of_stream(struct perfile_session *session, const struct perfile_record **record,
                          struct perfile_error *error)
{
    for (;;) {
        const struct perfile_record *read = session->order.flushing ? pf_order_pop(&session->order) : NULL;
        if (read)
            return deliver(session, read, record, error);
        if (session->at_end) {
            pf_order_close(&session->order); /* those who keep the session for its names need the memory */
            return 0;
        }
        int result = PF_UNLIKELY(session->round_over) ? settle(session, error) : 0;
        if (PF_UNLIKELY(pf_skips_due(&session->skips, session->reader)))
            pass_over(session);
        if (result == 0)
            result = holds_all(session) ? hold_samples(session, &read, error)
                                        : pf_reader_next(session->reader, &read, error);
        if (result < 0)
            return result;
        if (result == 0) {
            end_reading(session);
            continue;
        }
        if (PF_UNLIKELY(!read))
            continue;
        if (PF_UNLIKELY(session->follower != NULL))
            session->follower->read(session->follower_context, read);
        if (PF_UNLIKELY(session->resumed_until) && was_delivered(session, read))
            continue;
        if (session->take && is_used(session, read))
            continue;
        if (PF_LIKELY(pf_session_must_wait(session, read))) {
            if (PF_UNLIKELY(read->time < session->first_wanted) && leave_out(session, read))
                continue;
            result = hold(session, read, error);
            if (PF_UNLIKELY(result < 0))
                return result;
            continue;
        }
        if (read->type == PERFILE_RECORD_FINISHED_ROUND)
            end_round(session);
        return deliver(session, read, record, error);
    }
}

/* ---- a directory: each part is in order but for a few late records ---- */

/* How much older than its predecessors a record of the same ring buffer may be: deferred callchains come so late. */
static const uint64_t LATENESS_NS = 1000000000;

static int fetch_head(struct perfile_session *session, uint32_t part, struct perfile_error *error)
{
    struct perfile_reader *reader = session->reader;
    int result = pf_part_next(reader, &reader->parts[part], &session->heads[part], error);
    session->has_head[part] = result > 0;
    return result < 0 ? result : 0;
}

/* The part whose next record is the oldest; the number of parts when all are at their end. */
static int oldest_head(struct perfile_session *session, uint32_t *chosen, struct perfile_error *error)
{
    struct perfile_reader *reader = session->reader;
    uint32_t count = reader->part_count, best = count;
    *chosen = count;
    if (session->heads_read && session->has_head[session->last_part]) {
        int result = fetch_head(session, session->last_part, error);
        if (result < 0)
            return result;
    }
    for (uint32_t i = 0; !session->heads_read && i < count; i++) {
        int result = fetch_head(session, i, error);
        if (result < 0)
            return result;
    }
    session->heads_read = true;
    for (uint32_t i = 0; i < count; i++) {
        if (!session->has_head[i])
            continue;
        if (!pf_session_must_wait(session, &session->heads[i])) {
            best = i;
            break;
        }
        if (best == count || session->heads[i].time < session->heads[best].time)
            best = i;
    }
    *chosen = session->last_part = best;
    return 0;
}

static int next_of_parts(struct perfile_session *session, const struct perfile_record **record,
                         struct perfile_error *error)
{
    struct pf_order *order = &session->order;
    for (;;) {
        const struct perfile_record *head = order->flushing ? pf_order_pop(order) : NULL;
        if (head)
            return deliver(session, head, record, error);
        if (session->at_end) {
            pf_order_close(order);
            return 0;
        }
        uint32_t part;
        int result = oldest_head(session, &part, error);
        if (result < 0)
            return result;
        if (part == session->reader->part_count) {
            session->at_end = true;
            pf_order_flush(order, UINT64_MAX);
            continue;
        }
        head = &session->heads[part];
        if (!pf_session_must_wait(session, head))
            return deliver(session, head, record, error);
        if (PF_UNLIKELY(head->time < session->first_wanted) && leave_out(session, head))
            continue;
        if (!pf_order_push(order, head))
            return pf_fail_memory(error, "time order");
        if (order->bytes > session->reader->options.limit_queue_bytes)
            relieve(session);
        else if (head->time > LATENESS_NS && order->min_time < head->time - LATENESS_NS &&
                 head->time - LATENESS_NS - order->min_time > LATENESS_NS) {
            session->settled = head->time - LATENESS_NS;
            pf_order_flush(order, session->settled);
        }
    }
}

/* ---- times that are wanted ---- */

static bool have_times(const struct perfile_reader *reader)
{
    bool have = reader->event_count > 0;
    for (size_t i = 0; i < reader->event_count; i++)
        have &= (reader->events[i]->public.attr->sample_type & PERFILE_SAMPLE_TIME) != 0;
    return have;
}

/* Whether it is worth it to read on behind the times that are wanted is up to end_early, which sees the records there. */
static bool is_unwanted(void *context, const struct perfile_block *block)
{
    struct perfile_session *session = context;
    const bool waits_for_name = session->keeps_comms && session->threads.nameless_count;
    if (block->last_time < session->first_wanted)
        return true;
    if (block->first_time > session->last_wanted && !waits_for_name)
        return false;
    if (session->unwanted && session->unwanted(session->unwanted_context, block))
        return true;
    const struct pf_filter_block asked = {.block = block,
                                          .times = perfile_block_times,
                                          .may_have = perfile_block_may_have,
                                          .event_at = perfile_event_get,
                                          .reader = session->reader};
    return session->has_filter && pf_filter_leaves_out(&session->filter, &asked, false);
}

static void skip(struct perfile_session *session)
{
    if (!session->skips.blocks)
        pf_skips_open(&session->skips, session->reader, is_unwanted, session);
}

void perfile_session_limit(struct perfile_session *session, uint64_t first, uint64_t last)
{
    if (session->record || perfile_reader_file(session->reader)->mode == PERFILE_MODE_PIPE ||
        !have_times(session->reader))
        return;
    session->first_wanted = first;
    session->last_wanted = last;
    skip(session);
}

void perfile_session_skip(struct perfile_session *session,
                          bool (*unwanted)(void *context, const struct perfile_block *block), void *context)
{
    if (session->record)
        return;
    session->unwanted = unwanted;
    session->unwanted_context = context;
    skip(session);
}

void perfile_session_preview(struct perfile_session *session,
                             bool (*take)(void *context, const struct perfile_record *record), void *context)
{
    if (session->record)
        return;
    session->take = take;
    session->take_context = context;
}

uint64_t perfile_session_left_out(const struct perfile_session *session)
{
    return session->left_out;
}

/* The record that is delivered is behind the last time that is wanted. */
static void end_early(struct perfile_session *session)
{
    session->ended = session->settled > session->last_wanted && session->last_time != UINT64_MAX &&
                     !session->unordered && (!session->keeps_comms || !session->threads.nameless_count) &&
                     pf_reader_leave_rest(session->reader);
    if (session->ended && session->reader->index.data)
        pf_index_count_rest(session);
    else if (session->ended) /* some of those that were read wait for their turn */
        session->left_out = session->reader->counts.samples - session->delivered;
}

/* ---- the public calls ---- */

/* ---- the filter ---- */

/* The reader must be at its start, and nobody's while it is read. */
static int find_span(struct perfile_reader *reader, struct pf_range *span, struct perfile_error *error)
{
    reader->stops &= ~(unsigned)PF_READER_DRIVEN;
    const int known = perfile_reader_span(reader, &span->first, &span->last, error);
    reader->stops |= PF_READER_DRIVEN;
    return known;
}

/* A stream tells of its events while it is read. */
static int check_events(const struct perfile_session *session, bool at_end, struct perfile_error *error)
{
    const bool stream = perfile_reader_file(session->reader)->mode == PERFILE_MODE_PIPE;
    return session->has_filter && session->filter.has_events && stream == at_end
               ? pf_filter_check_events(&session->filter, session->reader, perfile_event_get, error)
               : 0;
}

int perfile_session_filter(struct perfile_session *session, const struct perfile_filter *filter,
                           struct perfile_error *error)
{
    struct perfile_filter wanted = PERFILE_FILTER_INIT;
    struct pf_range span;
    struct pf_clock clock;
    const char *why = !session ? "no session given" : session->has_filter ? "the session has a filter" : NULL;
    if (why || session->record)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter", "%s",
                       why ? why : "the session has begun");
    int result = pf_sized_take(&wanted, sizeof(wanted), filter, "filter", error);
    const int known = result == 0 && pf_filter_needs_span(&wanted) ? find_span(session->reader, &span, error) : result;
    if (known < 0)
        return known;
    if (pf_filter_clock(session->reader, &clock) < 0)
        return pf_fail_memory(error, "filter");
    session->has_filter = true;
    result = pf_filter_open_dated(&session->filter, &wanted, known ? &span : NULL, &clock, session->reader->allocator,
                                  error);
    result = result < 0 ? result : check_events(session, false, error);
    if (result < 0)
        pf_filter_close(&session->filter);
    session->has_filter = result == 0;
    if (session->has_filter)
        skip(session);
    return result;
}

static bool passes(struct perfile_session *session, const struct perfile_record *record)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    if (record->type != PERFILE_RECORD_SAMPLE || perfile_sample_decode(record, &sample, NULL) < 0)
        return true;
    const bool has_thread = sample.present & PERFILE_SAMPLE_TID;
    const struct pf_filter_subject subject = {
        .time = sample.present & PERFILE_SAMPLE_TIME ? sample.time : PF_NO_TIME,
        .cpu = sample.present & PERFILE_SAMPLE_CPU ? (int32_t)sample.cpu : PF_NO_NUMBER,
        .pid = has_thread ? sample.pid : PF_NO_NUMBER,
        .tid = has_thread ? sample.tid : PF_NO_NUMBER,
        .comm = has_thread ? pf_threads_name(&session->threads, sample.tid) : NULL,
        .event = record->event};
    return pf_filter_passes(&session->filter, &subject);
}

/* ---- the next one ---- */

static int deliver_and_look(struct perfile_session *session, const struct perfile_record *now,
                            const struct perfile_record **record, struct perfile_error *error)
{
    const int result = deliver(session, now, record, error);
    if (result > 0 && now->time > session->last_wanted && now->time != UINT64_MAX)
        end_early(session);
    return result;
}

static int next_record(struct perfile_session *session, const struct perfile_record **record,
                       struct perfile_error *error)
{
    *record = NULL;
    const int stopped = pf_reader_check_stopped(session->reader, error); /* all that is left may be in memory */
    if (PF_UNLIKELY(stopped < 0))
        return stopped;
    if (PF_UNLIKELY(session->ended)) {
        pf_order_close(&session->order);
        return 0;
    }
    if (session->exit_pending) {
        session->exit_pending = false;
        pf_threads_discard(&session->threads, session->exit_tid);
    }
    const int result = session->heads ? next_of_parts(session, record, error) : next_of_stream(session, record, error);
    if (PF_UNLIKELY(result > 0 && (*record)->time > session->last_wanted && (*record)->time != UINT64_MAX))
        end_early(session);
    if (PF_UNLIKELY(session->follower != NULL) && result > 0)
        session->follower->delivered(session->follower_context, *record);
    else if (PF_UNLIKELY(session->follower != NULL) && result == 0)
        session->follower->ended(session->follower_context);
    return result;
}

/* The way of nearly every record: one of those that have their turn now. 0: it is none. */
static inline int next_in_turn(struct perfile_session *session, const struct perfile_record **record,
                               struct perfile_error *error)
{
    const bool plain = session->plain && session->order.flushing && !session->ended && !session->exit_pending &&
                       !(session->reader->stops & PF_READER_STOPPED);
    const struct perfile_record *now = PF_LIKELY(plain) ? pf_order_pop(&session->order) : NULL;
    if (PF_UNLIKELY(!now || now->type != PERFILE_RECORD_SAMPLE || now->time > session->last_wanted ||
                    now->time >= session->maps.next_time))
        return now ? deliver_and_look(session, now, record, error) : 0;
    *record = session->record = now;
    session->unordered += now->time < session->last_time;
    session->last_time = pf_max(session->last_time, now->time);
    session->delivered++;
    return 1;
}

int perfile_session_next(struct perfile_session *session, const struct perfile_record **record,
                         struct perfile_error *error)
{
    int result = next_in_turn(session, record, error);
    if (PF_LIKELY(result != 0))
        return result;
    do
        result = next_record(session, record, error);
    while (PF_UNLIKELY(session->has_filter) && result > 0 && !passes(session, *record));
    return result == 0 ? check_events(session, true, error) : result;
}

const char *perfile_session_comm(struct perfile_session *session, int32_t pid, int32_t tid)
{
    (void)pid;
    return pf_threads_name(&session->threads, tid);
}

const char *perfile_session_later_comm(const struct perfile_session *session, const char *comm)
{
    return pf_threads_later_name(&session->threads, comm);
}

const char *perfile_session_cgroup(const struct perfile_session *session, uint64_t id)
{
    return pf_cgroups_path(&session->cgroups, id);
}

void pf_session_leave_names(struct perfile_session *session)
{
    session->nameless = true;
}

void perfile_session_keep_comms(struct perfile_session *session)
{
    session->keeps_comms = true;
}

bool perfile_session_trim(struct perfile_session *session)
{
    return session->follows_maps && pf_maps_trim(&session->maps);
}

void perfile_session_follow_maps(struct perfile_session *session)
{
    session->follows_maps = true;
}

int perfile_session_add_map(struct perfile_session *session, uint64_t time, const struct perfile_map *map,
                            struct perfile_error *error)
{
    struct perfile_map all = PERFILE_MAP_INIT;
    const int result = pf_sized_take(&all, sizeof(all), map, "map", error);
    session->follower = NULL; /* this one is not the recording's */
    return result < 0 ? result : pf_maps_add_later(&session->maps, time, &all, error);
}

const struct perfile_space *perfile_session_space(struct perfile_session *session, int32_t pid)
{
    return pf_maps_space(&session->maps, pid);
}

uint64_t perfile_session_unordered(const struct perfile_session *session)
{
    return session->unordered;
}
