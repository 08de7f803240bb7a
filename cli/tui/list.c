/* SPDX-License-Identifier: MIT */
#include "model.h"
#include "../array.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows in order ----------------------------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    const struct pf_tui_item *a = left, *b = right;
    int order;

    if (a->unknown_caller != b->unknown_caller)
        return a->unknown_caller ? 1 : -1;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    if ((order = strcmp(a->by, b->by)) || (order = strcmp(a->name, b->name)))
        return order;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Broken stacks have an address without a name as their outermost caller, which is then above everything. */
static bool is_unknown_caller(const struct pf_tui_list *list, const struct pf_tui_item *item)
{
    const struct pf_tui_function *function = &list->model->index->functions[item->function];

    return !item->keyed && list->order != PF_TUI_DSO && !item->self.samples && !function->named &&
           function->module == PF_TUI_NONE;
}

/* Numbers in columns are sorted as such, the smallest first, and before texts. */
static uint64_t number_in(const char *text)
{
    char *end;
    const uint64_t number = strtoull(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);

    return *text && *text != '-' && !*end ? UINT64_MAX - number : 0;
}

static void name_item(const struct pf_tui_list *list, struct pf_tui_item *item, unsigned order)
{
    const struct pf_tui_index *index = list->model->index;

    item->key = 0;
    item->number = item->keyed ? (uint64_t)item->by_sample << 32 | item->by_function : item->function;
    item->name = item->keyed ? "" : index->functions[item->function].name;
    item->by = order == PF_TUI_DSO && !item->keyed ? pf_tui_dso(index, item->function) : "";
    if (order < PF_TUI_ORDERS)
        return;
    item->by = pf_tui_keys_cell(&index->keys, item->by_sample, item->by_function, order - PF_TUI_ORDERS);
    item->key = number_in(item->by);
}

static void sort(const struct pf_tui_list *list, struct pf_tui_item *items, size_t count, bool below)
{
    const unsigned order =
        below && (list->order == PF_TUI_SELF || list->order >= PF_TUI_ORDERS) ? PF_TUI_TOTAL : list->order;

    for (size_t i = 0; i < count; i++) {
        struct pf_tui_item *item = &items[i];
        item->unknown_caller = !below && is_unknown_caller(list, item);
        name_item(list, item, order);
        item->key = order == PF_TUI_TOTAL     ? pf_tui_weight(list->model, item->total)
                    : order == PF_TUI_SELF    ? pf_tui_weight(list->model, item->self)
                    : order == PF_TUI_SAMPLES ? (list->no_children ? item->self : item->total).samples
                    : order == PF_TUI_PERIOD  ? (list->no_children ? item->self : item->total).period
                                              : item->key;
    }
    if (count)
        qsort(items, count, sizeof(*items), compare);
    for (size_t i = 0; list->reversed && i < count / 2; i++) {
        const struct pf_tui_item item = items[i];
        items[i] = items[count - 1 - i];
        items[count - 1 - i] = item;
    }
}

static bool weighs_enough(const struct pf_tui_list *list, struct pf_tui_value value)
{
    return value.samples && (list->limit <= 0 || pf_tui_share(list->model, value) >= list->limit);
}

/* ---- below a row ------------------------------------------------------------------------------------------------- */

static bool goes_to_callers(const struct pf_tui_list *list)
{
    return list->view == PF_TUI_CALLERS || list->view == PF_TUI_ROWS ||
           (list->view == PF_TUI_FUNCTIONS && list->callers);
}

/* Locations in the order in which they are found, and the new row that each belongs to. */
struct found {
    struct pf_tui_location *positions;
    uint32_t *groups;
    size_t count, capacity;
    struct pf_tui_item *items;
    size_t item_count, item_capacity;
    struct pf_tui_model *model;
};

