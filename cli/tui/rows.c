/* SPDX-License-Identifier: MIT */
/* Lists of rows: functions, and trees of callers and callees. */
#include "app.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct column {
    const char *title;
    int cells; /* 0: all that is left */
    int from;  /* columns that the window must have */
    unsigned order;
    int x; /* where it starts */
};

static const struct column all_columns[] = {
    {"Children", 9, 0, PF_TUI_TOTAL, 0},      {"Self", 9, 0, PF_TUI_SELF, 0},
    {"Samples", 11, 96, PF_TUI_SAMPLES, 0},   {"Period", 16, 0, PF_TUI_PERIOD, 0},
    {"Shared object", 18, 70, PF_TUI_DSO, 0}, {"Function", 0, 0, PF_TUI_SYMBOL, 0},
};
enum { ALL_COLUMNS = sizeof(all_columns) / sizeof(all_columns[0]) };
/* The columns of a list from left to right; the last one has all that is left. */
struct columns {
    struct column all[ALL_COLUMNS + PF_PROFILE_COLUMNS];
    size_t count;
};
enum { MARK_CELLS = 2, GAP_CELLS = 2, MIN_CELLS = 6 };

static bool is_number(const struct column *column)
{
    return column->order <= PF_TUI_PERIOD;
}

/* Whether rows by keys have the column, which can be asked for. */
static bool has_row_column(const struct pf_tui *app, const struct pf_tui_list *list, const struct column *column)
{
    const struct pf_profile_columns *chosen = app->model.index->keys.columns;

    if (column->order == PF_TUI_TOTAL)
        return pf_tui_rows_have_children(list->model);
    if (column->order == PF_TUI_SAMPLES)
        return chosen->samples || app->screen.columns >= column->from;
    return column->order == PF_TUI_SELF || (column->order == PF_TUI_PERIOD && chosen->periods);
}

/* Whether the column is shown: columns without information in this view are left out. */
static bool has_column(const struct pf_tui *app, const struct pf_tui_list *list, const struct column *column)
{
    const bool flat = !app->model.index->has_stacks || (list->no_children && list->view == PF_TUI_FUNCTIONS);

    if (list->view == PF_TUI_ROWS)
        return app->model.index->keys.columns && has_row_column(app, list, column);
    if (app->screen.columns < column->from || column->order == PF_TUI_PERIOD)
        return false;
    if (column->order == PF_TUI_DSO && list->view == PF_TUI_CALLS && app->screen.columns < 100)
        return false; /* deep trees need the space */
    return (column->order != PF_TUI_TOTAL || (!flat && list->view != PF_TUI_CALLERS)) &&
           (column->order != PF_TUI_SELF || list->view != PF_TUI_CALLS || app->screen.columns >= 60);
}

/* The cells that a column of --sort needs for its title and the first rows, with the gap after it. */
static int wanted_cells(const struct pf_tui *app, const struct pf_tui_list *list, size_t column)
{
    enum { LOOKED_AT = 200 };
    const struct pf_tui_keys *keys = &app->model.index->keys;
    const size_t max = (size_t)app->screen.columns;
    size_t cells = pf_tui_cells(&app->screen, keys->columns->columns[column].title, max) + 1;

    for (size_t i = 0; i < list->item_count && i < LOOKED_AT; i++) {
        const struct pf_tui_item *item = &list->items[i];
        const char *text = pf_tui_keys_cell(keys, item->by_sample, item->by_function, column);
        const size_t one = pf_tui_cells(&app->screen, text, max);
        cells = one > cells ? one : cells;
    }
    return (int)cells + GAP_CELLS;
}

/* Columns that are too wide for the window are made narrower, the widest ones first. */
static void narrow(struct column *columns, size_t count, int left)
{
    int sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += columns[i].cells;
    while (sum > left && count) {
        struct column *widest = columns;
        for (size_t i = 1; i < count; i++)
            widest = columns[i].cells > widest->cells ? &columns[i] : widest;
        if (widest->cells <= MIN_CELLS)
            return;
        widest->cells--;
        sum--;
    }
}

