/* SPDX-License-Identifier: MIT */
/*
 * Numbers of the ELF format, by the names that its specification and those of the machines give them; only those that are
 * used. Not to be included with a system's <elf.h>, which has the same names as macros.
 */
#ifndef PF_BASE_ELF_NAMES_H
#define PF_BASE_ELF_NAMES_H

#define ELFMAG "\177ELF"

/* The first bytes of a file, the same for all of them. */
enum { SELFMAG = 4, EI_CLASS = 4, EI_DATA = 5, EI_VERSION = 6, EI_NIDENT = 16 };
enum { ELFCLASS32 = 1, ELFCLASS64 = 2 };
enum { ELFDATA2LSB = 1, ELFDATA2MSB = 2 };
enum { EV_CURRENT = 1 };

/* Types of files. */
enum { ET_REL = 1, ET_EXEC = 2, ET_DYN = 3 };

/* Machines. */
enum {
    EM_SPARC = 2,
    EM_386 = 3,
    EM_68K = 4,
    EM_MIPS = 8,
    EM_PPC = 20,
    EM_PPC64 = 21,
    EM_S390 = 22,
    EM_ARM = 40,
    EM_SH = 42,
    EM_X86_64 = 62,
    EM_XTENSA = 94,
    EM_AARCH64 = 183,
    EM_RISCV = 243,
    EM_CSKY = 252,
    EM_LOONGARCH = 258,
};
enum { EF_ARM_BE8 = 0x00800000 };

/* Sizes of headers and of the entries of tables, in files of 32 and of 64 bits. */
enum {
    ELF32_EHDR_BYTES = 52,
    ELF64_EHDR_BYTES = 64,
    ELF32_SHDR_BYTES = 40,
    ELF64_SHDR_BYTES = 64,
    ELF32_PHDR_BYTES = 32,
    ELF64_PHDR_BYTES = 56,
    ELF32_SYM_BYTES = 16,
    ELF64_SYM_BYTES = 24,
    ELF32_CHDR_BYTES = 12,
    ELF64_CHDR_BYTES = 24,
    ELF_NHDR_BYTES = 12,
};

/* Sections. */
enum { SHN_UNDEF = 0, SHN_LORESERVE = 0xff00, SHN_XINDEX = 0xffff };
enum {
    SHT_NULL = 0,
    SHT_PROGBITS = 1,
    SHT_SYMTAB = 2,
    SHT_STRTAB = 3,
    SHT_RELA = 4,
    SHT_DYNAMIC = 6,
    SHT_NOTE = 7,
    SHT_NOBITS = 8,
    SHT_REL = 9,
    SHT_DYNSYM = 11,
    SHT_SYMTAB_SHNDX = 18,
};
enum { SHF_WRITE = 1, SHF_ALLOC = 2, SHF_EXECINSTR = 4, SHF_COMPRESSED = 0x800 };
enum { ELFCOMPRESS_ZLIB = 1, ELFCOMPRESS_ZSTD = 2 };

/* Segments. */
enum { PN_XNUM = 0xffff };
enum { PT_LOAD = 1, PT_INTERP = 3, PT_NOTE = 4, PT_GNU_EH_FRAME = 0x6474e550 };
enum { PF_X = 1, PF_R = 4 };

/* Symbols. */
enum { STB_LOCAL = 0, STB_GLOBAL = 1, STB_WEAK = 2 };
enum { STT_NOTYPE = 0, STT_OBJECT = 1, STT_FUNC = 2, STT_GNU_IFUNC = 10 };
enum { STV_INTERNAL = 1, STV_HIDDEN = 2 };

/* Relocations that add the address of the program to a constant. */
enum {
    R_X86_64_RELATIVE = 8,
    R_PPC64_RELATIVE = 22,
    R_390_RELATIVE = 12,
    R_AARCH64_RELATIVE = 1027,
    R_RISCV_RELATIVE = 3,
    R_LARCH_RELATIVE = 3,
};

enum { NT_GNU_BUILD_ID = 3 };
enum { DT_FLAGS_1 = 0x6ffffffb, DF_1_PIE = 0x08000000 };

#endif
