/* SPDX-License-Identifier: MIT */
/*
 * Several recordings into one: a session per input gives its records in the order of time, and the oldest goes out.
 * Before the first record it must be known what all events are, so streams are read up to theirs.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/sized.h"
#include "edit/merge.h"
#include "model/session.h"
#include "schema/schema.h"

enum { ROUND_BYTES = 1 << 20, PROGRESS_STEP = 4096 };

/* ---- records that describe a recording ---- */

static int take_feature_record(struct pf_merge *merge, struct pf_merge_input *input,
                               const struct perfile_record *record, struct perfile_error *error)
{
    struct perfile_header_feature feature;
    int result = perfile_record_decode(input->reader, record, &feature, sizeof(feature), error);
    if (result < 0 || !feature.data.bytes || pf_merge_refuses_feature(merge, input, feature.feat_id))
        return result;
    const size_t before = merge->feature_count;
    const struct perfile_bytes body = {feature.data.data, feature.data.bytes};
    result = pf_merge_take_feature(merge, input, (uint32_t)feature.feat_id, &body, error);
    if (result < 0 || merge->writer->options.mode != PERFILE_MODE_PIPE || merge->feature_count == before)
        return result;
    const struct pf_merge_feature *made = &merge->features[before];
    return pf_writer_set_feature(merge->writer, made->number, made->data, made->bytes, error);
}

/* Handles a description that comes after the first records; earlier ones are handled together. */
static int take_description(struct pf_merge *merge, struct pf_merge_input *input, const struct perfile_record *record,
                            struct perfile_error *error)
{
    switch (record->type) {
    case PERFILE_RECORD_HEADER_BUILD_ID:
        return pf_merge_take_build_id(merge, input, record, error);
    case PERFILE_RECORD_HEADER_FEATURE:
        return take_feature_record(merge, input, record, error);
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        return pf_merge_take_tracing(merge, input, error);
    default:
        return 0;
    }
}

static bool concerns_record_only(int result)
{
    return result == PERFILE_ERROR_DAMAGED || result == PERFILE_ERROR_TRUNCATED || result == PERFILE_ERROR_EVENT ||
           result == PERFILE_ERROR_LIMIT;
}

/* What was sorted first is read twice. */
void pf_merge_report_progress(const struct pf_merge *merge, uint64_t records)
{
    uint64_t done = merge->spool.bytes, left = 0, total = merge->spool.bytes;
    if (!merge->options.progress || records % PROGRESS_STEP)
        return;
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct perfile_reader *reader = merge->options.readers[i];
        done += reader->counts.data_bytes;
        left += merge->inputs[i].spool_end - merge->inputs[i].spool_at;
        for (uint32_t j = 0; j < reader->part_count; j++)
            total += reader->parts[j].source.bytes;
    }
    merge->options.progress(merge->options.progress_context, done - left, total);
}

/* ---- inputs ---- */

/* Which of the recordings it was that could not be read. */
static __attribute__((noinline)) int say_where(const struct pf_merge_input *input, int result,
                                               struct perfile_error *error)
{
    char message[sizeof(error->message)];
    snprintf(message, sizeof(message), "%.80s: %.170s", input->name, error->message);
    memcpy(error->message, message, sizeof(message));
    return result;
}

static inline int advance(struct pf_merge_input *input, struct perfile_error *error)
{
    const int more = PF_UNLIKELY(input->spooled.allocator != NULL)
                         ? pf_merge_unspool(input, error)
                         : perfile_session_next(input->session, &input->head, error);
    if (PF_LIKELY(more > 0))
        return 0;
    input->head = NULL;
    return more < 0 ? say_where(input, more, error) : 0;
}

/* The reader keeps no feature with an invalid number. */
static void refuse_invalid(struct pf_merge *merge, struct pf_merge_input *input)
{
    struct perfile_header_feature feature;
    if (input->head->type == PERFILE_RECORD_HEADER_FEATURE &&
        perfile_record_decode(input->reader, input->head, &feature, sizeof(feature), NULL) == 0 && feature.data.bytes)
        (void)pf_merge_refuses_feature(merge, input, feature.feat_id);
}

