/* SPDX-License-Identifier: MIT */
#include "output/flame/recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <perfile/profile.h>

#include "analysis/calls/calls.h"
#include "analysis/event_names.h"
#include "base/counted.h"
#include "base/error.h"

enum { PAGE_BYTES = 16000000 };

static size_t node_limit(const struct pf_flame_recording *g)
{
    return (size_t)pf_min(g->options->flame->max_nodes, SIZE_MAX);
}

/* Those of the same event on other kinds of cores, or new ones. NULL: out of memory. */
static struct pf_flame_stacks *make_stacks(struct pf_flame_recording *g, const struct perfile_event *event)
{
    for (size_t i = 0; i < g->stacks_count; i++)
        if (pf_event_is_same(g->stacks[i].event->name, event->name)) {
            g->stacks[i].of_several = true;
            return &g->stacks[i];
        }
    if (!pf_grow(g->allocator, &g->stacks, &g->stacks_capacity, g->stacks_count + 1, sizeof(*g->stacks)))
        return NULL;
    struct pf_flame_stacks *stacks = &g->stacks[g->stacks_count];
    *stacks = (struct pf_flame_stacks){
        .event = event, .arriving = {.limit = node_limit(g)}, .is_switch = pf_offcpu_is_switch_event(event)};
    if (pf_tree_open(&stacks->tree, g->allocator) < 0)
        return NULL;
    g->stacks_count++;
    return stacks;
}

static struct pf_flame_stacks *stacks_of(struct pf_flame_recording *g, const struct perfile_event *event)
{
    const uint32_t *number = PF_ELEMENT(g->allocator, g->stacks_of, g->stacks_of_capacity, event->index);
    if (!number)
        return NULL;
    if (PF_LIKELY(*number))
        return &g->stacks[*number - 1];
    struct pf_flame_stacks *stacks = make_stacks(g, event);
    if (stacks)
        g->stacks_of[event->index] = (uint32_t)(stacks - g->stacks) + 1;
    return stacks;
}

/* `frames` has PF_BOTTOM_LEVELS. False: out of memory. */
static bool put_bottom(struct pf_bottom *bottom, const struct pf_profile_sample *sample, uint32_t *frames,
                       struct pf_stack_frames *stack)
{
    for (size_t level = 0; level < bottom->level_count; level++) {
        const uint32_t frame = pf_bottom_frame(bottom, level, sample);
        if (frame == UINT32_MAX)
            return false;
        frames[level] = frame | PF_FLAME_BOTTOM; /* both kinds of frames still grow */
    }
    stack->bottom = frames;
    stack->bottom_count = bottom->level_count;
    return true;
}

static bool add_to_tree(struct pf_flame_recording *g, struct pf_flame_stacks *stacks,
                        const struct pf_profile_sample *sample, struct pf_stack_frames *stack)
{
    uint32_t bottom[PF_BOTTOM_LEVELS];
    return put_bottom(&g->bottom, sample, bottom, stack) && pf_stacks_add(&stacks->arriving, &stacks->tree, stack);
}

/* The stack of the sample before has come into the page's tree. */
static bool add_waiting(struct pf_flame_recording *g)
{
    g->waiting.stack = g->arriving.entered;
    if (g->waits && g->times.takes_stacks && g->stacks[g->waiting.event].is_switch &&
        !pf_flame_times_add_stack(&g->times, g->waiting.time, (int32_t)g->bottom.frames[g->waiting.thread].tid,
                                  g->waiting.stack))
        return false;
    return !g->waits || pf_page_add(&g->page, &g->waiting);
}

static bool add_to_page(struct pf_flame_recording *g, struct pf_flame_stacks *stacks,
                        const struct pf_profile_sample *sample, struct pf_stack_frames *stack)
{
    uint32_t bottom[PF_BOTTOM_LEVELS];
    const uint32_t thread = pf_bottom_frame(&g->bottom, 0, sample);
    const bool timed = sample->event->attr->sample_type & PERFILE_SAMPLE_TIME;
    if (thread == UINT32_MAX || !put_bottom(&g->outer, sample, bottom, stack) ||
        !pf_stacks_add(&g->arriving, &g->page.tree, stack) || !add_waiting(g))
        return false;
    g->waits = true;
    struct pf_page_row *row = &g->waiting;
    row->time = timed ? sample->time : PF_PAGE_NO_TIME;
    row->weight = stack->weight;
    row->count = 1;
    row->thread = thread;
    row->cpu = sample->has_cpu ? sample->cpu : PF_PAGE_NONE;
    row->event = (uint32_t)(stacks - g->stacks);
    if (g->code)
        pf_flame_code_next(g->code, sample->ip, &row->code, &row->offset);
    return true;
}

