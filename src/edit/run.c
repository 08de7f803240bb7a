/* SPDX-License-Identifier: MIT */
/* The way of all edits: events and features through the steps to the writer, then record by record. */
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/sized.h"
#include "edit/edit.h"
#include "model/index.h"

int pf_edit_open(struct pf_edit *edit, struct perfile_reader *reader, struct perfile_writer *writer,
                 const struct perfile_edit_options *options, struct perfile_error *error)
{
    *edit = (struct pf_edit){.reader = reader, .writer = writer, .options = {.size = sizeof(edit->options)}};
    return pf_sized_take(&edit->options, sizeof(edit->options), options, "edit options", error);
}

/* ---- what the writer asks while it copies ---- */

static int each_event(void *context, struct pf_event_spec *event, struct perfile_error *error)
{
    const struct pf_edit *edit = context;
    int result = 0;
    for (size_t i = 0; i < edit->step_count && result == 0; i++)
        if (edit->steps[i].event)
            result = edit->steps[i].event(edit->steps[i].context, event, error);
    return result;
}

static int each_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                        struct perfile_error *error)
{
    const struct pf_edit *edit = context;
    int result = PF_EDIT_KEEP;
    for (size_t i = 0; i < edit->step_count && result == PF_EDIT_KEEP; i++)
        if (edit->steps[i].feature)
            result = edit->steps[i].feature(edit->steps[i].context, reader, number, body, error);
    return result;
}

static bool has_hooks(const struct pf_edit *edit)
{
    for (size_t i = 0; i < edit->step_count; i++)
        if (edit->steps[i].event || edit->steps[i].feature)
            return true;
    return false;
}

/* ---- records ---- */

/* The event's samples, and the trailers, look different in the output. */
static bool has_other_plan(const struct pf_edit *edit, const struct perfile_record *record)
{
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    const struct perfile_writer *writer = edit->writer;
    return event && record->type < PERFILE_RECORD_HEADER_ATTR && event->public.index < writer->event_count &&
           writer->events[event->public.index].reshaped;
}

/* The writer still has what became of the record. */
static void count_change(struct pf_edit *edit, const struct perfile_record *record)
{
    const uint8_t *made = edit->writer->record;
    const uint64_t bytes = pf_load16(made + 6, edit->writer->swap);
    edit->bytes_saved += record->bytes - bytes;
    edit->report->records_changed += bytes != record->bytes || memcmp(made, record->data, (size_t)bytes) != 0;
}

static int write_item(struct pf_edit *edit, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    const bool reshaped = has_other_plan(edit, record);
    if (!item->changed && !reshaped)
        return perfile_writer_copy(edit->writer, edit->reader, record, error);
    int result = pf_item_decode(item, error);
    /* an unknown type has no trailer that could be found */
    if (result == PERFILE_ERROR_UNSUPPORTED && !item->changed)
        return perfile_writer_copy(edit->writer, edit->reader, record, error);
    if (result == 0)
        result = pf_item_put(item, edit->writer, error);
    if (result == 0)
        count_change(edit, record);
    return result;
}

static void count(struct pf_edit *edit, const struct perfile_record *record, int result)
{
    const bool sample = record->type == PERFILE_RECORD_SAMPLE;
    struct perfile_edit_report *report = edit->report;
    if (record->type == PERFILE_RECORD_COMPRESSED || record->type == PERFILE_RECORD_COMPRESSED2)
        return;
    if (result == 0) {
        report->records_kept++;
        report->samples_kept += sample;
    } else if (result == PF_EDIT_DROP) {
        report->records_dropped++;
        report->samples_dropped += sample;
    } else {
        report->records_damaged++;
    }
}

/* One file becomes a directory. */
static bool spreads(const struct pf_edit *edit)
{
    return edit->reader->part_count <= 1 && edit->writer->options.mode == PERFILE_MODE_DIRECTORY;
}

/* Which file of a directory a record belongs to: its own, or that of its processor. */
static uint32_t part_of(const struct pf_edit *edit, const struct perfile_record *record)
{
    enum { PARTS_MAX = 256 }; /* all of them are open at once */
    const struct pf_event *event = (const struct pf_event *)(const void *)record->event;
    uint32_t cpu;
    if (!spreads(edit))
        return record->part;
    /* what recorders made up themselves has no time, and is for all */
    return event && record->time && pf_plan_cpu(&event->plan, record, &cpu) ? 1 + cpu % PARTS_MAX : 0;
}

static int choose_part(const struct pf_edit *edit, const struct perfile_record *record, struct perfile_error *error)
{
    if (edit->writer->options.mode != PERFILE_MODE_DIRECTORY)
        return 0;
    if (spreads(edit) && record->type == PERFILE_RECORD_FINISHED_ROUND)
        return PF_EDIT_DROP; /* it would speak for all files */
    return perfile_writer_part(edit->writer, part_of(edit, record), error);
}

