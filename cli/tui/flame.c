/* SPDX-License-Identifier: MIT */
/* The flame graph in cells: the root on top, callees below, as wide as they weigh. */
#include "app.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHILDREN = 4096 };

static uint64_t weight_of(const struct pf_tui *app, uint32_t node)
{
    return pf_tui_weight(&app->model, node == PF_TUI_NONE ? app->model.passed : pf_tui_node_total(&app->model, node));
}

static uint32_t parent_of(const struct pf_tui *app, uint32_t node)
{
    return node == PF_TUI_NONE ? PF_TUI_NONE : pf_tui_parent(&app->model.index->nodes, node);
}

static uint32_t first_child(const struct pf_tui *app, uint32_t node)
{
    return pf_tui_first_child(&app->model.index->nodes, node);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static bool add_box(struct pf_tui *app, uint32_t node, int depth, int from, int to)
{
    struct pf_tui_flame *flame = &app->flame;

    if (flame->box_count == flame->box_room) {
        const size_t room = flame->box_room ? 2 * flame->box_room : 1024;
        void *grown = realloc(flame->boxes, room * sizeof(*flame->boxes));
        if (!grown)
            return false;
        flame->boxes = grown;
        flame->box_room = room;
    }
    flame->boxes[flame->box_count++] = (struct pf_tui_box){node, depth, from, to};
    return true;
}

struct child {
    uint64_t weight;
    uint32_t node;
};

static int compare(const void *left, const void *right)
{
    const struct child *a = left, *b = right;

    return a->weight != b->weight ? (a->weight < b->weight ? 1 : -1) : a->node < b->node ? -1 : a->node > b->node;
}

/* Those that are as wide as half a cell, the heaviest first. */
static size_t gather(const struct pf_tui *app, uint32_t node, double cell, struct child *children)
{
    size_t count = 0;

    for (uint32_t at = first_child(app, node); at != PF_TUI_NONE && count < MOST_CHILDREN;
         at = pf_tui_next(&app->model.index->nodes, at))
        if ((double)weight_of(app, at) >= cell / 2 && weight_of(app, at))
            children[count++] = (struct child){weight_of(app, at), at};
    if (count)
        qsort(children, count, sizeof(*children), compare);
    return count;
}

/* The boxes of a level are made of those of the level above, until none is wide enough. */
static bool add_level(struct pf_tui *app, size_t first, size_t end, double cell, struct child *children)
{
    for (size_t i = first; i < end; i++) {
        const struct pf_tui_box box = app->flame.boxes[i];
        const size_t count = gather(app, box.node, cell, children);
        double at = box.from;
        for (size_t k = 0; k < count; k++) {
            const int from = (int)(at + 0.5);
            at += (double)children[k].weight / cell;
            const int to = (int)(at + 0.5) < box.to ? (int)(at + 0.5) : box.to;
            if (to > from && !add_box(app, children[k].node, box.depth + 1, from, to))
                return false;
        }
    }
    return true;
}

static void make_boxes(struct pf_tui *app)
{
    struct child *children = malloc(MOST_CHILDREN * sizeof(*children));
    const double cell = (double)weight_of(app, app->flame.root) / app->screen.columns;
    size_t first = 0;

    app->flame.box_count = 0;
    bool fine = children && cell > 0 && add_box(app, app->flame.root, 0, 0, app->screen.columns);
    while (fine && first < app->flame.box_count) {
        const size_t end = app->flame.box_count;
        fine = add_level(app, first, end, cell, children);
        first = end;
    }
    app->short_of_memory |= !fine && (!children || cell > 0);
    free(children);
}

static const struct pf_tui_box *box_at_cursor(const struct pf_tui *app)
{
    for (size_t i = 0; i < app->flame.box_count; i++)
        if (app->flame.boxes[i].node == app->flame.cursor)
            return &app->flame.boxes[i];
    return NULL;
}

static const char *name_of(const struct pf_tui *app, uint32_t node)
{
    return node == PF_TUI_NONE ? "all" : app->model.index->functions[app->model.index->nodes.functions[node]].name;
}

/* The same function has the same colour everywhere. */
static unsigned style_of(const struct pf_tui *app, uint32_t node)
{
    uint32_t hash = 2166136261u;

    if (node == PF_TUI_NONE)
        return PF_TUI_HEADER;
    for (const char *c = name_of(app, node); *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    const bool kernel =
        app->model.index->functions[app->model.index->nodes.functions[node]].kind == PERFILE_FRAME_KERNEL;
    return kernel ? PF_TUI_KERNEL_FLAMES + hash % 4 : PF_TUI_FLAMES + hash % 8;
}

/* Neighbours are told apart by their colours and by the blank that begins each. */
static void draw_box(struct pf_tui *app, const struct pf_tui_box *box, int y)
{
    const int cells = box->to - box->from;
    const bool chosen = box->node == app->flame.cursor;
    const unsigned style = chosen ? PF_TUI_SELECTED | PF_TUI_BOLD : style_of(app, box->node);
    int x = box->from;

    if (cells > 3)
        x = pf_tui_put(&app->screen, y, x, 1, style, "");
    if (cells > 3)
        pf_tui_name(&app->screen, y, x, cells - 1, style, name_of(app, box->node));
    else
        pf_tui_put(&app->screen, y, x, cells, style, cells > 1 ? "|" : "");
}

static void draw_caption(struct pf_tui *app, int y)
{
    const uint32_t node = app->flame.cursor;
    const struct pf_tui_index *index = app->model.index;
    const struct pf_tui_value value = node == PF_TUI_NONE ? app->model.passed : pf_tui_node_total(&app->model, node);
    const double share = pf_tui_share(&app->model, value);
    int x = pf_tui_format(&app->screen, y, 0, 9, PF_TUI_TITLE, "%6.2f%% ", share);

    if (node != PF_TUI_NONE) {
        const char *dso = pf_tui_dso(index, index->nodes.functions[node]);
        const int cells = (int)pf_tui_cells(&app->screen, dso, 24);
        x = pf_tui_name(&app->screen, y, x, cells, PF_TUI_DIM, dso);
        x = pf_tui_put(&app->screen, y, x, 1, PF_TUI_DIM, "");
    }
    pf_tui_name(&app->screen, y, x, app->screen.columns - x, PF_TUI_TITLE, name_of(app, node));
}

void pf_tui_draw_flame(struct pf_tui *app)
{
    const int lines = app->at.body_count - 1; /* below them stands what the cursor is at */

    make_boxes(app);
    const struct pf_tui_box *cursor = box_at_cursor(app);
    if (!cursor) { /* too narrow now, or gone */
        app->flame.cursor = app->flame.root;
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

void pf_tui_do_flame_up(struct pf_tui *app)
{
    if (app->flame.cursor != app->flame.root)
        app->flame.cursor = parent_of(app, app->flame.cursor);
}

void pf_tui_do_flame_down(struct pf_tui *app)
{
    const struct pf_tui_box *best = NULL;

    for (size_t i = 0; i < app->flame.box_count; i++) {
        const struct pf_tui_box *box = &app->flame.boxes[i];
        if (box->depth && parent_of(app, box->node) == app->flame.cursor &&
            (!best || box->to - box->from > best->to - best->from))
            best = box;
    }
    if (best)
        app->flame.cursor = best->node;
}

/* The nearest of its level; levels lie side by side in the list. */
static void step(struct pf_tui *app, int direction)
{
    const struct pf_tui_box *at = box_at_cursor(app);
    const struct pf_tui_box *boxes = app->flame.boxes;

    if (!at)
        return;
    const size_t next = (size_t)(at - boxes) + (size_t)direction; /* of the first and the last no box is there */
    if (next < app->flame.box_count && boxes[next].depth == at->depth)
        app->flame.cursor = boxes[next].node;
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
    if (weight_of(app, app->flame.cursor))
        app->flame.root = app->flame.cursor;
}

void pf_tui_do_flame_out(struct pf_tui *app)
{
    if (app->flame.root == PF_TUI_NONE)
        pf_tui_do_pop(app);
    else
        app->flame.root = PF_TUI_NONE;
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
        if (box->depth == depth && mouse->x >= box->from && mouse->x < box->to)
            app->flame.cursor = box->node;
    }
    if (mouse->press == PF_MOUSE_DOUBLE)
        pf_tui_do_flame_zoom(app);
}

/* ---- another index ----------------------------------------------------------------------------------------------- */

/* The node of the new index whose path is called like that of the old one, or NONE. */
static uint32_t moved(const struct pf_tui *app, uint32_t node)
{
    const struct pf_tui_index *old = app->model.previous, *index = app->model.index;

    if (node == PF_TUI_NONE || !old)
        return PF_TUI_NONE;
    const uint32_t above = pf_tui_parent(&old->nodes, node);
    const uint32_t parent = moved(app, above), function = old->nodes.functions[node];
    if (above != PF_TUI_NONE && parent == PF_TUI_NONE)
        return PF_TUI_NONE;
    for (uint32_t at = first_child(app, parent); at != PF_TUI_NONE; at = pf_tui_next(&index->nodes, at))
        if (!strcmp(index->functions[index->nodes.functions[at]].name, old->functions[function].name) &&
            !strcmp(pf_tui_dso(index, index->nodes.functions[at]), pf_tui_dso(old, function)))
            return at;
    return PF_TUI_NONE;
}

void pf_tui_flame_moved(struct pf_tui *app)
{
    app->flame.root = moved(app, app->flame.root);
    app->flame.cursor = moved(app, app->flame.cursor);
}
