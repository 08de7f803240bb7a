/* SPDX-License-Identifier: MIT */
/* For rebuilt.py: the same work before and, with -DAFTER, when it was written anew. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define OUTLINE __attribute__((noinline, noclone))
#define LOOP(count, factor)                                                                                            \
    for (uint64_t left = (count); left--;)                                                                             \
        x = x * (factor) ^ x >> 7;

static volatile uint64_t result;

/* How often the other thread packs; the first one does the rest. */
enum {
    ROUNDS = 1500,
#ifdef AFTER
    ASIDE = ROUNDS / 3,
#else
    ASIDE = ROUNDS,
#endif
};

#ifdef AFTER
#define INLINED static inline __attribute__((always_inline))
#define convert_words convert_words2
OUTLINE void padding(void)
{
    result++;
}
#else
#define INLINED static OUTLINE
#endif

INLINED void divide(uint64_t count)
{
    uint64_t x = result;
    LOOP(count, 0x9e3779b97f4a7c15)
    result = x;
}

static OUTLINE void step(void)
{
    uint64_t x = result;
    LOOP(2000, 0x9e3779b97f4a7c25)
    result = x;
    divide(20000);
    result++;
}

static OUTLINE void convert_words(void)
{
    uint64_t x = result;
    LOOP(15000, 0x9e3779b97f4a7c35)
    result = x;
}

#ifdef AFTER
static OUTLINE void sort_tail(void)
{
    uint64_t x = result;
    LOOP(9000, 0x9e3779b97f4a7c45)
    result = x;
}
static OUTLINE void sort_all(void)
{
    uint64_t x = result;
    LOOP(9000, 0x9e3779b97f4a7c45)
    result = x;
    sort_tail();
    result++;
}
#else
static OUTLINE void sort_all(void)
{
    uint64_t x = result;
    LOOP(18000, 0x9e3779b97f4a7c45)
    result = x;
}
#endif

static OUTLINE void pack(void)
{
    uint64_t x = result;
    LOOP(12000, 0x9e3779b97f4a7c55)
    result = x;
}

static void *work(void *context)
{
    char name[16];
    snprintf(name, sizeof(name), "work-%d", (int)getpid());
    pthread_setname_np(pthread_self(), name);
    for (int i = 0; i < ASIDE; i++)
        pack();
    return context;
}

int main(void)
{
    pthread_t id;
    if (pthread_create(&id, NULL, work, NULL))
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        step();
        convert_words();
        sort_all();
        if (i >= ASIDE)
            pack();
    }
    pthread_join(id, NULL);
    return 0;
}
