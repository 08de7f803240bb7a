/* SPDX-License-Identifier: MIT */
/*
 * What the files symbols*.c share: the symbols of a recording, the data of a module, and the functions of one file that
 * others call. Each calls only files that are named after it: symbols.c opens and closes, symbols_code.c and
 * symbols_locate.c look up, symbols_load.c loads a module when the first address needs it, symbols_kernel.c loads the
 * kernel, symbols_modules.c finds the module of a mapping.
 */
#ifndef PF_SYMBOL_SYMBOLS_PARTS_H
#define PF_SYMBOL_SYMBOLS_PARTS_H

#include "base/map.h"
#include "base/segments.h"
#include "symbol/embedded.h"
#include "symbol/recorded_ids.h"
#include "symbol/symbols.h"
#include "symbol/table_elf.h"

enum pf_module_kind {
    PF_MODULE_NONE, /* nothing to look for */
    PF_MODULE_ELF,
    PF_MODULE_VDSO,
    PF_MODULE_VDSO32, /* of 32-bit programs on 64-bit machines */
    PF_MODULE_KERNEL,
    PF_MODULE_KERNEL_MODULE,
    PF_MODULE_PERF_MAP, /* code made at run time, named by a text file */
    PF_MODULE_SYMBOL,   /* the mapping is one symbol */
    PF_MODULE_JIT,      /* the mapping is one piece of code of a jitdump */
};

struct pf_module_data {
    struct pf_module public;
    enum pf_module_kind kind;
    uint8_t build_id[20];
    uint8_t build_id_bytes;
    const char *map_name; /* the file name in the recording */
    uint64_t relocation;  /* run-time address minus the table's */
    bool is_relative;     /* the table's addresses count from where the map begins */
    uint32_t code;        /* PF_MODULE_JIT: its number, and its name once it was asked for */
    const char *code_name;
    int32_t pid;        /* of the process that it was first seen in */
    uint64_t map_start; /* where it was first seen */
    uint64_t map_end;
    uint64_t executed; /* PF_MODULE_PERF_MAP: when the process executed its program (ns); 0: not known */
    uint64_t inode;    /* of the file that was mapped, and its device; 0: not recorded */
    uint32_t device_major;
    uint32_t device_minor;
    uint64_t reference; /* kernel: run-time address of the symbol that its mapping names */
    struct pf_symbol_table *table;
    const struct pf_embedded_file *embedded; /* whose table it is, or NULL */
    const char *binary;                      /* the file itself, and its separate debug file; NULL: not found */
    const char *debug;
    const char *alternate; /* what the debug info refers to */
    struct pf_cfi *cfi;
    bool cfi_tried;
    struct pf_inlines *inlines;
    bool inlines_tried;
    bool program_tried;
    bool is_program; /* and not a library */
    bool reported_moved;
    const char **names; /* demangled, by symbol; NULL: not asked for yet */
    uint32_t same_hash; /* the one before of the same hash; module + 1 */
};

/* The module of a map. */
struct pf_known_map {
    uint32_t map;
    uint32_t module; /* + 1; 0: nothing */
};
enum { PF_KNOWN_MAP_BITS = 14 };

/* Code that a running process made. */
struct pf_live_code {
    uint64_t start;
    size_t bytes; /* 0: nothing is known */
    int32_t pid;
    uint8_t code[PF_UNWIND_CODE_BYTES];
};
enum { PF_LIVE_CODE_BITS = 7 };

struct pf_symbols {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct perfile_reader *reader;
    struct pf_find_options find;
    struct pf_segments modules; /* struct pf_module_data: others may look at those they know of while more come */
    size_t count;
    struct pf_map by_key; /* hash of name and build id to the number of a module */
    struct pf_named_ids recorded_ids;
    struct pf_known_map *known_maps; /* by the last bits of their ids; others of the same bits replace them */
    struct pf_map perf_maps;         /* pids to pointers to what pf_symbols_perf_map returns */
    struct pf_map vdsos;             /* ids of maps that may be of 32-bit programs to the number of the module */
    struct pf_map readable;          /* pointers to linkage names of debug info to pointers to readable ones */
    bool reported_mangled;
    char *kallsyms; /* the text of kallsyms_path; NULL means none */
    size_t kallsyms_bytes;
    bool wants_data; /* the kernel's variables, too */
    const char *kallsyms_path;
    bool kallsyms_complete; /* else only the lines of modules are left */
    uint32_t code_module;   /* whose binary is open for its code; module + 1 */
    int code_file;
    int vdso_file; /* of running processes; -1: not opened */
    struct pf_insn_machine code_machine;
    char *archive; /* the folder that it stands for, or NULL */
    char *cache;   /* the folder, or NULL */
    bool cache_tried;
    bool kernel_tried; /* for its modules */
    struct pf_debuginfod debuginfod;
    struct pf_embedded embedded;
    struct pf_jit *jit;             /* may be NULL */
    struct pf_live_code *live_code; /* by a hash; NULL: not asked for yet */
};

