/* SPDX-License-Identifier: MIT */
/*
 * The view `stacks` by the key `stack`: the stacks that the ids in the view `samples` stand for, once each. Of a stack
 * whose row was delivered only the id is kept; numbers of samples need all samples first, and then each stack is kept
 * in a few bytes. There may be millions, so that a table of numbers of rows is all that finds them.
 */
#include "base/error.h"
#include "view/distinct_stacks.h"
#include "view/ids.h"

struct counted {
    uint64_t samples;
    uint64_t at; /* of its frames in `kept` */
};

struct distinct {
    struct perfile_table *table;
    struct pf_profile *profile;
    struct pf_stack_ids ids;
    struct pf_arena arena; /* of names of modules */
    const char **names;    /* of frames; NULL: not used yet */
    size_t name_count;
    uint64_t *known; /* ids, in the order in which they came */
    size_t known_capacity;
    uint32_t *slots; /* their numbers plus one, by hash; 0: empty */
    size_t slot_count;
    uint64_t id; /* of the stack in hand */
    const uint32_t *frames;
    size_t frame_count;
    bool started;
    bool counts;          /* the samples of each are asked for: all are read first */
    bool read;            /* and were */
    struct counted *rows; /* as `known` */
    size_t count, capacity, next;
    uint8_t *kept; /* the number of frames, and them, seven bits a byte */
    size_t kept_bytes, kept_capacity;
    uint32_t *unpacked;
    size_t unpacked_capacity;
};

#define DISTINCT struct distinct *distinct = state

PF_PUT_AS(stack_id, DISTINCT, pf_set_u64, distinct->id)

/* Out of memory, which the table's allocator notes, it is "". */
static const char *name_of(struct distinct *distinct, uint32_t frame)
{
    const char **name = &distinct->names[frame];
    if (PF_UNLIKELY(!*name))
        *name = pf_frame_text(&distinct->arena, distinct->profile, frame);
    return *name ? *name : "";
}

PF_PUT(stack)
{
    DISTINCT;
    for (size_t i = 0; i < distinct->frame_count; i++)
        pf_add_code(vector, pf_dictionary_put_lasting(&vector->dictionary, name_of(distinct, distinct->frames[i])));
    pf_end_list(vector);
}

PF_PUT(function_ids)
{
    DISTINCT;
    for (size_t i = 0; i < distinct->frame_count; i++)
        pf_add_address(vector, distinct->ids.functions[distinct->frames[i]]);
    pf_end_list(vector);
}

PF_PUT_AS(samples, DISTINCT, pf_set_u64, distinct->rows[distinct->next - 1].samples)

static const struct pf_column columns[] = {
    PF_REQUIRED(stack_id, U64, "", PF_STACK_ID_DOC),
    PF_REQUIRED(stack, TEXTS, "", PF_STACK_DOC),
    PF_REQUIRED(function_ids, ADDRESSES, "", PF_FUNCTION_IDS_DOC),
    PF_REQUIRED(samples, U64, "samples", "Number of samples, of all events."),
};

/* ---- stacks that are kept ---------------------------------------------------------------------------------------- */

static void pack(struct distinct *distinct, uint64_t number)
{
    for (; number >= 128; number >>= 7)
        distinct->kept[distinct->kept_bytes++] = (uint8_t)(number | 128);
    distinct->kept[distinct->kept_bytes++] = (uint8_t)number;
}

static uint64_t unpack(const struct distinct *distinct, uint64_t *at)
{
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = distinct->kept[(*at)++];
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return number;
    }
}

/* False when out of memory, as below. */
static bool keep(struct distinct *distinct, const struct pf_profile_sample *sample)
{
    enum { MAX_BYTES = 10 };
    const struct perfile_allocator *allocator = distinct->table->allocator;
    if (!pf_grow(allocator, &distinct->rows, &distinct->capacity, distinct->count + 1, sizeof(*distinct->rows)) ||
        !pf_grow(allocator, &distinct->kept, &distinct->kept_capacity,
                 distinct->kept_bytes + (sample->frame_count + 1) * MAX_BYTES, 1))
        return false;
    distinct->rows[distinct->count] = (struct counted){.at = distinct->kept_bytes};
    pack(distinct, sample->frame_count);
    for (size_t i = 0; i < sample->frame_count; i++)
        pack(distinct, sample->frames[i]);
    return true;
}

