/* SPDX-License-Identifier: MIT */
/*
 * Unwinding while recording: what the recorder writes goes as a stream to a thread, which converts it as
 * perfile_convert converts a recording, and writes the result.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <perfile/edit.h>
#include <perfile/recorder.h>

#include "analysis/complete_options.h"
#include "analysis/unwinder.h"
#include "base/byte_queue.h"
#include "base/error.h"
#include "base/sized.h"

enum { QUEUE_BYTES_MAX = 64 << 20 };

struct perfile_unwind_stage {
    const struct perfile_allocator *allocator;
    struct perfile_unwind_stage_options options;
    struct perfile_recorder_stage public;
    struct part *parts; /* those that are open */
    struct perfile_unwinder_counts counts;
    struct pf_lost_modules lost[PERFILE_UNWIND_REASONS];
};

/* A recording that is being written. */
struct part {
    struct part *next;
    struct perfile_unwind_stage *stage;
    struct perfile_writer *input, *output;
    struct pf_byte_queue *queue;
    pthread_t thread;
    bool reads; /* something came: only then the output is used */
    struct perfile_unwinder_counts counts;
    struct pf_lost_modules lost[PERFILE_UNWIND_REASONS];
    int result; /* of the thread, after it has left the queue */
    struct perfile_error error;
    const struct perfile_unwinder *unwinder; /* while it is open */
    pthread_mutex_t mutex;                   /* of what follows */
    uint64_t written;
    struct pf_stack_sizes sizes;
};

/* ---- the thread ---- */

static void note_progress(struct part *part)
{
    const uint64_t written = perfile_writer_progress(part->output)->bytes;
    pthread_mutex_lock(&part->mutex);
    part->written = written;
    if (part->unwinder)
        part->sizes = *pf_unwinder_sizes(part->unwinder);
    pthread_mutex_unlock(&part->mutex);
}

/* Before it waits, what was written so far is handed to the system; a failure comes out at the end, too. */
static int64_t read_stream(void *context, void *to, size_t bytes)
{
    struct part *part = context;
    size_t got = pf_byte_queue_take(part->queue, to, bytes, false);
    if (!got && part->reads) {
        if (perfile_writer_flush(part->output, NULL) < 0)
            return 0;
        note_progress(part);
    }
    if (!got)
        got = pf_byte_queue_take(part->queue, to, bytes, true);
    part->reads |= got > 0;
    return (int64_t)got;
}

static int convert(struct part *part, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_unwind_stage_options *options = &part->stage->options;
    struct perfile_convert_options how = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_unwinder *unwinder;
    int result = pf_unwinder_open(reader, options->symbols, true, &unwinder, error);
    if (result < 0)
        return result;
    how.unwind = perfile_unwind;
    how.unwind_context = unwinder;
    how.unwind_frames = options->max_frames;
    part->unwinder = unwinder;
    result = perfile_convert(reader, part->output, &how, NULL, error);
    const int counted = perfile_unwinder_counts_get(unwinder, &part->counts);
    part->unwinder = NULL;
    memcpy(part->lost, pf_unwinder_lost(unwinder), sizeof(part->lost));
    perfile_unwinder_close(unwinder);
    return result < 0 ? result : counted;
}

static void *run(void *context)
{
    struct part *part = context;
    struct perfile_source source = PERFILE_SOURCE_INIT;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    if (part->stage->options.started)
        part->stage->options.started(part->stage->options.started_context);
    source.context = part;
    source.read = read_stream;
    options.allocator = part->stage->allocator;
    part->result = perfile_open_source(&source, &options, &reader, &part->error);
    if (part->result == 0) {
        part->result = convert(part, reader, &part->error);
        perfile_close(reader);
    }
    if (part->result == 0) /* also what failed while nothing came */
        part->result = perfile_writer_flush(part->output, &part->error);
    note_progress(part);
    pf_byte_queue_leave(part->queue);
    return NULL;
}

/* ---- what the recorder calls ---- */

static int write_stream(void *context, const void *data, size_t bytes)
{
    struct part *part = context;
    return pf_byte_queue_put(part->queue, data, bytes) ? 0 : -1;
}

static void release(struct part *part)
{
    perfile_writer_close(part->input);
    pf_byte_queue_close(part->queue);
    pthread_mutex_destroy(&part->mutex);
    pf_free(part->stage->allocator, part, sizeof(*part));
}

/* Signals are for the threads of the caller. */
static bool start_thread(struct part *part)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool started = pthread_create(&part->thread, NULL, run, part) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

static int open_part(void *context, struct perfile_writer *writer, struct perfile_writer **input,
                     struct perfile_error *error)
{
    struct perfile_unwind_stage *stage = context;
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct part *part = pf_new(stage->allocator, sizeof(*part));
    if (!part)
        return pf_fail_memory(error, "unwinding");
    const struct perfile_sink sink = {part, write_stream};
    part->stage = stage;
    part->output = writer;
    part->counts.size = sizeof(part->counts);
    pthread_mutex_init(&part->mutex, NULL);
    part->queue = pf_byte_queue_open(QUEUE_BYTES_MAX, stage->allocator);
    options.mode = PERFILE_MODE_PIPE;
    options.allocator = stage->allocator;
    int result = part->queue ? perfile_writer_open_sink(&sink, &options, &part->input, error)
                             : pf_fail_memory(error, "unwinding");
    if (result == 0 && !start_thread(part))
        result = pf_fail(error, PERFILE_ERROR_MEMORY, PERFILE_NO_OFFSET, "unwinding", "a thread cannot be started");
    if (result < 0) {
        release(part);
        return result;
    }
    part->next = stage->parts;
    stage->parts = part;
    *input = part->input;
    return 0;
}

