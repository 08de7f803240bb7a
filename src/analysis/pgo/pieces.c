/* SPDX-License-Identifier: MIT */
#include "analysis/pgo/pieces.h"

#include <stdlib.h>

#include "base/bytes.h"

/* Where a range begins or ends. */
struct edge {
    uint64_t address;
    uint64_t count;
    bool is_end;
};

/* A sum of fewer than 2^64 counts, which loses nothing when counts are subtracted again. */
struct sum {
    uint64_t high, low;
};

struct cutting {
    struct pf_pgo_pieces *pieces;
    struct sum sum;
    uint64_t depth; /* ranges that are open */
    uint64_t from;  /* where the current piece begins */
    bool failed;
};

void pf_pgo_pieces_close(struct pf_pgo_pieces *pieces)
{
    pf_free(pieces->allocator, pieces->items, pieces->capacity * sizeof(*pieces->items));
}

bool pf_pgo_pieces_add(struct pf_pgo_pieces *pieces, uint64_t low, uint64_t high, uint64_t count)
{
    return low >= high || PF_APPEND(pieces->allocator, pieces->items, pieces->count, pieces->capacity,
                                    (struct pf_pgo_piece){low, high, count});
}

static int compare_edges(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return (x->address > y->address) - (x->address < y->address);
}

static void add_to_sum(struct sum *sum, uint64_t count)
{
    sum->high += __builtin_add_overflow(sum->low, count, &sum->low);
}

static void take_from_sum(struct sum *sum, uint64_t count)
{
    sum->high -= __builtin_sub_overflow(sum->low, count, &sum->low);
}

/* Delivers what is between the edge and the one before, and goes on after it. */
static void pass_edge(struct cutting *c, const struct edge *edge)
{
    if (c->depth && !c->failed)
        c->failed = !pf_pgo_pieces_add(c->pieces, c->from, edge->address, c->sum.high ? UINT64_MAX : c->sum.low);
    c->from = edge->address;
    c->depth += edge->is_end ? UINT64_MAX : 1;
    if (edge->is_end)
        take_from_sum(&c->sum, edge->count);
    else
        add_to_sum(&c->sum, edge->count);
}

bool pf_pgo_pieces_cut(struct pf_pgo_pieces *pieces)
{
    const size_t count = 2 * pieces->count, bytes = (count + 1) * sizeof(struct edge);
    struct edge *edges = pf_new(pieces->allocator, bytes);
    struct cutting c = {.pieces = pieces, .failed = !edges};
    if (c.failed)
        return false;
    for (size_t i = 0; i < pieces->count; i++) {
        const struct pf_pgo_piece *range = &pieces->items[i];
        edges[2 * i] = (struct edge){range->low, range->count, false};
        edges[2 * i + 1] = (struct edge){range->high, range->count, true};
    }
    pieces->count = 0;
    if (count)
        qsort(edges, count, sizeof(*edges), compare_edges);
    for (size_t i = 0; i < count; i++)
        pass_edge(&c, &edges[i]);
    pf_free(pieces->allocator, edges, bytes);
    return !c.failed;
}
