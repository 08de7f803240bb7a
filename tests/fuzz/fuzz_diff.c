/* SPDX-License-Identifier: MIT */
/* The two ends of a recording, compared by all that rows can be of, and as a page. */
#include "diff_row.h"

#include <perfile/profile.h>

static struct perfile_profile *read_part(const uint8_t *data, size_t bytes, const char *time)
{
    struct perfile_open_options open = fuzz_options();
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_profile *profile = NULL;
    struct perfile_reader *reader;
    if (perfile_open_memory(data, bytes, &open, &reader, NULL) < 0)
        return NULL;
    filter.time = time;
    options.filter = time ? &filter : NULL;
    options.symbols = &fuzz_no_symbols;
    options.keys = "comm,mem";
    options.threads = 1;
    (void)!perfile_profile_open(reader, &options, &profile, NULL);
    perfile_close(reader);
    return profile;
}

static struct perfile_diff *compare(const struct perfile_profile *const sides[2], const char *keys, unsigned flags)
{
    struct perfile_diff_options options = PERFILE_DIFF_OPTIONS_INIT;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    struct perfile_diff *diff = NULL;
    options.before = &sides[0];
    options.after = &sides[1];
    options.before_count = options.after_count = 1;
    options.keys = keys;
    options.flags = flags;
    if (perfile_diff_open(&options, &diff, NULL) < 0)
        return NULL;
    for (size_t i = 0; perfile_diff_row_at(diff, i, &row) == 0; i++)
        fuzz_touch_row(&row);
    return diff;
}

static void write_page(const struct perfile_profile *const sides[2])
{
    struct perfile_diff_page_options page = PERFILE_DIFF_PAGE_OPTIONS_INIT;
    struct perfile_diff *paths = compare(sides, "path", PERFILE_DIFF_INCLUSIVE);
    page.paths = paths;
    if (paths)
        FUZZ_REQUIRE(perfile_diff_page_write(&page, &fuzz_sink, NULL) == 0);
    perfile_diff_close(paths);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const keys[] = {"function,module", "dso", "thread", "function", "mem,thread", "srcfile"};
    struct perfile_profile *all = read_part(data, bytes, NULL), *part = all ? read_part(data, bytes, "0%-50%") : NULL;
    const struct perfile_profile *const sides[] = {all, part ? part : all};
    const size_t one = bytes % PF_COUNT(keys); /* all of them, and a page of each, would take most of the time */
    if (all)
        perfile_diff_close(compare(sides, keys[one], one % 2 ? PERFILE_DIFF_RELATIVE : 0));
    if (all && bytes % 16 == 0)
        write_page(sides);
    perfile_profile_close(part);
    perfile_profile_close(all);
    return 0;
}
