/* SPDX-License-Identifier: MIT */
#include "load.h"
#include "screen.h"

#include <perfile/records.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 200 };

static void progress(void *context, uint64_t done, uint64_t total)
{
    struct pf_tui_load *load = context;
    bool wake, quits;

    pthread_mutex_lock(&load->lock);
    load->done = done;
    load->total = total;
    quits = load->quits;
    wake = !load->woken;
    load->woken = true;
    pthread_mutex_unlock(&load->lock);
    if (quits)
        perfile_reader_stop(load->input->reader);
    if (wake)
        pf_tui_screen_wake();
}

static void note(void *context, const char *text)
{
    struct pf_tui_load *load = context;
    char *kept = load->live ? pf_message_kept() : NULL;

    if (!kept || !strstr(kept, text)) /* each interval has the same ones */
        pf_log_note(&load->input->log, text);
    free(kept);
}

static void hand_over(struct pf_tui_load *load, struct pf_tui_index *index)
{
    pthread_mutex_lock(&load->lock);
    pf_tui_index_free(load->fresh);
    load->fresh = index;
    pthread_mutex_unlock(&load->lock);
    pf_tui_screen_wake();
}

static void snapshot(void *context, const struct perfile_profile *profile)
{
    struct pf_tui_load *load = context;
    struct pf_tui_index *index = pf_tui_index_make(profile, load->quantum_ns, load->columns, true);

    if (index) /* what is too large to be shown early is shown at the end */
        hand_over(load, index);
}

/* The times of the first and the last sample, if the header has them. */
struct span {
    uint64_t times[2];
    size_t count;
};

static int take_time(void *context, const struct perfile_value *value)
{
    struct span *span = context;

    if (span->count < 2)
        span->times[span->count++] = value->number.u;
    return 0;
}

/*
 * The length of the steps of the time line: that of the column time if there is one; a guess if the header does not
 * have the length of the recording.
 */
static uint64_t choose_quantum(const struct pf_tui_load *load, struct perfile_reader *reader)
{
    const uint64_t of_column_ns = 100000000;
    struct span span = {.count = 0};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &span, .value = take_time};
    const uint64_t usual_ns = 10000000;

    if (load->columns && load->columns->has_times)
        return of_column_ns;
    if (perfile_feature_visit(reader, PERFILE_FEATURE_SAMPLE_TIME, &visitor, NULL) < 0 || span.count < 2 ||
        span.times[1] <= span.times[0])
        return usual_ns;
    const uint64_t step = (span.times[1] - span.times[0]) / STEPS + 1;
    return step;
}

static int fail_memory(struct perfile_error *error)
{
    snprintf(error->message, sizeof(error->message), "out of memory");
    return error->code = PERFILE_ERROR_MEMORY;
}

static int take_profile(struct pf_tui_load *load, const struct perfile_profile *profile)
{
    struct pf_tui_index *index = pf_tui_index_make(profile, load->quantum_ns, load->columns, false);

    if (!index)
        return fail_memory(&load->input->error);
    hand_over(load, index);
    return 0;
}

/* Of the list that --sort has, and what the view needs itself; the caller frees them. NULL: out of memory. */
static char *choose_keys(const struct pf_tui_load *load)
{
    const char *sort = load->columns ? load->columns->list : "";
    char *columns = pf_profile_columns_keys(sort), *keys = NULL;

    if (columns && load->columns && load->columns->has_times)
        return columns;
    if (columns && asprintf(&keys, "%s,time", columns) < 0)
        keys = NULL;
    free(columns);
    return keys;
}

static int read_profile(struct pf_tui_load *load)
{
    const struct pf_settings *settings = load->input->settings;
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT; /* what else is filtered by is on the stack of filters */
    struct perfile_profile *profile;

    filter.time = settings->filter.time;
    filter.cpus = settings->filter.cpus;
    filter.events = settings->filter.events;
    options.filter = &filter;
    options.symbols = settings->print.symbols;
    options.threads = settings->print.threads;
    options.progress = progress;
    options.progress_context = load;
    char *keys = choose_keys(load);
    if (!keys)
        return fail_memory(&load->input->error);
    options.keys = keys;
    options.time_quantum = load->quantum_ns;
    options.path = load->input->name;
    options.unmatched = settings->print.unmatched;
    options.unmatched_context = settings->print.unmatched_context;
    options.snapshot = snapshot;
    options.snapshot_context = load;
    const int result = perfile_profile_open(load->input->reader, &options, &profile, &load->input->error);
    free(keys);
    if (result < 0)
        return result;
    const int taken = take_profile(load, profile);
    perfile_profile_close(profile);
    return taken;
}

