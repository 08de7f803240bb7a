/* SPDX-License-Identifier: MIT */
/* Debug info: units, ranges, inlined functions and line tables, by one thread or two. */
#include "debug_input.h"
#include "symbol/dwarf/inlines_tables.h"

enum { FRAMES = 8, ADDRESSES = 16 };

/* The frames where tables change, and one address before. */
static void find_frames(const struct pf_inlines *inlines, uint64_t address)
{
    struct pf_source_frame frames[FRAMES];
    for (unsigned before = 0; before < 2; before++) {
        const size_t found = pf_inlines_find(inlines, address - before, frames, FRAMES);
        for (size_t i = 0; i < found && i < FRAMES; i++) {
            fuzz_touch_text(frames[i].function);
            fuzz_touch_text(frames[i].file);
        }
    }
}

static void count_frames(const struct pf_inlines *inlines, uint64_t address)
{
    struct pf_counted_frame frames[FRAMES];
    uint64_t end;
    const size_t found = pf_inlines_count(inlines, address, frames, FRAMES, &end);
    FUZZ_REQUIRE(found <= FRAMES && end > address);
    for (size_t i = 0; i < found; i++)
        fuzz_touch_text(frames[i].function);
}

static void find_ranges(const struct pf_inlines *inlines)
{
    struct pf_function_range range;
    for (size_t at = 0; pf_inlines_next_range(inlines, &at, &range);) {
        FUZZ_REQUIRE(range.low < range.high);
        fuzz_touch_text(range.function);
    }
}

static void look_up(const struct pf_inlines *inlines)
{
    for (size_t i = 0; i < inlines->line_count; i++)
        FUZZ_REQUIRE(!i || inlines->line_addresses[i - 1] < inlines->line_addresses[i]);
    for (size_t i = 0; i < inlines->segment_count; i++)
        FUZZ_REQUIRE(!i || inlines->segment_addresses[i - 1] < inlines->segment_addresses[i]);
    for (size_t i = 0; i < inlines->line_count && i < ADDRESSES; i++)
        find_frames(inlines, inlines->line_addresses[i]);
    for (size_t i = 0; i < inlines->segment_count && i < ADDRESSES; i++)
        inlines->details ? count_frames(inlines, inlines->segment_addresses[i])
                         : find_frames(inlines, inlines->segment_addresses[i]);
    find_ranges(inlines);
}

/* Two threads make the same tables. */
static void check_threads(const struct pf_inlines_request *request, const struct pf_inlines *inlines)
{
    struct pf_inlines_request shared = *request;
    struct pf_inlines *others;
    shared.threads = 2;
    shared.share_bytes = 1; /* a unit each */
    (void)pf_inlines_read(&shared, NULL, &others, NULL);
    FUZZ_REQUIRE(!others == !inlines);
    FUZZ_REQUIRE(!inlines ||
                 (inlines->bytes == others->bytes && memcmp(inlines->block, others->block, inlines->bytes) == 0));
    pf_inlines_close(others);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = debug_input_write(data, bytes);
    const unsigned choice = debug_input_choice(data, bytes);
    const uint64_t chance = fuzz_chance_of(data + bytes / 2, pf_min(bytes / 2, (size_t)64));
    const struct pf_wanted_range wanted = {chance >> 52, UINT64_MAX};
    const struct pf_inlines_request request = {.path = path,
                                               .alternate_path = choice & DEBUG_INPUT_ALTERNATE ? path : NULL,
                                               .detailed = choice & DEBUG_INPUT_DETAILED,
                                               .wanted = &wanted,
                                               .wanted_count = choice & DEBUG_INPUT_WANTED ? 1 : 0};
    struct pf_inlines *inlines;
    const int code = pf_inlines_read(&request, NULL, &inlines, NULL);
    FUZZ_REQUIRE((code == 0) == (inlines != NULL));
    if (chance % 64 == 0) /* threads take as long as dozens of inputs */
        check_threads(&request, inlines);
    if (code == 0)
        look_up(inlines);
    pf_inlines_close(inlines);
    return 0;
}
