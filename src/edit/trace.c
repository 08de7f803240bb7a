/* SPDX-License-Identifier: MIT */
#include "edit/trace.h"

#include "base/error.h"
#include "hwtrace/decoding.h"

enum { MAX_EVENTS = 64, WORDS_PER_BRANCH = 3 };

struct pf_trace {
    struct pf_edit *edit;
    const struct perfile_allocator *allocator;
    struct pf_decoding *decoding;
    struct pf_trace_code code;
    bool started;
    uint32_t indexes[MAX_EVENTS]; /* of the events in the output, */
    uint64_t ids[MAX_EVENTS];     /* and their ids */
};

/* ---- code -------------------------------------------------------------------------------------------------------- */

static uint64_t space_of(void *context, int32_t pid)
{
    const struct pf_trace *trace = context;
    return trace->edit->session ? perfile_space_id(perfile_session_space(trace->edit->session, pid)) : 0;
}

static size_t read_code(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count)
{
    const struct pf_trace *trace = context;
    return trace->code.read && trace->code.context && trace->edit->session
               ? trace->code.read(trace->code.context, trace->edit->session, pid, address, bytes, count)
               : 0;
}

/* ---- events in the output ---------------------------------------------------------------------------------------- */

static int add_events(struct pf_trace *trace, struct perfile_error *error)
{
    const unsigned count = pf_decoding_event_count(trace->decoding);
    struct pf_decoding_event event;
    int result = 0;
    for (unsigned i = 0; i < count && i < MAX_EVENTS && result == 0; i++) {
        if (!pf_decoding_event(trace->decoding, i, &event))
            continue;
        const struct perfile_event_spec spec = {.size = sizeof(spec),
                                                .attr = &event.attr,
                                                .attr_bytes = sizeof(event.attr),
                                                .ids = &event.id,
                                                .id_count = 1,
                                                .name = event.name};
        result = perfile_writer_add_event(trace->edit->writer, &spec, &trace->indexes[i], error);
        trace->ids[i] = event.id;
    }
    return result;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static struct perfile_u64s words_of(const uint64_t *words, size_t count)
{
    return (struct perfile_u64s){.data = (const uint8_t *)words, .count = count};
}

static void put_branches(struct perfile_sample *to, const struct pf_aux_sample *from, uint64_t words[6])
{
    memcpy(words, from->branch, sizeof(from->branch));
    words[3] = 0;
    words[4] = from->previous_target;
    words[5] = 0;
    to->branch_stack.big_endian = PF_NATIVE_BIG_ENDIAN;
    to->branch_stack.count = from->branch_count;
    to->branch_stack.entries = words_of(from->branches, WORDS_PER_BRANCH * (size_t)from->branch_count);
    if (!from->has_branch)
        return;
    to->branch_stack.count = from->previous_target ? 2 : 1;
    to->branch_stack.entries = words_of(words, WORDS_PER_BRANCH * to->branch_stack.count);
}

static int write_sample(struct pf_trace *trace, const struct pf_decoded *decoded, struct perfile_error *error)
{
    const struct pf_aux_sample *made = decoded->made;
    uint64_t words[6];
    struct perfile_sample sample = {.size = sizeof(sample),
                                    .identifier = trace->ids[decoded->event],
                                    .ip = made->ip,
                                    .pid = decoded->pid,
                                    .tid = decoded->tid,
                                    .time = decoded->time,
                                    .addr = made->addr,
                                    .cpu = (uint32_t)decoded->cpu,
                                    .period = decoded->period,
                                    .weight = made->weight,
                                    .data_src = made->data_src,
                                    .callchain = words_of(made->chain, made->chain_count),
                                    .raw = {.data = made->raw, .bytes = made->raw_bytes},
                                    .phys_addr = made->phys_addr};
    put_branches(&sample, made, words);
    return perfile_writer_sample(trace->edit->writer, trace->indexes[decoded->event], made->misc, &sample, error);
}

static int write_error(struct pf_trace *trace, const struct pf_decoded *decoded, struct perfile_error *error)
{
    struct perfile_auxtrace_error record;
    pf_decoded_error(decoded, &record);
    return perfile_writer_record(trace->edit->writer, PERFILE_RECORD_AUXTRACE_ERROR, 0, &record, sizeof(record), NULL,
                                 error);
}

/* Writes what comes before this time. */
static int write_until(struct pf_trace *trace, uint64_t time, struct perfile_error *error)
{
    struct pf_decoded decoded;
    int result = pf_decoding_ready(trace->decoding, time, error);
    while (result > 0 && (result = pf_decoding_next(trace->decoding, time, &decoded, error)) > 0) {
        result = decoded.error ? write_error(trace, &decoded, error) : write_sample(trace, &decoded, error);
        result = result < 0 ? result : 1;
    }
    return result;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static int step_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_trace *trace = context;
    const uint64_t time = item->record->type < PERFILE_RECORD_HEADER_ATTR ? item->record->time : 0;
    int result = trace->started ? 0 : add_events(trace, error);
    trace->started = true;
    if (result == 0)
        result = write_until(trace, time, error);
    if (result == 0)
        result = pf_decoding_take(trace->decoding, item->record, error);
    return result < 0 ? result : PF_EDIT_KEEP;
}

static void say(void *context, const char *rule, const char *text)
{
    const struct pf_trace *trace = context;
    pf_writer_diagnose(trace->edit->writer, rule, text);
}

static int step_end(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                    struct perfile_error *error)
{
    struct pf_trace *trace = context;
    (void)reader;
    (void)writer;
    const int result = trace->started ? write_until(trace, UINT64_MAX, error) : 0;
    pf_decoding_report(trace->decoding, say, trace);
    return result;
}

struct pf_edit_step pf_trace_step(struct pf_trace *trace)
{
    return (struct pf_edit_step){.context = trace, .record = step_record, .end = step_end};
}

uint64_t pf_trace_samples(const struct pf_trace *trace)
{
    return pf_decoding_samples(trace->decoding);
}

int pf_trace_open(struct pf_edit *edit, const char *letters, const struct pf_trace_code *code, struct pf_trace **out,
                  struct perfile_error *error)
{
    const struct perfile_allocator *allocator = edit->reader->allocator;
    struct pf_trace *trace = pf_new(allocator, sizeof(*trace));
    if (!trace)
        return pf_fail_memory(error, "trace");
    *trace = (struct pf_trace){.edit = edit, .allocator = allocator, .code = *code};
    const int result = pf_decoding_open(
        edit->reader,
        &(struct pf_decoding_options){.allocator = allocator, .letters = letters, .usual = "", .writes = true},
        &trace->decoding, error);
    if (result < 0) {
        pf_trace_close(trace);
        return result;
    }
    const struct pf_code_source source = {.space = space_of, .read = read_code, .context = trace};
    pf_decoding_use_code(trace->decoding, &source);
    edit->follows_maps |= pf_decoding_needs_code(trace->decoding);
    *out = trace;
    return 0;
}

void pf_trace_close(struct pf_trace *trace)
{
    if (!trace)
        return;
    pf_decoding_close(trace->decoding);
    pf_free(trace->allocator, trace, sizeof(*trace));
}
