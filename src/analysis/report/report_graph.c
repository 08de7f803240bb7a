/* SPDX-License-Identifier: MIT */
/*
 * The call graph of one row, made level by level from the tree of all stacks. A branch is a set of nodes that were
 * reached in the same way; only branches that are shown are opened, so that a row costs what is printed of it.
 *
 * From caller to callee perf shows two things in one graph: samples in the row's function with their complete stack,
 * and all others with their stack from that function on. From callee to caller both are the way up from the function.
 */
#include <math.h>
#include <stdlib.h>

#include "analysis/report/columns.h"
#include "analysis/report/graph.h"
#include "base/bytes.h"
#include "platform/platform.h"

struct pf_graph_item {
    uint32_t node;
    uint32_t frame;
    bool complete; /* only the samples that end in the row's function: their weight is in marks_of */
    uint64_t hits, samples;
};

/* ---- what belongs to a row ---- */

/*
 * A number for each node, 0 between graphs. By default it is kept in the memory of the node's number of samples and
 * note, which are not needed after rows are made: there may be tens of millions of nodes.
 */
static uint64_t *mark_at(const struct pf_graph *graph, uint32_t node)
{
    return (uint64_t *)(void *)(graph->marks + node * graph->mark_bytes);
}

/* Before the memory of the numbers is used for marks. */
static bool keep_counts(struct pf_report *report)
{
    const struct pf_tree *tree = &report->chains.tree;
    if (report->settings.graph_value != PF_GRAPH_COUNT || report->chains.counts)
        return true;
    struct pf_report_count *counts = pf_new(report->allocator, tree->count * sizeof(*counts));
    report->chains.counts = counts;
    for (size_t i = 0; i < tree->count && counts; i++)
        counts[i].self = counts[i].total = tree->nodes[i].samples;
    for (size_t i = tree->count; counts && i-- > 1;) /* a parent stands before its children */
        counts[tree->nodes[i].parent].total += counts[i].total;
    return counts;
}

/* The first frame of each function and line. */
static bool find_lines(struct pf_report *report)
{
    const size_t count = pf_profile_frame_count(report->profile);
    struct pf_pairs known;
    bool enough = true;
    if (report->settings.graph_key != PF_GRAPH_SRCLINE || report->chains.lines)
        return true;
    report->chains.lines = pf_new(report->allocator, count * sizeof(*report->chains.lines));
    report->chains.line_count = report->chains.lines ? count : 0;
    pf_pairs_open(&known, report->allocator);
    for (uint32_t i = 0; i < report->chains.line_count && enough; i++) {
        const struct pf_frame_info *frame = pf_profile_frame(report->profile, i);
        const uint64_t line = !frame->name                    ? frame->address
                              : pf_frame_address(frame)->file ? pf_distinguish_srcline(report, frame)
                                                              : 0;
        report->chains.lines[i] = i;
        if (!pf_pairs_get(&known, frame->function, line, &report->chains.lines[i]))
            enough = pf_pairs_put(&known, frame->function, line, i);
    }
    pf_pairs_close(&known);
    return enough && report->chains.lines;
}

bool pf_graphs_prepare(struct pf_report *report)
{
    if (!keep_counts(report) || !find_lines(report))
        return false;
    for (uint32_t node = 0; node < report->chains.tree.count && !report->chains.marks; node++)
        report->chains.tree.nodes[node].mark = 0;
    report->chains.marks = true;
    return true;
}

/* Until all are marked a number may be negative, which maps do not hold. */
#define NO_SAMPLES ((uint64_t)1 << 62)

static uint64_t samples_marked(const struct pf_graph *graph, uint32_t node)
{
    uint64_t samples = NO_SAMPLES;
    (void)pf_map_get(&graph->sample_marks, node, &samples);
    return samples - NO_SAMPLES;
}