static void add_row_columns(const struct pf_tui *app, const struct pf_tui_list *list, struct columns *columns, int x)
{
    const struct pf_profile_columns *chosen = app->model.index->keys.columns;
    struct column *first = &columns->all[columns->count];

    for (size_t i = 0; i < chosen->count; i++)
        columns->all[columns->count++] = (struct column){.title = chosen->columns[i].title,
                                                         .cells = wanted_cells(app, list, i),
                                                         .order = PF_TUI_ORDERS + (unsigned)i};
    narrow(first, chosen->count, app->screen.columns - x - MARK_CELLS);
    x += MARK_CELLS;
    for (size_t i = 0; i < chosen->count; i++) {
        first[i].x = x;
        x += first[i].cells;
    }
}

static void choose_columns(const struct pf_tui *app, const struct pf_tui_list *list, struct columns *columns)
{
    const int more = app->screen.columns >= 140 ? 15 : 0;
    int x = 0;

    columns->count = 0;
    for (size_t i = 0; i < ALL_COLUMNS; i++) {
        struct column *column = &columns->all[columns->count];
        if (!has_column(app, list, &all_columns[i]))
            continue;
        *column = all_columns[i];
        column->cells += column->order == PF_TUI_DSO ? more : 0;
        column->x = x;
        x += column->cells;
        columns->count++;
    }
    if (list->view == PF_TUI_ROWS && app->model.index->keys.columns)
        add_row_columns(app, list, columns, x);
    if (columns->count) {
        struct column *last = &columns->all[columns->count - 1];
        last->cells = app->screen.columns > last->x ? app->screen.columns - last->x : 0;
    }
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

/* Without the column of totals the list is sorted by what a function has itself. */
static const char *order_mark(const struct pf_tui *app, const struct pf_tui_list *list, const struct column *column,
                              bool alone)
{
    if (column->order != (alone && list->order == PF_TUI_TOTAL ? PF_TUI_SELF : list->order))
        return "";
    return app->screen.utf8 ? (list->reversed ? "▲" : "▼") : list->reversed ? "^" : "v";
}

static void draw_title(struct pf_tui *app, const struct pf_tui_list *list, const struct column *column)
{
    const bool alone =
        !app->model.index->has_stacks || (list->view == PF_TUI_ROWS && !pf_tui_rows_have_children(list->model));
    const char *mark = order_mark(app, list, column, alone);
    char text[64];

    snprintf(text, sizeof(text), "%s%s", column->order == PF_TUI_SELF && alone ? "Overhead" : column->title, mark);
    const int wide = (int)pf_tui_cells(&app->screen, text, (size_t)column->cells);
    const int blank = is_number(column) && column->cells - 1 > wide ? column->cells - 1 - wide : 0;
    pf_tui_put(&app->screen, app->at.header, column->x + blank, column->cells - blank,
               PF_TUI_HEADER | (*mark ? PF_TUI_BOLD : 0), text);
}

static void draw_header(struct pf_tui *app, const struct pf_tui_list *list, const struct columns *columns)
{
    if (app->at.header == app->at.body)
        return;
    pf_tui_put(&app->screen, app->at.header, 0, app->screen.columns, PF_TUI_HEADER, "");
    for (size_t i = 0; i < columns->count; i++)
        draw_title(app, list, &columns->all[i]);
}

static unsigned heat(double share)
{
    return share >= 5 ? PF_TUI_HOT : share >= 0.5 ? PF_TUI_WARM : PF_TUI_PLAIN;
}

static const char *kind_mark(const struct pf_tui_index *index, uint32_t function)
{
    static const char *const marks[] = {[PERFILE_FRAME_USER] = "",
                                        [PERFILE_FRAME_KERNEL] = "[k] ",
                                        [PERFILE_FRAME_INLINED] = "[i] ",
                                        [PERFILE_FRAME_JIT] = "[j] ",
                                        [PERFILE_FRAME_UNKNOWN] = "[?] "};
    const uint32_t kind = index->functions[function].kind;

    return kind < sizeof(marks) / sizeof(marks[0]) ? marks[kind] : "";
}

static unsigned function_style(const struct pf_tui_index *index, uint32_t function)
{
    const struct pf_tui_function *at = &index->functions[function];

    return at->kind == PERFILE_FRAME_KERNEL ? PF_TUI_KERNEL : at->named ? PF_TUI_PLAIN : PF_TUI_DIM;
}

/* Limits the indentation of deep trees, so that names still fit. */
static int indent(const struct pf_tui *app, const struct pf_tui_item *item)
{
    const int max = app->screen.columns / 3, wanted = 2 * (int)(item->depth < 1000 ? item->depth : 1000);

    return wanted < max ? wanted : max;
}

static int draw_mark(struct pf_tui *app, struct pf_tui_list *list, struct pf_tui_item *item, int y, int x,
                     unsigned chosen)
{
    const char *mark = item->is_open ? "- " : pf_tui_item_opens(list, item) ? "+ " : "  ";

    x = pf_tui_put(&app->screen, y, x, indent(app, item), PF_TUI_PLAIN | chosen, "");
    return pf_tui_put(&app->screen, y, x, MARK_CELLS, PF_TUI_DIM | chosen, mark);
}

static void draw_name(struct pf_tui *app, struct pf_tui_list *list, struct pf_tui_item *item, int y, int x,
                      unsigned chosen)
{
    const struct pf_tui_index *index = app->model.index;
    const char *name = index->functions[item->function].name;
    const bool found = *app->sought && pf_tui_has_text(name, app->sought);

    if (index->has_stacks || list->view == PF_TUI_ROWS)
        x = draw_mark(app, list, item, y, x, chosen);
    x = pf_tui_add(&app->screen, y, x, 4, PF_TUI_DIM | chosen, kind_mark(index, item->function));
    pf_tui_name(&app->screen, y, x, app->screen.columns - x,
                (found ? PF_TUI_FOUND : function_style(index, item->function)) | chosen, name);
}

/* A cell of a row by keys. */
static void draw_text(struct pf_tui *app, const struct column *column, const struct pf_tui_item *item, int y,
                      unsigned chosen)
{
    const struct pf_tui_keys *keys = &app->model.index->keys;
    const char *text = pf_tui_keys_cell(keys, item->by_sample, item->by_function, column->order - PF_TUI_ORDERS);
    const bool found = *app->sought && pf_tui_has_text(text, app->sought);
    const int gap = column->x + column->cells < app->screen.columns ? GAP_CELLS : 0;
    const int x = pf_tui_name(&app->screen, y, column->x, column->cells - gap,
                              (found ? PF_TUI_FOUND : PF_TUI_PLAIN) | chosen, text);

    pf_tui_put(&app->screen, y, x, column->x + column->cells - x, PF_TUI_PLAIN | chosen, "");
}

static void draw_number(struct pf_tui *app, const struct column *column, const struct pf_tui_item *item, int y,
                        unsigned chosen)
{
    const struct pf_tui_value value = column->order == PF_TUI_SELF ? item->self : item->total;
    const double share = pf_tui_share(&app->model, value);
    const int cells = column->cells;
    char number[PF_GROUPED_BYTES];

    if (column->order == PF_TUI_SAMPLES || column->order == PF_TUI_PERIOD)
        pf_tui_format(&app->screen, y, column->x, cells, PF_TUI_PLAIN | chosen, "%*s ", cells - 1,
                      pf_grouped(column->order == PF_TUI_PERIOD ? value.period : value.samples, number));
    else if (column->order == PF_TUI_SELF && item->depth && !value.samples)
        pf_tui_put(&app->screen, y, column->x, cells, PF_TUI_PLAIN | chosen, "");
    else
        pf_tui_format(&app->screen, y, column->x, cells, heat(share) | chosen, "%*.2f%% ", cells - 2, share);
}

static void draw_dso(struct pf_tui *app, const struct column *column, const struct pf_tui_item *item, int y,
                     unsigned chosen)
{
    const int cells = column->cells;

    pf_tui_name(&app->screen, y, column->x, cells - 1, PF_TUI_DIM | chosen,
                pf_tui_dso(app->model.index, item->function));
    pf_tui_put(&app->screen, y, column->x + cells - 1, 1, PF_TUI_DIM | chosen, "");
}

/* Where the mark of the row is drawn, and the name of a function after it. */
static int name_column(const struct columns *columns)
{
    size_t i = 0;

    while (i < columns->count && columns->all[i].order < PF_TUI_SYMBOL)
        i++;
    if (i == columns->count)
        return 0;
    return columns->all[i].x - (columns->all[i].order >= PF_TUI_ORDERS ? MARK_CELLS : 0);
}

static void draw_row(struct pf_tui *app, struct pf_tui_list *list, const struct columns *columns, size_t line, int y)
{
    struct pf_tui_item *item = list->lines[line];
    const unsigned chosen = line == list->cursor ? PF_TUI_SELECTED : 0;
    struct pf_tui_item shown = *item;

    if (list->view == PF_TUI_CALLERS || (list->view == PF_TUI_ROWS && !item->keyed))
        shown.self = shown.total; /* below a row stands what of it came from there */
    for (size_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->all[i];
        if (is_number(column))
            draw_number(app, column, &shown, y, chosen);
        else if (column->order == PF_TUI_DSO)
            draw_dso(app, column, item, y, chosen);
        else if (column->order >= PF_TUI_ORDERS && item->keyed)
            draw_text(app, column, item, y, chosen);
    }
    if (item->keyed)
        draw_mark(app, list, item, y, name_column(columns), chosen);
    else
        draw_name(app, list, item, y, name_column(columns), chosen);
}

/* The cursor stays in the window. */
static void scroll(const struct pf_tui *app, struct pf_tui_list *list)
{
    const size_t rows = app->at.body_count > 0 ? (size_t)app->at.body_count : 1;

    if (list->cursor < list->top)
        list->top = list->cursor;
    if (list->cursor >= list->top + rows)
        list->top = list->cursor - rows + 1;
    if (list->top + rows > list->line_count)
        list->top = list->line_count > rows ? list->line_count - rows : 0;
}

void pf_tui_draw_rows(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);
    struct columns columns;

    scroll(app, list);
    choose_columns(app, list, &columns);
    draw_header(app, list, &columns);
    for (int y = 0; y < app->at.body_count && list->top + (size_t)y < list->line_count; y++)
        draw_row(app, list, &columns, list->top + (size_t)y, app->at.body + y);
}

