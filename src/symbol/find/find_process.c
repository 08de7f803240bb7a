/* SPDX-License-Identifier: MIT */
/* Files that a process wrote for profilers: perf-PID.map and jitdump files. */
#include "symbol/find/find_parts.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/text.h"
#include "symbol/machine.h"

/* Where the process sees the file itself. */
static bool take_from_root(struct pf_search *s, int32_t pid, const char *own_name, char **result)
{
    const struct pf_find_options *o = s->options;
    char *path = pf_search_path(s, "%s" PF_MACHINE_PROCESS "/root%s", s->root, pid, own_name);
    const char *other = path && o->reach ? o->reach(o->reach_context, path) : NULL;
    if (other) {
        pf_text_free(s->allocator, path);
        path = pf_search_path(s, "%s", other);
    }
    return pf_search_take_any(s, path, result);
}

/* The pid may be another process's here by now. */
static bool take_bundled(struct pf_search *s, int32_t pid, char **result)
{
    static const struct pf_find_id none;
    const struct perfile_used_file file = {.kind = "process", .name = s->name, .build_id = "", .pid = pid};
    return pf_search_take_member(s, &file, &none, result);
}

/* Takes a file that a process writes for profilers. */
static bool take_of_process(struct pf_search *s, int32_t pid, const char *own_name, char **result)
{
    const char *beside = s->options->recording;
    if (!pf_find_is_local(s->options) &&
        (pf_search_take_any(s, pf_search_path(s, "%s%s", s->root, s->name), result) ||
         pf_search_take_any(s, pf_search_path(s, "%s/%s", s->root, pf_base_name(s->name)), result)))
        return true;
    if (take_bundled(s, pid, result))
        return true;
    if (pf_find_is_local(s->options) && ((s->options->same_machine && take_from_root(s, pid, own_name, result)) ||
                                         pf_search_take_any(s, pf_search_path(s, "%s%s", s->root, s->name), result)))
        return true;
    if (!beside)
        return false;
    return pf_search_take_any(
        s,
        strchr(beside, '/') ? pf_search_path(s, "%.*s/%s", pf_directory_length(beside), beside, pf_base_name(s->name))
                            : pf_search_path(s, "%s", pf_base_name(s->name)),
        result);
}

/* `own_name` is what the process calls it; NULL: the same. */
static int find_of_process(const struct pf_find_options *options, const char *name, int32_t pid, const char *own_name,
                           char **path)
{
    struct pf_search s = {0};
    *path = NULL;
    s.no_memory = !pf_search_open(&s, options, name);
    if (!s.no_memory && s.name[0] == '/' && pf_search_may_open(&s))
        take_of_process(&s, pid, own_name ? own_name : s.name, path);
    if (!s.no_memory && options->used)
        options->used(
            options->used_context,
            &(struct perfile_used_file){.kind = "process", .name = s.name, .path = *path, .build_id = "", .pid = pid});
    pf_text_free(s.allocator, s.cache);
    pf_text_free(s.allocator, s.name);
    if (!s.no_memory)
        return 0;
    pf_search_note_short(&s);
    pf_text_free(s.allocator, *path);
    *path = NULL;
    return PERFILE_ERROR_MEMORY;
}

int pf_find_mapped(const struct pf_find_options *options, const struct perfile_map *map, struct pf_found *found)
{
    struct pf_search s = {.options = options, .found = found};
    *found = (struct pf_found){.allocator = options->allocator};
    pf_find_id_set(&s.id, map->build_id, map->build_id_bytes);
    s.no_memory = !pf_search_open(&s, options, map->filename);
    if (!s.no_memory && s.name[0] == '/' && map->pid > 0)
        (void)(pf_search_take(&s,
                              pf_search_path(&s, "%s" PF_MACHINE_PROCESS "/map_files/%" PRIx64 "-%" PRIx64, s.root,
                                             map->pid, map->start, map->end),
                              &s.id, &found->path, NULL) ||
               pf_search_take(&s, pf_search_path(&s, "%s" PF_MACHINE_PROCESS "/root%s", s.root, map->pid, s.name),
                              &s.id, &found->path, NULL));
    pf_text_free(s.allocator, s.cache);
    pf_text_free(s.allocator, s.name);
    if (!s.no_memory)
        return 0;
    pf_search_note_short(&s);
    pf_found_close(found);
    return PERFILE_ERROR_MEMORY;
}

int pf_find_jitdump(const struct pf_find_options *options, const char *name, int32_t pid, char **path)
{
    return find_of_process(options, name, pid, NULL, path);
}

int pf_find_perf_map(const struct pf_find_options *options, int32_t pid, char **path)
{
    char name[64], own_name[64];
    snprintf(name, sizeof(name), "/tmp/perf-%" PRId32 ".map", pid);
    snprintf(own_name, sizeof(own_name), "/tmp/perf-%" PRId32 ".map",
             options->same_machine ? pf_machine_own_pid(pf_find_root(options), pid) : pid);
    return find_of_process(options, name, pid, own_name, path);
}
