/* SPDX-License-Identifier: MIT */
/* Profiles of the caller's samples, and names for addresses in them. */
#include <perfile/builder.h>

#include "made_elf.h"
#include "made_symbolizer.h"

enum { ID = 0x5b };

static const struct made_symbol symbols[] = {
    {MADE_ADDRESS + 0x80, 0x20, STT_FUNC, STB_GLOBAL, MADE_TEXT, "first"},
    {MADE_ADDRESS + 0xa0, 0x20, STT_FUNC, STB_GLOBAL, MADE_TEXT, "_ZN5space6secondEv"},
};

/* Parts of a profile: an event, a binary, two addresses in it, and a function without a binary. */
struct parts {
    uint32_t event, module, first, second, script;
};

static int describe(struct perfile_builder *builder, const char *path, struct parts *parts)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    event.name = "cpu";
    event.unit = "ns";
    module.name = path;
    module.build_id_bytes = sizeof(module.build_id);
    memset(module.build_id, ID, sizeof(module.build_id));
    function.name = "script.py:main(int)";
    function.module = PERFILE_NO_ID;
    int result = perfile_builder_event(builder, &event, &parts->event, NULL);
    result = result < 0 ? result : perfile_builder_module(builder, &module, &parts->module, NULL);
    result = result < 0 ? result : perfile_builder_address(builder, parts->module, 0x90, &parts->first, NULL);
    result = result < 0 ? result : perfile_builder_address(builder, parts->module, 0xa0, &parts->second, NULL);
    result = result < 0 ? result : perfile_builder_function(builder, &function, &frame.function, NULL);
    return result < 0 ? result : perfile_builder_frame(builder, &frame, &parts->script, NULL);
}

static int add(struct perfile_builder *builder, const struct parts *parts, uint32_t leaf, uint64_t period)
{
    const uint32_t frames[] = {leaf, parts->second, parts->script};
    struct perfile_builder_sample sample = PERFILE_BUILDER_SAMPLE_INIT;
    sample.event = parts->event;
    sample.frames = frames;
    sample.frame_count = PF_COUNT(frames);
    sample.period = period;
    sample.comm = "worker";
    sample.has_thread = sample.has_time = true;
    sample.pid = sample.tid = 7;
    sample.time = 1000 + period;
    return perfile_builder_add(builder, &sample, NULL);
}

/* Two samples of one stack, and one of another, whose innermost frame is also their caller. */
static int build(const struct perfile_allocator *allocator, const char *path, struct perfile_profile **profile)
{
    struct perfile_builder_options options = PERFILE_BUILDER_OPTIONS_INIT;
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    struct perfile_builder *builder;
    struct parts parts;
    recording.hostname = "host";
    recording.lost = 3;
    options.recording = &recording;
    options.allocator = allocator;
    *profile = NULL;
    int result = perfile_builder_open(&options, &builder, NULL);
    result = result < 0 ? result : describe(builder, path, &parts);
    result = result < 0 ? result : add(builder, &parts, parts.first, 10);
    result = result < 0 ? result : add(builder, &parts, parts.second, 5);
    result = result < 0 ? result : add(builder, &parts, parts.first, 30);
    result = result < 0 ? result : perfile_builder_finish(builder, profile, NULL);
    perfile_builder_close(builder);
    return result;
}

/* "a;b;c" of the functions of a row, the innermost first. */
static const char *stack_of(const struct perfile_profile *profile, size_t row)
{
    static char text[256];
    struct perfile_profile_sample sample = PERFILE_PROFILE_SAMPLE_INIT;
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    text[0] = '\0';
    assert_int_equal(perfile_profile_sample_at(profile, row, &sample), 0);
    for (uint32_t node = sample.stack; node != PERFILE_NO_ID; node = stack.parent) {
        assert_int_equal(perfile_profile_stack_at(profile, node, &stack), 0);
        assert_int_equal(perfile_profile_frame_at(profile, stack.frame, &frame), 0);
        assert_int_equal(perfile_profile_function_at(profile, frame.function, &function), 0);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", *text ? ";" : "",
                 function.name ? function.name : function.label);
    }
    return text;
}

