/* SPDX-License-Identifier: MIT */
#include "symbol/probe/definition.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { ARGUMENTS_MAX = 128, FIELDS_MAX = 64 };

/* What is parsed. */
struct parse {
    struct pf_arena *arena;
    const char *text; /* all of it, for messages */
    struct perfile_error *error;
};

static int refuse(const struct parse *parse, const char *why)
{
    return pf_about(
        parse->error, parse->text, strlen(parse->text),
        pf_fail(parse->error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "probe", "%.200s: %s", parse->text, why));
}

static int fail_memory(const struct parse *parse)
{
    return pf_fail_memory(parse->error, "probe");
}

static bool is_letter(char c)
{
    return c == '_' || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

bool pf_probe_is_name_character(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

bool pf_probe_is_variable(const char *text)
{
    return is_letter(*text);
}

/* Events and groups have names as in C. */
static bool is_name(const char *text)
{
    if (!is_letter(*text))
        return false;
    while (pf_probe_is_name_character(*text))
        text++;
    return !*text;
}

static bool read_unsigned(const char *text, uint64_t *value)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    *value = strtoull(text, &end, 0);
    return !*end;
}

/* A line: at most what fits an int, as in line tables. */
static bool read_line(const char *text, int64_t *line)
{
    uint64_t value;
    if (!read_unsigned(text, &value) || value > INT32_MAX)
        return false;
    *line = (int64_t)value;
    return true;
}

/* ---- where ----------------------------------------------------------------------------------------------------- */

/* The first of these characters; "::" of C++ names does not count. */
static char *find_mark(char *text, const char *marks)
{
    for (char *at = text; (at = strpbrk(at, marks)); at++) {
        if (at[0] != ':' || at[1] != ':')
            return at;
        at++;
    }
    return NULL;
}

static int read_event(const struct parse *parse, char *text, struct pf_probe_point *point)
{
    char *colon = strchr(text, ':');
    point->event = text;
    if (colon) {
        *colon = '\0';
        point->group = text;
        point->event = colon + 1;
        if (!is_name(point->group))
            return refuse(parse, "the name of a group can only have letters, digits and _");
    }
    return is_name(point->event) ? 0 : refuse(parse, "the name of an event can only have letters, digits and _");
}

/* What follows one of the marks. */
static int read_part(const struct parse *parse, char mark, char *text, struct pf_probe_point *point)
{
    switch (mark) {
    case ':':
        point->has_line = true;
        return read_line(text, &point->line) ? 0 : refuse(parse, "a line number must follow :");
    case '+':
        point->has_offset = true;
        return read_unsigned(text, &point->offset) ? 0 : refuse(parse, "a number of bytes must follow +");
    case '@':
        if (point->file)
            return refuse(parse, "it has two files");
        point->file = text;
        return *text ? 0 : refuse(parse, "the name of a source file must follow @");
    case '%':
        point->is_return = true;
        return strcmp(text, "return") == 0 ? 0 : refuse(parse, "only return can follow %");
    default:
        return pf_fail(parse->error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "probe",
                       "%.200s: patterns of lines (;) are not supported", parse->text);
    }
}

static int check_point(const struct parse *parse, const struct pf_probe_point *point)
{
    if (point->has_offset && point->has_line)
        return refuse(parse, "a line and an offset exclude each other");
    if (!point->function && (!point->file || !point->has_line))
        return refuse(parse, "it has neither a function nor FILE:LINE");
    if (!point->function && point->has_offset)
        return refuse(parse, "an offset needs a function");
    if (point->is_return && (!point->function || point->has_offset || point->has_line || point->has_address))
        return refuse(parse, "%return needs a function without offset and line");
    if (point->has_address && (point->has_line || point->file))
        return refuse(parse, "an address has neither a file nor a line");
    return 0;
}

/* FILE:LINE has a dot in its name. */
static bool is_file(const char *text)
{
    const char *mark = strpbrk(text, ":;");
    return mark && !strpbrk(text, "+@%") && memchr(text, '.', (size_t)(mark - text));
}

static int read_function(const struct parse *parse, char *text, struct pf_probe_point *point)
{
    point->function = text;
    point->has_address = strncmp(text, "0x", 2) == 0;
    if (point->has_address && !read_unsigned(text, &point->address))
        return refuse(parse, "an address must begin with 0x");
    return *text ? 0 : refuse(parse, "the name of the function is missing");
}

static int read_point(const struct parse *parse, char *text, struct pf_probe_point *point)
{
    char *mark = strpbrk(text, ";=@+%");
    if (*text == '%' || strncmp(text, "sdt_", 4) == 0)
        return pf_fail(parse->error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "probe",
                       "%.200s: markers of SystemTap (SDT) are not supported: specify the function or the line",
                       parse->text);
    if (mark && *mark == '=') {
        *mark = '\0';
        const int result = read_event(parse, text, point);
        if (result < 0)
            return result;
        text = mark + 1;
    }
    point->text = pf_arena_text(parse->arena, text, strlen(text));
    if (!point->text)
        return fail_memory(parse);
    const bool has_file = is_file(text);
    mark = find_mark(text, ";:+@%");
    char c = mark ? *mark : '\0';
    if (mark)
        *mark++ = '\0';
    int result = 0;
    if (has_file)
        point->file = text;
    else
        result = read_function(parse, text, point);
    while (result == 0 && c) {
        char *part = mark, current = c;
        mark = current == ';' ? NULL : find_mark(part, ";:+@%");
        c = mark ? *mark : '\0';
        if (mark)
            *mark++ = '\0';
        result = read_part(parse, current, part, point);
    }
    return result < 0 ? result : check_point(parse, point);
}

/* ---- arguments ------------------------------------------------------------------------------------------------- */

/* [NUMBER]; *at moves after it. */
static bool read_element(char **at, struct pf_probe_field *field)
{
    char *end;
    field->index = strtoll(*at + 1, &end, 0);
    if (end == *at + 1 || *end != ']' || field->index < INT32_MIN || field->index > INT32_MAX)
        return false;
    *at = end + 1;
    return true;
}

/* .NAME or ->NAME: the mark becomes the end of the text before it. */
static bool read_member(char **at, struct pf_probe_field *field)
{
    char *mark = *at, *name = mark + 1;
    field->is_arrow = mark[0] == '-';
    if (field->is_arrow && *name++ != '>')
        return false;
    if (!field->is_arrow && mark[0] != '.')
        return false;
    *at = name + strcspn(name, ".-[");
    field->name = name;
    return *at != name;
}

/* VARIABLE.MEMBER->MEMBER[INDEX]: parts end in the text itself, which is why the next mark is kept before that. */
static int read_fields(const struct parse *parse, char *variable, struct pf_probe_argument *argument)
{
    struct pf_probe_field fields[FIELDS_MAX];
    char *at = variable + strcspn(variable, ".-["), *ends[FIELDS_MAX];
    size_t count = 0;
    const char *last = variable;
    while (*at && count < FIELDS_MAX) {
        fields[count] = (struct pf_probe_field){0};
        ends[count] = at;
        if (*at == '[' ? !read_element(&at, &fields[count]) : !read_member(&at, &fields[count]))
            return refuse(parse, "members are written as .NAME, ->NAME or [NUMBER]");
        last = fields[count].name ? fields[count].name : last;
        count++;
    }
    if (*at)
        return refuse(parse, "an argument has too many members");
    for (size_t i = 0; i < count; i++)
        *ends[i] = '\0';
    if (count && !argument->name)
        argument->name = last;
    struct pf_probe_field *kept = pf_arena_new(parse->arena, (count + 1) * sizeof(*kept));
    if (!kept)
        return fail_memory(parse);
    memcpy(kept, fields, count * sizeof(*kept));
    argument->fields = kept;
    argument->field_count = count;
    return 0;
}

static int read_argument(const struct parse *parse, char *text, struct pf_probe_argument *argument)
{
    char *equals = strchr(text, '='), *user = strstr(text, "@user"), *colon;
    *argument = (struct pf_probe_argument){.is_user = user && !user[5]};
    if (equals) {
        *equals = '\0';
        argument->name = text;
        text = equals + 1;
    }
    if (argument->is_user)
        *user = '\0';
    colon = strchr(text, ':');
    if (colon) {
        *colon = '\0';
        argument->type = colon + 1;
    }
    argument->variable = text;
    if (!*text || (argument->name && !*argument->name) || (argument->type && !*argument->type))
        return refuse(parse, "an argument has an empty part");
    return pf_probe_is_variable(text) ? read_fields(parse, text, argument) : 0;
}

static int read_arguments(const struct parse *parse, char *text, struct pf_probe_definition *definition)
{
    struct pf_probe_argument arguments[ARGUMENTS_MAX], *kept;
    size_t count = 0;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t\n", &rest); word; word = strtok_r(NULL, " \t\n", &rest)) {
        if (count == ARGUMENTS_MAX)
            return refuse(parse, "it has more than 128 arguments");
        const int result = read_argument(parse, word, &arguments[count]);
        if (result < 0)
            return result;
        if (definition->point.is_return && pf_probe_is_variable(arguments[count++].variable))
            return refuse(parse, "variables are gone when the function returns: $retval and registers remain");
        count += !definition->point.is_return;
    }
    kept = pf_arena_new(parse->arena, (count + 1) * sizeof(*kept));
    if (!kept)
        return fail_memory(parse);
    memcpy(kept, arguments, count * sizeof(*kept));
    definition->arguments = kept;
    definition->argument_count = count;
    return 0;
}