static void mark_samples(struct pf_graph *graph, uint32_t node, uint64_t more)
{
    if (graph->report->chains.counts &&
        !pf_map_put(&graph->sample_marks, node, NO_SAMPLES + samples_marked(graph, node) + more))
        graph->short_of_memory = true;
}

static struct pf_report_count counts_of(const struct pf_graph *graph, uint32_t node)
{
    const struct pf_report_count *counts = graph->report->chains.counts;
    return counts ? counts[node] : (struct pf_report_count){0};
}

static void note_ends(struct pf_graph *graph)
{
    const struct pf_report *report = graph->report;
    for (uint32_t node = graph->row->nodes; node; node = report->chains.links[node].next)
        if (!pf_map_put(&graph->ends, node, 1))
            graph->short_of_memory = true;
}

static void note_outermost(struct pf_graph *graph, uint32_t node)
{
    if (!pf_grow(graph->report->allocator, &graph->outermost, &graph->outermost_capacity, graph->outermost_count + 1,
                 sizeof(*graph->outermost)))
        graph->short_of_memory = true;
    else
        graph->outermost[graph->outermost_count++] = node;
}

/* Caller first: for each node, what of its total are samples in the row's function. */
static void mark_complete_stacks(struct pf_graph *graph)
{
    const struct pf_report *report = graph->report;
    const struct pf_tree_node *nodes = report->chains.tree.nodes;
    for (uint32_t end = graph->row->nodes; end; end = report->chains.links[end].next)
        for (uint32_t node = nodes[end].self ? end : 0; node; node = nodes[node].parent) {
            if (nodes[node].parent == graph->key_node && !*mark_at(graph, node))
                note_outermost(graph, node);
            *mark_at(graph, node) += nodes[end].self;
            mark_samples(graph, node, counts_of(graph, end).self);
        }
}

/* Callee first: what has its last call of the function here. */
static void mark_innermost(struct pf_graph *graph)
{
    const struct pf_report *report = graph->report;
    for (uint32_t node = graph->row->nodes; node; node = report->chains.links[node].next) {
        const uint64_t weight =
            report->settings.children ? report->chains.tree.totals[node] : report->chains.tree.nodes[node].self;
        const struct pf_report_count counts = counts_of(graph, node);
        const uint64_t samples = report->settings.children ? counts.total : counts.self;
        *mark_at(graph, node) += weight;
        mark_samples(graph, node, samples);
        if (report->settings.children && report->chains.links[node].outer) {
            *mark_at(graph, report->chains.links[node].outer) -= weight;
            mark_samples(graph, report->chains.links[node].outer, (uint64_t)0 - samples);
        }
    }
}

static void unmark(struct pf_graph *graph)
{
    const struct pf_report *report = graph->report;
    for (uint32_t end = graph->row->nodes; end; end = report->chains.links[end].next)
        for (uint32_t node = end; node && *mark_at(graph, node); node = report->chains.tree.nodes[node].parent)
            *mark_at(graph, node) = 0;
}

static uint32_t key_node(const struct pf_report *report, const struct pf_report_row *row)
{
    uint32_t node = row->first;
    while (report->chains.tree.nodes[node].parent)
        node = report->chains.tree.nodes[node].parent;
    return node;
}

static uint64_t min_hits(const struct pf_report *report, const struct pf_report_row *row)
{
    return (uint64_t)((double)pf_report_event(report, row)->period * (report->settings.graph_limit_percent / 100.0));
}

bool pf_graph_is_empty(const struct pf_report *report, const struct pf_report_row *row)
{
    return !report->settings.fractal && pf_report_weight(report, row) < min_hits(report, row);
}

