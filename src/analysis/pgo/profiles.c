/* SPDX-License-Identifier: MIT */
/* What is known of each binary in the end: locations become addresses of its ELF file, and are sorted and added up. */
#include <stdlib.h>

#include "analysis/pgo/pgo_parts.h"
#include "base/build_id.h"
#include "base/error.h"
#include "symbol/table_elf.h"

enum { PAGE_BYTES_MIN = 4096, PAGE_BYTES_MAX = 65536, RANGE_BYTES_MAX = 1 << 20 };
#define OUTSIDE PERFILE_PGO_OUTSIDE

/* A part of a file as addresses of it. */
struct placed {
    uint32_t binary; /* UINT32_MAX: its file is not known, or its segments do not hold it */
    uint64_t delta;  /* from the offset in a location to the address */
};

struct making {
    struct perfile_pgo *pgo;
    struct placed *parts; /* for each part of the modules */
    uint32_t *binary_of;  /* for each module; UINT32_MAX: none of its code was hit */
    bool failed;          /* out of memory */
};

/* ---- binaries ---------------------------------------------------------------------------------------------------- */

static const struct pf_pgo_file *file_of(const struct perfile_pgo *pgo, size_t module)
{
    return pgo->options.binary ? &pgo->own : &pgo->files[module];
}

/* Whether two modules, of different names or recordings, are the same file. */
static bool is_same_file(const struct pf_pgo_file *a, const struct pf_pgo_file *b)
{
    if (!a->path || !b->path)
        return false;
    return a == b || strcmp(a->path, b->path) == 0 ||
           (a->build_id_bytes && pf_build_id_is_same(a->build_id, a->build_id_bytes, b->build_id, b->build_id_bytes));
}

static uint32_t find_binary(const struct perfile_pgo *pgo, const struct pf_pgo_file *file)
{
    for (size_t i = 0; i < pgo->binary_count && file->path; i++)
        if (is_same_file(pgo->binaries[i].file, file))
            return (uint32_t)i;
    return UINT32_MAX;
}

static bool add_binary(struct perfile_pgo *pgo, size_t module)
{
    const struct pf_pgo_file *file = file_of(pgo, module);
    const struct pf_pgo_module *about = &pgo->modules.modules[module];
    struct pf_pgo_binary made = {.file = file,
                                 .module = about,
                                 .profile = {.name = about->name,
                                             .path = file->path,
                                             .debug_path = file->debug_path,
                                             .build_id_bytes = file->build_id_bytes,
                                             .segments = file->segments,
                                             .segment_count = file->segment_count,
                                             .event = "",
                                             .contexts = pgo->options.contexts ? &pgo->contexts : NULL,
                                             .counts = PERFILE_PGO_COUNTS_INIT}};
    memcpy(made.profile.build_id, file->build_id, sizeof(made.profile.build_id));
    return PF_APPEND(&pgo->watch.allocator, pgo->binaries, pgo->binary_count, pgo->binary_capacity, made);
}

