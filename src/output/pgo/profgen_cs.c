/* SPDX-License-Identifier: MIT */
/*
 * The unsymbolized profile of llvm-profgen with contexts: for each the numbers and lines of the format profgen, two
 * blanks deeper.
 *
 *     [main:9 @ work:6.1 @ classify]    calls by function, line and discriminator, and the function that ran
 *       2
 *       120-139:14
 *       ...
 *
 * What was inlined is a call, too. Recursion is written once. What has no debug info is in the context [].
 */
#include <stdlib.h>

#include "analysis/pgo/contexts.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "output/pgo/source.h"

enum { FRAMES_MAX = 512 };

/* A function, and the call in it; of the last function of a context only the function counts. */
struct call {
    const char *function;
    uint64_t location;
};

struct row {
    const char *context; /* equal ones are equal pointers */
    bool is_branch;
    uint64_t from, to;
    uint64_t count;
};

struct making {
    struct pf_pgo_writing *writing;
    const struct perfile_allocator *allocator;
    const struct pf_pgo_contexts *contexts;
    struct pf_inlines *inlines;
    struct pf_counted_frame *frames, *next_frames; /* at an address; FRAMES_MAX */
    struct pf_arena arena;
    struct pf_map texts; /* of contexts */
    struct pf_text text;
    struct call *calls;
    size_t call_count, call_capacity;
    uint32_t *callers; /* of a context, the innermost first */
    size_t caller_count, caller_capacity;
    struct row *rows;
    size_t row_count, row_capacity;
    bool failed;
};

/* ---- debug info -------------------------------------------------------------------------------------------------- */

static void want(struct pf_inlines_request *request, struct pf_wanted_range *wanted, uint64_t low, uint64_t last)
{
    if (low < PERFILE_PGO_OUTSIDE)
        wanted[request->wanted_count++] = (struct pf_wanted_range){low, last + 1};
}

/* Only units with code of contexts are read. */
static int read_debug_info(struct making *m, struct perfile_error *error)
{
    const struct pf_pgo_contexts *contexts = m->contexts;
    const struct pf_pgo_profile *profile = m->writing->profile;
    const size_t bytes =
        (contexts->count + contexts->ranges.count + contexts->branches.count) * sizeof(struct pf_wanted_range);
    struct pf_wanted_range *wanted = pf_new(m->allocator, bytes);
    struct pf_inlines_request request = {
        .path = profile->debug_path ? profile->debug_path : profile->path, .detailed = true, .wanted = wanted};
    if (!wanted)
        return pf_fail_memory(error, "profile");
    for (size_t i = 1; i < contexts->count; i++)
        want(&request, wanted, contexts->items[i].address, contexts->items[i].address);
    for (size_t i = 0; i < contexts->ranges.count; i++)
        want(&request, wanted, contexts->ranges.rows[i].b, contexts->ranges.rows[i].c);
    for (size_t i = 0; i < contexts->branches.count; i++)
        want(&request, wanted, contexts->branches.rows[i].b, contexts->branches.rows[i].b);
    request.wanted_count = pf_pgo_join_wanted(wanted, request.wanted_count);
    const int result = pf_inlines_read(&request, m->allocator, &m->inlines, error);
    pf_free(m->allocator, wanted, bytes);
    return result == PERFILE_ERROR_ABSENT ? pf_pgo_fail_no_debug_info(profile, error) : result;
}

/* Names end at " @ " and ":" for the reader. */
static bool is_name(const char *name)
{
    return pf_pgo_is_name(name) && !strchr(name, ':') && !strstr(name, " @ ");
}

/* The frames at an address that have names, the innermost first; those inside of one without a name do not count. */
static size_t frames_at(const struct making *m, uint64_t address, struct pf_counted_frame *frames, uint64_t *end)
{
    const size_t count = pf_inlines_count(m->inlines, address, frames, FRAMES_MAX, end);
    size_t named = 0;
    while (named < count && is_name(frames[count - 1 - named].function))
        named++;
    memmove(frames, frames + count - named, named * sizeof(*frames));
    return named;
}

/* ---- contexts ---------------------------------------------------------------------------------------------------- */

static void add_calls(struct making *m, const struct pf_counted_frame *frames, size_t count)
{
    for (size_t i = count; i-- > 0 && !m->failed;) {
        const struct call call = {frames[i].function, pf_pgo_location_of(PF_PGO_LLVM, &frames[i])};
        m->failed = !PF_APPEND(m->allocator, m->calls, m->call_count, m->call_capacity, call);
    }
}

static bool repeats(const struct call *a, const struct call *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i].location != b[i].location || strcmp(a[i].function, b[i].function) != 0)
            return false;
    return true;
}

