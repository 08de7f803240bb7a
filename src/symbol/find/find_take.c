/* SPDX-License-Identifier: MIT */
/*
 * Candidates for a file that is looked for: those of perf's build-id cache, of an archive, a bundle, .build-id trees
 * and debuginfod. A candidate is taken when it has the build id that is required.
 */
#include "symbol/find/find_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/text.h"
#include "symbol/find/bundle.h"
#include "symbol/machine.h"
#include "symbol/table_elf.h"

/* ---- build ids ---- */

void pf_find_id_set(struct pf_find_id *id, const uint8_t *bytes, size_t count)
{
    *id = (struct pf_find_id){.count = pf_build_id_length(bytes, pf_min(count, (size_t)PF_BUILD_ID_BYTES))};
    if (!id->count)
        return;
    memcpy(id->bytes, bytes, id->count);
    id->shown = count > PF_BUILD_ID_BYTES ? PF_BUILD_ID_BYTES : count;
    if (id->shown == PF_BUILD_ID_BYTES && id->count <= 16)
        id->shown = id->count <= 8 ? 8 : 16; /* a hash of lld, MD5 or UUID in a field for SHA-1 */
    *pf_hex_bytes(id->hex, id->bytes, id->shown) = '\0';
}

bool pf_find_id_is_same(const struct pf_find_id *a, const struct pf_find_id *b)
{
    return a->count == b->count && memcmp(a->bytes, b->bytes, a->count) == 0;
}

/* ---- out of memory ---- */

/* The search is incomplete: memory was short. */
void pf_search_note_short(struct pf_search *s)
{
    s->no_memory = true;
    if (s->options->allocator)
        pf_memory_note_short(s->options->allocator);
}

/* Returns the C library's result, and notes when it is NULL because memory was short. */
void *pf_search_note_null(struct pf_search *s, void *result)
{
    if (!result && errno == ENOMEM)
        pf_search_note_short(s);
    return result;
}

/* ---- candidates ---- */

bool pf_search_is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

enum verdict {
    VERDICT_ABSENT, /* or nothing that could be compared */
    VERDICT_OTHER,
    VERDICT_SAME,
};

static enum verdict judge(struct pf_search *s, const char *path, const struct pf_find_id *wanted, struct pf_find_id *id)
{
    uint8_t bytes[PF_BUILD_ID_BYTES] = {0};
    if (!pf_search_is_file(path))
        return VERDICT_ABSENT;
    if (!wanted->count)
        return VERDICT_SAME;
    int count = pf_elf_build_id(s->options->allocator, path, bytes, NULL);
    if (count == PERFILE_ERROR_MEMORY)
        pf_search_note_short(s);
    if (count < 0)
        return VERDICT_ABSENT;
    pf_find_id_set(id, bytes, (size_t)count);
    return pf_find_id_is_same(id, wanted) ? VERDICT_SAME : VERDICT_OTHER;
}

char *pf_search_path(struct pf_search *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *path = pf_text_format_list(s->allocator, format, arguments);
    va_end(arguments);
    if (!path)
        pf_search_note_short(s);
    return path;
}

/* Takes `path`: it becomes *result when it is the right file. `found`, or NULL, gets the build id of another one. */
bool pf_search_take(struct pf_search *s, char *path, const struct pf_find_id *wanted, char **result,
                    struct pf_found *found)
{
    struct pf_find_id id = {0};
    enum verdict verdict = path ? judge(s, path, wanted, &id) : VERDICT_ABSENT;
    if (verdict == VERDICT_SAME) {
        *result = path;
        return true;
    }
    if (verdict == VERDICT_OTHER && found) {
        found->build_id_differs = true;
        snprintf(found->other_build_id, sizeof(found->other_build_id), "%s", id.hex);
    }
    pf_text_free(s->allocator, path);
    return false;
}

bool pf_search_take_any(struct pf_search *s, char *path, char **result)
{
    static const struct pf_find_id none;
    return pf_search_take(s, path, &none, result, NULL);
}

const char *pf_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int pf_directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    return length > INT32_MAX ? 0 : (int)length;
}

/* ---- the bundle ---- */

bool pf_search_take_member(struct pf_search *s, const struct perfile_used_file *file, const struct pf_find_id *wanted,
                           char **result)
{
    char name[PF_BUNDLE_NAME_BYTES_MAX + 1], path[PF_BUNDLE_PATH_BYTES];
    return pf_bundle_name(file, name, sizeof(name)) && pf_bundle_path(s->options, name, path) &&
           pf_search_take(s, pf_search_path(s, "%s", path), wanted, result, NULL);
}

/* What a build id proves. */
bool pf_search_take_member_of_id(struct pf_search *s, const char *kind, const struct pf_find_id *id,
                                 const struct pf_find_id *wanted, char **result)
{
    const struct perfile_used_file file = {.kind = kind, .name = s->name, .build_id = id->hex};
    return id->count && pf_search_take_member(s, &file, wanted, result);
}

/* ---- perf's build-id cache and .build-id trees ---- */

/* CACHE/.build-id/xx/yyyy/LEAF, and CACHE/PATH/ID/LEAF, where `.build-id` has the link. */
bool pf_search_take_leaf(struct pf_search *s, const char *cache, const char *leaf, const struct pf_find_id *wanted,
                         char **result)
{
    const char *name = s->name[0] == '/' ? s->name + 1 : s->name;
    return pf_search_take(s, pf_search_path(s, "%s/.build-id/%.2s/%s/%s", cache, s->id.hex, s->id.hex + 2, leaf),
                          wanted, result, NULL) ||
           pf_search_take(s, pf_search_path(s, "%s/%s/%s/%s", cache, name, s->id.hex, leaf), wanted, result, NULL);
}

