/* SPDX-License-Identifier: MIT */
/* The page that opens recordings in a browser: one file, which ./dev wasm makes and which is installed as data. */
#include "message.h"
#include "picture.h"
#include "sandbox.h"
#include "stream.h"
#include "viewer.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "/proc/self/exe"

/* Relative to the folder of the program: as it is installed, in an archive, and in a checkout. */
static const char *const positions[] = {"../share/perfile/perfile.html", "perfile.html", "../build-wasm/perfile.html"};

/* Opens the first page that is there; NULL: there is none. */
static FILE *open_page(void)
{
    char program[PATH_MAX], *path = NULL;
    const ssize_t length = readlink(PROGRAM, program, sizeof(program) - 1);
    FILE *page = NULL;

    program[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(program, '/');
    for (size_t i = 0; slash && !page && i < sizeof(positions) / sizeof(positions[0]); i++) {
        if (asprintf(&path, "%.*s/%s", (int)(slash - program), program, positions[i]) < 0)
            return NULL;
        page = fopen(path, "re");
        free(path);
    }
    return page;
}

static int copy(const struct pf_command *command, FILE *page, struct pf_settings *settings)
{
    char bytes[1 << 16];
    struct pf_stream out;
    int status = pf_stream_open(&out, settings->output);

    if (status)
        return status;
    out.keeps_old = settings->keeps_old;
    for (size_t got; (got = fread(bytes, 1, sizeof(bytes), page)) > 0;)
        pf_stream_write(&out, bytes, got);
    if (ferror(page)) {
        pf_message("%s: %s", command->name, strerror(errno));
        status = PF_STATUS_UNREADABLE;
    }
    const int written = pf_stream_close(&out, !status);
    if (!written && !status && settings->viewer)
        pf_viewer_show();
    return written ? written : status;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    int status = pf_picture_choose(command, settings);
    FILE *page = status ? NULL : open_page();

    if (status)
        return status;
    if (!page) {
        pf_message(
            "%s: this installation is without it: there is no share/perfile/perfile.html beside the program's bin; "
            "./dev wasm in the sources of perfile makes it as build-wasm/perfile.html",
            command->name);
        return PF_STATUS_UNREADABLE;
    }
    if (settings->viewer)
        pf_viewer_prepare(settings->viewer, settings->output);
    pf_sandbox_enter(command, settings);
    status = copy(command, page, settings);
    fclose(page);
    return pf_picture_notify(settings, status);
}

static const struct pf_option options[] = {
    PF_ROW(TEXT, "output", 'o', "FILE", PF_AT(output),
           "Write to FILE instead of standard output, which is -. Without FILE, the page goes to perfile.html in the "
           "current folder when standard output is a terminal; a file that is there is renamed to perfile.html.old.",
           .first = true),
    PF_FLAG("open", 0, PF_AT(shows), "Open the page in a browser: $BROWSER, or what xdg-open finds.", .first = true),
    {0},
};

const struct pf_command pf_command_page = {
    .name = "page",
    .summary = "write the page that opens recordings in a browser",
    .doc = "Writes one HTML file that contains perfile itself: recordings that are dropped on it are shown, compared, "
           "checked, repaired and exported in the browser, on any system. It needs no network, and nothing leaves the "
           "machine.",
    .groups = {PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
