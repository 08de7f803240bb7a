/* SPDX-License-Identifier: MIT */
#include "hwtrace/decoding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/heap.h"
#include "base/locale.h"
#include "base/map.h"
#include "base/stages.h"
#include "hwtrace/flow_samples.h"
#include "hwtrace/flow_spans.h"
#include "hwtrace/records.h"
#include "hwtrace/slice.h"

enum {
    ID_STEP = 1000000000,
    MAX_LOST = 4096,
    MIN_BYTES = 64 * 1024, /* of a queue: for fewer, threads take longer to start than to decode */
    MAX_AHEAD = 64,        /* of decoding that is ahead, in pieces of all queues */
};
#define AFTER_ALL (UINT64_MAX - 1) /* a time after that of every record */

/* What a queue of a trace of the flow has besides. */
struct flow_parts {
    void *flow;
    bool has_flow; /* it was opened */
    struct pf_flow_code code;
    struct pf_flow_samples samples;
    struct pf_flow_bytes bytes;
    struct pf_flow_spans *spans; /* NULL: nothing is decoded ahead */
};

/* A queue of the trace while it is decoded. */
struct queue {
    struct pf_aux_stream stream;
    struct pf_aux_walk walk;
    const struct pf_aux_buffer *buffer; /* what is decoded comes from */
    uint64_t time;                      /* of what comes next, in nanoseconds */
    int32_t tid, pid;                   /* that run, */
    uint32_t epoch;                     /* when that was looked up */
    uint32_t piece;                     /* of pf_aux_queues.pieces, the one that it is in, or one before */
    uint16_t next_event;                /* of traces with records: to be made of the item */
    bool is_open, started;
    void *item;               /* of traces with records */
    struct flow_parts *parts; /* of traces of the flow */
};

/* A piece of the trace that was not recorded. */
struct lost {
    uint64_t time;
    int32_t pid, tid, cpu;
};

struct pf_decoding {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    const struct pf_aux_decoder *decoder;
    struct pf_aux_recording recording;
    struct pf_aux_queues found;
    const struct perfile_event *from; /* the event that the trace belongs to */
    struct perfile_time_conv clock;
    struct pf_itrace itrace;
    struct pf_code_source source;
    unsigned threads;
    size_t min_bytes;           /* of what one thread decodes at a time; 0: as many as is good */
    struct pf_workers *workers; /* NULL: one thread decodes */
    uint64_t passed;            /* records since the last sample of `instructions` */
    bool started;
    uint64_t first, last;      /* times of samples: others are not required */
    bool merges;               /* samples that differ in nothing but time come as one */
    size_t merged_from;        /* the queue of which merged samples are next */
    uint32_t epoch;            /* counts the records that were taken */
    struct queue *queues;      /* one for each of those that were found */
    struct queue *current;     /* whose samples are given; NULL: to be chosen */
    struct pf_heap heap;       /* queues by the time of what comes next */
    struct pf_map processes;   /* tid to pid */
    struct pf_map running;     /* cpu to tid */
    struct pf_map source_cpus; /* numbers of trace sources to cpu */
    struct lost *losses;
    size_t lost_first, lost_count, lost_capacity;
    struct pf_aux_sample made;
    uint64_t samples, without_thread;
    uint64_t errors[PF_FLOW_ERRORS];
};

/* ---- what the recording has -------------------------------------------------------------------------------------- */

union body {
    struct perfile_aux aux;
    struct perfile_comm comm;
    struct perfile_fork fork;
    struct perfile_itrace_start itrace_start;
    struct perfile_switch_cpu_wide switch_cpu_wide;
};

/* Where compressed samples are in the file is not known: their AUX data cannot be read later. */
static int survey_record(struct pf_decoding *decoding, const struct perfile_record *record, struct perfile_error *error)
{
    union pf_aux_body body;
    struct pf_aux_record from;
    struct pf_aux_queue *queue;
    bool kept = true;
    if (record->type == PERFILE_RECORD_AUX_OUTPUT_HW_ID)
        return pf_aux_take_source(&decoding->source_cpus, decoding->reader, record) ? 0
                                                                                    : pf_fail_memory(error, "trace");
    if (pf_aux_record_is_sample(record) && !record->compressed)
        kept = pf_aux_queues_take_sample(&decoding->found, record, &queue);
    else if (pf_aux_record_decode(decoding->reader, record, &body, &from))
        kept = pf_aux_queues_take(&decoding->found, &from, NULL);
    return kept ? 0 : pf_fail_memory(error, "trace");
}

static int survey(struct pf_decoding *decoding, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result;
    while ((result = perfile_reader_next(decoding->reader, &record, error)) > 0)
        if ((result = survey_record(decoding, record, error)) < 0)
            return result;
    return result < 0 ? result : perfile_reader_rewind(decoding->reader, error);
}

/* Words of AUXTRACE_INFO are the type of a PMU, some of them in their upper half. */
static bool names_pmu(uint64_t word, uint32_t type)
{
    return word == type || (word >> 32 && word >> 32 == type);
}

/* The event that the trace belongs to: the one of its PMU. */
static const struct perfile_event *event_of_trace(const struct pf_decoding *decoding)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(decoding->reader, i)); i++)
        for (size_t word = 0; word < decoding->found.priv_count && word < 3; word++)
            if (names_pmu(decoding->found.priv[word], event->attr->type))
                return event;
    return perfile_event_get(decoding->reader, 0);
}

