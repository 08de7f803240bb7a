/* SPDX-License-Identifier: MIT */
/*
 * Making tables: sorting symbols, and choosing among aliases.
 *
 * Which of several symbols at one address perf 7.2 shows, found by asking it about made files: one with a size before
 * one without; a typed one before a bare label; then strong before weak, global before local, fewer leading
 * underscores, the longer name, the one that comes first in the file. Symbols without a size first get their end from
 * the next address, but of several at one address only the last one does.
 *
 * perf differs where a symbol without a size is within a function that has one: it shows the symbol up to the next one,
 * or the function, depending on the rest of the table. Here the function shows, as far as its size says.
 */
#include "symbol/table_build.h"

#include "base/sort.h"

/* ---- entries and text ---- */

void pf_build_open(struct pf_symbol_build *build, const struct perfile_allocator *allocator)
{
    *build = (struct pf_symbol_build){.allocator = allocator};
}

void pf_build_close(struct pf_symbol_build *build)
{
    pf_free(build->allocator, build->entries, build->capacity * sizeof(*build->entries));
    pf_free(build->allocator, build->text, build->text_capacity);
    pf_build_open(build, build->allocator);
}

bool pf_build_add(struct pf_symbol_build *build, uint64_t start, uint64_t end, uint32_t name, uint32_t flags)
{
    if (PF_UNLIKELY(build->count == build->capacity) &&
        !pf_grow(build->allocator, &build->entries, &build->capacity, build->count + 1, sizeof(*build->entries)))
        return false;
    build->entries[build->count] = (struct pf_symbol_entry){start, end, name, flags, build->count};
    build->count++;
    return true;
}

bool pf_build_text_capacity(struct pf_symbol_build *build, uint64_t bytes)
{
    uint64_t wanted;
    if (!pf_add(build->text_bytes, bytes, &wanted) || wanted > UINT32_MAX)
        return false;
    return pf_grow(build->allocator, &build->text, &build->text_capacity, (size_t)wanted, 1);
}

bool pf_build_text(struct pf_symbol_build *build, const void *text, size_t bytes, uint32_t *name)
{
    if (bytes == SIZE_MAX || !pf_build_text_capacity(build, bytes + 1))
        return false;
    *name = (uint32_t)build->text_bytes;
    memcpy(build->text + build->text_bytes, text, bytes);
    build->text[build->text_bytes + bytes] = 0;
    build->text_bytes += bytes + 1;
    return true;
}

static uint64_t start_of(const void *entry)
{
    return ((const struct pf_symbol_entry *)entry)->start;
}

bool pf_build_sort(struct pf_symbol_build *build)
{
    struct pf_symbol_entry *entries = build->entries;
    const size_t bytes = build->capacity * sizeof(*entries);
    if (pf_is_sorted(entries, build->count, sizeof(*entries), start_of))
        return true;
    struct pf_symbol_entry *other = pf_resize(build->allocator, NULL, 0, bytes);
    if (!other)
        return false;
    build->entries = pf_sort(entries, other, build->count, sizeof(*entries), start_of);
    pf_free(build->allocator, build->entries == other ? entries : other, bytes);
    return true;
}

/* ---- choosing among aliases ---- */

static int prefer(bool a, bool b)
{
    return (int)a - (int)b;
}

static size_t leading_underscores(const char *name)
{
    return strspn(name, "_");
}

/* Names that kernels before 4.17 gave their system calls besides sys_... */
static bool is_syscall_alias(const char *name)
{
    return strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0;
}

static int compare_names(const char *a, const char *b)
{
    size_t in_a = leading_underscores(a), in_b = leading_underscores(b);
    if (in_a != in_b)
        return in_a < in_b ? 1 : -1;
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a != length_b)
        return length_a > length_b ? 1 : -1;
    return is_syscall_alias(a) ? -1 : 1;
}

/* Which of two symbols at one address shows: `a`, which comes first in the file, when the result is not negative. */
static int compare_aliases(const struct pf_symbol_entry *a, const struct pf_symbol_entry *b, const char *text)
{
    int better = prefer(a->end != a->start, b->end != b->start);
    if (!better)
        better = prefer(!(a->flags & PF_ENTRY_LABEL), !(b->flags & PF_ENTRY_LABEL));
    if (!better)
        better = prefer(!(a->flags & PF_SYMBOL_WEAK), !(b->flags & PF_SYMBOL_WEAK));
    if (!better)
        better = prefer((a->flags & PF_SYMBOL_GLOBAL) != 0, (b->flags & PF_SYMBOL_GLOBAL) != 0);
    if (!better)
        better = compare_names(text + a->name, text + b->name);
    return better;
}

