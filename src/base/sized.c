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

/* Reports an option that would be ignored. */
static int check_rest(const void *theirs, size_t capacity, size_t bytes, const char *what, struct perfile_error *error)
{
    return capacity <= bytes || is_zero((const uint8_t *)theirs + bytes, capacity - bytes)
               ? 0
               : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what,
                         "members are set that this version of the library does not know");
}

int pf_measured_take(void *ours, size_t bytes, const void *theirs, size_t capacity, const char *what,
                     struct perfile_error *error)
{
    if (!capacity)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "its size is not given");
    const int result = check_rest(theirs, capacity, bytes, what, error);
    if (result == 0)
        memcpy(ours, theirs, pf_min(capacity, bytes));
    return result;
}

void pf_measured_give(void *theirs, size_t capacity, const void *ours, size_t bytes)
{
    if (capacity > bytes)
        memset((uint8_t *)theirs + bytes, 0, capacity - bytes);
    memcpy(theirs, ours, pf_min(capacity, bytes));
}

int pf_sized_take(void *ours, size_t bytes, const void *theirs, const char *what, struct perfile_error *error)
{
    int result = pf_sized_check(theirs, what, error);
    if (!theirs || result < 0)
        return result;
    const size_t capacity = size_of(theirs), members = sizeof(capacity);
    result = check_rest(theirs, capacity, bytes, what, error);
    if (result < 0)
        return result;
    memcpy((uint8_t *)ours + members, (const uint8_t *)theirs + members, pf_min(capacity, bytes) - members);
    return 0;
}

int pf_sized_give(void *theirs, const void *ours, size_t bytes)
{
    if (!theirs)
        return 0;
    const size_t capacity = size_of(theirs), members = sizeof(capacity);
    if (capacity < members)
        return PERFILE_ERROR_ARGUMENT;
    if (capacity > bytes)
        memset((uint8_t *)theirs + bytes, 0, capacity - bytes);
    memcpy((uint8_t *)theirs + members, (const uint8_t *)ours + members, pf_min(capacity, bytes) - members);
    return 0;
}
