/* SPDX-License-Identifier: MIT */
/*
 * Unfinished outputs that have a name: SIGINT, SIGTERM and SIGHUP remove them before they end the process. Files without
 * a name (O_TMPFILE) need none of this.
 */
#ifndef PERFILE_CLI_LITTER_H
#define PERFILE_CLI_LITTER_H

#include <stdbool.h>

/* A file, or a folder with all that is in it. With `prefix`: everything in its folder whose name begins so. */
void pf_litter_add(const char *path, bool prefix);
/* What the library makes beside a recording of that path until it is finished. */
void pf_litter_add_recording(const char *path);
/* It is finished, or removed. */
void pf_litter_drop(const char *path);

#endif
