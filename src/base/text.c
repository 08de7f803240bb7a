/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <math.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/locale.h"

enum {
    TEXT_BUFFER = 256 * 1024,
    RESERVED_MAX = TEXT_BUFFER / 4, /* of one pf_text_reserve */
};

int pf_text_open(struct pf_text *text, const struct perfile_allocator *allocator,
                 int (*write)(void *context, const void *data, size_t bytes), void *context)
{
    /* there are many that stay in memory, most of them short */
    const size_t capacity = write ? TEXT_BUFFER : RESERVED_MAX;
    *text = (struct pf_text){.allocator = allocator, .write = write, .context = context};
    text->data = pf_resize(allocator, NULL, 0, capacity);
    if (!text->data)
        return PERFILE_ERROR_MEMORY;
    text->capacity = capacity;
    return 0;
}

void pf_text_close(struct pf_text *text)
{
    pf_free(text->allocator, text->data, text->capacity);
    *text = (struct pf_text){.allocator = text->allocator};
}

/* What was made without enough memory may be anything: it goes nowhere. */
static void look_at_memory(struct pf_text *text)
{
    if (!text->failed && pf_memory_was_short(text->allocator))
        text->failed = PERFILE_ERROR_MEMORY;
}

int pf_text_flush(struct pf_text *text)
{
    look_at_memory(text);
    if (text->write && text->used) {
        if (!text->failed && text->write(text->context, text->data, text->used) != 0)
            text->failed = PERFILE_ERROR_WRITE;
        text->used = 0;
    }
    return text->failed;
}

char *pf_text_grow(struct pf_text *text, size_t bytes)
{
    if (text->write || text->failed) {
        pf_text_flush(text);
        if (text->failed)
            text->used = 0;
    } else if (!pf_grow(text->allocator, &text->data, &text->capacity, text->used + bytes, 1)) {
        text->failed = PERFILE_ERROR_MEMORY;
        text->used = 0;
    }
    return text->data + text->used;
}

void pf_put(struct pf_text *text, const void *data, size_t bytes)
{
    const char *from = data;
    while (bytes) {
        size_t piece = bytes < RESERVED_MAX ? bytes : RESERVED_MAX;
        char *at = pf_text_reserve(text, piece);
        memcpy(at, from, piece);
        pf_text_commit(text, at + piece);
        from += piece;
        bytes -= piece;
    }
}

void pf_put_through(struct pf_text *text, const void *data, size_t bytes)
{
    if (!text->write || bytes < RESERVED_MAX)
        pf_put(text, data, bytes);
    else if (pf_text_flush(text) == 0 && text->write(text->context, data, bytes) != 0)
        text->failed = PERFILE_ERROR_WRITE;
}

void pf_put_string(struct pf_text *text, const char *string)
{
    pf_put(text, string, strlen(string));
}

static void put_escaped(struct pf_text *text, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        const size_t run = pf_printable_run(p, (size_t)(end - p));
        pf_put(text, p, run);
        p += run;
        if (p < end)
            pf_put_format(text, "\\x%02x", *p++);
    }
}

void pf_put_name_bytes(struct pf_text *text, const void *name, size_t bytes)
{
    if (text->escapes && PF_UNLIKELY(pf_printable_run(name, bytes) < bytes))
        put_escaped(text, name, (const uint8_t *)name + bytes);
    else
        pf_put(text, name, bytes);
}

void pf_put_name(struct pf_text *text, const char *name)
{
    const char *known = name ? name : "[unknown]";
    pf_put_name_bytes(text, known, strlen(known));
}

void pf_text_escape(struct pf_text *text, size_t start)
{
    const size_t end = text->used;
    if (PF_LIKELY(text->failed || pf_printable_run(text->data + start, end - start) == end - start))
        return;
    char *copy = pf_resize(text->allocator, NULL, 0, end - start);
    if (!copy) {
        text->failed = PERFILE_ERROR_MEMORY;
        text->used = 0;
        return;
    }
    memcpy(copy, text->data + start, end - start);
    text->used = start;
    put_escaped(text, (const uint8_t *)copy, (const uint8_t *)copy + (end - start));
    pf_free(text->allocator, copy, end - start);
}