/* Sequences of calls that follow themselves are there once, the shortest sequences first. Returns how many are left. */
static size_t join_recursion(struct call *calls, size_t count)
{
    for (size_t length = 1; length <= count / 2; length++) {
        size_t kept = length;
        for (size_t at = length; at < count;)
            if (at + length <= count && repeats(calls + at - length, calls + at, length))
                at += length;
            else
                calls[kept++] = calls[at++];
        count = kept;
    }
    return count;
}

static void put_call(struct pf_text *text, const struct call *call)
{
    pf_put_string(text, call->function);
    pf_put_char(text, ':');
    pf_put_unsigned(text, call->location >> 32);
    if (call->location & UINT32_MAX) {
        pf_put_char(text, '.');
        pf_put_unsigned(text, call->location & UINT32_MAX);
    }
    pf_put_string(text, " @ ");
}

/* The calls that led to a context, the outermost first. Returns false where one of them has no debug info. */
static bool gather_calls(struct making *m, uint32_t context)
{
    uint64_t end;
    m->call_count = m->caller_count = 0;
    for (uint32_t at = context; at && !m->failed; at = m->contexts->items[at].caller)
        m->failed = !PF_APPEND(m->allocator, m->callers, m->caller_count, m->caller_capacity, at);
    for (size_t i = m->caller_count; i-- > 0 && !m->failed;) {
        const uint64_t address = m->contexts->items[m->callers[i]].address;
        const size_t count = address ? frames_at(m, address, m->next_frames, &end) : 0;
        if (address && !count)
            return false;
        add_calls(m, m->next_frames, count);
    }
    return !m->failed;
}