static bool find(struct found *found, const struct pf_tui_location *position, struct pf_tui_value self)
{
    const uint32_t function = perfile_calls_group(found->model->index->calls, position->node);
    uint32_t *slot = &found->model->slot[function];
    size_t groups_capacity = found->capacity;

    if (*slot == PF_TUI_NONE) {
        if (!pf_array_grow(&found->items, &found->item_capacity, found->item_count + 1, sizeof(*found->items)))
            return false;
        found->items[found->item_count] = (struct pf_tui_item){.function = function, .has_positions = true};
        *slot = (uint32_t)found->item_count++;
    }
    if (!pf_array_grow(&found->groups, &groups_capacity, found->count + 1, sizeof(*found->groups)) ||
        !pf_array_grow(&found->positions, &found->capacity, found->count + 1, sizeof(*found->positions)))
        return false;
    struct pf_tui_item *item = &found->items[*slot];
    item->total.period += position->value.period;
    item->total.samples += position->value.samples;
    item->self.period += self.period;
    item->self.samples += self.samples;
    item->position_count++;
    found->groups[found->count] = *slot;
    found->positions[found->count++] = *position;
    return true;
}

/* Finds the callees of a node; of NONE, the nodes without a caller. */
static bool find_callees(struct found *found, uint32_t node)
{
    const struct pf_tui_model *model = found->model;
    const struct perfile_calls *calls = model->index->calls;

    for (uint32_t at = perfile_calls_first(calls, node); at != PF_TUI_NONE; at = perfile_calls_next(calls, at)) {
        const struct pf_tui_location position = {.node = at, .value = pf_tui_node_total(model, at)};
        if (position.value.samples && !find(found, &position, pf_tui_node_self(model, at)))
            return false;
    }
    return true;
}

static bool find_caller(struct found *found, const struct pf_tui_location *from)
{
    static const struct pf_tui_value none = {0, 0};
    const struct pf_tui_location position = {
        .node = from->is_caller ? from->node : perfile_calls_parent(found->model->index->calls, from->node),
        .value = from->value};

    return position.node == PF_TUI_NONE || find(found, &position, none);
}

/* Copies the locations to the rows that they belong to. */
static bool deal_out(struct found *found)
{
    for (size_t i = 0; i < found->item_count; i++) {
        struct pf_tui_item *item = &found->items[i];
        if (!(item->positions = malloc(item->position_count * sizeof(*item->positions))))
            return false;
        item->position_count = 0;
    }
    for (size_t i = 0; i < found->count; i++) {
        struct pf_tui_item *item = &found->items[found->groups[i]];
        item->positions[item->position_count++] = found->positions[i];
    }
    return true;
}

static void end_finding(struct found *found)
{
    for (size_t i = 0; i < found->item_count; i++)
        found->model->slot[found->items[i].function] = PF_TUI_NONE;
    free(found->positions);
    free(found->groups);
}

static void free_items(struct pf_tui_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free_items(items[i].items, items[i].item_count);
        free(items[i].positions);
    }
    free(items);
}

/* Removes rows below the limit. */
static size_t drop_light(const struct pf_tui_list *list, struct pf_tui_item *items, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (weighs_enough(list, items[i].total))
            items[kept++] = items[i];
        else
            free(items[i].positions);
    }
    return kept;
}

static bool settle(struct pf_tui_list *list, struct found *found, bool fine)
{
    fine = fine && deal_out(found);
    end_finding(found);
    if (!fine) {
        free_items(found->items, found->item_count);
        return false;
    }
    found->item_count = drop_light(list, found->items, found->item_count);
    sort(list, found->items, found->item_count, true);
    return true;
}

/* Where the function that was running is in the stack of the sample. */
static void leaf_position(const struct pf_tui_list *list, size_t row, struct pf_tui_location *position)
{
    const struct perfile_calls *calls = list->model->index->calls;
    const uint32_t node = perfile_calls_leaf_node(calls, row);

    *position = (struct pf_tui_location){.node = node == PF_TUI_NONE ? perfile_calls_end(calls, row) : node,
                                         .is_caller = node == PF_TUI_NONE,
                                         .value = pf_tui_row_value(list->model, row)};
}

static bool add_position(struct pf_tui_item *item, const struct pf_tui_location *position, size_t *capacity)
{
    if (!pf_array_grow(&item->positions, capacity, item->position_count + 1, sizeof(*item->positions)))
        return false;
    item->positions[item->position_count++] = *position;
    return true;
}

