/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "base/bytes.h"
#include "output/annotate/annotate.h"

enum {
    LANES = 6,          /* more lanes are hard to follow */
    MAX_LINES = 200,    /* lines; longer arrows are not drawn */
    SHORTEST_STEPS = 8, /* arrows up to this length are drawn first, then up to twice this length, and so on */
};

enum { EMPTY = ' ', PASSES = '|', ACROSS = '-', UPPER = '/', LOWER = '\\', HEAD = '>' };

static char *cell(const struct pf_arrows *arrows, size_t line, unsigned column)
{
    return &arrows->cells[line * (arrows->lanes + 1) + column];
}

/* The innermost lane in which nothing is between the two lines; LANES: there is none. */
static unsigned free_lane(const struct pf_arrows *arrows, size_t first, size_t last)
{
    for (unsigned lane = 0; lane < arrows->lanes; lane++) {
        size_t line = first;
        while (line <= last && *cell(arrows, line, arrows->lanes - 1 - lane) == EMPTY)
            line++;
        if (line > last)
            return lane;
    }
    return LANES;
}

/* From the lane to the instruction: what goes up and down is crossed. */
static void draw_across(const struct pf_arrows *arrows, size_t line, unsigned column, char end)
{
    for (unsigned at = column + 1; at < arrows->lanes; at++)
        if (*cell(arrows, line, at) == EMPTY)
            *cell(arrows, line, at) = ACROSS;
    char *last = cell(arrows, line, arrows->lanes);
    *last = *last == HEAD ? HEAD : end;
}

static void draw(const struct pf_arrows *arrows, size_t from, size_t to)
{
    const size_t first = pf_min(from, to), last = pf_max(from, to);
    const unsigned lane = free_lane(arrows, first, last);
    if (lane == LANES)
        return;
    const unsigned column = arrows->lanes - 1 - lane;
    for (size_t line = first + 1; line < last; line++)
        *cell(arrows, line, column) = PASSES;
    *cell(arrows, first, column) = UPPER;
    *cell(arrows, last, column) = LOWER;
    draw_across(arrows, from, column, ACROSS);
    draw_across(arrows, to, column, HEAD);
}

static size_t length_of(const struct perfile_listing_line *line, size_t index)
{
    const size_t to = line->target;
    return line->target == PERFILE_NO_ID || to == index ? SIZE_MAX : to > index ? to - index : index - to;
}

/* Short ones first, so that they are innermost. */
static void draw_all(const struct pf_arrows *arrows, const struct pf_annotate_function *function)
{
    for (size_t shortest = 0, longest = SHORTEST_STEPS; shortest < MAX_LINES; shortest = longest, longest *= 2)
        for (size_t i = 0; i < function->line_count; i++) {
            const struct perfile_listing_line line = pf_annotate_line(function, i);
            const size_t length = length_of(&line, i);
            if (length > shortest && length <= pf_min(longest, MAX_LINES))
                draw(arrows, i, line.target);
        }
}

static bool has_jumps(const struct pf_annotate_function *function)
{
    for (size_t i = 0; i < function->line_count; i++) {
        const struct perfile_listing_line line = pf_annotate_line(function, i);
        if (length_of(&line, i) <= MAX_LINES)
            return true;
    }
    return false;
}

/* Lanes that nothing is drawn in go. */
static void narrow(struct pf_arrows *arrows)
{
    unsigned unused = 0;
    while (unused < arrows->lanes) {
        size_t line = 0;
        while (line < arrows->line_count && *cell(arrows, line, unused) == EMPTY)
            line++;
        if (line < arrows->line_count)
            break;
        unused++;
    }
    const unsigned lanes = arrows->lanes - unused;
    for (size_t line = 0; line < arrows->line_count; line++)
        memmove(arrows->cells + line * (lanes + 1), cell(arrows, line, unused), lanes + 1);
    arrows->lanes = lanes;
}

bool pf_arrows_open(struct pf_arrows *arrows, const struct pf_annotate_function *function,
                    const struct perfile_allocator *allocator)
{
    *arrows = (struct pf_arrows){.allocator = allocator};
    if (!has_jumps(function))
        return true;
    arrows->bytes = function->line_count * (LANES + 1);
    if (!(arrows->cells = pf_new(allocator, arrows->bytes)))
        return false;
    memset(arrows->cells, EMPTY, arrows->bytes);
    arrows->line_count = function->line_count;
    arrows->lanes = LANES;
    draw_all(arrows, function);
    narrow(arrows);
    return true;
}

void pf_arrows_close(struct pf_arrows *arrows)
{
    pf_free(arrows->allocator, arrows->cells, arrows->bytes);
}

void pf_arrows_put(const struct pf_arrows *arrows, size_t line, bool between, struct pf_text *text)
{
    for (unsigned column = 0; arrows->cells && column <= arrows->lanes; column++) {
        const char here = *cell(arrows, line, column);
        pf_put_char(text, !between || here == PASSES ? here : here == LOWER ? PASSES : EMPTY);
    }
}
