/* SPDX-License-Identifier: MIT */
/*
 * The page of a comparison of several recordings: call paths with the means of both sides, and verdicts of functions.
 */
#include <perfile/diff.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sized.h"
#include "base/siphash.h"
#include "output/flame/flame.h"
#include "output/gzip.h"

enum { MAX_FACTS = 24 };

struct compared {
    const struct perfile_allocator *allocator;
    const struct perfile_diff_page_options *page;
    struct perfile_diff_info info;
    struct perfile_diff_row total;
    struct pf_map map; /* from a hash of names to a frame; of equal hashes the next ones are taken */
    uint64_t seed[2];
    struct pf_flame_frame *frames;
    size_t frame_count, frame_capacity;
    struct pf_tree trees[2]; /* before, now: equal nodes have equal numbers */
    uint32_t *nodes;         /* by row; 0: it has none yet */
    uint32_t *chain;         /* rows whose nodes wait for that of a caller */
    uint64_t *below[2];      /* by row: what those that it calls weigh */
    size_t row_count;
    struct pf_flame_fact facts[MAX_FACTS];
    size_t fact_count;
    char counts[2][32], subtitle[160];
};

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static uint8_t kind_of(const char *function, const char *module)
{
    if (strcmp(function, "[unknown]") == 0)
        return PF_FLAME_UNKNOWN;
    if (module && strcmp(module, "[kernel]") == 0)
        return PF_FLAME_KERNEL;
    return module && strcmp(module, "[jit]") == 0 ? PF_FLAME_JIT : PF_FLAME_USER;
}

static bool is_same(const char *text, const char *other)
{
    return text && other ? strcmp(text, other) == 0 : text == other;
}

/* NULL: not known. */
static const char *module_of(const struct perfile_diff_row *row)
{
    return row->module && strcmp(row->module, "[unknown]") != 0 ? row->module : NULL;
}

/* Finds the frame of a row; `hash` becomes the key where it is, or would be. */
static bool find_frame(const struct compared *c, const struct perfile_diff_row *row, uint64_t *hash, uint64_t *frame)
{
    const char *module = module_of(row);
    *hash = pf_siphash(c->seed, row->function, strlen(row->function));
    *hash ^= module ? pf_siphash(c->seed, module, strlen(module)) : 0;
    for (; pf_map_get(&c->map, *hash, frame); ++*hash)
        if (is_same(c->frames[*frame].name, row->function) && is_same(c->frames[*frame].module, module))
            return true;
    return false;
}

/* UINT32_MAX: out of memory. */
static uint32_t number_frame(struct compared *c, const struct perfile_diff_row *row)
{
    uint64_t hash, frame;
    if (find_frame(c, row, &hash, &frame))
        return (uint32_t)frame;
    if (c->frame_count >= UINT32_MAX - 1 ||
        !pf_grow(c->allocator, &c->frames, &c->frame_capacity, c->frame_count + 1, sizeof(*c->frames)) ||
        !pf_map_put(&c->map, hash, c->frame_count))
        return UINT32_MAX;
    c->frames[c->frame_count] = (struct pf_flame_frame){
        .name = row->function, .module = module_of(row), .kind = kind_of(row->function, row->module)};
    return (uint32_t)c->frame_count++;
}

/* Sets the verdicts of the frames; functions in no stack need none. */
static void take_verdicts(struct compared *c, const struct perfile_diff *diff, int which)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    uint64_t hash, frame;
    for (size_t i = 0; diff && perfile_diff_row_at(diff, i, &row) == 0; i++)
        if (row.function && find_frame(c, &row, &hash, &frame))
            c->frames[frame].verdicts[which] = "usml"[row.verdict];
}

/* ---- trees ------------------------------------------------------------------------------------------------------- */

static bool add_node(struct compared *c, uint32_t index)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    if (perfile_diff_row_at(c->page->paths, index, &row) < 0 || !row.function)
        return true;
    const uint32_t frame = number_frame(c, &row), parent = row.parent < c->row_count ? c->nodes[row.parent] : 0;
    c->nodes[index] = frame == UINT32_MAX ? 0 : pf_tree_append(&c->trees[0], parent, frame);
    return c->nodes[index] && pf_tree_append(&c->trees[1], parent, frame);
}

