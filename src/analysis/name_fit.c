/* SPDX-License-Identifier: MIT */
/* Names in a given width. */
#include <perfile/analysis.h>

#include "analysis/name_short.h"
#include "base/columns.h"
#include "base/function_name.h"
#include "base/name_scan.h"

enum {
    MIN = 8,     /* columns below which there is no sign for what is left out */
    SIGN = 3,    /* "..." */
    FEW = 24,    /* columns below which names lose where they are from */
    WORTH = 6,   /* columns in brackets that are not worth a sign */
    ROUNDS = 16, /* groups of one level that are chosen one by one */
};
static const char sign[] = "...";

size_t perfile_name_columns(const char *text)
{
    return text ? pf_columns(text, strlen(text)) : 0;
}

/* ---- brackets that are emptied ---- */

struct fit {
    char *text;
    size_t bytes;
    size_t columns; /* of the text */
    size_t wanted;
    enum pf_name_bracket kind;
};

/* A walk over the brackets of the kind. */
struct walk {
    struct pf_name_scan scan;
    size_t columns;             /* up to the current token */
    size_t open[PF_NAME_DEPTH]; /* columns up to and including each bracket that is open */
    size_t inside;              /* columns in the bracket that was closed */
};

/* The next token; for a bracket that is closed, `inside` is known. */
static enum pf_name_token next_token(struct walk *walk)
{
    const size_t before = walk->columns;
    const enum pf_name_token token = pf_name_scan_next(&walk->scan);
    walk->columns += pf_columns(walk->scan.name + walk->scan.from, walk->scan.to - walk->scan.from);
    if (token == PF_NAME_OPEN)
        walk->open[walk->scan.depth - 1] = walk->columns;
    else if (token == PF_NAME_CLOSE)
        walk->inside = before - walk->open[walk->scan.depth];
    return token;
}

static void open_walk(struct walk *walk, const struct fit *fit)
{
    walk->columns = 0;
    pf_name_scan_open(&walk->scan, fit->text, fit->bytes);
}

static bool is_worth(const struct walk *walk, const struct fit *fit, unsigned level)
{
    const struct pf_name_open *closed = &walk->scan.closed;
    return closed->kind == fit->kind && (!level || closed->level == level) && walk->inside > WORTH;
}

/* What emptying all of each level saves: columns. */
static void survey(const struct fit *fit, size_t saved[PF_NAME_DEPTH + 2])
{
    struct walk walk;
    enum pf_name_token token;
    open_walk(&walk, fit);
    memset(saved, 0, (PF_NAME_DEPTH + 2) * sizeof(*saved));
    while ((token = next_token(&walk)) != PF_NAME_END)
        if (token == PF_NAME_CLOSE && is_worth(&walk, fit, 0))
            saved[walk.scan.closed.level] += walk.inside - SIGN;
}

/* The innermost level that is enough, or the outermost one. */
static unsigned choose_level(const struct fit *fit)
{
    size_t saved[PF_NAME_DEPTH + 2];
    unsigned level = PF_NAME_DEPTH;
    survey(fit, saved);
    while (level > 1 && fit->columns - saved[level] > fit->wanted)
        level--;
    return level;
}

static size_t longest_of(const struct fit *fit, unsigned level)
{
    size_t longest = 0;
    struct walk walk;
    enum pf_name_token token;
    open_walk(&walk, fit);
    while ((token = next_token(&walk)) != PF_NAME_END)
        if (token == PF_NAME_CLOSE && is_worth(&walk, fit, level) && walk.inside > longest)
            longest = walk.inside;
    return longest;
}

/* Empties brackets of the level with at least `min` columns, until the name fits. Writing never overtakes reading. */
static void empty(struct fit *fit, unsigned level, size_t min)
{
    size_t used = 0, starts[PF_NAME_DEPTH];
    struct walk walk;
    enum pf_name_token token;
    open_walk(&walk, fit);
    while ((token = next_token(&walk)) != PF_NAME_END) {
        const struct pf_name_scan *scan = &walk.scan;
        if (token == PF_NAME_CLOSE && is_worth(&walk, fit, level) && walk.inside >= min && fit->columns > fit->wanted) {
            used = starts[scan->depth];
            memcpy(fit->text + used, sign, SIGN);
            used += SIGN;
            fit->columns -= walk.inside - SIGN;
        }
        memmove(fit->text + used, fit->text + scan->from, scan->to - scan->from);
        used += scan->to - scan->from;
        if (token == PF_NAME_OPEN)
            starts[scan->depth - 1] = used;
    }
    fit->bytes = used;
    fit->text[used] = 0;
}

/* From the innermost brackets of the kind outwards. */
static void empty_brackets(struct fit *fit, enum pf_name_bracket kind)
{
    fit->kind = kind;
    if (fit->columns <= fit->wanted)
        return;
    const unsigned level = choose_level(fit);
    empty(fit, level + 1, 0);
    for (unsigned i = 0; i < ROUNDS && fit->columns > fit->wanted; i++) {
        const size_t longest = longest_of(fit, level);
        if (!longest)
            return;
        empty(fit, level, i + 1 < ROUNDS ? longest : 0);
    }
}

