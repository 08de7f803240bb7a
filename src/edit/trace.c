/* SPDX-License-Identifier: MIT */
#include "edit/trace.h"

#include <stdlib.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/map.h"
#include "hwtrace/itrace.h"

enum { PIECE_BYTES = 64 * 1024, MAX_EVENTS = 64, ID_STEP = 1000000000 };

/* The payload of one AUXTRACE record. */
struct buffer {
    uint32_t part;
    uint64_t offset, bytes;
    uint64_t reference; /* orders the traces that have no times */
    int32_t tid, cpu;
};

/* The buffers of one number, which continue each other. */
struct queue {
    struct perfile_reader *reader;
    struct buffer *buffers;
    size_t count, capacity;
    size_t at;     /* of the next buffer */
    uint64_t read; /* bytes of the buffer before */
    struct pf_aux_walk walk;
    bool is_open;
    uint8_t *piece;
    size_t piece_bytes; /* as the longest buffer, at most PIECE_BYTES */
    void *item;
    uint64_t time; /* of the item, in nanoseconds */
};

struct pf_trace {
    struct pf_edit *edit;
    const struct perfile_allocator *allocator;
    const struct pf_aux_decoder *decoder;
    struct pf_aux_recording recording;
    uint64_t *priv;
    uint32_t type;
    struct perfile_time_conv clock;
    struct pf_itrace itrace;
    uint64_t passed; /* records since the last sample of `instructions` */
    bool started;
    uint32_t indexes[MAX_EVENTS]; /* of the events in the output, */
    uint64_t ids[MAX_EVENTS];     /* and their ids */
    struct queue *queues;
    size_t queue_count, queue_capacity;
    struct pf_map numbers;   /* of queues, to their indexes */
    struct pf_heap heap;     /* queues by the time of their items */
    struct pf_map processes; /* tid to pid */
    uint64_t samples, bad_bytes, truncated, collided, without_thread;
};

/* ---- what the recording has -------------------------------------------------------------------------------------- */

static struct queue *queue_of(struct pf_trace *trace, uint32_t number)
{
    uint64_t index;
    if (!pf_map_get(&trace->numbers, number, &index)) {
        index = trace->queue_count;
        if (!pf_map_put(&trace->numbers, number, index) ||
            !PF_APPEND(trace->allocator, trace->queues, trace->queue_count, trace->queue_capacity,
                       (struct queue){.reader = trace->edit->reader}))
            return NULL;
    }
    return &trace->queues[index];
}

static int take_buffer(struct pf_trace *trace, const struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_auxtrace *body = &item->body.auxtrace;
    const struct perfile_record *record = item->record;
    struct queue *queue = queue_of(trace, body->idx);
    const struct buffer buffer = {.part = record->part,
                                  .offset = record->payload_offset,
                                  .bytes = record->payload_bytes,
                                  .reference = body->reference,
                                  .tid = body->tid,
                                  .cpu = body->cpu};
    if (!queue || !PF_APPEND(trace->allocator, queue->buffers, queue->count, queue->capacity, buffer))
        return pf_fail_memory(error, "trace");
    queue->piece_bytes = (size_t)pf_min(pf_max(queue->piece_bytes, buffer.bytes), PIECE_BYTES);
    return 0;
}

static int take_info(struct pf_trace *trace, const struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_auxtrace_info *info = &item->body.auxtrace_info;
    if (trace->priv)
        return 0; /* a merged recording may have more: all buffers are read as the first says */
    trace->type = info->auxtrace_type;
    trace->priv = pf_new(trace->allocator, (size_t)info->priv.count * sizeof(*trace->priv) + 1);
    if (!trace->priv)
        return pf_fail_memory(error, "trace");
    for (uint64_t i = 0; i < info->priv.count; i++)
        trace->priv[i] = perfile_u64_at(&info->priv, i);
    trace->recording.priv = trace->priv;
    trace->recording.priv_count = (size_t)info->priv.count;
    return 0;
}

static void take_aux(struct pf_trace *trace, const struct perfile_aux *aux)
{
    trace->truncated += (aux->flags & PERFILE_AUX_FLAG_TRUNCATED) != 0;
    trace->collided += (aux->flags & PERFILE_AUX_FLAG_COLLISION) != 0;
}

static int survey_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_trace *trace = context;
    const uint32_t type = item->record->type;
    const bool matters = type == PERFILE_RECORD_AUXTRACE || type == PERFILE_RECORD_AUXTRACE_INFO ||
                         type == PERFILE_RECORD_TIME_CONV || type == PERFILE_RECORD_AUX;
    if (!matters || item->record->damaged || pf_item_decode(item, NULL) < 0)
        return 0;
    if (type == PERFILE_RECORD_TIME_CONV)
        trace->clock = item->body.time_conv;
    else if (type == PERFILE_RECORD_AUX)
        take_aux(trace, &item->body.aux);
    else
        return type == PERFILE_RECORD_AUXTRACE ? take_buffer(trace, item, error) : take_info(trace, item, error);
    return 0;
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
static uint64_t midr_of(struct perfile_reader *reader)
{
    const char *cpuid;
    return perfile_feature_text(reader, PERFILE_FEATURE_CPUID, NULL, &cpuid, NULL) < 0 ? 0 : strtoull(cpuid, NULL, 16);
}

static int find_decoder(struct pf_trace *trace, struct perfile_error *error)
{
    const char *name = perfile_enum_name("auxtrace_type", trace->type);
    if (!trace->queue_count)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "recording", "it has no hardware trace");
    trace->decoder = pf_aux_decoder_find(trace->type);
    if (!trace->decoder)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recording",
                       "traces of %s are not decoded here", name ? name : "an unknown kind");
    return 0;
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