static void test_rows(void **state)
{
    (void)state;
    struct perfile_profile *profile;
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    assert_int_equal(build(NULL, "/bin/program", &profile), 0);
    assert_int_equal(perfile_profile_sample_count(profile), 2);
    assert_int_equal(perfile_profile_sample_at(profile, 0, &row), 0);
    assert_true(row.values[0] == 2 && row.values[1] == 40 && row.value_count == 2);
    assert_true(row.tid == 7 && row.cpu == -1 && row.time == UINT64_MAX);
    assert_string_equal(row.comm, "worker");
    assert_string_equal(stack_of(profile, 0), "[program];[program];script.py:main(int)");
    assert_int_equal(perfile_profile_recording_at(profile, 0, &recording), 0);
    assert_string_equal(recording.hostname, "host");
    assert_true(recording.first_time == 1005 && recording.last_time == 1030);
    assert_int_equal(perfile_profile_thread_at(profile, 0, &thread), 0);
    assert_true(thread.samples == 3 && thread.comm_count == 1);
    assert_int_equal(perfile_profile_losses(profile, &losses), 0);
    assert_true(losses.samples == 3 && losses.lost == 3 && losses.unresolved == 3);
    perfile_profile_close(profile);
}

static const char *make_binary(void)
{
    struct made m;
    made_elf(&m, &(struct made_elf){ET_DYN, EM_X86_64, .id = ID, .symbols = symbols, .count = PF_COUNT(symbols)});
    return made_file("program", m.data, m.bytes);
}

/* The byte after a call can belong to the next function: a caller is looked up before it, the innermost frame is not. */
static void test_names(void **state)
{
    (void)state;
    struct perfile_profile *profile, *named;
    struct perfile_symbolizer *symbolizer;
    struct perfile_module module = PERFILE_MODULE_INIT;
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    assert_int_equal(build(NULL, make_binary(), &profile), 0);
    assert_int_equal(made_symbolizer_open(NULL, &symbolizer), 0);
    assert_int_equal(perfile_profile_symbolize(profile, symbolizer, &named, NULL), 0);
    perfile_profile_close(profile);
    perfile_symbolizer_close(symbolizer);
    assert_int_equal(perfile_profile_sample_count(named), 2);
    assert_string_equal(stack_of(named, 0), "first;first;script.py:main(int)");
    assert_string_equal(stack_of(named, 1), "space::second();first;script.py:main(int)");
    assert_int_equal(perfile_profile_module_at(named, 0, &module), 0);
    assert_true(module.state == PERFILE_MODULE_SYMBOLS && module.path);
    assert_int_equal(perfile_profile_losses(named, &losses), 0);
    assert_int_equal(losses.unresolved, 0);
    perfile_profile_close(named);
}

static void test_arguments(void **state)
{
    (void)state;
    struct perfile_builder *builder;
    struct perfile_profile *profile;
    struct parts parts;
    struct perfile_error error;
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    struct perfile_builder_sample sample = PERFILE_BUILDER_SAMPLE_INIT;
    uint32_t number;
    assert_int_equal(perfile_builder_open(NULL, &builder, &error), 0);
    assert_int_equal(describe(builder, "/bin/program", &parts), 0);
    assert_int_equal(perfile_builder_event(builder, &event, &number, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_builder_module(builder, &module, &number, &error), PERFILE_ERROR_ARGUMENT);
    frame.function = 99;
    assert_int_equal(perfile_builder_frame(builder, &frame, &number, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_builder_address(builder, 1, 0, &number, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_builder_add(builder, &sample, &error), PERFILE_ERROR_ARGUMENT);
    sample.frames = &number;
    sample.frame_count = 1;
    number = 3;
    assert_int_equal(perfile_builder_add(builder, &sample, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_builder_finish(builder, &profile, &error), 0);
    perfile_profile_close(profile);
    assert_int_equal(add(builder, &parts, parts.first, 1), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_builder_finish(builder, &profile, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_profile_symbolize(NULL, NULL, &profile, &error), PERFILE_ERROR_ARGUMENT);
    perfile_builder_close(builder);
    perfile_builder_close(NULL);
}

static int build_with_names(void *path, const struct perfile_allocator *allocator)
{
    struct perfile_profile *profile = NULL, *named = NULL;
    struct perfile_symbolizer *symbolizer = NULL;
    int result = build(allocator, path, &profile);
    result = result < 0 ? result : made_symbolizer_open(allocator, &symbolizer);
    result = result < 0 ? result : perfile_profile_symbolize(profile, symbolizer, &named, NULL);
    perfile_profile_close(profile);
    perfile_profile_close(named);
    perfile_symbolizer_close(symbolizer);
    return result;
}

/* An error at each failing allocation, and all is freed. */
static void test_memory(void **state)
{
    (void)state;
    assert_true(counting_exhaust(build_with_names, (void *)make_binary(), 2000) >= 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, made_directory_open, made_directory_close);
}
