/* SPDX-License-Identifier: MIT */
/*
 * deep SECONDS [wide]: computes in two threads, 30 functions below planted_root, without frame pointers; wide: as long
 * again with frames of 400 bytes. Seconds are those of processors, of both threads: a busy machine takes as many
 * samples. With NEVER_RETURNS planted_root has no code that returns; with MADE_CODE it calls by code that was made at
 * run time and has no frame pointer. It asks for no time, as the kernel's code for that is in no file.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { DEPTH = 30, STEPS = 20000, WIDTH = 400 };

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sum;
static volatile sig_atomic_t phases = 1;

static void finish(int number)
{
    (void)number;
    phases -= phases > 0; /* on a busy machine the timer may fire again before the end */
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

static APART void planted_wide(int depth)
{
    volatile char area[WIDTH];
    area[0] = (char)depth;
    if (depth)
        planted_wide(depth - 1);
    else
        planted_leaf();
    sum += (unsigned long)area[0];
}

#ifdef MADE_CODE
/* sub $8,%rsp; call *%rsi; add $8,%rsp; ret */
static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3};
static void (*made)(int depth, void (*function)(int depth));

static int make_code(void)
{
    void *memory = mmap(NULL, sizeof(code), PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    memcpy(memory, code, sizeof(code));
    memcpy(&made, &memory, sizeof(made));
    return 0;
}

static void descend(int depth)
{
    made(depth, planted_middle);
}
#else
static int make_code(void)
{
    return 0;
}

static void descend(int depth)
{
    planted_middle(depth);
}
#endif

static APART void *planted_root(void *context)
{
#if defined(NEVER_RETURNS) && defined(__x86_64__)
    __asm__ volatile("mov $8, %%rbp" ::: "rbp"); /* 0 would be the end of a chain of frame pointers */
#endif
    while (phases > 1)
        descend(DEPTH);
    while (context && phases)
        planted_wide(DEPTH);
    while (phases)
        descend(DEPTH);
#ifdef NEVER_RETURNS
    pthread_exit(context);
#endif
    return context;
}

int main(int count, char **arguments)
{
    const double seconds = count > 1 ? atof(arguments[1]) : 1;
    const struct timeval time = {.tv_sec = (time_t)seconds,
                                 .tv_usec = (suseconds_t)(1e6 * (seconds - (double)(time_t)seconds))};
    const struct itimerval timer = {.it_value = time, .it_interval = time};
    void *wide = count > 2 ? arguments[2] : NULL;
    pthread_t thread;
    phases += wide != NULL;
    signal(SIGVTALRM, finish);
    if (make_code() != 0 || setitimer(ITIMER_VIRTUAL, &timer, NULL) != 0)
        return 1;
    if (pthread_create(&thread, NULL, planted_root, wide) != 0)
        return 1;
    planted_root(wide);
    return pthread_join(thread, NULL);
}
