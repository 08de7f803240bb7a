/* SPDX-License-Identifier: MIT */
#include <perfile/profile.h>

#include "recording.h"

enum { TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME };

static struct perfile_reader *reader;
static struct perfile_error error;
static uint8_t *block;

/* Two samples of a mapped address, one of another. */
static void open_recording(void)
{
    static const struct recording_map map = {
        .misc = 2, .pid = 7, .start = 0x1000, .bytes = 0x1000, .pgoff = 0x3000, .name = "/missing/program"};
    struct recording r;
    recording_open(&r, TYPE, false);
    recording_comm(&r, 7, "worker", 1);
    recording_map(&r, &map, 2);
    recording_sample(&r, 0x1800, 7, 10);
    recording_sample(&r, 0x1800, 7, 11);
    recording_sample(&r, 0x9000, 7, 12);
    recording_finish(&r);
    reader = recording_read(&r, &block);
    recording_close(&r);
}

static void close_recording(void)
{
    perfile_close(reader);
    free(block);
}

static void samples_frames_and_modules(void **state)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    const struct perfile_stream_sample *sample;
    struct perfile_stream *stream;
    (void)state;
    open_recording();
    assert_int_equal(perfile_stream_open(reader, NULL, &stream, &error), 0);
    assert_int_equal(perfile_stream_next(stream, &sample, &error), 1);
    assert_int_equal(sample->time, 10);
    assert_int_equal(sample->cpu, -1);
    assert_string_equal(sample->comm, "worker");
    assert_string_equal(perfile_stream_comm_label(stream, sample->comm), "worker");
    assert_string_equal(perfile_stream_comm_label(stream, "a b;c\n\xff"), "a_b:c_\\xff");
    assert_int_equal(sample->frame_count, 1);
    assert_null(sample->decoded);
    const uint32_t first = sample->frames[0];
    assert_int_equal(perfile_stream_frame(stream, first, &frame), 0);
    assert_null(frame.name);
    assert_int_equal(frame.offset, 0x3800);
    assert_int_equal(frame.function, first);
    assert_int_equal(perfile_stream_module(stream, frame.module, &module), 0);
    assert_string_equal(module.name, "/missing/program");
    assert_int_equal(module.state, PERFILE_MODULE_NO_FILE);
    assert_string_equal(perfile_stream_label(stream, first), "[program]");
    assert_int_equal(perfile_stream_next(stream, &sample, &error), 1);
    assert_int_equal(sample->frames[0], first);
    assert_int_equal(perfile_stream_next(stream, &sample, &error), 1);
    assert_int_equal(perfile_stream_frame(stream, sample->frames[0], &frame), 0);
    assert_int_equal(frame.module, PERFILE_NO_ID);
    assert_int_equal(frame.kind, PERFILE_FRAME_UNKNOWN);
    assert_string_equal(perfile_stream_label(stream, sample->frames[0]), "[unknown]");
    assert_int_equal(perfile_stream_next(stream, &sample, &error), 0);
    assert_int_equal(perfile_stream_losses(stream, &losses), 0);
    assert_int_equal(losses.samples, 3);
    assert_int_equal(losses.unmapped, 1);
    assert_int_equal(losses.unresolved, 3);
    perfile_stream_close(stream);
    close_recording();
}

static void what_is_not_there(void **state)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    struct perfile_losses losses = {.size = 0};
    struct perfile_stream *stream;
    (void)state;
    open_recording();
    assert_int_equal(perfile_stream_open(reader, NULL, &stream, &error), 0);
    assert_int_equal(perfile_stream_frame(stream, 1000, &frame), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_stream_module(stream, PERFILE_NO_ID, &module), PERFILE_ERROR_ARGUMENT);
    assert_null(perfile_stream_label(stream, 1000));
    assert_int_equal(perfile_stream_losses(stream, &losses), PERFILE_ERROR_ARGUMENT);
    perfile_stream_close(stream);
    close_recording();
}

/* Options of callers that are older or newer than the library. */
static void sizes_of_options(void **state)
{
    struct {
        struct perfile_stream_options options;
        uint64_t more;
    } newer = {PERFILE_STREAM_OPTIONS_INIT, 1};
    struct perfile_stream_options options = {.flags = PERFILE_STREAM_DECODED};
    struct perfile_stream *stream;
    (void)state;
    open_recording();
    assert_int_equal(perfile_stream_open(reader, &options, &stream, &error), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "size is not set"));
    newer.options.size = sizeof(newer);
    assert_int_equal(perfile_stream_open(reader, &newer.options, &stream, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(stream);
    newer.more = 0;
    assert_int_equal(perfile_stream_open(reader, &newer.options, &stream, &error), 0);
    perfile_stream_close(stream);
    close_recording();
}

static void flags_that_are_not_known(void **state)
{
    struct perfile_stream_options options = PERFILE_STREAM_OPTIONS_INIT;
    struct perfile_stream *stream;
    (void)state;
    open_recording();
    options.flags = PERFILE_STREAM_DECODED << 1;
    assert_int_equal(perfile_stream_open(reader, &options, &stream, &error), PERFILE_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "unknown flags 0x10"));
    assert_null(stream);
    close_recording();
}

/* A caller that knows fewer members gets those, and nothing after them. */
static void sizes_of_results(void **state)
{
    struct {
        struct perfile_losses losses;
        uint64_t after;
    } small = {{.size = offsetof(struct perfile_losses, lost)}, 9}, large = {{.size = sizeof(large)}, 9};
    const struct perfile_stream_sample *sample;
    struct perfile_stream *stream;
    (void)state;
    open_recording();
    assert_int_equal(perfile_stream_open(reader, NULL, &stream, &error), 0);
    while (perfile_stream_next(stream, &sample, &error) > 0)
        ;
    small.losses.unmapped = 77;
    assert_int_equal(perfile_stream_losses(stream, &small.losses), 0);
    assert_int_equal(small.losses.samples, 3);
    assert_int_equal(small.losses.unmapped, 77);
    assert_int_equal(perfile_stream_losses(stream, &large.losses), 0);
    assert_int_equal(large.losses.unmapped, 1);
    assert_int_equal(large.after, 0);
    perfile_stream_close(stream);
    close_recording();
}

static void units_of_events(void **state)
{
    static const struct {
        const char *name, *unit;
        uint32_t type;
        uint64_t config;
    } events[] = {{"cycles:u", "cycles", 0, 0},
                  {"cpu/instructions/k", "instructions", 4, 0},
                  {"cpu-clock", "ns", 1, 0},
                  {"page-faults", "page-faults", 1, 2},
                  {"sched:sched_switch", "events", 2, 3},
                  {"cpu/event=0x3c/", "events", 4, 0}};
    const struct perfile_attr none = {0};
    char unit[16];
    (void)state;
    for (size_t i = 0; i < PF_COUNT(events); i++) {
        const struct perfile_attr attr = {.type = events[i].type, .config = events[i].config};
        const struct perfile_event event = {.name = events[i].name, .attr = &attr};
        assert_string_equal(perfile_event_unit(&event, unit, sizeof(unit)), events[i].unit);
    }
    assert_string_equal(perfile_event_unit(&(struct perfile_event){.name = "cycles", .attr = &none}, unit, 4), "cyc");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_frames_and_modules), cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(sizes_of_options),           cmocka_unit_test(flags_that_are_not_known),
        cmocka_unit_test(sizes_of_results),           cmocka_unit_test(units_of_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
