/* SPDX-License-Identifier: MIT */
/*
 * waits FILE: waits in four ways that are known, and prints how often, and how long it was off CPU meanwhile by its own
 * clocks: "planted_sleep 20 201234567". Each kind of call is in a function of its own, because wrappers of libc have no
 * frame. The clocks are read in the functions whose names count, so that being preempted there counts with both.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SLEEPS = 20, READS = 10, LOCKS = 10, SYNCS = 5, WAIT_NS = 5000000, BLOCK_BYTES = 1 << 18 };

#define APART __attribute__((noinline, noclone))
/* Does something after a call, so that the compiler does not make it a jump. */
#define STAY() __asm__ volatile("" ::: "memory")

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int turn; /* the helper thread has the lock */
static int pipes[2], file;
static char block[BLOCK_BYTES];

static uint64_t now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pause_ns(long ns)
{
    const struct timespec time = {0, ns};
    nanosleep(&time, NULL);
}

/* ---- the clocks -------------------------------------------------------------------------------------------------- */

struct spent {
    uint64_t wall, cpu;
};

static void begin(struct spent *spent)
{
    spent->wall -= now(CLOCK_MONOTONIC);
    spent->cpu -= now(CLOCK_THREAD_CPUTIME_ID);
}

static void end(struct spent *spent)
{
    spent->cpu += now(CLOCK_THREAD_CPUTIME_ID);
    spent->wall += now(CLOCK_MONOTONIC);
}

/* ---- the waits --------------------------------------------------------------------------------------------------- */

static APART void inner_sleep(void)
{
    pause_ns(WAIT_NS);
    STAY();
}

static APART void planted_sleep(struct spent *spent)
{
    begin(spent);
    inner_sleep();
    end(spent);
}

static APART void inner_read(void)
{
    char byte;
    if (read(pipes[0], &byte, 1) != 1)
        abort();
    STAY();
}

static APART void planted_read(struct spent *spent)
{
    begin(spent);
    inner_read();
    end(spent);
}

static APART void inner_lock(void)
{
    pthread_mutex_lock(&lock);
    STAY();
}

static APART void planted_lock(struct spent *spent)
{
    begin(spent);
    inner_lock();
    end(spent);
}

static APART void inner_sync(void)
{
    fsync(file);
    STAY();
}

static APART void planted_sync(struct spent *spent)
{
    begin(spent);
    inner_sync();
    end(spent);
}

/* ---- the other side ---------------------------------------------------------------------------------------------- */

static void *write_late(void *unused)
{
    (void)unused;
    for (int i = 0; i < READS; i++) {
        pause_ns(WAIT_NS);
        if (write(pipes[1], "x", 1) != 1)
            abort();
    }
    return NULL;
}

static void *hold(void *unused)
{
    (void)unused;
    for (int i = 0; i < LOCKS; i++) {
        while (atomic_load(&turn) != 2 * i)
            pause_ns(100000);
        pthread_mutex_lock(&lock);
        atomic_store(&turn, 2 * i + 1);
        pause_ns(WAIT_NS);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void report_notes(const char *what, int count, const struct spent *spent)
{
    printf("%s %d %llu\n", what, count, (unsigned long long)(spent->wall - spent->cpu));
}

int main(int argument_count, char **arguments)
{
    struct spent sleeps = {0}, reads = {0}, locks = {0}, syncs = {0};
    pthread_t writer, holder;
    file = argument_count > 1 ? open(arguments[1], O_CREAT | O_TRUNC | O_WRONLY, 0600) : -1;
    if (file < 0 || pipe(pipes) < 0)
        return 1;
    for (int i = 0; i < SLEEPS; i++)
        planted_sleep(&sleeps);
    if (pthread_create(&writer, NULL, write_late, NULL) != 0)
        return 1;
    for (int i = 0; i < READS; i++)
        planted_read(&reads);
    pthread_join(writer, NULL);
    if (pthread_create(&holder, NULL, hold, NULL) != 0)
        return 1;
    for (int i = 0; i < LOCKS; i++) {
        while (atomic_load(&turn) != 2 * i + 1)
            pause_ns(100000);
        planted_lock(&locks);
        pthread_mutex_unlock(&lock);
        atomic_store(&turn, 2 * i + 2);
    }
    pthread_join(holder, NULL);
    for (int i = 0; i < SYNCS; i++) {
        if (write(file, block, sizeof(block)) != (ssize_t)sizeof(block))
            return 1;
        planted_sync(&syncs);
    }
    report_notes("planted_sleep", SLEEPS, &sleeps);
    report_notes("planted_read", READS, &reads);
    report_notes("planted_lock", LOCKS, &locks);
    report_notes("planted_sync", SYNCS, &syncs);
    return 0;
}
