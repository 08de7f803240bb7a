/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/locale.h"
#include "record/event_parts.h"

struct pf_piece pf_piece_of(const char *text)
{
    return (struct pf_piece){text, strlen(text)};
}

bool pf_piece_is(struct pf_piece piece, const char *text)
{
    return strlen(text) == piece.bytes && !memcmp(piece.text, text, piece.bytes);
}

bool pf_piece_like(struct pf_piece piece, const char *text)
{
    return strlen(text) == piece.bytes && pf_begins_but_case(piece.text, text, piece.bytes);
}

bool pf_piece_next(struct pf_piece *rest, char separator, struct pf_piece *piece)
{
    char quote = 0;
    size_t at = 0;
    if (!rest->text)
        return false;
    for (; at < rest->bytes && (quote || rest->text[at] != separator); at++)
        if (quote ? rest->text[at] == quote : strchr("'\"", rest->text[at]) != NULL)
            quote = quote ? 0 : rest->text[at];
    *piece = (struct pf_piece){rest->text, at};
    *rest = at < rest->bytes ? (struct pf_piece){rest->text + at + 1, rest->bytes - at - 1} : (struct pf_piece){0};
    return true;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct pf_piece pf_piece_trim(struct pf_piece piece)
{
    for (; piece.bytes && is_space(*piece.text); piece.text++)
        piece.bytes--;
    while (piece.bytes && is_space(piece.text[piece.bytes - 1]))
        piece.bytes--;
    return piece;
}

static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 99;
}

bool pf_piece_digits(struct pf_piece piece, unsigned base, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < piece.bytes; i++) {
        const unsigned digit = digit_value(piece.text[i]);
        if (digit >= base || *number > (UINT64_MAX - digit) / base)
            return false;
        *number = *number * base + digit;
    }
    return piece.bytes > 0;
}

bool pf_piece_number(struct pf_piece piece, uint64_t *number)
{
    if (piece.bytes > 2 && piece.text[0] == '0' && (piece.text[1] | 0x20) == 'x')
        return pf_piece_digits((struct pf_piece){piece.text + 2, piece.bytes - 2}, 16, number);
    return pf_piece_digits(piece, 10, number);
}

bool pf_has_wildcard(struct pf_piece piece)
{
    for (size_t i = 0; i < piece.bytes; i++)
        if (strchr("*?[", piece.text[i]))
            return true;
    return false;
}

/* ---- did you mean ------------------------------------------------------------------------------------------------ */

#define COMPARED_BYTES 48

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c == '_' ? '-' : c;
}

/* Insertions, deletions, replacements and swaps of neighbours; capitals are like small letters, '_' like '-'. */
static size_t distance_of(struct pf_piece a, struct pf_piece b)
{
    uint8_t cost[COMPARED_BYTES][COMPARED_BYTES];
    for (size_t i = 0; i <= a.bytes; i++)
        for (size_t j = 0; j <= b.bytes; j++) {
            if (!i || !j) {
                cost[i][j] = (uint8_t)(i + j);
                continue;
            }
            const char x = lower(a.text[i - 1]), y = lower(b.text[j - 1]);
            unsigned min = (unsigned)cost[i - 1][j - 1] + (x != y);
            min = (unsigned)pf_min(min, pf_min(cost[i - 1][j], cost[i][j - 1]) + 1u);
            if (i > 1 && j > 1 && x == lower(b.text[j - 2]) && y == lower(a.text[i - 2]))
                min = (unsigned)pf_min(min, cost[i - 2][j - 2] + 1u);
            cost[i][j] = (uint8_t)min;
        }
    return cost[a.bytes][b.bytes];
}

void pf_near_offer(struct pf_near *near, const char *name, const char *shown)
{
    const struct pf_piece candidate = pf_piece_of(name);
    const size_t allowed = pf_max((near->wanted.bytes + 1) / 3, 1);
    size_t at = near->count;
    if (near->wanted.bytes >= COMPARED_BYTES || candidate.bytes >= COMPARED_BYTES || strlen(shown) >= PF_NEAR_BYTES)
        return;
    /* a third of the letters may be wrong: more would suggest the unrelated */
    const size_t distance = distance_of(near->wanted, candidate);
    if (distance > allowed)
        return;
    for (size_t i = 0; i < near->count; i++)
        if (!strcmp(near->best[i].name, shown))
            return;
    while (at > 0 && near->best[at - 1].distance > distance)
        at--;
    if (at == PF_NEAR_MAX)
        return;
    if (near->count < PF_NEAR_MAX)
        near->count++;
    memmove(near->best + at + 1, near->best + at, (near->count - at - 1) * sizeof(near->best[0]));
    near->best[at].distance = distance;
    memcpy(near->best[at].name, shown, strlen(shown) + 1);
}

const char *pf_near_text(const struct pf_near *near, char text[PF_NEAR_MAX * PF_NEAR_BYTES + 32])
{
    const size_t bytes = PF_NEAR_MAX * PF_NEAR_BYTES + 32;
    size_t count = near->count, used = 0;
    text[0] = '\0';
    /* what is twice as far off as the nearest is noise */
    while (count > 1 && near->best[count - 1].distance > 2 * near->best[0].distance)
        count--;
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 i == 0           ? "; did you mean "
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 near->best[i].name);
    if (count)
        snprintf(text + used, bytes - used, "?");
    return text;
}
