/* SPDX-License-Identifier: MIT */
#include "io/source.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made.h"

enum { BYTES = 200000 };

static uint8_t pattern[BYTES];
static char folder[] = "/tmp/perfile-source-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        pattern[i] = (uint8_t)(i * 31 >> 3);
    if (!mkdtemp(folder))
        return 1;
    int fd = open(path_of("file"), O_CREAT | O_WRONLY, 0600);
    bool written = write(fd, pattern, BYTES) == BYTES;
    close(fd);
    return !written || symlink("file", path_of("link")) != 0 || mkfifo(path_of("fifo"), 0600) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"file", "link", "fifo"};
    for (size_t i = 0; i < PF_COUNT(names); i++)
        unlink(path_of(names[i]));
    return rmdir(folder);
}

/* What is at `offset` is what the pattern has at `offset + base`. */
static void check_seekable(struct pf_source *source, uint64_t base)
{
    uint8_t to[5000];
    size_t got;
    assert_true(source->seekable);
    assert_int_equal(source->bytes, BYTES - base);
    for (uint64_t offset = BYTES - base - 100; offset > 50000; offset -= 49999) {
        assert_int_equal(pf_source_read(source, offset, to, 100, &got, NULL), 0);
        assert_int_equal(got, 100);
        assert_memory_equal(to, pattern + base + offset, 100);
    }
    assert_int_equal(pf_source_read(source, BYTES - base - 10, to, sizeof(to), &got, NULL), 0);
    assert_int_equal(got, 10);
    assert_int_equal(pf_source_read(source, BYTES - base, to, 1, &got, NULL), 0);
    assert_int_equal(got, 0);
    assert_int_equal(pf_source_read(source, UINT64_MAX, to, 1, &got, NULL), 0);
    assert_int_equal(got, 0);
}

static void test_memory(void **state)
{
    (void)state;
    struct pf_source source;
    pf_source_from_memory(&source, pattern, BYTES);
    check_seekable(&source, 0);
    pf_source_close(&source);
}

static void test_file(void **state)
{
    (void)state;
    struct pf_source source;
    struct perfile_error error;
    assert_int_equal(pf_source_from_path(&source, path_of("link"), &error), 0);
    check_seekable(&source, 0);
    pf_source_close(&source);
    assert_int_equal(pf_source_from_path(&source, path_of("nothing"), &error), PERFILE_ERROR_OPEN);
    assert_non_null(strstr(error.message, "No such file"));
    assert_int_equal(pf_source_from_path(&source, folder, &error), PERFILE_ERROR_OPEN);
    pf_source_close(&source);
}

/* A recording may start in the middle of a file: where the descriptor stands. */
static void test_file_with_offset(void **state)
{
    (void)state;
    struct pf_source source;
    int fd = open(path_of("file"), O_RDONLY);
    assert_int_equal(lseek(fd, 12345, SEEK_SET), 12345);
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    check_seekable(&source, 12345);
    assert_int_equal(lseek(fd, 0, SEEK_CUR), 12345); /* it stays where the caller had it */
    pf_source_close(&source);
    assert_int_equal(lseek(fd, BYTES + 5, SEEK_SET), BYTES + 5);
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    assert_int_equal(source.bytes, 0);
    pf_source_close(&source);
    assert_int_equal(close(fd), 0); /* and stays the caller's */
}

static void test_directory(void **state)
{
    (void)state;
    struct pf_source source;
    int directory = open(folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(pf_source_from_directory(&source, directory, "file", NULL), 0);
    check_seekable(&source, 0);
    pf_source_close(&source);
    assert_int_equal(pf_source_from_directory(&source, directory, "link", NULL), PERFILE_ERROR_OPEN);
    assert_int_equal(pf_source_from_directory(&source, directory, "fifo", NULL), 0); /* does not wait for a writer */
    assert_false(source.seekable);
    pf_source_close(&source);
    close(directory);
}

/* Returns the end of a pipe that a child writes the pattern to. */
static int open_pipe(void)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[0]);
        for (size_t at = 0, n; at < BYTES; at += n) {
            n = at % 7001 + 1 < BYTES - at ? at % 7001 + 1 : BYTES - at;
            if (write(ends[1], pattern + at, n) != (ssize_t)n)
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    return ends[0];
}

static void test_pipe(void **state)
{
    (void)state;
    static uint8_t to[BYTES + 1];
    struct pf_source source;
    int fd = open_pipe();
    size_t total = 0, got;
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    assert_false(source.seekable);
    do {
        assert_int_equal(pf_source_read(&source, total, to + total, sizeof(to) - total, &got, NULL), 0);
        total += got;
    } while (got);
    assert_int_equal(total, BYTES);
    assert_int_equal(source.position, BYTES);
    assert_memory_equal(to, pattern, BYTES);
    pf_source_close(&source);
    close(fd);
}

/* A stream becomes a file, with the bytes in front that were read before. */
static void test_spool(void **state)
{
    (void)state;
    struct pf_source source;
    uint8_t head[104];
    size_t got = 0, more;
    int fd = open_pipe();
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    while (got < sizeof(head)) {
        assert_int_equal(pf_source_read(&source, got, head + got, sizeof(head) - got, &more, NULL), 0);
        got += more;
    }
    assert_int_equal(pf_source_spool(&source, head, sizeof(head), 0, NULL), 0);
    check_seekable(&source, 0);
    pf_source_close(&source);
    close(fd);
}

static void test_spool_is_full(void **state)
{
    (void)state;
    struct pf_source source;
    struct perfile_error error;
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    int fd = open_pipe();
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    FILE *ours = tmpfile(); /* for a caller that cannot make files by then */
    setenv("TMPDIR", "/dev/null", 1);
    assert_int_equal(pf_source_spool(&source, "", 0, 0, &error), PERFILE_ERROR_READ);
    assert_string_equal(error.what, "temporary file");
    assert_int_equal(pf_source_spool(&source, "", 0, fileno(ours), &error), 0);
    check_seekable(&source, 0);
    pf_source_close(&source);
    assert_int_equal(fclose(ours), 0); /* it was still open */
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    pf_source_close(&source);
    close(fd);
}

static void test_bad_descriptor(void **state)
{
    (void)state;
    struct pf_source source;
    struct perfile_error error;
    uint8_t to[8];
    size_t got;
    assert_int_equal(pf_source_from_fd(&source, -1, &error), PERFILE_ERROR_OPEN);
    int fd = open(path_of("file"), O_WRONLY);
    assert_int_equal(pf_source_from_fd(&source, fd, NULL), 0);
    assert_int_equal(pf_source_read(&source, 0, to, 8, &got, &error), PERFILE_ERROR_READ);
    pf_source_close(&source);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),        cmocka_unit_test(test_file),
        cmocka_unit_test(test_directory),     cmocka_unit_test(test_file_with_offset),
        cmocka_unit_test(test_pipe),          cmocka_unit_test(test_spool),
        cmocka_unit_test(test_spool_is_full), cmocka_unit_test(test_bad_descriptor),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
