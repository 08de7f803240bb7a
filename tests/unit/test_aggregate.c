/* SPDX-License-Identifier: MIT */
/* Aggregated profiles, and single addresses; what they agree with in the command is tests/properties/profiles.py. */
#include <sys/mman.h>
#include <unistd.h>

#include <perfile/profile.h>
#include <perfile/writer.h>

#include "base/bytes.h"
#include "counting.h"

enum {
    PARTS = PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
            PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD
};

static struct perfile_error error;

/* ---- recordings ---- */

struct maker {
    struct perfile_writer *writer;
    int fd;
};

static void begin(struct maker *maker)
{
    maker->fd = memfd_create("recording", 0);
    assert_true(maker->fd >= 0);
    assert_int_equal(perfile_writer_open_fd(maker->fd, NULL, &maker->writer, &error), 0);
}

static void add_event(struct maker *maker, const char *name, uint64_t id, uint64_t parts)
{
    struct perfile_event_spec event = PERFILE_EVENT_SPEC_INIT;
    struct perfile_attr attr = {.sample_type = PARTS | parts, .sample_id_all = 1, .config = id};
    event.attr = &attr;
    event.attr_bytes = sizeof(attr);
    event.ids = &id;
    event.id_count = 1;
    event.name = name;
    assert_int_equal(perfile_writer_add_event(maker->writer, &event, NULL, &error), 0);
}

static void add_map(struct maker *maker, uint64_t start, const char *name)
{
    const struct perfile_mmap map = {.pid = 7, .tid = 7, .addr = start, .len = 0x1000, .filename = name};
    const struct perfile_sample_id id = {.size = sizeof(id), .pid = 7, .tid = 7, .identifier = 1};
    assert_int_equal(perfile_writer_record(maker->writer, PERFILE_RECORD_MMAP, 2, &map, sizeof(map), &id, &error), 0);
}

static void add_build_id(struct maker *maker, const char *name, uint8_t first)
{
    const struct perfile_header_build_id entry = {
        .pid = -1, .build_id = {first, 2, 3}, .build_id_size = 20, .filename = name};
    assert_int_equal(perfile_writer_build_id(maker->writer, 2, &entry, sizeof(entry), &error), 0);
}

static struct perfile_sample sample_at(uint64_t ip)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    sample.identifier = 1;
    sample.ip = ip;
    sample.pid = sample.tid = 7;
    sample.period = 10;
    return sample;
}

static void put(struct maker *maker, uint32_t event, const struct perfile_sample *sample)
{
    assert_int_equal(perfile_writer_sample(maker->writer, event, 2, sample, &error), 0);
}

static void put_at(struct maker *maker, uint64_t ip)
{
    const struct perfile_sample sample = sample_at(ip);
    put(maker, 0, &sample);
}

static struct perfile_reader *finish(struct maker *maker)
{
    struct perfile_reader *reader;
    assert_int_equal(perfile_writer_finish(maker->writer, &error), 0);
    perfile_writer_close(maker->writer);
    assert_int_equal(lseek(maker->fd, 0, SEEK_SET), 0);
    assert_int_equal(perfile_open_fd(maker->fd, NULL, &reader, &error), 0);
    return reader;
}

static struct perfile_profile *finish_profile(struct maker *maker, const struct perfile_profile_options *options)
{
    struct perfile_reader *reader = finish(maker);
    struct perfile_profile *profile;
    if (perfile_profile_open(reader, options, &profile, &error) < 0)
        fail_msg("%s", error.message);
    perfile_close(reader);
    close(maker->fd);
    return profile;
}

/* One sample in a mapping of that name; `build_id` 0: the recording states none. */
static struct perfile_profile *profile_of(const char *name, uint8_t build_id)
{
    struct maker maker;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    if (build_id)
        add_build_id(&maker, name, build_id);
    add_map(&maker, 0x1000, name);
    put_at(&maker, 0x1800);
    return finish_profile(&maker, NULL);
}

/* ---- rows ---- */

static struct perfile_profile_sample row_of(const struct perfile_profile *profile, size_t index)
{
    struct perfile_profile_sample row = PERFILE_PROFILE_SAMPLE_INIT;
    assert_int_equal(perfile_profile_sample_at(profile, index, &row), 0);
    return row;
}

