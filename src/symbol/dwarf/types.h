/* SPDX-License-Identifier: MIT */
/*
 * Which member of which type the memory operand of an instruction accesses: from the DWARF of its file and the
 * instructions of its function. Nothing is read before it is asked for, and what was found stays until the types are
 * closed.
 *
 *     types_units.c     the file: units, functions and global variables by address
 *     types_members.c   types and their members
 *     types_function.c  where the variables of a function are
 *     types_locate.c    the variable that an address or a register holds
 *     types_track.c     what registers hold at each instruction
 *     types.c           the answer for an address
 */
#ifndef PF_SYMBOL_DWARF_TYPES_H
#define PF_SYMBOL_DWARF_TYPES_H

#include <perfile/perfile.h>

#include "base/memory.h"
#include "symbol/disassembler.h"

enum pf_type_kind {
    PF_TYPE_OTHER, /* void, functions */
    PF_TYPE_VALUE, /* numbers, enumerations */
    PF_TYPE_POINTER,
    PF_TYPE_ARRAY,
    PF_TYPE_RECORD, /* it has members: structures, classes, unions */
};

struct pf_type;

struct pf_type_member {
    const char *name; /* "flags:3" of a bit-field; "": it has no name */
    uint64_t offset;  /* in its structure */
    uint64_t bytes;
    const struct pf_type *type;
};

struct pf_type {
    const char *name;  /* "struct node", as written in DWARF: typedefs stay, const does not */
    uint64_t bytes;    /* 0: not known */
    uint8_t kind;      /* enum pf_type_kind, of what a typedef stands for */
    bool is_described; /* by the debug info */
};

/* Why the type of an access is not known, by perf's names and in its order. */
enum pf_type_reason {
    PF_TYPE_FOUND,
#define PF_TYPE_REASON(id, name, doc) PF_TYPE_##id,
#include "symbol/dwarf/types.def"
    PF_TYPE_REASONS
};

/* What the instruction at an address accesses. */
struct pf_type_use {
    const struct pf_type *type; /* NULL: `reason` says why not */
    uint64_t offset;            /* in the type */
    uint8_t bytes;              /* that are accessed; 0: not known */
    uint8_t reason;             /* enum pf_type_reason */
    bool is_tracked;            /* the instructions before it were needed */
    char mnemonic[16];          /* of the instruction; "": it could not be decoded */
};

/* The types that no file has: what push, pop, call and return access, and the canary of the stack. */
extern const struct pf_type pf_type_stack_operation, pf_type_stack_canary;

struct pf_types;
struct pf_types_function;

struct pf_types_files {
    const char *debug;     /* the file with the debug info */
    const char *alternate; /* the dwz file that it refers to, or NULL */
};

/* The symbol of data at an address of the file, and how far the address is from its start; NULL: there is none. */
struct pf_types_symbols {
    const char *(*at)(void *context, uint64_t address, uint64_t *offset);
    void *context;
};

/* Code of a function. `code` must stay until the types are closed. */
struct pf_types_code {
    uint64_t address;
    const uint8_t *code;
    size_t bytes;
    struct pf_insn_machine machine;
};

/* ABSENT: there is no debug info. The disassembler, in Intel's syntax, must outlive the types. */
int pf_types_open(const struct pf_types_files *files, const struct pf_types_symbols *symbols,
                  struct pf_disassembler *disassembler, const struct perfile_allocator *allocator,
                  struct pf_types **types, struct perfile_error *error);
void pf_types_close(struct pf_types *types);
/* NULL: out of memory. It is closed with the types. */
struct pf_types_function *pf_types_function(struct pf_types *types, const struct pf_types_code *code);
/* The instruction at the address, which is in the function. False when out of memory. */
bool pf_types_find(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                   struct pf_type_use *use);

/* Its members in the order of the DWARF, and how many; 0: it has none. False when out of memory. */
bool pf_type_members(struct pf_types *types, const struct pf_type *type, const struct pf_type_member **members,
                     size_t *count);
/* "in.y": the names of the members at the offset; "" when no member is there. Returns false when out of memory. */
bool pf_type_path(struct pf_types *types, const struct pf_type *type, uint64_t offset, char *path, size_t capacity);

/* perf's name for a reason, and what it means. */
const char *pf_type_reason_name(unsigned reason, const char **doc);

#endif
