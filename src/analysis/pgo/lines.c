/* SPDX-License-Identifier: MIT */
/*
 * From ranges and branches to lines. As in llvm-profgen, overlapping ranges are added up first. Then a line ran as
 * often as the instruction of it that ran most often, and each instruction adds to its function by its bytes. All code
 * of functions that ran counts, with 0 where it did not run.
 */
#include <stdlib.h>

#include "analysis/pgo/lines.h"
#include "analysis/pgo/pieces.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sort.h"

/* Deeper stacks do not occur in programs; what has one is left out. */
enum { FRAMES_MAX = 512 };

struct making {
    const struct pf_pgo_lines_request *request;
    struct perfile_pgo_counts *counts;
    struct pf_pgo_lines *lines;
    const struct perfile_allocator *allocator;
    struct pf_function_range *functions; /* by address */
    size_t function_count, function_capacity;
    struct pf_pgo_pieces ranges;
    struct pf_map ran; /* names of functions that ran */
    bool failed;       /* out of memory */
};

/* ---- what is usable ---------------------------------------------------------------------------------------------- */

/* Without branches each address is a range of one instruction. */
static void gather_ranges(struct making *m)
{
    const struct pf_pgo_profile *profile = m->request->profile;
    for (size_t i = 0; i < profile->range_count && profile->has_branches && !m->failed; i++) {
        const struct pf_pgo_range *range = &profile->ranges[i];
        if (pf_pgo_range_is_usable(m->request->code, range, m->counts))
            m->failed = !pf_pgo_pieces_add(&m->ranges, range->begin, range->end + 1, range->count);
    }
    for (size_t i = 0; i < profile->address_count && !profile->has_branches && !m->failed; i++) {
        const struct pf_pgo_address *address = &profile->addresses[i];
        const struct pf_pgo_range range = {address->address, address->address, address->count};
        if (pf_pgo_range_is_usable(m->request->code, &range, m->counts))
            m->failed = !pf_pgo_pieces_add(&m->ranges, range.begin, range.begin + 1, range.count);
    }
}

/* ---- debug info -------------------------------------------------------------------------------------------------- */

static int compare_wanted(const void *a, const void *b)
{
    const struct pf_wanted_range *x = a, *y = b;
    return (x->low > y->low) - (x->low < y->low);
}

size_t pf_pgo_join_wanted(struct pf_wanted_range *wanted, size_t count)
{
    size_t joined = 0;
    if (count)
        qsort(wanted, count, sizeof(*wanted), compare_wanted);
    for (size_t i = 0; i < count; i++) {
        if (joined && wanted[i].low <= wanted[joined - 1].high)
            wanted[joined - 1].high = pf_max(wanted[joined - 1].high, wanted[i].high);
        else
            wanted[joined++] = wanted[i];
    }
    return joined;
}

static void want(struct pf_wanted_range *wanted, size_t *count, uint64_t address)
{
    if (address < PERFILE_PGO_OUTSIDE)
        wanted[(*count)++] = (struct pf_wanted_range){address, address + 1};
}