static bool add_sample(struct pf_flame_recording *g, const struct pf_profile_sample *sample)
{
    struct pf_flame_stacks *stacks = stacks_of(g, sample->event);
    struct pf_stack_frames stack = {.frames = sample->frames,
                                    .frame_count = sample->frame_count,
                                    .leaf = PF_STACK_NO_LEAF,
                                    .alone = sample->frame_count ? sample->frames[0] : PF_STACK_NO_LEAF,
                                    .owner = (uint32_t)sample->tid,
                                    .weight = g->options->flame->count_samples ? 1 : sample->period};
    if (!stacks)
        return false;
    const uint64_t total = stack.weight;
    stack.weight = pf_add_to_sum(&stacks->weight, total);
    stacks->full += stack.weight != total;
    if (!(g->page.allocator ? add_to_page(g, stacks, sample, &stack) : add_to_tree(g, stacks, sample, &stack)))
        return false;
    stacks->samples++;
    return true;
}

static bool end_stacks(struct pf_flame_recording *g)
{
    for (size_t i = 0; i < g->stacks_count; i++)
        if (!pf_stacks_end(&g->stacks[i].arriving, &g->stacks[i].tree))
            return false;
    if (g->code && !pf_flame_code_is_read(g->code))
        pf_page_discard_code(&g->page);
    return !g->page.allocator ||
           (pf_stacks_end(&g->arriving, &g->page.tree) && add_waiting(g) && pf_page_end(&g->page) &&
            (!g->times.allocator ||
             pf_flame_times_end(&g->times, pf_profile_filter(g->profile), &g->bottom, &g->page)));
}

static int gather(struct pf_flame_recording *g, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(g->profile, &sample, error)) > 0)
        if (sample->event && !add_sample(g, sample))
            return pf_fail_memory(error, "flame graph");
    return end_stacks(g) ? result : pf_fail_memory(error, "flame graph");
}

uint64_t pf_flame_recording_cut(const struct pf_flame_recording *g)
{
    uint64_t cut = g->arriving.cut;
    for (size_t i = 0; i < g->stacks_count; i++)
        cut += g->stacks[i].arriving.cut;
    return cut;
}

/* Where exactness ended. */
static void report_cut(const struct pf_flame_recording *g)
{
    const struct perfile_symbol_options *symbols = g->options->symbols;
    uint64_t full = 0;
    for (size_t i = 0; i < g->stacks_count; i++)
        full += g->stacks[i].full;
    pf_profile_notify_full(full, symbols);
    const uint64_t cut = pf_flame_recording_cut(g);
    char text[256], part[PF_COUNTED_BYTES];
    if (!cut || !symbols->note)
        return;
    snprintf(text, sizeof(text), "%s (the limit of nodes in the graph is %" PRIu64 ")",
             pf_part_of(cut, pf_profile_totals(g->profile)->samples, "samples are drawn without callers", part),
             g->options->flame->max_nodes);
    symbols->note(symbols->note_context, text);
}

/* ---- the set ---- */

static struct pf_flame_frame flame_frame(const struct pf_flame_recording *g, uint32_t number)
{
    static const uint8_t kinds[] = {[PF_FRAME_USER] = PF_FLAME_USER,
                                    [PF_FRAME_KERNEL] = PF_FLAME_KERNEL,
                                    [PF_FRAME_INLINED] = PF_FLAME_INLINED,
                                    [PF_FRAME_JIT] = PF_FLAME_JIT,
                                    [PF_FRAME_UNKNOWN] = PF_FLAME_UNKNOWN};
    const struct pf_frame_info *info = pf_profile_frame(g->profile, number);
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(g->profile), info->module);
    return (struct pf_flame_frame){
        .name = info->name, .module = module ? module->name : NULL, .kind = kinds[info->kind]};
}

