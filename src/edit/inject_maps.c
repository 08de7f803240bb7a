/* SPDX-License-Identifier: MIT */
/* Build ids in the records of mappings, and mappings only where they are hit. */

#include "base/bytes.h"
#include "base/error.h"
#include "base/files.h"
#include "edit/inject.h"

void pf_inject_maps_open(struct pf_inject_maps *maps, struct pf_edit *edit,
                         const struct perfile_inject_options *options)
{
    *maps = (struct pf_inject_maps){.edit = edit, .options = options};
    pf_arena_open(&maps->names, edit->reader->allocator);
    pf_map_open(&maps->by_name, edit->reader->allocator);
    pf_pairs_open(&maps->written, edit->reader->allocator);
}

void pf_inject_maps_close(struct pf_inject_maps *maps)
{
    pf_free(maps->names.allocator, maps->files, maps->file_capacity * sizeof(*maps->files));
    pf_pairs_close(&maps->written);
    pf_map_close(&maps->by_name);
    pf_arena_close(&maps->names);
}

/* ---- build ids of files ---- */

/* Returns whether the name is that of a file; the others are names of memory. */
static bool is_file(const char *filename)
{
    static const char *const memory[] = {"//", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:"};
    for (size_t i = 0; i < PF_COUNT(memory); i++)
        if (pf_starts_with(filename, memory[i]))
            return false;
    return *filename == '/' || strstr(filename, "kernel.kallsyms") || strcmp(filename, "[vdso]") == 0;
}

static const struct pf_inject_file *find_file(const struct pf_inject_maps *maps, const char *name)
{
    uint64_t index;
    if (!pf_map_get(&maps->by_name, pf_hash_text(name), &index) || strcmp(maps->files[index].name, name) != 0)
        return NULL; /* of names with one hash the first is remembered */
    return &maps->files[index];
}

static int keep_file(struct pf_inject_maps *maps, const char *name, const uint8_t *build_id, uint8_t bytes,
                     struct perfile_error *error)
{
    uint64_t index;
    const uint64_t hash = pf_hash_text(name);
    if (pf_map_get(&maps->by_name, hash, &index))
        return 0;
    if (!pf_grow(maps->names.allocator, &maps->files, &maps->file_capacity, maps->file_count + 1, sizeof(*maps->files)))
        return pf_fail_memory(error, "build id");
    struct pf_inject_file *file = &maps->files[maps->file_count];
    *file = (struct pf_inject_file){.name = pf_arena_text(&maps->names, name, strlen(name)), .bytes = bytes};
    memcpy(file->build_id, build_id, bytes);
    if (!file->name || !pf_map_put(&maps->by_name, hash, maps->file_count))
        return pf_fail_memory(error, "build id");
    maps->file_count++;
    return 0;
}

int pf_inject_maps_know(void *context, const struct pf_build_id_file *file, struct perfile_error *error)
{
    struct pf_inject_maps *maps = context;
    return file->mode >= PERFILE_MISC_GUEST_KERNEL || !file->bytes
               ? 0
               : keep_file(maps, file->filename, file->build_id, file->bytes, error);
}

static int inject_build_id(struct pf_inject_maps *maps, const struct perfile_map *map, uint8_t build_id[20],
                           struct perfile_error *error)
{
    char name[PF_BUILD_ID_NAME_BYTES];
    memcpy(build_id, map->build_id, 20);
    if (map->build_id_bytes || map->symbol || !is_file(map->filename))
        return map->build_id_bytes;
    pf_build_id_name(map->filename, name);
    const struct pf_inject_file *known = find_file(maps, name);
    if (known) {
        memcpy(build_id, known->build_id, 20);
        return known->bytes;
    }
    int bytes = 0;
    memset(build_id, 0, 20);
    if (maps->options->find_build_id)
        bytes = maps->options->find_build_id(maps->options->find_context, map, build_id);
    if (bytes < 0 || bytes > 20)
        return pf_fail(error, bytes < 0 ? bytes : PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "build id",
                       "cannot search for %.60s", map->filename);
    maps->missing += !bytes;
    int result = keep_file(maps, name, build_id, (uint8_t)bytes, error);
    return result < 0 ? result : bytes;
}

/* ---- a mapping that stands somewhere else than in the recording ---- */

int pf_inject_map(struct pf_inject_maps *maps, const struct pf_inject_location *location, const struct perfile_map *map,
                  struct perfile_error *error)
{
    struct perfile_writer *writer = maps->edit->writer;
    uint16_t misc = map->kernel ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
    struct perfile_mmap2 record = {.pid = location->pid,
                                   .tid = location->pid,
                                   .addr = map->start,
                                   .len = map->end - map->start,
                                   .pgoff = map->pgoff,
                                   .prot = map->prot,
                                   .flags = map->flags,
                                   .filename = map->filename};
    struct perfile_sample_id id = {
        .size = sizeof(id), .pid = location->pid, .tid = location->pid, .time = location->time};
    int bytes = 0;
    if (maps->options->map_build_ids != PERFILE_MAP_BUILD_IDS_NONE)
        bytes = inject_build_id(maps, map, record.build_id, error);
    if (bytes < 0)
        return bytes;
    record.build_id_size = (uint8_t)bytes;
    misc |= bytes ? PERFILE_MISC_MMAP_BUILD_ID : 0;
    misc |= map->data ? PERFILE_MISC_MMAP_DATA : 0;
    if (writer->event_count && writer->events[0].id_count)
        id.id = id.stream_id = id.identifier = writer->events[0].ids[0];
    return perfile_writer_record(writer, PERFILE_RECORD_MMAP2, misc, &record, sizeof(record), &id, error);
}

/* ---- mappings that are hit ---- */

/* Unwinding user stacks and decoding traces need mappings that no sample names; a callchain's user part comes later. */
static bool needs_all(const struct pf_inject_maps *maps)
{
    const struct perfile_reader *reader = maps->edit->reader;
    for (size_t i = 0; i < reader->event_count; i++)
        if (reader->events[i]->public.attr->sample_type & PERFILE_SAMPLE_STACK_USER)
            return true;
    return maps->has_trace || pf_edit_defers_callchains(reader);
}

/* A piece of a mapping that was cut is written as the mapping that is left of it. */
int pf_inject_maps_hit(struct pf_inject_maps *maps, const struct pf_inject_location *location,
                       const struct perfile_map *map, struct perfile_error *error)
{
    const uint64_t owner = (uint64_t)map->id << 32 | (uint32_t)location->pid;
    uint32_t seen;
    if (maps->options->map_build_ids != PERFILE_MAP_BUILD_IDS_HIT || map->kernel || map->code || map->symbol ||
        maps->kept_all || pf_pairs_get(&maps->written, owner, map->start, &seen))
        return 0;
    if (!pf_pairs_put(&maps->written, owner, map->start, 0))
        return pf_fail_memory(error, "maps");
    maps->added++;
    return pf_inject_map(maps, location, map, error);
}

/* ---- the step ---- */

static void read_map(const struct pf_item *item, struct perfile_map *map)
{
    const struct perfile_record *record = item->record;
    const unsigned mode = record->misc & PERFILE_MISC_CPUMODE_MASK;
    *map = (struct perfile_map){
        .size = sizeof(*map), .kernel = mode == PERFILE_MISC_KERNEL, .data = record->misc & PERFILE_MISC_MMAP_DATA};
    if (record->type == PERFILE_RECORD_MMAP) {
        map->filename = item->body.mmap.filename;
        map->prot = map->kernel ? 0 : PERFILE_PROT_READ | (map->data ? 0 : PERFILE_PROT_EXEC);
        map->flags = map->kernel ? 0 : PERFILE_MAP_PRIVATE;
        return;
    }
    const struct perfile_mmap2 *body = &item->body.mmap2;
    map->filename = body->filename;
    map->prot = body->prot;
    map->flags = body->flags;
    if (!(record->misc & PERFILE_MISC_MMAP_BUILD_ID))
        return;
    map->build_id_bytes = (uint8_t)pf_min(body->build_id_size, 20);
    memcpy(map->build_id, body->build_id, map->build_id_bytes);
}

static int rewrite(struct pf_inject_maps *maps, struct pf_item *item, const struct perfile_map *map,
                   struct perfile_error *error)
{
    uint8_t build_id[20];
    int bytes = inject_build_id(maps, map, build_id, error);
    if (bytes <= 0 || map->build_id_bytes)
        return bytes < 0 ? bytes : PF_EDIT_KEEP;
    if (item->record->type == PERFILE_RECORD_MMAP) {
        const struct perfile_mmap from = item->body.mmap;
        item->body.mmap2 = (struct perfile_mmap2){.pid = from.pid,
                                                  .tid = from.tid,
                                                  .addr = from.addr,
                                                  .len = from.len,
                                                  .pgoff = from.pgoff,
                                                  .prot = map->prot,
                                                  .flags = map->flags,
                                                  .filename = from.filename};
    }
    maps->record = *item->record;
    maps->record.type = PERFILE_RECORD_MMAP2;
    maps->record.misc |= PERFILE_MISC_MMAP_BUILD_ID;
    item->record = &maps->record;
    item->body.mmap2.build_id_size = (uint8_t)bytes;
    memcpy(item->body.mmap2.build_id, build_id, sizeof(build_id));
    item->changed = true;
    return PF_EDIT_KEEP;
}

int pf_inject_maps_record(struct pf_inject_maps *maps, struct pf_item *item, struct pf_known_ids *ids,
                          struct perfile_error *error)
{
    const uint32_t type = item->record->type;
    struct perfile_map map;
    maps->has_trace |= type == PERFILE_RECORD_AUXTRACE_INFO || type == PERFILE_RECORD_AUXTRACE;
    if (type != PERFILE_RECORD_MMAP && type != PERFILE_RECORD_MMAP2)
        return PF_EDIT_KEEP;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    read_map(item, &map);
    const unsigned mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    if (mode != PERFILE_MISC_KERNEL && mode != PERFILE_MISC_USER)
        return PF_EDIT_KEEP; /* guests have files of their own */
    if (ids)
        result = pf_inject_add_build_id(maps, ids, &map, error);
    if (result < 0 || maps->options->map_build_ids == PERFILE_MAP_BUILD_IDS_NONE)
        return result;
    maps->kept_all |= needs_all(maps);
    if (maps->options->map_build_ids == PERFILE_MAP_BUILD_IDS_HIT && !map.kernel && !maps->kept_all &&
        !pf_is_jitdump(map.filename)) /* no sample hits it, but readers look for it */
        return PF_EDIT_DROP;
    return rewrite(maps, item, &map, error);
}

int pf_inject_add_build_id(struct pf_inject_maps *maps, struct pf_known_ids *ids, const struct perfile_map *map,
                           struct perfile_error *error)
{
    uint8_t build_id[20];
    int bytes = inject_build_id(maps, map, build_id, error);
    const struct pf_build_id_file file = {.mode = map->kernel ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER,
                                          .filename = map->filename,
                                          .build_id = build_id,
                                          .bytes = (uint8_t)(bytes > 0 ? bytes : 0)};
    return bytes < 0 ? bytes : pf_build_ids_add(ids, &file, error);
}

void pf_inject_maps_notify(const struct pf_inject_maps *maps)
{
    if (maps->kept_all && maps->options->map_build_ids == PERFILE_MAP_BUILD_IDS_HIT)
        pf_writer_diagnose(
            maps->edit->writer, "maps-kept",
            "all mappings are kept: dumped user stacks, deferred callchains and traces need those that no sample hits");
}
