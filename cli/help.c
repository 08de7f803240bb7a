/* SPDX-License-Identifier: MIT */
#include "help.h"
#include "features.h"
#include "examples.h"
#include "message.h"
#include "stream.h"

#include <stdio.h>
#include <unistd.h>

/* The perf that options and outputs are those of. */
#define PERF_VERSION_TEXT "7.2"
#define WIDTH 80
#define WIDE 60 /* narrower terminals have texts below names */
#define DOC_COLUMN (width < WIDE ? 8 : 31)
#define VERB_COLUMN 16
#define VALUE_COLUMN 17
#define VIEW_COLUMN 23
#define FEW_VALUES 10  /* of an option */
#define FEW_VIEWS 16   /* more of them are listed by the verb itself */
#define FEW_OPTIONS 12 /* all of them are shown without --all */

/* As perf's --build-options. */
static void print_library(struct pf_stream *out, const char *name, const char *purpose, bool found)
{
    pf_stream_print(out, "%20s: [ %-3s ]  # %s\n", name, found ? "on" : "OFF", purpose);
}

static void print_libraries(struct pf_stream *out)
{
    const char *name, *purpose;
    bool found;

    for (size_t i = 0; (name = perfile_library_at(i, &purpose, &found)) != NULL; i++)
        print_library(out, name, purpose, found);
#ifdef PF_HAVE_SQLITE
    print_library(out, "libsqlite3", "query", true);
#else
    print_library(out, "libsqlite3", "query", false);
#endif
}

int pf_help_version(bool libraries)
{
    struct pf_stream out;

    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    if (pf_called_perf()) /* whose output this is; scripts look for the number */
        pf_stream_print(&out, "perf version %s (perfile %s)\n", PERF_VERSION_TEXT, PF_VERSION_TEXT);
    else
        pf_stream_print(&out, "perfile %s\n", PF_VERSION_TEXT);
    if (strcmp(perfile_version(), PF_VERSION_TEXT))
        pf_stream_print(&out, "libperfile %s\n", perfile_version());
    pf_stream_print(&out, "Licence: MIT\n");
    if (libraries)
        print_libraries(&out);
    if (libraries && pf_called_perf())
        pf_features_print(&out);
    return pf_stream_close(&out, true);
}

/* ---- words ----------------------------------------------------------------------------------------------------- */

/* WIDTH, or the terminal's, when that is less. */
static size_t width = WIDTH;

static void find_width(void)
{
    const size_t columns = isatty(STDOUT_FILENO) ? pf_terminal_columns(STDOUT_FILENO) : WIDTH;

    width = columns < WIDTH && columns >= 20 ? columns : WIDTH;
}

/* Words up to the width, further lines indented; *column is the length of the current line. */
static void print_words(struct pf_stream *out, const char *text, size_t indent, size_t *column)
{
    while (*text) {
        size_t bytes = strcspn(text, " ");

        if (*column > indent && *column + 1 + bytes > width) {
            pf_stream_print(out, "\n");
            *column = 0;
        }
        if (*column <= indent) {
            pf_stream_print(out, "%*s", (int)(indent - *column), "");
            *column = indent;
        } else {
            pf_stream_print(out, " ");
            ++*column;
        }
        pf_stream_print(out, "%.*s", (int)bytes, text);
        *column += bytes;
        text += bytes;
        text += strspn(text, " ");
    }
}

static void print_paragraph(struct pf_stream *out, const char *text, size_t indent)
{
    size_t column = 0;

    print_words(out, text, indent, &column);
    pf_stream_print(out, "\n");
}

/* A name, and from `column` on a text about it. */
static void print_named(struct pf_stream *out, const char *name, const char *doc, size_t column)
{
    size_t used = 2 + strlen(name);

    column = width < WIDE ? 6 : column;
    pf_stream_print(out, "  %s", name);
    if (used >= column) {
        pf_stream_print(out, "\n");
        used = 0;
    }
    print_words(out, doc, column, &used);
    pf_stream_print(out, "\n");
}

/* ---- the overview ---------------------------------------------------------------------------------------------- */

