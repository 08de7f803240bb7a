/* SPDX-License-Identifier: MIT */
#include "symbol/dwarf/inlines.h"

#include <sys/mman.h>

#include "symbol/dwarf/inlines_tables.h"

size_t pf_inlines_element_bytes(unsigned part)
{
    static const size_t bytes[PF_PART_COUNT] = {
        [PF_PART_LINE_ADDRESSES] = sizeof(uint64_t),
        [PF_PART_SEGMENT_ADDRESSES] = sizeof(uint64_t),
        [PF_PART_ROWS] = sizeof(struct pf_line_row),
        [PF_PART_SEGMENT_NODES] = sizeof(uint32_t),
        [PF_PART_NODES] = sizeof(struct pf_inline_node),
        [PF_PART_TEXT] = 1,
        [PF_PART_NODE_DETAILS] = sizeof(struct pf_node_detail),
        [PF_PART_DISCRIMINATORS] = sizeof(uint32_t),
    };
    return bytes[part];
}

/* Four lanes, so that the multiplications overlap: as fast as memory. */
uint64_t pf_inlines_checksum(const void *data, size_t bytes)
{
    const uint64_t prime = 0x9e3779b97f4a7c15ull;
    uint64_t lanes[4] = {1, 2, 3, 4}, sum = bytes;
    const uint8_t *at = data;
    for (; bytes >= 32; bytes -= 32, at += 32)
        for (unsigned i = 0; i < 4; i++)
            lanes[i] = (lanes[i] ^ pf_load64(at + 8 * i, false)) * prime;
    for (; bytes; bytes--)
        sum = (sum ^ *at++) * prime;
    for (unsigned i = 0; i < 4; i++)
        sum = ((sum ^ lanes[i] ^ lanes[i] >> 32) * prime) ^ sum >> 29;
    return sum;
}

static bool part_is_valid(const struct pf_inlines *inlines, const struct pf_inlines_header *header, unsigned part)
{
    const struct pf_inlines_part *p = &header->parts[part];
    uint64_t bytes, end;
    return p->offset % sizeof(uint64_t) == 0 && p->offset >= sizeof(*header) &&
           pf_multiply(p->count, pf_inlines_element_bytes(part), &bytes) && pf_add(p->offset, bytes, &end) &&
           end <= inlines->bytes;
}

static bool header_is_valid(const struct pf_inlines *inlines, const struct pf_inlines_header *header)
{
    if (memcmp(header->magic, PF_INLINES_MAGIC, sizeof(header->magic)) != 0 || header->version != PF_INLINES_VERSION ||
        header->byte_order != 1 || header->bytes != inlines->bytes)
        return false;
    for (unsigned i = 0; i < PF_PART_COUNT; i++)
        if (!part_is_valid(inlines, header, i))
            return false;
    const struct pf_inlines_part *parts = header->parts;
    const uint64_t details = parts[PF_PART_NODE_DETAILS].count, discriminators = parts[PF_PART_DISCRIMINATORS].count;
    return parts[PF_PART_LINE_ADDRESSES].count == parts[PF_PART_ROWS].count &&
           parts[PF_PART_SEGMENT_ADDRESSES].count == parts[PF_PART_SEGMENT_NODES].count &&
           (details == parts[PF_PART_NODES].count || !details) &&
           (discriminators == parts[PF_PART_ROWS].count || !discriminators);
}

bool pf_inlines_attach(struct pf_inlines *inlines)
{
    struct pf_inlines_header header;
    if (inlines->bytes < sizeof(header))
        return false;
    memcpy(&header, inlines->block, sizeof(header));
    if (!header_is_valid(inlines, &header))
        return false;
    const char *base = inlines->block;
    const struct pf_inlines_part *parts = header.parts;
    inlines->line_addresses = (const void *)(base + parts[PF_PART_LINE_ADDRESSES].offset);
    inlines->rows = (const void *)(base + parts[PF_PART_ROWS].offset);
    inlines->line_count = (size_t)parts[PF_PART_ROWS].count;
    inlines->segment_addresses = (const void *)(base + parts[PF_PART_SEGMENT_ADDRESSES].offset);
    inlines->segment_nodes = (const void *)(base + parts[PF_PART_SEGMENT_NODES].offset);
    inlines->segment_count = (size_t)parts[PF_PART_SEGMENT_NODES].count;
    inlines->nodes = (const void *)(base + parts[PF_PART_NODES].offset);
    inlines->node_count = (size_t)parts[PF_PART_NODES].count;
    if (parts[PF_PART_NODE_DETAILS].count)
        inlines->details = (const void *)(base + parts[PF_PART_NODE_DETAILS].offset);
    if (parts[PF_PART_DISCRIMINATORS].count)
        inlines->discriminators = (const void *)(base + parts[PF_PART_DISCRIMINATORS].offset);
    inlines->text = base + parts[PF_PART_TEXT].offset;
    inlines->text_bytes = (size_t)parts[PF_PART_TEXT].count;
    /* with a NUL at its end, every offset below its size is a text */
    return inlines->text_bytes && inlines->text[inlines->text_bytes - 1] == '\0';
}

void pf_inlines_close(struct pf_inlines *inlines)
{
    if (!inlines)
        return;
    if (inlines->mapped)
        munmap(inlines->block, inlines->bytes);
    else
        pf_free(inlines->allocator, inlines->block, inlines->bytes);
    pf_free(inlines->allocator, inlines, sizeof(*inlines));
}

