/* SPDX-License-Identifier: MIT */
#include "edit/trace.h"

#include <stdlib.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/map.h"
#include "hwtrace/itrace.h"
#include "hwtrace/queues.h"

enum { MAX_EVENTS = 64, ID_STEP = 1000000000 };

/* A queue of the trace while it is decoded. */
struct queue {
    struct pf_aux_stream stream;
    struct pf_aux_walk walk;
    bool is_open;
    void *item;
    const struct pf_aux_buffer *buffer; /* that the item comes from */
    uint64_t time;                      /* of the item, in nanoseconds */
};

struct pf_trace {
    struct pf_edit *edit;
    const struct perfile_allocator *allocator;
    const struct pf_aux_decoder *decoder;
    struct pf_aux_recording recording;
    struct pf_aux_queues found;
    struct perfile_time_conv clock;
    struct pf_itrace itrace;
    uint64_t passed; /* records since the last sample of `instructions` */
    bool started;
    uint32_t indexes[MAX_EVENTS]; /* of the events in the output, */
    uint64_t ids[MAX_EVENTS];     /* and their ids */
    struct queue *queues;         /* one for each of those that were found */
    struct pf_heap heap;          /* queues by the time of their items */
    struct pf_map processes;      /* tid to pid */
    uint64_t samples, without_thread;
};

/* ---- what the recording has -------------------------------------------------------------------------------------- */

/* Samples may have AUX data, which continue nothing. */
static int survey_sample(struct pf_trace *trace, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_record *record = item->record;
    struct pf_aux_queue *queue;
    const bool has_aux = record->event && record->event->attr->sample_type & PERFILE_SAMPLE_AUX;
    if (!has_aux || record->compressed || pf_item_decode(item, NULL) < 0 || !item->sample.aux.bytes)
        return 0;
    return pf_aux_queues_take_sample(&trace->found, record, &item->sample, &queue) ? 0 : pf_fail_memory(error, "trace");
}

static int survey_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_trace *trace = context;
    const struct pf_aux_record from = {.record = item->record, .body = &item->body, .tid = -1, .cpu = -1};
    if (item->record->damaged)
        return 0;
    if (item->record->type == PERFILE_RECORD_SAMPLE)
        return survey_sample(trace, item, error);
    if (!pf_aux_queues_use(item->record->type) || pf_item_decode(item, NULL) < 0)
        return 0;
    return pf_aux_queues_take(&trace->found, &from, NULL) ? 0 : pf_fail_memory(error, "trace");
}

static int survey(struct pf_trace *trace, struct perfile_error *error)
{
    struct perfile_reader *reader = trace->edit->reader;
    if (reader->file.mode == PERFILE_MODE_PIPE)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "recording",
                       "a trace is decoded from a file, not from a stream: perfile convert makes one");
    const int result = pf_edit_walk(trace->edit, false, survey_record, trace, error);
    return result < 0 ? result : perfile_reader_rewind(reader, error);
}

/* The MIDR of an Arm processor: the feature CPUID has it in hexadecimal. */
static struct pf_aux_recording recording_of(const struct pf_trace *trace)
{
    struct perfile_reader *reader = trace->edit->reader;
    const char *cpuid;
    const bool known = perfile_feature_text(reader, PERFILE_FEATURE_CPUID, NULL, &cpuid, NULL) >= 0;
    return (struct pf_aux_recording){
        .machine = pf_aux_machine_of(perfile_reader_file(reader)->big_endian, known ? cpuid : NULL),
        .priv = trace->found.priv,
        .priv_count = trace->found.priv_count,
        .midr = known ? strtoull(cpuid, NULL, 16) : 0};
}

static int find_decoder(struct pf_trace *trace, struct perfile_error *error)
{
    const char *name = perfile_enum_name("auxtrace_type", trace->found.type);
    if (!trace->found.count)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "recording", "it has no hardware trace");
    trace->decoder = pf_aux_decoder_find(trace->found.type);
    if (!trace->decoder)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recording",
                       "traces of %s are not decoded here", name ? name : "an unknown kind");
    return 0;
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

static int read_buffer(void *context, const struct pf_aux_buffer *buffer, uint64_t at, uint8_t *to, size_t *bytes,
                       struct perfile_error *error)
{
    struct perfile_reader *reader = context;
    return pf_source_read(&reader->parts[buffer->part].source, buffer->position + at, to, *bytes, bytes, error);
}

