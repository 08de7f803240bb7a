/* SPDX-License-Identifier: MIT */
/*
 * The Firefox Profiler's processed format, version 55: what its loaders upgrade without loss since it came up, and
 * those of 2024 read as it is. Each event of each thread is a thread table of its own, with tables of frames and texts
 * of its own: these are made one after the other, from what firefox_tables.c numbers once for all.
 */
#include "output/export/firefox.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/calls/calls.h"
#include "base/bytes.h"
#include "base/error.h"
#include "output/export/export.h"

enum { VERSION = 55, NS_PER_MS = 1000000 };

/* ---- pieces of JSON ---------------------------------------------------------------------------------------------- */

void pf_firefox_put_text(struct pf_firefox *firefox, const char *text)
{
    pf_put_json_string(firefox->out, text, strlen(text));
}

/* ns as ms, exactly. */
static void put_ms(struct pf_firefox *firefox, uint64_t ns)
{
    char digits[40], *end = pf_digits(digits, ns / NS_PER_MS);
    if (ns % NS_PER_MS) {
        *end++ = '.';
        end = pf_digits_fixed(end, ns % NS_PER_MS, 6);
        while (end[-1] == '0')
            end--;
    }
    pf_put(firefox->out, digits, (size_t)(end - digits));
}

/* A moment, counted from the first. */
void pf_firefox_put_moment(struct pf_firefox *firefox, uint64_t time)
{
    const struct pf_timeline *timeline = &firefox->timeline;
    put_ms(firefox, timeline->offset + (time > timeline->first ? time - timeline->first : 0));
}

void pf_firefox_begin_column(struct pf_firefox *firefox, const char *name)
{
    pf_firefox_put(firefox, ",\"");
    pf_firefox_put(firefox, name);
    pf_firefox_put(firefox, "\":[");
}

void pf_firefox_put_comma(struct pf_firefox *firefox, size_t i)
{
    if (i)
        pf_put_char(firefox->out, ',');
}

static void put_number_or(struct pf_firefox *firefox, uint32_t number, const char *other)
{
    if (number == PF_FIREFOX_NONE)
        pf_firefox_put(firefox, other);
    else
        pf_put_unsigned(firefox->out, number);
}

/* ---- numbers anew ------------------------------------------------------------------------------------------------ */

/* The new number. 0 also when out of memory. */
static uint32_t use(struct pf_firefox *firefox, unsigned which, uint32_t number)
{
    struct pf_firefox_numbering *numbering = &firefox->numberings[which];
    if (numbering->numbers[number])
        return numbering->numbers[number] - 1;
    if (!pf_grow(firefox->timeline.allocator, &numbering->used, &numbering->capacity, numbering->count + 1,
                 sizeof(*numbering->used))) {
        firefox->failed = true;
        return 0;
    }
    numbering->used[numbering->count++] = number;
    numbering->numbers[number] = (uint32_t)numbering->count;
    return (uint32_t)numbering->count - 1;
}

uint32_t pf_firefox_use_text(struct pf_firefox *firefox, const char *text)
{
    const uint32_t number = pf_firefox_text(&firefox->tables, text);
    struct pf_firefox_numbering *texts = &firefox->numberings[PF_FIREFOX_TEXTS];
    if (number == PF_FIREFOX_NONE ||
        !PF_HAS_ELEMENT(firefox->timeline.allocator, texts->numbers, texts->size, number)) {
        firefox->failed = true;
        return 0;
    }
    return use(firefox, PF_FIREFOX_TEXTS, number);
}

static void discard(struct pf_firefox *firefox)
{
    for (unsigned i = 0; i < PF_FIREFOX_NUMBERINGS; i++) {
        struct pf_firefox_numbering *numbering = &firefox->numberings[i];
        for (size_t k = 0; k < numbering->count; k++)
            numbering->numbers[numbering->used[k]] = 0;
        numbering->count = 0;
    }
}

static bool open_numberings(struct pf_firefox *firefox)
{
    const struct pf_firefox_tables *tables = &firefox->tables;
    const size_t sizes[PF_FIREFOX_NUMBERINGS] = {
        [PF_FIREFOX_NODES] = tables->node_count,         [PF_FIREFOX_FRAMES] = tables->frame_count,
        [PF_FIREFOX_FUNCTIONS] = tables->function_count, [PF_FIREFOX_SYMBOLS] = tables->symbol_count,
        [PF_FIREFOX_LIBRARIES] = tables->library_count,  [PF_FIREFOX_TEXTS] = tables->text_count};
    for (unsigned i = 0; i < PF_FIREFOX_NUMBERINGS; i++) {
        struct pf_firefox_numbering *numbering = &firefox->numberings[i];
        numbering->size = sizes[i] + 1;
        numbering->numbers = pf_new(tables->allocator, numbering->size * sizeof(*numbering->numbers));
        if (!numbering->numbers)
            return false;
    }
    return true;
}

