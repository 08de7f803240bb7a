/* SPDX-License-Identifier: MIT */
/* Some of a recording's samples, into one recording or several. */
#include "base/error.h"
#include "base/sized.h"
#include "edit/cut.h"

enum { OPEN_USUAL = 64, PARTS_USUAL = 65536 };

/* One recording that is written, the context of its step. */
struct output {
    struct pf_cut *cut;
    struct pf_cut_part *part;
    struct perfile_edit_report report;
    struct pf_edit_step step;
    struct pf_edit edit;
    uint64_t first_time, last_time; /* of the samples that were written */
    bool open;
    uint8_t times[16];
};

/* The last pass. */
struct writing {
    struct pf_cut *cut;
    struct output *outputs; /* `count` parts from `first` on */
    size_t first, count;
    struct perfile_edit_report *report;
    bool in_round; /* something was kept since the last mark of a round */
};

/* ---- opening ---- */

static int check_options(const struct pf_cut *cut, struct perfile_error *error)
{
    const struct perfile_split_options *split = &cut->split;
    if (cut->options.every > 1 && cut->options.samples)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "cut",
                       "every Nth sample and a number of samples exclude each other");
    if (!cut->splits)
        return 0;
    if (split->by < PERFILE_SPLIT_TIME || split->by > PERFILE_SPLIT_COMM || !split->open || !split->close)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "split",
                       "unknown way to split, or no functions to open and close parts");
    if (split->by <= PERFILE_SPLIT_SIZE && !split->step)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "split", "the size of parts is 0");
    return 0;
}

static int take_options(struct pf_cut *cut, const struct perfile_cut_options *options,
                        const struct perfile_split_options *split, struct perfile_error *error)
{
    int result = pf_sized_take(&cut->options, sizeof(cut->options), options, "cut options", error);
    if (result == 0)
        result = pf_sized_take(&cut->split, sizeof(cut->split), split, "split options", error);
    if (result == 0)
        result = pf_sized_take(&cut->wanted, sizeof(cut->wanted), cut->options.filter, "filter", error);
    return result < 0 ? result
                      : pf_sized_take(&cut->caller_options, sizeof(cut->caller_options), cut->options.edit,
                                      "edit options", error);
}

static int open_cut(struct pf_cut *cut, struct perfile_reader *reader, const struct perfile_cut_options *options,
                    const struct perfile_split_options *split, struct perfile_error *error)
{
    *cut = (struct pf_cut){
        .reader = reader,
        .allocator = reader->allocator,
        .options = PERFILE_CUT_OPTIONS_INIT,
        .wanted = PERFILE_FILTER_INIT,
        .split = PERFILE_SPLIT_OPTIONS_INIT,
        .caller_options = PERFILE_EDIT_OPTIONS_INIT,
        .splits = split,
    };
    int result = take_options(cut, options, split, error);
    if (result < 0)
        return result;
    cut->bounds_copies = !cut->split.limit_parts;
    cut->split.limit_open = cut->split.limit_open ? cut->split.limit_open : OPEN_USUAL;
    cut->split.limit_parts = cut->split.limit_parts ? cut->split.limit_parts : PARTS_USUAL;
    pf_cut_survey_open(&cut->survey, cut->allocator);
    pf_cut_count_open(&cut->count, cut->allocator);
    pf_cut_living_open(&cut->living, cut->allocator);
    result = check_options(cut, error);
    return result < 0 ? result : pf_cut_open_cgroups(cut, error);
}

static void close_cut(struct pf_cut *cut)
{
    pf_filter_close(&cut->filter);
    pf_cut_survey_close(&cut->survey);
    pf_cut_count_close(&cut->count);
    pf_cut_living_close(&cut->living);
    pf_cut_trace_close(&cut->trace);
}

/* ---- the passes before the last ---- */

/* All passes are one way. */
static void report_progress(void *context, uint64_t done, uint64_t total)
{
    const struct pf_cut *cut = context;
    const struct perfile_edit_options *caller_options = &cut->caller_options;
    caller_options->progress(caller_options->progress_context, cut->pass * total + done, cut->pass_count * total);
}

static void open_progress(struct pf_cut *cut)
{
    cut->edit_options = (struct perfile_edit_options)PERFILE_EDIT_OPTIONS_INIT;
    if (!cut->caller_options.progress)
        return;
    cut->edit_options.progress = report_progress;
    cut->edit_options.progress_context = cut;
}

