/* SPDX-License-Identifier: MIT */
#include "analysis/trace_samples.h"

#include "analysis/delivered.h"
#include "analysis/trace_code.h"
#include "base/error.h"
#include "base/out.h"
#include "base/sized.h"
#include "hwtrace/decoding.h"

enum { MAX_EVENTS = 64, MAX_RECORD_BYTES = 64 * 1024 };

/* ---- the trace of a reader --------------------------------------------------------------------------------------- */

struct trace {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_decoding *decoding;
    struct pf_trace_code code;
    const struct perfile_event *events[MAX_EVENTS]; /* by their index in the decoder */
    const struct perfile_record *waiting;           /* the last record, until the decoding has noticed it; else NULL */
    const struct pf_aux_sample *made;               /* the last sample */
    struct perfile_record record;
    uint8_t *data; /* of the record */
    bool swaps;    /* its numbers have the other byte order */
};

static void close_trace(void *context)
{
    struct trace *trace = context;
    pf_decoding_close(trace->decoding);
    perfile_code_close(trace->code.reader);
    pf_free(trace->allocator, trace->data, MAX_RECORD_BYTES);
    pf_free(trace->allocator, trace, sizeof(*trace));
}

static int add_events(struct trace *trace, struct perfile_error *error)
{
    const unsigned count = (unsigned)pf_min(pf_decoding_event_count(trace->decoding), MAX_EVENTS);
    struct pf_decoding_event event;
    int result = 0;
    for (unsigned i = 0; i < count && result == 0; i++) {
        if (!pf_decoding_event(trace->decoding, i, &event))
            continue;
        const struct perfile_u64s ids = {.data = (const uint8_t *)&event.id, .count = 1};
        result = perfile_reader_add_event(trace->reader, &event.attr, &ids, event.has_modes ? NULL : event.name,
                                          &trace->events[i], error);
    }
    return result;
}

static int open_trace(struct trace *trace, const struct perfile_trace_options *options, struct perfile_error *error)
{
    const struct pf_decoding_options how = {.allocator = trace->allocator,
                                            .letters = options->itrace ? options->itrace : "",
                                            .usual = options->is_listed ? "cepwxy" : ""};
    const struct pf_code_source source = pf_trace_code_source(&trace->code);
    int result = perfile_code_open(trace->reader, options->symbols, &trace->code.reader, error);
    if (result == 0)
        result = pf_decoding_open(trace->reader, &how, &trace->decoding, error);
    if (result < 0)
        return result;
    pf_decoding_use_code(trace->decoding, &source);
    trace->data = pf_new(trace->allocator, MAX_RECORD_BYTES);
    trace->swaps = perfile_reader_file(trace->reader)->swapped;
    trace->record =
        (struct perfile_record){.offset = PERFILE_NO_OFFSET, .container = PERFILE_NO_OFFSET, .data = trace->data};
    return trace->data ? add_events(trace, error) : pf_fail_memory(error, "trace");
}