static void close_numberings(struct pf_firefox *firefox)
{
    const struct perfile_allocator *allocator = firefox->timeline.allocator;
    for (unsigned i = 0; i < PF_FIREFOX_NUMBERINGS; i++) {
        struct pf_firefox_numbering *numbering = &firefox->numberings[i];
        pf_free(allocator, numbering->numbers, numbering->size * sizeof(*numbering->numbers));
        pf_free(allocator, numbering->used, numbering->capacity * sizeof(*numbering->used));
    }
}

/* ---- tables of a thread ------------------------------------------------------------------------------------------ */

static int ascending(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return PF_COMPARE(x, y);
}

static void use_stack(struct pf_firefox *firefox, uint32_t node)
{
    for (; node && !firefox->numberings[PF_FIREFOX_NODES].numbers[node];
         node = firefox->timeline.tree.nodes[node].parent)
        use(firefox, PF_FIREFOX_NODES, node);
}

/* All stacks of the track; parents stand before their children then, as in the tree. */
static void use_stacks(struct pf_firefox *firefox, const struct pf_firefox_track *track)
{
    struct pf_firefox_numbering *nodes = &firefox->numberings[PF_FIREFOX_NODES];
    for (size_t i = 0; track->series && i < track->series->count; i++)
        use_stack(firefox, track->series->rows[i].node);
    for (size_t i = 0; track->first && i < track->thread->marks.count; i++)
        use_stack(firefox, track->thread->marks.items[i].node);
    if (nodes->count)
        qsort(nodes->used, nodes->count, sizeof(*nodes->used), ascending);
    for (size_t i = 0; i < nodes->count; i++)
        nodes->numbers[nodes->used[i]] = (uint32_t)i + 1;
}

/* One column of a table: what it says of the i-th thing that is used. */
struct column {
    const char *name;
    void (*put)(struct pf_firefox *firefox, uint32_t number);
};

static void put_table(struct pf_firefox *firefox, const char *name, unsigned which, const struct column *columns)
{
    pf_put_format(firefox->out, ",\"%s\":{\"length\":%zu", name, firefox->numberings[which].count);
    for (; columns->name; columns++) {
        pf_firefox_begin_column(firefox, columns->name);
        for (size_t i = 0; i < firefox->numberings[which].count; i++) {
            pf_firefox_put_comma(firefox, i);
            columns->put(firefox, firefox->numberings[which].used[i]);
        }
        pf_firefox_put(firefox, "]");
    }
    pf_firefox_put(firefox, "}");
}

static void put_null(struct pf_firefox *firefox, uint32_t number)
{
    (void)number;
    pf_firefox_put(firefox, "null");
}

static void put_false(struct pf_firefox *firefox, uint32_t number)
{
    (void)number;
    pf_firefox_put(firefox, "false");
}

static void put_zero(struct pf_firefox *firefox, uint32_t number)
{
    (void)number;
    pf_firefox_put(firefox, "0");
}

static void put_one(struct pf_firefox *firefox, uint32_t number)
{
    (void)number;
    pf_firefox_put(firefox, "1");
}

static void put_stack_frame(struct pf_firefox *firefox, uint32_t node)
{
    pf_put_unsigned(firefox->out, use(firefox, PF_FIREFOX_FRAMES, firefox->tables.frame_of[node]));
}

static void put_stack_prefix(struct pf_firefox *firefox, uint32_t node)
{
    const uint32_t parent = firefox->timeline.tree.nodes[node].parent;
    put_number_or(firefox, parent ? pf_firefox_stack_of(firefox, parent) : PF_FIREFOX_NONE, "null");
}

static const struct column stack_columns[] = {{"frame", put_stack_frame}, {"prefix", put_stack_prefix}, {NULL, NULL}};

static void put_frame_address(struct pf_firefox *firefox, uint32_t number)
{
    const uint64_t address = firefox->tables.frames[number].address;
    if (address == UINT64_MAX)
        pf_firefox_put(firefox, "-1");
    else
        pf_put_unsigned(firefox->out, address);
}

static void put_frame_depth(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, firefox->tables.frames[number].depth);
}

static void put_frame_category(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, firefox->tables.frames[number].category);
}

static void put_frame_function(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, use(firefox, PF_FIREFOX_FUNCTIONS, firefox->tables.frames[number].function));
}

static void put_frame_symbol(struct pf_firefox *firefox, uint32_t number)
{
    const uint32_t symbol = firefox->tables.frames[number].symbol;
    put_number_or(firefox, symbol == PF_FIREFOX_NONE ? symbol : use(firefox, PF_FIREFOX_SYMBOLS, symbol), "null");
}

