/* SPDX-License-Identifier: MIT */
#ifndef PF_WINDOWS_ALLOCA_H
#define PF_WINDOWS_ALLOCA_H

#include <stdlib.h>
#define alloca __builtin_alloca

#endif
