/* SPDX-License-Identifier: MIT */
/*
 * A process that does nothing else waits until the recorder closes a pipe, by whatever end, and then removes its
 * probes: the recorder itself could not, when it is killed, as the kernel keeps probes while their events are open. If
 * both are killed, a file with their names is left, which the next recording looks for.
 */
#include "record_probes.h"
#include "message.h"
#include "probes.h"

#include <dirent.h>
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

#define NAMES "perfile-probes."

enum { TRIES = 100, PAUSE_NS = 20 * 1000 * 1000 };

struct pf_record_probes {
    struct pf_probe_batch batch;
    char names[PATH_MAX]; /* the file with the names of the events */
    pid_t guard;          /* the process that removes them; 0: not started */
    int alive;            /* its pipe */
};

/* ---- removing ---------------------------------------------------------------------------------------------------- */

/* "kprobe GROUP/EVENT", "uprobe GROUP/EVENT". Events of processes that just ended may still be open. */
static void remove_named(const char *tracefs, char *name)
{
    const bool is_kernel = *name == 'k';
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    struct perfile_error error;
    char *space = strchr(name, ' ');
    char line[512];

    if (!space)
        return;
    snprintf(line, sizeof(line), "-:%.*s", (int)strcspn(space + 1, "\n"), space + 1);
    for (int i = 0; i < TRIES; i++) {
        if (perfile_probes_write(tracefs, is_kernel, line, &error) != PERFILE_ERROR_WRITE ||
            !strstr(error.message, "in use"))
            return;
        nanosleep(&pause, NULL);
    }
    pf_message("record: a probe is left: %s", error.message);
}

/* All in the file, and the file. */
static void remove_all(const char *tracefs, const char *path)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *file = fopen(path, "re");

    while (file && getline(&line, &capacity, file) > 0)
        remove_named(tracefs, line);
    free(line);
    if (file)
        fclose(file);
    unlink(path);
}

/* ---- what earlier recordings have left --------------------------------------------------------------------------- */

static const char *folder_of(const char *tracefs)
{
    return tracefs ? tracefs : "/run";
}

