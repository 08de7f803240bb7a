/* SPDX-License-Identifier: MIT */
#include "view/reading.h"

#include <perfile/index.h>

#include "analysis/delivery.h"

enum { PROGRESS_RECORDS = 4096 };

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Checks that the events of the filter exist; a stream reports its events while it is read. */
static int check_events(const struct pf_reading *reading, bool at_end, struct perfile_error *error)
{
    struct perfile_reader *reader = reading->table->reader;
    const bool stream = perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE;
    if (!reading->filter.has_events || stream != at_end)
        return 0;
    return pf_filter_check_events(&reading->filter, reader, perfile_event_get, error);
}

static bool wants_no_sample(void *context, const struct perfile_block *block)
{
    (void)context;
    (void)block;
    return true;
}

int pf_reading_open(struct pf_reading *reading, struct perfile_table *table, enum pf_reading_order order,
                    struct perfile_error *error)
{
    int result = 0;
    *reading = (struct pf_reading){.table = table};
    if (table->options.filter)
        result = pf_recording_filter(table->reader, table->options.filter, table->allocator, &reading->filter, error);
    if (result == 0)
        result = check_events(reading, false, error);
    if (result == 0 && order != PF_BY_FILE)
        result = perfile_session_open(table->reader, &reading->session, error);
    if (result == 0 && order == PF_BY_TIME_NO_SAMPLES)
        perfile_session_skip(reading->session, wants_no_sample, NULL);
    return result;
}

void pf_reading_close(struct pf_reading *reading)
{
    perfile_session_close(reading->session);
    pf_filter_close(&reading->filter);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void report_progress(struct pf_reading *reading)
{
    const struct perfile_table *table = reading->table;
    reading->until_progress = PROGRESS_RECORDS;
    if (table->options.progress)
        table->options.progress(table->options.progress_context, perfile_reader_counts(table->reader)->data_bytes,
                                perfile_reader_file(table->reader)->file_bytes);
}

int pf_reading_next(struct pf_reading *reading, const struct perfile_record **record, struct perfile_error *error)
{
    if (reading->until_progress-- == 0)
        report_progress(reading);
    const int result = reading->session ? perfile_session_next(reading->session, record, error)
                                        : perfile_reader_next(reading->table->reader, record, error);
    return result == 0 ? check_events(reading, true, error) : result;
}

static void decode_sample(const struct perfile_record *record, struct perfile_sample_id *id)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    if (perfile_sample_decode(record, &sample, NULL) == 0)
        *id = (struct perfile_sample_id){.size = sizeof(*id),
                                         .present = sample.present,
                                         .pid = sample.pid,
                                         .tid = sample.tid,
                                         .time = sample.time,
                                         .id = sample.id,
                                         .stream_id = sample.stream_id,
                                         .cpu = sample.cpu,
                                         .identifier = sample.identifier};
}

void pf_reading_decode_id(const struct pf_reading *reading, const struct perfile_record *record,
                          struct perfile_sample_id *id)
{
    *id = (struct perfile_sample_id)PERFILE_SAMPLE_ID_INIT;
    if (record->damaged)
        return;
    if (record->type == PERFILE_RECORD_SAMPLE)
        decode_sample(record, id);
    else if (perfile_sample_id_decode(reading->table->reader, record, id, NULL) < 0)
        *id = (struct perfile_sample_id)PERFILE_SAMPLE_ID_INIT;
}

/* ---- the filter -------------------------------------------------------------------------------------------------- */

struct pf_filter_subject pf_reading_subject(const struct pf_reading *reading, const struct perfile_sample_id *id,
                                            const struct perfile_event *event)
{
    const bool has_thread = id->present & PERFILE_SAMPLE_TID;
    return (struct pf_filter_subject){
        .time = id->present & PERFILE_SAMPLE_TIME ? id->time : PF_NO_TIME,
        .cpu = id->present & PERFILE_SAMPLE_CPU ? (int32_t)id->cpu : PF_NO_NUMBER,
        .pid = has_thread ? id->pid : PF_NO_NUMBER,
        .tid = has_thread ? id->tid : PF_NO_NUMBER,
        .comm = has_thread && reading->session ? perfile_session_comm(reading->session, id->pid, id->tid) : NULL,
        .event = event};
}

bool pf_reading_passes(struct pf_reading *reading, const struct pf_filter_subject *subject)
{
    const bool passes = !reading->filter.active || pf_filter_passes(&reading->filter, subject);
    reading->filtered += !passes;
    return passes;
}

void pf_reading_losses(const void *state, struct perfile_losses *losses)
{
    const struct pf_reading *reading = state;
    pf_table_count_losses(reading->table, reading->filtered, losses);
}

void pf_reading_unmatched(const void *state, perfile_on_unmatched *notify, void *context)
{
    const struct pf_reading *reading = state;
    if (reading->filter.active)
        pf_filter_notify_unmatched(&reading->filter, reading->table->reader, perfile_event_get, notify, context);
}

/* ---- all before the first row ------------------------------------------------------------------------------------ */

void pf_reading_all(struct pf_reading *reading, pf_reading_take *take, void *state)
{
    const struct perfile_record *record;
    struct pf_all_rows *all = &reading->table->all;
    int result = 0;
    if (all->read)
        return;
    all->read = true;
    while (result >= 0 && (result = pf_reading_next(reading, &record, &all->error)) > 0)
        if (take)
            result = take(state, record, &all->error);
    all->result = result;
}