static const char *unit_of(struct pf_flame_recording *g, const struct perfile_event *event)
{
    char unit[64];
    if (g->options->flame->count_samples)
        return "samples";
    perfile_event_unit(event, unit, sizeof(unit));
    return pf_arena_text(&g->bottom.arena, unit, strlen(unit));
}

/* NULL: out of memory. */
static const char *name_event(struct pf_flame_recording *g, const struct pf_flame_stacks *stacks)
{
    char common[PF_EVENT_NAME_BYTES];
    if (!stacks->of_several)
        return stacks->event->name;
    pf_event_common_name(stacks->event->name, common);
    return pf_arena_text(&g->bottom.arena, common, strlen(common));
}

static uint64_t total_of(const struct pf_flame_recording *g, size_t stacks)
{
    if (!g->page.allocator)
        return g->stacks[stacks].weight;
    return stacks < g->page.event_capacity ? g->page.totals[stacks] : 0;
}

static bool make_events(struct pf_flame_recording *g)
{
    g->events = pf_new(g->allocator, (g->stacks_count + 1) * sizeof(*g->events));
    for (size_t i = 0; g->events && i < g->stacks_count; i++) {
        g->events[i] = (struct pf_flame_event){.name = name_event(g, &g->stacks[i]),
                                               .tree = g->page.allocator ? NULL : &g->stacks[i].tree,
                                               .total = total_of(g, i),
                                               .lasts = pf_event_is_calls(g->stacks[i].event),
                                               .unit = unit_of(g, g->stacks[i].event)};
        if (!g->events[i].unit || !g->events[i].name)
            return false;
    }
    return g->events != NULL;
}

/* The outermost functions of a page get their numbers among all frames. */
static void number_outer(struct pf_tree *tree, size_t first)
{
    for (size_t i = 1; i < tree->count; i++)
        if (tree->nodes[i].frame & PF_FLAME_BOTTOM)
            tree->nodes[i].frame = (tree->nodes[i].frame & ~PF_FLAME_BOTTOM) + (uint32_t)first;
}

static bool make_frames(struct pf_flame_recording *g, size_t plain)
{
    const size_t outer = plain + g->bottom.frame_count;
    g->frame_count = outer + g->outer.frame_count;
    g->frames = pf_new(g->allocator, (g->frame_count + 1) * sizeof(*g->frames));
    if (!g->frames || !pf_bottom_finish(&g->bottom))
        return false;
    for (size_t i = 0; i < plain; i++)
        g->frames[i] = flame_frame(g, (uint32_t)i);
    if (g->bottom.frame_count)
        memcpy(g->frames + plain, g->bottom.frames, g->bottom.frame_count * sizeof(*g->frames));
    if (g->outer.frame_count)
        memcpy(g->frames + outer, g->outer.frames, g->outer.frame_count * sizeof(*g->frames));
    number_outer(&g->page.tree, outer);
    return true;
}

struct command {
    const struct pf_flame_recording *recording;
    char *text;
    size_t bytes, used;
    bool is_after_recorder, follows; /* its name; its options */
};

/* The kernel cuts names of threads. */
static bool is_thread(const struct pf_flame_recording *g, const char *name, size_t bytes)
{
    enum { COMM_BYTES = 15 };
    const size_t length = pf_min(bytes, COMM_BYTES);
    for (size_t i = 0; i < g->bottom.frame_count; i++) {
        const char *thread = g->bottom.frames[i].name;
        if (thread && length && strlen(thread) == length && memcmp(thread, name, length) == 0)
            return true;
    }
    return false;
}

/*
 * The program without its folder, and its arguments. It follows "--", or is the first word that a thread is called as.
 */
