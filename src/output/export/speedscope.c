/* SPDX-License-Identifier: MIT */
/*
 * speedscope's own format: a profile for each thread and event, whose samples are stacks and weights in order of time.
 * A file that no browser would open has each stack of a thread once instead, and so have recordings that are merged.
 * Memory grows with what is distinct, and by 16 bytes for each sample as long as they could fit into the file.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/profile/aggregate.h"
#include "base/error.h"
#include "base/sort.h"
#include "output/export/export.h"
#include "output/export/stacks.h"

/*
 * A browser needs about a second for 2 MB, and its tab ran out of memory at 375 MB; strings of V8 end at 512 MB. The
 * shortest sample is "[0]," and its weight "0,".
 */
enum { MAX_BYTES = 100000000, SAMPLE_BYTES = 6 };

/* A profile of the file: a thread and an event. */
struct track {
    uint32_t event;
    uint32_t thread; /* PERFILE_NO_ID: all, of a profile that does not keep them apart */
    uint32_t rank;   /* its position in the file */
    uint64_t weight, samples;
};

struct scope {
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_export_stacks stacks;
    struct pf_arrivals arrivals;
    struct pf_arena arena; /* all lists */
    uint32_t *frames;      /* by function: its number in the file */
    uint32_t *functions;   /* by number in the file: one of the functions, which are all the same to speedscope */
    uint32_t frame_count;
    struct pf_tree_link *nodes; /* stacks of these frames */
    uint32_t *node_of;          /* by node of the stacks */
    uint32_t node_count;
    struct track *tracks;
    size_t track_capacity;
    struct track **menu; /* as in the file */
    uint32_t *track_of;  /* by the profile's samples */
    uint32_t track_count, active;
    uint32_t *order; /* the arrivals in the order of the file; where stacks are added up, the profile's samples */
    uint32_t *path;
    size_t path_capacity;
    struct pf_text text; /* a name that is put together */
    bool adds_up;        /* each stack of a thread comes once */
};

/* ---- frames and stacks ------------------------------------------------------------------------------------------- */

static const char *file_of(const struct pf_export_function *function)
{
    return function->file ? function->file : function->module;
}

/* Functions of one name, file and line are one frame. */
static bool number_frames(struct scope *scope)
{
    struct pf_pairs names, frames;
    uint32_t name_count = 0;
    bool enough = true;
    scope->frames = pf_arena_new(&scope->arena, (scope->stacks.function_count + 1) * sizeof(*scope->frames));
    scope->functions = pf_arena_new(&scope->arena, (scope->stacks.function_count + 1) * sizeof(*scope->functions));
    pf_pairs_open(&names, scope->options->allocator);
    pf_pairs_open(&frames, scope->options->allocator);
    for (uint32_t i = 0; scope->frames && scope->functions && i < scope->stacks.function_count && enough; i++) {
        const struct pf_export_function *function = &scope->stacks.functions[i];
        const uint32_t known = scope->frame_count;
        const uint32_t name =
            pf_export_number(&names, (uintptr_t)function->name, (uintptr_t)file_of(function), &name_count);
        scope->frames[i] = pf_export_number(&frames, name, function->line, &scope->frame_count);
        enough = name != PERFILE_NO_ID && scope->frames[i] != PERFILE_NO_ID;
        if (scope->frame_count > known)
            scope->functions[known] = i;
    }
    pf_pairs_close(&names);
    pf_pairs_close(&frames);
    return scope->frames && scope->functions && enough;
}

static bool number_nodes(struct scope *scope)
{
    const struct pf_export_stacks *stacks = &scope->stacks;
    struct pf_pairs known;
    bool enough;
    scope->nodes = pf_arena_new(&scope->arena, (stacks->node_count + 1) * sizeof(*scope->nodes));
    scope->node_of = pf_arena_new(&scope->arena, (stacks->node_count + 1) * sizeof(*scope->node_of));
    enough = scope->nodes && scope->node_of;
    pf_pairs_open(&known, scope->options->allocator);
    for (size_t i = 0; enough && i < stacks->node_count; i++) {
        const uint32_t above = stacks->nodes[i].parent;
        const struct pf_tree_link node = {above == PERFILE_NO_ID ? above : scope->node_of[above],
                                          scope->frames[stacks->function_of[stacks->nodes[i].frame]]};
        scope->node_of[i] = pf_export_number(&known, node.parent, node.frame, &scope->node_count);
        enough = scope->node_of[i] != PERFILE_NO_ID;
        if (enough)
            scope->nodes[scope->node_of[i]] = node;
    }
    pf_pairs_close(&known);
    return enough;
}

