/* SPDX-License-Identifier: MIT */
#include "analysis/profile/aggregate_names.h"

#include "analysis/describe.h"
#include "analysis/label.h"
#include "base/bytes.h"

static uint32_t number_module(struct pf_aggregate_named *named, uint32_t number)
{
    struct perfile_module stated = PERFILE_MODULE_INIT;
    if (pf_describe_module(pf_profile_symbols(named->profile), number, &stated) < 0)
        return PF_AGGREGATE_NONE;
    return pf_aggregate_number_module(named->aggregate, &stated);
}

/* What the symbol table says of the function. */
static void take_symbol(const struct pf_module *module, uint32_t number, struct pf_aggregate_function *function)
{
    const struct pf_symbol_table *table = module->table;
    if (!table || number >= table->count)
        return;
    const struct pf_symbol *symbol = &table->symbols[number];
    function->raw_name = pf_symbol_name(table, symbol);
    function->address = symbol->start;
    function->bytes = symbol->flags & PF_SYMBOL_GUESSED_END ? 0 : symbol->end - symbol->start;
}

/* The number of the function of a frame that is one. */
static uint32_t number_function(struct pf_aggregate_named *named, const struct pf_frame_info *info)
{
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(named->profile), info->module);
    struct pf_aggregate_function function = {
        .name = info->name, .module = PERFILE_NO_ID, .kind = info->kind, .address = info->name ? 0 : info->address};
    struct pf_arena labels;
    pf_arena_open(&labels, named->aggregate->allocator);
    function.label = pf_label_of_frame(&labels, info->name, module ? module->name : NULL, info->kind == PF_FRAME_JIT);
    bool fine = function.label && pf_aggregate_text(named->aggregate, &function.label);
    pf_arena_close(&labels);
    if (module && info->symbol != PF_NO_SYMBOL)
        take_symbol(module, info->symbol, &function);
    if (info->kind == PF_FRAME_INLINED && named->addresses)
        function.raw_name = pf_frame_address(info)->raw_name;
    if (named->addresses)
        pf_describe_start(pf_profile_symbols(named->profile), info, &function.file, &function.start_line);
    if (module)
        function.module = number_module(named, info->module);
    fine = fine && (!module || function.module != PF_AGGREGATE_NONE) &&
           pf_aggregate_text(named->aggregate, &function.name) &&
           pf_aggregate_text(named->aggregate, &function.raw_name) &&
           pf_aggregate_text(named->aggregate, &function.file);
    return fine ? pf_aggregate_number(named->aggregate, PF_AGGREGATE_FUNCTIONS, &function) : PF_AGGREGATE_NONE;
}

/* Fills in the address and the source line of a frame that is an address. False when out of memory. */
static bool take_address(struct pf_aggregate_named *named, const struct pf_frame_info *info,
                         struct pf_aggregate_frame *frame)
{
    const struct pf_frame_address *address = pf_frame_address(info);
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(named->profile), info->module);
    const bool is_file = module && !module->kernel && !module->jit;
    if (!address->ip)
        return true;
    frame->offset = info->symbol == PF_NO_SYMBOL ? 0 : info->address;
    frame->address = address->table_address;
    frame->file_offset = is_file ? address->in_module : 0;
    frame->file = address->file;
    frame->line = address->line;
    return pf_aggregate_text(named->aggregate, &frame->file);
}

/* `functions`: the numbers of those that are known, by the numbers of pf_profile. */
static uint32_t make_frame(struct pf_aggregate_named *named, uint32_t number, uint32_t *functions)
{
    const struct pf_frame_info *info = pf_profile_frame(named->profile, number);
    uint32_t *function = &functions[info->function];
    if (*function == PF_AGGREGATE_NONE)
        *function = number_function(named, pf_profile_frame(named->profile, info->function));
    struct pf_aggregate_frame frame = {.function = *function, .kind = info->kind};
    if (*function == PF_AGGREGATE_NONE || (named->addresses && !take_address(named, info, &frame)))
        return PF_AGGREGATE_NONE;
    const size_t known = pf_aggregate_count(named->aggregate->profile, PF_AGGREGATE_FRAMES);
    const uint32_t made = pf_aggregate_number(named->aggregate, PF_AGGREGATE_FRAMES, &frame);
    named->joined |= made < known;
    return made;
}

/* Numbers in the profile: `count` of the frames of pf_profile, then as many of their functions. */
struct numbers {
    uint32_t *frames;
    size_t count;
};

static uint32_t number_frame(struct pf_aggregate_named *named, const struct numbers *numbers, uint32_t frame)
{
    uint32_t *number = &numbers->frames[frame];
    if (*number == PF_AGGREGATE_NONE)
        *number = make_frame(named, frame, numbers->frames + numbers->count);
    return *number;
}

static bool name_node(struct pf_aggregate_named *named, const struct numbers *numbers, struct pf_tree_link link,
                      struct pf_tree_link *node)
{
    node->parent = link.parent - 1; /* the root: PERFILE_NO_ID */
    node->frame = number_frame(named, numbers, link.frame);
    return node->frame != PF_AGGREGATE_NONE;
}

/* Nodes are where their links were: those may be many. */
static bool name_nodes_in_place(struct pf_aggregate_named *named, const struct numbers *numbers)
{
    struct pf_aggregate_list *list = &named->aggregate->profile->lists[PF_AGGREGATE_NODES];
    struct pf_tree *tree = named->gives;
    struct pf_tree_link *nodes = tree->links;
    for (size_t i = 1; i < tree->count; i++)
        if (!name_node(named, numbers, tree->links[i], &nodes[i - 1]))
            return false;
    pf_free(named->aggregate->allocator, list->items, list->capacity * sizeof(*nodes));
    *list = (struct pf_aggregate_list){.items = nodes, .count = tree->count - 1, .capacity = tree->capacity};
    tree->links = NULL;
    tree->count = tree->capacity = 0;
    return true;
}

static bool name_nodes(struct pf_aggregate_named *named, const struct numbers *numbers)
{
    if (named->gives)
        return name_nodes_in_place(named, numbers);
    if (!pf_aggregate_reserve(named->aggregate, PF_AGGREGATE_NODES, named->tree->count))
        return false;
    for (size_t i = 1; i < named->tree->count; i++) {
        struct pf_tree_link node;
        if (!name_node(named, numbers, named->tree->links[i], &node) ||
            pf_aggregate_append(named->aggregate, PF_AGGREGATE_NODES, &node) == PF_AGGREGATE_NONE)
            return false;
    }
    return true;
}

static bool name_leaves(struct pf_aggregate_named *named, const struct numbers *numbers)
{
    struct pf_aggregate_row *rows = named->aggregate->profile->lists[PF_AGGREGATE_ROWS].items;
    for (size_t i = 0; i < pf_aggregate_count(named->aggregate->profile, PF_AGGREGATE_ROWS); i++) {
        rows[i].node--;
        rows[i].leaf = number_frame(named, numbers, rows[i].leaf);
        if (rows[i].leaf == PF_AGGREGATE_NONE)
            return false;
    }
    return true;
}

bool pf_aggregate_name(struct pf_aggregate_named *named)
{
    const size_t count = pf_profile_frame_count(named->profile), bytes = 2 * count * sizeof(uint32_t);
    const struct numbers numbers = {pf_new(named->aggregate->allocator, bytes + 1), count};
    if (numbers.frames)
        memset(numbers.frames, 0xff, bytes); /* NONE */
    const bool fine = numbers.frames && name_nodes(named, &numbers) && name_leaves(named, &numbers);
    pf_free(named->aggregate->allocator, numbers.frames, bytes + 1);
    return fine;
}