/* Up to the first record that is more than a description; features are found with the reader then. */
static int read_description(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    int result = advance(input, error);
    while (result == 0 && input->head && pf_edit_describes(input->head->type)) {
        refuse_invalid(merge, input);
        if (input->head->type == PERFILE_RECORD_HEADER_BUILD_ID && !input->head->damaged)
            result = pf_merge_take_build_id(merge, input, input->head, error);
        if (result == 0)
            result = advance(input, error);
    }
    return result;
}

static int open_input(struct pf_merge *merge, size_t number, struct perfile_error *error)
{
    struct pf_merge_input *input = &merge->inputs[number];
    const char *const *names = merge->options.names;
    char name[64];
    snprintf(name, sizeof(name), "input %zu", number + 1);
    const char *chosen = names && names[number] ? names[number] : name;
    struct perfile_edit_report *counts = pf_arena_new(&merge->writer->arena, sizeof(*counts));
    input->number = input->duplicate = number;
    input->reader = merge->options.readers[number];
    input->name = pf_arena_text(&merge->writer->arena, chosen, strlen(chosen));
    input->counts = counts;
    if (counts)
        counts->size = sizeof(*counts);
    pf_map_open(&input->ids, merge->allocator);
    if (!counts || !input->name)
        return pf_fail_memory(error, "merge");
    const bool many = merge->input_count > PF_MERGE_MANY_INPUTS, sorts_first = many && pf_merge_can_spool(input);
    for (uint32_t i = 0; i < input->reader->part_count; i++)
        input->reader->parts[i].window.narrow = many && !sorts_first;
    int result = perfile_session_open(input->reader, &input->session, error);
    if (result == 0)
        pf_session_leave_names(input->session);
    if (result == 0 && sorts_first && (result = pf_merge_spool(merge, input, error)) < 0)
        say_where(input, result, error);
    if (result == 0)
        result = read_description(merge, input, error);
    return result;
}

static void close_input(const struct pf_merge *merge, struct pf_merge_input *input)
{
    perfile_session_close(input->session);
    pf_window_close(&input->spooled);
    pf_map_close(&input->ids);
    pf_free(merge->allocator, input->routes, input->route_capacity * sizeof(*input->routes));
}

/* ---- before the first record ---- */

static void find_greatest_id(struct pf_merge *merge)
{
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct perfile_reader *reader = merge->inputs[i].reader;
        for (size_t j = 0; j < reader->event_count; j++)
            for (size_t k = 0; k < reader->events[j]->public.id_count; k++)
                if (reader->events[j]->public.ids[k] < UINT64_MAX / 2)
                    merge->next_id = pf_max(merge->next_id, reader->events[j]->public.ids[k]);
    }
}

/* Rounds are right when everything that has a time comes in its order. */
static bool is_ordered(const struct pf_merge_input *input)
{
    const struct perfile_reader *reader = input->reader;
    return !reader->event_count || reader->events[0]->plan.sample_id_all || !reader->events[0]->plan.time_at;
}

static int settle(struct pf_merge *merge, struct perfile_error *error)
{
    int result = 0;
    find_greatest_id(merge);
    pf_merge_choose_cpus(merge);
    merge->rounds = merge->writer->options.mode != PERFILE_MODE_DIRECTORY;
    for (size_t i = 0; i < merge->input_count && result == 0; i++) {
        struct pf_merge_input *input = &merge->inputs[i];
        if (!pf_merge_find_duplicate(merge, input))
            return pf_fail_memory(error, "merge");
        merge->rounds &= is_ordered(input);
        result = pf_merge_route_events(merge, input, error);
        if (result == 0)
            result = pf_merge_take_features(merge, input, error);
        pf_merge_discard_features(merge, input);
    }
    for (size_t i = 0; i < merge->input_count; i++) {
        struct pf_merge_input *input = &merge->inputs[i], *first = &merge->inputs[input->duplicate];
        input->has_duplicates |= input != first;
        first->has_duplicates |= input != first;
    }
    if (result == 0)
        result = pf_merge_settle_hosts(merge, error);
    if (result == 0)
        result = pf_merge_settle_events(merge, error);
    if (result == 0 && merge->writer->options.mode == PERFILE_MODE_PIPE) {
        result = pf_writer_describe_events(merge->writer, error);
        if (result == 0)
            result = pf_merge_put_features(merge, error);
    }
    return result;
}

/* ---- rounds ---- */

