/* SPDX-License-Identifier: MIT */
/*
 * Finding binaries and their debug files. The paths come out of recordings, which anyone may have written: only regular
 * files are opened, none below /proc, /sys or /dev, and where the recording has a build id the file must have it too.
 */
#include "symbol/find/find_parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/memory_name.h"
#include "base/text.h"
#include "symbol/table.h"

/* ---- searches ---- */

static bool is_kernel(const char *name)
{
    return pf_starts_with(name, "[kernel.kallsyms]") || pf_starts_with(name, "[kernel.vmlinux]") ||
           pf_starts_with(name, "[guest.kernel.kallsyms");
}

/* Memory that is not mapped from a file, and files that are more than bytes. */
static bool is_no_file(const char *name)
{
    static const char *const beginnings[] = {
        "/SYSV", "/[aio]", "anon_inode:", "/drm ", "[heap]", "[stack", "[vsyscall]", "inode:",
    };
    for (size_t i = 0; i < PF_COUNT(beginnings); i++)
        if (pf_starts_with(name, beginnings[i]))
            return true;
    return !*name || pf_is_memory_name(name);
}

static void find_file(struct pf_search *s)
{
    char **result = &s->found->path;
    bool named = s->name[0] != '[' && pf_search_may_open(s);
    if (pf_search_take_named(s, "elf", result))
        return;
    if (named &&
        pf_search_take(s, pf_search_path(s, "%s%s%s", s->root, *s->root && s->name[0] != '/' ? "/" : "", s->name),
                       &s->id, result, s->found))
        return;
    if (pf_search_take_from_cache(s, "elf", result) || pf_search_take_from_cache(s, "vdso", result) ||
        pf_search_take_old_cache(s, result) || pf_search_take_from_tree(s, result))
        return;
    if (pf_search_take_from_folder(s, result))
        return;
    if (s->options->debuginfod && s->id.count)
        pf_search_ask_debuginfod(s, &s->id, false);
}

static void find_any(struct pf_search *s)
{
    if (is_kernel(s->name)) {
        pf_search_kernel(s);
    } else if (!is_no_file(s->name)) {
        find_file(s);
        pf_search_debug(s);
    }
}

/* ---- files that are used ---- */

static bool begins_as_elf(const char *path)
{
    char magic[4];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is =
        fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* The file that debug files share has a build id of its own. */
static void report_alternate(const struct pf_search *s)
{
    uint8_t bytes[PF_BUILD_ID_BYTES] = {0};
    struct pf_find_id id;
    const int count = pf_elf_build_id(s->options->allocator, s->found->alternate_path, bytes, NULL);
    pf_find_id_set(&id, bytes, count > 0 ? (size_t)count : 0);
    const struct perfile_used_file file = {
        .kind = "dwz", .name = s->found->alternate_path, .path = s->found->alternate_path, .build_id = id.hex};
    if (id.count)
        s->options->used(s->options->used_context, &file);
}

static void report_used(const struct pf_search *s)
{
    const struct pf_found *found = s->found;
    struct perfile_used_file file = {.kind = "elf", .name = s->name, .path = found->path, .build_id = s->id.hex};
    if (is_kernel(s->name) && found->path && !begins_as_elf(found->path))
        file.kind = "kallsyms";
    if (found->path || !found->debug_path)
        s->options->used(s->options->used_context, &file);
    file.kind = "debug";
    file.path = found->debug_path;
    if (file.path)
        s->options->used(s->options->used_context, &file);
    if (found->alternate_path)
        report_alternate(s);
}

/* ---- all together ---- */

/* One search of the kind that `look` is for. */
static int find(void (*look)(struct pf_search *), struct pf_search *s, const char *name, const uint8_t *build_id,
                size_t build_id_bytes)
{
    *s->found = (struct pf_found){.allocator = s->options->allocator};
    pf_find_id_set(&s->id, build_id, build_id ? build_id_bytes : 0);
    s->no_memory = !pf_search_open(s, s->options, name);
    if (!s->no_memory)
        look(s);
    if (!s->no_memory && s->options->used && !is_no_file(s->name))
        report_used(s);
    pf_text_free(s->allocator, s->cache);
    pf_text_free(s->allocator, s->name);
    if (!s->no_memory)
        return 0;
    pf_search_note_short(s);
    pf_found_close(s->found);
    return PERFILE_ERROR_MEMORY;
}

int pf_find_binary(const struct pf_find_options *options, const char *name, const uint8_t *build_id,
                   size_t build_id_bytes, struct pf_found *found)
{
    return find(find_any, &(struct pf_search){.options = options, .found = found}, name, build_id, build_id_bytes);
}

int pf_find_kernel_module(const struct pf_find_options *options, const char *name, const uint8_t *build_id,
                          size_t build_id_bytes, struct pf_found *found)
{
    return find(pf_search_module, &(struct pf_search){.options = options, .found = found}, name, build_id,
                build_id_bytes);
}

void pf_found_close(struct pf_found *found)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(found->allocator);
    pf_text_free(allocator, found->path);
    pf_text_free(allocator, found->debug_path);
    pf_text_free(allocator, found->alternate_path);
    *found = (struct pf_found){0};
}