static void put_frame_line(struct pf_firefox *firefox, uint32_t number)
{
    const uint32_t line = firefox->tables.frames[number].line;
    put_number_or(firefox, line ? line : PF_FIREFOX_NONE, "null");
}

static const struct column frame_columns[] = {{"address", put_frame_address},
                                              {"inlineDepth", put_frame_depth},
                                              {"category", put_frame_category},
                                              {"subcategory", put_zero},
                                              {"func", put_frame_function},
                                              {"nativeSymbol", put_frame_symbol},
                                              {"innerWindowID", put_null},
                                              {"line", put_frame_line},
                                              {"column", put_null},
                                              {NULL, NULL}};

static uint32_t use_numbered_text(struct pf_firefox *firefox, uint32_t text)
{
    return use(firefox, PF_FIREFOX_TEXTS, text);
}

static void put_function_name(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, use_numbered_text(firefox, firefox->tables.functions[number].name));
}

static void put_function_resource(struct pf_firefox *firefox, uint32_t number)
{
    const uint32_t library = firefox->tables.functions[number].library;
    put_number_or(firefox, library == PF_FIREFOX_NONE ? library : use(firefox, PF_FIREFOX_LIBRARIES, library), "-1");
}

static void put_function_file(struct pf_firefox *firefox, uint32_t number)
{
    const uint32_t file = firefox->tables.functions[number].file;
    put_number_or(firefox, file == PF_FIREFOX_NONE ? file : use_numbered_text(firefox, file), "null");
}

static void put_function_line(struct pf_firefox *firefox, uint32_t number)
{
    const uint32_t line = firefox->tables.functions[number].start_line;
    put_number_or(firefox, line ? line : PF_FIREFOX_NONE, "null");
}

static const struct column function_columns[] = {{"name", put_function_name},     {"isJS", put_false},
                                                 {"relevantForJS", put_false},    {"resource", put_function_resource},
                                                 {"fileName", put_function_file}, {"lineNumber", put_function_line},
                                                 {"columnNumber", put_null},      {NULL, NULL}};

static const struct pf_module *library_at(const struct pf_firefox *firefox, uint32_t number)
{
    return pf_symbols_module(pf_profile_symbols(firefox->timeline.profile), firefox->tables.libraries[number]);
}

static void put_library(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, firefox->library_base + number);
}

static void put_library_name(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, pf_firefox_use_text(firefox, library_at(firefox, number)->short_name));
}

static const struct column library_columns[] = {
    {"lib", put_library}, {"name", put_library_name}, {"host", put_null}, {"type", put_one}, {NULL, NULL}};

static void put_symbol_library(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, firefox->library_base + firefox->tables.symbols[number].library);
}

static void put_symbol_address(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, firefox->tables.symbols[number].address);
}

static void put_symbol_name(struct pf_firefox *firefox, uint32_t number)
{
    pf_put_unsigned(firefox->out, use_numbered_text(firefox, firefox->tables.symbols[number].name));
}

static void put_symbol_bytes(struct pf_firefox *firefox, uint32_t number)
{
    const uint64_t bytes = firefox->tables.symbols[number].bytes;
    if (bytes)
        pf_put_unsigned(firefox->out, bytes);
    else
        pf_firefox_put(firefox, "null");
}

static const struct column symbol_columns[] = {{"libIndex", put_symbol_library},
                                               {"address", put_symbol_address},
                                               {"name", put_symbol_name},
                                               {"functionSize", put_symbol_bytes},
                                               {NULL, NULL}};

