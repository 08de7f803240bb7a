/* SPDX-License-Identifier: MIT */
/* A profile that was written to a file, as baselines are: all of it, written and read again, merged, and compared. */
#include "diff_row.h"

#include <perfile/profile.h>

struct text {
    char *data;
    size_t bytes, allocated;
};

static int put(void *context, const void *data, size_t bytes)
{
    struct text *text = context;
    if (text->bytes + bytes > text->allocated) {
        text->allocated = 2 * (text->bytes + bytes);
        FUZZ_REQUIRE((text->data = realloc(text->data, text->allocated)) != NULL);
    }
    memcpy(text->data + text->bytes, data, bytes);
    text->bytes += bytes;
    return 0;
}

static void touch_names(const struct perfile_profile *profile)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    for (size_t i = 0; perfile_profile_recording_at(profile, i, &recording) == 0; i++)
        fuzz_touch_text(recording.path);
    for (size_t i = 0; perfile_profile_event_at(profile, i, &event) == 0; i++)
        fuzz_touch_text(event.name);
    for (size_t i = 0; perfile_profile_function_at(profile, i, &function) == 0; i++)
        fuzz_touch_text(function.name);
    for (size_t i = 0; perfile_profile_module_at(profile, i, &module) == 0; i++)
        fuzz_touch_text(module.path);
    for (size_t i = 0; perfile_profile_thread_at(profile, i, &thread) == 0; i++)
        fuzz_touch_text(thread.comm);
}

static void touch_tags(const struct perfile_profile *profile, uint32_t first)
{
    struct perfile_profile_tag tag = PERFILE_PROFILE_TAG_INIT;
    for (uint32_t i = first; perfile_profile_tag_at(profile, i, &tag) == 0; i = tag.next) {
        FUZZ_REQUIRE(tag.next < i || tag.next == PERFILE_NO_ID);
        fuzz_touch_text(tag.name);
        fuzz_touch_text(tag.text);
    }
}

/* Numbers lead to what is there. */
static void touch_rows(const struct perfile_profile *profile)
{
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    for (size_t i = 0; perfile_profile_frame_at(profile, i, &frame) == 0; i++)
        FUZZ_REQUIRE(frame.function < perfile_profile_function_count(profile));
    for (size_t i = 0; perfile_profile_stack_at(profile, i, &stack) == 0; i++)
        FUZZ_REQUIRE(stack.frame < perfile_profile_frame_count(profile) &&
                     (stack.parent < i || stack.parent == PERFILE_NO_ID));
    for (size_t i = 0; perfile_profile_sample_at(profile, i, &sample) == 0; i++) {
        FUZZ_REQUIRE(sample.stack < perfile_profile_stack_count(profile));
        FUZZ_REQUIRE(sample.event < perfile_profile_event_count(profile));
        FUZZ_REQUIRE(sample.leaf < perfile_profile_frame_count(profile) || sample.leaf == PERFILE_NO_ID);
        FUZZ_REQUIRE(sample.recording < perfile_profile_recording_count(profile) || sample.recording == PERFILE_NO_ID);
        touch_tags(profile, sample.tags);
        fuzz_touch(sample.values, sample.value_count * sizeof(*sample.values));
    }
}

static void compare(const struct perfile_profile *profile, const struct perfile_profile *again, const char *keys,
                    unsigned flags)
{
    struct perfile_diff_options options = PERFILE_DIFF_OPTIONS_INIT;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    struct perfile_diff *diff;
    options.before = &profile;
    options.after = &again;
    options.before_count = options.after_count = 1;
    options.keys = keys;
    options.flags = flags;
    options.limit = 0.01;
    if (perfile_diff_open(&options, &diff, NULL) < 0)
        return;
    for (size_t i = 0; perfile_diff_row_at(diff, i, &row) == 0; i++)
        fuzz_touch_row(&row);
    FUZZ_REQUIRE(perfile_diff_total(diff, &row) == 0 && perfile_diff_describe(diff, &info) == 0);
    for (size_t i = 0; perfile_diff_note_at(diff, i); i++)
        fuzz_touch_text(perfile_diff_note_at(diff, i));
    perfile_diff_close(diff);
}

/* Weights of functions and nodes never exceed those of all samples, which are those of nodes without a caller. */
static void weigh(const struct perfile_profile *profile)
{
    struct perfile_calls *calls;
    uint64_t self = 0, outer = 0;
    if (perfile_calls_open(profile, NULL, &calls, NULL) < 0)
        return;
    FUZZ_REQUIRE(perfile_calls_start(calls, NULL) == 0);
    for (size_t i = 0; i < perfile_profile_sample_count(profile); i++)
        perfile_calls_add(calls, i);
    perfile_calls_sum(calls);
    for (uint32_t i = 0; i < perfile_profile_function_count(profile); i++) {
        FUZZ_REQUIRE(perfile_calls_self(calls, i)[0] <= perfile_calls_total(calls, i)[0]);
        self |= perfile_calls_self(calls, i)[0];
    }
    for (uint32_t i = perfile_calls_first(calls, PERFILE_NO_ID); i != PERFILE_NO_ID; i = perfile_calls_next(calls, i))
        outer |= perfile_calls_node(calls, i)[0];
    FUZZ_REQUIRE(!outer || self);
    perfile_calls_close(calls);
}

/* What is written is read, and written the same again. */
static void check_again(const struct perfile_profile *profile)
{
    struct text first = {0}, second = {0};
    const struct perfile_sink sinks[] = {{&first, put}, {&second, put}};
    const struct perfile_profile *const both[] = {profile, profile};
    struct perfile_profile *again, *merged;
    FUZZ_REQUIRE(perfile_profile_write(profile, &sinks[0], NULL) == 0);
    FUZZ_REQUIRE(perfile_profile_is_file(first.data, first.bytes));
    FUZZ_REQUIRE(perfile_profile_read(first.data, first.bytes, NULL, &again, NULL) == 0);
    FUZZ_REQUIRE(perfile_profile_write(again, &sinks[1], NULL) == 0);
    FUZZ_REQUIRE(first.bytes == second.bytes && !memcmp(first.data, second.data, first.bytes));
    if (perfile_profile_merge(both, 2, NULL, &merged, NULL) == 0) {
        touch_rows(merged);
        compare(again, merged, "function", PERFILE_DIFF_GATE);
        perfile_profile_close(merged);
    }
    weigh(again);
    compare(profile, again, "path", PERFILE_DIFF_INCLUSIVE);
    compare(profile, again, "dso", PERFILE_DIFF_RELATIVE);
    compare(profile, again, "line,thread", 0);
    perfile_profile_close(again);
    free(first.data);
    free(second.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct perfile_profile *profile;
    if (perfile_profile_read(data, bytes, NULL, &profile, NULL) < 0)
        return 0;
    touch_names(profile);
    touch_rows(profile);
    check_again(profile);
    perfile_profile_close(profile);
    return 0;
}
