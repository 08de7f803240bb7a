/* SPDX-License-Identifier: MIT */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/files.h"
#include "base/locale.h"
#include "base/out.h"

enum {
    NAME_TRIES = 64,
    LINKS_MAX = 40 /* as the kernel */,
    MODE = 0600 /* recordings hold more than meets the eye: perf's own mode */
};

static int fail(struct pf_sink *sink, int code, int error_number, struct perfile_error *error)
{
    sink->failure = code;
    sink->error_number = error_number;
    return pf_fail(error, code, PERFILE_NO_OFFSET, sink->path ? sink->path : "output", "%s",
                   error_number ? pf_error_text(error_number) : "the caller's function failed");
}

static int prepare(struct pf_sink *sink, const struct perfile_allocator *allocator, struct perfile_error *error)
{
    *sink = (struct pf_sink){.allocator = pf_allocator_or_default(allocator), .fd = -1, .directory = -1};
    sink->buffer = pf_resize(sink->allocator, NULL, 0, PF_SINK_ROOM);
    return sink->buffer ? 0 : pf_fail_memory(error, "output");
}

static void find_place(struct pf_sink *sink)
{
    off_t at = lseek(sink->fd, 0, SEEK_CUR);
    sink->seekable = at >= 0;
    sink->base = at > 0 ? (uint64_t)at : 0;
}

int pf_sink_open_fd(struct pf_sink *sink, const struct perfile_allocator *allocator, int fd,
                    struct perfile_error *error)
{
    int result = prepare(sink, allocator, error);
    sink->fd = fd;
    if (result == 0)
        find_place(sink);
    return result;
}

int pf_sink_open_callback(struct pf_sink *sink, const struct perfile_allocator *allocator,
                          int (*write)(void *context, const void *data, size_t bytes), void *context,
                          struct perfile_error *error)
{
    int result = prepare(sink, allocator, error);
    sink->write = write;
    sink->context = context;
    return result;
}

void pf_temporary_name(char text[NAME_MAX + 1], const char *name)
{
    uint32_t random = 0;
    if (getrandom(&random, sizeof(random), 0) != sizeof(random))
        random = (uint32_t)getpid() + (uint32_t)clock();
    snprintf(text, NAME_MAX + 1, ".%.200s.%08x", name, random);
}

static char *temporary_name(const struct pf_sink *sink)
{
    char text[NAME_MAX + 1];
    pf_temporary_name(text, sink->name);
    return pf_text_copy(sink->allocator, text, strlen(text));
}

