/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. Each calls only files that are named before it here: tree, rows, types,
 * location, variables, points, lines, probe. */
#ifndef PF_SYMBOL_PROBE_PROBE_PARTS_H
#define PF_SYMBOL_PROBE_PROBE_PARTS_H

#include <perfile/probe.h>

#include "base/text.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/dies.h"
#include "symbol/dwarf/locations.h"
#include "symbol/elf_file.h"
#include "symbol/find/find.h"
#include "symbol/probe/definition.h"
#include "symbol/table.h"
#include "symbol/unwind/unwind.h"

struct pf_probe_lines;

/* The code of a function, once for each of its ranges. */
struct pf_probe_function {
    uint64_t low, high;
    struct pf_die die;
};

/* A unit of the debug info. */
struct pf_probe_unit {
    struct pf_die top;
    bool is_open, is_readable, has_functions;
    struct pf_probe_function *functions; /* in ascending order, once they were asked for */
    size_t function_count, function_capacity;
};

/* The file that probes are put into. */
struct pf_probe_target {
    const struct perfile_probe_options *options;
    const struct perfile_allocator *allocator;
    struct perfile_error *error;
    struct pf_arena arena;
    const char *path; /* of the file; NULL: the kernel, of which no file is known */
    struct pf_found found;
    struct pf_elf elf; /* of the path */
    bool has_elf;
    struct pf_symbol_table *table; /* NULL: no symbols */
    struct pf_debug_module debug;
    struct pf_probe_unit *units; /* those of the file, in their order; NULL: it has no debug info */
    struct pf_probe_lines **tables;
    size_t table_count, table_capacity;
    struct pf_map table_numbers;      /* address of a line table in memory -> number of the table */
    struct pf_inlines_builder reader; /* of line tables */
    struct pf_cfi *frames;            /* NULL: they were not read yet, or the file has no CFI */
    uint64_t steps;                   /* that are left: what hostile files may cost */
    uint64_t text;                    /* kernel: the address of _text; 0: not known */
    struct pf_text text_out;          /* arguments of the current probe */
};

