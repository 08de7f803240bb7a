/* SPDX-License-Identifier: MIT */
#include "model/index.h"
#include "model/session.h"

static bool have_times(const struct perfile_reader *reader)
{
    bool have = reader->event_count > 0;
    for (size_t i = 0; i < reader->event_count; i++)
        have &= (reader->events[i]->public.attr->sample_type & PERFILE_SAMPLE_TIME) != 0;
    return have;
}

void perfile_session_limit(struct perfile_session *session, uint64_t first, uint64_t last)
{
    if (session->started || perfile_reader_file(session->reader)->mode == PERFILE_MODE_PIPE ||
        !have_times(session->reader))
        return;
    session->limits.first = first;
    session->limits.last = last;
    pf_skipping_open(&session->skipping, session);
}

uint64_t perfile_session_left_out(const struct perfile_session *session)
{
    return session->left_out;
}

int pf_limits_leave_out(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    const struct pf_limits *limits = context;
    struct perfile_session *session = limits->session;
    int result;
    while ((result = pf_record_next(&limits->before_first, record, error)) > 0 &&
           PF_UNLIKELY((*record)->time < limits->first) && (*record)->type == PERFILE_RECORD_SAMPLE &&
           pf_sorting_must_wait(session->reader, *record)) {
        pf_sorting_note_kept(&session->sorting, *record);
        session->left_out++;
    }
    return result;
}

/* The record that is delivered is later than the last time that is wanted. */
static void end_early(struct pf_limits *limits)
{
    struct perfile_session *session = limits->session;
    const struct pf_sorting *sorting = &session->sorting;
    const struct pf_state *state = &session->state;
    const uint64_t seen = limits->delivered + session->preview.consumed;
    limits->ended = sorting->settled > limits->last && sorting->last_time != UINT64_MAX && !sorting->unordered &&
                    (!state->keeps_comms || !state->threads.nameless_count) && pf_reader_leave_rest(session->reader);
    if (limits->ended && session->reader->index.data)
        session->left_out = pf_index_count_rest(session->reader, seen);
    else if (limits->ended) /* some of those that were read wait for their turn */
        session->left_out = session->reader->counts.samples - seen;
}

int pf_limits_end_early(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_limits *limits = context;
    if (PF_UNLIKELY(limits->ended)) {
        pf_order_close(&limits->session->sorting.order);
        *record = NULL;
        return pf_reader_check_stopped(limits->session->reader, error);
    }
    const int result = pf_record_next(&limits->before_last, record, error);
    if (PF_UNLIKELY(result <= 0))
        return result;
    limits->delivered += (*record)->type == PERFILE_RECORD_SAMPLE;
    if (PF_UNLIKELY((*record)->time > limits->last && (*record)->time != UINT64_MAX))
        end_early(limits);
    return 1;
}
