/* SPDX-License-Identifier: MIT */
#include "analysis/profile/aggregate.h"

#include "base/bytes.h"
#include "base/siphash.h"

enum { FIRST_SLOTS = 64 };

bool pf_aggregate_open(struct pf_aggregate *aggregate, const struct perfile_allocator *allocator)
{
    *aggregate =
        (struct pf_aggregate){.profile = pf_new(pf_allocator_or_default(allocator), sizeof(struct perfile_profile))};
    struct perfile_profile *profile = aggregate->profile;
    if (!profile)
        return false;
    pf_watch_open(&profile->watch, allocator);
    aggregate->allocator = &profile->watch.allocator;
    pf_arena_open(&profile->arena, aggregate->allocator);
    aggregate->seed[0] = (uintptr_t)profile;
    aggregate->seed[1] = (uintptr_t)aggregate;
    return true;
}

void perfile_profile_close(struct perfile_profile *profile)
{
    if (!profile)
        return;
    for (enum pf_aggregate_kind i = 0; i < PF_AGGREGATE_KINDS; i++)
        pf_free(&profile->watch.allocator, profile->lists[i].items, profile->lists[i].capacity * pf_aggregate_bytes(i));
    pf_arena_close(&profile->arena);
    pf_free(profile->watch.below, profile, sizeof(*profile));
}

static void close_index(const struct perfile_allocator *allocator, struct pf_aggregate_index *index)
{
    pf_free(allocator, index->slots, index->size * sizeof(*index->slots));
    *index = (struct pf_aggregate_index){.slots = NULL};
}

/* What only growing needs. */
static void close_indexes(struct pf_aggregate *aggregate)
{
    for (size_t i = 0; i < PF_AGGREGATE_INDEXED; i++)
        close_index(aggregate->allocator, &aggregate->index[i]);
    close_index(aggregate->allocator, &aggregate->text_index);
    pf_free(aggregate->allocator, aggregate->texts, aggregate->text_capacity * sizeof(*aggregate->texts));
    aggregate->texts = NULL;
    aggregate->text_count = aggregate->text_capacity = 0;
}

void pf_aggregate_close(struct pf_aggregate *aggregate)
{
    if (!aggregate->profile)
        return;
    close_indexes(aggregate);
    perfile_profile_close(aggregate->profile);
    aggregate->profile = NULL;
}

/* ---- indexes ----------------------------------------------------------------------------------------------------- */

static struct pf_aggregate_slot *slot_at(const struct pf_aggregate_index *index, uint32_t tag)
{
    return &index->slots[(uint64_t)tag * index->size >> 32]; /* grown tables keep the order of this one */
}

static struct pf_aggregate_slot *next_slot(const struct pf_aggregate_index *index, struct pf_aggregate_slot *slot)
{
    return ++slot == index->slots + index->size ? index->slots : slot;
}

/* Makes the index large enough for one more item. False when out of memory. */
static bool grow_index(const struct perfile_allocator *allocator, struct pf_aggregate_index *index)
{
    if (index->used * 4 < index->size * 3)
        return true;
    struct pf_aggregate_index bigger = {.size = index->size ? 2 * index->size : FIRST_SLOTS, .used = index->used};
    bigger.slots = pf_new(allocator, bigger.size * sizeof(*bigger.slots));
    if (!bigger.slots)
        return false;
    for (size_t i = 0; i < index->size; i++) {
        struct pf_aggregate_slot *slot = slot_at(&bigger, index->slots[i].tag);
        while (index->slots[i].number && slot->number)
            slot = next_slot(&bigger, slot);
        if (index->slots[i].number)
            *slot = index->slots[i];
    }
    close_index(allocator, index);
    *index = bigger;
    return true;
}

/* ---- lists ------------------------------------------------------------------------------------------------------- */

static void *item_at(const struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, uint32_t number)
{
    return (char *)aggregate->profile->lists[kind].items + number * pf_aggregate_bytes(kind);
}

static uint32_t tag_of(const struct pf_aggregate *aggregate, const uint64_t *words, size_t count)
{
    uint64_t hash = aggregate->seed[0];
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ words[i]) * 0x9e3779b97f4a7c15ull;
        hash = (hash ^ hash >> 32) * 0xbf58476d1ce4e5b9ull;
    }
    return (uint32_t)(hash >> 32);
}

