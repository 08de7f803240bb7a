/* SPDX-License-Identifier: MIT */
/* Files that are read as one text. */
#ifndef PERFILE_CLI_FILE_TEXT_H
#define PERFILE_CLI_FILE_TEXT_H

#include <stdio.h>

/*
 * Reads the rest of the file, which may have `max` bytes. Returns the text, which ends with a 0 and which the caller
 * frees, and its length in `bytes`, which may be NULL. NULL means an error, see errno: EFBIG when there are more bytes.
 */
char *pf_file_text(FILE *file, size_t max, size_t *bytes);
/* The same of the file of that name. */
char *pf_file_text_of(const char *path, size_t max);

#endif
