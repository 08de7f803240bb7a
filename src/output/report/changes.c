/* SPDX-License-Identifier: MIT */
/* Reports of several recordings side by side, laid out as perf diff does it: the first one is the baseline. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/locale.h"
#include "output/output.h"
#include "output/report/text.h"

/* A recording. */
struct side {
    struct pf_report report;
    struct perfile_output_options options;
    struct perfile_report_options report_options;
    struct perfile_symbol_options symbols;
    bool opened;
};

struct cell {
    uint64_t period;
    bool exists;
};

struct entry {
    const struct changes *changes;
    const char *key;                 /* by what entries of several recordings are the same: a line for each column */
    const char *shown;               /* the same as it is printed */
    const struct pf_report_row *row; /* the first one, ... */
    size_t side;                     /* ... and its recording */
    struct cell *cells;              /* by recording */
};

/* What is printed of one recording. */
struct value_column {
    const char *header;
    size_t width;
    void (*put)(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text);
    size_t side;
};

enum { VALUE_COLUMNS = 3, SEPARATOR_BYTES = 8 };

struct changes {
    const struct perfile_output_options *options;
    const struct perfile_changes_options *how;
    struct side *sides;
    size_t count;
    struct pf_text *out;
    const struct pf_report_column *keys[PF_REPORT_COLUMNS];
    size_t key_count, widths[PF_REPORT_COLUMNS];
    struct value_column *values;
    size_t value_count;
    /* of the event that is printed */
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct cell *cells;
    size_t cell_capacity;
    struct pf_map numbers; /* from the address of a key */
    uint64_t *totals;      /* by recording */
    uint64_t shown_total;  /* of the baseline */
    struct pf_text key, shown, cell;
};

/* ---- what is computed -------------------------------------------------------------------------------------------- */

static bool has_pairs(const struct entry *entry)
{
    bool found = false;
    for (size_t i = 1; i < entry->changes->count && !found; i++)
        found = entry->cells[i].exists;
    return found;
}

static double percent_of(uint64_t period, uint64_t total)
{
    return total ? (double)period * 100.0 / (double)total : 0;
}

static double delta_of(const struct entry *entry, size_t side)
{
    const struct changes *changes = entry->changes;
    return percent_of(entry->cells[side].period, changes->totals[side]) -
           percent_of(entry->cells[0].period, changes->totals[0]);
}

static double ratio_of(const struct entry *entry, size_t side)
{
    const uint64_t before = entry->cells[0].period;
    return (double)entry->cells[side].period / (double)(before ? before : 1);
}

static int64_t weighted_of(const struct entry *entry, size_t side)
{
    const struct perfile_changes_options *how = entry->changes->how;
    return (int64_t)(entry->cells[side].period * (uint64_t)how->weight_after -
                     entry->cells[0].period * (uint64_t)how->weight_before);
}