/* Adds the nodes of a row and its callers. Rows are in the order of differences: callers may come later. */
static bool add_nodes(struct compared *c, uint32_t index)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    size_t depth = 0;
    for (uint32_t at = index; at < c->row_count && !c->nodes[at] && depth < c->row_count; at = row.parent) {
        if (perfile_diff_row_at(c->page->paths, at, &row) < 0)
            break;
        c->chain[depth++] = at;
    }
    while (depth)
        if (!add_node(c, c->chain[--depth]))
            return false;
    return true;
}

static uint64_t total(double weight)
{
    return weight > 0 && weight < 0x1p62 ? (uint64_t)llround(weight) : 0;
}

/* What a path weighs itself is what is left of it without those that it calls. */
static void weigh(struct compared *c)
{
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    for (size_t i = 0; perfile_diff_row_at(c->page->paths, i, &row) == 0; i++)
        if (row.parent < c->row_count) {
            c->below[0][row.parent] += total(row.before);
            c->below[1][row.parent] += total(row.after);
        }
    for (size_t i = 0; perfile_diff_row_at(c->page->paths, i, &row) == 0; i++)
        for (int side = 0; c->nodes[i] && side < 2; side++) {
            const uint64_t all = total(side ? row.after : row.before), below = c->below[side][i];
            pf_tree_add(&c->trees[side], c->nodes[i], all > below ? all - below : 0);
        }
}