static void print_numbers(FILE *to, const struct pf_tui *app, const struct pf_tui_item *item, bool only_total)
{
    fprintf(to, "%8.2f%% %8.2f%% %11" PRIu64 "  %*s", pf_tui_share(&app->model, item->total),
            pf_tui_share(&app->model, only_total ? item->total : item->self), item->total.samples,
            2 * (int)(item->depth < 1000 ? item->depth : 1000), "");
}

static void print_cells(FILE *to, const struct pf_tui_keys *keys, const struct pf_tui_item *item)
{
    for (size_t i = 0; i < keys->columns->count; i++)
        fprintf(to, "%s%s", i ? "  " : "",
                item ? pf_tui_keys_cell(keys, item->by_sample, item->by_function, i) : keys->columns->columns[i].title);
    putc('\n', to);
}

static void print_function(FILE *to, const struct pf_tui_index *index, uint32_t function)
{
    pf_print_name(index->functions[function].name, to);
    fputs(" [", to);
    pf_print_name(pf_tui_dso(index, function), to);
    fputs("]\n", to);
}

bool pf_tui_rows_print(struct pf_tui *app, char **text, size_t *bytes)
{
    const struct pf_tui_list *list = pf_tui_list(app);
    const struct pf_tui_index *index = app->model.index;
    FILE *to = open_memstream(text, bytes);

    if (!to)
        return false;
    fprintf(to, "# %s\n# Children      Self     Samples  ", index->events[app->model.event].name);
    if (list->view == PF_TUI_ROWS && index->keys.columns)
        print_cells(to, &index->keys, NULL);
    else
        fputs("Function [File]\n", to);
    for (size_t i = 0; i < list->line_count; i++) {
        const struct pf_tui_item *item = list->lines[i];
        print_numbers(to, app, item, list->view == PF_TUI_CALLERS || (list->view == PF_TUI_ROWS && !item->keyed));
        if (item->keyed)
            print_cells(to, &index->keys, item);
        else
            print_function(to, index, item->function);
    }
    return fclose(to) == 0;
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

static void move(struct pf_tui *app, long by)
{
    struct pf_tui_list *list = pf_tui_list(app);
    const long at = (long)list->cursor + by, last = (long)list->line_count - 1;

    list->cursor = at < 0 || last < 0 ? 0 : (size_t)(at > last ? last : at);
}

void pf_tui_do_up(struct pf_tui *app)
{
    move(app, -1);
}

void pf_tui_do_down(struct pf_tui *app)
{
    move(app, 1);
}

void pf_tui_do_page_up(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);

    list->top = list->top > (size_t)app->at.body_count ? list->top - (size_t)app->at.body_count : 0;
    move(app, -app->at.body_count);
}

