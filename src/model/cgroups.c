/* SPDX-License-Identifier: MIT */
#include "model/cgroups.h"

void pf_cgroups_open(struct pf_cgroups *cgroups, const struct perfile_allocator *allocator)
{
    pf_arena_open(&cgroups->arena, allocator);
    pf_map_open(&cgroups->paths, allocator);
}

void pf_cgroups_close(struct pf_cgroups *cgroups)
{
    pf_arena_close(&cgroups->arena);
    pf_map_close(&cgroups->paths);
}

/* Ids are inode numbers, which a later group may get again. */
bool pf_cgroups_follow(struct pf_cgroups *cgroups, const struct perfile_reader *reader,
                       const struct perfile_record *record)
{
    struct perfile_cgroup group;
    if (record->damaged || perfile_record_decode(reader, record, &group, sizeof(group), NULL) < 0)
        return true;
    const char *known = pf_cgroups_path(cgroups, group.id);
    if (known && strcmp(known, group.path) == 0)
        return true;
    const char *path = pf_arena_text(&cgroups->arena, group.path, strlen(group.path));
    return path && pf_map_put(&cgroups->paths, group.id, (uintptr_t)path);
}

const char *pf_cgroups_path(const struct pf_cgroups *cgroups, uint64_t id)
{
    uint64_t path;
    return pf_map_get(&cgroups->paths, id, &path) ? (const char *)(uintptr_t)path : NULL;
}