/* The end of a symbol without a size after which nothing comes: what is left of its page and one more, as in perf. */
static uint64_t end_of_last(uint64_t start)
{
    uint64_t page = start & ~4095ull;
    return page > UINT64_MAX - 2 * 4096 ? UINT64_MAX : page + (start == page ? 4096 : 2 * 4096);
}

/* Until here `rank` holds the end of the symbol's section, 0: unknown. */
static void guess_end(struct pf_symbol_entry *entry, const struct pf_symbol_entry *next)
{
    if (entry->end != entry->start)
        return;
    bool limited = entry->rank > entry->start;
    if (next)
        entry->end = limited ? pf_min(next->start, entry->rank) : next->start;
    else
        entry->end = limited ? entry->rank : end_of_last(entry->start);
    entry->flags |= PF_SYMBOL_GUESSED_END;
}

/* Another symbol may stay in its place. */
static void note_section(struct pf_symbol_build *build, const struct pf_symbol_entry *entry)
{
    static const char *const names[PF_TEXT_SECTIONS][2] = {
        [PF_TEXT_SCHED] = {"__sched_text_start", "__sched_text_end"},
        [PF_TEXT_LOCK] = {"__lock_text_start", "__lock_text_end"},
    };
    const char *name = entry->flags & PF_ENTRY_NOT_SHOWN ? "" : build->text + entry->name;
    if (name[0] != '_' || name[1] != '_' || (name[2] != 's' && name[2] != 'l'))
        return;
    for (unsigned i = 0; i < PF_TEXT_SECTIONS; i++)
        if (strcmp(name, names[i][0]) == 0)
            build->sections[i].start = entry->start;
        else if (strcmp(name, names[i][1]) == 0)
            build->sections[i].end = entry->start;
}

/* An inner symbol shows before the one around it; one without a size does so only outside of functions. */
static uint64_t rank_of(const struct pf_symbol_entry *entry, size_t number, uint64_t *functions_end)
{
    if (entry->flags & PF_SYMBOL_GUESSED_END)
        return entry->start < *functions_end ? 0 : number + 1;
    if (entry->flags & PF_ENTRY_FUNCTION)
        *functions_end = pf_max(*functions_end, entry->end);
    return number + 1;
}

void pf_build_choose(struct pf_symbol_build *build)
{
    size_t kept = 0;
    uint64_t functions_end = 0;
    for (size_t i = 0, next; i < build->count; i = next) {
        note_section(build, &build->entries[i]);
        for (next = i + 1; next < build->count && build->entries[next].start == build->entries[i].start; next++)
            note_section(build, &build->entries[next]);
        guess_end(&build->entries[next - 1], next < build->count ? &build->entries[next] : NULL);
        struct pf_symbol_entry best = build->entries[i];
        for (size_t k = i + 1; k < next; k++)
            if (compare_aliases(&best, &build->entries[k], build->text) < 0)
                best = build->entries[k];
        best.rank = rank_of(&best, kept, &functions_end);
        build->entries[kept++] = best;
    }
    build->count = kept;
}

/* ---- overlaps ---- */

/* The entries that cover the current address, a heap with the highest rank on top. */
struct cover {
    const struct pf_symbol_entry **heap;
    size_t count;
};

