/* SPDX-License-Identifier: MIT */
/*
 * callgrind's format: the cost of each source line, and of each call the cost of what was called. Its readers use the
 * cost of the calls to a function as its inclusive cost; only for functions that nothing calls they add up its own cost
 * and that of its calls. So every function is called here, by the names of the threads at least, and of a function that
 * is in a stack several times only the outermost call counts: recursive calls are left out. So each sample counts once
 * for each of its functions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sort.h"
#include "output/export/export.h"
#include "output/export/stacks.h"

enum { SAMPLES, PERIOD, WEIGHT, VALUES }; /* of an event */

/* A block of the file: a function of a module, or what has the name of a thread. */
struct block {
    struct pf_export_function function;
    uint32_t key; /* readers know functions by name and file: those with one key are one to them */
    bool is_thread;
    bool is_named; /* the file has its name already */
};

/* A line of the file, of one event. */
struct cost {
    const char *file; /* NULL: the block's */
    uint64_t address;
    uint64_t values[VALUES];
    uint32_t line;
    uint32_t block;
    uint32_t callee; /* a block; NO_ID: what it costs itself */
    uint32_t event;
};

/* Names of a kind have numbers, which stand for them when they come again. */
struct names {
    struct pf_map numbers;
    uint32_t count;
};

struct graph {
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_export_stacks stacks;
    struct pf_arena arena;
    struct block *blocks;
    size_t block_capacity;
    uint32_t block_count;
    uint32_t *block_of;    /* by function */
    struct pf_map threads; /* texts of names, to blocks */
    uint64_t *outermost;   /* by node a bit: what called it is not in the same function */
    struct cost *costs;
    size_t cost_capacity;
    uint32_t cost_count;
    struct pf_pairs lines, locations, known; /* keys: file and line; these and the address; the owner of a cost */
    uint32_t line_count, position_count;
    uint32_t *column_of; /* by value type of the profile */
    const char **columns;
    uint64_t *totals; /* of columns, followed by space for the values of one line */
    size_t column_count;
    struct names files, modules;
};

/* ---- blocks ------------------------------------------------------------------------------------------------------ */

static uint32_t add_block(struct graph *graph, const struct block *block)
{
    if (!pf_grow(graph->options->allocator, &graph->blocks, &graph->block_capacity, (size_t)graph->block_count + 1,
                 sizeof(*graph->blocks)))
        return PERFILE_NO_ID;
    graph->blocks[graph->block_count] = *block;
    return graph->block_count++;
}

/* Functions of one name, file and module are one block. */
static bool number_blocks(struct graph *graph)
{
    const struct pf_export_stacks *stacks = &graph->stacks;
    struct pf_pairs keys, blocks;
    uint32_t key_count = 0;
    graph->block_of = pf_arena_new(&graph->arena, (stacks->function_count + 1) * sizeof(*graph->block_of));
    bool enough = graph->block_of;
    pf_pairs_open(&keys, graph->options->allocator);
    pf_pairs_open(&blocks, graph->options->allocator);
    for (size_t i = 0; enough && i < stacks->function_count; i++) {
        const struct pf_export_function *function = &stacks->functions[i];
        struct block block = {.function = *function};
        uint32_t count = graph->block_count;
        block.key = pf_export_number(&keys, (uintptr_t)function->name, (uintptr_t)function->file, &key_count);
        graph->block_of[i] = pf_export_number(&blocks, block.key, (uintptr_t)function->module, &count);
        enough = block.key != PERFILE_NO_ID && graph->block_of[i] != PERFILE_NO_ID &&
                 (count == graph->block_count || add_block(graph, &block) != PERFILE_NO_ID);
    }
    pf_pairs_close(&keys);
    pf_pairs_close(&blocks);
    return enough;
}

/* NO_ID: out of memory. */
static uint32_t thread_block(struct graph *graph, const char *comm)
{
    const struct block block = {.function = {.name = comm}, .key = PERFILE_NO_ID, .is_thread = true};
    uint64_t known;
    if (pf_map_get(&graph->threads, (uintptr_t)comm, &known))
        return (uint32_t)known;
    const uint32_t made = add_block(graph, &block);
    return made != PERFILE_NO_ID && pf_map_put(&graph->threads, (uintptr_t)comm, made) ? made : PERFILE_NO_ID;
}