static const struct buffer *buffer_of(const struct queue *queue)
{
    return &queue->buffers[queue->at - 1];
}

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct queue *queue = context;
    const struct buffer *buffer = buffer_of(queue);
    struct pf_source *source = &queue->reader->parts[buffer->part].source;
    const size_t wanted = (size_t)pf_min(buffer->bytes - queue->read, queue->piece_bytes);
    *data = queue->piece;
    const int result =
        wanted ? pf_source_read(source, buffer->offset + queue->read, queue->piece, wanted, bytes, error) : 0;
    if (result < 0 || !wanted)
        return result;
    queue->read += *bytes;
    return *bytes > 0;
}

static int open_queue(struct pf_trace *trace, struct queue *queue, struct perfile_error *error)
{
    queue->walk = (struct pf_aux_walk){
        .format = trace->decoder->format, .machine = trace->recording.machine, .more = next_piece, .context = queue};
    queue->is_open = true;
    queue->piece = pf_new(trace->allocator, queue->piece_bytes + 1);
    queue->item = pf_new(trace->allocator, trace->decoder->item_bytes);
    const bool opened = pf_aux_walk_open(&queue->walk, trace->allocator);
    return opened && queue->piece && queue->item ? 0 : pf_fail_memory(error, "trace");
}

static void close_queue(struct pf_trace *trace, struct queue *queue)
{
    if (queue->is_open)
        pf_aux_walk_close(&queue->walk);
    pf_free(trace->allocator, queue->piece, queue->piece_bytes + 1);
    pf_free(trace->allocator, queue->item, trace->decoder ? trace->decoder->item_bytes : 0);
    pf_free(trace->allocator, queue->buffers, queue->capacity * sizeof(*queue->buffers));
}

/* The clock of the trace in nanoseconds, as perf_event_open(2) describes it. Without a factor it is the recording's. */
static uint64_t time_of(const struct perfile_time_conv *clock, uint64_t cycles)
{
    enum { MAX_SHIFT = 63 };
    const unsigned shift = (unsigned)(clock->time_shift & MAX_SHIFT);
    const uint64_t rest = cycles & (((uint64_t)1 << shift) - 1);
    return clock->time_mult
               ? clock->time_zero + (cycles >> shift) * clock->time_mult + (rest * clock->time_mult >> shift)
               : cycles;
}

/* Reads the next item of the queue, if need be of its next buffer. 1, 0 at the end, or an error. */
static int next_item(struct pf_trace *trace, struct queue *queue, struct perfile_error *error)
{
    uint64_t cycles = 0;
    int result = queue->at ? trace->decoder->next(&queue->walk, queue->item, &cycles, error) : 0;
    while (result == 0 && queue->at < queue->count) {
        queue->at++;
        queue->read = 0;
        pf_aux_walk_restart(&queue->walk);
        result = trace->decoder->next(&queue->walk, queue->item, &cycles, error);
    }
    if (result > 0)
        queue->time = time_of(&trace->clock, trace->decoder->timeless ? buffer_of(queue)->reference : cycles);
    return result;
}

static int begin_queue(struct pf_trace *trace, size_t index, struct perfile_error *error)
{
    struct queue *queue = &trace->queues[index];
    int result = open_queue(trace, queue, error);
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
            if (reader->events[i]->public.attr->type == trace->priv[word])
                return &reader->events[i]->public;
    return reader->event_count ? &reader->events[0]->public : NULL;
}

static struct perfile_attr attr_of(const struct pf_trace *trace, const struct perfile_event *from,
                                   const struct pf_aux_event *event)
{
    const uint64_t known = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU;
    const struct perfile_attr *old = from->attr;
    return (struct perfile_attr){
        .type = PERFILE_TYPE_HARDWARE,
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
    const struct buffer *buffer = buffer_of(queue);
    const int32_t tid = made->tid ? made->tid : buffer->tid;
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
    for (size_t i = 0; i < trace->queue_count && result == 0; i++)
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

static void report(struct pf_trace *trace)
{
    for (size_t i = 0; i < trace->queue_count; i++)
        trace->bad_bytes += trace->queues[i].walk.bad_bytes;
    say(trace, "trace-bad", trace->bad_bytes, "bytes of the trace are not packets");
    say(trace, "trace-lost", trace->truncated, "pieces of the trace were cut while recording");
    say(trace, "trace-collision", trace->collided, "pieces of the trace have records that collided");
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

static int open_trace(struct pf_trace *trace, const char *letters, struct perfile_error *error)
{
    int result = survey(trace, error);
    if (result == 0)
        result = find_decoder(trace, error);
    if (result == 0)
        result = pf_itrace_parse(letters, trace->decoder, &trace->itrace, error);
    trace->recording.midr = midr_of(trace->edit->reader);
    trace->recording.machine.big_endian = perfile_reader_file(trace->edit->reader)->big_endian;
    return result;
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
    pf_map_open(&trace->numbers, allocator);
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
    for (size_t i = 0; i < trace->queue_count; i++)
        close_queue(trace, &trace->queues[i]);
    pf_heap_close(&trace->heap);
    pf_map_close(&trace->processes);
    pf_map_close(&trace->numbers);
    pf_free(trace->allocator, trace->queues, trace->queue_capacity * sizeof(*trace->queues));
    pf_free(trace->allocator, trace->priv, trace->recording.priv_count * sizeof(*trace->priv) + 1);
    pf_free(trace->allocator, trace, sizeof(*trace));
}
