/* SPDX-License-Identifier: MIT */
#include "base/sized.h"

#include "base/bytes.h"

static bool is_zero(const uint8_t *bytes, size_t count)
{
    while (count && !*bytes)
        bytes++, count--;
    return count == 0;
}

static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof(size));
    return size;
}

int pf_sized_check(const void *theirs, const char *what, struct perfile_error *error)
{
    return !theirs || size_of(theirs) >= sizeof(size_t)
               ? 0
               : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "size is not set");
}

int pf_sized_take(void *ours, size_t bytes, const void *theirs, const char *what, struct perfile_error *error)
{
    const int result = pf_sized_check(theirs, what, error);
    if (!theirs || result < 0)
        return result;
    const size_t room = size_of(theirs), members = sizeof(room);
    if (room > bytes && !is_zero((const uint8_t *)theirs + bytes, room - bytes))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what,
                       "members are set that this version of the library does not know");
    memcpy((uint8_t *)ours + members, (const uint8_t *)theirs + members, pf_min(room, bytes) - members);
    return 0;
}

int pf_sized_give(void *theirs, const void *ours, size_t bytes)
{
    if (!theirs)
        return 0;
    const size_t room = size_of(theirs), members = sizeof(room);
    if (room < members)
        return PERFILE_ERROR_ARGUMENT;
    if (room > bytes)
        memset((uint8_t *)theirs + bytes, 0, room - bytes);
    memcpy((uint8_t *)theirs + members, (const uint8_t *)ours + members, pf_min(room, bytes) - members);
    return 0;
}
