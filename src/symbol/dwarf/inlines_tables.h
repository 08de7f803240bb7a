/* SPDX-License-Identifier: MIT */
/*
 * The content of struct pf_inlines: one block, the same in memory and in the cache, with offsets instead of pointers.
 * Its values are checked where they are used, so that no content can lead outside of it.
 */
#ifndef PF_SYMBOL_DWARF_INLINES_TABLES_H
#define PF_SYMBOL_DWARF_INLINES_TABLES_H

#include "base/bytes.h"
#include "base/map.h"
#include "symbol/dwarf/inlines.h"

#define PF_INLINES_MAGIC "PFINLINE"
enum { PF_INLINES_VERSION = 3, PF_INLINES_NONE = -1 };

/* The line in the source for the addresses from this row's to that of the next row. File 0: no line is known there. */
struct pf_line_row {
    uint32_t file; /* of the text */
    uint32_t line;
    uint32_t column;
};

/* A function in the code: the body of a subprogram, or one inlined copy. */
struct pf_inline_node {
    uint32_t parent; /* node into which it was inlined, smaller than its own; PF_INLINES_NONE: a subprogram */
    uint32_t function;
    uint32_t call_file;
    uint32_t call_line;
    uint32_t call_column;
};

/* More about a node, for profiles. */
struct pf_node_detail {
    uint64_t entry;         /* of a subprogram: where its code begins */
    uint32_t declared;      /* line of the declaration */
    uint32_t discriminator; /* of the call that was inlined */
    uint32_t subprogram;    /* the node at the end of the parents */
    uint32_t padding;
};

/* Where an array is in the block. */
struct pf_inlines_part {
    uint64_t offset;
    uint64_t count;
};

enum pf_inlines_parts {
    PF_PART_LINE_ADDRESSES,    /* uint64_t, ascending */
    PF_PART_SEGMENT_ADDRESSES, /* uint64_t, ascending */
    PF_PART_ROWS,              /* struct pf_line_row, one for each line address */
    PF_PART_SEGMENT_NODES,     /* uint32_t, one for each segment address */
    PF_PART_NODES,
    PF_PART_TEXT,           /* NUL-terminated texts; the first one is empty and means: unknown */
    PF_PART_NODE_DETAILS,   /* struct pf_node_detail, one for each node; none unless the tables are detailed */
    PF_PART_DISCRIMINATORS, /* uint32_t, one for each line address; likewise */
    PF_PART_COUNT
};

struct pf_inlines_header {
    char magic[8];
    uint32_t version;
    uint32_t byte_order; /* 1, as the writing machine sees it */
    uint64_t bytes;      /* of the block, header included */
    struct pf_inlines_part parts[PF_PART_COUNT];
    struct pf_inlines_key key; /* this and what follows: in the cache only */
    uint64_t body_checksum;    /* of all after the header */
    uint64_t header_checksum;  /* of all before this member */
};

struct pf_inlines {
    const struct perfile_allocator *allocator;
    void *block;
    size_t bytes;
    bool mapped;
    struct pf_inlines_files files; /* that they were made of */
    const uint64_t *line_addresses;
    const struct pf_line_row *rows;
    size_t line_count;
    const uint64_t *segment_addresses;
    const uint32_t *segment_nodes;
    size_t segment_count;
    const struct pf_inline_node *nodes;
    size_t node_count;
    const char *text;
    size_t text_bytes;
    const struct pf_node_detail *details; /* NULL: the tables are not detailed */
    const uint32_t *discriminators;
};

_Static_assert(sizeof(struct pf_inlines_header) % sizeof(uint64_t) == 0, "the parts after it are aligned");
_Static_assert(sizeof(struct pf_inlines_key) == sizeof(struct pf_inlines_files) + 24, "it is compared as bytes");

/* Bytes of one element of a part. */
size_t pf_inlines_element_bytes(unsigned part);
/* Looks at the header and sets the pointers of *inlines, whose block and bytes are set; false: not such a block. */
bool pf_inlines_attach(struct pf_inlines *inlines);
uint64_t pf_inlines_checksum(const void *data, size_t bytes);

/* ---- making them ---------------------------------------------------------------------------------------------- */

struct pf_built_row {
    uint64_t address;
    struct pf_line_row row;
    uint32_t discriminator; /* 0 unless the tables are detailed */
};

static inline bool pf_same_line(const struct pf_built_row *a, const struct pf_built_row *b)
{
    return memcmp(&a->row, &b->row, sizeof(a->row)) == 0 && a->discriminator == b->discriminator;
}

/* From low to high an owner; where two overlap, the higher priority wins. */
struct pf_claim {
    uint64_t low;
    uint64_t high;
    uint64_t priority;
    uint32_t owner;
};

struct pf_claims {
    struct pf_claim *items;
    size_t count, capacity;
};

/* One sequence of a line table: rows first to first + count - 1. */
struct pf_line_span {
    size_t first;
    size_t count;
};

