/* SPDX-License-Identifier: MIT */
/* An ELF file with its DWARF, as libdw opens it, and the way out of libdw when memory is short. */
#ifndef PF_SYMBOL_DWARF_DWARF_FILE_H
#define PF_SYMBOL_DWARF_DWARF_FILE_H

#include <elfutils/libdw.h>
#include <gelf.h>
#include <setjmp.h>

#include <perfile/perfile.h>

struct pf_dwarf_file {
    int fd; /* negative: it is not open */
    Elf *elf;
    Dwarf *dwarf;
};
#define PF_DWARF_FILE_CLOSED                                                                                           \
    {                                                                                                                  \
        -1, NULL, NULL                                                                                                 \
    }

/* Without libdw. Errors: OPEN, FORMAT (not ELF), MEMORY. The sections of debug info are inflated. */
int pf_dwarf_file_open_elf(struct pf_dwarf_file *file, const char *path, struct perfile_error *error);
/* Errors: those, and ABSENT (no debug info). What is open is to be closed in any case. */
int pf_dwarf_file_open(struct pf_dwarf_file *file, const char *path, struct perfile_error *error);
void pf_dwarf_file_close(struct pf_dwarf_file *file);
/* Whether `alternate` is the dwz file that the debug info was made with; if so, it is used from here on. */
bool pf_dwarf_file_use_alternate(struct pf_dwarf_file *file, const struct pf_dwarf_file *alternate);

/*
 * libdw ends the process when out of memory, unless its handler jumps out; and a handler has no arguments, not
 * even for its file. While a file is read, `here` is where it jumps to; NULL: no file is read. Some of its functions, and
 * libelf, answer instead that something is absent: errno is then ENOMEM, if it was 0 before.
 */
void pf_dwarf_way_out(jmp_buf *here);
/* The handler itself, of the type Dwarf_OOM. */
void pf_dwarf_leave(void) __attribute__((noreturn));

#endif
