/* SPDX-License-Identifier: MIT */
#include "pushed.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * DuckDB's C interface gives a table function no conditions. What is read out of the statement instead is so plain that it can only
 * mean one thing; of anything else (OR, CASE, a second use of the table ...) nothing is taken.
 */
enum { MOST_TOKENS = 4096, MOST_DIGITS = 18 };

struct token {
    enum { END, WORD, QUOTED, NUMBER, TEXT, SIGN, OTHER } kind;
    const char *at; /* of what is quoted, without the quotes */
    size_t bytes;
};

/* ---- tokens ---------------------------------------------------------------------------------------------------------- */

static bool is_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* NULL: a comment in a comment, or without an end. */
static const char *skip_blank(const char *at)
{
    for (;;) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (!strncmp(at, "--", 2)) {
            at += strcspn(at, "\n");
        } else if (!strncmp(at, "/*", 2)) {
            const char *end = strstr(at + 2, "*/"), *inner = strstr(at + 2, "/*");
            if (!end || (inner && inner < end))
                return NULL;
            at = end + 2;
        } else {
            return at;
        }
    }
}

/* Without the quotes that '' and "" are: whoever has these is OTHER. */
static struct token take_quoted(const char *at)
{
    const char quote = *at, *end = strchr(at + 1, quote);

    if (!end || end[1] == quote)
        return (struct token){OTHER, at, 0};
    return (struct token){quote == '"' ? QUOTED : TEXT, at + 1, (size_t)(end - at - 1)};
}

static struct token take_run(int kind, const char *at)
{
    size_t bytes = 1;

    while (is_of_word(at[bytes]) || (kind == NUMBER && at[bytes] == '.'))
        bytes++;
    /* E'...' has rules of its own */
    return (struct token){at[bytes] == '\'' || at[bytes] == '$' ? OTHER : (unsigned)kind, at, bytes};
}

static struct token take_token(const char *at)
{
    if (!at)
        return (struct token){OTHER, "", 0};
    if (!*at)
        return (struct token){END, at, 0};
    if (*at == '\'' || *at == '"')
        return take_quoted(at);
    if (isdigit((unsigned char)*at))
        return take_run(NUMBER, at);
    if (is_of_word(*at))
        return take_run(WORD, at);
    if (*at == '$' || *at == '\\')
        return (struct token){OTHER, at, 1};
    return (struct token){SIGN, at, strchr("<>!=", *at) && at[1] && strchr("=>", at[1]) ? 2 : 1};
}

/* With an END behind them. NULL: they are too many, or of forms that are not known here, or out of memory. */
static struct token *take_tokens(const char *sql)
{
    struct token *tokens = malloc((MOST_TOKENS + 1) * sizeof(*tokens));

    for (size_t i = 0; tokens && i < MOST_TOKENS; i++) {
        tokens[i] = take_token(sql = skip_blank(sql));
        if (tokens[i].kind == END)
            return tokens;
        if (tokens[i].kind == OTHER)
            break;
        sql = tokens[i].at + tokens[i].bytes + (tokens[i].kind == QUOTED || tokens[i].kind == TEXT);
    }
    free(tokens);
    return NULL;
}

static bool is_text(const struct token *token, const char *text)
{
    return token->bytes == strlen(text) && !strncasecmp(token->at, text, token->bytes);
}

static bool is_name(const struct token *token)
{
    return token->kind == WORD || token->kind == QUOTED;
}

static bool is_one_of(const struct token *token, const char *const *words)
{
    while (*words && !is_text(token, *words))
        words++;
    return *words != NULL;
}

/* ---- the place ----------------------------------------------------------------------------------------------------- */

static size_t count_text(const char *sql, const char *text)
{
    size_t count = 0;

    for (; *sql; sql++)
        count += !strncasecmp(sql, text, strlen(text));
    return count;
}

/* Of the relation's name behind FROM; NULL: there is more than one place, or none that is plain. */
static const struct token *find_place(const struct token *tokens, const char *name, const char *sql)
{
    const struct token *found = NULL;
    size_t count = 0;

    for (size_t i = 0; tokens[i].kind != END; i++) {
        if (!is_name(&tokens[i]) || !is_text(&tokens[i], name))
            continue;
        count++;
        if (is_text(&tokens[i + 1], ".")) /* of a column */
            continue;
        if (found || !i || tokens[i - 1].kind != WORD || !is_text(&tokens[i - 1], "FROM"))
            return NULL;
        found = &tokens[i];
    }
    /* tables can be named by texts, too */
    return count == count_text(sql, name) && !count_text(sql, "query") ? found : NULL;
}

/* Behind WHERE; NULL: there is none right behind the table. */
static const struct token *find_where(const struct token *place, const struct token **alias)
{
    const struct token *at = place + 1;

    *alias = place;
    if (at->kind == WORD && is_text(at, "AS"))
        at++;
    if (is_name(at) && (at->kind == QUOTED || !is_text(at, "WHERE")))
        *alias = at++;
    return at->kind == WORD && is_text(at, "WHERE") ? at + 1 : NULL;
}

/* Where the conditions end; NULL: there is something in them that is not known here. */
static const struct token *find_end(const struct token *at)
{
    static const char *const ends[] = {"GROUP", "ORDER", "HAVING",    "LIMIT",  "OFFSET", "WINDOW", "QUALIFY",
                                       "USING", "UNION", "INTERSECT", "EXCEPT", "FETCH",  "SELECT", NULL};
    static const char *const hard[] = {"OR", "CASE", "OVERLAPS", "XOR", "FROM", NULL};
    static const char *const signs[] = {"=", "==", "<", "<=", ">", ">=", "<>", "!=", ".", "(", ")", "[", "]", NULL};

    for (size_t depth = 0; at->kind != END; at++) {
        const bool is_sign = at->kind == SIGN, opens = is_sign && (*at->at == '(' || *at->at == '[');
        const bool closes = is_sign && (*at->at == ')' || *at->at == ']');
        if (!depth && (closes || (is_sign && *at->at == ';') || (at->kind == WORD && is_one_of(at, ends))))
            return at;
        if (!depth && ((is_sign && !is_one_of(at, signs)) || (at->kind == WORD && is_one_of(at, hard))))
            return NULL;
        depth = depth + opens - closes;
    }
    return at;
}