void pf_put_char(struct pf_text *text, char c)
{
    char *at = pf_text_reserve(text, 1);
    *at = c;
    pf_text_commit(text, at + 1);
}

static const char digit_pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                  "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

unsigned pf_digit_count(uint64_t value)
{
    static const uint64_t powers[] = {0,
                                      10,
                                      100,
                                      1000,
                                      10000,
                                      100000,
                                      1000000,
                                      10000000,
                                      100000000,
                                      1000000000,
                                      10000000000,
                                      100000000000,
                                      1000000000000,
                                      10000000000000,
                                      100000000000000,
                                      1000000000000000,
                                      10000000000000000,
                                      100000000000000000,
                                      1000000000000000000,
                                      10000000000000000000u};
    unsigned bits = 63 - (unsigned)__builtin_clzll(value | 1);
    unsigned guess = (bits + 1) * 1233 >> 12; /* log10(2) = 1233/4096; either right or one too low */
    return guess + (value >= powers[guess]);
}

char *pf_digits_fixed(char *at, uint64_t value, unsigned count)
{
    char *end = at + count;
    char *p = end;
    for (; value > UINT32_MAX && count >= 2; count -= 2, value /= 100)
        memcpy(p -= 2, digit_pairs + value % 100 * 2, 2);
    uint32_t small = (uint32_t)value; /* 32-bit divisions take a third of the time */
    for (; count >= 2; count -= 2, small /= 100)
        memcpy(p -= 2, digit_pairs + small % 100 * 2, 2);
    if (count)
        *--p = (char)('0' + small % 10);
    return end;
}

char *pf_digits(char *at, uint64_t value)
{
    return pf_digits_fixed(at, value, pf_digit_count(value));
}

char *pf_hex_digits_fixed(char *at, uint64_t value, unsigned count)
{
    for (unsigned i = count; i-- > 0; value >>= 4)
        at[i] = "0123456789abcdef"[value & 15];
    return at + count;
}

/* The eight digits of a value, the first one in the highest byte. */
static uint64_t hex_word(uint32_t value)
{
    const uint64_t ones = 0x0101010101010101u;
    uint64_t word = (uint64_t)(value >> 16) << 32 | (value & 0xffff);
    word = (word | word << 8) & 0x00ff00ff00ff00ffu;
    word = (word | word << 4) & 0x0f0f0f0f0f0f0f0fu;
    const uint64_t letters = (word + 6 * ones) >> 4 & ones; /* 1 for digits above 9 */
    return word + '0' * ones + letters * ('a' - '0' - 10);
}

static void store_word(char *at, uint64_t word)
{
    word = PF_NATIVE_BIG_ENDIAN ? word : __builtin_bswap64(word);
    memcpy(at, &word, sizeof(word));
}

char *pf_hex_digits(char *at, uint64_t value)
{
    const unsigned count = (67 - (unsigned)__builtin_clzll(value | 1)) / 4;
    value <<= 4 * (16 - count);
    store_word(at, hex_word((uint32_t)(value >> 32)));
    store_word(at + 8, hex_word((uint32_t)value));
    return at + count;
}

void pf_put_unsigned(struct pf_text *text, uint64_t value)
{
    pf_text_commit(text, pf_digits(pf_text_reserve(text, 20), value));
}

void pf_put_grouped(struct pf_text *text, uint64_t value)
{
    char digits[20], *at = pf_text_reserve(text, 26);
    const ptrdiff_t count = pf_digits(digits, value) - digits;
    for (ptrdiff_t i = 0; i < count; i++) {
        if (i && (count - i) % 3 == 0)
            *at++ = ',';
        *at++ = digits[i];
    }
    pf_text_commit(text, at);
}

