/* SPDX-License-Identifier: MIT */
#include "output/table/encode.h"

enum {
    GROUP = 8, /* numbers are packed by so many */
    DELTA_BLOCK = 128,
    DELTA_PARTS = 4,
    DELTA_PART = DELTA_BLOCK / DELTA_PARTS,
};

static uint8_t *store(uint8_t *at, uint64_t bits, size_t bytes)
{
    bits = pf_load64(&bits, PF_NATIVE_BIG_ENDIAN);
    memcpy(at, &bits, bytes);
    return at + bytes;
}

/* Bits that come one after the other, the lowest first. */
struct packer {
    uint8_t *at;
    uint64_t held;
    unsigned used;
};

static inline void pack(struct packer *packer, uint64_t number, unsigned width)
{
    packer->held |= number << packer->used;
    packer->used += width;
    if (packer->used >= 64) {
        packer->at = store(packer->at, packer->held, 8);
        packer->used -= 64;
        packer->held = packer->used ? number >> (width - packer->used) : 0;
    }
}

static void finish(struct packer *packer)
{
    store(packer->at, packer->held, (packer->used + 7) / 8);
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void put_packed(struct pf_block *to, const uint32_t *numbers, size_t count, unsigned width)
{
    const size_t groups = (count + GROUP - 1) / GROUP;
    pf_block_varint(to, groups << 1 | 1);
    uint8_t *at = pf_block_reserve(to, groups * width);
    if (!at)
        return;
    struct packer packer = {.at = at};
    for (size_t i = 0; i < count; i++)
        pack(&packer, numbers[i], width);
    for (size_t i = count; i < groups * GROUP; i++)
        pack(&packer, 0, width);
    finish(&packer);
    to->used += groups * width;
}

static void put_run(struct pf_block *to, uint32_t number, size_t count, unsigned width)
{
    uint8_t bytes[8];
    pf_block_varint(to, (uint64_t)count << 1);
    store(bytes, number, sizeof(bytes));
    pf_block_put(to, bytes, (width + 7) / 8);
}

static size_t run_at(const uint32_t *numbers, size_t at, size_t count)
{
    size_t end = at + 1;
    while (end < count && numbers[end] == numbers[at])
        end++;
    return end - at;
}

void pf_encode_runs(struct pf_block *to, const uint32_t *numbers, size_t count, unsigned width)
{
    size_t packed = 0; /* where what is not yet written begins */
    for (size_t i = 0; i < count;) {
        const size_t run = run_at(numbers, i, count), missing = (GROUP - (i - packed) % GROUP) % GROUP;
        if (run >= missing + GROUP) {
            if (i + missing > packed)
                put_packed(to, numbers + packed, i + missing - packed, width);
            put_run(to, numbers[i], run - missing, width);
            packed = i + run;
        }
        i += run;
    }
    if (count > packed)
        put_packed(to, numbers + packed, count - packed, width);
}

/* ---- deltas ------------------------------------------------------------------------------------------------------ */

static void put_delta_block(struct pf_block *to, uint64_t deltas[DELTA_BLOCK], size_t count)
{
    int64_t min = (int64_t)deltas[0];
    unsigned widths[DELTA_PARTS];
    for (size_t i = 1; i < count; i++)
        min = (int64_t)deltas[i] < min ? (int64_t)deltas[i] : min;
    for (size_t i = 0; i < DELTA_BLOCK; i++)
        deltas[i] = i < count ? deltas[i] - (uint64_t)min : 0;
    pf_block_varint(to, pf_zigzag(min));
    for (size_t part = 0; part < DELTA_PARTS; part++) {
        uint64_t all = 0;
        for (size_t i = 0; i < DELTA_PART; i++)
            all |= deltas[part * DELTA_PART + i];
        widths[part] = all ? pf_bits_of(all) : 0;
        pf_block_u8(to, widths[part]);
    }
    for (size_t part = 0; part * DELTA_PART < count; part++) {
        uint8_t *at = pf_block_reserve(to, DELTA_PART * sizeof(uint64_t));
        struct packer packer = {.at = at};
        for (size_t i = 0; at && widths[part] && i < DELTA_PART; i++)
            pack(&packer, deltas[part * DELTA_PART + i], widths[part]);
        if (at) {
            finish(&packer);
            to->used += DELTA_PART * widths[part] / 8;
        }
    }
}

void pf_encode_deltas(struct pf_block *to, const int64_t *numbers, size_t count)
{
    uint64_t deltas[DELTA_BLOCK];
    pf_block_varint(to, DELTA_BLOCK);
    pf_block_varint(to, DELTA_PARTS);
    pf_block_varint(to, count);
    pf_block_varint(to, pf_zigzag(count ? numbers[0] : 0));
    for (size_t from = 1; from < count; from += DELTA_BLOCK) {
        const size_t some = pf_min_size(count - from, DELTA_BLOCK);
        for (size_t i = 0; i < some; i++)
            deltas[i] = (uint64_t)numbers[from + i] - (uint64_t)numbers[from + i - 1];
        put_delta_block(to, deltas, some);
    }
}

/* ---- plain ------------------------------------------------------------------------------------------------------- */

void pf_encode_plain(struct pf_block *to, const int64_t *numbers, size_t count, size_t width)
{
    uint8_t *at = count <= SIZE_MAX / width ? pf_block_reserve(to, count * width) : NULL;
    for (size_t i = 0; at && i < count; i++)
        at = store(at, (uint64_t)numbers[i], width);
    to->used += at ? count * width : 0;
}

void pf_encode_bits(struct pf_block *to, const int64_t *numbers, size_t count)
{
    const size_t bytes = (count + 7) / 8;
    uint8_t *at = pf_block_reserve(to, bytes);
    if (!at)
        return;
    struct packer packer = {.at = at};
    for (size_t i = 0; i < count; i++)
        pack(&packer, numbers[i] != 0, 1);
    finish(&packer);
    to->used += bytes;
}
