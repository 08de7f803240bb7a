/* SPDX-License-Identifier: MIT */
#include "analysis/calls/calls.h"

#include "analysis/calls/functions.h"
#include "analysis/delivered.h"
#include "base/error.h"
#include "base/locale.h"
#include "hwtrace/decoding.h"

/* What the attr of the event has besides, by which it is recognized. */
#define CALLS_CONFIG3 UINT64_C(0x63616c6c73)

/* What is to be done with the calls of a thread, after its stack was shown. */
struct task {
    struct pf_call_thread *thread; /* NULL: nothing */
    enum { BRANCH, LOSE, END } kind;
    struct pf_call_branch branch;
    struct pf_call_change change;
    uint64_t time;
    unsigned error;
    enum pf_call_ending ending;
    bool is_shown;
};

struct calls {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct pf_decoding *decoding; /* NULL: there are no calls, */
    char why[320];                /* which this says why */
    struct pf_trace_code code;
    struct pf_call_functions functions;
    struct pf_call_stacks stacks;
    struct pf_call_thread *ending; /* at the end of the recording: the next one whose calls end */
    bool of_stacks, has_times, at_end;
    struct task task;
    size_t delivered; /* of stacks.ended */
    struct pf_call call;
    uint64_t last_time;                   /* of records */
    const struct perfile_record *waiting; /* the last record, until the decoding has noticed it; else NULL */
    struct perfile_attr attr;
    struct perfile_event event;
    struct perfile_record record;
    struct perfile_sample sample;
    uint64_t *words; /* of the stack */
    size_t word_capacity;
};