void pf_graph_open_apart(struct pf_graph *graph, struct pf_report *report, const struct pf_report_row *row,
                         uint64_t *marks)
{
    *graph = (struct pf_graph){.report = report, .row = row};
    pf_arena_open(&graph->arena, report->allocator);
    pf_map_open(&graph->sample_marks, report->allocator);
    pf_map_open(&graph->ends, report->allocator);
    graph->min = min_hits(report, row);
    graph->empty = pf_graph_is_empty(report, row);
    if (graph->empty) /* no branch can be worth showing: most rows are like that */
        return;
    graph->key_node = key_node(report, row);
    graph->marks = marks ? (char *)marks : (char *)&report->chains.tree.nodes[0].mark;
    graph->mark_bytes = marks ? sizeof(*marks) : sizeof(*report->chains.tree.nodes);
    if (report->settings.order == PF_GRAPH_CALLER)
        mark_complete_stacks(graph);
    else
        mark_innermost(graph);
    if (report->settings.shape != PF_GRAPH_TREE)
        note_ends(graph);
}

void pf_graph_open(struct pf_graph *graph, struct pf_report *report, const struct pf_report_row *row)
{
    const bool enough = pf_graphs_prepare(report);
    pf_graph_open_apart(graph, report, row, NULL);
    graph->short_of_memory |= !enough;
}

void pf_graph_close(struct pf_graph *graph)
{
    if (!graph->empty)
        unmark(graph);
    pf_free(graph->report->allocator, graph->items, graph->item_capacity * sizeof(*graph->items));
    pf_free(graph->report->allocator, graph->outermost, graph->outermost_capacity * sizeof(*graph->outermost));
    pf_map_close(&graph->sample_marks);
    pf_map_close(&graph->ends);
    pf_arena_close(&graph->arena);
}

/* ---- one level ---- */

/* Graphs are of functions, also when the rows are of addresses, unless they are asked for by address or line. */
static uint32_t function_of(const struct pf_report *report, uint32_t frame)
{
    if (report->settings.graph_key == PF_GRAPH_ADDRESS)
        return frame;
    if (report->chains.lines)
        return report->chains.lines[frame & ~PF_REPORT_APART];
    return report->layout.by_address ? pf_profile_frame(report->profile, frame & ~PF_REPORT_APART)->function : frame;
}

static bool push(struct pf_graph *graph, size_t *count, uint32_t node, bool complete, uint64_t hits, uint64_t samples)
{
    if (!hits)
        return true;
    if (!pf_grow(graph->report->allocator, &graph->items, &graph->item_capacity, *count + 1, sizeof(*graph->items)))
        return false;
    const uint32_t frame = function_of(graph->report, graph->report->chains.tree.nodes[node].frame);
    graph->items[(*count)++] = (struct pf_graph_item){node, frame, complete, hits, samples};
    return true;
}

static uint64_t hits_of(const struct pf_graph *graph, uint32_t node, bool complete)
{
    return complete ? *mark_at(graph, node) : graph->report->chains.tree.totals[node] - *mark_at(graph, node);
}

static uint64_t samples_of(const struct pf_graph *graph, uint32_t node, bool complete)
{
    return complete ? samples_marked(graph, node) : counts_of(graph, node).total - samples_marked(graph, node);
}

/*
 * What a child has to weigh to be worth a look, where each makes a branch of its own: children of one node are of one
 * function each, unless frames are addresses. In fractal graphs the limit depends on the sum of all.
 */
static uint64_t min_child(const struct pf_graph *graph)
{
    const struct pf_report *report = graph->report;
    return report->settings.fractal || report->layout.by_address ? 0 : graph->min;
}

static bool push_children(struct pf_graph *graph, size_t *count, uint32_t parent, bool complete, uint64_t min)
{
    const struct pf_report *report = graph->report;
    const struct pf_tree *tree = &report->chains.tree;
    const unsigned class = pf_report_weight_class(min);
    bool enough = true;
    for (uint32_t node = report->chains.links[parent].child; node && enough;
         node = report->chains.links[node].sibling) {
        if (pf_report_weight_class(tree->totals[node]) < class)
            break; /* so are all that follow */
        const uint64_t hits = hits_of(graph, node, complete);
        if (hits >= min && !(tree->nodes[node].frame & PF_REPORT_APART))
            enough = push(graph, count, node, complete, hits, samples_of(graph, node, complete));
    }
    return enough;
}

