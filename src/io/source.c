/* SPDX-License-Identifier: MIT */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/locale.h"

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

void pf_source_close(struct pf_source *source)
{
    if (source->owned)
        close(source->fd);
    *source = (struct pf_source){.fd = -1};
}

static ssize_t read_some(struct pf_source *source, uint64_t offset, void *to, size_t bytes)
{
    ssize_t got;
    do {
        got = source->seekable ? pread(source->fd, to, bytes, (off_t)(source->base + offset))
                               : read(source->fd, to, bytes);
    } while (got < 0 && errno == EINTR);
    return got;
}

int pf_source_read(struct pf_source *source, uint64_t offset, void *to, size_t bytes, size_t *got,
                   struct perfile_error *error)
{
    *got = 0;
    if (source->seekable) {
        if (offset >= source->bytes)
            return 0;
        bytes = (size_t)pf_min(bytes, source->bytes - offset);
    }
    if (source->memory) {
        memcpy(to, source->memory + offset, bytes);
        *got = bytes;
        return 0;
    }
    while (*got < bytes) {
        ssize_t n = read_some(source, offset + *got, (uint8_t *)to + *got, bytes - *got);
        if (n < 0)
            return pf_fail(error, PERFILE_ERROR_READ, offset + *got, "input", "%s", pf_error_text(errno));
        if (n == 0)
            break;
        *got += (size_t)n;
        source->position += (uint64_t)n;
        if (!source->seekable)
            break; /* a pipe has given what it has: do not wait for more than is needed */
    }
    return 0;
}

static int open_unlinked(struct perfile_error *error)
{
    const char *directory = getenv("TMPDIR");
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/perfile-XXXXXX", directory && *directory ? directory : "/tmp");
    int fd = length < (int)sizeof(path) ? mkostemp(path, O_CLOEXEC) : -1;
    if (fd < 0)
        return pf_fail(error, PERFILE_ERROR_READ, PERFILE_NO_OFFSET, "temporary file", "%s", pf_error_text(errno));
    unlink(path);
    return fd;
}

int pf_source_spool(struct pf_source *source, const void *head, size_t head_bytes, int temporary,
                    struct perfile_error *error)
{
    const bool owned = !temporary;
    int fd = owned ? open_unlinked(error) : temporary;
    if (fd < 0)
        return fd;
    uint8_t buffer[64 * 1024];
    ssize_t n = 0;
    uint64_t total = head_bytes;
    bool full = !pf_write_all(fd, head, head_bytes);
    while (!full && (n = read_some(source, 0, buffer, sizeof(buffer))) > 0) {
        full = !pf_write_all(fd, buffer, (size_t)n);
        total += (uint64_t)n;
    }
    if (full || n < 0) {
        int result =
            pf_fail(error, PERFILE_ERROR_READ, total, full ? "temporary file" : "input", "%s", pf_error_text(errno));
        if (owned)
            close(fd);
        return result;
    }
    pf_source_close(source);
    *source = (struct pf_source){.fd = fd, .owned = owned, .seekable = true, .bytes = total};
    return 0;
}
