/* SPDX-License-Identifier: MIT */
/* Loads and stores in either byte order, and arithmetic that notices overflow. */
#ifndef PF_BASE_BYTES_H
#define PF_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PF_LIKELY(x) __builtin_expect(!!(x), 1)
#define PF_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PF_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define PF_NATIVE_BIG_ENDIAN true
#else
#define PF_NATIVE_BIG_ENDIAN false
#endif

static inline uint16_t pf_load16(const void *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, sizeof(v));
    return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t pf_load32(const void *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof(v));
    return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t pf_load64(const void *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof(v));
    return swap ? __builtin_bswap64(v) : v;
}

/* Adds to a sum that is at most UINT64_MAX; returns the part of `value` that was added. */
static inline uint64_t pf_add_to_sum(uint64_t *sum, uint64_t value)
{
    const uint64_t part = value <= UINT64_MAX - *sum ? value : UINT64_MAX - *sum;
    *sum += part;
    return part;
}

/* a + b fits and is stored. */
static inline bool pf_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

/* a * b fits and is stored. */
static inline bool pf_multiply(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

/* The 128 bits of a * b, on machines of any width. */
static inline void pf_multiply_wide(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32), other = a0 * b1 + (uint32_t)middle;
    *high = a1 * b1 + (middle >> 32) + (other >> 32);
    *low = a * b;
}

/* a * b <= c * d, whatever they come to. */
static inline bool pf_product_within(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t high, low, to_high, to_low;
    pf_multiply_wide(a, b, &high, &low);
    pf_multiply_wide(c, d, &to_high, &to_low);
    return high != to_high ? high < to_high : low <= to_low;
}

/* Of two size_t the result is one, also where that is narrower than uint64_t. */
#define pf_min(a, b) (_Generic((a) + (b), uint64_t : pf_min_u64, default : pf_min_size)(a, b))
#define pf_max(a, b) (_Generic((a) + (b), uint64_t : pf_max_u64, default : pf_max_size)(a, b))

static inline uint64_t pf_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline size_t pf_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline uint64_t pf_max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline size_t pf_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Negative, 0 or positive, as functions that sort compare; with ?: between them those of several members in turn. */
#define PF_COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

/* x rounded up to a multiple of 8; saturates at the last multiple. */
static inline uint64_t pf_align8(uint64_t x)
{
    return x > UINT64_MAX - 7 ? UINT64_MAX & ~7ull : (x + 7) & ~7ull;
}

static inline bool pf_starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Moves *at after this character. Returns false when another one follows. */
static inline bool pf_take_character(const char **at, char character)
{
    const bool found = **at == character;
    *at += found;
    return found;
}

/* Moves *at after a decimal number of at most so many digits. Returns false when no digit follows. */
static inline bool pf_take_digits(const char **at, unsigned most, unsigned *number)
{
    const char *start = *at;
    for (*number = 0; **at >= '0' && **at <= '9' && *at < start + most; ++*at)
        *number = *number * 10 + (unsigned)(**at - '0');
    return *at != start;
}

/* The first two numbers of "6.12.3". */
static inline bool pf_take_version(const char *text, unsigned *major, unsigned *minor)
{
    return pf_take_digits(&text, 4, major) && pf_take_character(&text, '.') && pf_take_digits(&text, 4, minor);
}

/*
 * FNV-1a of more bytes; it starts with PF_HASH_START. For tables in memory: a file can be made with texts that collide,
 * so equal hashes do not prove equal texts.
 */
#define PF_HASH_START 0xcbf29ce484222325ull
static inline uint64_t pf_hash_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3ull;
    return hash;
}

static inline uint64_t pf_hash_text(const char *text)
{
    uint64_t hash = PF_HASH_START;
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
    return hash;
}

/* Length of the text in a buffer that need not hold a NUL. */
static inline size_t pf_text_length(const void *text, size_t capacity)
{
    const void *nul = capacity ? memchr(text, 0, capacity) : NULL;
    return nul ? (size_t)((const char *)nul - (const char *)text) : capacity;
}

#endif
