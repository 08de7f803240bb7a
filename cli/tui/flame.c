/* SPDX-License-Identifier: MIT */
/* The flame graph in cells: the root on top, callees below, as wide as they weigh. */
#include "app.h"
#include "../array.h"

#include <stdlib.h>
#include <string.h>

/* The call tree that it is drawn of; open is what the cursor went through. */
static struct pf_tui_list *tree_of(struct pf_tui *app)
{
    return &app->lists[PF_TUI_FLAME];
}

/* NULL: all. */
static struct pf_tui_item *cursor_of(const struct pf_tui *app)
{
    return app->flame.at_all ? NULL : pf_tui_list_at(&app->lists[PF_TUI_FLAME]);
}

/* The frame that is as wide as the window: the cursor or one of its callers. NULL: the root. */
static struct pf_tui_item *root_of(const struct pf_tui *app)
{
    struct pf_tui_item *item = cursor_of(app);

    while (item && item->depth >= app->flame.zoomed)
        item = item->parent;
    return item;
}

static struct pf_tui_value value_of(const struct pf_tui *app, const struct pf_tui_item *item)
{
    return item ? item->total : app->model.passed;
}

static uint64_t weight_of(const struct pf_tui *app, const struct pf_tui_item *item)
{
    return pf_tui_weight(&app->model, value_of(app, item));
}

