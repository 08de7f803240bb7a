/* SPDX-License-Identifier: MIT */
#include "scripting.h"

#include "message.h"
#include "pager.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern const char pf_embedded_py[]; /* scripting/handlers.py */

/* ---- where perf has its scripts ---------------------------------------------------------------------------------- */

static const char *const folders[] = {"/usr/libexec/perf-core", "/usr/lib/perf-core", "/usr/share/perf-core"};
#define FOLDER_COUNT (sizeof(folders) / sizeof(folders[0]))

/* $PERF_EXEC_PATH, then the folders of distributions; NULL after the last one. */
static const char *folder_at(size_t index)
{
    const char *chosen = getenv("PERF_EXEC_PATH");

    if (chosen && *chosen)
        return index ? NULL : chosen;
    return index < FOLDER_COUNT ? folders[index] : NULL;
}

/* "FOLDER/scripts/python/" and what the format says, of the first folder that has such a file. NULL: none has. */
static const char *find(const char *name, const char *before, const char *after, char path[PATH_MAX])
{
    const char *folder;

    for (size_t i = 0; !strchr(name, '/') && (folder = folder_at(i)) != NULL; i++)
        if (snprintf(path, PATH_MAX, "%s/scripts/python/%s%s%s", folder, before, name, after) < PATH_MAX &&
            access(path, R_OK) == 0) {
            setenv("PERF_EXEC_PATH", folder, 0);
            return path;
        }
    return NULL;
}

/* A path, or a name of one of perf's; "python:" may stand before it. */
static const char *find_script(const char *script, char path[PATH_MAX])
{
    const char *colon = strchr(script, ':');

    if (colon && (strncmp(script, "py:", 3) == 0 || strncasecmp(script, "python:", 7) == 0))
        script = colon + 1;
    if (access(script, F_OK) == 0)
        return script;
    return find(script, "", "", path) || find(script, "", ".py", path) ? path : NULL;
}

bool pf_scripting_is_command(const char *operand)
{
    char path[PATH_MAX];

    return access(operand, F_OK) < 0 &&
           (!strcmp(operand, "report") || !strcmp(operand, "record") || find(operand, "bin/", "-report", path) != NULL);
}

/* ---- python3 ----------------------------------------------------------------------------------------------------- */

/* In the child: becomes python3, which reads from `fd`. */
static _Noreturn void become_python(int fd, const char *script, char *const arguments[])
{
    size_t count = 0;
    char number[16];

    while (arguments && arguments[count])
        count++;
    const char **words = calloc(count + 6, sizeof(*words));
    if (!words || fcntl(fd, F_SETFD, 0) < 0)
        _exit(PF_STATUS_MEMORY);
    snprintf(number, sizeof(number), "%d", fd);
    const char *const first[] = {"python3", "-c", pf_embedded_py, number, script};
    memcpy(words, first, sizeof(first));
    for (size_t i = 0; i < count; i++)
        words[5 + i] = arguments[i];
    signal(SIGPIPE, SIG_DFL);
    execvp(words[0], (char *const *)words);
    pf_message("script: python3 cannot be started: %s", strerror(errno));
    _exit(127);
}

/* Starts it, and makes its pipe our standard output. The process, or below 0 after a message. */
static pid_t start_python(const char *script, char *const arguments[])
{
    int ends[2];

    pf_pager_setup(false);
    setenv("PERF_EXEC_PATH", folders[0], 0); /* scripts look there for modules, which they have already */
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        become_python(ends[0], script, arguments);
    }
    close(ends[0]);
    if (pid < 0 || dup2(ends[1], STDOUT_FILENO) < 0)
        pf_message("script: %s", strerror(errno));
    close(ends[1]);
    return pid;
}

/* The exit status of python3, of ours when that is 0. */
static int wait_for(pid_t pid, int ours)
{
    int state = 0;

    close(STDOUT_FILENO); /* the end of what it reads */
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
        continue;
    const int theirs = WIFEXITED(state) ? WEXITSTATUS(state) : PF_STATUS_FINDINGS;
    return theirs ? theirs : ours;
}

static int feed(const struct pf_command *command, struct pf_settings *settings, const char *script,
                char *const arguments[])
{
    const pid_t pid = start_python(script, arguments);

    if (pid < 0)
        return PF_STATUS_OUTPUT;
    settings->kind = "handlers";
    settings->format = "jsonl";
    settings->output = NULL;
    return wait_for(pid, pf_run_output(command, settings));
}

int pf_scripting_run(const struct pf_command *command, struct pf_settings *settings, const char *script,
                     char *const arguments[])
{
    char path[PATH_MAX];
    const char *found = find_script(script, path);

    if (found)
        return feed(command, settings, found, arguments);
    pf_message("%s: there is no script %s, and perf has none of that name (%s %s --list)", command->name, script,
               pf_program_name(), command->name);
    return PF_STATUS_USAGE;
}

