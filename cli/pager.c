/* SPDX-License-Identifier: MIT */
#include "pager.h"
#include "message.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32

static struct {
    const char *command; /* NULL: no pager */
    bool chosen;         /* by the user, who wants to know when it is missing */
    pid_t pid;           /* 0: not started */
    int fd;              /* our end of its standard input */
} pager;

static const char *find_command(void)
{
    const char *command = getenv("PERFILE_PAGER");

    if (!command)
        command = getenv("PAGER");
    pager.chosen = command != NULL;
    if (!command)
        command = "less";
    return *command && strcmp(command, "cat") ? command : NULL;
}

/* What less needs to show our colours, to leave the screen alone and to end at once when all fits on it. */
static void set_environment(void)
{
    const char *less = getenv("LESS");
    char *with_colors = NULL;

    if (!less)
        setenv("LESS", "FRX", 1);
    else if (asprintf(&with_colors, "-R %s", less) >= 0)
        setenv("LESS", with_colors, 1);
    free(with_colors);
    setenv("LV", "-c", 0);
}

void pf_pager_setup(bool wanted)
{
    pager.command = wanted && pf_is_terminal(STDOUT_FILENO) ? find_command() : NULL;
    if (pager.command)
        set_environment();
}

static void die(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

/* Ctrl-C is meant for the pager, which stops a search with it, as long as there is one. */
static void interrupt(int number)
{
    if (waitpid(pager.pid, NULL, WNOHANG) != 0)
        die(number);
}

/* Who ends us leaves the terminal to the pager first: the user still reads. */
static void leave(int number)
{
    close(pager.fd);
    while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
        ;
    die(number);
}

static const struct {
    int number;
    void (*handle)(int number);
} handled[] = {{SIGINT, interrupt}, {SIGQUIT, leave}, {SIGTERM, leave}, {SIGHUP, leave}};
#define HANDLED_COUNT (sizeof(handled) / sizeof(handled[0]))

static void handle_signals(void)
{
    for (size_t i = 0; i < HANDLED_COUNT; i++)
        if (signal(handled[i].number, handled[i].handle) == SIG_IGN)
            signal(handled[i].number, SIG_IGN);
}

/* They wait until the pager is known; `before` is the mask of before. */
static void block_signals(sigset_t *before)
{
    sigset_t signals;

    sigemptyset(&signals);
    for (size_t i = 0; i < HANDLED_COUNT; i++)
        sigaddset(&signals, handled[i].number);
    sigprocmask(SIG_BLOCK, &signals, before);
}

/* The words of a plain command, or a shell for all that is more. `text` is cut up. */
static void split(char *text, char *words[WORDS])
{
    size_t count = 0;
    char *rest = NULL;

    if (strpbrk(text, "|&;<>()$`\\\"'\t\n*?[#~=%")) {
        words[count++] = "/bin/sh";
        words[count++] = "-c";
        words[count++] = text;
    } else {
        for (char *word = strtok_r(text, " ", &rest); word && count < WORDS - 1; word = strtok_r(NULL, " ", &rest))
            words[count++] = word;
    }
    words[count] = NULL;
}

/* With the signals as they were. 0, or the number of the error. */
static int spawn(char *const words[], int input, const sigset_t *mask)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t signals;
    int error;

    if (!words[0])
        return ENOENT;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPIPE); /* which we ignore */
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    if (!error)
        error = posix_spawnattr_setsigdefault(&attributes, &signals);
    if (!error)
        error = posix_spawnattr_setsigmask(&attributes, mask);
    if (!error)
        error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    if (!error)
        error = posix_spawnp(&pager.pid, words[0], &actions, &attributes, words, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

static int run(const char *command)
{
    char *text = strdup(command), *words[WORDS];
    int ends[2], error;
    sigset_t before;

    if (!text || pipe2(ends, O_CLOEXEC) < 0) {
        error = errno;
        free(text);
        return error;
    }
    split(text, words);
    pager.fd = ends[1];
    block_signals(&before);
    error = spawn(words, ends[0], &before);
    if (!error)
        handle_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[0]);
    if (error)
        close(ends[1]);
    free(text);
    return error;
}

int pf_pager_start(void)
{
    const char *command = pager.command;
    int error;

    pager.command = NULL; /* once is enough */
    if (!command)
        return -1;
    pf_progress_end();
    error = run(command);
    if (error) {
        pager.pid = 0;
        if (pager.chosen)
            pf_message("the pager \"%s\" cannot be started: %s", command, strerror(error));
        return -1;
    }
    pf_message_hold();
    return pager.fd;
}

int pf_pager_finish(void)
{
    int state = 0;

    if (!pager.pid)
        return PF_STATUS_OK;
    /* all is said: now a Ctrl-C is meant for the pager alone */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    while (waitpid(pager.pid, &state, 0) < 0 && errno == EINTR)
        ;
    pager.pid = 0;
    pf_message_release();
    if (!WIFEXITED(state) || WEXITSTATUS(state) < 126)
        return PF_STATUS_OK;
    pf_message("the pager could not be run, and nothing was shown (--no-pager prints without one)");
    return PF_STATUS_OUTPUT;
}
