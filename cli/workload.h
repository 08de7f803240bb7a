/* SPDX-License-Identifier: MIT */
/* The command that is recorded: started, but held back until everything is ready for it. */
#ifndef PERFILE_CLI_WORKLOAD_H
#define PERFILE_CLI_WORKLOAD_H

#include <perfile/perfile.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct pf_workload {
    const char *verb; /* whose messages these are; to be set first */
    const char *name;
    pid_t pid; /* 0: there is none */
    int go;    /* close it to let the command start */
    int news;  /* errno, when it could not be executed; the end of the file, when it could */
    bool running;
    int status; /* as wait(2) gives it, once it is not running any more */
};

/*
 * `arguments` ends with NULL. `aside`: standard output is ours, so what the command prints goes to standard error.
 * `mask`: the signals that it is to have blocked. PF_STATUS_OK, or a status when a message was printed.
 */
int pf_workload_prepare(struct pf_workload *workload, char **arguments, bool aside, const sigset_t *mask);
/* Lets it execute. PF_STATUS_OK; else 127 or 126, as shells have it, and a message was printed. */
int pf_workload_start(struct pf_workload *workload);
/* Whether the command has ended; does not wait. */
bool pf_workload_ended(struct pf_workload *workload);
/* The exit status of the command; 128 plus the signal that ended it, after a message. */
int pf_workload_status(const struct pf_workload *workload);
/* Ends the process of a command that was not started. */
void pf_workload_close(struct pf_workload *workload);

/*
 * What ends a recording (SIGINT, SIGTERM, SIGHUP), the end of its command, and with `snapshots` SIGUSR2, come through a
 * signalfd from now on. A status, after a message of the verb.
 */
int pf_workload_signals(const char *verb, bool snapshots, int *signals);
/* What -g stands for: as perf has it for scripts that call us so. */
const char *pf_usual_call_graph(void);
/*
 * Where the system allows it, a process of the usual priority and its later threads run before others, so that they
 * read the buffers in time; the command, which was forked before, does not. Returns the former priority, for
 * setpriority(2).
 */
int pf_workload_go_first(void);
/* Prints why it cannot be recorded, as a message of the verb; the exit status for that. */
int pf_workload_failure(const char *verb, int result, const struct perfile_error *error);

#endif
