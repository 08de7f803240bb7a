/* SPDX-License-Identifier: MIT */
/*
 * --hierarchy: rows that agree in the first columns stand below an entry that has their sums. The entries of each row
 * are found in one hash table, with a probe for each column; the entries of a level are sorted among those of the same
 * parent, and the rows are put into the order of their entries. Rows themselves do not change.
 */
#include <limits.h>
#include <stdlib.h>

#include "analysis/report/hierarchy.h"
#include "base/bytes.h"
#include "base/pairs.h"
#include "base/sort.h"
#include "platform/platform.h"

enum { NONE = UINT32_MAX };

struct growth {
    struct pf_report *report;
    struct pf_pairs known; /* position and value of a column, to the next position */
    uint32_t *entry_of;    /* by position: its entry or NONE */
    size_t position_count, position_capacity;
    struct pf_report_entry *entries; /* in the order of their first rows */
    size_t entry_count, entry_capacity;
    uint32_t *row_entries; /* by row: the innermost entry that it is in, or NONE */
    size_t row_capacity;
};

/* ---- levels ---- */

static unsigned brace_of(const struct pf_report *report, const struct pf_report_column *column)
{
    for (size_t i = 0; i < report->layout.braced_count; i++)
        if (report->layout.braced[i].column == column)
            return report->layout.braced[i].brace;
    return 0;
}

static void find_levels(const struct pf_report *report, const struct perfile_event *event,
                        struct pf_report_levels *levels)
{
    unsigned last = 0;
    levels->count = levels->column_count = 0;
    for (size_t i = 0; i < report->layout.column_count; i++) {
        const struct pf_report_column *column = report->layout.columns[i];
        if (column->of == PF_COLUMN_OF_VALUE || !pf_report_column_applies(report, column, event))
            continue;
        const unsigned brace = brace_of(report, column);
        levels->count += !brace || brace != last;
        levels->columns[levels->column_count] = column;
        levels->level_of[levels->column_count++] = (uint8_t)(levels->count - 1);
        last = brace;
    }
}

/* ---- which entries a row is in ---- */

/* What is the same in two rows just when the column shows the same of them. */
static uint64_t value_of(struct pf_report *report, const struct pf_report_column *column,
                         const struct pf_report_row *row, unsigned *kind)
{
    *kind = 0;
    if (column->kept)
        return pf_report_value(report, row, column->position);
    if (column == &pf_report_columns[PF_COLUMN_comm])
        return (uintptr_t)pf_report_key(report, row)->comm;
    if (column->of != PF_COLUMN_OF_FRAME)
        return column->word(report, row);
    const struct pf_frame_info *frame = pf_report_frame(report, row);
    if (column->distinguish)
        return column->distinguish(report, frame);
    if (column == &pf_report_columns[PF_COLUMN_dso])
        return pf_report_dso_of(report, row->frame);
    *kind = !frame->name;
    return frame->name ? frame->function : frame->address;
}

/* NONE: out of memory. */
static uint32_t new_position(struct growth *growth)
{
    if (growth->position_count >= NONE - 1 ||
        !pf_grow(growth->report->allocator, &growth->entry_of, &growth->position_capacity, growth->position_count + 1,
                 sizeof(*growth->entry_of)))
        return NONE;
    growth->entry_of[growth->position_count] = NONE;
    return (uint32_t)growth->position_count++;
}

static uint32_t next_position(struct growth *growth, uint32_t position, const struct pf_report_column *column,
                              const struct pf_report_row *row)
{
    unsigned kind;
    const uint64_t value = value_of(growth->report, column, row, &kind);
    const uint64_t from = (uint64_t)position << 1 | kind;
    uint32_t next;
    if (pf_pairs_get(&growth->known, from, value, &next))
        return next;
    next = new_position(growth);
    return next != NONE && pf_pairs_put(&growth->known, from, value, next) ? next : NONE;
}

/* How many parts rows like this one have. */
static uint32_t parts_in(const struct pf_report *report, const struct pf_report_row *row)
{
    const struct pf_report_event *event = pf_report_event(report, row);
    return event->group ? event->group->shown : pf_report_keeps_parts(report);
}

