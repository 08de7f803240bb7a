/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_LINK_H
#define PF_WINDOWS_LINK_H

#include <elf.h>

#define ElfW(type) Elf64_##type

#endif
