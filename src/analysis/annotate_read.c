/* SPDX-License-Identifier: MIT */
/*
 * The pass over the recording: each sampled address is looked up once for each address space; after that a sample costs
 * a lookup in a table and two additions.
 */
#include <stdlib.h>

#include "analysis/address_cache.h"
#include "analysis/annotate.h"
#include "analysis/fields.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pairs.h"
#include "platform/platform.h"

#define NONE UINT32_MAX

enum { WAITING = 64 };

/* A sample whose address is looked up soon. */
struct waiting {
    const struct pf_address_slots *slots; /* of its space; NULL: none yet */
    size_t first;                         /* where in them the address would like to be */
    uint64_t ip;
    uint64_t period;
    uint64_t cost;
    uint32_t space; /* number */
    uint32_t event;
    uint32_t hit;
};

struct reading {
    struct perfile_annotation *annotation;
    const struct perfile_allocator *allocator;
    struct pf_delivered item;
    struct pf_address_cache positions; /* of addresses: a hit */
    struct pf_pairs functions;         /* (module, symbol) to function */
    struct pf_pairs hits;              /* (event and function, address) to hit */
    struct pf_pairs branches;          /* (function, address) to branches */
    struct waiting waiting[WAITING];
    unsigned waiting_count;
};

/* ---- where a sample counts --------------------------------------------------------------------------------------- */

static uint32_t function_of(struct reading *r, const struct pf_location *location)
{
    struct perfile_annotation *annotation = r->annotation;
    const uint32_t number = (uint32_t)annotation->function_count;
    uint32_t found;
    if (pf_pairs_get(&r->functions, location->module, location->symbol, &found))
        return found;
    if (number == NONE - 1 ||
        !pf_grow(r->allocator, &annotation->functions, &annotation->function_capacity, annotation->function_count + 1,
                 sizeof(*annotation->functions)) ||
        !pf_pairs_put(&r->functions, location->module, location->symbol, number))
        return NONE;
    annotation->functions[number] =
        (struct pf_annotation_function){.module = location->module, .symbol = location->symbol};
    annotation->function_count++;
    return number;
}

/* The hit of an event at an address of a function, a new one if need be; NONE: out of memory. */
static uint32_t hit_of(struct reading *r, uint32_t event, uint32_t function, uint64_t address)
{
    struct perfile_annotation *annotation = r->annotation;
    const uint64_t key = (uint64_t)event << 32 | function;
    const uint32_t number = (uint32_t)annotation->hit_count;
    uint32_t found;
    if (function == NONE || pf_pairs_get(&r->hits, key, address, &found))
        return function == NONE ? NONE : found;
    if (number == NONE - 1 ||
        !pf_grow(r->allocator, &annotation->hits, &annotation->hit_capacity, annotation->hit_count + 1,
                 sizeof(*annotation->hits)) ||
        !pf_pairs_put(&r->hits, key, address, number))
        return NONE;
    annotation->hits[number] = (struct pf_annotation_hit){.address = address, .function = function, .event = event};
    annotation->hit_count++;
    return number;
}

static bool locate(struct reading *r, const struct perfile_space *space, uint64_t ip, struct pf_location *location)
{
    struct pf_symbols *symbols = r->annotation->symbols;
    return pf_symbols_locate(symbols, pf_symbols_map(symbols, space, ip), ip, location);
}

/* Some hit at a sampled address that is not known yet; NONE: out of memory. */
static uint32_t find_hit(struct reading *r, const struct waiting *sample)
{
    pf_address_cache_ask(&r->positions, sample->space);
    struct pf_address_slot *slot = pf_address_cache_find(&r->positions, sample->space, sample->ip);
    if (slot && slot->value)
        return slot->value - 1;
    struct pf_location location;
    if (!slot || !locate(r, pf_address_cache_space(&r->positions, sample->space), sample->ip, &location))
        return NONE;
    const uint32_t hit = hit_of(r, sample->event, function_of(r, &location), location.table_address);
    if (hit != NONE)
        pf_address_cache_fill(&r->positions, sample->space, slot, hit);
    return hit;
}

/* ---- samples that wait ------------------------------------------------------------------------------------------- */

