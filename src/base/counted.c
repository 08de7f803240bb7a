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

/* Appends the words to the number that the buffer holds. */
static void put_words(const char *what, bool one_thing, bool one_does, char buffer[PF_COUNTED_BYTES])
{
    bool has_noun = false;
    size_t used = strlen(buffer);
    for (const char *word = what; *word && used < PF_COUNTED_BYTES;) {
        const size_t bytes = strcspn(word, " "), blanks = strspn(word + bytes, " ");
        const char *verb = has_noun && one_does ? singular_verb(word, bytes) : NULL;
        const bool is_noun = !has_noun && bytes > 2 && word[bytes - 1] == 's';
        used += (size_t)snprintf(buffer + used, PF_COUNTED_BYTES - used, " %.*s",
                                 (int)(verb ? strlen(verb) : bytes - (is_noun && one_thing)), verb ? verb : word);
        has_noun |= is_noun;
        word += bytes + blanks;
    }
}

const char *pf_count_of(uint64_t count, const char *what, char buffer[PF_COUNTED_BYTES])
{
    snprintf(buffer, PF_COUNTED_BYTES, "%" PRIu64, count);
    put_words(what, count == 1, count == 1, buffer);
    return buffer;
}

const char *pf_part_of(uint64_t part, uint64_t all, const char *what, char buffer[PF_COUNTED_BYTES])
{
    snprintf(buffer, PF_COUNTED_BYTES, "%" PRIu64 " of %" PRIu64, part, all);
    put_words(what, all == 1, part == 1, buffer);
    return buffer;
}