static void find_span(struct pf_cut *cut)
{
    struct pf_range *span = &cut->survey.span;
    if (perfile_feature_number(cut->reader, PERFILE_FEATURE_SAMPLE_TIME, "first", &span->first, NULL) < 0 ||
        perfile_feature_number(cut->reader, PERFILE_FEATURE_SAMPLE_TIME, "last", &span->last, NULL) < 0 ||
        span->first > span->last)
        *span = (struct pf_range){0, 0};
}

static int cannot_rewind(struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "cut",
                   "names, cgroups, parts, every Nth sample and a number of samples need a recording that can be read "
                   "twice; this is a stream");
}

/* Diagnostics come out of the last pass only. */
static int run_quietly(struct pf_cut *cut, int (*pass)(struct pf_cut *cut, struct perfile_error *error),
                       struct perfile_error *error)
{
    struct perfile_open_options *options = &cut->reader->options;
    void (*diagnostic)(void *context, const struct perfile_diagnostic *diagnostic) = options->diagnostic;
    options->diagnostic = NULL;
    int result = pass(cut, error);
    options->diagnostic = diagnostic;
    cut->pass++;
    return result < 0 ? result : perfile_reader_rewind(cut->reader, error);
}

static int survey(struct pf_cut *cut, bool can_rewind, struct perfile_error *error)
{
    const struct perfile_filter *filter = &cut->wanted;
    const bool by_comm = filter->comms || (cut->splits && cut->split.by == PERFILE_SPLIT_COMM);
    const bool needs_span = pf_filter_needs_span(filter) || (cut->splits && cut->split.by == PERFILE_SPLIT_TIME);
    find_span(cut);
    cut->survey.line_known = by_comm;
    if (!by_comm && !cut->survey.cgroups.count && (!needs_span || cut->survey.span.last))
        return 0;
    if (!can_rewind)
        return by_comm || cut->survey.cgroups.count ? cannot_rewind(error) : 0;
    const struct pf_range known = cut->survey.span;
    int result = run_quietly(cut, pf_cut_survey, error);
    if (known.last)
        cut->survey.span = known; /* what script and report go by too */
    return result;
}

/* A name that no event has is a mistake; in pipe mode the events may not be known yet. */
static int check_events(const struct pf_cut *cut, struct perfile_error *error)
{
    if (!cut->filter.has_events || !cut->reader->event_count)
        return 0;
    return pf_filter_check_events(&cut->filter, cut->reader, perfile_event_get, error);
}

/* What was asked for in vain; in pipe mode the events are known now. */
static int look_at_filters(const struct pf_cut *cut, struct perfile_error *error)
{
    const struct perfile_cut_options *options = &cut->options;
    const int result = check_events(cut, error);
    if (result < 0 || !options->unmatched)
        return result;
    if (cut->survey.cgroups_asked && !cut->survey.cgroups_matched)
        options->unmatched(
            options->unmatched_context,
            &(struct perfile_unmatched){.filter = "cgroups", .value = options->cgroups, .blocks_all = true});
    if (cut->filter.active)
        pf_filter_notify_unmatched(&cut->filter, cut->reader, perfile_event_get, options->unmatched,
                                   options->unmatched_context);
    return 0;
}

/*
 * Opens the index, whose history suffices for the rule by which a cut by time drops threads that ended; it relies on
 * times, on the order of the file, and on samples that are complete where they are. Splits and filters by process or
 * name depend on all that a process ever did; they, and recordings without such an index (model/history.h: compressed
 * ones above all), read the complete recording.
 */
static int open_history(struct pf_cut *cut, struct perfile_error *error)
{
    if (!cut->drops_ended || cut->by_time || cut->survey.line_known || !pf_cut_have_times(cut) ||
        pf_edit_defers_callchains(cut->reader))
        return 0;
    return pf_history_open(&cut->living.history, cut->reader, cut->first_time, &cut->living.lifetimes, error);
}

