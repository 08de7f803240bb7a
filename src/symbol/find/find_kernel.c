/* SPDX-License-Identifier: MIT */
/* The file of the kernel and those of its modules. */
#include "symbol/find/find_parts.h"

#include <dirent.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/text.h"
#include "symbol/machine.h"

/* ---- the kernel ---- */

static bool take_kernel_in(struct pf_search *s, const char *directory, const char *prefix, const char *tail)
{
    bool consumed = false;
    char *path = pf_search_path(s, "%s%s", s->root, directory);
    DIR *entries = path ? pf_search_note_null(s, opendir(path)) : NULL;
    for (struct dirent *entry; entries && !consumed && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && pf_starts_with(entry->d_name, prefix))
            consumed = pf_search_take(s, pf_search_path(s, "%s/%s%s", path, entry->d_name, tail), &s->id,
                                      &s->found->path, NULL);
    if (entries)
        closedir(entries);
    pf_text_free(s->allocator, path);
    return consumed;
}

/* Any installed kernel may be the recording's, so only the build id decides. */
static bool take_installed_kernel(struct pf_search *s)
{
    bool consumed = false;
    for (size_t i = 0; s->id.count && i < PF_MACHINE_KERNELS && !consumed; i++) {
        const struct pf_machine_kernels *kernels = &pf_machine_kernels[i];
        consumed = take_kernel_in(s, kernels->folder, kernels->prefix, kernels->tail);
    }
    return consumed;
}

static struct pf_recorded_kernel recorded_kernel(const struct pf_search *s)
{
    const struct pf_find_options *o = s->options;
    return (struct pf_recorded_kernel){.build_id = s->id.bytes,
                                       .build_id_bytes = s->id.count,
                                       .host = o->host,
                                       .release = o->release,
                                       .reference = o->reference,
                                       .reference_address = o->reference_address};
}

/* True for a result above 0; memory that was short is noted. */
static bool is_positive(struct pf_search *s, int result)
{
    if (result < 0)
        pf_search_note_short(s);
    return result > 0;
}

static bool is_of_this_boot(struct pf_search *s, const char *path)
{
    const struct pf_recorded_kernel kernel = recorded_kernel(s);
    const int boot = pf_kallsyms_boot(path, &kernel, s->allocator);
    return is_positive(s, boot) && boot == PF_BOOT_SAME;
}

/* `perf buildid-cache --kcore`: one folder for each boot that was kept, CACHE/[kernel.kcore]/ID/DATE. */
static bool take_kcore_of(struct pf_search *s, const char *cache)
{
    enum { BOOTS_MAX = 256 };
    bool consumed = false;
    char *path = pf_search_path(s, "%s/[kernel.kcore]/%s", cache, s->id.hex);
    DIR *boots = path ? pf_search_note_null(s, opendir(path)) : NULL;
    struct dirent *boot;
    for (unsigned i = 0; boots && !consumed && i < BOOTS_MAX && (boot = readdir(boots)) != NULL; i++) {
        char *text = boot->d_name[0] != '.' ? pf_search_path(s, "%s/%s/kallsyms", path, boot->d_name) : NULL;
        consumed = text && pf_search_is_file(text) && is_of_this_boot(s, text);
        if (consumed)
            s->found->path = text;
        else
            pf_text_free(s->allocator, text);
    }
    if (boots)
        closedir(boots);
    pf_text_free(s->allocator, path);
    return consumed;
}

/* Of the bundle and the archive always; of this machine only where its files may be asked. */
static bool take_kernel_text(struct pf_search *s)
{
    static const struct pf_find_id none;
    const char *caches[] = {s->options->archive_dir, pf_find_is_local(s->options) ? s->cache : NULL};
    for (size_t i = 0; s->id.count && i < PF_COUNT(caches); i++)
        if (caches[i] && take_kcore_of(s, caches[i]))
            return true;
    if (pf_search_take_member_of_id(s, "kallsyms", &s->id, &none, &s->found->path))
        return true;
    for (size_t i = 0; s->id.count && i < PF_COUNT(caches); i++)
        if (caches[i] && pf_search_take_leaf(s, caches[i], "kallsyms", &none, &s->found->path))
            return true;
    return false;
}

static bool take_running_kernel(struct pf_search *s)
{
    const struct pf_recorded_kernel kernel = recorded_kernel(s);
    return is_positive(s, pf_machine_runs_kernel(s->root, &kernel, s->allocator)) &&
           pf_search_take_any(s, pf_search_path(s, "%s" PF_MACHINE_KALLSYMS, s->root), &s->found->path);
}

static bool is_name_of_folder(const char *name)
{
    return name && *name && name[0] != '.' && !strchr(name, '/');
}

/*
 * Where no build id was recorded, the kernel that is installed under the recorded release: below the root that the user
 * names, or on the machine of the recording. It is a guess, as kernels are built again under one release.
 */
