/* SPDX-License-Identifier: MIT */
/* Where the index of a recording is. */
#ifndef PERFILE_CLI_INDEX_H
#define PERFILE_CLI_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include <perfile/perfile.h>

/* The path in the cache; `make`: its folder is made. False: there is no cache, or no such file. */
bool pf_index_cached(const char *recording, char *path, size_t room, bool make);
/* A descriptor of the index beside the recording, or in the cache; below 0: there is none. Before the sandbox. */
int pf_index_find(const char *recording);
/* Gives it to the reader, if it is its; `fd` may be below 0. */
void pf_index_use(struct perfile_reader *reader, int fd);

#endif
