/* SPDX-License-Identifier: MIT */
/* Filling the caller's struct perfile_error. */
#ifndef PF_BASE_ERROR_H
#define PF_BASE_ERROR_H

#include <perfile/perfile.h>

/*
 * Fills *error (if not NULL) and returns `code`. `what` names the part, the format says the rest; the message becomes
 * "WHAT at OFFSET: TEXT", without the offset when it is PERFILE_NO_OFFSET.
 */
int pf_fail(struct perfile_error *error, int code, uint64_t offset, const char *what, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/*
 * Sets the token of the error to the caller's word that it is about, and returns `code`. Used as in
 * `return pf_about(error, text, bytes, pf_fail(error, ...))`.
 */
int pf_about(struct perfile_error *error, const char *text, size_t bytes, int code);
int pf_fail_memory(struct perfile_error *error, const char *what);

#endif
