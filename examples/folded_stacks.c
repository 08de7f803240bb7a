/* SPDX-License-Identifier: MIT */
/* folded_stacks FILE: "comm;main;f;g WEIGHT" for each stack of the event with the most samples, for flamegraph.pl. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <perfile/profile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    uint32_t event;
    uint64_t weight;
    char *stack;
};

static int by_stack(const void *a, const void *b)
{
    return strcmp(((const struct line *)a)->stack, ((const struct line *)b)->stack);
}

/* "comm;caller;...;leaf"; the caller frees it. */
static char *fold(struct perfile_stream *stream, const struct perfile_stream_sample *sample)
{
    size_t bytes;
    char *text = NULL;
    FILE *out = open_memstream(&text, &bytes);

    for (const char *c = sample->comm; *c; c++)
        fputc(*c == ' ' ? '_' : *c == ';' ? ':' : *c, out);
    for (uint32_t i = sample->frame_count; i-- > 0;)
        fprintf(out, ";%s", perfile_stream_label(stream, sample->frames[i]));
    fclose(out);
    return text;
}

int main(int argc, char **argv)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    const struct perfile_stream_sample *sample;
    struct perfile_reader *reader = NULL;
    struct perfile_stream *stream = NULL;
    struct perfile_error error;
    struct line *lines = NULL;
    size_t count = 0, room = 0, samples[64] = {0}, most = 0;

    int result = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);
    if (result == 0)
        result = perfile_stream_open(reader, &options, &stream, &error);
    while (result >= 0 && (result = perfile_stream_next(stream, &sample, &error)) > 0) {
        if (!sample->event || sample->event->index >= 64)
            continue;
        if (count == room && !(lines = realloc(lines, (room = 2 * room + 64) * sizeof(*lines))))
            return 1;
        samples[sample->event->index]++;
        lines[count++] = (struct line){sample->event->index, sample->period, fold(stream, sample)};
    }
    for (size_t i = 0; i < 64; i++)
        most = samples[i] > samples[most] ? i : most;
    qsort(lines, count, sizeof(*lines), by_stack);
    uint64_t weight = 0;
    for (size_t i = 0; i < count; i++) {
        weight += lines[i].event == most ? lines[i].weight : 0;
        if ((i + 1 == count || strcmp(lines[i].stack, lines[i + 1].stack) != 0) && weight) {
            printf("%s %" PRIu64 "\n", lines[i].stack, weight);
            weight = 0;
        }
        free(lines[i].stack);
    }
    free(lines);
    if (result < 0)
        fprintf(stderr, "folded_stacks: %s\n", error.message);
    perfile_stream_close(stream);
    perfile_close(reader);
    return result < 0 || fflush(stdout) != 0;
}