/* It looks like its first row, which is the heaviest one. */
static uint32_t new_entry(struct growth *growth, const struct pf_report_row *row, uint32_t parent, unsigned level)
{
    struct pf_report *report = growth->report;
    const uint32_t parts = parts_in(report, row);
    if (growth->entry_count >= NONE - 1 || !pf_grow(report->allocator, &growth->entries, &growth->entry_capacity,
                                                    growth->entry_count + 1, sizeof(*growth->entries)))
        return NONE;
    struct pf_report_entry *entry = &growth->entries[growth->entry_count];
    *entry = (struct pf_report_entry){.parent = parent, .level = level, .first = NONE};
    entry->row = (struct pf_report_row){
        .key = row->key, .frame = row->frame, .first = row->first, .level = row->level, .depth = row->depth};
    if (parts && !pf_report_give_parts(report, &entry->row, parts))
        return NONE;
    return (uint32_t)growth->entry_count++;
}

/* The innermost entry of a row; NONE and false when out of memory. */
static bool find_entry(struct growth *growth, const struct pf_report_levels *levels, uint32_t position,
                       const struct pf_report_row *row, uint32_t *entry)
{
    *entry = NONE;
    for (size_t i = 0; i < levels->column_count && levels->level_of[i] + 1u < levels->count; i++) {
        position = next_position(growth, position, levels->columns[i], row);
        if (position == NONE)
            return false;
        if (levels->level_of[i] == levels->level_of[i + 1])
            continue;
        if (growth->entry_of[position] == NONE)
            growth->entry_of[position] = new_entry(growth, row, *entry, levels->level_of[i]);
        *entry = growth->entry_of[position];
        if (*entry == NONE)
            return false;
    }
    return true;
}

static void add_part(struct pf_report *report, uint32_t to, uint32_t from)
{
    struct pf_report_part *sum = &report->groups.parts[to];
    const struct pf_report_part *part = &report->groups.parts[from];
    sum->self += part->self;
    sum->samples += part->samples;
    sum->sys += part->sys;
    sum->us += part->us;
    sum->guest_sys += part->guest_sys;
    sum->guest_us += part->guest_us;
    (void)pf_add_to_sum(&sum->latency, part->latency);
    for (size_t i = 0; i < PF_REPORT_COSTS; i++)
        (void)pf_add_to_sum(&sum->costs[i], part->costs[i]);
    for (size_t i = 0; i < PF_REPORT_CLASSES && report->layout.by_class; i++)
        (void)pf_add_to_sum(&report->groups.classes[(size_t)to * PF_REPORT_CLASSES + i],
                            report->groups.classes[(size_t)from * PF_REPORT_CLASSES + i]);
}

/* Of all but the children: a sample may be in several rows. */
static void add_sums(struct growth *growth, const struct pf_report_row *row, uint32_t entry)
{
    struct pf_report *report = growth->report;
    const uint32_t parts = parts_in(report, row);
    for (; entry != NONE; entry = growth->entries[entry].parent) {
        struct pf_report_row *sum = &growth->entries[entry].row;
        sum->self += row->self;
        sum->samples += row->samples;
        if (row->first < sum->first) { /* as of rows: the first sample says how it is marked */
            sum->first = row->first;
            sum->level = row->level;
        }
        for (uint32_t i = 0; i < parts; i++)
            add_part(report, sum->parts + i, row->parts + i);
    }
}

static bool grow_event(struct growth *growth, const struct pf_report_event *event)
{
    struct pf_report_levels levels;
    const size_t start = (size_t)(event->rows - growth->report->rows.items);
    const uint32_t root = new_position(growth);
    bool enough = root != NONE;
    find_levels(growth->report, event->event, &levels);
    for (size_t i = 0; i < event->row_count && enough; i++) {
        enough = find_entry(growth, &levels, root, &event->rows[i], &growth->row_entries[start + i]);
        if (enough)
            add_sums(growth, &event->rows[i], growth->row_entries[start + i]);
    }
    return enough && !growth->report->texts.short_of_memory;
}

