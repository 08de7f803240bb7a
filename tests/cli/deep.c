/* SPDX-License-Identifier: MIT */
/* deep SECONDS: computes in two threads, 30 functions below planted_root, without frame pointers. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { DEPTH = 30, STEPS = 20000 };

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sum;
static double end;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static APART void planted_leaf(void)
{
    for (unsigned i = 0; i < STEPS; i++)
        sum += i * sum;
}

static APART void planted_middle(int depth)
{
    if (depth)
        planted_middle(depth - 1);
    else
        planted_leaf();
    sum++; /* else it would be a jump */
}

static APART void *planted_root(void *context)
{
    while (now() < end)
        planted_middle(DEPTH);
    return context;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    end = now() + (count > 1 ? atof(arguments[1]) : 1);
    if (pthread_create(&thread, NULL, planted_root, NULL) != 0)
        return 1;
    planted_root(NULL);
    return pthread_join(thread, NULL);
}
