/* SPDX-License-Identifier: MIT */
/* Profiles and resolvers run out of memory at every Nth allocation: always an error, and all memory is freed. */
#include "fault.h"

#include <perfile/analysis.h>
#include <perfile/profile.h>

static const struct perfile_symbol_options *nowhere(void)
{
    static struct perfile_symbol_options options = PERFILE_SYMBOL_OPTIONS_INIT;
    options.symfs = "/nonexistent"; /* nothing of this machine takes part */
    options.kallsyms = "/dev/null";
    return &options;
}

/* A profile of the recording, merged with itself; how many rows it has, 0: memory was short. */
static size_t merge_profiles(struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_profile_merge_options merging = PERFILE_PROFILE_MERGE_OPTIONS_INIT;
    struct perfile_profile *profile, *merged = NULL;
    struct perfile_error error;
    options.allocator = merging.allocator = allocator;
    options.symbols = nowhere();
    options.flags = PERFILE_STREAM_ADDRESSES;
    options.keys = "tid,comm,cgroup,time,comm_nodigit,mem,symbol";
    int result = perfile_profile_open(reader, &options, &profile, &error);
    if (result == 0) {
        const struct perfile_profile *const both[] = {profile, profile};
        result = perfile_profile_merge(both, 2, &merging, &merged, &error);
    }
    assert_true(result == 0 || (result == PERFILE_ERROR_MEMORY && !merged));
    const size_t rows = result == 0 ? perfile_profile_sample_count(merged) : 0;
    perfile_profile_close(merged);
    perfile_profile_close(profile);
    return rows;
}

/* What is at the addresses of all samples; how many frames, 0: memory was short. */
static size_t resolve_samples(struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    struct perfile_resolver_options options = PERFILE_RESOLVER_OPTIONS_INIT;
    struct perfile_location location = PERFILE_LOCATION_INIT;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_session *session;
    struct perfile_resolver *resolver;
    const struct perfile_record *record;
    struct perfile_error error;
    size_t frames = 0;
    options.allocator = allocator;
    options.symbols = nowhere();
    assert_int_equal(perfile_session_open(reader, &session, &error), 0);
    int result = perfile_resolver_open(reader, session, &options, &resolver, &error);
    while (result >= 0 && (result = perfile_session_next(session, &record, &error)) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE || perfile_sample_decode(record, &sample, &error) < 0)
            continue;
        location.address = sample.ip;
        location.pid = sample.pid;
        location.cpumode = record->misc & PERFILE_MISC_CPUMODE_MASK;
        result = perfile_resolver_frames(resolver, &location, NULL, 0, &error);
        frames += result > 0 ? (size_t)result : 0;
    }
    assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
    perfile_resolver_close(resolver);
    perfile_session_close(session);
    return result == 0 ? frames : 0;
}

static size_t with_memory(const char *path, int left,
                          size_t (*call)(struct perfile_reader *reader, const struct perfile_allocator *allocator))
{
    struct counting memory;
    struct perfile_reader *reader;
    struct perfile_error error;
    assert_int_equal(perfile_open_path(path, NULL, &reader, &error), 0);
    counting_open(&memory, left);
    const size_t made = call(reader, &memory.allocator);
    assert_true(made || memory.left == 0);
    perfile_close(reader);
    counting_close(&memory);
    return made;
}

/* With enough memory it is what it is with any amount. */
static void at_every_allocation(size_t (*call)(struct perfile_reader *reader,
                                               const struct perfile_allocator *allocator))
{
    for (char **path = recordings; *path; path++) {
        const size_t right = with_memory(*path, -1, call);
        size_t made = 0;
        for (int left = 0; !made; left++)
            made = with_memory(*path, left, call);
        assert_int_equal(made, right);
    }
}

static void test_profiles(void **state)
{
    (void)state;
    at_every_allocation(merge_profiles);
}

static void test_resolvers(void **state)
{
    (void)state;
    at_every_allocation(resolve_samples);
}

/* What is opened for a reader; false: memory was short. */
static bool open_helpers(struct perfile_reader *reader, const struct counting *memory)
{
    const size_t before = memory->blocks;
    struct perfile_unwinder *unwinder;
    struct perfile_jit *jit = NULL;
    struct perfile_error error;
    int result = perfile_unwinder_open(reader, nowhere(), &unwinder, &error);
    assert_true(result < 0 || memory->blocks > before);
    const size_t between = memory->blocks;
    if (result == 0)
        result = perfile_jit_open(reader, nowhere(), "/nonexistent", &jit, &error);
    assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
    assert_true(result < 0 || memory->blocks > between);
    perfile_jit_close(jit);
    perfile_unwinder_close(unwinder);
    return result == 0;
}

/* Unwinders and the code of JITs have the reader's allocator. */
static void test_helpers_of_readers(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        bool enough = false;
        for (int left = -1; !enough || left < 0; left++) {
            struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
            struct counting memory;
            struct perfile_reader *reader;
            struct perfile_error error;
            counting_open(&memory, left);
            options.allocator = &memory.allocator;
            const int result = perfile_open_path(*path, &options, &reader, &error);
            assert_true(result == 0 || result == PERFILE_ERROR_MEMORY);
            enough = result == 0 && open_helpers(reader, &memory);
            if (result == 0)
                perfile_close(reader);
            counting_close(&memory);
        }
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_profiles), cmocka_unit_test(test_resolvers),
                                       cmocka_unit_test(test_helpers_of_readers)};
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
