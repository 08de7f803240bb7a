/* SPDX-License-Identifier: MIT */
#include "help.h"
#include "examples.h"
#include "json.h"
#include "stream.h"
#include "tui/tui.h"

#include <perfile/table.h>

/*
 * Of the description as JSON. Members are added within a version, never changed or removed: see doc/schema/help.json.
 */
enum { FORMAT_VERSION = 1 };

struct settings {
    bool json, scdoc, examples;
};

static const char *verb_at(size_t index, const char **doc)
{
    if (pf_commands[index])
        *doc = pf_commands[index]->summary;
    return pf_commands[index] ? pf_commands[index]->name : NULL;
}

static const struct pf_option options[] = {
    PF_FLAG("json", 0, PF_OWN(json),
            "Describe every verb, option, and view with its columns as one JSON object, for programs."),
    PF_FLAG("scdoc", 0, PF_OWN(scdoc), "Print the options of a verb, or the list of verbs, in scdoc format.",
            .hidden = true),
    PF_FLAG("examples", 0, PF_OWN(examples), "With --scdoc: the examples instead.", .hidden = true),
    {0},
};

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void put_values(struct pf_json_writer *json, const struct pf_command *command, const struct pf_values *values)
{
    const char *value, *doc = NULL;

    pf_json_writer_begin(json, "values", true);
    for (size_t i = 0; (value = pf_value_at(values, command, i, &doc)); i++, doc = NULL) {
        pf_json_writer_begin(json, NULL, false);
        pf_json_writer_text(json, "value", value);
        if (doc)
            pf_json_writer_text(json, "doc", doc);
        pf_json_writer_end(json, false);
    }
    pf_json_writer_end(json, true);
}

static void put_option(struct pf_json_writer *json, const struct pf_command *command, const char *title,
                       const struct pf_option *option)
{
    static const char *const kinds[] = {
        [PF_OPTION_FLAG] = "flag",     [PF_OPTION_BITS] = "flag",      [PF_OPTION_TEXT] = "text",
        [PF_OPTION_FILE] = "text",     [PF_OPTION_CHOICE] = "choice",  [PF_OPTION_LIST] = "list",
        [PF_OPTION_FIELDS] = "fields", [PF_OPTION_EVENTS] = "events",  [PF_OPTION_NUMBER] = "number",
        [PF_OPTION_SIZE] = "size",     [PF_OPTION_IGNORE] = "ignored", [PF_OPTION_LINES] = "text",
        [PF_OPTION_WORDS] = "list",
    };
    char name[64];

    pf_json_writer_begin(json, NULL, false);
    snprintf(name, sizeof(name), "--%s", option->name);
    pf_json_writer_text(json, "name", name);
    const char letter = pf_option_letter(command, option);
    if (letter)
        pf_json_writer_text(json, "short", (const char[]){'-', letter, 0});
    pf_json_writer_text(json, "kind", kinds[option->kind]);
    if (option->argument)
        pf_json_writer_text(json, "argument", option->argument);
    pf_json_writer_text(json, "group", title);
    if (option->first)
        pf_json_writer_bool(json, "first", true);
    pf_json_writer_text(json, "doc", option->doc);
    if (pf_has_values(&option->values))
        put_values(json, command, &option->values);
    pf_json_writer_end(json, false);
}

static void put_examples(struct pf_json_writer *json, const char *verb)
{
    const struct pf_example *example;

    pf_json_writer_begin(json, "examples", true);
    for (size_t i = 0; (example = pf_example_at(verb, i)); i++) {
        pf_json_writer_break(json);
        pf_json_writer_begin(json, NULL, false);
        pf_json_writer_text(json, "doc", example->why);
        pf_json_writer_text(json, "command", example->command);
        pf_json_writer_end(json, false);
    }
    pf_json_writer_end(json, true);
}

