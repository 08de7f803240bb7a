/* SPDX-License-Identifier: MIT */
/* As perf record does: copies of the files that have samples go into the build-id cache. */
#ifndef PERFILE_CLI_RECORD_CACHE_H
#define PERFILE_CLI_RECORD_CACHE_H

struct pf_settings;

/* Adds the files of the recording PATH. Files that cannot be read any more are left out. */
void pf_record_cache_fill(const struct pf_settings *settings, const char *path);

#endif