static int put_round(struct pf_merge *merge, struct perfile_error *error)
{
    struct perfile_writer *writer = merge->writer;
    struct pf_out o = pf_out_make(writer->record, PF_RECORD_CAPACITY, writer->swap);
    pf_out_u32(&o, PERFILE_RECORD_FINISHED_ROUND);
    pf_out_u16(&o, 0);
    pf_out_u16(&o, 8);
    merge->round_at = pf_writer_stream(writer)->sink.bytes;
    return pf_writer_put(writer, writer->record, 8, error);
}

static bool round_is_due(const struct pf_merge *merge)
{
    const struct pf_writer_stream *stream = pf_writer_stream(merge->writer);
    return merge->rounds && stream->sink.bytes - merge->round_at > ROUND_BYTES;
}

/* Readers deliver all that came so far before they see what follows: two rounds are needed for that. */
static int end_epoch(struct pf_merge *merge, struct perfile_error *error)
{
    if (!merge->rounds || !merge->last_time)
        return 0;
    int result = put_round(merge, error);
    return result < 0 ? result : put_round(merge, error);
}

/* ---- what cannot stand in one recording ---- */

static int check_aux(struct pf_merge *merge, const struct pf_merge_input *input, struct perfile_error *error)
{
    if (merge->aux_owner == SIZE_MAX)
        merge->aux_owner = input->duplicate;
    if (merge->aux_owner != input->duplicate)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                       "%s and %s both have AUX data; a recording can hold AUX data of only one recorder",
                       merge->inputs[merge->aux_owner].name, input->name);
    if (input->shift_ns)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                       "the times inside the AUX data of %s cannot be moved: it needs clocks that are kept",
                       input->name);
    return 0;
}

static void check_stat(struct pf_merge *merge, const struct pf_merge_input *input)
{
    if (merge->stat_owner == SIZE_MAX)
        merge->stat_owner = input->duplicate;
    if (merge->stat_owner != input->duplicate)
        pf_merge_note(merge, input, "stat", PERFILE_FEATURE_STAT,
                      "it has counts of perf stat, as %s does: perf shows them with the threads and CPUs of the first",
                      merge->inputs[merge->stat_owner].name);
}

static int check_type(struct pf_merge *merge, const struct pf_merge_input *input, uint32_t type,
                      struct perfile_error *error)
{
    if (type == PERFILE_RECORD_AUXTRACE_INFO || type == PERFILE_RECORD_AUXTRACE)
        return check_aux(merge, input, error);
    if (type == PERFILE_RECORD_STAT_CONFIG)
        check_stat(merge, input);
    if (!pf_record_is_android(type))
        return 0;
    for (size_t i = 1; i < merge->input_count; i++)
        if (merge->inputs[i].duplicate != 0)
            return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "merge",
                           "%s is a recording of simpleperf: only parts of one of them can be merged", input->name);
    return 0;
}

/* ---- record by record ---- */

/* PF_EDIT_DROP: another part of the same recording has had it. */
static int drop_duplicate(const struct pf_merge *merge, const struct pf_merge_input *input,
                          const struct perfile_record *record, struct perfile_error *error)
{
    if (!input->has_duplicates)
        return PF_EDIT_KEEP;
    int result = pf_dedup_seen(merge->duplicates, input->duplicate, input->number, record);
    return result < 0 ? pf_fail_memory(error, "merge") : result ? PF_EDIT_DROP : PF_EDIT_KEEP;
}

static void count(struct pf_merge *merge, const struct pf_merge_input *input, int result)
{
    const bool sample = input->head->type == PERFILE_RECORD_SAMPLE;
    struct perfile_edit_report *counts = input->counts;
    if (result == PF_EDIT_KEEP) {
        counts->records_kept++;
        counts->samples_kept += sample;
    } else if (result == PF_EDIT_DROP) {
        counts->records_dropped++;
        merge->report->records_unified++;
    } else {
        counts->records_damaged++;
    }
}