static bool make_trees(struct compared *c)
{
    const size_t count = c->row_count + 1;
    c->nodes = pf_new(c->allocator, count * sizeof(*c->nodes));
    c->chain = pf_new(c->allocator, count * sizeof(*c->chain));
    for (int side = 0; side < 2; side++)
        if (!(c->below[side] = pf_new(c->allocator, count * sizeof(uint64_t))) ||
            pf_tree_open(&c->trees[side], c->allocator) != 0)
            return false;
    for (size_t i = 0; c->nodes && c->chain && i < c->row_count; i++)
        if (!c->nodes[i] && !add_nodes(c, (uint32_t)i))
            return false;
    if (!c->nodes || !c->chain)
        return false;
    weigh(c);
    return pf_tree_sum(&c->trees[0]) && pf_tree_sum(&c->trees[1]);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void put_fact(struct compared *c, const char *label, const char *value)
{
    if (c->fact_count < MAX_FACTS)
        c->facts[c->fact_count++] = (struct pf_flame_fact){label, value};
}

static void put_facts(struct compared *c)
{
    const char *note;
    char before[PF_COUNTED_BYTES];
    snprintf(c->counts[0], sizeof(c->counts[0]), "%zu", c->info.before_count);
    snprintf(c->counts[1], sizeof(c->counts[1]), "%zu", c->info.after_count);
    put_fact(c, "Recordings before", c->counts[0]);
    put_fact(c, "Recordings after", c->counts[1]);
    for (size_t i = 0; (note = perfile_diff_note_at(c->page->paths, i)) != NULL; i++)
        put_fact(c, NULL, note);
    snprintf(c->subtitle, sizeof(c->subtitle), "%s, %zu after: means",
             pf_count_of(c->info.before_count, "recordings before", before), c->info.after_count);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static struct pf_flame_event event_of(struct compared *c, int side)
{
    return (struct pf_flame_event){.name = c->info.event ? c->info.event : "?",
                                   .tree = &c->trees[side],
                                   .total = total(side ? c->total.after : c->total.before),
                                   .unit = c->info.unit};
}

static int put(struct compared *c, struct pf_text *text)
{
    const struct pf_flame_event events[2] = {event_of(c, 0), event_of(c, 1)};
    struct pf_flame_set sets[2];
    for (int side = 0; side < 2; side++)
        sets[side] = (struct pf_flame_set){.title = c->page->title ? c->page->title : "What changed",
                                           .subtitle = c->subtitle,
                                           .unit = c->info.unit,
                                           .event_count = 1,
                                           .events = &events[side],
                                           .frames = c->frames,
                                           .frame_count = c->frame_count,
                                           .facts = c->facts,
                                           .fact_count = c->fact_count};
    const struct pf_html_options options = {.before = {.set = &sets[0], .normalized = c->page->normalized},
                                            .has_verdicts = !c->info.sampling_only && c->page->functions};
    return pf_flame_html(&sets[1], &options, text);
}

static int write_page(struct compared *c, struct pf_text *text)
{
    if (!make_trees(c))
        return PERFILE_ERROR_MEMORY;
    take_verdicts(c, c->page->functions, 0);
    take_verdicts(c, c->page->inclusive, 1);
    put_facts(c);
    const int result = put(c, text);
    return result == 0 ? pf_text_flush(text) : result;
}

static void close_compared(struct compared *c)
{
    const size_t count = c->row_count + 1;
    for (int side = 0; side < 2; side++) {
        pf_tree_close(&c->trees[side]);
        pf_free(c->allocator, c->below[side], c->below[side] ? count * sizeof(uint64_t) : 0);
    }
    pf_free(c->allocator, c->nodes, c->nodes ? count * sizeof(*c->nodes) : 0);
    pf_free(c->allocator, c->chain, c->chain ? count * sizeof(*c->chain) : 0);
    pf_free(c->allocator, c->frames, c->frame_capacity * sizeof(*c->frames));
    pf_map_close(&c->map);
}

static int check(const struct perfile_diff_page_options *page, struct perfile_error *error)
{
    struct perfile_diff_info info = PERFILE_DIFF_INFO_INIT;
    struct perfile_diff_row row = PERFILE_DIFF_ROW_INIT;
    const char *why = !page->paths ? "no call paths given" : NULL;
    if (!why && perfile_diff_describe(page->paths, &info) == 0 && strcmp(info.unit ? info.unit : "", "ns") != 0 &&
        (strchr(info.unit, '/') || info.unit[0] == '%'))
        why = "weights must be those of recordings, not of units of work or shares";
    if (!why && perfile_diff_row_at(page->paths, 0, &row) == 0 && !row.path)
        why = "its rows must be call paths";
    return why ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "page", "%s", why) : 0;
}

static int write_to(const struct perfile_diff_page_options *page, const struct perfile_sink *sink)
{
    struct pf_text text;
    struct compared c = {.allocator = page->allocator,
                         .page = page,
                         .info = PERFILE_DIFF_INFO_INIT,
                         .total = PERFILE_DIFF_ROW_INIT,
                         .row_count = perfile_diff_row_count(page->paths)};
    c.trees[0].allocator = c.trees[1].allocator = c.allocator;
    c.seed[0] = (uintptr_t)&c;
    c.seed[1] = (uintptr_t)page->paths;
    pf_map_open(&c.map, c.allocator);
    int result = pf_text_open(&text, c.allocator, sink->write, sink->context);
    if (result == 0 && (perfile_diff_describe(page->paths, &c.info) < 0 || perfile_diff_total(page->paths, &c.total)))
        result = PERFILE_ERROR_ARGUMENT;
    if (result == 0)
        result = write_page(&c, &text);
    pf_text_close(&text);
    close_compared(&c);
    return result;
}

static int write_gzip(const struct perfile_diff_page_options *page, const struct perfile_sink *sink,
                      struct perfile_error *error)
{
    struct pf_gzip *gzip;
    int result = pf_gzip_open(&gzip, page->allocator, sink, error);
    if (result < 0)
        return result;
    const struct perfile_sink within = {gzip, pf_gzip_write};
    result = write_to(page, &within);
    if (result == 0 && pf_gzip_finish(gzip) != 0)
        result = PERFILE_ERROR_WRITE;
    pf_gzip_close(gzip);
    return result;
}

int perfile_diff_page_write(const struct perfile_diff_page_options *page, const struct perfile_sink *sink,
                            struct perfile_error *error)
{
    struct perfile_diff_page_options all = PERFILE_DIFF_PAGE_OPTIONS_INIT;
    int result = pf_sized_take(&all, sizeof(all), page, "diff page", error);
    if (result < 0 || (result = check(&all, error)) < 0)
        return result;
    all.allocator = pf_allocator_or_default(all.allocator);
    result = all.gzip ? write_gzip(&all, sink, error) : write_to(&all, sink);
    if (result == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "page");
    return result == 0 ? 0 : pf_fail(error, result, PERFILE_NO_OFFSET, "page", "the sink failed");
}
