/* SPDX-License-Identifier: MIT */
/*
 * Recordings that are written while the system fails: each call that writes, syncs or names a file fails once, and so
 * does each allocation. What had the name before is still there, and nothing else is.
 */
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfile/edit.h>

static int calls_left = -1; /* that succeed; negative: all */

static bool fails(void)
{
    if (calls_left < 0)
        return false;
    errno = ENOSPC;
    return calls_left-- == 0;
}

/* A call of the system that fails in its turn. */
#define WRAP(type, name, parameters, arguments)                                                                        \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        return fails() ? -1 : __real_##name arguments;                                                                 \
    }
WRAP(ssize_t, write, (int fd, const void *data, size_t bytes), (fd, data, bytes))
WRAP(ssize_t, pwrite, (int fd, const void *data, size_t bytes, off_t at), (fd, data, bytes, at))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, renameat, (int from, const char *name, int to, const char *as), (from, name, to, as))
WRAP(int, renameat2, (int from, const char *name, int to, const char *as, unsigned flags), (from, name, to, as, flags))
WRAP(int, linkat, (int from, const char *name, int to, const char *as, int flags), (from, name, to, as, flags))
WRAP(int, mkdirat, (int at, const char *name, mode_t mode), (at, name, mode))

static char folder[] = "/tmp/perfile-writes-XXXXXX";
static char target[sizeof(folder) + 8];

static const struct perfile_writer_options variants[] = {
    {.size = sizeof(struct perfile_writer_options), .mode = PERFILE_MODE_FILE},
    {.size = sizeof(struct perfile_writer_options), .mode = PERFILE_MODE_FILE, .compression = 1},
    {.size = sizeof(struct perfile_writer_options), .mode = PERFILE_MODE_PIPE, .byte_order = PERFILE_ORDER_BIG},
    {.size = sizeof(struct perfile_writer_options), .mode = PERFILE_MODE_DIRECTORY, .compression = 1},
};

/* Both read and write with the allocator; 0 when the output has its name. */
static int copy(const uint8_t *data, size_t bytes, const struct perfile_writer_options *variant,
                const struct perfile_allocator *allocator)
{
    struct perfile_open_options open = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_writer_options options = *variant;
    struct perfile_reader *reader;
    struct perfile_writer *writer = NULL;
    struct perfile_error error = {0};
    open.allocator = options.allocator = allocator;
    int result = perfile_open_memory(data, bytes, &open, &reader, &error);
    if (result < 0)
        return result;
    result = perfile_writer_open_path(target, &options, &writer, &error);
    if (result == 0)
        result = perfile_repair(reader, writer, NULL, NULL, &error);
    if (result == 0)
        result = perfile_writer_finish(writer, &error);
    assert_true(result == 0 || error.code == result);
    perfile_writer_close(writer);
    perfile_close(reader);
    return result;
}

/* What stands in the folder besides the target. */
static unsigned leftovers(void)
{
    unsigned count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (const struct dirent *entry; (entry = readdir(list));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && strcmp(entry->d_name, "target");
    closedir(list);
    return count;
}

static void remove_target(void)
{
    DIR *list = opendir(target);
    for (const struct dirent *entry; list && (entry = readdir(list));)
        unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(target);
    unlink(target);
}

/* What had the name before: a file, or a directory with a recording in it. */
static void put_target(bool directory, ino_t *inode)
{
    char data[sizeof(target) + 8];
    struct stat status;
    snprintf(data, sizeof(data), "%s/data", target);
    if (directory)
        assert_int_equal(mkdir(target, 0700), 0);
    int fd = open(directory ? data : target, O_CREAT | O_WRONLY | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(stat(target, &status), 0);
    *inode = status.st_ino;
}

static void check_kept(ino_t inode)
{
    struct stat status;
    assert_int_equal(stat(target, &status), 0);
    assert_true(status.st_ino == inode);
    assert_int_equal(leftovers(), 0);
}

static void check_writes(const uint8_t *data, size_t bytes, const struct perfile_writer_options *variant)
{
    bool folder_failed = false, folder_failed_before = false;
    for (int left = 0;; left++) {
        ino_t inode;
        put_target(variant->mode == PERFILE_MODE_DIRECTORY, &inode);
        calls_left = left;
        int result = copy(data, bytes, variant, NULL);
        bool failed = calls_left < 0;
        calls_left = -1;
        folder_failed = failed && result == 0; /* the sync of the folder, after the file has its new name */
        if (failed && !folder_failed)
            check_kept(inode);
        assert_int_equal(leftovers(), 0);
        remove_target();
        if (!failed) {
            assert_int_equal(result, 0);
            assert_true(left > 2 && folder_failed_before);
            return;
        }
        folder_failed_before |= folder_failed;
        assert_true(folder_failed || result == PERFILE_ERROR_WRITE || result == PERFILE_ERROR_OPEN);
    }
}

static void check_memory(const uint8_t *data, size_t bytes, const struct perfile_writer_options *variant)
{
    for (int left = 0;; left++) {
        struct counting counting;
        counting_open(&counting, left);
        int result = copy(data, bytes, variant, &counting.allocator);
        counting_close(&counting);
        remove_target();
        assert_int_equal(leftovers(), 0);
        if (result == 0)
            return;
        assert_int_equal(result, PERFILE_ERROR_MEMORY);
    }
}

static void each(void (*check)(const uint8_t *data, size_t bytes, const struct perfile_writer_options *variant))
{
    for (char **path = recordings; *path; path++) {
        size_t bytes;
        uint8_t *data = recording_load(*path, &bytes);
        for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++)
            check(data, bytes, &variants[i]);
        free(data);
    }
}

static void test_each_write_fails(void **state)
{
    (void)state;
    each(check_writes);
}

static void test_each_allocation_fails(void **state)
{
    (void)state;
    each(check_memory);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_write_fails),
        cmocka_unit_test(test_each_allocation_fails),
    };
    (void)count;
    recordings = arguments + 1;
    if (!mkdtemp(folder))
        return 1;
    snprintf(target, sizeof(target), "%s/target", folder);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