static int open_queue(struct pf_trace *trace, size_t index, struct perfile_error *error)
{
    struct queue *queue = &trace->queues[index];
    queue->walk = (struct pf_aux_walk){.format = trace->decoder->format,
                                       .machine = trace->recording.machine,
                                       .more = pf_aux_stream_more,
                                       .context = &queue->stream};
    queue->is_open = true;
    queue->item = pf_new(trace->allocator, trace->decoder->item_bytes);
    const bool opened = pf_aux_walk_open(&queue->walk, trace->allocator);
    const bool streams = pf_aux_stream_open(&queue->stream, &trace->found, &trace->found.items[index]);
    queue->stream.read = read_buffer;
    queue->stream.context = trace->edit->reader;
    return opened && streams && queue->item ? 0 : pf_fail_memory(error, "trace");
}

static void close_queue(struct pf_trace *trace, struct queue *queue)
{
    if (!queue->is_open)
        return;
    pf_aux_walk_close(&queue->walk);
    pf_aux_stream_close(&queue->stream);
    pf_free(trace->allocator, queue->item, trace->decoder->item_bytes);
}

/* Reads the next item of the queue, if need be of its next run of buffers. 1, 0 at the end, or an error. */
static int next_item(struct pf_trace *trace, struct queue *queue, struct perfile_error *error)
{
    uint64_t cycles = 0;
    const bool started = queue->stream.first != SIZE_MAX;
    int result = started ? trace->decoder->next(&queue->walk, queue->item, &cycles, error) : 0;
    while (result == 0 && pf_aux_stream_next_run(&queue->stream)) {
        pf_aux_walk_restart(&queue->walk);
        result = trace->decoder->next(&queue->walk, queue->item, &cycles, error);
    }
    if (result <= 0)
        return result;
    queue->buffer = pf_aux_stream_buffer(&queue->stream, queue->walk.offset ? queue->walk.offset - 1 : 0);
    queue->time = pf_aux_time(&trace->clock, trace->decoder->timeless ? queue->buffer->reference : cycles);
    return result;
}

static int begin_queue(struct pf_trace *trace, size_t index, struct perfile_error *error)
{
    struct queue *queue = &trace->queues[index];
    int result = open_queue(trace, index, error);
    if (result == 0)
        result = pf_aux_queue_find_repeated(&trace->found, &trace->found.items[index], read_buffer, trace->edit->reader,
                                            error);
    if (result == 0)
        result = next_item(trace, queue, error);
    if (result > 0)
        result = pf_heap_put(&trace->heap, &(struct pf_heap_item){queue->time, index, index})
                     ? 0
                     : pf_fail_memory(error, "trace");
    return result;
}

/* ---- events in the output ---------------------------------------------------------------------------------------- */

/* The event that the trace belongs to: the one of its PMU. */
static const struct perfile_event *event_of_trace(const struct pf_trace *trace)
{
    const struct perfile_reader *reader = trace->edit->reader;
    for (size_t i = 0; i < reader->event_count; i++)
        for (size_t word = 0; word < trace->recording.priv_count && word < 3; word++)
            if (reader->events[i]->public.attr->type == trace->found.priv[word])
                return &reader->events[i]->public;
    return reader->event_count ? &reader->events[0]->public : NULL;
}

static struct perfile_attr attr_of(const struct pf_trace *trace, const struct perfile_event *from,
                                   const struct pf_aux_event *event)
{
    const uint64_t known = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU;
    const struct perfile_attr *old = from->attr;
    return (struct perfile_attr){
        .type = event->type,
        .config = event->config,
        .sample_period_or_freq = 1,
        .sample_type = (old->sample_type & known) | event->sample_type | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_PERIOD |
                       (trace->itrace.branches ? PERFILE_SAMPLE_BRANCH_STACK : 0),
        .branch_sample_type = trace->itrace.branches ? PERFILE_SAMPLE_BRANCH_ANY | PERFILE_SAMPLE_BRANCH_TYPE_SAVE : 0,
        .sample_id_all = 1,
        .exclude_user = old->exclude_user,
        .exclude_kernel = old->exclude_kernel,
        .exclude_hv = old->exclude_hv,
        .exclude_host = old->exclude_host,
        .exclude_guest = old->exclude_guest,
    };
}

/* As perf does, the ids are those of the trace's event and a thousand millions more. */
static int add_events(struct pf_trace *trace, struct perfile_error *error)
{
    const struct perfile_event *from = event_of_trace(trace);
    uint64_t id = ID_STEP;
    int result = 0;
    if (!from || !(from->attr->sample_type & PERFILE_SAMPLE_IDENTIFIER))
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recording",
                       "its samples do not have identifiers, by which those of a trace could be distinguished");
    id += from->id_count ? from->ids[0] : 0;
    for (unsigned i = 0; i < trace->decoder->event_count && result == 0; i++) {
        const struct pf_aux_event *event = &trace->decoder->events[i];
        const struct perfile_attr attr = attr_of(trace, from, event);
        const struct perfile_event_spec spec = {.size = sizeof(spec),
                                                .attr = &attr,
                                                .attr_bytes = sizeof(attr),
                                                .ids = &id,
                                                .id_count = 1,
                                                .name = event->name};
        if (!(trace->itrace.events >> i & 1))
            continue;
        result = perfile_writer_add_event(trace->edit->writer, &spec, &trace->indexes[i], error);
        trace->ids[i] = id++;
    }
    return result;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* The process of a thread: that of its last COMM or FORK record; without one the thread counts as the process. */
