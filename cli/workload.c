/* SPDX-License-Identifier: MIT */
#include "workload.h"
#include "message.h"
#include "options.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <string.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PRIORITY_FIRST = -20 }; /* of nice(1) */
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNAL = 128 };

/* In the child: waits for the signal to start, then becomes the command. */
static void become(char **arguments, const sigset_t *mask, int go, int news)
{
    char byte;
    ssize_t got;

    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    while ((got = read(go, &byte, 1)) < 0 && errno == EINTR)
        continue;
    if (got != 1) /* whoever would have recorded it is gone */
        _exit(STATUS_NOT_FOUND);
    execvp(arguments[0], arguments);
    const int why = errno;
    if (write(news, &why, sizeof(why)) < 0)
        _exit(STATUS_NOT_FOUND);
    _exit(why == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

int pf_workload_prepare(struct pf_workload *workload, char **arguments, bool aside, const sigset_t *mask)
{
    int go[2], news[2];

    *workload = (struct pf_workload){.verb = workload->verb, .name = arguments[0], .go = -1, .news = -1};
    if (pipe2(go, O_CLOEXEC) < 0 || pipe2(news, O_CLOEXEC) < 0) {
        pf_message("%s: %s", workload->verb, strerror(errno));
        return PF_STATUS_OUTPUT;
    }
    workload->pid = fork();
    if (workload->pid == 0) {
        close(go[1]);
        close(news[0]);
        if (aside && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            _exit(STATUS_NOT_EXECUTABLE);
        become(arguments, mask, go[0], news[1]);
    }
    close(go[0]);
    close(news[1]);
    workload->go = go[1];
    workload->news = news[0];
    workload->running = workload->pid > 0;
    if (workload->running)
        return PF_STATUS_OK;
    pf_message("%s: %s", workload->verb, strerror(errno));
    return PF_STATUS_OUTPUT;
}

/* "record -g dwarf PROGRAM" means a value, but -g has none. */
static bool is_call_graph(const struct pf_workload *workload)
{
    static const char *const modes[] = {"fp", "dwarf", "lbr", "auto"};

    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
        if (!strcmp(workload->name, modes[i]) && !strcmp(workload->verb, "record"))
            return true;
    return false;
}

static void reap(struct pf_workload *workload, int flags)
{
    pid_t ended;

    if (!workload->running)
        return;
    while ((ended = waitpid(workload->pid, &workload->status, flags)) < 0 && errno == EINTR)
        continue;
    workload->running = ended == 0;
}

int pf_workload_start(struct pf_workload *workload)
{
    int why = 0;

    if (write(workload->go, "", 1) < 0)
        why = errno;
    close(workload->go);
    workload->go = -1;
    while (!why && read(workload->news, &why, sizeof(why)) < 0 && errno == EINTR)
        continue;
    if (!why)
        return PF_STATUS_OK;
    /* EACCES: a folder of PATH cannot be read, and no other has such a program. */
    const bool is_mode = (why == ENOENT || why == EACCES) && is_call_graph(workload);
    pf_message("%s: %s: %s%s%s", workload->verb, workload->name, strerror(why),
               is_mode ? "; -g takes no value: --call-graph " : "", is_mode ? workload->name : "");
    reap(workload, 0);
    return why == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

bool pf_workload_ended(struct pf_workload *workload)
{
    reap(workload, WNOHANG);
    return !workload->running;
}

int pf_workload_status(const struct pf_workload *workload)
{
    if (WIFEXITED(workload->status))
        return WEXITSTATUS(workload->status);
    pf_message("%s: %s was killed by signal %d (%s)", workload->verb, workload->name, WTERMSIG(workload->status),
               strsignal(WTERMSIG(workload->status)));
    return STATUS_SIGNAL + WTERMSIG(workload->status);
}

void pf_workload_close(struct pf_workload *workload)
{
    if (workload->go >= 0 && workload->running) {
        kill(workload->pid, SIGKILL); /* it has not started */
        reap(workload, 0);
    }
    if (workload->go >= 0)
        close(workload->go);
    if (workload->news >= 0)
        close(workload->news);
}

/* ---- recording --------------------------------------------------------------------------------------------------- */

const char *pf_usual_call_graph(void)
{
    return pf_called_perf() ? "fp" : "auto";
}

int pf_workload_go_first(void)
{
    const int former = getpriority(PRIO_PROCESS, 0);

    if (!former) /* otherwise the user chose it */
        (void)setpriority(PRIO_PROCESS, 0, PRIORITY_FIRST);
    return former;
}

int pf_workload_signals(const char *verb, bool snapshots, int *signals)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGCHLD);
    if (snapshots)
        sigaddset(&set, SIGUSR2);
    signal(SIGCHLD, SIG_DFL); /* where it is ignored the command's status would be lost */
    if (sigprocmask(SIG_BLOCK, &set, NULL) == 0 && (*signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)) >= 0)
        return PF_STATUS_OK;
    pf_message("%s: %s", verb, strerror(errno));
    return PF_STATUS_OUTPUT;
}

int pf_workload_failure(const char *verb, int result, const struct perfile_error *error)
{
    pf_message("%s: %s", verb, error->message);
    return result == PERFILE_ERROR_WRITE      ? PF_STATUS_OUTPUT
           : result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE
                                              : pf_status_of_error(result, PF_STATUS_UNREADABLE);
}