/* The rows of samples that ended in the function, by where it is in their stacks. */
static bool find_self_positions(struct pf_tui_list *list, struct pf_tui_item *item)
{
    const struct pf_tui_index *index = list->model->index;
    size_t capacity = 0;

    for (size_t i = 0; i < index->row_count; i++) {
        struct pf_tui_location position;
        if (perfile_calls_leaf(index->calls, i) != item->function || !pf_tui_row_passes(list->model, i))
            continue;
        leaf_position(list, i, &position);
        if (!add_position(item, &position, &capacity))
            return false;
    }
    return true;
}

/* The outermost node of the functions of the row in the stack; NONE: the stack has none of them. */
static uint32_t outermost(const struct pf_tui_index *index, uint32_t by_function, size_t row)
{
    uint32_t found = PF_TUI_NONE;

    for (uint32_t at = perfile_calls_end(index->calls, row); at != PF_TUI_NONE;
         at = perfile_calls_parent(index->calls, at))
        if (index->keys.function_of[perfile_calls_group(index->calls, at)] == by_function)
            found = at;
    return found;
}

/* Sets the position of a sample of a row by keys. False: the sample is not of the row. */
static bool locate(const struct pf_tui_list *list, const struct pf_tui_item *item, size_t row,
                   struct pf_tui_location *position)
{
    const struct pf_tui_index *index = list->model->index;
    const bool is_leaf = index->keys.function_of[perfile_calls_leaf(index->calls, row)] == item->by_function;
    const uint32_t node =
        pf_tui_rows_have_children(list->model) ? outermost(index, item->by_function, row) : PF_TUI_NONE;

    leaf_position(list, row, position);
    if (node != PF_TUI_NONE)
        *position = (struct pf_tui_location){.node = node, .value = position->value};
    return is_leaf || node != PF_TUI_NONE;
}

/* Below rows that do not describe functions are those in which their samples were. */
static bool find_row_positions(struct pf_tui_list *list, struct pf_tui_item *item)
{
    const struct pf_tui_index *index = list->model->index;
    const struct pf_tui_keys *keys = &index->keys;
    struct pf_tui_location position;
    size_t capacity = 0;

    for (size_t i = keys->starts[item->by_sample]; i < keys->starts[item->by_sample + 1]; i++) {
        if (!pf_tui_row_passes(list->model, keys->order[i]))
            continue;
        if (!keys->functions.columns) {
            leaf_position(list, keys->order[i], &position);
            position.is_caller = true;
        } else if (!locate(list, item, keys->order[i], &position)) {
            continue;
        }
        if (!add_position(item, &position, &capacity))
            return false;
    }
    return true;
}

static bool find_outer_positions(struct pf_tui_list *list, struct pf_tui_item *item)
{
    size_t count;
    const uint32_t *nodes = perfile_calls_nodes(list->model->index->calls, item->function, &count);

    item->positions = malloc((count + 1) * sizeof(*item->positions));
    if (!item->positions)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pf_tui_value value = pf_tui_node_total(list->model, nodes[i]);
        if (value.samples)
            item->positions[item->position_count++] = (struct pf_tui_location){.node = nodes[i], .value = value};
    }
    return true;
}

static bool find_positions(struct pf_tui_list *list, struct pf_tui_item *item)
{
    if (item->has_positions)
        return true;
    item->has_positions = item->keyed                    ? find_row_positions(list, item)
                          : list->view == PF_TUI_CALLERS ? find_self_positions(list, item)
                                                         : find_outer_positions(list, item);
    return item->has_positions;
}

/* Makes what is below a row, which may be nothing. */
static bool make_items(struct pf_tui_list *list, struct pf_tui_item *item)
{
    struct found found = {.model = list->model};
    bool fine = true;

    if (item->has_items)
        return true;
    if (!find_positions(list, item))
        return false;
    for (size_t i = 0; i < item->position_count && fine; i++)
        fine = goes_to_callers(list) ? find_caller(&found, &item->positions[i])
                                     : find_callees(&found, item->positions[i].node);
    if (!settle(list, &found, fine))
        return false;
    item->items = found.items;
    item->item_count = found.item_count;
    item->has_items = true;
    for (size_t i = 0; i < item->item_count; i++) {
        item->items[i].parent = item;
        item->items[i].depth = item->depth + 1;
    }
    return true;
}