/* Three samples of one stack, by two threads on two processors. */
static struct perfile_profile *threads_by(const char *keys)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_sample sample = sample_at(0x1800);
    struct maker maker;
    options.keys = keys;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    add_map(&maker, 0x1000, "/missing/a");
    put(&maker, 0, &sample);
    sample.tid = 8;
    sample.cpu = 3;
    sample.time = 250000000;
    put(&maker, 0, &sample);
    sample.tid = 7;
    sample.time = 299999999;
    put(&maker, 0, &sample);
    return finish_profile(&maker, &options);
}

static void rows_by_event_alone(void **state)
{
    struct perfile_profile_thread thread = PERFILE_PROFILE_THREAD_INIT;
    struct perfile_profile *profile = threads_by(NULL);
    (void)state;
    assert_int_equal(perfile_profile_sample_count(profile), 1);
    const struct perfile_profile_sample row = row_of(profile, 0);
    assert_int_equal(row.value_count, 2);
    assert_int_equal(row.values[0], 3);
    assert_int_equal(row.values[1], 30);
    assert_int_equal(row.pid, -1);
    assert_int_equal(row.cpu, -1);
    assert_null(row.comm);
    assert_true(row.time == UINT64_MAX);
    assert_int_equal(perfile_profile_thread_count(profile), 2);
    assert_int_equal(perfile_profile_thread_at(profile, 0, &thread), 0);
    assert_int_equal(thread.tid, 7);
    assert_int_equal(thread.samples, 2);
    assert_int_equal(thread.first_time, 0);
    assert_int_equal(thread.last_time, 299999999);
    assert_int_equal(thread.comm_count, 1);
    assert_string_equal(thread.comms[0], ":7");
    perfile_profile_close(profile);
}

static void rows_by_keys(void **state)
{
    struct perfile_profile *profile = threads_by("event,cpu");
    (void)state;
    assert_int_equal(perfile_profile_sample_count(profile), 2);
    assert_int_equal(row_of(profile, 1).cpu, 3);
    assert_int_equal(row_of(profile, 1).values[0], 2);
    perfile_profile_close(profile);
    profile = threads_by("tid,comm");
    assert_int_equal(perfile_profile_sample_count(profile), 2);
    assert_int_equal(row_of(profile, 0).pid, 7);
    assert_int_equal(row_of(profile, 1).tid, 8);
    assert_string_equal(row_of(profile, 0).comm, ":7");
    perfile_profile_close(profile);
    profile = threads_by("cgroup");
    assert_int_equal(perfile_profile_sample_count(profile), 1);
    assert_null(row_of(profile, 0).cgroup); /* not recorded */
    perfile_profile_close(profile);
    profile = threads_by("time");
    assert_int_equal(perfile_profile_sample_count(profile), 2);
    assert_int_equal(row_of(profile, 1).time, 200000000);
    assert_int_equal(row_of(profile, 1).values[0], 2);
    perfile_profile_close(profile);
}

static void check_weights(unsigned threads)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    struct perfile_sample sample = sample_at(0x1800);
    struct maker maker;
    begin(&maker);
    add_event(&maker, "mem-loads", 1, PERFILE_SAMPLE_WEIGHT_STRUCT);
    sample.weight = (uint64_t)9 << 32 | 40; /* the others are no part of it */
    put(&maker, 0, &sample);
    put(&maker, 0, &sample);
    options.threads = threads;
    struct perfile_profile *profile = finish_profile(&maker, &options);
    assert_int_equal(perfile_profile_value_type_count(profile), 3);
    assert_int_equal(perfile_profile_value_type_at(profile, 2, &type), 0);
    assert_string_equal(type.name, "weight");
    assert_int_equal(type.total, 80);
    assert_int_equal(row_of(profile, 0).values[2], 80);
    perfile_profile_close(profile);
}

static void weights_are_values(void **state)
{
    (void)state;
    check_weights(1);
    check_weights(3);
}

