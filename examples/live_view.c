/* SPDX-License-Identifier: MIT */
/*
 * The five functions with the most samples so far, again and again while the recording is written:
 *
 *     perfile record -o growing.data -- ./program &
 *     live_view growing.data $!
 *
 * It ends when the process has ended. Without the number of a process the recording is complete.
 */
#include <errno.h>
#include <inttypes.h>
#include <perfile/profile.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SHOWN = 5 };

struct counts {
    uint64_t *samples; /* by the id of the function */
    uint32_t capacity;
    uint64_t all;
};

/* Called when all that is there has been read: -1 there may be more later, 0 the recorder has ended. */
static int is_running(void *context)
{
    const int *recorder = context;
    return *recorder > 0 && (kill(*recorder, 0) == 0 || errno == EPERM) ? -1 : 0;
}

static int count(struct counts *counts, uint32_t function)
{
    if (function >= counts->capacity) {
        const uint32_t capacity = 2 * function + 64;
        uint64_t *more = realloc(counts->samples, capacity * sizeof(*more));
        if (!more)
            return PERFILE_ERROR_MEMORY;
        for (uint32_t i = counts->capacity; i < capacity; i++)
            more[i] = 0;
        counts->samples = more;
        counts->capacity = capacity;
    }
    counts->samples[function]++;
    counts->all++;
    return 0;
}

/* The function with the most samples of those that come after `last` in the list. */
static uint32_t next_most(const struct counts *counts, uint32_t last)
{
    uint32_t most = PERFILE_NO_ID;
    for (uint32_t i = 0; i < counts->capacity; i++) {
        const uint64_t samples = counts->samples[i];
        const bool is_later =
            last == PERFILE_NO_ID || samples < counts->samples[last] || (samples == counts->samples[last] && i > last);
        if (samples && is_later && (most == PERFILE_NO_ID || samples > counts->samples[most]))
            most = i;
    }
    return most;
}

static void show(struct perfile_stream *stream, const struct counts *counts)
{
    uint32_t function = PERFILE_NO_ID;
    printf("%" PRIu64 " samples\n", counts->all);
    for (int i = 0; i < SHOWN && (function = next_most(counts, function)) != PERFILE_NO_ID; i++)
        printf("%8" PRIu64 "  %s\n", counts->samples[function], perfile_stream_label(stream, function));
    fflush(stdout);
}

/* Counts what is there and what comes. 0 at the end, or an error. */
static int watch(struct perfile_stream *stream, struct counts *counts, struct perfile_error *error)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    const struct perfile_stream_sample *sample;
    uint64_t shown = 0;
    int result;
    while ((result = perfile_stream_next(stream, &sample, error)) > 0 || result == PERFILE_ERROR_AGAIN) {
        if (result > 0 && (result = count(counts, sample->leaf)) < 0)
            return result;
        if (result != PERFILE_ERROR_AGAIN)
            continue;
        if (shown != counts->all)
            show(stream, counts);
        shown = counts->all;
        nanosleep(&moment, NULL);
    }
    return result;
}

int main(int argc, char **argv)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    struct perfile_open_options growing = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    struct counts counts = {0};
    struct perfile_reader *reader;
    struct perfile_stream *stream = NULL;
    struct perfile_error error = {0};
    int recorder = argc > 2 ? atoi(argv[2]) : 0, result;

    growing.follow = is_running;
    growing.follow_context = &recorder;
    options.flags = PERFILE_STREAM_JOIN_UNNAMED; /* a line for each module without symbols, not one for each address */
    do {                                         /* AGAIN: its header has not been written yet */
        result = perfile_open_path(argc > 1 ? argv[1] : "perf.data", &growing, &reader, &error);
        nanosleep(&moment, NULL);
    } while (result == PERFILE_ERROR_AGAIN || (result == PERFILE_ERROR_OPEN && is_running(&recorder) != 0));
    if (result == 0)
        result = perfile_stream_open(reader, &options, &stream, &error);
    if (result == 0)
        result = watch(stream, &counts, &error);
    if (result == 0)
        show(stream, &counts);
    if (result < 0)
        fprintf(stderr, "live_view: %s\n", error.message[0] ? error.message : perfile_code_name(result));
    perfile_stream_close(stream);
    perfile_close(reader);
    free(counts.samples);
    return result < 0 || fflush(stdout) != 0;
}