/* Hardware traces are cut by time where the header of a file says that there are some. */
static int slice_trace(struct pf_cut *cut, struct perfile_error *error)
{
    const struct pf_range times = {pf_filter_first_time(&cut->filter), pf_filter_last_time(&cut->filter)};
    const uint8_t *index;
    size_t bytes;
    if (!cut->filter.has_times || cut->reader->file.mode == PERFILE_MODE_PIPE ||
        perfile_feature_bytes(cut->reader, PERFILE_FEATURE_AUXTRACE, &index, &bytes, NULL) < 0)
        return 0;
    return pf_cut_trace_open(&cut->trace, cut->reader, &times, error);
}

static int prepare(struct pf_cut *cut, bool to_stream, struct perfile_error *error)
{
    const struct perfile_filter *filter = &cut->wanted;
    const bool can_rewind = perfile_reader_rewind(cut->reader, NULL) == 0;
    open_progress(cut);
    cut->pass_count = 3;
    int result = survey(cut, can_rewind, error);
    if (result == 0)
        result = pf_cut_select_open(cut, error);
    if (result == 0)
        result = check_events(cut, error);
    cut->thins = cut->options.every > 1 || cut->options.samples;
    cut->keeps_all = !cut->filter.active && !cut->survey.cgroups.count && !cut->thins;
    cut->prunes = filter->pids || filter->tids || filter->comms || pf_cut_splits_processes(cut);
    cut->drops_ended = !cut->prunes && !cut->splits && cut->first_time > 0;
    cut->prunes |= cut->drops_ended;
    const bool must = cut->splits || cut->thins;
    const bool should = cut->prunes || (!cut->keeps_all && (to_stream || pf_edit_defers_callchains(cut->reader)));
    if (result < 0)
        return result;
    if (must && !can_rewind)
        return cannot_rewind(error);
    cut->pass_count = cut->pass + 2;
    if (can_rewind)
        result = slice_trace(cut, error);
    if (can_rewind && result == 0)
        result = open_history(cut, error);
    if (result == 0 && (must || should) && can_rewind)
        result = run_quietly(cut, pf_cut_count, error);
    cut->pass_count = cut->pass + 1;
    if (cut->splits && cut->count.part_count)
        cut->pass_count = cut->pass + (uint32_t)((cut->count.part_count - 1) / cut->split.limit_open + 1);
    return result;
}

/* ---- the feature SAMPLE_TIME ---- */

static void put_times(struct output *output, uint64_t first, uint64_t last, bool swap)
{
    struct pf_out o = pf_out_make(output->times, sizeof(output->times), swap);
    pf_out_u64(&o, first);
    pf_out_u64(&o, last);
}

/* In a stream it stands before the samples. */
static int change_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                          struct perfile_error *error)
{
    struct output *output = context;
    const struct pf_cut_part *part = output->part;
    struct perfile_writer *writer = output->edit.writer;
    (void)error;
    if (number != PERFILE_FEATURE_SAMPLE_TIME || writer->options.mode != PERFILE_MODE_PIPE)
        return PF_EDIT_KEEP;
    if (!output->cut->count.done) {
        pf_writer_diagnose(writer, "feature-lost",
                           "feature SAMPLE_TIME is dropped: it is not known in advance for a stream");
        writer->features_dropped++;
        return PF_EDIT_DROP;
    }
    put_times(output, part->last_time ? part->first_time : 0, part->last_time, reader->file.swapped);
    *body = (struct perfile_bytes){output->times, sizeof(output->times)};
    return PF_EDIT_KEEP;
}

static int correct_feature(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                           struct perfile_error *error)
{
    struct output *output = context;
    const uint8_t *data;
    size_t bytes;
    if (writer->options.mode == PERFILE_MODE_PIPE ||
        perfile_feature_bytes(reader, PERFILE_FEATURE_SAMPLE_TIME, &data, &bytes, NULL) < 0)
        return 0;
    put_times(output, output->last_time ? output->first_time : 0, output->last_time, writer->swap);
    return perfile_writer_feature(writer, PERFILE_FEATURE_SAMPLE_TIME, output->times, sizeof(output->times), error);
}

/* ---- the last pass ---- */

static void count_record(struct writing *writing, const struct pf_item *item, bool kept)
{
    const bool sample = item->record->type == PERFILE_RECORD_SAMPLE;
    if (writing->first || item->record->type == PERFILE_RECORD_COMPRESSED ||
        item->record->type == PERFILE_RECORD_COMPRESSED2)
        return;
    writing->report->records_kept += kept;
    writing->report->samples_kept += kept && sample;
    writing->report->records_dropped += !kept;
    writing->report->samples_dropped += !kept && sample;
}

