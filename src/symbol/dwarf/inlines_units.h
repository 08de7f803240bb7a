/* SPDX-License-Identifier: MIT */
/* The units of a file as functions and lines of tables: which of them count, and reading each, on several threads. */
#ifndef PF_SYMBOL_DWARF_INLINES_UNITS_H
#define PF_SYMBOL_DWARF_INLINES_UNITS_H

#include "symbol/dwarf/inlines_tables.h"

struct pf_debug;
struct pf_debug_module;
struct pf_unit;

enum pf_unit_use {
    PF_UNIT_UNUSED,    /* it is damaged, has nothing but types, or code that is not wanted */
    PF_UNIT_FUNCTIONS, /* its line table has no rows, or is that of a unit before it */
    PF_UNIT_COMPLETE,
};

/* What the readers of all units share. They change nothing of it. */
struct pf_units {
    const struct pf_inlines_request *request;
    const struct pf_debug_module *module;
    struct pf_debug *debug; /* that of its own file */
    const struct pf_line_sections *sections;
    uint8_t *uses; /* for each unit an enum pf_unit_use */
};

/* Sets `uses`; out of memory is noted at the builder. */
void pf_units_choose(struct pf_units *units, struct pf_inlines_builder *builder);
void pf_units_close(struct pf_units *units, const struct perfile_allocator *allocator);
/*
 * Chooses the units and reads them, on request->threads threads when they are large. The builder, whose allocator any
 * of these may use, then has the same content as one thread makes.
 */
void pf_units_read(struct pf_units *units, struct pf_inlines_builder *builder);

/* Reads units one after the other. Each thread has its own, with its own builder. */
struct pf_unit_reader {
    const struct pf_units *units;
    struct pf_inlines_builder *builder;
    uint32_t unit;
    struct pf_line_files files; /* of the current unit */
    struct pf_map declarations; /* address of a DIE in memory -> line and name of its function */
    uint32_t *enclosing;        /* for each depth of the tree the node around it */
    size_t depth_capacity;
};

void pf_unit_reader_open(struct pf_unit_reader *reader, const struct pf_units *units,
                         struct pf_inlines_builder *builder);
void pf_unit_reader_close(struct pf_unit_reader *reader);
/* For a builder that was cleared. */
void pf_unit_reader_clear(struct pf_unit_reader *reader);
/* The units from the first one on, before `after`. What is damaged is missing. */
void pf_unit_reader_read(struct pf_unit_reader *reader, uint32_t first, uint32_t after);

/* Consecutive children of the entry at the top of a unit. */
struct pf_unit_part {
    const uint8_t *from; /* the first one; NULL: of the unit */
    const uint8_t *to;   /* the one after the last; NULL: none is left */
};
/*
 * The first child so many bytes after `from`; NULL: none is. All entries before it are skipped one by one where the compiler
 * has not stated their siblings. One thread at a time.
 */
const uint8_t *pf_unit_cut(struct pf_unit *unit, const uint8_t *from, uint64_t bytes);
/*
 * True: the parts up to this one, one after the other, are what one reading would find. False: the unit is damaged,
 * or its line table cannot be divided; a part from `from` to the end replaces this one and those after it.
 */
bool pf_unit_reader_read_part(struct pf_unit_reader *reader, uint32_t number, const struct pf_unit_part *part);

#endif
