/* SPDX-License-Identifier: MIT */
/*
 * The units of a file on several threads. Each reads shares of consecutive units into builders of their own, which
 * the caller adds to its builder in the order of the units: so that has the content that one thread would have made.
 * All units, also of the dwz file, are prepared before the first one is read: from then on threads only read them.
 * Split units belong to the thread that has opened them.
 */
#include "base/stages.h"
#include "platform/platform.h"
#include "symbol/dwarf/inlines_units.h"
#include "symbol/dwarf/names.h"
#include "symbol/dwarf/units.h"

enum {
    MAX_SHARE_BYTES = 1 << 21,
    MIN_SHARE_BYTES = 1 << 18, /* takes about three milliseconds */
    SPLIT_BYTES = 1 << 18,     /* that a split unit is expected to have: its file is not open yet */
};

struct share {
    struct pf_inlines_builder builder;
    struct pf_unit_reader reader;
    uint32_t first, after;    /* its units */
    struct pf_unit_part part; /* of the unit, if that is the only one */
    bool is_cut;              /* as pf_unit_reader_read_part */
    char apart[128];          /* the next one is in other cache lines: another thread changes it at each entry */
};

struct sharing {
    const struct pf_units *units;
    struct pf_inlines_builder *builder;
    unsigned threads;
    uint64_t steps;      /* that each share may take */
    uint64_t bytes;      /* that are in no share yet */
    uint32_t next;       /* the first unit of these */
    const uint8_t *from; /* where the rest of it begins; NULL: all of it is left */
    uint32_t completed;  /* the number, from 1 on, of the unit that the caller has read to its end */
    struct share *shares;
    unsigned share_count;
};

/* How much there is to read. */
static uint64_t bytes_of(const struct pf_units *units, size_t number)
{
    const struct pf_unit *unit = &units->debug->units[number];
    if (units->uses[number] == PF_UNIT_UNUSED)
        return 0;
    return unit->type == DW_UT_skeleton ? SPLIT_BYTES : (uint64_t)(unit->end - unit->start);
}

/* The last ones are small, so that no thread has much left when the others are done. */
static uint64_t choose_bytes(const struct sharing *sharing)
{
    const uint64_t asked = sharing->units->request->share_bytes, bytes = sharing->bytes / (2 * sharing->threads);
    return asked ? asked : pf_max(MIN_SHARE_BYTES, pf_min(MAX_SHARE_BYTES, bytes));
}

static bool is_large(const struct sharing *sharing, uint64_t wanted)
{
    const struct pf_unit *unit = &sharing->units->debug->units[sharing->next];
    return unit->type != DW_UT_skeleton && bytes_of(sharing->units, sharing->next) > 2 * wanted;
}

/* Part of a unit. Returns its bytes. */
static uint64_t choose_part(struct sharing *sharing, struct share *share, uint64_t wanted)
{
    struct pf_unit *unit = &sharing->units->debug->units[sharing->next];
    const uint8_t *from = sharing->from, *to = pf_unit_cut(unit, from, wanted);
    share->part = (struct pf_unit_part){from, to};
    sharing->from = to;
    sharing->next += !to;
    return (uint64_t)((to ? to : unit->end) - (from ? from : unit->start));
}

static uint64_t choose_units(struct sharing *sharing, struct share *share, uint64_t wanted)
{
    uint64_t bytes = 0;
    while (sharing->next < sharing->units->debug->unit_count && bytes < wanted && !is_large(sharing, wanted))
        bytes += bytes_of(sharing->units, sharing->next++);
    share->part = (struct pf_unit_part){NULL, NULL};
    return bytes;
}

static bool choose_share(void *context, void *item, unsigned worker)
{
    struct sharing *sharing = context;
    struct share *share = item;
    const size_t count = sharing->units->debug->unit_count;
    const uint64_t wanted = choose_bytes(sharing);
    (void)worker;
    share->first = sharing->next;
    if (sharing->next < count && (sharing->from || is_large(sharing, wanted)))
        sharing->bytes -= choose_part(sharing, share, wanted);
    else
        sharing->bytes -= choose_units(sharing, share, wanted);
    share->after = sharing->from ? sharing->next + 1 : sharing->next;
    return sharing->next < count;
}

static bool read_share(void *context, void *item, unsigned worker)
{
    const struct sharing *sharing = context;
    struct share *share = item;
    (void)worker;
    pf_builder_clear(&share->builder);
    pf_unit_reader_clear(&share->reader);
    share->builder.steps = sharing->steps;
    share->is_cut = true;
    if (share->part.from || share->part.to)
        share->is_cut = pf_unit_reader_read_part(&share->reader, share->first, &share->part);
    else
        pf_unit_reader_read(&share->reader, share->first, share->after);
    return true;
}