/* A file that vanishes by itself when the process dies, where the file system has such; else one with another name. */
static int create(struct pf_sink *sink, mode_t mode, struct perfile_error *error)
{
    sink->fd = openat(sink->directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    sink->unnamed = sink->fd >= 0;
    for (int i = 0; sink->fd < 0 && i < NAME_TRIES; i++) {
        pf_text_free(sink->allocator, sink->temporary);
        sink->temporary = temporary_name(sink);
        if (!sink->temporary)
            return pf_fail_memory(error, "output");
        sink->fd = openat(sink->directory, sink->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (sink->fd < 0 && errno != EEXIST)
            break;
    }
    if (sink->fd < 0) {
        int why = errno;
        pf_text_free(sink->allocator, sink->temporary);
        sink->temporary = NULL;
        return fail(sink, PERFILE_ERROR_OPEN, why, error);
    }
    sink->owned = true;
    find_place(sink);
    return 0;
}

/* What a link leads to, whose path is relative to the folder of the link; false: it is no link, or too long. */
static bool follow(char place[PATH_MAX])
{
    char target[PATH_MAX];
    char *slash = strrchr(place, '/');
    const ssize_t length = readlink(place, target, sizeof(target) - 1);
    const size_t kept = length > 0 && target[0] != '/' && slash ? (size_t)(slash - place) + 1 : 0;
    if (length <= 0 || kept + (size_t)length >= PATH_MAX)
        return false;
    memcpy(place + kept, target, (size_t)length);
    place[kept + (size_t)length] = 0;
    return true;
}

/*
 * A link stays a link: what it leads to is replaced, or made when it is not there yet. The result is `path` or in `place`; the
 * whole path may be too long for that.
 */
static const char *resolve(const char *path, char place[PATH_MAX])
{
    bool followed = false;
    if (realpath(path, place))
        return place;
    if ((errno != ENOENT && errno != ENAMETOOLONG) || strlen(path) >= PATH_MAX)
        return path;
    memcpy(place, path, strlen(path) + 1);
    for (int i = 0; i < LINKS_MAX && follow(place); i++)
        followed = true;
    return followed ? place : path;
}

static int open_directory_of(struct pf_sink *sink, const char *path, struct perfile_error *error)
{
    char place[PATH_MAX];
    const char *whole = resolve(path, place);
    const char *slash = strrchr(whole, '/');
    char *folder = pf_text_copy(sink->allocator, slash ? whole : ".", slash ? (size_t)(slash - whole) + 1 : 1);
    sink->name = pf_text_copy(sink->allocator, slash ? slash + 1 : whole, strlen(slash ? slash + 1 : whole));
    int result = folder && sink->name ? 0 : pf_fail_memory(error, "output");
    if (result == 0 && !sink->name[0])
        result = fail(sink, PERFILE_ERROR_OPEN, EISDIR, error);
    if (result == 0) {
        sink->directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (sink->directory < 0)
            result = fail(sink, PERFILE_ERROR_OPEN, errno, error);
    }
    pf_text_free(sink->allocator, folder);
    return result;
}

/* What the umask has cleared; where no mode may be changed, as in the sandbox of the command, fewer may read the file. */
static void restore_mode(const struct pf_sink *sink, mode_t mode)
{
    struct stat made;
    if (fstat(sink->fd, &made) == 0 && (made.st_mode & 0777) != mode)
        (void)!fchmod(sink->fd, mode);
}

static int open_named(struct pf_sink *sink, const char *path, struct perfile_error *error)
{
    struct stat there;
    bool exists = stat(path, &there) == 0;
    if (!exists && errno == ELOOP)
        return fail(sink, PERFILE_ERROR_OPEN, ELOOP, error);
    if (exists && S_ISDIR(there.st_mode))
        return fail(sink, PERFILE_ERROR_OPEN, EISDIR, error);
    if (exists && !S_ISREG(there.st_mode)) {
        sink->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (sink->fd < 0)
            return fail(sink, PERFILE_ERROR_OPEN, errno, error);
        sink->owned = true;
        find_place(sink);
        return 0;
    }
    const mode_t mode = exists ? there.st_mode & 0777 : MODE;
    int result = open_directory_of(sink, path, error);
    if (result == 0)
        result = create(sink, mode, error);
    if (result == 0 && exists)
        restore_mode(sink, mode);
    return result;
}

int pf_sink_open_path(struct pf_sink *sink, const struct perfile_allocator *allocator, const char *path,
                      struct perfile_error *error)
{
    if (strcmp(path, "-") == 0)
        return pf_sink_open_fd(sink, allocator, STDOUT_FILENO, error);
    int result = prepare(sink, allocator, error);
    if (result == 0 && !(sink->path = pf_text_copy(sink->allocator, path, strlen(path))))
        result = pf_fail_memory(error, "output");
    return result < 0 ? result : open_named(sink, path, error);
}

int pf_sink_open_in(struct pf_sink *sink, const struct perfile_allocator *allocator, int directory, const char *name,
                    struct perfile_error *error)
{
    int result = prepare(sink, allocator, error);
    if (result == 0 && !(sink->path = pf_text_copy(sink->allocator, name, strlen(name))))
        result = pf_fail_memory(error, "output");
    if (result < 0)
        return result;
    sink->fd = openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE);
    if (sink->fd < 0)
        return fail(sink, PERFILE_ERROR_OPEN, errno, error);
    sink->owned = true;
    find_place(sink);
    return 0;
}

void pf_sink_close(struct pf_sink *sink)
{
    if (!sink->allocator)
        return;
    const bool named = sink->directory >= 0 && !sink->unnamed && !sink->temporary;
    if (sink->failure && sink->sealed && sink->fd >= 0 && named && ftruncate(sink->fd, (off_t)sink->sealed) < 0)
        sink->failure = PERFILE_ERROR_WRITE; /* there is nobody left to tell */
    if (sink->owned && sink->fd >= 0)
        close(sink->fd);
    if (sink->temporary)
        unlinkat(sink->directory, sink->temporary, 0);
    if (sink->directory >= 0)
        close(sink->directory);
    pf_free(sink->allocator, sink->buffer, PF_SINK_ROOM);
    pf_text_free(sink->allocator, sink->path);
    pf_text_free(sink->allocator, sink->name);
    pf_text_free(sink->allocator, sink->temporary);
    *sink = (struct pf_sink){.fd = -1, .directory = -1};
}

/* ---- writing ---- */

/* The reader of a pipe or socket that goes away is an error like others: its signal would kill the process. */
static bool write_unharmed(int fd, const uint8_t *data, size_t bytes)
{
    const struct timespec at_once = {0};
    sigset_t broken, before, pending;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE);
    const bool written = pf_write_all(fd, data, bytes);
    const int why = errno;
    while (!written && why == EPIPE && !was_pending && sigtimedwait(&broken, NULL, &at_once) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return written;
}

static int write_all(struct pf_sink *sink, const uint8_t *data, size_t bytes, struct perfile_error *error)
{
    if (sink->write)
        return bytes && sink->write(sink->context, data, bytes) != 0 ? fail(sink, PERFILE_ERROR_WRITE, 0, error) : 0;
    const bool written = sink->seekable ? pf_write_all(sink->fd, data, bytes) : write_unharmed(sink->fd, data, bytes);
    return written ? 0 : fail(sink, PERFILE_ERROR_WRITE, errno, error);
}

static int fail_again(struct pf_sink *sink, struct perfile_error *error)
{
    return fail(sink, sink->failure, sink->error_number, error);
}

int pf_sink_flush(struct pf_sink *sink, struct perfile_error *error)
{
    if (sink->failure)
        return fail_again(sink, error);
    int result = write_all(sink, sink->buffer, sink->used, error);
    sink->used = 0;
    return result;
}

int pf_sink_write(struct pf_sink *sink, const void *data, size_t bytes, struct perfile_error *error)
{
    int result = pf_sink_flush(sink, error);
    if (result < 0)
        return result;
    if (bytes < PF_SINK_ROOM)
        return pf_sink_put(sink, data, bytes, error);
    sink->bytes += bytes;
    return write_all(sink, data, bytes, error);
}

int pf_sink_patch(struct pf_sink *sink, uint64_t offset, const void *data, size_t bytes, struct perfile_error *error)
{
    int result = pf_sink_flush(sink, error);
    const uint8_t *at = data;
    while (result == 0 && bytes) {
        ssize_t done = pwrite(sink->fd, at, bytes, (off_t)(sink->base + offset));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return fail(sink, PERFILE_ERROR_WRITE, done < 0 ? errno : EIO, error);
        at += done;
        offset += (uint64_t)done;
        bytes -= (size_t)done;
    }
    return result;
}

/* ---- the name ---- */

/* The unnamed file gets its temporary name, which the rename needs. */
static int name_it(struct pf_sink *sink, struct perfile_error *error)
{
    char self[32];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", sink->fd);
    for (int i = 0; i < NAME_TRIES; i++) {
        char *name = temporary_name(sink);
        if (!name)
            return pf_fail_memory(error, "output");
        if (linkat(AT_FDCWD, self, sink->directory, name, AT_SYMLINK_FOLLOW) == 0) {
            sink->temporary = name;
            sink->unnamed = false;
            return 0;
        }
        int why = errno;
        pf_text_free(sink->allocator, name);
        if (why != EEXIST)
            return fail(sink, PERFILE_ERROR_WRITE, why, error);
    }
    return fail(sink, PERFILE_ERROR_WRITE, EEXIST, error);
}

int pf_sink_name(struct pf_sink *sink, struct perfile_error *error)
{
    int result = sink->unnamed ? name_it(sink, error) : 0;
    if (result < 0 || !sink->temporary)
        return result;
    if (renameat(sink->directory, sink->temporary, sink->directory, sink->name) < 0)
        return fail(sink, PERFILE_ERROR_WRITE, errno, error);
    pf_text_free(sink->allocator, sink->temporary);
    sink->temporary = NULL;
    return 0;
}

void pf_sync_folder(int directory)
{
    if (fsync(directory) < 0)
        return;
}

int pf_sink_commit(struct pf_sink *sink, bool sync, struct perfile_error *error)
{
    int result = pf_sink_flush(sink, error);
    if (result < 0)
        return result;
    /* what cannot be synchronised, such as a pipe, says EINVAL */
    if (sync && sink->owned && fsync(sink->fd) < 0 && errno != EINVAL && errno != EROFS)
        return fail(sink, PERFILE_ERROR_WRITE, errno, error);
    result = pf_sink_name(sink, error);
    if (result == 0 && sync && sink->directory >= 0)
        pf_sync_folder(sink->directory);
    if (result == 0 && sink->owned) {
        int fd = sink->fd;
        sink->fd = -1;
        if (close(fd) < 0 && errno != EINTR)
            return fail(sink, PERFILE_ERROR_WRITE, errno, error);
    }
    return result;
}
