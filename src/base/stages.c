/* SPDX-License-Identifier: MIT */
#include "base/stages.h"

#include "base/bytes.h"
#include "platform/platform.h"

struct thread {
    struct pf_stages *stages;
    unsigned worker;
    pthread_t id;
};

struct pf_stages {
    const struct perfile_allocator *allocator;
    struct pf_stages_plan plan;
    struct pf_stage stages[PF_STAGES_MAX];
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    uint64_t fetched[PF_STAGES_MAX]; /* items that the stage has taken */
    bool busy[PF_STAGES_MAX];
    uint64_t consumed; /* items that the caller has had */
    uint64_t back;     /* and has given back */
    uint64_t last;     /* how many items there are in all, once that is known */
    bool stopped;
    bool started;                            /* the threads, or there are none to start */
    unsigned idle;                           /* threads that wait, without the caller */
    unsigned passed[2 * PF_THREADS_MAX + 1]; /* by item: stages that are done */
    unsigned thread_count;
    struct thread threads[PF_THREADS_MAX];
};

static unsigned *passed(struct pf_stages *stages, uint64_t number)
{
    return &stages->passed[number % stages->plan.item_count];
}

/* Serial stages stay with the threads that do them, as long as one has time: what they know is in its cache. */
static bool is_ready(struct pf_stages *stages, unsigned stage, unsigned worker)
{
    const uint64_t number = stages->fetched[stage];
    const bool consumed = stages->busy[stage] || (worker == 0 && stages->idle);
    if ((consumed && !stages->stages[stage].parallel) || stages->stopped)
        return false;
    if (stage == 0)
        return number < stages->last && number - stages->back < stages->plan.item_count;
    return number < stages->fetched[0] && *passed(stages, number) == stage;
}

/*
 * Does what is ready, the latest stage first, because finished items free their slots. But the first stage, for which
 * all others wait, continues as long as a thread other than the caller's has time for it: changing the stage costs a
 * thread its cache. False: nothing is ready. Locked.
 */
static bool work(struct pf_stages *stages, unsigned worker)
{
    unsigned stage = worker && is_ready(stages, 0, worker) ? 1 : stages->plan.stage_count;
    while (stage > 0 && !is_ready(stages, stage - 1, worker))
        stage--;
    if (stage-- == 0)
        return false;
    const uint64_t number = stages->fetched[stage]++;
    const size_t position = (size_t)(number % stages->plan.item_count);
    stages->busy[stage] = true;
    pthread_mutex_unlock(&stages->lock);
    const bool more = stages->stages[stage].work(
        stages->plan.context, (char *)stages->plan.items + position * stages->plan.item_bytes, worker);
    pthread_mutex_lock(&stages->lock);
    stages->busy[stage] = false;
    if (stage == 0 && !more)
        stages->last = number + 1;
    stages->passed[position] = stage + 1;
    if (stages->thread_count)
        pthread_cond_broadcast(&stages->changed);
    return true;
}

static void *run(void *argument)
{
    struct thread *thread = argument;
    struct pf_stages *stages = thread->stages;
    pthread_mutex_lock(&stages->lock);
    while (!stages->stopped)
        if (!work(stages, thread->worker)) {
            stages->idle++;
            pthread_cond_wait(&stages->changed, &stages->lock);
            stages->idle--;
        }
    pthread_mutex_unlock(&stages->lock);
    return NULL;
}

static void start_threads(struct pf_stages *stages)
{
    const unsigned threads = stages->plan.threads;
    const unsigned count =
        threads > 1 && pf_platform_has_processors() ? (unsigned)pf_min(threads, PF_THREADS_MAX) - 1 : 0;
    stages->started = true;
    if (!count)
        return;
    pthread_mutex_lock(&stages->lock);
    for (unsigned i = 0; i < count; i++) {
        struct thread *thread = &stages->threads[i];
        *thread = (struct thread){.stages = stages, .worker = i + 1};
        if (!pf_thread_start(&thread->id, run, thread))
            break;
        stages->thread_count++;
    }
    pthread_mutex_unlock(&stages->lock);
}

struct pf_stages *pf_stages_open(const struct pf_stages_plan *plan, const struct perfile_allocator *allocator)
{
    struct pf_stages *stages = pf_new(allocator, sizeof(*stages));
    if (!stages)
        return NULL;
    stages->allocator = allocator;
    stages->plan = *plan;
    stages->last = UINT64_MAX;
    memcpy(stages->stages, plan->stages, plan->stage_count * sizeof(*plan->stages));
    pthread_mutex_init(&stages->lock, NULL);
    pthread_cond_init(&stages->changed, NULL);
    return stages;
}

void *pf_stages_next(struct pf_stages *stages)
{
    void *item = NULL;
    if (!stages->started && stages->consumed >= stages->plan.alone)
        start_threads(stages);
    pthread_mutex_lock(&stages->lock);
    if (stages->back < stages->consumed) {
        *passed(stages, stages->back++) = 0;
        if (stages->thread_count)
            pthread_cond_broadcast(&stages->changed);
    }
    const uint64_t number = stages->consumed;
    while (number < stages->last && *passed(stages, number) != stages->plan.stage_count)
        if (!work(stages, 0))
            pthread_cond_wait(&stages->changed, &stages->lock);
    if (number < stages->last) {
        item = (char *)stages->plan.items + (size_t)(number % stages->plan.item_count) * stages->plan.item_bytes;
        stages->consumed++;
    }
    pthread_mutex_unlock(&stages->lock);
    return item;
}

void pf_stages_close(struct pf_stages *stages)
{
    if (!stages)
        return;
    pthread_mutex_lock(&stages->lock);
    stages->stopped = true;
    pthread_cond_broadcast(&stages->changed);
    pthread_mutex_unlock(&stages->lock);
    for (unsigned i = 0; i < stages->thread_count; i++)
        pthread_join(stages->threads[i].id, NULL);
    pthread_cond_destroy(&stages->changed);
    pthread_mutex_destroy(&stages->lock);
    pf_free(stages->allocator, stages, sizeof(*stages));
}
