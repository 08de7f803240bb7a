/* SPDX-License-Identifier: MIT */
/*
 * Debug info as it stands in its sections, DWARF 2 to 5: units, their entries (DIEs), the attributes of those and what
 * the attributes say. Inlined functions, types and probes are read with it. Nothing is trusted: what is damaged is
 * absent.
 */
#ifndef PF_SYMBOL_DWARF_UNITS_H
#define PF_SYMBOL_DWARF_UNITS_H

#include "base/cursor.h"
#include "symbol/dwarf/inlines_tables.h"

enum pf_debug_sections {
    PF_DEBUG_INFO,
    PF_DEBUG_TYPES,
    PF_DEBUG_ABBREV,
    PF_DEBUG_STR,
    PF_DEBUG_LINE,
    PF_DEBUG_LINE_STR,
    PF_DEBUG_STR_OFFSETS,
    PF_DEBUG_ADDR,
    PF_DEBUG_RANGES,
    PF_DEBUG_RNGLISTS,
    PF_DEBUG_LOC,
    PF_DEBUG_LOCLISTS,
    PF_DEBUG_SECTIONS
};

struct pf_debug;
struct pf_abbreviation;
struct pf_abbreviations;

/* Of a compilation, a part that several share, or a type. */
struct pf_unit {
    struct pf_debug *debug;
    const uint8_t *start; /* of its header; references count from here */
    const uint8_t *first; /* the entry at the top */
    const uint8_t *end;
    uint64_t abbreviation_offset;
    uint64_t id; /* of a type, or what a skeleton and its split unit have in common */
    uint64_t type_offset;
    uint8_t version, type, address_bytes, offset_bytes;
    /* As the entry at the top says, once pf_unit_prepare was called. */
    bool is_prepared;
    const struct pf_abbreviations *abbreviations; /* NULL: it cannot be read */
    uint64_t text_base, address_base, ranges_base, locations_base, low;
    const struct pf_unit *skeleton; /* NULL: it is not split */
    struct pf_unit *split;          /* of a skeleton: what stands for it, once pf_debug_module_unit was asked */
};

/* A further .debug_info or .debug_types: in files of split DWARF each type may be in a section of its own. */
struct pf_unit_section {
    struct pf_section section;
    bool is_types;
};

/* The debug info of one file, or of one unit of a package. */
struct pf_debug {
    const struct perfile_allocator *allocator;
    struct pf_section sections[PF_DEBUG_SECTIONS];
    const struct pf_unit_section *others;
    size_t other_count;
    bool swap, is_split;
    bool is_part;               /* of a package, which says where its one unit is */
    struct pf_debug *alternate; /* the dwz file; NULL: none */
    bool failed;                /* out of memory; sticky */
    struct pf_unit *units;      /* those of .debug_info, then those of .debug_types and of the other sections */
    size_t unit_count, unit_capacity, info_count;
    struct pf_map type_units; /* id -> number of the unit */
    bool has_type_units;      /* the map is filled */
    /* Finds type units that a package has elsewhere; NULL without a package. Returns NULL when the package has none of that id. */
    struct pf_unit *(*find_type)(void *types, uint64_t id);
    void *types;
    struct pf_abbreviations **sets;
    size_t set_count, set_capacity;
    struct pf_map set_numbers;
    uint64_t abbreviations_left; /* that may be read: sets that overlap must not cost more than the file has bytes */
    uint64_t steps_left;         /* entries to skip on the way to siblings, and ranges: a bound for hostile files */
};

/* Finds the units of the sections that are set, as is `swap`. False when out of memory; pf_debug_close in any case. */
bool pf_debug_open(struct pf_debug *debug, const struct perfile_allocator *allocator);
void pf_debug_close(struct pf_debug *debug);
/* Reads at once what is else read when it is needed: from now on nothing of it changes, so any threads may read it. */
void pf_debug_prepare(struct pf_debug *debug);
/* Those of its sections that line tables need. */
struct pf_line_sections pf_debug_line_sections(const struct pf_debug *debug);
/* The split unit belongs to this skeleton, which has its addresses. */
void pf_unit_attach(struct pf_unit *split, const struct pf_unit *skeleton);

