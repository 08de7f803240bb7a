/* SPDX-License-Identifier: MIT */
#include "symbol/recorded_ids.h"

#include "base/bytes.h"
#include "base/error.h"

/* Collects the records of feature BUILD_ID: each has a build id before its file name. */
struct collector {
    struct pf_recorded_ids *ids;
    struct pf_recorded_id id;
    uint64_t misc;
};

static bool is_vmlinux(const struct collector *c, const struct perfile_value *filename)
{
    return (c->misc & PERFILE_MISC_CPUMODE_MASK) == PERFILE_MISC_KERNEL &&
           memmem(filename->data, filename->bytes, "vmlinux", 7);
}

static int collect(void *context, const struct perfile_value *value)
{
    struct collector *c = context;
    if (!value->name)
        return 0;
    if (strcmp(value->name, "misc") == 0) {
        c->misc = value->number.u;
    } else if (strcmp(value->name, "build_id") == 0) {
        c->id.count = (uint8_t)pf_min(value->bytes, sizeof(c->id.bytes));
        memcpy(c->id.bytes, value->data, c->id.count);
    } else if (strcmp(value->name, "filename") == 0 && c->id.count) {
        struct pf_recorded_id *kept = pf_arena_new(&c->ids->arena, sizeof(*kept));
        uint64_t hash = pf_hash_bytes(PF_HASH_START, value->data, value->bytes);
        c->ids->kernel_is_vmlinux |= is_vmlinux(c, value);
        if (!kept || !pf_map_put(&c->ids->of_name, hash, (uintptr_t)kept))
            return 1;
        *kept = c->id;
        c->id.count = 0;
    }
    return 0;
}

int pf_recorded_ids_open(struct pf_recorded_ids *ids, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator, struct perfile_error *error)
{
    struct collector collector = {.ids = ids};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &collector, .value = collect};
    pf_arena_open(&ids->arena, allocator);
    pf_map_open(&ids->of_name, allocator);
    const int visited = perfile_feature_visit(reader, PERFILE_FEATURE_BUILD_ID, &visitor, error);
    return visited == PERFILE_ERROR_STOPPED || visited == PERFILE_ERROR_MEMORY ? pf_fail_memory(error, "build ids") : 0;
}

void pf_recorded_ids_close(struct pf_recorded_ids *ids)
{
    if (!ids->arena.allocator)
        return;
    pf_map_close(&ids->of_name);
    pf_arena_close(&ids->arena);
}

const struct pf_recorded_id *pf_recorded_ids_find(const struct pf_recorded_ids *ids, const char *name)
{
    uint64_t known;
    return pf_map_get(&ids->of_name, pf_hash_text(name), &known) ? (const struct pf_recorded_id *)(uintptr_t)known
                                                                 : NULL;
}

bool pf_is_kernel_map(const char *filename)
{
    return pf_starts_with(filename, "[kernel.kallsyms]") || pf_starts_with(filename, "[guest.kernel.kallsyms");
}

const char *pf_kernel_name(const char *filename)
{
    return pf_starts_with(filename, "[guest") ? "[guest.kernel.kallsyms]" : "[kernel.kallsyms]";
}
