/* SPDX-License-Identifier: MIT */
#include "output/flame/numbers.h"

/* ---- writing ---- */

static bool add_block(struct pf_numbers *numbers, const struct perfile_allocator *allocator)
{
    struct pf_numbers_block *last = numbers->last, *block = pf_resize(allocator, NULL, 0, sizeof(*block));
    if (!block)
        return false;
    block->next = NULL;
    if (last)
        last->end = numbers->at;
    *(last ? &last->next : &numbers->first) = block;
    numbers->last = block;
    numbers->at = block->data;
    numbers->end = block->data + sizeof(block->data);
    return true;
}

bool pf_numbers_settle(struct pf_numbers *numbers, const struct perfile_allocator *allocator)
{
    if (numbers->end - numbers->at < PF_NUMBERS_MAX_BYTES && !add_block(numbers, allocator))
        return false;
    if (numbers->repeats) {
        numbers->at = pf_leb128_put(numbers->at, numbers->value);
        numbers->at = pf_leb128_put(numbers->at, numbers->repeats - 1);
        numbers->repeats = 0;
    }
    return true;
}

void pf_numbers_close(struct pf_numbers *numbers, const struct perfile_allocator *allocator)
{
    while (numbers->first) {
        struct pf_numbers_block *block = numbers->first;
        numbers->first = block->next;
        pf_free(allocator, block, sizeof(*block));
    }
    *numbers = (struct pf_numbers){0};
}

/* ---- reading ---- */

static uint64_t get_leb128(struct pf_numbers_reading *reading)
{
    const uint8_t *from = reading->at;
    const unsigned more = from[0] >> 7;
    uint64_t value = (from[0] & 127u) | (from[1] & (127u & -more)) << 7;
    from += 1 + more;
    if (PF_UNLIKELY(more && from[-1] > 127)) {
        unsigned shift = 14;
        do {
            value |= (uint64_t)(*from & 127) << shift;
            shift += 7;
        } while (*from++ > 127);
    }
    reading->at = from;
    return value;
}

/* False: what is left are the repeats that are not written. */
static bool next_block(const struct pf_numbers *numbers, struct pf_numbers_reading *reading)
{
    const struct pf_numbers_block *next = reading->block ? reading->block->next : numbers->first;
    if (!next)
        return false;
    reading->block = next;
    reading->at = next->data;
    reading->end = next->next ? next->end : numbers->at;
    return true;
}

uint64_t pf_numbers_get_other(const struct pf_numbers *numbers, struct pf_numbers_reading *reading)
{
    const bool begins = !reading->block;
    if (reading->at == reading->end && !next_block(numbers, reading)) {
        reading->repeats = numbers->repeats - 1;
        return reading->value;
    }
    const uint64_t value = get_leb128(reading);
    if (!begins && value == reading->value)
        reading->repeats = get_leb128(reading);
    reading->value = value;
    return value;
}

void pf_numbers_discard(struct pf_numbers *numbers, const struct pf_numbers_reading *reading,
                        const struct perfile_allocator *allocator)
{
    while (reading->block && numbers->first != reading->block) {
        struct pf_numbers_block *block = numbers->first;
        numbers->first = block->next;
        pf_free(allocator, block, sizeof(*block));
    }
}
