/* SPDX-License-Identifier: MIT */
#include "base/name_scan.h"

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

void pf_name_scan_open(struct pf_name_scan *scan, const char *name, size_t bytes)
{
    scan->name = name;
    scan->bytes = bytes;
    scan->from = scan->to = 0;
    scan->named = false;
    scan->depth = scan->deeper = 0;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           (unsigned char)c >= 0x80;
}

static bool begins(const struct pf_name_scan *scan, size_t at, const char *text)
{
    const size_t bytes = strlen(text);
    return scan->bytes - at >= bytes && memcmp(scan->name + at, text, bytes) == 0;
}

static char before(const struct pf_name_scan *scan, size_t at)
{
    return at ? scan->name[at - 1] : 0;
}

static enum pf_name_bracket kind_of_angle(const struct pf_name_scan *scan, size_t at)
{
    const char c = before(scan, at);
    if (scan->named)
        return PF_BRACKET_ARGUMENTS;
    if (begins(scan, at, "<impl ") || begins(scan, at, "<init>") || begins(scan, at, "<clinit>"))
        return PF_BRACKET_OTHER;
    return is_word(c) || c == ']' || (c == ':' && at >= 2 && scan->name[at - 2] == ':') ? PF_BRACKET_ARGUMENTS
                                                                                        : PF_BRACKET_OTHER;
}

static enum pf_name_bracket kind_of(const struct pf_name_scan *scan, size_t at)
{
    const char c = before(scan, at);
    switch (scan->name[at]) {
    case '<':
        return kind_of_angle(scan, at);
    case '(':
        return scan->named ||
                       (c && c != '.' && !begins(scan, at, "(anonymous namespace)") && !begins(scan, at, "(inlined)"))
                   ? PF_BRACKET_PARAMETERS
                   : PF_BRACKET_OTHER;
    case '[': /* but "operator new[]" */
        return is_word(c) && !begins(scan, at, "[abi:") && !begins(scan, at, "[]") ? PF_BRACKET_ARGUMENTS
                                                                                   : PF_BRACKET_OTHER;
    default:
        return PF_BRACKET_OTHER;
    }
}

static unsigned level_of(const struct pf_name_scan *scan, enum pf_name_bracket kind)
{
    for (unsigned i = scan->depth; i; i--)
        if (scan->open[i - 1].kind == kind)
            return scan->open[i - 1].level + 1;
    return 1;
}

/* A < after a closing bracket compares, and nothing closes it. */
static bool opens(const struct pf_name_scan *scan, size_t at)
{
    return scan->name[at] != '<' || scan->named || before(scan, at) != ')';
}

static enum pf_name_token open_bracket(struct pf_name_scan *scan, size_t at)
{
    if (!opens(scan, at))
        return PF_NAME_TEXT;
    if (scan->depth == PF_NAME_DEPTH || scan->deeper) {
        scan->deeper++;
        return PF_NAME_TEXT;
    }
    const enum pf_name_bracket kind = kind_of(scan, at);
    const unsigned level = level_of(scan, kind);
    scan->open[scan->depth++] = (struct pf_name_open){.at = at, .kind = kind, .level = level, .sign = scan->name[at]};
    return PF_NAME_OPEN;
}

/* Angles that nothing closed before a bracket around them does were none. */
static enum pf_name_token close_bracket(struct pf_name_scan *scan, size_t at)
{
    const char c = scan->name[at], wanted = c == '>' ? '<' : c == ')' ? '(' : c == ']' ? '[' : '{';
    unsigned depth = scan->depth;
    if (scan->deeper) {
        scan->deeper -= c != '>' || before(scan, at) != '-';
        return PF_NAME_TEXT;
    }
    while (depth && scan->open[depth - 1].sign != wanted && scan->open[depth - 1].sign == '<')
        depth--;
    if (!depth || scan->open[depth - 1].sign != wanted || (c == '>' && before(scan, at) == '-'))
        return PF_NAME_TEXT;
    scan->depth = depth - 1;
    scan->closed = scan->open[depth - 1];
    return PF_NAME_CLOSE;
}

static bool is_boundary(char c)
{
    return !c || c == ':' || c == ' ' || c == '&' || c == '(' || c == '<' || c == ',';
}

/* The end of a piece of text without brackets and commas; such a piece also ends after "::". */
static size_t text_end(const struct pf_name_scan *scan, size_t at)
{
    for (; at < scan->bytes; at++) {
        if (strchr("<>()[]{},", scan->name[at]) ||
            (at > scan->from && begins(scan, at, "operator") && is_boundary(before(scan, at))))
            return at;
        if (scan->name[at] == ':' && at > scan->from && scan->name[at - 1] == ':')
            return at + 1;
    }
    return at;
}

static enum pf_name_token take_text(struct pf_name_scan *scan)
{
    const char *end = is_boundary(before(scan, scan->from)) ? pf_operator_end(scan->name + scan->from) : NULL;
    scan->named = end != NULL;
    scan->to = end ? (size_t)(end - scan->name) : text_end(scan, scan->from);
    if (scan->named && begins(scan, scan->to, " <")) /* operator<< <int> */
        scan->to++;
    return PF_NAME_TEXT;
}

enum pf_name_token pf_name_scan_next(struct pf_name_scan *scan)
{
    enum pf_name_token token = PF_NAME_TEXT;
    scan->from = scan->to;
    if (scan->from == scan->bytes)
        return PF_NAME_END;
    const char c = scan->name[scan->from];
    if (!strchr("<>()[]{},", c))
        return take_text(scan);
    scan->to = scan->from + 1;
    if (c == ',')
        token = PF_NAME_COMMA;
    else if (strchr("<([{", c))
        token = open_bracket(scan, scan->from);
    else
        token = close_bracket(scan, scan->from);
    scan->named = false;
    return token;
}
