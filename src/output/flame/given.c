/* SPDX-License-Identifier: MIT */
/*
 * Flame graphs of folded stacks from other programs: a line for each, "a;b;c 12", the root first. Two numbers after a
 * stack are its weights before and now. Equal stacks are summed.
 */
#include "output/flame/recording.h"

#include "base/error.h"
#include "view/dictionary.h"

/* A line: a stack, and its weights. */
struct line {
    const char *stack;
    size_t bytes;
    uint64_t weights[2]; /* the last one, and the one before it */
    unsigned count;      /* how many there are; 0: not a stack */
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* The number at the end of the text, which it takes away with the space before it. */
static bool take_weight(const char *text, size_t *bytes, uint64_t *weight)
{
    size_t at = *bytes;
    while (at && text[at - 1] >= '0' && text[at - 1] <= '9')
        at--;
    if (at == *bytes || at < 2 || text[at - 1] != ' ' || *bytes - at > 19)
        return false;
    *weight = 0;
    for (size_t i = at; i < *bytes; i++)
        *weight = *weight * 10 + (uint64_t)(text[i] - '0');
    *bytes = at - 1;
    return true;
}

static size_t trimmed(const char *text, size_t bytes)
{
    while (bytes && (text[bytes - 1] == ' ' || text[bytes - 1] == '\r' || text[bytes - 1] == '\t'))
        bytes--;
    return bytes;
}

/* False at the end. */
static bool next_line(const char **at, const char *end, struct line *line)
{
    if (*at == end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    stop = stop ? stop : end;
    *line = (struct line){.stack = *at, .bytes = trimmed(*at, (size_t)(stop - *at))};
    while (line->count < 2 && take_weight(line->stack, &line->bytes, &line->weights[line->count]))
        line->count++;
    *at = stop < end ? stop + 1 : end;
    return true;
}

/* Numbers that all stacks have: names may end in one, too. */
static unsigned count_columns(const char *text, const char *end)
{
    struct line line;
    unsigned columns = 2;
    bool any = false;
    for (const char *at = text; next_line(&at, end, &line);)
        if (line.count) {
            columns = line.count < columns ? line.count : columns;
            any = true;
        }
    return any ? columns : 0;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static uint8_t kind_of(const char *name, size_t *bytes)
{
    static const struct {
        const char *end;
        uint8_t kind;
    } known[] = {{"_[k]", PF_FLAME_KERNEL}, {"_[i]", PF_FLAME_INLINED}, {"_[j]", PF_FLAME_JIT}};
    for (size_t i = 0; i < PF_COUNT(known); i++)
        if (*bytes > 4 && memcmp(name + *bytes - 4, known[i].end, 4) == 0) {
            *bytes -= 4;
            return known[i].kind;
        }
    return PF_FLAME_USER;
}

static bool name_frames(struct pf_flame_recording *g, const struct pf_dictionary *names)
{
    g->frame_count = names->count;
    g->frames = pf_new(g->allocator, (g->frame_count + 1) * sizeof(*g->frames));
    for (uint32_t i = 0; g->frames && i < g->frame_count; i++) {
        size_t bytes;
        const char *name = pf_dictionary_at(names, i, &bytes);
        g->frames[i].kind = kind_of(name, &bytes);
        if (!(g->frames[i].name = pf_arena_text(&g->bottom.arena, name, bytes)))
            return false;
    }
    return g->frames;
}

static bool add_line(struct pf_flame_stacks *stacks, struct pf_dictionary *names, const struct line *line,
                     uint64_t weight)
{
    uint32_t node = 0;
    for (const char *at = line->stack, *end = at + line->bytes; at <= end;) {
        const char *stop = at < end ? memchr(at, ';', (size_t)(end - at)) : NULL;
        stop = stop ? stop : end;
        node = pf_tree_child(&stacks->tree, node, pf_dictionary_put(names, at, (size_t)(stop - at)));
        if (!node || names->full)
            return false;
        at = stop + 1;
    }
    pf_tree_add(&stacks->tree, node, weight);
    stacks->samples++;
    return true;
}

/* ---- the recording ----------------------------------------------------------------------------------------------- */

static bool make_set(struct pf_flame_recording *g)
{
    g->events = pf_new(g->allocator, (g->stacks_count + 1) * sizeof(*g->events));
    if (!g->events || !pf_tree_sum(&g->stacks[0].tree))
        return false;
    g->events[0] = (struct pf_flame_event){.name = "stacks", .tree = &g->stacks[0].tree, .unit = "samples"};
    g->set = (struct pf_flame_set){.title = g->options->flame->title ? g->options->flame->title : "Flame graph",
                                   .unit = "samples",
                                   .event_count = 1,
                                   .events = g->events,
                                   .frames = g->frames,
                                   .frame_count = g->frame_count};
    return true;
}

static bool add_all(struct pf_flame_recording *g, unsigned column, unsigned columns)
{
    const char *at = g->options->flame->folded, *end = at + g->options->flame->folded_bytes;
    struct pf_dictionary names;
    struct line line;
    bool enough = true;
    pf_dictionary_open(&names, g->allocator, g->allocator);
    while (enough && next_line(&at, end, &line)) {
        if (line.count > columns) { /* the end of its name looks like a weight */
            const char *after = line.stack + line.bytes + 1;
            while (*after != ' ')
                after++;
            line.bytes = (size_t)(after - line.stack);
        }
        if (line.count)
            enough = add_line(&g->stacks[0], &names, &line, line.weights[column]);
        else
            g->unread += trimmed(line.stack, line.bytes) > 0;
    }
    enough = enough && name_frames(g, &names);
    pf_dictionary_close(&names);
    return enough;
}

int pf_flame_recording_of_text(struct pf_flame_recording *g, const struct perfile_output_options *options, bool before,
                               struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    const char *text = options->flame->folded;
    const unsigned columns = count_columns(text, text + options->flame->folded_bytes);
    *g = (struct pf_flame_recording){.allocator = allocator, .options = options};
    int result = pf_bottom_open(&g->bottom, &(struct pf_bottom_options){allocator, .by = "comm"}, error);
    if (result < 0)
        return result;
    if (!columns)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "flame graph",
                       "there are no folded stacks: lines such as main;work 12");
    if (before && columns < 2)
        return 0;
    if (!pf_grow(allocator, &g->stacks, &g->stacks_capacity, 1, sizeof(*g->stacks)))
        return pf_fail_memory(error, "flame graph");
    g->stacks[0] = (struct pf_flame_stacks){0};
    if (pf_tree_open(&g->stacks[0].tree, allocator) < 0)
        return pf_fail_memory(error, "flame graph");
    g->stacks_count = 1;
    return add_all(g, before, columns) && make_set(g) ? 0 : pf_fail_memory(error, "flame graph");
}
