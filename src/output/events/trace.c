/* SPDX-License-Identifier: MIT */
/* System calls as `perf trace` prints them: a line for each, and their summary. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/events/syscall_stats.h"
#include "base/error.h"
#include "base/locale.h"
#include "base/stages.h"
#include "output/events/events.h"
#include "output/events/trace_fields.h"
#include "output/events/trace_lines.h"

struct trace {
    struct pf_text *out;
    const struct perfile_output_options *options;
    unsigned flags;
    struct pf_delivery *delivery;
    struct pf_profile *profile;             /* of which the delivery is; NULL: nothing is asked of symbols */
    const struct pf_profile_sample *sample; /* of the event in hand; NULL: see above */
    struct pf_delivered item;               /* in hand */
    struct pf_syscalls syscalls;
    struct pf_syscall_stats stats;
    struct pf_trace_printer printer;
    struct pf_trace_lines *piece; /* of the lines that other threads print; NULL: lines are printed here */
    uint32_t pending;             /* the thread that was the last to enter a call; UINT32_MAX: none */
    bool *is_pending;             /* of threads: the line of the open call was not printed */
    size_t pending_capacity;
    struct pf_map listed; /* index of an event to its tracepoint, if it has lines; else 0 */
    uint64_t last_time;
    uint64_t line_count;
    bool has_lines, has_summary;
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static bool *pending_of(struct trace *trace, uint32_t thread)
{
    return PF_ELEMENT(trace->options->allocator, trace->is_pending, trace->pending_capacity, thread);
}

static struct pf_trace_line line_of(const struct trace *trace, enum pf_trace_line_kind kind, uint32_t thread,
                                    const struct pf_syscall_call *call)
{
    const struct pf_syscall_thread *of = &trace->syscalls.threads[thread];
    struct pf_trace_line line = {.kind = kind,
                                 .tid = of->tid,
                                 .comm = of->comm,
                                 .call = call->call,
                                 .number = call->number,
                                 .abi = call->abi,
                                 .cpu = call->left ? call->end_cpu : call->start_cpu,
                                 .entered = call->entered,
                                 .start = call->start,
                                 .duration = call->end - call->start,
                                 .result = call->result};
    memcpy(line.arguments, call->arguments, sizeof(line.arguments));
    if ((kind == PF_TRACE_CALL || kind == PF_TRACE_CONTINUED) && pf_syscall_result_kind(call->call) == PF_RESULT_PID)
        line.result_comm = pf_task_comm(pf_delivery_session(trace->delivery), call->result);
    return line;
}

/* Prints the line of a call, or adds it to the piece that another thread prints. False: out of memory. */
static bool add_line(struct trace *trace, enum pf_trace_line_kind kind, uint32_t thread,
                     const struct pf_syscall_call *call)
{
    const struct pf_trace_line line = line_of(trace, kind, thread, call);
    trace->line_count++;
    if (trace->piece)
        return pf_trace_lines_add(trace->piece, trace->options->allocator, &line, &call->names);
    trace->printer.base = trace->syscalls.first_time;
    pf_trace_put_line(&trace->printer, &line, &call->names);
    return true;
}

/* ---- callchains -------------------------------------------------------------------------------------------------- */

static size_t stack_size(const struct trace *trace)
{
    const struct perfile_sample *decoded = trace->sample ? trace->sample->decoded : NULL;
    return decoded && decoded->present & PERFILE_SAMPLE_CALLCHAIN && decoded->callchain.count
               ? trace->sample->frame_count
               : 0;
}

static const struct pf_module *module_of(const struct trace *trace, const struct pf_frame_info *frame)
{
    return frame->module == PF_NO_SYMBOL ? NULL : pf_symbols_module(pf_profile_symbols(trace->profile), frame->module);
}

