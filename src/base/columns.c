/* SPDX-License-Identifier: MIT */
#include "base/columns.h"

#include "base/escape.h"
#include "base/sort.h"

/* By what terminals do (Unicode's East Asian Width W and F, general categories Mn and Me), in blocks. Ascending. */
static const struct {
    uint32_t first, last;
    unsigned columns;
} ranges[] = {
    {0x300, 0x36f, 0},     {0x483, 0x489, 0},     {0x591, 0x5bd, 0},     {0x610, 0x61a, 0},     {0x64b, 0x65f, 0},
    {0x1100, 0x115f, 2},   {0x1ab0, 0x1aff, 0},   {0x1dc0, 0x1dff, 0},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
    {0x231a, 0x231b, 2},   {0x23e9, 0x23ec, 2},   {0x2614, 0x2615, 2},   {0x2648, 0x2653, 2},   {0x26a1, 0x26a1, 2},
    {0x2705, 0x2705, 2},   {0x270a, 0x270b, 2},   {0x2728, 0x2728, 2},   {0x274c, 0x274c, 2},   {0x2753, 0x2755, 2},
    {0x2e80, 0x3029, 2},   {0x302a, 0x302d, 0},   {0x302e, 0x303e, 2},   {0x3041, 0x3098, 2},   {0x3099, 0x309a, 0},
    {0x309b, 0x4dbf, 2},   {0x4e00, 0xa4cf, 2},   {0xa960, 0xa97c, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},   {0xfe10, 0xfe19, 2},   {0xfe20, 0xfe2f, 0},   {0xfe30, 0xfe6f, 2},   {0xfeff, 0xfeff, 0},
    {0xff01, 0xff60, 2},   {0xffe0, 0xffe6, 2},   {0x16fe0, 0x18cff, 2}, {0x1b000, 0x1b2ff, 2}, {0x1f300, 0x1f64f, 2},
    {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1f9ff, 2}, {0x1fa70, 0x1faff, 2}, {0x20000, 0x3fffd, 2}, {0xe0100, 0xe01ef, 0},
};

static uint32_t code_point(const uint8_t *p, size_t length)
{
    uint32_t code = p[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (p[i] & 0x3f);
    return code;
}

static unsigned columns_of(uint32_t code)
{
    const size_t at = PF_COUNT_BEFORE(PF_COUNT(ranges), i, ranges[i].last < code);
    return at < PF_COUNT(ranges) && code >= ranges[at].first ? ranges[at].columns : 1;
}

size_t pf_character(const char *text, size_t bytes, unsigned *columns)
{
    const uint8_t *p = (const uint8_t *)text;
    const size_t length = pf_utf8_length(p, bytes);
    *columns = length > 1 ? columns_of(code_point(p, length)) : 1;
    return length ? length : 1;
}

size_t pf_columns(const char *text, size_t bytes)
{
    size_t sum = 0;
    unsigned columns;
    for (size_t at = 0; at < bytes; sum += columns)
        at += pf_character(text + at, bytes - at, &columns);
    return sum;
}

size_t pf_head_bytes(const char *text, size_t bytes, size_t columns)
{
    size_t at = 0;
    while (at < bytes) {
        unsigned width;
        const size_t length = pf_character(text + at, bytes - at, &width);
        if (width > columns)
            break;
        columns -= width;
        at += length;
    }
    return at;
}