static struct pf_aux_recording recording_of(const struct pf_decoding *decoding)
{
    const char *cpuid = pf_aux_cpuid(decoding->reader);
    struct pf_aux_machine machine = pf_aux_machine_in(decoding->reader);
    machine.unformatted = decoding->found.unformatted;
    return (struct pf_aux_recording){.machine = machine,
                                     .priv = decoding->found.priv,
                                     .priv_count = decoding->found.priv_count,
                                     .config = decoding->from ? decoding->from->attr->config : 0,
                                     .source_cpus = decoding->source_cpus.size ? &decoding->source_cpus : NULL,
                                     .midr = cpuid ? strtoull(cpuid, NULL, 16) : 0};
}

static int find_decoder(struct pf_decoding *decoding, bool writes, struct perfile_error *error)
{
    const char *name = perfile_enum_name("auxtrace_type", decoding->found.type);
    if (!decoding->found.count)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "recording", "it has no hardware trace");
    decoding->decoder = pf_aux_decoder_find(decoding->found.type);
    if (!decoding->decoder)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recording",
                       "traces of %s are not decoded here", name ? name : "an unknown kind");
    const struct pf_flow_decoder *flow = decoding->decoder->flow;
    const char *missing = flow && flow->missing ? flow->missing() : NULL;
    if (missing)
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recording",
                       "traces of %s are not decoded: %s", name, missing);
    decoding->from = event_of_trace(decoding);
    if (!decoding->from || (writes && !(decoding->from->attr->sample_type & PERFILE_SAMPLE_IDENTIFIER)))
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recording",
                       "its samples do not have identifiers, by which those of a trace could be distinguished");
    return 0;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

unsigned pf_decoding_event_count(const struct pf_decoding *decoding)
{
    return decoding->decoder->event_count;
}

static uint64_t stack_parts(const struct pf_itrace *itrace)
{
    return (itrace->branches ? PERFILE_SAMPLE_BRANCH_STACK : 0) | (itrace->chains ? PERFILE_SAMPLE_CALLCHAIN : 0);
}

/* Whether samples show all branches, or only some kinds. */
static uint64_t branch_kinds(const struct pf_itrace *itrace)
{
    if (itrace->branches)
        return PERFILE_SAMPLE_BRANCH_ANY | PERFILE_SAMPLE_BRANCH_TYPE_SAVE;
    return (itrace->kinds & PF_FLOW_IS_CALL ? PERFILE_SAMPLE_BRANCH_ANY_CALL : 0) |
           (itrace->kinds & PF_FLOW_IS_RETURN ? PERFILE_SAMPLE_BRANCH_ANY_RETURN : 0);
}

static struct perfile_attr attr_of(const struct pf_decoding *decoding, const struct pf_aux_event *event)
{
    const struct perfile_attr *old = decoding->from->attr;
    const struct pf_itrace *itrace = &decoding->itrace;
    const uint64_t known = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CPU |
                           (itrace->timeless || decoding->decoder->without_clock ? 0 : PERFILE_SAMPLE_TIME);
    const bool counts = event->letter == 'i' && itrace->unit == PF_ITRACE_RECORDS && decoding->decoder->flow;
    return (struct perfile_attr){
        .type = event->type,
        .config = event->config,
        .sample_period_or_freq = counts ? itrace->every : 1,
        .sample_type = (old->sample_type & known) | event->sample_type | PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP |
                       PERFILE_SAMPLE_PERIOD | stack_parts(itrace),
        .branch_sample_type = branch_kinds(itrace),
        .sample_id_all = 1,
        .exclude_user = old->exclude_user,
        .exclude_kernel = old->exclude_kernel,
        .exclude_hv = old->exclude_hv,
        .exclude_host = old->exclude_host,
        .exclude_guest = old->exclude_guest,
    };
}

static bool is_asked(const struct pf_decoding *decoding, unsigned event)
{
    return decoding->itrace.events >> event & 1;
}

/* As perf does, the ids are those of the trace's event and a thousand millions more. */
bool pf_decoding_event(const struct pf_decoding *decoding, unsigned index, struct pf_decoding_event *event)
{
    const struct pf_aux_event *made = &decoding->decoder->events[index];
    uint64_t id = ID_STEP + (decoding->from->id_count ? decoding->from->ids[0] : 0);
    if (!is_asked(decoding, index))
        return false;
    for (unsigned i = 0; i < index; i++)
        id += is_asked(decoding, i);
    *event = (struct pf_decoding_event){
        .name = made->name, .has_modes = decoding->decoder->without_clock, .id = id, .attr = attr_of(decoding, made)};
    return true;
}

/* ---- queues ------------------------------------------------------------------------------------------------------ */

static size_t item_bytes(const struct pf_aux_decoder *decoder)
{
    return decoder->item_bytes ? decoder->item_bytes : 1;
}

static bool open_flow(struct pf_decoding *decoding, struct queue *queue)
{
    const struct pf_aux_decoder *decoder = decoding->decoder;
    if (!(queue->parts = pf_new(decoding->allocator, sizeof(*queue->parts))))
        return false;
    const struct pf_flow_setup setup = {.walk = &queue->walk,
                                        .code = &queue->parts->code,
                                        .bytes = &queue->parts->bytes,
                                        .recording = &decoding->recording,
                                        .cpu = queue->stream.queue->cpu};
    queue->parts->flow = pf_new(decoding->allocator, decoder->flow->state_bytes);
    const bool opened =
        pf_flow_code_open(&queue->parts->code, decoding->allocator, &decoding->source) &&
        pf_flow_samples_open(&queue->parts->samples, decoding->allocator, decoder, &decoding->itrace, &decoding->clock);
    if (!queue->parts->flow || !opened)
        return false;
    decoder->flow->open(queue->parts->flow, &setup);
    if (decoding->merges)
        decoding->merges = pf_flow_samples_may_merge(&queue->parts->samples);
    queue->parts->has_flow = true;
    queue->parts->samples.cbr_max = decoder->flow->max_ratio ? decoder->flow->max_ratio(&decoding->recording) : 0;
    return true;
}

