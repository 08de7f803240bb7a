/* SPDX-License-Identifier: MIT */
/* The time line above all views: how much there was when, of what passes the filters, and ranges chosen on it. */
#include "app.h"

#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 1000 };

/* Seconds since the beginning, with as few digits as distinguish the steps. */
static void time_text(const struct pf_tui_index *index, uint64_t steps, char text[24])
{
    const double all = (double)index->quantum_ns * index->step_count / 1e9;

    snprintf(text, 24,
             all < 1     ? "%.4fs"
             : all < 100 ? "%.2fs"
                         : "%.0fs",
             (double)steps * (double)index->quantum_ns / 1e9);
}

static uint32_t step_of(const struct pf_tui *app, int column)
{
    const uint64_t steps = app->model.index->step_count;

    return (uint32_t)(steps * (uint64_t)column / (uint64_t)app->time.columns);
}

/* The step at which the column ends; each column has at least a part of a step. */
static uint32_t end_of(const struct pf_tui *app, int column)
{
    const uint32_t end = step_of(app, column + 1), first = step_of(app, column);

    return end > first ? end : first + 1;
}

static uint64_t weight_of(const struct pf_tui *app, int column)
{
    uint64_t sum = 0;

    for (uint32_t i = step_of(app, column); i < end_of(app, column) && i < app->model.index->step_count; i++)
        sum += pf_tui_weight(&app->model, app->model.steps[i]);
    return sum;
}

static bool is_chosen(const struct pf_tui *app, int column)
{
    const struct pf_tui_time *time = &app->time;

    if (time->choosing && time->mark >= 0) {
        const int low = time->mark < time->cursor ? time->mark : time->cursor;
        const int high = time->mark < time->cursor ? time->cursor : time->mark;
        return column >= low && column <= high;
    }
    return app->model.timed && step_of(app, column) < app->model.end_step &&
           end_of(app, column) > app->model.first_step;
}

static void draw_column(struct pf_tui *app, int column, uint64_t weight, uint64_t max)
{
    const unsigned lines = (unsigned)app->at.time_count;
    const unsigned cursor = app->time.choosing && column == app->time.cursor ? PF_TUI_SELECTED : 0;
    const unsigned style = (is_chosen(app, column) ? PF_TUI_RANGE : PF_TUI_BAR) | cursor;
    unsigned eighths = max ? (unsigned)((double)weight / (double)max * 8 * lines + 0.5) : 0;

    eighths = eighths ? eighths : weight != 0;
    for (unsigned i = 0; i < lines; i++) {
        const unsigned below = 8 * (lines - 1 - i);
        pf_tui_bar(&app->screen, app->at.time + (int)i, app->time.from + column, style,
                   eighths > below ? eighths - below : 0);
    }
}

void pf_tui_draw_time(struct pf_tui *app)
{
    const struct pf_tui_index *index = app->model.index;
    uint64_t weights[MAX_COLUMNS], max = 0;
    char end[24], start[24];

    if (!app->at.time_count)
        return;
    time_text(index, 0, start);
    time_text(index, index->step_count, end);
    const int left = app->screen.columns >= 60 ? (int)strlen(start) + 1 : 0, right = (int)strlen(end) + 1;
    struct pf_tui_time *time = &app->time;
    time->from = left;
    time->columns = app->screen.columns - left - right;
    time->columns = time->columns < MAX_COLUMNS ? time->columns : MAX_COLUMNS;
    time->cursor = time->cursor < time->columns ? time->cursor : time->columns - 1;
    const int y = app->at.time + app->at.time_count - 1;
    pf_tui_add(&app->screen, y, 0, left, PF_TUI_DIM, left ? start : "");
    pf_tui_add(&app->screen, y, app->screen.columns - right + 1, right, PF_TUI_DIM, end);
    for (int i = 0; i < time->columns; i++) {
        weights[i] = weight_of(app, i);
        max = weights[i] > max ? weights[i] : max;
    }
    for (int i = 0; i < time->columns; i++)
        draw_column(app, i, weights[i], max);
}

/* ---- choosing ---------------------------------------------------------------------------------------------------- */

void pf_tui_do_time_line(struct pf_tui *app)
{
    if (!app->at.time_count) {
        pf_tui_say(app, "The samples have no times that differ.");
        return;
    }
    app->time.choosing = true;
    app->time.mark = -1;
}

void pf_tui_do_time_leave(struct pf_tui *app)
{
    app->time.choosing = app->time.drags = false;
    app->time.mark = -1;
}

static void move(struct pf_tui *app, int to)
{
    app->time.cursor = to < 0 ? 0 : to < app->time.columns ? to : app->time.columns - 1;
}

void pf_tui_do_time_left(struct pf_tui *app)
{
    move(app, app->time.cursor - 1);
}

void pf_tui_do_time_right(struct pf_tui *app)
{
    move(app, app->time.cursor + 1);
}

void pf_tui_do_time_home(struct pf_tui *app)
{
    move(app, 0);
}

void pf_tui_do_time_end(struct pf_tui *app)
{
    move(app, app->time.columns - 1);
}

void pf_tui_do_time_page_up(struct pf_tui *app)
{
    move(app, app->time.cursor - app->time.columns / 10);
}

void pf_tui_do_time_page_down(struct pf_tui *app)
{
    move(app, app->time.cursor + app->time.columns / 10);
}

void pf_tui_do_time_mark(struct pf_tui *app)
{
    app->time.mark = app->time.cursor;
}

void pf_tui_do_time_take(struct pf_tui *app)
{
    const struct pf_tui_index *index = app->model.index;
    const int mark = app->time.mark >= 0 ? app->time.mark : app->time.cursor;
    const int low = mark < app->time.cursor ? mark : app->time.cursor, high = mark + app->time.cursor - low;
    char from[24], to[24], text[64];

    time_text(index, step_of(app, low), from);
    time_text(index, end_of(app, high), to);
    snprintf(text, sizeof(text), "%s-%s", from, to);
    const struct pf_tui_filter filter = {.kind = PF_TUI_BY_TIME,
                                         .text = text,
                                         .from_ns = index->first_time + index->quantum_ns * step_of(app, low),
                                         .to_ns = index->first_time + index->quantum_ns * end_of(app, high)};
    pf_tui_do_time_leave(app);
    if (!pf_tui_filters_push(&app->model.filters, &filter))
        pf_tui_say(app, "There are too many filters.");
    pf_tui_changed(app);
}

bool pf_tui_time_mouse(struct pf_tui *app)
{
    const struct pf_tui_mouse *mouse = &app->screen.mouse;
    const bool inside = mouse->y >= app->at.time && mouse->y < app->at.time + app->at.time_count;
    struct pf_tui_time *time = &app->time;

    if (!app->at.time_count || (!inside && !time->drags))
        return false;
    if (mouse->press == PF_MOUSE_UP || mouse->press == PF_MOUSE_DOWN)
        return false;
    move(app, mouse->x - time->from);
    if (mouse->press == PF_MOUSE_PRESS) {
        time->choosing = time->drags = true;
        time->mark = time->cursor;
    } else if (time->drags && time->mark != time->cursor) {
        pf_tui_do_time_take(app);
    }
    time->drags = time->drags && mouse->press == PF_MOUSE_PRESS; /* a click alone begins a range */
    return true;
}
