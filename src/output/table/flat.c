/* SPDX-License-Identifier: MIT */
#include "output/table/flat.h"

void pf_flat_close(struct pf_flat *flat)
{
    pf_free(flat->allocator, flat->data, flat->capacity);
    *flat = (struct pf_flat){.allocator = flat->allocator};
}

/* Reserves `bytes` before the data; NULL when out of memory. */
static uint8_t *reserve(struct pf_flat *flat, size_t bytes)
{
    if (flat->capacity - flat->used < bytes) {
        const size_t capacity = 2 * (flat->used + bytes) + 1024;
        uint8_t *data = bytes < SIZE_MAX / 4 && flat->used < SIZE_MAX / 4 ? pf_new(flat->allocator, capacity) : NULL;
        if (!data)
            return NULL;
        if (flat->used)
            memcpy(data + capacity - flat->used, flat->data + flat->capacity - flat->used, flat->used);
        pf_free(flat->allocator, flat->data, flat->capacity);
        flat->data = data;
        flat->capacity = capacity;
    }
    flat->used += bytes;
    return flat->data + flat->capacity - flat->used;
}

static void put(struct pf_flat *flat, uint64_t value, size_t bytes)
{
    uint8_t *at = reserve(flat, bytes);
    value = pf_load64(&value, PF_NATIVE_BIG_ENDIAN);
    if (at)
        memcpy(at, &value, bytes);
}

/* Puts zeros, so that after `bytes` more the distance from the end is a multiple of `step`. */
static void align(struct pf_flat *flat, size_t step, size_t bytes)
{
    const size_t missing = (step - (flat->used + bytes) % step) % step;
    uint8_t *at = missing ? reserve(flat, missing) : NULL;
    if (at)
        memset(at, 0, missing);
}

size_t pf_flat_text(struct pf_flat *flat, const char *text, size_t bytes)
{
    align(flat, sizeof(uint32_t), bytes + 1);
    uint8_t *at = reserve(flat, bytes + 1);
    if (!at)
        return 0;
    memcpy(at, text, bytes);
    at[bytes] = 0;
    put(flat, bytes, sizeof(uint32_t));
    return flat->used;
}

/* The distance from where it is written. */
static void put_distance(struct pf_flat *flat, size_t position)
{
    put(flat, flat->used + sizeof(uint32_t) - position, sizeof(uint32_t));
}

size_t pf_flat_list(struct pf_flat *flat, const size_t *positions, size_t count)
{
    align(flat, sizeof(uint32_t), 0);
    for (size_t i = count; i-- > 0;)
        put_distance(flat, positions[i]);
    put(flat, count, sizeof(uint32_t));
    return flat->used;
}

size_t pf_flat_structs(struct pf_flat *flat, const uint64_t *values, size_t count, size_t numbers)
{
    align(flat, sizeof(uint64_t), 0);
    for (size_t i = count * numbers; i-- > 0;)
        put(flat, values[i], sizeof(uint64_t));
    put(flat, count, sizeof(uint32_t));
    return flat->used;
}

/* ---- tables ------------------------------------------------------------------------------------------------------ */

void pf_flat_begin(struct pf_flat *flat)
{
    memset(flat->fields, 0, sizeof(flat->fields));
    flat->table = flat->used;
}

void pf_flat_number(struct pf_flat *flat, unsigned field, uint64_t value, size_t bytes)
{
    align(flat, bytes, 0);
    put(flat, value, bytes);
    flat->fields[field] = flat->used;
}

void pf_flat_point(struct pf_flat *flat, unsigned field, size_t position)
{
    if (!position)
        return;
    align(flat, sizeof(uint32_t), 0);
    put_distance(flat, position);
    flat->fields[field] = flat->used;
}

/* The table begins with the distance to its list of members, which stands before it. */
size_t pf_flat_end(struct pf_flat *flat)
{
    size_t members = PF_FLAT_FIELDS;
    while (members && !flat->fields[members - 1])
        members--;
    const size_t list_bytes = (members + 2) * sizeof(uint16_t);
    align(flat, sizeof(uint32_t), 0);
    put(flat, list_bytes, sizeof(uint32_t));
    const size_t table = flat->used;
    for (size_t i = members; i-- > 0;)
        put(flat, flat->fields[i] ? table - flat->fields[i] : 0, sizeof(uint16_t));
    put(flat, table - flat->table, sizeof(uint16_t));
    put(flat, list_bytes, sizeof(uint16_t));
    return table;
}

const uint8_t *pf_flat_finish(struct pf_flat *flat, size_t root, size_t *bytes)
{
    align(flat, sizeof(uint64_t), sizeof(uint32_t));
    put_distance(flat, root);
    *bytes = flat->used;
    flat->used = 0;
    return flat->data && *bytes <= flat->capacity ? flat->data + flat->capacity - *bytes : NULL;
}