/* Computed only for rows that are drawn, as a list may have many thousand rows. */
bool pf_tui_item_opens(struct pf_tui_list *list, struct pf_tui_item *item)
{
    const bool of_functions = item->keyed && !list->model->index->keys.functions.columns;

    return (list->model->index->has_stacks || of_functions) && make_items(list, item) && item->item_count;
}

/* ---- the top ----------------------------------------------------------------------------------------------------- */

static bool make_functions(struct pf_tui_list *list)
{
    const struct pf_tui_model *model = list->model;
    const bool by_self = list->no_children || list->view == PF_TUI_CALLERS;

    list->items = malloc((model->index->function_count + 1) * sizeof(*list->items));
    if (!list->items)
        return false;
    for (uint32_t i = 0; i < model->index->function_count; i++) {
        const struct pf_tui_value value = by_self ? pf_tui_self(model, i) : pf_tui_total(model, i);
        if (model->shown[i] && weighs_enough(list, value))
            list->items[list->item_count++] =
                (struct pf_tui_item){.function = i, .total = value, .self = pf_tui_self(model, i)};
    }
    sort(list, list->items, list->item_count, false);
    return true;
}

static bool add_row(struct pf_tui_list *list, size_t *capacity, const struct pf_tui_item *row)
{
    if (!weighs_enough(list, row->total) || !pf_tui_row_is_shown(list->model, row->by_sample, row->by_function))
        return true;
    if (!pf_array_grow(&list->items, capacity, list->item_count + 1, sizeof(*list->items)))
        return false;
    list->items[list->item_count++] = *row;
    return true;
}

static struct pf_tui_value value_of(const uint64_t *values)
{
    return (struct pf_tui_value){values[1], values[0]};
}

/* The rows of samples with equal texts, by functions. */
static bool make_rows_by_function(struct pf_tui_list *list, size_t *capacity, uint32_t by_sample)
{
    const struct pf_tui_keys *keys = &list->model->index->keys;
    const bool children = pf_tui_rows_have_children(list->model);

    if (perfile_calls_start(keys->calls, NULL) < 0)
        return false;
    for (size_t i = keys->starts[by_sample]; i < keys->starts[by_sample + 1]; i++)
        if (pf_tui_row_passes(list->model, keys->order[i]))
            perfile_calls_add(keys->calls, keys->order[i]);
    perfile_calls_sum(keys->calls);
    for (uint32_t i = 0; i < keys->functions.count; i++) {
        struct pf_tui_item row = {.keyed = true, .function = keys->first[i], .by_sample = by_sample, .by_function = i};
        row.self = value_of(perfile_calls_self(keys->calls, i));
        row.total = children ? value_of(perfile_calls_total(keys->calls, i)) : row.self;
        if (!add_row(list, capacity, &row))
            return false;
    }
    return true;
}

static bool make_row(struct pf_tui_list *list, size_t *capacity, uint32_t by_sample)
{
    const struct pf_tui_keys *keys = &list->model->index->keys;
    struct pf_tui_item row = {.keyed = true, .function = PF_TUI_NONE, .by_sample = by_sample};

    for (size_t i = keys->starts[by_sample]; i < keys->starts[by_sample + 1]; i++) {
        const struct pf_tui_value value = pf_tui_row_value(list->model, keys->order[i]);
        if (!pf_tui_row_passes(list->model, keys->order[i]))
            continue;
        row.total.period += value.period;
        row.total.samples += value.samples;
    }
    row.self = row.total;
    return add_row(list, capacity, &row);
}

static bool make_rows(struct pf_tui_list *list)
{
    const struct pf_tui_keys *keys = &list->model->index->keys;
    size_t capacity = 0;
    bool fine = true;

    for (uint32_t i = 0; i < keys->samples.count && fine; i++)
        fine = keys->calls ? make_rows_by_function(list, &capacity, i) : make_row(list, &capacity, i);
    sort(list, list->items, list->item_count, false);
    return fine;
}

static bool make_roots(struct pf_tui_list *list)
{
    struct found found = {.model = list->model};

    if (!settle(list, &found, find_callees(&found, PF_TUI_NONE)))
        return false;
    list->items = found.items;
    list->item_count = found.item_count;
    return true;
}

