/* SPDX-License-Identifier: MIT */
#include "analysis/keys.h"

#include <stdio.h>
#include <string.h>

#include <perfile/profile.h>

#include "analysis/report/tags.h"

static const struct {
    const char *name, *doc;
} keys[] = {
#define PF_KEY(id, text) {#id, text},
#include "analysis/keys.def"
#undef PF_KEY
};

const char *perfile_profile_key_at(size_t index, const char **doc)
{
    if (index >= PF_KEYS) /* some columns have the names of keys */
        return pf_tag_at(index - PF_KEYS, doc);
    if (doc)
        *doc = keys[index].doc;
    return keys[index].name;
}

const char *pf_key_name(enum pf_key key)
{
    return keys[key].name;
}

enum pf_key pf_key_find(const char *word, size_t bytes)
{
    unsigned key = 0;
    while (key < PF_KEYS && (strlen(keys[key].name) != bytes || memcmp(keys[key].name, word, bytes) != 0))
        key++;
    return key;
}

const char *pf_key_list(unsigned set, char *text, size_t capacity)
{
    size_t used = 0;
    text[0] = '\0';
    for (unsigned key = 0; key < PF_KEYS && used < capacity; key++)
        if (set >> key & 1)
            used += (size_t)snprintf(text + used, capacity - used, "%s%s", used ? ", " : "", keys[key].name);
    return text;
}