int pf_scripting_generate(const struct pf_command *command, struct pf_settings *settings, const char *language)
{
    const size_t bytes = strlen(language);
    const bool is_path = bytes > 3 && strcmp(language + bytes - 3, ".py") == 0;
    char name[] = "perf-script.py", *arguments[] = {is_path ? (char *)language : name, NULL};

    if (is_path || strcasecmp(language, "python") == 0)
        return feed(command, settings, "--generate", arguments);
    pf_message("%s: --gen-script: unknown language \"%s\"; valid: python, or the name of a .py file", command->name,
               language);
    return PF_STATUS_USAGE;
}

/* ---- perf's collection ------------------------------------------------------------------------------------------- */

/* What follows "# WHAT:" in one of the first lines of a script. */
static void read_comment(const char *path, const char *what, char *text, size_t bytes)
{
    enum { LINES = 10 };
    char line[256];
    FILE *file = fopen(path, "r");

    *text = 0;
    for (int i = 0; file && i < LINES && fgets(line, sizeof(line), file); i++)
        if (line[0] == '#' && strncmp(line + 2, what, strlen(what)) == 0)
            snprintf(text, bytes, "%s", line + 2 + strlen(what) + 1);
    if (file)
        fclose(file);
    text[strcspn(text, "\n")] = 0;
}

static int is_report(const struct dirent *entry)
{
    const char *end = strrchr(entry->d_name, '-');

    return end && strcmp(end, "-report") == 0;
}

static void list_one(const char *folder, const char *file)
{
    char path[PATH_MAX], title[160], arguments[160], description[160];

    if (snprintf(path, sizeof(path), "%s/%s", folder, file) >= (int)sizeof(path))
        return;
    read_comment(path, "args:", arguments, sizeof(arguments));
    read_comment(path, "description:", description, sizeof(description));
    snprintf(title, sizeof(title), "%.*s%s%.80s", (int)(strlen(file) - strlen("-report")), file, *arguments ? " " : "",
             arguments);
    printf("  %-36s %s\n", title, description);
}

int pf_scripting_list(void)
{
    const char *folder;
    size_t total = 0;
    char bin[PATH_MAX];
    struct dirent **entries;

    for (size_t i = 0; (folder = folder_at(i)) != NULL; i++) {
        snprintf(bin, sizeof(bin), "%s/scripts/python/bin", folder);
        const int count = scandir(bin, &entries, is_report, alphasort);
        for (int at = 0; at < count; at++) {
            list_one(bin, entries[at]->d_name);
            free(entries[at]);
        }
        total += count > 0 ? (size_t)count : 0;
        if (count >= 0)
            free(entries);
    }
    if (!total)
        pf_message("script: there are no scripts of perf in %s", folder_at(0));
    return total ? PF_STATUS_OK : PF_STATUS_FINDINGS;
}

/* perf's scripts are run by a shell, in which perf is this program. */
#define PERF "perf() { verb=$1; shift; \"$PERFILE\" \"$verb\" ${PERFILE_INPUT:+-i \"$PERFILE_INPUT\"} \"$@\"; }; "
static const char run_one[] = PERF ". \"$0\"";
static const char run_both[] =
    PERF "report=$1; shift; (set -- -q -o - \"$@\"; . \"$0\") | (set -- -i -; . \"$report\")";

static int run_shell(const struct pf_command *command, const char *program, const char *const files[2],
                     char *const arguments[])
{
    size_t count = 0;
    char self[PATH_MAX] = "";

    while (arguments[count])
        count++;
    const char **words = calloc(count + 6, sizeof(*words));
    if (!words)
        return pf_out_of_memory(command->name);
    if (readlink("/proc/self/exe", self, sizeof(self) - 1) > 0)
        setenv("PERFILE", self, 1);
    words[0] = "/bin/sh";
    words[1] = "-c";
    words[2] = program;
    for (size_t i = 0, at = 3; i < 2 + count; i++)
        if (i >= 2 || files[i])
            words[at++] = i < 2 ? files[i] : arguments[i - 2];
    pf_pager_setup(false);
    execv(words[0], (char *const *)words);
    pf_message("%s: %s: %s", command->name, words[0], strerror(errno));
    free(words);
    return PF_STATUS_OUTPUT;
}

static int refuse(const struct pf_command *command, const char *name)
{
    pf_message("%s: perf has no script \"%s\" here (%s %s --list)", command->name, name, pf_program_name(),
               command->name);
    return PF_STATUS_USAGE;
}

int pf_scripting_become(const struct pf_command *command, const struct pf_settings *settings, char *const words[])
{
    const bool reports = !strcmp(words[0], "report"), one = reports || !strcmp(words[0], "record");
    const char *name = one ? words[1] : words[0];
    char first[PATH_MAX], second[PATH_MAX];

    if (!name)
        return refuse(command, "");
    if (settings->input)
        setenv("PERFILE_INPUT", settings->input, 1);
    const char *const files[2] = {find(name, "bin/", reports ? "-report" : "-record", first),
                                  one ? NULL : find(name, "bin/", "-report", second)};
    if (!files[0] || (!one && !files[1]))
        return refuse(command, name);
    return run_shell(command, one ? run_one : run_both, files, words + (one ? 2 : 1));
}
