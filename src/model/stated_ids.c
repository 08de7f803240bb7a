/* SPDX-License-Identifier: MIT */
#include "model/stated_ids.h"

#include "base/bytes.h"
#include "model/maps.h"

struct entry {
    const char *name;
    size_t bytes; /* of the name */
    uint8_t build_id[20];
    uint8_t build_id_bytes;
};

void pf_stated_ids_open(struct pf_stated_ids *ids, const struct perfile_allocator *allocator)
{
    pf_arena_open(&ids->arena, allocator);
    pf_map_open(&ids->by_name, allocator);
}

void pf_stated_ids_close(struct pf_stated_ids *ids)
{
    pf_map_close(&ids->by_name);
    pf_arena_close(&ids->arena);
}

/* In each entry of the feature the build id stands before the name. */
struct reading {
    struct pf_stated_ids *ids;
    struct entry next;
};

static int add_entry(struct reading *reading, const struct perfile_value *name)
{
    struct entry *made = pf_arena_new(&reading->ids->arena, sizeof(*made));
    if (!made)
        return 1;
    *made = reading->next;
    made->name = pf_arena_text(&reading->ids->arena, name->data, name->bytes);
    made->bytes = name->bytes;
    reading->next.build_id_bytes = 0;
    const uint64_t hash = pf_hash_bytes(PF_HASH_START, name->data, name->bytes);
    return !made->name || !pf_map_put(&reading->ids->by_name, hash, (uintptr_t)made);
}

static int take_value(void *context, const struct perfile_value *value)
{
    struct reading *reading = context;
    if (value->name && strcmp(value->name, "build_id") == 0) {
        reading->next.build_id_bytes = (uint8_t)pf_min(value->bytes, sizeof(reading->next.build_id));
        memcpy(reading->next.build_id, value->data, reading->next.build_id_bytes);
    } else if (value->name && strcmp(value->name, "filename") == 0 && reading->next.build_id_bytes) {
        return add_entry(reading, value);
    }
    return 0;
}

bool pf_stated_ids_read(struct pf_stated_ids *ids, struct perfile_reader *reader)
{
    struct reading reading = {.ids = ids};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &reading, .value = take_value};
    const int result = perfile_feature_visit(reader, PERFILE_FEATURE_BUILD_ID, &visitor, NULL);
    return result != PERFILE_ERROR_STOPPED && result != PERFILE_ERROR_MEMORY;
}

/* The kernel's mapping is called by the symbol that it was found by: "[kernel.kallsyms]_text". */
static size_t name_bytes(const struct perfile_map *map)
{
    const char *end = map->kernel && map->filename[0] == '[' ? strchr(map->filename, ']') : NULL;
    return end ? (size_t)(end - map->filename) + 1 : strlen(map->filename);
}

void pf_stated_ids_fill(const struct pf_stated_ids *ids, struct perfile_map *map)
{
    uint64_t found;
    const size_t bytes = name_bytes(map);
    if (map->build_id_bytes || pf_maps_is_anonymous(map->filename) ||
        !pf_map_get(&ids->by_name, pf_hash_bytes(PF_HASH_START, map->filename, bytes), &found))
        return;
    const struct entry *entry = (const struct entry *)(uintptr_t)found;
    if (entry->bytes != bytes || memcmp(entry->name, map->filename, bytes) != 0)
        return;
    map->build_id_bytes = entry->build_id_bytes;
    memcpy(map->build_id, entry->build_id, sizeof(map->build_id));
}
