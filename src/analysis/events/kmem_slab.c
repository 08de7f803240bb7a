/* SPDX-License-Identifier: MIT */
#include "analysis/events/kmem_slab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "base/counted.h"
#include "platform/platform.h"

enum { CALL_SITE, POINTER, REQUESTED, ALLOCATED, NODE };

enum required {
#define PF_KMEM_SLAB(id, ...) id,
#include "analysis/events/events.def"
};

static const struct pf_required_event required[] = {
#define PF_KMEM_SLAB PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_slab_events = {required, PF_COUNT(required)};

void pf_slab_open(struct pf_slab *slab, struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    *slab = (struct pf_slab){.reader = reader, .allocator = allocator, .node = -1};
    pf_bound_events_open(&slab->events, reader, &pf_slab_events, allocator);
    pf_arena_open(&slab->arena, allocator);
    pf_map_open(&slab->callers.index, allocator);
    pf_map_open(&slab->addresses.index, allocator);
}

static void close_rows(struct pf_slab_rows *rows, const struct perfile_allocator *allocator)
{
    pf_map_close(&rows->index);
    pf_free(allocator, rows->rows, rows->capacity * sizeof(*rows->rows));
}

void pf_slab_close(struct pf_slab *slab)
{
    if (!slab->reader)
        return;
    close_rows(&slab->callers, slab->allocator);
    close_rows(&slab->addresses, slab->allocator);
    pf_bound_events_close(&slab->events);
    pf_arena_close(&slab->arena);
}

/* A new one when there is none; NULL when out of memory. */
static struct pf_slab_row *find_row(struct pf_slab *slab, struct pf_slab_rows *rows, uint64_t key)
{
    uint64_t known;
    if (pf_map_get(&rows->index, key, &known))
        return &rows->rows[known];
    if (!pf_grow(slab->allocator, &rows->rows, &rows->capacity, rows->count + 1, sizeof(*rows->rows)) ||
        !pf_map_put(&rows->index, key, rows->count))
        return NULL;
    rows->rows[rows->count] = (struct pf_slab_row){.key = key};
    return &rows->rows[rows->count++];
}

static bool name_caller(struct pf_slab *slab, struct pf_slab_row *row)
{
    char text[256];
    if (row->name || slab->raw)
        return true;
    const uint32_t frame = pf_profile_frame_at(slab->profile, row->key);
    const struct pf_frame_info *info = frame == PF_NO_FRAME ? NULL : pf_profile_frame(slab->profile, frame);
    if (!info || !info->name)
        return frame != PF_NO_FRAME;
    snprintf(text, sizeof(text), "%s+%" PRIx64, info->name, info->address);
    row->name = pf_arena_text(&slab->arena, text, strlen(text));
    return row->name;
}

static void note_node(struct pf_slab *slab, uint64_t node)
{
    if ((int32_t)node < 0)
        return;
    slab->several_nodes |= slab->node >= 0 && slab->node != (int32_t)node;
    slab->node = (int32_t)node;
}

static bool take_alloc(struct pf_slab *slab, const struct pf_event_fields *event,
                       const struct pf_profile_sample *sample, uint64_t pointer)
{
    const struct perfile_bytes *raw = &sample->decoded->raw;
    uint64_t call_site = 0, requested = 0, allocated = 0, node = UINT64_MAX;
    pf_event_number(&slab->events, event, CALL_SITE, raw, &call_site);
    pf_event_number(&slab->events, event, REQUESTED, raw, &requested);
    pf_event_number(&slab->events, event, ALLOCATED, raw, &allocated);
    pf_event_number(&slab->events, event, NODE, raw, &node);
    note_node(slab, node);
    struct pf_slab_row *at = find_row(slab, &slab->addresses, pointer);
    struct pf_slab_row *caller = find_row(slab, &slab->callers, call_site);
    if (!at || !caller || !name_caller(slab, caller))
        return false;
    at->address = pointer;
    at->call_site = call_site;
    caller->call_site = call_site;
    at->last_bytes = allocated;
    at->last_cpu = sample->cpu;
    at->live = true;
    struct pf_slab_row *const both[] = {at, caller};
    for (size_t i = 0; i < PF_COUNT(both); i++) {
        both[i]->hits++;
        both[i]->requested += requested;
        both[i]->allocated += allocated;
    }
    slab->hits++;
    slab->requested += requested;
    slab->allocated += allocated;
    return true;
}

static bool take_free(struct pf_slab *slab, const struct pf_profile_sample *sample, uint64_t pointer)
{
    uint64_t known;
    if (!pf_map_get(&slab->addresses.index, pointer, &known)) {
        slab->unknown_frees++;
        return true;
    }
    struct pf_slab_row *at = &slab->addresses.rows[known];
    struct pf_slab_row *caller = find_row(slab, &slab->callers, at->call_site);
    if (!caller)
        return false;
    if (!at->live) { /* what was allocated in between was not recorded */
        slab->unknown_frees++;
        return true;
    }
    struct pf_slab_row *const both[] = {at, caller};
    for (size_t i = 0; i < PF_COUNT(both); i++) {
        both[i]->frees++;
        both[i]->freed += at->last_bytes;
        both[i]->ping_pong += at->last_cpu != sample->cpu;
    }
    slab->freed += at->last_bytes;
    at->live = false;
    return true;
}

bool pf_slab_take(void *state, const struct pf_profile_sample *sample)
{
    struct pf_slab *slab = state;
    const struct pf_event_fields *event = pf_events_find(&slab->events, sample->event);
    uint64_t pointer;
    if (!event || !pf_event_number(&slab->events, event, POINTER, &sample->decoded->raw, &pointer))
        return true;
    return event->id <= CACHE_ALLOC_NODE ? take_alloc(slab, event, sample, pointer) : take_free(slab, sample, pointer);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

double pf_slab_waste(uint64_t requested, uint64_t allocated)
{
    return allocated ? 100.0 - 100.0 * (double)requested / (double)allocated : 0;
}

enum key { FRAGMENTATION, HITS, BYTES, PING_PONG, ADDRESS, CALLER };
static const struct pf_sort_names keys_known = {{[FRAGMENTATION] = "frag",
                                                 [HITS] = "hit",
                                                 [BYTES] = "bytes",
                                                 [PING_PONG] = "pingpong",
                                                 [ADDRESS] = "ptr",
                                                 [CALLER] = "callsite"},
                                                "frag,hit,bytes"};

int pf_slab_order(struct pf_slab *slab, const char *keys, struct perfile_error *error)
{
    return pf_sort_keys_parse(&slab->keys, keys, &keys_known, error);
}

static int by_key(unsigned key, const void *left, const void *right)
{
    const struct pf_slab_row *a = left, *b = right;
    switch ((enum key)key) {
    case FRAGMENTATION:
        return pf_sort_down_f64(pf_slab_waste(a->requested, a->allocated), pf_slab_waste(b->requested, b->allocated));
    case HITS:
        return pf_sort_down(a->hits, b->hits);
    case BYTES:
        return pf_sort_down(a->allocated, b->allocated);
    case PING_PONG:
        return pf_sort_down(a->ping_pong, b->ping_pong);
    case ADDRESS:
        return pf_sort_down(a->address, b->address);
    default:
        return pf_sort_down(a->call_site, b->call_site);
    }
}

static int compare(const void *left, const void *right, void *keys)
{
    const struct pf_slab_row *a = left, *b = right;
    const int order = pf_sort_keys_compare(keys, left, right, by_key);
    return order ? order : (a->key > b->key) - (a->key < b->key);
}

static void sort_rows(struct pf_slab *slab, struct pf_slab_rows *rows)
{
    if (rows->count)
        pf_platform_sort(rows->rows, rows->count, sizeof(*rows->rows), compare, &slab->keys);
    pf_map_close(&rows->index); /* the rows are elsewhere now */
    pf_map_open(&rows->index, slab->allocator);
}

void pf_slab_sort(struct pf_slab *slab)
{
    sort_rows(slab, &slab->callers);
    sort_rows(slab, &slab->addresses);
}

void pf_slab_notify(struct pf_slab *slab, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    bool any = false;
    for (size_t i = 0; i <= CACHE_ALLOC_NODE; i++)
        any |= pf_events_have(&slab->events, i);
    if (!notify)
        return;
    if (!any)
        notify(context, "the recording has no events of allocations; record with: " PF_RECORD_SLAB);
    if (slab->unknown_frees) {
        notify(context, pf_count_of(slab->unknown_frees, "frees are without a recorded allocation", text));
    }
    if (slab->several_nodes)
        notify(context, "allocations are of several NUMA nodes; those of another node than the CPU's are not counted");
}
