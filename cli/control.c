/* SPDX-License-Identifier: MIT */
#include "control.h"
#include "message.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int refuse(const char *text, const char *why)
{
    pf_message("record: --control %s: %s", text, why);
    return PF_STATUS_USAGE;
}

/* "7" or "7,8": descriptors that whoever started us has opened. */
static int take_descriptors(struct pf_control *control, const char *text)
{
    char *end;
    const char *ack;

    errno = 0;
    const long fd = *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    long answer = -1;
    bool good = fd >= 0 && fd < 1 << 20;
    if (good && *end == ',') {
        ack = end + 1;
        answer = *ack >= '0' && *ack <= '9' ? strtol(ack, &end, 10) : -1;
        good = answer >= 0 && answer < 1 << 20;
    }
    if (!good || *end)
        return refuse(text, "not fd:CTL or fd:CTL,ACK");
    control->fd = (int)fd;
    control->ack = (int)answer;
    const int flags = fcntl(control->fd, F_GETFL);
    if (flags < 0 || fcntl(control->fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        (control->ack >= 0 && fcntl(control->ack, F_GETFL) < 0))
        return refuse(text, strerror(errno));
    /* the command must not answer for us */
    (void)fcntl(control->fd, F_SETFD, FD_CLOEXEC);
    if (control->ack >= 0)
        (void)fcntl(control->ack, F_SETFD, FD_CLOEXEC);
    return PF_STATUS_OK;
}

/* Read and write: so that opening waits for nobody, and the end of one who commands is not the end of all. */
static int open_fifos(struct pf_control *control, const char *text)
{
    char path[4096];
    const char *comma = strchr(text, ',');
    const size_t bytes = comma ? (size_t)(comma - text) : strlen(text);

    if (!bytes || bytes >= sizeof(path) || (comma && !comma[1]))
        return refuse(text, "not fifo:CTL or fifo:CTL,ACK");
    memcpy(path, text, bytes);
    path[bytes] = 0;
    control->owned = true;
    control->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (control->fd < 0)
        return refuse(path, strerror(errno));
    if (comma && (control->ack = open(comma + 1, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0)
        return refuse(comma + 1, strerror(errno));
    return PF_STATUS_OK;
}

int pf_control_open(struct pf_control *control, const char *text)
{
    *control = (struct pf_control)PF_CONTROL_INIT;
    if (!text)
        return PF_STATUS_OK;
    if (!strncmp(text, "fd:", 3))
        return take_descriptors(control, text + 3);
    if (!strncmp(text, "fifo:", 5))
        return open_fifos(control, text + 5);
    return refuse(text, "not fd:CTL[,ACK] or fifo:CTL[,ACK]");
}

void pf_control_answer(const struct pf_control *control)
{
    static const char word[] = "ack\n";

    if (control->ack < 0)
        return;
    /* perf writes the NUL, too: those who read five bytes wait for it */
    if (write(control->ack, word, sizeof(word)) < 0)
        pf_message("record: a command is not answered: %s", strerror(errno));
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
        pf_message("record: a command of more than %zu bytes is not heard", sizeof(control->line) - 1);
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
    *fd = -1;
}

void pf_control_read(struct pf_control *control, bool (*run)(void *context, const char *command), void *context)
{
    char bytes[512];
    ssize_t got = -1;

    while (control->fd >= 0 && (got = read(control->fd, bytes, sizeof(bytes))) > 0)
        for (ssize_t i = 0; i < got; i++)
            take_byte(control, bytes[i], run, context);
    if (control->fd >= 0 && (got == 0 || (errno != EAGAIN && errno != EINTR)))
        close_one(control, &control->fd); /* nobody will say anything any more */
}

void pf_control_close(struct pf_control *control)
{
    close_one(control, &control->fd);
    close_one(control, &control->ack);
}
