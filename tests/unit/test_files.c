/* SPDX-License-Identifier: MIT */
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "made_elf.h"

static void folders_are_those_above_the_last_part(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s/a/b/c", made_directory);
    assert_true(pf_make_folders(path));
    assert_int_equal(access(path, F_OK), -1);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    assert_int_equal(access(path, F_OK), 0);
    assert_true(pf_make_folders(path));
    assert_true(pf_make_folders("nothing-to-make"));
}

static void a_file_where_a_folder_should_be(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof(path), "%s/file", made_directory);
    close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    snprintf(path, sizeof(path), "%s/file/below/it", made_directory);
    assert_false(pf_make_folders(path));
    assert_int_equal(errno, ENOTDIR);
    char too_long[5000];
    memset(too_long, 'x', sizeof(too_long) - 1);
    too_long[sizeof(too_long) - 1] = 0;
    assert_false(pf_make_folders(too_long));
    assert_int_equal(errno, ENAMETOOLONG);
}

static void *read_slowly(void *context)
{
    static char all[1 << 20];
    size_t count = 0;
    ssize_t got;
    while ((got = read(*(int *)context, all, 777)) > 0)
        count += (size_t)got;
    return (void *)count;
}

/* A pipe takes less than that at once. */
static void all_is_written(void **state)
{
    (void)state;
    static const char data[1 << 20] = {1};
    int ends[2];
    pthread_t reader;
    void *count;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
    assert_true(pf_write_all(ends[1], data, sizeof(data)));
    close(ends[1]);
    pthread_join(reader, &count);
    assert_int_equal((size_t)count, sizeof(data));
    close(ends[0]);
}

static void what_cannot_be_written_says_why(void **state)
{
    (void)state;
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        skip();
    assert_false(pf_write_all(fd, "x", 1));
    assert_int_equal(errno, ENOSPC);
    assert_true(pf_write_all(fd, "", 0));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folders_are_those_above_the_last_part, made_directory_open,
                                        made_directory_close),
        cmocka_unit_test_setup_teardown(a_file_where_a_folder_should_be, made_directory_open, made_directory_close),
        cmocka_unit_test(all_is_written),
        cmocka_unit_test(what_cannot_be_written_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
