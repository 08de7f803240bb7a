/* SPDX-License-Identifier: MIT */
#include "output/flame/numbers.h"

/* ---- writing ---- */

/* Room for what one number adds; NULL when out of memory. */
static struct pf_numbers_block *block_with_room(struct pf_numbers *numbers, const struct perfile_allocator *allocator)
{
    struct pf_numbers_block *last = numbers->last;
    if (PF_LIKELY(last && last->used <= sizeof(last->data) - PF_NUMBERS_MOST_BYTES))
        return last;
    struct pf_numbers_block *block = pf_resize(allocator, NULL, 0, sizeof(*block));
    if (!block)
        return NULL;
    block->next = NULL;
    block->used = 0;
    if (last)
        last->next = block;
    else
        numbers->first = block;
    return numbers->last = block;
}

static void put_repeats(struct pf_numbers *numbers, struct pf_numbers_block *block)
{
    uint8_t *at = pf_leb128_put(block->data + block->used, numbers->value);
    at = pf_leb128_put(at, numbers->repeats - 1);
    block->used = (size_t)(at - block->data);
    numbers->repeats = 0;
}

bool pf_numbers_put_other(struct pf_numbers *numbers, const struct perfile_allocator *allocator, uint64_t value)
{
    struct pf_numbers_block *block = block_with_room(numbers, allocator);
    if (!block)
        return false;
    if (numbers->repeats)
        put_repeats(numbers, block);
    uint8_t *from = block->data + block->used, *end = pf_leb128_put(from, value);
    numbers->value = value;
    numbers->value_bytes = (unsigned)(end - from);
    numbers->bytes += numbers->value_bytes;
    numbers->count++;
    block->used = (size_t)(end - block->data);
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
    const uint8_t *from = reading->block->data + reading->at;
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
    reading->at = (size_t)(from - reading->block->data);
    return value;
}

uint64_t pf_numbers_get_other(const struct pf_numbers *numbers, struct pf_numbers_reading *reading)
{
    const struct pf_numbers_block *block = reading->block, *next = block ? block->next : numbers->first;
    const bool begins = !block;
    if (begins || reading->at == block->used) {
        if (!next) {
            reading->repeats = numbers->repeats - 1;
            return reading->value;
        }
        reading->block = next;
        reading->at = 0;
    }
    const uint64_t value = get_leb128(reading);
    if (!begins && value == reading->value)
        reading->repeats = get_leb128(reading);
    reading->value = value;
    return value;
}

void pf_numbers_forget(struct pf_numbers *numbers, const struct pf_numbers_reading *reading,
                       const struct perfile_allocator *allocator)
{
    while (reading->block && numbers->first != reading->block) {
        struct pf_numbers_block *block = numbers->first;
        numbers->first = block->next;
        pf_free(allocator, block, sizeof(*block));
    }
}