static const struct block *block_at(const struct graph *graph, uint32_t node)
{
    const struct pf_export_stacks *stacks = &graph->stacks;
    return &graph->blocks[graph->block_of[stacks->function_of[stacks->nodes[node].frame]]];
}

static bool find_recursion(struct graph *graph)
{
    const struct pf_export_stacks *stacks = &graph->stacks;
    const struct pf_walk_tree tree = {stacks->nodes, stacks->node_count};
    uint32_t *keys = pf_new(graph->options->allocator, (stacks->frame_count + 1) * sizeof(*keys)); /* by frame */
    const struct pf_walk_groups groups = {keys, graph->block_count};
    graph->outermost = pf_arena_new(&graph->arena, (stacks->node_count / 64 + 1) * sizeof(*graph->outermost));
    for (size_t i = 0; keys && i < stacks->frame_count; i++)
        keys[i] = graph->blocks[graph->block_of[stacks->function_of[i]]].key;
    const bool enough =
        keys && graph->outermost && pf_walk_outermost(graph->options->allocator, &tree, &groups, graph->outermost);
    pf_free(graph->options->allocator, keys, (stacks->frame_count + 1) * sizeof(*keys));
    return enough;
}

/* ---- costs ------------------------------------------------------------------------------------------------------- */

/* The cost like this one, all but the values. NULL: out of memory. */
static struct cost *find_cost(struct graph *graph, const struct cost *like)
{
    uint32_t count = graph->cost_count;
    const uint32_t line = pf_export_number(&graph->lines, (uintptr_t)like->file, like->line, &graph->line_count);
    const uint32_t location = pf_export_number(&graph->locations, line, like->address, &graph->position_count);
    const uint32_t number = pf_export_number(&graph->known, (uint64_t)like->block << 32 | like->callee,
                                             (uint64_t)location << 32 | like->event, &count);
    if (line == PERFILE_NO_ID || location == PERFILE_NO_ID || number == PERFILE_NO_ID ||
        !pf_grow(graph->options->allocator, &graph->costs, &graph->cost_capacity, count, sizeof(*graph->costs)))
        return NULL;
    if (count > graph->cost_count)
        graph->costs[number] = *like;
    graph->cost_count = count;
    return &graph->costs[number];
}

static bool add_cost(struct graph *graph, const struct cost *like, const uint64_t *values, size_t count)
{
    struct cost *cost = find_cost(graph, like);
    for (size_t i = 0; cost && i < count; i++)
        cost->values[i] += values[i];
    return cost;
}

/* What the frame of the node costs, or one of its calls. */
static struct cost cost_of(const struct graph *graph, uint32_t node, uint32_t callee, uint32_t event)
{
    const struct pf_export_stacks *stacks = &graph->stacks;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    (void)!perfile_profile_frame_at(stacks->profile, stacks->nodes[node].frame, &frame);
    struct cost cost = {.block = graph->block_of[frame.function], .callee = callee, .event = event};
    if (graph->options->exports->addresses)
        cost.address = frame.address;
    if (frame.file && *frame.file) {
        cost.line = frame.line;
        cost.file = frame.file == graph->blocks[cost.block].function.file ? NULL : frame.file;
    }
    return cost;
}

/* What a sample costs where it was taken, and the call of its outermost function. */
static bool add_sample(struct graph *graph, size_t index, const uint32_t *roots)
{
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    (void)!perfile_profile_sample_at(graph->stacks.profile, index, &sample);
    const uint32_t node = graph->stacks.ends[index], root = graph->stacks.nodes[roots[node]].frame;
    const struct cost self = cost_of(graph, node, PERFILE_NO_ID, sample.event);
    const struct cost call = {.block = thread_block(graph, sample.comm ? sample.comm : "all threads"),
                              .callee = graph->block_of[graph->stacks.function_of[root]],
                              .event = sample.event};
    return call.block != PERFILE_NO_ID && add_cost(graph, &self, sample.values, sample.value_count) &&
           add_cost(graph, &call, sample.values, sample.value_count);
}