struct pf_die {
    struct pf_unit *unit;
    const uint8_t *at;
    const struct pf_abbreviation *abbreviation;
    const uint8_t *attributes;
};

struct pf_attribute {
    struct pf_unit *unit;
    const uint8_t *at;
    int64_t implicit;
    uint32_t name; /* 0: the entry does not have it */
    uint32_t form;
};

/* The entry at the top; false: the unit cannot be read. */
bool pf_unit_top(struct pf_unit *unit, struct pf_die *die);
/* The entry at this address in the unit; false when none begins there. */
bool pf_die_at(struct pf_unit *unit, const uint8_t *at, struct pf_die *die);
uint32_t pf_die_tag(const struct pf_die *die);
bool pf_die_has_children(const struct pf_die *die);
/* What it costs to read its attributes, however few bytes they have: one step for each few of them. */
unsigned pf_die_steps(const struct pf_die *die);
/* That entries may cost which others refer to, one after the other: about ten times what those of compilers do. */
enum { PF_CHAIN_STEPS_MAX = 128 };

/* The attributes of an entry, in their order. */
struct pf_attributes {
    struct pf_unit *unit;
    const uint8_t *specification, *specifications_end;
    const uint8_t *at; /* after the last one: what follows the entry */
    bool failed;       /* the entry is damaged */
};
struct pf_attributes pf_die_attributes(const struct pf_die *die);
bool pf_next_attribute(struct pf_attributes *attributes, struct pf_attribute *attribute);
/* What follows the entry; NULL when it is damaged. */
const uint8_t *pf_die_end(const struct pf_die *die);
/* False and an attribute of no name when the entry does not have it. */
bool pf_die_attribute(const struct pf_die *die, uint32_t name, struct pf_attribute *attribute);

/* The same, or of the entries that this one is an instance of (DW_AT_abstract_origin, DW_AT_specification). */
bool pf_die_integrated(const struct pf_die *die, uint32_t name, struct pf_attribute *attribute);
/* Whether the entry itself has it. */
bool pf_die_has(const struct pf_die *die, uint32_t name);
/* What the integrated attribute says; NULL or false: see below. */
const char *pf_die_text(const struct pf_die *die, uint32_t name);
bool pf_die_number(const struct pf_die *die, uint32_t name, uint64_t *number);

/* Returns false after the last sibling. `sibling` may point to the entry itself. */
bool pf_die_child(const struct pf_die *die, struct pf_die *child);
bool pf_die_sibling(const struct pf_die *die, struct pf_die *sibling);
/* What follows an entry and all below it according to DW_AT_sibling, else NULL. */
const uint8_t *pf_die_after_children(const struct pf_die *die);

/* False, or NULL: it is absent, damaged, or has a value of another kind. */
bool pf_attribute_number(const struct pf_attribute *attribute, uint64_t *number);
bool pf_attribute_signed(const struct pf_attribute *attribute, int64_t *number);
bool pf_attribute_address(const struct pf_attribute *attribute, uint64_t *address);
const char *pf_attribute_text(const struct pf_attribute *attribute);
bool pf_attribute_block(const struct pf_attribute *attribute, struct pf_section *block);
bool pf_attribute_die(const struct pf_attribute *attribute, struct pf_die *die);
/* The number of a list in the table of a section. */
bool pf_attribute_index(const struct pf_attribute *attribute, uint64_t *index);

/* For locations.c: a number of 1, 2, 3, 4 or 8 bytes. */
uint64_t pf_debug_take(struct pf_cursor *c, unsigned bytes);
/* A number in a table of a section. */
bool pf_debug_number(const struct pf_debug *debug, unsigned section, uint64_t base, uint64_t index, unsigned bytes,
                     uint64_t *number);
/* The address of that number, which the main file has. */
bool pf_unit_address(const struct pf_unit *unit, uint64_t index, uint64_t *address);

#endif
