/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <stddef.h>

/* SQLite can load extensions, which no statement may ask for; a static program must not contain it: see library.c in src/symbol/find. */
void *dlopen(const char *name, int flags)
{
    (void)name;
    (void)flags;
    return NULL;
}