/* ---- children: what has one of the rows anywhere in its stack, each sample once ---- */

struct walk {
    struct growth *growth;
    uint32_t *entry_of; /* by node: the entry of its row + 1, or 0 */
    uint32_t *open;     /* by entry: how many of its nodes are on the way down */
    bool leads;         /* the samples below this key are of the event that tables are of */
    uint32_t position;  /* among the parts */
};

static void mark_nodes(struct walk *walk, uint32_t node, uint32_t entry)
{
    for (; node; node = walk->growth->report->chains.links[node].next)
        walk->entry_of[node] = entry + 1;
}

static void mark_rows(struct walk *walk)
{
    const struct pf_report *report = walk->growth->report;
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct pf_report_row *row = &report->rows.items[i];
        const uint32_t entry = walk->growth->row_entries[i];
        const uint32_t parts = pf_report_event(report, row)->group ? parts_in(report, row) : 0;
        if (entry == NONE)
            continue;
        mark_nodes(walk, parts ? 0 : row->nodes, entry);
        for (uint32_t j = 0; j < parts; j++)
            mark_nodes(walk, report->groups.parts[row->parts + j].nodes, entry);
    }
}

static void enter_key(struct walk *walk, uint32_t node)
{
    const struct pf_report *report = walk->growth->report;
    const struct pf_report_event *event =
        &report->events.items[report->keys.items[report->chains.tree.nodes[node].frame].event];
    walk->leads = !event->group || event->event->index == event->group->first;
    walk->position = event->group ? event->position : 0;
}

static void enter(struct walk *walk, uint32_t node)
{
    struct pf_report *report = walk->growth->report;
    struct pf_report_entry *entries = walk->growth->entries;
    if (!report->chains.tree.nodes[node].parent)
        enter_key(walk, node);
    for (uint32_t entry = walk->entry_of[node] - 1; entry != NONE; entry = entries[entry].parent) {
        struct pf_report_row *sum = &entries[entry].row;
        if (walk->open[entry]++)
            continue;
        if (walk->leads)
            sum->children += report->chains.tree.totals[node];
        struct pf_report_part *part = parts_in(report, sum) ? &report->groups.parts[sum->parts + walk->position] : NULL;
        if (part)
            part->children += report->chains.tree.totals[node];
        if (part && report->layout.by_latency)
            (void)pf_add_to_sum(&part->latency_children, report->chains.latencies[node].total);
    }
}

static void leave(struct walk *walk, uint32_t node)
{
    const struct pf_report_entry *entries = walk->growth->entries;
    for (uint32_t entry = walk->entry_of[node] - 1; entry != NONE; entry = entries[entry].parent)
        walk->open[entry]--;
}

static void walk_tree(struct walk *walk)
{
    const struct pf_report *report = walk->growth->report;
    const struct pf_report_link *links = report->chains.links;
    for (uint32_t node = links[0].child; node;) {
        enter(walk, node);
        if (links[node].child) {
            node = links[node].child;
            continue;
        }
        for (leave(walk, node); node && !links[node].sibling; leave(walk, node))
            if (!(node = report->chains.tree.nodes[node].parent))
                break;
        node = links[node].sibling;
    }
}

static bool sum_children(struct growth *growth)
{
    const struct pf_report *report = growth->report;
    struct walk walk = {.growth = growth};
    if (!report->settings.children || !growth->entry_count)
        return true;
    walk.entry_of = pf_new(report->allocator, report->chains.tree.count * sizeof(*walk.entry_of));
    walk.open = pf_new(report->allocator, growth->entry_count * sizeof(*walk.open));
    const bool enough = walk.entry_of && walk.open;
    if (enough) {
        mark_rows(&walk);
        walk_tree(&walk);
    }
    pf_free(report->allocator, walk.entry_of, report->chains.tree.count * sizeof(*walk.entry_of));
    pf_free(report->allocator, walk.open, growth->entry_count * sizeof(*walk.open));
    return enough;
}

/* ---- order ---- */

struct order {
    const struct growth *growth;
    uint32_t *ranks;                                           /* by entry: its rank among those of its level */
    const struct pf_report_column *columns[PF_REPORT_COLUMNS]; /* what entries of this level are sorted by */
    size_t column_count;
};

