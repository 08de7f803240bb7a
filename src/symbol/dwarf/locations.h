/* SPDX-License-Identifier: MIT */
/* Where code and variables are: lists of ranges and of locations, DWARF 2 to 5, and the expressions of locations. */
#ifndef PF_SYMBOL_DWARF_LOCATIONS_H
#define PF_SYMBOL_DWARF_LOCATIONS_H

#include "symbol/dwarf/units.h"

/* Addresses from low on, before high; of a location with the bytes of its expression. */
struct pf_die_range {
    uint64_t low, high; /* 0 and UINT64_MAX: wherever the variable is in scope */
    struct pf_section expression;
};

/* A list that is read. */
struct pf_die_ranges {
    const struct pf_unit *unit;
    uint64_t *steps; /* that are left, one for each range: those of the debug info, or what is set instead */
    struct pf_cursor c;
    uint64_t base;
    struct pf_die_range only; /* is the list, if `has_only` */
    bool has_only, is_location, is_old, is_done;
    bool failed; /* it is damaged */
};

/* The code of an entry, by its DW_AT_low_pc and DW_AT_high_pc, else by DW_AT_ranges; no list is an empty one. */
struct pf_die_ranges pf_die_ranges(const struct pf_die *die);
/* Of an attribute such as DW_AT_ranges. */
struct pf_die_ranges pf_attribute_ranges(const struct pf_attribute *attribute);
/* Of an attribute such as DW_AT_location, which is one expression or a list. */
struct pf_die_ranges pf_attribute_locations(const struct pf_attribute *attribute);
/* The next one, which may be empty; false at the end. */
bool pf_die_next_range(struct pf_die_ranges *ranges, struct pf_die_range *range);

/* An operation of an expression. */
struct pf_operation {
    uint64_t numbers[2]; /* its operands: a signed one is converted; of a block its bytes */
    uint8_t code;        /* DW_OP_... */
};
struct pf_operations {
    const struct pf_unit *unit;
    struct pf_cursor c; /* it has failed where the expression is damaged */
};
struct pf_operations pf_operations_of(const struct pf_unit *unit, struct pf_section expression);
/* False at the end, and where the expression is damaged. */
bool pf_next_operation(struct pf_operations *operations, struct pf_operation *operation);
/* That of an expression which consists of one. */
bool pf_only_operation(const struct pf_unit *unit, struct pf_section expression, struct pf_operation *operation);
/* The address that an operation stands for, by itself or by its number in a table. */
bool pf_operation_address(const struct pf_unit *unit, const struct pf_operation *operation, uint64_t *address);
/* The register that an operation names, or that it adds *offset to. */
bool pf_operation_register(const struct pf_operation *operation, uint64_t *number);
bool pf_operation_based(const struct pf_operation *operation, uint64_t *number, int64_t *offset);

#endif
