/* SPDX-License-Identifier: MIT */
/* What the files types*.c share. Each calls only files that are named before it in types.h. */
#ifndef PF_SYMBOL_DWARF_TYPES_PARTS_H
#define PF_SYMBOL_DWARF_TYPES_PARTS_H

#include "base/map.h"
#include "symbol/dwarf/debug_module.h"
#include "symbol/dwarf/dies.h"
#include "symbol/dwarf/locations.h"
#include "symbol/dwarf/types.h"

enum { PF_SCOPE_DEPTH_MAX = 256 };
/* Of sizes and offsets: more than memory has, and so little that sums do not overflow. What is above is not known. */
#define PF_TYPES_BYTES_MAX (INT64_C(1) << 48)

struct pf_type_node {
    struct pf_type public;
    struct pf_die named;               /* without const, but with typedefs */
    struct pf_die real;                /* without typedefs */
    const struct pf_type_node *target; /* what it points to or is an array of; NULL: void, or not known */
    const struct pf_type_member *members;
    size_t member_count;
    bool has_name, has_target, has_members, has_content; /* they were looked for */
    bool is_empty;                                       /* it has no data */
};

/* Code of a unit or function: addresses from low on, before high. */
struct pf_types_range {
    uint64_t low, high;
    uint32_t number; /* of the unit; of the DIE in `functions` of the unit */
};

struct pf_types_global {
    uint64_t address;           /* UINT64_MAX: it is only declared here */
    const char *name, *linkage; /* NULL: it has none */
    struct pf_die die;
};

struct pf_types_unit {
    struct pf_unit *unit; /* a skeleton stands for its split unit */
    bool is_read;
    struct pf_types_range *ranges; /* of functions, ascending */
    size_t range_count, range_capacity;
    struct pf_die *functions;
    size_t function_count, function_capacity;
    struct pf_types_global *globals;
    size_t global_count, global_capacity;
};

enum pf_holder {
    PF_HELD_IN_REGISTER, /* the register, less `offset`, is the value */
    PF_HELD_AT_REGISTER, /* the variable is in memory, at the register + offset */
    PF_HELD_AT_FRAME,    /* at the canonical frame address + offset */
    PF_HELD_AT_ADDRESS,  /* at the address `offset` */
};

/* Where a variable, or a piece of one, is while the code of a range runs. */
struct pf_types_variable {
    uint64_t low, high;
    uint8_t holder; /* enum pf_holder */
    int8_t reg;
    uint16_t depth; /* of its scope: inner ones are looked at first */
    int64_t offset;
    const struct pf_type_node *type;
};

/* A call returns there, and what it returns has that type. */
struct pf_types_call {
    uint64_t address;
    const struct pf_type_node *type;
};

/* What a register holds. */
enum pf_held {
    PF_HELD_UNKNOWN,
    PF_HELD_POINTER, /* to `offset` in an object of `type` */
    PF_HELD_NUMBER,  /* `offset` itself */
    PF_HELD_FRAME,   /* the canonical frame address + offset */
};
struct pf_held_value {
    const struct pf_type_node *type;
    const struct pf_type_node *own; /* the type of the value itself; NULL: not known */
    int64_t offset;
    uint8_t kind; /* enum pf_held */
};

enum { PF_TRACKED_SLOTS = 16 };
/* Of the stack frame, `at` from the canonical frame address. */
struct pf_held_slot {
    int64_t at;
    struct pf_held_value value;
    uint8_t bytes;
};
struct pf_held_state {
    struct pf_held_value registers[PF_TRACKED_REGISTERS];
    struct pf_held_slot slots[PF_TRACKED_SLOTS];
    uint32_t slot_count;
    bool is_reached;
};

/* Instructions without a jump into or out of them: those from `first` on, before that of the next block. */
struct pf_types_block {
    uint32_t first;
    bool is_waiting;
    struct pf_held_state entry;
};

struct pf_types_function {
    struct pf_types_code code;
    const struct pf_types_unit *unit;    /* NULL: the debug info does not have it */
    bool is_entry;                       /* the code begins where the function is called */
    struct pf_types_variable *variables; /* by holder and register */
    size_t variable_count, variable_capacity;
    struct pf_types_variable *starting; /* those in registers, by where their locations begin */
    size_t starting_count;
    struct pf_types_call *calls;
    size_t call_count, call_capacity;
    bool is_tracked;
    int8_t stack_pointer; /* its number, once it is tracked */
    struct pf_effect *effects;
    uint64_t *addresses; /* of the effects */
    size_t effect_count, effect_capacity, address_capacity;
    struct pf_types_block *blocks;
    size_t block_count, block_capacity, waiting_count;
    struct pf_types_function *next; /* of the file */
};

