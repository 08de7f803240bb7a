/* SPDX-License-Identifier: MIT */
#include "symbol/find/debuginfod.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "symbol/find/library.h"

enum { SLOW_MS = 1000, GRACE_MS = 200 };

typedef struct debuginfod_client debuginfod_client;
typedef int find_function(debuginfod_client *client, const unsigned char *id, int bytes, char **path);
typedef int find_source_function(debuginfod_client *client, const unsigned char *id, int bytes, const char *name,
                                 char **path);
typedef int progress_function(debuginfod_client *client, long a, long b);

struct library {
    void *handle;
    debuginfod_client *(*begin)(void);
    void (*end)(debuginfod_client *client);
    find_function *find_executable;
    find_function *find_debuginfo;
    find_source_function *find_source;
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
        {&l->find_source, "debuginfod_find_source"},
        {&l->set_progress, "debuginfod_set_progressfn"},
    };
    *l = (struct library){.handle = pf_library_open(PF_LIBRARY_DEBUGINFOD, RTLD_LAZY | RTLD_LOCAL)};
    for (size_t i = 0; l->handle && i < PF_COUNT(functions); i++) {
        if (!pf_library_function(l->handle, functions[i].name, functions[i].function))
            return false;
    }
    return l->handle;
}

/* ---- files that are being downloaded ---- */

/*
 * The library lets a server send as much as it likes: DEBUGINFOD_MAXSIZE counts only where the server says the size
 * before, and the progress counts bytes as they come, which may be compressed. So its files are looked at: in the
 * folder of the build id in its cache they have a name that ends with six other characters until they are complete.
 */
static bool is_partial(const char *name)
{
    const char *end = strrchr(name, '.');
    return end && end != name && strlen(end) == 7;
}

struct partial {
    uint64_t bytes; /* of the largest */
    uint64_t limit; /* larger ones are removed */
    bool removed;
};

