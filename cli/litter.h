/* SPDX-License-Identifier: MIT */
/*
 * Unfinished outputs that have a name: SIGINT, SIGTERM and SIGHUP remove them before they end the process; after a
 * SIGKILL the next command with the same output removes them. Files without a name (O_TMPFILE) do not need this.
 */
#ifndef PERFILE_CLI_LITTER_H
#define PERFILE_CLI_LITTER_H

/* A file, or a folder with all that is in it. */
void pf_litter_add(const char *path);
/* Registers the files that the library makes next to an unfinished recording, and removes those of killed commands. */
void pf_litter_add_recording(const char *path);
/* The same of parts whose names have another text for each % but %%. */
void pf_litter_add_parts(const char *pattern);
/*
 * Removes what killed commands (SIGKILL) left next to an output of that path: our files and folders with exactly the
 * names of unfinished outputs, of processes that have ended.
 */
void pf_litter_sweep(const char *path);
/* The output is finished or removed: it is not litter any more. */
void pf_litter_drop(const char *path);

#endif
