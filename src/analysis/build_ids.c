/* SPDX-License-Identifier: MIT */
/* The files of a recording, as its header or its samples name them. */
#include <string.h>

#include <perfile/analysis.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/feature.h"
#include "base/map.h"
#include "base/sized.h"
#include "symbol/recorded_ids.h"

struct walk {
    struct perfile_build_ids_options options;
    struct perfile_reader *reader;
    struct perfile_session *session;
    struct pf_named_ids recorded;
    struct pf_map files; /* hashes of those that were given */
    struct pf_map maps;  /* ids of mappings that were hit before */
    char *name;          /* with a NUL; owned */
    size_t name_capacity;
    uint8_t build_id[20]; /* of the entry of the header that is being visited */
    size_t build_id_bytes;
    int failure;
};

/* False: the walk ends with walk->failure. */
static bool give(struct walk *walk, const void *name, size_t length, const uint8_t *id, size_t bytes)
{
    const uint64_t hash = pf_hash_bytes(pf_hash_bytes(PF_HASH_START, name, length), id, bytes);
    uint64_t known;
    if (pf_map_get(&walk->files, hash, &known))
        return true;
    if (!pf_map_put(&walk->files, hash, 1) ||
        !pf_grow(walk->options.allocator, &walk->name, &walk->name_capacity, length + 1, 1)) {
        walk->failure = PERFILE_ERROR_MEMORY;
        return false;
    }
    memcpy(walk->name, name, length);
    walk->name[length] = 0;
    if (walk->options.take(walk->options.context, walk->name, id, bytes) != 0)
        walk->failure = PERFILE_ERROR_STOPPED;
    return !walk->failure;
}

/* ---- the header ---- */

static int see_member(void *context, const struct perfile_value *value)
{
    struct walk *walk = context;
    if (!value->name)
        return 0;
    if (strcmp(value->name, "build_id") == 0) {
        walk->build_id_bytes = value->bytes <= sizeof(walk->build_id) ? value->bytes : 0;
        memcpy(walk->build_id, value->data, walk->build_id_bytes);
    }
    return strcmp(value->name, "filename") == 0 &&
           !give(walk, value->data, value->bytes, walk->build_id, walk->build_id_bytes);
}

/* What is damaged is left out. */
static int walk_header(struct walk *walk, struct perfile_error *error)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = walk, .value = see_member};
    const int result = perfile_feature_visit(walk->reader, PERFILE_FEATURE_BUILD_ID, &visitor, error);
    return walk->failure || result == PERFILE_ERROR_MEMORY ? result : 0;
}

/* ---- the records ---- */

/* Of the kernel, which the mapping calls by a symbol, the header may know the id under the name of its file. */
static bool give_map(struct walk *walk, const struct perfile_map *map)
{
    const bool is_kernel = map->kernel && pf_is_kernel_map(map->filename);
    const char *name = is_kernel ? pf_kernel_name(map->filename) : map->filename;
    const struct pf_named_id *id =
        is_kernel && !map->build_id_bytes ? pf_named_ids_find_text(&walk->recorded, name) : NULL;
    return give(walk, name, strlen(name), id ? id->bytes : map->build_id, id ? id->count : map->build_id_bytes);
}

static bool give_address(struct walk *walk, const struct perfile_space *space, uint64_t address)
{
    const struct perfile_map *map = space ? perfile_space_find(space, address) : NULL;
    uint64_t known;
    if (!map || map->symbol || pf_map_get(&walk->maps, map->id, &known))
        return true;
    if (!pf_map_put(&walk->maps, map->id, 1)) {
        walk->failure = PERFILE_ERROR_MEMORY;
        return false;
    }
    return give_map(walk, map);
}

static bool give_callchain(struct walk *walk, const struct perfile_u64s *ips, const struct perfile_space *spaces[2],
                           bool kernel)
{
    for (uint64_t i = 0; i < ips->count; i++) {
        const uint64_t ip = perfile_u64_at(ips, i);
        if (ip >= PERFILE_CONTEXT_MAX)
            kernel = ip == PERFILE_CONTEXT_KERNEL;
        else if (!give_address(walk, spaces[kernel], ip))
            return false;
    }
    return true;
}

static bool give_sample(struct walk *walk, const struct perfile_record *record)
{
    const unsigned mode = record->misc & PERFILE_MISC_CPUMODE_MASK;
    const bool kernel = mode == PERFILE_MISC_KERNEL;
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    if ((!kernel && mode != PERFILE_MISC_USER) || perfile_sample_decode(record, &sample, NULL) < 0)
        return true;
    const struct perfile_space *spaces[2] = {perfile_session_space(walk->session, sample.pid),
                                             perfile_session_space(walk->session, -1)};
    return give_address(walk, spaces[kernel], sample.ip) && give_callchain(walk, &sample.callchain, spaces, kernel);
}

static int walk_records(struct walk *walk, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result = pf_recorded_ids_open(&walk->recorded, walk->reader, walk->options.allocator, error);
    if (result == 0)
        result = perfile_session_open(walk->reader, &walk->session, error);
    if (result < 0)
        return result;
    perfile_session_follow_maps(walk->session);
    while ((result = perfile_session_next(walk->session, &record, error)) > 0)
        if (record->type == PERFILE_RECORD_SAMPLE && !give_sample(walk, record))
            break;
    perfile_session_close(walk->session);
    return result < 0 ? result : 0;
}

static int walk_all(struct walk *walk, struct perfile_error *error)
{
    const struct perfile_file *file = perfile_reader_file(walk->reader);
    const bool hits = walk->options.with_hits && !pf_has_feature(walk->reader, PERFILE_FEATURE_AUXTRACE);
    /* a stream has its header in its records */
    if (hits || file->mode == PERFILE_MODE_PIPE || !pf_has_feature(walk->reader, PERFILE_FEATURE_BUILD_ID))
        return walk_records(walk, error);
    return walk_header(walk, error);
}

/* ---- entry ---- */

int perfile_build_ids_list(struct perfile_reader *reader, const struct perfile_build_ids_options *options,
                           struct perfile_error *error)
{
    struct walk walk = {.reader = reader, .options = PERFILE_BUILD_IDS_OPTIONS_INIT};
    int result = pf_sized_take(&walk.options, sizeof(walk.options), options, "build id options", error);
    if (result < 0)
        return result;
    if (!reader || !walk.options.take)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "build ids",
                       "no reader, or no function that takes them");
    if (!perfile_reader_is_at_start(reader))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "build ids", "the reader is not at its start");
    walk.options.allocator = pf_allocator_or_default(walk.options.allocator);
    pf_map_open(&walk.files, walk.options.allocator);
    pf_map_open(&walk.maps, walk.options.allocator);
    result = walk_all(&walk, error);
    pf_named_ids_close(&walk.recorded);
    pf_map_close(&walk.maps);
    pf_map_close(&walk.files);
    pf_free(walk.options.allocator, walk.name, walk.name_capacity);
    if (walk.failure == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "build ids");
    if (walk.failure)
        return pf_fail(error, walk.failure, PERFILE_NO_OFFSET, "build ids", "stopped by the caller");
    return result;
}
