/* SPDX-License-Identifier: MIT */
#include "help.h"
#include "stream.h"

static const char *verb_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    if (pf_commands[index])
        *doc = pf_commands[index]->summary;
    return pf_commands[index] ? pf_commands[index]->name : NULL;
}

static const struct pf_option options[] = {
    {.name = "json",
     .kind = PF_OPTION_FLAG,
     .offset = offsetof(struct pf_settings, json),
     .doc = "Describe every verb and option as one JSON object, for programs."},
    {.name = "scdoc",
     .hidden = true,
     .kind = PF_OPTION_FLAG,
     .offset = offsetof(struct pf_settings, scdoc),
     .doc = "Print the options of a verb, or the list of verbs, in scdoc format."},
    {0},
};
static const struct pf_option_group group = {"Options", options};

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

/* Our own texts: printable ASCII. */
static void print_string(struct pf_stream *out, const char *text)
{
    pf_stream_print(out, "\"");
    for (; *text; text++)
        pf_stream_print(out, strchr("\"\\", *text) ? "\\%c" : "%c", *text);
    pf_stream_print(out, "\"");
}

static void print_member(struct pf_stream *out, const char *name, const char *text)
{
    pf_stream_print(out, ",\"%s\":", name);
    print_string(out, text);
}

static void print_json_values(struct pf_stream *out, const struct pf_command *command, pf_value_at *value_at)
{
    const char *value, *doc = NULL;

    pf_stream_print(out, ",\"values\":[");
    for (size_t i = 0; (value = value_at(command, i, &doc)); i++, doc = NULL) {
        pf_stream_print(out, "%s{\"value\":", i ? "," : "");
        print_string(out, value);
        if (doc)
            print_member(out, "doc", doc);
        pf_stream_print(out, "}");
    }
    pf_stream_print(out, "]");
}

static void print_json_option(struct pf_stream *out, const struct pf_command *command, const char *title,
                              const struct pf_option *option)
{
    static const char *const kinds[] = {
        [PF_OPTION_FLAG] = "flag",         [PF_OPTION_BITS] = "flag",     [PF_OPTION_TEXT] = "text",
        [PF_OPTION_FILE] = "text",         [PF_OPTION_CHOICE] = "choice", [PF_OPTION_LIST] = "list",
        [PF_OPTION_FIELDS] = "fields",     [PF_OPTION_EVENTS] = "events", [PF_OPTION_FILTER] = "text",
        [PF_OPTION_NUMBER] = "number",     [PF_OPTION_SIZE] = "size",     [PF_OPTION_IGNORE] = "ignored",
        [PF_OPTION_EXCLUDE_SELF] = "flag",
    };

    pf_stream_print(out, "{\"name\":\"--%s\"", option->name);
    if (option->letter)
        pf_stream_print(out, ",\"short\":\"-%c\"", option->letter);
    print_member(out, "kind", kinds[option->kind]);
    if (option->argument)
        print_member(out, "argument", option->argument);
    print_member(out, "group", title);
    print_member(out, "doc", option->doc);
    if (option->value_at)
        print_json_values(out, command, option->value_at);
    pf_stream_print(out, "}");
}

static void print_json_verb(struct pf_stream *out, const struct pf_command *command)
{
    const char *separator = "";

    pf_stream_print(out, "{\"name\":\"%s\"", command->name);
    print_member(out, "summary", command->summary);
    print_member(out, "doc", command->doc);
    if (command->operand)
        print_member(out, "operand", command->operand);
    if (command->operand_at)
        print_json_values(out, command, command->operand_at);
    pf_stream_print(out, ",\"options\":[");
    for (const struct pf_option_group *const *at = command->groups; *at; at++)
        for (const struct pf_option *option = (*at)->options; option->name; option++)
            if (!option->hidden) {
                pf_stream_print(out, "%s\n", separator);
                print_json_option(out, command, (*at)->title, option);
                separator = ",";
            }
    pf_stream_print(out, "]}");
}

static void print_json(struct pf_stream *out)
{
    pf_stream_print(out, "{\"program\":\"perfile\",\"version\":\"%s\",\"verbs\":[", PF_VERSION_TEXT);
    for (const struct pf_command *const *command = pf_commands; *command; command++) {
        pf_stream_print(out, "%s\n", command == pf_commands ? "" : ",");
        print_json_verb(out, *command);
    }
    pf_stream_print(out, "],\n\"exit_status\":{\"0\":\"success\",\"1\":\"findings or damage\",\"2\":\"usage\","
                         "\"3\":\"unreadable input\",\"4\":\"output failed\",\"5\":\"out of memory\"}}\n");
}

/* ---- pieces of man pages --------------------------------------------------------------------------------------- */

static void print_escaped(struct pf_stream *out, const char *text)
{
    for (; *text; text++)
        pf_stream_print(out, strchr("*_\\#<>[]~`", *text) ? "\\%c" : "%c", *text);
}

static void print_scdoc_values(struct pf_stream *out, const struct pf_command *command, pf_value_at *value_at)
{
    const char *value, *doc = NULL;

    for (size_t i = 0; (value = value_at(command, i, &doc)); i++, doc = NULL) {
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
    if (option->letter)
        pf_stream_print(out, "*-%c*, ", option->letter);
    pf_stream_print(out, "*--%s*", option->name);
    if (option->argument)
        pf_stream_print(out, " _%s_", option->argument);
    pf_stream_print(out, "\n\t");
    print_escaped(out, option->doc);
    pf_stream_print(out, "\n\n");
    if (option->value_at)
        print_scdoc_values(out, command, option->value_at);
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
}

static void print_scdoc_verbs(struct pf_stream *out)
{
    for (const struct pf_command *const *command = pf_commands; *command; command++) {
        pf_stream_print(out, "*%s*\n\t", (*command)->name);
        print_escaped(out, (*command)->doc);
        pf_stream_print(out, "\n\n");
    }
}

/* ---- the verb -------------------------------------------------------------------------------------------------- */

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const struct pf_command *about = settings->operand_count ? pf_command_find(settings->operands[0]) : NULL;
    struct pf_stream out;

    (void)command;
    if (!settings->json && !settings->scdoc)
        return about ? pf_help_verb(about) : pf_help_overview();
    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    if (settings->json)
        print_json(&out);
    else if (about)
        print_scdoc_verb(&out, about);
    else
        print_scdoc_verbs(&out);
    return pf_stream_close(&out, true);
}

const struct pf_command pf_command_help = {
    .name = "help",
    .summary = "print this overview, or the help of one verb",
    .doc = "Prints an overview, or the help of one verb with all its options.",
    .operand = "[VERB]",
    .operand_max = 1,
    .pages = true,
    .operand_at = verb_at,
    .groups = {&group, &pf_common_group},
    .run = run,
};