/* Recorders may count the same event twice. */
static void events_of_one_name_are_two(void **state)
{
    struct perfile_profile_event event = PERFILE_PROFILE_EVENT_INIT;
    struct perfile_profile *merged, *profile;
    struct perfile_sample sample = sample_at(0x1800);
    struct maker maker;
    (void)state;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    add_event(&maker, "cycles", 2, 0);
    put(&maker, 0, &sample);
    sample.identifier = 2;
    put(&maker, 1, &sample);
    profile = finish_profile(&maker, NULL);
    const struct perfile_profile *const both[] = {profile, profile};
    assert_int_equal(perfile_profile_event_count(profile), 2);
    assert_int_equal(perfile_profile_merge(both, 2, NULL, &merged, &error), 0);
    assert_int_equal(perfile_profile_event_count(merged), 2);
    assert_int_equal(perfile_profile_event_at(merged, 1, &event), 0);
    assert_string_equal(event.name, "cycles");
    assert_int_equal(event.first_value, 2);
    assert_int_equal(row_of(merged, 1).values[0], 2);
    perfile_profile_close(merged);
    perfile_profile_close(profile);
}

static void no_samples(void **state)
{
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    struct maker maker;
    (void)state;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    struct perfile_profile *profile = finish_profile(&maker, NULL);
    assert_int_equal(perfile_profile_sample_count(profile), 0);
    assert_int_equal(perfile_profile_event_count(profile), 0);
    assert_int_equal(perfile_profile_recording_at(profile, 0, &recording), 0);
    assert_true(recording.first_time == UINT64_MAX);
    assert_int_equal(perfile_profile_losses(profile, &losses), 0);
    assert_int_equal(losses.samples, 0);
    perfile_profile_close(profile);
}

/* ---- modules ---- */

/* How many modules the two have together; they are named as the first in byte order. */
static size_t modules_of_both(struct perfile_profile *a, struct perfile_profile *b)
{
    const struct perfile_profile *const both[] = {a, b};
    struct perfile_profile *merged;
    assert_int_equal(perfile_profile_merge(both, 2, NULL, &merged, &error), 0);
    const size_t count = perfile_profile_module_count(merged);
    struct perfile_module module = PERFILE_MODULE_INIT;
    assert_int_equal(perfile_profile_module_at(merged, 0, &module), 0);
    assert_string_equal(module.name, "/missing/a");
    perfile_profile_close(merged);
    perfile_profile_close(a);
    perfile_profile_close(b);
    return count;
}

static void modules_are_equal_by_build_id(void **state)
{
    (void)state;
    assert_int_equal(modules_of_both(profile_of("/missing/a", 1), profile_of("/missing/z/a", 1)), 1);
    assert_int_equal(modules_of_both(profile_of("/missing/z/a", 1), profile_of("/missing/a", 1)), 1);
    assert_int_equal(modules_of_both(profile_of("/missing/a", 1), profile_of("/missing/a", 2)), 2);
    assert_int_equal(modules_of_both(profile_of("/missing/a", 1), profile_of("/missing/b", 1)), 2); /* a copy */
    assert_int_equal(modules_of_both(profile_of("/missing/a", 0), profile_of("/missing/a", 0)), 1);
    assert_int_equal(modules_of_both(profile_of("/missing/a", 0), profile_of("/missing/z/a", 0)), 2);
    assert_int_equal(modules_of_both(profile_of("/missing/a", 0), profile_of("/missing/a", 1)), 2);
}

/* One binary under two paths in one recording: with it the frames are one, and so are the stacks and the rows. */
static void equal_modules_in_one_recording(void **state)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct maker maker;
    (void)state;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    add_build_id(&maker, "/missing/x/program", 1);
    add_build_id(&maker, "/missing/a/program", 1);
    add_map(&maker, 0x1000, "/missing/x/program");
    add_map(&maker, 0x5000, "/missing/a/program");
    put_at(&maker, 0x1800);
    put_at(&maker, 0x5800);
    struct perfile_profile *profile = finish_profile(&maker, &options);
    struct perfile_module module = PERFILE_MODULE_INIT;
    assert_int_equal(perfile_profile_module_count(profile), 1);
    assert_int_equal(perfile_profile_module_at(profile, 0, &module), 0);
    assert_string_equal(module.name, "/missing/a/program");
    assert_int_equal(module.build_id_bytes, 20);
    assert_int_equal(perfile_profile_function_count(profile), 1);
    assert_int_equal(perfile_profile_frame_count(profile), 1);
    assert_int_equal(perfile_profile_stack_count(profile), 1);
    assert_int_equal(perfile_profile_sample_count(profile), 1);
    assert_int_equal(row_of(profile, 0).values[0], 2);
    assert_int_equal(perfile_profile_recording_count(profile), 1);
    perfile_profile_close(profile);
}

/* ---- what is refused ---- */