static int take_word(void *context, const struct perfile_value *value)
{
    struct command *command = context;
    const char *word = (const char *)value->data;
    size_t bytes = value->bytes, first = 0;
    if (!word || command->used >= command->bytes)
        return 0;
    for (size_t i = 0; !command->used && i + 1 < bytes; i++)
        first = word[i] == '/' ? i + 1 : first;
    if (!command->follows) {
        const bool is_end = bytes == 2 && memcmp(word, "--", bytes) == 0, may_be = command->is_after_recorder;
        command->is_after_recorder = true;
        command->follows = is_end || (may_be && is_thread(command->recording, word + first, bytes - first));
        if (is_end || !command->follows)
            return 0;
    }
    const int put = snprintf(command->text + command->used, command->bytes - command->used, "%s%.*s",
                             command->used ? " " : "", (int)pf_min(bytes - first, command->bytes), word + first);
    command->used += put > 0 ? (size_t)put : 0;
    return 0;
}

/* A picture is called as the command that was recorded, where it is known at which word that begins. */
static bool name_by_command(struct pf_flame_recording *g)
{
    struct command command = {.recording = g, .text = g->title, .bytes = sizeof(g->title)};
    const struct perfile_visitor words = {.size = sizeof(words), .context = &command, .value = take_word};
    pf_memory_check(g->allocator, perfile_feature_visit(g->reader, PERFILE_FEATURE_CMDLINE, &words, NULL));
    return command.used;
}

static bool make_set(struct pf_flame_recording *g)
{
    const size_t plain = pf_profile_frame_count(g->profile);
    const char *host = NULL;
    if (!make_frames(g, plain) || !make_events(g))
        return false;
    if (pf_memory_check(g->allocator, perfile_feature_text(g->reader, PERFILE_FEATURE_HOSTNAME, NULL, &host, NULL)) <
            0 ||
        !*host)
        host = NULL;
    if (!name_by_command(g))
        snprintf(g->title, sizeof(g->title), "%s%s%s", g->report ? "Report" : "Flame graph", host ? " of " : "",
                 host ? host : "");
    g->set = (struct pf_flame_set){.title = g->options->flame->title ? g->options->flame->title : g->title,
                                   .unit = "events",
                                   .event_count = (uint32_t)g->stacks_count,
                                   .events = g->events,
                                   .frames = g->frames,
                                   .frame_count = g->frame_count,
                                   .plain_count = plain,
                                   .page = g->page.allocator ? &g->page : NULL,
                                   .threads = g->bottom.frames,
                                   .thread_count = g->bottom.frame_count,
                                   .times = g->times.allocator ? &g->times : NULL};
    return true;
}

/*
 * ---- the recording
 * ---------------------------------------------------------------------------------------------------
 */

size_t pf_flame_page_bytes(const struct perfile_flame_options *options)
{
    return options->page_bytes && options->page_bytes <= SIZE_MAX ? (size_t)options->page_bytes : PAGE_BYTES;
}

static int watch_times(struct pf_flame_recording *g, struct pf_profile_options *how, struct perfile_error *error)
{
    const bool has_none = how->filter && (how->filter->off_cpu || how->filter->cpus);
    const enum pf_waits waits = g->off_cpu ? PF_WAITS_REQUIRED : has_none ? PF_WAITS_NONE : PF_WAITS_IF_ANY;
    enum pf_offcpu_what what = PF_OFFCPU_ALL;
    const int result = g->off_cpu ? pf_offcpu_parse(g->off_cpu, &what, error) : 0;
    if (result < 0)
        return result;
    how->watch = pf_flame_times_take;
    how->watch_context = &g->times;
    if (pf_flame_times_open(&g->times, g->reader, waits, what, g->allocator) < 0)
        return pf_fail_memory(error, "flame graph");
    how->watches_all = g->times.offcpu;
    return 0;
}

/* A page of times off CPU has them as intervals, beside all samples; those of wakers are samples. */
static void take_off_cpu(struct pf_flame_recording *g, struct pf_profile_options *how)
{
    if (!how->filter || !how->filter->off_cpu || strcmp(how->filter->off_cpu, "wakers") == 0)
        return;
    g->filter = *how->filter;
    g->filter.off_cpu = NULL;
    g->off_cpu = how->filter->off_cpu;
    how->filter = &g->filter;
}

