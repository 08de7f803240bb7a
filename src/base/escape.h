/* SPDX-License-Identifier: MIT */
/*
 * Names as people may see them. Threads and files may be called anything: a newline would forge a row of a table, and a
 * terminal obeys control characters.
 */
#ifndef PF_BASE_ESCAPE_H
#define PF_BASE_ESCAPE_H

#include "base/bytes.h"

/* Length of the UTF-8 sequence at p (RFC 3629: no overlong forms, no surrogates), or 0. */
size_t pf_utf8_length(const uint8_t *p, size_t left);

/*
 * Length of the printable character at p, or 0. Printable is valid UTF-8 that is neither a control character (C0, DEL,
 * C1) nor breaks lines or reorders the text around it (U+2028 to U+202E, U+2066 to U+2069).
 */
size_t pf_printable_length(const uint8_t *p, size_t left);

/* Bytes at the start that can be printed as they are. */
size_t pf_printable_run(const void *data, size_t bytes);

#endif