/* "read (/usr/lib/libc.so.6)", "[0x1242] (/bin/a)". */
static void put_frame(struct trace *trace, const struct pf_frame_info *frame)
{
    const struct pf_frame_address *at = pf_frame_address(frame);
    const struct pf_module *module = module_of(trace, frame);
    pf_put_format(trace->out, "%39s", "");
    if (frame->name)
        pf_put_name(trace->out, frame->name);
    else
        pf_put_format(trace->out, "[0x%" PRIx64 "]", module ? at->in_module : at->ip);
    if (frame->kind == PF_FRAME_INLINED)
        pf_put_string(trace->out, " (inlined)");
    if (module && frame->kind != PF_FRAME_INLINED) {
        pf_put_string(trace->out, " (");
        pf_put_name(trace->out, module->name);
        pf_put_char(trace->out, ')');
    }
    pf_put_char(trace->out, '\n');
}

static void put_stack(struct trace *trace)
{
    const uint64_t max = trace->options->events->stack_depth;
    const size_t size = stack_size(trace);
    for (size_t i = 0; i < size && (!max || i < max); i++)
        put_frame(trace, pf_profile_frame(trace->profile, trace->sample->frames[i]));
}

/* ---- page faults ------------------------------------------------------------------------------------------------- */

static void put_position(struct trace *trace, uint64_t ip, const struct pf_frame_info *frame)
{
    const struct pf_module *module = frame ? module_of(trace, frame) : NULL;
    if (module && frame->name)
        pf_put_name(trace->out, frame->name);
    if (module)
        pf_put_format(trace->out, "%s0x%" PRIx64, frame->name ? "+" : "",
                      frame->name ? frame->address : pf_frame_address(frame)->in_module);
    else
        pf_put_format(trace->out, "0x%" PRIx64, ip);
}

/* Addresses of memory that is in no file are as they are. */
static void put_data(struct trace *trace, uint64_t address, const struct pf_module *module, uint64_t in_module)
{
    if (!module) {
        pf_put_format(trace->out, "0x%" PRIx64, address);
        return;
    }
    const bool no_file = strncmp(module->name, "//anon", 6) == 0 || strncmp(module->name, "[stack", 6) == 0 ||
                         strcmp(module->name, "[heap]") == 0;
    pf_put_name(trace->out, module->name);
    pf_put_format(trace->out, "@0x%" PRIx64, no_file ? address : in_module);
}

/* "minfault [main+0x12] => /bin/a@0x2de0 (d.)" */
static bool put_fault(struct trace *trace, const struct pf_syscall_event *event)
{
    const struct pf_profile_sample *sample = trace->sample;
    const struct pf_syscall_call at = {.entered = true,
                                       .start = sample->time,
                                       .end = sample->time,
                                       .start_cpu = UINT32_MAX}; /* perf does not print it */
    const bool of_kernel = sample->cpumode == PERFILE_MISC_KERNEL;
    const struct pf_frame_info *frame = NULL;
    if (!of_kernel) {
        const uint32_t position = pf_profile_frame_at(trace->profile, sample->decoded->addr);
        if (position == PF_NO_FRAME)
            return false;
        frame = pf_profile_frame(trace->profile, position);
    }
    const struct pf_module *module = frame ? module_of(trace, frame) : NULL;
    const struct pf_trace_line line = line_of(trace, PF_TRACE_CALL, event->thread, &at);
    trace->line_count++;
    trace->printer.base = trace->syscalls.first_time;
    pf_trace_put_head(&trace->printer, &line);
    pf_put_format(trace->out, "%sfault [", event->major ? "maj" : "min");
    put_position(trace, sample->ip, pf_profile_frame(trace->profile, sample->leaf));
    pf_put_string(trace->out, "] => ");
    put_data(trace, sample->decoded->addr, module, module ? pf_frame_address(frame)->in_module : 0);
    pf_put_format(trace->out, " (%c%c)\n", module ? 'd' : '?', of_kernel ? 'k' : '.');
    put_stack(trace);
    return true;
}

/* ---- other events ------------------------------------------------------------------------------------------------ */