static struct output *output_of(const struct writing *writing, size_t part)
{
    return part >= writing->first && part - writing->first < writing->count ? &writing->outputs[part - writing->first]
                                                                            : NULL;
}

static int write_sample(struct writing *writing, struct pf_item *item, struct perfile_error *error)
{
    struct pf_cut *cut = writing->cut;
    const struct perfile_record *record = item->record;
    const char *name;
    uint64_t part = 0;
    bool unscaled = false;
    bool kept = pf_cut_passes(cut, item);
    if (kept && cut->splits && !pf_cut_part_of(cut, pf_cut_key(cut, record, &name), &part))
        return pf_fail(error, PERFILE_ERROR_READ, record->offset, "input", "changed while it was being read");
    cut->bytes += kept ? record->bytes : 0;
    kept = kept && (!cut->thins || pf_cut_thin(cut, item, &unscaled));
    count_record(writing, item, kept);
    writing->report->samples_unscaled += !writing->first && unscaled;
    writing->in_round |= kept;
    struct output *output = kept ? output_of(writing, (size_t)part) : NULL;
    if (!output)
        return 0;
    if (record->time) {
        output->first_time = output->last_time ? pf_min(output->first_time, record->time) : record->time;
        output->last_time = pf_max(output->last_time, record->time);
    }
    const uint64_t damaged = output->report.records_damaged;
    const int result = pf_edit_record(&output->edit, item, error);
    writing->report->samples_kept -= output->report.records_damaged - damaged; /* cannot be written after all */
    return result;
}

/* Of a target that is clipped to the parts that are written. */
static struct output *nth_output(const struct writing *writing, const struct pf_cut_target *target, size_t n)
{
    return &writing->outputs[(target->links ? target->links[n].part : target->first + n) - writing->first];
}

/* Writes bytes to all outputs of a record. */
static int write_piece(struct writing *writing, const struct pf_cut_target *target, const uint8_t *data, size_t bytes,
                       struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < target->count && result == 0; i++)
        result = perfile_writer_payload(nth_output(writing, target, i)->edit.writer, data, bytes, error);
    return result;
}

enum { ALIGNMENT = 8 };

/* Where the bytes before a piece begin that are zeros, so that its offset in the AUX area stays a multiple of 8. */
static uint64_t padded_start(const struct pf_cut_piece *piece)
{
    return piece->from / ALIGNMENT * ALIGNMENT;
}

/* Zeros are padding in every kind of trace. */
static int write_zeros(struct writing *writing, const struct pf_cut_target *target, uint64_t count,
                       struct perfile_error *error)
{
    static const uint8_t zeros[ALIGNMENT];
    return count ? write_piece(writing, target, zeros, (size_t)count, error) : 0;
}

/* Fills a piece up to its size, or states the size that there is. */
static int end_payload(struct perfile_writer *writer, bool complete, struct perfile_error *error)
{
    static const uint8_t zeros[ALIGNMENT];
    return !writer->payload_left ? 0
           : complete && writer->payload_left < ALIGNMENT
               ? perfile_writer_payload(writer, zeros, (size_t)writer->payload_left, error)
               : pf_writer_cut_payload(writer, error);
}

/* Writes a piece of the payload of a record to all its outputs, as it can be fetched only once. */
static int write_payload(struct writing *writing, const struct pf_cut_target *target, const struct pf_cut_piece *piece,
                         struct perfile_error *error)
{
    const uint8_t *data;
    size_t bytes;
    uint64_t at = 0;
    int result = write_zeros(writing, target, piece->from - padded_start(piece), error);
    while (result == 0 && (result = perfile_reader_payload(writing->cut->reader, &data, &bytes, error)) > 0) {
        const uint64_t from = pf_max(piece->from, at), to = pf_min(piece->to, at + bytes);
        result = from < to ? write_piece(writing, target, data + (from - at), (size_t)(to - from), error) : 0;
        at += bytes;
    }
    if (result == PERFILE_ERROR_TRUNCATED)
        result = 0;
    for (size_t i = 0; i < target->count && result == 0; i++)
        result = end_payload(nth_output(writing, target, i)->edit.writer, at >= piece->to, error);
    return result;
}