static bool take_kernel_of_release(struct pf_search *s)
{
    const char *release = s->options->release;
    bool consumed = false;
    if (s->id.count || !is_name_of_folder(release) || (pf_find_is_local(s->options) && !s->options->same_machine))
        return false;
    for (size_t i = 0; i < PF_MACHINE_KERNELS && !consumed; i++) {
        const struct pf_machine_kernels *kernels = &pf_machine_kernels[i];
        consumed = pf_search_take_any(s,
                                      pf_search_path(s, "%s%s/%s%s%s%s", s->root, kernels->folder, kernels->prefix,
                                                     *kernels->prefix ? "-" : "", release, kernels->tail),
                                      &s->found->path);
    }
    if (consumed)
        pf_find_note(s->options,
                     "names of the kernel are those of %s: it has the recorded release (%s), but no build id was "
                     "recorded to compare",
                     s->found->path, release);
    return consumed;
}

void pf_search_kernel(struct pf_search *s)
{
    const struct pf_find_options *o = s->options;
    char **result = &s->found->path;
    if (o->kallsyms && pf_search_take_any(s, pf_search_path(s, "%s", o->kallsyms), result))
        return;
    if (o->vmlinux && pf_search_take(s, pf_search_path(s, "%s", o->vmlinux), &s->id, result, s->found))
        return;
    /* perf record --kcore: the recording is a directory that holds a copy */
    if (o->recording && pf_search_take_any(s, pf_search_path(s, "%s/kcore_dir/kallsyms", o->recording), result))
        return;
    if (pf_search_take_named(s, "elf", result) || pf_search_take_named(s, "kallsyms", result) ||
        pf_search_take_from_cache(s, "elf", result) || pf_search_take_from_cache(s, "vmlinux", result) ||
        pf_search_take_debug_from_tree(s, &s->id, result) || take_installed_kernel(s) || take_kernel_text(s) ||
        take_running_kernel(s))
        return;
    take_kernel_of_release(s);
}

/* ---- kernel modules ---- */

void pf_kernel_module_name(char *text, size_t capacity, const char *name)
{
    const char *start = name[0] == '/' ? pf_base_name(name) : name;
    start += start[0] == '[';
    snprintf(text, capacity, "%.*s", (int)pf_min(strcspn(start, ".]"), capacity - 1), start);
    for (char *c = text; *c; c++)
        if (*c == '-')
            *c = '_';
}

/* Installed kernels may compress what the recorded path names, or not. */
static bool take_module_at(struct pf_search *s, const char *directory, const char *path)
{
    static const char *const endings[] = {"", ".xz", ".zst"};
    for (size_t i = 0; i < PF_COUNT(endings); i++)
        if (pf_search_take(
                s, pf_search_path(s, "%s%s%.*s%s", s->root, directory, pf_search_plain_length(path), path, endings[i]),
                &s->id, &s->found->path, s->found))
            return true;
    return false;
}

/* Lines are "kernel/net/nf_nat.ko.xz: kernel/lib/libcrc32c.ko.xz", or the first file alone. */
static bool take_listed_module(struct pf_search *s, FILE *list, const char *directory)
{
    enum { LINES_MAX = 100000 };
    char line[4096], wanted[128], name[128];
    pf_kernel_module_name(wanted, sizeof(wanted), s->name);
    for (unsigned i = 0; i < LINES_MAX && fgets(line, sizeof(line), list); i++) {
        line[strcspn(line, ":\n")] = 0;
        const char *slash = strrchr(line, '/');
        pf_kernel_module_name(name, sizeof(name), slash ? slash + 1 : line);
        if (strcmp(name, wanted) == 0 && !strstr(line, "..") && take_module_at(s, directory, line))
            return true;
    }
    return false;
}

/* Either list may be missing: depmod makes the first, the build of the kernel the second. */
static bool take_module_of_release(struct pf_search *s)
{
    static const char *const lists[] = {"dep", "order"};
    const char *release = s->options->release;
    bool consumed = false;
    if (!is_name_of_folder(release))
        return false;
    char *directory = pf_search_path(s, PF_MACHINE_MODULES "/%s/", release);
    for (size_t i = 0; directory && i < PF_COUNT(lists) && !consumed; i++) {
        char *path = pf_search_path(s, "%s%smodules.%s", s->root, directory, lists[i]);
        FILE *list = path && pf_search_is_file(path) ? pf_search_note_null(s, fopen(path, "re")) : NULL;
        if (list) {
            consumed = take_listed_module(s, list, directory);
            fclose(list);
        }
        pf_text_free(s->allocator, path);
    }
    pf_text_free(s->allocator, directory);
    return consumed;
}

void pf_search_module(struct pf_search *s)
{
    char **result = &s->found->path;
    bool is_path = s->name[0] == '/' && pf_search_may_open(s);
    if (pf_search_take_named(s, "elf", result) || (is_path && take_module_at(s, "", s->name)) ||
        pf_search_take_from_cache(s, "elf", result) || take_module_of_release(s) ||
        pf_search_take_debug_from_tree(s, &s->id, result) || (is_path && pf_search_take_by_name(s, &s->id, result)))
        return;
    if (is_path && !pf_find_is_local(s->options) && s->id.count)
        pf_search_take(s, pf_search_path(s, "%s/%s", s->root, pf_base_name(s->name)), &s->id, result, NULL);
}