/* printf into the arena; NULL: out of memory. */
const char *pf_probe_text(struct pf_probe_target *target, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A sentence for options->note. */
void pf_probe_note(struct pf_probe_target *target, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* An error about the probe or its target. */
int pf_probe_fail(struct pf_probe_target *target, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int pf_probe_no_memory(struct pf_probe_target *target);
/* As pf_grow, in the arena. */
bool pf_probe_grow(struct pf_probe_target *target, void *items, size_t *capacity, size_t count, size_t bytes);
/* False: no steps are left, and what is read ends here. */
static inline bool pf_probe_steps(struct pf_probe_target *target, uint64_t count)
{
    const bool is_enough = target->steps >= count;
    target->steps -= is_enough ? count : target->steps;
    return is_enough;
}
static inline bool pf_probe_step(struct pf_probe_target *target)
{
    return pf_probe_steps(target, 1);
}
#define PF_PROBE_APPEND(target, items, count, capacity, ...)                                                           \
    (pf_probe_grow(target, &(items), &(capacity), (count) + 1, sizeof(*(items))) &&                                    \
     ((void)((items)[(count)++] = __VA_ARGS__), true))

/* ---- tree.c: the tree of DIEs ------------------------------------------------------------------------------------ */

enum pf_walk { PF_WALK_INTO, PF_WALK_SKIP, PF_WALK_END };
typedef enum pf_walk pf_visit(void *context, const struct pf_die *die);
/* All below the DIE, parents before their children; true: a visit returned END. */
bool pf_probe_walk(struct pf_probe_target *target, const struct pf_die *top, pf_visit *visit, void *context);
/* For each compilation unit: 0 to go on. The first result that is not 0, or 0. */
int pf_probe_units(struct pf_probe_target *target, int (*visit)(void *context, struct pf_probe_unit *unit),
                   void *context);
/* False: the code is that of a function which the linker left out; such code seems to be at the first addresses. */
bool pf_probe_is_linked(const struct pf_probe_target *target, uint64_t address);
/* A function with code of its own at the address. */
bool pf_probe_function_at(struct pf_probe_target *target, struct pf_probe_unit *unit, uint64_t address,
                          struct pf_die *function);
/* The inlined function below `function` that holds the address, the outermost one. */
bool pf_probe_inlined_at(struct pf_probe_target *target, const struct pf_die *function, uint64_t address,
                         struct pf_die *inlined);
/* Whether it has code at the address. */
bool pf_probe_holds(struct pf_probe_target *target, const struct pf_die *die, uint64_t address);
/* Where it is entered. */
bool pf_probe_entry(const struct pf_die *die, uint64_t *address);
/* Its code, if that is in one piece. */
bool pf_probe_bounds(const struct pf_die *die, uint64_t *low, uint64_t *high);
/* The unit holds the address: its function, too. */
bool pf_probe_unit_at(struct pf_probe_target *target, uint64_t address, struct pf_probe_unit **unit,
                      struct pf_die *function);
/* Whether it was made from this one, as copies are. */
bool pf_probe_is_copy(const struct pf_die *die, const struct pf_die *origin);

/* ---- rows.c: the line table ------------------------------------------------------------------------------------- */

struct pf_probe_row {
    uint64_t address;
    uint32_t file; /* its number */
    int line;
    bool is_statement; /* and not the end of a sequence */
    bool ends_prologue, ends_sequence;
};
/* Of a unit: its files, and the rows in ascending order. */
struct pf_probe_lines {
    struct pf_probe_target *target;
    struct pf_line_files files;
    const char **paths; /* of files, once they were asked for */
    size_t path_count;
    struct pf_probe_row *rows;
    size_t count, capacity;
};
struct pf_probe_line {
    const char *file;
    int line;
};
/* NULL: the unit has no lines. */
struct pf_probe_lines *pf_probe_lines_of(struct pf_probe_target *target, const struct pf_unit *unit);
void pf_probe_close_lines(struct pf_probe_target *target);
/* The path of a file. Returns NULL when the table has no file of that number. */
const char *pf_probe_file(struct pf_probe_lines *lines, uint64_t number);
/* The first row at or after an address. */
size_t pf_probe_find_row(const struct pf_probe_lines *lines, uint64_t address);
/* Where a DIE is declared; false: that is not known. */
bool pf_probe_declared(struct pf_probe_target *target, const struct pf_die *die, struct pf_probe_line *line);
/* Where an inlined function is called, in terms of its unit. */
bool pf_probe_called(struct pf_probe_target *target, const struct pf_die *die, struct pf_probe_line *line);
/*
 * The line that an address belongs to: the first statement there; at the entry of a function the line of its
 * definition. Further lines at the address share it, and have no probe of their own.
 */
bool pf_probe_line_at(struct pf_probe_target *target, struct pf_probe_unit *unit, uint64_t address,
                      struct pf_probe_line *line);
/* "a.c" and "w/a.c" mean "/w/a.c". */
bool pf_probe_is_file(const char *path, const char *wanted);

/* ---- types.c ----------------------------------------------------------------------------------------------------- */

/* "struct in*"; NULL: out of memory. */
const char *pf_probe_type_name(struct pf_probe_target *target, const struct pf_die *die);
/* What the kernel calls it: "s32", "x64"; "" when its size is not known. NULL: out of memory. */
const char *pf_probe_kernel_type(struct pf_probe_target *target, const struct pf_die *variable);
/* Negative or 0: not known. */
int pf_probe_type_bytes(const struct pf_probe_target *target, const struct pf_die *type);

/* ---- location.c -------------------------------------------------------------------------------------------------- */

enum { PF_PROBE_REFERENCES = 16 };
/* A value: a register, or memory at an offset from what the inner reference has read. */
struct pf_probe_location {
    const char *base; /* "%di", "\5", or NULL for a fixed address */
    uint64_t address; /* without a base */
    int64_t references[PF_PROBE_REFERENCES];
    size_t count;
};

/* Where a function keeps its frame, which DW_OP_fbreg counts from: an expression, or a register and an offset. */
struct pf_probe_frame {
    struct pf_section expression;
    uint64_t number;
    int64_t offset;
    bool is_known, is_register;
};

bool pf_probe_dereference(struct pf_probe_location *location, int64_t offset);
/* The last reference is so many bytes further. It has one. */
void pf_probe_move(struct pf_probe_location *location, int64_t offset);
/* An expression of the unit. NULL: done; else why a probe cannot have it. */
const char *pf_probe_locate(const struct pf_probe_target *target, const struct pf_unit *unit,
                            struct pf_section expression, const struct pf_probe_frame *frame,
                            struct pf_probe_location *location);

/* ---- points.c ---------------------------------------------------------------------------------------------------- */

/* An address that a definition means. */
struct pf_probe_site {
    uint64_t address;
    struct pf_probe_unit *unit;
    struct pf_die function; /* with code of its own */
    struct pf_die scope;    /* it, or the function that is inlined there */
};
/*
 * All of them, in the order of units and addresses; at most options->max_probes. 0, or the first result of `take` that
 * is not 0. ABSENT: nothing was found, or the file has no debug info.
 */
int pf_probe_sites(struct pf_probe_target *target, const struct pf_probe_definition *definition,
                   int (*take)(void *context, struct pf_probe_site *site), void *context);

/* ---- variables.c ------------------------------------------------------------------------------------------------- */

/* The arguments as the kernel reads them, each after a blank. */
int pf_probe_put_arguments(struct pf_probe_target *target, const struct pf_probe_definition *definition,
                           struct pf_probe_site *site, struct pf_text *text);
/* The same without debug info: variables are refused. */
int pf_probe_put_plain_arguments(struct pf_probe_target *target, const struct pf_probe_definition *definition,
                                 struct pf_text *text);
/* What can be read at the address: of the function, and with `externs` of the unit. */
int pf_probe_show_variables(struct pf_probe_target *target, struct pf_probe_site *site, bool externs,
                            int (*take)(void *context, const struct perfile_probe_variable *variable), void *context);

/* ---- probe.c ----------------------------------------------------------------------------------------------------- */

/* An executable section of the file has the address. */
bool pf_probe_is_code(const struct pf_probe_target *target, uint64_t address);
/* The address in the file, or false: it is not loaded from the file. */
bool pf_probe_file_offset(const struct pf_probe_target *target, uint64_t address, uint64_t *offset);
/* Opens the target, calls `run` and closes it. */
int pf_probe_with_target(const struct perfile_probe_options *options,
                         int (*run)(void *context, struct pf_probe_target *target), void *context,
                         struct perfile_error *error);
bool pf_probe_has_debug(const struct pf_probe_target *target);
int pf_probe_no_debug(struct pf_probe_target *target);

#endif