static struct pf_profile_options how_to_read(const struct perfile_output_options *options,
                                             const struct perfile_allocator *allocator)
{
    return (struct pf_profile_options){.filter = options->filter,
                                       .find = pf_find_options_of(options->symbols, allocator),
                                       .unwind = options->symbols->unwind,
                                       .frames = {.inlines = !options->symbols->no_inline, .joins_unnamed = true},
                                       .in_blocks = true,
                                       .drive = pf_profile_drive_of(options)};
}

static void start(struct pf_flame_recording *g, struct perfile_reader *reader,
                  const struct perfile_output_options *options)
{
    *g = (struct pf_flame_recording){.allocator = pf_allocator_or_default(options->allocator),
                                     .options = options,
                                     .reader = reader,
                                     .code = g->code};
    g->arriving.limit = node_limit(g);
}

static int open_page(struct pf_flame_recording *g)
{
    pf_bottom_set_threads(&g->bottom); /* the page puts them together by itself */
    const int result = pf_page_open(&g->page, g->allocator, pf_flame_page_bytes(g->options->flame));
    g->page.has_code = g->code;
    return result;
}

/* What the page does not put together by itself. */
static int open_outer(struct pf_flame_recording *g, struct perfile_error *error)
{
    const struct pf_bottom_options options = {g->allocator, g->options->flame->by, NULL, g->reader,
                                              .only = PF_BOTTOM_TAGS};
    const int result = options.by ? pf_bottom_open(&g->outer, &options, error) : 0;
    if (result == 0 && g->outer.level_count)
        (void)pf_bottom_list(&g->bottom, g->levels);
    return result;
}

/* Samples of a recording have what columns show. */
static struct pf_tags *tags_of(const struct pf_flame_recording *g)
{
    return g->outer.tags ? g->outer.tags : g->bottom.tags;
}

/* A page needs an event, and switches may have been recorded without samples. */
static int end_off_cpu(struct pf_flame_recording *g, struct perfile_error *error)
{
    const struct perfile_event *event = perfile_event_get(g->reader, 0);
    if (!g->off_cpu)
        return 0;
    pf_offcpu_report_missing(g->times.offcpu, g->options->symbols->note, g->options->symbols->note_context);
    if (!g->times.wait_count)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "flame graph", "there are no times off CPU");
    return g->stacks_count || (event && make_stacks(g, event)) ? 0 : pf_fail_memory(error, "flame graph");
}

int pf_flame_recording_open(struct pf_flame_recording *g, struct perfile_reader *reader,
                            const struct perfile_output_options *options, bool page, struct perfile_error *error)
{
    const struct perfile_flame_options *flame = options->flame;
    start(g, reader, options);
    struct pf_profile_options how = how_to_read(options, g->allocator);
    if (reader == flame->before)
        how.find.recording = flame->before_path ? flame->before_path : perfile_reader_file(reader)->path;
    const struct pf_bottom_options bottom = {g->allocator, flame->by ? flame->by : "comm", flame->time_quantum, reader,
                                             .only = page ? PF_BOTTOM_KEYS : PF_BOTTOM_ALL};
    int result = pf_bottom_open(&g->bottom, &bottom, error);
    how.frames.inlines = how.frames.inlines && !(how.filter && how.filter->calls);
    if (page)
        take_off_cpu(g, &how);
    if (result == 0 && page)
        result = open_outer(g, error);
    how.decoded = tags_of(g) && pf_tags_need_decoded(tags_of(g));
    how.parallelism = how.decoded && pf_tags_need_parallelism(tags_of(g));
    if (result == 0 && page)
        result = open_page(g);
    if (result == 0 && page)
        result = watch_times(g, &how, error);
    if (result == 0)
        result = pf_profile_open(reader, &how, &g->profile, error);
    if (result == 0 && tags_of(g))
        pf_tags_attach(tags_of(g), g->profile);
    if (result == 0)
        result = gather(g, error);
    if (result == 0)
        result = end_off_cpu(g, error);
    if (result == 0)
        report_cut(g);
    if (result == 0 && reader != flame->before)
        pf_profile_notify_unmatched(g->profile, options->unmatched, options->unmatched_context);
    if (result == 0 && !make_set(g))
        result = pf_fail_memory(error, "flame graph");
    return result;
}

/* ---- the samples of a report ---- */

