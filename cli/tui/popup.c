/* SPDX-License-Identifier: MIT */
/* Windows above the view: text to read, things to choose from, a question. They wait for keys themselves. */
#include "app.h"
#include "../array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw_frame(struct pf_tui *app, const char *title)
{
    const struct pf_tui_screen *screen = &app->screen;

    pf_tui_put(screen, 0, 0, screen->columns, PF_TUI_HEADER | PF_TUI_BOLD, "");
    pf_tui_name(screen, 0, 1, screen->columns - 1, PF_TUI_HEADER | PF_TUI_BOLD, title);
    for (int y = 1; y < screen->rows - 1; y++)
        pf_tui_put(screen, y, 0, screen->columns, PF_TUI_PLAIN, "");
}

/* Whether the key scrolls `line` of `count` lines, `page` of which are seen. */
static bool scrolls(int key, size_t *line, size_t count, size_t page)
{
    const size_t last = count ? count - 1 : 0;

    switch (key) {
    case PF_KEY_UP:
        *line -= *line > 0;
        return true;
    case PF_KEY_DOWN:
        *line += *line < last;
        return true;
    case PF_KEY_PAGE_UP:
        *line = *line > page ? *line - page : 0;
        return true;
    case ' ':
    case PF_KEY_PAGE_DOWN:
        *line = *line + page < last ? *line + page : last;
        return true;
    case PF_KEY_HOME:
        *line = 0;
        return true;
    case PF_KEY_END:
        *line = last;
        return true;
    default:
        return false;
    }
}

static bool scrolls_with_mouse(const struct pf_tui *app, int key, size_t *line, size_t count)
{
    if (key != PF_KEY_MOUSE)
        return false;
    if (app->screen.mouse.press == PF_MOUSE_UP)
        return scrolls(PF_KEY_PAGE_UP, line, count, 3);
    return app->screen.mouse.press == PF_MOUSE_DOWN && scrolls(PF_KEY_PAGE_DOWN, line, count, 3);
}