struct pf_types {
    const struct perfile_allocator *below;
    const struct perfile_allocator *allocator; /* of the watch, which notes what could not be read */
    struct pf_watch watch;
    struct pf_arena arena;
    struct pf_types_symbols symbols;
    struct pf_disassembler *disassembler;
    struct pf_debug_module module;
    struct pf_types_unit *units;
    size_t unit_count, unit_capacity;
    struct pf_types_range *ranges; /* of units, ascending */
    size_t range_count, range_capacity;
    struct pf_map nodes;    /* DIEs of types in memory to pointers to their nodes */
    struct pf_map by_start; /* addresses of functions to pointers to them */
    struct pf_types_function *functions;
};

/* ---- types_units.c */

/* False when out of memory. */
bool pf_types_read_units(struct pf_types *types);
/* The unit that has code at the address, and the DIE of the function; false: none has. */
bool pf_types_unit_at(struct pf_types *types, uint64_t address, struct pf_types_unit **unit, struct pf_die *function);
/* The DIE of the function of a unit at the address; NULL: there is none. */
const struct pf_die *pf_types_function_in(const struct pf_types_unit *unit, uint64_t address);
/* The variable of a unit at the address, or the one with that name; NULL: it has none. */
const struct pf_types_global *pf_types_global_at(const struct pf_types_unit *unit, uint64_t address);
const struct pf_types_global *pf_types_global_named(const struct pf_types_unit *unit, const char *name);

/* ---- types_members.c; a node is NULL when there is no type, or out of memory */

/* Of a variable or member. */
const struct pf_type_node *pf_types_type_of(struct pf_types *types, const struct pf_die *die);
/* What the function of a unit returns that begins at the address. */
const struct pf_type_node *pf_types_result_of(struct pf_types *types, const struct pf_types_unit *unit,
                                              uint64_t address);
/* What a pointer points to, or an array consists of. */
const struct pf_type_node *pf_types_target(struct pf_types *types, const struct pf_type_node *type);
/*
 * The pointer that a value of the type is, or consists of as iterators and smart pointers do; NULL when it is not one.
 */
const struct pf_type_node *pf_types_pointer(struct pf_types *types, const struct pf_type_node *type);
/* The node with its name. */
const struct pf_type *pf_types_named(struct pf_types *types, const struct pf_type_node *type);
/* The innermost type of the member or element at *offset, which becomes the offset in it; `type` if there is none. */
const struct pf_type_node *pf_types_inner(struct pf_types *types, const struct pf_type_node *type, uint64_t *offset);

/* ---- types_function.c */

/* False when out of memory. */
bool pf_types_read_function(struct pf_types *types, struct pf_types_function *function);
/*
 * The first variable of a holder and register, and the one after the last; other holders than registers have one list.
 */
size_t pf_types_variables(const struct pf_types_function *function, uint8_t holder, int8_t reg, size_t *end);

/* ---- types_locate.c */

/* An access to memory, with what is known of its registers; `state` may be NULL. */
struct pf_types_access {
    uint64_t address; /* of the instruction */
    const struct pf_effect_memory *memory;
    const struct pf_held_state *state;
};
/* A pointer in a register, by the debug info alone; of several one that an access at `offset` fits into. */
struct pf_held_value pf_types_held_by_variable(struct pf_types *types, const struct pf_types_function *function,
                                               uint64_t address, int8_t reg, int64_t offset);
/* The type of the variable that is in a register; NULL: none is. */
const struct pf_type_node *pf_types_variable_in(const struct pf_types_function *function, uint64_t address, int8_t reg);
/* What a register holds by the DWARF at an address, else by the state. */
struct pf_held_value pf_types_held(struct pf_types *types, const struct pf_types_function *function,
                                   const struct pf_types_access *access, int8_t reg);
/* The object that is accessed: false, and a reason. */
bool pf_types_locate(struct pf_types *types, const struct pf_types_function *function,
                     const struct pf_types_access *access, struct pf_held_value *object, uint8_t *reason);

/* A value that is stored to where the frame has no variable: the memory has its type. False: that is not known. */
bool pf_types_stored(const struct pf_types_function *function, const struct pf_types_access *access,
                     const struct pf_effect *effect, struct pf_held_value *object);

/* ---- types_track.c */

/*
 * The instruction that a conditional jump at the address is executed as one with, if that accesses memory: its address;
 * 0: there is none.
 */
uint64_t pf_types_fused(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                        struct pf_effect *effect);
/* The state before the instruction at the address; false: it is not an instruction of the function. */
bool pf_types_state_at(struct pf_types *types, struct pf_types_function *function, uint64_t address,
                       struct pf_held_state *state);

#endif
