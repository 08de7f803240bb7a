/* SPDX-License-Identifier: MIT */
/*
 * Programs of about half a second for diff_trials: WORKLOAD [PERCENT]. Of `steady` each function has a known part of
 * the time; the one called target has 18 %, and PERCENT more of that.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTLINE __attribute__((noinline, noclone))

static volatile uint64_t result;

/* Arithmetic whose steps depend on each other takes the same time everywhere in the program. */
#define STEADY(name, factor)                                                                                           \
    static OUTLINE void name(uint64_t count)                                                                           \
    {                                                                                                                  \
        uint64_t x = result + 1;                                                                                       \
        while (count--)                                                                                                \
            x = x * (factor) ^ x >> 7;                                                                                 \
        result = x;                                                                                                    \
    }
STEADY(parse, 0x9e3779b97f4a7c53)
STEADY(target, 0x9e3779b9804a7c5f)
STEADY(hash, 0x9e3779b9814a7c67)
STEADY(copy, 0x9e3779b9824a7c6b)
STEADY(format, 0x9e3779b9834a7c73)
STEADY(lookup, 0x9e3779b9844a7c7f)
STEADY(check, 0x9e3779b9854a7c8b)
STEADY(close_all, 0x9e3779b9864a7c8f)
STEADY(small, 0x9e3779b9874a7c9b)

static void steady(unsigned percent)
{
    static const struct {
        void (*function)(uint64_t count);
        unsigned share;
    } parts[] = {{parse, 27}, {target, 18}, {hash, 15},     {copy, 12}, {format, 10},
                 {lookup, 8}, {check, 5},   {close_all, 3}, {small, 2}};
    for (int round = 0; round < 700; round++)
        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
            parts[i].function((uint64_t)parts[i].share * 65 * (parts[i].function == target ? 100 + percent : 100));
}

/* ---- others ------------------------------------------------------------------------------------------------------ */

static uint64_t seed = 4711;
static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static OUTLINE void walk(uint32_t *positions, size_t count, size_t steps)
{
    uint32_t at = 0;
    while (steps--)
        at = positions[(at + next_random()) % count];
    result = at;
}

static OUTLINE void sweep(uint32_t *positions, size_t count)
{
    for (size_t i = 0; i < count; i++)
        positions[i] = positions[i] * 3 + (uint32_t)i;
}

static void memory(void)
{
    const size_t count = 8 << 20;
    uint32_t *positions = calloc(count, sizeof(*positions));
    if (!positions)
        exit(1);
    for (int i = 0; i < 8; i++) {
        sweep(positions, count);
        walk(positions, count, 1 << 18);
    }
    free(positions);
}

static void *pack(void *context)
{
    for (int i = 0; i < 500; i++) {
        hash(200000);
        copy(100000);
    }
    return context;
}

static void *unpack(void *context)
{
    for (int i = 0; i < 500; i++) {
        lookup(150000);
        format(150000);
    }
    return context;
}

static void threads(void)
{
    pthread_t ids[2];
    if (pthread_create(&ids[0], NULL, pack, NULL) || pthread_create(&ids[1], NULL, unpack, NULL))
        exit(1);
    pthread_join(ids[0], NULL);
    pthread_join(ids[1], NULL);
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static OUTLINE void load(uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "%llu", (unsigned long long)next_random());
        keys[i] = strtoull(text, NULL, 10);
    }
}

static OUTLINE void query(const uint64_t *keys, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = next_random();
        result += bsearch(&key, keys, count, sizeof(*keys), compare) != NULL;
    }
}

static void phases(void)
{
    const size_t count = 1300000;
    uint64_t *keys = malloc(count * sizeof(*keys));
    if (!keys)
        exit(1);
    load(keys, count);
    qsort(keys, count, sizeof(*keys), compare);
    query(keys, count);
    free(keys);
}

int main(int argc, char **argv)
{
    const char *workload = argc > 1 ? argv[1] : "steady";
    if (!strcmp(workload, "steady"))
        steady(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
    else if (!strcmp(workload, "memory"))
        memory();
    else if (!strcmp(workload, "threads"))
        threads();
    else
        phases();
    return 0;
}