static void keep_part(struct pf_tui_load *load)
{
    size_t bytes;
    uint8_t *part = pf_live_take(load->live, &bytes);

    pthread_mutex_lock(&load->lock);
    free(load->part);
    load->part = part;
    load->part_bytes = bytes;
    pthread_mutex_unlock(&load->lock);
}

static int read_live(struct pf_tui_load *load)
{
    struct pf_live *live = load->live;
    int going = 1;
    bool reported = false;

    while (going > 0) {
        going = pf_live_next(live);
        struct pf_tui_index *index =
            going < 0 ? NULL : pf_tui_index_make(live->sum, load->quantum_ns, load->columns, going > 0);
        if (going >= 0 && !index)
            going = fail_memory(&live->error);
        if (going >= 0) {
            keep_part(load);
            hand_over(load, index);
            if (!reported && live->sum)
                (void)load->end->report(load->end->context);
            reported |= live->sum != NULL;
        }
    }
    return going;
}

static void *run(void *context)
{
    struct pf_tui_load *load = context;
    const int result = load->live             ? read_live(load)
                       : load->input->profile ? take_profile(load, load->input->profile)
                                              : read_profile(load);
    const int status = result < 0 || load->live ? PF_STATUS_OK : load->end->report(load->end->context);

    pthread_mutex_lock(&load->lock);
    load->result = result;
    load->status = status;
    load->finished = true;
    pthread_mutex_unlock(&load->lock);
    pf_tui_screen_wake();
    return NULL;
}

/* Signals are for the thread that draws. */
static bool start_thread(struct pf_tui_load *load)
{
    sigset_t all, before;

    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    sigdelset(&all, SIGFPE);
    sigdelset(&all, SIGILL);
    sigdelset(&all, SIGABRT);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    load->started = pthread_create(&load->thread, NULL, run, load) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return load->started;
}

bool pf_tui_load_start(struct pf_tui_load *load, struct pf_input *input, struct pf_live *live,
                       const struct pf_tui_end *end)
{
    *load = (struct pf_tui_load){.input = input,
                                 .live = live,
                                 .columns = load->columns,
                                 .end = end,
                                 .quantum_ns = live || input->profile ? 1 : choose_quantum(load, input->reader)};
    pthread_mutex_init(&load->lock, NULL);
    input->settings->symbols.note = note;
    input->settings->symbols.note_context = load;
    return start_thread(load);
}

struct pf_tui_index *pf_tui_load_take(struct pf_tui_load *load)
{
    pthread_mutex_lock(&load->lock);
    struct pf_tui_index *fresh = load->fresh;
    load->fresh = NULL;
    pthread_mutex_unlock(&load->lock);
    return fresh;
}

bool pf_tui_load_running(struct pf_tui_load *load, int *percent)
{
    pthread_mutex_lock(&load->lock);
    const bool running = !load->finished;
    *percent = load->total ? (int)(100.0 * (double)load->done / (double)load->total) : -1;
    *percent = *percent > 99 ? 99 : *percent; /* the symbols are still to come */
    load->woken = false;
    pthread_mutex_unlock(&load->lock);
    return running;
}

int pf_tui_load_take_part(struct pf_tui_load *load)
{
    struct pf_input *input = load->input;

    pthread_mutex_lock(&load->lock);
    uint8_t *part = load->part;
    const size_t bytes = load->part_bytes;
    load->part = NULL;
    pthread_mutex_unlock(&load->lock);
    if (!part)
        return 0;
    perfile_close(input->reader);
    input->reader = NULL;
    free(load->held);
    load->held = part;
    const int result = perfile_open_memory(part, bytes, NULL, &input->reader, &input->error);
    return result < 0 ? result : 1;
}

bool pf_tui_load_stop(struct pf_tui_load *load)
{
    struct timespec until;

    pthread_mutex_lock(&load->lock);
    load->quits = true;
    if (load->live)
        atomic_store(&load->live->stops, true);
    const bool finished = load->finished;
    pthread_mutex_unlock(&load->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (load->started &&
        (finished ? pthread_join(load->thread, NULL) : pthread_timedjoin_np(load->thread, NULL, &until)))
        return false;
    load->started = false;
    return true;
}

void pf_tui_load_close(struct pf_tui_load *load)
{
    pf_tui_index_free(load->fresh);
    free(load->part);
    if (load->live) {
        perfile_close(load->input->reader);
        load->input->reader = NULL;
        free(load->held);
    }
    pthread_mutex_destroy(&load->lock);
}
