/* SPDX-License-Identifier: MIT */
#include "base/function_name.h"

#include "base/name_scan.h"

static bool starts(const char *at, const char *text)
{
    return strncmp(at, text, strlen(text)) == 0;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* The bytes of "[...]" at `at`; 0 when no short one begins there. */
static size_t bracket_at(const char *at)
{
    enum { MAX = 128 };
    const char *closed = *at == '[' ? memchr(at, ']', strnlen(at, MAX)) : NULL;
    return closed ? (size_t)(closed + 1 - at) : 0;
}

/* The length of what may follow parameters: " const", or the mark of a copy, " [clone .cold]" or "[Tier0]" of .NET. */
static size_t qualifier_at(const char *at)
{
    static const char *const qualifiers[] = {" const", " volatile", " restrict", " noexcept", " &&", " &", "&&", "&"};
    for (size_t i = 0; i < PF_COUNT(qualifiers); i++)
        if (starts(at, qualifiers[i]))
            return strlen(qualifiers[i]);
    return starts(at, " [clone ") ? 1 + bracket_at(at + 1) : bracket_at(at);
}

static const char *qualifiers_end(const char *at)
{
    for (size_t bytes; (bytes = qualifier_at(at)) != 0;)
        at += bytes;
    return at;
}

/* Whether a name ends at `at`, but for what it is a stub or a version of: "@plt". */
static bool is_end(const char *at)
{
    return !*at || *at == '@';
}

static bool can_have_parameters(const char *name, size_t open)
{
    const char c = open ? name[open - 1] : ' ';
    return c != ' ' && c != ':' && c != '/';
}

/* Where names within a text without brackets begin. A space within the name of a conversion separates nothing. */
static void note_text(struct pf_function_parts *parts, const struct pf_name_scan *scan)
{
    for (size_t i = scan->from; i < scan->to && !scan->named && !parts->is_conversion; i++) {
        const char *at = scan->name + i;
        parts->is_conversion = i == scan->from && (starts(at, "operator ") || starts(at, "operator\""));
        if (parts->is_conversion || (*at != ' ' && !(i && *at == ':' && at[-1] == ':')) || starts(at, " [clone "))
            continue;
        parts->last = i + 1;
        parts->arguments = 0;
        if (*at == ' ')
            parts->qualified = i + 1;
    }
}

/* A bracket that nothing surrounds was closed: true for that of the parameters. */
static bool note_bracket(struct pf_function_parts *parts, const struct pf_name_scan *scan)
{
    const struct pf_name_open *closed = &scan->closed;
    if (closed->kind == PF_BRACKET_ARGUMENTS)
        parts->arguments = closed->at;
    if (closed->kind != PF_BRACKET_PARAMETERS || !can_have_parameters(scan->name, closed->at))
        return false;
    const char *end = qualifiers_end(scan->name + scan->to);
    if (!is_end(end))
        return false;
    parts->parameters = closed->at;
    parts->suffix = (size_t)(end - scan->name);
    return true;
}

struct pf_function_parts pf_function_split(const char *name)
{
    struct pf_name_scan scan;
    enum pf_name_token token;
    const size_t bytes = strlen(name);
    struct pf_function_parts parts = {.parameters = bytes, .suffix = bytes};
    bool found = false;
    pf_name_scan_open(&scan, name, bytes);
    while (!found && (token = pf_name_scan_next(&scan)) != PF_NAME_END) {
        if (token == PF_NAME_TEXT && !scan.depth)
            note_text(&parts, &scan);
        else if (token == PF_NAME_CLOSE && !scan.depth)
            found = note_bracket(&parts, &scan);
    }
    if (!parts.arguments)
        parts.arguments = parts.parameters;
    return parts;
}

void pf_function_drop_parameters(char *name)
{
    const struct pf_function_parts parts = pf_function_split(name);
    memmove(name + parts.parameters, name + parts.suffix, strlen(name + parts.suffix) + 1);
}

/* ---- names that are wanted --------------------------------------------------------------------------------------- */

/* With * for any text and ? for a character. */
static bool is_like(const char *from, const char *to, const char *pattern)
{
    const char *star = NULL, *again = NULL;
    while (from < to) {
        if (*pattern == '*') {
            star = pattern++;
            again = from;
        } else if (*pattern && (*pattern == '?' || *pattern == *from)) {
            pattern++;
            from++;
        } else if (star) {
            pattern = star + 1;
            from = ++again;
        } else {
            return false;
        }
    }
    return pattern[strspn(pattern, "*")] == 0;
}

/* Names of operators and of what takes pointers have stars of their own. */
bool pf_function_is_pattern(const char *wanted)
{
    return strpbrk(wanted, "*?") && !strpbrk(wanted, "(<") && !strstr(wanted, "operator");
}

static bool is_between(const char *from, const char *to, const char *wanted, size_t bytes)
{
    if (to <= from)
        return false;
    return ((size_t)(to - from) == bytes && memcmp(from, wanted, bytes) == 0) ||
           (pf_function_is_pattern(wanted) && is_like(from, to, wanted));
}

bool pf_function_is_called(const char *name, const char *wanted)
{
    const size_t bytes = strlen(wanted);
    const struct pf_function_parts parts = pf_function_split(name);
    const size_t from[] = {0, parts.qualified, parts.last};
    bool same = false;
    for (size_t i = 0; i < PF_COUNT(from) && !same; i++)
        same = strcmp(name + from[i], wanted) == 0 ||
               is_between(name + from[i], name + parts.parameters, wanted, bytes) ||
               is_between(name + from[i], name + parts.arguments, wanted, bytes);
    return same;
}
