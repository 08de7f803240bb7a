/* SPDX-License-Identifier: MIT */
/* What musl's regular expressions include of musl: messages are not translated. */
#include <stdlib.h>

#define LCTRANS_CUR(text) (text)