int pf_edit_record(struct pf_edit *edit, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    if (record->damaged) {
        edit->report->records_damaged++;
        return 0;
    }
    int result = choose_part(edit, record, error);
    if (result == 0 && edit->reshapes && record->type == PERFILE_RECORD_SAMPLE && !record->event)
        result = pf_fail(error, PERFILE_ERROR_EVENT, record->offset, "SAMPLE record", "no event has its id");
    for (size_t i = 0; i < edit->step_count && result == PF_EDIT_KEEP; i++)
        if (edit->steps[i].record)
            result = edit->steps[i].record(edit->steps[i].context, item, error);
    if (result == PF_EDIT_KEEP)
        result = write_item(edit, item, error);
    count(edit, record, result);
    return result < 0 && !pf_writer_concerns_record(result) ? result : 0; /* that one is left out, and counted */
}

/* ---- the walk ---- */

enum { PROGRESS_STEP = 4096 };

static void report_progress(const struct pf_edit *edit, uint64_t records)
{
    const struct perfile_reader *reader = edit->reader;
    uint64_t total = 0;
    if (!edit->options.progress || records % PROGRESS_STEP)
        return;
    for (uint32_t i = 0; i < reader->part_count; i++)
        total += reader->parts[i].source.bytes;
    edit->options.progress(edit->options.progress_context, reader->counts.data_bytes, total);
}

/* Of records in the order of the file: what their rounds say. */
struct rounds {
    uint64_t max;     /* the latest time */
    uint64_t before;  /* of it, what was there at the end of the last round */
    uint64_t settled; /* earlier times cannot come any more */
    bool broken;      /* but one did */
};

static void follow_rounds(struct rounds *rounds, const struct perfile_record *record)
{
    const bool has_time =
        record->type < PERFILE_RECORD_HEADER_ATTR && !record->damaged && record->time && record->time != UINT64_MAX;
    if (record->type == PERFILE_RECORD_FINISHED_ROUND) {
        rounds->settled = rounds->before;
        rounds->before = rounds->max;
    } else if (has_time) {
        rounds->broken |= record->time < rounds->settled;
        rounds->max = pf_max(rounds->max, record->time);
    }
}

/* What follows cannot be of a time that is wanted. */
static bool is_after(const struct pf_edit *edit, struct rounds *rounds, const struct perfile_record *record)
{
    follow_rounds(rounds, record);
    return rounds->settled > edit->last_time && !rounds->broken && pf_reader_leave_rest(edit->reader);
}

static void pass_over(const struct pf_edit *edit, struct pf_skips *skips, struct rounds *rounds)
{
    struct pf_index_gap gap;
    while (pf_skips_take(skips, &gap)) {
        rounds->max = pf_max(rounds->max, gap.last_time);
        if (edit->passed_over)
            edit->passed_over(edit->unwanted_context, gap.samples, gap.samples);
    }
}

static void open_skips(const struct pf_edit *edit, struct pf_skips *skips)
{
    if (!edit->session && edit->unwanted)
        pf_skips_open(skips, edit->reader, edit->unwanted, edit->unwanted_context);
}

/* After the mark all records are read. */
static void go_on(const struct pf_edit *edit, struct pf_skips *skips)
{
    struct pf_history *history = edit->history;
    pf_history_go_on(history);
    if (history->walks)
        return;
    open_skips(edit, skips);
    if (edit->passed_over)
        edit->passed_over(edit->unwanted_context, history->records, history->samples);
}

/* What was before the first record that is read. */
static void begin(const struct pf_edit *edit, struct pf_skips *skips)
{
    *skips = (struct pf_skips){.at = UINT64_MAX};
    if (edit->history && !edit->from_mark) {
        pf_history_walk(edit->history);
        return;
    }
    if (edit->history)
        pf_history_pass(edit->history);
    open_skips(edit, skips);
}

int pf_edit_walk(struct pf_edit *edit, bool by_time,
                 int (*each)(void *context, struct pf_item *item, struct perfile_error *error), void *context,
                 struct perfile_error *error)
{
    const struct perfile_record *record;
    struct pf_item *item = pf_new(edit->reader->allocator, sizeof(*item));
    if (!item)
        return pf_fail_memory(error, "edit");
    struct rounds rounds = {0};
    struct pf_skips skips;
    bool ended = false;
    edit->session = NULL;
    int result = by_time ? perfile_session_open(edit->reader, &edit->session, error) : 0;
    if (result == 0 && edit->session && edit->follows_maps)
        perfile_session_follow_maps(edit->session);
    if (result == 0 && edit->session && edit->has_last_time)
        perfile_session_limit(edit->session, 0, edit->last_time);
    begin(edit, &skips);
    for (uint64_t n = 0; result == 0 && !ended; n++) {
        if (PF_UNLIKELY(edit->history && pf_history_is_due(edit->history)))
            go_on(edit, &skips);
        if (PF_UNLIKELY(pf_skips_due(&skips, edit->reader)))
            pass_over(edit, &skips, &rounds);
        int more = edit->session ? perfile_session_next(edit->session, &record, error)
                                 : perfile_reader_next(edit->reader, &record, error);
        if (more <= 0) {
            result = more;
            break;
        }
        pf_item_set(item, edit->reader, record);
        result = each(context, item, error);
        ended = edit->has_last_time && !edit->session && is_after(edit, &rounds, record);
        report_progress(edit, n);
    }
    perfile_session_close(edit->session);
    edit->session = NULL;
    pf_free(edit->reader->allocator, item, sizeof(*item));
    return result;
}

