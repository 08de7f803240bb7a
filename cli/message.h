/* SPDX-License-Identifier: MIT */
/* Messages, diagnostics and the progress bar on standard error. Hostile bytes in them are escaped. */
#ifndef PERFILE_CLI_MESSAGE_H
#define PERFILE_CLI_MESSAGE_H

#include <stdio.h>

#include <perfile/perfile.h>

/* A terminal that can move its cursor. */
bool pf_is_terminal(int fd);
/* Its width: $COLUMNS, or that of the window, or 80. */
size_t pf_terminal_columns(int fd);
/* Whether text for `fd` has colours; `color` is auto, always or never. */
bool pf_wants_color(const char *color, int fd);

/* `color` as above. Until this is called: no colour. */
void pf_message_setup(const char *color, bool quiet, bool verbose);

/* The name that the program was called by: "perfile", or "perf", which may be a link to it. */
void pf_program_set(const char *path);
const char *pf_program_name(void);
bool pf_called_perf(void); /* by a link of that name: what is printed is for scripts written for perf */

/* Prints "perfile: " and one line. */
__attribute__((format(printf, 1, 2))) void pf_message(const char *format, ...);

/* The same, only shown with -v. */
__attribute__((format(printf, 1, 2))) void pf_note(const char *format, ...);

/* The same as a warning, unless quiet. */
__attribute__((format(printf, 1, 2))) void pf_message_advice(const char *format, ...);

/* The message of an error, without `text` at its start, which the caller prints before it. */
const char *pf_error_sentence(const struct perfile_error *error, const char *text);

/* From _hold to _release, messages for a terminal are held back, because a pager uses it. */
void pf_message_hold(void);
void pf_message_release(void);
/* The same as _release for messages that need not be printed. */
void pf_message_discard(void);

/* The same as _hold; messages are also kept for the notes of the interactive view, until _release. */
void pf_message_keep(void);
/* A copy of the messages that were kept, a line each; NULL: out of memory. */
char *pf_message_kept(void);
/* A message of a few words for the header of that view, in addition to the complete message. */
__attribute__((format(printf, 1, 2))) void pf_message_brief(const char *format, ...);
/* "2 notes: 61% of stacks broken, file truncated". False: nothing was kept. */
bool pf_message_summary(char *text, size_t capacity);

/* Diagnostics of one recording: the first ten of a rule are printed, the others counted. */
#define PF_RULE_MAX 64
struct pf_log {
    const char *input;
    bool over; /* the recording is read again: everything was reported the first time */
    size_t rule_count;
    struct {
        const char *rule;
        uint64_t count;
    } rules[PF_RULE_MAX];
};
/* For perfile_open_options.diagnostic; the context is a struct pf_log. */
void pf_log_diagnostic(void *log, const struct perfile_diagnostic *diagnostic);
/* For perfile_symbol_options.note; the context is a struct pf_log. */
void pf_log_note(void *log, const char *text);
/* For perfile_output_options.unmatched; the context is a struct pf_log. */
void pf_log_unmatched(void *log, const struct perfile_unmatched *unmatched);
/* Says how many were not printed. */
void pf_log_finish(const struct pf_log *log);

/* A bar on a terminal for work that takes more than half a second. */
struct pf_progress {
    const char *verb;
    uint64_t start_ms;
    uint64_t drawn_ms;
};
/* False when standard error is not a terminal, or with --quiet: do not call _update then. */
bool pf_progress_start(struct pf_progress *progress, const char *verb);
/* For perfile_output_options.progress; the context is a struct pf_progress. */
void pf_progress_update(void *progress, uint64_t done, uint64_t total);

/* Removes the bar from the terminal, if it is there, until the next update. */
void pf_progress_clear(void);
/* The same for good: the terminal belongs to others from now on. */
void pf_progress_end(void);

/* Length of the UTF-8 character at `text`, 0 when it is invalid. The NUL after the text ends every sequence. */
size_t pf_utf8_bytes(const char *text);
/* A name as a terminal may show it. */
void pf_print_name(const char *name, FILE *to);

/* 4711 as "4,711". */
#define PF_GROUPED_BYTES 28
const char *pf_grouped(uint64_t value, char buffer[PF_GROUPED_BYTES]);
/* "x.data.gz" ends in ".gz". */
bool pf_ends_in(const char *text, const char *end);

/* "4,711 damaged records", "1 damaged record": of one, the first word that ends in s has none. */
#define PF_COUNTED_BYTES 128
const char *pf_counted(uint64_t value, const char *what, char buffer[PF_COUNTED_BYTES]);

#endif
