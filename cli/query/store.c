/* SPDX-License-Identifier: MIT */
#include "store.h"
#include "../array.h"

#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int keep(struct pf_store *store, const struct pf_batch *batch)
{
    if (!pf_array_grow(&store->batches, &store->batch_capacity, store->batch_count + 1, sizeof(*store->batches)))
        return PERFILE_ERROR_MEMORY;
    if (batch->array.length > UINT32_MAX - 1 - (int64_t)store->row_count)
        return PERFILE_ERROR_MEMORY;
    struct pf_batch *kept = &store->batches[store->batch_count++];
    *kept = *batch;
    kept->first = store->row_count;
    store->row_count += (uint32_t)batch->array.length;
    return 0;
}

static int read_all(struct pf_store *store, struct pf_scan *scan)
{
    struct pf_batch batch;
    int result;

    while ((result = pf_scan_next(scan, &batch)) > 0)
        if (keep(store, &batch) < 0) {
            pf_batch_free(&batch);
            return PERFILE_ERROR_MEMORY;
        }
    return result;
}

/* Copies optional flags of a request. False: out of memory. */
static bool copy_flags(const bool *flags, size_t count, bool **copy)
{
    if (flags && (*copy = malloc(count + 1)) != NULL)
        memcpy(*copy, flags, count * sizeof(*flags));
    return !flags || *copy;
}

struct pf_store *pf_store_read(struct pf_sources *sources, const struct pf_request *request)
{
    struct pf_store *store = calloc(1, sizeof(*store));
    struct pf_scan scan;
    int result = PERFILE_ERROR_MEMORY;

    if (store && copy_flags(request->wanted, request->fields->count, &store->wanted) &&
        copy_flags(request->selected, request->relation->source_count, &store->selected)) {
        pf_scan_start(&scan, sources, request);
        result = read_all(store, &scan);
        pf_scan_end(&scan);
    }
    if (result >= 0)
        return store;
    if (result == PERFILE_ERROR_MEMORY)
        sources->code = result;
    pf_store_free(store);
    return NULL;
}

static void free_values(struct pf_groups *groups)
{
    free(groups->starts);
    free(groups->values);
    free(groups->slots);
    groups->starts = groups->slots = NULL;
    groups->values = NULL;
}

static void free_groups(struct pf_groups *groups)
{
    free_values(groups);
    free(groups->rows);
    free(groups);
}

void pf_store_free(struct pf_store *store)
{
    if (!store)
        return;
    for (size_t i = 0; i < store->batch_count; i++)
        pf_batch_free(&store->batches[i]);
    for (struct pf_groups *groups = store->groups, *next; groups; groups = next) {
        next = groups->next;
        free_groups(groups);
    }
    free(store->batches);
    free(store->wanted);
    free(store->selected);
    free(store);
}

/* A group before it is sorted. */
struct position {
    struct pf_cell value;
    uint32_t number;
};

/* ---- groups ------------------------------------------------------------------------------------------------------ */

static uint64_t hash_of(const struct pf_cell *cell)
{
    uint64_t hash = 0x9e3779b97f4a7c15u * ((uint64_t)cell->kind + 1);

    if (cell->kind == PF_CELL_TEXT)
        for (size_t i = 0; i < cell->bytes; i++)
            hash = (hash ^ (uint8_t)cell->text[i]) * 0x100000001b3u;
    else if (cell->kind == PF_CELL_INTEGER)
        hash ^= (uint64_t)cell->integer;
    hash = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    return hash ^ hash >> 32;
}

static bool is_equal(const struct pf_cell *a, const struct pf_cell *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == PF_CELL_INTEGER)
        return a->integer == b->integer;
    return a->kind != PF_CELL_TEXT || (a->bytes == b->bytes && !memcmp(a->text, b->text, a->bytes));
}

static uint32_t *find_slot(const struct pf_groups *groups, const struct pf_cell *value)
{
    size_t at = hash_of(value) & (groups->slot_count - 1);

    while (groups->slots[at] && !is_equal(&groups->values[groups->slots[at] - 1], value))
        at = (at + 1) & (groups->slot_count - 1);
    return &groups->slots[at];
}

size_t pf_groups_find(const struct pf_groups *groups, const struct pf_cell *value)
{
    const uint32_t number = *find_slot(groups, value);

    return number ? number - 1 : groups->count;
}

static bool grow(struct pf_groups *groups)
{
    const size_t capacity = groups->capacity * 2;
    struct pf_cell *values = realloc(groups->values, capacity * sizeof(*values));
    uint32_t *slots = values ? calloc(capacity * 2, sizeof(*slots)) : NULL;

    if (values)
        groups->values = values;
    if (!slots)
        return false;
    free(groups->slots);
    groups->slots = slots;
    groups->slot_count = capacity * 2;
    groups->capacity = capacity;
    for (size_t i = 0; i < groups->count; i++)
        *find_slot(groups, &groups->values[i]) = (uint32_t)i + 1;
    return true;
}

/* UINT32_MAX: out of memory. */
static uint32_t group_of(struct pf_groups *groups, const struct pf_cell *value)
{
    uint32_t *slot = find_slot(groups, value);

    if (*slot)
        return *slot - 1;
    if (groups->count == groups->capacity) {
        if (!grow(groups))
            return UINT32_MAX;
        slot = find_slot(groups, value);
    }
    groups->values[groups->count] = *value;
    *slot = (uint32_t)++groups->count;
    return *slot - 1;
}