/* Makes an AUXTRACE record that of a piece of its payload. Returns whether it is smaller than the payload. */
static bool narrow(const struct pf_cut *cut, struct pf_item *item, struct pf_cut_piece *piece)
{
    *piece = (struct pf_cut_piece){0, item->record->payload_bytes};
    if (item->record->type != PERFILE_RECORD_AUXTRACE || !cut->trace.reader || pf_item_decode(item, NULL) < 0)
        return false;
    *piece = pf_cut_trace_piece(&cut->trace, item->record);
    if (piece->to - piece->from == item->record->payload_bytes)
        return false;
    item->body.auxtrace.data_size = pf_align8(piece->to) - padded_start(piece);
    item->body.auxtrace.offset += padded_start(piece);
    item->changed = true;
    return true;
}

static int write_to_all(struct writing *writing, struct pf_item *item, const struct pf_cut_target *all,
                        struct perfile_error *error)
{
    struct pf_cut_piece piece = {0, 0};
    const bool narrowed = all->count && narrow(writing->cut, item, &piece);
    const bool shared = item->record->type == PERFILE_RECORD_AUXTRACE && (all->count > 1 || narrowed);
    const struct pf_cut_target target = pf_cut_clip(writing->cut, *all, writing->first, writing->count);
    int result = 0;
    for (size_t i = 0; i < target.count && result == 0; i++) {
        struct output *output = nth_output(writing, &target, i);
        output->edit.writer->payload_apart = shared;
        result = pf_edit_record(&output->edit, item, error);
    }
    return result == 0 && shared ? write_payload(writing, &target, &piece, error) : result;
}

/* Nothing of a hardware trace belongs to the times that are kept. */
static bool is_outside(const struct pf_cut *cut, const struct perfile_record *record)
{
    const struct pf_cut_piece piece =
        cut->trace.reader ? pf_cut_trace_piece(&cut->trace, record) : (struct pf_cut_piece){0, 1};
    return piece.from == piece.to;
}

static int write_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct writing *writing = context;
    struct pf_cut *cut = writing->cut;
    if (item->record->damaged) {
        writing->report->records_damaged += !writing->first;
        return 0;
    }
    if (cut->survey.line_known)
        cut->moment = pf_name_line_step(&cut->survey.line, cut->reader, item->record);
    if (PF_LIKELY(item->record->type == PERFILE_RECORD_SAMPLE))
        return write_sample(writing, item, error);
    struct pf_cut_target target = pf_cut_target(cut, item);
    if (item->record->type == PERFILE_RECORD_FINISHED_ROUND) {
        target.count = cut->drops_ended && !writing->in_round ? 0 : target.count;
        writing->in_round = false;
    }
    if (item->record->type == PERFILE_RECORD_AUXTRACE && is_outside(cut, item->record))
        target.count = 0;
    writing->in_round |= target.count > 0 && item->record->type != PERFILE_RECORD_FINISHED_ROUND;
    count_record(writing, item, target.count > 0);
    return write_to_all(writing, item, &target, error);
}

/* Nothing is dropped: the feature stays as it is. */
static bool is_complete(const struct pf_cut *cut)
{
    return cut->keeps_all && (!cut->splits || cut->count.part_count == 1);
}

static int begin_output(struct output *output, struct pf_cut *cut, struct pf_cut_part *part,
                        struct perfile_writer *writer, struct perfile_error *error)
{
    *output = (struct output){.cut = cut, .part = part};
    output->step.context = output;
    /* the hook of a split makes features of what streams hold as records: their payloads go to one writer only */
    if (!is_complete(cut) || cut->splits)
        output->step.feature = change_feature;
    if (!is_complete(cut))
        output->step.end = correct_feature;
    int result = pf_edit_open(&output->edit, cut->reader, writer, &cut->edit_options, error);
    output->edit.steps = &output->step;
    output->edit.step_count = 1;
    output->edit.report = &output->report;
    output->open = result == 0;
    return result < 0 ? result : pf_edit_begin(&output->edit, error);
}

/* Readers take the difference from one sample to the next for its weight. */
static void warn_of_counters(const struct pf_cut *cut, const struct perfile_writer *writer)
{
    for (size_t i = 0; i < cut->reader->event_count; i++) {
        const struct perfile_attr *attr = &cut->reader->events[i]->attr;
        if (is_complete(cut) || cut->thins || !(attr->sample_type & PERFILE_SAMPLE_READ))
            continue;
        pf_writer_diagnose(
            writer, "counter-start",
            "samples hold running counters: the first sample after a gap appears to count everything before it");
        return;
    }
}