static bool add_samples(struct graph *graph)
{
    const size_t size = (graph->stacks.node_count + 1) * sizeof(uint32_t);
    uint32_t *roots = pf_new(graph->options->allocator, size);
    bool enough = roots;
    for (uint32_t i = 0; enough && i < graph->stacks.node_count; i++) {
        const uint32_t parent = graph->stacks.nodes[i].parent;
        roots[i] = parent == PERFILE_NO_ID ? i : roots[parent];
    }
    for (size_t i = 0; enough && i < graph->stacks.sample_count; i++)
        enough = add_sample(graph, i, roots);
    pf_free(graph->options->allocator, roots, size);
    return enough;
}

typedef uint64_t values_of[VALUES];

/* `sums`: what was sampled in each node and below it. */
static bool add_calls_of(struct graph *graph, uint32_t event, values_of *sums)
{
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    bool enough = true;
    memset(sums, 0, graph->stacks.node_count * sizeof(*sums));
    for (size_t i = 0; perfile_profile_sample_at(graph->stacks.profile, i, &sample) == 0; i++)
        for (size_t k = 0; k < sample.value_count && sample.event == event; k++)
            sums[graph->stacks.ends[i]][k] += sample.values[k];
    for (uint32_t node = (uint32_t)graph->stacks.node_count; node-- > 0 && enough;) {
        const uint32_t parent = graph->stacks.nodes[node].parent;
        if (parent == PERFILE_NO_ID || !sums[node][SAMPLES])
            continue;
        for (size_t k = 0; k < VALUES; k++)
            sums[parent][k] += sums[node][k];
        const uint32_t callee = (uint32_t)(block_at(graph, node) - graph->blocks);
        const struct cost call = cost_of(graph, parent, callee, event);
        enough = !pf_walk_is_outermost(graph->outermost, node) || add_cost(graph, &call, sums[node], VALUES);
    }
    return enough;
}

