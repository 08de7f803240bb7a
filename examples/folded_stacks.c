/* SPDX-License-Identifier: MIT */
/* folded_stacks FILE: "comm;main;f;g WEIGHT" for each stack of the event with the most samples, for flamegraph.pl. */
#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <perfile/profile.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    uint64_t weight;
    char *stack;
};

static int by_stack(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

static void print(const void *node, VISIT visit, int depth)
{
    const struct line *line = *(struct line *const *)node;
    if ((visit == postorder || visit == leaf) && line->weight && depth >= 0)
        printf("%s %" PRIu64 "\n", line->stack, line->weight);
}

int main(int argc, char **argv)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    const struct perfile_stream_sample *sample;
    struct perfile_reader *reader = NULL;
    struct perfile_stream *stream = NULL;
    struct perfile_error error;
    void *lines[64] = {NULL}; /* of each event, in order */
    size_t samples[64] = {0}, max = 0, bytes;
    int result = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);
    if (result == 0)
        result = perfile_stream_open(reader, &options, &stream, &error);
    while (result >= 0 && (result = perfile_stream_next(stream, &sample, &error)) > 0) {
        const size_t event = sample->event ? sample->event->index % 64 : 0;
        struct line *line = calloc(1, sizeof(*line));
        FILE *out = open_memstream(&line->stack, &bytes);
        fputs(perfile_stream_comm_label(stream, sample->comm), out);
        for (uint32_t i = sample->frame_count; i-- > 0;)
            fprintf(out, ";%s", perfile_stream_label(stream, sample->frames[i]));
        fclose(out);
        struct line **found = tsearch(line, &lines[event], by_stack);
        (*found)->weight += sample->period;
        if (*found != line)
            free(line->stack), free(line);
        max = ++samples[event] > samples[max] ? event : max;
    }
    twalk(lines[max], print);
    if (result < 0)
        fprintf(stderr, "folded_stacks: %s\n", error.message);
    perfile_stream_close(stream);
    perfile_close(reader);
    return result < 0 || fflush(stdout) != 0;
}
