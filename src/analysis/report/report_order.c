/* SPDX-License-Identifier: MIT */
/*
 * The order of rows. It has many levels (what a row weighs, its thread, its file ...), and most rows are equal in the
 * first ones. So rows are sorted level by level, by one number each, and only those that are equal go on to the next;
 * names become numbers first. What has no number is compared.
 */
#include <stdlib.h>

#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/sort.h"
#include "platform/platform.h"

enum {
    MAX_LEVELS = 2 * PF_REPORT_COLUMNS + 8,
    FEW = 24,         /* texts that are as well compared */
    MAX_BYTES = 1024, /* of texts; what is equal up to there is compared */
    AHEAD = 12,       /* rows that are asked for before they are needed */
};

struct level {
    pf_column_word *word; /* NULL: `compare` */
    const struct pf_report_column *column;
};

struct order {
    const struct pf_report *report;
    struct level levels[MAX_LEVELS];
    size_t count;
    size_t start; /* level from which rows are compared */
    struct pf_sort_item *items, *spare;
};

/* ---- levels ---- */

static uint64_t event_word(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_key(report, row)->event;
}

static uint64_t thread_word(const struct pf_report *report, const struct pf_report_row *row)
{
    return report->chains.tree.nodes[row->first].note & ((1u << PF_REPORT_TID_BITS) - 1);
}

static uint64_t deep_word(const struct pf_report *report, const struct pf_report_row *row)
{
    (void)report;
    return ~(uint64_t)row->depth;
}

static uint64_t flat_word(const struct pf_report *report, const struct pf_report_row *row)
{
    (void)report;
    return row->depth;
}

static uint64_t symbol_word(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_frame(report, row)->symbol;
}

static uint64_t address_word(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_frame(report, row)->address ^ (uint64_t)1 << 63;
}

static uint64_t module_word(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_frame(report, row)->module;
}

static uint64_t key_word(const struct pf_report *report, const struct pf_report_row *row)
{
    (void)report;
    return row->key;
}

static void add_word(struct order *order, pf_column_word *word)
{
    order->levels[order->count++] = (struct level){.word = word};
}

/* What a row weighs is several numbers in a group. */
static void add_column(struct order *order, const struct pf_report_column *column)
{
    const bool grouped = column->of == PF_COLUMN_OF_VALUE && order->report->groups.count;
    order->levels[order->count++] = (struct level){.word = grouped ? NULL : column->word, .column = column};
}

/* Of rows that weigh the same, those of one thread stay together, callers above what they call. */
static void add_callers(struct order *order)
{
    const struct pf_report *report = order->report;
    if (report->settings.order == PF_GRAPH_NONE)
        return;
    for (size_t i = 0; i < report->layout.key_count; i++)
        if (report->layout.keys[i]->of == PF_COLUMN_OF_SAMPLE)
            add_column(order, report->layout.keys[i]);
    add_word(order, thread_word);
    add_word(order, report->settings.order == PF_GRAPH_CALLEE ? flat_word : deep_word);
}

static void add_levels(struct order *order)
{
    const struct pf_report *report = order->report;
    add_word(order, event_word);
    for (size_t i = 0; i < report->layout.sort_count; i++) {
        add_column(order, report->layout.sorts[i]);
        if (report->layout.sorts[i] == (report->settings.by_latency ? &pf_report_columns[PF_COLUMN_latency_children]
                                                                    : &pf_report_columns[PF_COLUMN_overhead_children]))
            add_callers(order);
    }
    if (report->layout.by_frame) { /* the order in which perf keeps rows that it prints alike */
        add_word(order, symbol_word);
        add_word(order, address_word);
        add_word(order, module_word);
    }
    add_word(order, key_word);
}

/* ---- names as numbers ---- */

static int compare_comms(const void *left, const void *right, void *context)
{
    const struct pf_report *report = context;
    return strcmp(report->keys.items[*(const uint32_t *)left].comm, report->keys.items[*(const uint32_t *)right].comm);
}

static const char *dso_name(const struct pf_report *report, uint32_t number)
{
    return pf_symbols_module(report->symbols, number)->short_name;
}

static int compare_dsos(const void *left, const void *right, void *context)
{
    return strcmp(dso_name(context, *(const uint32_t *)left), dso_name(context, *(const uint32_t *)right));
}

static const char *frame_name(const struct pf_report *report, uint32_t number)
{
    return pf_profile_frame(report->profile, number)->name;
}

static int compare_names(const void *left, const void *right, void *context)
{
    return strcmp(frame_name(context, *(const uint32_t *)left), frame_name(context, *(const uint32_t *)right));
}

