/* SPDX-License-Identifier: MIT */
#include "array.h"
#include "guess.h"
#include "json.h"
#include "message.h"
#include "rows.h"

#include <perfile/recorder.h>

#include <stdio.h>
#include <stdlib.h>

struct settings {
    bool json;
};

struct event {
    char *name; /* owned, and so is the doc, which may be NULL */
    char *doc;
    char kind[16];
    bool works;
};

struct list {
    struct event *events;
    size_t count, capacity;
    const char *kind; /* the only one that is taken, or NULL */
};

static void free_list(struct list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->events[i].name);
        free(list->events[i].doc);
    }
    free(list->events);
}

/* Non-zero when out of memory. */
static int take_event(void *context, const struct perfile_known_event *event)
{
    struct list *list = context;

    if (list->kind && strcmp(event->kind, list->kind) != 0)
        return 0;
    if (!pf_array_grow(&list->events, &list->capacity, list->count + 1, sizeof(*list->events)))
        return -1;
    struct event *added = &list->events[list->count];
    *added = (struct event){strdup(event->name), event->doc ? strdup(event->doc) : NULL, "", event->works};
    snprintf(added->kind, sizeof(added->kind), "%s", event->kind);
    list->count++;
    return added->name && (added->doc || !event->doc) ? 0 : -1;
}

/* ---- printing -------------------------------------------------------------------------------------------------- */

static void print_event(struct pf_stream *out, const struct event *event)
{
    if (!strcmp(event->kind, "tracepoint")) /* thousands, which all work */
        pf_stream_print(out, "  %s\n", event->name);
    else
        pf_stream_print(out, "  %-26s  %-*s%s\n", event->name, event->doc ? 15 : 0,
                        event->works ? "works" : "not available", event->doc ? event->doc : "");
}

static void print_text(struct pf_stream *out, const struct list *list)
{
    const char *kind = "";

    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(kind, list->events[i].kind) != 0)
            pf_stream_print(out, "%s%s\n", i ? "\n" : "", list->events[i].kind);
        kind = list->events[i].kind;
        print_event(out, &list->events[i]);
    }
}

enum { NAME, KIND, DESCRIPTION, WORKS, COLUMNS };
static const struct perfile_column *const columns[COLUMNS] = {
    [NAME] = PF_COLUMN("name", PERFILE_COLUMN_TEXT, "As -e takes it."),
    [KIND] = PF_COLUMN("kind", PERFILE_COLUMN_TEXT, "hardware, software, cache, tracepoint, pmu, breakpoint, raw."),
    [DESCRIPTION] = PF_COLUMN("description", PERFILE_COLUMN_TEXT, "What it counts."),
    [WORKS] = PF_COLUMN("works", PERFILE_COLUMN_BOOL,
                        "It can be counted here and now; always true for tracepoints and terms of PMUs."),
};

static void put_cell(void *context, size_t row, size_t column, struct perfile_value *value)
{
    const struct list *list = context;
    const struct event *event = &list->events[row];
    const char *texts[] = {[NAME] = event->name, [KIND] = event->kind, [DESCRIPTION] = event->doc};

    *value = column == WORKS ? pf_bool_value(event->works) : pf_text_value(texts[column]);
}

static int print_rows(struct pf_stream *out, struct list *list, const struct pf_command *command, const char *format)
{
    const struct pf_rows rows = {"known-events", columns, COLUMNS, list->count, put_cell, list};

    return pf_rows_put(&rows, out, command->name, format);
}

/* ---- as perf list -j ------------------------------------------------------------------------------------------- */

/* "msr" of "msr/tsc/". */
static void put_unit(struct pf_json_writer *json, const struct event *event)
{
    char unit[64];

    snprintf(unit, sizeof(unit), "%.*s", (int)strcspn(event->name, "/"), event->name);
    pf_json_writer_text(json, "Unit", strcmp(event->kind, "pmu") != 0 ? event->kind : unit);
}

