/* SPDX-License-Identifier: MIT */
/* What the makers of symbol tables share: entries as found, in any order, are sorted, and overlaps resolved. */
#ifndef PF_SYMBOL_TABLE_BUILD_H
#define PF_SYMBOL_TABLE_BUILD_H

#include "base/bytes.h"
#include "base/error.h"
#include "symbol/table.h"

/* Flags of entries while a table is made; they do not reach the table. */
enum {
    PF_ENTRY_LABEL = 1 << 16,     /* no type in the source */
    PF_ENTRY_FUNCTION = 1 << 18,  /* a function in the source */
    PF_ENTRY_NOT_SHOWN = 1 << 17, /* data, without a name: it ends functions, too, but is not kept */
};

struct pf_symbol_entry {
    uint64_t start;
    uint64_t end;   /* == start: not known yet */
    uint32_t name;  /* offset in the text */
    uint32_t flags; /* PF_SYMBOL_* and PF_ENTRY_* */
    uint64_t rank;  /* where entries overlap the one with the highest rank shows */
};

struct pf_symbol_build {
    const struct perfile_allocator *allocator;
    struct pf_symbol_entry *entries;
    size_t count;
    size_t capacity;
    char *text;
    size_t text_bytes;
    size_t text_capacity;
    struct pf_text_range sections[PF_TEXT_SECTIONS];
};

void pf_build_open(struct pf_symbol_build *build, const struct perfile_allocator *allocator);
void pf_build_close(struct pf_symbol_build *build);
/* False when out of memory. */
bool pf_build_add(struct pf_symbol_build *build, uint64_t start, uint64_t end, uint32_t name, uint32_t flags);
/* Reserves capacity for text after build->text + build->text_bytes; a table holds less than 4 GiB of text. */
bool pf_build_text_capacity(struct pf_symbol_build *build, uint64_t bytes);
/* A copy of the text and a NUL; *name is its offset. */
bool pf_build_text(struct pf_symbol_build *build, const void *text, size_t bytes, uint32_t *name);
/* By start; entries with one start stay in their order. */
bool pf_build_sort(struct pf_symbol_build *build);
/*
 * Of sorted entries makes the table's symbols, which do not overlap: entries are cut where one of higher rank shows,
 * and empty ones vanish. Takes the text too.
 */
bool pf_build_finish(struct pf_symbol_build *build, struct pf_symbol_table *table);

struct pf_symbol_table *pf_symbol_table_new(const struct perfile_allocator *allocator);

/* Of several symbols at one address that one stays that perf shows; symbols without a size get one. */
void pf_build_choose(struct pf_symbol_build *build);

#endif
