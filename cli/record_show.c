/* SPDX-License-Identifier: MIT */
#include "record_show.h"

#include "input.h"
#include "message.h"
#include "pager.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct pf_command pf_command_record;

/* ---- the process that records ------------------------------------------------------------------------------------ */

int pf_record_stream_write(void *context, const void *data, size_t bytes)
{
    const struct pf_record_stream *stream = context;
    const char *at = data;

    while (bytes) {
        const ssize_t written = write(stream->fd, at, bytes);

        if (written < 0 && errno != EINTR)
            return -1;
        at += written > 0 ? written : 0;
        bytes -= written > 0 ? (size_t)written : 0;
    }
    return 0;
}

bool pf_record_stream_ended(struct pf_record_stream *stream)
{
    if (!stream->has_ended)
        stream->has_ended = waitpid(stream->reader, &stream->status, WNOHANG) == stream->reader;
    return stream->has_ended;
}

/* The verb record, with the name of the verb in its messages. */
static int record(const struct pf_record_show *how, struct pf_settings *settings, struct pf_record_stream *stream)
{
    struct pf_command command = pf_command_record;
    struct pf_settings recorded = *settings; /* -o is about what is shown */
    char *none[1] = {NULL};

    command.name = how->command->name;
    recorded.operands = settings->workload ? settings->workload : none;
    for (recorded.operand_count = 0; recorded.operands[recorded.operand_count]; recorded.operand_count++)
        continue;
    recorded.record.stream = stream;
    recorded.output = NULL;
    recorded.write = (struct pf_write_settings){.mode = NULL};
    const int status = command.run(&command, &recorded);

    settings->record.events = recorded.record.events; /* --off-cpu adds some */
    return status;
}

static int wait_for_reader(struct pf_record_stream *stream, pid_t reader)
{
    while (!stream->has_ended && waitpid(reader, &stream->status, 0) < 0 && errno == EINTR)
        continue;
    if (WIFEXITED(stream->status))
        return WEXITSTATUS(stream->status);
    return stream->is_complete ? PF_STATUS_OUTPUT : PF_STATUS_OK; /* we ended it when there was nothing to show */
}

/* ---- the process that shows -------------------------------------------------------------------------------------- */

/* Signals that end the recording, for all processes of the terminal: what was recorded is still shown. */
static void block_signals(sigset_t *before)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        sigaddset(&set, ends[i]);
    sigprocmask(SIG_BLOCK, &set, before);
}

/* Waits for the first bytes; false when nothing could be recorded. */
static bool wait_for_bytes(int fd)
{
    struct pollfd input = {.fd = fd, .events = POLLIN};

    while (poll(&input, 1, -1) < 0 && errno == EINTR)
        continue;
    return input.revents & POLLIN;
}

/* Makes the recording standard input. False: there is nothing to show. */
static bool take_recording(const struct pf_record_show *how, int fd, int pipe)
{
    struct stat about;

    if (how->at_once)
        return wait_for_bytes(pipe) && dup2(pipe, STDIN_FILENO) >= 0;
    (void)wait_for_bytes(pipe); /* until the process that records closes it */
    return fstat(fd, &about) == 0 && about.st_size && lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) >= 0;
}

static int show(const struct pf_record_show *how, struct pf_settings *settings, int fd, int pipe)
{
    sigset_t before;

    block_signals(&before);
    if (!take_recording(how, fd, pipe))
        return PF_STATUS_OK;
    if (!how->at_once)
        sigprocmask(SIG_SETMASK, &before, NULL);
    if (how->to_stderr && !settings->output && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return PF_STATUS_OUTPUT;
    pf_pager_setup(!how->at_once && !settings->no_pager && !settings->output);
    settings->input = "-";
    settings->input_title = how->command->name;
    settings->operand_count = 0;
    settings->jobs = settings->jobs || !how->at_once ? settings->jobs : 1;
    return how->show(how->command, settings);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

enum { PIPE_BYTES = 1 << 20 }; /* as much as every user may have */

static int fail(const struct pf_record_show *how)
{
    pf_message("%s: %s", how->command->name, strerror(errno));
    return PF_STATUS_OUTPUT;
}

/* `ends` are those of a pipe, which ends with the recording. */
static int record_for(const struct pf_record_show *how, struct pf_settings *settings, int file, const int ends[2],
                      pid_t reader)
{
    struct pf_record_stream stream = {.fd = how->at_once ? ends[1] : file,
                                      .aside = !how->to_stderr && !settings->output,
                                      .reader = how->at_once ? reader : 0};

    close(ends[0]);
    int status = how->before ? how->before(how->command, settings, reader) : PF_STATUS_OK;
    if (!status)
        status = record(how, settings, &stream);

    if (!stream.is_complete && !stream.has_ended)
        kill(reader, SIGKILL); /* a message was printed; there is nothing more to say */
    close(ends[1]);
    const int shown = wait_for_reader(&stream, reader);
    return status ? status : shown;
}

int pf_record_show(const struct pf_record_show *how, struct pf_settings *settings)
{
    if (settings->operand_count || settings->input) {
        pf_message("%s: a recording and a command were given: only one of them can be shown", how->command->name);
        return PF_STATUS_USAGE;
    }
    const int file = how->at_once ? -1 : pf_temporary_file();
    int ends[2], status;

    if ((!how->at_once && file < 0) || pipe2(ends, O_CLOEXEC) < 0)
        return fail(how);
    (void)fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* the default, 64 KiB, is a few milliseconds of system calls */
    pf_pager_setup(false);                          /* the process that shows starts it */
    const pid_t reader = fork();

    if (reader < 0)
        return fail(how);
    if (reader == 0) {
        close(ends[1]);
        return show(how, settings, file, ends[0]);
    }
    status = record_for(how, settings, file, ends, reader);
    if (file >= 0)
        close(file);
    return status;
}
