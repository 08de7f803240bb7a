/* SPDX-License-Identifier: MIT */
#include "picture.h"
#include "message.h"
#include "stream.h"
#include "viewer.h"

#include <string.h>
#include <unistd.h>

/* The formats that the name of the output chooses: x.html. */
static const struct {
    const char *verb, *format, *file; /* NULL: not a picture */
    bool usual;                       /* without --format */
} pictures[] = {
    {"flame", "svg", "flame.svg", true},      {"flame", "html", "flame.html", false}, {"flame", "folded", NULL, false},
    {"report", "html", "report.html", false}, {"page", "html", "perfile.html", true},
};

/* x.html and x.html.gz are html. */
static bool is_named(const char *path, const char *format)
{
    const size_t length = strlen(format), bytes = strlen(path) - (pf_ends_in(path, ".gz") ? strlen(".gz") : 0);

    return bytes > length && path[bytes - length - 1] == '.' && !strncmp(path + bytes - length, format, length);
}

static void choose_format(const struct pf_command *command, struct pf_settings *settings)
{
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++)
        if (!settings->format && settings->output && !strcmp(pictures[i].verb, command->name) &&
            is_named(settings->output, pictures[i].format))
            settings->format = pictures[i].format;
}

/* The name of the file; NULL when the output is not a picture. */
static const char *find(const struct pf_command *command, const struct pf_settings *settings)
{
    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++)
        if (!strcmp(pictures[i].verb, command->name) &&
            (settings->format ? !strcmp(pictures[i].format, settings->format) : pictures[i].usual))
            return pictures[i].file;
    return NULL;
}

static int check(const struct pf_command *command, const struct pf_settings *settings, bool is_picture)
{
    const bool is_html = settings->format && !strcmp(settings->format, "html");
    const bool is_flame = !strcmp(command->name, "flame");
    const char *why = NULL;

    if (settings->print.code && !is_html)
        why = "--code needs --format html";
    else if (settings->print.code && settings->from_folded)
        why = "--code needs a recording";
    else if (settings->shows && !is_picture)
        why = is_flame ? "--open needs --format svg or html" : "--open needs --format html";
    else if (settings->shows && pf_stream_is_standard(settings->output))
        why = "--open needs a file";
    if (!why)
        return PF_STATUS_OK;
    pf_message("%s: %s", command->name, why);
    return PF_STATUS_USAGE;
}

/* A picture is nothing for a terminal: it goes to a file there, as it does when it is to be shown. */
int pf_picture_choose(const struct pf_command *command, struct pf_settings *settings)
{
    static const struct pf_viewer browser = {.advice = "open it in a browser"};
    const char *file;
    int status;

    choose_format(command, settings);
    file = find(command, settings);
    status = check(command, settings, file);
    if (status)
        return status;
    if (settings->shows)
        settings->viewer = &browser;
    if (!settings->output && file && (settings->shows || (isatty(STDOUT_FILENO) && !settings->pager))) {
        settings->output = file;
        settings->keeps_old = true;
    }
    return PF_STATUS_OK;
}

int pf_picture_notify(const struct pf_settings *settings, int status)
{
    if (settings->keeps_old && status <= PF_STATUS_FINDINGS && !settings->quiet)
        pf_message("%s is written", settings->output);
    return status;
}

uint64_t pf_nodes_that_fit(uint64_t node_bytes)
{
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);

    return pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 4 * 3 / node_bytes : 0;
}