/* In this order: each uses numbers of those that follow. */
static void put_tables(struct pf_firefox *firefox)
{
    put_table(firefox, "stackTable", PF_FIREFOX_NODES, stack_columns);
    put_table(firefox, "frameTable", PF_FIREFOX_FRAMES, frame_columns);
    put_table(firefox, "funcTable", PF_FIREFOX_FUNCTIONS, function_columns);
    put_table(firefox, "nativeSymbols", PF_FIREFOX_SYMBOLS, symbol_columns);
    put_table(firefox, "resourceTable", PF_FIREFOX_LIBRARIES, library_columns);
    pf_firefox_begin_column(firefox, "stringArray");
    for (size_t i = 0; i < firefox->numberings[PF_FIREFOX_TEXTS].count; i++) {
        pf_firefox_put_comma(firefox, i);
        pf_firefox_put_text(firefox, firefox->tables.texts[firefox->numberings[PF_FIREFOX_TEXTS].used[i]]);
    }
    pf_firefox_put(firefox, "]");
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Differences are shorter than times. */
static void put_times(struct pf_firefox *firefox, const struct pf_timeline_series *series)
{
    uint64_t last = firefox->timeline.first - firefox->timeline.offset; /* modulo 2^64 */
    pf_firefox_begin_column(firefox, "timeDeltas");
    for (size_t i = 0; i < series->count; i++) {
        pf_firefox_put_comma(firefox, i);
        put_ms(firefox, series->rows[i].time - last);
        last = series->rows[i].time;
    }
    pf_firefox_put(firefox, "]");
}

static bool is_plain(const struct pf_timeline_series *series)
{
    for (size_t i = 0; i < series->count; i++)
        if (series->rows[i].weight != 1)
            return false;
    return true;
}

/*
 * Puts the weights of the samples. The format knows samples, milliseconds and bytes: counts of events are given as
 * samples.
 */
static void put_weights(struct pf_firefox *firefox, const struct pf_timeline_series *series)
{
    const bool clock = pf_timeline_is_clock(series->event);
    pf_put_format(firefox->out, ",\"weightType\":\"%s\"", clock ? "tracing-ms" : "samples");
    if (!clock && is_plain(series)) {
        pf_firefox_put(firefox, ",\"weight\":null");
        return;
    }
    pf_firefox_begin_column(firefox, "weight");
    for (size_t i = 0; i < series->count; i++) {
        pf_firefox_put_comma(firefox, i);
        if (clock)
            put_ms(firefox, series->rows[i].weight);
        else
            pf_put_unsigned(firefox->out, series->rows[i].weight);
    }
    pf_firefox_put(firefox, "]");
}

/* How long a thread ran up to a moment, which only goes on: what its switches say. */
struct running {
    const struct pf_timeline_thread *thread;
    size_t next;
    uint64_t since, before; /* the first is UINT64_MAX while it does not run */
};

static uint64_t run_until(struct running *running, uint64_t time)
{
    const struct pf_timeline_switch *changes = running->thread->switches;
    for (; running->next < running->thread->switch_count && changes[running->next].time <= time; running->next++) {
        const struct pf_timeline_switch *change = &changes[running->next];
        if (change->in) {
            running->since = running->since == UINT64_MAX ? change->time : running->since;
        } else if (running->since != UINT64_MAX) {
            running->before += change->time - running->since;
            running->since = UINT64_MAX;
        }
    }
    return running->before + (running->since == UINT64_MAX ? 0 : time - running->since);
}

/*
 * How long it ran since the sample before: what the switches say, else, of clocks, the periods. The first change of a
 * thread that was running before says that it went off.
 */
static void put_cpu(struct pf_firefox *firefox, const struct pf_firefox_track *track)
{
    const struct pf_timeline_series *series = track->series;
    struct running running = {.thread = track->thread, .since = UINT64_MAX};
    const bool switches = track->thread->switch_count;
    if (switches && !track->thread->switches[0].in)
        running.since = pf_min(series->rows[0].time, track->thread->switches[0].time);
    pf_firefox_begin_column(firefox, "threadCPUDelta");
    for (uint64_t i = 0, last = 0; i < series->count; i++) {
        const uint64_t now = switches ? run_until(&running, series->rows[i].time) : 0;
        pf_firefox_put_comma(firefox, i);
        pf_put_unsigned(firefox->out, switches ? now - last : series->rows[i].weight);
        last = now;
    }
    pf_firefox_put(firefox, "]");
}

static void put_samples(struct pf_firefox *firefox, const struct pf_firefox_track *track)
{
    static const struct pf_timeline_series none = {0};
    const struct pf_timeline_series *series = track->series ? track->series : &none;
    pf_put_format(firefox->out, ",\"samples\":{\"length\":%zu", series->count);
    pf_firefox_begin_column(firefox, "stack");
    for (size_t i = 0; i < series->count; i++) {
        const uint32_t node = series->rows[i].node;
        pf_firefox_put_comma(firefox, i);
        put_number_or(firefox, node ? pf_firefox_stack_of(firefox, node) : PF_FIREFOX_NONE, "null");
    }
    pf_firefox_put(firefox, "]");
    put_times(firefox, series);
    if (series->count)
        put_weights(firefox, series);
    else
        pf_firefox_put(firefox, ",\"weightType\":\"samples\",\"weight\":null");
    if (series->count && track->counts_cpu)
        put_cpu(firefox, track);
    pf_firefox_put(firefox, "}");
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

/* Puts a thread's id. When the number was used before, a dot and the count of earlier uses follow. */
static void put_tid(struct pf_firefox *firefox, int32_t id, uint32_t turn)
{
    const char *quote = turn ? "\"" : "";
    pf_put_format(firefox->out, "%s%d", quote, (int)id);
    if (turn)
        pf_put_format(firefox->out, ".%u", (unsigned)turn);
    pf_firefox_put(firefox, quote);
}

/* Puts a process id. With several recordings it begins with the recording: "2:4711" belongs to the second. */
static void put_pid(struct pf_firefox *firefox, const char *id, uint32_t turn)
{
    pf_firefox_put(firefox, "\"");
    if (firefox->name)
        pf_put_format(firefox->out, "%u:", firefox->number + 1);
    pf_firefox_put(firefox, id);
    if (turn)
        pf_put_format(firefox->out, ".%u", (unsigned)turn);
    pf_firefox_put(firefox, "\"");
}

/* "gzip", of several recordings "gzip (PATH)". */
static void put_process_name(struct pf_firefox *firefox, const char *name)
{
    struct pf_text *scratch = &firefox->scratch;
    scratch->used = 0;
    pf_put_string(scratch, name);
    if (firefox->name) {
        pf_put_string(scratch, " (");
        pf_put_string(scratch, firefox->name);
        pf_put_string(scratch, ")");
    }
    pf_put_json_string(firefox->out, scratch->data, scratch->used);
}

static const struct pf_timeline_thread *process_of(const struct pf_firefox *firefox,
                                                   const struct pf_timeline_thread *thread)
{
    const struct pf_timeline *timeline = &firefox->timeline;
    uint64_t position;
    if (thread->pid == thread->tid)
        return thread;
    if (!pf_map_get(&timeline->positions, (uint64_t)(uint32_t)thread->pid << 32 | (uint32_t)thread->pid, &position) ||
        timeline->threads[position].pid_turn != thread->pid_turn)
        return NULL;
    return &timeline->threads[position];
}

static void put_span(struct pf_firefox *firefox, const char *from, const char *to,
                     const struct pf_timeline_thread *thread)
{
    pf_put_format(firefox->out, ",\"%s\":", from);
    pf_firefox_put_moment(firefox, thread->start ? thread->start : thread->first);
    pf_put_format(firefox->out, ",\"%s\":", to);
    if (thread->end)
        pf_firefox_put_moment(firefox, thread->end);
    else
        pf_firefox_put(firefox, "null");
}

/* Its name, with the event where there are several. */
static void put_thread_name(struct pf_firefox *firefox, const struct pf_firefox_track *track)
{
    struct pf_text *scratch = &firefox->scratch;
    scratch->used = 0;
    pf_put_string(scratch, track->thread->comm ? track->thread->comm : "unknown");
    if (firefox->event_count > 1 && track->series) {
        pf_put_string(scratch, " (");
        pf_put_string(scratch, track->series->event->name);
        pf_put_string(scratch, ")");
    }
    pf_put_json_string(firefox->out, scratch->data, scratch->used);
}

static void put_thread(struct pf_firefox *firefox, const struct pf_firefox_track *track)
{
    const struct pf_timeline_thread *thread = track->thread, *process = process_of(firefox, thread);
    char pid[16];
    snprintf(pid, sizeof(pid), "%d", (int)thread->pid);
    discard(firefox);
    use_stacks(firefox, track);
    pf_firefox_put(firefox, "{\"processType\":\"default\",\"name\":");
    put_thread_name(firefox, track);
    pf_firefox_put(firefox, ",\"processName\":");
    put_process_name(firefox, process && process->comm ? process->comm : thread->comm ? thread->comm : "unknown");
    pf_put_format(firefox->out,
                  ",\"isMainThread\":%s,\"pid\":", track->first && thread->pid == thread->tid ? "true" : "false");
    put_pid(firefox, pid, thread->pid_turn);
    pf_firefox_put(firefox, ",\"tid\":");
    put_tid(firefox, thread->tid, thread->turn);
    put_span(firefox, "processStartupTime", "processShutdownTime", process ? process : thread);
    put_span(firefox, "registerTime", "unregisterTime", thread);
    pf_firefox_put(firefox, ",\"pausedRanges\":[],\"showMarkersInTimeline\":true");
    put_samples(firefox, track);
    pf_firefox_put_markers(firefox, track->first ? thread : NULL, track->first ? &thread->marks : NULL);
    put_tables(firefox);
    pf_firefox_put(firefox, "}");
}

/* What belongs to no thread: losses. Also what an empty recording has, since a profile needs a thread. */
static void put_recording_thread(struct pf_firefox *firefox)
{
    const struct pf_timeline *timeline = &firefox->timeline;
    const struct pf_firefox_track nothing = {0};
    discard(firefox);
    pf_firefox_put(firefox, "{\"processType\":\"default\",\"name\":\"recording\",\"processName\":");
    put_process_name(firefox, "recording");
    pf_firefox_put(firefox, ",\"isMainThread\":true,\"pid\":");
    put_pid(firefox, "recording", 0);
    pf_firefox_put(firefox, ",\"tid\":\"recording\",\"processStartupTime\":0,\"processShutdownTime\":null,"
                            "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
                            "\"showMarkersInTimeline\":true");
    put_samples(firefox, &nothing);
    pf_firefox_put_markers(firefox, NULL, &timeline->losses);
    put_tables(firefox);
    pf_firefox_put(firefox, "}");
}

/* `before`: there are so many. Returns how many there are then. */
static size_t put_threads(struct pf_firefox *firefox, size_t before)
{
    for (size_t i = 0; i < firefox->track_count; i++) {
        pf_firefox_put_comma(firefox, before++);
        put_thread(firefox, &firefox->tracks[i]);
    }
    if (!firefox->track_count || firefox->timeline.losses.count) {
        pf_firefox_put_comma(firefox, before++);
        put_recording_thread(firefox);
    }
    return before;
}

/* Processes by their ids, their main threads first; the events of a thread in the order of their first samples. */
static int compare_tracks(const void *a, const void *b)
{
    const struct pf_firefox_track *x = a, *y = b;
    const struct pf_timeline_thread *s = x->thread, *t = y->thread;
    if (s->pid != t->pid)
        return s->pid < t->pid ? -1 : 1;
    if (s->pid_turn != t->pid_turn)
        return s->pid_turn < t->pid_turn ? -1 : 1;
    if ((s->pid == s->tid) != (t->pid == t->tid))
        return s->pid == s->tid ? -1 : 1;
    return PF_COMPARE(s->tid, t->tid) ?: PF_COMPARE(s->turn, t->turn) ?: PF_COMPARE(x->series, y->series);
}

static bool add_track(struct pf_firefox *firefox, const struct pf_firefox_track *track)
{
    return PF_APPEND(firefox->timeline.allocator, firefox->tracks, firefox->track_count, firefox->track_capacity,
                     *track);
}

/* Threads that have samples, or of which there is something to mark. */
static bool make_tracks(struct pf_firefox *firefox)
{
    const struct pf_timeline *timeline = &firefox->timeline;
    bool fine = true;
    for (size_t i = 0; fine && i < timeline->thread_count; i++) {
        const struct pf_timeline_thread *thread = &timeline->threads[i];
        struct pf_firefox_track track = {.thread = thread, .first = true};
        bool counted = false;
        if (thread->series == PF_TIMELINE_NONE && (thread->marks.count || thread->switch_count))
            fine = add_track(firefox, &track);
        for (uint32_t at = thread->series; fine && at != PF_TIMELINE_NONE; at = timeline->series[at].next) {
            track.series = &timeline->series[at];
            track.counts_cpu = !counted && !pf_event_is_calls(track.series->event) &&
                               (thread->switch_count || pf_timeline_is_clock(track.series->event));
            counted |= track.counts_cpu;
            fine = add_track(firefox, &track);
            track.first = false;
        }
    }
    if (fine && firefox->track_count)
        qsort(firefox->tracks, firefox->track_count, sizeof(*firefox->tracks), compare_tracks);
    return fine;
}

/* ---- libraries --------------------------------------------------------------------------------------------------- */

/* Puts a build id as Breakpad writes it: a GUID with its numbers in little-endian order, and an age of 0. */
static void put_breakpad_id(struct pf_firefox *firefox, const uint8_t *build_id, size_t bytes)
{
    static const uint8_t order[16] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (size_t i = 0; i < sizeof(order); i++)
        pf_put_format(firefox->out, "%02X", order[i] < bytes ? build_id[order[i]] : 0);
    pf_firefox_put(firefox, "0");
}

static void put_library_object(struct pf_firefox *firefox, uint32_t number)
{
    const struct pf_module *module = library_at(firefox, number);
    const char *arch = pf_timeline_text(&firefox->timeline, PERFILE_FEATURE_ARCH);
    const uint8_t *build_id;
    const size_t bytes = pf_symbols_build_id(pf_profile_symbols(firefox->timeline.profile),
                                             firefox->tables.libraries[number], &build_id);
    pf_firefox_put(firefox, "{\"arch\":");
    pf_firefox_put_text(firefox, arch ? arch : "");
    for (unsigned i = 0; i < 4; i++) {
        static const char *const members[] = {"name", "debugName", "path", "debugPath"};
        pf_put_format(firefox->out, ",\"%s\":", members[i]);
        pf_firefox_put_text(firefox, i < 2 ? module->short_name : module->name);
    }
    pf_firefox_put(firefox, ",\"breakpadId\":\"");
    put_breakpad_id(firefox, build_id, bytes);
    pf_firefox_put(firefox, "\",\"codeId\":");
    if (bytes) {
        pf_firefox_put(firefox, "\"");
        pf_put_hex_bytes(firefox->out, build_id, bytes);
        pf_firefox_put(firefox, "\"}");
    } else {
        pf_firefox_put(firefox, "null}");
    }
}

static void put_libraries(struct pf_firefox *firefox)
{
    for (size_t i = 0; i < firefox->tables.library_count; i++) {
        pf_firefox_put_comma(firefox, firefox->library_base + i);
        put_library_object(firefox, (uint32_t)i);
    }
}

/* ---- the head ---------------------------------------------------------------------------------------------------- */

static uint64_t interval_of(const struct pf_firefox *firefox)
{
    uint64_t interval = 0;
    const struct perfile_event *event;
    for (size_t i = 0; !interval && (event = perfile_event_get(firefox->timeline.reader, i)); i++)
        if (pf_timeline_has_samples(&firefox->timeline, event))
            interval = pf_timeline_interval(event);
    return interval ? interval : NS_PER_MS;
}

static void put_fact(struct pf_firefox *firefox, const char *member, uint32_t feature)
{
    const char *text = pf_timeline_text(&firefox->timeline, feature);
    if (!text)
        return;
    pf_put_format(firefox->out, ",\"%s\":", member);
    pf_firefox_put_text(firefox, text);
}

static void put_extra(struct pf_firefox *firefox, const char *label, const char *text)
{
    if (!text)
        return;
    pf_firefox_put(firefox, firefox->comma ? ",{\"label\":" : "{\"label\":");
    pf_firefox_put_text(firefox, label);
    pf_firefox_put(firefox, ",\"format\":\"string\",\"value\":");
    pf_firefox_put_text(firefox, text);
    pf_firefox_put(firefox, "}");
    firefox->comma = true;
}

/* What weights are, which the format does not know. */
static void put_extras(struct pf_firefox *firefox)
{
    const struct perfile_event *event;
    char unit[64], text[128];
    pf_firefox_put(firefox, firefox->number ? ",{\"label\":" : "{\"label\":");
    pf_firefox_put_text(firefox, firefox->name ? firefox->name : "Recording");
    pf_firefox_put(firefox, ",\"entries\":[");
    firefox->comma = false;
    put_extra(firefox, "Host", pf_timeline_text(&firefox->timeline, PERFILE_FEATURE_HOSTNAME));
    put_extra(firefox, "Kernel", pf_timeline_text(&firefox->timeline, PERFILE_FEATURE_OSRELEASE));
    for (size_t i = 0; (event = perfile_event_get(firefox->timeline.reader, i)); i++) {
        if (!pf_timeline_has_samples(&firefox->timeline, event))
            continue;
        snprintf(text, sizeof(text), "weights are %s",
                 pf_timeline_is_clock(event) ? "ms" : perfile_event_unit(event, unit, sizeof(unit)));
        put_extra(firefox, event->name, text);
    }
    pf_firefox_put(firefox, "]}");
}

/* All recordings: each has processes of its own. */
struct document {
    struct pf_firefox *parts;
    size_t count;
    uint64_t start; /* wall-clock time, ns; 0: not known */
};

/* Returns the name of the product: the process of the thread with the most samples. */
static const char *product_of(const struct document *document)
{
    const char *product = NULL;
    size_t max = 0;
    for (size_t k = 0; k < document->count; k++)
        for (size_t i = 0; i < document->parts[k].track_count; i++) {
            const struct pf_firefox_track *track = &document->parts[k].tracks[i];
            if (!track->series || track->series->count <= max || !track->thread->comm)
                continue;
            max = track->series->count;
            product = track->thread->comm;
        }
    return product ? product : "recording";
}

static void put_meta(const struct document *document)
{
    struct pf_firefox *firefox = document->parts; /* of several machines the first */
    pf_put_format(firefox->out,
                  "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":%d,\"symbolicated\":true,"
                  "\"importedFrom\":\"perf.data by perfile %s\",\"interval\":",
                  VERSION, perfile_version());
    put_ms(firefox, interval_of(firefox));
    if (document->start) {
        pf_firefox_put(firefox, ",\"startTime\":");
        put_ms(firefox, document->start);
    }
    pf_firefox_put(firefox, ",\"product\":");
    pf_firefox_put_text(firefox, product_of(document));
    pf_firefox_put(firefox, ",\"processType\":0,\"stackwalk\":1,\"debug\":false,\"platform\":\"Linux\"");
    put_fact(firefox, "oscpu", PERFILE_FEATURE_OSRELEASE);
    put_fact(firefox, "abi", PERFILE_FEATURE_ARCH);
    put_fact(firefox, "CPUName", PERFILE_FEATURE_CPUDESC);
    pf_firefox_put(firefox, ",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
                            "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,\"categories\":["
                            "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
                            "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
                            "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
                            "{\"name\":\"Inlined\",\"color\":\"lightblue\",\"subcategories\":[\"Other\"]},"
                            "{\"name\":\"JIT\",\"color\":\"purple\",\"subcategories\":[\"Other\"]}]"
                            ",\"markerSchema\":[");
    pf_firefox_put_schemas(firefox);
    for (size_t i = 0; i < document->count; i++)
        pf_firefox_put_trace_schemas(&document->parts[i]);
    pf_firefox_put(firefox, "],\"extra\":[");
    for (size_t i = 0; i < document->count; i++)
        put_extras(&document->parts[i]);
    pf_firefox_put(firefox, "]}");
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static void count_events(struct pf_firefox *firefox)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(firefox->timeline.reader, i)); i++)
        firefox->event_count += pf_timeline_has_samples(&firefox->timeline, event);
}