static int compare_column(const struct pf_report *report, const struct pf_report_column *column,
                          const struct pf_report_row *a, const struct pf_report_row *b)
{
    if (!column->word || (column->of == PF_COLUMN_OF_VALUE && report->groups.count))
        return column->compare(report, a, b);
    const uint64_t x = column->word(report, a), y = column->word(report, b);
    return (x > y) - (x < y);
}

static int compare_entries(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    const struct growth *growth = order->growth;
    const uint32_t x = *(const uint32_t *)left, y = *(const uint32_t *)right;
    const struct pf_report_entry *a = &growth->entries[x], *b = &growth->entries[y];
    int difference = 0;
    if (a->parent != b->parent)
        return order->ranks[a->parent] < order->ranks[b->parent] ? -1 : 1;
    for (size_t i = 0; i < order->column_count && !difference; i++)
        difference = compare_column(growth->report, order->columns[i], &a->row, &b->row);
    return difference ? difference : x < y ? -1 : x > y; /* the first rows are in order */
}

/* As rows are: by what they weigh and by the columns of --sort, of which an entry has those of its level. */
static void choose_order(struct order *order, const struct pf_report_levels *levels, unsigned level)
{
    const struct pf_report *report = order->growth->report;
    order->column_count = 0;
    for (size_t i = 0; i < report->layout.sort_count; i++) {
        const struct pf_report_column *column = report->layout.sorts[i];
        if (column->of == PF_COLUMN_OF_VALUE || pf_report_level_of(levels, column) == level)
            order->columns[order->column_count++] = column;
    }
}

/* Entries of one event, which are `list`; at the end, the innermost ones stand there as they will be printed. */
static size_t sort_entries(struct order *order, const struct pf_report_levels *levels, uint32_t first, uint32_t end,
                           uint32_t *list)
{
    size_t count = 0;
    for (unsigned level = 0; level + 1 < levels->count; level++) {
        count = 0;
        for (uint32_t i = first; i < end; i++)
            if (order->growth->entries[i].level == level)
                list[count++] = i;
        choose_order(order, levels, level);
        pf_platform_sort(list, count, sizeof(*list), compare_entries, order);
        for (uint32_t i = 0; i < count; i++)
            order->ranks[list[i]] = i;
    }
    return count;
}

/* Entries that begin at this row, the outer ones first. */
static bool put_entries(struct growth *growth, struct pf_report_event *event, uint32_t entry, uint32_t row)
{
    struct pf_report *report = growth->report;
    if (entry == NONE || growth->entries[entry].first != NONE)
        return true;
    struct pf_report_entry *at = &growth->entries[entry];
    if (!put_entries(growth, event, at->parent, row) ||
        !pf_grow(report->allocator, &report->rows.entries, &report->rows.entry_capacity, report->rows.entry_count + 1,
                 sizeof(*report->rows.entries)))
        return false;
    at->first = row;
    report->rows.entries[report->rows.entry_count++] = *at;
    event->entry_count++;
    return true;
}

/* The rows into the order of their entries, and the entries into that of their first rows. */
static bool put_event(struct order *order, struct growth *growth, struct pf_report_event *event, const uint32_t *list,
                      struct pf_sort_item *items)
{
    struct pf_report *report = growth->report;
    const size_t start = (size_t)(event->rows - report->rows.items);
    bool enough = true;
    for (uint32_t i = 0; i < event->row_count; i++)
        items[i] = (struct pf_sort_item){.word = order->ranks[growth->row_entries[start + i]], .number = i};
    pf_sort_words(items, items + event->row_count, event->row_count);
    pf_report_move_rows(event->rows, items, event->row_count);
    event->first_entry = report->rows.entry_count;
    for (uint32_t i = 0; i < event->row_count && enough; i++)
        enough = put_entries(growth, event, list[items[i].word], i);
    return enough;
}

