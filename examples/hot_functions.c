/* SPDX-License-Identifier: MIT */
/* hot_functions FILE: the ten functions with the most samples, with their hottest line and the build id of their binary. */
#include <inttypes.h>
#include <perfile/profile.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a frame: how many samples have their innermost function there. */
struct hits {
    uint64_t samples;
    uint64_t hottest; /* of the addresses of a function */
    uint32_t at;      /* that address, as a frame */
    uint32_t function;
};

static int by_samples(const void *a, const void *b)
{
    const struct hits *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples < y->samples ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static void print(const struct perfile_stream *stream, const struct hits *hits)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;

    if (!hits->samples || perfile_stream_frame(stream, hits->at, &frame) < 0)
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
    size_t room = 0;

    options.flags = PERFILE_STREAM_ADDRESSES;
    int result = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);
    if (result == 0)
        result = perfile_stream_open(reader, &options, &stream, &error);
    while (result >= 0 && (result = perfile_stream_next(stream, &sample, &error)) > 0) {
        uint32_t leaf = sample->frames[0]; /* an inlined function, if the address is in one */
        if (perfile_stream_frame(stream, leaf, &frame) < 0)
            continue;
        for (; room <= leaf || room <= frame.function; room++) {
            if (room % 1024 == 0 && !(hits = realloc(hits, (room + 1024) * sizeof(*hits))))
                return 1;
            hits[room] = (struct hits){.function = (uint32_t)room};
        }
        struct hits *function = &hits[frame.function];
        if (leaf != frame.function)
            hits[leaf].hottest++; /* addresses are no functions: their samples stay 0 */
        function->samples++;
        if (function->hottest == 0 || hits[leaf].hottest > hits[function->at].hottest || function->samples == 1)
            function->at = leaf;
    }
    if (room)
        qsort(hits, room, sizeof(*hits), by_samples);
    for (size_t i = 0; i < 10 && i < room; i++)
        print(stream, &hits[i]);
    free(hits);
    if (result < 0)
        fprintf(stderr, "hot_functions: %s\n", error.message);
    perfile_stream_close(stream);
    perfile_close(reader);
    return result < 0 || fflush(stdout) != 0;
}
