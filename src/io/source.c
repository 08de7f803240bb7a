/* SPDX-License-Identifier: MIT */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/locale.h"
#include "base/sized.h"

void pf_source_from_memory(struct pf_source *source, const void *data, size_t bytes)
{
    *source = (struct pf_source){.memory = data, .fd = -1, .seekable = true, .bytes = bytes};
}

int pf_source_from_fd(struct pf_source *source, int fd, struct perfile_error *error)
{
    struct stat status;
    *source = (struct pf_source){.fd = fd};
    if (fstat(fd, &status) < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "input", "%s", pf_error_text(errno));
    if (S_ISDIR(status.st_mode))
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "input", "is a directory");
    off_t base = lseek(fd, 0, SEEK_CUR);
    if (!S_ISREG(status.st_mode) || base < 0)
        return 0;
    source->seekable = true;
    source->base = (uint64_t)base;
    source->bytes = status.st_size > base ? (uint64_t)(status.st_size - base) : 0;
    return 0;
}

static int ask_size_of_file(struct pf_source *source, struct perfile_error *error)
{
    struct stat status;
    if (fstat(source->fd, &status) < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "input", "%s", pf_error_text(errno));
    source->bytes = (uint64_t)status.st_size > source->base ? (uint64_t)status.st_size - source->base : 0;
    return 0;
}

static int adopt(struct pf_source *source, int fd, const char *name, struct perfile_error *error)
{
    if (fd < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, name, "%s", pf_error_text(errno));
    int result = pf_source_from_fd(source, fd, error);
    if (result < 0)
        close(fd);
    else
        source->owned = true;
    return result;
}

int pf_source_from_path(struct pf_source *source, const char *path, struct perfile_error *error)
{
    if (strcmp(path, "-") == 0)
        return pf_source_from_fd(source, STDIN_FILENO, error);
    return adopt(source, open(path, O_RDONLY | O_CLOEXEC), path, error);
}

int pf_source_from_directory(struct pf_source *source, int directory, const char *name, struct perfile_error *error)
{
    /* O_NONBLOCK: a FIFO of that name must not make us wait */
    return adopt(source, openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), name, error);
}

static int ask_size(struct pf_source *source, struct perfile_error *error)
{
    const int64_t bytes = source->callbacks.bytes(source->callbacks.context);
    if (bytes < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "source",
                       "its size is not available (%" PRId64 ")", bytes);
    source->bytes = (uint64_t)bytes;
    return 0;
}

int pf_source_from_callbacks(struct pf_source *source, const struct perfile_source *callbacks,
                             struct perfile_error *error)
{
    *source = (struct pf_source){.fd = -1};
    int result = pf_sized_take(&source->callbacks, sizeof(source->callbacks), callbacks, "source", error);
    if (result < 0)
        return result;
    if (!source->callbacks.read || !source->callbacks.seek != !source->callbacks.bytes)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "source", "%s",
                       source->callbacks.read ? "seek and bytes go together" : "read is missing");
    if (!source->callbacks.seek)
        return 0;
    source->seekable = true;
    source->position = UINT64_MAX; /* not known: the first read seeks */
    return ask_size(source, error);
}

int pf_source_settle(struct pf_source *source, struct perfile_error *error)
{
    source->growing = false;
    if (!source->seekable || source->memory)
        return 0;
    return source->callbacks.read ? ask_size(source, error) : ask_size_of_file(source, error);
}

void pf_source_close(struct pf_source *source)
{
    if (source->owned)
        close(source->fd);
    *source = (struct pf_source){.fd = -1};
}

static int read_descriptor(struct pf_source *source, uint64_t offset, void *to, size_t bytes, size_t *got,
                           struct perfile_error *error)
{
    ssize_t n;
    do {
        n = source->seekable ? pread(source->fd, to, bytes, (off_t)(source->base + offset))
                             : read(source->fd, to, bytes);
    } while (n < 0 && errno == EINTR);
    if (n < 0 && source->growing && (errno == EAGAIN || errno == EWOULDBLOCK))
        n = 0;
    if (n < 0)
        return pf_fail(error, PERFILE_ERROR_READ, offset, "input", "%s", pf_error_text(errno));
    *got = (size_t)n;
    return 0;
}