static bool push_parent(struct pf_graph *graph, size_t *count, uint32_t node, uint64_t hits, uint64_t samples)
{
    const uint32_t parent = graph->report->chains.tree.nodes[node].parent;
    return parent == graph->key_node || push(graph, count, parent, false, hits, samples);
}

static bool push_outermost(struct pf_graph *graph, size_t *count)
{
    bool enough = !graph->short_of_memory;
    for (size_t i = 0; i < graph->outermost_count && enough; i++)
        if (!(graph->report->chains.tree.nodes[graph->outermost[i]].frame & PF_REPORT_APART))
            enough = push(graph, count, graph->outermost[i], true, *mark_at(graph, graph->outermost[i]),
                          samples_marked(graph, graph->outermost[i]));
    return enough;
}

static bool push_first(struct pf_graph *graph, size_t *count)
{
    const struct pf_report *report = graph->report;
    const bool caller = report->settings.order == PF_GRAPH_CALLER;
    bool enough = !caller || push_outermost(graph, count);
    if (caller && !report->settings.children)
        return enough;
    for (uint32_t node = graph->row->nodes; node && enough; node = report->chains.links[node].next) {
        const bool apart = report->chains.tree.nodes[node].frame & PF_REPORT_APART;
        if (caller)
            enough = apart || report->chains.links[node].outer ||
                     push(graph, count, node, false, hits_of(graph, node, false), samples_of(graph, node, false));
        else if (apart)
            enough = push_parent(graph, count, node, *mark_at(graph, node), samples_marked(graph, node));
        else
            enough = push(graph, count, node, false, *mark_at(graph, node), samples_marked(graph, node));
    }
    return enough;
}

static bool push_next(struct pf_graph *graph, size_t *count, const struct pf_graph_branch *branch)
{
    bool enough = true;
    for (size_t i = 0; i < branch->item_count && enough; i++) {
        const struct pf_graph_item *item = &branch->items[i];
        if (graph->report->settings.order == PF_GRAPH_CALLER)
            enough =
                push_children(graph, count, item->node, item->complete, branch->item_count == 1 ? min_child(graph) : 0);
        else
            enough = push_parent(graph, count, item->node, item->hits, item->samples);
    }
    return enough;
}

static int compare_items(const void *left, const void *right)
{
    const struct pf_graph_item *a = left, *b = right;
    return PF_COMPARE(a->frame, b->frame) ?: PF_COMPARE(a->node, b->node) ?: a->complete - b->complete;
}

/* Sorts the items and joins those of one node. */
static size_t join_items(struct pf_graph_item *items, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_items(&items[kept - 1], &items[i]) == 0) {
            items[kept - 1].hits += items[i].hits;
            items[kept - 1].samples += items[i].samples;
        } else {
            items[kept++] = items[i];
        }
    }
    return kept;
}

/* Against the order of the code in each file, as perf has it. */
static int compare_code(const void *left, const void *right, void *context)
{
    const struct pf_profile *profile = context;
    const struct pf_graph_branch *a = left, *b = right;
    const struct pf_frame_info *x = pf_profile_frame(profile, a->frame), *y = pf_profile_frame(profile, b->frame);
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->symbol != y->symbol)
        return x->symbol > y->symbol ? -1 : 1;
    return x->address == y->address ? 0 : x->address > y->address ? -1 : 1;
}

/* Most hits first. */
static int compare_branches(const void *left, const void *right, void *profile)
{
    const struct pf_graph_branch *a = left, *b = right;
    if (a->hits != b->hits)
        return a->hits > b->hits ? -1 : 1;
    return compare_code(left, right, profile);
}

void pf_graph_sort_by_code(const struct pf_graph *graph, struct pf_graph_branch *branches, size_t count)
{
    if (count)
        pf_platform_sort(branches, count, sizeof(*branches), compare_code, graph->report->profile);
}

