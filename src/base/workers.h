/* SPDX-License-Identifier: MIT */
/*
 * Tasks that other threads do while the caller is busy. They are started in the order in which they were added. The
 * caller gets the result of one by waiting for it, and does it itself when no thread has started it. All functions are
 * for one thread, the one that owns the workers.
 */
#ifndef PF_BASE_WORKERS_H
#define PF_BASE_WORKERS_H

#include <pthread.h>

#include "base/memory.h"

enum { PF_THREADS_MAX = 64 };

struct pf_task {
    void (*work)(struct pf_task *task);
    /* Of the workers: */
    enum pf_task_state { PF_TASK_IDLE, PF_TASK_WAITING, PF_TASK_RUNNING, PF_TASK_DONE } state;
    struct pf_task *next; /* that waits */
};

struct pf_workers;

/* NULL: out of memory, or threads would only take turns. `threads` counts the caller's. */
struct pf_workers *pf_workers_open(unsigned threads, const struct perfile_allocator *allocator);
/* All tasks must be idle or done. NULL is allowed. */
void pf_workers_close(struct pf_workers *workers);
/* The task must be idle, and stays where it is until it is done or withdrawn. */
void pf_workers_add(struct pf_workers *workers, struct pf_task *task);
/* Returns when the task is done, which is idle then. Other tasks may be done meanwhile. */
void pf_workers_wait(struct pf_workers *workers, struct pf_task *task);
/* The task need not be done; when this returns it is idle. */
void pf_workers_withdraw(struct pf_workers *workers, struct pf_task *task);

/* Starts a thread that gets no signals, which are for the threads of the program. */
bool pf_thread_start(pthread_t *id, void *(*run)(void *argument), void *argument);

#endif
