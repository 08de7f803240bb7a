/* SPDX-License-Identifier: MIT */
/* Names that stay the same when a program is rebuilt: what compilers, linkers and versions add to them is left out. */
#ifndef PF_ANALYSIS_DIFF_NAMES_H
#define PF_ANALYSIS_DIFF_NAMES_H

#include <perfile/profile.h>

#include "base/bytes.h"

/*
 * Each writes at most strlen(name) + 16 bytes with the NUL and returns the length without it. `text` may be the name.
 */

/* Without .isra.0, .part.3, .cold, .llvm.123, @@VERSION, the hashes of Rust, [clone ...]. */
size_t pf_diff_function_name(const char *name, char *text);
/* A compiler made it from a part of a function: "f.part.0", "f.cold". */
bool pf_diff_is_part(const char *name);
/* The base name without " (deleted)" and one number of its version; "[kernel]", "[jit]". `module` NULL: "[unknown]". */
size_t pf_diff_module_name(const struct perfile_module *module, char *text);
/* Numbers of three and more digits, which may be process ids, are "N". */
size_t pf_diff_thread_name(const char *name, char *text);
/* A function's name without what stands in <>. */
size_t pf_diff_plain_name(const char *name, char *text);
/* Both are alike: at most a third of the longer one's characters differs. Of very long names nothing is. */
bool pf_diff_names_alike(const char *name, const char *other);

#endif
