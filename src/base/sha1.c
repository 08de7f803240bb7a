/* SPDX-License-Identifier: MIT */
#include "base/sha1.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 80 };

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

static uint32_t big_word(const uint8_t *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (round < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void add_block(uint32_t hash[5], const uint8_t block[BLOCK_BYTES])
{
    uint32_t words[ROUNDS], a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4];
    for (unsigned i = 0; i < ROUNDS; i++)
        words[i] =
            i < 16 ? big_word(block + 4 * i) : rotate(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + words[i];
        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    hash[0] += a;
    hash[1] += b;
    hash[2] += c;
    hash[3] += d;
    hash[4] += e;
}

void pf_sha1(const void *data, size_t bytes, uint8_t digest[PF_SHA1_BYTES])
{
    uint32_t hash[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    const uint8_t *at = data;
    const uint64_t bits = (uint64_t)bytes * 8;
    uint8_t last[2 * BLOCK_BYTES] = {0};
    for (; bytes >= BLOCK_BYTES; bytes -= BLOCK_BYTES, at += BLOCK_BYTES)
        add_block(hash, at);
    const size_t end = bytes + 9 > BLOCK_BYTES ? 2 * BLOCK_BYTES : BLOCK_BYTES;
    if (bytes)
        memcpy(last, at, bytes);
    last[bytes] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        last[end - 1 - i] = (uint8_t)(bits >> 8 * i);
    for (size_t i = 0; i < end; i += BLOCK_BYTES)
        add_block(hash, last + i);
    for (unsigned i = 0; i < PF_SHA1_BYTES; i++)
        digest[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
}