/* NULL: there is no such module. */
static inline struct pf_module_data *pf_module_at(const struct pf_symbols *symbols, size_t number)
{
    return pf_segments_at(&symbols->modules, (uint32_t)number);
}

static inline bool pf_module_is_vdso(const struct pf_module_data *module)
{
    return module->kind == PF_MODULE_VDSO || module->kind == PF_MODULE_VDSO32;
}

/* Addresses of other modules stay addresses: someone else will look them up. */
static inline bool pf_symbols_are_wanted(const struct pf_symbols *symbols, const struct pf_module_data *module)
{
    return !symbols->find.no_names || module->kind != PF_MODULE_ELF;
}

/* Of other modules no address is known that debug info could have lines for. */
static inline bool pf_module_has_inlines(const struct pf_module_data *module)
{
    return module->table && (module->kind == PF_MODULE_ELF || pf_module_is_vdso(module));
}

/* ---- symbols_modules.c: which module a mapping belongs to ---- */

bool pf_map_is_executable(const struct perfile_map *map);
enum pf_module_kind pf_module_kind_of(const struct perfile_map *map);
/* True and the number of the module of the map, when it is remembered. */
bool pf_symbols_knows_module(const struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number);
/* True and the number of the module of the map, when it is known without what was asked for before. */
bool pf_symbols_has_module(const struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number);
/* The number of the module, which gets that kind when it is a new one; UINT32_MAX when out of memory. */
uint32_t pf_symbols_module_of_kind(struct pf_symbols *symbols, const struct perfile_map *map, enum pf_module_kind kind);
uint32_t pf_symbols_module_of(struct pf_symbols *symbols, const struct perfile_map *map);
/*
 * The mapping of all addresses that perf-PID.map of a process may name, which has a module of its own. NULL: out of
 * memory.
 */
const struct perfile_map *pf_symbols_perf_map(struct pf_symbols *symbols, const struct perfile_map *of_process);
/* The same when it was asked for before; else NULL. */
const struct perfile_map *pf_symbols_known_perf_map(const struct pf_symbols *symbols, int32_t pid);

/* ---- symbols_kernel.c: the symbols of the kernel ---- */

/* The text of a file, as pf_read_text; memory that was short is noted. */
char *pf_symbols_read_text(const struct pf_symbols *symbols, const char *path, size_t *bytes);
void pf_symbols_free_text(const struct pf_symbols *symbols, char *text, size_t bytes);
/* Hexadecimal digits in the memory of the symbols; "" when out of memory. */
const char *pf_symbols_hex(struct pf_symbols *symbols, const uint8_t *id, size_t bytes);
void pf_module_note_other_build(struct pf_symbols *symbols, struct pf_module_data *module,
                                const struct pf_found *found);
void pf_module_load_kernel(struct pf_symbols *symbols, struct pf_module_data *module);
/* The kernel of the recording is the one that runs here, as far as the recording names both. */
bool pf_symbols_kernel_runs_here(const struct pf_symbols *symbols);
void pf_module_load_kernel_module(struct pf_symbols *symbols, struct pf_module_data *module);

/* ---- symbols_load.c: the symbols of any module ---- */

void pf_module_load(struct pf_symbols *symbols, struct pf_module_data *module);
void pf_module_load_cfi(struct pf_symbols *symbols, struct pf_module_data *module, const char *binary);
/* The module of the map, loaded, and its number; NULL when out of memory. */
struct pf_module_data *pf_symbols_loaded(struct pf_symbols *symbols, const struct perfile_map *map, uint32_t *number);
/* Opens the binary of a module for its code, as symbols->code_file; false when there is none. */
bool pf_symbols_open_code(struct pf_symbols *symbols, uint32_t number);
void pf_symbols_close_code(struct pf_symbols *symbols);

/* ---- symbols_locate.c: the symbol at an address ---- */

/* The address in the terms of the module's table; false when no segment of the file holds it. */
bool pf_module_address(const struct pf_module_data *module, const struct perfile_map *map, uint64_t ip,
                       uint64_t *address);

#endif
