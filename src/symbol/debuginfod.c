/* SPDX-License-Identifier: MIT */
#include "symbol/debuginfod.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "symbol/library.h"

enum { SLOW_MS = 1000, GRACE_MS = 200, BUILD_ID_MOST = 20 };

typedef struct debuginfod_client debuginfod_client;
typedef int find_function(debuginfod_client *client, const unsigned char *id, int bytes, char **path);
typedef int progress_function(debuginfod_client *client, long a, long b);

struct library {
    void *handle;
    debuginfod_client *(*begin)(void);
    void (*end)(debuginfod_client *client);
    find_function *find_executable;
    find_function *find_debuginfo;
    void (*set_progress)(debuginfod_client *client, progress_function *progress);
};

static int64_t now_ms(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* It stays loaded: a thread may be in it for longer than we wait. */
static bool load_library(struct library *l)
{
    const struct {
        void *function;
        const char *name;
    } functions[] = {
        {&l->begin, "debuginfod_begin"},
        {&l->end, "debuginfod_end"},
        {&l->find_executable, "debuginfod_find_executable"},
        {&l->find_debuginfo, "debuginfod_find_debuginfo"},
        {&l->set_progress, "debuginfod_set_progressfn"},
    };
    *l = (struct library){.handle = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL)};
    for (size_t i = 0; l->handle && i < PF_COUNT(functions); i++) {
        if (!pf_library_function(l->handle, functions[i].name, functions[i].function))
            return false;
    }
    return l->handle;
}

/* ---- the thread ---- */

/* Shared by who asks and the thread; who is last frees it. */
struct asking {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    atomic_bool cancelled; /* who asked has gone */
    unsigned holders;
    bool done;
    struct library library;
    uint8_t id[BUILD_ID_MOST];
    int id_bytes;
    bool wants_debug;
    char *path;
    int result; /* as of the library: negative errno */
};

/* The library hands over its client alone. */
static _Thread_local struct asking *own_asking;

static int stop_when_cancelled(debuginfod_client *client, long a, long b)
{
    (void)client, (void)a, (void)b;
    return own_asking && atomic_load(&own_asking->cancelled);
}

static void release(struct asking *asking)
{
    pthread_mutex_lock(&asking->lock);
    const bool last = --asking->holders == 0;
    pthread_mutex_unlock(&asking->lock);
    if (!last)
        return;
    pthread_mutex_destroy(&asking->lock);
    pthread_cond_destroy(&asking->answered);
    free(asking->path);
    free(asking);
}

static void *ask(void *context)
{
    struct asking *asking = context;
    const struct library *l = &asking->library;
    char *path = NULL;
    int result = -ENOMEM;
    own_asking = asking;
    debuginfod_client *client = l->begin();
    if (client) {
        l->set_progress(client, stop_when_cancelled);
        result =
            (asking->wants_debug ? l->find_debuginfo : l->find_executable)(client, asking->id, asking->id_bytes, &path);
        if (result >= 0)
            close(result);
    }
    pthread_mutex_lock(&asking->lock);
    asking->path = result >= 0 ? path : NULL;
    asking->result = result;
    asking->done = true;
    pthread_cond_signal(&asking->answered);
    pthread_mutex_unlock(&asking->lock);
    if (result < 0)
        free(path);
    if (client)
        l->end(client); /* may wait for its own threads */
    release(asking);
    return NULL;
}

/* Signals are for the threads of the program. */
static bool start_thread(struct asking *asking)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&thread, NULL, ask, asking) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

/* ---- who asks ---- */

static struct asking *make_asking(const struct library *library, const struct pf_debuginfod_question *question)
{
    pthread_condattr_t attributes;
    struct asking *asking = calloc(1, sizeof(*asking));
    if (!asking)
        return NULL;
    pthread_mutex_init(&asking->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&asking->answered, &attributes);
    pthread_condattr_destroy(&attributes);
    asking->library = *library;
    asking->holders = 2;
    asking->id_bytes = (int)pf_min(question->build_id_bytes, BUILD_ID_MOST);
    memcpy(asking->id, question->build_id, (size_t)asking->id_bytes);
    asking->wants_debug = question->wants_debug;
    return asking;
}

/* Until there is an answer or the time has come. */
static bool wait_until(struct asking *asking, int64_t time_ms)
{
    const struct timespec until = {.tv_sec = (time_t)(time_ms / 1000), .tv_nsec = (long)(time_ms % 1000) * 1000000};
    int code = 0;
    pthread_mutex_lock(&asking->lock);
    while (!asking->done && code == 0)
        code = pthread_cond_timedwait(&asking->answered, &asking->lock, &until);
    const bool done = asking->done;
    pthread_mutex_unlock(&asking->lock);
    return done;
}

static bool wait_for_answer(struct asking *asking, const struct pf_debuginfod_question *question, int64_t limit_ms)
{
    const int64_t start = now_ms();
    if (limit_ms > SLOW_MS) {
        if (wait_until(asking, start + SLOW_MS))
            return true;
        if (question->slow)
            question->slow(question->context);
    }
    if (wait_until(asking, start + limit_ms))
        return true;
    atomic_store(&asking->cancelled, true);
    return wait_until(asking, start + limit_ms + GRACE_MS); /* most often it is just told to stop */
}

static void count(struct pf_debuginfod *d, const struct asking *asking, bool done, bool in_time)
{
    d->asked++;
    if (!in_time && (!done || asking->result < 0)) {
        d->late++;
    } else if (asking->result == -ENOENT) {
        d->absent++;
    } else if (asking->result < 0) {
        d->failed++;
        d->last_error = -asking->result;
    }
}

char *pf_debuginfod_find(struct pf_debuginfod *debuginfod, const struct pf_debuginfod_question *question)
{
    struct library library;
    const int64_t start = now_ms(),
                  limit_ms = question->limit_ms < debuginfod->left_ms ? question->limit_ms : debuginfod->left_ms;
    if (limit_ms <= 0) {
        debuginfod->skipped++;
        return NULL;
    }
    struct asking *asking = load_library(&library) ? make_asking(&library, question) : NULL;
    if (!asking)
        return NULL;
    if (!start_thread(asking)) {
        asking->holders = 1;
        release(asking);
        return NULL;
    }
    const bool done = wait_for_answer(asking, question, limit_ms);
    char *path = NULL;
    if (done) {
        path = asking->path;
        asking->path = NULL;
    }
    count(debuginfod, asking, done, !atomic_load(&asking->cancelled));
    debuginfod->left_ms -= now_ms() - start;
    release(asking);
    return path;
}