static void count_loss(struct reading *r, const struct pf_annotation_hit *hit)
{
    const struct pf_annotation_function *function = &r->annotation->functions[hit->function];
    r->annotation->losses.samples++;
    r->annotation->losses.unmapped += function->module == PF_NO_SYMBOL;
    r->annotation->losses.unresolved += function->symbol == PF_NO_SYMBOL;
}

static bool look_up(struct reading *r, struct waiting *sample)
{
    const uint32_t value = sample->slots ? pf_address_slots_value(sample->slots, sample->first, sample->ip) : 0;
    sample->hit = value ? value - 1 : find_hit(r, sample);
    if (sample->hit != NONE)
        __builtin_prefetch(&r->annotation->hits[sample->hit], 1);
    return sample->hit != NONE;
}

static bool add_up(struct reading *r, const struct waiting *sample)
{
    struct pf_annotation_hit *hit = &r->annotation->hits[sample->hit];
    if (PF_UNLIKELY(hit->event != sample->event)) {
        const uint32_t number = hit_of(r, sample->event, hit->function, hit->address);
        if (number == NONE)
            return false;
        hit = &r->annotation->hits[number];
    }
    hit->samples++;
    hit->period += sample->period;
    hit->cost += sample->cost;
    count_loss(r, hit);
    const struct pf_annotation_watcher *watcher = &r->annotation->watcher;
    return !watcher->see || watcher->see(watcher->context, sample->ip, hit->function, hit->address);
}

/* False: out of memory. */
static bool flush(struct reading *r)
{
    bool enough = true;
    for (unsigned i = 0; i < r->waiting_count && enough; i++)
        enough = look_up(r, &r->waiting[i]);
    for (unsigned i = 0; i < r->waiting_count && enough; i++)
        enough = add_up(r, &r->waiting[i]);
    r->waiting_count = 0;
    pf_address_cache_pass(&r->positions);
    return enough && !pf_memory_was_short(r->allocator);
}

/* The table is large: its slot for a sample is prefetched some time before it is read. */
static bool wait(struct reading *r, uint32_t event)
{
    const struct perfile_space *space = pf_delivered_space(&r->item, r->item.record->misc & PERFILE_MISC_CPUMODE_MASK);
    const uint32_t number = pf_address_cache_number(&r->positions, space);
    struct waiting *sample = &r->waiting[r->waiting_count++];
    if (number == UINT32_MAX)
        return false;
    *sample =
        (struct waiting){.slots = number < r->positions.known ? pf_address_cache_look(&r->positions, number) : NULL,
                         .ip = r->item.sample.ip,
                         .period = r->item.sample.period,
                         .cost = pf_weight_part(&r->item.sample, 0),
                         .space = number,
                         .event = event};
    if (sample->slots) {
        sample->first = pf_address_slots_first(&r->positions, sample->slots, sample->ip);
        __builtin_prefetch(&sample->slots->at[sample->first]);
    }
    return true;
}

/* ---- branches ---------------------------------------------------------------------------------------------------- */

static struct pf_annotation_branches *branches_at(struct reading *r, uint64_t ip)
{
    struct perfile_annotation *annotation = r->annotation;
    const unsigned mode = ip >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
    struct pf_location location;
    uint32_t found;
    if (!locate(r, pf_delivered_space(&r->item, mode), ip, &location))
        return NULL;
    const uint32_t function = function_of(r, &location), number = (uint32_t)annotation->branch_count;
    if (function == NONE)
        return NULL;
    if (pf_pairs_get(&r->branches, function, location.table_address, &found))
        return &annotation->branches[found];
    if (number == NONE - 1 ||
        !pf_grow(r->allocator, &annotation->branches, &annotation->branch_capacity, annotation->branch_count + 1,
                 sizeof(*annotation->branches)) ||
        !pf_pairs_put(&r->branches, function, location.table_address, number))
        return NULL;
    annotation->branches[number] =
        (struct pf_annotation_branches){.address = location.table_address, .function = function};
    return &annotation->branches[annotation->branch_count++];
}

static bool take_branch(struct reading *r, const struct perfile_branch *branch)
{
    struct pf_annotation_branches *at = branch->from ? branches_at(r, branch->from) : NULL;
    if (at) {
        at->taken++;
        at->mispredicted += branch->mispred;
        at->cycles += branch->cycles;
        at->cycle_count += branch->cycles != 0;
    }
    at = branch->to ? branches_at(r, branch->to) : NULL;
    if (at)
        at->reached++;
    return !pf_memory_was_short(r->allocator);
}