static double computed_of(const struct entry *entry, size_t side)
{
    switch (entry->changes->how->compute) {
    case PERFILE_CHANGES_RATIO:
        return ratio_of(entry, side);
    case PERFILE_CHANGES_WEIGHTED:
        return (double)weighted_of(entry, side);
    case PERFILE_CHANGES_DELTA:
        return delta_of(entry, side);
    default:
        return fabs(delta_of(entry, side));
    }
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static void put_baseline(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    const bool plain = changes->options->report->separator != NULL;
    if (entry->cells[side].exists)
        pf_put_format(text, plain ? "%.2f" : "%.2f%%", percent_of(entry->cells[side].period, changes->shown_total));
}

static void put_base_period(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    (void)changes;
    pf_put_unsigned(text, entry->cells[side].period);
}

static void put_period(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    if (entry->cells[side].exists)
        put_base_period(changes, entry, side, text);
}

static void put_delta(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    (void)changes;
    if (entry->cells[side].exists)
        pf_put_format(text, "%+.2f%%", delta_of(entry, side));
}

/* These need a weight in the baseline. */
static bool put_not_available(const struct entry *entry, size_t side, struct pf_text *text)
{
    if (entry->cells[side].exists && !entry->cells[0].exists)
        pf_put_string(text, "N/A");
    return !entry->cells[side].exists || !entry->cells[0].exists;
}

static void put_ratio(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    (void)changes;
    if (!put_not_available(entry, side, text))
        pf_put_format(text, "%.6f", ratio_of(entry, side));
}

static void put_weighted(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    (void)changes;
    if (!put_not_available(entry, side, text))
        pf_put_signed(text, weighted_of(entry, side));
}

static void put_formula(const struct changes *changes, const struct entry *entry, size_t side, struct pf_text *text)
{
    const uint64_t before = entry->cells[0].period, after = entry->cells[side].period;
    if (!entry->cells[side].exists)
        return;
    if (changes->how->compute == PERFILE_CHANGES_RATIO)
        pf_put_format(text, "%" PRIu64 " / %" PRIu64, after, before);
    else if (changes->how->compute == PERFILE_CHANGES_WEIGHTED)
        pf_put_format(text, "(%" PRIu64 " * %" PRId64 ") - (%" PRIu64 " * %" PRId64 ")", after,
                      changes->how->weight_after, before, changes->how->weight_before);
    else
        pf_put_format(text, "(%" PRIu64 " * 100 / %" PRIu64 ") - (%" PRIu64 " * 100 / %" PRIu64 ")", after,
                      changes->totals[side], before, changes->totals[0]);
}

/* By enum perfile_changes_compute. */
static const struct value_column computed_columns[] = {
    {"Delta Abs", 9, put_delta, 0},
    {"Delta", 7, put_delta, 0},
    {"Ratio", 14, put_ratio, 0},
    {"Weighted diff", 14, put_weighted, 0},
};
static const struct value_column baseline_column = {"Baseline", 8, put_baseline, 0};
static const struct value_column base_period_column = {"Base period", 14, put_base_period, 0};
static const struct value_column formula_column = {"Formula", 70, put_formula, 0};
static const struct value_column period_column = {"Period", 14, put_period, 0};

static void add_value(struct changes *changes, const struct value_column *column, size_t side)
{
    struct value_column *value = &changes->values[changes->value_count++];
    *value = *column;
    value->side = side;
}

/* "Delta/1" of several. */
static void put_value_header(const struct changes *changes, const struct value_column *value, struct pf_text *text)
{
    pf_put_string(text, value->header);
    if (changes->count > 2)
        pf_put_format(text, "/%zu", value->side);
}

static void choose_values(struct changes *changes)
{
    const unsigned flags = changes->how->flags;
    for (size_t i = 0; i < changes->count; i++) {
        add_value(changes, i ? &computed_columns[changes->how->compute] : &baseline_column, i);
        if (i && flags & PERFILE_CHANGES_FORMULA)
            add_value(changes, &formula_column, i);
        if (flags & PERFILE_CHANGES_PERIOD)
            add_value(changes, i ? &period_column : &base_period_column, i);
    }
    for (size_t i = 0; i < changes->value_count; i++) {
        changes->cell.used = 0;
        put_value_header(changes, &changes->values[i], &changes->cell);
        pf_report_text_widen(&changes->values[i].width, changes->cell.used);
    }
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static bool is_symbol(const struct pf_report_column *column)
{
    return column == &pf_report_columns[PF_COLUMN_symbol];
}

/* The columns of samples, without those that filters on one name hide. */
static void choose_keys(struct changes *changes)
{
    const struct pf_report_layout *layout = &changes->sides[0].report.layout;
    for (size_t i = 0; i < layout->column_count; i++)
        if (layout->columns[i]->of != PF_COLUMN_OF_VALUE)
            changes->keys[changes->key_count++] = layout->columns[i];
}

/* Columns of fields of tracepoints belong to one report. */
static const struct pf_report_column *column_in(const struct side *side, const struct pf_report_column *column)
{
    const struct pf_report_layout *layout = &side->report.layout;
    for (size_t i = 0; i < layout->key_count; i++)
        if (!strcmp(layout->keys[i]->name, column->name))
            return layout->keys[i];
    return column >= pf_report_columns && column < pf_report_columns + PF_COLUMN_COUNT ? column : NULL;
}

/* Functions are the same by their names. All code of a file without a symbol is one entry. */
static void put_symbol_key(struct changes *changes, const struct side *side, const struct pf_report_row *row)
{
    const struct pf_frame_info *frame = pf_report_frame(&side->report, row);
    const size_t mark = pf_min(4, changes->cell.used);
    if (frame && frame->name)
        pf_put(&changes->key, changes->cell.data + mark, changes->cell.used - mark);
}

static void write_keys(struct changes *changes, struct side *side, const struct pf_report_row *row)
{
    changes->key.used = changes->shown.used = 0;
    for (size_t i = 0; i < changes->key_count; i++) {
        const struct pf_report_column *column = column_in(side, changes->keys[i]);
        changes->cell.used = 0;
        if (column)
            column->text(&side->report, row, &changes->cell);
        pf_text_escape(&changes->cell, 0);
        pf_put(&changes->shown, changes->cell.data, changes->cell.used);
        pf_put_char(&changes->shown, '\n');
        if (is_symbol(column))
            put_symbol_key(changes, side, row);
        else
            pf_put(&changes->key, changes->cell.data, changes->cell.used);
        pf_put_char(&changes->key, '\n');
    }
}

static const char *keep(struct changes *changes, const struct pf_text *text)
{
    return (const char *)(uintptr_t)pf_report_intern(&changes->sides[0].report, text->data, text->used);
}

/* NULL: out of memory. */
static struct entry *find_entry(struct changes *changes, const struct pf_report_row *row, size_t side)
{
    const struct perfile_allocator *allocator = changes->options->allocator;
    const char *key = keep(changes, &changes->key), *shown = keep(changes, &changes->shown);
    uint64_t number = changes->entry_count;
    if (!key || !shown || changes->key.failed || changes->shown.failed)
        return NULL;
    if (pf_map_get(&changes->numbers, (uintptr_t)key, &number))
        return &changes->entries[number];
    if (!pf_grow(allocator, &changes->entries, &changes->entry_capacity, (size_t)number + 1,
                 sizeof(*changes->entries)) ||
        !pf_map_put(&changes->numbers, (uintptr_t)key, number))
        return NULL;
    changes->entries[changes->entry_count++] = (struct entry){changes, key, shown, row, side, NULL};
    return &changes->entries[number];
}

/* The cells have their memory when all entries are known, so that periods are added then. */
static bool visit_rows(struct changes *changes, size_t nth, const struct pf_report_event *event, bool adds)
{
    struct side *side = &changes->sides[nth];
    for (size_t i = 0; i < event->row_count; i++) {
        write_keys(changes, side, &event->rows[i]);
        struct entry *entry = find_entry(changes, &event->rows[i], nth);
        if (!entry)
            return false;
        if (adds && entry->cells[nth].exists && strcmp(changes->shown.data, entry->shown) < 0 && changes->shown.used)
            entry->shown = keep(changes, &changes->shown); /* the lowest address */
        if (adds) {
            entry->cells[nth].period += event->rows[i].self;
            entry->cells[nth].exists = true;
        }
    }
    return true;
}

/* The event of another recording with the same attributes; NULL: it has none. */
static const struct pf_report_event *event_of(const struct changes *changes, size_t nth,
                                              const struct perfile_event *event)
{
    const struct pf_report_events *events = &changes->sides[nth].report.events;
    for (size_t i = 0; i < events->count; i++) {
        const struct perfile_event *other = events->items[i].event;
        if (other && other->attr->type == event->attr->type && other->attr->config == event->attr->config)
            return &events->items[i];
    }
    return NULL;
}

static bool visit_sides(struct changes *changes, const struct perfile_event *event, bool adds)
{
    bool enough = true;
    for (size_t i = 0; i < changes->count && enough; i++) {
        const struct pf_report_event *of_side = event_of(changes, i, event);
        changes->totals[i] = of_side ? of_side->period : 0;
        if (of_side)
            enough = visit_rows(changes, i, of_side, adds);
    }
    return enough;
}

static bool give_cells(struct changes *changes)
{
    const size_t count = changes->entry_count * changes->count;
    if (!pf_grow(changes->options->allocator, &changes->cells, &changes->cell_capacity, count, sizeof(*changes->cells)))
        return false;
    if (count)
        memset(changes->cells, 0, count * sizeof(*changes->cells));
    for (size_t i = 0; i < changes->entry_count; i++)
        changes->entries[i].cells = changes->cells + i * changes->count;
    return true;
}

/* Also takes those out of the baseline's total. */
static void drop_entries_without_pair(struct changes *changes)
{
    size_t kept = 0;
    for (size_t i = 0; i < changes->entry_count; i++)
        if (has_pairs(&changes->entries[i]) && changes->entries[i].cells[0].exists)
            changes->entries[kept++] = changes->entries[i];
        else
            changes->shown_total -= pf_min(changes->shown_total, changes->entries[i].cells[0].period);
    changes->entry_count = kept;
}

/* ---- the order --------------------------------------------------------------------------------------------------- */

static int compare_numbers(double a, double b)
{
    return a > b ? -1 : a < b ? 1 : 0;
}

/* Entries of that recording first. */
static int compare_existing(const struct entry *a, const struct entry *b, size_t side)
{
    return (int)b->cells[side].exists - (int)a->cells[side].exists;
}

/* By what was computed for the recording that --order names. */
static int compare_chosen(const struct entry *a, const struct entry *b, size_t side)
{
    const int existing = compare_existing(a, b, side);
    const bool needs_baseline = a->changes->how->compute >= PERFILE_CHANGES_RATIO;
    if (existing || !a->cells[side].exists)
        return existing;
    if (needs_baseline && (!a->cells[0].exists || !b->cells[0].exists))
        return compare_existing(a, b, 0);
    return compare_numbers(computed_of(a, side), computed_of(b, side));
}

static int compare_side(const struct entry *a, const struct entry *b, size_t side)
{
    const int existing = compare_existing(a, b, side);
    if (has_pairs(a) != has_pairs(b))
        return has_pairs(a) ? -1 : 1;
    if (existing || !a->cells[side].exists)
        return existing;
    return compare_numbers(computed_of(a, side), computed_of(b, side));
}

/* "[unknown]" and what has no name are last. */
static int compare_texts(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    static const char unknown[] = "[unknown]";
    const bool a_is = a_bytes && (a_bytes != sizeof(unknown) - 1 || memcmp(a, unknown, a_bytes) != 0);
    const bool b_is = b_bytes && (b_bytes != sizeof(unknown) - 1 || memcmp(b, unknown, b_bytes) != 0);
    const int order = memcmp(a, b, pf_min(a_bytes, b_bytes));
    if (a_is != b_is)
        return a_is ? -1 : 1;
    return order ? order : a_bytes < b_bytes ? -1 : a_bytes > b_bytes;
}

static int compare_keys(const struct entry *a, const struct entry *b)
{
    const struct changes *changes = a->changes;
    const char *x = a->key, *y = b->key;
    int order = 0;
    for (size_t i = 0; i < changes->key_count && !order; i++) {
        const size_t x_bytes = strcspn(x, "\n"), y_bytes = strcspn(y, "\n");
        if (changes->keys[i]->right)
            order = compare_numbers(pf_parse_double(y, NULL), pf_parse_double(x, NULL));
        if (!order)
            order = compare_texts(x, x_bytes, y, y_bytes);
        x += x_bytes + 1;
        y += y_bytes + 1;
    }
    return order;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    const struct changes *changes = a->changes;
    int order = changes->how->order ? compare_chosen(a, b, (size_t)changes->how->order) : 0;
    if (!order && a->cells[0].period != b->cells[0].period)
        order = a->cells[0].period > b->cells[0].period ? -1 : 1;
    for (size_t i = 1; i < changes->count && !order; i++)
        order = compare_side(a, b, i);
    return order ? order : compare_keys(a, b);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool is_quiet(const struct changes *changes)
{
    return changes->options->report->flags & PERFILE_REPORT_NO_HEADER;
}

/* A text in a column. With a separator all are flush left, as perf has it. */
static void put_column(struct changes *changes, size_t nth, const char *text, size_t bytes, size_t width, bool right)
{
    const char *separator = changes->options->report->separator;
    const size_t blanks = width - pf_min(width, bytes);
    if (nth)
        pf_put_string(changes->out, separator ? separator : "  ");
    if (right)
        pf_report_text_pad(changes->out, blanks);
    pf_put(changes->out, text, bytes);
    if (!right)
        pf_report_text_pad(changes->out, blanks);
}

static void put_header(struct changes *changes)
{
    pf_put_string(changes->out, "# ");
    for (size_t i = 0; i < changes->value_count; i++) {
        changes->cell.used = 0;
        put_value_header(changes, &changes->values[i], &changes->cell);
        put_column(changes, i, changes->cell.data, changes->cell.used, changes->values[i].width, true);
    }
    for (size_t i = 0; i < changes->key_count; i++) {
        const char *header = pf_report_header(&changes->sides[0].report, changes->keys[i]);
        put_column(changes, 1, header, strlen(header), changes->widths[i], changes->keys[i]->right);
    }
    pf_put_char(changes->out, '\n');
    if (changes->options->report->separator)
        return;
    pf_put_string(changes->out, "# ");
    for (size_t i = 0; i < changes->value_count + changes->key_count; i++) {
        pf_put_string(changes->out, i ? "  " : "");
        pf_report_text_dots(changes->out, i < changes->value_count ? changes->values[i].width
                                                                   : changes->widths[i - changes->value_count]);
    }
    pf_put_string(changes->out, "\n#\n");
}

/* The separator stands between columns only. */
static void put_key(struct changes *changes, size_t nth, const char *text, size_t bytes)
{
    const char *separator = changes->options->report->separator;
    const bool is_last = nth + 1 == changes->key_count;
    changes->cell.used = 0;
    pf_put(&changes->cell, text, bytes);
    for (size_t i = 0; separator && i < changes->cell.used; i++)
        if (changes->cell.data[i] == separator[0])
            changes->cell.data[i] = '.';
    put_column(changes, 1, changes->cell.data, changes->cell.used,
               is_last && is_symbol(changes->keys[nth]) ? 0 : changes->widths[nth],
               changes->keys[nth]->right && !separator);
}

static void put_entry(struct changes *changes, const struct entry *entry)
{
    const bool separated = changes->options->report->separator != NULL;
    const char *at = entry->shown;
    pf_put_string(changes->out, separated ? "" : "  ");
    for (size_t i = 0; i < changes->value_count; i++) {
        const struct value_column *value = &changes->values[i];
        changes->cell.used = 0;
        value->put(changes, entry, value->side, &changes->cell);
        put_column(changes, i, changes->cell.data, changes->cell.used, value->width, !separated);
    }
    for (size_t i = 0; i < changes->key_count; i++) {
        const size_t bytes = strcspn(at, "\n");
        put_key(changes, i, at, bytes);
        at += bytes + 1;
    }
    pf_put_char(changes->out, '\n');
}

static void put_files(struct changes *changes)
{
    pf_put_string(changes->out, "# Data files:\n");
    for (size_t i = 0; i < changes->count; i++) {
        pf_put_format(changes->out, "#  [%zu] ", i);
        pf_put_name(changes->out, changes->sides[i].symbols.recording ? changes->sides[i].symbols.recording : "-");
        pf_put_string(changes->out, i ? " \n" : " (Baseline)\n");
    }
    pf_put_string(changes->out, "#\n");
}

static void put_title(struct changes *changes, const struct perfile_event *event, bool first)
{
    pf_put_string(changes->out, first ? "# Event '" : "\n# Event '");
    pf_put_name(changes->out, event->name);
    pf_put_string(changes->out, "'\n#\n");
    if (changes->count > 2)
        put_files(changes);
}

static void fit_entry(struct changes *changes, const struct entry *entry)
{
    struct side *side = &changes->sides[entry->side];
    const char *at = entry->shown;
    for (size_t i = 0; i < changes->key_count; i++) {
        const struct pf_report_column *column = column_in(side, changes->keys[i]);
        const size_t bytes = strcspn(at, "\n");
        pf_report_text_widen(&changes->widths[i], bytes);
        if (column && column->min)
            pf_report_text_widen(&changes->widths[i], column->min(&side->report, entry->row));
        at += bytes + 1;
    }
}

static void fit_columns(struct changes *changes)
{
    for (size_t i = 0; i < changes->key_count; i++)
        changes->widths[i] = pf_max(strlen(pf_report_header(&changes->sides[0].report, changes->keys[i])),
                                    (size_t)changes->keys[i]->width);
    for (size_t i = 0; i < changes->entry_count; i++)
        fit_entry(changes, &changes->entries[i]);
}

static bool put_event(struct changes *changes, const struct perfile_event *event, bool first)
{
    changes->entry_count = 0;
    pf_map_close(&changes->numbers);
    pf_map_open(&changes->numbers, changes->options->allocator);
    if (!visit_sides(changes, event, false) || !give_cells(changes) || !visit_sides(changes, event, true))
        return false;
    changes->shown_total = changes->totals[0];
    if (changes->how->flags & PERFILE_CHANGES_BASELINE_ONLY)
        drop_entries_without_pair(changes);
    if (changes->entry_count)
        qsort(changes->entries, changes->entry_count, sizeof(*changes->entries), compare_entries);
    fit_columns(changes);
    if (!is_quiet(changes)) {
        put_title(changes, event, first);
        put_header(changes);
    }
    for (size_t i = 0; i < changes->entry_count; i++)
        put_entry(changes, &changes->entries[i]);
    return true;
}

static bool put_events(struct changes *changes)
{
    const struct perfile_reader *reader = changes->sides[0].report.reader;
    bool enough = true;
    choose_keys(changes);
    choose_values(changes);
    for (size_t i = 0; i < perfile_event_count(reader) && enough; i++)
        enough = put_event(changes, perfile_event_get(reader, i), i == 0);
    return enough && !changes->cell.failed;
}

/* ---- the output -------------------------------------------------------------------------------------------------- */

static int open_side(struct changes *changes, struct perfile_reader *reader, size_t nth, struct perfile_error *error)
{
    struct side *side = &changes->sides[nth];
    const struct perfile_output_options *all = changes->options;
    side->options = *all;
    side->report_options = *all->report;
    side->symbols = *all->symbols;
    side->options.report = &side->report_options;
    side->options.symbols = &side->symbols;
    side->options.fields = NULL;
    side->report_options.sort = all->report->sort ? all->report->sort : "dso,symbol";
    side->report_options.call_graph = "none";
    side->report_options.columns = 0;
    side->report_options.top = 0;
    side->report_options.flags &= ~(unsigned)(PERFILE_REPORT_CHILDREN | PERFILE_REPORT_GROUP);
    side->report_options.flags |= PERFILE_REPORT_NO_CHILDREN | PERFILE_REPORT_NO_GROUP | PERFILE_REPORT_NO_BRANCHES;
    if (nth)
        side->symbols.recording = all->more_paths ? all->more_paths[nth - 1] : NULL;
    side->opened = true;
    return pf_report_open(&side->report, nth ? all->more[nth - 1] : reader, &side->options, true, error);
}

static void *new_zeroed(const struct perfile_allocator *allocator, size_t bytes)
{
    void *memory = pf_new(allocator, bytes);
    return memory ? memset(memory, 0, bytes) : NULL;
}

static bool open_changes(struct changes *changes)
{
    const struct perfile_allocator *allocator = changes->options->allocator;
    const size_t count = changes->count;
    bool enough = pf_text_open(&changes->key, allocator, NULL, NULL) == 0;
    enough &= pf_text_open(&changes->shown, allocator, NULL, NULL) == 0;
    enough &= pf_text_open(&changes->cell, allocator, NULL, NULL) == 0;
    pf_map_open(&changes->numbers, allocator);
    changes->sides = new_zeroed(allocator, count * sizeof(*changes->sides));
    changes->totals = new_zeroed(allocator, count * sizeof(*changes->totals));
    changes->values = new_zeroed(allocator, count * VALUE_COLUMNS * sizeof(*changes->values));
    return enough && changes->sides && changes->totals && changes->values;
}

static void close_changes(struct changes *changes)
{
    const struct perfile_allocator *allocator = changes->options->allocator;
    for (size_t i = 0; changes->sides && i < changes->count; i++)
        if (changes->sides[i].opened)
            pf_report_close(&changes->sides[i].report);
    pf_map_close(&changes->numbers);
    pf_free(allocator, changes->sides, changes->count * sizeof(*changes->sides));
    pf_free(allocator, changes->totals, changes->count * sizeof(*changes->totals));
    pf_free(allocator, changes->values, changes->count * VALUE_COLUMNS * sizeof(*changes->values));
    pf_free(allocator, changes->entries, changes->entry_capacity * sizeof(*changes->entries));
    pf_free(allocator, changes->cells, changes->cell_capacity * sizeof(*changes->cells));
    pf_text_close(&changes->key);
    pf_text_close(&changes->shown);
    pf_text_close(&changes->cell);
}

static int check_how(const struct changes *changes, struct perfile_error *error)
{
    if (changes->how->compute <= PERFILE_CHANGES_WEIGHTED && changes->how->order < changes->count)
        return 0;
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "order",
                   "%" PRIu64 " is too large: there are recordings 0 to %zu", changes->how->order, changes->count - 1);
}

static int write_changes(struct perfile_reader *reader, const struct perfile_output_options *options,
                         struct pf_text *out, struct perfile_error *error)
{
    struct changes changes = {
        .options = options, .how = options->changes, .count = options->more_count + 1, .out = out};
    int result = open_changes(&changes) ? check_how(&changes, error) : pf_fail_memory(error, "diff"), worst = 0;
    for (size_t i = 0; i < changes.count && result >= 0; i++) {
        result = open_side(&changes, reader, i, error);
        if (result < 0 && changes.sides[i].report.rows.count) { /* what came before is shown */
            worst = result;
            result = 0;
        }
    }
    if (result >= 0)
        result = put_events(&changes) ? worst : pf_fail_memory(error, "diff");
    close_changes(&changes);
    return result;
}

const struct pf_output pf_output_diff = {
    .info = {"diff", "text", "several recordings side by side, as perf diff prints them"},
    .write = write_changes,
    .merges = true,
};
