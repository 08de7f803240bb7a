/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "guess.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_PER_RULE 10
#define NEAREST_SHOWN 6
#define MIN_COLUMNS 20 /* of a terminal: narrower ones wrap themselves */
#define HELD_BYTES ((size_t)1 << 20)

/* The terminal of the process: one thread may read and report progress while another one writes the output. */
static pthread_mutex_t at_terminal;
static pthread_once_t at_terminal_once = PTHREAD_ONCE_INIT;
struct lines {
    char *text; /* not terminated */
    size_t bytes;
    uint64_t count, missing; /* missing: lines that did not fit */
};
static struct {
    bool color;
    bool quiet;
    bool verbose;
    bool bar;      /* a progress bar stands on the last line */
    bool bar_over; /* and none may any more */
    bool holding;
    struct lines held; /* messages that wait for the end of the pager */
    bool keeping;
    struct lines kept; /* messages for the notes of the interactive view */
    char briefs[256];
} terminal;

/* Recursive, as printing a message may print another one. C libraries have no common initialiser for that. */
static void make_mutex(void)
{
    pthread_mutexattr_t kind;

    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&at_terminal, &kind);
    pthread_mutexattr_destroy(&kind);
}

static void lock_terminal(void)
{
    pthread_once(&at_terminal_once, make_mutex);
    pthread_mutex_lock(&at_terminal);
}

static void unlock_terminal(void)
{
    pthread_mutex_unlock(&at_terminal);
}

bool pf_is_terminal(int fd)
{
    const char *name = getenv("TERM");

    return isatty(fd) && name && *name && strcmp(name, "dumb") != 0;
}

size_t pf_terminal_columns(int fd)
{
    const char *wanted = getenv("COLUMNS");
    const long columns = wanted ? strtol(wanted, NULL, 10) : 0;
    struct winsize size;

    if (columns > 0 && columns < 100000)
        return (size_t)columns;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 80;
}

bool pf_wants_color(const char *color, int fd)
{
    const char *no_color = getenv("NO_COLOR");

    if (strcmp(color, "auto") != 0)
        return strcmp(color, "always") == 0;
    return pf_is_terminal(fd) && !(no_color && *no_color);
}

void pf_message_setup(const char *color, bool quiet, bool verbose)
{
    terminal.quiet = quiet;
    terminal.verbose = verbose;
    terminal.color = pf_wants_color(color, STDERR_FILENO);
}

/* ---- escaping -------------------------------------------------------------------------------------------------- */