uint32_t pf_tui_flame_function(const struct pf_tui *app)
{
    const struct pf_tui_item *item = cursor_of(app);

    return item ? item->function : PF_TUI_NONE;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static bool add_box(struct pf_tui *app, struct pf_tui_item *item, int depth, int from, int to)
{
    struct pf_tui_flame *flame = &app->flame;

    if (!pf_array_grow(&flame->boxes, &flame->box_capacity, flame->box_count + 1, sizeof(*flame->boxes)))
        return false;
    flame->boxes[flame->box_count++] = (struct pf_tui_box){item, depth, from, to};
    return true;
}

/* Adds boxes that are at least half a cell wide; the heaviest come first. */
static bool add_boxes_below(struct pf_tui *app, const struct pf_tui_box box, double cell)
{
    struct pf_tui_list *tree = tree_of(app);
    const bool opens = !box.item || pf_tui_item_opens(tree, box.item);
    struct pf_tui_item *items = box.item ? box.item->items : tree->items;
    const size_t count = !opens ? 0 : box.item ? box.item->item_count : tree->item_count;
    double at = box.from;

    for (size_t i = 0; i < count && (double)weight_of(app, &items[i]) >= cell / 2; i++) {
        const int from = (int)(at + 0.5);
        at += (double)weight_of(app, &items[i]) / cell;
        const int to = (int)(at + 0.5) < box.to ? (int)(at + 0.5) : box.to;
        if (to > from && !add_box(app, &items[i], box.depth + 1, from, to))
            return false;
    }
    return true;
}

/*
 * Makes the boxes level by level, until none is wide enough. The boxes of a level are next to each other in the list.
 */
static void make_boxes(struct pf_tui *app)
{
    struct pf_tui_flame *flame = &app->flame;
    struct pf_tui_item *const root = root_of(app);
    const double cell = (double)weight_of(app, root) / app->screen.columns;

    flame->box_count = 0;
    if (cell <= 0)
        return;
    bool fine = add_box(app, root, 0, 0, app->screen.columns);
    for (size_t i = 0; fine && i < flame->box_count; i++)
        fine = add_boxes_below(app, flame->boxes[i], cell);
    app->short_of_memory |= !fine;
}

static const struct pf_tui_box *box_at_cursor(const struct pf_tui *app)
{
    const struct pf_tui_item *cursor = cursor_of(app);

    for (size_t i = 0; i < app->flame.box_count; i++)
        if (app->flame.boxes[i].item == cursor)
            return &app->flame.boxes[i];
    return NULL;
}

static const char *name_of(const struct pf_tui *app, const struct pf_tui_item *item)
{
    return item ? app->model.index->functions[item->function].name : "all";
}

/* The same function has the same colour everywhere. */
static unsigned style_of(const struct pf_tui *app, const struct pf_tui_item *item)
{
    uint32_t hash = 2166136261u;

    if (!item)
        return PF_TUI_HEADER;
    for (const char *c = name_of(app, item); *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    const bool kernel = app->model.index->functions[item->function].kind == PERFILE_FRAME_KERNEL;
    return kernel ? PF_TUI_KERNEL_FLAMES + hash % 4 : PF_TUI_FLAMES + hash % 8;
}

/* Neighbours differ in colour, and each begins with a blank. */
static void draw_box(struct pf_tui *app, const struct pf_tui_box *box, int y)
{
    const int cells = box->to - box->from;
    const bool chosen = box->item == cursor_of(app);
    const unsigned style = chosen ? PF_TUI_SELECTED | PF_TUI_BOLD : style_of(app, box->item);
    int x = box->from;

    if (cells > 3)
        x = pf_tui_put(&app->screen, y, x, 1, style, "");
    if (cells > 3)
        pf_tui_name(&app->screen, y, x, cells - 1, style, name_of(app, box->item));
    else
        pf_tui_put(&app->screen, y, x, cells, style, cells > 1 ? "|" : "");
}

static void draw_caption(struct pf_tui *app, int y)
{
    const struct pf_tui_item *item = cursor_of(app);
    const double share = pf_tui_share(&app->model, value_of(app, item));
    int x = pf_tui_format(&app->screen, y, 0, 9, PF_TUI_TITLE, "%6.2f%% ", share);

    if (item) {
        const char *dso = pf_tui_dso(app->model.index, item->function);
        const int cells = (int)pf_tui_cells(&app->screen, dso, 24);
        x = pf_tui_name(&app->screen, y, x, cells, PF_TUI_DIM, dso);
        x = pf_tui_put(&app->screen, y, x, 1, PF_TUI_DIM, "");
    }
    pf_tui_name(&app->screen, y, x, app->screen.columns - x, PF_TUI_TITLE, name_of(app, item));
}

void pf_tui_draw_flame(struct pf_tui *app)
{
    const int lines = app->at.body_count - 1; /* below them stands what the cursor is at */

    make_boxes(app);
    const struct pf_tui_box *cursor = box_at_cursor(app);
    if (!cursor) { /* too narrow now, or gone */
        app->flame.at_all = true;
        app->flame.zoomed = 0;
        make_boxes(app);
        cursor = box_at_cursor(app);
    }
    if (!cursor)
        return;
    struct pf_tui_flame *flame = &app->flame;
    flame->top = cursor->depth < flame->top            ? cursor->depth
                 : cursor->depth >= flame->top + lines ? cursor->depth - lines + 1
                                                       : flame->top;
    for (size_t i = 0; i < flame->box_count; i++) {
        const int y = flame->boxes[i].depth - flame->top;
        if (y >= 0 && y < lines)
            draw_box(app, &flame->boxes[i], app->at.body + y);
    }
    draw_caption(app, app->at.body + lines);
}

/* ---- moving ------------------------------------------------------------------------------------------------------ */

static bool open_callers(struct pf_tui *app, struct pf_tui_item *item)
{
    return !item->parent || (open_callers(app, item->parent) && pf_tui_item_open(tree_of(app), item->parent));
}

static void go(struct pf_tui *app, struct pf_tui_item *item)
{
    app->flame.at_all = !item;
    if (item && open_callers(app, item))
        pf_tui_list_go(tree_of(app), item);
    else if (item)
        app->short_of_memory = true;
}

void pf_tui_do_flame_up(struct pf_tui *app)
{
    struct pf_tui_item *cursor = cursor_of(app);

    if (cursor && cursor != root_of(app))
        go(app, cursor->parent);
}

void pf_tui_do_flame_down(struct pf_tui *app)
{
    const struct pf_tui_item *cursor = cursor_of(app);

    for (size_t i = 0; i < app->flame.box_count; i++) {
        const struct pf_tui_box *box = &app->flame.boxes[i];
        if (box->depth && box->item->parent == cursor) {
            go(app, box->item); /* the widest stands first */
            return;
        }
    }
}

/* The nearest of its level. */
static void step(struct pf_tui *app, int direction)
{
    const struct pf_tui_box *at = box_at_cursor(app);
    const struct pf_tui_box *boxes = app->flame.boxes;

    if (!at)
        return;
    const size_t next = (size_t)(at - boxes) + (size_t)direction; /* of the first and the last no box is there */
    if (next < app->flame.box_count && boxes[next].depth == at->depth)
        go(app, boxes[next].item);
}

void pf_tui_do_flame_left(struct pf_tui *app)
{
    step(app, -1);
}

void pf_tui_do_flame_right(struct pf_tui *app)
{
    step(app, 1);
}

void pf_tui_do_flame_zoom(struct pf_tui *app)
{
    const struct pf_tui_item *cursor = cursor_of(app);

    if (weight_of(app, cursor))
        app->flame.zoomed = cursor ? cursor->depth + 1 : 0;
}

void pf_tui_do_flame_out(struct pf_tui *app)
{
    if (!app->flame.zoomed)
        pf_tui_do_pop(app);
    app->flame.zoomed = 0;
}

void pf_tui_flame_mouse(struct pf_tui *app)
{
    const struct pf_tui_mouse *mouse = &app->screen.mouse;
    const int depth = mouse->y - app->at.body + app->flame.top;

    if (mouse->press == PF_MOUSE_UP)
        pf_tui_do_flame_up(app);
    else if (mouse->press == PF_MOUSE_DOWN)
        pf_tui_do_flame_down(app);
    if (mouse->press == PF_MOUSE_UP || mouse->press == PF_MOUSE_DOWN || mouse->press == PF_MOUSE_RELEASE)
        return;
    for (size_t i = 0; i < app->flame.box_count && mouse->y >= app->at.body; i++) {
        const struct pf_tui_box *box = &app->flame.boxes[i];
        if (box->depth == depth && mouse->x >= box->from && mouse->x < box->to) {
            go(app, box->item);
            break;
        }
    }
    if (mouse->press == PF_MOUSE_DOUBLE)
        pf_tui_do_flame_zoom(app);
}
