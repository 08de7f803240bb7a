/* SPDX-License-Identifier: MIT */
/*
 * .gopclntab, the table of functions, lines and inlined functions in each binary that Go's linker makes. The program
 * needs it at run time, so that it stays in binaries that were stripped or linked with -s -w.
 *
 * Its header starts with a number for its layout, which changed with Go 1.16, 1.18 and 1.20. Until Go 1.17 it has
 * addresses, which the linker relocates; since then offsets from where the code starts.
 */
#ifndef PF_SYMBOL_GO_TABLE_H
#define PF_SYMBOL_GO_TABLE_H

#include "base/cursor.h"

struct pf_go_layout;

struct pf_go_table {
    const uint8_t *data;
    size_t bytes;
    bool swap;
    uint8_t pointer_bytes; /* 4 or 8 */
    uint8_t quantum;       /* the unit of steps in the code */
    const struct pf_go_layout *layout;
    uint64_t text;  /* since Go 1.18: where the code starts, by the header; 0: it does not say */
    uint64_t count; /* of functions */
    uint64_t names; /* offsets of parts of the table */
    uint64_t units; /* numbers of files to offsets of their names */
    uint64_t files;
    uint64_t steps;       /* what changes with the address */
    uint64_t functions;   /* from here on offsets of functions count */
    uint64_t index;       /* of all functions by their addresses */
    const uint8_t *trees; /* what the offsets of inlined functions count from, and its bytes; NULL: not known */
    size_t tree_bytes;
};

struct pf_go_function {
    uint64_t start;
    uint64_t end; /* where the next one starts: what fills the gap belongs to it */
    const char *name;
    uint64_t file_steps; /* offsets in the table; 0 means none */
    uint64_t line_steps;
    uint64_t inline_steps;
    uint64_t tree; /* of its inlined functions, from table->trees; UINT64_MAX means none */
    uint32_t unit; /* where its numbers of files count from */
};

/* False: it is not such a table, or of an unknown layout. */
bool pf_go_table_open(struct pf_go_table *table, const uint8_t *data, size_t bytes, bool swap);
/* Its addresses are offsets from table->text, which must be set when the header does not have it. */
bool pf_go_table_is_relative(const struct pf_go_table *table);
/* The address of a function, or for table->count the end of the last one. False: it is not in the table. */
bool pf_go_table_address(const struct pf_go_table *table, uint64_t number, uint64_t *address);
/* False: that one is damaged, or has no name. */
bool pf_go_table_function(const struct pf_go_table *table, uint64_t number, struct pf_go_function *function);
/* The name of a file by its number in the steps of a function; NULL means none. */
const char *pf_go_table_file(const struct pf_go_table *table, const struct pf_go_function *function, int32_t number);

/* A function that was inlined. */
struct pf_go_inlined {
    const char *name;
    uint64_t call; /* an address of the code around it that has the line of the call */
};
/* By its number in the inline steps of a function. False: there is no valid one. */
bool pf_go_table_inlined(const struct pf_go_table *table, const struct pf_go_function *function, int32_t number,
                         struct pf_go_inlined *inlined);

/* The values of a number from the start of a function on: `value` up to `end`. */
struct pf_go_steps {
    struct pf_cursor at;
    uint64_t end;
    int32_t value;
    uint8_t quantum;
    bool started;
};
struct pf_go_steps pf_go_steps_of(const struct pf_go_table *table, const struct pf_go_function *function,
                                  uint64_t offset);
/* The next value; false at the end. */
bool pf_go_steps_next(struct pf_go_steps *steps);

#endif