/* ---- what is returned, and what is passed ---- */

static void delete_bytes(struct fit *fit, size_t from, size_t to)
{
    fit->columns -= pf_columns(fit->text + from, to - from);
    memmove(fit->text + from, fit->text + to, fit->bytes - to + 1);
    fit->bytes -= to - from;
}

/* "f(int) [clone .isra.0] [clone .cold]" */
static void drop_clones(struct fit *fit)
{
    const char *first = strstr(fit->text, " [clone "), *last = strrchr(fit->text, ']');
    if (first && last && fit->columns > fit->wanted)
        delete_bytes(fit, (size_t)(first - fit->text), (size_t)(last - fit->text) + 1);
}

/* Words before a name that say what it is, not what it returns. */
static bool is_special(const char *text, size_t bytes)
{
    return (bytes >= 3 && memcmp(text + bytes - 3, "to ", 3) == 0) ||
           (bytes >= 4 && memcmp(text + bytes - 4, "for ", 4) == 0);
}

/* "void sort<...>(...)" becomes "sort<...>", as far as it has to. */
static void drop_types(struct fit *fit)
{
    const struct pf_function_parts parts = pf_function_split(fit->text);
    if (parts.parameters == parts.suffix)
        return;
    delete_bytes(fit, parts.parameters, parts.suffix);
    if (fit->columns > fit->wanted && !is_special(fit->text, parts.qualified))
        delete_bytes(fit, 0, parts.qualified);
}

/* Drops as many scopes as necessary, as the end of a name says most: "geometry::Mesh<...>::fill" becomes "fill". */
static void drop_scopes(struct fit *fit)
{
    struct pf_name_scan scan;
    enum pf_name_token token;
    size_t name = 0;
    pf_name_scan_open(&scan, fit->text, fit->bytes);
    while ((token = pf_name_scan_next(&scan)) != PF_NAME_END)
        for (size_t i = scan.from; token == PF_NAME_TEXT && !scan.depth && i + 2 < fit->bytes && i < scan.to; i++)
            if (memcmp(fit->text + i, "::", 2) == 0 && pf_columns(fit->text + name, fit->bytes - name) > fit->wanted)
                name = i + 2;
    delete_bytes(fit, 0, name);
}

/* ---- cutting ---- */

/* Where the last `columns` columns of a text of `all` begin, with a character that stands on none before it. */
static size_t tail_start(const char *text, size_t bytes, size_t all, size_t columns)
{
    size_t at = 0, passed = 0;
    while (at < bytes) {
        unsigned width;
        const size_t length = pf_character(text + at, bytes - at, &width);
        if (passed + columns >= all && width)
            break;
        passed += width;
        at += length;
    }
    return at;
}

/* Cuts out the middle of the name, or cuts off its end when a sign does not fit. */
static void cut(struct fit *fit)
{
    const size_t left = fit->wanted < MIN ? fit->wanted : (fit->wanted - SIGN) / 3; /* a name says most at its end */
    size_t used = pf_head_bytes(fit->text, fit->bytes, left);
    if (fit->wanted >= MIN) {
        size_t start = tail_start(fit->text, fit->bytes, fit->columns, fit->wanted - SIGN - left);
        while (used && fit->text[used - 1] == '.') /* signs are not joined */
            used--;
        while (fit->text[start] == '.')
            start++;
        memcpy(fit->text + used, sign, SIGN);
        memmove(fit->text + used + SIGN, fit->text + start, fit->bytes - start);
        used += SIGN + fit->bytes - start;
    }
    fit->bytes = used;
    fit->text[used] = 0;
}

/* Copies as much of a name as fits into `capacity` bytes. */
static size_t cut_to_capacity(const char *name, size_t columns, char *text, size_t capacity)
{
    size_t bytes = capacity - 1;
    while (bytes && ((unsigned char)name[bytes] & 0xc0) == 0x80)
        bytes--;
    bytes = pf_head_bytes(name, bytes, columns);
    memcpy(text, name, bytes);
    text[bytes] = 0;
    return bytes;
}

size_t perfile_name_fit(const char *name, size_t columns, char *text, size_t capacity)
{
    struct fit fit = {.text = text, .bytes = name ? strlen(name) : 0, .wanted = columns};
    if (!capacity)
        return 0;
    if (fit.bytes >= capacity)
        return cut_to_capacity(name, columns, text, capacity);
    fit.bytes = pf_name_shorten(name ? name : "", fit.bytes, text);
    if (columns == SIZE_MAX)
        return fit.bytes;
    fit.columns = pf_columns(text, fit.bytes);
    drop_clones(&fit);
    empty_brackets(&fit, PF_BRACKET_ARGUMENTS);
    empty_brackets(&fit, PF_BRACKET_PARAMETERS);
    if (fit.columns > columns)
        drop_types(&fit);
    if (fit.columns > columns && columns < FEW)
        drop_scopes(&fit);
    if (fit.columns > columns)
        cut(&fit);
    return fit.bytes;
}
