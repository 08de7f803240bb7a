/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/dwarf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/locale.h"

static _Thread_local jmp_buf *way_out;

void pf_dwarf_way_out(jmp_buf *here)
{
    way_out = here;
}

void pf_dwarf_leave(void)
{
    longjmp(*way_out, 1);
}

void pf_dwarf_file_close(struct pf_dwarf_file *file)
{
    dwarf_end(file->dwarf);
    elf_end(file->elf);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct pf_dwarf_file)PF_DWARF_FILE_CLOSED;
}

static int fail_debug_info(const char *path, struct perfile_error *error)
{
    const struct pf_locale locale = pf_locale_enter();
    const char *why = dwarf_errmsg(-1);
    pf_locale_leave(&locale);
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, path, "no debug info (%s)", why ? why : "none");
}

/*
 * libdw inflates the sections that it needs, and continues without those for which memory is short: it cannot be seen
 * afterwards. So they are inflated before; other readers find them so. False when out of memory.
 */
static bool inflate_sections(Elf *elf)
{
    Elf_Scn *section = NULL;
    GElf_Shdr header;
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return true;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        errno = 0;
        const bool is_plain = !name || !pf_starts_with(name, ".debug_") || !(header.sh_flags & SHF_COMPRESSED);
        const bool is_old = name && pf_starts_with(name, ".zdebug_");
        if ((!is_plain && elf_compress(section, 0, 0) < 0 && errno == ENOMEM) ||
            (is_old && elf_compress_gnu(section, 0, 0) < 0 && errno == ENOMEM))
            return false;
    }
    return true;
}

int pf_dwarf_file_open_elf(struct pf_dwarf_file *file, const char *path, struct perfile_error *error)
{
    elf_version(EV_CURRENT);
    file->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (file->fd < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, path, "%s", pf_error_text(errno));
    file->elf = elf_begin(file->fd, ELF_C_READ_MMAP, NULL);
    if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, path, "not an ELF file");
    return inflate_sections(file->elf) ? 0 : pf_fail_memory(error, path);
}

int pf_dwarf_file_open(struct pf_dwarf_file *file, const char *path, struct perfile_error *error)
{
    const int result = pf_dwarf_file_open_elf(file, path, error);
    if (result < 0)
        return result;
    file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (!file->dwarf)
        return fail_debug_info(path, error);
    dwarf_new_oom_handler(file->dwarf, pf_dwarf_leave);
    return 0;
}

bool pf_dwarf_file_use_alternate(struct pf_dwarf_file *file, const struct pf_dwarf_file *alternate)
{
    const char *name;
    const void *wanted, *there;
    const ssize_t wanted_bytes = dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &wanted);
    const ssize_t bytes = dwelf_elf_gnu_build_id(alternate->elf, &there);
    if (wanted_bytes <= 0 || bytes != wanted_bytes || memcmp(wanted, there, (size_t)bytes) != 0)
        return false;
    dwarf_setalt(file->dwarf, alternate->dwarf);
    return true;
}
