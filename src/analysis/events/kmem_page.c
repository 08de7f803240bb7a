/* SPDX-License-Identifier: MIT */
#include "analysis/events/kmem_page.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "base/error.h"
#include "platform/platform.h"

enum required {
#define PF_KMEM_PAGE(id, ...) id,
#include "analysis/events/events.def"
};
enum { PFN, ORDER, FLAGS, TYPE };

static const struct pf_required_event required[] = {
#define PF_KMEM_PAGE PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_pages_events = {required, PF_COUNT(required)};

int pf_pages_open(struct pf_pages *pages, struct perfile_reader *reader, const struct perfile_allocator *allocator,
                  struct perfile_error *error)
{
    const struct perfile_tracing *tracing;
    *pages = (struct pf_pages){.reader = reader, .allocator = allocator, .page_bytes = 4096};
    pf_bound_events_open(&pages->events, reader, &pf_pages_events, allocator);
    pf_arena_open(&pages->arena, allocator);
    pf_map_open(&pages->gfps, allocator);
    pf_map_open(&pages->lifetimes, allocator);
    pf_pairs_open(&pages->callers.index, allocator);
    pf_pairs_open(&pages->pages.index, allocator);
    if (pf_memory_check(allocator, perfile_tracing_get(reader, &tracing, NULL)) == 0 && tracing->page_bytes)
        pages->page_bytes = tracing->page_bytes;
    return pf_text_open(&pages->text, allocator, NULL, NULL) < 0 ||
                   pf_text_open(&pages->scratch, allocator, NULL, NULL) < 0
               ? pf_fail_memory(error, "pages")
               : 0;
}

static void close_rows(struct pf_page_rows *rows, const struct perfile_allocator *allocator)
{
    pf_pairs_close(&rows->index);
    pf_free(allocator, rows->rows, rows->capacity * sizeof(*rows->rows));
}

void pf_pages_close(struct pf_pages *pages)
{
    if (!pages->reader)
        return;
    close_rows(&pages->callers, pages->allocator);
    close_rows(&pages->pages, pages->allocator);
    pf_free(pages->allocator, pages->live, pages->live_capacity * sizeof(*pages->live));
    pf_free(pages->allocator, pages->gfp_list, pages->gfp_capacity * sizeof(*pages->gfp_list));
    pf_map_close(&pages->gfps);
    pf_map_close(&pages->lifetimes);
    pf_bound_events_close(&pages->events);
    pf_text_close(&pages->text);
    pf_text_close(&pages->scratch);
    pf_arena_close(&pages->arena);
}

/* ---- flags ------------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *letters;
} letters[] = {
    {"GFP_TRANSHUGE", "THP"},
    {"GFP_TRANSHUGE_LIGHT", "THL"},
    {"GFP_HIGHUSER_MOVABLE", "HUM"},
    {"GFP_HIGHUSER", "HU"},
    {"GFP_USER", "U"},
    {"GFP_KERNEL_ACCOUNT", "KAC"},
    {"GFP_KERNEL", "K"},
    {"GFP_NOFS", "NF"},
    {"GFP_ATOMIC", "A"},
    {"GFP_NOIO", "NI"},
    {"GFP_NOWAIT", "NW"},
    {"GFP_DMA", "D"},
    {"GFP_DMA32", "D32"},
    {"__GFP_HIGHMEM", "HM"},
    {"__GFP_HIGH", "H"},
    {"__GFP_IO", "I"},
    {"__GFP_FS", "F"},
    {"__GFP_NOWARN", "NWR"},
    {"__GFP_RETRY_MAYFAIL", "R"},
    {"__GFP_NOFAIL", "NF"},
    {"__GFP_NORETRY", "NR"},
    {"__GFP_COMP", "C"},
    {"__GFP_ZERO", "Z"},
    {"__GFP_NOMEMALLOC", "NMA"},
    {"__GFP_MEMALLOC", "MA"},
    {"__GFP_HARDWALL", "HW"},
    {"__GFP_THISNODE", "TN"},
    {"__GFP_RECLAIMABLE", "RC"},
    {"__GFP_MOVABLE", "M"},
    {"__GFP_ACCOUNT", "AC"},
    {"__GFP_WRITE", "WR"},
    {"__GFP_RECLAIM", "R"},
    {"__GFP_DIRECT_RECLAIM", "DR"},
    {"__GFP_KSWAPD_RECLAIM", "KR"},
};

static const char *find_letters(const char *name, size_t length)
{
    for (size_t i = 0; i < PF_COUNT(letters); i++)
        if (strlen(letters[i].name) == length && strncmp(letters[i].name, name, length) == 0)
            return letters[i].letters;
    return NULL;
}

/* Makes a format of the names of flags alone, as the print format of this kernel lists them. */
static struct pf_trace_format *make_format(struct pf_pages *pages, const struct perfile_tracepoint *tracepoint)
{
    static const char call[] = "__print_flags(REC->gfp_flags";
    const struct perfile_tracing *tracing;
    const char *start = tracepoint->print_fmt ? strstr(tracepoint->print_fmt, call) : NULL, *end = start;
    int depth = 0;
    if (!start || pf_memory_check(pages->allocator, perfile_tracing_get(pages->reader, &tracing, NULL)) < 0)
        return NULL;
    for (; *end && (depth != 1 || *end != ')'); end++)
        depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
    if (!*end)
        return NULL;
    const size_t bytes = (size_t)(end - start) + 1, capacity = bytes + sizeof("\"%s\", ");
    char *text = pf_arena_new(&pages->arena, capacity);
    struct perfile_tracepoint *other = pf_arena_new(&pages->arena, sizeof(*other));
    if (!text || !other)
        return NULL;
    snprintf(text, capacity, "\"%%s\", %.*s", (int)bytes, start);
    *other = *tracepoint;
    other->print_fmt = text;
    return pf_trace_parse(&pages->arena, tracing, other);
}

static const char *shorten(struct pf_pages *pages, const char *text)
{
    char out[256];
    size_t used = 0;
    for (const char *at = text; *at && used < sizeof(out) - 1; at += *at == '|') {
        const size_t length = strcspn(at, "|");
        const char *found = find_letters(at, length);
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s", at > text ? "|" : "",
                                 found ? (int)strlen(found) : (int)length, found ? found : at);
        at += length;
    }
    return pf_arena_text(&pages->arena, out, strnlen(out, sizeof(out) - 1));
}

