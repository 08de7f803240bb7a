/* SPDX-License-Identifier: MIT */
/* Types by the names people write: std::string, std::vector<int>. */
#ifndef PF_ANALYSIS_NAME_SHORT_H
#define PF_ANALYSIS_NAME_SHORT_H

#include "base/bytes.h"

/* `text` must have `bytes` + 1 bytes. Returns the length of the short name, never more than `bytes`. */
size_t pf_name_shorten(const char *name, size_t bytes, char *text);

#endif
