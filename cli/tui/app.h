/* SPDX-License-Identifier: MIT */
/* State that the parts of the interactive view share. It belongs to the thread that draws; the loader has its own. */
#ifndef PERFILE_CLI_TUI_APP_H
#define PERFILE_CLI_TUI_APP_H

#include "load.h"
#include "model.h"
#include "screen.h"

/* The modes in which keys have a meaning: bits of keys.def. */
enum pf_tui_mode {
    PF_TUI_MODE_ROWS = 1 << 0,
    PF_TUI_MODE_FLAME = 1 << 1,
    PF_TUI_MODE_CODE = 1 << 2,
    PF_TUI_MODE_TIME = 1 << 3
};

/* One frame of the flame graph, as it was drawn. */
struct pf_tui_box {
    struct pf_tui_item *item; /* NULL: the root of all */
    int depth, from, to;
};

struct pf_tui_flame {
    bool at_all;     /* the cursor is at the root of all, and not where that of the list is */
    uint32_t zoomed; /* how many levels there are down to the frame that is as wide as the window; 0: none is */
    int top;         /* the depth of the first line */
    struct pf_tui_box *boxes;
    size_t box_count, box_capacity;
};

struct pf_tui_time {
    bool choosing;
    int cursor;        /* column */
    int mark;          /* column, or -1 */
    bool drags;        /* with the mouse */
    int from, columns; /* where the time line was drawn */
};

/* Lines of the screen; count 0, or a negative line: not there. */
struct pf_tui_layout {
    int notes, time, time_count, header, body, body_count, filters, status;
};

struct pf_tui {
    struct pf_tui_screen screen;
    struct pf_tui_model model;
    struct pf_tui_list lists[PF_TUI_VIEWS]; /* that of the flame graph is the call tree it is drawn of */
    enum pf_tui_view view;
    struct pf_tui_flame flame;
    struct pf_tui_time time;
    struct pf_tui_layout at;
    struct pf_tui_load load;
    struct pf_profile_columns columns; /* of rows by keys; .count 0: there are no such rows */
    char *sort;                        /* the list that they are from; owned */
    struct pf_tui_code *code;          /* annotated code, once it was asked for */
    const char *name;                  /* of the recording */
    char message[256];                 /* in the status line until the next key */
    char notes[160];                   /* how many there are, and what the most important ones say */
    char sought[128];
    const char *offers[4]; /* verbs that are made for the events of the recording */
    size_t offer_count;
    const char *other_verb; /* the one that continues; NULL: none was chosen */
    bool no_headers;
    bool quits;
    bool wants_code; /* as soon as the recording is read: */
    bool wants_row;  /* of the row of the cursor; else of what the command line names */
    bool short_of_memory;
};

typedef void pf_tui_action(struct pf_tui *app);

/* ---- app.c ------------------------------------------------------------------------------------------------------- */

struct pf_tui_list *pf_tui_list(struct pf_tui *app); /* the one that is shown; NULL: the flame graph is */
/* The function at the cursor; NONE: there is no row, or it does not describe functions, which a message says. */
uint32_t pf_tui_function(struct pf_tui *app);
void pf_tui_say(struct pf_tui *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Called after filters, weights or order have changed. */
void pf_tui_changed(struct pf_tui *app);
/*
 * Draws the screen with `draw` and returns the next key. Handles other events (a new size, the loader, Ctrl-Z).
 */
int pf_tui_wait(struct pf_tui *app, void (*draw)(struct pf_tui *app, void *context), void *context);
/* The same until `over` says so: PF_KEY_NONE then. */
int pf_tui_wait_until(struct pf_tui *app, void (*draw)(struct pf_tui *app, void *context), void *context,
                      bool (*over)(void *context));
void pf_tui_press(struct pf_tui *app, enum pf_tui_mode mode, int key);

/* ---- rows.c ------------------------------------------------------------------------------------------------------ */

void pf_tui_draw_rows(struct pf_tui *app);
void pf_tui_rows_mouse(struct pf_tui *app);
/* Writes the lines of the list as text. False: out of memory. */
bool pf_tui_rows_print(struct pf_tui *app, char **text, size_t *bytes);

/* ---- timeline.c, flame.c ----------------------------------------------------------------------------------------- */

void pf_tui_draw_time(struct pf_tui *app);
/* Whether the mouse was used on it. */
bool pf_tui_time_mouse(struct pf_tui *app);
void pf_tui_draw_flame(struct pf_tui *app);
void pf_tui_flame_mouse(struct pf_tui *app);
uint32_t pf_tui_flame_function(const struct pf_tui *app);

/* ---- popup.c ----------------------------------------------------------------------------------------------------- */

/* Shows lines of text until the user leaves; what goes on on the next line is indented by `hanging`. */
void pf_tui_show_text(struct pf_tui *app, const char *title, const char *text, int hanging);
struct pf_tui_choice {
    char *text;
    uint64_t weight; /* they are sorted by it; choices with equal ones stay in order */
    int64_t value;
};
/* The number of the choice, or -1. With a share for each when `shares`. Frees nothing. */
int pf_tui_choose(struct pf_tui *app, const char *title, struct pf_tui_choice *choices, size_t count, bool shares);
/* False: the user left. */
bool pf_tui_ask(struct pf_tui *app, const char *question, char *answer, size_t capacity);

/* ---- offer.c ----------------------------------------------------------------------------------------------------- */

/* Before the recording is read. */
void pf_tui_find_offers(struct pf_tui *app, const struct pf_input *input);
/* Lets the user choose one of them, or the functions. */
void pf_tui_offer(struct pf_tui *app);

/* ---- keys.c ------------------------------------------------------------------------------------------------------ */

pf_tui_action pf_tui_show_help, pf_tui_show_menu;

/* ---- code.c ------------------------------------------------------------------------------------------------------ */

void pf_tui_show_code(struct pf_tui *app, uint32_t function);
/* Shows the code of the function of that name, as people write it, with the most samples; NULL: of any function. */
void pf_tui_show_code_of(struct pf_tui *app, const char *name);
void pf_tui_code_close(struct pf_tui_code *code);

#define PF_KEY(views, key, shown, action, help) pf_tui_action pf_tui_do_##action;
#include "keys.def"
#undef PF_KEY

#endif