/* How many of the ascending addresses are not above `address`. */
static size_t count_up_to(const uint64_t *addresses, size_t count, uint64_t address)
{
    size_t first = 0;
    while (count > 1) { /* without a branch: which way it goes cannot be predicted */
        size_t half = count / 2;
        first = addresses[first + half - 1] <= address ? first + half : first;
        count -= half;
    }
    return first + (count && addresses[first] <= address);
}

static const char *text_at(const struct pf_inlines *inlines, uint32_t offset)
{
    return offset && offset < inlines->text_bytes ? inlines->text + offset : NULL;
}

static struct pf_line_row row_at(const struct pf_inlines *inlines, uint64_t address)
{
    const size_t after = count_up_to(inlines->line_addresses, inlines->line_count, address);
    return after ? inlines->rows[after - 1] : (struct pf_line_row){0, 0, 0};
}

static uint32_t node_at(const struct pf_inlines *inlines, uint64_t address)
{
    size_t after = count_up_to(inlines->segment_addresses, inlines->segment_count, address);
    return after ? inlines->segment_nodes[after - 1] : (uint32_t)PF_INLINES_NONE;
}

bool pf_inlines_any(const struct pf_inlines *inlines, uint64_t address)
{
    const uint32_t number = node_at(inlines, address);
    return number < inlines->node_count && inlines->nodes[number].parent < number;
}

size_t pf_inlines_find(const struct pf_inlines *inlines, uint64_t address, struct pf_source_frame *frames,
                       size_t capacity)
{
    struct pf_line_row row = row_at(inlines, address);
    uint32_t number = node_at(inlines, address);
    struct pf_source_frame frame = {
        .file = text_at(inlines, row.file), .line = row.line, .column = row.column, .inlined = false};
    size_t count = 0;
    while (number < inlines->node_count) {
        const struct pf_inline_node *node = &inlines->nodes[number];
        frame.function = text_at(inlines, node->function);
        frame.inlined = node->parent < number;
        if (count < capacity)
            frames[count] = frame;
        count++;
        if (!frame.inlined) /* parents have smaller numbers: this ends */
            return count;
        frame = (struct pf_source_frame){
            .file = text_at(inlines, node->call_file), .line = node->call_line, .column = node->call_column};
        number = node->parent;
    }
    if (count == 0 && (frame.file || frame.line)) {
        if (capacity)
            frames[0] = frame;
        count = 1;
    }
    return count;
}

/* ---- for profiles --------------------------------------------------------------------------------------------- */

static const struct pf_node_detail *detail_of(const struct pf_inlines *inlines, uint32_t node)
{
    static const struct pf_node_detail none = {0};
    return inlines->details && node < inlines->node_count ? &inlines->details[node] : &none;
}

/* The line and discriminator of the address, and the first address after it where another row is in force. */
static struct pf_counted_frame leaf_at(const struct pf_inlines *inlines, uint64_t address, uint64_t *end)
{
    const size_t after = count_up_to(inlines->line_addresses, inlines->line_count, address);
    struct pf_counted_frame frame = {.line = 0};
    if (after < inlines->line_count)
        *end = pf_min(*end, inlines->line_addresses[after]);
    if (!after)
        return frame;
    frame.line = inlines->rows[after - 1].line;
    frame.discriminator = inlines->discriminators ? inlines->discriminators[after - 1] : 0;
    return frame;
}

size_t pf_inlines_count(const struct pf_inlines *inlines, uint64_t address, struct pf_counted_frame *frames,
                        size_t capacity, uint64_t *end)
{
    const size_t segment = count_up_to(inlines->segment_addresses, inlines->segment_count, address);
    *end = segment < inlines->segment_count ? inlines->segment_addresses[segment] : UINT64_MAX;
    struct pf_counted_frame frame = leaf_at(inlines, address, end);
    uint32_t number = segment ? inlines->segment_nodes[segment - 1] : (uint32_t)PF_INLINES_NONE;
    for (size_t count = 0; number < inlines->node_count && count < capacity; count++) {
        const struct pf_inline_node *node = &inlines->nodes[number];
        const struct pf_node_detail *detail = detail_of(inlines, number);
        frame.function = text_at(inlines, node->function);
        frame.declared = detail->declared;
        frames[count] = frame;
        if (node->parent >= number)
            return count + 1;
        frame = (struct pf_counted_frame){.line = node->call_line, .discriminator = detail->discriminator};
        number = node->parent;
    }
    return 0;
}

/* The subprogram around the code of a segment; PF_INLINES_NONE: no function is known there. */
static uint32_t subprogram_of(const struct pf_inlines *inlines, size_t segment)
{
    const uint32_t number = inlines->segment_nodes[segment];
    if (!inlines->details || number >= inlines->node_count)
        return (uint32_t)PF_INLINES_NONE;
    const uint32_t subprogram = inlines->details[number].subprogram;
    return subprogram < inlines->node_count ? subprogram : (uint32_t)PF_INLINES_NONE;
}

bool pf_inlines_next_range(const struct pf_inlines *inlines, size_t *at, struct pf_function_range *range)
{
    uint32_t number = (uint32_t)PF_INLINES_NONE;
    for (; *at < inlines->segment_count && number == (uint32_t)PF_INLINES_NONE; ++*at)
        number = subprogram_of(inlines, *at);
    if (number == (uint32_t)PF_INLINES_NONE)
        return false;
    *range = (struct pf_function_range){.low = inlines->segment_addresses[*at - 1],
                                        .high = UINT64_MAX,
                                        .function = text_at(inlines, inlines->nodes[number].function)};
    range->is_entry = detail_of(inlines, number)->entry == range->low;
    while (*at < inlines->segment_count && subprogram_of(inlines, *at) == number)
        ++*at;
    if (*at < inlines->segment_count)
        range->high = inlines->segment_addresses[*at];
    return true;
}