bool pf_search_take_from_cache(struct pf_search *s, const char *leaf, char **result)
{
    if (pf_search_take_member_of_id(s, leaf, &s->id, &s->id, result))
        return true;
    for (size_t i = 0; s->id.count && i < PF_COUNT(s->caches); i++)
        if (s->caches[i] && pf_search_take_leaf(s, s->caches[i], leaf, &s->id, result))
            return true;
    return false;
}

/*
 * What only its name finds comes out of the bundle before all that has the name here; but not before what the user
 * names.
 */
bool pf_search_take_named(struct pf_search *s, const char *kind, char **result)
{
    static const struct pf_find_id none;
    const struct perfile_used_file file = {.kind = kind, .name = s->name, .build_id = ""};
    return !s->id.count && pf_find_is_local(s->options) && pf_search_take_member(s, &file, &none, result);
}

/* Before perf 4.11 the link led to the file itself. */
bool pf_search_take_old_cache(struct pf_search *s, char **result)
{
    for (size_t i = 0; s->id.count && i < PF_COUNT(s->caches); i++)
        if (s->caches[i] &&
            pf_search_take(s, pf_search_path(s, "%s/.build-id/%.2s/%s", s->caches[i], s->id.hex, s->id.hex + 2), &s->id,
                           result, NULL))
            return true;
    return false;
}

/* Links to binaries, as Fedora has them. */
bool pf_search_take_from_tree(struct pf_search *s, char **result)
{
    return s->id.count &&
           (pf_search_take(s,
                           pf_search_path(s, "%s" PF_MACHINE_BUILD_IDS "/%.2s/%s", s->root, s->id.hex, s->id.hex + 2),
                           &s->id, result, NULL) ||
            pf_search_take(
                s, pf_search_path(s, "%s" PF_MACHINE_DEBUG "/.build-id/%.2s/%s", s->root, s->id.hex, s->id.hex + 2),
                &s->id, result, NULL));
}

bool pf_search_take_debug_from_tree(struct pf_search *s, const struct pf_find_id *id, char **result)
{
    return id->count &&
           pf_search_take(
               s, pf_search_path(s, "%s" PF_MACHINE_DEBUG "/.build-id/%.2s/%s.debug", s->root, id->hex, id->hex + 2),
               id, result, NULL);
}

/* A folder of binaries, without the folders that they were in. */
bool pf_search_take_from_folder(struct pf_search *s, char **result)
{
    return s->name[0] != '[' && !pf_find_is_local(s->options) && s->id.count &&
           pf_search_take(s, pf_search_path(s, "%s/%s", s->root, pf_base_name(s->name)), &s->id, result, NULL);
}

/* ---- debuginfod ---- */

static void say_slow(void *context)
{
    const struct pf_search *s = context;
    const int64_t max_ms = PF_DEBUGINFOD_FILE_SECONDS * 1000, left_ms = s->options->debuginfod->left_ms;
    pf_find_note(s->options, "waiting for debuginfod: %s, at most %d seconds", s->name,
                 (int)((left_ms < max_ms ? left_ms : max_ms) / 1000));
}

/* The binary and its debug file together have PF_DEBUGINFOD_FILE_SECONDS. */
void pf_search_ask_debuginfod(struct pf_search *s, const struct pf_find_id *id, bool wants_debug)
{
    const struct pf_debuginfod_question question = {.build_id = id->bytes,
                                                    .build_id_bytes = id->shown,
                                                    .wants_debug = wants_debug,
                                                    .limit_ms = PF_DEBUGINFOD_FILE_SECONDS * 1000 - s->debuginfod_ms,
                                                    .slow = s->debuginfod_ms < 1000 ? say_slow : NULL,
                                                    .context = s,
                                                    .allocator = s->allocator};
    const int64_t before = s->options->debuginfod->left_ms;
    errno = 0;
    char *path = pf_debuginfod_find(s->options->debuginfod, &question);
    if (!path && (errno == ENOMEM || s->options->debuginfod->last_error == ENOMEM))
        pf_search_note_short(s);
    s->debuginfod_ms += before - s->options->debuginfod->left_ms;
    if (path)
        pf_search_take(s, path, id, wants_debug ? &s->found->debug_path : &s->found->path, NULL);
}

/* ---- a search ---- */

bool pf_search_may_open(const struct pf_search *s)
{
    if (!pf_find_is_local(s->options) || pf_starts_with(s->name, "/dev/shm/"))
        return true;
    return !pf_starts_with(s->name, "/proc/") && !pf_starts_with(s->name, "/sys/") && !pf_starts_with(s->name, "/dev/");
}

bool pf_ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

bool pf_search_open(struct pf_search *s, const struct pf_find_options *options, const char *name)
{
    static const char deleted[] = " (deleted)";
    name = name ? name : "";
    s->options = options;
    s->allocator = pf_find_allocator(options);
    s->root = pf_find_root(options);
    s->name = pf_text_copy(s->allocator, name, strlen(name) - (pf_ends_with(name, deleted) ? sizeof(deleted) - 1 : 0));
    const char *home = getenv("HOME");
    if (options->buildid_dir)
        s->cache = pf_text_copy(s->allocator, options->buildid_dir, strlen(options->buildid_dir));
    else if (home && *home)
        s->cache = pf_search_path(s, "%s/.debug", home);
    s->caches[0] = options->archive_dir;
    s->caches[1] = s->cache;
    return s->name && (s->cache || !(options->buildid_dir || (home && *home)));
}