static bool add_lines(struct pf_tui_list *list, struct pf_tui_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!pf_array_grow(&list->lines, &list->line_capacity, list->line_count + 1, sizeof(*list->lines)))
            return false;
        list->lines[list->line_count++] = &items[i];
        if (items[i].is_open && !add_lines(list, items[i].items, items[i].item_count))
            return false;
    }
    return true;
}

static bool make_lines(struct pf_tui_list *list)
{
    list->line_count = 0;
    const bool fine = add_lines(list, list->items, list->item_count);
    if (list->cursor >= list->line_count)
        list->cursor = list->line_count ? list->line_count - 1 : 0;
    return fine;
}

static bool list_make(struct pf_tui_list *list)
{
    free_items(list->items, list->item_count);
    list->items = NULL;
    list->item_count = list->line_count = 0;
    list->made_of = list->model->changed;
    const bool fine = list->view == PF_TUI_CALLS  ? make_roots(list)
                      : list->view == PF_TUI_ROWS ? make_rows(list)
                                                  : make_functions(list);
    return fine && make_lines(list);
}

void pf_tui_list_close(struct pf_tui_list *list)
{
    free_items(list->items, list->item_count);
    free(list->lines);
    list->items = NULL;
    list->lines = NULL;
    list->item_count = list->line_count = list->line_capacity = 0;
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

struct pf_tui_item *pf_tui_list_at(const struct pf_tui_list *list)
{
    return list->cursor < list->line_count ? list->lines[list->cursor] : NULL;
}

void pf_tui_list_go(struct pf_tui_list *list, const struct pf_tui_item *item)
{
    for (size_t i = 0; i < list->line_count; i++)
        if (list->lines[i] == item)
            list->cursor = i;
}

bool pf_tui_item_open(struct pf_tui_list *list, struct pf_tui_item *item)
{
    if (!pf_tui_item_opens(list, item))
        return true;
    item->is_open = true;
    return make_lines(list);
}

static bool open_below(struct pf_tui_list *list, struct pf_tui_item *item, unsigned depth, size_t *left)
{
    if (!depth || !*left || !pf_tui_item_opens(list, item))
        return true;
    item->is_open = true;
    for (size_t i = 0; i < item->item_count; i++) {
        *left -= *left > 0;
        if (!open_below(list, &item->items[i], depth - 1, left))
            return false;
    }
    return true;
}

bool pf_tui_item_open_all(struct pf_tui_list *list, struct pf_tui_item *item, unsigned depth, bool *limited)
{
    struct pf_tui_item *const at = pf_tui_list_at(list);
    size_t left = PF_TUI_MAX_OPENED;
    bool fine = true;

    for (size_t i = 0; i < (item ? 1 : list->item_count) && fine; i++)
        fine = open_below(list, item ? item : &list->items[i], depth, &left);
    *limited = !left;
    fine = make_lines(list) && fine;
    pf_tui_list_go(list, at);
    return fine;
}

void pf_tui_item_close(struct pf_tui_list *list, struct pf_tui_item *item)
{
    item->is_open = false;
    (void)make_lines(list);
    pf_tui_list_go(list, item);
}

static void close_below(struct pf_tui_item *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        items[i].is_open = false;
        close_below(items[i].items, items[i].item_count);
    }
}

void pf_tui_list_close_all(struct pf_tui_list *list)
{
    const struct pf_tui_item *at = pf_tui_list_at(list);

    while (at && at->parent)
        at = at->parent;
    close_below(list->items, list->item_count);
    (void)make_lines(list);
    pf_tui_list_go(list, at);
}

/* ---- the same rows in another list ------------------------------------------------------------------------------- */

struct kept {
    uint32_t parent; /* plus one; 0: of the list itself */
    bool is_open;    /* or only where the cursor is */
    bool keyed;
    uint32_t function, by_sample, by_function; /* of the index of then */
};

struct pf_tui_memory {
    const struct pf_tui_index *index;
    struct kept *all;
    size_t count, capacity;
    size_t cursor; /* plus one; 0: there was none */
    size_t line;   /* of the window */
    bool at_top;
};