static int32_t process_of(const struct pf_trace *trace, int32_t tid)
{
    uint64_t pid;
    return pf_map_get(&trace->processes, (uint32_t)tid, &pid) ? (int32_t)pid : tid;
}

static int note_process(struct pf_trace *trace, struct pf_item *item, struct perfile_error *error)
{
    const bool comm = item->record->type == PERFILE_RECORD_COMM;
    if ((!comm && item->record->type != PERFILE_RECORD_FORK) || pf_item_decode(item, NULL) < 0)
        return 0;
    const int32_t pid = comm ? item->body.comm.pid : item->body.fork.pid;
    const int32_t tid = comm ? item->body.comm.tid : item->body.fork.tid;
    return pf_map_put(&trace->processes, (uint32_t)tid, (uint32_t)pid) ? 0 : pf_fail_memory(error, "trace");
}

static void put_branches(struct perfile_sample *to, const struct pf_aux_sample *from, uint64_t words[6])
{
    memcpy(words, from->branch, sizeof(from->branch));
    words[3] = 0;
    words[4] = from->previous_target;
    words[5] = 0;
    to->branch_stack.count = !from->has_branch ? 0 : from->previous_target ? 2 : 1;
    to->branch_stack.entries =
        (struct perfile_u64s){.data = (const uint8_t *)words, .count = 3 * to->branch_stack.count};
    to->branch_stack.big_endian = PF_NATIVE_BIG_ENDIAN;
}

static int write_sample(struct pf_trace *trace, const struct queue *queue, unsigned event,
                        const struct pf_aux_sample *made, struct perfile_error *error)
{
    const struct pf_aux_buffer *buffer = queue->buffer;
    const int32_t tid = made->has_thread ? made->tid : buffer->tid;
    uint64_t words[6];
    struct perfile_sample sample = {.size = sizeof(sample),
                                    .identifier = trace->ids[event],
                                    .ip = made->ip,
                                    .pid = tid > 0 ? process_of(trace, tid) : tid,
                                    .tid = tid,
                                    .time = queue->time,
                                    .addr = made->addr,
                                    .cpu = (uint32_t)buffer->cpu,
                                    .period = trace->decoder->events[event].letter == 'i' ? trace->itrace.every : 1,
                                    .weight = made->weight,
                                    .data_src = made->data_src,
                                    .raw = {.data = made->raw, .bytes = made->raw_bytes},
                                    .phys_addr = made->phys_addr};
    put_branches(&sample, made, words);
    trace->without_thread += tid < 0;
    trace->samples++;
    return perfile_writer_sample(trace->edit->writer, trace->indexes[event], made->misc, &sample, error);
}

static bool is_passed(struct pf_trace *trace, unsigned event)
{
    if (trace->decoder->events[event].letter != 'i')
        return false;
    trace->passed = (trace->passed + 1) % trace->itrace.every;
    return trace->passed != 0;
}

static int write_item(struct pf_trace *trace, const struct queue *queue, struct perfile_error *error)
{
    struct pf_aux_sample made;
    int result = 0;
    for (unsigned i = 0; i < trace->decoder->event_count && result == 0; i++)
        if (trace->itrace.events >> i & 1 && trace->decoder->make(&trace->recording, queue->item, i, &made) &&
            !is_passed(trace, i))
            result = write_sample(trace, queue, i, &made, error);
    return result;
}

/* Writes what comes before this time. */
static int write_until(struct pf_trace *trace, uint64_t time, struct perfile_error *error)
{
    const struct pf_heap_item *first;
    int result = 0;
    while (result == 0 && (first = pf_heap_first(&trace->heap)) != NULL && first->time < time) {
        struct queue *queue = &trace->queues[first->value];
        result = write_item(trace, queue, error);
        const int more = result == 0 ? next_item(trace, queue, error) : result;
        if (more > 0)
            pf_heap_move_first(&trace->heap, queue->time);
        else if (more == 0)
            pf_heap_take(&trace->heap);
        result = more < 0 ? more : 0;
    }
    return result;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static int begin(struct pf_trace *trace, struct perfile_error *error)
{
    int result = add_events(trace, error);
    for (size_t i = 0; i < trace->found.count && result == 0; i++)
        result = begin_queue(trace, i, error);
    trace->started = true;
    return result;
}

static int step_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_trace *trace = context;
    const uint64_t time = item->record->type < PERFILE_RECORD_HEADER_ATTR ? item->record->time : 0;
    int result = trace->started ? 0 : begin(trace, error);
    if (result == 0 && time)
        result = write_until(trace, time, error);
    if (result == 0)
        result = note_process(trace, item, error);
    return result < 0 ? result : PF_EDIT_KEEP;
}