/* NULL: out of memory. */
static const struct pf_page_gfp *find_gfp(struct pf_pages *pages, const struct pf_profile_sample *sample,
                                          uint64_t flags)
{
    uint64_t known;
    if (pf_map_get(&pages->gfps, flags, &known))
        return (const struct pf_page_gfp *)(uintptr_t)known;
    if (!pages->gfp_looked) {
        const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(pages->reader, sample->event);
        pages->gfp_format = tracepoint ? make_format(pages, tracepoint) : NULL;
        pages->gfp_looked = true;
    }
    struct pf_page_gfp *made = pf_arena_new(&pages->arena, sizeof(*made));
    pages->text.used = 0;
    if (pages->gfp_format && flags)
        pf_trace_print(pages->gfp_format, &sample->decoded->raw, pages->events.swap, &pages->scratch, &pages->text);
    else
        pf_put_format(&pages->text, flags ? "0x%" PRIx64 : "none", flags);
    if (!made || pages->text.failed ||
        !pf_grow(pages->allocator, &pages->gfp_list, &pages->gfp_capacity, pages->gfp_count + 1,
                 sizeof(*pages->gfp_list)) ||
        !pf_map_put(&pages->gfps, flags, (uintptr_t)made))
        return NULL;
    made->flags = flags;
    made->text = pf_arena_text(&pages->arena, pages->text.data, pages->text.used);
    made->short_text = made->text ? shorten(pages, made->text) : NULL;
    pages->gfp_list[pages->gfp_count++] = made;
    return made->short_text ? made : NULL;
}

const char *pf_page_type(uint32_t type)
{
    static const char *const names[PF_PAGE_TYPES] = {"UNMOVABL", "MOVABLE", "RECLAIM", "HIGHATOM", "CMA/ISLT"};
    return names[pf_min(type, PF_PAGE_TYPES - 1)];
}

/* ---- callers ----------------------------------------------------------------------------------------------------- */