int pf_probe_parse(struct pf_arena *arena, const char *text, struct pf_probe_definition *definition,
                   struct perfile_error *error)
{
    const struct parse parse = {arena, text, error};
    *definition = (struct pf_probe_definition){.argument_text = ""};
    text += strspn(text, " \t\n");
    char *copy = pf_arena_text(arena, text, strlen(text));
    if (!copy)
        return fail_memory(&parse);
    char *arguments = copy + strcspn(copy, " \t\n");
    if (*arguments)
        *arguments++ = '\0';
    arguments += strspn(arguments, " \t\n");
    definition->argument_text = pf_arena_text(arena, arguments, strlen(arguments));
    if (!definition->argument_text)
        return fail_memory(&parse);
    const int result = read_point(&parse, copy, &definition->point);
    return result < 0 ? result : read_arguments(&parse, arguments, definition);
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* FROM, FROM-TO or FROM+COUNT. */
static bool read_span(char *text, struct pf_probe_range *range)
{
    char *mark = strpbrk(text, "+-");
    const char kind = mark ? *mark : '\0';
    if (mark)
        *mark++ = '\0';
    if (!read_line(text, &range->from) || (mark && !read_line(mark, &range->to)))
        return false;
    if (kind == '+')
        range->to += range->from - 1;
    return range->from <= range->to;
}

int pf_probe_parse_range(struct pf_arena *arena, const char *text, struct pf_probe_range *range,
                         struct perfile_error *error)
{
    const struct parse parse = {arena, text, error};
    *range = (struct pf_probe_range){.to = INT32_MAX};
    char *copy = pf_arena_text(arena, text, strlen(text));
    if (!copy)
        return fail_memory(&parse);
    char *colon = find_mark(copy, ":");
    if (colon)
        *colon++ = '\0';
    char *at = strchr(copy, '@');
    if (at)
        *at++ = '\0';
    if (colon && !read_span(colon, range))
        return refuse(&parse, "lines are written as FROM, FROM-TO or FROM+COUNT");
    if (!at && strchr(copy, '.'))
        range->file = copy;
    else {
        range->function = copy;
        range->file = at;
    }
    return *copy ? 0 : refuse(&parse, "it has neither a function nor a file");
}
