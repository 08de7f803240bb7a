/* SPDX-License-Identifier: MIT */
#include "trace_live.h"

#include "event_filters.h"
#include "guess.h"
#include "message.h"
#include "record_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct pf_trace_settings *own(const struct pf_settings *settings)
{
    return settings->own;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The bytes of the first word; commas between slashes and braces separate no words. */
static size_t word_bytes(const char *list)
{
    bool terms = false;
    int depth = 0;
    size_t bytes = 0;

    for (; list[bytes] && (list[bytes] != ',' || terms || depth); bytes++) {
        terms ^= list[bytes] == '/';
        depth += (list[bytes] == '{') - (list[bytes] == '}');
    }
    return bytes;
}

static bool is_event(const char *word, size_t bytes)
{
    return memchr(word, ':', bytes) || memchr(word, '/', bytes);
}

int pf_trace_add_names(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    int status = PF_STATUS_OK;

    (void)option;
    for (size_t bytes; *text && !status; text += bytes + (text[bytes] == ',')) {
        bytes = word_bytes(text);
        char *word = strndup(text, bytes);

        status = !word                   ? PF_STATUS_MEMORY
                 : is_event(word, bytes) ? pf_text_join(&settings->record.events, ",", word)
                                         : pf_text_join(&own(settings)->calls, ",", word);
        free(word);
    }
    return status;
}

/* ---- system calls ------------------------------------------------------------------------------------------------ */

enum { NUMBERS = 1024 };

/* Calls `each` for the system calls of a list, those of 64-bit programs and then those of 32-bit ones. */
static size_t each_call(const char *list, void (*each)(void *context, unsigned number, const char *name), void *context)
{
    size_t count = 0;

    for (unsigned i = 0; i < 2 * NUMBERS; i++) {
        const char *name = perfile_syscall_name(NULL, i >= NUMBERS, i % NUMBERS, list);

        if (!name)
            continue;
        count++;
        if (each)
            each(context, i % NUMBERS, name);
    }
    return count;
}

static void offer(void *guess, unsigned number, const char *name)
{
    (void)number;
    pf_guess_offer(guess, name);
}

static int refuse_call(const struct pf_command *command, const char *word)
{
    struct pf_guess guess = pf_guess_start(word);
    char suggestion[80];

    (void)each_call(NULL, offer, &guess);
    pf_message("%s: unknown system call \"%s\"%s (tracepoints have a colon: sched:sched_switch)", command->name, word,
               pf_guess_text(&guess, "", suggestion, sizeof(suggestion)));
    return PF_STATUS_USAGE;
}

/* Refuses calls that this machine does not have, as far as its calls are known. */
static int check_calls(const struct pf_command *command, const char *list)
{
    int status = PF_STATUS_OK;
    char word[96];

    list += list && *list == '!';
    for (size_t bytes; list && *list && !status; list += bytes + (list[bytes] == ',')) {
        bytes = word_bytes(list);
        snprintf(word, sizeof(word), "%.*s", (int)(bytes < sizeof(word) ? bytes : sizeof(word) - 1), list);
        if (*word && !each_call(word, NULL, NULL) && each_call(NULL, NULL, NULL))
            status = refuse_call(command, word);
    }
    return status;
}

/* ---- filters of the kernel --------------------------------------------------------------------------------------- */

/* A condition of numbers: "id == 1 || id == 2", or "common_pid != 1 && common_pid != 2". */
struct condition {
    FILE *text;
    const char *format, *joint;
    size_t count;
};

static void add_number(void *context, unsigned number, const char *name)
{
    struct condition *condition = context;

    (void)name;
    fputs(condition->count++ ? condition->joint : "", condition->text);
    fprintf(condition->text, condition->format, number);
}

/* Numbers of two kinds of programs are in one list: what the others call so is left out when it is read. */
static void put_calls(FILE *text, const char *list)
{
    enum { MAX_NUMBERS = 64 };
    const bool not = list && *list == '!';
    struct condition condition = {text, "id == %u", " || ", 0};

    if (!list || not || each_call(list, NULL, NULL) > MAX_NUMBERS)
        return;
    putc('(', text);
    (void)each_call(list, add_number, &condition);
    putc(')', text);
}

/* Leaves out this process, the one that shows, and others. */
static void put_others(FILE *text, const char *joint, const struct pf_settings *settings, pid_t reader)
{
    struct condition condition = {text, "common_pid != %u", " && ", 0};
    const char *at = settings->events.not_pids;

    fputs(joint, text);
    add_number(&condition, (unsigned)getpid(), NULL);
    add_number(&condition, (unsigned)reader, NULL);
    while (at && *at) {
        add_number(&condition, (unsigned)strtoul(at, NULL, 10), NULL);
        at += strcspn(at, ",");
        at += *at == ',';
    }
}

static char *make_filter(const struct pf_settings *settings, const char *calls, pid_t reader)
{
    char *made = NULL;
    size_t bytes;
    FILE *text = open_memstream(&made, &bytes);

    if (!text)
        return NULL;
    put_calls(text, calls);
    put_others(text, ftell(text) > 0 ? " && " : "", settings, reader);
    if (fclose(text) == 0)
        return made;
    free(made);
    return NULL;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Page faults have no filters. */
static int add_event(struct pf_settings *settings, const char *event, const char *calls, pid_t reader)
{
    char *filter = NULL;
    int status = pf_text_join(&settings->record.events, ",", event);

    if (status || !strchr(event, ':'))
        return status;
    filter = make_filter(settings, calls, reader);
    status = filter ? pf_add_event_filter(NULL, filter, settings) : PF_STATUS_MEMORY;
    free(filter);
    return status;
}

static bool wants_calls(const struct pf_settings *settings)
{
    const struct pf_trace_settings *trace = own(settings);

    return trace->all_calls ||
           (!(settings->events.flags & PERFILE_EVENTS_NO_CALLS) && (trace->calls || !settings->record.events));
}

static int add_faults(struct pf_settings *settings)
{
    const char *faults = own(settings)->faults;
    int status = PF_STATUS_OK;

    if (faults && strcmp(faults, "min") != 0)
        status = add_event(settings, "major-faults", NULL, 0);
    if (faults && strcmp(faults, "maj") != 0 && !status)
        status = add_event(settings, "minor-faults", NULL, 0);
    return status;
}

/* The events of -e and their filters, those of the user and the one that leaves out ourselves. */
static int add_named(struct pf_settings *settings, char *named, pid_t reader)
{
    struct pf_record_settings *record = &settings->record;
    char **filters = record->filters;
    const size_t filter_count = record->filter_count;
    int status = PF_STATUS_OK;

    record->events = NULL;
    record->filters = NULL;
    record->filter_count = 0;
    for (size_t i = 0; named && *named && !status; i++) {
        const size_t bytes = word_bytes(named);
        char *event = strndup(named, bytes);

        status = event ? add_event(settings, event, NULL, reader) : PF_STATUS_MEMORY;
        if (!status && i < filter_count && filters[i])
            status = pf_add_event_filter(NULL, filters[i], settings);
        free(event);
        named += bytes + (named[bytes] == ',');
    }
    for (size_t i = 0; i < filter_count; i++)
        free(filters[i]);
    free(filters);
    return status;
}

/* In the process that records: the other one has only what was asked for. */
static int choose_events(const struct pf_command *command, struct pf_settings *settings, pid_t reader)
{
    (void)command;
    const bool calls = wants_calls(settings);
    char *named = settings->record.events;
    int status = add_named(settings, named, reader);

    free(named);
    if (calls && !status)
        status = add_event(settings, "raw_syscalls:sys_enter", own(settings)->calls, reader);
    if (calls && !status)
        status = add_event(settings, "raw_syscalls:sys_exit", own(settings)->calls, reader);
    return status ? status : add_faults(settings);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

/* The processes that are recorded are not asked of their samples again. */
static void choose_target(struct pf_settings *settings)
{
    struct perfile_recorder_options *options = &settings->record.options;

    options->pids = settings->filter.pids;
    options->tids = settings->filter.tids;
    options->cpus = settings->filter.cpus;
    settings->filter.pids = settings->filter.tids = settings->filter.cpus = NULL;
}

static void choose_how(struct pf_settings *settings)
{
    struct perfile_recorder_options *options = &settings->record.options;
    const bool counts_frames = settings->events.stack_depth || settings->events.min_stack;

    options->period = 1;
    settings->events.flags |= PERFILE_EVENTS_CUT;
    options->flags |= own(settings)->faults ? PERFILE_RECORDER_ADDRESS : 0;
    options->flags |= settings->keys && !strcmp(settings->keys, "cgroup") ? PERFILE_RECORDER_CGROUPS : 0;
    options->flags |= own(settings)->kernel_stacks ? PERFILE_RECORDER_KERNEL_CALLCHAINS : 0;
    if (!options->call_graph)
        options->call_graph = own(settings)->kernel_stacks ? "fp" : counts_frames ? "auto" : NULL;
    const bool terms = settings->record.events && strchr(settings->record.events, '/');

    if (!options->call_graph && !own(settings)->faults && !terms)
        settings->events.flags |= PERFILE_EVENTS_NO_STACKS; /* no symbols are read */
    if (!wants_calls(settings))
        settings->events.flags |= PERFILE_EVENTS_NO_CALLS;
}

int pf_trace_live(const struct pf_command *command, struct pf_settings *settings,
                  int (*show)(const struct pf_command *command, struct pf_settings *settings))
{
    const struct pf_record_show how = {.command = command,
                                       .at_once = true,
                                       .to_stderr = !settings->format && !settings->columns,
                                       .before = choose_events,
                                       .show = show};
    const int status = check_calls(command, own(settings)->calls);

    if (status)
        return status;
    choose_target(settings);
    choose_how(settings);
    return pf_record_show(&how, settings);
}
