/* SPDX-License-Identifier: MIT */
/* What several threads have built, added up in order. */
#include "symbol/dwarf/inlines_tables.h"

void pf_builder_open_share(struct pf_inlines_builder *share, const struct pf_inlines_builder *total)
{
    pf_builder_open(share, total->allocator);
    share->detailed = total->detailed;
    share->total = total;
}

void pf_builder_reserve(struct pf_inlines_builder *b, uint64_t bytes)
{
    enum { BYTES_OF_NODE = 128, BYTES_OF_TEXT = 8, MAX_BYTES = 1 << 28 };
    bytes = pf_min(bytes, MAX_BYTES);
    const size_t count = (size_t)(bytes / BYTES_OF_NODE), text = (size_t)(bytes / BYTES_OF_TEXT);
    if (!pf_grow(b->allocator, &b->text, &b->text_capacity, text, 1) ||
        !pf_grow(b->allocator, &b->nodes, &b->node_capacity, count, sizeof(*b->nodes)) ||
        !pf_grow(b->allocator, &b->node_claims.items, &b->node_claims.capacity, count, sizeof(struct pf_claim)) ||
        !pf_grow(b->allocator, &b->rows, &b->row_capacity, count, sizeof(*b->rows)))
        b->failed = true;
}

void pf_builder_clear(struct pf_inlines_builder *share)
{
    pf_map_clear(&share->text_by_hash);
    share->text_used = pf_min(share->text_used, 1); /* the empty one */
    share->row_count = share->span_count = share->span_claims.count = 0;
    share->node_count = share->node_claims.count = 0;
}

/* False: out of memory. */
static bool add_texts(struct pf_inlines_builder *total, const struct pf_inlines_builder *share)
{
    if (!pf_grow(total->allocator, &total->moved, &total->moved_capacity, share->text_used, sizeof(*total->moved)))
        return false;
    for (size_t at = 0; at < share->text_used; at += strlen(share->text + at) + 1)
        total->moved[at] = pf_builder_text(total, share->text + at);
    return !total->failed;
}

static bool grow_nodes(struct pf_inlines_builder *total, size_t count)
{
    return count < UINT32_MAX &&
           pf_grow(total->allocator, &total->nodes, &total->node_capacity, count, sizeof(*total->nodes)) &&
           (!total->detailed ||
            pf_grow(total->allocator, &total->details, &total->detail_capacity, count, sizeof(*total->details)));
}

static bool add_nodes(struct pf_inlines_builder *total, const struct pf_inlines_builder *share)
{
    const uint32_t before = (uint32_t)total->node_count;
    if (!grow_nodes(total, total->node_count + share->node_count))
        return false;
    for (size_t i = 0; i < share->node_count; i++) {
        struct pf_inline_node node = share->nodes[i];
        node.parent += node.parent == (uint32_t)PF_INLINES_NONE ? 0 : before;
        node.function = total->moved[node.function];
        node.call_file = total->moved[node.call_file];
        if (total->detailed)
            total->details[total->node_count] = share->details[i];
        total->nodes[total->node_count++] = node;
    }
    return true;
}

/* The lower half of the priority counts owners: upwards or downwards, see where the claims are made. */
static bool add_claims(struct pf_inlines_builder *total, struct pf_claims *to, const struct pf_claims *claims,
                       const struct pf_claim *moved)
{
    if (!pf_grow(total->allocator, &to->items, &to->capacity, to->count + claims->count, sizeof(*to->items)))
        return false;
    for (size_t i = 0; i < claims->count; i++) {
        struct pf_claim claim = claims->items[i];
        claim.owner += moved->owner;
        claim.priority += moved->priority;
        to->items[to->count++] = claim;
    }
    return true;
}

static bool add_rows(struct pf_inlines_builder *total, const struct pf_inlines_builder *share)
{
    const size_t rows = total->row_count + share->row_count, spans = total->span_count + share->span_count;
    if (!pf_grow(total->allocator, &total->rows, &total->row_capacity, rows, sizeof(*total->rows)) ||
        !pf_grow(total->allocator, &total->spans, &total->span_capacity, spans, sizeof(*total->spans)))
        return false;
    for (size_t i = 0; i < share->span_count; i++)
        total->spans[total->span_count++] =
            (struct pf_line_span){share->spans[i].first + total->row_count, share->spans[i].count};
    for (size_t i = 0; i < share->row_count; i++) {
        struct pf_built_row row = share->rows[i];
        row.row.file = total->moved[row.row.file];
        total->rows[total->row_count++] = row;
    }
    return true;
}

void pf_builder_add(struct pf_inlines_builder *total, const struct pf_inlines_builder *share)
{
    const uint32_t nodes = (uint32_t)total->node_count, spans = (uint32_t)total->span_count;
    const struct pf_claim node = {.owner = nodes, .priority = nodes};
    const struct pf_claim span = {.owner = spans, .priority = -(uint64_t)spans};
    if (share->failed || total->failed || !add_texts(total, share) || !add_nodes(total, share) ||
        !add_rows(total, share) || !add_claims(total, &total->node_claims, &share->node_claims, &node) ||
        !add_claims(total, &total->span_claims, &share->span_claims, &span))
        total->failed = true;
}