struct ranking {
    size_t count;
    bool (*is_named)(const struct pf_report *report, uint32_t number); /* NULL: all are */
    int (*compare)(const void *left, const void *right, void *context);
};

/* ranks[i]: how many different names come before that of i; UINT32_MAX: it has none. False when out of memory. */
static bool rank(struct pf_report *report, const struct ranking *ranking, uint32_t **ranks, size_t *capacity)
{
    uint32_t *named = NULL, last = 0;
    size_t named_capacity = 0, count = 0;
    bool enough = pf_grow(report->allocator, ranks, capacity, ranking->count + 1, sizeof(**ranks)) &&
                  pf_grow(report->allocator, &named, &named_capacity, ranking->count + 1, sizeof(*named));
    for (uint32_t i = 0; i < ranking->count && enough; i++) {
        (*ranks)[i] = UINT32_MAX;
        if (!ranking->is_named || ranking->is_named(report, i))
            named[count++] = i;
    }
    if (count)
        pf_platform_sort(named, count, sizeof(*named), ranking->compare, report);
    for (size_t i = 0; i < count; i++)
        (*ranks)[named[i]] = last += i && ranking->compare(&named[i - 1], &named[i], report) != 0;
    pf_free(report->allocator, named, named_capacity * sizeof(*named));
    return enough;
}

/* Frames that rows have. */
static bool is_named_row(const struct pf_report *report, uint32_t frame)
{
    return report->rows.same[frame] == frame && frame_name(report, frame);
}

static bool is_sorted_by(const struct pf_report *report, enum pf_column_number number)
{
    for (size_t i = 0; i < report->layout.sort_count; i++)
        if (report->layout.sorts[i] == &pf_report_columns[number])
            return true;
    return false;
}

static bool rank_names(struct pf_report *report)
{
    const struct ranking comms = {report->keys.count, NULL, compare_comms};
    const struct ranking dsos = {pf_symbols_module_count(report->symbols), NULL, compare_dsos};
    const struct ranking names = {pf_profile_frame_count(report->profile), is_named_row, compare_names};
    struct pf_report_ranks *ranks = &report->rows.ranks;
    return (!is_sorted_by(report, PF_COLUMN_comm) || rank(report, &comms, &ranks->comms, &ranks->comm_capacity)) &&
           (!is_sorted_by(report, PF_COLUMN_dso) || rank(report, &dsos, &ranks->dsos, &ranks->dso_capacity)) &&
           (!is_sorted_by(report, PF_COLUMN_symbol) || rank(report, &names, &ranks->names, &ranks->name_capacity));
}

static void discard_ranks(struct pf_report *report)
{
    struct pf_report_ranks *ranks = &report->rows.ranks;
    pf_free(report->allocator, ranks->comms, ranks->comm_capacity * sizeof(*ranks->comms));
    pf_free(report->allocator, ranks->dsos, ranks->dso_capacity * sizeof(*ranks->dsos));
    pf_free(report->allocator, ranks->names, ranks->name_capacity * sizeof(*ranks->names));
    *ranks = (struct pf_report_ranks){0};
}

/* ---- sorting ---- */

/* From the level `start` on. */
static int compare_items(const void *left, const void *right, void *context)
{
    const struct order *order = context;
    const struct pf_report *report = order->report;
    const struct pf_report_row *a = &report->rows.items[((const struct pf_sort_item *)left)->number];
    const struct pf_report_row *b = &report->rows.items[((const struct pf_sort_item *)right)->number];
    int difference = 0;
    for (size_t i = order->start; i < order->count && !difference; i++) {
        const struct level *level = &order->levels[i];
        if (level->word) {
            const uint64_t x = level->word(report, a), y = level->word(report, b);
            difference = (x > y) - (x < y);
        } else {
            difference = level->column->compare(report, a, b);
        }
    }
    return difference;
}

/* A part of the rows that is equal up to here. */
struct run {
    struct pf_sort_item *items;
    size_t count;
    size_t level;
    size_t at; /* in texts: how many bytes are equal, too */
};

static void compare_run(struct order *order, const struct run *run)
{
    order->start = run->level;
    pf_platform_sort(run->items, run->count, sizeof(*run->items), compare_items, order);
}

/* The next rows of the run whose words are equal; false at the end. */
static bool next_equal(const struct run *run, struct run *equal)
{
    struct pf_sort_item *end = run->items + run->count, *start = equal->items + equal->count, *item = start;
    while (item < end && item->word == start->word)
        item++;
    equal->items = start;
    equal->count = (size_t)(item - start);
    return equal->count != 0;
}