/* Queues share the threads. Without memory to decode ahead it is done without. */
static void open_spans(struct pf_decoding *decoding, struct queue *queue)
{
    const struct pf_flow_decoder *flow = decoding->decoder->flow;
    const size_t share = pf_max(MAX_AHEAD / decoding->found.count, 1);
    const struct pf_flow_spans_setup setup = {
        .allocator = decoding->allocator,
        .workers = decoding->workers,
        .decoder = flow,
        .queue = {.walk = &queue->walk,
                  .code = &queue->parts->code,
                  .bytes = &queue->parts->bytes,
                  .recording = &decoding->recording},
        .state = queue->parts->flow,
        .stream = &queue->stream,
        .count = (unsigned)pf_min(share, 2 * pf_min(decoding->threads, PF_THREADS_MAX) + 1),
        .min_bytes = decoding->min_bytes,
    };
    if (decoding->workers && queue->stream.queue->bytes >= (decoding->min_bytes ? decoding->min_bytes : MIN_BYTES))
        queue->parts->spans = pf_flow_spans_open(&setup);
}

static int open_queue(struct pf_decoding *decoding, size_t index, struct perfile_error *error)
{
    struct queue *queue = &decoding->queues[index];
    const struct pf_aux_decoder *decoder = decoding->decoder;
    queue->walk = (struct pf_aux_walk){.format = decoder->format,
                                       .machine = decoding->recording.machine,
                                       .more = pf_aux_stream_more,
                                       .context = &queue->stream};
    queue->is_open = true;
    queue->tid = queue->pid = -1;
    queue->item = pf_new(decoding->allocator, item_bytes(decoder));
    queue->next_event = (uint16_t)decoder->event_count;
    queue->stream.read = pf_aux_read_buffer;
    queue->stream.context = decoding->reader;
    const bool opened = pf_aux_walk_open(&queue->walk, decoding->allocator) &&
                        pf_aux_stream_open(&queue->stream, &decoding->found, &decoding->found.items[index]) &&
                        queue->item && (!decoder->flow || open_flow(decoding, queue));
    if (opened && decoder->flow)
        open_spans(decoding, queue);
    return opened ? 0 : pf_fail_memory(error, "trace");
}

static void close_queue(struct pf_decoding *decoding, struct queue *queue)
{
    if (!queue->is_open)
        return;
    if (queue->parts)
        pf_flow_spans_close(queue->parts->spans);
    pf_aux_walk_close(&queue->walk);
    pf_aux_stream_close(&queue->stream);
    pf_free(decoding->allocator, queue->item, item_bytes(decoding->decoder));
    if (!decoding->decoder->flow || !queue->parts)
        return;
    if (queue->parts->has_flow && decoding->decoder->flow->close)
        decoding->decoder->flow->close(queue->parts->flow);
    pf_free(decoding->allocator, queue->parts->flow, decoding->decoder->flow->state_bytes);
    if (queue->parts->code.allocator)
        pf_flow_code_close(&queue->parts->code);
    pf_flow_samples_close(&queue->parts->samples);
    pf_free(decoding->allocator, queue->parts, sizeof(*queue->parts));
}

/* Goes on to what comes next in this run of buffers: 1, 0 at its end, or an error. *cycles is on the trace's clock. */
static int seek_in_run(struct pf_decoding *decoding, struct queue *queue, uint64_t *cycles, struct perfile_error *error)
{
    const struct pf_aux_decoder *decoder = decoding->decoder;
    queue->next_event = 0;
    if (queue->parts && queue->parts->spans)
        return pf_flow_spans_seek(queue->parts->spans, cycles, error);
    return decoder->flow ? decoder->flow->seek(queue->parts->flow, cycles, error)
                         : decoder->next(&queue->walk, queue->item, cycles, error);
}

static void start_run(struct pf_decoding *decoding, struct queue *queue, const struct pf_aux_buffer *buffer)
{
    queue->started = true;
    pf_aux_walk_restart(&queue->walk);
    if (decoding->decoder->flow)
        decoding->decoder->flow->restart(queue->parts->flow, buffer->reference);
    if (queue->parts && queue->parts->spans)
        pf_flow_spans_start_run(queue->parts->spans);
}

/* When the last byte that was read had been written, as far as AUX records say: else after all records. */
static uint64_t time_of_piece(const struct pf_decoding *decoding, struct queue *queue)
{
    const struct pf_aux_queues *found = &decoding->found;
    const struct pf_aux_buffer *buffer = queue->buffer;
    const uint64_t read = queue->walk.offset - queue->stream.current_at;
    const uint64_t offset = buffer->offset + buffer->repeated + (read ? read - 1 : 0);
    size_t at = queue->piece;
    while (at < found->piece_count && !pf_aux_piece_has(&found->pieces[at], buffer, offset))
        at++;
    queue->piece = (uint32_t)at;
    if (at == found->piece_count)
        return AFTER_ALL;
    return pf_max(found->pieces[at].time, queue->time);
}

/* Nothing that is required comes after this time. */
static bool is_late(const struct pf_decoding *decoding, const struct queue *queue)
{
    return queue->time > decoding->last && decoding->last < UINT64_MAX && !decoding->decoder->timeless &&
           !decoding->decoder->without_clock;
}