void pf_put_signed(struct pf_text *text, int64_t value)
{
    if (value < 0)
        pf_put_char(text, '-');
    pf_put_unsigned(text, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void pf_put_hex(struct pf_text *text, uint64_t value)
{
    pf_text_commit(text, pf_hex_digits(pf_text_reserve(text, 16), value));
}

/* A double below 2^40 as hundredths, rounded as printf does: by its exact value, the middle to the even number. */
static uint64_t hundredths_of(double value)
{
    enum { MANTISSA_BITS = 52, BIAS = 1023 };
    uint64_t bits;
    memcpy(&bits, &value, sizeof(bits));
    const unsigned exponent = (unsigned)(bits >> MANTISSA_BITS);
    const uint64_t mantissa = (bits & (((uint64_t)1 << MANTISSA_BITS) - 1)) | (uint64_t)1 << MANTISSA_BITS;
    const unsigned shift = BIAS + MANTISSA_BITS - exponent;
    if (shift > 63) /* below half a hundredth */
        return 0;
    const uint64_t product = mantissa * 100, half = (uint64_t)1 << (shift - 1);
    const uint64_t integer = product >> shift, rest = product & (half * 2 - 1);
    return integer + (rest > half || (rest == half && integer & 1));
}

void pf_put_hundredths(struct pf_text *text, double value, unsigned width)
{
    char *at = pf_text_reserve(text, 64);
    if (!(value >= 0.0 && value < (double)((uint64_t)1 << 40)) || width > 32 || signbit(value)) {
        pf_put_format(text, "%*.2f", (int)width, value);
        return;
    }
    const uint64_t hundredths = hundredths_of(value);
    const unsigned digits = pf_digit_count(hundredths / 100);
    for (unsigned used = digits + 3; used < width; used++)
        *at++ = ' ';
    at = pf_digits_fixed(at, hundredths / 100, digits);
    *at++ = '.';
    pf_text_commit(text, pf_digits_fixed(at, hundredths % 100, 2));
}

void pf_put_ms(struct pf_text *text, uint64_t ns, unsigned width)
{
    enum { FRACTION = 4, CAPACITY = 64 };
    const uint64_t us = (ns + 500) / 1000;
    /* the double is further from the middle of two texts than it is from the number, unless that is the middle */
    if (ns >= (uint64_t)1 << 50 || ns % 1000 == 500 || width > CAPACITY / 2) {
        pf_put_format(text, "%*.3f", (int)width, (double)ns / 1e6);
        return;
    }
    char *at = pf_text_reserve(text, CAPACITY);
    const unsigned digits = pf_digit_count(us / 1000);
    for (unsigned used = digits + FRACTION; used < width; used++)
        *at++ = ' ';
    at = pf_digits_fixed(at, us / 1000, digits);
    *at++ = '.';
    pf_text_commit(text, pf_digits_fixed(at, us % 1000, 3));
}

char *pf_hex_bytes(char *at, const void *data, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    const uint8_t *from = data;
    for (size_t i = 0; i < bytes; i++) {
        *at++ = digits[from[i] >> 4];
        *at++ = digits[from[i] & 15];
    }
    return at;
}

void pf_put_hex_bytes(struct pf_text *text, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    while (bytes) {
        size_t piece = bytes < 4096 ? bytes : 4096;
        pf_text_commit(text, pf_hex_bytes(pf_text_reserve(text, piece * 2), from, piece));
        from += piece;
        bytes -= piece;
    }
}

void pf_put_format(struct pf_text *text, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int bytes = pf_format_arguments(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (bytes > 0)
        pf_put(text, line, (size_t)bytes < sizeof(line) ? (size_t)bytes : sizeof(line) - 1);
}

/* The number of a character of `bytes` bytes. */
static uint32_t character_at(const uint8_t *p, size_t bytes)
{
    uint32_t character = bytes == 1 ? p[0] : p[0] & (0xffu >> (bytes + 1));
    for (size_t i = 1; i < bytes; i++)
        character = character << 6 | (p[i] & 0x3f);
    return character;
}

static void put_json_escape(struct pf_text *text, uint32_t c)
{
    static const char shorts[] = "\bb\ff\nn\rr\tt\"\"\\\\";
    for (size_t i = 0; i + 1 < sizeof(shorts); i += 2) {
        if (c == (uint8_t)shorts[i]) {
            pf_put(text, (char[]){'\\', shorts[i + 1]}, 2);
            return;
        }
    }
    pf_put_format(text, "\\u%04x", c);
}

/* How much of what stands at p JSON takes as it is; 0: it has to be escaped. */
static size_t json_length(const uint8_t *p, size_t left)
{
    if (PF_LIKELY(*p >= 0x20 && *p < 0x7f))
        return *p != '"' && *p != '\\';
    return pf_printable_length(p, left);
}

/* Returns how much of what stands at p it stands for. */
static size_t put_json_character(struct pf_text *text, const uint8_t *p, size_t left)
{
    const size_t length = pf_utf8_length(p, left);
    if (!length) {
        pf_put_format(text, "\\\\x%02x", *p);
        return 1;
    }
    put_json_escape(text, character_at(p, length));
    return length;
}

void pf_put_json_string(struct pf_text *text, const void *data, size_t bytes)
{
    const uint8_t *p = data, *end = p + bytes, *plain = p;
    pf_put_char(text, '"');
    while (p < end) {
        const size_t length = json_length(p, (size_t)(end - p));
        p += length;
        if (PF_LIKELY(length))
            continue;
        pf_put(text, plain, (size_t)(p - plain));
        plain = p += put_json_character(text, p, (size_t)(end - p));
    }
    pf_put(text, plain, (size_t)(p - plain));
    pf_put_char(text, '"');
}

/* How eight bytes at once change a checksum: by each of them alone. */
struct crc_tables {
    uint32_t of[8][256];
};

static const uint32_t crc_nibbles[16] = {0,          0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
                                         0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                         0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};

static uint32_t crc_add(uint32_t crc, uint8_t byte)
{
    crc = crc_nibbles[(crc ^ byte) & 15] ^ crc >> 4;
    return crc_nibbles[(crc ^ byte >> 4) & 15] ^ crc >> 4;
}

/* Takes as long as the checksum of some kilobytes by itself. */
static void crc_prepare(struct crc_tables *tables)
{
    for (uint32_t i = 0; i < 256; i++)
        tables->of[0][i] = crc_add(i, 0);
    for (size_t k = 1; k < 8; k++)
        for (uint32_t i = 0; i < 256; i++)
            tables->of[k][i] = tables->of[0][tables->of[k - 1][i] & 255] ^ tables->of[k - 1][i] >> 8;
}

static uint32_t crc_add_many(uint32_t crc, const uint8_t *p, size_t eights)
{
    struct crc_tables tables;
    crc_prepare(&tables);
    for (; eights--; p += 8) {
        const uint64_t eight = pf_load64(p, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ^ crc;
        crc = 0;
        for (unsigned k = 0; k < 8; k++)
            crc ^= tables.of[7 - k][eight >> 8 * k & 255];
    }
    return crc;
}

uint32_t pf_crc32(uint32_t crc, const void *data, size_t bytes)
{
    enum { MANY = 16 * 1024 };
    const uint8_t *p = data, *end = p + bytes;
    crc = ~crc;
    if (bytes >= MANY) {
        crc = crc_add_many(crc, p, bytes / 8);
        p += bytes / 8 * 8;
    }
    while (p < end)
        crc = crc_add(crc, *p++);
    return ~crc;
}

void pf_put_double(struct pf_text *text, double value)
{
    char digits[32];
    if (!isfinite(value)) {
        pf_put_string(text, "null");
        return;
    }
    for (int precision = 15; precision <= 17; precision++) { /* what 15 digits can say, they say without more zeros */
        pf_format(digits, sizeof(digits), "%.*g", precision, value);
        if (pf_parse_double(digits, NULL) == value)
            break;
    }
    pf_put_string(text, digits);
}
