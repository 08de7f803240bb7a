/* SPDX-License-Identifier: MIT */
/* stream FILE: what the examples stream_samples of the bindings do, in C, for bench/bindings. */
#include <inttypes.h>
#include <perfile/profile.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { MAX_FRAMES = 1 << 20 };
    struct perfile_reader *reader = NULL;
    struct perfile_stream *stream = NULL;
    const struct perfile_stream_sample *sample;
    struct perfile_error error;
    uint64_t *counts = calloc(MAX_FRAMES, sizeof(*counts)), samples = 0, period = 0;
    int result = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);

    if (result == 0)
        result = perfile_stream_open(reader, NULL, &stream, &error);
    while (counts && result >= 0 && (result = perfile_stream_next(stream, &sample, &error)) > 0) {
        counts[sample->leaf % MAX_FRAMES]++;
        samples++;
        period += sample->period;
    }
    printf("%" PRIu64 " samples, period %" PRIu64 "\n", samples, period);
    for (uint32_t i = 0; counts && i < MAX_FRAMES; i++)
        if (counts[i])
            printf("%8" PRIu64 " %s\n", counts[i], perfile_stream_label(stream, i));
    if (result < 0)
        fprintf(stderr, "stream: %s\n", error.message);
    perfile_stream_close(stream);
    perfile_close(reader);
    free(counts);
    return result < 0;
}
