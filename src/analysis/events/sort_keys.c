/* SPDX-License-Identifier: MIT */
#include "analysis/events/sort_keys.h"

#include <string.h>

#include "base/bytes.h"

static size_t find(const char *const *names, size_t count, const char *word, size_t bytes)
{
    size_t i = 0;
    while (i < count && (strlen(names[i]) != bytes || strncmp(names[i], word, bytes) != 0))
        i++;
    return i;
}

int pf_sort_keys(const char *text, const char *const *names, size_t count, const char *valid,
                 void (*add)(void *context, size_t number), void *context, struct perfile_error *error)
{
    static const char parting[] = ", ";
    for (const char *at = text ? text + strspn(text, parting) : ""; *at; at += strspn(at, parting)) {
        const size_t bytes = strcspn(at, parting), found = find(names, count, at, bytes);
        if (found == count)
            return pf_about(error, at, bytes,
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "sort",
                                    "unknown key '%.*s'; valid: %s", (int)pf_min(bytes, 40), at, valid));
        add(context, found);
        at += bytes;
    }
    return 0;
}