/* What comes next has this time, and follows the bytes that were read. */
static void set_position(struct pf_decoding *decoding, struct queue *queue, uint64_t cycles)
{
    queue->buffer = pf_aux_stream_buffer(&queue->stream, queue->walk.offset ? queue->walk.offset - 1 : 0);
    queue->time = decoding->decoder->without_clock
                      ? time_of_piece(decoding, queue)
                      : pf_aux_time(&decoding->clock, decoding->decoder->timeless ? queue->buffer->reference : cycles);
}

/* The same, if need be in the next run of buffers. */
static int seek(struct pf_decoding *decoding, struct queue *queue, struct perfile_error *error)
{
    uint64_t cycles = 0;
    int result = queue->started ? seek_in_run(decoding, queue, &cycles, error) : 0;
    while (result == 0 && pf_aux_stream_next_run(&queue->stream)) {
        start_run(decoding, queue, pf_aux_stream_buffer(&queue->stream, 0));
        result = seek_in_run(decoding, queue, &cycles, error);
    }
    if (result <= 0)
        return result;
    set_position(decoding, queue, cycles);
    if (PF_LIKELY(!is_late(decoding, queue)))
        return 1;
    if (queue->parts && queue->parts->spans)
        pf_flow_spans_settle(queue->parts->spans);
    return 0;
}

/* Where samples do not depend on those before, reading starts at a synchronization before the first that counts. */
static int skip_to_first(struct pf_decoding *decoding, struct queue *queue, struct perfile_error *error)
{
    const struct pf_aux_slice slice = {.allocator = decoding->allocator,
                                       .format = decoding->decoder->format,
                                       .machine = decoding->recording.machine,
                                       .clock = &decoding->clock,
                                       .read = pf_aux_read_buffer,
                                       .context = decoding->reader,
                                       .first = decoding->first};
    struct pf_aux_position start;
    const int result = decoding->first ? pf_aux_slice_start(&slice, queue->stream.queue, &start, error) : 0;
    if (result <= 0)
        return result;
    const uint64_t offset = pf_aux_stream_enter(&queue->stream, start.buffer, start.at);
    start_run(decoding, queue, &queue->stream.queue->buffers[start.buffer]);
    queue->walk.offset = offset;
    return 0;
}

static int begin_queue(struct pf_decoding *decoding, size_t index, struct perfile_error *error)
{
    struct queue *queue = &decoding->queues[index];
    int result = open_queue(decoding, index, error);
    if (result == 0)
        result = pf_aux_queue_find_repeated(&decoding->found, &decoding->found.items[index], pf_aux_read_buffer,
                                            decoding->reader, error);
    if (result == 0)
        result = skip_to_first(decoding, queue, error);
    if (result == 0)
        result = seek(decoding, queue, error);
    if (result > 0)
        result = pf_heap_put(&decoding->heap, &(struct pf_heap_item){queue->time, index, index})
                     ? 0
                     : pf_fail_memory(error, "trace");
    return result;
}

static int begin(struct pf_decoding *decoding, struct perfile_error *error)
{
    int result = 0;
    decoding->started = true;
    if (decoding->decoder->flow && decoding->decoder->flow->ahead)
        decoding->workers = pf_workers_open(decoding->threads, decoding->allocator);
    for (size_t i = 0; i < decoding->found.count && result == 0; i++)
        result = begin_queue(decoding, i, error);
    return result;
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* The process of a thread: that of its last COMM or FORK record; without one the thread counts as the process. */
static int32_t process_of(const struct pf_decoding *decoding, int32_t tid)
{
    uint64_t pid;
    return tid > 0 && pf_map_get(&decoding->processes, (uint32_t)tid, &pid) ? (int32_t)pid : tid;
}

/* The thread that runs where the queue is traced. */
static int32_t thread_of(const struct pf_decoding *decoding, const struct pf_aux_buffer *buffer)
{
    uint64_t tid;
    const bool asks = buffer->cpu >= 0 && (decoding->decoder->flow || buffer->tid < 0);
    return asks && pf_map_get(&decoding->running, (uint32_t)buffer->cpu, &tid) ? (int32_t)(uint32_t)tid : buffer->tid;
}

static void change_thread(struct pf_decoding *decoding, struct queue *queue, int32_t tid)
{
    queue->tid = tid;
    queue->pid = process_of(decoding, tid);
    if (queue->parts->spans && PF_UNLIKELY(pf_flow_code_is_full(&queue->parts->code)))
        pf_flow_spans_settle(queue->parts->spans);
    pf_flow_code_enter(&queue->parts->code, queue->pid);
    pf_flow_samples_enter(&queue->parts->samples, tid);
}

static void enter(struct pf_decoding *decoding, struct queue *queue)
{
    const int32_t tid = thread_of(decoding, queue->buffer);
    queue->epoch = decoding->epoch;
    if (decoding->decoder->flow) {
        change_thread(decoding, queue, tid);
        return;
    }
    queue->tid = tid;
    queue->pid = process_of(decoding, tid);
}

static bool put_thread(struct pf_map *map, uint32_t key, int32_t value)
{
    return pf_map_put(map, key, (uint32_t)value);
}

static bool note_running(struct pf_decoding *decoding, const struct perfile_record *record, const union body *body)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    const bool out = record->misc & PERFILE_MISC_SWITCH_OUT;
    if (perfile_sample_id_decode(decoding->reader, record, &id, NULL) < 0 || !(id.present & PERFILE_SAMPLE_CPU))
        return true;
    if (record->type == PERFILE_RECORD_ITRACE_START)
        return put_thread(&decoding->processes, (uint32_t)body->itrace_start.tid, body->itrace_start.pid) &&
               put_thread(&decoding->running, id.cpu, body->itrace_start.tid);
    if (!(id.present & PERFILE_SAMPLE_TID))
        return true;
    if (record->type == PERFILE_RECORD_SWITCH_CPU_WIDE && out)
        return put_thread(&decoding->running, id.cpu, body->switch_cpu_wide.next_prev_tid);
    return out || put_thread(&decoding->running, id.cpu, id.tid);
}