/* What one thread would not have read in this way: parts of a damaged unit, and with more steps than were left. */
static void read_again(struct sharing *sharing, const struct share *share, struct pf_unit_reader *own)
{
    if (!share->part.from && !share->part.to) {
        pf_unit_reader_read(own, share->first, share->after);
        return;
    }
    (void)pf_unit_reader_read_part(own, share->first, &(struct pf_unit_part){share->part.from, NULL});
    sharing->completed = share->first + 1;
}

static void add_share(struct sharing *sharing, const struct share *share, struct pf_unit_reader *own)
{
    struct pf_inlines_builder *builder = sharing->builder;
    const uint64_t steps = sharing->steps - share->builder.steps;
    if (share->part.from && sharing->completed == share->first + 1)
        return;
    if (steps > builder->steps || (!share->is_cut && !share->builder.failed)) {
        read_again(sharing, share, own);
        return;
    }
    builder->steps -= steps;
    pf_builder_add(builder, &share->builder);
}

static void close_shares(struct sharing *sharing)
{
    for (unsigned i = 0; i < sharing->share_count; i++) {
        pf_unit_reader_close(&sharing->shares[i].reader);
        pf_builder_close(&sharing->shares[i].builder);
    }
    pf_free(sharing->builder->allocator, sharing->shares, sharing->share_count * sizeof(*sharing->shares));
}

/* False: out of memory. */
static bool open_shares(struct sharing *sharing, unsigned count)
{
    sharing->shares = pf_new(sharing->builder->allocator, count * sizeof(*sharing->shares));
    if (!sharing->shares)
        return false;
    for (; sharing->share_count < count; sharing->share_count++) {
        struct share *share = &sharing->shares[sharing->share_count];
        pf_builder_open_share(&share->builder, sharing->builder);
        pf_builder_reserve(&share->builder, pf_min(sharing->bytes, MAX_SHARE_BYTES));
        pf_unit_reader_open(&share->reader, sharing->units, &share->builder);
    }
    return true;
}

/* Ends when the steps of the caller are used up: each share may take all of them. Returns false when out of memory. */
static bool read_together(struct sharing *sharing, struct pf_unit_reader *own)
{
    static const struct pf_stage stages[] = {{.work = choose_share}, {.work = read_share, .parallel = true}};
    if (!open_shares(sharing, sharing->threads + 2))
        return false;
    pf_builder_reserve(sharing->builder, sharing->bytes);
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = sharing->threads,
                                        .context = sharing,
                                        .items = sharing->shares,
                                        .item_bytes = sizeof(*sharing->shares),
                                        .item_count = sharing->share_count};
    struct pf_stages *running = pf_stages_open(&plan, sharing->builder->allocator);
    const struct share *share = NULL;
    while (running && !sharing->builder->failed && sharing->builder->steps && (share = pf_stages_next(running)))
        add_share(sharing, share, own);
    pf_stages_close(running);
    return running;
}

static uint64_t count_bytes(const struct pf_units *units)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < units->debug->unit_count; i++)
        bytes += bytes_of(units, i);
    return bytes;
}

/* The dwz file is prepared whatever the number of threads is, so that damaged ones have the same tables with any. */
static void read_chosen(const struct pf_units *units, struct pf_inlines_builder *builder)
{
    const struct pf_inlines_request *request = units->request;
    struct sharing sharing = {.units = units,
                              .builder = builder,
                              .threads = (unsigned)pf_min(request->threads, PF_THREADS_MAX),
                              .steps = builder->steps,
                              .bytes = count_bytes(units)};
    struct pf_unit_reader own;
    const bool is_long = sharing.bytes >= MAX_SHARE_BYTES || request->share_bytes;
    const bool is_shared = is_long && sharing.threads > 1 && (pf_platform_has_processors() || request->share_bytes);
    pf_unit_reader_open(&own, units, builder);
    if (is_long && units->debug->alternate)
        pf_debug_prepare(units->debug->alternate);
    if (is_shared)
        builder->threads = sharing.threads;
    if (!is_shared || !read_together(&sharing, &own))
        pf_unit_reader_read(&own, 0, (uint32_t)units->debug->unit_count);
    close_shares(&sharing);
    pf_unit_reader_close(&own);
}

void pf_units_read(struct pf_units *units, struct pf_inlines_builder *builder)
{
    pf_debug_prepare(units->debug);
    pf_units_choose(units, builder);
    if (!builder->failed)
        read_chosen(units, builder);
    pf_units_close(units, builder->allocator);
}