/* Frames without a symbol are left out. False when out of memory. */
static bool keep_named(struct pf_flame_recording *g, struct pf_profile_sample *sample)
{
    size_t count = 0;
    if (!pf_grow(g->allocator, &g->named, &g->named_capacity, sample->frame_count, sizeof(*g->named)))
        return false;
    for (size_t i = 0; i < sample->frame_count; i++)
        if (pf_profile_frame(g->report->profile, sample->frames[i])->name)
            g->named[count++] = sample->frames[i];
    sample->frames = g->named;
    sample->frame_count = count;
    return true;
}

static bool take_of_report(void *context, const struct pf_profile_sample *sample)
{
    struct pf_flame_recording *g = context;
    struct pf_profile_sample shown = *sample;
    shown.frame_count = (size_t)pf_min(shown.frame_count, g->report->settings.max_stack);
    return (!g->report->settings.hides_unresolved || keep_named(g, &shown)) && add_sample(g, &shown);
}

static bool has_column(const struct pf_report_column *column)
{
    static const enum pf_column_number known[] = {
        PF_COLUMN_comm,   PF_COLUMN_tgid,  PF_COLUMN_pid,    PF_COLUMN_tid,      PF_COLUMN_cpu,
        PF_COLUMN_time,   PF_COLUMN_dso,   PF_COLUMN_symbol, PF_COLUMN_overhead, PF_COLUMN_overhead_children,
        PF_COLUMN_sample, PF_COLUMN_period};
    for (size_t i = 0; i < PF_COUNT(known); i++)
        if (column == &pf_report_columns[known[i]])
            return true;
    return false;
}

/* The page makes rows of what it knows of samples. */
static int check_columns(const struct pf_report *report, struct perfile_error *error)
{
    for (size_t i = 0; i < report->layout.sort_count; i++)
        if (!has_column(report->layout.sorts[i]))
            return pf_about(
                error, report->layout.sorts[i]->name, strlen(report->layout.sorts[i]->name),
                pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "sort",
                        "a page has no column '%.40s'; valid: comm, tgid, pid, tid, cpu, time, dso, symbol, "
                        "overhead, overhead_children, sample, period",
                        report->layout.sorts[i]->name));
    return 0;
}

/* Times off CPU are of all threads that the filter of times and processors lets pass. */
static bool chooses_samples(const struct perfile_output_options *options)
{
    const struct perfile_filter *filter = options->filter;
    const struct perfile_report_options *report = options->report;
    return filter->pids || filter->tids || filter->comms || report->dsos || report->symbols || report->symbol_filter;
}

static int read_report(struct pf_flame_recording *g, struct perfile_error *error)
{
    struct pf_profile_options how = {.filter = g->options->filter};
    int result = chooses_samples(g->options) ? 0 : watch_times(g, &how, error);
    const struct pf_report_taker taker = {.take = take_of_report,
                                          .context = g,
                                          .check = check_columns,
                                          .watch = how.watch,
                                          .watch_context = how.watch_context,
                                          .watches_all = how.watches_all};
    if (result == 0)
        result = pf_report_take(g->report, g->reader, g->options, &taker, error);
    g->profile = g->report->profile;
    g->bottom.quantum_ns = g->report->settings.quantum_ns ? g->report->settings.quantum_ns : g->bottom.quantum_ns;
    if (result == 0 && (!end_stacks(g) || !make_set(g)))
        result = pf_fail_memory(error, "report");
    if (result == 0)
        report_cut(g);
    return result;
}

int pf_flame_recording_open_report(struct pf_flame_recording *g, struct perfile_reader *reader,
                                   const struct perfile_output_options *options, struct perfile_error *error)
{
    start(g, reader, options);
    int result = pf_bottom_open(&g->bottom, &(struct pf_bottom_options){g->allocator, .by = "comm"}, error);
    if (result == 0)
        result = open_page(g);
    if (result == 0 && !(g->report = pf_new(g->allocator, sizeof(*g->report))))
        result = pf_fail_memory(error, "report");
    return result == 0 ? read_report(g, error) : result;
}

static void close_profile(struct pf_flame_recording *g)
{
    if (!g->report) {
        pf_profile_close(g->profile);
        return;
    }
    if (g->report->allocator)
        pf_report_close(g->report);
    pf_free(g->allocator, g->report, sizeof(*g->report));
    pf_free(g->allocator, g->named, g->named_capacity * sizeof(*g->named));
}