static int read_callbacks(struct pf_source *source, uint64_t offset, void *to, size_t bytes, size_t *got,
                          struct perfile_error *error)
{
    const struct perfile_source *callbacks = &source->callbacks;
    const bool moved = source->seekable && offset != source->position;
    source->position = UINT64_MAX; /* after a call that fails it is unknown */
    if (moved && callbacks->seek(callbacks->context, offset) != 0)
        return pf_fail(error, PERFILE_ERROR_READ, offset, "source", "it cannot be put there");
    const int64_t n = callbacks->read(callbacks->context, to, bytes);
    if (n < 0)
        return pf_fail(error, PERFILE_ERROR_READ, offset, "source", "reading failed (%" PRId64 ")", n);
    if ((uint64_t)n > bytes)
        return pf_fail(error, PERFILE_ERROR_READ, offset, "source", "it gave %" PRId64 " bytes, %zu were asked for", n,
                       bytes);
    source->position = offset;
    *got = (size_t)n;
    return 0;
}

/* Reads once: *got is 0 only at the end, or where a growing source has got to. */
static int read_some(struct pf_source *source, uint64_t offset, void *to, size_t bytes, size_t *got,
                     struct perfile_error *error)
{
    *got = 0;
    if (source->seekable && !source->growing) {
        if (offset >= source->bytes)
            return 0;
        bytes = (size_t)pf_min(bytes, source->bytes - offset);
    }
    if (source->memory) {
        memcpy(to, source->memory + offset, bytes);
        *got = bytes;
        return 0;
    }
    if (!bytes)
        return 0;
    int result = source->callbacks.read ? read_callbacks(source, offset, to, bytes, got, error)
                                        : read_descriptor(source, offset, to, bytes, got, error);
    source->position += result == 0 ? *got : 0;
    return result;
}

int pf_source_read(struct pf_source *source, uint64_t offset, void *to, size_t bytes, size_t *got,
                   struct perfile_error *error)
{
    *got = 0;
    while (*got < bytes) {
        size_t more;
        int result = read_some(source, offset + *got, (uint8_t *)to + *got, bytes - *got, &more, error);
        if (result < 0)
            return result;
        *got += more;
        if (more == 0 || !source->seekable)
            break; /* a pipe has given what it has: do not wait for more than is needed */
    }
    return 0;
}

int pf_open_unlinked(int folder, struct perfile_error *error)
{
    const int there = folder < 0 ? -1 : openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (there >= 0)
        return there;
    const char *directory = getenv("TMPDIR");
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/perfile-XXXXXX", directory && *directory ? directory : "/tmp");
    int fd = length < (int)sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "temporary file", "%s", pf_error_text(errno));
    unlink(path);
    return fd;
}

static int fail_copy(uint64_t offset, struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_READ, offset, "temporary file", "%s", pf_error_text(errno));
}

static int copy_rest(struct pf_source *source, const void *head, size_t head_bytes, int fd, uint64_t *total,
                     struct perfile_error *error)
{
    uint8_t buffer[64 * 1024];
    size_t got = 0;
    int result = 0;
    *total = head_bytes;
    if (!pf_write_all(fd, head, head_bytes))
        return fail_copy(*total, error);
    while ((result = read_some(source, *total, buffer, sizeof(buffer), &got, error)) == 0 && got) {
        if (!pf_write_all(fd, buffer, got))
            return fail_copy(*total, error);
        *total += got;
    }
    return result;
}

int pf_source_spool(struct pf_source *source, const void *head, size_t head_bytes, int temporary,
                    struct perfile_error *error)
{
    const bool owned = !temporary;
    int fd = owned ? pf_open_unlinked(-1, error) : temporary;
    if (fd < 0)
        return fd;
    uint64_t total;
    int result = copy_rest(source, head, head_bytes, fd, &total, error);
    if (result < 0) {
        if (owned)
            close(fd);
        return result;
    }
    pf_source_close(source);
    *source = (struct pf_source){.fd = fd, .owned = owned, .seekable = true, .bytes = total};
    return 0;
}