/* ---- tracks ------------------------------------------------------------------------------------------------------ */

static uint64_t thread_key(int32_t pid, int32_t tid)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

/* Threads by their keys, numbered as in the profile. */
static bool number_threads(struct scope *scope, struct pf_pairs *threads)
{
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;
    uint32_t count = 0;
    bool enough = true;
    for (size_t i = 0; enough && perfile_profile_thread_at(scope->stacks.profile, i, &thread) == 0; i++)
        enough = pf_export_number(threads, thread_key(thread.pid, thread.tid), 0, &count) != PERFILE_NO_ID;
    return enough;
}

static bool add_to_track(struct scope *scope, struct pf_pairs *known, const struct perfile_profile_sample *sample,
                         uint32_t thread, uint32_t *number)
{
    uint32_t count = scope->track_count;
    *number = pf_export_number(known, sample->event, thread, &count);
    if (*number == PERFILE_NO_ID ||
        !pf_grow(scope->options->allocator, &scope->tracks, &scope->track_capacity, count, sizeof(*scope->tracks)))
        return false;
    struct track *track = &scope->tracks[*number];
    if (count > scope->track_count)
        *track = (struct track){.event = sample->event, .thread = thread};
    scope->track_count = count;
    track->samples += sample->values[0];
    track->weight += sample->values[1];
    return true;
}

static bool find_tracks(struct scope *scope)
{
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    struct pf_pairs threads, known;
    pf_pairs_open(&threads, scope->options->allocator);
    pf_pairs_open(&known, scope->options->allocator);
    scope->track_of = pf_arena_new(&scope->arena, (scope->stacks.sample_count + 1) * sizeof(*scope->track_of));
    bool enough = scope->track_of && number_threads(scope, &threads);
    for (size_t i = 0; enough && perfile_profile_sample_at(scope->stacks.profile, i, &sample) == 0; i++) {
        uint32_t thread;
        if (!pf_pairs_get(&threads, thread_key(sample.pid, sample.tid), 0, &thread))
            thread = PERFILE_NO_ID;
        enough = add_to_track(scope, &known, &sample, thread, &scope->track_of[i]);
    }
    pf_pairs_close(&threads);
    pf_pairs_close(&known);
    return enough;
}

/* Events in their order, the busiest thread of each first. */
static int by_location(const void *a, const void *b)
{
    const struct track *x = *(struct track *const *)a, *y = *(struct track *const *)b;
    return PF_COMPARE(x->event, y->event) ?: PF_COMPARE(y->weight, x->weight) ?: PF_COMPARE(x, y);
}

