/* SPDX-License-Identifier: MIT */
#include "base/function_name.h"

const char *pf_operator_end(const char *at)
{
    static const char word[] = "operator", signs[] = "<>=!+-*/%^&|~,";
    static const char *const longer[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>", "->",
                                         "<=",  ">=",  "==",  "!=",  "&&", "||", "++", "--", "+=",
                                         "-=",  "*=",  "/=",  "%=",  "^=", "&=", "|="};
    if (strncmp(at, word, sizeof(word) - 1) != 0)
        return NULL;
    at += sizeof(word) - 1;
    for (size_t i = 0; i < PF_COUNT(longer); i++)
        if (strncmp(at, longer[i], strlen(longer[i])) == 0)
            return at + strlen(longer[i]);
    return *at && strchr(signs, *at) ? at + 1 : NULL;
}

/* What of a name is where; nothing within brackets counts. */
struct parts {
    const char *qualified;  /* behind what is returned */
    const char *last;       /* after the last :: */
    const char *arguments;  /* of the template; or the end */
    const char *parameters; /* or the end */
};

static bool is_boundary(const char *name, const char *at)
{
    return at == name || at[-1] == ':' || at[-1] == ' ';
}

static const char *take_word(struct parts *parts, const char *name, const char *at)
{
    const char *behind = is_boundary(name, at) ? pf_operator_end(at) : NULL;
    if (behind)
        return behind;
    if (at[0] == ':' && at[1] == ':') {
        parts->last = at + 2;
        parts->arguments = NULL;
        return at + 2;
    }
    if (at[0] == ' ') {
        parts->qualified = parts->last = at + 1;
        parts->arguments = NULL;
    }
    return at + 1;
}

static bool opens_parameters(const char *name, const char *at)
{
    static const char anonymous[] = "(anonymous namespace)";
    return *at == '(' && at > name && at[-1] != '.' && strncmp(at, anonymous, sizeof(anonymous) - 1) != 0;
}

static struct parts split(const char *name)
{
    struct parts parts = {.qualified = name, .last = name};
    unsigned depth = 0;
    const char *at = name;
    while (*at && !(depth == 0 && opens_parameters(name, at))) {
        if (depth == 0 && *at != '<' && *at != '(') {
            at = take_word(&parts, name, at);
            continue;
        }
        if (depth == 0 && *at == '<')
            parts.arguments = at;
        if (*at == '<' || *at == '(')
            depth++;
        else if ((*at == '>' && at[-1] != '-') || *at == ')')
            depth--;
        at++;
    }
    parts.parameters = at;
    if (!parts.arguments)
        parts.arguments = at;
    return parts;
}

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
    const struct parts parts = split(name);
    const char *const starts[] = {name, parts.qualified, parts.last};
    bool same = strcmp(name, wanted) == 0;
    for (size_t i = 0; i < PF_COUNT(starts) && !same; i++)
        same = strcmp(starts[i], wanted) == 0 || is_between(starts[i], parts.parameters, wanted, bytes) ||
               is_between(starts[i], parts.arguments, wanted, bytes);
    return same;
}
