/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_STRINGS_H
#define PF_WINDOWS_STRINGS_H

#include <string.h>

#endif