static void cover_push(struct cover *cover, const struct pf_symbol_entry *entry)
{
    size_t i = cover->count++;
    while (i && cover->heap[(i - 1) / 2]->rank < entry->rank) {
        cover->heap[i] = cover->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    cover->heap[i] = entry;
}

static void cover_pop(struct cover *cover)
{
    const struct pf_symbol_entry *entry = cover->heap[--cover->count];
    size_t i = 0;
    for (size_t child = 1; child < cover->count; child = 2 * i + 1) {
        child += child + 1 < cover->count && cover->heap[child + 1]->rank > cover->heap[child]->rank;
        if (cover->heap[child]->rank < entry->rank)
            break;
        cover->heap[i] = cover->heap[child];
        i = child;
    }
    cover->heap[i] = entry;
}

struct pieces {
    struct pf_symbol *symbols;
    size_t count;
    const struct pf_symbol_entry *last; /* of which the last piece is */
};

static void add_piece(struct pieces *pieces, const struct pf_symbol_entry *entry, uint64_t start, uint64_t end)
{
    if (start >= end)
        return;
    struct pf_symbol *before = pieces->symbols + pieces->count - 1;
    if (pieces->count && pieces->last == entry && before->end == start) {
        before->end = end;
        return;
    }
    uint32_t flags = (entry->flags & 0xffff) | (start != entry->start ? PF_SYMBOL_PIECE : 0u);
    pieces->symbols[pieces->count++] = (struct pf_symbol){start, end, entry->name, flags};
    pieces->last = entry;
}

/* Everything that shows between two addresses. */
static void sweep(struct cover *cover, struct pieces *pieces, uint64_t from, uint64_t to)
{
    while (cover->count && from < to) {
        const struct pf_symbol_entry *top = cover->heap[0];
        if (top->end <= from) {
            cover_pop(cover);
            continue;
        }
        uint64_t end = pf_min(top->end, to);
        add_piece(pieces, top, from, end);
        from = end;
    }
}

static bool overlaps(const struct pf_symbol_build *build)
{
    for (size_t i = 1; i < build->count; i++)
        if (build->entries[i - 1].end > build->entries[i].start)
            return true;
    return false;
}

static bool sweep_all(const struct pf_symbol_build *build, struct pieces *pieces)
{
    size_t bytes = build->count * sizeof(void *);
    struct cover cover = {pf_resize(build->allocator, NULL, 0, bytes), 0};
    if (!cover.heap)
        return false;
    for (size_t i = 0; i < build->count; i++) {
        cover_push(&cover, &build->entries[i]);
        sweep(&cover, pieces, build->entries[i].start, i + 1 < build->count ? build->entries[i + 1].start : UINT64_MAX);
    }
    pf_free(build->allocator, cover.heap, bytes);
    return true;
}

static void copy_all(const struct pf_symbol_build *build, struct pieces *pieces)
{
    for (size_t i = 0; i < build->count; i++)
        add_piece(pieces, &build->entries[i], build->entries[i].start, build->entries[i].end);
}

/* The table gets as much memory as it needs. */
static bool give_symbols(const struct pf_symbol_build *build, struct pieces *pieces, size_t capacity,
                         struct pf_symbol_table *table)
{
    size_t used = pieces->count * sizeof(struct pf_symbol);
    struct pf_symbol *symbols = pf_resize(build->allocator, pieces->symbols, capacity, used);
    if (!symbols && used)
        return false;
    pieces->symbols = NULL;
    table->symbols = symbols;
    table->count = pieces->count;
    return true;
}

static bool make_symbols(const struct pf_symbol_build *build, struct pf_symbol_table *table)
{
    /* every start and every end of an entry begins at most one piece */
    bool cut = overlaps(build);
    size_t capacity = build->count * (cut ? 2 : 1) * sizeof(struct pf_symbol);
    struct pieces pieces = {.symbols = pf_resize(build->allocator, NULL, 0, capacity)};
    if (!pieces.symbols)
        return false;
    bool done = true;
    if (cut)
        done = sweep_all(build, &pieces);
    else
        copy_all(build, &pieces);
    done = done && give_symbols(build, &pieces, capacity, table);
    pf_free(build->allocator, pieces.symbols, capacity);
    return done;
}

static bool make_starts(struct pf_symbol_table *table)
{
    const struct pf_symbol *symbols = table->symbols;
    if (!table->count || symbols[table->count - 1].start - symbols[0].start > UINT32_MAX)
        return true;
    table->starts = pf_resize(table->allocator, NULL, 0, table->count * sizeof(*table->starts));
    for (size_t i = 0; table->starts && i < table->count; i++)
        table->starts[i] = (uint32_t)(symbols[i].start - symbols[0].start);
    return table->starts;
}

bool pf_build_finish(struct pf_symbol_build *build, struct pf_symbol_table *table)
{
    table->text = pf_resize(build->allocator, build->text, build->text_capacity, build->text_bytes);
    if (!table->text && build->text_bytes)
        return false;
    table->text_bytes = build->text_bytes;
    memcpy(table->sections, build->sections, sizeof(table->sections));
    build->text = NULL;
    build->text_capacity = build->text_bytes = 0;
    return !build->count || (make_symbols(build, table) && make_starts(table));
}

struct pf_symbol_table *pf_symbol_table_new(const struct perfile_allocator *allocator)
{
    struct pf_symbol_table *table = pf_new(allocator, sizeof(*table));
    if (table)
        table->allocator = allocator;
    return table;
}
