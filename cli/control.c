/* SPDX-License-Identifier: MIT */
#include "control.h"
#include "message.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(const struct pf_control *control, const char *text, const char *why)
{
    pf_message("%s: --control %s: %s", control->verb, text, why);
    return PF_STATUS_USAGE;
}

/* The command must not answer for us; what it has for its input and output it keeps. */
static void keep_from_command(int fd)
{
    if (fd > STDERR_FILENO)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* "fd:7" or "fd:7,8": descriptors that whoever started us has opened. */
static int take_descriptors(struct pf_control *control, const char *text)
{
    const char *number = text + 3;
    char *end;
    const char *ack;

    errno = 0;
    const long fd = *number >= '0' && *number <= '9' ? strtol(number, &end, 10) : -1;
    long answer = -1;
    bool good = fd >= 0 && fd < 1 << 20;
    if (good && *end == ',') {
        ack = end + 1;
        answer = *ack >= '0' && *ack <= '9' ? strtol(ack, &end, 10) : -1;
        good = answer >= 0 && answer < 1 << 20;
    }
    if (!good || *end)
        return refuse(control, text, "expected fd:CTL or fd:CTL,ACK");
    const int flags = fcntl((int)fd, F_GETFL);
    if (flags < 0 || (answer >= 0 && fcntl((int)answer, F_GETFL) < 0) ||
        fcntl((int)fd, F_SETFL, flags | O_NONBLOCK) < 0)
        return refuse(control, text, strerror(errno));
    control->fd = (int)fd;
    control->flags = flags;
    control->ack = (int)answer;
    keep_from_command(control->fd);
    keep_from_command(control->ack);
    return PF_STATUS_OK;
}

static int open_fifo(const struct pf_control *control, const char *text, const char *path, int *fd)
{
    struct stat status;

    if (stat(path, &status) == 0 && !S_ISFIFO(status.st_mode))
        return refuse(control, text, "not a named pipe; mkfifo makes one");
    *fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return *fd >= 0 ? PF_STATUS_OK
                    : refuse(control, text, errno == ENOENT ? "no such named pipe; mkfifo makes one" : strerror(errno));
}

/*
 * Opened for reading and writing: opening does not wait for a writer, and the end of one writer is not an end of file.
 */
static int open_fifos(struct pf_control *control, const char *text)
{
    char path[4096];
    const char *name = text + 5, *comma = strchr(name, ',');
    const size_t bytes = comma ? (size_t)(comma - name) : strlen(name);
    int status;

    if (!bytes || bytes >= sizeof(path) || (comma && !comma[1]))
        return refuse(control, text, "expected fifo:CTL or fifo:CTL,ACK");
    memcpy(path, name, bytes);
    path[bytes] = 0;
    control->owned = true;
    status = open_fifo(control, text, path, &control->fd);
    return status || !comma ? status : open_fifo(control, text, comma + 1, &control->ack);
}

int pf_control_open(struct pf_control *control, const char *text)
{
    *control = (struct pf_control){.verb = control->verb, .fd = -1, .ack = -1};
    if (!text)
        return PF_STATUS_OK;
    if (!strncmp(text, "fd:", 3))
        return take_descriptors(control, text);
    if (!strncmp(text, "fifo:", 5))
        return open_fifos(control, text);
    return refuse(control, text, "expected fd:CTL[,ACK] or fifo:CTL[,ACK]");
}

void pf_control_answer(const struct pf_control *control)
{
    static const char word[] = "ack\n";

    struct pollfd ack = {.fd = control->ack, .events = POLLOUT};

    if (control->ack < 0)
        return;
    if (poll(&ack, 1, 0) == 0) /* a reader that is too slow must not delay the recording */
        pf_message("%s: control command not answered: the pipe for answers is full", control->verb);
    /* perf writes the NUL, too, and its clients read five bytes */
    else if (write(control->ack, word, sizeof(word)) < 0)
        pf_message("%s: control command not answered: %s", control->verb, strerror(errno));
}

static void take_byte(struct pf_control *control, char byte, bool (*run)(void *context, const char *command),
                      void *context)
{
    if (byte && byte != '\n') {
        if (control->used < sizeof(control->line))
            control->line[control->used] = byte;
        control->used += control->used < sizeof(control->line);
        return;
    }
    if (control->used == sizeof(control->line)) {
        pf_message("%s: control command longer than %zu bytes ignored", control->verb, sizeof(control->line) - 1);
        control->used = 0;
        return;
    }
    control->line[control->used] = 0;
    if (control->used && run(context, control->line))
        pf_control_answer(control);
    control->used = 0;
}

static void close_one(struct pf_control *control, int *fd)
{
    if (*fd >= 0 && control->owned)
        close(*fd);
    else if (*fd >= 0 && fd == &control->fd)
        (void)fcntl(*fd, F_SETFL, control->flags);
    *fd = -1;
}

void pf_control_read(struct pf_control *control, bool (*run)(void *context, const char *command), void *context)
{
    char bytes[512];
    const ssize_t got = control->fd >= 0 ? read(control->fd, bytes, sizeof(bytes)) : 0;
    const bool over = got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);

    for (ssize_t i = 0; i < got; i++)
        take_byte(control, bytes[i], run, context);
    if (over)
        close_one(control, &control->fd); /* no more commands can arrive */
}

void pf_control_close(struct pf_control *control)
{
    close_one(control, &control->fd);
    close_one(control, &control->ack);
}
