/* SPDX-License-Identifier: MIT */
/*
 * hot_functions FILE: the ten functions with the most samples, each with its hottest line and the build id of its
 * binary.
 */
#include <inttypes.h>
#include <perfile/profile.h>
#include <stdio.h>
#include <stdlib.h>

struct hits {
    uint64_t here;    /* samples at this very address */
    uint64_t samples; /* of functions: those at all of their addresses */
    uint32_t hottest; /* and the one that has the most */
};

static int by_samples(const void *a, const void *b)
{
    const struct hits *x = a, *y = b;
    return x->samples == y->samples ? 0 : x->samples < y->samples ? 1 : -1;
}

/* Adds the addresses to their functions. */
static void add_up(const struct perfile_stream *stream, struct hits *hits, uint32_t count)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;

    for (uint32_t i = 0; i < count; i++) {
        if (!hits[i].here || perfile_stream_frame(stream, i, &frame) < 0 || frame.function >= count)
            continue;
        struct hits *function = &hits[frame.function];
        if (!function->samples || hits[i].here > hits[function->hottest].here)
            function->hottest = i;
        function->samples += hits[i].here;
    }
}

static void print(const struct perfile_stream *stream, const struct hits *hits)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;

    if (!hits->samples || perfile_stream_frame(stream, hits->hottest, &frame) < 0)
        return;
    printf("%6" PRIu64 " %s %s:%" PRIu32, hits->samples, frame.name ? frame.name : "?", frame.file ? frame.file : "?",
           frame.line);
    if (perfile_stream_module(stream, frame.module, &module) == 0) {
        printf(" %s ", module.name);
        for (uint32_t i = 0; i < module.build_id_bytes; i++)
            printf("%02x", module.build_id[i]);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    const struct perfile_stream_sample *sample;
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_reader *reader = NULL;
    struct perfile_stream *stream = NULL;
    struct perfile_error error;
    struct hits *hits = NULL; /* by frame */
    uint32_t count = 0;

    options.flags = PERFILE_STREAM_ADDRESSES;
    int result = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);
    if (result == 0)
        result = perfile_stream_open(reader, &options, &stream, &error);
    while (result >= 0 && (result = perfile_stream_next(stream, &sample, &error)) > 0) {
        uint32_t leaf = sample->frames[0]; /* where functions are inlined the innermost one */
        if (perfile_stream_frame(stream, leaf, &frame) < 0)
            continue;
        for (; count <= leaf || count <= frame.function; count++) {
            if (count % 1024 == 0 && !(hits = realloc(hits, (count + 1024) * sizeof(*hits))))
                return 1;
            hits[count] = (struct hits){0};
        }
        hits[leaf].here++;
    }
    add_up(stream, hits, count);
    if (count)
        qsort(hits, count, sizeof(*hits), by_samples);
    for (uint32_t i = 0; i < 10 && i < count; i++)
        print(stream, &hits[i]);
    free(hits);
    if (result < 0)
        fprintf(stderr, "hot_functions: %s\n", error.message);
    perfile_stream_close(stream);
    perfile_close(reader);
    return result < 0 || fflush(stdout) != 0;
}