static bool leaves(int key)
{
    return key == PF_KEY_ESCAPE || key == 'q' || key == PF_KEY_LEFT;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

struct text {
    const char *title;
    char **lines; /* cut to the width that the window has */
    size_t count, capacity, top;
    const char *all;
    int columns;
    int hanging; /* how far lines that go on are indented */
};

static bool add_line(struct text *text, const char *from, size_t bytes, int indent)
{
    char *line = NULL;
    if (!pf_array_grow(&text->lines, &text->capacity, text->count + 1, sizeof(*text->lines)) ||
        asprintf(&line, "%*s%.*s", indent, "", (int)bytes, from) < 0)
        return false;
    text->lines[text->count++] = line;
    return true;
}

static void free_lines(struct text *text)
{
    for (size_t i = 0; i < text->count; i++)
        free(text->lines[i]);
    text->count = 0;
}

static size_t character(const char *text)
{
    const size_t bytes = pf_utf8_bytes(text);

    return bytes ? bytes : 1;
}

/* How many bytes of a line fit; if a word can be left for the next line, it is. */
static size_t fitting(const struct pf_tui *app, const char *line, size_t bytes, int indent)
{
    char one[8];
    size_t used = 0, cells = 0, word = 0;

    while (used < bytes) {
        const size_t piece = character(line + used);
        memcpy(one, line + used, piece);
        one[piece] = 0;
        cells += pf_tui_cells(&app->screen, one, 16);
        if (cells + (size_t)indent > (size_t)app->screen.columns - 2)
            return word > bytes / 8 && word > 20 ? word : used ? used : piece;
        used += piece;
        word = line[used - 1] == ' ' ? used : word;
    }
    return used;
}

static void wrap(struct pf_tui *app, struct text *text)
{
    free_lines(text);
    text->columns = app->screen.columns;
    for (const char *at = text->all; *at;) {
        const size_t bytes = strcspn(at, "\n");
        size_t used = 0;
        do {
            const int indent = used ? text->hanging : 0;
            const size_t piece = fitting(app, at + used, bytes - used, indent);
            if (!add_line(text, at + used, piece, indent)) {
                app->short_of_memory = true;
                return;
            }
            used += piece;
        } while (used < bytes);
        at += bytes + (at[bytes] == '\n');
    }
}

static void draw_text(struct pf_tui *app, void *context)
{
    struct text *text = context;
    const size_t page = (size_t)app->screen.rows - 2;

    if (text->columns != app->screen.columns)
        wrap(app, text);
    const size_t max = text->count > page ? text->count - page : 0;
    text->top = text->top < max ? text->top : max;
    draw_frame(app, text->title);
    for (size_t i = 0; i < page && text->top + i < text->count; i++)
        pf_tui_add(&app->screen, (int)i + 1, 1, app->screen.columns - 1, PF_TUI_PLAIN, text->lines[text->top + i]);
    pf_tui_format(&app->screen, app->screen.rows - 1, 0, app->screen.columns, PF_TUI_STATUS,
                  text->top < max ? " More below (Down, Space)   Esc back" : " Esc back");
}

void pf_tui_show_text(struct pf_tui *app, const char *title, const char *all, int hanging)
{
    struct text text = {.title = title, .all = all, .hanging = hanging};
    int key;

    while (!leaves(key = pf_tui_wait(app, draw_text, &text)) && key != PF_KEY_ENTER) {
        const size_t page = (size_t)app->screen.rows - 2;
        size_t max = text.count > page ? text.count - page + 1 : 1;
        if (!scrolls_with_mouse(app, key, &text.top, max))
            (void)scrolls(key, &text.top, max, page);
    }
    free_lines(&text);
    free(text.lines);
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

struct chooser {
    const char *title;
    const struct pf_tui_choice *choices;
    size_t count, cursor, top;
    uint64_t all; /* 0: no shares */
};

static void draw_choices(struct pf_tui *app, void *context)
{
    struct chooser *chooser = context;
    const size_t page = (size_t)app->screen.rows - 2;

    if (chooser->cursor < chooser->top)
        chooser->top = chooser->cursor;
    if (chooser->cursor >= chooser->top + page)
        chooser->top = chooser->cursor - page + 1;
    draw_frame(app, chooser->title);
    for (size_t i = 0; i < page && chooser->top + i < chooser->count; i++) {
        const struct pf_tui_choice *choice = &chooser->choices[chooser->top + i];
        const unsigned style = chooser->top + i == chooser->cursor ? PF_TUI_SELECTED : 0;
        int x = pf_tui_put(&app->screen, (int)i + 1, 0, 1, style, "");
        if (chooser->all)
            x = pf_tui_format(&app->screen, (int)i + 1, x, 9, style, "%6.2f%%  ",
                              100.0 * (double)choice->weight / (double)chooser->all);
        pf_tui_name(&app->screen, (int)i + 1, x, app->screen.columns - x, style, choice->text);
    }
    pf_tui_put(&app->screen, app->screen.rows - 1, 0, app->screen.columns, PF_TUI_STATUS,
               " Up Down move   Enter choose   Esc back");
}

static int compare(const void *left, const void *right)
{
    const struct pf_tui_choice *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->value < b->value ? -1 : a->value > b->value;
}

int pf_tui_choose(struct pf_tui *app, const char *title, struct pf_tui_choice *choices, size_t count, bool shares)
{
    struct chooser chooser = {.title = title, .choices = choices, .count = count};
    int key;

    if (!count)
        return -1;
    for (size_t i = 0; i < count && shares; i++)
        chooser.all += choices[i].weight;
    if (count)
        qsort(choices, count, sizeof(*choices), compare);
    while (!leaves(key = pf_tui_wait(app, draw_choices, &chooser))) {
        const size_t page = (size_t)app->screen.rows - 2;
        const struct pf_tui_mouse *mouse = &app->screen.mouse;
        const bool points = key == PF_KEY_MOUSE && mouse->y >= 1 && (size_t)mouse->y <= page &&
                            chooser.top + (size_t)mouse->y - 1 < count && mouse->press <= PF_MOUSE_DOUBLE;
        if (key == PF_KEY_ENTER)
            return (int)chooser.cursor;
        if (points)
            chooser.cursor = chooser.top + (size_t)mouse->y - 1;
        if (points && mouse->press == PF_MOUSE_DOUBLE)
            return (int)chooser.cursor;
        if (!points && !scrolls_with_mouse(app, key, &chooser.cursor, count))
            (void)scrolls(key, &chooser.cursor, count, page);
    }
    return -1;
}

/* ---- questions --------------------------------------------------------------------------------------------------- */

struct question {
    const char *text;
    const char *answer;
};

static void draw_question(struct pf_tui *app, void *context)
{
    const struct question *question = context;
    const int y = app->at.status;

    pf_tui_put(&app->screen, y, 0, app->screen.columns, PF_TUI_STATUS, "");
    int x = pf_tui_add(&app->screen, y, 1, app->screen.columns - 2, PF_TUI_KEY, question->text);
    x = pf_tui_add(&app->screen, y, x, app->screen.columns - x - 1, PF_TUI_STATUS, question->answer);
    pf_tui_put(&app->screen, y, x, 1, PF_TUI_PLAIN | PF_TUI_SELECTED, "");
}

bool pf_tui_ask(struct pf_tui *app, const char *text, char *answer, size_t capacity)
{
    const struct question question = {text, answer};
    size_t used = strlen(answer);
    int key;

    while ((key = pf_tui_wait(app, draw_question, (void *)(uintptr_t)&question)) != PF_KEY_ENTER) {
        if (key == PF_KEY_ESCAPE)
            return false;
        if (key == PF_KEY_BACKSPACE && used) { /* all bytes of a character */
            while (used && ((unsigned char)answer[--used] & 0xc0) == 0x80)
                ;
        } else if (key >= ' ' && key < 256 && key != PF_KEY_BACKSPACE && used + 1 < capacity) {
            answer[used++] = (char)key;
        }
        answer[used] = 0;
    }
    return true;
}