static void print_overview(struct pf_stream *out)
{
    pf_stream_print(out, "perfile records, checks, repairs, edits and analyses Linux perf.data recordings.\n\n"
                         "Usage: perfile VERB [OPTIONS] [FILE]\n\nVerbs:\n");
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        print_named(out, (*command)->name, (*command)->summary, VERB_COLUMN);
    pf_stream_print(out, "\nFILE is perf.data unless given, and - is standard input. Getting started:\n\n"
                         "  perfile record COMMAND      record it, with callchains\n"
                         "  perfile info perf.data      what was recorded?\n"
                         "  perfile report perf.data    where did the time go?\n"
                         "  perfile script perf.data    every sample, as perf script prints it\n"
                         "  perfile check perf.data     is the file valid?\n\n"
                         "`perfile help VERB` prints the help of a verb; see also `man perfile`.\n");
    print_paragraph(out,
                    "Exit status: 0 success, 1 findings or damage, 2 usage, 3 unreadable input, 4 output failed, "
                    "5 out of memory.",
                    0);
}

static int overview(int fd)
{
    struct pf_stream out;

    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    out.fd = fd;
    find_width();
    print_overview(&out);
    return pf_stream_close(&out, true);
}

int pf_help_overview(void)
{
    return overview(STDOUT_FILENO);
}

int pf_help_missing_verb(void)
{
    overview(STDERR_FILENO);
    return PF_STATUS_USAGE;
}

/* ---- a verb ---------------------------------------------------------------------------------------------------- */

/* At most so many. */
static void print_values(struct pf_stream *out, const struct pf_command *command, const struct pf_values *values,
                         size_t max)
{
    const char *value, *doc;
    char word[80];
    size_t column = 0;

    for (size_t i = 0; (value = pf_value_at(values, command, i, &doc)); i++) {
        if (i == max) {
            print_words(out, "| ...", DOC_COLUMN, &column);
            break;
        }
        snprintf(word, sizeof(word), "%s%s", i ? "| " : "Values: ", value);
        print_words(out, word, DOC_COLUMN, &column);
    }
    if (column)
        pf_stream_print(out, "\n");
}

/* The first sentence. */
static void print_brief(struct pf_stream *out, const char *doc, size_t *column)
{
    const char *end = strstr(doc, ". ");
    char sentence[512];

    snprintf(sentence, sizeof(sentence), "%.*s", end ? (int)(end + 1 - doc) : (int)strlen(doc), doc);
    print_words(out, sentence, DOC_COLUMN, column);
}

static void print_option(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option,
                         bool brief)
{
    const char letter = pf_option_letter(command, option);
    char left[80];
    size_t column;

    column = (size_t)snprintf(left, sizeof(left), "  %c%c%s --%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
                              letter ? "," : " ", option->name, option->argument ? " " : "",
                              option->argument ? option->argument : "");
    pf_stream_print(out, "%s", left);
    if (column >= DOC_COLUMN - 1) {
        pf_stream_print(out, "\n");
        column = 0;
    }
    if (brief)
        print_brief(out, option->doc, &column);
    else
        print_words(out, option->doc, DOC_COLUMN, &column);
    pf_stream_print(out, "\n");
    if (pf_has_values(&option->values))
        print_values(out, command, &option->values, brief ? FEW_VALUES : SIZE_MAX);
}

static size_t count_values(const struct pf_command *command, const struct pf_values *values)
{
    const char *doc;
    size_t count = 0;

    while (pf_value_at(values, command, count, &doc))
        count++;
    return count;
}

static void print_operands(struct pf_stream *out, const struct pf_command *command, size_t column)
{
    const char *doc = NULL, *name;

    for (size_t i = 0; (name = pf_value_at(&command->operand_values, command, i, &doc)); i++, doc = NULL)
        print_named(out, name, doc ? doc : "", column);
}

