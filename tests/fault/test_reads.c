/* SPDX-License-Identifier: MIT */
/*
 * Reads that fail, are interrupted, or give less than was asked for. read and pread of the library come here first
 * (-Wl,--wrap).
 */
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum how { AS_IT_IS, FAIL, INTERRUPT, SHORT, END };

static struct {
    enum how how;
    int left; /* calls until it happens; SHORT and INTERRUPT: happens every time */
    int calls;
} plan;

ssize_t __real_read(int fd, void *to, size_t bytes);
ssize_t __real_pread(int fd, void *to, size_t bytes, off_t offset);
ssize_t __wrap_read(int fd, void *to, size_t bytes);
ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset);

/* True when the call is not to be made; *bytes may be made less. */
static bool interfere(size_t *bytes, ssize_t *result)
{
    int call = plan.calls++;
    *result = -1;
    if (plan.how == SHORT)
        *bytes = 1 + (size_t)call * 7919 % (*bytes < 4096 ? *bytes : 4096);
    if (plan.how == INTERRUPT && call % 2 == 0) {
        errno = EINTR;
        return true;
    }
    if (plan.left-- != 0 || (plan.how != FAIL && plan.how != END))
        return false;
    plan.left = 0; /* stays broken */
    errno = EIO;
    *result = plan.how == END ? 0 : -1;
    return true;
}

ssize_t __wrap_read(int fd, void *to, size_t bytes)
{
    ssize_t result;
    return interfere(&bytes, &result) ? result : __real_read(fd, to, bytes);
}

ssize_t __wrap_pread(int fd, void *to, size_t bytes, off_t offset)
{
    ssize_t result;
    return interfere(&bytes, &result) ? result : __real_pread(fd, to, bytes, offset);
}

struct outcome {
    int failure;
    struct perfile_counts counts;
};

/* Through a descriptor that can seek, or a FIFO-like one that a child fills. */
static int open_recording(const char *path, bool stream, pid_t *child)
{
    int ends[2], fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    *child = 0;
    if (!stream)
        return fd;
    assert_int_equal(pipe(ends), 0);
    *child = fork();
    if (*child == 0) {
        char buffer[1000];
        ssize_t n;
        close(ends[0]);
        while ((n = __real_read(fd, buffer, sizeof(buffer))) > 0 && write(ends[1], buffer, (size_t)n) == n)
            ;
        _exit(0);
    }
    close(fd);
    close(ends[1]);
    return ends[0];
}

static struct outcome read_so(const char *path, bool stream, enum how how, int left)
{
    struct counting memory;
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader;
    struct perfile_error error;
    struct outcome outcome = {0};
    pid_t child;
    int fd = open_recording(path, stream, &child);
    counting_open(&memory, -1);
    options.allocator = &memory.allocator;
    plan.how = how;
    plan.left = left;
    plan.calls = 0;
    outcome.failure = perfile_open_fd(fd, &options, &reader, &error);
    if (outcome.failure == 0) {
        outcome.failure = read_all(reader);
        outcome.counts = *perfile_reader_counts(reader);
        perfile_close(reader);
    }
    plan.how = AS_IT_IS;
    counting_close(&memory);
    close(fd);
    if (child)
        waitpid(child, NULL, 0);
    return outcome;
}

static void check_alike(const char *path, bool stream, enum how how)
{
    struct outcome plain = read_so(path, stream, AS_IT_IS, 0), other = read_so(path, stream, how, 0);
    assert_int_equal(plain.failure, 0);
    assert_int_equal(other.failure, 0);
    assert_true(plain.counts.records > 0);
    assert_memory_equal(&plain.counts, &other.counts, sizeof(plain.counts));
}

static void test_short_and_interrupted_reads_change_nothing(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        for (int stream = 0; stream < 2; stream++) {
            check_alike(*path, stream, SHORT);
            check_alike(*path, stream, INTERRUPT);
        }
    }
}

static void test_each_read_fails(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        for (int stream = 0; stream < 2; stream++) {
            for (int left = 0;; left++) {
                struct outcome outcome = read_so(*path, stream, FAIL, left);
                if (plan.calls <= left)
                    break;
                assert_int_equal(outcome.failure, PERFILE_ERROR_READ);
            }
        }
    }
}

/* A file that was made shorter after it was opened, or a stream that ends: what there was is read. */
static void test_the_input_ends_at_each_read(void **state)
{
    (void)state;
    for (char **path = recordings; *path; path++) {
        for (int stream = 0; stream < 2; stream++) {
            uint64_t max = read_so(*path, stream, AS_IT_IS, 0).counts.records;
            for (int left = 0;; left++) {
                struct outcome outcome = read_so(*path, stream, END, left);
                if (plan.calls <= left)
                    break;
                assert_true(outcome.failure != PERFILE_ERROR_READ && outcome.failure != PERFILE_ERROR_MEMORY);
                assert_true(outcome.counts.records <= max);
            }
        }
    }
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_and_interrupted_reads_change_nothing),
        cmocka_unit_test(test_each_read_fails),
        cmocka_unit_test(test_the_input_ends_at_each_read),
    };
    (void)count;
    recordings = arguments + 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
