/* SPDX-License-Identifier: MIT */
/* How wide text is on a terminal. */
#ifndef PF_BASE_COLUMNS_H
#define PF_BASE_COLUMNS_H

#include "base/bytes.h"

/*
 * Bytes of the character at `text`, and the columns it takes: 2 for wide ones of East Asia and emoji, 0 for those that
 * combine with the one before. A byte that is not UTF-8 is a character of one column. `bytes` is not 0.
 */
size_t pf_character(const char *text, size_t bytes, unsigned *columns);

/* Bytes at the start that take at most `columns` columns. */
size_t pf_head_bytes(const char *text, size_t bytes, size_t columns);

size_t pf_columns(const char *text, size_t bytes);

#endif