/* The position in the list of what is open. */
static struct part **find_part(struct perfile_unwind_stage *stage, const struct perfile_writer *input)
{
    struct part **at = &stage->parts;
    while ((*at)->input != input)
        at = &(*at)->next;
    return at;
}

static int failure_of(const struct part *part, struct perfile_error *error)
{
    if (part->result < 0 && error)
        *error = part->error;
    return part->result;
}

static int settle_part(void *context, struct perfile_writer *input, struct perfile_error *error)
{
    struct part *part = *find_part(context, input);
    const bool has_left = pf_byte_queue_settle(part->queue);
    return has_left ? failure_of(part, error) : 0;
}

static uint64_t written_of_part(void *context, struct perfile_writer *input)
{
    struct part *part = *find_part(context, input);
    pthread_mutex_lock(&part->mutex);
    const uint64_t written = part->written;
    pthread_mutex_unlock(&part->mutex);
    return written;
}

static uint64_t unwound_of_part(void *context, struct perfile_writer *input, uint64_t bytes, uint64_t *larger)
{
    struct part *part = *find_part(context, input);
    uint64_t all = 0;
    *larger = 0;
    pthread_mutex_lock(&part->mutex);
    for (size_t i = 0; i < PF_STACK_SIZES; i++) {
        all += part->sizes.counts[i];
        *larger += i + 1 == PF_STACK_SIZES || 1ull << i > bytes ? part->sizes.counts[i] : 0;
    }
    pthread_mutex_unlock(&part->mutex);
    return all;
}

static void add_counts(struct perfile_unwinder_counts *sum, const struct perfile_unwinder_counts *counts)
{
    sum->samples += counts->samples;
    sum->complete += counts->complete;
    sum->guessed += counts->guessed;
    sum->cut += counts->cut;
    sum->lost += counts->lost;
    sum->limited += counts->limited;
    sum->gone += counts->gone;
}

static int compare_lost(const void *a, const void *b)
{
    const struct pf_lost_module *x = a, *y = b;
    return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->name, y->name);
}

static void add_lost(struct pf_lost_modules *sum, const struct pf_lost_modules *lost)
{
    for (size_t i = 0; i < lost->count; i++)
        pf_lost_modules_add(sum, lost->items[i].name, lost->items[i].count);
    qsort(sum->items, sum->count, sizeof(sum->items[0]), compare_lost);
}

static int close_part(void *context, struct perfile_writer *input, struct perfile_error *error)
{
    struct perfile_unwind_stage *stage = context;
    struct part **at = find_part(stage, input), *part = *at;
    int result = perfile_writer_finish(input, error);
    pf_byte_queue_end(part->queue);
    pthread_join(part->thread, NULL);
    if (part->result < 0) /* then the input failed, too, with less to say */
        result = failure_of(part, error);
    add_counts(&stage->counts, &part->counts);
    for (size_t reason = 0; reason < PERFILE_UNWIND_REASONS; reason++)
        add_lost(&stage->lost[reason], &part->lost[reason]);
    *at = part->next;
    release(part);
    return result;
}

/* ---- the stage ---- */

int perfile_unwind_stage_open(const struct perfile_unwind_stage_options *options, struct perfile_unwind_stage **stage,
                              struct perfile_error *error)
{
    struct perfile_unwind_stage_options all = PERFILE_UNWIND_STAGE_OPTIONS_INIT;
    struct perfile_symbol_options symbols;
    *stage = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "unwind stage options", error);
    if (result == 0)
        result = pf_complete_symbols(&symbols, NULL, all.symbols, error);
    if (result < 0)
        return result;
    const struct perfile_allocator *allocator = pf_allocator_or_default(all.allocator);
    struct perfile_unwind_stage *made = pf_new(allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "unwinding");
    made->allocator = allocator;
    made->options = all;
    made->counts.size = sizeof(made->counts);
    made->public = (struct perfile_recorder_stage){.size = sizeof(made->public),
                                                   .context = made,
                                                   .open = open_part,
                                                   .settle = settle_part,
                                                   .written = written_of_part,
                                                   .close = close_part,
                                                   .unwound = unwound_of_part};
    *stage = made;
    return 0;
}

const struct perfile_recorder_stage *perfile_unwind_stage_get(const struct perfile_unwind_stage *stage)
{
    return &stage->public;
}

int perfile_unwind_stage_counts(const struct perfile_unwind_stage *stage, struct perfile_unwinder_counts *counts)
{
    return pf_sized_give(counts, &stage->counts, sizeof(stage->counts));
}

const char *perfile_unwind_stage_lost(const struct perfile_unwind_stage *stage, unsigned reason, size_t index,
                                      uint64_t *samples)
{
    if ((unsigned)reason >= PERFILE_UNWIND_REASONS || index >= stage->lost[reason].count)
        return NULL;
    *samples = stage->lost[reason].items[index].count;
    return stage->lost[reason].items[index].name;
}

void perfile_unwind_stage_close(struct perfile_unwind_stage *stage)
{
    if (stage)
        pf_free(stage->allocator, stage, sizeof(*stage));
}
