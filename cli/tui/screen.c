/* SPDX-License-Identifier: MIT */
#include "screen.h"

#include "../perf_config.h"

#include <perfile/analysis.h>

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#undef columns /* term.h calls its capabilities by common words */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* There is one terminal. What signal handlers use is set before they are. */
static struct {
    SCREEN *handle;
    bool open;
    bool color;
    int wake[2];
    struct termios before;
    char restore[256]; /* what puts the terminal right when there is no time for more */
    size_t restore_bytes;
    attr_t styles[PF_TUI_STYLES];
    short pairs[PF_TUI_STYLES];
    struct sigaction old[16];
    int press_y, press_x; /* of the mouse's button, the last time ... */
    uint64_t press_ms;    /* ... and when that was */
} screen;

/* Events that came together, and were not handled yet, the last one first. */
static struct {
    MEVENT events[8]; /* as many as curses keeps */
    size_t count;
} mouse;

/* ---- signals ----------------------------------------------------------------------------------------------------- */

/* The signals that end the process, by request or by a bug. */
static const int deadly[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static void restore_now(int number)
{
    const int error = errno;

    (void)!write(STDOUT_FILENO, screen.restore, screen.restore_bytes);
    tcsetattr(STDIN_FILENO, TCSANOW, &screen.before);
    signal(number, SIG_DFL);
    raise(number);
    errno = error;
}

static void wake_up(int number)
{
    const int error = errno;
    const char byte = (char)number;

    (void)!write(screen.wake[1], &byte, 1);
    errno = error;
}

static void handle_signals(void)
{
    struct sigaction die = {.sa_handler = restore_now, .sa_flags = SA_NODEFER}, wake = {.sa_handler = wake_up};

    for (size_t i = 0; i < COUNT(deadly); i++)
        if (sigaction(deadly[i], NULL, &screen.old[i]) == 0 && screen.old[i].sa_handler != SIG_IGN)
            sigaction(deadly[i], &die, NULL);
    sigaction(SIGWINCH, &wake, NULL);
    sigaction(SIGTSTP, &wake, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void unhandle_signals(void)
{
    for (size_t i = 0; i < COUNT(deadly); i++)
        sigaction(deadly[i], &screen.old[i], NULL);
    signal(SIGWINCH, SIG_DFL);
    signal(SIGTSTP, SIG_DFL);
}

/* ---- colours ----------------------------------------------------------------------------------------------------- */

struct theme {
    short foreground, background;  /* of 256 colours; -1: the terminal's */
    short basic, basic_background; /* of 8 */
    attr_t more;                   /* also without colours */
};

#define FLAME(color)                                                                                                   \
    {                                                                                                                  \
        16, color, COLOR_BLACK, COLOR_YELLOW, 0                                                                        \
    }
#define FLAME2(color)                                                                                                  \
    {                                                                                                                  \
        16, color, COLOR_BLACK, COLOR_RED, 0                                                                           \
    }
#define KERNEL(color)                                                                                                  \
    {                                                                                                                  \
        16, color, COLOR_BLACK, COLOR_CYAN, 0                                                                          \
    }

static const struct theme dark[PF_TUI_STYLES] = {
    [PF_TUI_PLAIN] = {-1, -1, -1, -1, 0},
    [PF_TUI_TITLE] = {-1, -1, -1, -1, A_BOLD},
    [PF_TUI_HEADER] = {15, 24, COLOR_WHITE, COLOR_BLUE, A_BOLD},
    [PF_TUI_HOT] = {203, -1, COLOR_RED, -1, A_BOLD},
    [PF_TUI_WARM] = {114, -1, COLOR_GREEN, -1, 0},
    [PF_TUI_DIM] = {245, -1, -1, -1, A_DIM},
    [PF_TUI_KERNEL] = {117, -1, COLOR_CYAN, -1, 0},
    [PF_TUI_STATUS] = {252, 236, COLOR_WHITE, COLOR_BLUE, A_REVERSE},
    [PF_TUI_KEY] = {222, 236, COLOR_YELLOW, COLOR_BLUE, A_BOLD},
    [PF_TUI_ALERT] = {215, -1, COLOR_YELLOW, -1, A_BOLD},
    [PF_TUI_BAR] = {110, -1, COLOR_CYAN, -1, 0},
    [PF_TUI_RANGE] = {222, 239, COLOR_YELLOW, COLOR_BLUE, A_REVERSE},
    [PF_TUI_FOUND] = {16, 222, COLOR_BLACK, COLOR_YELLOW, A_BOLD},
    [PF_TUI_SOURCE] = {151, -1, COLOR_GREEN, -1, 0},
    FLAME(209),
    FLAME(215),
    FLAME2(203),
    FLAME(221),
    FLAME(214),
    FLAME2(210),
    FLAME(222),
    FLAME2(173),
    KERNEL(110),
    KERNEL(117),
    KERNEL(74),
    KERNEL(152),
};

static const struct theme light[PF_TUI_STYLES] = {
    [PF_TUI_PLAIN] = {-1, -1, -1, -1, 0},
    [PF_TUI_TITLE] = {-1, -1, -1, -1, A_BOLD},
    [PF_TUI_HEADER] = {15, 24, COLOR_WHITE, COLOR_BLUE, A_BOLD},
    [PF_TUI_HOT] = {160, -1, COLOR_RED, -1, A_BOLD},
    [PF_TUI_WARM] = {28, -1, COLOR_GREEN, -1, 0},
    [PF_TUI_DIM] = {242, -1, -1, -1, A_DIM},
    [PF_TUI_KERNEL] = {25, -1, COLOR_BLUE, -1, 0},
    [PF_TUI_STATUS] = {235, 253, COLOR_BLACK, COLOR_CYAN, A_REVERSE},
    [PF_TUI_KEY] = {124, 253, COLOR_RED, COLOR_CYAN, A_BOLD},
    [PF_TUI_ALERT] = {130, -1, COLOR_MAGENTA, -1, A_BOLD},
    [PF_TUI_BAR] = {31, -1, COLOR_BLUE, -1, 0},
    [PF_TUI_RANGE] = {124, 252, COLOR_RED, COLOR_CYAN, A_REVERSE},
    [PF_TUI_FOUND] = {16, 221, COLOR_BLACK, COLOR_YELLOW, A_BOLD},
    [PF_TUI_SOURCE] = {22, -1, COLOR_GREEN, -1, 0},
    FLAME(216),
    FLAME(222),
    FLAME2(210),
    FLAME(228),
    FLAME(221),
    FLAME2(217),
    FLAME(229),
    FLAME2(180),
    KERNEL(117),
    KERNEL(153),
    KERNEL(81),
    KERNEL(159),
};

/* PERFILE_THEME, or what some terminals say of their background. */
static const struct theme *choose_theme(void)
{
    const char *named = getenv("PERFILE_THEME"), *stated = getenv("COLORFGBG");
    const char *background = stated ? strrchr(stated, ';') : NULL;

    if (named && *named)
        return strcmp(named, "light") ? dark : light;
    return background && (!strcmp(background, ";7") || !strcmp(background, ";15")) ? light : dark;
}

/* perf's names of the eight colours, by number; -1: another word, such as "default". */
static short color_of(const char *text, size_t bytes)
{
    static const char *const names[] = {"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strlen(names[i]) == bytes && !strncmp(text, names[i], bytes))
            return (short)i;
    return -1;
}

/* What perf's configuration says: "red, default" are foreground and background. */
static void take_config(struct theme *theme)
{
    static const struct {
        const char *key;
        enum pf_tui_style style;
    } keys[] = {{"colors.top", PF_TUI_HOT},
                {"colors.medium", PF_TUI_WARM},
                {"colors.normal", PF_TUI_PLAIN},
                {"colors.root", PF_TUI_HEADER}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = pf_perf_config_value(keys[i].key);
        if (!value)
            continue;
        const size_t bytes = strcspn(value, ", ");
        const char *rest = value + bytes + strspn(value + bytes, ", ");
        struct theme *style = &theme[keys[i].style];
        style->foreground = style->basic = color_of(value, bytes);
        style->background = style->basic_background = color_of(rest, strcspn(rest, ", "));
    }
}

static void make_styles(bool color)
{
    struct theme theme[PF_TUI_STYLES];
    const char *named = getenv("PERFILE_THEME");

    memcpy(theme, choose_theme(), sizeof(theme));
    if (!named || !*named)
        take_config(theme);

    screen.color = color && has_colors() && !(named && !strcmp(named, "mono")) && start_color() == OK;
    if (screen.color)
        (void)use_default_colors();
    for (short i = 0; i < PF_TUI_STYLES; i++) {
        const struct theme *style = &theme[i];
        const bool rich = COLORS >= 256;
        screen.styles[i] = style->more;
        if (!screen.color && i >= PF_TUI_FLAMES)
            screen.styles[i] = i % 2 ? A_REVERSE : A_REVERSE | A_DIM;
        if (!screen.color && (i == PF_TUI_HEADER || i == PF_TUI_FOUND))
            screen.styles[i] |= A_REVERSE;
        if (!screen.color)
            continue;
        screen.pairs[i] = (short)(i + 1);
        screen.styles[i] &= ~(A_REVERSE | A_DIM);
        (void)init_pair(screen.pairs[i], rich ? style->foreground : style->basic,
                        rich ? style->background : style->basic_background);
    }
}

static attr_t attributes(unsigned style)
{
    const unsigned which = style & 0xff;

    return screen.styles[which] | (style & PF_TUI_SELECTED ? A_REVERSE : 0) | (style & PF_TUI_BOLD ? A_BOLD : 0);
}

static void set_style(unsigned style)
{
    (void)attr_set(attributes(style), screen.pairs[style & 0xff], NULL);
}

/* ---- taking and giving back -------------------------------------------------------------------------------------- */

bool pf_tui_screen_possible(void)
{
    int error;

    return setupterm(NULL, STDOUT_FILENO, &error) == OK && cursor_address && clear_screen;
}

static void note_restore(const char *sequence)
{
    const size_t bytes = sequence ? strlen(sequence) : 0;

    if (bytes < sizeof(screen.restore) - screen.restore_bytes) {
        memcpy(screen.restore + screen.restore_bytes, sequence ? sequence : "", bytes);
        screen.restore_bytes += bytes;
    }
}

/* Mouse reports, keypad, colours, cursor, the other screen. */
static void note_restores(void)
{
    screen.restore_bytes = 0;
    note_restore("\033[?1000l\033[?1002l\033[?1006l");
    note_restore(keypad_local);
    note_restore(exit_attribute_mode);
    note_restore(orig_pair);
    note_restore(cursor_normal);
    if (!exit_ca_mode)
        note_restore("\r\n");
    note_restore(exit_ca_mode);
}

/* Names are UTF-8. Numbers of the process stay as they are. */
static bool choose_charset(void)
{
    return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void measure(struct pf_tui_screen *out)
{
    getmaxyx(stdscr, out->rows, out->columns);
}

static void set_modes(void)
{
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)curs_set(0);
    set_escdelay(25);
    mouseinterval(0); /* else a quick drag would be a click */
    (void)mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
}

bool pf_tui_screen_open(struct pf_tui_screen *out, bool color)
{
    *out = (struct pf_tui_screen){.utf8 = choose_charset()};
    if (tcgetattr(STDIN_FILENO, &screen.before) < 0 || pipe2(screen.wake, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    handle_signals(); /* before curses, which leaves alone those that have a handler */
    screen.handle = newterm(NULL, stdout, stdin);
    if (!screen.handle) {
        unhandle_signals();
        close(screen.wake[0]);
        close(screen.wake[1]);
        return false;
    }
    handle_signals();
    note_restores();
    make_styles(color);
    set_modes();
    screen.open = true;
    measure(out);
    return true;
}

void pf_tui_screen_close(void)
{
    if (!screen.open)
        return;
    screen.open = false;
    (void)endwin();
    unhandle_signals();
    delscreen(screen.handle);
    close(screen.wake[0]);
    close(screen.wake[1]);
}

void pf_tui_screen_suspend(struct pf_tui_screen *out)
{
    (void)endwin();
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    handle_signals();
    (void)clearok(curscr, TRUE);
    (void)refresh();
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        (void)resizeterm(size.ws_row, size.ws_col);
    measure(out);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static const struct {
    int curses, key;
} keys[] = {{KEY_UP, PF_KEY_UP},
            {KEY_DOWN, PF_KEY_DOWN},
            {KEY_LEFT, PF_KEY_LEFT},
            {KEY_RIGHT, PF_KEY_RIGHT},
            {KEY_PPAGE, PF_KEY_PAGE_UP},
            {KEY_NPAGE, PF_KEY_PAGE_DOWN},
            {KEY_HOME, PF_KEY_HOME},
            {KEY_END, PF_KEY_END},
            {KEY_BTAB, PF_KEY_BACKTAB},
            {KEY_F(1), PF_KEY_F1},
            {KEY_BACKSPACE, PF_KEY_BACKSPACE},
            {'\b', PF_KEY_BACKSPACE},
            {'\r', PF_KEY_ENTER},
            {KEY_ENTER, PF_KEY_ENTER},
            {KEY_RESIZE, PF_KEY_RESIZE}};

static const struct {
    mmask_t bits;
    enum pf_tui_press press;
} presses[] = {{BUTTON1_PRESSED, PF_MOUSE_PRESS},
               {BUTTON1_RELEASED, PF_MOUSE_RELEASE},
               {BUTTON4_PRESSED, PF_MOUSE_UP},
               {BUTTON5_PRESSED, PF_MOUSE_DOWN}};

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Whether the button was pressed twice within a moment at the same position; a third press counts as a first one. */
static bool is_double(int y, int x)
{
    enum { DOUBLE_MS = 400 };
    const uint64_t now = now_ms();
    const bool twice = screen.press_y == y && screen.press_x == x && now - screen.press_ms < DOUBLE_MS;

    screen.press_y = y;
    screen.press_x = x;
    screen.press_ms = twice ? 0 : now;
    return twice;
}

/* Curses reports one key for all events that came together, and returns the last of them first. */
static int mouse_key(struct pf_tui_screen *out)
{
    if (!mouse.count)
        while (mouse.count < COUNT(mouse.events) && getmouse(&mouse.events[mouse.count]) == OK)
            mouse.count++;
    if (!mouse.count)
        return PF_KEY_OTHER;
    const MEVENT event = mouse.events[--mouse.count];
    for (size_t i = 0; i < COUNT(presses); i++)
        if (event.bstate & presses[i].bits) {
            out->mouse = (struct pf_tui_mouse){event.y, event.x, presses[i].press};
            if (presses[i].press == PF_MOUSE_PRESS && is_double(event.y, event.x))
                out->mouse.press = PF_MOUSE_DOUBLE;
            return PF_KEY_MOUSE;
        }
    return PF_KEY_OTHER;
}

/* Curses reports the new size with another KEY_RESIZE, which must not lead here: it would repeat forever. */
static int resize(struct pf_tui_screen *out)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col)
        (void)resizeterm(size.ws_row, size.ws_col);
    measure(out);
    return PF_KEY_RESIZE;
}

/* Terminals have several forms of these keys, of which terminfo knows one. */
static const struct {
    const char *sequence; /* after Escape */
    int key;
} sequences[] = {{"[A", PF_KEY_UP},      {"[B", PF_KEY_DOWN},     {"[C", PF_KEY_RIGHT},     {"[D", PF_KEY_LEFT},
                 {"OA", PF_KEY_UP},      {"OB", PF_KEY_DOWN},     {"OC", PF_KEY_RIGHT},     {"OD", PF_KEY_LEFT},
                 {"[H", PF_KEY_HOME},    {"OH", PF_KEY_HOME},     {"[1~", PF_KEY_HOME},     {"[7~", PF_KEY_HOME},
                 {"[F", PF_KEY_END},     {"OF", PF_KEY_END},      {"[4~", PF_KEY_END},      {"[8~", PF_KEY_END},
                 {"[Z", PF_KEY_BACKTAB}, {"[5~", PF_KEY_PAGE_UP}, {"[6~", PF_KEY_PAGE_DOWN}};

/* Reads what follows Escape: a sequence unknown to terminfo is one key; without a sequence it is the Escape key. */
static int escape_key(void)
{
    enum { ESCAPE = 27 };
    char sequence[16] = "";
    int next = getch();
    size_t bytes = 0;

    if (next != '[' && next != 'O') {
        if (next != ERR)
            (void)ungetch(next);
        return ESCAPE;
    }
    const bool is_long = next == '['; /* the other kind has one byte more */
    do {
        if (bytes + 1 < sizeof(sequence))
            sequence[bytes++] = (char)next;
        next = getch();
    } while (is_long && next >= ' ' && next < '@');
    if (next >= '@' && next <= '~' && bytes + 1 < sizeof(sequence))
        sequence[bytes] = (char)next;
    for (size_t i = 0; i < COUNT(sequences); i++)
        if (!strcmp(sequence, sequences[i].sequence))
            return sequences[i].key;
    return PF_KEY_OTHER;
}

static int take_key(struct pf_tui_screen *out)
{
    const int key = mouse.count ? KEY_MOUSE : getch();

    if (key == ERR)
        return PF_KEY_NONE;
    if (key == KEY_MOUSE)
        return mouse_key(out);
    if (key == '\033')
        return escape_key();
    for (size_t i = 0; i < COUNT(keys); i++)
        if (key == keys[i].curses)
            return keys[i].key;
    return key < 256 ? key : PF_KEY_OTHER;
}

/* Reads the bytes that signals and threads wrote, and returns the most important event. */
static int take_wakes(struct pf_tui_screen *out)
{
    char bytes[64];
    ssize_t count;
    bool sized = false, stopped = false;

    while ((count = read(screen.wake[0], bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < count; i++) {
            sized |= bytes[i] == SIGWINCH;
            stopped |= bytes[i] == SIGTSTP;
        }
    if (stopped)
        return PF_KEY_SUSPEND;
    return sized ? resize(out) : PF_KEY_WAKE;
}

int pf_tui_screen_key(struct pf_tui_screen *out, int timeout_ms)
{
    struct pollfd files[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = screen.wake[0], .events = POLLIN}};
    int key = take_key(out); /* curses may have some already */

    if (key != PF_KEY_NONE)
        return key;
    if (poll(files, COUNT(files), timeout_ms) == 0)
        return PF_KEY_NONE;
    if (files[1].revents)
        return take_wakes(out);
    if (files[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        return 'q'; /* the terminal is gone */
    key = files[0].revents ? take_key(out) : PF_KEY_NONE;
    return key == PF_KEY_NONE ? PF_KEY_WAKE : key;
}

void pf_tui_screen_wake(void)
{
    (void)!write(screen.wake[1], "", 1);
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

void pf_tui_screen_clear(void)
{
    set_style(PF_TUI_PLAIN);
    (void)erase();
}

void pf_tui_screen_show(void)
{
    (void)refresh();
}

void pf_tui_screen_redraw(void)
{
    (void)clearok(curscr, TRUE);
}

/* Writes the next character of the text as it is drawn (at most 16 bytes) and its cells. Returns the end of it. */
static const char *next_piece(const struct pf_tui_screen *out, const char *text, char piece[24], int *cells)
{
    wchar_t wide;
    mbstate_t state = {0};
    size_t bytes = 1;

    if ((unsigned char)*text >= 0x80) {
        const size_t capacity = strnlen(text, 4);
        const size_t found = out->utf8 ? mbrtowc(&wide, text, capacity, &state) : (size_t)-1;
        const int width = found - 1 < 4 ? wcwidth(wide) : -1;
        if (width == 1 || width == 2) { /* those without a width would stand in the cells of others */
            const size_t shown = perfile_text_escape(text, found, piece, 24);
            *cells = shown == found ? width : (int)shown;
            return text + found;
        }
        bytes = found - 1 < 4 ? found : 1;
        if (width >= 0) {
            memcpy(piece, "?", 2);
            *cells = 1;
            return text + bytes;
        }
    }
    const size_t shown = perfile_text_escape(text, bytes, piece, 24);
    if (shown == 1 && (unsigned char)*piece >= 0x80)
        *piece = '?';
    if (!out->utf8 && (unsigned char)*piece >= 0x80)
        memcpy(piece, "?", 2);
    *cells = (int)strlen(piece);
    return text + bytes;
}

size_t pf_tui_cells(const struct pf_tui_screen *out, const char *text, size_t max)
{
    size_t used = 0;
    char piece[24];
    int cells;

    while (*text && used < max) {
        text = next_piece(out, text, piece, &cells);
        used += (size_t)cells;
    }
    return used < max ? used : max;
}

int pf_tui_add(const struct pf_tui_screen *out, int y, int x, int cells, unsigned style, const char *text)
{
    char piece[24];
    int width;

    if (y < 0 || y >= out->rows || x < 0)
        return x;
    cells = cells < out->columns - x ? cells : out->columns - x;
    set_style(style);
    for (int used = 0; *text; used += width, x += width) {
        text = next_piece(out, text, piece, &width);
        if (used + width > cells)
            break;
        (void)mvaddstr(y, x, piece);
    }
    return x;
}

int pf_tui_put(const struct pf_tui_screen *out, int y, int x, int cells, unsigned style, const char *text)
{
    const int end = x + cells < out->columns ? x + cells : out->columns;

    x = pf_tui_add(out, y, x, cells, style, text);
    if (y >= 0 && y < out->rows && x >= 0 && x < end)
        (void)mvhline(y, x, ' ' | attributes(style) | (attr_t)COLOR_PAIR(screen.pairs[style & 0xff]), end - x);
    return end;
}

int pf_tui_format(const struct pf_tui_screen *out, int y, int x, int cells, unsigned style, const char *format, ...)
{
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return pf_tui_put(out, y, x, cells, style, text);
}

/* Escapes the name before it is cut, so that no half escape remains. */
static void put_fitted(const struct pf_tui_screen *out, int y, int x, int cells, unsigned style, const char *name)
{
    const size_t bytes = strlen(name), capacity = 4 * bytes + 1;
    char *escaped = malloc(2 * capacity);

    if (!escaped) {
        pf_tui_put(out, y, x, cells, style, name);
        return;
    }
    perfile_text_escape(name, bytes, escaped, capacity);
    (void)perfile_name_fit(escaped, (size_t)cells, escaped + capacity, capacity);
    pf_tui_put(out, y, x, cells, style, escaped + capacity);
    free(escaped);
}

int pf_tui_name(const struct pf_tui_screen *out, int y, int x, int cells, unsigned style, const char *name)
{
    cells = cells < out->columns - x ? cells : out->columns - x;
    if (cells <= 0)
        return x;
    if (pf_tui_cells(out, name, (size_t)cells + 1) <= (size_t)cells)
        return pf_tui_put(out, y, x, cells, style, name);
    put_fitted(out, y, x, cells, style, name);
    return x + cells;
}

void pf_tui_bar(const struct pf_tui_screen *out, int y, int x, unsigned style, unsigned eighths)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ".", ":", ":", "+", "+", "#", "#"};

    pf_tui_add(out, y, x, 1, style, (out->utf8 ? blocks : plain)[eighths < 8 ? eighths : 8]);
}
