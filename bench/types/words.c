/* SPDX-License-Identifier: MIT */
/* A program of types_perf.py: counts words in a hash table with lists, and keeps the last lines in a ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256, RING = 16, LINE = 40 };

struct counts {
    unsigned long words, bytes;
    unsigned short by_length[24];
};

struct word {
    struct word *next;
    struct {
        unsigned hash;
        unsigned count : 24, kind : 8;
    };
    union {
        char *long_text;
        char text[16];
    } name;
};

struct line {
    char text[LINE];
    struct counts counts;
};

typedef struct dictionary {
    struct word *buckets[BUCKETS];
    struct counts total;
    struct line ring[RING];
    unsigned at;
    int (*compare)(const struct word *, const struct word *);
} dictionary_t;

static dictionary_t all;
static __thread struct counts of_thread;
static unsigned long letters[26];

static const char *text_of(const struct word *word)
{
    return word->kind ? word->name.long_text : word->name.text;
}

static __attribute__((noinline)) struct word *find(dictionary_t *in, const char *text, size_t length)
{
    unsigned hash = 5381;
    for (size_t i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)text[i];
    struct word **at = &in->buckets[hash % BUCKETS];
    for (; *at; at = &(*at)->next)
        if ((*at)->hash == hash && strncmp(text_of(*at), text, length) == 0)
            return *at;
    struct word *new = calloc(1, sizeof(*new));
    new->hash = hash;
    new->kind = length >= sizeof(new->name.text);
    if (new->kind)
        new->name.long_text = strndup(text, length);
    else
        memcpy(new->name.text, text, length);
    return *at = new;
}

static __attribute__((noinline)) void count(struct counts *counts, const char *text, size_t length)
{
    counts->words++;
    counts->bytes += length;
    counts->by_length[length < 24 ? length : 23]++;
    for (size_t i = 0; i < length; i++)
        if (text[i] >= 'a' && text[i] <= 'z')
            letters[text[i] - 'a']++;
}

static __attribute__((noinline)) void add_line(dictionary_t *in, const char *text)
{
    struct line *line = &in->ring[in->at++ % RING];
    memset(line, 0, sizeof(*line));
    strncpy(line->text, text, LINE - 1);
    while (*text) {
        const size_t length = strcspn(text, " ");
        struct word *word = find(in, text, length);
        word->count++;
        count(&line->counts, text, length);
        count(&in->total, text, length);
        of_thread.words++;
        text += length + (text[length] == ' ');
    }
}

static int by_count(const struct word *a, const struct word *b)
{
    return (a->count > b->count) - (a->count < b->count);
}

static __attribute__((noinline)) const struct word *most(const dictionary_t *in)
{
    const struct word *best = NULL;
    for (int i = 0; i < BUCKETS; i++)
        for (const struct word *word = in->buckets[i]; word; word = word->next)
            if (!best || in->compare(word, best) > 0)
                best = word;
    return best;
}

int main(int argc, char **argv)
{
    static const char *const parts[] = {"the",      "program", "counts", "words", "of a", "rare-and-very-long-word",
                                        "in lines", "a ring"};
    const int rounds = argc > 1 ? atoi(argv[1]) : 200;
    unsigned seed = 1;
    char line[200];
    all.compare = by_count;
    for (int i = 0; i < rounds; i++) {
        line[0] = 0;
        for (int k = 0; k < 6; k++) {
            seed = seed * 1103515245 + 12345;
            strcat(strcat(line, k ? " " : ""), parts[seed >> 16 & 7]);
        }
        add_line(&all, line);
    }
    printf("%s %lu %lu %lu\n", text_of(most(&all)), all.total.words, of_thread.words, letters[0]);
    return 0;
}
