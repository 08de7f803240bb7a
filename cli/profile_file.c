/* SPDX-License-Identifier: MIT */
#include "profile_file.h"
#include "message.h"
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Only files: a writer of a FIFO would see its reader go. */
bool pf_is_profile(const char *path)
{
    char start[64];
    struct stat status;
    ssize_t bytes = -1;

    if (stat(path, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        bytes = read(fd, start, sizeof(start));
        close(fd);
    }
    return bytes > 0 && perfile_profile_is_file(start, (size_t)bytes);
}

static int complain(const char *path, int error)
{
    pf_message("%s: %s", path, strerror(error));
    return error == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
}

/* Reads the complete file into memory that the caller frees. NULL: see errno. */
static char *read_file(const char *path, size_t *bytes)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat status;
    char *data = NULL;
    int error = 0;

    *bytes = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) < 0 || !(data = malloc((size_t)status.st_size + 1)))
        error = errno;
    while (!error && *bytes < (size_t)status.st_size) {
        const ssize_t got = read(fd, data + *bytes, (size_t)status.st_size - *bytes);
        if (got < 0 && errno != EINTR)
            error = errno;
        if (got == 0)
            break;
        *bytes += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    if (error)
        free(data);
    errno = error;
    return error ? NULL : data;
}

int pf_profile_check_filter(const struct pf_command *command, const struct pf_settings *settings)
{
    const struct perfile_filter *filter = &settings->filter;

    if (!(filter->time || filter->cpus || filter->pids || filter->tids || filter->comms))
        return PF_STATUS_OK;
    pf_message("%s: filters are for recordings: those of profiles were chosen when they were made", command->name);
    return PF_STATUS_USAGE;
}

int pf_profile_load(const char *path, struct perfile_profile **profile)
{
    struct perfile_error error;
    size_t bytes;
    char *data = read_file(path, &bytes);
    int result;

    if (!data)
        return complain(path, errno);
    result = perfile_profile_read(data, bytes, NULL, profile, &error);
    free(data);
    if (result == 0)
        return PF_STATUS_OK;
    pf_message("%s: %s", path, error.message);
    return pf_status_of_error(result, PF_STATUS_UNREADABLE);
}

int pf_profile_output(const struct pf_command *command, struct pf_settings *settings, const char *name)
{
    struct perfile_error error;
    struct pf_stream stream;
    const struct perfile_sink sink = {&stream, pf_stream_write};
    int status = pf_stream_open(&stream, settings->output), result, written;

    if (status)
        return status;
    stream.keeps_old = settings->keeps_old;
    settings->print.gzip = stream.gzip;
    result = perfile_output_write(NULL, command->name, settings->format, &settings->print, &sink, &error);
    written = pf_stream_close(&stream, result >= 0);
    if (result == 1)
        pf_message("%s: some lines are not folded stacks, and are left out", name);
    if (result >= 0)
        return written ? written : result ? PF_STATUS_FINDINGS : PF_STATUS_OK;
    if (result == PERFILE_ERROR_WRITE && written)
        return written;
    pf_message("%s: %s", name, error.message);
    return pf_status_of_error(result, result == PERFILE_ERROR_ABSENT ? PF_STATUS_UNREADABLE : PF_STATUS_USAGE);
}
