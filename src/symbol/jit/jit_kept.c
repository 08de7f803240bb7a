/* SPDX-License-Identifier: MIT */
#include "symbol/jit/jit_kept.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

struct search {
    struct pf_arena *arena;
    char path[PATH_MAX + 64];
    bool is_wanted; /* the file that is visited */
    struct pf_jitdump_content *kept;
};

/* Of a file the path comes first. */
static int take_value(void *context, const struct perfile_value *value)
{
    struct search *search = context;
    if (!value->name)
        return 0;
    if (strcmp(value->name, "path") == 0)
        search->is_wanted =
            value->bytes == strlen(search->path) && memcmp(value->data, search->path, value->bytes) == 0;
    if (strcmp(value->name, "content") != 0 || !search->is_wanted || search->kept->data || !value->bytes)
        return 0;
    uint8_t *copy = pf_arena_new(search->arena, value->bytes);
    if (!copy)
        return 1;
    memcpy(copy, value->data, value->bytes);
    search->kept->data = copy;
    search->kept->bytes = value->bytes;
    return 0;
}

int pf_jit_kept_find(struct perfile_reader *reader, int32_t pid, struct pf_arena *arena,
                     struct pf_jitdump_content *kept)
{
    struct search search = {.arena = arena, .kept = kept};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &search, .value = take_value};
    kept->data = NULL;
    if (snprintf(search.path, sizeof(search.path), "/proc/%" PRId32 "/root%s", pid, kept->name) >=
        (int)sizeof(search.path))
        return 0;
    const int result = perfile_feature_visit(reader, PERFILE_FEATURE_FILE2, &visitor, NULL);
    return result == PERFILE_ERROR_STOPPED || result == PERFILE_ERROR_MEMORY ? PERFILE_ERROR_MEMORY : 0;
}
