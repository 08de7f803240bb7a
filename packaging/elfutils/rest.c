/* SPDX-License-Identifier: MIT */
/* What libdw calls of libdwfl and libebl, which are not built, for files that it is never given here. */
#include <gelf.h>
#include <stddef.h>

int __libdwfl_relocate_value(void *module, Elf *elf, size_t *names, GElf_Word section, GElf_Addr *value)
{
    (void)module;
    (void)elf;
    (void)names;
    (void)section;
    (void)value;
    return -1;
}

void __libdwfl_seterrno(int number)
{
    (void)number;
}

int ebl_abi_cfi(void *backend, void *info)
{
    (void)backend;
    (void)info;
    return -1;
}

void ebl_closebackend(void *backend)
{
    (void)backend;
}

void *ebl_openbackend(void *elf)
{
    (void)elf;
    return NULL;
}

void error(int status, int number, const char *format, ...)
{
    (void)status;
    (void)number;
    (void)format;
    __builtin_trap();
}