/* The text of a context, in which the frames are the innermost. NULL: out of memory. */
static const char *name_context(struct making *m, uint32_t context, const struct pf_counted_frame *frames, size_t count)
{
    m->text.used = 0;
    if (count && gather_calls(m, context)) {
        add_calls(m, frames + 1, count - 1);
        const size_t calls = join_recursion(m->calls, m->call_count);
        for (size_t i = 0; i < calls; i++)
            put_call(&m->text, &m->calls[i]);
        pf_put_string(&m->text, frames[0].function);
    }
    m->failed |= m->text.failed;
    const char *copy = m->failed ? NULL : pf_map_text(&m->texts, &m->arena, m->text.data, m->text.used);
    m->failed |= !copy;
    return copy;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static void add_row(struct making *m, const struct row *row)
{
    m->failed = m->failed || !PF_APPEND(m->allocator, m->rows, m->row_count, m->row_capacity, *row);
}

/* All frames but the innermost are the same, so it is the same context. */
static bool is_same(const struct pf_counted_frame *a, size_t a_count, const struct pf_counted_frame *b, size_t b_count)
{
    if (a_count != b_count || !a_count)
        return false;
    for (size_t i = 1; i < a_count; i++)
        if (strcmp(a[i].function, b[i].function) != 0 || a[i].line != b[i].line || a[i].declared != b[i].declared ||
            a[i].discriminator != b[i].discriminator)
            return false;
    return true;
}

/* The last instruction before an address, from `first` on, which is an instruction. */
static uint64_t last_before(const struct pf_pgo_code *code, uint64_t first, uint64_t end)
{
    uint64_t at;
    while (end > first + 1 && !pf_pgo_previous_instruction(code, end, &at))
        end -= pf_min_u64(PF_INSN_BYTES_MAX, end - first - 1);
    return end > first + 1 ? at : first;
}

/* Code is cut where what is inlined begins and ends. */
static void add_range(struct making *m, const struct pf_tally_row *range)
{
    const struct pf_pgo_code *code = m->contexts->code;
    uint64_t at = range->b, end, next_end;
    while (!m->failed && at <= range->c) {
        const size_t count = frames_at(m, at, m->frames, &end);
        const char *context = name_context(m, (uint32_t)range->a, m->frames, count);
        uint64_t next;
        bool goes_on = pf_pgo_next_instruction(code, count ? pf_max(end, at + 1) : at + 1, range->c, &next);
        while (goes_on && is_same(m->frames, count, m->next_frames, frames_at(m, next, m->next_frames, &next_end)))
            goes_on = pf_pgo_next_instruction(code, pf_max(next_end, next + 1), range->c, &next);
        const struct row row = {context, false, at, goes_on ? last_before(code, at, next) : range->c, range->count};
        add_row(m, &row);
        if (!goes_on)
            return;
        at = next;
    }
}

static void add_branch(struct making *m, const struct pf_tally_row *branch)
{
    uint64_t end;
    const bool is_inside = branch->b != PERFILE_PGO_OUTSIDE;
    const size_t count = is_inside ? frames_at(m, branch->b, m->frames, &end) : 0;
    const struct row row = {name_context(m, (uint32_t)branch->a, m->frames, count), true, is_inside ? branch->b : 1,
                            branch->c, branch->count};
    add_row(m, &row);
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int by_context = x->context == y->context ? 0 : strcmp(x->context, y->context);
    if (by_context)
        return by_context;
    if (x->is_branch != y->is_branch)
        return x->is_branch ? 1 : -1;
    if (x->from != y->from)
        return x->from > y->from ? 1 : -1;
    return (x->to > y->to) - (x->to < y->to);
}

static void make_rows(struct making *m)
{
    size_t kept = 0;
    for (size_t i = 0; i < m->contexts->ranges.count && !m->failed; i++)
        add_range(m, &m->contexts->ranges.rows[i]);
    for (size_t i = 0; i < m->contexts->branches.count && !m->failed; i++)
        add_branch(m, &m->contexts->branches.rows[i]);
    if (m->row_count && !m->failed)
        qsort(m->rows, m->row_count, sizeof(*m->rows), compare_rows);
    for (size_t i = 0; i < m->row_count && !m->failed; i++)
        if (kept && compare_rows(&m->rows[kept - 1], &m->rows[i]) == 0)
            pf_add_to_sum(&m->rows[kept - 1].count, m->rows[i].count);
        else
            m->rows[kept++] = m->rows[i];
    m->row_count = kept;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void put_rows(struct pf_text *out, const struct row *rows, size_t count, uint64_t base)
{
    pf_put_format(out, "  %zu\n", count);
    for (size_t i = 0; i < count; i++) {
        pf_put_string(out, "  ");
        pf_pgo_put_line(out, rows[i].from - base, rows[i].is_branch ? "->" : "-", rows[i].to - base, rows[i].count);
    }
}

static void put_all(struct making *m, struct pf_text *out)
{
    const uint64_t base = pf_pgo_profgen_base(m->writing->profile);
    for (size_t first = 0, end; first < m->row_count; first = end) {
        size_t branches = first;
        while (branches < m->row_count && m->rows[branches].context == m->rows[first].context &&
               !m->rows[branches].is_branch)
            branches++;
        for (end = branches; end < m->row_count && m->rows[end].context == m->rows[first].context;)
            end++;
        pf_put_format(out, "[%s]\n", m->rows[first].context);
        put_rows(out, m->rows + first, branches - first, base);
        put_rows(out, m->rows + branches, end - branches, base);
    }
}

/* What is in no context is useless by itself. */
static int write_contexts(struct making *m, struct pf_text *out, struct perfile_error *error)
{
    const size_t bytes = FRAMES_MAX * sizeof(struct pf_counted_frame);
    m->frames = pf_new(m->allocator, bytes);
    m->next_frames = pf_new(m->allocator, bytes);
    m->failed = !m->frames || !m->next_frames || pf_text_open(&m->text, m->allocator, NULL, NULL) < 0;
    make_rows(m);
    const bool any = m->row_count && *m->rows[m->row_count - 1].context;
    if (!m->failed && any)
        put_all(m, out);
    pf_text_close(&m->text);
    pf_free(m->allocator, m->frames, bytes);
    pf_free(m->allocator, m->next_frames, bytes);
    pf_free(m->allocator, m->calls, m->call_capacity * sizeof(*m->calls));
    pf_free(m->allocator, m->callers, m->caller_capacity * sizeof(*m->callers));
    pf_free(m->allocator, m->rows, m->row_capacity * sizeof(*m->rows));
    return m->failed ? pf_fail_memory(error, "profile") : !any;
}

/* Its reader has contexts of probes only from text of samples, and crashes without the option. */
static void note_probes(const struct pf_pgo_writing *writing)
{
    if (pf_pgo_has_probes(writing))
        pf_pgo_note(writing->pgo,
                    "%s was built with -fpseudo-probe-for-profiling: llvm-profgen needs its option "
                    "use-dwarf-correlation to read contexts",
                    writing->profile->name);
}

static int write_profgen_cs(struct pf_pgo_writing *writing, struct pf_text *out, struct perfile_error *error)
{
    struct making m = {.writing = writing,
                       .allocator = writing->allocator,
                       .contexts = writing->profile->contexts,
                       .text = {.allocator = writing->allocator}};
    pf_arena_open(&m.arena, m.allocator);
    pf_map_open(&m.texts, m.allocator);
    pf_pgo_count_functions(writing, m.contexts->code);
    pf_add_to_sum(&writing->counts->ranges_jumps, m.contexts->counts.ranges_jumps);
    int result = m.contexts->branches.count ? read_debug_info(&m, error) : 1;
    if (result == 0)
        note_probes(writing);
    if (result == 0)
        result = write_contexts(&m, out, error);
    pf_inlines_close(m.inlines);
    pf_map_close(&m.texts);
    pf_arena_close(&m.arena);
    return result;
}

const struct pf_pgo_format pf_pgo_format_profgen_cs = {
    .info = {"profgen-cs", "the same by contexts, the calls that led there, which needs callchains, too",
             .needs_contexts = true},
    .write = write_profgen_cs,
};