static bool take_kept(struct distinct *distinct)
{
    distinct->id = distinct->known[distinct->next];
    uint64_t at = distinct->rows[distinct->next++].at;
    distinct->frame_count = unpack(distinct, &at);
    if (!pf_grow(distinct->table->allocator, &distinct->unpacked, &distinct->unpacked_capacity, distinct->frame_count,
                 sizeof(*distinct->unpacked)))
        return false;
    for (size_t i = 0; i < distinct->frame_count; i++)
        distinct->unpacked[i] = (uint32_t)unpack(distinct, &at);
    distinct->frames = distinct->unpacked;
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* NULLs for frames that are new; false when out of memory. */
static bool make_names(struct distinct *distinct)
{
    return pf_grow_zeroed(distinct->table->allocator, &distinct->names, &distinct->name_count,
                          pf_profile_frame_count(distinct->profile), sizeof(*distinct->names));
}

/*
 * Returns the slot where an id is or would be. The author of a recording does not know the seed: ids that all collide
 * cannot be made.
 */
static size_t slot_of(const struct distinct *distinct, uint64_t id)
{
    const uint64_t seeded = (id ^ (uintptr_t)distinct) * 0x9e3779b97f4a7c15ull;
    size_t slot = (size_t)(seeded ^ seeded >> 29) & (distinct->slot_count - 1);
    while (distinct->slots[slot] && distinct->known[distinct->slots[slot] - 1] != id)
        slot = (slot + 1) & (distinct->slot_count - 1);
    return slot;
}

static bool grow_slots(struct distinct *distinct)
{
    const struct perfile_allocator *allocator = distinct->table->allocator;
    const size_t count = distinct->slot_count ? 2 * distinct->slot_count : 1024;
    pf_free(allocator, distinct->slots, distinct->slot_count * sizeof(*distinct->slots));
    distinct->slots = pf_new(allocator, count * sizeof(*distinct->slots));
    distinct->slot_count = distinct->slots ? count : 0;
    for (size_t i = 0; distinct->slots && i < distinct->count; i++)
        distinct->slots[slot_of(distinct, distinct->known[i])] = (uint32_t)i + 1;
    return distinct->slots;
}

/* The number of the stack in hand, which is the count when it is new; the slot is where it goes. */
static bool find(struct distinct *distinct, size_t *slot, size_t *number)
{
    if (4 * (distinct->count + 1) > 3 * distinct->slot_count && !grow_slots(distinct))
        return false;
    *slot = slot_of(distinct, distinct->id);
    *number = distinct->slots[*slot] ? distinct->slots[*slot] - 1 : distinct->count;
    return distinct->count < UINT32_MAX - 1;
}

/* *is_new: none had its stack before. */
static bool take_sample(struct distinct *distinct, const struct pf_profile_sample *sample, bool *is_new)
{
    size_t slot, number;
    if (!make_names(distinct) ||
        !pf_stack_ids_of(&distinct->ids, distinct->profile, sample->frames, sample->frame_count, &distinct->id) ||
        !find(distinct, &slot, &number))
        return false;
    *is_new = number == distinct->count;
    if (*is_new) {
        if (!pf_grow(distinct->table->allocator, &distinct->known, &distinct->known_capacity, number + 1,
                     sizeof(*distinct->known)) ||
            (distinct->counts && !keep(distinct, sample)))
            return false;
        distinct->known[distinct->count++] = distinct->id;
        distinct->slots[slot] = (uint32_t)distinct->count;
    }
    if (distinct->counts)
        distinct->rows[number].samples++;
    distinct->frames = sample->frames;
    distinct->frame_count = sample->frame_count;
    return true;
}

/* Reads up to a stack that is new, or to the end: 1, 0, or an error. */
static int read_stack(struct distinct *distinct, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    bool is_new = false;
    int result;
    while (!is_new && (result = pf_profile_next(distinct->profile, &sample, error)) != 0) {
        if (result < 0)
            return result;
        if (!take_sample(distinct, sample, &is_new))
            return pf_fail_memory(error, "stacks");
    }
    return is_new;
}

static int next_stack(void *state, struct perfile_error *error)
{
    DISTINCT;
    int result = 1;
    if (!distinct->started)
        distinct->counts = pf_table_shows(distinct->table, "samples");
    distinct->started = true;
    if (!distinct->counts)
        return read_stack(distinct, error);
    while (!distinct->read && result > 0)
        result = read_stack(distinct, error);
    if (result < 0)
        return result;
    distinct->read = true;
    if (distinct->next == distinct->count)
        return 0;
    return take_kept(distinct) ? 1 : pf_fail_memory(error, "stacks");
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int open_profile(struct distinct *distinct, struct perfile_error *error)
{
    struct perfile_table *table = distinct->table;
    struct pf_profile_options how = {
        .filter = table->options.filter,
        .find = pf_find_options_of(&table->complete.symbols, table->allocator),
        .unwind = table->complete.symbols.unwind,
        .frames = {.inlines = !table->complete.symbols.no_inline, .joins_unnamed = true},
        .in_blocks = true,
        .drive = {table->options.threads, table->options.progress, table->options.progress_context}};
    const int result = pf_profile_open(table->reader, &how, &distinct->profile, error);
    table->profile = distinct->profile;
    return result;
}

static int open_stacks(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct distinct *distinct = state;
    pf_arena_open(&distinct->arena, table->allocator);
    distinct->ids.allocator = table->allocator;
    return open_profile(distinct, error);
}

static void close_stacks(void *state)
{
    DISTINCT;
    const struct perfile_allocator *allocator = distinct->table->allocator;
    pf_profile_close(distinct->profile);
    pf_stack_ids_close(&distinct->ids);
    pf_free(allocator, distinct->known, distinct->known_capacity * sizeof(*distinct->known));
    pf_free(allocator, distinct->slots, distinct->slot_count * sizeof(*distinct->slots));
    pf_arena_close(&distinct->arena);
    pf_free(allocator, distinct->names, distinct->name_count * sizeof(*distinct->names));
    pf_free(allocator, distinct->rows, distinct->capacity * sizeof(*distinct->rows));
    pf_free(allocator, distinct->kept, distinct->kept_capacity);
    pf_free(allocator, distinct->unpacked, distinct->unpacked_capacity * sizeof(*distinct->unpacked));
}

const struct pf_view pf_view_distinct_stacks = {
    .info = PF_STACKS_INFO,
    .own_key = "stack",
    .lists = {PF_COLUMNS(columns)},
    .state_bytes = sizeof(struct distinct),
    .open = open_stacks,
    .next = next_stack,
    .close = close_stacks,
};
