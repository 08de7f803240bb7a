/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "stream.h"

#include <perfile/recorder.h>

#include <stdio.h>

static const char *format_at(const struct pf_command *command, size_t index, const char **doc)
{
    static const char *const formats[][2] = {{"text", "human-readable"}, {"json", "one object per line"}};

    (void)command;
    if (index >= sizeof(formats) / sizeof(formats[0]))
        return NULL;
    *doc = formats[index][1];
    return formats[index][0];
}

struct list {
    struct pf_stream out;
    bool json;
    uint64_t count;
    char kind[16]; /* of the last event */
};

/* ---- printing -------------------------------------------------------------------------------------------------- */

static void print_text(struct list *list, const struct perfile_known_event *event)
{
    struct pf_stream *out = &list->out;

    if (strcmp(list->kind, event->kind) != 0) {
        snprintf(list->kind, sizeof(list->kind), "%s", event->kind);
        pf_stream_print(out, "%s%s\n", list->count ? "\n" : "", event->kind);
    }
    if (!strcmp(event->kind, "tracepoint")) /* thousands, which all work */
        pf_stream_print(out, "  %s\n", event->name);
    else
        pf_stream_print(out, "  %-36s  %s%s%s\n", event->name, event->works ? "works" : "not here",
                        event->doc ? (event->works ? "     " : "  ") : "", event->doc ? event->doc : "");
}

static void print_string(struct pf_stream *out, const char *text)
{
    pf_stream_print(out, "\"");
    for (; *text; text++)
        if ((unsigned char)*text < ' ')
            pf_stream_print(out, "\\u%04x", (unsigned char)*text);
        else
            pf_stream_print(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
    pf_stream_print(out, "\"");
}

static void print_json(struct list *list, const struct perfile_known_event *event)
{
    struct pf_stream *out = &list->out;

    pf_stream_print(out, "{\"name\": ");
    print_string(out, event->name);
    pf_stream_print(out, ", \"kind\": ");
    print_string(out, event->kind);
    if (event->doc) {
        pf_stream_print(out, ", \"description\": ");
        print_string(out, event->doc);
    }
    pf_stream_print(out, ", \"works\": %s}\n", event->works ? "true" : "false");
}

static int print_event(void *context, const struct perfile_known_event *event)
{
    struct list *list = context;

    (list->json ? print_json : print_text)(list, event);
    list->count++;
    return list->out.error || list->out.closed_pipe;
}

/* ---- did you mean ---------------------------------------------------------------------------------------------- */

struct nearest {
    struct pf_guess guess;
    char name[64];
};

/* The guess would keep a name that does not live long enough. */
static int offer(void *context, const struct perfile_known_event *event)
{
    struct nearest *nearest = context;
    const char *colon = strchr(event->name, ':'), *short_name = colon ? colon + 1 : event->name;

    pf_guess_offer(&nearest->guess, event->name);
    pf_guess_offer(&nearest->guess, short_name); /* of a tracepoint, without its system */
    if (nearest->guess.best == event->name || nearest->guess.best == short_name) {
        snprintf(nearest->name, sizeof(nearest->name), "%s", event->name);
        nearest->guess.best = nearest->name;
    }
    return 0;
}

static int none(const struct pf_command *command, const char *pattern)
{
    struct nearest nearest = {.guess = pf_guess_start(pattern)};
    struct perfile_error error;
    char suggestion[96];

    /* all but the tracepoints may be read: what was seen until then is offered */
    if (perfile_known_events(NULL, offer, &nearest, &error) < 0 && error.code != PERFILE_ERROR_OPEN)
        pf_message("%s: %s", command->name, error.message);
    pf_message("%s: no event of this machine matches %s%s", command->name, pattern,
               pf_guess_text(&nearest.guess, "", suggestion, sizeof(suggestion)));
    return PF_STATUS_USAGE;
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static int status_of(const struct pf_command *command, const struct list *list, const char *pattern, int result,
                     const struct perfile_error *error)
{
    if (result == PERFILE_ERROR_STOPPED || (result >= 0 && list->count))
        return PF_STATUS_OK; /* closing the stream reports what stopped it */
    if (result < 0)
        pf_message("%s: %s", command->name, error->message);
    if (list->count)
        return result == PERFILE_ERROR_OPEN ? PF_STATUS_OK : pf_status_of_error(result, PF_STATUS_UNREADABLE);
    if (result == PERFILE_ERROR_MEMORY)
        return PF_STATUS_MEMORY;
    return pattern ? none(command, pattern) : PF_STATUS_UNREADABLE;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *pattern = settings->operand_count ? settings->operands[0] : NULL;
    struct list list = {.json = settings->format && !strcmp(settings->format, "json")};
    struct perfile_error error;
    int status = pf_stream_open(&list.out, settings->output), written, result;

    if (status)
        return status;
    result = perfile_known_events(pattern, print_event, &list, &error);
    status = status_of(command, &list, pattern, result, &error);
    written = pf_stream_close(&list.out, !status);
    return written ? written : status;
}

static const struct pf_option options[] = {
    {.name = "format",
     .kind = PF_OPTION_CHOICE,
     .argument = "FORMAT",
     .offset = offsetof(struct pf_settings, format),
     .value_at = format_at,
     .doc = "The output format."},
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

const struct pf_command pf_command_list = {
    .name = "list",
    .summary = "list the events of this machine, and which of them work",
    .doc =
        "Prints the events of this machine by kind, and whether they can be opened now, which is tried. With PATTERN, "
        "only events whose names contain it; if it contains any of *?[, PATTERN is a glob for the whole name.",
    .operand = "[PATTERN]",
    .operand_max = 1,
    .pages = true,
    .groups = {&group, &pf_common_group},
    .run = run,
};
