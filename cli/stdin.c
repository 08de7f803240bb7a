/* SPDX-License-Identifier: MIT */
#include "stdin.h"
#include "message.h"
#include "platform.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAGIC_BYTES = 8, STATED_AFTER_MS = 3000, STEP_MS = 10 };

/* Whether the bytes are the start of a recording, of either byte order, and also of the first perf. */
static bool is_beginning(const char *bytes, size_t count)
{
    static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP"};

    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (!memcmp(bytes, magics[i], count))
            return true;
    return false;
}

bool pf_is_recording(const char *path)
{
    char bytes[MAGIC_BYTES];
    FILE *file = fopen(path, "re");
    const size_t count = file ? fread(bytes, 1, sizeof(bytes), file) : 0;

    if (file)
        fclose(file);
    return count == sizeof(bytes) && is_beginning(bytes, count);
}

/* Waits until there is data in the pipe, or no writer is left, which returns false. */
static bool wait_for_bytes(const struct pf_command *command, const struct pf_settings *settings)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    if (poll(&input, 1, STATED_AFTER_MS) == 0) {
        if (!settings->quiet)
            pf_message("%s: waiting for a recording on standard input, which is a pipe (for the file: perfile %s "
                       "perf.data)",
                       command->name, command->name);
        while (poll(&input, 1, -1) < 0 && errno == EINTR)
            continue;
    }
    return input.revents & POLLIN;
}

static bool holds_recording(const struct pf_command *command, const struct pf_settings *settings)
{
    char bytes[MAGIC_BYTES];
    long count = 0;

    while (wait_for_bytes(command, settings)) {
        const long before = count;
        struct timespec pause = {.tv_nsec = STEP_MS * 1000000L};
        struct pollfd input = {.fd = STDIN_FILENO};

        count = pf_platform_peek(STDIN_FILENO, bytes, sizeof(bytes));
        if (count < 0) /* as perf does, which takes any pipe for a recording */
            return true;
        if (count == MAGIC_BYTES || !is_beginning(bytes, (size_t)count))
            return is_beginning(bytes, (size_t)count);
        if (poll(&input, 1, 0) > 0 && input.revents & POLLHUP && count == before)
            return false; /* the beginning is all that there is */
        nanosleep(&pause, NULL);
    }
    return false;
}

bool pf_stdin_has_recording(const struct pf_command *command, const struct pf_settings *settings)
{
    struct stat status;

    if (fstat(STDIN_FILENO, &status) < 0 || !S_ISFIFO(status.st_mode))
        return false;
    if (holds_recording(command, settings))
        return true;
    if (!settings->quiet)
        pf_message("%s: no recording in the pipe on standard input; reading perf.data", command->name);
    return false;
}
