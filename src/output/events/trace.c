/* SPDX-License-Identifier: MIT */
/* System calls as `perf trace` prints them: a line for each, and their summary. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/events/syscall_stats.h"
#include "base/error.h"
#include "base/locale.h"
#include "output/events/events.h"
#include "output/events/trace_fields.h"

struct trace {
    struct pf_text *out;
    const struct perfile_output_options *options;
    unsigned flags;
    struct pf_delivery *delivery;
    struct pf_profile *profile;             /* of which the delivery is; NULL: nothing is asked of symbols */
    const struct pf_profile_sample *sample; /* of the event in hand; NULL: see above */
    struct pf_syscalls syscalls;
    struct pf_syscall_stats stats;
    struct pf_text text; /* of the call in hand */
    uint32_t pending;    /* the thread that was the last to enter a call; UINT32_MAX: none */
    bool *is_pending;    /* of threads: the line of the open call was not printed */
    size_t pending_capacity;
    struct pf_map listed; /* index of an event to its tracepoint, if it has lines; else 0 */
    uint64_t last_time;
    uint64_t line_count;
    bool has_lines, has_summary;
};

enum { ALIGNMENT = 70, MARK = 4 /* " ..." */ };

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void put_time(const struct trace *trace, uint64_t ns)
{
    pf_put_ms(trace->out, ns, 10);
    pf_put_char(trace->out, ' ');
}

/* "ls/4711 " */
static void put_thread(struct trace *trace, const char *comm, int32_t tid)
{
    if (!(trace->flags & PERFILE_EVENTS_NO_COMM)) {
        enum { MAX_BYTES = 14 };
        char name[MAX_BYTES + 1] = "";
        if (comm)
            memcpy(name, comm, strnlen(comm, MAX_BYTES));
        pf_put_name(trace->out, name);
        pf_put_char(trace->out, '/');
    }
    pf_put_signed(trace->out, tid);
    pf_put_char(trace->out, ' ');
}

/* Puts the time, the duration and the thread of a call. */
static void put_head(struct trace *trace, uint32_t thread, const struct pf_syscall_call *call, bool finished)
{
    const struct pf_syscall_thread *of = &trace->syscalls.threads[thread];
    const uint64_t base = trace->flags & PERFILE_EVENTS_FULL_TIME ? 0 : trace->syscalls.first_time;
    if (call->entered)
        put_time(trace, call->start - base);
    else
        pf_put_string(trace->out, "         ? ");
    const uint32_t cpu = call->left ? call->end_cpu : call->start_cpu;
    if (trace->flags & PERFILE_EVENTS_CPU && cpu != UINT32_MAX)
        pf_put_format(trace->out, "[%03" PRIu32 "] ", cpu);
    trace->line_count++;
    if (call->entered && finished) {
        pf_put_char(trace->out, '(');
        pf_put_ms(trace->out, call->end - call->start, 6);
        pf_put_string(trace->out, " ms): ");
    } else {
        pf_put_string(trace->out, "(         ): ");
    }
    put_thread(trace, of->comm, of->tid);
}

/* "read(fd: 3)" in trace->text. */
static void make_call(struct trace *trace, const struct pf_syscall_call *call)
{
    char label[32];
    trace->text.used = 0;
    pf_put_string(&trace->text, pf_syscall_label(call->call, call->number, label));
    pf_put_char(&trace->text, '(');
    pf_syscall_put_arguments(&trace->text, call->abi, call->call, call->arguments, &call->names);
    pf_put_char(&trace->text, ')');
}

static void put_padded(const struct trace *trace, size_t width)
{
    pf_put(trace->out, trace->text.data, trace->text.used);
    if (trace->text.used < width) {
        const size_t blanks = width - trace->text.used;
        char *at = pf_text_reserve(trace->out, blanks);
        memset(at, ' ', blanks);
        pf_text_commit(trace->out, at + blanks);
    }
}

static bool *pending_of(struct trace *trace, uint32_t thread)
{
    return PF_ELEMENT(trace->options->allocator, trace->is_pending, trace->pending_capacity, thread);
}

/* A call that goes on, because another one begins. */
static void put_interrupted(struct trace *trace, uint32_t thread, const struct pf_syscall_call *call)
{
    put_head(trace, thread, call, false);
    make_call(trace, call);
    put_padded(trace, ALIGNMENT - MARK);
    pf_put_string(trace->out, " ...\n");
}