/* Functions of the allocator itself. */
static bool is_allocator(const char *name)
{
    static const char *const names[] = {"__alloc_pages",        "alloc_pages",       "__get_free_pages",
                                        "get_zeroed_page",      "_alloc_pages",      "_get_free_page",
                                        "__alloc_frozen_pages", "alloc_frozen_pages"};
    for (size_t i = 0; name && i < PF_COUNT(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static const char *name_at(const struct pf_pages *pages, uint64_t ip)
{
    const uint32_t frame = pf_profile_frame_at(pages->profile, ip);
    const struct pf_frame_info *info = frame == PF_NO_FRAME ? NULL : pf_profile_frame(pages->profile, frame);
    return info ? info->name : NULL;
}

/* The first in the stack that is not of the allocator; without a stack where the sample was taken. */
static uint64_t find_caller(const struct pf_pages *pages, const struct pf_profile_sample *sample)
{
    const struct perfile_u64s *chain = &sample->decoded->callchain;
    if (sample->decoded->present & PERFILE_SAMPLE_CALLCHAIN)
        for (uint64_t i = 0; i < chain->count; i++) {
            const uint64_t ip = perfile_u64_at(chain, i);
            if (ip < PERFILE_CONTEXT_MAX && !is_allocator(name_at(pages, ip)))
                return ip;
        }
    return sample->ip;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* What an allocation says. */
struct notify {
    const struct pf_profile_sample *sample;
    const struct pf_page_gfp *gfp;
    uint64_t pfn, order, type, call_site;
};

/* Returns the index of the row; UINT32_MAX when out of memory. */
static uint32_t find_row(struct pf_pages *pages, struct pf_page_rows *rows, uint64_t key, const struct notify *notify)
{
    const uint64_t kind = notify->gfp->flags << 8 ^ notify->order << 3 ^ notify->type;
    uint32_t known;
    if (pf_pairs_get(&rows->index, key, kind, &known))
        return known;
    if (rows->count >= UINT32_MAX - 1 ||
        !pf_grow(pages->allocator, &rows->rows, &rows->capacity, rows->count + 1, sizeof(*rows->rows)) ||
        !pf_pairs_put(&rows->index, key, kind, (uint32_t)rows->count))
        return UINT32_MAX;
    rows->rows[rows->count] = (struct pf_page_row){.key = key,
                                                   .gfp = notify->gfp,
                                                   .order = (uint32_t)notify->order,
                                                   .type = (uint32_t)notify->type,
                                                   .call_site = notify->call_site,
                                                   .name = name_at(pages, notify->call_site)};
    return (uint32_t)rows->count++;
}

static void count_row(struct pf_page_row *row, uint64_t bytes)
{
    row->hits++;
    row->bytes += bytes;
    row->live++;
    row->live_bytes += bytes;
}

static struct pf_page_live *find_live(struct pf_pages *pages, uint64_t pfn)
{
    uint64_t known;
    if (pf_map_get(&pages->lifetimes, pfn, &known))
        return &pages->live[known];
    if (!pf_grow(pages->allocator, &pages->live, &pages->live_capacity, pages->live_count + 1, sizeof(*pages->live)) ||
        !pf_map_put(&pages->lifetimes, pfn, pages->live_count))
        return NULL;
    pages->live[pages->live_count] = (struct pf_page_live){.live = false};
    return &pages->live[pages->live_count++];
}

static bool take_alloc(struct pf_pages *pages, const struct pf_event_fields *event, struct notify *notify)
{
    const struct perfile_bytes *raw = &notify->sample->decoded->raw;
    const uint64_t bytes = pages->page_bytes << notify->order;
    uint64_t flags = 0;
    pf_event_number(&pages->events, event, FLAGS, raw, &flags);
    pf_event_number(&pages->events, event, TYPE, raw, &notify->type);
    notify->type = pf_min(notify->type, (uint64_t)PF_PAGE_TYPES - 1);
    pages->allocs++;
    pages->alloc_bytes += bytes;
    if (notify->pfn == 0 || notify->pfn == UINT64_MAX) {
        pages->failed++;
        pages->failed_bytes += bytes;
        return true;
    }
    notify->gfp = find_gfp(pages, notify->sample, flags);
    if (!notify->gfp)
        return false;
    notify->call_site = find_caller(pages, notify->sample);
    const uint32_t caller = find_row(pages, &pages->callers, notify->call_site, notify);
    const uint32_t page = find_row(pages, &pages->pages, notify->pfn, notify);
    struct pf_page_live *live = find_live(pages, notify->pfn);
    if (caller == UINT32_MAX || page == UINT32_MAX || !live)
        return false;
    count_row(&pages->callers.rows[caller], bytes);
    count_row(&pages->pages.rows[page], bytes);
    pages->pages.rows[page].page = notify->pfn;
    pages->pages.rows[page].call_site = notify->call_site;
    *live = (struct pf_page_live){caller, page, true};
    pages->orders[notify->order][notify->type]++;
    pages->live_orders[notify->order][notify->type]++;
    pages->max_order = (uint32_t)pf_max(pages->max_order, notify->order);
    return true;
}

static void drop(struct pf_page_row *row, uint64_t bytes)
{
    row->live -= pf_min(row->live, 1);
    row->live_bytes -= pf_min(row->live_bytes, bytes);
}

static bool take_free(struct pf_pages *pages, const struct notify *notify)
{
    const uint64_t bytes = pages->page_bytes << notify->order;
    uint64_t known;
    pages->frees++;
    pages->free_bytes += bytes;
    if (!pf_map_get(&pages->lifetimes, notify->pfn, &known) || !pages->live[known].live)
        return true;
    struct pf_page_live *live = &pages->live[known];
    const struct pf_page_row *page = &pages->pages.rows[live->page];
    live->live = false;
    pages->freed++;
    pages->freed_bytes += bytes;
    pages->live_orders[page->order][page->type] -= pages->live_orders[page->order][page->type] != 0;
    drop(&pages->callers.rows[live->caller], bytes);
    drop(&pages->pages.rows[live->page], bytes);
    return true;
}

bool pf_pages_take(void *state, const struct pf_profile_sample *sample)
{
    struct pf_pages *pages = state;
    const struct pf_event_fields *event = pf_events_find(&pages->events, sample->event);
    struct notify notify = {.sample = sample};
    if (!event || !pf_event_number(&pages->events, event, PFN, &sample->decoded->raw, &notify.pfn) ||
        !pf_event_number(&pages->events, event, ORDER, &sample->decoded->raw, &notify.order) ||
        notify.order >= PF_PAGE_ORDERS)
        return true;
    return event->id == ALLOC ? take_alloc(pages, event, &notify) : take_free(pages, &notify);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

enum key { BYTES, HITS, PAGE, CALLER, SIZE, KIND, GFP };
static const struct pf_sort_names keys_known = {{[BYTES] = "bytes",
                                                 [HITS] = "hit",
                                                 [PAGE] = "page",
                                                 [CALLER] = "callsite",
                                                 [SIZE] = "order",
                                                 [KIND] = "migtype",
                                                 [GFP] = "gfp"},
                                                "bytes,hit"};

int pf_pages_order(struct pf_pages *pages, const char *keys, struct perfile_error *error)
{
    return pf_sort_keys_parse(&pages->keys, keys, &keys_known, error);
}

static int by_key(unsigned key, const void *left, const void *right)
{
    const struct pf_page_row *a = left, *b = right;
    switch ((enum key)key) {
    case BYTES:
        return pf_sort_down(a->bytes, b->bytes);
    case HITS:
        return pf_sort_down(a->hits, b->hits);
    case PAGE:
        return pf_sort_down(a->page, b->page);
    case CALLER:
        return pf_sort_down(a->call_site, b->call_site);
    case SIZE:
        return pf_sort_down(a->order, b->order);
    case KIND:
        return pf_sort_down(a->type, b->type);
    default:
        return pf_sort_down(a->gfp->flags, b->gfp->flags);
    }
}

static int by_live_key(unsigned key, const void *left, const void *right)
{
    const struct pf_page_row *a = left, *b = right;
    return key == BYTES  ? pf_sort_down(a->live_bytes, b->live_bytes)
           : key == HITS ? pf_sort_down(a->live, b->live)
                         : by_key(key, left, right);
}

/* Orders rows with equal keys by page or caller, and then by their other properties, as perf does. */
static int compare_rest(const struct pf_page_row *a, const struct pf_page_row *b)
{
    static const struct pf_sort_keys rest = {{SIZE, KIND, GFP}, 3};
    return PF_COMPARE(a->key, b->key) ?: pf_sort_keys_compare(&rest, b, a, by_key);
}

static int compare(const void *left, const void *right, void *keys)
{
    const int order = pf_sort_keys_compare(keys, left, right, by_key);
    return order ? order : compare_rest(left, right);
}

static int compare_live(const void *left, const void *right, void *keys)
{
    int order = pf_sort_keys_compare(keys, left, right, by_live_key);
    order = order ? order : by_key(PAGE, left, right); /* so perf has pages, but only these */
    return order ? order : compare_rest(left, right);
}

static int compare_gfps(const void *left, const void *right)
{
    const struct pf_page_gfp *a = *(struct pf_page_gfp *const *)left, *b = *(struct pf_page_gfp *const *)right;
    return PF_COMPARE(a->flags, b->flags);
}

static void drop_dead(struct pf_page_rows *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (rows->rows[i].live)
            rows->rows[count++] = rows->rows[i];
    rows->count = count;
}

void pf_pages_sort(struct pf_pages *pages, bool live)
{
    struct pf_page_rows *const both[] = {&pages->callers, &pages->pages};
    for (size_t i = 0; i < PF_COUNT(both); i++) {
        if (live)
            drop_dead(both[i]);
        if (both[i]->count)
            pf_platform_sort(both[i]->rows, both[i]->count, sizeof(*both[i]->rows), live ? compare_live : compare,
                             &pages->keys);
    }
    if (pages->gfp_count)
        qsort(pages->gfp_list, pages->gfp_count, sizeof(*pages->gfp_list), compare_gfps);
}

void pf_pages_notify(struct pf_pages *pages, pf_on_note *notify, void *context)
{
    if (notify && !pf_events_have(&pages->events, ALLOC))
        notify(context, "the recording has no events of pages; record with: " PF_RECORD_PAGES);
}
