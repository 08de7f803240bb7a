/* SPDX-License-Identifier: MIT */
/* Types by the names people write: std::string, std::vector<int>. */
#ifndef PF_ANALYSIS_NAME_SHORT_H
#define PF_ANALYSIS_NAME_SHORT_H

#include "base/bytes.h"

/* `text` has room for the name and its NUL. Returns the bytes without it, never more than the name has. */
size_t pf_name_shorten(const char *name, size_t bytes, char *text);

#endif
