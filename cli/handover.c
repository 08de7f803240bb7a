/* SPDX-License-Identifier: MIT */
#include "handover.h"

#include "fitting.h"
#include "message.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS = 8 };

/* A process that waits for the number of a command: it can start no others, whatever a recording does to this one. */
static struct {
    pid_t pid; /* 0 before it was started, -1 where that failed */
    int begin; /* the number is written to this */
} waiting;

static void start(const char *command, const char *file)
{
    char *text = strdup(command), *rest = text, *word, *path = NULL;
    const char *words[WORDS + 3] = {pf_program_name()};
    size_t count = 1;

    if (!text || asprintf(&path, "%s%s", *file == '-' ? "./" : "", file) < 0)
        return;
    while (count <= WORDS && (word = strsep(&rest, " ")) != NULL)
        words[count++] = word;
    words[count] = path;
    execv("/proc/self/exe", (char **)words);
}

static _Noreturn void wait_for_number(int begin, const char *file)
{
    unsigned char number;
    ssize_t got;

    signal(SIGINT, SIG_IGN); /* keys of the interactive view */
    signal(SIGQUIT, SIG_IGN);
    while ((got = read(begin, &number, 1)) < 0 && errno == EINTR)
        continue;
    const char *command = got == 1 ? pf_fitting_command_at(number) : NULL;
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    if (command)
        start(command, file);
    _exit(command ? PF_STATUS_UNREADABLE : PF_STATUS_OK);
}

void pf_handover_prepare(const char *file)
{
    int begin[2];

    if (!strcmp(file, "-") || pipe2(begin, O_CLOEXEC) != 0)
        return;
    waiting.pid = fork();
    if (waiting.pid == 0) {
        close(begin[1]); /* so that its end is seen */
        wait_for_number(begin[0], file);
    }
    close(begin[0]);
    waiting.begin = begin[1];
}

bool pf_handover_possible(void)
{
    return waiting.pid > 0;
}

int pf_handover_run(const char *command)
{
    unsigned char number = 0;
    int state = 0;

    while (pf_fitting_command_at(number) && strcmp(pf_fitting_command_at(number), command) != 0)
        number++;
    if (write(waiting.begin, &number, 1) != 1)
        return PF_STATUS_UNREADABLE;
    signal(SIGINT, SIG_IGN); /* it is meant for the other verb */
    signal(SIGQUIT, SIG_IGN);
    while (waitpid(waiting.pid, &state, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(state) ? WEXITSTATUS(state) : PF_STATUS_UNREADABLE;
}