static void make_binaries(struct making *m)
{
    struct perfile_pgo *pgo = m->pgo;
    for (size_t i = 0; i < pgo->modules.count && !m->failed; i++) {
        const struct pf_pgo_module *module = &pgo->modules.modules[i];
        m->binary_of[i] = UINT32_MAX;
        if (!module->samples)
            continue;
        m->binary_of[i] = find_binary(pgo, file_of(pgo, i));
        if (m->binary_of[i] == UINT32_MAX) {
            m->binary_of[i] = (uint32_t)pgo->binary_count;
            m->failed = !add_binary(pgo, i);
        }
        if (!m->failed)
            pf_add_to_sum(&pgo->binaries[m->binary_of[i]].profile.counts.samples_used, module->samples);
    }
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

/*
 * The executable segment that the mapping shows: the one whose pages of the file hold its offset. The offset alone
 * would not do: two segments may share a page of the file. Machines have pages of different sizes.
 */
static const struct pf_pgo_segment *segment_of(const struct pf_pgo_file *file, uint64_t pgoff)
{
    for (uint64_t page = PAGE_BYTES_MIN; page <= PAGE_BYTES_MAX; page *= PAGE_BYTES_MAX / PAGE_BYTES_MIN)
        for (size_t i = 0; i < file->segment_count; i++) {
            const struct pf_pgo_segment *segment = &file->segments[i];
            if (segment->executable && pgoff >= (segment->offset & ~(page - 1)) &&
                pgoff < segment->offset + segment->bytes)
                return segment;
        }
    return NULL;
}

bool pf_pgo_segment_delta(const struct pf_pgo_file *file, uint64_t pgoff, uint64_t *delta)
{
    const struct pf_pgo_segment *segment = segment_of(file, pgoff);
    *delta = segment ? segment->address - segment->offset : 0;
    return segment;
}

/*
 * Of the kernel locations have the low bits of addresses; its mapping names a symbol and has its address, and the file
 * has the address of that symbol before the kernel was moved.
 */
static bool position_kernel(struct making *m, const struct pf_pgo_part *part, const char *name, uint64_t *delta)
{
    const struct pf_pgo_file *file = file_of(m->pgo, part->module);
    const char *symbol = strchr(name, ']');
    uint64_t address;
    const int result = symbol && symbol[1] && file->path
                           ? pf_elf_symbol_address(&m->pgo->watch.allocator, file->path, symbol + 1, &address)
                           : PERFILE_ERROR_ABSENT;
    m->failed |= result == PERFILE_ERROR_MEMORY;
    *delta = result == 0 ? address - (part->pgoff & PF_OFFSET_MASK) : 0;
    return result == 0;
}

static void position_part(struct making *m, size_t index)
{
    const struct pf_pgo_part *part = &m->pgo->modules.parts[index];
    const struct pf_pgo_module *module = &m->pgo->modules.modules[part->module];
    const struct pf_pgo_file *file = file_of(m->pgo, part->module);
    struct placed *placed = &m->parts[index];
    const bool is_known = module->kernel ? position_kernel(m, part, module->name, &placed->delta)
                                         : pf_pgo_segment_delta(file, part->pgoff, &placed->delta) || !file->path;
    /* Without a file, offsets in it are all that is known. */
    placed->binary = is_known ? m->binary_of[part->module] : UINT32_MAX;
}

static bool is_executable(const struct pf_pgo_file *file, uint64_t address)
{
    if (!file->path)
        return true;
    for (size_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].executable && address - file->segments[i].address < file->segments[i].bytes)
            return true;
    return false;
}

/* The address of a location in its binary; OUTSIDE, and no binary, of a location that is in none. */
static uint64_t address_of(const struct making *m, uint64_t location, uint32_t *binary)
{
    const bool is_known = location && location != PF_LOCATION_UNKNOWN;
    const struct placed *placed = is_known ? &m->parts[(location >> PF_OFFSET_BITS) - 1] : NULL;
    *binary = placed ? placed->binary : UINT32_MAX;
    if (*binary == UINT32_MAX)
        return OUTSIDE;
    const uint64_t address = (location & PF_OFFSET_MASK) + placed->delta;
    if (is_executable(m->pgo->binaries[*binary].file, address))
        return address;
    *binary = UINT32_MAX;
    return OUTSIDE;
}

/* ---- traces ------------------------------------------------------------------------------------------------------ */

static void add_trace(struct making *m, uint32_t binary, struct pf_pgo_trace trace)
{
    struct pf_pgo_binary *b = &m->pgo->binaries[binary];
    m->failed |= !PF_APPEND(&m->pgo->watch.allocator, b->traces, b->trace_count, b->trace_capacity, trace);
}

/* A branch from one binary to another one is a branch to the outside, and one from the outside. */
static void split_row(struct making *m, const struct pf_tally_row *row)
{
    uint32_t from_binary, to_binary, end_binary;
    struct pf_pgo_trace trace = {.count = row->count, .mispredicted = row->mispredicted, .type = row->type};
    const uint64_t from = address_of(m, row->a, &from_binary), to = address_of(m, row->b, &to_binary),
                   end = address_of(m, row->c, &end_binary);
    trace.from = from;
    trace.to = from_binary == to_binary ? to : OUTSIDE;
    trace.end = from_binary == to_binary && to_binary == end_binary ? end : OUTSIDE;
    if (from_binary != UINT32_MAX)
        add_trace(m, from_binary, trace);
    if (to_binary == UINT32_MAX || from_binary == to_binary)
        return;
    trace.from = row->a == PF_LOCATION_UNKNOWN ? PF_PGO_UNKNOWN : OUTSIDE;
    trace.to = to;
    trace.end = to_binary == end_binary ? end : OUTSIDE;
    add_trace(m, to_binary, trace);
}