static void put_verb(struct pf_json_writer *json, const struct pf_command *command)
{
    pf_json_writer_begin(json, NULL, false);
    pf_json_writer_text(json, "name", command->name);
    pf_json_writer_text(json, "summary", command->summary);
    pf_json_writer_text(json, "doc", command->doc);
    if (command->operand)
        pf_json_writer_text(json, "operand", command->operand);
    if (pf_has_values(&command->operand_values))
        put_values(json, command, &command->operand_values);
    pf_json_writer_begin(json, "options", true);
    for (const struct pf_option_group *const *at = command->groups; *at; at++)
        for (const struct pf_option *option = (*at)->options; option->name; option++)
            if (!option->hidden) {
                pf_json_writer_break(json);
                put_option(json, command, (*at)->title, option);
            }
    pf_json_writer_end(json, true);
    put_examples(json, command->name);
    pf_json_writer_end(json, false);
}

static void put_statuses(struct pf_json_writer *json)
{
    static const char *const statuses[] = {"success",          "findings or damage", "usage",
                                           "unreadable input", "output failed",      "out of memory"};

    pf_json_writer_break(json);
    pf_json_writer_begin(json, "exit_status", false);
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        pf_json_writer_text(json, (const char[]){(char)('0' + i), 0}, statuses[i]);
    pf_json_writer_end(json, false);
}

static void put_column(struct pf_json_writer *json, const struct perfile_column *column)
{
    pf_json_writer_begin(json, NULL, false);
    pf_json_writer_text(json, "name", column->name);
    pf_json_writer_text(json, "type", perfile_column_type_name(column->type));
    pf_json_writer_text(json, "unit", column->unit);
    pf_json_writer_text(json, "doc", column->doc);
    pf_json_writer_end(json, false);
}

static void put_event(struct pf_json_writer *json, const struct perfile_view_event *event)
{
    static const char *const needs[] = {
        [PERFILE_EVENT_NEEDED] = "needed", [PERFILE_EVENT_USEFUL] = "useful", [PERFILE_EVENT_INSTEAD] = "instead"};

    pf_json_writer_begin(json, NULL, false);
    pf_json_writer_text(json, "name", event->name);
    pf_json_writer_text(json, "need", needs[event->need]);
    pf_json_writer_end(json, false);
}

static void put_view(struct pf_json_writer *json, const struct perfile_view_info *view)
{
    struct perfile_column column = PERFILE_COLUMN_INIT;
    const struct perfile_view_event *event;

    pf_json_writer_break(json);
    pf_json_writer_begin(json, NULL, false);
    pf_json_writer_text(json, "name", view->name);
    pf_json_writer_text(json, "doc", view->doc);
    pf_json_writer_begin(json, "columns", true);
    for (size_t i = 0; perfile_view_column(view->name, i, &column) == 0; i++)
        put_column(json, &column);
    pf_json_writer_end(json, true);
    pf_json_writer_begin(json, "events", true);
    for (size_t i = 0; (event = perfile_view_event_at(view->name, i)); i++)
        put_event(json, event);
    pf_json_writer_end(json, true);
    pf_json_writer_end(json, false);
}

static void print_json(struct pf_stream *out)
{
    struct pf_json_writer json = {.sink = {out, pf_stream_write}};

    pf_json_writer_begin(&json, NULL, false);
    pf_json_writer_text(&json, "program", "perfile");
    pf_json_writer_text(&json, "version", PF_VERSION_TEXT);
    pf_json_writer_number(&json, "format_version", FORMAT_VERSION);
    pf_json_writer_begin(&json, "verbs", true);
    for (const struct pf_command *const *command = pf_commands; *command; command++) {
        pf_json_writer_break(&json);
        put_verb(&json, *command);
    }
    pf_json_writer_end(&json, true);
    put_examples(&json, pf_no_verb.name);
    pf_json_writer_break(&json);
    pf_json_writer_begin(&json, "views", true);
    for (size_t i = 0; perfile_view_at(i); i++)
        put_view(&json, perfile_view_at(i));
    pf_json_writer_end(&json, true);
    put_statuses(&json);
    pf_json_writer_end(&json, false);
    pf_json_writer_finish(&json);
}

/* ---- pieces of man pages --------------------------------------------------------------------------------------- */

static void print_escaped(struct pf_stream *out, const char *text)
{
    for (; *text; text++)
        pf_stream_print(out, strchr("*_\\#<>[]~`", *text) ? "\\%c" : "%c", *text);
}

