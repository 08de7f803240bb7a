/* SPDX-License-Identifier: MIT */
#include "base/workers.h"

#include <signal.h>

#include "base/bytes.h"
#include "platform/platform.h"

struct pf_workers {
    const struct perfile_allocator *allocator;
    pthread_mutex_t lock;         /* of all below, and of the states of tasks */
    pthread_cond_t added;         /* a task waits, or no more will */
    pthread_cond_t changed;       /* a task is done */
    struct pf_task *first, **end; /* those that wait */
    bool stopped;
    unsigned thread_count;
    pthread_t threads[PF_THREADS_MAX];
};

bool pf_thread_start(pthread_t *id, void *(*run)(void *argument), void *argument)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(id, NULL, run, argument) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

/* Removes a task that waits. Locked. */
static void take_out(struct pf_workers *workers, struct pf_task *task)
{
    struct pf_task **at = &workers->first;
    while (*at != task)
        at = &(*at)->next;
    *at = task->next;
    if (workers->end == &task->next)
        workers->end = at;
}

/* Locked; not while the task is worked on. */
static void do_task(struct pf_workers *workers, struct pf_task *task)
{
    take_out(workers, task);
    task->state = PF_TASK_RUNNING;
    pthread_mutex_unlock(&workers->lock);
    task->work(task);
    pthread_mutex_lock(&workers->lock);
    task->state = PF_TASK_DONE;
    pthread_cond_signal(&workers->changed); /* only the owner waits for it */
}

static void *run(void *argument)
{
    struct pf_workers *workers = argument;
    pthread_mutex_lock(&workers->lock);
    while (!workers->stopped)
        if (workers->first)
            do_task(workers, workers->first);
        else
            pthread_cond_wait(&workers->added, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
    return NULL;
}

struct pf_workers *pf_workers_open(unsigned threads, const struct perfile_allocator *allocator)
{
    struct pf_workers *workers =
        threads > 1 && pf_platform_has_processors() ? pf_new(allocator, sizeof(*workers)) : NULL;
    if (!workers)
        return NULL;
    workers->allocator = allocator;
    workers->end = &workers->first;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->added, NULL);
    pthread_cond_init(&workers->changed, NULL);
    while (workers->thread_count + 1 < pf_min(threads, PF_THREADS_MAX) &&
           pf_thread_start(&workers->threads[workers->thread_count], run, workers))
        workers->thread_count++;
    if (workers->thread_count)
        return workers;
    pf_workers_close(workers);
    return NULL;
}

void pf_workers_close(struct pf_workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->stopped = true;
    pthread_cond_broadcast(&workers->added);
    pthread_mutex_unlock(&workers->lock);
    for (unsigned i = 0; i < workers->thread_count; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->changed);
    pthread_cond_destroy(&workers->added);
    pthread_mutex_destroy(&workers->lock);
    pf_free(workers->allocator, workers, sizeof(*workers));
}

void pf_workers_add(struct pf_workers *workers, struct pf_task *task)
{
    pthread_mutex_lock(&workers->lock);
    task->state = PF_TASK_WAITING;
    task->next = NULL;
    *workers->end = task;
    workers->end = &task->next;
    pthread_cond_signal(&workers->added);
    pthread_mutex_unlock(&workers->lock);
}

void pf_workers_wait(struct pf_workers *workers, struct pf_task *task)
{
    pthread_mutex_lock(&workers->lock);
    while (task->state != PF_TASK_DONE && task->state != PF_TASK_IDLE)
        if (task->state == PF_TASK_WAITING)
            do_task(workers, task);
        else if (workers->first)
            do_task(workers, workers->first);
        else
            pthread_cond_wait(&workers->changed, &workers->lock);
    task->state = PF_TASK_IDLE;
    pthread_mutex_unlock(&workers->lock);
}

void pf_workers_withdraw(struct pf_workers *workers, struct pf_task *task)
{
    pthread_mutex_lock(&workers->lock);
    if (task->state == PF_TASK_WAITING)
        take_out(workers, task);
    while (task->state == PF_TASK_RUNNING)
        pthread_cond_wait(&workers->changed, &workers->lock);
    task->state = PF_TASK_IDLE;
    pthread_mutex_unlock(&workers->lock);
}