static void put_error(struct pf_text *out, uint64_t number)
{
    const char *name = pf_errno_name(number), *text = pf_errno_text(number);
    if (name)
        pf_put_format(out, "-1 %s", name);
    else
        pf_put_format(out, "-%" PRIu64, number);
    if (text)
        pf_put_format(out, " (%s)", text);
}

static void put_result(const struct trace *trace, const struct pf_syscall_call *call)
{
    enum { ERRORS = 4095 };
    const enum pf_syscall_result kind = pf_syscall_result_kind(call->call);
    if (call->result < 0 && call->result >= -ERRORS) {
        put_error(trace->out, (uint64_t)-call->result);
    } else if (kind == PF_RESULT_HEX) {
        pf_put_string(trace->out, "0x");
        pf_put_hex(trace->out, (uint64_t)call->result);
    } else if (kind == PF_RESULT_PID) {
        pf_put_task(trace->out, call->result, pf_delivery_session(trace->delivery));
    } else {
        pf_put_signed(trace->out, call->result);
        pf_put_string(trace->out, kind == PF_RESULT_TIMEOUT && call->result == 0 ? " (Timeout)" : "");
    }
    pf_put_char(trace->out, '\n');
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
    put_head(trace, event->thread, &at, true);
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
    const uint64_t base = trace->flags & PERFILE_EVENTS_FULL_TIME ? 0 : trace->syscalls.first_time;
    put_time(trace, item->sample.time - base);
    if (trace->flags & PERFILE_EVENTS_CPU && item->sample.cpu != UINT32_MAX)
        pf_put_format(trace->out, "[%03" PRIu32 "] ", item->sample.cpu);
    if (!(trace->flags & PERFILE_EVENTS_NO_CALLS))
        pf_put_string(trace->out, "(         ): ");
    put_thread(trace, item->comm, item->sample.tid);
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

static void put_left(struct trace *trace, const struct pf_syscall_event *event, bool *pending)
{
    const struct pf_syscall_call *call = &event->call;
    char label[32];
    if (!is_shown(trace, call))
        return;
    put_head(trace, event->thread, call, true);
    if (*pending && call->entered) {
        make_call(trace, call);
    } else {
        trace->text.used = 0;
        pf_put_string(&trace->text, " ... [continued]: ");
        pf_put_string(&trace->text, pf_syscall_label(call->call, call->number, label));
        pf_put_string(&trace->text, "())");
    }
    put_padded(trace, ALIGNMENT - 1);
    pf_put_string(trace->out, " = ");
    put_result(trace, call);
    put_stack(trace);
}

/* Lines of calls come when they end, or another one begins before. */
static bool put_entered(struct trace *trace, const struct pf_syscall_event *event, bool *pending)
{
    const bool all = !trace->options->events->minimum_ns && !(trace->flags & PERFILE_EVENTS_FAILED);
    const uint32_t before = trace->pending;
    trace->pending = event->thread;
    if (before != UINT32_MAX && all) {
        bool *other = pending_of(trace, before);
        const struct pf_syscall_thread *thread = &trace->syscalls.threads[before];
        if (other && *other)
            put_interrupted(trace, before,
                            event->has_unfinished && before == event->thread ? &event->unfinished : &thread->open);
        if (other)
            *other = false;
    }
    if (!pf_syscall_never_returns(event->call.call)) {
        *pending = true;
        return true;
    }
    if (all) {
        put_head(trace, event->thread, &event->call, false);
        make_call(trace, &event->call);
        put_padded(trace, ALIGNMENT - 1);
        pf_put_string(trace->out, " = ?\n");
    }
    *pending = false;
    return true;
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
    put_left(trace, event, pending);
    *pending = false;
    return true;
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

static int put_all(struct trace *trace, struct perfile_error *error)
{
    const bool is_stream = perfile_reader_file(trace->syscalls.reader)->mode == PERFILE_MODE_PIPE;
    struct pf_delivered item = {.record = NULL};
    int result = 0;
    while (!trace->out->failed && (fits(trace) || trace->has_summary) && (result = next(trace, &item, error)) > 0) {
        if ((result = take(trace, &item, error)) < 0)
            break;
        if (is_stream && trace->out->used) /* the next record may be long in coming */
            pf_text_flush(trace->out);
    }
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
    pf_text_close(&trace->text);
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
    int result =
        pf_text_open(&trace.text, options->allocator, NULL, NULL) < 0 ? pf_fail_memory(error, "system calls") : 0;
    trace.text.escapes = out->escapes;
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
