/* SPDX-License-Identifier: MIT */
/* The program that shows a file when it is written: a browser, or that of a format. There is one for the process. */
#ifndef PERFILE_CLI_VIEWER_H
#define PERFILE_CLI_VIEWER_H

struct pf_viewer {
    const char *program; /* NULL: $BROWSER, or xdg-open */
    const char *advice;  /* half a sentence for users who do not have it */
    const char *page; /* not NULL: this is opened instead of the file, and the advice, to load it there, always given */
};

/*
 * Starts a process that waits to become the program: behind the sandbox nothing can be started. To be called before that,
 * with the file that will be there; without pf_viewer_show it ends with us. `viewer` must stay.
 */
void pf_viewer_prepare(const struct pf_viewer *viewer, const char *path);
/* The file is there. Does nothing without _prepare; what fails is said. */
void pf_viewer_show(void);

#endif