static const struct pf_report_row *row_of(const struct order *order, const struct run *run, size_t i)
{
    if (run->count - i > AHEAD)
        __builtin_prefetch(&order->report->rows.items[run->items[i + AHEAD].number]);
    return &order->report->rows.items[run->items[i].number];
}

static void sort_run(struct order *order, const struct run *run);

/* Eight bytes of a text as a number; those after its end are 0. Rows without a text come last. */
static uint64_t text_word(const char *text, size_t at)
{
    uint64_t word = 0;
    if (!text)
        return UINT64_MAX;
    for (unsigned i = 0; i < sizeof(word); i++)
        word = word << 8 | (text[at] ? (uint8_t)text[at++] : 0);
    return word;
}

/* By eight bytes at a time. */
static void sort_texts(struct order *order, const struct run *run)
{
    const struct pf_report_column *column = order->levels[run->level].column;
    if (run->count < FEW || run->at > MAX_BYTES) {
        compare_run(order, run);
        return;
    }
    for (size_t i = 0; i < run->count; i++) {
        const uint64_t value = pf_report_value(order->report, row_of(order, run, i), column->position);
        run->items[i].word = text_word((const char *)(uintptr_t)value, run->at);
    }
    pf_sort_words(run->items, order->spare, run->count);
    struct run equal = {.items = run->items, .level = run->level};
    while (next_equal(run, &equal)) {
        const uint64_t word = equal.items->word;
        const bool ended = !(word & 0xff);
        equal.level = run->level + ended;
        equal.at = ended ? 0 : run->at + sizeof(word);
        if (word == UINT64_MAX && equal.count > 1) /* some may have no text */
            compare_run(order, &(struct run){equal.items, equal.count, run->level, 0});
        else if (ended)
            sort_run(order, &equal);
        else
            sort_texts(order, &equal);
    }
}

static void sort_run(struct order *order, const struct run *run)
{
    if (run->count < 2 || run->level == order->count)
        return;
    const struct level *level = &order->levels[run->level];
    if (!level->word) {
        (level->column->by_text ? sort_texts : compare_run)(order, run);
        return;
    }
    for (size_t i = 0; i < run->count; i++)
        run->items[i].word = level->word(order->report, row_of(order, run, i));
    pf_sort_words(run->items, order->spare, run->count);
    struct run equal = {.items = run->items, .level = run->level + 1};
    while (next_equal(run, &equal))
        sort_run(order, &equal);
}

void pf_report_move_rows(struct pf_report_row *rows, struct pf_sort_item *items, size_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct pf_report_row first = rows[i];
        uint32_t at = i;
        for (uint32_t next; (next = items[at].number) != i; at = next) {
            rows[at] = rows[next];
            items[at].number = at;
        }
        rows[at] = first;
        items[at].number = at;
    }
}

static void give_rows(struct pf_report *report)
{
    for (size_t i = report->rows.count; i-- > 0;) {
        struct pf_report_event *event = &report->events.items[pf_report_key(report, &report->rows.items[i])->event];
        event->rows = &report->rows.items[i];
        event->row_count++;
    }
}

/* Rows that are shown, up to the number that is asked for. */
static void leave_out_rows(const struct pf_report *report, struct pf_report_event *event)
{
    const size_t all = event->row_count;
    uint64_t shown = 0;
    for (size_t i = 0; i < all; i++) {
        if (!pf_report_shows(report, &event->rows[i]))
            continue;
        if (shown++ == pf_report_top(report))
            event->row_count = i;
        event->left_out += event->row_count < all;
    }
}

bool pf_report_sort(struct pf_report *report)
{
    struct order order = {.report = report};
    size_t capacity = 0, spare_capacity = 0;
    bool enough =
        pf_grow(report->allocator, &order.items, &capacity, report->rows.count + 1, sizeof(*order.items)) &&
        pf_grow(report->allocator, &order.spare, &spare_capacity, report->rows.count + 1, sizeof(*order.spare)) &&
        rank_names(report);
    if (enough) {
        for (uint32_t i = 0; i < report->rows.count; i++)
            order.items[i].number = i;
        add_levels(&order);
        sort_run(&order, &(struct run){.items = order.items, .count = report->rows.count});
        pf_report_move_rows(report->rows.items, order.items, report->rows.count);
        give_rows(report);
        for (size_t i = 0; i < report->events.count && !report->settings.hierarchy && report->options->report->top; i++)
            leave_out_rows(report, &report->events.items[i]);
        enough = !report->settings.hierarchy || pf_report_grow_hierarchy(report);
    }
    pf_free(report->allocator, order.items, capacity * sizeof(*order.items));
    pf_free(report->allocator, order.spare, spare_capacity * sizeof(*order.spare));
    discard_ranks(report);
    return enough;
}