/* An error where AUX data was lost. */
static bool note_lost(struct pf_decoding *decoding, const struct perfile_record *record, const struct perfile_aux *aux)
{
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    const bool wanted = decoding->decoder->flow && decoding->itrace.errors && !decoding->itrace.no_lost;
    if (!(aux->flags & PERFILE_AUX_FLAG_TRUNCATED))
        return true;
    decoding->errors[PF_FLOW_ERROR_LOST]++;
    if (!wanted || perfile_sample_id_decode(decoding->reader, record, &id, NULL) < 0 ||
        decoding->lost_count - decoding->lost_first >= MAX_LOST)
        return true;
    return PF_APPEND(decoding->allocator, decoding->losses, decoding->lost_count, decoding->lost_capacity,
                     (struct lost){record->time, id.pid, id.tid, (int32_t)id.cpu});
}

static bool note(struct pf_decoding *decoding, const struct perfile_record *record)
{
    union body body;
    const uint32_t type = record->type;
    const bool runs =
        type == PERFILE_RECORD_ITRACE_START || type == PERFILE_RECORD_SWITCH || type == PERFILE_RECORD_SWITCH_CPU_WIDE;
    const bool matters =
        runs || type == PERFILE_RECORD_COMM || type == PERFILE_RECORD_FORK || type == PERFILE_RECORD_AUX;
    if (!matters || record->damaged ||
        (type != PERFILE_RECORD_SWITCH &&
         perfile_record_decode(decoding->reader, record, &body, sizeof(body), NULL) < 0))
        return true;
    if (runs)
        return note_running(decoding, record, &body);
    if (type == PERFILE_RECORD_AUX)
        return note_lost(decoding, record, &body.aux);
    return type == PERFILE_RECORD_COMM ? put_thread(&decoding->processes, (uint32_t)body.comm.tid, body.comm.pid)
                                       : put_thread(&decoding->processes, (uint32_t)body.fork.tid, body.fork.pid);
}

int pf_decoding_ready(struct pf_decoding *decoding, uint64_t before, struct perfile_error *error)
{
    const int result = decoding->started ? 0 : begin(decoding, error);
    const struct pf_heap_item *first = pf_heap_first(&decoding->heap);
    const bool has_lost =
        decoding->lost_first < decoding->lost_count && decoding->losses[decoding->lost_first].time < before;
    return result < 0 ? result : decoding->current || has_lost || (first && first->time < before);
}

