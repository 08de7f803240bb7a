/* SPDX-License-Identifier: MIT */
/*
 * Debug info: units, entries, ranges, inlined functions and line tables. The input is the binary and each of the other files
 * that it may name: the package and the object file of split DWARF, and the file of dwz.
 */
#include "made.h"
#include "symbol/dwarf/inlines_tables.h"

enum { FRAMES = 8, ADDRESSES = 32 };

static char paths[3][160];

static void remove_files(void)
{
    for (unsigned i = 0; i < PF_COUNT(paths); i++)
        unlink(paths[i]);
    rmdir(fuzz_folder(NULL));
}

/* Writes the input to the one file that all these names mean. */
static const char *write_input(const uint8_t *data, size_t bytes)
{
    static const char *const names[] = {"x", "x.dwp", "x.dwo"};
    static int fd = -1;
    const char *folder = fuzz_folder(remove_files);
    for (unsigned i = 0; fd < 0 && i < PF_COUNT(names); i++)
        snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
    if (fd < 0) {
        fd = open(paths[0], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        FUZZ_REQUIRE(fd >= 0 && link(paths[0], paths[1]) == 0 && link(paths[0], paths[2]) == 0);
    }
    FUZZ_REQUIRE(ftruncate(fd, (off_t)bytes) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    return paths[0];
}

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const char *path = write_input(data, bytes);
    const uint64_t chance = fuzz_chance_of(data, bytes);
    const struct pf_wanted_range wanted = {chance >> 52, UINT64_MAX};
    const struct pf_inlines_request request = {
        .path = path, .alternate_path = path, .wanted = &wanted, .wanted_count = chance & 1};
    struct pf_inlines *inlines;
    const int code = chance & 2 ? pf_inlines_open_detailed(&request, NULL, &inlines, NULL)
                                : pf_inlines_open(path, path, NULL, &inlines, NULL);
    if (code == 0)
        look_up(inlines);
    FUZZ_REQUIRE((code == 0) == (inlines != NULL));
    pf_inlines_close(inlines);
    return 0;
}