uint32_t pf_aggregate_append(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, const void *item)
{
    struct pf_aggregate_list *list = &aggregate->profile->lists[kind];
    const size_t bytes = pf_aggregate_bytes(kind);
    if (list->count >= PF_AGGREGATE_NONE - 1 ||
        !pf_grow(aggregate->allocator, &list->items, &list->capacity, list->count + 1, bytes))
        return PF_AGGREGATE_NONE;
    memcpy((char *)list->items + list->count * bytes, item, bytes);
    return (uint32_t)list->count++;
}

static bool is_equal(const struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, uint32_t number,
                     const uint64_t *words)
{
    uint64_t known[PF_AGGREGATE_WORDS];
    const size_t count = pf_aggregate_words(kind, item_at(aggregate, kind, number), known);
    return memcmp(known, words, count * sizeof(*words)) == 0;
}

uint32_t pf_aggregate_number(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, const void *item)
{
    struct pf_aggregate_index *index = &aggregate->index[kind];
    uint64_t words[PF_AGGREGATE_WORDS];
    const uint32_t tag = tag_of(aggregate, words, pf_aggregate_words(kind, item, words));
    if (!grow_index(aggregate->allocator, index))
        return PF_AGGREGATE_NONE;
    struct pf_aggregate_slot *slot = slot_at(index, tag);
    for (; slot->number; slot = next_slot(index, slot)) {
        if (slot->tag != tag || !is_equal(aggregate, kind, slot->number - 1, words))
            continue;
        pf_aggregate_join(kind, item_at(aggregate, kind, slot->number - 1), item);
        return slot->number - 1;
    }
    const uint32_t number = pf_aggregate_append(aggregate, kind, item);
    if (number != PF_AGGREGATE_NONE) {
        *slot = (struct pf_aggregate_slot){tag, number + 1};
        index->used++;
    }
    return number;
}

bool pf_aggregate_list(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, uint32_t number)
{
    struct pf_aggregate_index *index = &aggregate->index[kind];
    uint64_t words[PF_AGGREGATE_WORDS];
    const uint32_t tag = tag_of(aggregate, words, pf_aggregate_words(kind, item_at(aggregate, kind, number), words));
    if (!grow_index(aggregate->allocator, index))
        return false;
    struct pf_aggregate_slot *slot = slot_at(index, tag);
    while (slot->number)
        slot = next_slot(index, slot);
    *slot = (struct pf_aggregate_slot){tag, number + 1};
    index->used++;
    return true;
}