static void print_scdoc_values(struct pf_stream *out, const struct pf_command *command, const struct pf_values *values)
{
    const char *value, *doc = NULL;

    for (size_t i = 0; (value = pf_value_at(values, command, i, &doc)); i++, doc = NULL) {
        pf_stream_print(out, "\t- *");
        print_escaped(out, value);
        pf_stream_print(out, "*%s", doc ? ": " : "");
        print_escaped(out, doc ? doc : "");
        pf_stream_print(out, "\n");
    }
    pf_stream_print(out, "\n");
}

static void print_scdoc_option(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option)
{
    const char letter = pf_option_letter(command, option);
    if (letter)
        pf_stream_print(out, "*-%c*, ", letter);
    pf_stream_print(out, "*--%s*", option->name);
    if (option->argument)
        pf_stream_print(out, " _%s_", option->argument);
    pf_stream_print(out, "\n\t");
    print_escaped(out, option->doc);
    pf_stream_print(out, "\n\n");
    if (pf_has_values(&option->values))
        print_scdoc_values(out, command, &option->values);
}

/* The view is the same everywhere: one page has its keys, the others name that page. */
static void print_scdoc_keys(struct pf_stream *out, const struct pf_command *command)
{
    const char *key, *doc;

    if (strcmp(command->name, "report") != 0) {
        pf_stream_print(
            out,
            "# KEYS\n\nThose of the interactive view are in *perfile-report*(1); in the view, *?* shows them.\n\n");
        return;
    }
    pf_stream_print(out, "# KEYS\n\nOf the interactive view:\n\n");
    for (size_t i = 0; (key = pf_tui_key_at(i, &doc)) != NULL; i++) {
        pf_stream_print(out, "*");
        print_escaped(out, key);
        pf_stream_print(out, "*\n\t");
        print_escaped(out, doc);
        pf_stream_print(out, "\n\n");
    }
}

static void print_scdoc_verb(struct pf_stream *out, const struct pf_command *command)
{
    print_escaped(out, command->doc);
    pf_stream_print(out, "\n\n# OPTIONS\n\n");
    for (const struct pf_option_group *const *at = command->groups; *at; at++) {
        if (at != command->groups)
            pf_stream_print(out, "## %s\n\n", (*at)->title);
        for (const struct pf_option *option = (*at)->options; option->name; option++)
            if (!option->hidden)
                print_scdoc_option(out, command, option);
    }
    if (command->interactive)
        print_scdoc_keys(out, command);
}

static void print_scdoc_verbs(struct pf_stream *out)
{
    for (const struct pf_command *const *command = pf_commands; *command; command++) {
        pf_stream_print(out, "*%s*\n\t", (*command)->name);
        print_escaped(out, (*command)->doc);
        pf_stream_print(out, "\n\n");
    }
}

/* A literal block: only backslashes have a meaning there. */
static void print_scdoc_examples(struct pf_stream *out, const char *verb)
{
    const struct pf_example *example;

    for (size_t i = 0; (example = pf_example_at(verb, i)); i++) {
        print_escaped(out, example->why);
        pf_stream_print(out, "\n\n```\n");
        for (const char *at = example->command; *at; at++)
            pf_stream_print(out, *at == '\\' ? "%c\\" : "%c", *at);
        pf_stream_print(out, "\n```\n\n");
    }
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_command *about = settings->operand_count ? pf_command_find(settings->operands[0]) : NULL;
    struct pf_stream out;

    (void)command;
    if (settings->operand_count && !about)
        return pf_unknown_verb(settings->operands[0]);
    if (!pf_own(settings)->json && !pf_own(settings)->scdoc)
        return about ? pf_help_verb(about, settings->all) : pf_help_overview();
    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    if (pf_own(settings)->json)
        print_json(&out);
    else if (pf_own(settings)->examples)
        print_scdoc_examples(&out, about ? about->name : "");
    else if (about)
        print_scdoc_verb(&out, about);
    else
        print_scdoc_verbs(&out);
    return pf_stream_close(&out, true);
}

const struct pf_command pf_command_help = {
    .name = "help",
    .summary = "print this overview, or the help of one verb",
    .doc = "Prints an overview, or the help of one verb: the options that most people need, with --all all of them.",
    .operand = "[VERB]",
    .operand_max = 1,
    .pages = true,
    .operand_values = {.known = verb_at},
    .operand_is_free = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
