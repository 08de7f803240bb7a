/* SPDX-License-Identifier: MIT */
/* Lets libFuzzer mutate recordings as what they are; every fourth time it does it its own way. */
#include <string.h>

#include "mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes, uint8_t *out,
                                 size_t capacity, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned seed)
{
    struct mutant mutant = {.data = data, .bytes = bytes, .capacity = capacity, .chance = seed};
    if (seed % 4 == 0)
        return LLVMFuzzerMutate(data, bytes, capacity);
    mutate(&mutant);
    return mutant.bytes;
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t a_bytes, const uint8_t *b, size_t b_bytes, uint8_t *out,
                                 size_t capacity, unsigned seed)
{
    struct mutant mutant = {.data = out, .capacity = capacity, .other = b, .other_bytes = b_bytes, .chance = seed};
    mutant.bytes = a_bytes < capacity ? a_bytes : capacity;
    memcpy(out, a, mutant.bytes);
    mutate(&mutant);
    return mutant.bytes;
}
