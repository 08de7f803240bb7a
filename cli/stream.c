/* SPDX-License-Identifier: MIT */
#include "stream.h"
#include "litter.h"
#include "message.h"
#include "pager.h"

#include <perfile/table.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES ((size_t)512 << 10)

static const char *name_of(const struct pf_stream *stream)
{
    return stream->path ? stream->path : "standard output";
}

static int complain(const struct pf_stream *stream, int error)
{
    pf_message("%s: cannot write: %s", name_of(stream), strerror(error));
    return error == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_OUTPUT;
}

/* A file that vanishes by itself when the process ends, where the file system has such; -1: it does not. */
static int open_unnamed(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = strndup(slash ? path : ".", slash ? (size_t)(slash - path) + 1 : 1);
    const int fd =
        folder && access("/proc/self/fd", X_OK) == 0 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;

    free(folder);
    return fd;
}

/* Devices, pipes and links (/dev/stdout) are written in place; only files can be replaced. */
static int open_fd(struct pf_stream *stream)
{
    struct stat status;

    if (!stream->path)
        return STDOUT_FILENO;
    if (lstat(stream->path, &status) == 0 && !S_ISREG(status.st_mode))
        return open(stream->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (asprintf(&stream->temporary, "%s.%ld.tmp", stream->path, (long)getpid()) < 0) {
        stream->temporary = NULL;
        return -1;
    }
    pf_litter_sweep(stream->path);
    const int fd = open_unnamed(stream->path);
    stream->unnamed = fd >= 0;
    if (!stream->unnamed)
        pf_litter_add(stream->temporary);
    return stream->unnamed ? fd : open(stream->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

bool pf_stream_is_standard(const char *path)
{
    return path && !strcmp(path, "-");
}

int pf_stream_open(struct pf_stream *stream, const char *path)
{
    path = pf_stream_is_standard(path) ? NULL : path;
    *stream = (struct pf_stream){.path = path, .buffer = malloc(BUFFER_BYTES), .gzip = path && pf_ends_in(path, ".gz")};
    stream->fd = stream->buffer ? open_fd(stream) : -1;
    if (stream->fd >= 0)
        return PF_STATUS_OK;
    const int status = complain(stream, errno);
    if (stream->temporary)
        pf_litter_drop(stream->temporary);
    free(stream->temporary);
    free(stream->buffer);
    return status;
}

/* The first output starts the pager and removes the progress bar, which would be between its lines. */
static void begin(struct pf_stream *stream)
{
    int fd = stream->fd == STDOUT_FILENO ? pf_pager_start() : -1;

    stream->started = true;
    if (fd >= 0)
        stream->fd = fd;
    else if (isatty(stream->fd))
        pf_progress_end();
}

static void write_out(struct pf_stream *stream, const char *data, size_t bytes)
{
    if (bytes && !stream->started)
        begin(stream);
    while (bytes && !stream->error) {
        ssize_t written = write(stream->fd, data, bytes);

        if (written >= 0) {
            data += written;
            bytes -= (size_t)written;
        } else if (errno != EINTR) {
            stream->error = errno;
            stream->closed_pipe = errno == EPIPE;
        }
    }
}

void pf_stream_flush(struct pf_stream *stream)
{
    write_out(stream, stream->buffer, stream->used);
    stream->used = 0;
}

int pf_stream_write(void *context, const void *data, size_t bytes)
{
    struct pf_stream *stream = context;

    if (bytes > BUFFER_BYTES - stream->used)
        pf_stream_flush(stream);
    if (bytes > BUFFER_BYTES) {
        write_out(stream, data, bytes);
    } else if (bytes) {
        memcpy(stream->buffer + stream->used, data, bytes);
        stream->used += bytes;
    }
    return stream->error != 0;
}

void pf_stream_print(struct pf_stream *stream, const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (bytes < 0) {
        stream->error = ENOMEM;
        return;
    }
    pf_stream_write(stream, text, (size_t)bytes);
    free(text);
}

void pf_stream_put_name(struct pf_stream *stream, const char *before, const char *name, const char *after)
{
    const size_t bytes = strlen(name), capacity = 4 * bytes + 1;
    char *escaped = malloc(capacity);

    if (!escaped) {
        stream->error = ENOMEM;
        return;
    }
    (void)perfile_text_escape(name, bytes, escaped, capacity);
    pf_stream_print(stream, "%s%s%s", before, escaped, after);
    free(escaped);
}

static void rename_old(struct pf_stream *stream)
{
    char *old = NULL;

    if (asprintf(&old, "%s.old", stream->path) < 0 || (rename(stream->path, old) < 0 && errno != ENOENT))
        stream->error = errno;
    free(old);
}

int pf_stream_check_binary(const struct pf_stream *stream, const char *verb, const char *format)
{
    if (!isatty(stream->fd))
        return PF_STATUS_OK;
    pf_message("%s: refusing to write %s to a terminal; use -o OUT, or redirect the output", verb, format);
    return PF_STATUS_USAGE;
}

int pf_stream_put_table(struct pf_stream *stream, const char *verb, struct perfile_table *table, const char *format)
{
    const struct perfile_sink sink = {stream, pf_stream_write};
    struct perfile_error error;
    const int result = perfile_table_write(table, format, &sink, &error);

    perfile_table_close(table);
    if (result >= 0 || result == PERFILE_ERROR_WRITE)
        return PF_STATUS_OK;
    if (*error.message) /* else a signal says it */
        pf_message("%s: %s", verb, pf_error_sentence(&error, verb));
    return pf_status_of_error(result, PF_STATUS_OUTPUT);
}

int pf_stream_put_rows(struct pf_stream *stream, const char *verb, const struct perfile_rows *rows, const char *format)
{
    struct perfile_rows as = *rows;
    struct perfile_error error;
    struct perfile_table *table;
    int result;

    if (format && perfile_table_format_is_binary(format) && pf_stream_check_binary(stream, verb, format))
        return PF_STATUS_USAGE;
    as.gzip = stream->gzip;
    as.text_width = isatty(stream->fd) ? pf_terminal_columns(stream->fd) : 0;
    result = perfile_table_of_rows(&as, &table, &error);
    if (result == 0)
        return pf_stream_put_table(stream, verb, table, format);
    pf_message("%s: %s", verb, pf_error_sentence(&error, verb));
    return pf_status_of_error(result, PF_STATUS_OUTPUT);
}

/* The rename that makes the file appear needs a name. */
static void name_it(struct pf_stream *stream)
{
    char self[32];

    snprintf(self, sizeof(self), "/proc/self/fd/%d", stream->fd);
    pf_litter_add(stream->temporary);
    if (linkat(AT_FDCWD, self, AT_FDCWD, stream->temporary, AT_SYMLINK_FOLLOW) < 0)
        stream->error = errno;
}

/* The steps that make a file last: each may be the one that finds the disk full. */
static void finish(struct pf_stream *stream)
{
    if (stream->temporary && !stream->error && fsync(stream->fd) < 0)
        stream->error = errno;
    if (stream->unnamed && !stream->error)
        name_it(stream);
    if (close(stream->fd) < 0 && !stream->error && errno != EINTR)
        stream->error = errno;
    if (stream->temporary && stream->keeps_old && !stream->error)
        rename_old(stream);
    if (stream->temporary && !stream->error && rename(stream->temporary, stream->path) < 0)
        stream->error = errno;
}

int pf_stream_close(struct pf_stream *stream, bool keep)
{
    int status;

    if (keep || !stream->temporary) {
        pf_stream_flush(stream);
        finish(stream);
    } else {
        close(stream->fd);
    }
    if (stream->temporary && (stream->error || !keep))
        unlink(stream->temporary);
    if (stream->temporary)
        pf_litter_drop(stream->temporary);
    status = pf_pager_finish();
    if (stream->error && !stream->closed_pipe)
        status = complain(stream, stream->error);
    free(stream->temporary);
    free(stream->buffer);
    return status;
}

int pf_stream_check_recording(const char *verb, const char *output)
{
    if (!pf_stream_is_standard(output) || !isatty(STDOUT_FILENO))
        return PF_STATUS_OK;
    pf_message("%s: refusing to write a recording to a terminal; redirect -o - to a pipe or a file", verb);
    return PF_STATUS_USAGE;
}
