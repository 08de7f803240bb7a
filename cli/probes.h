/* SPDX-License-Identifier: MIT */
/* Probes from their definitions to tracefs, for the verbs that add some. */
#ifndef PERFILE_CLI_PROBES_H
#define PERFILE_CLI_PROBES_H

#include "options.h"

#include <limits.h>

#include <perfile/probe.h>

/* A probe at one address. Texts are owned. */
struct pf_probe_line {
    char *group, *event;
    char *point, *arguments; /* as the user wrote them */
    char *file;              /* NULL: the kernel */
    char *target;            /* what the kernel reads, after the name */
    bool is_return, is_kernel;
};

struct pf_probe_batch {
    const char *verb;
    const char *tracefs; /* NULL: that of this machine */
    struct pf_probe_line *lines;
    size_t count, capacity;
    bool has_no_memory;
};

/*
 * The path of a program or library: an existing file, a program of $PATH, or a library by its name with or without
 * "lib" and ".so" ("c", "libc", "libc.so.6"). False: nothing was found.
 */
bool pf_probe_find_file(const char *name, char path[PATH_MAX]);
/* Adds what the definition means. `file` NULL: the kernel. PF_STATUS_OK, or another status after a message. */
int pf_probe_batch_define(struct pf_probe_batch *batch, const struct perfile_probe_options *options,
                          const char *definition);
/*
 * Gives the events that are not in tracefs yet names of their own, with _1 and so on after them. Without `force`, an
 * event that exists is an error. Addresses of one definition share a name.
 */
int pf_probe_batch_name(struct pf_probe_batch *batch, size_t first, bool force);
/* "p:GROUP/EVENT TARGET"; `kind`: 0, or '-' for its removal. Owned by the caller; NULL: out of memory. */
char *pf_probe_line_text(const struct pf_probe_line *line, char kind);
/* Writes them to tracefs; what was added before a failure is removed again. */
int pf_probe_batch_add(struct pf_probe_batch *batch);
void pf_probe_batch_free(struct pf_probe_batch *batch);
/* For perfile_probe_options.note. */
void pf_probe_print_note(void *verb, const char *sentence);

#endif