/* Of a stack whose leaf is not in its callchain the end is above the leaf. */
static void add_apart(const struct pf_graph *graph, const struct pf_graph_item *item, uint64_t *hits, uint64_t *samples)
{
    const struct pf_report *report = graph->report;
    uint64_t one;
    for (uint32_t node = report->chains.links[item->node].child; node; node = report->chains.links[node].sibling)
        if (report->chains.tree.nodes[node].frame & PF_REPORT_APART &&
            pf_map_get(&graph->ends, node, &one) == item->complete) {
            *hits += report->chains.tree.nodes[node].self;
            *samples += counts_of(graph, node).self;
        }
}

void pf_graph_ends(const struct pf_graph *graph, const struct pf_graph_branch *branch, uint64_t *hits,
                   uint64_t *samples)
{
    const struct pf_tree_node *nodes = graph->report->chains.tree.nodes;
    *hits = *samples = 0;
    for (size_t i = 0; i < branch->item_count; i++) {
        const struct pf_graph_item *item = &branch->items[i];
        const bool calls = graph->report->settings.order == PF_GRAPH_CALLER;
        uint64_t one;
        if (!calls && nodes[item->node].parent == graph->key_node) {
            *hits += item->hits;
            *samples += item->samples;
        }
        if (calls && pf_map_get(&graph->ends, item->node, &one) == item->complete) {
            *hits += nodes[item->node].self;
            *samples += counts_of(graph, item->node).self;
        }
        if (calls)
            add_apart(graph, item, hits, samples);
    }
}

static size_t count_frames(const struct pf_graph_item *items, size_t count)
{
    size_t frames = 0;
    for (size_t i = 0; i < count; i++)
        frames += i == 0 || items[i].frame != items[i - 1].frame;
    return frames;
}

static size_t fill_branches(struct pf_graph_branch *branches, struct pf_graph_item *items, size_t count)
{
    size_t made = 0;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || items[i].frame != items[i - 1].frame)
            branches[made++] = (struct pf_graph_branch){.frame = items[i].frame, .items = &items[i]};
        branches[made - 1].hits += items[i].hits;
        branches[made - 1].samples += items[i].samples;
        branches[made - 1].item_count++;
    }
    return made;
}

/* How many are shown. In a fractal graph the limit is a share of the branch. */
static size_t count_shown(struct pf_graph *graph, const struct pf_graph_branch *branches, size_t count)
{
    const struct pf_report *report = graph->report;
    uint64_t min = graph->min;
    size_t shown = 0;
    for (size_t i = 0; i < count; i++)
        graph->level_hits += branches[i].hits, graph->level_samples += branches[i].samples;
    if (report->settings.fractal)
        min = (uint64_t)ceil((double)graph->level_hits * (report->settings.graph_limit_percent / 100.0));
    while (shown < count && branches[shown].hits >= min)
        shown++;
    return shown;
}

bool pf_graph_expand(struct pf_graph *graph, const struct pf_graph_branch *branch, struct pf_graph_branch **branches,
                     size_t *count)
{
    size_t item_count = 0;
    *branches = NULL;
    *count = 0;
    graph->level_hits = graph->level_samples = 0;
    if (graph->empty)
        return true;
    if (branch ? !push_next(graph, &item_count, branch) : !push_first(graph, &item_count))
        return false;
    if (!item_count)
        return true;
    item_count = join_items(graph->items, item_count);
    struct pf_graph_item *items = pf_arena_new(&graph->arena, item_count * sizeof(*items));
    *branches = pf_arena_new(&graph->arena, count_frames(graph->items, item_count) * sizeof(**branches));
    if (!items || !*branches)
        return false;
    memcpy(items, graph->items, item_count * sizeof(*items));
    *count = fill_branches(*branches, items, item_count);
    pf_platform_sort(*branches, *count, sizeof(**branches), compare_branches, graph->report->profile);
    *count = count_shown(graph, *branches, *count);
    return true;
}
