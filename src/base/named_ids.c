/* SPDX-License-Identifier: MIT */
#include "base/named_ids.h"

#include "base/bytes.h"

struct entry {
    struct pf_named_id id;
    const char *name;
    size_t bytes; /* of the name */
};

void pf_named_ids_open(struct pf_named_ids *ids, const struct perfile_allocator *allocator)
{
    *ids = (struct pf_named_ids){.misc = 0};
    pf_arena_open(&ids->arena, allocator);
    pf_map_open(&ids->of_name, allocator);
}

void pf_named_ids_close(struct pf_named_ids *ids)
{
    if (!ids->arena.allocator)
        return;
    pf_map_close(&ids->of_name);
    pf_arena_close(&ids->arena);
}

static bool is_vmlinux(const struct pf_named_ids *ids, const struct perfile_value *name)
{
    return (ids->misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_MISC_KERNEL &&
           memmem(name->data, name->bytes, "vmlinux", 7);
}

static int add_entry(struct pf_named_ids *ids, const struct perfile_value *name)
{
    struct entry *made = pf_arena_new(&ids->arena, sizeof(*made));
    if (!made)
        return 1;
    *made = (struct entry){ids->id, pf_arena_text(&ids->arena, name->data, name->bytes), name->bytes};
    ids->kernel_is_vmlinux |= is_vmlinux(ids, name);
    ids->id.count = 0;
    const uint64_t hash = pf_hash_bytes(PF_HASH_START, name->data, name->bytes);
    return !made->name || !pf_map_put(&ids->of_name, hash, (uintptr_t)made);
}

int pf_named_ids_take(void *context, const struct perfile_value *value)
{
    struct pf_named_ids *ids = context;
    if (!value->name)
        return 0;
    if (strcmp(value->name, "misc") == 0) {
        ids->misc = value->number.u;
    } else if (strcmp(value->name, "build_id") == 0) {
        ids->id.count = (uint8_t)pf_min(value->bytes, sizeof(ids->id.bytes));
        memcpy(ids->id.bytes, value->data, ids->id.count);
    } else if (strcmp(value->name, "filename") == 0 && ids->id.count) {
        return add_entry(ids, value);
    }
    return 0;
}

const struct pf_named_id *pf_named_ids_find(const struct pf_named_ids *ids, const char *name, size_t bytes)
{
    uint64_t found;
    if (!pf_map_get(&ids->of_name, pf_hash_bytes(PF_HASH_START, name, bytes), &found))
        return NULL;
    const struct entry *entry = (const struct entry *)(uintptr_t)found;
    return entry->bytes == bytes && memcmp(entry->name, name, bytes) == 0 ? &entry->id : NULL;
}
