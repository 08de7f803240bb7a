/* SPDX-License-Identifier: MIT */
#include "symbol/find/library.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/locale.h"

/* More than any of the libraries needs, with those that it brings along. */
enum { ROOM_BYTES = 64 << 20 };

static bool has_room(void)
{
    void *room = mmap(NULL, ROOM_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return false;
    munmap(room, ROOM_BYTES);
    return true;
}

/*
 * The dynamic linker has words for what went wrong, and those of a number for some of it: there is one for a file that is not
 * there, and none for a segment that cannot be mapped. So what is there and cannot be loaded is tried otherwise.
 */
static bool is_short_of_memory(const char *why)
{
    if (!why || strstr(why, "Cannot allocate memory"))
        return true;
    return !strstr(why, "No such file or directory") && !has_room();
}

void *pf_library_open(const char *name, int flags)
{
    const struct pf_locale locale = pf_locale_enter();
    errno = 0;
    void *library = dlopen(name, flags);
    const bool is_short = !library && (errno == ENOMEM || is_short_of_memory(dlerror()));
    pf_locale_leave(&locale);
    if (!library)
        errno = is_short ? ENOMEM : ENOENT;
    return library;
}