static void warn_of_silent(void *context, const char *text)
{
    pf_writer_diagnose(context, "filter-unknown", text);
}

/* What the filters could not judge is in the output. */
static void report_silent(const struct pf_cut *cut, struct perfile_writer *writer)
{
    pf_filter_notify(&cut->filter, warn_of_silent, writer);
}

static void add_counts(struct perfile_edit_report *report, const struct output *output)
{
    report->bytes_dropped = output->report.bytes_dropped;
    report->features_dropped += output->report.features_dropped;
    /* what could not be written after all */
    report->records_damaged += output->report.records_damaged;
}

static void count_passed_over(void *context, uint64_t records, uint64_t samples)
{
    struct pf_cut *cut = context;
    cut->passed_over += records;
    cut->samples_passed_over += samples;
}

static void add_passed_over(const struct pf_cut *cut, struct perfile_edit_report *report)
{
    report->records_dropped += cut->passed_over;
    report->samples_dropped += cut->samples_passed_over;
}

static int write_one(struct pf_cut *cut, struct perfile_writer *writer, struct perfile_edit_report *report,
                     struct perfile_error *error)
{
    struct output *output = pf_new(cut->allocator, sizeof(*output));
    struct writing writing = {.cut = cut, .outputs = output, .count = 1, .report = report};
    if (!output)
        return pf_fail_memory(error, "cut");
    int result = begin_output(output, cut, cut->count.parts, writer, error);
    pf_cut_end_early(cut, &output->edit);
    pf_cut_pass_over(cut, &output->edit, count_passed_over);
    if (result == 0)
        result = pf_edit_walk(&output->edit, cut->by_time, write_record, &writing, error);
    add_passed_over(cut, report);
    warn_of_counters(cut, writer);
    report_silent(cut, writer);
    if (output->open)
        result = pf_edit_end(&output->edit, result, error);
    add_counts(report, output);
    report->records_kept -= output->report.records_damaged;
    pf_free(cut->allocator, output, sizeof(*output));
    return result;
}

/* ---- several outputs ---- */

static int open_outputs(struct writing *writing, struct perfile_error *error)
{
    struct pf_cut *cut = writing->cut;
    int result = 0;
    for (size_t i = 0; i < writing->count && result == 0; i++) {
        struct pf_cut_part *part = &cut->count.parts[writing->first + i];
        struct perfile_writer *writer = NULL;
        result = cut->split.open(cut->split.context, &part->public, &writer, error);
        if (result == 0)
            result = begin_output(&writing->outputs[i], cut, part, writer, error);
        else
            writing->count = i;
    }
    return result;
}

/* All of them are closed, whatever happened. */
static int close_outputs(struct writing *writing, int result, struct perfile_error *error)
{
    struct pf_cut *cut = writing->cut;
    struct perfile_error later;
    for (size_t i = 0; i < writing->count; i++) {
        struct output *output = &writing->outputs[i];
        if (!output->edit.writer)
            continue;
        if (output->open)
            result = pf_edit_end(&output->edit, result, error);
        add_counts(writing->report, output);
        int closed = cut->split.close(cut->split.context, &output->part->public, output->edit.writer, result == 0,
                                      result < 0 ? &later : error);
        result = result < 0 ? result : closed;
    }
    return result;
}

static bool needs_order(const struct writing *writing)
{
    bool needs = false;
    for (size_t i = 0; i < writing->count && !needs; i++)
        needs = pf_edit_needs_order(writing->cut->reader, writing->outputs[i].edit.writer);
    return needs;
}

static int write_group(struct writing *writing, struct perfile_error *error)
{
    struct pf_cut *cut = writing->cut;
    memset(writing->outputs, 0, writing->count * sizeof(*writing->outputs));
    pf_cut_select_rewind(cut);
    int result = open_outputs(writing, error);
    if (result == 0 && !writing->first)
        warn_of_counters(cut, writing->outputs[0].edit.writer);
    pf_cut_end_early(cut, &writing->outputs[0].edit);
    pf_cut_pass_over(cut, &writing->outputs[0].edit, writing->first ? NULL : count_passed_over);
    if (result == 0)
        result =
            pf_edit_walk(&writing->outputs[0].edit, cut->by_time || needs_order(writing), write_record, writing, error);
    if (result == 0 && !writing->first)
        report_silent(cut, writing->outputs[0].edit.writer);
    return close_outputs(writing, result, error);
}