static bool order_tracks(struct scope *scope)
{
    struct track **order = scope->menu = pf_arena_new(&scope->arena, (scope->track_count + 1) * sizeof(struct track *));
    uint64_t samples = 0, max = 0;
    if (!order)
        return false;
    for (uint32_t i = 0; i < scope->track_count; i++)
        order[i] = &scope->tracks[i];
    if (scope->track_count)
        qsort(order, scope->track_count, sizeof(*order), by_location);
    for (uint32_t i = 0, first = 0; i < scope->track_count; i++) {
        if (i && order[i]->event != order[i - 1]->event) {
            first = i;
            samples = 0;
        }
        order[i]->rank = i;
        samples += order[i]->samples;
        if (samples > max) { /* the event with the most samples is shown first */
            max = samples;
            scope->active = first;
        }
    }
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static uint32_t node_of_row(const struct scope *scope, size_t row)
{
    return scope->node_of[scope->stacks.ends[row]];
}

/* How long the file is with every sample in it. */
static bool measure(struct scope *scope, uint64_t *bytes)
{
    enum { FRAME_BYTES = 40 };
    const size_t size = (scope->node_count + 1) * sizeof(uint64_t);
    uint64_t *lengths = pf_new(scope->options->allocator, size);
    *bytes = (uint64_t)scope->frame_count * FRAME_BYTES;
    for (uint32_t i = 0; lengths && i < scope->node_count; i++) {
        const struct pf_tree_link *node = &scope->nodes[i];
        lengths[i] = pf_digit_count(node->frame) + 1 + (node->parent == PERFILE_NO_ID ? 0 : lengths[node->parent]);
    }
    for (size_t i = 0; lengths && i < scope->arrivals.count; i++) {
        const struct pf_arrival *arrival = &scope->arrivals.all[i];
        *bytes += lengths[node_of_row(scope, arrival->row)] + pf_digit_count(arrival->period) + 3;
    }
    pf_free(scope->options->allocator, lengths, size);
    return lengths;
}

/* Those of each profile as they came. */
static bool order_arrivals(struct scope *scope)
{
    const size_t size = (scope->track_count + 1) * sizeof(size_t);
    size_t *next = pf_new(scope->options->allocator, size); /* of each profile of the file */
    scope->order = pf_arena_new(&scope->arena, (scope->arrivals.count + 1) * sizeof(*scope->order));
    if (next && scope->order) {
        for (uint32_t i = 0; i < scope->track_count; i++)
            next[i + 1] = next[i] + scope->menu[i]->samples;
        for (size_t i = 0; i < scope->arrivals.count; i++) {
            const struct track *track = &scope->tracks[scope->track_of[scope->arrivals.all[i].row]];
            scope->order[next[track->rank]++] = (uint32_t)i;
        }
    }
    pf_free(scope->options->allocator, next, size);
    return next && scope->order;
}

/* As walks through the tree of stacks find them. */
static bool order_rows(struct scope *scope)
{
    const struct pf_walk_tree tree = {scope->nodes, scope->node_count};
    const size_t count = scope->stacks.sample_count;
    uint32_t *positions = pf_new(scope->options->allocator, (scope->node_count + 1) * sizeof(*positions));
    struct pf_sort_item *items = pf_new(scope->options->allocator, (2 * count + 1) * sizeof(*items));
    scope->order = pf_arena_new(&scope->arena, (count + 1) * sizeof(*scope->order));
    const bool enough =
        positions && items && scope->order && pf_walk_positions(scope->options->allocator, &tree, positions, NULL);
    for (uint32_t i = 0; enough && i < count; i++) {
        const uint64_t rank = scope->tracks[scope->track_of[i]].rank;
        items[i] = (struct pf_sort_item){rank << 32 | positions[node_of_row(scope, i)], i};
    }
    if (enough)
        pf_sort_words(items, items + count, count);
    for (size_t i = 0; enough && i < count; i++)
        scope->order[i] = items[i].number;
    pf_free(scope->options->allocator, positions, (scope->node_count + 1) * sizeof(*positions));
    pf_free(scope->options->allocator, items, (2 * count + 1) * sizeof(*items));
    return enough;
}

static bool prepare(struct scope *scope)
{
    uint64_t bytes = 0;
    if (!number_frames(scope) || !number_nodes(scope) || !find_tracks(scope) || !order_tracks(scope) ||
        !measure(scope, &bytes))
        return false;
    scope->adds_up |= bytes > MAX_BYTES;
    return scope->adds_up ? order_rows(scope) : order_arrivals(scope);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_member(struct scope *scope, const char *name, const char *text)
{
    pf_put_string(scope->out, name);
    pf_put_json_string(scope->out, text, strlen(text));
}

/* What was put together. */
static void put_text(struct scope *scope)
{
    pf_put_json_string(scope->out, scope->text.data, scope->text.used);
    scope->text.used = 0;
}

static void put_title(struct scope *scope)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    const char *path = NULL;
    if (perfile_profile_recording_at(scope->stacks.profile, 0, &recording) == 0)
        path = recording.path;
    const char *slash = path ? strrchr(path, '/') : NULL;
    pf_put_string(&scope->text, slash && slash[1] ? slash + 1 : path ? path : "recording");
    pf_put_string(&scope->text, scope->adds_up ? " (equal stacks added up, not in order of time)" : "");
    put_text(scope);
}

static void put_frames(struct scope *scope)
{
    for (uint32_t i = 0; i < scope->frame_count; i++) {
        const struct pf_export_function *function = &scope->stacks.functions[scope->functions[i]];
        put_member(scope, i ? ",\n{\"name\":" : "\n{\"name\":", function->name);
        if (file_of(function))
            put_member(scope, ",\"file\":", file_of(function));
        if (function->file && function->line)
            pf_put_format(scope->out, ",\"line\":%" PRIu32, function->line);
        pf_put_char(scope->out, '}');
    }
}

/* From the root on. False when out of memory. */
static bool put_stack(struct scope *scope, uint32_t node)
{
    size_t depth = 0;
    for (; node != PERFILE_NO_ID; node = scope->nodes[node].parent) {
        if (!PF_APPEND(scope->options->allocator, scope->path, depth, scope->path_capacity, scope->nodes[node].frame))
            return false;
    }
    pf_put_char(scope->out, '[');
    while (depth--) {
        char *at = pf_text_reserve(scope->out, 24);
        at = pf_digits(at, scope->path[depth]);
        *at++ = depth ? ',' : ']';
        pf_text_commit(scope->out, at);
    }
    return true;
}

static uint32_t row_at(const struct scope *scope, size_t i)
{
    return scope->adds_up ? scope->order[i] : scope->arrivals.all[scope->order[i]].row;
}

static uint64_t weight_at(const struct scope *scope, size_t i)
{
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    if (!scope->adds_up)
        return scope->arrivals.all[scope->order[i]].period;
    (void)!perfile_profile_sample_at(scope->stacks.profile, scope->order[i], &sample);
    return sample.values[1];
}

/* The end of those that are one in the file. */
static size_t end_of_one(const struct scope *scope, size_t first, size_t end)
{
    size_t next = first + 1;
    while (scope->adds_up && next < end &&
           node_of_row(scope, row_at(scope, next)) == node_of_row(scope, row_at(scope, first)))
        next++;
    return next;
}

static bool put_stacks(struct scope *scope, size_t first, size_t end)
{
    bool enough = true;
    pf_put_string(scope->out, ",\"samples\":[");
    for (size_t i = first; i < end && enough; i = end_of_one(scope, i, end)) {
        pf_put_string(scope->out, i > first ? "," : "");
        enough = put_stack(scope, node_of_row(scope, row_at(scope, i)));
    }
    pf_put_char(scope->out, ']');
    return enough;
}

static void put_weights(struct scope *scope, size_t first, size_t end)
{
    pf_put_string(scope->out, ",\"weights\":[");
    for (size_t i = first, next; i < end; i = next) {
        uint64_t weight = 0;
        next = end_of_one(scope, i, end);
        for (size_t k = i; k < next; k++)
            weight += weight_at(scope, k);
        pf_put_unsigned(scope->out, weight);
        pf_put_string(scope->out, next < end ? "," : "");
    }
    pf_put_char(scope->out, ']');
}

static void put_name(struct scope *scope, const struct track *track)
{
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    const bool is_thread = perfile_profile_thread_at(scope->stacks.profile, track->thread, &thread) == 0;
    (void)!perfile_profile_event_at(scope->stacks.profile, track->event, &event);
    pf_put_string(&scope->text, is_thread ? thread.comm : "all threads");
    if (is_thread && thread.tid >= 0)
        pf_put_format(&scope->text, " (tid %" PRId32 ")", thread.tid);
    if (perfile_profile_event_count(scope->stacks.profile) > 1) {
        pf_put_char(&scope->text, ' ');
        pf_put_string(&scope->text, event.name);
    }
    put_text(scope);
    pf_put_string(scope->out, strcmp(event.unit, "ns") == 0 ? ",\"unit\":\"nanoseconds\"" : ",\"unit\":\"none\"");
}

/* From *first on, which becomes the start of the next one's. */
static bool put_track(struct scope *scope, uint32_t rank, size_t *first)
{
    const size_t count = scope->adds_up ? scope->stacks.sample_count : scope->arrivals.count;
    const struct track *track = scope->menu[rank];
    size_t end = *first;
    while (end < count && &scope->tracks[scope->track_of[row_at(scope, end)]] == track)
        end++;
    pf_put_string(scope->out, rank ? ",\n{\"type\":\"sampled\",\"name\":" : "\n{\"type\":\"sampled\",\"name\":");
    put_name(scope, track);
    pf_put_format(scope->out, ",\"startValue\":0,\"endValue\":%" PRIu64, track->weight);
    const bool enough = put_stacks(scope, *first, end);
    put_weights(scope, *first, end);
    pf_put_char(scope->out, '}');
    *first = end;
    return enough;
}

static bool put_file(struct scope *scope)
{
    static const char nothing[] = "\n{\"type\":\"sampled\",\"name\":\"no samples\",\"unit\":\"none\",\"startValue\":0,"
                                  "\"endValue\":0,\"samples\":[],\"weights\":[]}";
    bool enough = true;
    size_t first = 0;
    pf_put_string(scope->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"name\":");
    put_title(scope);
    pf_put_format(scope->out, ",\n\"exporter\":\"perfile %s\",\n\"activeProfileIndex\":%" PRIu32, perfile_version(),
                  scope->active);
    pf_put_string(scope->out, ",\n\"shared\":{\"frames\":[");
    put_frames(scope);
    pf_put_string(scope->out, "]},\n\"profiles\":[");
    for (uint32_t i = 0; i < scope->track_count && enough; i++)
        enough = put_track(scope, i, &first);
    pf_put_string(scope->out, scope->track_count ? "" : nothing); /* a list without any is refused */
    pf_put_string(scope->out, "]}\n");
    return enough && !scope->text.failed;
}

/*
 * ---- the file
 * --------------------------------------------------------------------------------------------------------
 */

static void report_notes(const struct scope *scope)
{
    pf_export_notify(scope->options, "speedscope files cannot hold build ids, processors, the number of samples, and "
                                     "source lines other than those where functions begin");
    if (scope->adds_up)
        pf_export_notify(scope->options, "equal stacks of a thread were added up, and are in no order of time: %s",
                         scope->options->exports->profile ? "a profile has only sums"
                         : scope->options->more_count     ? "there are several recordings"
                                                      : "with every sample the file would be too large for browsers");
}

/* Takes the profile. */
static bool write_profile(struct perfile_reader *reader, struct scope *scope, struct perfile_profile *profile)
{
    const struct perfile_allocator *allocator = scope->options->allocator;
    pf_arena_open(&scope->arena, allocator);
    const bool enough = pf_export_stacks_open(&scope->stacks, profile, allocator) &&
                        pf_text_open(&scope->text, allocator, NULL, NULL) == 0 && prepare(scope) && put_file(scope);
    if (enough && !pf_export_notify_empty(reader, scope->options, profile))
        report_notes(scope);
    if (scope->text.allocator)
        pf_text_close(&scope->text);
    pf_export_stacks_close(&scope->stacks);
    pf_free(allocator, scope->path, scope->path_capacity * sizeof(*scope->path));
    pf_free(allocator, scope->tracks, scope->track_capacity * sizeof(*scope->tracks));
    pf_arena_close(&scope->arena);
    return enough;
}

/* Recordings that are merged have no common clock. */
static int read_profile(struct perfile_reader *reader, struct scope *scope, struct perfile_profile **profile,
                        struct perfile_error *error)
{
    const struct perfile_output_options *options = scope->options;
    struct perfile_profile_options how = {.keys = "tid",
                                          .flags = PERFILE_STREAM_ADDRESSES | PERFILE_STREAM_JOIN_UNNAMED};
    if (options->more_count || options->exports->profile)
        return pf_export_profile_as(reader, options, &how, profile, error);
    how = pf_export_profile_options(options, how);
    return pf_profile_open_in_order(reader, &how, &scope->arrivals, profile, error);
}

static int write_speedscope(struct perfile_reader *reader, const struct perfile_output_options *options,
                            struct pf_text *out, struct perfile_error *error)
{
    struct scope scope = {
        .options = options, .out = out, .arrivals = {.allocator = options->allocator, .max = MAX_BYTES / SAMPLE_BYTES}};
    struct perfile_profile *profile;
    int result = read_profile(reader, &scope, &profile, error);
    scope.adds_up = scope.arrivals.too_many || options->more_count || options->exports->profile;
    if (result == 0 && !write_profile(reader, &scope, profile))
        result = pf_fail_memory(error, "speedscope");
    pf_arrivals_close(&scope.arrivals);
    return result;
}

const struct pf_output pf_output_export_speedscope = {
    .info = {"export", "speedscope", "a profile for each thread, its samples in order of time: speedscope.app"},
    .write = write_speedscope,
    .takes_a_profile = true,
    .merges = true,
    .reports_omissions = true,
};