void pf_tui_do_page_down(struct pf_tui *app)
{
    pf_tui_list(app)->top += (size_t)app->at.body_count;
    move(app, app->at.body_count);
}

void pf_tui_do_home(struct pf_tui *app)
{
    pf_tui_list(app)->cursor = 0;
}

void pf_tui_do_end(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);

    list->cursor = list->line_count ? list->line_count - 1 : 0;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void note_memory(struct pf_tui *app, bool fine)
{
    app->short_of_memory |= !fine;
}

void pf_tui_do_open(struct pf_tui *app)
{
    struct pf_tui_item *item = pf_tui_list_at(pf_tui_list(app));

    if (!item)
        return;
    if (!app->model.index->has_stacks && !(item->keyed && item->function == PF_TUI_NONE))
        pf_tui_say(app, "No call chains were recorded (perfile record -g records them).");
    else if (!item->is_open && !pf_tui_item_opens(pf_tui_list(app), item))
        pf_tui_say(app, "There is nothing below this row.");
    else if (item->is_open)
        move(app, 1);
    else
        note_memory(app, pf_tui_item_open(pf_tui_list(app), item));
}

void pf_tui_do_toggle(struct pf_tui *app)
{
    struct pf_tui_item *item = pf_tui_list_at(pf_tui_list(app));

    if (item && item->is_open)
        pf_tui_item_close(pf_tui_list(app), item);
    else
        pf_tui_do_open(app);
}

