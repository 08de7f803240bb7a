/* SPDX-License-Identifier: MIT */
/*
 * A column of numbers in little memory: LEB128, in blocks, so that none is copied when it grows. Repeated numbers need
 * little: after two equal ones comes how many more of them follow.
 */
#ifndef PF_OUTPUT_FLAME_NUMBERS_H
#define PF_OUTPUT_FLAME_NUMBERS_H

#include "base/memory.h"
#include "base/varint.h"

enum {
    PF_NUMBERS_BLOCK_BYTES = 16 << 10,
    PF_NUMBERS_MAX_BYTES =
        3 * PF_LEB128_BYTES + 1 /* that one number adds: those before it, too, and one that is read */
};

struct pf_numbers_block {
    struct pf_numbers_block *next;
    const uint8_t *end; /* of what is in it; of the last one pf_numbers has it */
    uint8_t data[PF_NUMBERS_BLOCK_BYTES - 2 * sizeof(void *)];
};

/* Zeroes are an empty one. */
struct pf_numbers {
    struct pf_numbers_block *first, *last;
    uint8_t *at, *end; /* the free part of the last one */
    uint64_t value;    /* the last number */
    uint64_t repeats;  /* of it, which are not written yet */
    unsigned value_bytes;
    size_t count;
    size_t bytes; /* of all numbers, each in LEB128 */
};

/* Writes the repeats, and reserves what one number adds. False when out of memory. */
bool pf_numbers_settle(struct pf_numbers *numbers, const struct perfile_allocator *allocator);

/* False when out of memory. */
static inline bool pf_numbers_put(struct pf_numbers *numbers, const struct perfile_allocator *allocator, uint64_t value)
{
    if (numbers->value != value || !numbers->count) {
        if ((numbers->repeats || numbers->end - numbers->at < PF_NUMBERS_MAX_BYTES) &&
            !pf_numbers_settle(numbers, allocator))
            return false;
        const uint8_t *from = numbers->at;
        numbers->at = pf_leb128_put(numbers->at, value);
        numbers->value_bytes = (unsigned)(numbers->at - from);
        numbers->value = value;
    } else {
        numbers->repeats++;
    }
    numbers->bytes += numbers->value_bytes;
    numbers->count++;
    return true;
}

void pf_numbers_close(struct pf_numbers *numbers, const struct perfile_allocator *allocator);

/* Zeroes are at the start. Good until the next number is put. */
struct pf_numbers_reading {
    const struct pf_numbers_block *block;
    const uint8_t *at, *end;
    uint64_t value;
    uint64_t repeats; /* of it, that come next */
};

/* One that is not a repetition of a known length. There must be one. */
uint64_t pf_numbers_get_other(const struct pf_numbers *numbers, struct pf_numbers_reading *reading);

/* There must be one more. */
static inline uint64_t pf_numbers_get(const struct pf_numbers *numbers, struct pf_numbers_reading *reading)
{
    if (!reading->repeats)
        return pf_numbers_get_other(numbers, reading);
    reading->repeats--;
    return reading->value;
}

/* Frees what lies before the reading; there must not be another. */
void pf_numbers_discard(struct pf_numbers *numbers, const struct pf_numbers_reading *reading,
                        const struct perfile_allocator *allocator);

#endif
