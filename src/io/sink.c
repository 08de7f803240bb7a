/* SPDX-License-Identifier: MIT */
#include "io/sink.h"

#include <errno.h>
#include <fcntl.h>
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
    sink->buffer = pf_resize(sink->allocator, NULL, 0, PF_SINK_CAPACITY);
    return sink->buffer ? 0 : pf_fail_memory(error, "output");
}

static void find_position(struct pf_sink *sink)
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
        find_position(sink);
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
    snprintf(text, NAME_MAX + 1, ".%.200s.%ld.%08x", name, (long)getpid(), random);
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
    find_position(sink);
    return 0;
}

/* The folder of `path`, which is relative to that of the link which was followed last, and its name there. */
static int open_folder_of(struct pf_sink *sink, const char *path, struct perfile_error *error)
{
    const char *slash = strrchr(path, '/');
    char *folder = pf_text_copy(sink->allocator, slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    char *name = pf_text_copy(sink->allocator, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path));
    pf_text_free(sink->allocator, sink->name);
    sink->name = name;
    const int from = sink->directory;
    if (folder && name)
        sink->directory = openat(from >= 0 ? from : AT_FDCWD, folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    const int why = errno;
    if (folder && name && from >= 0)
        close(from);
    pf_text_free(sink->allocator, folder);
    if (!folder || !name)
        return pf_fail_memory(error, "output");
    return sink->directory < 0 ? fail(sink, PERFILE_ERROR_OPEN, why, error)
           : *name             ? 0
                               : fail(sink, PERFILE_ERROR_OPEN, EISDIR, error);
}

/*
 * As the kernel with fs.protected_symlinks: in a sticky folder that all may write to, such as /tmp, a link is followed
 * only if it is ours or belongs to the owner of the folder. Others plant links there to have files of ours replaced.
 */
static bool may_follow(int directory, const struct stat *link)
{
    enum { SHARED = S_ISVTX | S_IWOTH };
    struct stat folder;
    return fstat(directory, &folder) == 0 &&
           ((folder.st_mode & SHARED) != SHARED || link->st_uid == geteuid() || link->st_uid == folder.st_uid);
}

/* What the name leads to: 1 and its path; 0: it is not a link. */
static int read_link(struct pf_sink *sink, char target[PATH_MAX], struct perfile_error *error)
{
    struct stat link;
    const int fd = openat(sink->directory, sink->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? 0 : fail(sink, PERFILE_ERROR_OPEN, errno, error);
    const bool is_link = fstat(fd, &link) == 0 && S_ISLNK(link.st_mode);
    const bool refused = is_link && !may_follow(sink->directory, &link);
    const ssize_t length = is_link && !refused ? readlinkat(fd, "", target, PATH_MAX - 1) : 0;
    close(fd);
    if (refused)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, sink->path,
                       "a link of another user, in a folder that all may write to, is not followed");
    target[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Until here only names were looked up; now the folder is to be written to and synchronised. */
static int open_for_use(struct pf_sink *sink, struct perfile_error *error)
{
    const int found = sink->directory;
    sink->directory = openat(found, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int why = errno;
    close(found);
    return sink->directory >= 0 ? 0 : fail(sink, PERFILE_ERROR_OPEN, why, error);
}

/* A link stays a link: what it leads to is replaced, or made when it is not there yet. */
static int open_directory_of(struct pf_sink *sink, const char *path, struct perfile_error *error)
{
    char target[PATH_MAX];
    int result = open_folder_of(sink, path, error);
    for (int i = 0; result == 0 && (result = read_link(sink, target, error)) > 0; i++)
        result = i < LINKS_MAX ? open_folder_of(sink, target, error) : fail(sink, PERFILE_ERROR_OPEN, ELOOP, error);
    return result < 0 ? result : open_for_use(sink, error);
}

/*
 * What the umask has cleared; where no mode may be changed, as in the sandbox of the command, fewer may read the file.
 */
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
    if (!exists && errno != ENOENT && errno != ENAMETOOLONG)
        return fail(sink, PERFILE_ERROR_OPEN, errno, error);
    if (exists && S_ISDIR(there.st_mode))
        return fail(sink, PERFILE_ERROR_OPEN, EISDIR, error);
    if (exists && !S_ISREG(there.st_mode)) {
        sink->fd = open(path, O_WRONLY | O_CLOEXEC);
        if (sink->fd < 0)
            return fail(sink, PERFILE_ERROR_OPEN, errno, error);
        sink->owned = true;
        find_position(sink);
        return 0;
    }
    const bool keeps_mode = exists && there.st_uid == geteuid(); /* others may have made it for all to read */
    const mode_t mode = keeps_mode ? there.st_mode & 0777 : MODE;
    int result = open_directory_of(sink, path, error);
    if (result == 0)
        result = create(sink, mode, error);
    if (result == 0 && keeps_mode)
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
    find_position(sink);
    return 0;
}

void pf_sink_close(struct pf_sink *sink)
{
    if (!sink->allocator)
        return;
    const bool named = sink->directory >= 0 && !sink->unnamed && !sink->temporary;
    if (sink->failure && sink->sealed && sink->fd >= 0 && named && ftruncate(sink->fd, (off_t)sink->sealed) < 0)
        sink->failure = PERFILE_ERROR_WRITE; /* it cannot be reported any more */
    if (sink->owned && sink->fd >= 0)
        close(sink->fd);
    if (sink->temporary)
        unlinkat(sink->directory, sink->temporary, 0);
    if (sink->directory >= 0)
        close(sink->directory);
    pf_free(sink->allocator, sink->buffer, PF_SINK_CAPACITY);
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
    if (bytes < PF_SINK_CAPACITY)
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
