/* SPDX-License-Identifier: MIT */
/*
 * deep SECONDS: computes in two threads, 30 functions below planted_root, without frame pointers. It asks for no time,
 * as the kernel's code for that is in no file.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

enum { DEPTH = 30, STEPS = 20000 };

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sum;
static volatile sig_atomic_t ended;

static void finish(int number)
{
    ended = number;
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
    while (!ended)
        planted_middle(DEPTH);
    return context;
}

int main(int count, char **arguments)
{
    const double seconds = count > 1 ? atof(arguments[1]) : 1;
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)seconds, .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))}};
    pthread_t thread;
    signal(SIGALRM, finish);
    if (setitimer(ITIMER_REAL, &timer, NULL) != 0)
        return 1;
    if (pthread_create(&thread, NULL, planted_root, NULL) != 0)
        return 1;
    planted_root(NULL);
    return pthread_join(thread, NULL);
}
