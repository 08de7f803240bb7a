/* SPDX-License-Identifier: MIT */
/* The ELF files of binaries: where they are, and how their segments lie in memory. */
#include "analysis/pgo/pgo_parts.h"
#include "base/elf_names.h"
#include "base/error.h"
#include "symbol/elf_file.h"
#include "symbol/find/archive.h"
#include "symbol/find/bundle.h"

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The bytes of a segment that are not in the file do not count: code is never among them. */
static bool add_segments(struct pf_pgo_file *file, const struct pf_elf *elf)
{
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct pf_elf_segment *s = &elf->segments[i];
        uint64_t end;
        if (s->p_type == PT_LOAD && pf_add(s->p_vaddr, s->p_filesz, &end) && pf_add(s->p_offset, s->p_filesz, &end))
            file->segments[file->segment_count++] =
                (struct pf_pgo_segment){s->p_offset, s->p_filesz, s->p_vaddr, s->p_flags & PF_X};
    }
    return file->segment_count;
}

/* Its segments and build id. */
static int read_file(struct perfile_pgo *pgo, struct pf_pgo_file *file, const char *path, struct perfile_error *error)
{
    struct pf_elf elf;
    int result = pf_elf_open(&elf, path, &pgo->watch.allocator, error);
    if (result < 0)
        return result;
    file->segments = pf_arena_new(&pgo->texts, (elf.segment_count + 1) * sizeof(*file->segments));
    if (!file->segments || !add_segments(file, &elf))
        result = pf_fail(error, PERFILE_ERROR_DAMAGED, PERFILE_NO_OFFSET, "ELF file", "%s: no segments", path);
    file->build_id_bytes = (uint8_t)pf_elf_note_build_id(&elf, file->build_id);
    pf_elf_close(&elf);
    return pf_memory_was_short(&pgo->watch.allocator) ? pf_fail_memory(error, "ELF file") : result;
}

/* Both texts may be NULL. False: out of memory. */
static bool copy_text(struct perfile_pgo *pgo, const char **to, const char *from)
{
    *to = from ? pf_arena_text(&pgo->texts, from, strlen(from)) : NULL;
    return !from || *to;
}

static int take_found(struct perfile_pgo *pgo, struct pf_pgo_file *file, const struct pf_found *found)
{
    memcpy(file->other_build_id, found->other_build_id, sizeof(file->other_build_id));
    file->build_id_differs = found->build_id_differs;
    if (!copy_text(pgo, &file->debug_path, found->debug_path))
        return PERFILE_ERROR_MEMORY;
    if (!found->path)
        return 0;
    const int result = read_file(pgo, file, found->path, NULL);
    if (result == 0 && !copy_text(pgo, &file->path, found->path))
        return PERFILE_ERROR_MEMORY;
    return result == PERFILE_ERROR_MEMORY ? result : 0; /* a file that cannot be read is as good as none */
}

/* ---- searching --------------------------------------------------------------------------------------------------- */

/* The bundle of the recording and an archive hold files, too. */
static struct pf_pgo_search *open_search(struct perfile_pgo *pgo, struct perfile_reader *reader)
{
    struct perfile_symbol_options symbols = *pgo->options.symbols;
    if (reader && !symbols.recording)
        symbols.recording = perfile_reader_file(reader)->path;
    struct pf_pgo_search made = {.find = pf_find_options_of(&symbols, &pgo->watch.allocator)};
    if (made.find.was_short || pf_bundle_load(&made.find) < 0)
        return NULL;
    if (reader)
        pf_find_read_names(&made.find, reader);
    if ((made.find.archive && pf_archive_open(&made.find, made.find.archive, &made.archive_dir) < 0) ||
        !PF_APPEND(&pgo->watch.allocator, pgo->searches, pgo->search_count, pgo->search_capacity, made)) {
        pf_bundle_unload(&made.find);
        return NULL;
    }
    pgo->searches[pgo->search_count - 1].find.archive_dir = made.archive_dir;
    return &pgo->searches[pgo->search_count - 1];
}

void pf_pgo_close_searches(struct perfile_pgo *pgo)
{
    for (size_t i = 0; i < pgo->search_count; i++) {
        pf_text_free(&pgo->watch.allocator, pgo->searches[i].archive_dir);
        pf_bundle_unload(&pgo->searches[i].find);
    }
    pf_free(&pgo->watch.allocator, pgo->searches, pgo->search_capacity * sizeof(*pgo->searches));
}

/* The texts of the reader, which may be closed before the search. */
static void end_search(struct pf_pgo_search *search)
{
    search->find.host = search->find.release = search->find.recording = NULL;
}

static int find_one(struct perfile_pgo *pgo, struct pf_pgo_search *search, const struct pf_pgo_module *module,
                    struct pf_pgo_file *file)
{
    struct pf_found found;
    if (pf_find_binary(&search->find, module->name, module->build_id, module->build_id_bytes, &found) < 0)
        return PERFILE_ERROR_MEMORY;
    const int result = take_found(pgo, file, &found);
    pf_found_close(&found);
    return result;
}

int pf_pgo_find_files(struct perfile_pgo *pgo, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct pf_pgo_modules *modules = &pgo->modules;
    struct pf_pgo_search *search = NULL;
    if (pgo->options.binary)
        return 0;
    if (!pf_grow(&pgo->watch.allocator, &pgo->files, &pgo->file_capacity, modules->count, sizeof(*pgo->files)))
        return pf_fail_memory(error, "files");
    for (; pgo->file_count < modules->count; pgo->file_count++)
        pgo->files[pgo->file_count] = (struct pf_pgo_file){0};
    for (size_t i = 0; i < modules->count; i++) {
        if (pgo->files[i].path || !modules->modules[i].samples || modules->modules[i].kernel)
            continue;
        if (!search && !(search = open_search(pgo, reader)))
            return pf_fail_memory(error, "files");
        if (find_one(pgo, search, &modules->modules[i], &pgo->files[i]) < 0)
            return pf_fail_memory(error, "files");
    }
    if (search)
        end_search(search);
    return 0;
}

/* ---- the file that the caller has -------------------------------------------------------------------------------- */

/* Its debug info may be in a file of its own, which the build id finds. */
static int find_debug_file(struct perfile_pgo *pgo, struct pf_pgo_file *file)
{
    struct pf_found found;
    struct pf_pgo_search *search = open_search(pgo, NULL);
    if (!search)
        return PERFILE_ERROR_MEMORY;
    search->find.symfs = "";
    if (pf_find_binary(&search->find, file->path, file->build_id, file->build_id_bytes, &found) < 0)
        return PERFILE_ERROR_MEMORY;
    const bool copied = copy_text(pgo, &file->debug_path, found.debug_path);
    pf_found_close(&found);
    return copied ? 0 : PERFILE_ERROR_MEMORY;
}

int pf_pgo_open_own(struct perfile_pgo *pgo, struct perfile_error *error)
{
    struct pf_pgo_file *file = &pgo->own;
    int result = read_file(pgo, file, pgo->options.binary, error);
    if (result < 0)
        return result;
    if (!copy_text(pgo, &file->path, pgo->options.binary) || find_debug_file(pgo, file) < 0)
        return pf_fail_memory(error, "files");
    return 0;
}