void pf_flame_recording_close(struct pf_flame_recording *g)
{
    for (size_t i = 0; i < g->stacks_count; i++) {
        struct pf_flame_stacks *stacks = &g->stacks[i];
        (void)pf_stacks_end(&stacks->arriving, &stacks->tree);
        pf_tree_close(&stacks->tree);
    }
    pf_free(g->allocator, g->events, (g->stacks_count + 1) * sizeof(*g->events));
    pf_free(g->allocator, g->stacks, g->stacks_capacity * sizeof(*g->stacks));
    pf_free(g->allocator, g->stacks_of, g->stacks_of_capacity * sizeof(*g->stacks_of));
    if (g->page.tree.allocator)
        (void)pf_stacks_end(&g->arriving, &g->page.tree);
    pf_page_close(&g->page);
    pf_free(g->allocator, g->frames, (g->frame_count + 1) * sizeof(*g->frames));
    pf_bottom_close(&g->bottom);
    if (g->outer.allocator)
        pf_bottom_close(&g->outer);
    close_profile(g);
    pf_flame_times_close(&g->times);
}

static int fail_event(const struct pf_flame_recording *g, const char *name, struct perfile_error *error)
{
    char known[160] = "";
    for (size_t i = 0; i < g->stacks_count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "", g->events[i].name);
    }
    return pf_about(error, name, strlen(name),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "flame graph",
                            "no samples of event '%.80s'; samples exist for %s", name, known));
}

static bool find_event(const struct pf_flame_recording *g, const char *name, uint32_t *event)
{
    if (pf_flame_event_find(&g->set, name, event))
        return true;
    for (*event = 0; *event < g->stacks_count; ++*event)
        if (pf_event_is_called(g->stacks[*event].event->name, name))
            return true;
    return false;
}

void pf_flame_recording_notify_others(const struct pf_flame_recording *g, uint32_t event)
{
    const struct perfile_symbol_options *symbols = g->options->symbols;
    char text[PF_NOTE_BYTES];
    size_t used;
    if (!symbols->note || g->stacks_count < 2)
        return;
    used = (size_t)snprintf(text, sizeof(text), "1 of %zu events is drawn: %.60s; the others:", g->stacks_count,
                            g->events[event].name);
    for (size_t i = 0, count = 0; i < g->stacks_count && used < sizeof(text); i++)
        if (i != event)
            used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s", count++ ? "," : "", g->events[i].name);
    symbols->note(symbols->note_context, text);
}

/* Times on CPU beside those off CPU are those of clocks. */
static bool is_better(const struct pf_flame_recording *g, uint32_t a, uint32_t b)
{
    const bool both = g->off_cpu && strcmp(g->off_cpu, "both") == 0;
    const bool clock_a = both && strcmp(g->events[a].unit, "ns") == 0;
    const bool clock_b = both && strcmp(g->events[b].unit, "ns") == 0;
    return clock_a != clock_b ? clock_a : g->stacks[a].samples > g->stacks[b].samples;
}

int pf_flame_recording_event(const struct pf_flame_recording *g, const char *name, uint32_t *event,
                             struct perfile_error *error)
{
    *event = 0;
    char why[PF_NOTE_BYTES] = "";
    const struct pf_profile_totals *totals = pf_profile_totals(g->profile);
    const bool filtered = totals->filtered || totals->samples;
    const char *what = g->report ? "report" : "flame graph";
    if (g->stacks_count == 0 && g->options->filter && g->options->filter->off_cpu)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, what, "there are no times off CPU");
    if (g->stacks_count == 0 && !filtered && pf_note_no_samples(g->reader, 0, why))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, what, "there are no samples. %s", why);
    if (g->stacks_count == 0)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, what,
                       filtered ? "no sample passes the filters" : "the recording has no samples");
    if (name)
        return find_event(g, name, event) ? 0 : fail_event(g, name, error);
    for (uint32_t i = 0; i < g->stacks_count; i++)
        if (is_better(g, i, *event))
            *event = i;
    return 0;
}