void pf_tui_do_close(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);
    struct pf_tui_item *item = pf_tui_list_at(list);

    if (item && item->is_open)
        pf_tui_item_close(list, item);
    else if (item && item->parent)
        pf_tui_list_go(list, item->parent);
    else
        pf_tui_do_pop(app);
}

void pf_tui_do_close_row(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);
    struct pf_tui_item *item = pf_tui_list_at(list);

    while (item && item->parent)
        item = item->parent;
    if (item)
        pf_tui_item_close(list, item);
}

/* NULL: all rows. */
static void open_all(struct pf_tui *app, struct pf_tui_item *item)
{
    char count[PF_GROUPED_BYTES];
    bool limited;

    note_memory(app, pf_tui_item_open_all(pf_tui_list(app), item, UINT32_MAX, &limited));
    if (limited)
        pf_tui_say(app, "Only %s rows were opened (e opens all below one row).", pf_grouped(PF_TUI_MAX_OPENED, count));
}

void pf_tui_do_open_all(struct pf_tui *app)
{
    struct pf_tui_item *item = pf_tui_list_at(pf_tui_list(app));

    if (item)
        open_all(app, item);
}

void pf_tui_do_expand(struct pf_tui *app)
{
    open_all(app, NULL);
}

void pf_tui_do_collapse(struct pf_tui *app)
{
    pf_tui_list_close_all(pf_tui_list(app));
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void remake(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);

    if (app->model.index)
        note_memory(app, pf_tui_list_recall(list, pf_tui_list_remember(list)));
}

static void sort_by(struct pf_tui *app, unsigned order)
{
    struct pf_tui_list *list = pf_tui_list(app);

    list->reversed = list->order == order && !list->reversed;
    list->order = order;
    remake(app);
}

void pf_tui_do_order(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);
    struct columns columns;
    size_t at = 0;

    if (!app->model.index)
        return;
    choose_columns(app, list, &columns);
    while (at < columns.count && columns.all[at].order <= list->order)
        at++;
    if (!columns.count)
        return;
    at %= columns.count;
    list->reversed = false;
    list->order = columns.all[at].order;
    remake(app);
    pf_tui_say(app, "Sorted by %s.", columns.all[at].title);
}

void pf_tui_do_reverse(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);

    list->reversed = !list->reversed;
    remake(app);
}

