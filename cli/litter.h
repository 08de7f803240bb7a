/* SPDX-License-Identifier: MIT */
/*
 * Unfinished outputs that have a name: SIGINT, SIGTERM and SIGHUP remove them before they end the process, and after a SIGKILL
 * the next command with the same output does. Files without a name (O_TMPFILE) need none of this.
 */
#ifndef PERFILE_CLI_LITTER_H
#define PERFILE_CLI_LITTER_H

/* A file, or a folder with all that is in it. */
void pf_litter_add(const char *path);
/* What the library makes beside a recording of that path until it is finished. What a killed one left is removed at once. */
void pf_litter_add_recording(const char *path);
/* The same of parts whose names have another text for each % but %%. */
void pf_litter_add_parts(const char *pattern);
/*
 * Removes what killed commands (SIGKILL) left beside an output of that path: files and folders that are ours, with exactly
 * the names of unfinished ones, of processes that are over.
 */
void pf_litter_sweep(const char *path);
/* It is finished, or removed. */
void pf_litter_drop(const char *path);

#endif