static void split_address(struct making *m, const struct pf_tally_row *row)
{
    uint32_t binary;
    const uint64_t address = address_of(m, row->a, &binary);
    if (binary == UINT32_MAX)
        return;
    struct pf_pgo_binary *b = &m->pgo->binaries[binary];
    const struct pf_pgo_hit made = {address, row->b, row->count};
    m->failed |= !PF_APPEND(&m->pgo->watch.allocator, b->hits, b->hit_count, b->hit_capacity, made);
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_traces(const void *a, const void *b)
{
    const struct pf_pgo_trace *x = a, *y = b;
    const int by_from = compare_numbers(x->from, y->from), by_to = compare_numbers(x->to, y->to);
    return by_from ? by_from : by_to ? by_to : compare_numbers(x->end, y->end);
}

/* By ends, for ranges. */
static int compare_ranges(const void *a, const void *b)
{
    const struct pf_pgo_range *x = a, *y = b;
    const int by_begin = compare_numbers(x->begin, y->begin);
    return by_begin ? by_begin : compare_numbers(x->end, y->end);
}

static int compare_hits(const void *a, const void *b)
{
    const struct pf_pgo_hit *x = a, *y = b;
    const int by_address = compare_numbers(x->address, y->address);
    return by_address ? by_address : compare_numbers(x->event, y->event);
}

/* What cannot have run without a branch is not a range. */
static void check_range(struct pf_pgo_binary *b, struct pf_pgo_trace *trace)
{
    struct perfile_pgo_counts *counts = &b->profile.counts;
    if (trace->to == OUTSIDE || trace->end == OUTSIDE) {
        trace->end = OUTSIDE;
        return;
    }
    const bool backwards = trace->end<trace->to, long_one = trace->end - trace->to> RANGE_BYTES_MAX;
    pf_add_to_sum(backwards  ? &counts->ranges_backwards
                  : long_one ? &counts->ranges_long
                             : &counts->ranges,
                  trace->count);
    if (backwards || long_one)
        trace->end = OUTSIDE;
}

/* Those of the same addresses, which are next to each other, become one. */
static void join_traces(struct pf_pgo_binary *b)
{
    size_t kept = 0;
    for (size_t i = 0; i < b->trace_count; i++)
        check_range(b, &b->traces[i]);
    qsort(b->traces, b->trace_count, sizeof(*b->traces), compare_traces);
    for (size_t i = 0; i < b->trace_count; i++) {
        struct pf_pgo_trace *last = kept ? &b->traces[kept - 1] : NULL, *trace = &b->traces[i];
        if (last && compare_traces(last, trace) == 0) {
            pf_add_to_sum(&last->count, trace->count);
            pf_add_to_sum(&last->mispredicted, trace->mispredicted);
            last->type = trace->type > last->type ? trace->type : last->type;
        } else {
            b->traces[kept++] = *trace;
        }
    }
    b->trace_count = kept;
    b->profile.traces = b->traces;
    b->profile.trace_count = kept;
}

static void make_branches(struct making *m, struct pf_pgo_binary *b)
{
    struct perfile_pgo_counts *counts = &b->profile.counts;
    for (size_t i = 0; i < b->trace_count && !m->failed; i++) {
        const struct pf_pgo_trace *trace = &b->traces[i];
        if (trace->from == PF_PGO_UNKNOWN)
            continue;
        struct pf_pgo_branch *last = b->profile.branch_count ? &b->branches[b->profile.branch_count - 1] : NULL;
        pf_add_to_sum(&counts->branches, trace->count);
        pf_add_to_sum(&counts->branches_outside, trace->from == OUTSIDE || trace->to == OUTSIDE ? trace->count : 0);
        if (last && last->from == trace->from && last->to == trace->to) {
            pf_add_to_sum(&last->count, trace->count);
            pf_add_to_sum(&last->mispredicted, trace->mispredicted);
            last->type = trace->type > last->type ? trace->type : last->type;
            continue;
        }
        const struct pf_pgo_branch made = {trace->from, trace->to, trace->count, trace->mispredicted, trace->type};
        m->failed =
            !PF_APPEND(&m->pgo->watch.allocator, b->branches, b->profile.branch_count, b->branch_capacity, made);
    }
    b->profile.branches = b->branches;
    b->profile.has_branches = b->trace_count;
}

static void make_ranges(struct making *m, struct pf_pgo_binary *b)
{
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < b->trace_count && !m->failed; i++) {
        const struct pf_pgo_trace *trace = &b->traces[i];
        const struct pf_pgo_range made = {trace->to, trace->end, trace->count};
        if (trace->end != OUTSIDE)
            m->failed = !PF_APPEND(&m->pgo->watch.allocator, b->ranges, count, b->range_capacity, made);
    }
    if (count)
        qsort(b->ranges, count, sizeof(*b->ranges), compare_ranges);
    for (size_t i = 0; i < count; i++)
        if (kept && compare_ranges(&b->ranges[kept - 1], &b->ranges[i]) == 0)
            pf_add_to_sum(&b->ranges[kept - 1].count, b->ranges[i].count);
        else
            b->ranges[kept++] = b->ranges[i];
    b->profile.ranges = b->ranges;
    b->profile.range_count = kept;
}

