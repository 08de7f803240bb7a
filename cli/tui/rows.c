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
    enum pf_tui_order order;
};

static const struct column columns[] = {
    {"Children", 9, 0, PF_TUI_TOTAL},      {"Self", 9, 0, PF_TUI_SELF},       {"Samples", 11, 96, PF_TUI_SAMPLES},
    {"Shared object", 18, 70, PF_TUI_DSO}, {"Function", 0, 0, PF_TUI_SYMBOL},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* Whether the column is shown: columns without information in this view are left out. */
static bool has_column(const struct pf_tui *app, const struct pf_tui_list *list, const struct column *column)
{
    const bool flat = !app->model.index->has_stacks || (list->no_children && list->view == PF_TUI_FUNCTIONS);

    if (app->screen.columns < column->from)
        return false;
    if (column->order == PF_TUI_DSO && list->view == PF_TUI_CALLS && app->screen.columns < 100)
        return false; /* deep trees need the space */
    return (column->order != PF_TUI_TOTAL || (!flat && list->view != PF_TUI_CALLERS)) &&
           (column->order != PF_TUI_SELF || list->view != PF_TUI_CALLS || app->screen.columns >= 60);
}

static int column_cells(const struct pf_tui *app, const struct column *column)
{
    const int more = app->screen.columns >= 140 && column->order == PF_TUI_DSO ? 15 : 0;

    return column->cells + more;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static void draw_header(struct pf_tui *app, const struct pf_tui_list *list)
{
    int x = 0;

    if (app->at.header == app->at.body)
        return;
    pf_tui_put(&app->screen, app->at.header, 0, app->screen.columns, PF_TUI_HEADER, "");
    for (size_t i = 0; i < COLUMNS; i++) {
        const struct column *column = &columns[i];
        char text[64];
        if (!has_column(app, list, column))
            continue;
        const int cells = column->cells ? column_cells(app, column) : app->screen.columns - x;
        const char *mark = column->order != list->order ? ""
                           : app->screen.utf8           ? (list->reversed ? "▲" : "▼")
                           : list->reversed             ? "^"
                                                        : "v";
        const char *title = column->order == PF_TUI_SELF && !app->model.index->has_stacks ? "Overhead" : column->title;
        const bool right = column->order <= PF_TUI_SAMPLES;
        snprintf(text, sizeof(text), "%s%s", title, mark);
        const int blank = right ? cells - 1 - (int)pf_tui_cells(&app->screen, text, (size_t)cells) : 0;
        pf_tui_put(&app->screen, app->at.header, x + (blank > 0 ? blank : 0), cells - (blank > 0 ? blank : 0),
                   PF_TUI_HEADER | (*mark ? PF_TUI_BOLD : 0), text);
        x += cells;
    }
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

static void draw_name(struct pf_tui *app, struct pf_tui_list *list, struct pf_tui_item *item, int y, int x,
                      unsigned chosen)
{
    const struct pf_tui_index *index = app->model.index;
    const char *name = index->functions[item->function].name;
    const bool found = *app->sought && pf_tui_has_text(name, app->sought);
    const char *mark = item->is_open ? "- " : pf_tui_item_opens(list, item) ? "+ " : "  ";

    if (index->has_stacks) {
        x = pf_tui_put(&app->screen, y, x, indent(app, item), PF_TUI_PLAIN | chosen, "");
        x = pf_tui_put(&app->screen, y, x, 2, PF_TUI_DIM | chosen, mark);
    }
    x = pf_tui_add(&app->screen, y, x, 4, PF_TUI_DIM | chosen, kind_mark(index, item->function));
    pf_tui_name(&app->screen, y, x, app->screen.columns - x,
                (found ? PF_TUI_FOUND : function_style(index, item->function)) | chosen, name);
}

static void draw_cell(struct pf_tui *app, const struct column *column, const struct pf_tui_item *item, int y, int x,
                      unsigned chosen)
{
    const struct pf_tui_model *model = &app->model;
    const int cells = column_cells(app, column);
    const struct pf_tui_value value = column->order == PF_TUI_SELF ? item->self : item->total;
    char number[PF_GROUPED_BYTES];

    if (column->order == PF_TUI_DSO) {
        pf_tui_name(&app->screen, y, x, cells - 1, PF_TUI_DIM | chosen, pf_tui_dso(model->index, item->function));
        pf_tui_put(&app->screen, y, x + cells - 1, 1, PF_TUI_DIM | chosen, "");
    } else if (column->order == PF_TUI_SAMPLES) {
        pf_tui_format(&app->screen, y, x, cells, PF_TUI_PLAIN | chosen, "%*s ", cells - 1,
                      pf_grouped(value.samples, number));
    } else if (column->order == PF_TUI_SELF && item->depth && !value.samples) {
        pf_tui_put(&app->screen, y, x, cells, PF_TUI_PLAIN | chosen, "");
    } else {
        const double share = pf_tui_share(model, value);
        pf_tui_format(&app->screen, y, x, cells, heat(share) | chosen, "%*.2f%% ", cells - 2, share);
    }
}

static void draw_row(struct pf_tui *app, struct pf_tui_list *list, size_t line, int y)
{
    struct pf_tui_item *item = list->lines[line];
    const unsigned chosen = line == list->cursor ? PF_TUI_SELECTED : 0;
    int x = 0;

    for (size_t i = 0; i < COLUMNS; i++) {
        if (!has_column(app, list, &columns[i]))
            continue;
        if (columns[i].order == PF_TUI_SYMBOL) {
            draw_name(app, list, item, y, x, chosen);
            continue;
        }
        struct pf_tui_item shown = *item;
        if (list->view == PF_TUI_CALLERS) /* below a row stands what of it came from there */
            shown.self = shown.total;
        draw_cell(app, &columns[i], &shown, y, x, chosen);
        x += column_cells(app, &columns[i]);
    }
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

    scroll(app, list);
    draw_header(app, list);
    for (int y = 0; y < app->at.body_count && list->top + (size_t)y < list->line_count; y++)
        draw_row(app, list, list->top + (size_t)y, app->at.body + y);
}

bool pf_tui_rows_print(struct pf_tui *app, char **text, size_t *bytes)
{
    const struct pf_tui_list *list = pf_tui_list(app);
    const struct pf_tui_index *index = app->model.index;
    FILE *to = open_memstream(text, bytes);

    if (!to)
        return false;
    fprintf(to, "# %s\n# Children      Self     Samples  Function [File]\n", index->events[app->model.event].name);
    for (size_t i = 0; i < list->line_count; i++) {
        const struct pf_tui_item *item = list->lines[i];
        fprintf(to, "%8.2f%% %8.2f%% %11" PRIu64 "  %*s", pf_tui_share(&app->model, item->total),
                pf_tui_share(&app->model, list->view == PF_TUI_CALLERS ? item->total : item->self), item->total.samples,
                2 * (int)(item->depth < 1000 ? item->depth : 1000), "");
        pf_print_name(index->functions[item->function].name, to);
        fputs(" [", to);
        pf_print_name(pf_tui_dso(index, item->function), to);
        fputs("]\n", to);
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
    if (!app->model.index->has_stacks)
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

static void sort_by(struct pf_tui *app, enum pf_tui_order order)
{
    struct pf_tui_list *list = pf_tui_list(app);

    list->reversed = list->order == order && !list->reversed;
    list->order = order;
    remake(app);
}

void pf_tui_do_order(struct pf_tui *app)
{
    struct pf_tui_list *list = pf_tui_list(app);
    size_t at = list->order;

    if (!app->model.index)
        return;
    do
        at = (at + 1) % COLUMNS;
    while (!has_column(app, list, &columns[at]));
    list->reversed = false;
    list->order = columns[at].order;
    remake(app);
    pf_tui_say(app, "Sorted by %s.", columns[at].title);
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
        if (!pf_tui_has_text(app->model.index->functions[list->lines[at]->function].name, app->sought))
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
    for (size_t i = 0; i < COLUMNS; i++) {
        if (!has_column(app, pf_tui_list(app), &columns[i]))
            continue;
        if (!columns[i].cells || x < column_cells(app, &columns[i])) {
            sort_by(app, columns[i].order);
            return;
        }
        x -= column_cells(app, &columns[i]);
    }
}

/* The column of the + or - of the row. */
static int mark_column(const struct pf_tui *app, const struct pf_tui_list *list, const struct pf_tui_item *item)
{
    int x = indent(app, item);

    for (size_t i = 0; i < COLUMNS; i++)
        x += has_column(app, list, &columns[i]) ? column_cells(app, &columns[i]) : 0;
    return x;
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
        pf_tui_do_annotate(app);
    else if (mouse->x >= mark && mouse->x < mark + 2)
        pf_tui_do_toggle(app);
}