int pf_decoding_take(struct pf_decoding *decoding, const struct perfile_record *record, struct perfile_error *error)
{
    decoding->epoch += record->type != PERFILE_RECORD_SAMPLE;
    return note(decoding, record) ? 0 : pf_fail_memory(error, "trace");
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static bool is_passed(struct pf_decoding *decoding, unsigned event)
{
    if (decoding->decoder->events[event].letter != 'i')
        return false;
    decoding->passed = (decoding->passed + 1) % decoding->itrace.every;
    return decoding->passed != 0;
}

/* What the instruction of a branch says; without its code the flags are 0. */
static void read_branch(struct pf_decoding *decoding, const struct queue *queue, struct pf_aux_sample *made)
{
    enum { MAX_BYTES = 15 };
    const struct pf_code_source *source = &decoding->source;
    const bool from_kernel = made->ip >> 63, to_kernel = made->addr >> 63;
    uint8_t code[MAX_BYTES];
    struct pf_x86_insn insn;
    made->flags = !made->ip     ? PF_FLOW_IS_BRANCH | PF_FLOW_IS_BEGIN
                  : !made->addr ? PF_FLOW_IS_BRANCH | PF_FLOW_IS_END
                                : 0;
    const size_t bytes = made->ip && source->read
                             ? source->read(source->context, from_kernel ? -1 : queue->pid, made->ip, code, MAX_BYTES)
                             : 0;
    if (!pf_x86_decode(true, code, bytes, &insn))
        return;
    made->insn_bytes = insn.bytes;
    if (!made->flags)
        made->flags = pf_flow_flags_of(insn.flow);
    if (to_kernel && !from_kernel && !(made->flags & PF_FLOW_IS_SYSTEM))
        made->flags = PF_FLOW_IS_BRANCH | PF_FLOW_IS_CALL | PF_FLOW_IS_ASYNC | PF_FLOW_IS_INTERRUPT;
}

/* Makes the sample of the item for an event. False: the item has none that is asked for. */
static bool make_sample(struct pf_decoding *decoding, const struct queue *queue, unsigned event)
{
    const struct pf_aux_decoder *decoder = decoding->decoder;
    const uint32_t kinds = decoding->itrace.kinds;
    decoding->recording.cpu = queue->buffer->cpu;
    if (!decoder->make(&decoding->recording, queue->item, event, &decoding->made))
        return false;
    if (decoder->reads_code)
        read_branch(decoding, queue, &decoding->made);
    return !(decoder->reads_code && kinds && !(decoding->made.flags & kinds)) && !is_passed(decoding, event);
}

/* The next sample of the item: false when it has no more. */
static bool next_of_item(struct pf_decoding *decoding, struct queue *queue, struct pf_decoded *decoded)
{
    const struct pf_aux_decoder *decoder = decoding->decoder;
    while (decoding->itrace.events >> queue->next_event) {
        const unsigned event =
            queue->next_event + (unsigned)__builtin_ctzll(decoding->itrace.events >> queue->next_event);
        queue->next_event = (uint16_t)(event + 1);
        if (!make_sample(decoding, queue, event))
            continue;
        decoded->event = event;
        decoded->made = &decoding->made;
        decoded->period = decoder->events[event].letter == 'i' ? decoding->itrace.every : 1;
        return true;
    }
    return false;
}

/* The next sample of the steps that need no further packet: 1, 0 after the last of them, or an error. */
static int next_of_flow(struct pf_decoding *decoding, struct queue *queue, struct pf_decoded *decoded,
                        struct perfile_error *error)
{
    struct pf_flow_samples *samples = &queue->parts->samples;
    struct pf_flow_spans *spans = queue->parts->spans;
    int made, result;
    while ((made = pf_flow_samples_next(samples)) == PF_FLOW_SAMPLE_NONE) {
        do {
            result = spans ? pf_flow_spans_next(spans, &samples->step, error)
                           : decoding->decoder->flow->next(queue->parts->flow, &samples->step, error);
        } while (result > 0 && pf_flow_samples_merge(samples));
        if (result <= 0)
            return result;
        if (PF_UNLIKELY(samples->step.has_thread))
            change_thread(decoding, queue, samples->step.tid);
        pf_flow_samples_begin(samples);
        if (PF_UNLIKELY(samples->step.event == PF_FLOW_ERROR))
            decoding->errors[samples->step.payload % PF_FLOW_ERRORS]++;
    }
    decoded->made = &samples->made;
    decoded->error = made == PF_FLOW_SAMPLE_ERROR ? (unsigned)samples->step.payload : 0;
    decoded->event = decoded->error ? 0 : (unsigned)made;
    decoded->period = samples->made.period;
    return 1;
}

static void put_thread_of(struct pf_decoding *decoding, const struct queue *queue, struct pf_decoded *decoded)
{
    const struct pf_aux_sample *made = decoded->made;
    decoded->time = queue->time;
    decoded->cpu = queue->buffer->cpu;
    if (decoded->cpu < 0 && queue->parts && queue->parts->samples.step.has_cpu)
        decoded->cpu = queue->parts->samples.step.cpu;
    decoded->tid = made->has_thread ? made->tid : queue->tid;
    decoded->pid = made->has_thread ? process_of(decoding, made->tid) : queue->pid;
    decoding->without_thread += decoded->tid < 0 ? 1 + made->alike : 0;
    decoding->samples += decoded->error ? 0 : 1 + made->alike;
}

static int next_of_queue(struct pf_decoding *decoding, struct queue *queue, struct pf_decoded *decoded,
                         struct perfile_error *error)
{
    if (PF_UNLIKELY(queue->epoch != decoding->epoch || queue->tid < 0))
        enter(decoding, queue);
    decoded->error = 0;
    const int result = decoding->decoder->flow ? next_of_flow(decoding, queue, decoded, error)
                                               : next_of_item(decoding, queue, decoded);
    if (result > 0)
        put_thread_of(decoding, queue, decoded);
    return result;
}

/* The current queue goes on; another one may be earlier then. */
static int go_on(struct pf_decoding *decoding, struct perfile_error *error)
{
    struct queue *queue = decoding->current;
    const uint64_t time = queue->time;
    const int more = seek(decoding, queue, error);
    if (more > 0 && queue->time <= time)
        return 1;
    decoding->current = NULL;
    if (more > 0)
        pf_heap_move_first(&decoding->heap, queue->time);
    else if (more == 0)
        pf_heap_take(&decoding->heap);
    return more;
}

/* Counts what was decoded ahead. True: another queue may be earlier now. */
static bool merge_ahead(struct pf_decoding *decoding, uint64_t before)
{
    struct queue *queue = decoding->current;
    uint64_t cycles;
    if (!decoding->merges || !queue->parts->spans)
        return false;
    if (PF_UNLIKELY(queue->epoch != decoding->epoch || queue->tid < 0))
        enter(decoding, queue);
    if (!pf_flow_spans_merge(queue->parts->spans, &queue->parts->samples, before, &cycles))
        return false;
    set_position(decoding, queue, cycles);
    decoding->current = NULL;
    pf_heap_move_first(&decoding->heap, queue->time);
    return true;
}

static bool next_lost(struct pf_decoding *decoding, uint64_t before, struct pf_decoded *decoded)
{
    const struct lost *lost =
        decoding->lost_first < decoding->lost_count ? &decoding->losses[decoding->lost_first] : NULL;
    if (!lost || lost->time >= before)
        return false;
    decoding->made = (struct pf_aux_sample){.misc = PERFILE_MISC_USER};
    *decoded = (struct pf_decoded){.made = &decoding->made,
                                   .error = PF_FLOW_ERROR_LOST,
                                   .time = lost->time,
                                   .pid = lost->pid,
                                   .tid = lost->tid,
                                   .cpu = lost->cpu};
    if (++decoding->lost_first == decoding->lost_count)
        decoding->lost_first = decoding->lost_count = 0;
    return true;
}

/* 1: an error comes first, which is given; 2: there is a current queue; 0: there is nothing before that time. */
static int choose(struct pf_decoding *decoding, uint64_t before, struct pf_decoded *decoded)
{
    const struct pf_heap_item *first = pf_heap_first(&decoding->heap);
    if (next_lost(decoding, first ? pf_min(first->time, before) : before, decoded))
        return 1;
    if (!first || first->time >= before)
        return 0;
    decoding->current = &decoding->queues[first->value];
    return 2;
}

/* One of those that were merged, of all queues: 1, or 0 after the last. */
static int next_merged(struct pf_decoding *decoding, struct pf_decoded *decoded)
{
    for (; decoding->merges && decoding->merged_from < decoding->found.count; decoding->merged_from++) {
        const struct queue *queue = &decoding->queues[decoding->merged_from];
        const int made = queue->parts ? pf_flow_samples_merged(&queue->parts->samples) : PF_FLOW_SAMPLE_NONE;
        if (made == PF_FLOW_SAMPLE_NONE)
            continue;
        decoded->made = &queue->parts->samples.made;
        decoded->error = 0;
        decoded->event = (unsigned)made;
        decoded->period = decoded->made->period;
        put_thread_of(decoding, queue, decoded);
        return 1;
    }
    decoding->merged_from = 0;
    return 0;
}

int pf_decoding_next(struct pf_decoding *decoding, uint64_t before, struct pf_decoded *decoded,
                     struct perfile_error *error)
{
    int result = 0;
    while (result >= 0) {
        if (!decoding->current && (result = choose(decoding, before, decoded)) != 2)
            return result ? result : next_merged(decoding, decoded);
        if (merge_ahead(decoding, before))
            continue;
        if ((result = next_of_queue(decoding, decoding->current, decoded, error)) != 0)
            return result;
        result = go_on(decoding, error);
    }
    return result;
}

void pf_decoded_error(const struct pf_decoded *decoded, struct perfile_auxtrace_error *record)
{
    enum { INSTRUCTION_TRACE = 1, WITH_TIME = 1 };
    *record = (struct perfile_auxtrace_error){.error_type = INSTRUCTION_TRACE,
                                              .code = decoded->error,
                                              .cpu = decoded->cpu,
                                              .pid = decoded->pid,
                                              .tid = decoded->tid,
                                              .fmt = WITH_TIME,
                                              .ip = decoded->made->ip,
                                              .time = decoded->time};
    snprintf(record->msg, sizeof(record->msg), "%s", pf_flow_error_text(decoded->error));
}

uint64_t pf_decoding_samples(const struct pf_decoding *decoding)
{
    return decoding->samples;
}

/* ---- what was lost ----------------------------------------------------------------------------------------------- */

static void say(uint64_t number, const char *what, const char *rule, pf_decoding_say *to, void *context)
{
    char count[PF_COUNTED_BYTES];
    if (number)
        to(context, rule, pf_count_of(number, what, count));
}

/* Queues of which buffers belong to several processors or threads: perf refuses such recordings. */
static uint64_t conflicts(const struct pf_decoding *decoding)
{
    uint64_t count = 0;
    for (size_t i = 0; i < decoding->found.count; i++)
        count += decoding->found.items[i].conflicts;
    return count;
}

static void say_decoded(const struct pf_decoding *decoding, size_t index, pf_decoding_say *to, void *context)
{
    static const struct pf_flow_bytes none;
    const struct flow_parts *parts = decoding->queues[index].parts;
    const struct pf_flow_bytes *bytes = parts ? &parts->bytes : &none;
    const struct pf_aux_queue *found = &decoding->found.items[index];
    const uint64_t all = bytes->decoded + bytes->skipped + bytes->bad;
    char text[160], count[PF_COUNTED_BYTES], where[32];
    if (!all || all == bytes->decoded)
        return;
    snprintf(where, sizeof(where), found->cpu >= 0 ? "CPU %" PRId32 : "thread %" PRId32,
             found->cpu >= 0 ? found->cpu : found->tid);
    pf_format(text, sizeof(text), "%.1f %% of %s of the trace of %s are decoded",
              100.0 * (double)bytes->decoded / (double)all, pf_count_of(all, "bytes", count), where);
    to(context, "trace-decoded", text);
}

/* By reason, in perf's words. */
static void say_errors(const struct pf_decoding *decoding, pf_decoding_say *to, void *context)
{
    char text[160], count[PF_COUNTED_BYTES];
    for (unsigned code = 1; code < PF_FLOW_ERRORS; code++) {
        if (!decoding->errors[code] || code == PF_FLOW_ERROR_LOST)
            continue;
        snprintf(text, sizeof(text), "%s while decoding the trace, code %u: %s",
                 pf_count_of(decoding->errors[code], "errors", count), code, pf_flow_error_text(code));
        to(context, "trace-error", text);
    }
}

void pf_decoding_report(const struct pf_decoding *decoding, pf_decoding_say *to, void *context)
{
    const struct pf_aux_losses lost = pf_aux_queues_lost(&decoding->found, NULL);
    uint64_t bad_bytes = 0, missing = 0;
    for (size_t i = 0; i < decoding->found.count; i++) {
        bad_bytes += decoding->queues[i].walk.bad_bytes;
        missing += decoding->found.items[i].missing;
        if (decoding->decoder->flow)
            say_decoded(decoding, i, to, context);
    }
    say_errors(decoding, to, context);
    say(bad_bytes, "bytes of the trace are not packets", "trace-bad", to, context);
    say(missing, "bytes of the trace are missing between its buffers", "trace-missing", to, context);
    say(lost.truncated, "pieces of the trace were cut while recording", "trace-lost", to, context);
    say(lost.partial, "pieces of the trace with possible gaps", "trace-partial", to, context);
    say(lost.collided, "pieces of the trace have records that collided", "trace-collision", to, context);
    say(decoding->found.errors, "errors of another decoder are in the recording", "trace-errors", to, context);
    say(conflicts(decoding), "queues of the trace with buffers of several processors or threads", "trace-queues", to,
        context);
    say(decoding->without_thread, "samples of the trace have no thread", "trace-threads", to, context);
}

struct listener {
    pf_on_note *notify;
    void *context;
};

static void say_without_rule(void *context, const char *rule, const char *text)
{
    const struct listener *listener = context;
    (void)rule;
    listener->notify(listener->context, text);
}

void pf_decoding_notify(const struct pf_decoding *decoding, pf_on_note *notify, void *context)
{
    pf_decoding_report(decoding, say_without_rule, &(struct listener){notify, context});
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int open_decoding(struct pf_decoding *decoding, const struct pf_decoding_options *options,
                         struct perfile_error *error)
{
    int result = perfile_reader_rewind(decoding->reader, error); /* a stream would be at its end after the survey */
    if (result == 0)
        result = survey(decoding, error);
    if (result == 0)
        result = find_decoder(decoding, options->writes, error);
    if (result == 0)
        result = pf_itrace_parse(!*options->letters && decoding->decoder->flow ? options->usual : options->letters,
                                 decoding->decoder, &decoding->itrace, error);
    if (result < 0)
        return result;
    decoding->recording = recording_of(decoding);
    decoding->clock = pf_aux_clock(&decoding->found);
    decoding->queues = pf_new(decoding->allocator, decoding->found.count * sizeof(*decoding->queues));
    return decoding->queues ? 0 : pf_fail_memory(error, "trace");
}

int pf_decoding_open(struct perfile_reader *reader, const struct pf_decoding_options *options, struct pf_decoding **out,
                     struct perfile_error *error)
{
    const struct perfile_allocator *allocator = options->allocator;
    struct pf_decoding *decoding = *out = pf_new(allocator, sizeof(*decoding));
    if (!decoding)
        return pf_fail_memory(error, "trace");
    *decoding = (struct pf_decoding){.reader = reader, .allocator = allocator, .last = UINT64_MAX};
    pf_heap_open(&decoding->heap, allocator);
    pf_map_open(&decoding->processes, allocator);
    pf_map_open(&decoding->running, allocator);
    pf_map_open(&decoding->source_cpus, allocator);
    pf_aux_queues_open(&decoding->found, allocator);
    const int result = open_decoding(decoding, options, error);
    if (result < 0) {
        pf_decoding_close(decoding);
        *out = NULL;
    }
    return result;
}

bool pf_decoding_needs_code(const struct pf_decoding *decoding)
{
    return decoding->decoder->flow;
}

bool pf_decoding_has_calls(const struct pf_decoding *decoding)
{
    return decoding->decoder->flow || decoding->decoder->reads_code;
}

bool pf_decoding_has_times(const struct pf_decoding *decoding)
{
    return !decoding->decoder->without_clock && !decoding->decoder->timeless;
}

void pf_decoding_merge(struct pf_decoding *decoding)
{
    decoding->merges = decoding->decoder->flow;
}

/* Callchains, branch stacks, cycles and periods add up from the start; times that are not the trace's say nothing. */
static bool depends_on_earlier(const struct pf_decoding *decoding)
{
    const struct pf_itrace *itrace = &decoding->itrace;
    const struct pf_aux_decoder *decoder = decoding->decoder;
    bool counts = itrace->skipped || (decoder->flow && (itrace->branches || itrace->chains));
    for (unsigned i = 0; i < decoder->event_count; i++) {
        const char letter = is_asked(decoding, i) ? decoder->events[i].letter : 0;
        counts |= letter == 'y' || (letter == 'i' && (itrace->every != 1 || itrace->unit != PF_ITRACE_RECORDS));
    }
    return counts || itrace->timeless || decoder->timeless || decoder->without_clock;
}

void pf_decoding_limit(struct pf_decoding *decoding, uint64_t first, uint64_t last)
{
    decoding->first = depends_on_earlier(decoding) ? 0 : first;
    decoding->last = decoding->itrace.timeless ? UINT64_MAX : last;
}

void pf_decoding_use_threads(struct pf_decoding *decoding, unsigned threads, size_t min_bytes)
{
    decoding->threads = threads;
    decoding->min_bytes = min_bytes;
}

void pf_decoding_use_code(struct pf_decoding *decoding, const struct pf_code_source *source)
{
    decoding->source = *source;
}

static void close_queues(struct pf_decoding *decoding)
{
    for (size_t i = 0; decoding->queues && i < decoding->found.count; i++)
        close_queue(decoding, &decoding->queues[i]);
    pf_workers_close(decoding->workers);
    decoding->workers = NULL;
}

void pf_decoding_restart(struct pf_decoding *decoding)
{
    decoding->merges = false;
    decoding->threads = 0;
    decoding->first = 0;
    decoding->last = UINT64_MAX;
    if (!decoding->started)
        return;
    close_queues(decoding);
    memset(decoding->queues, 0, decoding->found.count * sizeof(*decoding->queues));
    memset(decoding->errors, 0, sizeof(decoding->errors));
    decoding->started = false;
    decoding->merged_from = 0;
    decoding->current = NULL;
    decoding->heap.count = 0;
    decoding->lost_first = decoding->lost_count = 0;
    decoding->passed = decoding->samples = decoding->without_thread = 0;
}

void pf_decoding_close(struct pf_decoding *decoding)
{
    if (!decoding)
        return;
    close_queues(decoding);
    pf_free(decoding->allocator, decoding->queues, decoding->found.count * sizeof(*decoding->queues));
    pf_free(decoding->allocator, decoding->losses, decoding->lost_capacity * sizeof(*decoding->losses));
    pf_heap_close(&decoding->heap);
    pf_map_close(&decoding->processes);
    pf_map_close(&decoding->running);
    pf_map_close(&decoding->source_cpus);
    pf_aux_queues_close(&decoding->found);
    pf_free(decoding->allocator, decoding, sizeof(*decoding));
}
