/* SPDX-License-Identifier: MIT */
/* Each allocation fails once: the calls return an error or manage without; nothing is lost or used without memory. */
#include "fault.h"

/* Opens and reads with the allocation number `left` failing; true when none was left to fail. */
static bool read_with(const uint8_t *data, size_t bytes, int left)
{
    struct counting memory;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    counting_open(&memory, left);
    options.allocator = &memory.allocator;
    int failure = perfile_open_memory(data, bytes, &options, &reader, &error);
    if (failure == 0) {
        failure = read_all(reader);
        perfile_close(reader);
    }
    assert_true(failure == 0 || failure == PERFILE_ERROR_MEMORY);
    bool untouched = memory.left > 0;
    assert_true(!untouched || failure == 0);
    counting_close(&memory);
    return untouched;
}

static void test_memory_short_anywhere(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        int left = 0;
        while (!read_with(data, bytes, left))
            left++;
        assert_in_range(left, 5, 100000);
        free(data);
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_memory_short_anywhere)};
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
