/* SPDX-License-Identifier: MIT */
/* The program that shows a file when it is written: a browser, or that of a format. There is one for the process. */
#ifndef PERFILE_CLI_VIEWER_H
#define PERFILE_CLI_VIEWER_H

struct pf_viewer {
    const char *program; /* NULL: $BROWSER, or xdg-open */
    const char *advice;  /* half a sentence for users without it */
    const char *page; /* not NULL: this is opened instead of the file, and the advice, to load it there, always given */
};

/*
 * Starts a process that waits to become the program, as no program can be started inside the sandbox. Must be called
 * before the sandbox, with the path of the future file. Without pf_viewer_show it ends with this process. `viewer` must
 * stay valid.
 */
void pf_viewer_prepare(const struct pf_viewer *viewer, const char *path);
/* Opens the file, which exists now. Does nothing without _prepare; reports failures. */
void pf_viewer_show(void);

#endif