/* Only units with code that ran, or was called, are read. */
static int read_debug_info(struct making *m, struct perfile_error *error)
{
    const struct pf_pgo_profile *profile = m->request->profile;
    const size_t bytes = (m->ranges.count + 2 * profile->branch_count + 1) * sizeof(struct pf_wanted_range);
    struct pf_wanted_range *wanted = pf_new(m->allocator, bytes);
    if (!wanted)
        return pf_fail_memory(error, "pgo");
    struct pf_inlines_request request = {
        .path = profile->debug_path ? profile->debug_path : profile->path, .detailed = true, .wanted = wanted};
    for (size_t i = 0; i < m->ranges.count; i++)
        wanted[request.wanted_count++] = (struct pf_wanted_range){m->ranges.items[i].low, m->ranges.items[i].high};
    for (size_t i = 0; i < profile->branch_count; i++) {
        want(wanted, &request.wanted_count, profile->branches[i].from);
        want(wanted, &request.wanted_count, profile->branches[i].to);
    }
    request.wanted_count = pf_pgo_join_wanted(wanted, request.wanted_count);
    const int result = pf_inlines_read(&request, m->allocator, &m->lines->inlines, error);
    pf_free(m->allocator, wanted, bytes);
    return result;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

bool pf_pgo_is_name(const char *name)
{
    if (!name || !*name || strchr(" #[!0123456789", *name))
        return false;
    for (; *name; name++)
        if ((unsigned char)*name < ' ' || *name == 0x7f)
            return false;
    return true;
}

static void gather_functions(struct making *m)
{
    struct pf_function_range range;
    for (size_t at = 0; !m->failed && pf_inlines_next_range(m->lines->inlines, &at, &range);)
        if (pf_pgo_is_name(range.function))
            m->failed = !PF_APPEND(m->allocator, m->functions, m->function_count, m->function_capacity, range);
}

/* The range of a function that holds the address, or NULL. */
static const struct pf_function_range *function_at(const struct making *m, uint64_t address)
{
    const size_t count = PF_COUNT_BEFORE(m->function_count, i, m->functions[i].low <= address);
    return count && address < m->functions[count - 1].high ? &m->functions[count - 1] : NULL;
}

/* Code of functions without debug info is left out. They are counted by symbols; ranges ascend. */
static void note_unnamed(struct making *m, uint64_t address, const struct pf_pgo_function **last)
{
    const struct pf_pgo_function *function = pf_pgo_function_at(m->request->code, address);
    if (function && function != *last)
        pf_add_to_sum(&m->counts->functions_unnamed, 1);
    *last = function ? function : *last;
}

/* Adds all code of functions that ran, by name: to it belongs what was split off. */
static void add_functions(struct making *m)
{
    const struct pf_pgo_function *last = NULL;
    const size_t count = m->ranges.count;
    uint64_t ran;
    for (size_t i = 0; i < count && !m->failed; i++) {
        const struct pf_function_range *function = function_at(m, m->ranges.items[i].low);
        if (function)
            m->failed = !pf_map_put(&m->ran, (uintptr_t)function->function, 1);
        else
            note_unnamed(m, m->ranges.items[i].low, &last);
    }
    for (size_t i = 0; i < m->function_count && !m->failed; i++) {
        const struct pf_function_range *function = &m->functions[i];
        if (pf_map_get(&m->ran, (uintptr_t)function->function, &ran))
            m->failed = !pf_pgo_pieces_add(&m->ranges, function->low, function->high, 0);
    }
}

/* ---- discriminators ---------------------------------------------------------------------------------------------- */

/* A number of the prefix code that LLVM packs three of into a discriminator: 0 to 31 or 0 to 4095. */
static uint32_t unpack_first(uint32_t packed)
{
    if (packed & 1)
        return 0;
    packed >>= 1;
    return packed & 0x20 ? (packed & 0x1f) | (packed >> 1 & 0xfe0) : packed & 0x1f;
}

static uint32_t skip_first(uint32_t packed)
{
    return packed & 1 ? packed >> 1 : packed & 0x40 ? packed >> 14 : packed >> 7;
}

struct discriminator {
    uint32_t base;
    uint32_t factor; /* the code was copied so often, each copy running that much less */
};

static struct discriminator discriminator_of(enum pf_pgo_discriminators discriminators, uint32_t recorded)
{
    struct discriminator read = {0, 1};
    if (discriminators == PF_PGO_NUMBERS)
        read.base = recorded & 0xffff;
    if (discriminators == PF_PGO_LLVM) {
        read.base = unpack_first(recorded);
        read.factor = unpack_first(skip_first(recorded));
    }
    read.factor += !read.factor;
    return read;
}

uint64_t pf_pgo_location_of(enum pf_pgo_discriminators discriminators, const struct pf_counted_frame *frame)
{
    const uint64_t line = (frame->line - frame->declared) & 0xffff;
    return line << 32 | discriminator_of(discriminators, frame->discriminator).base;
}

/* ---- adding up --------------------------------------------------------------------------------------------------- */

static uint64_t product(uint64_t a, uint64_t b)
{
    uint64_t result;
    return pf_multiply(a, b, &result) ? result : UINT64_MAX;
}

/* Where something happened: the line of the innermost function. */
struct position {
    uint32_t instance;
    uint64_t location;
    uint32_t factor;
};

/* Goes from the function itself inwards, and adds to the totals on the way. False: nothing is known. */
static bool enter_stack(struct making *m, const struct pf_counted_frame *frames, size_t count, uint64_t total,
                        struct position *position)
{
    uint32_t line = PF_PGO_TOP;
    size_t entered = 0;
    for (; entered < count && pf_pgo_is_name(frames[count - 1 - entered].function) && !m->lines->failed; entered++) {
        const struct pf_counted_frame *frame = &frames[count - 1 - entered];
        if (entered)
            line = pf_pgo_lines_line(m->lines, position->instance, position->location);
        position->instance = m->lines->failed ? UINT32_MAX : pf_pgo_lines_instance(m->lines, line, frame->function);
        if (m->lines->failed)
            return false;
        pf_add_to_sum(&m->lines->instances[position->instance].total, total);
        position->location = pf_pgo_location_of(m->request->discriminators, frame);
        position->factor = discriminator_of(m->request->discriminators, frame->discriminator).factor;
    }
    return entered;
}

static size_t stack_at(const struct making *m, uint64_t address, struct pf_counted_frame *frames, uint64_t *end)
{
    return pf_inlines_count(m->lines->inlines, address, frames, FRAMES_MAX, end);
}

/* Bytes of the instructions from `at` on, before `end`, and where the next one is. */
static uint64_t instruction_bytes(const struct making *m, uint64_t *at, uint64_t end)
{
    uint64_t bytes = 0, start;
    for (; *at < end && pf_pgo_next_instruction(m->request->code, *at, end - 1, &start); *at = start + 1)
        bytes += m->request->profile->has_branches ? pf_pgo_instruction_bytes(m->request->code, start) : 1;
    *at = end;
    return bytes;
}

/* As long as the stack stays the same, instructions count together. */
static void count_piece(struct making *m, const struct pf_pgo_piece *piece, struct pf_counted_frame *frames)
{
    uint64_t at = piece->low, end;
    struct position position = {0};
    while (!m->lines->failed && at < piece->high &&
           pf_pgo_next_instruction(m->request->code, at, piece->high - 1, &at)) {
        const size_t count = stack_at(m, at, frames, &end);
        const uint64_t bytes = instruction_bytes(m, &at, pf_min(end, piece->high));
        if (!enter_stack(m, frames, count, product(piece->count, bytes), &position))
            continue;
        const uint32_t line = pf_pgo_lines_line(m->lines, position.instance, position.location);
        if (!m->lines->failed)
            pf_pgo_lines_raise(m->lines, line, product(piece->count, position.factor));
    }
}

/* A branch to where a function begins enters it. */
static void count_branch(struct making *m, const struct pf_pgo_branch *branch, struct pf_counted_frame *frames)
{
    uint64_t end;
    struct position position = {0};
    const struct pf_function_range *function = function_at(m, branch->to);
    if (!function || branch->to != function->low || !function->is_entry)
        return;
    const uint32_t entered = pf_pgo_lines_instance(m->lines, PF_PGO_TOP, function->function);
    if (m->lines->failed)
        return;
    pf_add_to_sum(&m->lines->instances[entered].head, branch->count);
    if (branch->from == PERFILE_PGO_OUTSIDE ||
        !enter_stack(m, frames, stack_at(m, branch->from, frames, &end), 0, &position))
        return;
    const uint32_t line = pf_pgo_lines_line(m->lines, position.instance, position.location);
    if (!m->lines->failed)
        pf_pgo_lines_call(m->lines, line, function->function, branch->count);
}

static void count_all(struct making *m, struct pf_counted_frame *frames)
{
    const struct pf_pgo_profile *profile = m->request->profile;
    for (size_t i = 0; i < m->ranges.count && !m->lines->failed; i++)
        count_piece(m, &m->ranges.items[i], frames);
    for (size_t i = 0; i < profile->branch_count && !m->lines->failed; i++)
        count_branch(m, &profile->branches[i], frames);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int make_lines(struct making *m, struct perfile_error *error)
{
    const size_t bytes = FRAMES_MAX * sizeof(struct pf_counted_frame);
    gather_ranges(m);
    const int result = m->failed ? pf_fail_memory(error, "pgo") : read_debug_info(m, error);
    if (result < 0)
        return result;
    gather_functions(m);
    add_functions(m);
    struct pf_counted_frame *frames = pf_new(m->allocator, bytes);
    m->failed = m->failed || !frames || !pf_pgo_pieces_cut(&m->ranges);
    if (!m->failed) {
        count_all(m, frames);
        pf_pgo_lines_sort(m->lines);
    }
    pf_free(m->allocator, frames, bytes);
    return m->failed || m->lines->failed ? pf_fail_memory(error, "pgo") : 0;
}

int pf_pgo_lines_open(const struct pf_pgo_lines_request *request, struct perfile_pgo_counts *counts,
                      const struct perfile_allocator *allocator, struct pf_pgo_lines *lines,
                      struct perfile_error *error)
{
    struct making m = {.request = request,
                       .counts = counts,
                       .lines = lines,
                       .allocator = allocator,
                       .ranges = {.allocator = allocator}};
    pf_pgo_lines_make(lines, allocator);
    pf_map_open(&m.ran, allocator);
    const int result = make_lines(&m, error);
    pf_map_close(&m.ran);
    pf_pgo_pieces_close(&m.ranges);
    pf_free(allocator, m.functions, m.function_capacity * sizeof(*m.functions));
    if (result < 0)
        pf_pgo_lines_close(lines);
    return result;
}