/* The event with the most samples in the binary. */
static uint64_t main_event(struct making *m, const struct pf_pgo_binary *b)
{
    uint64_t *sums = pf_new(&m->pgo->watch.allocator, (m->pgo->event_count + 1) * sizeof(*sums)), best = 0;
    m->failed |= !sums;
    for (size_t i = 0; i < b->hit_count && sums; i++)
        pf_add_to_sum(&sums[b->hits[i].event], b->hits[i].count);
    for (size_t i = 1; i < m->pgo->event_count && sums; i++)
        best = sums[i] > sums[best] ? i : best;
    pf_free(&m->pgo->watch.allocator, sums, (m->pgo->event_count + 1) * sizeof(*sums));
    return best;
}

/* With branches those of all events, which only say where samples were; else one event is what weighs the code. */
static void make_addresses(struct making *m, struct pf_pgo_binary *b)
{
    size_t kept = 0;
    const uint64_t event = main_event(m, b);
    if (b->hit_count)
        qsort(b->hits, b->hit_count, sizeof(*b->hits), compare_hits);
    for (size_t i = 0; i < b->hit_count && !m->failed; i++) {
        const struct pf_pgo_address made = {b->hits[i].address, b->hits[i].count};
        if (!b->profile.has_branches && b->hits[i].event != event)
            continue;
        if (kept && b->addresses[kept - 1].address == made.address)
            pf_add_to_sum(&b->addresses[kept - 1].count, made.count);
        else
            m->failed = !PF_APPEND(&m->pgo->watch.allocator, b->addresses, kept, b->address_capacity, made);
    }
    b->profile.addresses = b->addresses;
    b->profile.address_count = kept;
    if (b->hit_count)
        b->profile.event = m->pgo->events[event];
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int compare_binaries(const void *a, const void *b)
{
    const struct pf_pgo_profile *x = a, *y = b; /* each begins with it */
    const int by_samples = compare_numbers(y->counts.samples_used, x->counts.samples_used);
    return by_samples ? by_samples : strcmp(x->name, y->name);
}

static void make_all(struct making *m)
{
    struct perfile_pgo *pgo = m->pgo;
    make_binaries(m);
    for (size_t i = 0; i < pgo->modules.part_count && !m->failed; i++)
        position_part(m, i);
    for (size_t i = 0; i < pgo->traces.count && !m->failed; i++)
        split_row(m, &pgo->traces.rows[i]);
    for (size_t i = 0; i < pgo->addresses.count && !m->failed; i++)
        split_address(m, &pgo->addresses.rows[i]);
    for (size_t i = 0; i < pgo->binary_count && !m->failed; i++) {
        if (pgo->binaries[i].trace_count)
            join_traces(&pgo->binaries[i]);
        make_branches(m, &pgo->binaries[i]);
        make_ranges(m, &pgo->binaries[i]);
        make_addresses(m, &pgo->binaries[i]);
    }
    if (pgo->binary_count)
        qsort(pgo->binaries, pgo->binary_count, sizeof(*pgo->binaries), compare_binaries);
}

int pf_pgo_make_profiles(struct perfile_pgo *pgo, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = &pgo->watch.allocator;
    const size_t parts = pgo->modules.part_count + 1, modules = pgo->modules.count + 1;
    struct making m = {.pgo = pgo,
                       .parts = pf_new(allocator, parts * sizeof(*m.parts)),
                       .binary_of = pf_new(allocator, modules * sizeof(*m.binary_of))};
    if (m.parts && m.binary_of)
        make_all(&m);
    pf_free(allocator, m.parts, parts * sizeof(*m.parts));
    pf_free(allocator, m.binary_of, modules * sizeof(*m.binary_of));
    return pf_memory_was_short(allocator) ? pf_fail_memory(error, "profile") : 0;
}

void pf_pgo_close_profiles(struct perfile_pgo *pgo)
{
    const struct perfile_allocator *allocator = &pgo->watch.allocator;
    for (size_t i = 0; i < pgo->binary_count; i++) {
        struct pf_pgo_binary *b = &pgo->binaries[i];
        pf_free(allocator, b->traces, b->trace_capacity * sizeof(*b->traces));
        pf_free(allocator, b->hits, b->hit_capacity * sizeof(*b->hits));
        pf_free(allocator, b->branches, b->branch_capacity * sizeof(*b->branches));
        pf_free(allocator, b->ranges, b->range_capacity * sizeof(*b->ranges));
        pf_free(allocator, b->addresses, b->address_capacity * sizeof(*b->addresses));
    }
    pf_free(allocator, pgo->binaries, pgo->binary_capacity * sizeof(*pgo->binaries));
}
