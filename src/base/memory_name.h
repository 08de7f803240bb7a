/* SPDX-License-Identifier: MIT */
/*
 * Names of mappings that programs make for code which they generate: memory without a file, with or without a name. The
 * heap and stacks are memory, too, but are mapped by the kernel.
 */
#ifndef PF_BASE_MEMORY_NAME_H
#define PF_BASE_MEMORY_NAME_H

#include <stdbool.h>

bool pf_is_memory_name(const char *name);

#endif