/* Texts are looked up once for each word of the batch's dictionary. */
static bool number_batch(struct pf_groups *groups, size_t field, const struct pf_batch *batch, uint32_t *numbers)
{
    const struct ArrowArray *array = batch->columns[field];
    const bool has_words = array && array->dictionary && array->dictionary->length <= batch->array.length;
    const int32_t *words = has_words ? (const int32_t *)array->buffers[1] + array->offset : NULL;
    uint32_t *known = has_words ? calloc((size_t)array->dictionary->length + 1, sizeof(*known)) : NULL;
    bool is_ok = !has_words || known;

    for (int64_t row = 0; is_ok && row < batch->array.length; row++) {
        struct pf_cell value;
        pf_batch_cell(batch, field, row, &value);
        uint32_t *before = known && value.kind == PF_CELL_TEXT ? &known[words[row]] : NULL;
        numbers[row] = before && *before ? *before - 1 : group_of(groups, &value);
        is_ok = numbers[row] != UINT32_MAX;
        if (before)
            *before = numbers[row] + 1;
    }
    free(known);
    return is_ok;
}

/* Puts the rows, which are in *order (NULL: their own), into that of their numbers; equal ones stay as they are. */
static bool sort_rows(const struct pf_store *store, struct pf_groups *groups, const uint32_t *numbers, uint32_t **order)
{
    uint32_t *ends = groups->starts = calloc(groups->count + 2, sizeof(*groups->starts));
    uint32_t *sorted = malloc((size_t)store->row_count * sizeof(*sorted) + 1);

    if (!ends || !sorted) {
        free(sorted);
        return false;
    }
    for (uint32_t i = 0; i < store->row_count; i++)
        ends[numbers[i] + 2]++;
    for (size_t i = 2; i <= groups->count; i++)
        ends[i] += ends[i - 1];
    for (uint32_t i = 0; i < store->row_count; i++) { /* now starts[n + 1] is where group n goes on */
        const uint32_t row = *order ? (*order)[i] : i;
        sorted[ends[numbers[row] + 1]++] = row;
    }
    free(*order);
    *order = sorted;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct pf_cell *a = &((const struct position *)left)->value, *b = &((const struct position *)right)->value;

    return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : pf_cell_compare(a, b);
}

/*
 * Groups are returned in order even where their order is free: SQLite (up to 3.40 at least) may omit the sort of
 * GROUP BY x ORDER BY x.
 */
static bool sort_groups(const struct pf_store *store, struct pf_groups *groups, uint32_t *numbers)
{
    struct position *positions = malloc((groups->count + 1) * sizeof(*positions));
    uint32_t *moved = malloc((groups->count + 1) * sizeof(*moved));

    for (size_t i = 0; positions && i < groups->count; i++)
        positions[i] = (struct position){groups->values[i], (uint32_t)i};
    if (positions && moved) {
        qsort(positions, groups->count, sizeof(*positions), compare);
        memset(groups->slots, 0, groups->slot_count * sizeof(*groups->slots));
        for (size_t i = 0; i < groups->count; i++) {
            groups->values[i] = positions[i].value;
            moved[positions[i].number] = (uint32_t)i;
            *find_slot(groups, &positions[i].value) = (uint32_t)i + 1;
        }
        for (uint32_t i = 0; i < store->row_count; i++)
            numbers[i] = moved[numbers[i]];
    }
    const bool is_ok = positions && moved;
    free(positions);
    free(moved);
    return is_ok;
}

static bool number_rows(const struct pf_store *store, struct pf_groups *groups, size_t field, uint32_t *numbers)
{
    bool is_ok;

    free_values(groups);
    groups->count = 0;
    groups->capacity = 32;
    is_ok = grow(groups);
    for (size_t i = 0; is_ok && i < store->batch_count; i++)
        is_ok = number_batch(groups, field, &store->batches[i], numbers + store->batches[i].first);
    return is_ok && sort_groups(store, groups, numbers);
}

static struct pf_row row_at(const struct pf_store *store, uint32_t number)
{
    size_t low = 0, high = store->batch_count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (store->batches[middle].first <= number)
            low = middle;
        else
            high = middle;
    }
    return (struct pf_row){(uint32_t)low, number - store->batches[low].first};
}

/* Sorts by the last field first, as the sorts are stable. */
static bool make(const struct pf_store *store, struct pf_groups *groups)
{
    uint32_t *numbers = malloc((size_t)store->row_count * sizeof(*numbers) + 1), *order = NULL;
    bool is_ok = numbers != NULL;

    for (size_t i = groups->field_count; i-- && is_ok;)
        is_ok = number_rows(store, groups, groups->fields[i], numbers) && sort_rows(store, groups, numbers, &order);
    free(numbers);
    groups->rows = is_ok ? malloc((size_t)store->row_count * sizeof(*groups->rows) + 1) : NULL;
    for (uint32_t i = 0; groups->rows && i < store->row_count; i++)
        groups->rows[i] = row_at(store, order[i]);
    free(order);
    return groups->rows;
}

const struct pf_groups *pf_store_group(struct pf_store *store, const size_t *fields, size_t count)
{
    struct pf_groups *groups = store->groups;

    while (groups && (groups->field_count != count || memcmp(groups->fields, fields, count * sizeof(*fields)) != 0))
        groups = groups->next;
    if (groups)
        return groups;
    if (!(groups = calloc(1, sizeof(*groups))))
        return NULL;
    memcpy(groups->fields, fields, count * sizeof(*fields));
    groups->field_count = count;
    if (!make(store, groups)) {
        free_groups(groups);
        return NULL;
    }
    groups->next = store->groups;
    store->groups = groups;
    return groups;
}
