/* SPDX-License-Identifier: MIT */
/*
 * The terminal of the interactive views: only this code writes to it. Names are drawn as text, whatever bytes they
 * have; the terminal is restored when the process ends normally, by a signal or by a crash.
 */
#ifndef PERFILE_CLI_TUI_SCREEN_H
#define PERFILE_CLI_TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

enum pf_tui_style {
    PF_TUI_PLAIN,
    PF_TUI_TITLE,
    PF_TUI_HEADER,
    PF_TUI_HOT,  /* of 5 % and more */
    PF_TUI_WARM, /* of 0.5 % and more */
    PF_TUI_DIM,
    PF_TUI_KERNEL,
    PF_TUI_STATUS,
    PF_TUI_KEY,
    PF_TUI_ALERT,
    PF_TUI_BAR,
    PF_TUI_RANGE,
    PF_TUI_FOUND,
    PF_TUI_SOURCE,
    PF_TUI_FLAMES,                            /* user code, eight shades */
    PF_TUI_KERNEL_FLAMES = PF_TUI_FLAMES + 8, /* the kernel's, four */
    PF_TUI_STYLES = PF_TUI_KERNEL_FLAMES + 4,
    PF_TUI_SELECTED = 1 << 8, /* besides one of the above */
    PF_TUI_BOLD = 1 << 9,
};

/* The results of screen_key: an ASCII character, or one of these. */
enum pf_tui_key {
    PF_KEY_NONE = 0, /* time is up */
    PF_KEY_TAB = 9,
    PF_KEY_ENTER = 10,
    PF_KEY_ESCAPE = 27,
    PF_KEY_BACKSPACE = 127,
    PF_KEY_UP = 256,
    PF_KEY_DOWN,
    PF_KEY_LEFT,
    PF_KEY_RIGHT,
    PF_KEY_PAGE_UP,
    PF_KEY_PAGE_DOWN,
    PF_KEY_HOME,
    PF_KEY_END,
    PF_KEY_BACKTAB,
    PF_KEY_F1,
    PF_KEY_MOUSE,
    PF_KEY_RESIZE,
    PF_KEY_WAKE,    /* another thread has something */
    PF_KEY_SUSPEND, /* Ctrl-Z, when the terminal is given back */
    PF_KEY_OTHER,
    PF_KEY_CTRL = -64, /* 'L' + PF_KEY_CTRL */
};

enum pf_tui_press { PF_MOUSE_PRESS, PF_MOUSE_RELEASE, PF_MOUSE_DOUBLE, PF_MOUSE_UP, PF_MOUSE_DOWN };
struct pf_tui_mouse {
    int y, x;
    enum pf_tui_press press;
};

struct pf_tui_screen {
    int rows, columns;
    bool utf8;
    struct pf_tui_mouse mouse; /* of the last PF_KEY_MOUSE */
};

/* Whether this terminal can do it; nothing is printed. */
bool pf_tui_screen_possible(void);
/* False: it could not be taken. */
bool pf_tui_screen_open(struct pf_tui_screen *screen, bool color);
void pf_tui_screen_close(void);
/* Waits so long, for ever if below 0. May be interrupted by anything: PF_KEY_WAKE then. */
int pf_tui_screen_key(struct pf_tui_screen *screen, int timeout_ms);
/* Called by other threads: waiting for a key ends with PF_KEY_WAKE. */
void pf_tui_screen_wake(void);
/* Stops the process as Ctrl-Z does, with the terminal as it was. Returns when it goes on. */
void pf_tui_screen_suspend(struct pf_tui_screen *screen);
void pf_tui_screen_clear(void);
/* Shows what was drawn. */
void pf_tui_screen_show(void);
/* Redraws everything, in case other programs have written to the terminal. */
void pf_tui_screen_redraw(void);

/* How many cells a text takes, at most `most`, when it is drawn. */
size_t pf_tui_cells(const struct pf_tui_screen *screen, const char *text, size_t max);
/*
 * Draws the text in exactly the given number of cells, cut or filled with spaces. Control characters and the like are
 * drawn as \xNN, wide characters take two cells. Nothing is drawn outside the screen. Returns the next column.
 */
int pf_tui_put(const struct pf_tui_screen *screen, int y, int x, int cells, unsigned style, const char *text);
/* The same without filling. */
int pf_tui_add(const struct pf_tui_screen *screen, int y, int x, int cells, unsigned style, const char *text);
__attribute__((format(printf, 6, 7))) int pf_tui_format(const struct pf_tui_screen *screen, int y, int x, int cells,
                                                        unsigned style, const char *format, ...);
/* A name in so many cells: what does not fit is left out in the middle, arguments of templates first. */
int pf_tui_name(const struct pf_tui_screen *screen, int y, int x, int cells, unsigned style, const char *name);
/* A bar of so many eighths of a cell, 0 to 8, in one cell. */
void pf_tui_bar(const struct pf_tui_screen *screen, int y, int x, unsigned style, unsigned eighths);

#endif
