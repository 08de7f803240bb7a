/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "base/filter.h"
#include "base/sized.h"
#include "model/session.h"

/* The reader must be at its start, and no session may have it while it is read. */
static int find_span(struct perfile_reader *reader, struct pf_range *span, struct perfile_error *error)
{
    reader->stops &= ~(unsigned)PF_READER_DRIVEN;
    const int known = perfile_reader_span(reader, &span->first, &span->last, error);
    reader->stops |= PF_READER_DRIVEN;
    return known;
}

/* All events of a file are known at its start; those of a stream are known when it was read. */
static int check_events(const struct pf_filtering *filtering, bool at_end, struct perfile_error *error)
{
    struct perfile_reader *reader = filtering->session->reader;
    const bool stream = perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE;
    return filtering->filter.has_events && stream == at_end
               ? pf_filter_check_events(&filtering->filter, reader, perfile_event_get, error)
               : 0;
}

static int open_filter(struct pf_filtering *filtering, const struct perfile_filter *wanted, struct perfile_error *error)
{
    struct perfile_reader *reader = filtering->session->reader;
    struct pf_range span;
    struct pf_clock clock;
    const int known = pf_filter_needs_span(wanted) ? find_span(reader, &span, error) : 0;
    if (known < 0)
        return known;
    if (pf_filter_clock(reader, &clock) < 0)
        return pf_fail_memory(error, "filter");
    int result =
        pf_filter_open_dated(&filtering->filter, wanted, known ? &span : NULL, &clock, reader->allocator, error);
    result = result < 0 ? result : check_events(filtering, false, error);
    if (result < 0)
        pf_filter_close(&filtering->filter);
    return result;
}

int perfile_session_filter(struct perfile_session *session, const struct perfile_filter *filter,
                           struct perfile_error *error)
{
    struct perfile_filter wanted = PERFILE_FILTER_INIT;
    const char *why = !session                    ? "no session given"
                      : session->filtering.active ? "the session has a filter"
                      : session->started          ? "the session has started"
                                                  : NULL;
    if (why)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "filter", "%s", why);
    int result = pf_sized_take(&wanted, sizeof(wanted), filter, "filter", error);
    session->filtering.session = session;
    if (result == 0)
        result = open_filter(&session->filtering, &wanted, error);
    session->filtering.active = result == 0;
    if (result == 0)
        pf_skipping_open(&session->skipping, session);
    return result;
}

static bool passes(struct pf_filtering *filtering, const struct perfile_record *record)
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
        .comm = has_thread ? pf_threads_name(&filtering->session->state.threads, sample.tid) : NULL,
        .event = record->event};
    return pf_filter_passes(&filtering->filter, &subject);
}

int pf_filtering_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_filtering *filtering = context;
    int result;
    do
        result = pf_record_next(&filtering->before, record, error);
    while (result > 0 && !passes(filtering, *record));
    return result == 0 ? check_events(filtering, true, error) : result;
}