/* Reports what the recording has but the format cannot hold. */
static void report_notes(const struct document *document, const struct perfile_output_options *options)
{
    static const struct {
        uint64_t parts;
        const char *name;
    } losses[] = {{PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_REGS_INTR, "registers"},
                  {PERFILE_SAMPLE_BRANCH_STACK, "branches"},
                  {PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_DATA_SRC | PERFILE_SAMPLE_PHYS_ADDR, "memory accesses"},
                  {PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT, "weights"},
                  {PERFILE_SAMPLE_CGROUP, "control groups"},
                  {PERFILE_SAMPLE_CPU, "CPUs of samples"}};
    char text[160] = "";
    uint64_t parts = 0;
    bool untimed = false;
    for (size_t k = 0; k < document->count; k++) {
        const struct pf_timeline *timeline = &document->parts[k].timeline;
        untimed |= timeline->untimed;
        for (size_t i = 0; i < timeline->series_count; i++)
            parts |= timeline->series[i].event->attr->sample_type;
    }
    for (size_t i = 0; i < PF_COUNT(losses); i++)
        if (parts & losses[i].parts)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? ", " : "", losses[i].name);
    if (untimed)
        pf_export_notify(options, "firefox: samples without a time stand 1 ms apart");
    if (*text)
        pf_export_notify(options, "firefox cannot hold %s", text);
}

