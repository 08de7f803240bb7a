/* SPDX-License-Identifier: MIT */
#include "base/siphash.h"

#include "base/bytes.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v3;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 += s->v3;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 += s->v1;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v2 = rotate(s->v2, 32);
}

static void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    sip_round(s);
    s->v0 ^= word;
}

uint64_t pf_siphash(const uint64_t key[2], const void *data, size_t bytes)
{
    const uint8_t *at = data;
    struct sip s = {key[0] ^ 0x736f6d6570736575ull, key[1] ^ 0x646f72616e646f6dull, key[0] ^ 0x6c7967656e657261ull,
                    key[1] ^ 0x7465646279746573ull};
    const uint8_t *const end = at + bytes / 8 * 8;
    uint64_t last = (uint64_t)bytes << 56;
    for (; at < end; at += 8)
        sip_word(&s, pf_load64(at, PF_NATIVE_BIG_ENDIAN));
    for (size_t i = 0; i < bytes % 8; i++)
        last |= (uint64_t)at[i] << 8 * i;
    sip_word(&s, last);
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