size_t pf_utf8_bytes(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t bytes = s[0] < 0x80                   ? 1
                   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                 : 0;

    for (size_t i = 1; i < bytes; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    /* longer than they need to be, surrogates, and above the last character */
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return bytes;
}

void pf_print_name(const char *name, FILE *to)
{
    char shown[64];

    for (const char *end = name + strlen(name); name < end;) {
        const size_t piece = pf_utf8_bytes(name);
        const size_t bytes = perfile_text_escape(name, piece ? piece : 1, shown, sizeof(shown));

        fwrite(shown, 1, bytes, to);
        name += piece ? piece : 1;
    }
}

/* ---- what we are called ------------------------------------------------------------------------------------------ */

static bool called_perf;

void pf_program_set(const char *path)
{
    const char *slash = strrchr(path, '/');

    called_perf = !strcmp(slash ? slash + 1 : path, "perf");
}

bool pf_called_perf(void)
{
    return called_perf;
}

const char *pf_program_name(void)
{
    return called_perf ? "perf" : "perfile";
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

enum tone { TONE_ERROR, TONE_WARNING, TONE_NOTE };

/* Lines are few, as there are at most ten of a kind; -v may bring many. */
static void add_line(struct lines *lines, const char *line, size_t bytes)
{
    char *grown = lines->bytes + bytes <= HELD_BYTES ? realloc(lines->text, lines->bytes + bytes) : NULL;

    if (!grown) {
        lines->missing++;
        return;
    }
    lines->text = grown;
    memcpy(grown + lines->bytes, line, bytes);
    lines->bytes += bytes;
    lines->count++;
}

static void free_lines(struct lines *lines)
{
    free(lines->text);
    *lines = (struct lines){.text = NULL};
}

/* Where a line that is too long ends: after punctuation in its last half, so that commands stay together, or a word. */
static size_t find_break(const char *line, size_t bytes, size_t columns)
{
    size_t word = 0, clause = 0, width = 0;

    for (size_t i = 0; i < bytes && (width <= columns || !word); i++) {
        width += (line[i] & 0xc0) != 0x80; /* the first byte of a character */
        if (line[i] != ' ' || !i)
            continue;
        word = i;
        if (strchr(";:,", line[i - 1]) && width > columns / 2)
            clause = i;
    }
    return width <= columns ? bytes : clause ? clause : word ? word : bytes;
}

/*
 * For people at a terminal: long lines go on below, indented. `before` is the width of what is on the first line
 * already. Returns the bytes put into `to`.
 */
static size_t wrap(const char *line, size_t bytes, size_t before, char *to, size_t capacity)
{
    static const char next[] = "\n  ";
    const size_t columns = pf_terminal_columns(STDERR_FILENO);
    size_t used = 0, part;

    for (size_t left = columns > MIN_COLUMNS + before ? columns - before : MIN_COLUMNS; bytes;
         left = columns > MIN_COLUMNS ? columns - 2 : MIN_COLUMNS) {
        part = find_break(line, bytes, left);
        if (used + part + sizeof(next) > capacity)
            break;
        memcpy(to + used, line, part);
        used += part;
        bytes -= part;
        line += part;
        if (!bytes)
            break;
        memcpy(to + used, next, strlen(next));
        used += strlen(next);
        line++; /* the blank */
        bytes--;
    }
    return used;
}

/* One write per line: messages of parallel processes do not mix. A terminal that cannot be written to is
 * ignored. */
static void print_line(enum tone tone, const char *message)
{
    static const char *const colors[] = {"\033[1;31m", "\033[1;33m", "\033[1m"};
    char line[4096], text[4096];
    size_t used, bytes;

    lock_terminal();
    pf_progress_clear();
    bytes = perfile_text_escape(message, strlen(message), text, sizeof(text) - 1);
    text[bytes] = '\n';
    if (terminal.keeping)
        add_line(&terminal.kept, text, bytes + 1);
    used = (size_t)snprintf(line, sizeof(line), "%s%s:%s ", terminal.color ? colors[tone] : "", pf_program_name(),
                            terminal.color ? "\033[0m" : "");
    if (pf_is_terminal(STDERR_FILENO)) {
        used += wrap(text, bytes, strlen(pf_program_name()) + 2, line + used, sizeof(line) - used - 1);
    } else {
        bytes = bytes < sizeof(line) - used - 1 ? bytes : sizeof(line) - used - 1;
        memcpy(line + used, text, bytes);
        used += bytes;
    }
    line[used++] = '\n';
    if (terminal.holding)
        add_line(&terminal.held, line, used);
    else
        (void)!write(STDERR_FILENO, line, used);
    unlock_terminal();
}

__attribute__((format(printf, 2, 0))) static void print_arguments(enum tone tone, const char *format, va_list arguments)
{
    char text[2048];

    vsnprintf(text, sizeof(text), format, arguments);
    print_line(tone, text);
}

__attribute__((format(printf, 2, 3))) static void print_message(enum tone tone, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_arguments(tone, format, arguments);
    va_end(arguments);
}

void pf_message(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    print_arguments(TONE_ERROR, format, arguments);
    va_end(arguments);
}

void pf_message_advice(const char *format, ...)
{
    va_list arguments;

    if (terminal.quiet)
        return;
    va_start(arguments, format);
    print_arguments(TONE_WARNING, format, arguments);
    va_end(arguments);
}

void pf_note(const char *format, ...)
{
    va_list arguments;

    if (terminal.quiet || !terminal.verbose)
        return;
    va_start(arguments, format);
    print_arguments(TONE_NOTE, format, arguments);
    va_end(arguments);
}

const char *pf_error_sentence(const struct perfile_error *error, const char *text)
{
    const size_t bytes = strlen(text);
    const bool repeats = !strcmp(error->what, text) && !strncmp(error->message, text, bytes) &&
                         !strncmp(error->message + bytes, ": ", 2);

    return error->message + (repeats ? bytes + 2 : 0);
}

void pf_message_hold(void)
{
    lock_terminal();
    terminal.holding = isatty(STDERR_FILENO);
    unlock_terminal();
}

void pf_message_release(void)
{
    char number[PF_GROUPED_BYTES];

    lock_terminal();
    terminal.holding = terminal.keeping = false;
    for (size_t at = 0; at < terminal.held.bytes;) {
        ssize_t written = write(STDERR_FILENO, terminal.held.text + at, terminal.held.bytes - at);

        if (written <= 0)
            break;
        at += (size_t)written;
    }
    if (terminal.held.missing)
        pf_message("%s more messages were not kept while the pager ran (--no-pager shows them)",
                   pf_grouped(terminal.held.missing, number));
    free_lines(&terminal.held);
    free_lines(&terminal.kept);
    *terminal.briefs = 0;
    unlock_terminal();
}

void pf_message_discard(void)
{
    lock_terminal();
    free_lines(&terminal.held);
    unlock_terminal();
    pf_message_release();
}

/* ---- messages for the interactive view ------------------------------------------------------------------------- */

void pf_message_keep(void)
{
    pf_message_hold();
    lock_terminal();
    terminal.keeping = true;
    unlock_terminal();
}

char *pf_message_kept(void)
{
    lock_terminal();
    char *copy = strndup(terminal.kept.text ? terminal.kept.text : "", terminal.kept.bytes);
    unlock_terminal();
    return copy;
}

void pf_message_brief(const char *format, ...)
{
    char text[128];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    lock_terminal();
    const size_t used = strlen(terminal.briefs);
    if (terminal.keeping && !terminal.quiet && !strstr(terminal.briefs, text))
        snprintf(terminal.briefs + used, sizeof(terminal.briefs) - used, "%s%s", used ? ", " : ": ", text);
    unlock_terminal();
}

bool pf_message_summary(char *text, size_t capacity)
{
    char count[PF_COUNTED_BYTES];

    lock_terminal();
    const bool some = terminal.kept.count;
    snprintf(text, capacity, "%s%s", pf_counted(terminal.kept.count, "notes", count), terminal.briefs);
    unlock_terminal();
    return some;
}

/* ---- diagnostics ----------------------------------------------------------------------------------------------- */

/* Counts the rule, and returns how often it has been seen. Rules that do not fit into the table are always new. */
static uint64_t count_rule(struct pf_log *log, const char *rule)
{
    for (size_t i = 0; i < log->rule_count; i++)
        if (!strcmp(log->rules[i].rule, rule))
            return ++log->rules[i].count;
    if (log->rule_count < PF_RULE_MAX) {
        log->rules[log->rule_count].rule = rule;
        log->rules[log->rule_count++].count = 1;
    }
    return 1;
}

/* Scripts written for perf look for these words before an offset. */
static const char *offset_word(const char *message)
{
    return called_perf && !strncmp(message, "0x", 2) ? "at offset " : "";
}

void pf_log_diagnostic(void *context, const struct perfile_diagnostic *diagnostic)
{
    static const enum tone tones[] = {
        [PERFILE_NOTE] = TONE_NOTE, [PERFILE_WARNING] = TONE_WARNING, [PERFILE_LOSS] = TONE_ERROR};
    struct pf_log *log = context;
    bool note = diagnostic->severity == PERFILE_NOTE;

    if (log->over || terminal.quiet || (note && !terminal.verbose))
        return;
    if (count_rule(log, diagnostic->rule) > SHOWN_PER_RULE && !terminal.verbose)
        return;
    if (diagnostic->severity == PERFILE_LOSS)
        pf_message_brief(pf_ends_in(diagnostic->rule, "-cut") ? "file truncated" : "file damaged");
    print_message(tones[diagnostic->severity], "%s%s%s: %s%s [%s]", log->input, diagnostic->file ? "/" : "",
                  diagnostic->file ? diagnostic->file : "", offset_word(diagnostic->message), diagnostic->message,
                  diagnostic->rule);
}

void pf_log_note(void *context, const char *text)
{
    const struct pf_log *log = context;

    if (!log->over && !terminal.quiet)
        print_message(TONE_WARNING, "%s: %s", log->input, text);
}

/* ---- filters that match nothing -------------------------------------------------------------------------------- */

static const struct {
    const char *filter, *what, *quote;
} filters[] = {
    {"time", "no samples in the time range", "\""},
    {"cpus", "no samples on CPU", ""},
    {"pids", "no samples of process", ""},
    {"tids", "no samples of thread", ""},
    {"comms", "no samples of a thread named", "\""},
    {"events", "no samples of event", "\""},
    {"cgroups", "no samples of cgroup", "\""},
    {"dsos", "no samples in file", "\""},
    {"symbols", "no samples in function", "\""},
    {"stop_at", "no callchain has a function", "\""},
    {"graph_function", "no call of function", "\""},
    {"symbol_filter", "no samples in a function whose name has", "\""},
    {"parallelism", "no samples at parallelism", ""},
    {"switch_on", "no samples from --switch-on", ""},
    {"stitches_calls", "--stitch-lbr completes nothing:", ""},
};

struct near {
    const char *name;
    size_t distance;
};

/* A name that may have been meant is kept in its order, if it is near enough. Returns how many there are. */
static size_t keep_near(struct near *nearest, size_t count, const struct near *candidate)
{
    size_t at = count;

    while (at && candidate->distance < nearest[at - 1].distance)
        at--;
    if (at == NEAREST_SHOWN)
        return count;
    count -= count == NEAREST_SHOWN;
    memmove(nearest + at + 1, nearest + at, (count - at) * sizeof(*nearest));
    nearest[at] = *candidate;
    return count + 1;
}

/* "void geometry::compute<int>(double)" is compared both unchanged and as "compute". */
static size_t distance_of(const struct pf_guess *guess, const char *name, bool is_function)
{
    char word[64];
    const size_t complete = pf_guess_distance(guess, name);
    const char *start = name, *end = name + strcspn(name, "(<");

    for (const char *at = name; at < end; at++)
        if (*at == ' ' || *at == ':')
            start = at + 1;
    if (!is_function || start == end)
        return complete;
    snprintf(word, sizeof(word), "%.*s", (int)(end - start), start);
    const size_t part = pf_guess_distance(guess, word);
    return part < complete ? part : complete;
}

/* "; did you mean X?", or the nearest names that there are. */
static void suggest(const struct perfile_unmatched *unmatched, char *text, size_t bytes)
{
    const bool is_function = !strcmp(unmatched->filter, "symbols") || !strcmp(unmatched->filter, "stop_at") ||
                             !strcmp(unmatched->filter, "graph_function");
    const struct pf_guess guess = pf_guess_start(unmatched->value);
    struct near nearest[NEAREST_SHOWN];
    size_t count = 0, used = 0;

    *text = 0;
    for (size_t i = 0; i < unmatched->known_count; i++) {
        const char *name = unmatched->known[i];
        count = keep_near(nearest, count, &(struct near){name, distance_of(&guess, name, is_function)});
    }
    if (!count || !nearest[0].distance) /* an event without samples */
        return;
    if (nearest[0].distance < guess.distance) {
        snprintf(text, bytes, "; did you mean %.60s?", nearest[0].name);
        return;
    }
    for (size_t i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s %.60s", i ? "," : "; there are", nearest[i].name);
    if (unmatched->known_count > count && used < bytes)
        snprintf(text + used, bytes - used, " ...");
}

void pf_log_unmatched(void *context, const struct perfile_unmatched *unmatched)
{
    const struct pf_log *log = context;
    char known[600] = "";

    if (log->over || terminal.quiet)
        return;
    if (!unmatched->filter)
        print_message(TONE_WARNING, "%s: no sample passes all filters at once", log->input);
    if (unmatched->filter && unmatched->known_count)
        suggest(unmatched, known, sizeof(known));
    for (size_t i = 0; unmatched->filter && i < sizeof(filters) / sizeof(filters[0]); i++)
        if (!strcmp(filters[i].filter, unmatched->filter))
            print_message(TONE_WARNING, "%s: %s %s%.200s%s%s", log->input, filters[i].what, filters[i].quote,
                          unmatched->value, filters[i].quote, known);
}

void pf_log_finish(const struct pf_log *log)
{
    char number[PF_GROUPED_BYTES];

    for (size_t i = 0; i < log->rule_count && !terminal.verbose; i++)
        if (log->rules[i].count > SHOWN_PER_RULE)
            print_message(TONE_WARNING, "%s: %s more of [%s] not shown (-v shows all)", log->input,
                          pf_grouped(log->rules[i].count - SHOWN_PER_RULE, number), log->rules[i].rule);
}

/* ---- progress -------------------------------------------------------------------------------------------------- */

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

bool pf_progress_start(struct pf_progress *progress, const char *verb)
{
    *progress = (struct pf_progress){.verb = verb, .start_ms = now_ms()};
    terminal.bar_over = false;
    return !terminal.quiet && pf_is_terminal(STDERR_FILENO);
}

static void draw(const char *line, size_t bytes)
{
    if (write(STDERR_FILENO, line, bytes) < 0)
        return;
    terminal.bar = true;
}

/* The window may have another size each time. */
static const char *bytes_text(double bytes, char buffer[16])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;

    for (; bytes >= 1000 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1024;
    snprintf(buffer, 16, unit && bytes < 10 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return buffer;
}

static const char *duration_text(double seconds, char buffer[24])
{
    unsigned long integer = seconds < 1e6 ? (unsigned long)seconds : 999999;

    if (integer < 3600)
        snprintf(buffer, 24, "%lu:%02lu", integer / 60, integer % 60);
    else
        snprintf(buffer, 24, "%lu:%02lu:%02lu", integer / 3600, integer / 60 % 60, integer % 60);
    return buffer;
}

/* The text to the right of the bar. Streams have no known end, and therefore no percentage. */
static void describe(char text[80], double done, double total, double seconds)
{
    const double rate = done / seconds;
    char amount[16], speed[16], left[24];

    bytes_text(rate, speed);
    if (total > 0 && done < total && rate > 0)
        snprintf(text, 80, "%3.0f%%  %s/s  %s left", done / total * 100, speed,
                 duration_text((total - done) / rate + 0.9, left));
    else if (total > 0)
        snprintf(text, 80, "%3.0f%%  %s/s", done < total ? done / total * 100 : 100, speed);
    else
        snprintf(text, 80, "%s  %s/s  %s", bytes_text(done, amount), speed, duration_text(seconds, left));
}

/* One column stays free: text in the last one would move the cursor to the next line. */
static void draw_bar(const struct pf_progress *progress, const char *text, double share)
{
    static const char marks[] = "########################################";
    const size_t capacity = pf_terminal_columns(STDERR_FILENO) - 1,
                 consumed = strlen(progress->verb) + strlen(text) + 4;
    size_t width = capacity > consumed ? capacity - consumed : 0;
    char bar[64] = "", line[256];
    size_t bytes;

    width = width < sizeof(marks) - 1 ? width : sizeof(marks) - 1;
    if (share >= 0 && width >= 10)
        snprintf(bar, sizeof(bar), "[%-*.*s] ", (int)width, (int)(share * (double)width), marks);
    bytes = (size_t)snprintf(line, sizeof(line), "\r%s %s%s", progress->verb, bar, text);
    bytes = bytes < sizeof(line) - 8 ? bytes : sizeof(line) - 8;
    bytes = bytes < capacity + 1 ? bytes : capacity + 1;
    memcpy(line + bytes, "\033[K", 3);
    draw(line, bytes + 3);
}

void pf_progress_update(void *context, uint64_t done, uint64_t total)
{
    struct pf_progress *progress = context;
    const uint64_t now = now_ms();
    const double max = (double)(total && done > total ? total : done);
    char text[80];

    if (now - progress->start_ms < 500 || now - progress->drawn_ms < 100)
        return;
    progress->drawn_ms = now;
    describe(text, max, (double)total, (double)(now - progress->start_ms) / 1000);
    lock_terminal();
    if (!terminal.bar_over)
        draw_bar(progress, text, total ? max / (double)total : -1);
    unlock_terminal();
}

void pf_progress_clear(void)
{
    lock_terminal();
    if (terminal.bar)
        draw("\r\033[K", 4);
    terminal.bar = false;
    unlock_terminal();
}

void pf_progress_end(void)
{
    lock_terminal();
    pf_progress_clear();
    terminal.bar_over = true;
    unlock_terminal();
}

const char *pf_grouped(uint64_t value, char buffer[PF_GROUPED_BYTES])
{
    char *at = buffer + PF_GROUPED_BYTES - 1;

    *at = 0;
    for (int digit = 0; value || !digit; digit++, value /= 10) {
        if (digit && digit % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + value % 10);
    }
    return at;
}

/* NULL when no word of the text is a plural. */
static const char *end_of_plural(const char *text)
{
    for (const char *end; *text; text = end + (*end == ' ')) {
        end = text + strcspn(text, " ,;:()");
        if (end - text > 2 && end[-1] == 's')
            return end;
        end += *end && *end != ' ';
    }
    return NULL;
}

const char *pf_counted(uint64_t value, const char *what, char buffer[PF_COUNTED_BYTES])
{
    char number[PF_GROUPED_BYTES];
    const char *end = value == 1 ? end_of_plural(what) : NULL;
    const int bytes = end ? (int)(end - what) - 1 : (int)strlen(what);

    snprintf(buffer, PF_COUNTED_BYTES, "%s %.*s%s", pf_grouped(value, number), bytes, what, end ? end : "");
    return buffer;
}

bool pf_ends_in(const char *text, const char *end)
{
    const size_t bytes = strlen(text), wanted = strlen(end);

    return bytes >= wanted && !strcmp(text + bytes - wanted, end);
}
