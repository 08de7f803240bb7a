/* SPDX-License-Identifier: MIT */
#include "message.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SHOWN_PER_RULE 10

/* The one terminal of the process. */
static struct {
    bool color;
    bool quiet;
    bool verbose;
    bool bar; /* a progress bar stands on the last line */
} terminal;

void pf_message_setup(const char *color, bool quiet, bool verbose)
{
    const char *no_color = getenv("NO_COLOR");

    terminal.quiet = quiet;
    terminal.verbose = verbose;
    terminal.color =
        !strcmp(color, "always") || (!strcmp(color, "auto") && isatty(STDERR_FILENO) && !(no_color && *no_color));
}

/* ---- escaping -------------------------------------------------------------------------------------------------- */

/* Length of the UTF-8 character at `s`, 0 when it is none. The NUL behind the text ends every sequence. */
static size_t utf8_bytes(const unsigned char *s)
{
    size_t bytes = s[0] < 0x80                   ? 1
                   : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                   : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                   : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                 : 0;

    for (size_t i = 1; i < bytes; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

/* C0 and C1 control characters, which a terminal might obey. */
static bool is_control(const unsigned char *s)
{
    return s[0] < 0x20 || s[0] == 0x7f || (s[0] == 0xc2 && s[1] < 0xa0);
}

/* Text to `to` with everything but printable UTF-8 as \xHH; what does not fit is left out. */
static size_t escape(const char *text, char *to, size_t room)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0;

    while (*s && used + 5 < room) {
        size_t bytes = utf8_bytes(s);

        if (bytes && !is_control(s)) {
            memcpy(to + used, s, bytes);
            used += bytes;
            s += bytes;
        } else {
            used += (size_t)snprintf(to + used, room - used, "\\x%02x", *s++);
        }
    }
    to[used] = 0;
    return used;
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

enum tone { TONE_ERROR, TONE_WARNING, TONE_NOTE };

/* One write per line: messages of parallel processes do not mix. A terminal that cannot be written to is nobody's
 * fault. */
static void print_line(enum tone tone, const char *text)
{
    static const char *const colors[] = {"\033[1;31m", "\033[1;33m", "\033[1m"};
    char line[4096];
    size_t used;

    pf_progress_clear();
    used = (size_t)snprintf(line, sizeof(line), "%sperfile:%s ", terminal.color ? colors[tone] : "",
                            terminal.color ? "\033[0m" : "");
    used += escape(text, line + used, sizeof(line) - used - 1);
    line[used++] = '\n';
    if (write(STDERR_FILENO, line, used) < 0)
        return;
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

/* ---- diagnostics ----------------------------------------------------------------------------------------------- */

/* How often the rule has been seen, this time included. Rules that find no room are always new. */
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

void pf_log_diagnostic(void *context, const struct perfile_diagnostic *diagnostic)
{
    static const enum tone tones[] = {
        [PERFILE_NOTE] = TONE_NOTE, [PERFILE_WARNING] = TONE_WARNING, [PERFILE_LOSS] = TONE_ERROR};
    struct pf_log *log = context;
    bool note = diagnostic->severity == PERFILE_NOTE;

    if (terminal.quiet || (note && !terminal.verbose))
        return;
    if (count_rule(log, diagnostic->rule) > SHOWN_PER_RULE && !terminal.verbose)
        return;
    print_message(tones[diagnostic->severity], "%s%s%s: %s [%s]", log->input, diagnostic->file ? "/" : "",
                  diagnostic->file ? diagnostic->file : "", diagnostic->message, diagnostic->rule);
}

void pf_log_note(void *context, const char *text)
{
    const struct pf_log *log = context;

    if (!terminal.quiet)
        print_message(TONE_WARNING, "%s: %s", log->input, text);
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

bool pf_progress_start(struct pf_progress *progress, bool enabled)
{
    progress->start_ms = progress->drawn_ms = now_ms();
    return enabled && !terminal.quiet && isatty(STDERR_FILENO);
}

static void draw(const char *line, size_t bytes)
{
    if (write(STDERR_FILENO, line, bytes) < 0)
        return;
    terminal.bar = true;
}

void pf_progress_update(void *context, uint64_t done, uint64_t total)
{
    static const char marks[] = "########################################";
    const int width = (int)sizeof(marks) - 1;
    struct pf_progress *progress = context;
    uint64_t now = now_ms();
    char line[128];
    double share;

    if (now - progress->start_ms < 1000 || now - progress->drawn_ms < 100)
        return;
    progress->drawn_ms = now;
    share = total ? (double)(done < total ? done : total) / (double)total : 0;
    if (total)
        draw(line, (size_t)snprintf(line, sizeof(line), "\r[%-*.*s] %3.0f%%", width, (int)(share * width), marks,
                                    share * 100));
    else
        draw(line, (size_t)snprintf(line, sizeof(line), "\r%" PRIu64 " MiB read", done >> 20));
}

void pf_progress_clear(void)
{
    if (terminal.bar)
        draw("\r\033[K", 4);
    terminal.bar = false;
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
