/* SPDX-License-Identifier: MIT */
#include "view/dictionary.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/escape.h"
#include "base/siphash.h"

enum { FIRST_SLOTS = 64, LONGEST_ESCAPE = 4 };

void pf_dictionary_open(struct pf_dictionary *dictionary, const struct perfile_allocator *allocator,
                        const struct perfile_allocator *lasting)
{
    *dictionary = (struct pf_dictionary){.allocator = allocator, .lasting = lasting};
    dictionary->key[0] = (uintptr_t)dictionary; /* the author of a recording cannot know this key */
    dictionary->key[1] = (uintptr_t)allocator ^ (uintptr_t)&dictionary->key;
}

/* Memory that was outgrown. */
struct pf_dictionary_block {
    struct pf_dictionary_block *next;
    void *data;
    size_t bytes;
};

static void free_replaced(struct pf_dictionary *dictionary)
{
    while (dictionary->replaced) {
        struct pf_dictionary_block *block = dictionary->replaced;
        dictionary->replaced = block->next;
        pf_free(dictionary->allocator, block->data, block->bytes);
        pf_free(dictionary->allocator, block, sizeof(*block));
    }
}

void pf_dictionary_close(struct pf_dictionary *dictionary)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(dictionary->allocator);
    pf_dictionary_drop(dictionary->copy);
    free_replaced(dictionary);
    pf_free(allocator, dictionary->slots, dictionary->size * sizeof(*dictionary->slots));
    pf_free(allocator, dictionary->text, dictionary->text_capacity);
    pf_free(allocator, dictionary->offsets, dictionary->offset_capacity * sizeof(*dictionary->offsets));
    *dictionary = (struct pf_dictionary){0};
}

void pf_dictionary_clear(struct pf_dictionary *dictionary)
{
    const struct perfile_allocator *allocator = dictionary->allocator, *lasting = dictionary->lasting;
    const bool stays = dictionary->stays;
    if (!dictionary->count)
        return;
    pf_dictionary_close(dictionary);
    pf_dictionary_open(dictionary, allocator, lasting);
    dictionary->stays = stays;
}

/* ---- finding and adding ------------------------------------------------------------------------------------------ */

/* Where the text is, or the empty slot where it belongs. */
static size_t slot_of(const struct pf_dictionary *dictionary, const char *text, size_t bytes)
{
    const size_t mask = dictionary->size - 1;
    size_t at = (size_t)pf_siphash(dictionary->key, text, bytes) & mask;
    for (; dictionary->slots[at]; at = (at + 1) & mask) {
        size_t other_bytes;
        const char *other = pf_dictionary_at(dictionary, dictionary->slots[at] - 1, &other_bytes);
        if (other_bytes == bytes && memcmp(other, text, bytes) == 0)
            break;
    }
    return at;
}

static bool make_slots(struct pf_dictionary *dictionary)
{
    const size_t old = dictionary->size;
    if (dictionary->count < old / 2)
        return true;
    const size_t size = old ? 2 * old : FIRST_SLOTS;
    uint32_t *slots = pf_new(dictionary->allocator, size * sizeof(*slots));
    if (!slots)
        return false;
    pf_free(dictionary->allocator, dictionary->slots, old * sizeof(*slots));
    dictionary->slots = slots;
    dictionary->size = size;
    for (uint32_t i = 0; i < dictionary->count; i++) {
        size_t bytes;
        const char *text = pf_dictionary_at(dictionary, i, &bytes);
        slots[slot_of(dictionary, text, bytes)] = i + 1;
    }
    return true;
}

/* pf_grow, but the old memory stays where others may look at it. `pointer` is one to a pointer. */
static bool grow(struct pf_dictionary *dictionary, void *pointer, size_t *capacity, size_t count, size_t bytes)
{
    const struct perfile_allocator *allocator = dictionary->allocator;
    size_t new_capacity = 0;
    void *old, *made = NULL;
    memcpy(&old, pointer, sizeof(old));
    if (!dictionary->stays || !old || count <= *capacity)
        return pf_grow(allocator, pointer, capacity, count, bytes);
    struct pf_dictionary_block *block = pf_new(allocator, sizeof(*block));
    if (!block || !pf_grow(allocator, &made, &new_capacity, pf_max(count, 2 * *capacity), bytes)) {
        pf_free(allocator, block, sizeof(*block));
        return false;
    }
    memcpy(made, old, *capacity * bytes);
    *block = (struct pf_dictionary_block){dictionary->replaced, old, *capacity * bytes};
    dictionary->replaced = block;
    memcpy(pointer, &made, sizeof(made));
    *capacity = new_capacity;
    return true;
}

