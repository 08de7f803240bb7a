/* SPDX-License-Identifier: MIT */
#include <stddef.h>

/*
 * SQLite can load extensions, which no statement may ask for. A static program must not load libraries (see
 * src/symbol/find/library.c), so its linker puts this in the place of dlopen.
 */
void *__wrap_dlopen(const char *name, int flags);
void *__wrap_dlopen(const char *name, int flags)
{
    (void)name;
    (void)flags;
    return NULL;
}