static bool take_branches(struct reading *r)
{
    const struct perfile_branch_stack *stack = &r->item.sample.branch_stack;
    struct perfile_branch branch;
    for (uint64_t i = 0; i < stack->count; i++) {
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        if (!take_branch(r, &branch))
            return false;
    }
    return true;
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

/* Events are numbered from 1 by their position in the recording; 0 is an unknown event. NONE: out of memory. */
static uint32_t event_of(struct reading *r, const struct perfile_event *event)
{
    struct perfile_annotation *annotation = r->annotation;
    const uint32_t number = event ? event->index + 1 : 0;
    if (PF_LIKELY(number < annotation->event_count && annotation->events[number].samples))
        return number;
    if (!PF_HAS_ELEMENT(r->allocator, annotation->events, annotation->event_capacity, number))
        return NONE;
    annotation->event_count = pf_max(annotation->event_count, (size_t)number + 1);
    annotation->events[number].event = event;
    return number;
}

/* What is left of the sample's period fits into the sum of its event, and so into all sums of parts of it. */
static void count_event(struct reading *r, uint32_t event)
{
    r->annotation->events[event].samples++;
    r->item.sample.period = pf_add_to_sum(&r->annotation->events[event].period, r->item.sample.period);
}

/* False: out of memory. */
static bool take_sample(struct reading *r)
{
    const uint32_t event = event_of(r, r->item.event);
    if (event == NONE)
        return false;
    count_event(r, event);
    if (!wait(r, event))
        return false;
    return (r->waiting_count < WAITING || flush(r)) &&
           (r->item.again || !r->item.sample.branch_stack.count || take_branches(r));
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int read_samples(struct reading *r, struct perfile_error *error)
{
    int result;
    while ((result = pf_delivery_next(r->annotation->delivery, &r->item, error)) > 0)
        if (r->item.is_sample && !take_sample(r))
            return pf_fail_memory(error, "annotation");
    return result == 0 && !flush(r) ? pf_fail_memory(error, "annotation") : result;
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_hits(const void *a, const void *b)
{
    const struct pf_annotation_hit *x = a, *y = b;
    const int functions = order(x->function, y->function), addresses = order(x->address, y->address);
    return functions ? functions : addresses ? addresses : order(x->event, y->event);
}

static int compare_branches(const void *a, const void *b)
{
    const struct pf_annotation_branches *x = a, *y = b;
    const int functions = order(x->function, y->function);
    return functions ? functions : order(x->address, y->address);
}

static int compare_events(const void *a, const void *b)
{
    const struct pf_annotation_sum *x = a, *y = b;
    return order(x->event, y->event);
}

static void sort_hits(struct perfile_annotation *a)
{
    if (a->hit_count)
        qsort(a->hits, a->hit_count, sizeof(*a->hits), compare_hits);
    for (size_t i = 0; i < a->hit_count; i++) {
        struct pf_annotation_function *function = &a->functions[a->hits[i].function];
        function->hits = function->hit_count++ ? function->hits : i;
        function->samples += a->hits[i].samples;
    }
}

static void sort_branches(struct perfile_annotation *a)
{
    if (a->branch_count)
        qsort(a->branches, a->branch_count, sizeof(*a->branches), compare_branches);
    for (size_t i = 0; i < a->branch_count; i++) {
        struct pf_annotation_function *function = &a->functions[a->branches[i].function];
        function->branches = function->branch_count++ ? function->branches : i;
    }
}

/* Only events that have samples stay, with their units. */
static bool renumber_events(struct reading *r)
{
    struct perfile_annotation *a = r->annotation;
    uint32_t *number = pf_new(r->allocator, (a->event_count + 1) * sizeof(*number)), used = 0;
    if (!number)
        return false;
    for (size_t i = 0; i < a->event_count; i++) {
        number[i] = used;
        if (!a->events[i].samples)
            continue;
        a->events[used] = a->events[i];
        if (a->events[used].event)
            perfile_event_unit(a->events[used].event, a->events[used].unit, sizeof(a->events[used].unit));
        else
            memcpy(a->events[used].unit, "events", sizeof("events"));
        used++;
    }
    for (size_t i = 0; i < a->hit_count; i++)
        a->hits[i].event = number[a->hits[i].event];
    pf_free(r->allocator, number, (a->event_count + 1) * sizeof(*number));
    a->event_count = used;
    return true;
}

/* Where the sum of an event is, and of which function, plus one. */
struct known_sum {
    size_t sum;
    size_t function;
};

/* `at` is for each event: that of the function that had it last. */
static bool sum_up(struct reading *r, size_t index, struct known_sum *at)
{
    struct perfile_annotation *a = r->annotation;
    struct pf_annotation_function *function = &a->functions[index];
    function->sums = a->sum_count;
    for (size_t i = function->hits; i < function->hits + function->hit_count; i++) {
        const struct pf_annotation_hit *hit = &a->hits[i];
        struct known_sum *known = &at[hit->event];
        if (known->function != index + 1) {
            if (!pf_grow(r->allocator, &a->sums, &a->sum_capacity, a->sum_count + 1, sizeof(*a->sums)))
                return false;
            *known = (struct known_sum){.sum = a->sum_count, .function = index + 1};
            a->sums[a->sum_count++] = (struct pf_annotation_sum){.event = hit->event};
        }
        a->sums[known->sum].samples += hit->samples;
        a->sums[known->sum].period += hit->period;
    }
    function->sum_count = a->sum_count - function->sums;
    if (function->sum_count)
        qsort(&a->sums[function->sums], function->sum_count, sizeof(*a->sums), compare_events);
    if (function->sum_count && a->sums[function->sums].event == 0)
        function->first_period = a->sums[function->sums].period;
    return true;
}

static bool sum_functions(struct reading *r)
{
    struct perfile_annotation *a = r->annotation;
    const size_t bytes = (a->event_count + 1) * sizeof(struct known_sum);
    struct known_sum *at = pf_new(r->allocator, bytes);
    bool enough = at;
    for (size_t i = 0; i < a->function_count && enough; i++)
        enough = sum_up(r, i, at);
    pf_free(r->allocator, at, at ? bytes : 0);
    return enough;
}

static int compare_ranks(const void *a, const void *b, void *context)
{
    const struct pf_annotation_function *functions = context;
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    const struct pf_annotation_function *x = &functions[left], *y = &functions[right];
    const int periods = order(y->first_period, x->first_period), samples = order(y->samples, x->samples);
    return periods ? periods : samples ? samples : order(left, right);
}

/* Those that have branches only have no rank. */
static bool rank_functions(struct reading *r)
{
    struct perfile_annotation *a = r->annotation;
    if (!pf_grow(r->allocator, &a->order, &a->order_capacity, a->function_count + 1, sizeof(*a->order)))
        return false;
    for (size_t i = 0; i < a->function_count; i++)
        if (a->functions[i].samples)
            a->order[a->ranked_count++] = (uint32_t)i;
    if (a->ranked_count)
        pf_platform_sort(a->order, a->ranked_count, sizeof(*a->order), compare_ranks, a->functions);
    return true;
}

static void close_reading(struct reading *r)
{
    pf_address_cache_close(&r->positions);
    pf_pairs_close(&r->functions);
    pf_pairs_close(&r->hits);
    pf_pairs_close(&r->branches);
}

static int finish(struct reading *r, struct perfile_error *error)
{
    if (!renumber_events(r))
        return pf_fail_memory(error, "annotation");
    sort_hits(r->annotation);
    sort_branches(r->annotation);
    return sum_functions(r) && rank_functions(r) ? 0 : pf_fail_memory(error, "annotation");
}

int pf_annotation_read(struct perfile_annotation *annotation, struct perfile_error *error)
{
    struct reading r = {.annotation = annotation, .allocator = annotation->allocator};
    pf_address_cache_open(&r.positions, r.allocator);
    r.positions.lag = 1; /* what waits looks at tables that may be replaced meanwhile */
    pf_pairs_open(&r.functions, r.allocator);
    pf_pairs_open(&r.hits, r.allocator);
    pf_pairs_open(&r.branches, r.allocator);
    const int result = read_samples(&r, error);
    close_reading(&r);
    return result < 0 ? result : finish(&r, error);
}
