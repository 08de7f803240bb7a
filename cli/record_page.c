/* SPDX-License-Identifier: MIT */
/* record --html: perfile itself draws what was recorded, in a process of its own. */
#include "record_page.h"

#include "message.h"
#include "options.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int pf_record_page_check(const struct pf_settings *settings, bool one_file)
{
    if (settings->print.code && !settings->record.html) {
        pf_message("record: --code needs --html");
        return PF_STATUS_USAGE;
    }
    if (!settings->record.html || one_file)
        return PF_STATUS_OK;
    pf_message(
        "record: --html needs one recording in a file: not with --output -, --switch-output, --timestamp-filename, "
        "--repeat or --versus");
    return PF_STATUS_USAGE;
}

static _Noreturn void draw(const char *path, const char *page, const struct pf_settings *settings)
{
    const char *words[] = {"perfile", "flame", "--format", "html", "--open", "--output",
                           page,      NULL,    NULL,       NULL,   NULL,     NULL};
    size_t count = 7;
    sigset_t none;

    if (settings->print.code)
        words[count++] = "--code";
    if (settings->quiet)
        words[count++] = "--quiet";
    words[count++] = "--";
    words[count] = path;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execv("/proc/self/exe", (char **)words);
    pf_message("record: the page is not drawn: %s", strerror(errno));
    _exit(PF_STATUS_UNREADABLE);
}

int pf_record_page_show(const struct pf_settings *settings, const char *path)
{
    char *page = NULL;
    int state = 0;

    if (asprintf(&page, "%s.html", path) < 0)
        return PF_STATUS_UNREADABLE;
    const pid_t pid = fork();
    if (pid == 0)
        draw(path, page, settings);
    while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR)
        ;
    free(page);
    return pid > 0 && WIFEXITED(state) ? WEXITSTATUS(state) : PF_STATUS_UNREADABLE;
}