/* "VIEW is one of:", and what they are. */
static void print_views(struct pf_stream *out, const struct pf_command *command)
{
    const size_t count = pf_has_values(&command->operand_values) ? count_values(command, &command->operand_values) : 0;
    const char *operand = command->operand + (count && *command->operand == '[');

    if (!count || count > FEW_VIEWS)
        return;
    if (count == 1)
        pf_stream_print(out, "\n");
    else
        pf_stream_print(out, "\n%.*s is one of:\n", (int)strcspn(operand, " ]"), operand);
    print_operands(out, command, VALUE_COLUMN);
}

int pf_help_operands(const struct pf_command *command)
{
    struct pf_stream out;

    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    find_width();
    print_operands(&out, command, VIEW_COLUMN);
    return pf_stream_close(&out, true);
}

/* ---- the short help -------------------------------------------------------------------------------------------- */

static size_t count_options(const struct pf_option_group *group, bool first)
{
    size_t count = 0;

    for (const struct pf_option *option = group->options; option->name; option++)
        count += !option->hidden && (option->first || !first);
    return count;
}

static size_t count_all(const struct pf_command *command, bool first)
{
    size_t count = 0;

    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        count += count_options(*group, first);
    return count;
}

/* All of the verb's own options are shown when there are few. */
static bool is_shown(const struct pf_command *command, const struct pf_option_group *group,
                     const struct pf_option *option)
{
    return !option->hidden &&
           (option->first || (group == command->groups[0] && count_options(group, false) <= FEW_OPTIONS));
}

static void print_first_options(struct pf_stream *out, const struct pf_command *command)
{
    pf_stream_print(out, "\nOptions:\n");
    for (const struct pf_option_group *const *group = command->groups; *group; group++)
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (is_shown(command, *group, option))
                print_option(out, command, option, true);
}

/* The lines of a command, which names the program as it was called. */
static void print_command(struct pf_stream *out, const char *command)
{
    static const char name[] = "perfile ";
    bool starts = true; /* a word */

    pf_stream_print(out, "    ");
    for (const char *at = command; *at; at++) {
        if (starts && !strncmp(at, name, sizeof(name) - 1)) {
            pf_stream_print(out, "%s", pf_program_name());
            at += sizeof(name) - 2;
        }
        starts = strchr(" \n(", *at);
        pf_stream_print(out, *at == '\n' ? "%c    " : "%c", *at);
    }
    pf_stream_print(out, "\n");
}

static void print_examples(struct pf_stream *out, const struct pf_command *command)
{
    const struct pf_example *example;

    pf_stream_print(out, "\nExamples:\n");
    for (size_t i = 0; (example = pf_example_at(command->name, i)) && example->first; i++) {
        print_paragraph(out, example->why, 2);
        print_command(out, example->command);
    }
}

static void print_all(struct pf_stream *out, const struct pf_command *command)
{
    for (const struct pf_option_group *const *group = command->groups; *group; group++) {
        if (!count_options(*group, false))
            continue; /* all of them are hidden */
        pf_stream_print(out, "\n%s:\n", (*group)->title);
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (!option->hidden)
                print_option(out, command, option, false);
    }
}

static void print_short(struct pf_stream *out, const struct pf_command *command)
{
    const size_t count = count_all(command, false);

    if (count <= FEW_OPTIONS)
        print_all(out, command);
    else
        print_first_options(out, command);
    print_examples(out, command);
    if (count > FEW_OPTIONS)
        pf_stream_print(out, "\nAll %zu options: %s %s --help --all; man perfile-%s.\n", count, pf_program_name(),
                        command->name, command->name);
}

static void print_usage(struct pf_stream *out, const struct pf_command *command)
{
    char words[160];
    size_t column = 6;

    snprintf(words, sizeof(words), "%s %s [OPTIONS]%s%s", pf_program_name(), command->name, command->operand ? " " : "",
             command->operand ? command->operand : "");
    pf_stream_print(out, "Usage:");
    print_words(out, words, 7, &column);
    pf_stream_print(out, "\n\n");
}

int pf_help_verb(const struct pf_command *command, bool all)
{
    struct pf_stream out;

    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    find_width();
    print_usage(&out, command);
    print_paragraph(&out, command->doc, 0);
    print_views(&out, command);
    (all ? print_all : print_short)(&out, command);
    return pf_stream_close(&out, true);
}
