/* SPDX-License-Identifier: MIT */
/*
 * Something to record: counts the words of a text that it makes, and sorts them. Takes about half a second.
 *
 *     cc -O2 -g -fno-omit-frame-pointer workload.c -o workload
 *     perfile record -g ./workload
 *     perfile report
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 40000, WORD_BYTES = 12, SLOTS = 1 << 15, ROUNDS = 120 };

struct slot {
    char word[WORD_BYTES];
    uint32_t count;
};

static uint32_t seed = 1;
static char text[WORDS * WORD_BYTES];
static struct slot slots[SLOTS], sorted[SLOTS], spare[SLOTS];

static uint32_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    return seed ^= seed << 5;
}

__attribute__((noinline)) static void make_text(void)
{
    for (size_t i = 0; i < WORDS; i++) {
        const size_t letters = 2 + next_random() % 3;
        char *word = text + i * WORD_BYTES;
        memset(word, 0, WORD_BYTES);
        for (size_t k = 0; k < letters; k++)
            word[k] = (char)('a' + next_random() % 26);
    }
}

static uint32_t hash_word(const char *word)
{
    uint32_t hash = 2166136261u;
    for (; *word; word++)
        hash = (hash ^ (uint8_t)*word) * 16777619u;
    return hash;
}

static int compare_words(const char *a, const char *b)
{
    for (; *a && *a == *b; a++)
        b++;
    return (unsigned char)*a - (unsigned char)*b;
}

__attribute__((noinline)) static struct slot *find_slot(const char *word)
{
    uint32_t at = hash_word(word) % SLOTS;
    for (size_t tries = 0; tries < SLOTS; tries++, at = (at + 1) % SLOTS)
        if (!slots[at].count || !compare_words(slots[at].word, word))
            return &slots[at];
    return NULL;
}

__attribute__((noinline)) static size_t count_words(void)
{
    size_t different = 0;
    memset(slots, 0, sizeof(slots));
    for (size_t i = 0; i < WORDS; i++) {
        const char *word = text + i * WORD_BYTES;
        struct slot *slot = find_slot(word);
        if (!slot)
            continue;
        if (!slot->count++) {
            memcpy(slot->word, word, WORD_BYTES);
            different++;
        }
    }
    return different;
}

__attribute__((noinline)) static void merge(struct slot *items, size_t half, size_t count)
{
    size_t left = 0, right = half, to = 0;
    while (left < half && right < count)
        spare[to++] = compare_words(items[left].word, items[right].word) <= 0 ? items[left++] : items[right++];
    while (left < half)
        spare[to++] = items[left++];
    while (right < count)
        spare[to++] = items[right++];
    for (size_t i = 0; i < count; i++)
        items[i] = spare[i];
}

__attribute__((noinline)) static void sort_words(struct slot *items, size_t count)
{
    if (count < 2)
        return;
    sort_words(items, count / 2);
    sort_words(items + count / 2, count - count / 2);
    merge(items, count / 2, count);
}

int main(void)
{
    size_t different = 0;
    for (int round = 0; round < ROUNDS; round++) {
        size_t used = 0;
        make_text();
        different = count_words();
        for (size_t i = 0; i < SLOTS && used < different; i++)
            if (slots[i].count)
                sorted[used++] = slots[i];
        sort_words(sorted, used);
    }
    printf("%zu different words, from %s to %s\n", different, sorted[0].word, sorted[different - 1].word);
    return EXIT_SUCCESS;
}