int perfile_trace_open(struct perfile_reader *reader, const struct perfile_trace_options *options,
                       struct perfile_error *error)
{
    const struct perfile_allocator *allocator = perfile_reader_allocator(reader);
    struct perfile_trace_options all = PERFILE_TRACE_OPTIONS_INIT;
    int result = pf_sized_take(&all, sizeof(all), options, "trace options", error);
    if (result < 0)
        return result;
    struct trace *trace = pf_new(allocator, sizeof(*trace));
    if (!trace)
        return pf_fail_memory(error, "trace");
    *trace = (struct trace){.reader = reader, .allocator = allocator};
    result = open_trace(trace, &all, error);
    if (result < 0)
        close_trace(trace);
    else
        perfile_reader_attach(reader, trace, close_trace);
    return result;
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static void put64(struct pf_out *out, uint64_t value)
{
    pf_out_u64(out, value);
}

static void put_pair(struct pf_out *out, uint32_t first, uint32_t second)
{
    pf_out_u32(out, first);
    pf_out_u32(out, second);
}

static void put_words(struct pf_out *out, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put64(out, words[i]);
}

/* The bytes are followed by zeros: with their number they are a multiple of 8. */
static void put_raw(struct pf_out *out, const struct pf_aux_sample *made)
{
    const size_t bytes = (made->raw_bytes + 4 + 7) / 8 * 8 - 4;
    pf_out_u32(out, (uint32_t)bytes);
    pf_out_put(out, made->raw, made->raw_bytes);
    pf_out_zeros(out, bytes - made->raw_bytes);
}

static void put_branches(struct pf_out *out, const struct pf_aux_sample *made)
{
    const uint64_t count = !made->has_branch ? made->branch_count : made->previous_target ? 2 : 1;
    const uint64_t own[6] = {made->branch[0], made->branch[1], made->branch[2], 0, made->previous_target, 0};
    put64(out, count);
    put_words(out, made->has_branch ? own : made->branches, (size_t)count * 3);
}

/* The parts that samples of traces may have, in the order of the wire. */
static void put_parts(struct pf_out *out, uint64_t parts, uint64_t id, const struct pf_decoded *decoded)
{
    const struct pf_aux_sample *made = decoded->made;
    put64(out, id); /* IDENTIFIER */
    put64(out, made->ip);
    if (parts & PERFILE_SAMPLE_TID)
        put_pair(out, (uint32_t)decoded->pid, (uint32_t)decoded->tid);
    if (parts & PERFILE_SAMPLE_TIME)
        put64(out, decoded->time);
    if (parts & PERFILE_SAMPLE_ADDR)
        put64(out, made->addr);
    if (parts & PERFILE_SAMPLE_CPU)
        put_pair(out, (uint32_t)decoded->cpu, 0);
    put64(out, decoded->period);
    if (parts & PERFILE_SAMPLE_CALLCHAIN)
        put64(out, made->chain_count);
    if (parts & PERFILE_SAMPLE_CALLCHAIN)
        put_words(out, made->chain, made->chain_count);
    if (parts & PERFILE_SAMPLE_RAW)
        put_raw(out, made);
    if (parts & PERFILE_SAMPLE_BRANCH_STACK)
        put_branches(out, made);
    if (parts & PERFILE_SAMPLE_WEIGHT)
        put64(out, made->weight);
    if (parts & PERFILE_SAMPLE_DATA_SRC)
        put64(out, made->data_src);
    if (parts & PERFILE_SAMPLE_PHYS_ADDR)
        put64(out, made->phys_addr);
}

static void put32(uint8_t *to, uint32_t value, bool swap)
{
    const uint32_t v = pf_load32(&value, swap);
    memcpy(to, &v, sizeof(v));
}

static void put16(uint8_t *to, uint16_t value, bool swap)
{
    const uint16_t v = pf_load16(&value, swap);
    memcpy(to, &v, sizeof(v));
}

static void finish_record(struct trace *trace, struct pf_out *out, uint32_t type, uint16_t misc,
                          const struct pf_decoded *decoded)
{
    const bool swap = trace->swaps;
    const uint32_t bytes = (uint32_t)pf_out_bytes_used(out);
    put32(trace->data, type, swap);
    put16(trace->data + 4, misc, swap);
    put16(trace->data + 6, (uint16_t)bytes, swap);
    trace->record = (struct perfile_record){.type = type,
                                            .misc = misc,
                                            .bytes = bytes,
                                            .stated_bytes = bytes,
                                            .offset = PERFILE_NO_OFFSET,
                                            .container = PERFILE_NO_OFFSET,
                                            .data = trace->data,
                                            .event = decoded->error ? NULL : trace->events[decoded->event],
                                            .time = decoded->time};
}

/* The parts of most samples; those of branches also have the target. */
enum {
    PLAIN = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
            PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD
};

static uint64_t pair(uint32_t first, uint32_t second)
{
    return PF_NATIVE_BIG_ENDIAN ? (uint64_t)first << 32 | second : (uint64_t)second << 32 | first;
}

/* The same as below for samples of these parts alone: there are as many of them as instructions. */
static bool make_plain(struct trace *trace, const struct pf_decoded *decoded)
{
    const struct perfile_event *event = trace->events[decoded->event];
    const struct pf_aux_sample *made = decoded->made;
    struct perfile_record *record = &trace->record;
    uint64_t *at = (uint64_t *)(void *)trace->data;
    const bool has_addr = event->attr->sample_type & PERFILE_SAMPLE_ADDR;
    if ((event->attr->sample_type & ~(uint64_t)PERFILE_SAMPLE_ADDR) != PLAIN || trace->swaps)
        return false;
    const uint32_t bytes = has_addr ? 72 : 64, sizes = made->misc | bytes << 16;
    at[0] = pair(PERFILE_RECORD_SAMPLE, PF_NATIVE_BIG_ENDIAN ? (uint32_t)made->misc << 16 | bytes : sizes);
    at[1] = event->ids[0];
    at[2] = made->ip;
    at[3] = pair((uint32_t)decoded->pid, (uint32_t)decoded->tid);
    at[4] = decoded->time;
    at[5] = made->addr;
    at += has_addr;
    at[5] = pair((uint32_t)decoded->cpu, 0);
    at[6] = decoded->period;
    record->type = PERFILE_RECORD_SAMPLE;
    record->misc = made->misc;
    record->bytes = record->stated_bytes = bytes;
    record->event = event;
    record->time = decoded->time;
    return true;
}

static void make_sample(struct trace *trace, const struct pf_decoded *decoded)
{
    if (PF_LIKELY(make_plain(trace, decoded)))
        return;
    const struct perfile_event *event = trace->events[decoded->event];
    struct pf_out out = pf_out_make(trace->data, MAX_RECORD_BYTES, trace->swaps);
    put64(&out, 0);
    put_parts(&out, event->attr->sample_type, event->ids[0], decoded);
    finish_record(trace, &out, PERFILE_RECORD_SAMPLE, decoded->made->misc, decoded);
}

static void make_error(struct trace *trace, const struct pf_decoded *decoded)
{
    enum { MSG_BYTES = 64 };
    struct perfile_auxtrace_error error;
    struct pf_out out = pf_out_make(trace->data, MAX_RECORD_BYTES, trace->swaps);
    pf_decoded_error(decoded, &error);
    put64(&out, 0);
    put_pair(&out, error.error_type, error.code);
    put_pair(&out, (uint32_t)error.cpu, (uint32_t)error.pid);
    put_pair(&out, (uint32_t)error.tid, error.fmt);
    put64(&out, error.ip);
    put64(&out, error.time);
    pf_out_put(&out, error.msg, MSG_BYTES);
    finish_record(trace, &out, PERFILE_RECORD_AUXTRACE_ERROR, 0, decoded);
}

/* ---- the synthesizer --------------------------------------------------------------------------------------------- */

static int take_notice(struct trace *trace, struct perfile_error *error)
{
    const struct perfile_record *record = trace->waiting;
    trace->waiting = NULL;
    return record ? pf_decoding_take(trace->decoding, record, error) : 0;
}

static int take_record(void *context, const struct perfile_record *record, struct perfile_error *error)
{
    struct trace *trace = context;
    const uint64_t time = record->type < PERFILE_RECORD_HEADER_ATTR ? record->time : 0;
    const int ready = pf_decoding_ready(trace->decoding, time, error);
    trace->waiting = ready >= 0 ? record : NULL;
    return ready ? ready : take_notice(trace, error);
}

static int next_sample(void *context, uint64_t time, struct pf_synthesized *made, struct perfile_error *error)
{
    struct trace *trace = context;
    struct pf_decoded decoded;
    const int result = pf_decoding_next(trace->decoding, time, &decoded, error);
    if (PF_UNLIKELY(pf_trace_code_was_short(trace->code.reader)))
        return pf_fail_memory(error, "trace");
    if (result <= 0)
        return result < 0 ? result : take_notice(trace, error);
    if (decoded.error)
        make_error(trace, &decoded);
    else
        make_sample(trace, &decoded);
    made->record = &trace->record;
    made->sample = NULL;
    trace->made = decoded.made;
    return 1;
}

/* Called before the next sample is made: those of traces never wait for callchains. */
static void complete(void *context, const uint64_t *note, struct pf_delivered *item)
{
    const struct trace *trace = context;
    const struct pf_aux_sample *made = trace->made;
    (void)note;
    item->traced = (struct pf_traced){.flags = made->flags,
                                      .insn_bytes = made->insn_bytes,
                                      .depth = made->depth,
                                      .insns = made->insns,
                                      .alike = made->alike,
                                      .cycles = made->cycles};
}

static void start(void *context, struct perfile_session *session, struct pf_jit *jit,
                  const struct pf_synthesizer_use *use)
{
    struct trace *trace = context;
    trace->code.session = session;
    trace->waiting = NULL;
    pf_decoding_restart(trace->decoding);
    pf_decoding_use_threads(trace->decoding, use->threads, 0);
    if (use->merges)
        pf_decoding_merge(trace->decoding);
    if (!use->with_history)
        pf_decoding_limit(trace->decoding, use->first, use->last);
    pf_symbols_use_jit(pf_trace_code_symbols(trace->code.reader), jit);
}

void pf_trace_samples_synthesizer(struct perfile_reader *reader, struct pf_synthesizer *synthesizer)
{
    struct trace *trace = perfile_reader_attachment(reader);
    *synthesizer = (struct pf_synthesizer){
        .context = trace, .start = start, .take = take_record, .next = next_sample, .complete = complete};
}

/* ---- losses ------------------------------------------------------------------------------------------------------ */

void perfile_trace_losses(struct perfile_reader *reader, void (*notify)(void *context, const char *text), void *context)
{
    struct trace *trace = perfile_reader_attachment(reader);
    if (trace)
        pf_decoding_notify(trace->decoding, notify, context);
}