/* What perf record --kcore puts beside the records. */
static int take_kernel(const struct pf_edit *edit, struct perfile_error *error)
{
    const struct perfile_reader *reader = edit->reader;
    const bool take = edit->writer->options.mode == PERFILE_MODE_DIRECTORY && !edit->no_kernel_copy;
    size_t count;
    if (reader->directory < 0)
        return 0;
    int result = pf_folder_take(take ? &edit->writer->folder : NULL, reader->directory, "kcore_dir", &count, error);
    if (result == 0 && count && !take)
        pf_writer_diagnose(edit->writer, "kernel-copy",
                           edit->no_kernel_copy
                               ? "the copy of the kernel (kcore_dir) is dropped"
                               : "the copy of the kernel (kcore_dir) is dropped: only a directory holds one");
    return result;
}

/* ---- what a recording is ---- */

bool pf_edit_needs_order(const struct perfile_reader *reader, const struct perfile_writer *writer)
{
    return (reader->part_count > 1) != (writer->options.mode == PERFILE_MODE_DIRECTORY);
}

bool pf_edit_describes(uint32_t type)
{
    return type == PERFILE_RECORD_HEADER_ATTR || type == PERFILE_RECORD_HEADER_EVENT_TYPE ||
           type == PERFILE_RECORD_HEADER_TRACING_DATA || type == PERFILE_RECORD_HEADER_BUILD_ID ||
           type == PERFILE_RECORD_HEADER_FEATURE || type == PERFILE_RECORD_COMPRESSED ||
           type == PERFILE_RECORD_COMPRESSED2;
}

bool pf_edit_defers_callchains(const struct perfile_reader *reader)
{
    for (size_t i = 0; i < reader->event_count; i++)
        if (reader->events[i]->public.attr->defer_callchain)
            return true;
    return false;
}

/* ---- from end to end ---- */

int pf_edit_begin(struct pf_edit *edit, struct perfile_error *error)
{
    edit->hooks = (struct pf_writer_hooks){.context = edit, .event = each_event, .feature = each_feature};
    *edit->report = (struct perfile_edit_report)PERFILE_EDIT_REPORT_INIT;
    edit->writer->hooks = has_hooks(edit) ? &edit->hooks : NULL;
    return perfile_writer_copy_header(edit->writer, edit->reader, error);
}

/* Repair leaves such samples out; other edits copy them before it is known that their events never come. */
static void report_undecodable(const struct pf_edit *edit)
{
    char message[160], count[PF_COUNTED_BYTES];
    const uint64_t samples = edit->reader->event_count ? 0 : edit->report->samples_kept;
    if (!samples)
        return;
    snprintf(message, sizeof(message), "the events are lost: %s copied, though nothing can decode them",
             pf_count_of(samples, "samples are", count));
    pf_writer_diagnose(edit->writer, "events-lost", message);
}

void pf_edit_count_undecodable(const struct perfile_reader *reader, struct perfile_edit_report *report)
{
    if (reader->event_count)
        return;
    report->records_damaged += report->samples_kept + report->samples_dropped;
    report->records_kept -= report->samples_kept;
    report->records_dropped -= report->samples_dropped;
    report->samples_kept = report->samples_dropped = 0;
}

int pf_edit_end(struct pf_edit *edit, int result, struct perfile_error *error)
{
    report_undecodable(edit);
    /* the names in records of a stream that a step left out */
    if (result == 0 && edit->reader->file.mode == PERFILE_MODE_PIPE && edit->writer->options.mode != PERFILE_MODE_PIPE)
        result = pf_writer_follow_names(edit->writer, edit->reader, false, error);
    if (result == 0)
        result = take_kernel(edit, error);
    edit->writer->hooks = NULL;
    for (size_t i = 0; i < edit->step_count && result == 0; i++)
        if (edit->steps[i].end)
            result = edit->steps[i].end(edit->steps[i].context, edit->reader, edit->writer, error);
    edit->report->bytes_dropped = edit->reader->counts.bytes_lost;
    for (size_t i = 0; i < edit->writer->event_count; i++)
        edit->report->events_changed += edit->writer->events[i].changed;
    edit->report->features_dropped = edit->writer->features_dropped;
    return result;
}

static int take_record(void *edit, struct pf_item *item, struct perfile_error *error)
{
    return pf_edit_record(edit, item, error);
}

int pf_edit_run(struct pf_edit *edit, struct perfile_edit_report *report, struct perfile_error *error)
{
    struct perfile_edit_report unseen;
    struct perfile_error here;
    error = error ? error : &here;
    edit->report = report ? report : &unseen;
    const bool by_time = edit->by_time || edit->follows_maps || pf_edit_needs_order(edit->reader, edit->writer);
    int result = pf_edit_begin(edit, error);
    if (result == 0)
        result = pf_edit_walk(edit, by_time, take_record, edit, error);
    result = pf_edit_end(edit, result, error);
    pf_edit_count_undecodable(edit->reader, edit->report);
    return result;
}