static int put_record(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    const struct perfile_record *record = input->head;
    const bool sample = record->type == PERFILE_RECORD_SAMPLE;
    int result = sample ? 0 : check_type(merge, input, record->type, error);
    if (result < 0)
        return result;
    const uint64_t time = pf_merge_head_time(input);
    if (!input->started && time == 0 && input->has_span && merge->last_time && merge->last_time < input->first_time)
        result = end_epoch(merge, error);
    input->started = true;
    if (result == 0)
        result = record->damaged ? PERFILE_ERROR_DAMAGED
                 : sample        ? PF_EDIT_KEEP
                                 : drop_duplicate(merge, input, record, error);
    if (result == PF_EDIT_KEEP)
        result = pf_merge_write(merge, input, record, error);
    count(merge, input, result);
    if (time) {
        merge->report->unordered += time < merge->last_time;
        merge->last_time = pf_max(merge->last_time, time);
    }
    return result < 0 && !concerns_record_only(result) ? result : 0;
}

static int take_head(struct pf_merge *merge, struct pf_merge_input *input, struct perfile_error *error)
{
    const uint32_t type = input->head->type;
    int result = 0;
    if (PF_UNLIKELY(input->route_count != input->reader->event_count))
        result = pf_merge_route_events(merge, input, error);
    if (result < 0)
        return result;
    if (type >= PERFILE_RECORD_HEADER_ATTR && pf_edit_describes(type)) {
        result = input->head->damaged ? 0 : take_description(merge, input, input->head, error);
        result = concerns_record_only(result) ? 0 : result;
    } else if (type != PERFILE_RECORD_FINISHED_ROUND) {
        result = put_record(merge, input, error);
    }
    if (result == 0 && round_is_due(merge))
        result = put_round(merge, error);
    return result < 0 ? result : advance(input, error);
}

static int walk(struct pf_merge *merge, struct perfile_error *error)
{
    struct pf_merge_input *input;
    uint64_t until, records = 0;
    int result = pf_merge_open_queue(merge) ? 0 : pf_fail_memory(error, "merge");
    while (result == 0 && (input = pf_merge_first(merge, &until))) {
        do {
            result = take_head(merge, input, error);
            pf_merge_report_progress(merge, records++);
        } while (result == 0 && input->head && pf_merge_head_time(input) < until);
        if (result == 0 && !pf_merge_moved(merge, input))
            result = pf_fail_memory(error, "merge");
    }
    return result;
}

/* ---- from end to end ---- */

static int open_merge(struct pf_merge *merge, struct perfile_writer *writer,
                      const struct perfile_merge_options *options, struct perfile_error *error)
{
    *merge = (struct pf_merge){
        .writer = writer, .allocator = writer->allocator, .aux_owner = SIZE_MAX, .stat_owner = SIZE_MAX};
    pf_map_open(&merge->ids, merge->allocator);
    pf_map_open(&merge->build_ids, merge->allocator);
    pf_map_open(&merge->files, merge->allocator);
    pf_map_open(&merge->known, merge->allocator);
    pf_map_open(&merge->recordings, merge->allocator);
    pf_heap_open(&merge->queue, merge->allocator);
    int result = pf_sized_take(&merge->options, sizeof(merge->options), options, "merge options", error);
    if (result < 0)
        return result;
    if (!merge->options.readers || !merge->options.reader_count || writer->event_count)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "perfile_merge", "%s",
                       writer->event_count ? "the writer already has events" : "no readers given");
    merge->inputs = pf_new(merge->allocator, merge->options.reader_count * sizeof(*merge->inputs));
    merge->item = pf_new(merge->allocator, sizeof(*merge->item));
    merge->scratch = pf_resize(merge->allocator, NULL, 0, PF_MERGE_SCRATCH);
    merge->duplicates = pf_dedup_open(merge->allocator, merge->options.readers[0]->options.limit_queue_bytes);
    merge->total = pf_arena_new(&writer->arena, sizeof(*merge->total));
    if (merge->total)
        merge->total->size = sizeof(*merge->total);
    if (!merge->inputs || !merge->item || !merge->scratch || !merge->duplicates || !merge->total)
        return pf_fail_memory(error, "merge");
    merge->input_count = merge->options.reader_count;
    return 0;
}

