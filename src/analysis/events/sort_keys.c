/* SPDX-License-Identifier: MIT */
#include "analysis/events/sort_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* PF_SORT_KEYS: none. */
static unsigned find(const struct pf_sort_names *names, const char *word, size_t bytes)
{
    for (unsigned i = 0; i < PF_SORT_KEYS && names->names[i]; i++)
        if (strlen(names->names[i]) == bytes && strncmp(names->names[i], word, bytes) == 0)
            return i;
    return PF_SORT_KEYS;
}

static int refuse(const struct pf_sort_names *names, const char *word, size_t bytes, struct perfile_error *error)
{
    char valid[160] = "";
    for (size_t i = 0, used = 0; i < PF_SORT_KEYS && names->names[i] && used < sizeof(valid); i++)
        used += (size_t)snprintf(valid + used, sizeof(valid) - used, "%s%s", i ? ", " : "", names->names[i]);
    return pf_about(error, word, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, names->list ? names->list : "sort",
                            "unknown %s '%.*s'; valid: %s", names->word ? names->word : "key", (int)pf_min(bytes, 40),
                            word, valid));
}

void pf_sort_keys_add(struct pf_sort_keys *keys, unsigned key)
{
    for (size_t i = 0; i < keys->count; i++)
        if (keys->list[i] == key)
            return;
    keys->list[keys->count++] = key;
}

int pf_sort_keys_parse(struct pf_sort_keys *keys, const char *text, const struct pf_sort_names *names,
                       struct perfile_error *error)
{
    static const char parting[] = ", ";
    const char *at = text ? text + strspn(text, parting) : "";
    for (at = *at ? at : names->usual, keys->count = 0; *at; at += strspn(at, parting)) {
        const size_t bytes = strcspn(at, parting);
        const unsigned key = find(names, at, bytes);
        if (key == PF_SORT_KEYS)
            return refuse(names, at, bytes, error);
        pf_sort_keys_add(keys, key);
        at += bytes;
    }
    return 0;
}

int pf_sort_keys_compare(const struct pf_sort_keys *keys, const void *left, const void *right,
                         int (*by)(unsigned key, const void *left, const void *right))
{
    int order = 0;
    for (size_t i = 0; i < keys->count && !order; i++)
        order = by(keys->list[i], left, right);
    return order;
}

int pf_sort_number(const char *const *names, size_t count, const char *text)
{
    for (size_t i = 0; i < count && text && *text; i++)
        if (strcmp(names[i], text) == 0)
            return (int)i;
    return text && *text ? -1 : 0;
}

int pf_sort_down(uint64_t left, uint64_t right)
{
    return (left < right) - (left > right);
}

int pf_sort_down_f64(double left, double right)
{
    return (left < right) - (left > right);
}