bool pf_aggregate_reserve(struct pf_aggregate *aggregate, enum pf_aggregate_kind kind, size_t count)
{
    struct pf_aggregate_list *list = &aggregate->profile->lists[kind];
    return pf_grow(aggregate->allocator, &list->items, &list->capacity, list->count + count, pf_aggregate_bytes(kind));
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const char *add_text(struct pf_aggregate *aggregate, const char *text, size_t bytes)
{
    if (aggregate->text_count >= PF_AGGREGATE_NONE - 1 ||
        !pf_grow(aggregate->allocator, &aggregate->texts, &aggregate->text_capacity, aggregate->text_count + 1,
                 sizeof(*aggregate->texts)))
        return NULL;
    const char *kept = pf_arena_text(&aggregate->profile->arena, text, bytes);
    if (kept)
        aggregate->texts[aggregate->text_count++] = kept;
    return kept;
}

bool pf_aggregate_text(struct pf_aggregate *aggregate, const char **text)
{
    struct pf_aggregate_index *index = &aggregate->text_index;
    if (!*text)
        return true;
    const size_t bytes = strlen(*text);
    const uint32_t tag = (uint32_t)pf_siphash(aggregate->seed, *text, bytes);
    if (!grow_index(aggregate->allocator, index))
        return false;
    struct pf_aggregate_slot *slot = slot_at(index, tag);
    for (; slot->number; slot = next_slot(index, slot)) {
        if (slot->tag != tag || strcmp(aggregate->texts[slot->number - 1], *text) != 0)
            continue;
        *text = aggregate->texts[slot->number - 1];
        return true;
    }
    *text = add_text(aggregate, *text, bytes);
    if (*text) {
        *slot = (struct pf_aggregate_slot){tag, (uint32_t)aggregate->text_count};
        index->used++;
    }
    return *text != NULL;
}

uint32_t pf_aggregate_number_module(struct pf_aggregate *aggregate, const struct perfile_module *from)
{
    struct pf_aggregate_module module = {.name = from->name,
                                         .short_name = from->short_name,
                                         .path = from->path,
                                         .build_id_bytes = from->build_id_bytes,
                                         .state = from->state,
                                         .kind = from->kind,
                                         .kernel = from->kernel,
                                         .jit = from->jit};
    memcpy(module.build_id, from->build_id, from->build_id_bytes);
    const bool fine = pf_aggregate_text(aggregate, &module.name) &&
                      pf_aggregate_text(aggregate, &module.short_name) && pf_aggregate_text(aggregate, &module.path);
    return fine ? pf_aggregate_number(aggregate, PF_AGGREGATE_MODULES, &module) : PF_AGGREGATE_NONE;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static bool add_value_types(struct pf_aggregate *aggregate, uint32_t number)
{
    struct pf_aggregate_event *event = item_at(aggregate, PF_AGGREGATE_EVENTS, number);
    const struct pf_aggregate_value_type types[PF_AGGREGATE_VALUES] = {
        {.name = "samples", .unit = "count", .event = number},
        {.name = event->name, .unit = event->unit, .event = number},
        {.name = "weight", .unit = "count", .event = number}};
    event->first_value = (uint32_t)pf_aggregate_count(aggregate->profile, PF_AGGREGATE_VALUE_TYPES);
    for (size_t i = 0; i < pf_aggregate_value_count(event); i++)
        if (pf_aggregate_append(aggregate, PF_AGGREGATE_VALUE_TYPES, &types[i]) == PF_AGGREGATE_NONE)
            return false;
    return true;
}

static void add_totals(const struct perfile_profile *profile)
{
    const struct pf_aggregate_key *keys = profile->lists[PF_AGGREGATE_KEYS].items;
    const struct pf_aggregate_row *rows = profile->lists[PF_AGGREGATE_ROWS].items;
    struct pf_aggregate_value_type *types = profile->lists[PF_AGGREGATE_VALUE_TYPES].items;
    for (size_t i = 0; i < profile->lists[PF_AGGREGATE_ROWS].count; i++) {
        const struct pf_aggregate_event *event = pf_aggregate_event(profile, keys[rows[i].key].event);
        for (size_t k = 0; k < pf_aggregate_value_count(event); k++)
            (void)pf_add_to_sum(&types[event->first_value + k].total, rows[i].values[k]);
    }
}

/* The names of each thread, side by side. */
static bool gather_comms(struct perfile_profile *profile)
{
    const struct pf_aggregate_list *list = &profile->lists[PF_AGGREGATE_COMMS];
    const struct pf_aggregate_comm *comms = list->items;
    struct pf_aggregate_thread *threads = profile->lists[PF_AGGREGATE_THREADS].items;
    const size_t thread_count = profile->lists[PF_AGGREGATE_THREADS].count;
    const char **texts = pf_arena_new(&profile->arena, (list->count + 1) * sizeof(*texts));
    if (!texts)
        return false;
    for (size_t i = 0; i < list->count; i++)
        threads[comms[i].thread].comm_count++;
    for (size_t i = 0; i < thread_count; i++) {
        threads[i].comms = texts;
        texts += threads[i].comm_count;
        threads[i].comm_count = 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        struct pf_aggregate_thread *thread = &threads[comms[i].thread];
        thread->comms[thread->comm_count++] = comms[i].text;
    }
    return true;
}

/* Gives back the unused capacity of lists: nothing is added any more. */
static void trim_lists(struct pf_aggregate *aggregate)
{
    for (enum pf_aggregate_kind i = 0; i < PF_AGGREGATE_KINDS; i++) {
        struct pf_aggregate_list *list = &aggregate->profile->lists[i];
        const size_t bytes = pf_aggregate_bytes(i);
        void *smaller = list->count < list->capacity && list->count
                            ? pf_resize(aggregate->allocator, list->items, list->capacity * bytes, list->count * bytes)
                            : NULL;
        if (smaller) {
            list->items = smaller;
            list->capacity = list->count;
        }
    }
}

bool pf_aggregate_finish(struct pf_aggregate *aggregate)
{
    const size_t events = pf_aggregate_count(aggregate->profile, PF_AGGREGATE_EVENTS);
    close_indexes(aggregate);
    for (size_t i = 0; i < events; i++)
        if (!add_value_types(aggregate, (uint32_t)i))
            return false;
    add_totals(aggregate->profile);
    if (!gather_comms(aggregate->profile))
        return false;
    trim_lists(aggregate);
    return !pf_memory_was_short(aggregate->allocator);
}
