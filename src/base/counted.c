/* SPDX-License-Identifier: MIT */
#include "base/counted.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *plural, *singular;
} verbs[] = {{"are", "is"}, {"were", "was"}, {"have", "has"}, {"do", "does"}};

/* Of one; NULL: it is the same. */
static const char *singular_verb(const char *word, size_t bytes)
{
    for (size_t i = 0; i < PF_COUNT(verbs); i++)
        if (strlen(verbs[i].plural) == bytes && memcmp(verbs[i].plural, word, bytes) == 0)
            return verbs[i].singular;
    return NULL;
}

static void put_one(const char *what, char buffer[PF_COUNTED_BYTES])
{
    bool has_noun = false;
    size_t used = (size_t)snprintf(buffer, PF_COUNTED_BYTES, "1");
    for (const char *word = what; *word && used < PF_COUNTED_BYTES;) {
        const size_t bytes = strcspn(word, " "), blanks = strspn(word + bytes, " ");
        const char *verb = has_noun ? singular_verb(word, bytes) : NULL;
        const bool is_noun = !has_noun && bytes > 2 && word[bytes - 1] == 's';
        used += (size_t)snprintf(buffer + used, PF_COUNTED_BYTES - used, " %.*s",
                                 (int)(verb ? strlen(verb) : bytes - is_noun), verb ? verb : word);
        has_noun |= is_noun;
        word += bytes + blanks;
    }
}

const char *pf_count_of(uint64_t count, const char *what, char buffer[PF_COUNTED_BYTES])
{
    if (count == 1)
        put_one(what, buffer);
    else
        snprintf(buffer, PF_COUNTED_BYTES, "%" PRIu64 " %s", count, what);
    return buffer;
}
