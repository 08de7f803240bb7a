/* SPDX-License-Identifier: MIT */
#include "guess.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Insertions, deletions, replacements and swaps of neighbours that make b of a; both shorter than PF_GUESS_BYTES. */
static size_t edit_distance(const char *a, const char *b)
{
    size_t rows = strlen(a), columns = strlen(b);
    size_t cost[PF_GUESS_BYTES][PF_GUESS_BYTES];

    for (size_t i = 0; i <= rows; i++)
        for (size_t j = 0; j <= columns; j++) {
            if (!i || !j) {
                cost[i][j] = i + j;
                continue;
            }
            cost[i][j] = smallest(cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && cost[i - 2][j - 2] + 1 < cost[i][j])
                cost[i][j] = cost[i - 2][j - 2] + 1;
        }
    return cost[rows][columns];
}

struct pf_guess pf_guess_start(const char *wanted)
{
    size_t third = (strlen(wanted) + 1) / 3;

    /* A third of the letters may be wrong: more would suggest the unrelated. */
    return (struct pf_guess){wanted, NULL, (third ? third : 1) + 1};
}

size_t pf_guess_distance(const struct pf_guess *guess, const char *candidate)
{
    return strlen(guess->wanted) < PF_GUESS_BYTES && strlen(candidate) < PF_GUESS_BYTES
               ? edit_distance(guess->wanted, candidate)
               : SIZE_MAX;
}

void pf_guess_offer(struct pf_guess *guess, const char *candidate)
{
    const size_t distance = pf_guess_distance(guess, candidate);

    if (distance < guess->distance) {
        guess->best = candidate;
        guess->distance = distance;
    }
}

const char *pf_guess_text(const struct pf_guess *guess, const char *prefix, char *buffer, size_t bytes)
{
    if (!guess->best)
        return "";
    snprintf(buffer, bytes, "; did you mean %s%s?", prefix, guess->best);
    return buffer;
}
