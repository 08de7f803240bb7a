/* SPDX-License-Identifier: MIT */
/* streams RECORDING...: the samples of a stream, and what its ids mean, are the same for every number of threads. */
#include <perfile/profile.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t mix(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3ull;
    return hash;
}

static uint64_t mix_number(uint64_t hash, uint64_t number)
{
    return mix(hash, &number, sizeof(number));
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return text ? mix(hash, text, strlen(text) + 1) : mix_number(hash, 0);
}

static uint64_t mix_frame(uint64_t hash, const struct perfile_stream *stream, uint32_t id)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    hash = mix_number(hash, id);
    if (perfile_stream_frame(stream, id, &frame) < 0)
        return mix_number(hash, 1);
    hash = mix_text(mix_text(mix_number(hash, frame.kind), frame.name), frame.file);
    hash = mix_number(mix_number(mix_number(hash, frame.function), frame.offset), frame.address);
    if (perfile_stream_module(stream, frame.module, &module) < 0)
        return mix_number(hash, 2);
    return mix_text(mix_text(mix_number(hash, frame.module), module.name), module.short_name);
}

static uint64_t mix_sample(uint64_t hash, const struct perfile_stream *stream,
                           const struct perfile_stream_sample *sample)
{
    hash = mix_number(mix_number(mix_number(hash, sample->time), sample->period), sample->ip);
    hash = mix_number(mix_number(mix_number(hash, (uint64_t)sample->pid), (uint64_t)sample->tid), sample->cpumode);
    hash = mix_text(mix_number(hash, (uint64_t)sample->cpu), sample->comm);
    hash = mix_frame(hash, stream, sample->leaf);
    for (uint32_t i = 0; i < sample->frame_count; i++)
        hash = mix_frame(hash, stream, sample->frames[i]);
    return hash;
}

static uint64_t mix_losses(uint64_t hash, const struct perfile_stream *stream)
{
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    if (perfile_stream_losses(stream, &losses) < 0)
        return mix_number(hash, 3);
    hash = mix_number(mix_number(mix_number(hash, losses.samples), losses.lost), losses.unmapped);
    return mix_number(mix_number(mix_number(hash, losses.unresolved), losses.truncated), losses.guessed);
}

/* Returns a hash of everything that the stream delivers; counts the samples in `samples`. */
static uint64_t read_all(const char *path, unsigned threads, uint32_t flags, uint64_t *samples)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    const struct perfile_stream_sample *sample;
    struct perfile_stream *stream = NULL;
    struct perfile_reader *reader;
    uint64_t hash = 0xcbf29ce484222325ull;
    options.threads = threads;
    options.flags = flags;
    int result = perfile_open_path(path, NULL, &reader, NULL);
    if (result < 0)
        return mix_number(hash, (uint64_t)result);
    result = perfile_stream_open(reader, &options, &stream, NULL);
    while (result >= 0 && (result = perfile_stream_next(stream, &sample, NULL)) > 0) {
        hash = mix_sample(hash, stream, sample);
        ++*samples;
    }
    hash = stream ? mix_losses(hash, stream) : hash;
    perfile_stream_close(stream);
    perfile_close(reader);
    return mix_number(hash, (uint64_t)result);
}

int main(int argc, char **argv)
{
    static const unsigned threads[] = {2, 3, 8};
    static const uint32_t flags[] = {0, PERFILE_STREAM_ADDRESSES, PERFILE_STREAM_NO_INLINES};
    uint64_t samples = 0;
    int wrong = 0;
    for (int i = 1; i < argc; i++)
        for (size_t f = 0; f < sizeof(flags) / sizeof(*flags); f++) {
            const uint64_t expected = read_all(argv[i], 1, flags[f], &samples);
            for (size_t t = 0; t < sizeof(threads) / sizeof(*threads); t++)
                if (read_all(argv[i], threads[t], flags[f], &samples) != expected) {
                    printf("%s, flags %u: %u threads give other samples than one\n", argv[i], flags[f], threads[t]);
                    wrong++;
                }
        }
    printf("%d recordings, %" PRIu64 " samples, %d differences\n", argc - 1, samples, wrong);
    return wrong || !samples;
}
