/* SPDX-License-Identifier: MIT */
/* The examples of all verbs: the short help prints the first of them, the man pages all, and a test runs each. */
#ifndef PERFILE_CLI_EXAMPLES_H
#define PERFILE_CLI_EXAMPLES_H

#include <stdbool.h>
#include <stddef.h>

struct pf_example {
    const char *verb; /* "": the command as such */
    bool first;       /* in the short help */
    const char *why;
    const char *command; /* lines for a shell, at most 76 characters each */
};

/* The examples of a verb by position; NULL after the last. */
const struct pf_example *pf_example_at(const char *verb, size_t index);

#endif