struct pf_inlines_builder {
    const struct perfile_allocator *allocator;
    bool failed;    /* out of memory; sticky */
    bool detailed;  /* with what profiles for compilers need */
    uint64_t steps; /* that are left: hostile files must not cost more than their size lets expect */
    char *text;
    size_t text_used, text_capacity;
    struct pf_map text_by_hash;
    struct pf_built_row *rows;
    size_t row_count, row_capacity;
    struct pf_line_span *spans;
    size_t span_count, span_capacity;
    struct pf_claims span_claims; /* owner: span */
    struct pf_inline_node *nodes;
    size_t node_count, node_capacity;
    struct pf_node_detail *details; /* one for each node, if the tables are detailed */
    size_t detail_capacity;
    struct pf_claims node_claims; /* owner: node */
    struct pf_claims code;        /* executable sections, sorted; what lies elsewhere was thrown away by the linker */
    unsigned threads;             /* that may make the tables, which are large; 0 is 1 */
    /* Of a builder to which shares are added: for each offset in the text of the last share the offset in its own. */
    uint32_t *moved;
    size_t moved_capacity;
    const struct pf_inlines_builder *total; /* of a share: what it is added to, whose code is its own; else NULL */
};

void pf_builder_open(struct pf_inlines_builder *builder, const struct perfile_allocator *allocator);
void pf_builder_close(struct pf_inlines_builder *builder);
/*
 * For a share of what `total` is to have, with its allocator: another thread may fill it. The code of `total` must
 * not change from now on. Adding the shares in their order makes what `total` would have if all had been put into it.
 */
void pf_builder_open_share(struct pf_inlines_builder *share, const struct pf_inlines_builder *total);
void pf_builder_add(struct pf_inlines_builder *total, const struct pf_inlines_builder *share);
/* Memory for what so many bytes of debug info mostly have: arrays that move when they grow make other threads wait. */
void pf_builder_reserve(struct pf_inlines_builder *builder, uint64_t bytes);
/* Without content, and with all memory that it had. */
void pf_builder_clear(struct pf_inlines_builder *share);
/* Offset of the text in the tables; 0 for NULL and "". */
uint32_t pf_builder_text(struct pf_inlines_builder *builder, const char *text);
uint32_t pf_builder_node(struct pf_inlines_builder *builder, const struct pf_inline_node *node);
void pf_builder_claim(struct pf_inlines_builder *builder, struct pf_claims *claims, const struct pf_claim *claim);
/* When all sections are in, before the first question about them: sorts and joins them. */
void pf_builder_sort_code(struct pf_inlines_builder *builder);
bool pf_builder_is_code(const struct pf_inlines_builder *builder, uint64_t address);
/* Steps that it costs to keep a range or a row, which takes memory: any number of entries may refer to a list of them. */
enum { PF_KEPT_STEPS = 64 };
/* False: none is left of these steps. */
static inline bool pf_take_steps(uint64_t *steps, uint64_t count)
{
    const bool is_left = *steps;
    *steps -= pf_min(*steps, count);
    return is_left;
}
static inline bool pf_take_step(uint64_t *steps)
{
    return pf_take_steps(steps, 1);
}
/* False when the file has used up what it may cost. */
static inline bool pf_builder_step(struct pf_inlines_builder *builder)
{
    return pf_take_step(&builder->steps);
}
/* The tables; ABSENT when they would be empty. */
int pf_builder_finish(struct pf_inlines_builder *builder, struct pf_inlines **inlines, struct perfile_error *error);

/* ---- line tables ---------------------------------------------------------------------------------------------- */

struct pf_section {
    const uint8_t *data;
    size_t bytes;
};

/* Of a text with its NUL. Longer ones count as missing: any number of entries may refer to one. */
enum { PF_DEBUG_TEXT_MAX = 1 << 16 };

/* The text at the offset; NULL when it does not end in the section. */
static inline const char *pf_section_text(const struct pf_section *section, uint64_t offset)
{
    const size_t left = offset < section->bytes ? section->bytes - (size_t)offset : 0;
    return left && memchr(section->data + offset, 0, pf_min(left, (size_t)PF_DEBUG_TEXT_MAX))
               ? (const char *)section->data + offset
               : NULL;
}

struct pf_line_sections {
    struct pf_section line;
    struct pf_section line_str;
    struct pf_section str;
    struct pf_section alternate_str; /* of the dwz file */
    bool swap;
};

struct pf_line_file {
    const char *name;
    uint64_t directory;
    uint32_t text; /* its full path in the tables, when known */
    bool has_text;
};

/* A row as the program of a table makes it. */
struct pf_line_state {
    uint64_t address;
    uint64_t file, line;
    bool is_statement, ends_prologue, ends_sequence;
};

/* The files of one line table. */
struct pf_line_files {
    struct pf_inlines_builder *builder;
    void (*take)(void *context, const struct pf_line_state *row); /* NULL: rows go into the builder */
    void *context;
    const char *compilation_directory; /* or NULL */
    uint16_t version;
    const char **directories;
    size_t directory_count, directory_capacity;
    struct pf_line_file *files;
    size_t file_count, file_capacity;
    bool has_grown; /* since the rows are read */
};

enum { PF_LINE_PATH_BYTES = 8192 };

void pf_line_files_close(struct pf_line_files *files);
/* The path of file number `index`, counted as in the line table. Returns false when the table has no such file. */
bool pf_line_file_path(const struct pf_line_files *files, uint64_t index, char path[PF_LINE_PATH_BYTES]);
/* The same as an offset in the text of the builder; 0: no such file. */
uint32_t pf_line_files_path(struct pf_line_files *files, uint64_t index);
/*
 * Reads the files of the line table at `offset`, and with `with_rows` its rows into the builder. Rows of a lower unit
 * win over those of a higher one. What is damaged ends the reading of this table.
 */
void pf_line_table_read(struct pf_inlines_builder *builder, const struct pf_line_sections *sections, uint64_t offset,
                        uint32_t unit, bool with_rows, struct pf_line_files *files);

#endif