static int write_parts(struct pf_cut *cut, struct perfile_edit_report *report, struct perfile_error *error)
{
    const size_t capacity = pf_min(cut->split.limit_open, cut->count.part_count);
    struct output *outputs = pf_new(cut->allocator, capacity * sizeof(*outputs) + 1);
    int result = 0;
    if (!outputs)
        return pf_fail_memory(error, "split");
    for (size_t first = 0; first < cut->count.part_count && result == 0; first += capacity) {
        struct writing writing = {.cut = cut,
                                  .outputs = outputs,
                                  .first = first,
                                  .count = pf_min(capacity, cut->count.part_count - first),
                                  .report = report};
        if (first)
            result = perfile_reader_rewind(cut->reader, error);
        if (result == 0)
            result = write_group(&writing, error);
        cut->pass++;
    }
    add_passed_over(cut, report);
    pf_free(cut->allocator, outputs, capacity * sizeof(*outputs) + 1);
    return result;
}

/* ---- the public calls ---- */

static bool is_stream(const struct perfile_writer *writer)
{
    return writer->options.mode == PERFILE_MODE_PIPE;
}

static int cut_one(struct perfile_reader *reader, struct perfile_writer *writer,
                   const struct perfile_cut_options *options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_error here;
    struct pf_cut *cut = pf_new(reader->allocator, sizeof(*cut));
    error = error ? error : &here;
    if (!cut)
        return pf_fail_memory(error, "cut");
    int result = open_cut(cut, reader, options, NULL, error);
    cut->by_time = pf_edit_needs_order(reader, writer);
    cut->count.parts = result == 0 ? pf_new(cut->allocator, sizeof(*cut->count.parts)) : NULL;
    if (result == 0 && !cut->count.parts)
        result = pf_fail_memory(error, "cut");
    if (cut->count.parts) {
        cut->count.parts[0] = (struct pf_cut_part){.until = UINT64_MAX, .first_time = UINT64_MAX};
        cut->count.part_count = cut->count.part_capacity = 1;
    }
    if (result == 0)
        result = prepare(cut, is_stream(writer), error);
    if (result == 0) {
        pf_cut_select_rewind(cut);
        result = write_one(cut, writer, report, error);
        if (result == 0)
            result = look_at_filters(cut, error);
    }
    close_cut(cut);
    pf_free(reader->allocator, cut, sizeof(*cut));
    return result;
}

int perfile_cut(struct perfile_reader *reader, struct perfile_writer *writer, const struct perfile_cut_options *options,
                struct perfile_edit_report *report, struct perfile_error *error)
{
    struct perfile_edit_report counts = PERFILE_EDIT_REPORT_INIT;
    int result = pf_sized_check(report, "edit report", error);
    if (result < 0)
        return result;
    result = cut_one(reader, writer, options, &counts, error);
    pf_edit_count_undecodable(reader, &counts);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}

static int split_all(struct perfile_reader *reader, const struct perfile_cut_options *options,
                     const struct perfile_split_options *split, struct perfile_edit_report *report,
                     struct perfile_error *error)
{
    struct perfile_error here;
    struct pf_cut *cut = pf_new(reader->allocator, sizeof(*cut));
    error = error ? error : &here;
    if (!cut)
        return pf_fail_memory(error, "split");
    int result = open_cut(cut, reader, options, split, error);
    cut->by_time = reader->part_count > 1; /* what the outputs are is not known yet */
    if (result == 0)
        result = prepare(cut, true, error);
    if (result == 0)
        result = write_parts(cut, report, error);
    if (result == 0)
        result = look_at_filters(cut, error);
    close_cut(cut);
    pf_free(reader->allocator, cut, sizeof(*cut));
    return result;
}

int perfile_split(struct perfile_reader *reader, const struct perfile_cut_options *options,
                  const struct perfile_split_options *split, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    struct perfile_edit_report counts = PERFILE_EDIT_REPORT_INIT;
    int result = pf_sized_check(report, "edit report", error);
    if (result < 0)
        return result;
    result = split_all(reader, options, split, &counts, error);
    pf_edit_count_undecodable(reader, &counts);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}