static bool add_calls(struct graph *graph)
{
    const size_t size = (graph->stacks.node_count + 1) * sizeof(values_of);
    values_of *sums = pf_new(graph->options->allocator, size);
    bool enough = sums;
    for (uint32_t i = 0; enough && i < perfile_profile_event_count(graph->stacks.profile); i++)
        enough = add_calls_of(graph, i, sums);
    pf_free(graph->options->allocator, sums, size);
    return enough;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* Blocks, and in them the lines of their own file first. */
static int by_location(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    int order = compare_numbers(x->block, y->block);
    if (order == 0 && x->file != y->file)
        order = x->file && y->file ? strcmp(x->file, y->file) : x->file ? 1 : -1;
    if (order == 0)
        order = compare_numbers(x->line, y->line);
    if (order == 0)
        order = compare_numbers(x->address, y->address);
    if (order == 0)
        order = compare_numbers(x->callee + 1, y->callee + 1);
    return order ? order : compare_numbers(x->event, y->event);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Readers know events by words, and options take lists of these. */
static void put_word(struct pf_text *text, const char *name)
{
    for (const char *at = name; *at; at++)
        pf_put_char(text, *at > ' ' && *at < 0x7f && *at != ',' ? *at : '_');
    pf_put_string(text, *name ? "" : "event");
}

/* The name of a column, which no column before it has. NULL: out of memory. */
static const char *name_column(struct graph *graph, const struct perfile_profile_event *event, size_t value)
{
    static const char *const prefixes[VALUES] = {"samples", "", "weight"};
    const bool several = perfile_profile_event_count(graph->stacks.profile) > 1;
    struct pf_text text;
    unsigned nth = 1;
    if (pf_text_open(&text, graph->options->allocator, NULL, NULL) < 0)
        return NULL;
    pf_put_string(&text, prefixes[value]);
    pf_put_string(&text, value != PERIOD && several ? ":" : "");
    if (value == PERIOD || several)
        put_word(&text, event->name);
    const size_t bytes = text.used;
    for (size_t i = 0; i < graph->column_count; i++)
        if (strlen(graph->columns[i]) == text.used && memcmp(graph->columns[i], text.data, text.used) == 0) {
            text.used = bytes;
            pf_put_format(&text, "#%u", ++nth);
            i = SIZE_MAX; /* again */
        }
    const char *name = text.failed ? NULL : pf_arena_text(&graph->arena, text.data, text.used);
    pf_text_close(&text);
    return name;
}

/* `events`: their numbers, in order. */
static bool add_columns(struct graph *graph, const struct pf_sort_item *events, size_t value)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    for (size_t i = 0; i < perfile_profile_event_count(graph->stacks.profile); i++) {
        (void)!perfile_profile_event_at(graph->stacks.profile, events[i].number, &event);
        if (value >= event.value_count)
            continue;
        (void)!perfile_profile_value_type_at(graph->stacks.profile, event.first_value + value, &type);
        const size_t column = graph->column_count;
        graph->columns[column] = name_column(graph, &event, value);
        graph->totals[column] = type.total;
        graph->column_of[event.first_value + value] = (uint32_t)column;
        if (!graph->columns[column])
            return false;
        graph->column_count++;
    }
    return true;
}

/*
 * Sorts the events by their samples, the most first. `events` has space for twice as many items, as sorting needs it.
 */
static void order_events(const struct graph *graph, struct pf_sort_item *events)
{
    const size_t count = perfile_profile_event_count(graph->stacks.profile);
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    for (uint32_t i = 0; i < count; i++) {
        (void)!perfile_profile_event_at(graph->stacks.profile, i, &event);
        (void)!perfile_profile_value_type_at(graph->stacks.profile, event.first_value + SAMPLES, &type);
        events[i] = (struct pf_sort_item){~type.total, i};
    }
    pf_sort_words(events, events + count, count);
}

/* The periods of all events come first: readers show the first column before the others. */
static bool make_columns(struct graph *graph)
{
    const size_t count = perfile_profile_value_type_count(graph->stacks.profile) + 1;
    struct pf_sort_item *events = pf_arena_new(&graph->arena, 2 * count * sizeof(*events));
    graph->column_of = pf_arena_new(&graph->arena, count * sizeof(*graph->column_of));
    graph->columns = pf_arena_new(&graph->arena, count * sizeof(*graph->columns));
    graph->totals = pf_arena_new(&graph->arena, 2 * count * sizeof(*graph->totals));
    if (!graph->column_of || !graph->columns || !graph->totals || !events)
        return false;
    order_events(graph, events);
    if (!add_columns(graph, events, PERIOD) || !add_columns(graph, events, SAMPLES) ||
        !add_columns(graph, events, WEIGHT))
        return false;
    if (graph->column_count == 0)
        graph->columns[graph->column_count++] = "samples";
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

/* A name ends with its line, and must not begin with a space. */
static void put_rest(struct pf_text *out, const char *name)
{
    pf_put_string(out, *name == ' ' ? "\\x20" : "");
    pf_put_name(out, name + (*name == ' '));
    pf_put_char(out, '\n');
}

static bool put_name(struct pf_text *out, struct names *names, const char *key, const char *name)
{
    static const char unknown[] = "???";
    uint64_t number;
    name = name ? name : unknown;
    pf_put_string(out, key);
    if (pf_map_get(&names->numbers, (uintptr_t)name, &number)) {
        pf_put_format(out, "=(%" PRIu64 ")\n", number);
        return true;
    }
    pf_put_format(out, "=(%" PRIu32 ") ", ++names->count);
    put_rest(out, name);
    return pf_map_put(&names->numbers, (uintptr_t)name, names->count);
}

/* The name of the block: its module, file and function, in the words of those that call it or its own. */
static bool put_block(struct graph *graph, uint32_t number, const char *const keys[3])
{
    struct block *block = &graph->blocks[number];
    if (!put_name(graph->out, &graph->modules, keys[0], block->function.module) ||
        !put_name(graph->out, &graph->files, keys[1], block->function.file))
        return false;
    pf_put_format(graph->out, "%s=(%" PRIu32 ")", keys[2], number + 1);
    if (!block->is_named) {
        pf_put_string(graph->out, block->is_thread ? " thread " : " ");
        put_rest(graph->out, block->function.name);
    } else {
        pf_put_char(graph->out, '\n');
    }
    block->is_named = true;
    return true;
}

static void put_position(struct graph *graph, uint64_t address, uint32_t line)
{
    if (graph->options->exports->addresses) {
        pf_put_string(graph->out, "0x");
        pf_put_hex(graph->out, address);
        pf_put_char(graph->out, ' ');
    }
    pf_put_unsigned(graph->out, line);
}

/* Zeroes at the end can be left out, but a line without any number could be read as something else. */
static void put_values(struct graph *graph, const uint64_t *values)
{
    size_t count = graph->column_count;
    while (count > 1 && !values[count - 1])
        count--;
    for (size_t i = 0; i < count; i++) {
        pf_put_char(graph->out, ' ');
        pf_put_unsigned(graph->out, values[i]);
    }
    pf_put_char(graph->out, '\n');
}

static bool is_same_location(const struct cost *a, const struct cost *b)
{
    return a->block == b->block && a->file == b->file && a->line == b->line && a->address == b->address;
}

static bool is_same_line(const struct cost *a, const struct cost *b)
{
    return is_same_location(a, b) && a->callee == b->callee;
}

/* From the first on those of its line, of all events. Returns their samples. */
static uint64_t gather(const struct graph *graph, uint32_t first, uint32_t *next)
{
    uint64_t *values = graph->totals + graph->column_count, samples = 0;
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    memset(values, 0, graph->column_count * sizeof(*values));
    for (*next = first; *next < graph->cost_count; ++*next) {
        const struct cost *cost = &graph->costs[*next];
        if (!is_same_line(&graph->costs[first], cost))
            break;
        (void)!perfile_profile_event_at(graph->stacks.profile, cost->event, &event);
        for (size_t i = 0; i < event.value_count; i++)
            values[graph->column_of[event.first_value + i]] = cost->values[i];
        samples += cost->values[SAMPLES];
    }
    return samples;
}

static bool put_call(struct graph *graph, uint32_t callee, uint64_t samples)
{
    static const char *const keys[] = {"cob", "cfi", "cfn"};
    if (!put_block(graph, callee, keys))
        return false;
    pf_put_format(graph->out, "calls=%" PRIu64 " ", samples);
    put_position(graph, graph->blocks[callee].function.address, graph->blocks[callee].function.line);
    pf_put_char(graph->out, '\n');
    return true;
}

/* `before`: the cost before this one, or NULL. */
static bool put_cost(struct graph *graph, const struct cost *cost, const struct cost *before, uint64_t samples)
{
    static const char *const keys[] = {"ob", "fl", "fn"};
    bool enough = true;
    if (!before || before->block != cost->block) {
        pf_put_char(graph->out, '\n');
        enough = put_block(graph, cost->block, keys);
        before = NULL;
    }
    if (enough && cost->file && (!before || before->file != cost->file))
        enough = put_name(graph->out, &graph->files, "fi", cost->file);
    if (enough && cost->callee != PERFILE_NO_ID) {
        if (cost->line && (!before || !is_same_location(before, cost))) {
            put_position(graph, cost->address, cost->line); /* callgrind_annotate shows calls beside costs of lines */
            pf_put_string(graph->out, " 0\n");
        }
        enough = put_call(graph, cost->callee, samples);
    }
    put_position(graph, cost->address, cost->line);
    put_values(graph, graph->totals + graph->column_count);
    return enough;
}

static bool put_costs(struct graph *graph)
{
    const struct cost *before = NULL;
    bool enough = true;
    for (uint32_t i = 0, next; i < graph->cost_count && enough; i = next) {
        const uint64_t samples = gather(graph, i, &next);
        enough = put_cost(graph, &graph->costs[i], before, samples);
        before = &graph->costs[i];
    }
    return enough;
}

static void put_command(struct graph *graph)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    if (perfile_profile_recording_at(graph->stacks.profile, 0, &recording) < 0 || !recording.cmdline_count)
        return;
    pf_put_string(graph->out, "cmd:");
    for (size_t i = 0; i < recording.cmdline_count; i++) {
        pf_put_char(graph->out, ' ');
        pf_put_name(graph->out, recording.cmdline[i]);
    }
    pf_put_char(graph->out, '\n');
}

static void put_build_ids(struct graph *graph)
{
    struct perfile_module module = PERFILE_MODULE_INIT;
    for (size_t i = 0; perfile_profile_module_at(graph->stacks.profile, i, &module) == 0; i++) {
        if (!module.build_id_bytes)
            continue;
        pf_put_string(graph->out, "# build-id ");
        pf_put_hex_bytes(graph->out, module.build_id, module.build_id_bytes);
        pf_put_char(graph->out, ' ');
        put_rest(graph->out, module.name);
    }
}

static void put_head(struct graph *graph)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    pf_put_format(graph->out, "# callgrind format\nversion: 1\ncreator: perfile %s\n", perfile_version());
    put_command(graph);
    pf_put_string(graph->out,
                  "desc: Calls: how many samples were in what was called, since samples do not count calls\n");
    if (graph->options->exports->addresses)
        pf_put_string(graph->out, "desc: Addresses: of calls they are those of the next instruction\n");
    for (size_t i = 0; perfile_profile_event_at(graph->stacks.profile, i, &event) == 0; i++)
        pf_put_format(graph->out, "desc: Unit of %s: %s\n",
                      graph->columns[graph->column_of[event.first_value + PERIOD]], event.unit);
    put_build_ids(graph);
    pf_put_format(graph->out, "positions: %s\nevents:", graph->options->exports->addresses ? "instr line" : "line");
    for (size_t i = 0; i < graph->column_count; i++) {
        pf_put_char(graph->out, ' ');
        pf_put_string(graph->out, graph->columns[i]);
    }
    pf_put_string(graph->out, "\nsummary:");
    put_values(graph, graph->totals);
}

