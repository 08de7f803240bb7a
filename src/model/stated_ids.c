/* SPDX-License-Identifier: MIT */
#include "model/stated_ids.h"

#include "base/bytes.h"
#include "base/memory_name.h"
#include "model/maps.h"

bool pf_stated_ids_read(struct pf_named_ids *ids, struct perfile_reader *reader)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = ids, .value = pf_named_ids_take};
    const int result = perfile_feature_visit(reader, PERFILE_FEATURE_BUILD_ID, &visitor, NULL);
    return result != PERFILE_ERROR_STOPPED && result != PERFILE_ERROR_MEMORY;
}

/* The kernel's mapping is called by the symbol that it was found by: "[kernel.kallsyms]_text". */
static size_t name_bytes(const struct perfile_map *map)
{
    const char *end = map->kernel && map->filename[0] == '[' ? strchr(map->filename, ']') : NULL;
    return end ? (size_t)(end - map->filename) + 1 : strlen(map->filename);
}

void pf_stated_ids_fill(const struct pf_named_ids *ids, struct perfile_map *map)
{
    if (map->build_id_bytes || pf_is_memory_name(map->filename))
        return;
    const struct pf_named_id *id = pf_named_ids_find(ids, map->filename, name_bytes(map));
    if (!id)
        return;
    map->build_id_bytes = id->count;
    memcpy(map->build_id, id->bytes, sizeof(map->build_id));
}
