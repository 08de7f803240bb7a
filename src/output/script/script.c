/* SPDX-License-Identifier: MIT */
/* perf's `script` text: the drive from the reader to the lines. */
#include "output/script/script.h"

#include "output/header.h"
#include "output/output.h"

int pf_script_fail(struct pf_script *script, int code, const char *what, const char *message)
{
    if (!script->failed)
        script->failed = pf_fail(script->error, code, PERFILE_NO_OFFSET, what, "%s", message);
    return script->failed;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Wall-clock times exist only when the recorder noted both clocks at one moment. */
static int open_clock(struct pf_script *script)
{
    bool wanted = false;
    for (int type = 0; type < SCRIPT_TYPES; type++)
        wanted |= script->fields.fields[type] >> SCRIPT_TOD & 1;
    if (!wanted)
        return 0;
    if (pf_memory_check(script->out->allocator, pf_filter_clock(script->reader, &script->clock)) == 0 &&
        script->clock.known)
        return 0;
    return pf_script_fail(script, PERFILE_ERROR_ABSENT, "field list",
                          "\"tod\" needs the feature CLOCK_DATA, which recordings have whose clock was chosen (-k)");
}

/*
 * Dumped stacks are unwound whatever is printed of them, and callchains have lines for inlined functions and callers
 * that the kernel did not see; the events of a stream come later.
 */
static bool stacks_want_maps(const struct pf_script *script)
{
    const uint64_t stacks = PERFILE_SAMPLE_STACK_USER | PERFILE_SAMPLE_CALLCHAIN;
    for (size_t i = 0; i < perfile_event_count(script->reader); i++)
        if (perfile_event_get(script->reader, i)->attr->sample_type & stacks)
            return true;
    return script->pipe;
}

/* Depths of calls and rates add up from the start of a trace. */
static bool uses_history(const struct pf_script *script)
{
    static const uint64_t adding = SCRIPT_BIT(SCRIPT_CALLINDENT) | SCRIPT_BIT(SCRIPT_IPC);
    uint64_t wanted = 0;
    for (int type = 0; type < SCRIPT_TYPES; type++)
        wanted |= script->fields.fields[type] & adding;
    return wanted;
}

static void lock(void *context)
{
    const struct pf_script *script = context;
    if (script->team)
        pf_script_team_lock_reading(script->team);
}

static void unlock(void *context)
{
    const struct pf_script *script = context;
    if (script->team)
        pf_script_team_unlock(script->team);
}

static int open_delivery(struct pf_script *script)
{
    const struct perfile_output_options *options = script->options;
    struct pf_find_options find = pf_find_options_of(options->symbols, script->out->allocator);
    const bool by_function = script->names.active || script->stops.active || script->graph.active;
    const bool wants_maps = pf_script_fields_want_maps(&script->fields) || by_function;
    const struct pf_delivery_options how = {.allocator = script->out->allocator,
                                            .filter = options->filter,
                                            .find = wants_maps ? &find : NULL,
                                            .follows_maps = stacks_want_maps(script) || by_function ||
                                                            options->script->show & PERFILE_SHOW_TEXT_POKE,
                                            .gives_records = true,
                                            .reads_all = options->script->show != 0,
                                            .with_history = uses_history(script) || script->graph.active,
                                            .threads = options->threads,
                                            .progress = options->progress,
                                            .progress_context = options->progress_context,
                                            .lock = lock,
                                            .unlock = unlock,
                                            .lock_context = script};
    const int result = pf_delivery_open(script->reader, &how, &script->delivery, script->error);
    if (result == 0)
        script->session = pf_delivery_session(script->delivery);
    return result;
}

static int open_parts(struct pf_script *script)
{
    script->fields.allocator = script->out->allocator;
    int result = pf_script_fields_parse(&script->fields, script->options->fields, script->error);
    if (result == 0 && !script->pipe) {
        script->fields_checked = true;
        result = pf_script_fields_check(&script->fields, script->reader, script->options, script->error);
    }
    if (result == 0)
        result =
            pf_unwind_policy_parse(script->options->symbols->unwind, PF_UNWIND_CFI, &script->policy, script->error);
    if (result == 0)
        result = pf_names_filter_open(&script->names, script->options->report->symbols, true, script->out->allocator,
                                      script->error);
    if (result == 0)
        result = pf_names_filter_open(&script->stops, script->options->script->stop_at, true, script->out->allocator,
                                      script->error);
    if (result == 0)
        result = pf_script_graph_open(script);
    if (result == 0)
        result = open_delivery(script);
    return result == 0 ? open_clock(script) : result;
}

bool pf_script_open_formatting(struct pf_script *script, struct pf_text *out)
{
    script->out = out;
    memcpy(script->second_text, "    0.", 6); /* of second_ns 0 */
    script->second_bytes = 6;
    pf_arena_open(&script->arena, out->allocator);
    if (pf_text_open(&script->scratch, out->allocator, NULL, NULL) < 0)
        return false;
    script->scratch.escapes = out->escapes;
    return !out->escapes || pf_text_open(&script->trace_scratch, out->allocator, NULL, NULL) == 0;
}

void pf_script_close_formatting(struct pf_script *script, struct pf_text *out)
{
    script->out = out;
    pf_script_source_close(script);
    pf_disassembler_close(script->disassembler);
    pf_text_close(&script->scratch);
    if (script->trace_scratch.data)
        pf_text_close(&script->trace_scratch);
    pf_arena_close(&script->arena);
}

static bool open_script(struct pf_script *script, struct pf_text *out)
{
    script->pipe = perfile_reader_file(script->reader)->mode == PERFILE_MODE_PIPE;
    pf_map_open(&script->guest_index, out->allocator);
    return pf_script_open_formatting(script, out);
}

static void close_script(struct pf_script *script)
{
    const struct perfile_allocator *allocator = script->out->allocator;
    pf_trace_texts_close(&script->traces);
    pf_script_stat_close(script);
    pf_script_symbols_close(script);
    pf_script_team_close(script);
    pf_delivery_close(script->delivery);
    pf_names_filter_close(&script->names);
    pf_names_filter_close(&script->stops);
    pf_script_graph_close(script);
    pf_map_close(&script->guest_index);
    pf_free(allocator, script->guests, script->guest_capacity * sizeof(*script->guests));
    pf_free(allocator, script->plans, script->plan_capacity * sizeof(*script->plans));
    pf_script_close_formatting(script, script->out);
}

/* ---- a sample ---------------------------------------------------------------------------------------------------- */

/* What the line needs of the recording; false after a failure. */
static bool prepare(struct pf_script *script)
{
    const struct pf_script_plan *plan = script->plan;
    if ((plan->wants_symbols || script->asks_binaries) && !pf_script_open_symbols(script))
        return false;
    script->trace = NULL;
    return !(plan->fields >> SCRIPT_TRACE & 1) || !script->item.sample.raw.bytes || pf_script_find_trace(script, plan);
}

void pf_script_gather_stack(struct pf_script *script)
{
    const struct pf_stack_options options = {
        .symbols = script->asks_binaries ? script->symbols : NULL, .arch = script->arch, .policy = script->policy};
    if (script->plan->has_callchain)
        pf_stack_gather(&script->stack, &script->item, &options);
}

static void take_sample(struct pf_script *script)
{
    const struct pf_script_plan *plan = script->item.event ? pf_script_plan(script, script->item.event) : NULL;
    if (!plan || !plan->fields)
        return;
    script->plan = plan;
    script->arch = pf_delivery_arch(script->delivery);
    script->asks_binaries = plan->shows_chain && pf_stack_asks_binaries(&script->item, script->arch);
    if (PF_UNLIKELY(script->graph.active) && !pf_script_graph_passes(script))
        return;
    if (PF_UNLIKELY(script->names.active) && !pf_script_is_named(script))
        return;
    if (PF_UNLIKELY(plan->prepares || script->asks_binaries) && !prepare(script))
        return;
    if (script->team) {
        pf_script_team_add(script);
        return;
    }
    pf_script_gather_stack(script);
    pf_script_put_sample(script);
}

/* ---- the header -------------------------------------------------------------------------------------------------- */

/* Of a stream it is complete when the first line comes. False after a failure. */
static bool put_header(struct pf_script *script)
{
    const struct pf_header_options options = {.path = script->options->symbols->recording,
                                              .full = script->options->header & PERFILE_HEADER_FULL};
    if (!script->wants_header)
        return true;
    script->wants_header = false;
    const int result = pf_header_put(script->reader, &options, script->out, script->error);
    if (result < 0)
        script->failed = result;
    return result == 0;
}

static int only_header(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    const struct pf_header_options header = {.path = options->symbols->recording,
                                             .full = options->header & PERFILE_HEADER_FULL};
    const int result = pf_header_put_only(reader, &header, out, error);
    return result == 0 && out->failed ? pf_fail(error, out->failed, PERFILE_NO_OFFSET, "output", "cannot be written")
                                      : result;
}

/* ---- the drive --------------------------------------------------------------------------------------------------- */

int pf_script_take(struct pf_script *script)
{
    if (PF_UNLIKELY(script->wants_header) &&
        (script->item.is_sample || script->item.record->type < PERFILE_RECORD_HEADER_ATTR) && !put_header(script))
        return script->failed;
    if (PF_LIKELY(script->item.is_sample))
        take_sample(script);
    else
        pf_script_record(script, script->item.record);
    return script->failed;
}

static int drive(struct pf_script *script)
{
    int result = 0, consumed = 0;
    while (!script->out->failed && consumed == 0 &&
           (result = pf_delivery_next(script->delivery, &script->item, script->error)) > 0) {
        consumed = pf_script_take(script);
        (void)perfile_session_trim(script->session);
    }
    return consumed < 0 ? consumed : result;
}

int pf_script_text(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                   struct perfile_error *error)
{
    if (options->header & PERFILE_HEADER_ONLY)
        return only_header(reader, options, out, error);
    struct pf_script *script = pf_new(out->allocator, sizeof(*script));
    if (!script)
        return pf_fail_memory(error, "script");
    script->reader = reader;
    script->options = options;
    script->error = error;
    int result = open_script(script, out) ? open_parts(script) : pf_fail_memory(error, "script");
    script->wants_header = options->header & PERFILE_HEADER_FIRST;
    if (result == 0 && !script->pipe && !put_header(script))
        result = script->failed;
    if (result == 0)
        result = options->threads > 1 && pf_script_team_can(script) ? pf_script_team_drive(script) : drive(script);
    if (result == 0 && !put_header(script))
        result = script->failed;
    if (result == 0)
        pf_filter_notify(pf_delivery_filter(script->delivery), options->symbols->note, options->symbols->note_context);
    if (result == 0)
        pf_delivery_notify_unmatched(script->delivery, options->unmatched, options->unmatched_context);
    if (result == 0)
        pf_names_filter_notify_unmatched(&script->names, "symbols", options->unmatched, options->unmatched_context);
    if (result == 0)
        pf_names_filter_notify_unmatched(&script->stops, "stop_at", options->unmatched, options->unmatched_context);
    if (result == 0)
        pf_names_filter_notify_unmatched(&script->graph, "graph_function", options->unmatched,
                                         options->unmatched_context);
    if (result == 0 && out->failed)
        result = pf_fail(error, out->failed, PERFILE_NO_OFFSET, "output", "cannot be written");
    close_script(script);
    pf_free(out->allocator, script, sizeof(*script));
    return result;
}
