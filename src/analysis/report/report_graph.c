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

#include "analysis/report/graph.h"
#include "base/bytes.h"

struct pf_graph_item {
    uint32_t node;
    uint32_t frame;
    bool complete; /* only the samples that end in the row's function: their weight is in marks_of */
    uint64_t hits;
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

void pf_graphs_prepare(struct pf_report *report)
{
    for (uint32_t node = 0; node < report->chains.tree.count && !report->chains.marks; node++)
        report->chains.tree.nodes[node].mark = 0;
    report->chains.marks = true;
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
        }
}

/* Callee first: what has its last call of the function here. */
static void mark_innermost(struct pf_graph *graph)
{
    const struct pf_report *report = graph->report;
    for (uint32_t node = graph->row->nodes; node; node = report->chains.links[node].next) {
        const uint64_t weight =
            report->settings.children ? report->chains.tree.totals[node] : report->chains.tree.nodes[node].self;
        *mark_at(graph, node) += weight;
        if (report->settings.children && report->chains.links[node].outer)
            *mark_at(graph, report->chains.links[node].outer) -= weight;
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
}

void pf_graph_open(struct pf_graph *graph, struct pf_report *report, const struct pf_report_row *row)
{
    pf_graphs_prepare(report);
    pf_graph_open_apart(graph, report, row, NULL);
}

void pf_graph_close(struct pf_graph *graph)
{
    if (!graph->empty)
        unmark(graph);
    pf_free(graph->report->allocator, graph->items, graph->item_capacity * sizeof(*graph->items));
    pf_free(graph->report->allocator, graph->outermost, graph->outermost_capacity * sizeof(*graph->outermost));
    pf_arena_close(&graph->arena);
}

/* ---- one level ---- */

/* Graphs are of functions, also when the rows are of addresses. */
static uint32_t function_of(const struct pf_report *report, uint32_t frame)
{
    return report->layout.by_address ? pf_profile_frame(report->profile, frame & ~PF_REPORT_APART)->function : frame;
}

static bool push(struct pf_graph *graph, size_t *count, uint32_t node, bool complete, uint64_t hits)
{
    if (!hits)
        return true;
    if (!pf_grow(graph->report->allocator, &graph->items, &graph->item_capacity, *count + 1, sizeof(*graph->items)))
        return false;
    const uint32_t frame = function_of(graph->report, graph->report->chains.tree.nodes[node].frame);
    graph->items[(*count)++] = (struct pf_graph_item){node, frame, complete, hits};
    return true;
}

static uint64_t hits_of(const struct pf_graph *graph, uint32_t node, bool complete)
{
    return complete ? *mark_at(graph, node) : graph->report->chains.tree.totals[node] - *mark_at(graph, node);
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
            enough = push(graph, count, node, complete, hits);
    }
    return enough;
}

static bool push_parent(struct pf_graph *graph, size_t *count, uint32_t node, uint64_t hits)
{
    const uint32_t parent = graph->report->chains.tree.nodes[node].parent;
    return parent == graph->key_node || push(graph, count, parent, false, hits);
}

static bool push_outermost(struct pf_graph *graph, size_t *count)
{
    bool enough = !graph->short_of_memory;
    for (size_t i = 0; i < graph->outermost_count && enough; i++)
        if (!(graph->report->chains.tree.nodes[graph->outermost[i]].frame & PF_REPORT_APART))
            enough = push(graph, count, graph->outermost[i], true, *mark_at(graph, graph->outermost[i]));
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
                     push(graph, count, node, false, hits_of(graph, node, false));
        else if (apart)
            enough = push_parent(graph, count, node, *mark_at(graph, node));
        else
            enough = push(graph, count, node, false, *mark_at(graph, node));
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
            enough = push_parent(graph, count, item->node, item->hits);
    }
    return enough;
}

static int compare_items(const void *left, const void *right)
{
    const struct pf_graph_item *a = left, *b = right;
    if (a->frame != b->frame)
        return a->frame < b->frame ? -1 : 1;
    if (a->node != b->node)
        return a->node < b->node ? -1 : 1;
    return a->complete - b->complete;
}

/* Sorts the items and joins those of one node. */
static size_t join_items(struct pf_graph_item *items, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(items, count, sizeof(*items), compare_items);
    for (size_t i = 0; i < count; i++) {
        if (kept && compare_items(&items[kept - 1], &items[i]) == 0)
            items[kept - 1].hits += items[i].hits;
        else
            items[kept++] = items[i];
    }
    return kept;
}

/* Most hits first; of equal ones against the order of the code, as perf has it. */
static int compare_branches(const void *left, const void *right, void *context)
{
    const struct pf_profile *profile = context;
    const struct pf_graph_branch *a = left, *b = right;
    if (a->hits != b->hits)
        return a->hits > b->hits ? -1 : 1;
    const struct pf_frame_info *x = pf_profile_frame(profile, a->frame), *y = pf_profile_frame(profile, b->frame);
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->symbol != y->symbol)
        return x->symbol > y->symbol ? -1 : 1;
    return x->address == y->address ? 0 : x->address > y->address ? -1 : 1;
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
        graph->level_hits += branches[i].hits;
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
    graph->level_hits = 0;
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
    qsort_r(*branches, *count, sizeof(**branches), compare_branches, graph->report->profile);
    *count = count_shown(graph, *branches, *count);
    return true;
}