static bool keep(struct pf_tui_memory *memory, const struct pf_tui_list *list, const struct pf_tui_item *items,
                 size_t count, uint32_t parent)
{
    const struct pf_tui_item *at = pf_tui_list_at(list);

    for (size_t i = 0; i < count; i++) {
        if (!items[i].is_open && &items[i] != at)
            continue;
        if (!pf_array_grow(&memory->all, &memory->capacity, memory->count + 1, sizeof(*memory->all)))
            return false;
        memory->all[memory->count++] = (struct kept){
            parent, items[i].is_open, items[i].keyed, items[i].function, items[i].by_sample, items[i].by_function};
        if (&items[i] == at)
            memory->cursor = memory->count;
        if (items[i].is_open && !keep(memory, list, items[i].items, items[i].item_count, (uint32_t)memory->count))
            return false;
    }
    return true;
}

static void discard(struct pf_tui_memory *memory)
{
    if (memory)
        free(memory->all);
    free(memory);
}

struct pf_tui_memory *pf_tui_list_remember(const struct pf_tui_list *list)
{
    struct pf_tui_memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    memory->index = list->model->index;
    memory->line = list->cursor >= list->top ? list->cursor - list->top : 0;
    memory->at_top = list->cursor == 0;
    if (keep(memory, list, list->items, list->item_count, 0))
        return memory;
    discard(memory);
    return NULL;
}

/* The function of the new index; NONE: it is not there. */
static uint32_t find_function(const struct pf_tui_index *old, uint32_t function, const struct pf_tui_index *index)
{
    const char *name = old->functions[function].name, *dso = pf_tui_dso(old, function);

    if (old == index)
        return function;
    for (uint32_t i = 0; i < index->function_count; i++)
        if (!strcmp(index->functions[i].name, name) && !strcmp(pf_tui_dso(index, i), dso) &&
            index->functions[i].kind == old->functions[function].kind)
            return i;
    return PF_TUI_NONE;
}

static bool is_row(const struct pf_tui_memory *memory, const struct kept *kept, const struct pf_tui_list *list,
                   const struct pf_tui_item *item)
{
    const struct pf_tui_keys *old = &memory->index->keys, *keys = &list->model->index->keys;

    return !strcmp(old->samples.joined[kept->by_sample], keys->samples.joined[item->by_sample]) &&
           (!keys->functions.columns ||
            !strcmp(old->functions.joined[kept->by_function], keys->functions.joined[item->by_function]));
}

static struct pf_tui_item *item_of(const struct pf_tui_list *list, const struct pf_tui_memory *memory,
                                   const struct kept *kept, struct pf_tui_item *parent)
{
    struct pf_tui_item *items = parent ? parent->items : list->items;
    const size_t count = parent ? parent->item_count : list->item_count;
    const uint32_t function =
        kept->keyed ? PF_TUI_NONE : find_function(memory->index, kept->function, list->model->index);

    for (size_t i = 0; i < count; i++)
        if (kept->keyed ? is_row(memory, kept, list, &items[i]) : items[i].function == function)
            return &items[i];
    return NULL;
}

static bool recall(struct pf_tui_list *list, const struct pf_tui_memory *memory, struct pf_tui_item **found)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct kept *kept = &memory->all[i];
        struct pf_tui_item *parent = kept->parent ? found[kept->parent - 1] : NULL;
        if (kept->parent && !parent)
            continue;
        found[i] = item_of(list, memory, kept, parent);
        if (found[i] && kept->is_open)
            found[i]->is_open = pf_tui_item_opens(list, found[i]);
    }
    return make_lines(list);
}

bool pf_tui_list_recall(struct pf_tui_list *list, struct pf_tui_memory *memory)
{
    struct pf_tui_item **found = memory ? calloc(memory->count + 1, sizeof(*found)) : NULL;
    bool fine = list_make(list);

    if (fine && found) {
        fine = recall(list, memory, found);
        if (memory->at_top)
            list->cursor = 0;
        else if (memory->cursor && found[memory->cursor - 1])
            pf_tui_list_go(list, found[memory->cursor - 1]);
        list->top = list->cursor > memory->line ? list->cursor - memory->line : 0;
    }
    free(found);
    discard(memory);
    return fine;
}
