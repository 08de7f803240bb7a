/* SPDX-License-Identifier: MIT */
/* Look-ups in tables of symbols. */
#include "symbol/table.h"

#include "base/sort.h"

void pf_symbol_table_close(struct pf_symbol_table *table)
{
    if (!table)
        return;
    pf_free(table->allocator, table->symbols, table->count * sizeof(*table->symbols));
    if (table->starts)
        pf_free(table->allocator, table->starts, table->count * sizeof(*table->starts));
    pf_free(table->allocator, table->text, table->text_bytes);
    pf_free(table->allocator, table->segments, table->segment_count * sizeof(*table->segments));
    pf_free(table->allocator, table, sizeof(*table));
}

size_t pf_symbol_table_after(const struct pf_symbol_table *table, uint64_t address)
{
    const struct pf_symbol *first = table->symbols, *at = first;
    size_t count = table->count;
    if (!count || address < at->start)
        return 0;
    if (PF_LIKELY(table->starts))
        return pf_last_below(table->starts, count, (uint32_t)pf_min(address - at->start, UINT32_MAX)) + 1;
    while (count > 1) {
        size_t half = count / 2;
        at += at[half].start <= address ? half : 0; /* becomes a conditional move */
        count -= half;
    }
    return (size_t)(at - first) + 1;
}

const struct pf_symbol *pf_symbol_table_find(const struct pf_symbol_table *table, uint64_t address)
{
    const size_t after = pf_symbol_table_after(table, address);
    const struct pf_symbol *at = after ? &table->symbols[after - 1] : NULL;
    return at && address < at->end ? at : NULL;
}

bool pf_symbol_table_address(const struct pf_symbol_table *table, uint64_t file_offset, uint64_t *address)
{
    for (size_t i = 0; i < table->segment_count; i++) {
        const struct pf_segment *segment = &table->segments[i];
        if (file_offset >= segment->offset && file_offset - segment->offset < segment->bytes) {
            *address = segment->address + (file_offset - segment->offset);
            return true;
        }
    }
    for (size_t i = 0; i < table->segment_count; i++) { /* the page that the file ends in goes on with zeros */
        const struct pf_segment *segment = &table->segments[i];
        if (file_offset >= segment->offset && file_offset - segment->offset - segment->bytes < segment->zeros) {
            *address = segment->address + (file_offset - segment->offset);
            return true;
        }
    }
    return false;
}