/* Whether events of the tracepoint have lines: a name of the list stands for it, without its terms. */
static bool is_listed(const char *list, const struct perfile_tracepoint *tracepoint)
{
    char name[256], pattern[256];
    snprintf(name, sizeof(name), "%s:%s", tracepoint->system, tracepoint->name);
    while (*list) {
        const size_t bytes = strcspn(list, ",{}/");
        snprintf(pattern, sizeof(pattern), "%.*s", (int)pf_min(bytes, sizeof(pattern) - 1), list);
        if (*pattern && pf_glob_matches(pattern, name, false))
            return true;
        list += bytes;
        const char *terms = *list == '/' ? strchr(list + 1, '/') : NULL;
        list = terms ? terms + 1 : list + (*list != '\0');
    }
    return false;
}

/* NULL: its events have no lines. */
static const struct perfile_tracepoint *listed_tracepoint(struct trace *trace, const struct pf_delivered *item)
{
    const char *list = trace->options->events->events;
    uint64_t known;
    if (!list || !item->is_sample || !item->event || item->event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return NULL;
    if (pf_map_get(&trace->listed, item->event->index, &known))
        return (const struct perfile_tracepoint *)(uintptr_t)known;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(trace->syscalls.reader, item->event);
    if (!tracepoint)
        return NULL; /* of a stream it may be known later */
    tracepoint = is_listed(list, tracepoint) ? tracepoint : NULL;
    (void)pf_map_put(&trace->listed, item->event->index, (uintptr_t)tracepoint); /* without memory it is asked again */
    return tracepoint;
}

/* A line without a duration: "0.015 ls/4711 sched:sched_wakeup(comm: "ls", pid: 4711 (ls))". */
static void put_tracepoint(struct trace *trace, const struct perfile_tracepoint *tracepoint,
                           const struct pf_delivered *item, const struct pf_syscall_event *event)
{
    trace->printer.base = trace->syscalls.first_time;
    pf_trace_put_time(&trace->printer, item->sample.time);
    pf_trace_put_cpu(&trace->printer, item->sample.cpu);
    if (!(trace->flags & PERFILE_EVENTS_NO_CALLS))
        pf_put_string(trace->out, "(         ): ");
    pf_trace_put_thread(&trace->printer, item->comm, item->sample.tid);
    pf_put_format(trace->out, "%s:%s(", tracepoint->system, tracepoint->name);
    if (event->step == PF_SYSCALL_ENTERED && strcmp(tracepoint->system, "syscalls") == 0)
        pf_syscall_put_arguments(trace->out, event->call.abi, event->call.call, event->call.arguments,
                                 &event->call.names);
    else
        pf_trace_fields_put(trace->out, tracepoint, &item->sample.raw,
                            perfile_reader_file(trace->syscalls.reader)->swapped, pf_delivery_session(trace->delivery));
    pf_put_string(trace->out, ")\n");
    trace->line_count++;
    put_stack(trace);
}

/* ---- calls that end ---------------------------------------------------------------------------------------------- */

static bool is_shown(const struct trace *trace, const struct pf_syscall_call *call)
{
    const uint64_t minimum = trace->options->events->minimum_ns;
    const size_t size = stack_size(trace);
    if (size && size < trace->options->events->min_stack)
        return false;
    if (trace->flags & PERFILE_EVENTS_FAILED && call->result >= 0)
        return false;
    return !minimum || (call->entered && call->end - call->start > minimum);
}

/* False: out of memory. */
static bool put_left(struct trace *trace, const struct pf_syscall_event *event, bool pending)
{
    const struct pf_syscall_call *call = &event->call;
    if (!is_shown(trace, call))
        return true;
    if (!add_line(trace, pending && call->entered ? PF_TRACE_CALL : PF_TRACE_CONTINUED, event->thread, call))
        return false;
    put_stack(trace);
    return true;
}

/* Lines of calls come when they end, or another one begins before. */
static bool put_entered(struct trace *trace, const struct pf_syscall_event *event, bool *pending)
{
    const bool all = !trace->options->events->minimum_ns && !(trace->flags & PERFILE_EVENTS_FAILED);
    const uint32_t before = trace->pending;
    bool *other = before != UINT32_MAX && all ? pending_of(trace, before) : NULL;
    trace->pending = event->thread;
    if (other && *other) {
        const bool is_own = event->has_unfinished && before == event->thread;
        if (!add_line(trace, PF_TRACE_INTERRUPTED, before,
                      is_own ? &event->unfinished : &trace->syscalls.threads[before].open))
            return false;
    }
    if (other)
        *other = false;
    *pending = !pf_syscall_never_returns(event->call.call);
    return *pending || !all || add_line(trace, PF_TRACE_NO_RETURN, event->thread, &event->call);
}

static bool put_event(struct trace *trace, const struct pf_syscall_event *event)
{
    bool *pending = pending_of(trace, event->thread);
    if (!pending)
        return false;
    if (event->step == PF_SYSCALL_FAULT)
        return !trace->sample || trace->options->events->minimum_ns || trace->flags & PERFILE_EVENTS_FAILED ||
               put_fault(trace, event);
    if (trace->flags & PERFILE_EVENTS_NO_CALLS)
        return true;
    if (event->step == PF_SYSCALL_ENTERED)
        return put_entered(trace, event, pending);
    const bool enough = put_left(trace, event, *pending);
    *pending = false;
    return enough;
}

/* ---- the summary ------------------------------------------------------------------------------------------------- */

static void put_row(const struct trace *trace, const struct pf_syscall_row *row)
{
    char label[32];
    const struct pf_stats *times = &row->times;
    if (!row->calls)
        return;
    pf_put_format(trace->out, "   %-15s %8" PRIu64 " %6" PRIu64 " %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
                  pf_syscall_label(row->call, row->number, label), row->calls, row->errors,
                  (double)times->count * (times->mean / 1e6), ms(times->min), times->mean / 1e6, ms(times->max),
                  pf_stats_error_percent(times));
    if (!(trace->flags & PERFILE_EVENTS_ERRORS))
        return;
    for (const struct pf_syscall_errors *at = row->by_error; at; at = at->next) {
        const char *name = pf_errno_name(at->number);
        if (name)
            pf_put_format(trace->out, "\t\t\t\t%s: %" PRIu64 "\n", name, at->count);
        else
            pf_put_format(trace->out, "\t\t\t\t%" PRIu32 ": %" PRIu64 "\n", at->number, at->count);
    }
}

static void put_group_name(const struct trace *trace, const struct pf_syscall_group *group)
{
    const struct pf_syscall_thread *thread = &trace->syscalls.threads[group->thread];
    pf_put_char(trace->out, ' ');
    if (trace->stats.by == PF_CALLS_TOTAL) {
        pf_put_string(trace->out, "total");
    } else if (trace->stats.by == PF_CALLS_BY_CGROUP) {
        pf_put_name(trace->out, group->cgroup ? group->cgroup : "unknown");
    } else if (trace->stats.by == PF_CALLS_BY_FILE) {
        const struct pf_syscall_row *row = group->count ? trace->stats.rows[group->first] : NULL;
        if (row && row->path)
            pf_put_name(trace->out, row->path);
        else if (row && row->fd >= 0)
            pf_put_format(trace->out, "fd %" PRId64, row->fd);
        else
            pf_put_string(trace->out, "no file");
    } else {
        pf_put_name(trace->out, thread->comm ? thread->comm : "");
        pf_put_format(trace->out, " (%" PRId32 ")", trace->stats.by == PF_CALLS_BY_PROCESS ? thread->pid : thread->tid);
    }
}

static void put_group(const struct trace *trace, const struct pf_syscall_group *group)
{
    const uint64_t rows = trace->options->events->rows;
    put_group_name(trace, group);
    pf_put_format(trace->out, ", %" PRIu64 " events, %.1f%%", group->events,
                  (double)group->events / (double)trace->syscalls.events * 100);
    if (group->major_faults)
        pf_put_format(trace->out, ", %" PRIu64 " majfaults", group->major_faults);
    if (group->minor_faults)
        pf_put_format(trace->out, ", %" PRIu64 " minfaults", group->minor_faults);
    pf_put_string(trace->out, "\n\n");
    pf_put_string(trace->out,
                  "   syscall            calls  errors  total       min       avg       max       stddev\n"
                  "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
                  "   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
    for (size_t i = 0; i < group->count && (!rows || i < rows); i++)
        put_row(trace, trace->stats.rows[group->first + i]);
    pf_put_string(trace->out, "\n\n");
}

static bool put_summary(struct trace *trace)
{
    if (!pf_syscall_stats_end(&trace->stats, trace->last_time))
        return false;
    pf_put_string(trace->out, "\n Summary of events:\n\n");
    for (size_t i = 0; i < trace->stats.group_count; i++)
        put_group(trace, &trace->stats.groups[i]);
    return true;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool fits(const struct trace *trace)
{
    const uint64_t max = trace->options->events->lines;
    return !max || trace->line_count < max;
}

static int take(struct trace *trace, const struct pf_delivered *item, struct perfile_error *error)
{
    struct pf_syscall_event event;
    if (item->is_sample)
        trace->last_time = item->sample.time;
    if (pf_syscalls_take(&trace->syscalls, item, &event) < 0)
        return pf_fail_memory(error, "system calls");
    const struct perfile_tracepoint *tracepoint =
        trace->has_lines && fits(trace) ? listed_tracepoint(trace, item) : NULL;
    if (tracepoint)
        put_tracepoint(trace, tracepoint, item, &event);
    if (event.step == PF_SYSCALL_NOTHING)
        return 0;
    if ((trace->has_summary && !pf_syscall_stats_take(&trace->stats, &event)) ||
        (trace->has_lines && fits(trace) && !put_event(trace, &event)))
        return pf_fail_memory(error, "system calls");
    return 0;
}

/* Handles a record that is not a sample. */
static bool take_record(void *context, const struct perfile_record *record)
{
    struct trace *trace = context;
    const struct pf_delivered item = {.record = record};
    return take(trace, &item, NULL) == 0;
}

static int next(struct trace *trace, struct pf_delivered *item, struct perfile_error *error)
{
    if (!trace->profile)
        return pf_delivery_next(trace->delivery, item, error);
    const int result = pf_profile_next(trace->profile, &trace->sample, error);
    if (result > 0)
        *item = *pf_profile_item(trace->profile);
    return result;
}

/* Takes the next record. Returns 1, 0 at the end, or an error. */
static int take_next(struct trace *trace, struct perfile_error *error)
{
    if (!fits(trace) && !trace->has_summary)
        return 0;
    const int result = next(trace, &trace->item, error);
    return result <= 0 ? result : take(trace, &trace->item, error) < 0 ? PERFILE_ERROR_MEMORY : 1;
}

static int put_alone(struct trace *trace, struct perfile_error *error)
{
    const bool is_stream = perfile_reader_file(trace->syscalls.reader)->mode == PERFILE_MODE_PIPE;
    int result = 1;
    while (!trace->out->failed && result > 0) {
        result = take_next(trace, error);
        if (is_stream && trace->out->used) /* the next record may be long in coming */
            pf_text_flush(trace->out);
    }
    return result;
}

/* ---- several threads --------------------------------------------------------------------------------------------- */

/* Lines that go from the thread that reads to one that prints them, and their text. */
struct piece {
    struct pf_trace_lines lines;
    struct pf_text text;
    struct pf_trace_printer printer;
    int result; /* after the lines: 1 for the next piece, 0 at the end, or an error */
    struct perfile_error error;
};
enum { PIECE_LINES = 1024, PIECES_ALONE = 2 };

static bool read_piece(void *context, void *item, unsigned worker)
{
    struct trace *trace = context;
    struct piece *piece = item;
    (void)worker;
    piece->lines.count = piece->lines.name_count = 0;
    trace->piece = &piece->lines;
    do
        piece->result = take_next(trace, &piece->error);
    while (piece->result > 0 && piece->lines.count < PIECE_LINES);
    piece->printer.base = trace->syscalls.first_time;
    return piece->result > 0;
}

static bool print_piece(void *context, void *item, unsigned worker)
{
    struct piece *piece = item;
    (void)context;
    (void)worker;
    piece->text.used = 0;
    pf_trace_put_lines(&piece->printer, &piece->lines);
    return true;
}

static bool open_pieces(const struct trace *trace, struct piece *pieces, size_t count)
{
    const struct perfile_allocator *allocator = trace->options->allocator;
    bool enough = true;
    for (size_t i = 0; i < count; i++) {
        enough &= pf_text_open(&pieces[i].text, allocator, NULL, NULL) == 0;
        pieces[i].text.escapes = trace->out->escapes;
        enough &= pf_trace_printer_open(&pieces[i].printer, &pieces[i].text, trace->flags, allocator);
    }
    return enough;
}

static void close_pieces(const struct trace *trace, struct piece *pieces, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        pf_trace_lines_close(&pieces[i].lines, trace->options->allocator);
        pf_text_close(&pieces[i].text);
        pf_trace_printer_close(&pieces[i].printer);
    }
    pf_free(trace->options->allocator, pieces, count * sizeof(*pieces));
}

static int write_pieces(struct trace *trace, struct pf_stages *stages, struct perfile_error *error)
{
    const struct piece *piece;
    int result = stages ? 1 : PERFILE_ERROR_MEMORY;
    while (result > 0 && !trace->out->failed && (piece = pf_stages_next(stages)) != NULL) {
        pf_put_through(trace->out, piece->text.data, piece->text.used);
        result = piece->text.failed ? PERFILE_ERROR_MEMORY : piece->result;
        if (piece->result < 0 && error)
            *error = piece->error;
    }
    return result < 0 ? result : 0;
}

static int put_in_pieces(struct trace *trace, struct perfile_error *error)
{
    static const struct pf_stage steps[] = {{.work = read_piece}, {.work = print_piece, .parallel = true}};
    const struct perfile_allocator *allocator = trace->options->allocator;
    const unsigned count = pf_stages_items(trace->options->threads);
    struct piece *pieces = pf_new(allocator, count * sizeof(*pieces));
    const struct pf_stages_plan plan = {.stages = steps,
                                        .stage_count = PF_COUNT(steps),
                                        .threads = trace->options->threads,
                                        .alone = PIECES_ALONE,
                                        .context = trace,
                                        .items = pieces,
                                        .item_bytes = sizeof(*pieces),
                                        .item_count = count};
    if (!pieces)
        return pf_fail_memory(error, "system calls");
    struct pf_stages *stages = open_pieces(trace, pieces, count) ? pf_stages_open(&plan, allocator) : NULL;
    const int result = write_pieces(trace, stages, error);
    pf_stages_close(stages);
    close_pieces(trace, pieces, count);
    trace->piece = NULL;
    return result;
}

/*
 * Lines of tracepoints and callchains are printed where they are read; of a stream the next record may be long in
 * coming.
 */
static bool goes_in_pieces(const struct trace *trace)
{
    return trace->options->threads > 1 && trace->has_lines && !trace->profile && !trace->options->events->events &&
           perfile_reader_file(trace->syscalls.reader)->mode != PERFILE_MODE_PIPE;
}

static int put_all(struct trace *trace, struct perfile_error *error)
{
    int result = (goes_in_pieces(trace) ? put_in_pieces : put_alone)(trace, error);
    if (result != PERFILE_ERROR_MEMORY && trace->has_summary && !put_summary(trace))
        result = pf_fail_memory(error, "system calls");
    return result < 0 ? result : 0;
}

/* Lines have callchains or names. Events of a stream are not known before they come. */
static bool needs_symbols(const struct trace *trace, struct perfile_reader *reader)
{
    const struct perfile_event *event;
    size_t count = 0;
    bool needs = false;
    for (; (event = perfile_event_get(reader, count)); count++)
        needs |= pf_fault_kind(event) ||
                 (event->attr->type == PERFILE_TYPE_TRACEPOINT && event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN);
    return trace->has_lines && !(trace->flags & PERFILE_EVENTS_NO_STACKS) && (needs || !count);
}

static int open_source(struct trace *trace, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_output_options *options = trace->options;
    const struct pf_event_source source = {options->allocator, options->filter, options->progress,
                                           options->progress_context};
    if (!needs_symbols(trace, reader))
        return pf_event_source_open(&source, reader, &trace->delivery, error);
    struct pf_profile_options how = {.filter = options->filter,
                                     .find = pf_find_options_of(options->symbols, options->allocator),
                                     .keeps_comms = true,
                                     .watches_all = true,
                                     .never_waits = true,
                                     .frames = {.by_address = true, .inlines = true},
                                     .unwind = options->symbols->unwind,
                                     .decoded = true,
                                     .take = take_record,
                                     .take_context = trace,
                                     .drive = {1, options->progress, options->progress_context}};
    const int result = pf_profile_open(reader, &how, &trace->profile, error);
    trace->delivery = result < 0 ? NULL : pf_profile_delivery(trace->profile);
    return result;
}

static int open_trace(struct trace *trace, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_output_options *options = trace->options;
    enum pf_syscall_by by;
    if (!pf_syscall_by_parse(options->events->keys, &by))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                       "system calls are added up by thread, process, cgroup, fd or total, not by '%.40s'",
                       options->events->keys);
    const int result = open_source(trace, reader, error);
    if (result < 0)
        return result;
    pf_map_open(&trace->listed, options->allocator);
    pf_syscalls_open(&trace->syscalls, trace->delivery, reader, options->allocator);
    pf_syscall_stats_open(&trace->stats, &trace->syscalls, by);
    return pf_syscalls_choose(&trace->syscalls, options->events, error);
}

static void notify_events(const struct trace *trace, pf_on_note *notify, void *context)
{
    char text[256];
    if (!notify || trace->line_count)
        return;
    snprintf(text, sizeof(text), "no event passes the list \"%.200s\"", trace->options->events->events);
    notify(context, text);
}

static void close_trace(struct trace *trace)
{
    const struct perfile_symbol_options *symbols = trace->options->symbols;
    if (trace->delivery && (fits(trace) || trace->has_summary)) {
        if (trace->options->events->events && trace->flags & PERFILE_EVENTS_NO_CALLS)
            notify_events(trace, symbols->note, symbols->note_context);
        else
            pf_syscalls_notify(&trace->syscalls, symbols->note, symbols->note_context);
        pf_delivery_notify_unmatched(trace->delivery, trace->options->unmatched, trace->options->unmatched_context);
    }
    pf_free(trace->options->allocator, trace->is_pending, trace->pending_capacity * sizeof(*trace->is_pending));
    pf_map_close(&trace->listed);
    pf_syscall_stats_close(&trace->stats);
    pf_syscalls_close(&trace->syscalls);
    if (!trace->profile)
        pf_delivery_close(trace->delivery);
    pf_profile_close(trace->profile);
    pf_trace_printer_close(&trace->printer);
}

static int write_trace(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                       struct perfile_error *error)
{
    const unsigned flags = options->events->flags;
    struct trace trace = {.out = out,
                          .options = options,
                          .flags = flags,
                          .pending = UINT32_MAX,
                          .has_lines = !(flags & PERFILE_EVENTS_SUMMARY),
                          .has_summary = flags & (PERFILE_EVENTS_SUMMARY | PERFILE_EVENTS_WITH_SUMMARY)};
    int result = 0;
    if (!pf_trace_printer_open(&trace.printer, out, flags, options->allocator))
        result = pf_fail_memory(error, "system calls");
    if (result == 0)
        result = open_trace(&trace, reader, error);
    if (result == 0)
        result = put_all(&trace, error);
    close_trace(&trace);
    return result;
}

const struct pf_output pf_output_trace = {
    .info = {"trace", "stdio", "system calls as perf trace prints them: lines, or their summary"},
    .write = write_trace,
};