static bool is_over(const char *name)
{
    const long pid = strtol(name, NULL, 10);

    return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void remove_left(const char *tracefs)
{
    DIR *folder = opendir(folder_of(tracefs));
    struct dirent *entry;
    char path[PATH_MAX];

    while (folder && (entry = readdir(folder)))
        if (!strncmp(entry->d_name, NAMES, strlen(NAMES)) && is_over(entry->d_name + strlen(NAMES)) &&
            snprintf(path, sizeof(path), "%s/%s", folder_of(tracefs), entry->d_name) < PATH_MAX)
            remove_all(tracefs, path);
    if (folder)
        closedir(folder);
}

/* ---- adding ------------------------------------------------------------------------------------------------------ */

/* What is before the colon is a path, or another name that is not followed by a line. */
static bool has_file(const char *text, const char *colon)
{
    const bool is_line = strspn(colon + 1, "0123456789") == strcspn(colon + 1, " ");

    return *text == '/' || *text == '.' || (!is_line && (size_t)(colon - text) < strcspn(text, " =+%@"));
}

/* "[FILE:]DEFINITION"; FILE: a path, or a name such as libc. Without it: a function of the kernel. */
static int define(struct pf_record_probes *probes, char *text)
{
    struct perfile_probe_options options = PERFILE_PROBE_OPTIONS_INIT;
    char path[PATH_MAX], *colon = strchr(text, ':');
    const size_t first = probes->batch.count;

    options.note = pf_probe_print_note;
    options.note_context = (void *)(uintptr_t)probes->batch.verb;
    if (colon && has_file(text, colon)) {
        *colon = '\0';
        if (!pf_probe_find_file(text, path)) {
            pf_message("record: --probe %s:%s: there is no file, program or library %s", text, colon + 1, text);
            return PF_STATUS_UNREADABLE;
        }
        options.file = path;
        text = colon + 1;
    }
    const int status = pf_probe_batch_define(&probes->batch, &options, text);
    return status ? status : pf_probe_batch_name(&probes->batch, first, true);
}

static int write_names(struct pf_record_probes *probes)
{
    FILE *file;
    bool is_written;

    snprintf(probes->names, sizeof(probes->names), "%s/" NAMES "%d", folder_of(probes->batch.tracefs), (int)getpid());
    file = fopen(probes->names, "we");
    for (size_t i = 0; file && i < probes->batch.count; i++) {
        const struct pf_probe_line *line = &probes->batch.lines[i];
        fprintf(file, "%s %s/%s\n", line->is_kernel ? "kprobe" : "uprobe", line->group, line->event);
    }
    is_written = file && !ferror(file);
    if (file && fclose(file))
        is_written = false;
    if (!is_written)
        pf_message("record: %s, which has the names of the probes until they are removed, cannot be written: %s",
                   probes->names, strerror(errno));
    return is_written ? PF_STATUS_OK : PF_STATUS_OUTPUT;
}

/* The guard itself: signals of a terminal or a service are for others. */
static void guard(const struct pf_record_probes *probes, int pipe)
{
    static const int ignored[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGUSR1, SIGUSR2};
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    char byte;

    setsid();
    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    for (int fd = STDERR_FILENO + 1; fd < 1024; fd++)
        if (fd != pipe)
            close(fd);
    while (read(pipe, &byte, 1) < 0 && errno == EINTR)
        continue;
    remove_all(probes->batch.tracefs, probes->names);
    _exit(0);
}

static int start_guard(struct pf_record_probes *probes)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0 || (probes->guard = fork()) < 0) {
        pf_message("record: --probe: %s", strerror(errno));
        probes->guard = 0;
        unlink(probes->names);
        return PF_STATUS_MEMORY;
    }
    if (!probes->guard) {
        close(ends[1]);
        guard(probes, ends[0]);
    }
    close(ends[0]);
    probes->alive = ends[1];
    return PF_STATUS_OK;
}

/* GROUP:EVENT of each name, once. */
static int add_events(const struct pf_record_probes *probes, struct pf_settings *settings)
{
    int status = PF_STATUS_OK;
    char name[512], last[512] = "";

    for (size_t i = 0; i < probes->batch.count && !status; i++) {
        snprintf(name, sizeof(name), "%s:%s", probes->batch.lines[i].group, probes->batch.lines[i].event);
        if (strcmp(name, last) != 0)
            status = pf_text_join(&settings->record.events, ",", name);
        snprintf(last, sizeof(last), "%s", name);
    }
    return status;
}

static int add(struct pf_record_probes *probes, struct pf_settings *settings)
{
    int status = PF_STATUS_OK;

    remove_left(probes->batch.tracefs);
    for (char *text = settings->record.probes, *next; text && !status; text = next) {
        next = strchr(text, '\n');
        if (next)
            *next++ = '\0';
        status = define(probes, text);
    }
    if (!status)
        status = write_names(probes);
    if (!status)
        status = start_guard(probes);
    if (!status)
        status = pf_probe_batch_add(&probes->batch);
    return status ? status : add_events(probes, settings);
}

int pf_record_probes_open(struct pf_settings *settings, struct pf_record_probes **probes)
{
    *probes = NULL;
    if (!settings->record.probes)
        return PF_STATUS_OK;
    *probes = calloc(1, sizeof(**probes));
    if (!*probes)
        return pf_out_of_memory("record");
    (*probes)->batch = (struct pf_probe_batch){.verb = "record", .tracefs = settings->record.tracefs};
    return add(*probes, settings);
}

void pf_record_probes_close(struct pf_record_probes *probes)
{
    if (!probes)
        return;
    if (probes->guard) {
        close(probes->alive);
        while (waitpid(probes->guard, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    pf_probe_batch_free(&probes->batch);
    free(probes);
}
