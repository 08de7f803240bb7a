/* SPDX-License-Identifier: MIT */
/* Allocations of pages of memory by caller and by page: kmem:mm_page_alloc and mm_page_free. */
#ifndef PF_ANALYSIS_EVENTS_KMEM_PAGE_H
#define PF_ANALYSIS_EVENTS_KMEM_PAGE_H

#include "analysis/events/fields.h"
#include "analysis/events/sort_keys.h"
#include "analysis/events/source.h"
#include "analysis/profile.h"
#include "analysis/trace/trace_format.h"
#include "base/pairs.h"

extern const struct pf_required_events pf_pages_events;

enum { PF_PAGE_ORDERS = 32, PF_PAGE_TYPES = 5 };

struct pf_page_gfp {
    uint64_t flags;
    const char *text;       /* "GFP_KERNEL|__GFP_ZERO", or a number */
    const char *short_text; /* "K|Z" */
};

struct pf_page_row {
    uint64_t key;       /* the caller, or the number of the page */
    uint64_t page;      /* that number; of callers 0 */
    uint64_t call_site; /* address of the (last) caller */
    const char *name;   /* of it; NULL: not known */
    const struct pf_page_gfp *gfp;
    uint32_t order, type;
    uint64_t hits, bytes;
    uint64_t live, live_bytes; /* of these, not freed */
};

struct pf_page_rows {
    struct pf_pairs index;
    struct pf_page_row *rows;
    size_t count, capacity;
};

/* A page that is allocated: where it is counted. */
struct pf_page_live {
    uint32_t caller, page; /* rows */
    bool live;
};

struct pf_pages {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_profile *profile;
    struct pf_events events;
    struct pf_arena arena;
    struct pf_map gfps;      /* flags to struct pf_page_gfp */
    struct pf_map lifetimes; /* page to the index of its struct pf_page_live */
    struct pf_page_live *live;
    size_t live_count, live_capacity;
    struct pf_page_gfp **gfp_list; /* in the order in which they came */
    size_t gfp_count, gfp_capacity;
    struct pf_trace_format *gfp_format; /* NULL: flags stay numbers */
    bool gfp_looked;
    struct pf_text text, scratch;
    struct pf_page_rows callers, pages;
    struct pf_sort_keys keys;
    uint64_t page_bytes;
    uint64_t allocs, alloc_bytes, frees, free_bytes;
    uint64_t freed, freed_bytes; /* frees of what was allocated here */
    uint64_t failed, failed_bytes;
    uint64_t orders[PF_PAGE_ORDERS][PF_PAGE_TYPES], live_orders[PF_PAGE_ORDERS][PF_PAGE_TYPES];
    uint32_t max_order;
};

/* MEMORY. Close them also then. */
int pf_pages_open(struct pf_pages *pages, struct perfile_reader *reader, const struct perfile_allocator *allocator,
                  struct perfile_error *error);
void pf_pages_close(struct pf_pages *pages);
/* False: out of memory. */
bool pf_pages_take(void *pages, const struct pf_profile_sample *sample);
/* Before anything is taken: "bytes,hit,page,callsite,order,migtype,gfp"; NULL: the first two. ARGUMENT. */
int pf_pages_order(struct pf_pages *pages, const char *keys, struct perfile_error *error);
/* At the end. With `live` rows are of what was not freed, and are sorted by how much and how often that was. */
void pf_pages_sort(struct pf_pages *pages, bool live);
/* "UNMOVABL", "MOVABLE" ... */
const char *pf_page_type(uint32_t type);
void pf_pages_notify(struct pf_pages *pages, pf_on_note *notify, void *context);

#endif
