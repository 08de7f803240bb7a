/* SPDX-License-Identifier: MIT */
#include "base/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_CAPACITY = 4096, MODE = 0700 };

struct pf_file_identity pf_file_identity_of(const struct stat *status)
{
    return (struct pf_file_identity){.device = (uint64_t)status->st_dev,
                                     .inode = (uint64_t)status->st_ino,
                                     .bytes = (uint64_t)status->st_size,
                                     .modified_s = (int64_t)status->st_mtim.tv_sec,
                                     .modified_ns = (int64_t)status->st_mtim.tv_nsec,
                                     .changed_s = (int64_t)status->st_ctim.tv_sec,
                                     .changed_ns = (int64_t)status->st_ctim.tv_nsec};
}

struct pf_file_identity pf_file_identity_at(const char *path)
{
    struct stat status;
    if (!path || stat(path, &status) != 0)
        return (struct pf_file_identity){0};
    return pf_file_identity_of(&status);
}

bool pf_write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes) {
        const ssize_t done = write(fd, at, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done == 0)
            errno = EIO;
        if (done <= 0)
            return false;
        at += done;
        bytes -= (size_t)done;
    }
    return true;
}

size_t pf_read_from(int fd, uint64_t offset, void *to, size_t bytes)
{
    uint8_t *at = to;
    size_t done = 0;
    while (done < bytes && offset + done <= INT64_MAX) {
        const ssize_t got = pread(fd, at + done, bytes - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

bool pf_make_folders(const char *path)
{
    char part[PATH_CAPACITY];
    const size_t length = strlen(path);
    if (length >= sizeof(part)) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(part, path, length + 1);
    for (char *slash = part + (*part == '/'); (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = 0;
        if (mkdir(part, MODE) < 0 && errno != EEXIST)
            return false;
        *slash = '/';
    }
    return true;
}

bool pf_is_jitdump(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash || strncmp(slash + 1, "jit-", 4) != 0)
        return false;
    const char *digits = slash + 5;
    const size_t count = strspn(digits, "0123456789");
    return count && strcmp(digits + count, ".dump") == 0;
}

int32_t pf_own_pid(char *status, int32_t pid)
{
    char *line = strstr(status, "\nNStgid:"); /* and a number for each namespace, the innermost at the end */
    if (!line)
        return pid;
    line[1 + strcspn(line + 1, "\n")] = '\0';
    const char *last = strrchr(line, '\t');
    return last ? (int32_t)strtol(last, NULL, 10) : pid;
}