static void say(const struct pf_trace *trace, const char *rule, uint64_t number, const char *what)
{
    char count[PF_COUNTED_BYTES];
    if (number)
        pf_writer_diagnose(trace->edit->writer, rule, pf_count_of(number, what, count));
}

/* Queues of which buffers belong to several processors or threads: perf refuses such recordings. */
static uint64_t conflicts(const struct pf_trace *trace)
{
    uint64_t count = 0;
    for (size_t i = 0; i < trace->found.count; i++)
        count += trace->found.items[i].conflicts;
    return count;
}

static void report(struct pf_trace *trace)
{
    const struct pf_aux_losses lost = pf_aux_queues_lost(&trace->found, NULL);
    uint64_t bad_bytes = 0, missing = 0;
    for (size_t i = 0; i < trace->found.count; i++) {
        bad_bytes += trace->queues[i].walk.bad_bytes;
        missing += trace->found.items[i].missing;
    }
    say(trace, "trace-bad", bad_bytes, "bytes of the trace are not packets");
    say(trace, "trace-missing", missing, "bytes of the trace are missing between its buffers");
    say(trace, "trace-lost", lost.truncated, "pieces of the trace were cut while recording");
    say(trace, "trace-partial", lost.partial, "pieces of the trace may have gaps");
    say(trace, "trace-collision", lost.collided, "pieces of the trace have records that collided");
    say(trace, "trace-errors", trace->found.errors, "errors of another decoder are in the recording");
    say(trace, "trace-queues", conflicts(trace),
        "auxtrace queues conflict: buffers of several processors or threads have the same number");
    say(trace, "trace-threads", trace->without_thread, "samples of the trace have no thread");
}

static int step_end(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                    struct perfile_error *error)
{
    struct pf_trace *trace = context;
    (void)reader;
    (void)writer;
    const int result = trace->started ? write_until(trace, UINT64_MAX, error) : 0;
    report(trace);
    return result;
}

struct pf_edit_step pf_trace_step(struct pf_trace *trace)
{
    return (struct pf_edit_step){.context = trace, .record = step_record, .end = step_end};
}

uint64_t pf_trace_samples(const struct pf_trace *trace)
{
    return trace->samples;
}

static int open_queues(struct pf_trace *trace, struct perfile_error *error)
{
    trace->queues = pf_new(trace->allocator, trace->found.count * sizeof(*trace->queues));
    if (!trace->queues)
        return pf_fail_memory(error, "trace");
    trace->clock = pf_aux_clock(&trace->found);
    trace->recording = recording_of(trace);
    return 0;
}

static int open_trace(struct pf_trace *trace, const char *letters, struct perfile_error *error)
{
    int result = survey(trace, error);
    if (result == 0)
        result = find_decoder(trace, error);
    if (result == 0)
        result = pf_itrace_parse(letters, trace->decoder, &trace->itrace, error);
    return result == 0 ? open_queues(trace, error) : result;
}

int pf_trace_open(struct pf_edit *edit, const char *letters, struct pf_trace **out, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = edit->reader->allocator;
    struct pf_trace *trace = pf_new(allocator, sizeof(*trace));
    if (!trace)
        return pf_fail_memory(error, "trace");
    *trace = (struct pf_trace){.edit = edit, .allocator = allocator};
    pf_heap_open(&trace->heap, allocator);
    pf_map_open(&trace->processes, allocator);
    pf_aux_queues_open(&trace->found, allocator);
    const int result = open_trace(trace, letters, error);
    if (result < 0)
        pf_trace_close(trace);
    else
        *out = trace;
    return result;
}

void pf_trace_close(struct pf_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; trace->queues && i < trace->found.count; i++)
        close_queue(trace, &trace->queues[i]);
    pf_heap_close(&trace->heap);
    pf_map_close(&trace->processes);
    pf_free(trace->allocator, trace->queues, trace->found.count * sizeof(*trace->queues));
    pf_aux_queues_close(&trace->found);
    pf_free(trace->allocator, trace, sizeof(*trace));
}
