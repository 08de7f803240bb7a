/* SPDX-License-Identifier: MIT */
/* What users type: lines with the fields, time, cpus, pids, tids, comms and events of `script`. */
#include "fuzz.h"

/* A stream with one event, the times of its ends, and one sample of everything that filters look at. */
static const uint64_t *recording(size_t *bytes)
{
    const bool big = PF_NATIVE_BIG_ENDIAN;
    static uint64_t words[2 + 9 + 4 + 5];
    const uint64_t type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU;
    const uint64_t made[] = {
        big ? 0x50455246494c4532u : 0x32454c4946524550u,
        16,
        big ? 64ull << 32 | 72 : 72ull << 48 | 64, /* HEADER_ATTR */
        big ? 1ull << 32 | 64 : 64ull << 32 | 1,   /* attr: software, 64 bytes */
        0,
        1,
        type,
        0,
        1 << 18,
        0,
        0,
        big ? 80ull << 32 | 32 : 32ull << 48 | 80, /* HEADER_FEATURE */
        PERFILE_FEATURE_SAMPLE_TIME,
        1000000000,
        2000000000,
        big ? 9ull << 32 | 40 : 40ull << 48 | 9, /* SAMPLE */
        0x401000,
        big ? 7ull << 32 | 8 : 8ull << 32 | 7,
        1500000000,
        big ? 2ull << 32 : 2,
    };
    memcpy(words, made, sizeof(made));
    *bytes = sizeof(made);
    return words;
}

/* Cuts the next line off; NULL for an empty one. */
static const char *next_line(char **text)
{
    char *line = *text, *end = strchr(line, '\n');
    *text = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return *line ? line : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    size_t recording_bytes;
    const uint64_t *words = recording(&recording_bytes);
    char *text = malloc(bytes + 1), *rest = text;
    FUZZ_REQUIRE(text);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    options.filter = &filter;
    options.fields = next_line(&rest);
    filter.time = next_line(&rest);
    filter.cpus = next_line(&rest);
    filter.pids = next_line(&rest);
    filter.tids = next_line(&rest);
    filter.comms = next_line(&rest);
    filter.events = next_line(&rest);
    FUZZ_REQUIRE(perfile_open_memory(words, recording_bytes, NULL, &reader, &error) == 0);
    int result = perfile_output_write(reader, "script", "text", &options, &fuzz_sink, &error);
    FUZZ_REQUIRE(result == 0 || result == PERFILE_ERROR_ARGUMENT || result == PERFILE_ERROR_ABSENT ||
                 result == PERFILE_ERROR_UNSUPPORTED);
    perfile_close(reader);
    free(text);
    return 0;
}