static void put_perf_event(struct pf_json_writer *json, const struct event *event)
{
    static const char *const types[][2] = {
        {"tracepoint", "Tracepoint event"},
        {"breakpoint", "Hardware breakpoint"},
        {"raw", "Raw event descriptor"},
    };
    const char *type = "Kernel PMU event";

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        type = strcmp(event->kind, types[i][0]) != 0 ? type : types[i][1];
    pf_json_writer_break(json);
    pf_json_writer_begin(json, NULL, false);
    put_unit(json, event);
    pf_json_writer_text(json, "EventName", event->name);
    pf_json_writer_text(json, "EventType", type);
    if (event->doc)
        pf_json_writer_text(json, "BriefDescription", event->doc);
    pf_json_writer_end(json, false);
}

/* perf leaves out what does not work here. */
static void print_perf_json(struct pf_stream *out, const struct list *list)
{
    struct pf_json_writer json = {.sink = {out, pf_stream_write}};

    pf_json_writer_begin(&json, NULL, true);
    for (size_t i = 0; i < list->count; i++)
        if (list->events[i].works)
            put_perf_event(&json, &list->events[i]);
    pf_json_writer_end(&json, true);
    pf_json_writer_finish(&json);
}

/* perf's words for kinds of events. */
static const char *kind_of(const char *pattern)
{
    static const char *const kinds[][2] = {
        {"hw", "hardware"}, {"hardware", "hardware"}, {"sw", "software"},           {"software", "software"},
        {"cache", "cache"}, {"hwcache", "cache"},     {"tracepoint", "tracepoint"}, {"pmu", "pmu"},
    };

    for (size_t i = 0; pattern && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (!strcmp(pattern, kinds[i][0]))
            return kinds[i][1];
    return NULL;
}

static bool is_text(const struct pf_settings *settings)
{
    return !settings->format || !strcmp(settings->format, "text");
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
    if (result < 0)
        pf_message("%s: %s", command->name, result == PERFILE_ERROR_STOPPED ? "out of memory" : error->message);
    if (result == PERFILE_ERROR_STOPPED)
        return PF_STATUS_MEMORY;
    if (result < 0 && result != PERFILE_ERROR_OPEN)
        return pf_status_of_error(result, PF_STATUS_UNREADABLE);
    if (list->count)
        return PF_STATUS_OK;
    return pattern ? none(command, pattern) : PF_STATUS_UNREADABLE;
}

static int print_list(struct list *list, const struct pf_command *command, const struct pf_settings *settings)
{
    struct pf_stream out;
    int status = pf_stream_open(&out, settings->output), written;

    if (status)
        return status;
    if (pf_own(settings)->json)
        print_perf_json(&out, list);
    else if (is_text(settings))
        print_text(&out, list);
    else
        status = print_rows(&out, list, command, settings->format);
    written = pf_stream_close(&out, !status);
    return written ? written : status;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const char *pattern = settings->operand_count ? settings->operands[0] : NULL;
    struct list list = {.kind = kind_of(pattern)};
    struct perfile_error error;
    const int result = perfile_known_events(list.kind ? NULL : pattern, take_event, &list, &error);
    int status = status_of(command, &list, pattern, result, &error);

    if (!status)
        status = print_list(&list, command, settings);
    free_list(&list);
    return status;
}

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_FLAG(
        "json", 'j', PF_OWN(json),
        "Print the events that work here as perf list -j does: a list of objects with Unit, EventName, EventType and "
        "BriefDescription."),
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_list = {
    .name = "list",
    .summary = "list the events of this machine, and which of them work",
    .doc =
        "Prints the events of this machine by kind, and whether they can be opened now, which is tried. With PATTERN, "
        "only events whose names contain it; if it contains any of *?[, PATTERN is a glob for the full name. hw, sw, "
        "cache, tracepoint and pmu are the events of that kind.",
    .operand = "[PATTERN]",
    .operand_max = 1,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