/* ---- conditions ---------------------------------------------------------------------------------------------------- */

struct parser {
    struct pf_pushed *pushed;
    const struct pf_sources *sources;
    const struct pf_relation *relation;
    const struct pf_fields *fields;
    const struct token *place, *alias;
    bool taken[UINT8_MAX + 1]; /* letters */
};

static bool is_column(const struct parser *parser, const char *name)
{
    size_t i = 0;

    while (i < parser->fields->count && strcasecmp(parser->fields->all[i].name, name) != 0)
        i++;
    return i < parser->fields->count || !strcasecmp(name, "recording");
}

static bool is_constant(const struct token *token, struct pf_cell *cell)
{
    char digits[MOST_DIGITS + 1];

    *cell = (struct pf_cell){.kind = PF_CELL_TEXT, .text = token->at, .bytes = token->bytes};
    if (token->kind != NUMBER)
        return token->kind == TEXT;
    if (token->bytes > MOST_DIGITS)
        return false;
    memcpy(digits, token->at, token->bytes);
    digits[token->bytes] = 0;
    cell->kind = PF_CELL_INTEGER;
    cell->integer = strtoll(digits, NULL, 10);
    return strspn(digits, "0123456789") == token->bytes;
}

static void take(struct parser *parser, const struct token *column, enum pf_comparison comparison,
                 const struct token *constant)
{
    struct pf_cell cell;
    char name[32];

    if (!is_name(column) || column->bytes >= sizeof(name) || !is_constant(constant, &cell))
        return;
    memcpy(name, column->at, column->bytes);
    name[column->bytes] = 0;
    const char letter = is_column(parser, name) ? pf_pushed_letter(parser->relation, name, comparison) : 0;
    if (!letter || parser->taken[(uint8_t)letter])
        return;
    parser->taken[(uint8_t)letter] = true;
    pf_pushed_take(parser->pushed, parser->sources, letter, &cell);
}

/* -1: none. */
static int comparison_of(const struct token *sign, bool is_turned)
{
    if (sign->kind != SIGN)
        return -1;
    if (is_text(sign, "=") || is_text(sign, "=="))
        return PF_EQUAL;
    if (is_text(sign, "<") || is_text(sign, "<="))
        return is_turned ? PF_AT_LEAST : PF_AT_MOST;
    return !is_text(sign, ">") && !is_text(sign, ">=") ? -1 : is_turned ? PF_AT_MOST : PF_AT_LEAST;
}

/* "s." of "s.pid" goes; that of another table stays. */
static const struct token *skip_alias(const struct parser *parser, const struct token *at, const struct token *end)
{
    const struct token *alias = parser->alias;
    const bool is_ours = end - at > 2 && is_name(at) && at->bytes == alias->bytes &&
                         !strncasecmp(at->at, alias->at, alias->bytes) && is_text(&at[1], ".");

    return is_ours ? at + 2 : at;
}

static void take_condition(struct parser *parser, const struct token *at, const struct token *end)
{
    at = skip_alias(parser, at, end);
    if (end - at == 5 && at[1].kind == WORD && is_text(&at[1], "BETWEEN")) {
        take(parser, at, PF_AT_LEAST, &at[2]);
        take(parser, at, PF_AT_MOST, &at[4]);
        return;
    }
    const bool is_turned = end - at >= 3 && !is_name(at);
    const struct token *column = is_turned ? skip_alias(parser, at + 2, end) : at;
    const struct token *behind = is_turned ? column + 1 : at + 3;
    const int comparison = end - at >= 3 ? comparison_of(&at[1], is_turned) : -1;
    if (comparison >= 0 && behind == end)
        take(parser, column, (enum pf_comparison)comparison, is_turned ? at : &at[2]);
}

static void take_conditions(struct parser *parser, const struct token *at, const struct token *end)
{
    const struct token *first = at;
    size_t depth = 0, betweens = 0;

    for (; at < end; at++) {
        if (at->kind == SIGN)
            depth += (size_t)(*at->at == '(' || *at->at == '[') - (size_t)(*at->at == ')' || *at->at == ']');
        if (depth || at->kind != WORD)
            continue;
        if (is_text(at, "BETWEEN")) {
            betweens++;
        } else if (is_text(at, "AND") && betweens) {
            betweens--;
        } else if (is_text(at, "AND")) {
            take_condition(parser, first, at);
            first = at + 1;
        }
    }
    take_condition(parser, first, end);
}

void pf_pushed_parse(struct pf_pushed *pushed, const struct pf_sources *sources, const struct pf_relation *relation,
                     const struct pf_fields *fields, const char *sql)
{
    struct parser parser = {.pushed = pushed, .sources = sources, .relation = relation, .fields = fields};
    struct token *tokens = take_tokens(sql);
    const struct token *where, *end;

    *pushed = (struct pf_pushed){0};
    parser.place = tokens ? find_place(tokens, relation->name, sql) : NULL;
    where = parser.place ? find_where(parser.place, &parser.alias) : NULL;
    end = where ? find_end(where) : NULL;
    if (end)
        take_conditions(&parser, where, end);
    free(tokens);
}