static void refuse(const struct perfile_profile_options *options, const char *why)
{
    struct maker maker;
    struct perfile_profile *profile;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    struct perfile_reader *reader = finish(&maker);
    assert_int_equal(perfile_profile_open(reader, options, &profile, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(profile);
    if (!strstr(error.message, why))
        fail_msg("%s", error.message);
    perfile_close(reader);
    close(maker.fd);
}

static void options_that_are_refused(void **state)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_profile *merged;
    const struct perfile_profile *const none[] = {NULL};
    (void)state;
    options.keys = "comm,gid";
    refuse(&options, "unknown key 'gid'; there are event, pid, tid, comm, cpu, cgroup, time, recording");
    assert_string_equal(error.token, "gid");
    options.keys = "comm,";
    options.time_quantum = 1;
    refuse(&options, "needs the key time");
    options.time_quantum = 0;
    options.flags = PERFILE_STREAM_DECODED;
    refuse(&options, "flags");
    assert_int_equal(perfile_profile_merge(none, 1, NULL, &merged, &error), PERFILE_ERROR_ARGUMENT);
    assert_null(merged);
}

static void what_is_not_there(void **state)
{
    struct perfile_profile *profile = profile_of("/missing/a", 1);
    struct perfile_profile_stack stack = PERFILE_PROFILE_STACK_INIT;
    struct perfile_profile_frame frame = {.size = 0};
    struct perfile_module module = PERFILE_MODULE_INIT;
    (void)state;
    assert_int_equal(perfile_profile_stack_at(profile, 1, &stack), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_profile_stack_at(profile, 0, &stack), 0);
    assert_true(stack.parent == PERFILE_NO_ID);
    assert_int_equal(perfile_profile_frame_at(profile, 0, &frame), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_profile_module_at(profile, PERFILE_NO_ID, &module), PERFILE_ERROR_ARGUMENT);
    perfile_profile_close(profile);
    perfile_profile_close(NULL);
}

/* ---- single addresses ---- */

static const struct perfile_session *at_first_sample(struct perfile_session *session)
{
    const struct perfile_record *record;
    do
        assert_int_equal(perfile_session_next(session, &record, &error), 1);
    while (record->type != PERFILE_RECORD_SAMPLE);
    return session;
}

/* The build id of a mapping is what the recording says, also where only its header does. */
static void maps_have_the_build_ids_of_the_recording(void **state)
{
    struct perfile_session *session;
    struct maker maker;
    (void)state;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    add_build_id(&maker, "/missing/a", 5);
    add_map(&maker, 0x1000, "/missing/a");
    add_map(&maker, 0x3000, "/missing/b");
    put_at(&maker, 0x1800);
    struct perfile_reader *reader = finish(&maker);
    assert_int_equal(perfile_session_open(reader, &session, &error), 0);
    perfile_session_follow_maps(session);
    at_first_sample(session);
    const struct perfile_space *space = perfile_session_space(session, 7);
    const struct perfile_map *a = perfile_space_find(space, 0x1800), *b = perfile_space_find(space, 0x3800);
    assert_int_equal(a->build_id_bytes, 20);
    assert_int_equal(a->build_id[0], 5);
    assert_int_equal(b->build_id_bytes, 0);
    perfile_session_close(session);
    perfile_close(reader);
    close(maker.fd);
}

static uint32_t frame_of(struct perfile_resolver *resolver, uint64_t address, unsigned cpumode, uint32_t flags)
{
    struct perfile_location location = PERFILE_LOCATION_INIT;
    uint32_t frame;
    location.address = address;
    location.pid = 7;
    location.cpumode = cpumode;
    location.flags = flags;
    assert_int_equal(perfile_resolver_frames(resolver, &location, NULL, 0, &error), 1);
    assert_int_equal(perfile_resolver_frames(resolver, &location, &frame, 1, &error), 1);
    return frame;
}

static void addresses_and_their_frames(void **state)
{
    struct perfile_frame frame = PERFILE_FRAME_INIT;
    struct perfile_module module = PERFILE_MODULE_INIT;
    struct perfile_location location = {.size = 0};
    struct perfile_resolver *resolver;
    struct perfile_session *session;
    struct maker maker;
    (void)state;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    add_map(&maker, 0x1000, "/missing/a");
    put_at(&maker, 0x1800);
    struct perfile_reader *reader = finish(&maker);
    assert_int_equal(perfile_session_open(reader, &session, &error), 0);
    assert_int_equal(perfile_resolver_open(reader, session, NULL, &resolver, &error), 0);
    at_first_sample(session);
    const uint32_t user = frame_of(resolver, 0x1800, 2, 0);
    assert_int_equal(perfile_resolver_frame(resolver, user, &frame), 0);
    assert_int_equal(frame.offset, 0x800);
    assert_int_equal(perfile_resolver_module(resolver, frame.module, &module), 0);
    assert_string_equal(module.name, "/missing/a");
    assert_int_equal(module.kind, PERFILE_MODULE_FILE);
    assert_string_equal(perfile_resolver_label(resolver, user), "[a]");
    assert_int_equal(frame_of(resolver, 0x1800, 2, PERFILE_RESOLVE_RETURN), user);
    assert_int_equal(perfile_resolver_frame(resolver, frame_of(resolver, 0x1800, 1, 0), &frame), 0);
    assert_int_equal(frame.kind, PERFILE_FRAME_UNKNOWN);
    assert_int_equal(perfile_resolver_frames(resolver, &location, NULL, 0, &error), PERFILE_ERROR_ARGUMENT);
    assert_int_equal(perfile_resolver_frame(resolver, 1000, &frame), PERFILE_ERROR_ARGUMENT);
    assert_null(perfile_resolver_label(resolver, 1000));
    perfile_resolver_close(resolver);
    perfile_session_close(session);
    perfile_close(reader);
    close(maker.fd);
}

/* ---- snapshots ---- */

struct seen {
    size_t count;
    uint64_t samples; /* of the last one */
    bool grows;
};

static void see(void *context, const struct perfile_profile *profile)
{
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    struct perfile_profile_value_type type = PERFILE_PROFILE_VALUE_TYPE_INIT;
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    struct seen *seen = context;
    assert_int_equal(perfile_profile_losses(profile, &losses), 0);
    assert_int_equal(perfile_profile_value_type_at(profile, 0, &type), 0);
    assert_true(type.total < losses.samples); /* the last one comes with the next */
    assert_int_equal(perfile_profile_function_at(profile, 0, &function), 0);
    assert_string_equal(function.label, "[a]");
    assert_int_equal(perfile_profile_recording_at(profile, 0, &recording), 0);
    assert_string_equal(recording.path, "recorded");
    seen->grows &= type.total > seen->samples;
    seen->samples = type.total;
    seen->count++;
}

static struct seen snapshots_of(unsigned samples, unsigned threads, uint64_t max_rows)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct seen seen = {.grows = true};
    struct maker maker;
    begin(&maker);
    add_event(&maker, "cycles", 1, 0);
    add_map(&maker, 0x1000, "/bin/a");
    for (unsigned i = 0; i < samples; i++)
        put_at(&maker, 0x1000 + i % 0x1000);
    options.path = "recorded";
    options.threads = threads;
    options.snapshot = see;
    options.snapshot_context = &seen;
    options.snapshot_ms = 1;
    options.snapshot_rows = max_rows;
    struct perfile_profile *profile = finish_profile(&maker, &options);
    assert_int_equal(perfile_profile_sample_count(profile), samples < 0x1000 ? samples : 0x1000);
    perfile_profile_close(profile);
    return seen;
}

static void snapshots_while_it_is_read(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads < 4; threads++) {
        const struct seen seen = snapshots_of(100000, threads, 0);
        assert_true(seen.count > 0 && seen.grows && seen.samples < 100000);
    }
    assert_int_equal(snapshots_of(100000, 1, 1).count, 0);
    assert_int_equal(snapshots_of(10, 1, 0).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_while_it_is_read),
        cmocka_unit_test(rows_by_event_alone),
        cmocka_unit_test(rows_by_keys),
        cmocka_unit_test(weights_are_values),
        cmocka_unit_test(events_of_one_name_are_two),
        cmocka_unit_test(no_samples),
        cmocka_unit_test(modules_are_equal_by_build_id),
        cmocka_unit_test(equal_modules_in_one_recording),
        cmocka_unit_test(options_that_are_refused),
        cmocka_unit_test(what_is_not_there),
        cmocka_unit_test(maps_have_the_build_ids_of_the_recording),
        cmocka_unit_test(addresses_and_their_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
