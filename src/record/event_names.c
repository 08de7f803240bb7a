/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "base/locale.h"
#include "record/event_parts.h"

static const struct pf_known_name plain[] = {
#define HARDWARE(config, name, other, doc) {name, other, "hardware", doc, PERFILE_TYPE_HARDWARE, config},
#define SOFTWARE(config, name, other, doc) {name, other, "software", doc, PERFILE_TYPE_SOFTWARE, config},
#include "record/event_names.def"
};

struct word {
    unsigned config;
    unsigned operations; /* of caches: those that make sense */
    const char *names;   /* the first is that of lists */
    const char *text;    /* doc of a cache; of an operation, what stands in front of -misses */
};
static const struct word caches[] = {
#define CACHE(config, names, operations, doc) {config, operations, names, doc},
#include "record/event_names.def"
};
static const struct word operations[] = {
#define OPERATION(config, names, single) {config, 0, names, single},
#include "record/event_names.def"
};
static const struct word results[] = {
#define RESULT(config, names) {config, 0, names, NULL},
#include "record/event_names.def"
};

/* ---- listing ----------------------------------------------------------------------------------------------------- */

static uint64_t cache_config(unsigned cache, unsigned operation, unsigned result)
{
    return cache | (uint64_t)operation << 8 | (uint64_t)result << 16;
}

/* "L1-dcache-loads", "L1-dcache-load-misses" */
static void cache_name(const struct word *cache, const struct word *operation, bool misses, char *buffer)
{
    const int cache_bytes = (int)strcspn(cache->names, "|"), operation_bytes = (int)strcspn(operation->names, "|");
    if (misses)
        snprintf(buffer, PF_CACHE_NAME_BYTES, "%.*s-%s-misses", cache_bytes, cache->names, operation->text);
    else
        snprintf(buffer, PF_CACHE_NAME_BYTES, "%.*s-%.*s", cache_bytes, cache->names, operation_bytes,
                 operation->names);
}

bool pf_known_name_at(size_t index, struct pf_known_name *known, char buffer[PF_CACHE_NAME_BYTES])
{
    if (index < PF_COUNT(plain)) {
        *known = plain[index];
        return true;
    }
    index -= PF_COUNT(plain);
    for (size_t i = 0; i < PF_COUNT(caches); i++)
        for (size_t j = 0; j < PF_COUNT(operations); j++)
            for (unsigned misses = 0; misses < 2 && caches[i].operations >> j & 1; misses++) {
                if (index--)
                    continue;
                cache_name(&caches[i], &operations[j], misses, buffer);
                *known = (struct pf_known_name){
                    .name = buffer, .kind = "cache", .doc = caches[i].text, .type = PERFILE_TYPE_HW_CACHE};
                known->config = cache_config(caches[i].config, operations[j].config, misses);
                return true;
            }
    return false;
}

/* ---- finding ----------------------------------------------------------------------------------------------------- */

/* Removes the longest word with this name from the start of *rest, and the '-' after it. */
static const struct word *take_word(const struct word *words, size_t count, struct pf_piece *rest)
{
    const struct word *best = NULL;
    size_t best_bytes = 0;
    for (size_t i = 0; i < count; i++)
        for (const char *name = words[i].names; name;) {
            const size_t bytes = strcspn(name, "|");
            const bool ends = bytes == rest->bytes || (bytes < rest->bytes && rest->text[bytes] == '-');
            if (ends && bytes > best_bytes && pf_begins_but_case(name, rest->text, bytes)) {
                best = &words[i];
                best_bytes = bytes;
            }
            name = name[bytes] ? name + bytes + 1 : NULL;
        }
    if (best) {
        best_bytes += best_bytes < rest->bytes;
        *rest = (struct pf_piece){rest->text + best_bytes, rest->bytes - best_bytes};
    }
    return best;
}

/* CACHE, then an operation and a result in any order; either may be missing. */
static bool find_cache(struct pf_piece name, uint64_t *config)
{
    const struct word *cache, *operation = NULL, *result = NULL;
    if (!name.bytes || name.text[name.bytes - 1] == '-' || !(cache = take_word(caches, PF_COUNT(caches), &name)))
        return false;
    while (name.bytes) {
        const struct word *word;
        if (!operation && (word = take_word(operations, PF_COUNT(operations), &name)))
            operation = word;
        else if (!result && (word = take_word(results, PF_COUNT(results), &name)))
            result = word;
        else
            return false;
    }
    const unsigned wanted = operation ? operation->config : 0;
    *config = cache_config(cache->config, wanted, result ? result->config : 0);
    return cache->operations >> wanted & 1;
}

bool pf_known_name_find(struct pf_piece name, uint32_t *type, uint64_t *config)
{
    for (size_t i = 0; i < PF_COUNT(plain); i++)
        if (pf_piece_like(name, plain[i].name) || (plain[i].other && pf_piece_like(name, plain[i].other))) {
            *type = plain[i].type;
            *config = plain[i].config;
            return true;
        }
    *type = PERFILE_TYPE_HW_CACHE;
    return find_cache(name, config);
}
