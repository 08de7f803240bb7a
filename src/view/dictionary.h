/* SPDX-License-Identifier: MIT */
/* The distinct texts of a column, numbered in the order in which they come. */
#ifndef PF_VIEW_DICTIONARY_H
#define PF_VIEW_DICTIONARY_H

#include "base/memory.h"

/* Texts one after the other, as Arrow has them; others may hold a copy while more texts come. */
struct pf_dictionary_copy {
    const struct perfile_allocator *allocator;
    atomic_size_t holders;
    size_t count;
    size_t bytes; /* of this block */
    char *text;
    int32_t offsets[]; /* count + 1 of them, followed by the texts */
};

struct pf_dictionary {
    const struct perfile_allocator *allocator;
    const struct perfile_allocator *lasting; /* that copies go back to */
    uint64_t key[2];                         /* of the hash */
    uint32_t *slots;                         /* numbers plus one; 0 = empty */
    size_t size;                             /* a power of two, or 0 */
    char *text;
    size_t text_used, text_capacity;
    int32_t *offsets; /* count + 1 of them */
    size_t count, offset_capacity;
    bool full;  /* texts were left out: 2 GiB are the most */
    bool stays; /* others may look at texts that they know of, in a copy of this struct, while more come */
    struct pf_dictionary_block *replaced; /* what they look at then */
    struct pf_dictionary_copy *copy;      /* the last one, or NULL */
    struct pf_recent_text {
        const char *text;
        uint32_t number;
    } recent[256]; /* by their addresses */
};

/* `lasting` is what `allocator` stands on, and outlives the copies. What is all zeros may be closed, too. */
void pf_dictionary_open(struct pf_dictionary *dictionary, const struct perfile_allocator *allocator,
                        const struct perfile_allocator *lasting);
void pf_dictionary_close(struct pf_dictionary *dictionary);
/* Discards all texts; copies stay. */
void pf_dictionary_clear(struct pf_dictionary *dictionary);
/*
 * Returns the number of a text; 0 when out of memory, which the allocator notes, or full. Bytes that are not UTF-8
 * become \xNN.
 */
uint32_t pf_dictionary_put(struct pf_dictionary *dictionary, const char *text, size_t bytes);
/* Does the same for a text that stays where it is, unchanged, as long as the dictionary. */
uint32_t pf_dictionary_put_lasting(struct pf_dictionary *dictionary, const char *text);
static inline const char *pf_dictionary_at(const struct pf_dictionary *dictionary, uint32_t number, size_t *bytes)
{
    *bytes = (size_t)(dictionary->offsets[number + 1] - dictionary->offsets[number]);
    return dictionary->text + dictionary->offsets[number];
}

/* All texts up to now; whoever has it holds it once more. NULL when out of memory. */
struct pf_dictionary_copy *pf_dictionary_copy(struct pf_dictionary *dictionary);
/* NULL is allowed. In any thread. */
void pf_dictionary_drop(struct pf_dictionary_copy *copy);

#endif