bool pf_event_is_calls(const struct perfile_event *event)
{
    return event->attr->config3 == CALLS_CONFIG3 && event->attr->type == PERFILE_TYPE_SOFTWARE;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static uint16_t mode_of(uint64_t address)
{
    return address >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
}

static void put_sample(struct calls *calls, const struct pf_call_thread *thread, uint64_t address, uint64_t begin,
                       uint64_t end)
{
    const uint64_t time = calls->of_stacks ? begin : end;
    const bool has_time = calls->has_times || calls->of_stacks;
    calls->record = (struct perfile_record){.type = PERFILE_RECORD_SAMPLE,
                                            .misc = mode_of(address),
                                            .offset = PERFILE_NO_OFFSET,
                                            .container = PERFILE_NO_OFFSET,
                                            .event = &calls->event,
                                            .time = time};
    calls->sample = (struct perfile_sample){
        .size = sizeof(calls->sample),
        .present =
            PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_PERIOD | (has_time ? PERFILE_SAMPLE_TIME : 0),
        .ip = address,
        .pid = thread->pid,
        .tid = thread->tid,
        .time = has_time ? time : UINT64_MAX,
        .cpu = UINT32_MAX,
        .period = end - begin,
    };
}

static void put_made(struct calls *calls, struct pf_synthesized *made, const struct pf_traced *traced)
{
    made->record = &calls->record;
    made->sample = &calls->sample;
    memcpy(made->note, traced, sizeof(*traced));
}

static void put_call(struct calls *calls, struct pf_synthesized *made)
{
    calls->call = calls->stacks.ended[calls->delivered++];
    const struct pf_call_thread of = {.pid = calls->call.pid, .tid = calls->call.tid};
    put_sample(calls, &of, calls->call.address, calls->call.begin, calls->call.end);
    put_made(calls, made, &(struct pf_traced){.call = &calls->call, .depth = calls->call.depth});
}

/* Each address is that of a function, not one that is returned to: so a marker precedes each of them. */
static bool put_chain(struct calls *calls, const struct pf_call_thread *thread)
{
    const size_t words = 2 * thread->count;
    if (!pf_grow(calls->allocator, &calls->words, &calls->word_capacity, words, sizeof(*calls->words)))
        return false;
    uint64_t *at = calls->words;
    for (size_t i = thread->count; i > 0; i--) {
        const uint64_t address = thread->frames[i - 1].call.address;
        *at++ = address >> 63 ? PERFILE_CONTEXT_KERNEL : PERFILE_CONTEXT_USER;
        *at++ = address;
    }
    calls->sample.present |= PERFILE_SAMPLE_CALLCHAIN;
    calls->sample.callchain = (struct perfile_u64s){.data = (const uint8_t *)calls->words, .count = words};
    return true;
}

/* Shows the thread's stack until this time. Returns 1, 0 where the stack is empty or lasted no time, or MEMORY. */
static int put_stack(struct calls *calls, struct pf_call_thread *thread, uint64_t until, struct pf_synthesized *made,
                     struct perfile_error *error)
{
    if (!thread->count || until <= thread->since)
        return 0;
    put_sample(calls, thread, thread->frames[thread->count - 1].call.address, thread->since, until);
    if (!put_chain(calls, thread))
        return pf_fail_memory(error, "calls");
    put_made(calls, made, &(struct pf_traced){.depth = (uint32_t)thread->count});
    thread->since = until;
    return 1;
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/*
 * In a picture, times that the trace does not distinguish follow each other: each change of a stack takes 1 ns at
 * least. Where the trace has no times at all, each instruction takes 1 ns, or each branch.
 */
static uint64_t time_of(const struct calls *calls, const struct pf_call_thread *thread,
                        const struct pf_call_branch *branch)
{
    if (!calls->of_stacks || !thread->time)
        return branch->time;
    if (!calls->has_times)
        return thread->time + pf_max(branch->insns, 1);
    return pf_max(pf_max(branch->time, thread->time), thread->since + 1);
}

/* Without a clock, what comes after all records is at the last of them; calls end with their last branch. */
static uint64_t known_time(const struct calls *calls, uint64_t time)
{
    return time >= UINT64_MAX - 1 ? calls->last_time : time;
}

static bool take_decoded(struct calls *calls, const struct pf_decoded *decoded)
{
    const struct pf_aux_sample *made = decoded->made;
    struct task *task = &calls->task;
    struct pf_call_thread *thread = pf_call_stacks_thread(&calls->stacks, decoded->pid, decoded->tid);
    *task = (struct task){.thread = thread,
                          .kind = decoded->error ? LOSE : BRANCH,
                          .time = calls->has_times ? decoded->time
                                  : thread         ? thread->time
                                                   : 0,
                          .error = decoded->error,
                          .branch = {.time = known_time(calls, decoded->time),
                                     .from = made->ip,
                                     .to = made->addr,
                                     .insns = made->run_insns,
                                     .cycles = made->run_cycles,
                                     .flags = made->flags,
                                     .insn_bytes = made->insn_bytes,
                                     .pid = decoded->pid,
                                     .tid = decoded->tid}};
    if (!thread)
        return false;
    if (task->kind == BRANCH)
        task->change = pf_call_stacks_plan(&calls->stacks, thread, &task->branch);
    if (task->kind == BRANCH && (!calls->has_times || pf_call_change_is_any(thread, &task->change)))
        task->time = task->branch.time = time_of(calls, thread, &task->branch);
    return true;
}

static bool do_task(struct calls *calls)
{
    const struct task task = calls->task;
    struct pf_call_stacks *stacks = &calls->stacks;
    const bool changes = task.kind != BRANCH || pf_call_change_is_any(task.thread, &task.change);
    calls->task.thread = NULL;
    const bool fine = task.kind == BRANCH ? pf_call_stacks_apply(stacks, task.thread, &task.branch, &task.change)
                      : task.kind == LOSE ? pf_call_stacks_lose(stacks, task.thread, task.time, task.error)
                                          : pf_call_stacks_end(stacks, task.thread, task.time, task.ending);
    if (changes)
        task.thread->since = task.thread->time;
    if (calls->of_stacks)
        stacks->ended_count = 0;
    return fine;
}

/* A thread that exits, or starts another program. */
static void end_thread(struct calls *calls, int32_t tid, uint64_t time)
{
    uint64_t value;
    if (pf_map_get(&calls->stacks.threads, (uint32_t)tid, &value))
        calls->task = (struct task){.thread = (struct pf_call_thread *)(uintptr_t)value,
                                    .kind = END,
                                    .time = calls->has_times ? time : 0,
                                    .ending = PF_CALL_THREAD_ENDED};
}

static void look_for_end(struct calls *calls, const struct perfile_record *record)
{
    struct perfile_exit exit;
    struct perfile_comm comm;
    if (record->damaged)
        return;
    if (record->type == PERFILE_RECORD_EXIT &&
        perfile_record_decode(calls->reader, record, &exit, sizeof(exit), NULL) == 0)
        end_thread(calls, exit.tid, record->time);
    if (record->type == PERFILE_RECORD_COMM && record->misc & PERFILE_MISC_COMM_EXEC &&
        perfile_record_decode(calls->reader, record, &comm, sizeof(comm), NULL) == 0)
        end_thread(calls, comm.tid, record->time);
}

static int take_notice(struct calls *calls, struct perfile_error *error)
{
    const struct perfile_record *record = calls->waiting;
    calls->waiting = NULL;
    if (!record)
        return 0;
    look_for_end(calls, record);
    calls->last_time = record->time < UINT64_MAX - 1 ? pf_max(calls->last_time, record->time) : calls->last_time;
    return pf_decoding_take(calls->decoding, record, error);
}

/* At the end of the recording the threads end one after the other. False: there are no more. */
static bool end_next(struct calls *calls)
{
    if (!calls->at_end)
        calls->ending = calls->stacks.first;
    calls->at_end = true;
    if (!calls->ending)
        return false;
    calls->task =
        (struct task){.thread = calls->ending, .kind = END, .time = calls->ending->time, .ending = PF_CALL_TRACE_ENDED};
    calls->ending = calls->ending->next;
    return true;
}

/* ---- the synthesizer --------------------------------------------------------------------------------------------- */

static void start(void *context, struct perfile_session *session, struct pf_jit *jit,
                  const struct pf_synthesizer_use *use)
{
    struct calls *calls = context;
    (void)use;
    calls->code.session = session;
    if (calls->code.reader)
        pf_symbols_use_jit(pf_trace_code_symbols(calls->code.reader), jit);
}

static int take_record(void *context, const struct perfile_record *record, struct perfile_error *error)
{
    struct calls *calls = context;
    const uint64_t time = record->type < PERFILE_RECORD_HEADER_ATTR ? record->time : 0;
    if (!calls->decoding)
        return 0;
    const int ready = pf_decoding_ready(calls->decoding, time, error);
    calls->waiting = ready >= 0 ? record : NULL;
    if (ready)
        return ready;
    const int result = take_notice(calls, error);
    return result < 0 ? result : calls->task.thread != NULL;
}

/* Finds the next task before this time. Returns 1, 0 where nothing is left to do before it, or an error. */
static int find_task(struct calls *calls, uint64_t time, struct perfile_error *error)
{
    struct pf_decoded decoded;
    const bool ends = time == UINT64_MAX && !calls->waiting;
    int result = calls->at_end ? 0 : pf_decoding_next(calls->decoding, time, &decoded, error);
    if (pf_trace_code_was_short(calls->code.reader))
        return pf_fail_memory(error, "calls");
    if (result > 0)
        return take_decoded(calls, &decoded) ? 1 : pf_fail_memory(error, "calls");
    if (result == 0)
        result = take_notice(calls, error);
    if (result == 0 && ends)
        end_next(calls);
    return result < 0 ? result : calls->task.thread != NULL;
}

/* Goes on with the task. Returns 1 when that made a sample, 0 when the task is finished, or an error. */
static int go_on(struct calls *calls, struct pf_synthesized *made, struct perfile_error *error)
{
    struct task *task = &calls->task;
    const bool shows = calls->of_stacks && !task->is_shown &&
                       (task->kind != BRANCH || pf_call_change_is_any(task->thread, &task->change));
    const int shown = shows ? put_stack(calls, task->thread, task->time, made, error) : 0;
    task->is_shown = true;
    if (shown)
        return shown;
    return do_task(calls) ? 0 : pf_fail_memory(error, "calls");
}

static int next_sample(void *context, uint64_t time, struct pf_synthesized *made, struct perfile_error *error)
{
    struct calls *calls = context;
    int result = calls->decoding != NULL;
    while (result > 0) {
        if (calls->delivered < calls->stacks.ended_count) {
            put_call(calls, made);
            return 1;
        }
        calls->delivered = calls->stacks.ended_count = 0;
        if (!calls->task.thread && (result = find_task(calls, time, error)) <= 0)
            break;
        if ((result = go_on(calls, made, error)) != 0)
            return result;
        result = 1;
    }
    return result;
}

static void complete(void *context, const uint64_t *note, struct pf_delivered *item)
{
    (void)context;
    memcpy(&item->traced, note, sizeof(item->traced));
}

static void report_missing(void *context, pf_on_note *notify, void *notify_context)
{
    const struct calls *calls = context;
    if (!notify)
        return;
    if (!calls->decoding)
        notify(notify_context, calls->why);
    else
        pf_decoding_notify(calls->decoding, notify, notify_context);
    if (calls->decoding && calls->of_stacks && !calls->has_times)
        notify(notify_context,
               "The trace has no times: each instruction, or of Intel BTS each branch, counts as 1 ns.");
}

static void close_calls(void *context)
{
    struct calls *calls = context;
    pf_decoding_close(calls->decoding);
    pf_call_functions_close(&calls->functions);
    pf_call_stacks_close(&calls->stacks);
    perfile_code_close(calls->code.reader);
    pf_free(calls->allocator, calls->words, calls->word_capacity * sizeof(*calls->words));
    pf_free(calls->allocator, calls, sizeof(*calls));
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* As that of a clock: its periods are times. It has a number that no event of the reader has. */
static void make_event(struct calls *calls)
{
    calls->attr = (struct perfile_attr){.type = PERFILE_TYPE_SOFTWARE,
                                        .config = PERFILE_COUNT_SW_CPU_CLOCK,
                                        .config3 = CALLS_CONFIG3,
                                        .sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_PERIOD |
                                                       PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CALLCHAIN,
                                        .sample_id_all = 1,
                                        .sample_max_stack = UINT16_MAX};
    calls->event = (struct perfile_event){.index = (uint32_t)perfile_event_count(calls->reader),
                                          .attr = &calls->attr,
                                          .attr_offset = PERFILE_NO_OFFSET,
                                          .name = "calls",
                                          .scale = 1};
}

/* No calls are known, and why. */
static int have_none(struct calls *calls, const char *why)
{
    pf_decoding_close(calls->decoding);
    calls->decoding = NULL;
    pf_format(calls->why, sizeof(calls->why), "No calls are known: %s.", why);
    return 0;
}

static int open_decoding(struct calls *calls, struct perfile_error *error)
{
    const struct pf_decoding_options how = {.allocator = calls->allocator, .letters = "be", .usual = ""};
    struct perfile_error why;
    const int result = pf_decoding_open(calls->reader, &how, &calls->decoding, &why);
    if (result == PERFILE_ERROR_ABSENT)
        return have_none(calls, "the recording has no hardware trace, or is a stream");
    if (result == PERFILE_ERROR_UNSUPPORTED)
        return have_none(calls, why.message);
    if (result == PERFILE_ERROR_ARGUMENT || (result == 0 && !pf_decoding_has_calls(calls->decoding)))
        return have_none(calls, "this trace does not have them; those of Intel PT, Intel BTS and CoreSight do");
    if (result < 0 && error)
        *error = why;
    return result;
}

static int open_trace(struct calls *calls, const struct pf_find_options *find, struct perfile_error *error)
{
    const struct pf_code_source source = pf_trace_code_source(&calls->code);
    int result = open_decoding(calls, error);
    if (result < 0 || !calls->decoding)
        return result;
    calls->has_times = pf_decoding_has_times(calls->decoding);
    if (find)
        result = pf_trace_code_open(calls->reader, find, &calls->code.reader, error);
    if (result == 0 && find)
        pf_decoding_use_code(calls->decoding, &source);
    return result;
}

static int open_calls(struct calls *calls, const struct pf_synthesizer_options *options, struct perfile_error *error)
{
    const char *what = options->wanted->calls;
    calls->of_stacks = strcmp(what, "stacks") == 0;
    if (!calls->of_stacks && strcmp(what, "each") != 0)
        return pf_about(error, what, strlen(what),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "calls",
                                "unknown value '%.40s'; valid: each, stacks", what));
    make_event(calls);
    return pf_call_functions_open(&calls->functions, calls->allocator, &calls->code)
               ? open_trace(calls, options->find, error)
               : pf_fail_memory(error, "calls");
}

_Static_assert(sizeof(struct pf_traced) <= PF_SYNTHESIZED_NOTE * sizeof(uint64_t), "it is kept with samples that wait");

int pf_calls_synthesizer(struct pf_synthesizer *synthesizer, const struct pf_synthesizer_options *options,
                         struct perfile_error *error)
{
    struct calls *calls = pf_new(options->allocator, sizeof(*calls));
    if (!calls)
        return pf_fail_memory(error, "calls");
    *calls = (struct calls){.allocator = options->allocator, .reader = options->reader};
    pf_call_stacks_open(&calls->stacks, options->allocator);
    calls->stacks.function = pf_call_functions_find;
    calls->stacks.context = &calls->functions;
    const int result = open_calls(calls, options, error);
    if (result < 0) {
        close_calls(calls);
        return result;
    }
    *synthesizer = (struct pf_synthesizer){.context = calls,
                                           .replaces = true,
                                           .start = start,
                                           .take = take_record,
                                           .next = next_sample,
                                           .complete = complete,
                                           .report_missing = report_missing,
                                           .close = close_calls};
    return 0;
}
