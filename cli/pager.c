/* SPDX-License-Identifier: MIT */
#include "pager.h"
#include "message.h"
#include "options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS 32

/*
 * A process waits until there is output, and becomes the pager then, because this process may not start programs by
 * that time. Without output there is no pager, and the waiting process ends with this one.
 */
static struct {
    const char *command; /* NULL: no pager */
    bool chosen;         /* by the user: report when it is missing */
    bool started;
    pid_t pid;  /* 0: there is none */
    int fd;     /* our end of its standard input */
    int begin;  /* a byte to this, and it begins */
    int failed; /* from this comes the number of the error when it cannot; nothing when it can */
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

/* less shows colours, cuts long lines, leaves the screen alone, and ends at once when everything fits on it. */
static void set_environment(void)
{
    const char *less = getenv("LESS");
    char *with_colors = NULL;

    if (!less)
        setenv("LESS", "FRSX", 1);
    else if (asprintf(&with_colors, "-R %s", less) >= 0)
        setenv("LESS", with_colors, 1);
    free(with_colors);
    setenv("LV", "-c", 0);
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

/* On a signal, waits for the pager first, as the user still reads. */
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

/* Blocks signals until the process of the pager is known; `before` receives the previous mask. */
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

/* ---- the process that becomes the pager ---- */

/* Its ends of the pipes, and ours; all are closed when a program is run. */
struct pipes {
    int shown[2];
    int begin[2];
    int failed[2];
};

static _Noreturn void become_pager(const struct pipes *pipes, char *const words[])
{
    char go;
    int error = ENOENT;

    close(pipes->begin[1]); /* so that its end is seen */
    close(pipes->shown[1]);
    if (read(pipes->begin[0], &go, 1) != 1)
        _exit(0);
    signal(SIGPIPE, SIG_DFL); /* which we ignore */
    if (words[0] && dup2(pipes->shown[0], STDIN_FILENO) >= 0) {
        execvp(words[0], words);
        error = errno;
    }
    (void)!write(pipes->failed[1], &error, sizeof(error));
    _exit(127);
}

static bool open_pipes(struct pipes *pipes)
{
    return pipe2(pipes->shown, O_CLOEXEC) == 0 && pipe2(pipes->begin, O_CLOEXEC) == 0 &&
           pipe2(pipes->failed, O_CLOEXEC) == 0;
}

static void prepare(const char *command)
{
    char *text = strdup(command), *words[WORDS];
    struct pipes pipes;

    if (text && open_pipes(&pipes)) {
        split(text, words);
        pager.pid = fork();
        if (pager.pid == 0)
            become_pager(&pipes, words);
        close(pipes.shown[0]);
        close(pipes.begin[0]);
        close(pipes.failed[1]);
        pager.fd = pipes.shown[1];
        pager.begin = pipes.begin[1];
        pager.failed = pipes.failed[0];
    }
    free(text);
}

/* The process that waits ends; a later setup may start another. */
static void drop(void)
{
    if (pager.pid <= 0 || pager.started)
        return;
    close(pager.begin);
    close(pager.fd);
    close(pager.failed);
    while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    pager.pid = 0;
}

void pf_pager_setup(bool wanted)
{
    drop();
    pager.command = wanted && pf_is_terminal(STDOUT_FILENO) ? find_command() : NULL;
    if (!pager.command)
        return;
    set_environment();
    prepare(pager.command);
}

/* 0, or the number of the error. */
static int begin(void)
{
    sigset_t before;
    int error = 0;
    ssize_t got;

    if (pager.pid <= 0)
        return EAGAIN;
    block_signals(&before);
    if (write(pager.begin, "", 1) != 1)
        error = errno;
    while (!error && (got = read(pager.failed, &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    if (!error)
        handle_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (error)
        close(pager.fd);
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
    error = begin();
    if (error) {
        if (pager.chosen)
            pf_message("the pager \"%s\" cannot be started: %s", command, strerror(error));
        return -1;
    }
    pager.started = true;
    pf_message_hold();
    return pager.fd;
}

int pf_pager_finish(void)
{
    int state = 0;

    if (!pager.started)
        return PF_STATUS_OK;
    /* all output is written: now Ctrl-C is for the pager only */
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    while (waitpid(pager.pid, &state, 0) < 0 && errno == EINTR)
        ;
    pager.started = false;
    pf_message_release();
    if (!WIFEXITED(state) || WEXITSTATUS(state) < 126)
        return PF_STATUS_OK;
    pf_message("the pager could not be run and nothing was shown (use --no-pager)");
    return PF_STATUS_OUTPUT;
}
