/* SPDX-License-Identifier: MIT */
#include "base/escape.h"

#include <perfile/perfile.h>

#define EACH_BYTE(value) (UINT64_C(0x0101010101010101) * (value))

size_t pf_utf8_length(const uint8_t *p, size_t left)
{
    if (p[0] < 0x80)
        return 1;
    size_t length = p[0] >= 0xf0 && p[0] < 0xf5   ? 4
                    : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
                    : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
                                                  : 0;
    if (!length || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return length;
}

/* U+2028 to U+202E, U+2066 to U+2069: e2 80 a8 to ae, e2 81 a6 to a9. */
static bool reorders(const uint8_t *p)
{
    return p[0] == 0xe2 &&
           ((p[1] == 0x80 && p[2] >= 0xa8 && p[2] <= 0xae) || (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

size_t pf_printable_length(const uint8_t *p, size_t left)
{
    if (p[0] < 0x80)
        return p[0] >= 0x20 && p[0] != 0x7f;
    const size_t length = pf_utf8_length(p, left);
    return (length == 2 && p[0] == 0xc2 && p[1] < 0xa0) || (length == 3 && reorders(p)) ? 0 : length;
}

/* Eight bytes of 0x20 to 0x7e: what names mostly are. */
static bool is_plain_word(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof(word));
    const uint64_t delete = word ^ EACH_BYTE(0x7f);
    return !((word | (word - EACH_BYTE(0x20)) | (delete - EACH_BYTE(1))) & EACH_BYTE(0x80));
}

size_t pf_printable_run(const void *data, size_t bytes)
{
    const uint8_t *start = data, *p = start, *end = p + bytes;
    while (p < end) {
        if (end - p >= 8 && is_plain_word(p)) {
            p += 8;
            continue;
        }
        const size_t length = pf_printable_length(p, (size_t)(end - p));
        if (!length)
            break;
        p += length;
    }
    return (size_t)(p - start);
}

size_t perfile_text_escape(const void *text, size_t bytes, char *to, size_t capacity)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *p = text, *end = p + bytes;
    size_t used = 0;
    while (p < end) {
        const size_t length = pf_printable_length(p, (size_t)(end - p)), wanted = length ? length : 4;
        if (used + wanted >= capacity)
            break;
        if (length)
            memcpy(to + used, p, length);
        else
            memcpy(to + used, (char[]){'\\', 'x', digits[*p >> 4], digits[*p & 15]}, 4);
        used += wanted;
        p += length ? length : 1;
    }
    if (capacity)
        to[used] = 0;
    return used;
}
