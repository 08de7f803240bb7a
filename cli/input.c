/* SPDX-License-Identifier: MIT */
#include "guess.h"
#include "index.h"
#include "input.h"
#include "stdin.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool pf_is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool pf_is_same_file(const char *path, const char *other)
{
    struct stat a, b;

    return strcmp(path, "-") && strcmp(other, "-") && !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int pf_temporary_file(void)
{
    const char *folder = getenv("TMPDIR");
    char path[4096];

    snprintf(path, sizeof(path), "%s/perfile-XXXXXX", folder && *folder ? folder : "/tmp");
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* A temporary file for a stream, which may have to be read twice. It stays open until the process ends. */
static int file_for_stream(const char *path)
{
    struct stat status;
    int fd = -1;

    if ((strcmp(path, "-") ? stat(path, &status) : fstat(STDIN_FILENO, &status)) == 0 && !S_ISREG(status.st_mode) &&
        !S_ISDIR(status.st_mode))
        fd = pf_temporary_file();
    return fd < 0 ? 0 : fd;
}

static bool is_large(const struct pf_settings *settings, const char *path)
{
    struct stat status;

    return settings->index_from && stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           (uint64_t)status.st_size >= settings->index_from;
}

/* True when only some samples are wanted, by filters that an index knows. */
static bool asks_for_samples(const struct perfile_filter *filter)
{
    return filter->time || filter->cpus || filter->pids || filter->tids || filter->events;
}

/* An index is used where it saves reading, and is written for large recordings. */
static bool wants_index(const struct pf_settings *settings, const char *path)
{
    return asks_for_samples(&settings->filter) || settings->uses_indexes || is_large(settings, path);
}

/* Opens the indexes before the sandbox; they are closed when the recording is open. */
static void find_indexes(struct pf_input *input)
{
    const bool wanted = wants_index(input->settings, input->name);

    for (int i = 0; i < PF_INDEX_POSITIONS; i++)
        input->index[i] = wanted ? pf_index_find(input->name, (enum pf_index_position)i) : -1;
}

void pf_input_set(struct pf_input *input, const struct pf_command *command, struct pf_settings *settings,
                  const char *path)
{
    *input = (struct pf_input){.command = command, .settings = settings, .name = path, .chosen = true};
    input->log.input = settings->input_title ? settings->input_title : strcmp(path, "-") ? path : "standard input";
    find_indexes(input);
    if (!settings->no_sandbox)
        input->temporary = file_for_stream(path);
}

int pf_input_open_again(struct pf_input *input, const struct pf_input *first)
{
    *input = *first;
    input->log.over = true;
    input->reader = NULL;
    find_indexes(input);
    return pf_input_open(input);
}

int pf_input_choose(struct pf_input *input, const struct pf_command *command, struct pf_settings *settings)
{
    if (settings->operand_count && settings->input) {
        pf_message("%s: two recordings given, %s and %s", command->name, settings->input, settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    const char *path = settings->operand_count ? settings->operands[0] : settings->input;
    const bool chosen = path != NULL;

    if (!path) /* --before - takes standard input for itself */
        path = (!settings->before || strcmp(settings->before, "-")) && pf_stdin_has_recording(command, settings)
                   ? "-"
                   : "perf.data";
    pf_input_set(input, command, settings, path);
    input->chosen = chosen;
    return PF_STATUS_OK;
}

/* The sentence without the path, which the message already begins with. `what` may hold only the start of the path. */
static const char *sentence(const struct pf_input *input)
{
    const struct perfile_error *error = &input->error;
    const bool is_path = *error->what && !strncmp(input->name, error->what, strlen(error->what));

    return pf_error_sentence(error, is_path ? error->what : "input");
}

/*
 * Uses the indexes that were found. If the one in the cache does not fit any more and filters need it, it is made
 * again; for a large recording, reading all of it also writes an index.
 */
static void use_index(struct pf_input *input)
{
    const struct pf_settings *settings = input->settings;
    const bool had = input->index[PF_INDEX_CACHED] >= 0;
    bool used = false;

    for (int i = 0; i < PF_INDEX_POSITIONS; i++)
        used = pf_index_use(input->reader, input->index[i], (enum pf_index_position)i) || used;
    if (used || input->source || !pf_command_has_group(input->command, &pf_symbol_group))
        return;
    if (had && asks_for_samples(&settings->filter))
        (void)pf_index_renew(input->reader, input->name);
    else if (is_large(settings, input->name))
        pf_index_leave(input->reader, input->name);
}

/* The reader is open; with --itrace it also gives the samples of its hardware trace, if it has one. */
static int open_trace(struct pf_input *input)
{
    const struct pf_settings *settings = input->settings;
    struct perfile_trace_options how = PERFILE_TRACE_OPTIONS_INIT;

    how.itrace = settings->itrace;
    how.is_listed = settings->lists_trace;
    how.symbols = &settings->symbols;
    const int result = settings->itrace ? perfile_trace_open(input->reader, &how, &input->error) : 0;

    if (result < 0 && result != PERFILE_ERROR_ABSENT)
        return pf_input_failure(input, result);
    if (!settings->itrace && !settings->calls)
        use_index(input);
    return PF_STATUS_OK;
}

int pf_input_open(struct pf_input *input)
{
    struct perfile_open_options *options = &input->settings->open;

    if (!input->command->findings || input->settings->verbose) {
        options->diagnostic = pf_log_diagnostic;
        options->diagnostic_context = &input->log;
    }
    options->temporary_fd = input->temporary;
    options->rereads = input->settings->itrace != NULL || input->settings->calls;
    const int result = input->source ? perfile_open_source(input->source, options, &input->reader, &input->error)
                                     : perfile_open_path(input->name, options, &input->reader, &input->error);
    if (result == 0)
        return open_trace(input);
    pf_message("%s: %s%s", input->log.input, sentence(input),
               input->error.code == PERFILE_ERROR_OPEN && !input->chosen ? " (no FILE was given)" : "");
    return pf_status_of_error(input->error.code, PF_STATUS_UNREADABLE);
}

static const char *suggest_event(const struct pf_input *input, char buffer[80])
{
    struct pf_guess guess = pf_guess_start(input->settings->filter.events);
    const struct perfile_event *event;

    for (size_t i = 0; (event = perfile_event_get(input->reader, i)) != NULL; i++)
        pf_guess_offer(&guess, event->name);
    return pf_guess_text(&guess, "", buffer, 80);
}

/* The nearest of the names that the message itself lists. */
static const char *suggest_from(const char *message, const char *token, char buffer[80])
{
    static const char *const before[] = {"; valid: ", "; it has ", "; there are "};
    struct pf_guess guess = pf_guess_start(token);
    char name[PF_GUESS_BYTES];

    for (size_t i = 0; *token && i < sizeof(before) / sizeof(before[0]); i++)
        for (const char *at = strstr(message, before[i]); at; at = strchr(at, ',')) {
            at += *at == ',' ? strspn(at, ", ") : strlen(before[i]);
            snprintf(name, sizeof(name), "%.*s", (int)strcspn(at, ", "), at);
            pf_guess_offer(&guess, name);
            if (guess.best == name) {
                snprintf(buffer, 80, "; did you mean %s?", name);
                guess.best = NULL; /* the name is in the text */
            }
        }
    return guess.distance && guess.distance < pf_guess_start(token).distance ? buffer : "";
}

/* "unknown X; valid: ..." becomes "unknown X; did you mean Y? (valid: ...)". */
static void refuse(const struct pf_input *input, bool unknown)
{
    const char *verb = input->command->name, *what = input->error.what; /* may be the name of a function */
    const char *message = pf_error_sentence(&input->error, strncmp(what, "perfile_", 8) ? verb : what);
    const char *list = strstr(message, "; ");
    char suggestion[80];
    const char *meant = !unknown ? ""
                        : !strcmp(input->error.what, "event list") && input->settings->filter.events
                            ? suggest_event(input, suggestion)
                            : pf_options_suggest(input->command, input->settings, input->error.token, suggestion);

    if (unknown && !*meant)
        meant = suggest_from(message, input->error.token, suggestion);
    if (*meant && list)
        pf_message("%s: %.*s%s (%s)", verb, (int)(list - message), message, meant, list + 2);
    else
        pf_message("%s: %s%s", verb, message, meant);
}

int pf_input_failure(const struct pf_input *input, int code)
{
    /* what this version does not have, or the recording */
    bool asked = code == PERFILE_ERROR_ARGUMENT || code == PERFILE_ERROR_UNSUPPORTED;

    if (asked)
        refuse(input, code == PERFILE_ERROR_ARGUMENT);
    else
        pf_message("%s: %s", input->log.input, input->error.message);
    if (asked || code == PERFILE_ERROR_ABSENT)
        return PF_STATUS_USAGE;
    if (code == PERFILE_ERROR_WRITE)
        return PF_STATUS_OUTPUT;
    return pf_status_of_error(code, perfile_reader_counts(input->reader)->records ? PF_STATUS_FINDINGS
                                                                                  : PF_STATUS_UNREADABLE);
}

static void say_loss(void *context, const char *text)
{
    const struct pf_input *input = context;

    pf_message("%s: %s", input->log.input, text);
}

int pf_input_losses(const struct pf_input *input)
{
    const struct perfile_counts *counts = input->reader ? perfile_reader_counts(input->reader) : NULL;
    char bytes[PF_COUNTED_BYTES], positions[PF_COUNTED_BYTES], damaged[PF_COUNTED_BYTES], samples[PF_COUNTED_BYTES];

    if (counts && !input->settings->quiet)
        perfile_trace_losses(input->reader, say_loss, (void *)input);
    if (counts && counts->unread_bytes && !input->settings->quiet)
        pf_message("%s: %s after the times asked for: not read, what was lost there is not counted", input->log.input,
                   pf_counted(counts->unread_bytes, "bytes", bytes));
    if (!counts || (!counts->losses && !counts->bytes_lost && !counts->damaged))
        return PF_STATUS_OK;
    if (!input->command->findings)
        pf_message("%s: damaged in %s: %s, %s; %s", input->log.input, pf_counted(counts->losses, "places", positions),
                   pf_counted(counts->bytes_lost, "bytes lost", bytes),
                   pf_counted(counts->damaged, "records not decoded", damaged),
                   pf_counted(counts->samples, "samples read", samples));
    return PF_STATUS_FINDINGS;
}
