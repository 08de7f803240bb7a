/* SPDX-License-Identifier: MIT */
/*
 * The symbols of a recording: which module a mapping belongs to, and which symbol an address in it. Modules are
 * found and read when the first address asks for them; per distinct address the cost is one look-up.
 */
#ifndef PF_SYMBOL_SYMBOLS_H
#define PF_SYMBOL_SYMBOLS_H

#include <perfile/perfile.h>

#include "symbol/find/find.h"
#include "symbol/dwarf/inlines.h"
#include "symbol/unwind/insn.h"
#include "symbol/jit/jit.h"
#include "symbol/table.h"
#include "symbol/unwind/unwind.h"

#define PF_NO_SYMBOL UINT32_MAX

/* Why a module has no symbols. */
enum pf_missing {
    PF_MISSING_FILE,   /* it is not here */
    PF_MISSING_BUILD,  /* what is here is another build */
    PF_MISSING_NAMES,  /* it is here, without names for these addresses */
    PF_MISSING_KERNEL, /* nothing is here that knows this kernel */
    PF_MISSING_JIT,    /* code that was made at run time was not described */
    PF_MISSING_COUNT
};

struct pf_module {
    const char *name;       /* as perf shows it: a path, "[kernel.kallsyms]", "[vdso]", "/tmp/perf-1.map" */
    const char *short_name; /* as perf report shows it: the last part, "[JIT] tid 1" */
    bool kernel;
    bool jit; /* code that was made at run time */
    bool looked_for;
    bool build_id_differs;               /* a file of that name is here, but it is another one */
    const struct pf_symbol_table *table; /* NULL: no symbols */
    const char *path;                    /* of the file that was read, or NULL */
    const char *build_id;                /* recorded, as hexadecimal digits; "": not recorded */
    const char *other_build_id;          /* of the file that is another one; "": it has none. NULL: there is none */
    uint64_t addresses;                  /* that were asked for, and how many of them got a symbol */
    uint64_t resolved;
};

/* The location of an address in the code. */
struct pf_location {
    uint32_t module;    /* PF_NO_SYMBOL: no mapping holds the address */
    uint32_t symbol;    /* index in the module's table, or PF_NO_SYMBOL */
    uint64_t offset;    /* bytes from the start of the symbol; without one the address in the module (perf's `dsoff`) */
    uint64_t address;   /* the ELF address, for line tables; 0 when the module is not an ELF file */
    uint64_t in_module; /* the address in the module, as in `offset`, whether there is a symbol or not */
    uint64_t table_address; /* as the module's symbols count; without any as `in_module` */
};

struct pf_symbols;

/* None of the symbols that were asked for was found, and why. */
bool pf_module_is_missing(const struct pf_module *module);
enum pf_missing pf_module_missing_kind(const struct pf_module *module);

/*
 * `reader` has the machine and the build ids of the recording. `find` may be NULL. When memory is short, names, lines
 * and callers are missing, and only the watch of find->allocator notes it: check that before they are used.
 */
int pf_symbols_open(struct perfile_reader *reader, const struct pf_find_options *find, struct pf_symbols **symbols,
                    struct perfile_error *error);
void pf_symbols_close(struct pf_symbols *symbols);
/* Before anything is looked up: kallsyms also gives the kernel's variables, which takes as much memory again. */
void pf_symbols_take_data(struct pf_symbols *symbols);
/* Where mappings with a `code` come from; must outlive the symbols. */
void pf_symbols_use_jit(struct pf_symbols *symbols, struct pf_jit *jit);
/* `map` NULL: nothing is mapped there. False when out of memory. */
bool pf_symbols_locate(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip,
                       struct pf_location *location);
/*
 * The mapping that holds the address; the kernel's own reaches up to the next one, as far as it has symbols there: init
 * code is after the end that recorders state. NULL: nothing is mapped.
 */
const struct perfile_map *pf_symbols_map(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip);

/* Another address of the module, which was found without pf_symbols_locate. */
void pf_symbols_count_address(struct pf_symbols *symbols, uint32_t module);

/* Addresses, both included. */
struct pf_extent {
    uint64_t first, last;
};

/*
 * The addresses around `ip` with the same module and symbol, or none: pf_symbols_map and pf_symbols_locate, which gave
 * `map` and `location` for it, need not be asked for them. There may be more. False: other addresses must be looked up.
 */
bool pf_symbols_extent(const struct pf_symbols *symbols, const struct perfile_space *space,
                       const struct perfile_map *map, uint64_t ip, const struct pf_location *location,
                       struct pf_extent *extent);

/*
 * Whether the result for the address does not depend on earlier look-ups, and no file is read for it: its module is
 * known and loaded, with its lines when `lines` are wanted, or there is none.
 */
bool pf_symbols_is_settled(const struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip,
                           bool lines);