static uint32_t add(struct pf_dictionary *dictionary, size_t slot, const char *text, size_t bytes)
{
    if (bytes > INT32_MAX - dictionary->text_used) {
        dictionary->full = true;
        return 0;
    }
    /* the empty text needs memory, too */
    if (!grow(dictionary, &dictionary->text, &dictionary->text_capacity, dictionary->text_used + bytes + 1, 1) ||
        !grow(dictionary, &dictionary->offsets, &dictionary->offset_capacity, dictionary->count + 2,
              sizeof(*dictionary->offsets)))
        return 0;
    if (bytes)
        memcpy(dictionary->text + dictionary->text_used, text, bytes);
    if (!dictionary->count)
        dictionary->offsets[0] = 0; /* else it is the end of the last one, which others may look at */
    dictionary->text_used += bytes;
    dictionary->offsets[++dictionary->count] = (int32_t)dictionary->text_used;
    dictionary->slots[slot] = (uint32_t)dictionary->count;
    return (uint32_t)dictionary->count - 1;
}

static uint32_t put_valid(struct pf_dictionary *dictionary, const char *text, size_t bytes)
{
    if (!make_slots(dictionary))
        return 0;
    const size_t slot = slot_of(dictionary, text, bytes);
    return dictionary->slots[slot] ? dictionary->slots[slot] - 1 : add(dictionary, slot, text, bytes);
}

static size_t valid_run(const uint8_t *text, size_t bytes)
{
    size_t run = 0;
    for (size_t length; run < bytes && (length = pf_utf8_length(text + run, bytes - run)); run += length)
        ;
    return run;
}

uint32_t pf_dictionary_put(struct pf_dictionary *dictionary, const char *text, size_t bytes)
{
    const uint8_t *data = (const uint8_t *)text;
    size_t done = valid_run(data, bytes), used = 0;
    if (PF_LIKELY(done == bytes))
        return put_valid(dictionary, text, bytes);
    const size_t capacity = LONGEST_ESCAPE * bytes + 1;
    char *copy = pf_new(dictionary->allocator, capacity);
    if (!copy)
        return 0;
    for (size_t at = 0; at < bytes; at += done) {
        done = valid_run(data + at, bytes - at);
        memcpy(copy + used, text + at, done);
        used += done;
        if (at + done < bytes)
            used += (size_t)snprintf(copy + used, capacity - used, "\\x%02x", data[at + done++]);
    }
    const uint32_t number = put_valid(dictionary, copy, used);
    pf_free(dictionary->allocator, copy, capacity);
    return number;
}

uint32_t pf_dictionary_put_lasting(struct pf_dictionary *dictionary, const char *text)
{
    struct pf_recent_text *recent =
        &dictionary->recent[((uintptr_t)text >> 4 ^ (uintptr_t)text >> 10) % PF_COUNT(dictionary->recent)];
    if (PF_UNLIKELY(recent->text != text)) {
        recent->number = pf_dictionary_put(dictionary, text, strlen(text));
        recent->text = text;
    }
    return recent->number;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

struct pf_dictionary_copy *pf_dictionary_copy(struct pf_dictionary *dictionary)
{
    struct pf_dictionary_copy *copy = dictionary->copy;
    if (!copy || copy->count != dictionary->count) {
        const size_t offset_bytes = (dictionary->count + 1) * sizeof(copy->offsets[0]);
        const size_t bytes = sizeof(*copy) + offset_bytes + dictionary->text_used;
        pf_dictionary_drop(copy);
        dictionary->copy = copy = pf_new(dictionary->allocator, bytes);
        if (!copy)
            return NULL;
        copy->allocator = dictionary->lasting;
        copy->count = dictionary->count;
        copy->bytes = bytes;
        copy->text = (char *)copy + sizeof(*copy) + offset_bytes;
        atomic_init(&copy->holders, 1);
        if (dictionary->count) {
            memcpy(copy->offsets, dictionary->offsets, offset_bytes);
            memcpy(copy->text, dictionary->text, dictionary->text_used);
        }
    }
    atomic_fetch_add(&copy->holders, 1);
    return copy;
}

void pf_dictionary_drop(struct pf_dictionary_copy *copy)
{
    if (copy && atomic_fetch_sub(&copy->holders, 1) == 1)
        pf_free(copy->allocator, copy, copy->bytes);
}