static void look_at_partial(struct partial *partial, const char *root, const char *below, const char *id)
{
    char path[4096];
    struct stat status;
    const struct dirent *item;
    if (!root || !*root || snprintf(path, sizeof(path), "%s%s/%s", root, below, id) >= (int)sizeof(path))
        return;
    DIR *folder = opendir(path);
    while (folder && (item = readdir(folder)) != NULL) {
        if (!is_partial(item->d_name) || fstatat(dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        partial->bytes = pf_max(partial->bytes, (uint64_t)status.st_size);
        if ((uint64_t)status.st_size > partial->limit && unlinkat(dirfd(folder), item->d_name, 0) == 0)
            partial->removed = true;
    }
    if (folder)
        closedir(folder);
}

/* Which of the folders the library takes depends on which of them there are. */
static struct partial look_at_partials(const char *id, uint64_t limit)
{
    struct partial partial = {.limit = limit};
    look_at_partial(&partial, getenv("DEBUGINFOD_CACHE_PATH"), "", id);
    look_at_partial(&partial, getenv("XDG_CACHE_HOME"), "/debuginfod_client", id);
    look_at_partial(&partial, getenv("HOME"), "/.cache/debuginfod_client", id);
    look_at_partial(&partial, getenv("HOME"), "/.debuginfod_client_cache", id);
    return partial;
}

/* ---- the thread ---- */

/*
 * Shared by the caller and the thread; the last of the two frees it. From malloc: the caller's allocator may be gone
 * before the thread.
 */
struct asking {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    atomic_bool cancelled; /* the caller does not wait any more */
    atomic_bool large;
    _Atomic uint64_t bytes; /* that came */
    uint64_t limit_bytes;
    unsigned holders;
    bool done;
    struct library library;
    uint8_t id[PF_BUILD_ID_BYTES];
    int id_bytes;
    char hex[2 * PF_BUILD_ID_BYTES + 1];
    bool wants_debug;
    char *source; /* NULL: no source file */
    char *path;
    int result; /* as of the library: negative errno */
};

/* The library hands over its client alone. */
static _Thread_local struct asking *own_asking;

static bool is_too_much(struct asking *asking, uint64_t bytes)
{
    bytes = pf_max(bytes, look_at_partials(asking->hex, UINT64_MAX).bytes);
    atomic_store(&asking->bytes, pf_max(bytes, atomic_load(&asking->bytes)));
    if (bytes > asking->limit_bytes)
        atomic_store(&asking->large, true);
    return atomic_load(&asking->large);
}

/* `come` counts from when a server was chosen, before that it is small; `announced` may be 0. */
static int stop_when_enough(debuginfod_client *client, long come, long announced)
{
    struct asking *asking = own_asking;
    (void)client;
    if (!asking)
        return 0;
    if (announced > 0 && (uint64_t)announced > asking->limit_bytes)
        atomic_store(&asking->large, true);
    return is_too_much(asking, come > 0 ? (uint64_t)come : 0) || atomic_load(&asking->cancelled);
}

/* Deletes a file that is too large, but complete before its size was noticed. A file of the cache is not a download. */
static int check_size(struct asking *asking, int fd, const char *path)
{
    struct stat status;
    const bool is_new = atomic_load(&asking->bytes) > 0;
    if (is_new && fstat(fd, &status) == 0) {
        atomic_store(&asking->bytes, (uint64_t)status.st_size);
        if ((uint64_t)status.st_size > asking->limit_bytes) {
            atomic_store(&asking->large, true);
            unlink(path);
        }
    }
    close(fd);
    return atomic_load(&asking->large) ? -EFBIG : 0;
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
    free(asking->source);
    free(asking);
}

static int find_file(const struct asking *asking, debuginfod_client *client, char **path)
{
    const struct library *l = &asking->library;
    if (asking->source)
        return l->find_source(client, asking->id, asking->id_bytes, asking->source, path);
    return (asking->wants_debug ? l->find_debuginfo : l->find_executable)(client, asking->id, asking->id_bytes, path);
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
        l->set_progress(client, stop_when_enough);
        result = find_file(asking, client, &path);
        if (result >= 0)
            result = check_size(asking, result, path);
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

/* ---- the caller's side ---- */

static struct asking *make_asking(const struct library *library, const struct pf_debuginfod_question *question)
{
    pthread_condattr_t attributes;
    struct asking *asking = calloc(1, sizeof(*asking));
    if (asking && question->source && !(asking->source = strdup(question->source))) {
        free(asking);
        return NULL;
    }
    if (!asking)
        return NULL;
    pthread_mutex_init(&asking->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&asking->answered, &attributes);
    pthread_condattr_destroy(&attributes);
    asking->library = *library;
    asking->holders = 2;
    asking->id_bytes = (int)pf_min(question->build_id_bytes, PF_BUILD_ID_BYTES);
    memcpy(asking->id, question->build_id, (size_t)asking->id_bytes);
    for (int i = 0; i < asking->id_bytes; i++)
        snprintf(asking->hex + 2 * i, 3, "%02x", asking->id[i]);
    asking->wants_debug = question->wants_debug;
    return asking;
}

static bool wait_a_while(struct asking *asking, int64_t time_ms)
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

/*
 * Until there is an answer, or the time has come, or too much: a few bytes that unpack to many gigabytes do so without
 * a word about progress.
 */
static bool wait_until(struct asking *asking, int64_t time_ms)
{
    enum { STEP_MS = 100 };
    bool done = false;
    for (int64_t now = now_ms(); !done && now < time_ms && !is_too_much(asking, 0); now = now_ms())
        done = wait_a_while(asking, now + STEP_MS < time_ms ? now + STEP_MS : time_ms);
    return done;
}

static bool wait_for_answer(struct asking *asking, const struct pf_debuginfod_question *question, int64_t limit_ms)
{
    const int64_t start = now_ms();
    if (limit_ms > SLOW_MS) {
        if (wait_until(asking, start + SLOW_MS))
            return true;
        if (question->slow && !atomic_load(&asking->large))
            question->slow(question->context);
    }
    if (wait_until(asking, start + limit_ms))
        return true;
    atomic_store(&asking->cancelled, true);
    return wait_a_while(asking, now_ms() + GRACE_MS); /* mostly the thread stops soon */
}

/*
 * What is too large leaves no file, though the thread goes on until the process ends: a partial one loses its name here
 * and never gets another; where there is none, it is complete or about to be given up, and the thread is waited for.
 */
static bool drop_too_large(struct asking *asking)
{
    enum { STEP_MS = 10, SETTLE_MS = 5000 };
    const int64_t end = now_ms() + SETTLE_MS;
    bool done = false;
    while (!done && now_ms() < end && !look_at_partials(asking->hex, asking->limit_bytes).removed)
        done = wait_a_while(asking, now_ms() + STEP_MS);
    return done;
}

static void count(struct pf_debuginfod *d, const struct asking *asking, bool done, bool in_time)
{
    d->asked++;
    if (atomic_load(&asking->large)) {
        d->large++;
    } else if (!in_time && (!done || asking->result < 0)) {
        d->late++;
    } else if (asking->result == -ENOENT) {
        d->absent++;
    } else if (asking->result < 0) {
        d->failed++;
        d->last_error = -asking->result;
    }
}

void pf_debuginfod_limit(struct pf_debuginfod *debuginfod, uint64_t total_seconds, uint64_t file_bytes)
{
    enum { FILES = 4 };
    const uint64_t seconds = total_seconds ? total_seconds : PF_DEBUGINFOD_TOTAL_SECONDS;
    debuginfod->left_ms = 1000 * (int64_t)pf_min(seconds, INT32_MAX);
    debuginfod->file_bytes = file_bytes ? file_bytes : PF_DEBUGINFOD_FILE_BYTES;
    if (!pf_multiply(debuginfod->file_bytes, FILES, &debuginfod->left_bytes))
        debuginfod->left_bytes = UINT64_MAX;
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
    if (!debuginfod->left_bytes) {
        debuginfod->refused++;
        return NULL;
    }
    const bool is_loaded = load_library(&library);
    debuginfod->is_missing = !is_loaded && errno != ENOMEM;
    struct asking *asking = is_loaded ? make_asking(&library, question) : NULL;
    if (!asking)
        return NULL;
    asking->limit_bytes = pf_min(debuginfod->file_bytes, debuginfod->left_bytes);
    if (!start_thread(asking)) {
        asking->holders = 1;
        release(asking);
        debuginfod->asked++;
        debuginfod->failed++;
        debuginfod->last_error = EAGAIN;
        return NULL;
    }
    bool done = wait_for_answer(asking, question, limit_ms);
    char *path = NULL;
    if (!done && atomic_load(&asking->large)) {
        done = drop_too_large(asking);
        if (!done)
            debuginfod->left_bytes = 0; /* the end of the process is what stops it: that soon, nothing else is asked */
    }
    if (done && asking->path)
        path = pf_text_copy(pf_allocator_or_default(question->allocator), asking->path, strlen(asking->path));
    const bool is_short = done && asking->path && !path;
    count(debuginfod, asking, done, !atomic_load(&asking->cancelled));
    debuginfod->left_ms -= now_ms() - start;
    debuginfod->left_bytes -= pf_min(debuginfod->left_bytes, atomic_load(&asking->bytes));
    release(asking);
    if (is_short)
        errno = ENOMEM;
    return path;
}