/* How to unwind the dumped user stack of a sample. */
struct pf_unwinding {
    const struct perfile_space *space; /* of the process */
    const char *arch;                  /* uname -m of the recording */
    bool only_known; /* as perf: stop before the first frame whose binary is not available; else frame pointers are
                        tried */
};
/*
 * Leaf first; callers are one byte before their return addresses, where their calls are. No addresses also when there
 * is nothing to unwind. Returns enum pf_unwind_end.
 */
int pf_symbols_unwind(struct pf_symbols *symbols, const struct perfile_sample *sample, const struct pf_unwinding *how,
                      struct pf_unwound *unwound);
/*
 * For a stack whose unwinding has ended early: appends what the kernel found by frame pointers after the last frame,
 * in memory that was not dumped. False: it does not have that frame, or leads out of code.
 */
bool pf_symbols_unwind_on(struct pf_symbols *symbols, const struct perfile_sample *sample,
                          const struct pf_unwinding *how, struct pf_unwound *unwound);
/* Where the function at a user address keeps its return address there; PF_RETURN_UNKNOWN without its binary. */
enum pf_return_at pf_symbols_return_at(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip);
/*
 * The source frames at a location, innermost first, at most `capacity`; returns how many. 0: nothing is known. The
 * first look at a module reads its debug info, or what the cache has of it.
 */
size_t pf_symbols_inlines(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t capacity);
/* The same only where functions were inlined: else 0. */
size_t pf_symbols_inlined(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t capacity);
enum { PF_INLINED_MAX = 64 };
/*
 * The readable names of the functions that are inlined at a location, innermost first: how many, PF_INLINED_MAX at
 * most.
 */
size_t pf_symbols_inlined_names(struct pf_symbols *symbols, const struct pf_location *location, const char **names,
                                size_t max_names);
/* As pf_demangle(); NULL, too, where names are not to be demangled. */
char *pf_symbols_demangle(const struct pf_symbols *symbols, const struct perfile_allocator *allocator,
                          const char *name);
/* The name of a source frame, demangled, made once; it lives as long as the symbols. NULL: out of memory. */
const char *pf_symbols_readable(struct pf_symbols *symbols, const char *linkage);
/*
 * False: no function is inlined at any address of the module, however often it is asked. True also when that was not
 * looked at yet.
 */
bool pf_symbols_may_inline(const struct pf_symbols *symbols, uint32_t module);
/*
 * Copies the machine code from an address on as it is in the binary: at most `capacity` bytes, 0 when the binary is not
 * available. What was mapped may differ: code that patches itself is not in there. The kernel's memory is not read.
 */
size_t pf_symbols_code(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip, uint8_t *code,
                       size_t capacity, struct pf_insn_machine *machine);
/* Where the code of a module is. */
struct pf_code_file {
    const char *path;   /* an ELF file by whose addresses the module's symbols count, or that of the JIT */
    struct pf_jit *jit; /* NULL: it is the ELF file */
    uint32_t code;      /* of the JIT: its number there */
};
/* False: it was not found. `file->path` of the kernel's own memory may name a file that must not be read. */
bool pf_symbols_code_file(struct pf_symbols *symbols, uint32_t module, struct pf_code_file *file);
struct pf_types_files;
/* Where the debug info of a module is whose addresses are those of its symbols; false: there is no such file. */
bool pf_symbols_debug_files(const struct pf_symbols *symbols, uint32_t module, struct pf_types_files *files);
/* A source file of a module from debuginfod, by its name in the debug info; NULL: not found, or not allowed. */
const char *pf_symbols_fetch_source(struct pf_symbols *symbols, uint32_t module, const char *name);
const struct perfile_allocator *pf_symbols_allocator(const struct pf_symbols *symbols);
/* The start of a symbol and the first address after it, as in its table; false when there is no such symbol. */
bool pf_symbols_range(const struct pf_symbols *symbols, uint32_t module, uint32_t symbol, uint64_t *start,
                      uint64_t *end);
/* arm: the code of the symbol is Thumb's. */
bool pf_symbols_is_thumb(const struct pf_symbols *symbols, uint32_t module, uint32_t symbol);
/* The name of a symbol as its table has it; NULL for PF_NO_SYMBOL. */
const char *pf_symbols_raw_name(const struct pf_symbols *symbols, uint32_t module, uint32_t symbol);
/* The symbol that covers an address of a module's table, and how far it is from its start; PF_NO_SYMBOL: none does. */
uint32_t pf_symbols_at(struct pf_symbols *symbols, uint32_t module, uint64_t address, uint64_t *offset);
size_t pf_symbols_module_count(const struct pf_symbols *symbols);
const struct pf_module *pf_symbols_module(const struct pf_symbols *symbols, uint32_t module);
/* The build id that the recording says the module has; its length, 0: it says none. */
size_t pf_symbols_build_id(const struct pf_symbols *symbols, uint32_t module, const uint8_t **build_id);
/* The name of a symbol, demangled, made once; NULL for PF_NO_SYMBOL. */
const char *pf_symbols_name(struct pf_symbols *symbols, uint32_t module, uint32_t symbol);

#endif
