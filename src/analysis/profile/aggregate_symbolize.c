/* SPDX-License-Identifier: MIT */
/* perfile_profile_symbolize: names for the frames of a profile that have only an offset in the file of a module. */
#include <perfile/symbolize.h>

#include "analysis/label.h"
#include "analysis/profile/aggregate_merge.h"
#include "analysis/symbolizer.h"
#include "base/bytes.h"
#include "base/error.h"

/* What a frame becomes: `count` frames from `first` on, innermost first; 0: not looked up yet. */
struct expansion {
    uint32_t first, count;
};

struct symbolizing {
    struct pf_merge merge;
    struct perfile_symbolizer *symbolizer;
    uint32_t *binaries; /* by module there: the number of the symbolizer plus one; 0: not added yet */
    /* By frame there: as the innermost of a stack, and as a caller. */
    struct expansion *exact, *callers;
    uint32_t *frames; /* of expansions */
    size_t frame_count, frame_capacity;
    uint8_t *calls; /* by node there: it has callees */
    struct pf_arena labels;
};

static const void *item_of(const struct symbolizing *s, enum pf_aggregate_kind kind, size_t number)
{
    return (const char *)s->merge.from->lists[kind].items + number * pf_aggregate_bytes(kind);
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static bool add_frame(struct symbolizing *s, struct expansion *made, uint32_t number)
{
    if (!made->count++)
        made->first = (uint32_t)s->frame_count;
    return number != PF_AGGREGATE_NONE &&
           PF_APPEND(s->merge.into->allocator, s->frames, s->frame_count, s->frame_capacity, number);
}

/* The frame as it is. */
static bool keep_frame(struct symbolizing *s, uint32_t number, struct expansion *made)
{
    const struct pf_aggregate_frame *frame = item_of(s, PF_AGGREGATE_FRAMES, number);
    uint32_t *function = &s->merge.numbers[PF_AGGREGATE_FUNCTIONS][frame->function];
    if (*function == PF_AGGREGATE_NONE)
        *function = pf_merge_item(&s->merge, PF_AGGREGATE_FUNCTIONS, frame->function);
    return *function != PF_AGGREGATE_NONE && add_frame(s, made, pf_merge_item(&s->merge, PF_AGGREGATE_FRAMES, number));
}

/* The module gets the path of the file whose symbols are used. */
static bool note_module(struct symbolizing *s, uint32_t module, uint32_t binary)
{
    struct pf_aggregate_module *modules = s->merge.into->profile->lists[PF_AGGREGATE_MODULES].items;
    struct pf_aggregate_module *into = &modules[s->merge.numbers[PF_AGGREGATE_MODULES][module]];
    struct perfile_module found = PERFILE_MODULE_INIT;
    (void)!perfile_symbolizer_module(s->symbolizer, binary, &found); /* the number is the symbolizer's */
    if (found.state <= into->state)
        return true;
    into->state = found.state;
    into->path = found.path;
    return pf_aggregate_text(s->merge.into, &into->path);
}

/* The number of the symbolizer for a module, or an error. */
static int add_binary(struct symbolizing *s, uint32_t module, uint32_t *binary, struct perfile_error *error)
{
    const struct pf_aggregate_module *known = item_of(s, PF_AGGREGATE_MODULES, module);
    struct perfile_binary wanted = PERFILE_BINARY_INIT;
    if (s->binaries[module]) {
        *binary = s->binaries[module] - 1;
        return 0;
    }
    wanted.path = known->name;
    wanted.build_id_bytes = known->build_id_bytes;
    memcpy(wanted.build_id, known->build_id, sizeof(wanted.build_id));
    const int result = perfile_symbolizer_add(s->symbolizer, &wanted, binary, error);
    if (result < 0)
        return result;
    s->binaries[module] = *binary + 1;
    return 0;
}

/* A frame of the last look-up. NONE: out of memory. */
static uint32_t number_symbol(struct symbolizing *s, const struct perfile_symbol *symbol, uint32_t number)
{
    const struct pf_aggregate_frame *from = item_of(s, PF_AGGREGATE_FRAMES, number);
    const struct pf_aggregate_function *of = item_of(s, PF_AGGREGATE_FUNCTIONS, from->function);
    struct pf_aggregate_function function = {.name = symbol->name,
                                             .raw_name = symbol->linkage,
                                             .module = s->merge.numbers[PF_AGGREGATE_MODULES][of->module],
                                             .kind = symbol->inlined ? PERFILE_FRAME_INLINED : of->kind};
    struct pf_aggregate_frame frame = {.file = symbol->file,
                                       .offset = symbol->offset,
                                       .address = pf_symbolizer_address(s->symbolizer),
                                       .file_offset = from->file_offset,
                                       .kind = function.kind,
                                       .line = symbol->line};
    const struct pf_aggregate_module *module = item_of(s, PF_AGGREGATE_MODULES, of->module);
    function.label = pf_label_of_frame(&s->labels, function.name, module->name, false);
    if (!symbol->inlined)
        pf_symbolizer_function(s->symbolizer, &function.address, &function.bytes);
    if (!function.label || !pf_aggregate_text(s->merge.into, &function.name) ||
        !pf_aggregate_text(s->merge.into, &function.raw_name) || !pf_aggregate_text(s->merge.into, &function.label) ||
        !pf_aggregate_text(s->merge.into, &frame.file))
        return PF_AGGREGATE_NONE;
    frame.function = pf_aggregate_number(s->merge.into, PF_AGGREGATE_FUNCTIONS, &function);
    return frame.function == PF_AGGREGATE_NONE ? frame.function
                                               : pf_aggregate_number(s->merge.into, PF_AGGREGATE_FRAMES, &frame);
}

static bool is_unnamed(const struct symbolizing *s, const struct pf_aggregate_frame *frame)
{
    const struct pf_aggregate_function *function = item_of(s, PF_AGGREGATE_FUNCTIONS, frame->function);
    return !function->name && function->module != PERFILE_NO_ID && frame->file_offset &&
           frame->kind == PERFILE_FRAME_USER;
}

/* Looks the frame up: how many frames there are, 0: nothing is known, or an error. */
static int look_up(struct symbolizing *s, const struct pf_aggregate_frame *frame, bool is_exact,
                   struct perfile_error *error)
{
    const struct pf_aggregate_function *function = item_of(s, PF_AGGREGATE_FUNCTIONS, frame->function);
    uint32_t binary;
    int result = add_binary(s, function->module, &binary, error);
    if (result < 0)
        return result;
    result =
        perfile_symbolizer_find(s->symbolizer, binary, frame->file_offset - !is_exact, PERFILE_SYMBOLIZE_OFFSET, error);
    return result >= 0 && !note_module(s, function->module, binary) ? pf_fail_memory(error, "profile") : result;
}

/* What a frame becomes, or NULL and an error. */
static const struct expansion *expand(struct symbolizing *s, uint32_t number, bool is_exact,
                                      struct perfile_error *error)
{
    const struct pf_aggregate_frame *frame = item_of(s, PF_AGGREGATE_FRAMES, number);
    struct expansion *made = is_exact ? &s->exact[number] : &s->callers[number];
    struct perfile_symbol symbol = PERFILE_SYMBOL_INIT;
    bool fine = true;
    if (made->count)
        return made;
    const int count = is_unnamed(s, frame) ? look_up(s, frame, is_exact, error) : 0;
    for (int i = 0; i < count && fine; i++) {
        (void)!perfile_symbolizer_frame(s->symbolizer, (size_t)i, &symbol); /* there are so many */
        fine = add_frame(s, made, number_symbol(s, &symbol, number));
    }
    if (count == 0)
        fine = keep_frame(s, number, made);
    if (!fine)
        (void)pf_fail_memory(error, "profile");
    return fine && count >= 0 ? made : NULL;
}

/* ---- stacks and rows --------------------------------------------------------------------------------------------- */

/* The node of a frame below one here. */
static int add_node(struct symbolizing *s, const struct pf_tree_link *node, bool is_exact, uint32_t *number,
                    struct perfile_error *error)
{
    const uint32_t *nodes = s->merge.numbers[PF_AGGREGATE_NODES];
    const struct expansion *frames = expand(s, node->frame, is_exact, error);
    struct pf_tree_link link = {.parent = node->parent == PERFILE_NO_ID ? PERFILE_NO_ID : nodes[node->parent]};
    if (!frames)
        return PERFILE_ERROR_MEMORY;
    for (uint32_t i = frames->count; i-- > 0;) {
        link.frame = s->frames[frames->first + i];
        link.parent = pf_aggregate_number(s->merge.into, PF_AGGREGATE_NODES, &link);
        if (link.parent == PF_AGGREGATE_NONE)
            return pf_fail_memory(error, "profile");
    }
    *number = link.parent;
    return 0;
}

static int add_callers(struct symbolizing *s, struct perfile_error *error)
{
    const struct pf_aggregate_list *list = &s->merge.from->lists[PF_AGGREGATE_NODES];
    const struct pf_tree_link *nodes = list->items;
    int result = 0;
    for (size_t i = 0; i < list->count; i++)
        if (nodes[i].parent != PERFILE_NO_ID)
            s->calls[nodes[i].parent] = 1;
    for (size_t i = 0; i < list->count && result == 0; i++)
        if (s->calls[i])
            result = add_node(s, &nodes[i], false, &s->merge.numbers[PF_AGGREGATE_NODES][i], error);
    return result;
}

static int add_row(struct symbolizing *s, const struct pf_aggregate_row *from, struct perfile_error *error)
{
    const struct pf_tree_link *nodes = s->merge.from->lists[PF_AGGREGATE_NODES].items;
    struct pf_aggregate_row row = *from;
    const struct expansion *leaf = expand(s, from->leaf, true, error);
    const int result = !leaf                         ? PERFILE_ERROR_MEMORY
                       : from->node == PERFILE_NO_ID ? 0
                                                     : add_node(s, &nodes[from->node], true, &row.node, error);
    if (result < 0)
        return result;
    row.leaf = s->frames[leaf->first + leaf->count - 1];
    row.key = s->merge.numbers[PF_AGGREGATE_KEYS][from->key];
    return pf_aggregate_number(s->merge.into, PF_AGGREGATE_ROWS, &row) == PF_AGGREGATE_NONE
               ? pf_fail_memory(error, "profile")
               : 0;
}

static int add_rows(struct symbolizing *s, struct perfile_error *error)
{
    const struct pf_aggregate_list *list = &s->merge.from->lists[PF_AGGREGATE_ROWS];
    int result = 0;
    for (size_t i = 0; i < list->count && result == 0; i++)
        result = add_row(s, (const struct pf_aggregate_row *)list->items + i, error);
    return result;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* What stays as it is. */
static bool take_rest(struct symbolizing *s)
{
    static const enum pf_aggregate_kind kinds[] = {PF_AGGREGATE_EVENTS, PF_AGGREGATE_MODULES, PF_AGGREGATE_THREADS,
                                                   PF_AGGREGATE_COMMS,  PF_AGGREGATE_TAGS,    PF_AGGREGATE_KEYS};
    const struct pf_aggregate_list *lists = s->merge.from->lists;
    const struct perfile_allocator *allocator = s->merge.into->allocator;
    bool fine = pf_merge_open(&s->merge, PF_AGGREGATE_FUNCTIONS) && pf_merge_open(&s->merge, PF_AGGREGATE_NODES);
    for (size_t i = 0; fine && i < PF_COUNT(kinds); i++)
        fine = pf_merge_list(&s->merge, kinds[i]);
    fine = fine && pf_merge_recordings(&s->merge);
    s->binaries = pf_new(allocator, (lists[PF_AGGREGATE_MODULES].count + 1) * sizeof(*s->binaries));
    s->exact = pf_new(allocator, (lists[PF_AGGREGATE_FRAMES].count + 1) * sizeof(*s->exact));
    s->callers = pf_new(allocator, (lists[PF_AGGREGATE_FRAMES].count + 1) * sizeof(*s->callers));
    s->calls = pf_new(allocator, lists[PF_AGGREGATE_NODES].count + 1);
    s->merge.into->profile->losses = s->merge.from->losses;
    return fine && s->binaries && s->exact && s->callers && s->calls;
}

static void close_parts(struct symbolizing *s)
{
    const struct pf_aggregate_list *lists = s->merge.from->lists;
    const struct perfile_allocator *allocator = s->merge.into->allocator;
    pf_free(allocator, s->binaries, (lists[PF_AGGREGATE_MODULES].count + 1) * sizeof(*s->binaries));
    pf_free(allocator, s->exact, (lists[PF_AGGREGATE_FRAMES].count + 1) * sizeof(*s->exact));
    pf_free(allocator, s->callers, (lists[PF_AGGREGATE_FRAMES].count + 1) * sizeof(*s->callers));
    pf_free(allocator, s->calls, lists[PF_AGGREGATE_NODES].count + 1);
    pf_free(allocator, s->frames, s->frame_capacity * sizeof(*s->frames));
    pf_arena_close(&s->labels);
    pf_merge_close(&s->merge);
}

/* Samples whose function has no name. */
static void count_unresolved(struct perfile_profile *profile)
{
    const struct pf_aggregate_row *rows = profile->lists[PF_AGGREGATE_ROWS].items;
    const struct pf_aggregate_frame *frames = profile->lists[PF_AGGREGATE_FRAMES].items;
    const struct pf_aggregate_function *functions = profile->lists[PF_AGGREGATE_FUNCTIONS].items;
    uint64_t unresolved = 0;
    for (size_t i = 0; i < profile->lists[PF_AGGREGATE_ROWS].count; i++)
        if (!functions[frames[rows[i].leaf].function].name)
            (void)pf_add_to_sum(&unresolved, rows[i].values[0]);
    profile->losses.unresolved = pf_min(profile->losses.unresolved, unresolved);
}

int perfile_profile_symbolize(const struct perfile_profile *profile, struct perfile_symbolizer *symbolizer,
                              struct perfile_profile **named, struct perfile_error *error)
{
    struct pf_aggregate into;
    *named = NULL;
    if (!profile || !symbolizer)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "profile", "no profile or no symbolizer");
    if (!pf_aggregate_open(&into, pf_symbolizer_allocator(symbolizer)))
        return pf_fail_memory(error, "profile");
    struct symbolizing s = {.merge = {.into = &into, .from = profile}, .symbolizer = symbolizer};
    pf_arena_open(&s.labels, into.allocator);
    int result = take_rest(&s) ? add_callers(&s, error) : pf_fail_memory(error, "profile");
    if (result == 0)
        result = add_rows(&s, error);
    close_parts(&s);
    if (result == 0 && !pf_aggregate_finish(&into))
        result = pf_fail_memory(error, "profile");
    if (result < 0) {
        pf_aggregate_close(&into);
        return result;
    }
    count_unresolved(into.profile);
    *named = into.profile;
    return 0;
}
