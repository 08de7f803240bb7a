/* SPDX-License-Identifier: MIT */
/*
 * Profiles for optimisers: of a binary, with a recording whose branches are all over it, or of a recording; then
 * FUZZ_BINARY may name its binary.
 */
#include "made.h"

#include <perfile/pgo.h>

enum {
    PAGES = 16,
    PAGE_BYTES = 4096,
    BRANCHES = 16,
    CALLS = 4,
    SAMPLES = 32,
    SAMPLE_WORDS = 5 + CALLS + BRANCHES * 3,
    WORDS = 2 + 10 + PAGES * 6 + SAMPLES * SAMPLE_WORDS
};

/*
 * A stream of a process that has mapped each of the first pages of the file "/NAME", with branches and calls between
 * them.
 */
static size_t make_recording(uint64_t words[WORDS], const char *name, size_t file_bytes)
{
    const uint64_t type =
        PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_BRANCH_STACK;
    const uint64_t end = pf_min_u64(file_bytes, PAGES * PAGE_BYTES) + 1, process = fuzz_pair(7, 7);
    const uint64_t start[] = {PF_NATIVE_BIG_ENDIAN ? 0x50455246494c4532u : 0x32454c4946524550u, 16};
    const uint64_t attr[] = {fuzz_header(64, 0, 10),   fuzz_pair(1, 72), 0, 1, type, 0, 0, 0, 0,
                             PERFILE_SAMPLE_BRANCH_ANY};
    uint64_t *to = words, at = 1;
    to = (uint64_t *)memcpy(to, start, sizeof(start)) + PF_COUNT(start);
    to = (uint64_t *)memcpy(to, attr, sizeof(attr)) + PF_COUNT(attr);
    for (uint64_t i = 0; i < PAGES; i++) {
        const uint64_t offset = i * PAGE_BYTES;
        const uint64_t map[] = {fuzz_header(1, 2, 6), process, FUZZ_ADDRESS + offset, PAGE_BYTES, offset, 0};
        to = (uint64_t *)memcpy(to, map, sizeof(map)) + PF_COUNT(map);
        memcpy(to - 1, name, strlen(name));
    }
    for (uint64_t i = 0; i < SAMPLES; i++) {
        *to++ = fuzz_header(9, 2, SAMPLE_WORDS);
        *to++ = FUZZ_ADDRESS + at % end;
        *to++ = process;
        *to++ = CALLS;
        for (uint64_t k = 0; k < CALLS; k++)
            *to++ = FUZZ_ADDRESS + (at >> k) % end;
        *to++ = BRANCHES;
        for (uint64_t k = 0; k < BRANCHES * 3; k++) {
            at = at * 6364136223846793005u + 1442695040888963407u;
            *to++ =
                k % 3 == 2 ? at >> 40 : FUZZ_ADDRESS + (k % 2 ? (at >> 33) % end : i * end / SAMPLES + (at >> 33) % 64);
        }
    }
    return (size_t)(to - words) * sizeof(*words);
}

static void read_rows(const struct perfile_pgo *pgo, size_t binary)
{
    struct perfile_pgo_branch branch = PERFILE_PGO_BRANCH_INIT, last = PERFILE_PGO_BRANCH_INIT;
    struct perfile_pgo_range range = PERFILE_PGO_RANGE_INIT;
    struct perfile_pgo_address address = PERFILE_PGO_ADDRESS_INIT;
    for (uint64_t i = 0; perfile_pgo_branch_at(pgo, binary, i, &branch) == 0; i++) {
        FUZZ_REQUIRE(branch.count && branch.mispredicted <= branch.count && (!i || last.from <= branch.from));
        last = branch;
    }
    for (uint64_t i = 0; perfile_pgo_range_at(pgo, binary, i, &range) == 0; i++)
        FUZZ_REQUIRE(range.count && range.begin <= range.end);
    for (uint64_t i = 0; perfile_pgo_address_at(pgo, binary, i, &address) == 0; i++)
        FUZZ_REQUIRE(address.count);
}

static void write_formats(const struct perfile_pgo *pgo, size_t binary, bool contexts)
{
    struct perfile_pgo_write_options options = PERFILE_PGO_WRITE_OPTIONS_INIT;
    struct perfile_pgo_counts counts = PERFILE_PGO_COUNTS_INIT;
    const struct perfile_pgo_format *format;
    options.counts = &counts;
    for (size_t i = 0; (format = perfile_pgo_format_at(i)); i++) {
        options.format = format->name;
        const int result = perfile_pgo_write(pgo, binary, &options, &fuzz_sink, NULL);
        FUZZ_REQUIRE(result <= 0 && result != PERFILE_ERROR_WRITE);
        FUZZ_REQUIRE(result != PERFILE_ERROR_ARGUMENT || (format->needs_contexts && !contexts));
    }
}

static void make_profiles(struct perfile_reader *reader, const char *binary)
{
    struct perfile_pgo_options options = PERFILE_PGO_OPTIONS_INIT;
    struct perfile_pgo *pgo;
    options.symbols = &fuzz_no_symbols;
    options.binary = binary;
    options.any_build = true;
    options.contexts = binary;
    int result = perfile_pgo_open(&options, &pgo, NULL);
    if (result == PERFILE_ERROR_UNSUPPORTED) { /* the instructions of its machine are not known */
        options.contexts = false;
        result = perfile_pgo_open(&options, &pgo, NULL);
    }
    if (result < 0)
        return;
    result = perfile_pgo_add(pgo, reader, NULL);
    FUZZ_REQUIRE(result <= 0 && result != PERFILE_ERROR_ARGUMENT);
    FUZZ_REQUIRE(perfile_pgo_end(pgo, NULL) == 0);
    for (size_t i = 0; i < perfile_pgo_binary_count(pgo); i++) {
        read_rows(pgo, i);
        write_formats(pgo, i, options.contexts);
    }
    perfile_pgo_close(pgo);
}

static void take_binary(const uint8_t *data, size_t bytes)
{
    static uint64_t words[WORDS];
    struct perfile_reader *reader;
    const char *path = fuzz_memory_file(data, bytes);
    const size_t recording_bytes = make_recording(words, strrchr(path, '/'), bytes);
    FUZZ_REQUIRE(perfile_open_memory(words, recording_bytes, NULL, &reader, NULL) == 0);
    make_profiles(reader, path);
    perfile_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct perfile_open_options options = fuzz_options();
    struct perfile_reader *reader;
    if (bytes >= 4 && memcmp(data,
                             "\x7f"
                             "ELF",
                             4) == 0) {
        take_binary(data, bytes);
    } else if (perfile_open_memory(data, bytes, &options, &reader, NULL) == 0) {
        make_profiles(reader, getenv("FUZZ_BINARY"));
        perfile_close(reader);
    }
    return 0;
}