void pf_tui_do_direction(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);

    if (list->view != PF_TUI_FUNCTIONS) {
        pf_tui_say(app, "The list of functions (1) can show both callers and callees.");
        return;
    }
    pf_tui_list_close_all(list);
    list->callers = !list->callers;
    remake(app);
    pf_tui_say(app, list->callers ? "Below rows are their callers." : "Below rows are their callees.");
}

void pf_tui_do_limit(struct pf_tui *app)
{
    char answer[24] = "", *end;

    if (!pf_tui_ask(app, "Hide rows below how many percent? ", answer, sizeof(answer)))
        return;
    const double limit = strtod(answer, &end);
    if (end == answer || *end || !(limit >= 0 && limit <= 100)) {
        pf_tui_say(app, "Invalid percentage.");
        return;
    }
    for (size_t i = 0; i < PF_TUI_FLAME; i++) {
        app->lists[i].limit = limit;
        app->lists[i].made_of = 0;
    }
}

/* ---- search ------------------------------------------------------------------------------------------------------ */

static bool has_text(const struct pf_tui_index *index, const struct pf_tui_item *item, const char *text)
{
    if (!item->keyed)
        return pf_tui_has_text(index->functions[item->function].name, text);
    return pf_tui_texts_have(&index->keys.samples, item->by_sample, text) ||
           pf_tui_texts_have(&index->keys.functions, item->by_function, text);
}

static void search(struct pf_tui *app, bool forward, bool here)
{
    struct pf_tui_list *list = pf_tui_list(app);
    const size_t count = list->line_count;

    if (!*app->sought) {
        pf_tui_say(app, "Nothing to search for yet (s).");
        return;
    }
    for (size_t i = here ? 0 : 1; i <= count && count; i++) {
        const size_t at = (list->cursor + (forward ? i : count - i % count)) % count;
        if (!has_text(app->model.index, list->lines[at], app->sought))
            continue;
        if (i != count)
            list->cursor = at;
        return;
    }
    pf_tui_say(app, "No row has \"%s\".", app->sought);
}

void pf_tui_do_search(struct pf_tui *app)
{
    char text[sizeof(app->sought)] = "";

    if (!pf_tui_ask(app, "Search: ", text, sizeof(text)))
        return;
    memcpy(app->sought, text, sizeof(text));
    if (*text)
        search(app, true, true);
}

void pf_tui_do_search_next(struct pf_tui *app)
{
    search(app, true, false);
}

void pf_tui_do_search_previous(struct pf_tui *app)
{
    search(app, false, false);
}

/* ---- mouse ------------------------------------------------------------------------------------------------------- */

static void click_header(struct pf_tui *app, int x)
{
    struct columns columns;

    choose_columns(app, pf_tui_list(app), &columns);
    for (size_t i = columns.count; i-- > 0;)
        if (x >= columns.all[i].x) {
            sort_by(app, columns.all[i].order);
            return;
        }
}

/* The column of the + or - of the row. */
static int mark_column(const struct pf_tui *app, const struct pf_tui_list *list, const struct pf_tui_item *item)
{
    struct columns columns;

    choose_columns(app, list, &columns);
    return name_column(&columns) + indent(app, item);
}

void pf_tui_rows_mouse(struct pf_tui *app)
{
    enum { WHEEL = 3 };
    const struct pf_tui_mouse *mouse = &app->screen.mouse;
    struct pf_tui_list *list = pf_tui_list(app);
    const size_t line = list->top + (size_t)(mouse->y - app->at.body);

    if (mouse->press == PF_MOUSE_UP || mouse->press == PF_MOUSE_DOWN) {
        move(app, mouse->press == PF_MOUSE_UP ? -WHEEL : WHEEL);
        return;
    }
    if (mouse->press == PF_MOUSE_RELEASE)
        return;
    if (mouse->y == app->at.header && app->at.header < app->at.body && mouse->press != PF_MOUSE_DOUBLE)
        click_header(app, mouse->x);
    if (mouse->y < app->at.body || mouse->y >= app->at.body + app->at.body_count || line >= list->line_count)
        return;
    list->cursor = line;
    const int mark = mark_column(app, list, list->lines[line]);
    if (mouse->press == PF_MOUSE_DOUBLE)
        pf_tui_do_enter(app);
    else if (mouse->x >= mark && mouse->x < mark + MARK_CELLS)
        pf_tui_do_toggle(app);
}