static bool make_part(void *part)
{
    struct pf_firefox *firefox = part;
    count_events(firefox);
    return pf_firefox_tables_open(&firefox->tables, &firefox->timeline) && open_numberings(firefox) &&
           make_tracks(firefox) && pf_text_open(&firefox->scratch, firefox->timeline.allocator, NULL, NULL) == 0;
}

static void put_document(const struct document *document)
{
    struct pf_firefox *first = document->parts;
    size_t threads = 0;
    put_meta(document);
    pf_firefox_put(first, ",\"libs\":[");
    for (size_t i = 0; i < document->count; i++)
        put_libraries(&document->parts[i]);
    pf_firefox_put(first, "],\"pages\":[],\"counters\":[],\"threads\":[");
    for (size_t i = 0; i < document->count; i++)
        threads = put_threads(&document->parts[i], threads);
    pf_firefox_put(first, "]}\n");
}

static void begin_part(void *part, struct pf_text *out, unsigned number, const char *name)
{
    struct pf_firefox *firefox = part;
    firefox->out = out;
    firefox->number = number;
    firefox->name = name;
    if (number)
        firefox->library_base = firefox[-1].library_base + firefox[-1].tables.library_count;
}

static bool put_parts(void *parts, size_t count, uint64_t wall, const struct perfile_output_options *options)
{
    const struct document document = {.parts = parts, .count = count, .start = wall};
    put_document(&document);
    for (size_t i = 0; i < count; i++)
        if (document.parts[i].failed || document.parts[i].scratch.failed)
            return false;
    report_notes(&document, options);
    return true;
}

static void close_part(void *part)
{
    struct pf_firefox *firefox = part;
    const struct perfile_allocator *allocator = firefox->timeline.allocator;
    if (firefox->scratch.allocator)
        pf_text_close(&firefox->scratch);
    close_numberings(firefox);
    pf_free(allocator, firefox->tracks, firefox->track_capacity * sizeof(*firefox->tracks));
    if (firefox->tables.allocator)
        pf_firefox_tables_close(&firefox->tables);
    pf_timeline_close(&firefox->timeline);
}

static int write_firefox(struct perfile_reader *reader, const struct perfile_output_options *options,
                         struct pf_text *out, struct perfile_error *error)
{
    static const struct pf_timelines_format format = {
        .part_bytes = sizeof(struct pf_firefox),
        .by_address = true,
        .begin = begin_part,
        .make = make_part,
        .put = put_parts,
        .close = close_part,
    };
    return pf_timelines_write(&format, reader, options, out, error);
}

const struct pf_output pf_output_export_firefox = {
    .info = {"export", "firefox", "the Firefox Profiler: threads, stacks, lines and markers over time"},
    .write = write_firefox,
    .merges = true,
    .reports_omissions = true,
};