static bool put_file(struct graph *graph)
{
    put_head(graph);
    if (!put_costs(graph))
        return false;
    pf_put_string(graph->out, "\ntotals:");
    put_values(graph, graph->totals);
    return true;
}

/*
 * ---- the file
 * --------------------------------------------------------------------------------------------------------
 */

static bool make_graph(struct graph *graph)
{
    if (!number_blocks(graph) || !find_recursion(graph) || !add_samples(graph) || !add_calls(graph) ||
        !make_columns(graph))
        return false;
    if (graph->cost_count)
        qsort(graph->costs, graph->cost_count, sizeof(*graph->costs), by_location);
    return true;
}

static void open_graph(struct graph *graph)
{
    const struct perfile_allocator *allocator = graph->options->allocator;
    pf_arena_open(&graph->arena, allocator);
    pf_map_open(&graph->threads, allocator);
    pf_map_open(&graph->files.numbers, allocator);
    pf_map_open(&graph->modules.numbers, allocator);
    pf_pairs_open(&graph->lines, allocator);
    pf_pairs_open(&graph->locations, allocator);
    pf_pairs_open(&graph->known, allocator);
}

static void close_graph(struct graph *graph)
{
    const struct perfile_allocator *allocator = graph->options->allocator;
    pf_export_stacks_close(&graph->stacks);
    pf_map_close(&graph->threads);
    pf_map_close(&graph->files.numbers);
    pf_map_close(&graph->modules.numbers);
    pf_pairs_close(&graph->lines);
    pf_pairs_close(&graph->locations);
    pf_pairs_close(&graph->known);
    pf_free(allocator, graph->blocks, graph->block_capacity * sizeof(*graph->blocks));
    pf_free(allocator, graph->costs, graph->cost_capacity * sizeof(*graph->costs));
    pf_arena_close(&graph->arena);
}

static int write_callgrind(struct perfile_reader *reader, const struct perfile_output_options *options,
                           struct pf_text *out, struct perfile_error *error)
{
    const struct perfile_profile_options how = {.keys = "comm",
                                                .flags = PERFILE_STREAM_ADDRESSES | PERFILE_STREAM_JOIN_UNNAMED};
    struct graph graph = {.options = options, .out = out};
    struct perfile_profile *profile;
    int result = pf_export_profile_as(reader, options, &how, &profile, error);
    if (result < 0)
        return result;
    open_graph(&graph);
    if (!pf_export_stacks_open(&graph.stacks, profile, options->allocator) || !make_graph(&graph) || !put_file(&graph))
        result = pf_fail_memory(error, "callgrind");
    else if (!pf_export_notify_empty(reader, options, profile))
        pf_export_notify(options,
                         "callgrind files cannot hold times, processors, and threads other than by their names");
    close_graph(&graph);
    return result;
}

const struct pf_output pf_output_export_callgrind = {
    .info = {"export", "callgrind", "costs of source lines and calls: KCachegrind, callgrind_annotate"},
    .write = write_callgrind,
    .takes_a_profile = true,
    .merges = true,
    .reports_omissions = true,
};