static void close_merge(struct pf_merge *merge)
{
    const struct perfile_allocator *allocator = merge->allocator;
    for (size_t i = 0; i < merge->input_count; i++)
        close_input(merge, &merge->inputs[i]);
    for (size_t i = 0; i < merge->event_count; i++)
        pf_free(allocator, merge->events[i].ids, merge->events[i].id_capacity * sizeof(*merge->events[i].ids));
    pf_free(allocator, merge->events, merge->event_capacity * sizeof(*merge->events));
    pf_free(allocator, merge->inputs, merge->options.reader_count * sizeof(*merge->inputs));
    pf_heap_close(&merge->queue);
    pf_free(allocator, merge->waiters, merge->options.reader_count * sizeof(*merge->waiters));
    pf_free(allocator, merge->item, sizeof(*merge->item));
    pf_free(allocator, merge->scratch, PF_MERGE_SCRATCH);
    pf_sink_close(&merge->spool);
    pf_dedup_close(merge->duplicates);
    pf_map_close(&merge->ids);
    pf_map_close(&merge->known);
    pf_map_close(&merge->recordings);
    pf_merge_close_features(merge);
}

static void add_up(struct perfile_edit_report *total, const struct perfile_edit_report *counts)
{
    total->records_kept += counts->records_kept;
    total->samples_kept += counts->samples_kept;
    total->records_dropped += counts->records_dropped;
    total->samples_dropped += counts->samples_dropped;
    total->records_damaged += counts->records_damaged;
    total->bytes_dropped += counts->bytes_dropped;
    total->features_rebuilt += counts->features_rebuilt;
    total->features_dropped += counts->features_dropped;
}

static int fill_report(struct pf_merge *merge, struct perfile_error *error)
{
    struct perfile_merge_report *report = merge->report;
    const struct perfile_edit_report **inputs =
        pf_arena_new(&merge->writer->arena, merge->input_count * sizeof(*inputs));
    if (!inputs)
        return pf_fail_memory(error, "merge");
    for (size_t i = 0; i < merge->input_count; i++) {
        const struct pf_merge_input *input = &merge->inputs[i];
        input->counts->bytes_dropped = input->reader->counts.bytes_lost;
        pf_edit_count_undecodable(input->reader, input->counts);
        add_up(merge->total, input->counts);
        inputs[i] = input->counts;
    }
    merge->total->features_dropped += merge->writer->features_dropped;
    report->total = merge->total;
    report->inputs = inputs;
    report->input_count = merge->input_count;
    report->events = merge->event_count;
    return 0;
}

/* What is known at the end. */
static void note_rest(const struct pf_merge *merge)
{
    char files[PF_COUNTED_BYTES];
    for (size_t i = 0; i < merge->input_count; i++)
        if (merge->inputs[i].other_files)
            pf_merge_note(merge, &merge->inputs[i], "build-id-differs", PERFILE_FEATURE_BUILD_ID,
                          "%s: both are kept, and perf finds the symbols of one",
                          pf_count_of(merge->inputs[i].other_files,
                                      "files have a different build id in an earlier recording", files));
    if (pf_dedup_full(merge->duplicates))
        pf_merge_note(merge, &merge->inputs[0], "twins-limit", 0,
                      "too many records to find those that several parts of one recording have: some are in the output "
                      "more than once (limit_queue_bytes)");
}

static int run(struct pf_merge *merge, struct perfile_error *error)
{
    int result = 0;
    for (size_t i = 0; i < merge->input_count && result == 0; i++)
        result = open_input(merge, i, error);
    if (result == 0)
        result = settle(merge, error);
    if (result == 0)
        result = walk(merge, error);
    if (result == 0 && merge->writer->options.mode != PERFILE_MODE_PIPE)
        result = pf_merge_put_features(merge, error);
    if (result == 0)
        note_rest(merge);
    return result;
}

static int merge_all(struct perfile_writer *writer, const struct perfile_merge_options *options,
                     struct perfile_merge_report *report, struct perfile_error *error)
{
    struct perfile_error here;
    struct pf_merge merge;
    error = error ? error : &here;
    int result = pf_writer_failed(writer, error);
    if (result < 0)
        return result;
    result = open_merge(&merge, writer, options, error);
    merge.report = report;
    if (result == 0)
        result = run(&merge, error);
    if (result == 0)
        result = fill_report(&merge, error);
    close_merge(&merge);
    return pf_writer_keep(writer, result, error);
}

int perfile_merge(struct perfile_writer *writer, const struct perfile_merge_options *options,
                  struct perfile_merge_report *report, struct perfile_error *error)
{
    struct perfile_merge_report counts = PERFILE_MERGE_REPORT_INIT;
    int result = pf_sized_check(report, "merge report", error);
    if (result < 0)
        return result;
    result = merge_all(writer, options, &counts, error);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}
