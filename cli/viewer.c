/* SPDX-License-Identifier: MIT */
#include "viewer.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 32 };

static struct {
    const struct pf_viewer *viewer; /* NULL: none was asked for */
    const char *name;               /* of the file, as the user knows it */
    char *path;                     /* absolute, or the page; owned */
    char *commands;                 /* NUL-terminated, one after the other, an empty one at the end; owned */
    bool stays;                     /* a browser for the terminal: we wait for it */
    pid_t pid;
    int begin;  /* a byte to this, and it begins */
    int failed; /* from this comes the number of the error when it cannot; nothing when it can */
} shown;

/* ---- the process that becomes the program ---- */

/*
 * Splits the command into words; %s in one of them becomes the file, which is appended otherwise. False: out of memory.
 */
static bool split(char *command, char *words[WORDS + 2])
{
    size_t count = 0;
    char *rest = NULL;
    bool has_file = false;

    for (char *word = strtok_r(command, " ", &rest); word && count < WORDS; word = strtok_r(NULL, " ", &rest)) {
        char *mark = strstr(word, "%s");
        words[count++] = word;
        if (!mark)
            continue;
        has_file = true;
        if (asprintf(&words[count - 1], "%.*s%s%s", (int)(mark - word), word, shown.path, mark + 2) < 0)
            return false;
    }
    if (!has_file)
        words[count++] = shown.path;
    words[count] = NULL;
    return true;
}

/* Detaches the browser: it survives this process and the terminal, and its messages are discarded. */
static void leave_terminal(void)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    for (int fd = STDIN_FILENO; nowhere >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(nowhere, fd);
}

static _Noreturn void become_program(int begin, int failed)
{
    char go, *words[WORDS + 2];
    int error = ENOENT;

    if (read(begin, &go, 1) != 1)
        _exit(0);
    signal(SIGPIPE, SIG_DFL); /* which we ignore */
    if (!shown.stays)
        leave_terminal();
    for (char *command = shown.commands, *next; *command; command = next) {
        next = command + strlen(command) + 1;
        if (!split(command, words))
            break;
        execvp(words[0], words);
        error = errno;
    }
    (void)!write(failed, &error, sizeof(error));
    _exit(127);
}

/* ---- us ---- */

/* The commands of $BROWSER, of which the first that can be started is used. */
static char *list_commands(const char *program)
{
    const char *list = program ? program : getenv("BROWSER");
    const size_t bytes = strlen(list && *list ? list : (list = "xdg-open"));
    char *commands = calloc(bytes + 2, 1), *to = commands;

    for (const char *from = list; commands && *from; from++)
        if (program || *from != ':')
            *to++ = *from;
        else if (to > commands && to[-1])
            to++;
    return commands;
}

static char *absolute(const char *path)
{
    char folder[PATH_MAX], *made = NULL;

    if (*path == '/')
        return strdup(path);
    return getcwd(folder, sizeof(folder)) && asprintf(&made, "%s/%s", folder, path) >= 0 ? made : NULL;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);

    return value && *value;
}

void pf_viewer_prepare(const struct pf_viewer *viewer, const char *path)
{
    int begin[2], failed[2];

    shown.viewer = viewer;
    shown.name = path;
    shown.path = viewer->page ? strdup(viewer->page) : absolute(path);
    shown.commands = list_commands(viewer->program);
    shown.stays = !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY");
    if (!shown.path || !shown.commands || pipe2(begin, O_CLOEXEC) != 0 || pipe2(failed, O_CLOEXEC) != 0)
        return;
    shown.pid = fork();
    if (shown.pid == 0) {
        close(begin[1]); /* so that its end is seen */
        become_program(begin[0], failed[1]);
    }
    close(begin[0]);
    close(failed[1]);
    shown.begin = begin[1];
    shown.failed = failed[0];
}

/* 0, or the number of the error. */
static int begin(void)
{
    int error = 0;
    ssize_t got;

    if (shown.pid <= 0)
        return EAGAIN;
    if (write(shown.begin, "", 1) != 1)
        return errno;
    while ((got = read(shown.failed, &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    return got == sizeof(error) ? error : 0;
}

/* Programs that cannot show anything end at once, others go on for hours. */
static int wait_a_moment(void)
{
    enum { STEPS = 50 };
    const struct timespec step = {0, 20000000};
    int state = 0;
    pid_t ended = 0;

    for (int i = 0; ended == 0 && (shown.stays || i < STEPS); i++) {
        ended = waitpid(shown.pid, &state, shown.stays ? 0 : WNOHANG);
        if (ended < 0 && errno == EINTR)
            ended = 0;
        else if (ended == 0)
            nanosleep(&step, NULL);
    }
    return ended > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : 0;
}

void pf_viewer_show(void)
{
    int error, status;

    if (!shown.viewer)
        return;
    error = begin();
    status = error ? 0 : wait_a_moment();
    if (error)
        pf_message("%s is not opened (%s: %s): %s", shown.name,
                   shown.commands && *shown.commands ? shown.commands : "?", strerror(error), shown.viewer->advice);
    else if (status)
        pf_message("%s is not opened (%s: exit status %d): %s", shown.name, shown.commands, status,
                   shown.viewer->advice);
    else if (shown.viewer->page)
        pf_message("%s: %s", shown.name, shown.viewer->advice);
    free(shown.path);
    free(shown.commands);
    shown.viewer = NULL;
}
