/* SPDX-License-Identifier: MIT */
#include "help.h"
#include "message.h"
#include "stream.h"

#include <stdio.h>
#include <unistd.h>

/* The perf that options and outputs are those of. */
#define PERF_VERSION_TEXT "7.2"
#define WIDTH 80
#define DOC_COLUMN 31
#define FEW_VALUES 10
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
    return pf_stream_close(&out, true);
}

/* ---- the overview ---------------------------------------------------------------------------------------------- */

static void print_overview(struct pf_stream *out)
{
    pf_stream_print(out, "perfile records, reads, checks, repairs, edits and analyses Linux perf.data recordings.\n\n"
                         "Usage: perfile VERB [OPTIONS] [FILE]\n\nVerbs:\n");
    for (const struct pf_command *const *command = pf_commands; *command; command++)
        pf_stream_print(out, "  %-13s %s\n", (*command)->name, (*command)->summary);
    pf_stream_print(out, "\nFILE is perf.data unless given, and - is standard input. Getting started:\n\n"
                         "  perfile record COMMAND      record it, with callchains\n"
                         "  perfile info perf.data      what was recorded?\n"
                         "  perfile report perf.data    where did the time go?\n"
                         "  perfile script perf.data    every sample, as perf script prints it\n"
                         "  perfile check perf.data     is the file valid?\n\n"
                         "`perfile help VERB` prints the help of a verb; see also `man perfile`.\n"
                         "Exit status: 0 success, 1 findings or damage, 2 usage, 3 unreadable input, 4 output failed, "
                         "5 out of memory.\n");
}

static int overview(int fd)
{
    struct pf_stream out;

    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    out.fd = fd;
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

/* Words up to WIDTH, further lines indented; *column is where the line stands. */
static void print_words(struct pf_stream *out, const char *text, size_t indent, size_t *column)
{
    while (*text) {
        size_t bytes = strcspn(text, " ");

        if (*column > indent && *column + 1 + bytes > WIDTH) {
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

static void print_option(struct pf_stream *out, const struct pf_command *command, const struct pf_option *option,
                         size_t max_values)
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
    print_words(out, option->doc, DOC_COLUMN, &column);
    pf_stream_print(out, "\n");
    if (pf_has_values(&option->values))
        print_values(out, command, &option->values, max_values);
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
                print_option(out, command, option, FEW_VALUES);
}

static void print_examples(struct pf_stream *out, const struct pf_command *command)
{
    const char *line = command->examples;

    pf_stream_print(out, "%s", line ? "\nExamples:\n" : "");
    while (line && *line) {
        const size_t bytes = strcspn(line, "\n");

        pf_stream_print(out, "  %s %.*s\n", pf_program_name(), (int)bytes, line);
        line += bytes + (line[bytes] != 0);
    }
}

static void print_short(struct pf_stream *out, const struct pf_command *command)
{
    print_first_options(out, command);
    print_examples(out, command);
    pf_stream_print(out, "\nAll %zu options: %s %s --help --all, and man perfile-%s.\n", count_all(command, false),
                    pf_program_name(), command->name, command->name);
}

static void print_all(struct pf_stream *out, const struct pf_command *command)
{
    for (const struct pf_option_group *const *group = command->groups; *group; group++) {
        pf_stream_print(out, "\n%s:\n", (*group)->title);
        for (const struct pf_option *option = (*group)->options; option->name; option++)
            if (!option->hidden)
                print_option(out, command, option, SIZE_MAX);
    }
}

int pf_help_verb(const struct pf_command *command, bool all)
{
    struct pf_stream out;

    if (pf_stream_open(&out, NULL))
        return PF_STATUS_OUTPUT;
    pf_stream_print(&out, "Usage: %s %s [OPTIONS]%s%s\n\n", pf_program_name(), command->name,
                    command->operand ? " " : "", command->operand ? command->operand : "");
    print_paragraph(&out, command->doc, 0);
    (all || count_all(command, false) <= FEW_OPTIONS ? print_all : print_short)(&out, command);
    return pf_stream_close(&out, true);
}