static bool order_events(struct growth *growth)
{
    struct pf_report *report = growth->report;
    struct order order = {.growth = growth};
    struct pf_report_levels levels;
    size_t capacity = 0, rank_capacity = 0, item_capacity = 0;
    uint32_t *list = NULL, first = 0;
    struct pf_sort_item *items = NULL;
    bool enough =
        pf_grow(report->allocator, &list, &capacity, growth->entry_count + 1, sizeof(*list)) &&
        pf_grow(report->allocator, &order.ranks, &rank_capacity, growth->entry_count + 1, sizeof(*order.ranks)) &&
        pf_grow(report->allocator, &items, &item_capacity, 2 * report->rows.count + 1, sizeof(*items));
    for (size_t i = 0; i < report->events.count && enough; i++) {
        struct pf_report_event *event = &report->events.items[i];
        if (!event->row_count)
            continue;
        const uint32_t end = first + (uint32_t)event->entry_count;
        find_levels(report, event->event, &levels);
        event->entry_count = 0;
        if (levels.count > 1) {
            sort_entries(&order, &levels, first, end, list);
            enough = put_event(&order, growth, event, list, items);
        }
        first = end;
    }
    pf_free(report->allocator, list, capacity * sizeof(*list));
    pf_free(report->allocator, order.ranks, rank_capacity * sizeof(*order.ranks));
    pf_free(report->allocator, items, item_capacity * sizeof(*items));
    return enough;
}

/* ---- all of it ---- */

bool pf_report_grow_hierarchy(struct pf_report *report)
{
    struct growth growth = {.report = report};
    bool enough = pf_grow(report->allocator, &growth.row_entries, &growth.row_capacity, report->rows.count + 1,
                          sizeof(*growth.row_entries));
    pf_pairs_open(&growth.known, report->allocator);
    for (size_t i = 0; i < report->events.count && enough; i++) {
        const size_t before = growth.entry_count;
        if (report->events.items[i].row_count)
            enough = grow_event(&growth, &report->events.items[i]);
        report->events.items[i].entry_count = (uint32_t)(growth.entry_count - before);
    }
    enough = enough && sum_children(&growth) && order_events(&growth);
    for (size_t i = 0; i < report->events.count && !enough; i++) /* the rows are there still */
        report->events.items[i].entry_count = 0;
    pf_pairs_close(&growth.known);
    pf_free(report->allocator, growth.entry_of, growth.position_capacity * sizeof(*growth.entry_of));
    pf_free(report->allocator, growth.entries, growth.entry_capacity * sizeof(*growth.entries));
    pf_free(report->allocator, growth.row_entries, growth.row_capacity * sizeof(*growth.row_entries));
    return enough;
}

/* The entry that is next, or NULL: a row is. */
static const struct pf_report_entry *next_entry(const struct pf_report *report, const struct pf_report_event *event,
                                                const struct pf_report_line *line)
{
    if (line->next_entry == event->entry_count)
        return NULL;
    const struct pf_report_entry *entry = &report->rows.entries[event->first_entry + line->next_entry];
    return entry->first == line->next_row ? entry : NULL;
}

bool pf_report_next_line(const struct pf_report *report, const struct pf_report_event *event,
                         struct pf_report_line *line)
{
    for (;;) {
        const struct pf_report_entry *entry = next_entry(report, event, line);
        if (entry) {
            line->next_entry++;
            line->row = &entry->row;
            line->level = entry->level;
            line->leaf = false;
        } else if (line->next_row < event->row_count) {
            line->row = &event->rows[line->next_row++];
            line->level = line->levels.count - 1;
            line->leaf = true;
        } else {
            return false;
        }
        if (line->level > line->hidden)
            continue;
        line->hidden = pf_report_shows(report, line->row) ? UINT_MAX : line->level;
        if (line->hidden == UINT_MAX && !line->level && line->outermost++ == pf_report_top(report))
            return false;
        if (line->hidden == UINT_MAX)
            return true;
    }
}

void pf_report_open_lines(const struct pf_report *report, const struct pf_report_event *event,
                          struct pf_report_line *line)
{
    *line = (struct pf_report_line){.hidden = UINT_MAX};
    find_levels(report, event->event, &line->levels);
    if (!line->levels.count)
        line->levels.count = 1;
}
