/* SPDX-License-Identifier: MIT */
/* The rows of a report, read off the tree of all stacks: what each weighs, and in which nodes it is. */
#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/work_parts.h"
#include "base/stages.h"

enum {
    NO_NUMBER = UINT32_MAX,
    THREAD_NODES = 65536, /* below that threads take longer to start than to work */
};

/* Sums up the tree and links its nodes, both from the last one on: children in the order they were made. */
static bool link_nodes(struct pf_report *report)
{
    enum { NODES_AHEAD = 16 };
    struct pf_tree *tree = &report->chains.tree;
    struct pf_report_link *links = report->chains.links = pf_new(report->allocator, tree->count * sizeof(*links));
    uint64_t *totals = tree->totals = pf_new(report->allocator, tree->count * sizeof(*totals));
    report->chains.link_count = links ? tree->count : 0;
    tree->total_capacity = totals ? tree->count : 0;
    if (!links || !totals)
        return false;
    for (uint32_t node = (uint32_t)tree->count - 1; node; node--) {
        const uint32_t parent = tree->nodes[node].parent, ahead = node > NODES_AHEAD ? node - NODES_AHEAD : 0;
        __builtin_prefetch(&totals[tree->nodes[ahead].parent], 1);
        __builtin_prefetch(&links[tree->nodes[ahead].parent], 1);
        totals[node] += tree->nodes[node].self;
        totals[parent] += totals[node];
        links[node].sibling = links[parent].child;
        links[parent].child = node;
    }
    totals[0] += tree->nodes[0].self;
    return pf_report_sum_latencies(report);
}

/* The heaviest children first, of one class in the order they were made. */
static void order_children(const struct pf_report *report, uint32_t parent)
{
    struct pf_report_link *links = report->chains.links;
    uint32_t first[PF_REPORT_WEIGHTS] = {0}, last[PF_REPORT_WEIGHTS], *end = &links[parent].child;
    unsigned lowest = PF_REPORT_WEIGHTS, highest = 0;
    for (uint32_t node = *end; node; node = links[node].sibling) {
        const unsigned class = pf_report_weight_class(report->chains.tree.totals[node]);
        *(first[class] ? &links[last[class]].sibling : &first[class]) = node;
        last[class] = node;
        lowest = class < lowest ? class : lowest;
        highest = class > highest ? class : highest;
    }
    for (unsigned class = highest + 1; class -- > lowest;) {
        if (!first[class])
            continue;
        *end = first[class];
        end = &links[last[class]].sibling;
    }
    *end = 0;
}

enum { ORDERED_PARENTS = 65536 }; /* in a part */

static void order_part(void *context, size_t part)
{
    const struct pf_report *report = context;
    const size_t end = pf_min_size((part + 1) * ORDERED_PARENTS, report->chains.link_count);
    for (size_t parent = part * ORDERED_PARENTS; parent < end; parent++) {
        const uint32_t child = report->chains.links[parent].child;
        if (child && report->chains.links[child].sibling)
            order_children(report, (uint32_t)parent);
    }
}

static void order_nodes(struct pf_report *report, unsigned threads)
{
    const struct pf_work_parts parts = {order_part, report,
                                        (report->chains.link_count + ORDERED_PARENTS - 1) / ORDERED_PARENTS, threads};
    pf_work_parts_do(&parts, report->allocator);
}

/* Where a walk over the tree stands, one of these for each frame of the way down. */
struct step {
    uint32_t row;
    uint32_t height; /* longest way on from here, in frames */
};

/* A walk over the stacks below one key: no other has to do with its rows. */
struct walk {
    struct pf_report *report;
    uint32_t key_node; /* 0 means none */
    uint32_t node;
    uint32_t depth; /* in frames; 0 at the node of the key */
    struct pf_report_row *rows;
    size_t row_count, row_capacity;
    uint32_t *row_of; /* by frame: row + 1; the worker's */
    uint32_t *inner;  /* by row: its node that is entered, deepest */
    size_t inner_capacity;
    struct step *steps; /* by depth */
    size_t step_capacity;
    bool enough;
};

static size_t location_of_frame(const struct pf_report *report, uint32_t frame)
{
    return report->layout.by_frame ? frame : 0;
}

static uint32_t row_at(struct walk *walk, uint32_t node)
{
    const struct pf_report *report = walk->report;
    const uint32_t frame = report->layout.by_frame
                               ? report->rows.same[report->chains.tree.nodes[node].frame & ~PF_REPORT_APART]
                               : PF_NO_SYMBOL;
    uint32_t *number = &walk->row_of[location_of_frame(report, frame)];
    if (*number) {
        struct pf_report_row *known = &walk->rows[*number - 1];
        known->first = known->first < node ? known->first : node;
        return *number - 1;
    }
    if (!pf_grow(report->allocator, &walk->rows, &walk->row_capacity, walk->row_count + 1, sizeof(*walk->rows)) ||
        walk->row_count >= NO_NUMBER - 1)
        return NO_NUMBER;
    const uint32_t row = (uint32_t)walk->row_count++;
    walk->rows[row] =
        (struct pf_report_row){.key = report->chains.tree.nodes[walk->key_node].frame, .frame = frame, .first = node};
    *number = row + 1;
    return row;
}

static void note_longest(struct pf_report_row *row, uint32_t depth)
{
    if (row->depth < depth)
        row->depth = depth & 0xffffff;
}

static uint32_t frames_in(const struct pf_report *report, uint32_t node)
{
    return !(report->chains.tree.nodes[node].frame & PF_REPORT_APART);
}

/* On the way down a node counts for its row, once a stack. */
static void enter_node(struct pf_report *report, struct pf_report_row *row, uint32_t node, uint32_t outer,
                       uint32_t depth)
{
    const struct pf_tree_node *at = &report->chains.tree.nodes[node];
    report->chains.links[node].outer = outer;
    report->chains.links[node].next = row->nodes;
    row->nodes = node;
    row->self += at->self;
    row->samples += at->samples;
    if (!outer)
        row->children += report->chains.tree.totals[node];
    if (report->settings.order == PF_GRAPH_CALLEE || at->samples)
        note_longest(row, depth - !frames_in(report, node));
}

static bool walk_in(struct walk *walk)
{
    struct pf_report *report = walk->report;
    if (walk->depth == 0)
        return true;
    const uint32_t row = row_at(walk, walk->node);
    if (row == NO_NUMBER || !PF_HAS_ELEMENT(report->allocator, walk->inner, walk->inner_capacity, row) ||
        !pf_grow(report->allocator, &walk->steps, &walk->step_capacity, (size_t)walk->depth + 1, sizeof(*walk->steps)))
        return false;
    walk->steps[walk->depth] = (struct step){.row = row, .height = frames_in(report, walk->node)};
    enter_node(report, &walk->rows[row], walk->node, walk->inner[row], walk->depth);
    walk->inner[row] = walk->node;
    return true;
}

static void walk_out(struct walk *walk)
{
    const struct pf_report *report = walk->report;
    const struct step *step = &walk->steps[walk->depth];
    walk->inner[step->row] = report->chains.links[walk->node].outer;
    if (report->settings.order == PF_GRAPH_CALLER)
        note_longest(&walk->rows[step->row], step->height);
    if (walk->depth > 1 && step[-1].height < step->height + 1)
        walk->steps[walk->depth - 1].height = step->height + 1;
}

/* To the next node, leaving those that are done. False at the end. */
static bool walk_on(struct walk *walk)
{
    const struct pf_report_link *links = walk->report->chains.links;
    if (links[walk->node].child) {
        walk->node = links[walk->node].child;
        walk->depth++;
        return true;
    }
    while (walk->depth) {
        walk_out(walk);
        if (links[walk->node].sibling) {
            walk->node = links[walk->node].sibling;
            return true;
        }
        walk->depth--;
        walk->node = walk->report->chains.tree.nodes[walk->node].parent;
    }
    return false;
}

/* The walks of all keys: those of several at a time. */
struct walks {
    struct pf_report *report;
    uint32_t next;                    /* node of a key; 0 means the end */
    uint32_t *row_of[PF_THREADS_MAX]; /* by worker, zero between two walks */
    size_t positions;                 /* in each of them */
    struct walk *walks;
    unsigned count;
};

static bool choose_key(void *context, void *item, unsigned worker)
{
    struct walks *all = context;
    struct walk *walk = item;
    (void)worker;
    walk->report = all->report;
    walk->key_node = walk->node = all->next;
    walk->depth = 0;
    walk->row_count = 0;
    if (all->next)
        all->next = all->report->chains.links[all->next].sibling;
    return all->next != 0;
}

static bool walk_key(void *context, void *item, unsigned worker)
{
    struct walks *all = context;
    struct walk *walk = item;
    const struct pf_report *report = all->report;
    if (!all->row_of[worker])
        all->row_of[worker] = pf_new(report->allocator, all->positions * sizeof(**all->row_of));
    walk->row_of = all->row_of[worker];
    walk->enough = walk->row_of;
    if (walk->key_node && walk->enough)
        do
            walk->enough = walk_in(walk);
        while (walk->enough && walk_on(walk));
    for (size_t i = 0; i < walk->row_count; i++)
        walk->row_of[location_of_frame(report, walk->rows[i].frame)] = 0;
    return true;
}

static void close_walks(struct walks *all)
{
    const struct perfile_allocator *allocator = all->report->allocator;
    for (unsigned i = 0; i < all->count; i++) {
        const struct walk *walk = &all->walks[i];
        pf_free(allocator, walk->rows, walk->row_capacity * sizeof(*walk->rows));
        pf_free(allocator, walk->inner, walk->inner_capacity * sizeof(*walk->inner));
        pf_free(allocator, walk->steps, walk->step_capacity * sizeof(*walk->steps));
    }
    for (size_t i = 0; i < PF_THREADS_MAX; i++)
        pf_free(allocator, all->row_of[i], all->positions * sizeof(**all->row_of));
    pf_free(allocator, all->walks, all->count * sizeof(*all->walks));
}

/* The smaller part moves to the larger one: most rows may be of one key. */
static void swap_rows(struct pf_report *report, struct walk *walk)
{
    struct pf_report_row *rows = report->rows.items;
    const size_t count = report->rows.count, capacity = report->rows.capacity;
    memmove(walk->rows + count, walk->rows, walk->row_count * sizeof(*walk->rows));
    if (count)
        memcpy(walk->rows, rows, count * sizeof(*rows));
    report->rows.items = walk->rows;
    report->rows.capacity = walk->row_capacity;
    walk->rows = rows;
    walk->row_capacity = capacity;
}

static bool add_rows(struct pf_report *report, struct walk *walk)
{
    const size_t count = report->rows.count + walk->row_count;
    if (!walk->enough || walk->row_count >= NO_NUMBER - report->rows.count)
        return false;
    if (walk->row_count > report->rows.count) {
        if (!pf_grow(report->allocator, &walk->rows, &walk->row_capacity, count, sizeof(*walk->rows)))
            return false;
        swap_rows(report, walk);
    } else if (walk->row_count) {
        if (!pf_grow(report->allocator, &report->rows.items, &report->rows.capacity, count,
                     sizeof(*report->rows.items)))
            return false;
        memcpy(report->rows.items + report->rows.count, walk->rows, walk->row_count * sizeof(*walk->rows));
    }
    report->rows.count = count;
    return true;
}

/* Appends the rows of each key after those of the key before, in whatever order they are made. */
static bool walk_all(struct walks *all, unsigned threads)
{
    static const struct pf_stage stages[] = {{.work = choose_key}, {.work = walk_key, .parallel = true}};
    struct pf_report *report = all->report;
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = threads,
                                        .context = all,
                                        .items = all->walks,
                                        .item_bytes = sizeof(*all->walks),
                                        .item_count = all->count};
    struct pf_stages *running = pf_stages_open(&plan, report->allocator);
    struct walk *walk;
    bool enough = running;
    while (enough && (walk = pf_stages_next(running)))
        enough = add_rows(report, walk);
    pf_stages_close(running);
    return enough;
}

bool pf_report_make_rows(struct pf_report *report)
{
    const unsigned threads = report->chains.tree.count < THREAD_NODES ? 1 : report->options->threads;
    struct walks all = {.report = report, .positions = 1};
    if (report->layout.by_frame)
        all.positions += pf_profile_frame_count(report->profile);
    if (!link_nodes(report))
        return false;
    order_nodes(report, threads);
    all.next = report->chains.links[0].child;
    all.walks = pf_new(report->allocator, pf_stages_items(threads) * sizeof(*all.walks));
    all.count = all.walks ? pf_stages_items(threads) : 0;
    const bool enough = all.walks && walk_all(&all, threads);
    close_walks(&all);
    return enough;
}

static bool is_kernel(const struct pf_report *report, const struct pf_frame_info *frame)
{
    const struct pf_module *module = pf_symbols_module(report->symbols, frame->module);
    return module && module->kernel;
}

/* Samples say in which mode they were taken; of the frames above them only the module is known. */
static unsigned level_of(const struct pf_report *report, uint32_t node)
{
    const struct pf_tree_node *at = &report->chains.tree.nodes[node];
    const struct pf_frame_info *frame = pf_profile_frame(report->profile, at->frame & ~PF_REPORT_APART);
    if (!at->samples)
        return is_kernel(report, frame) ? 'k' : '.';
    switch (at->note >> PF_REPORT_TID_BITS) {
    case PERFILE_MISC_KERNEL:
        return 'k';
    case PERFILE_MISC_HYPERVISOR:
        return 'H';
    case PERFILE_MISC_GUEST_KERNEL:
        return 'g';
    case PERFILE_MISC_GUEST_USER:
        return 'u';
    default:
        return '.';
    }
}

void pf_report_set_levels(struct pf_report *report)
{
    for (size_t i = 0; i < report->rows.count; i++)
        report->rows.items[i].level = level_of(report, report->rows.items[i].first) & 0xff;
}

/* Rows of frames that no sample was in are for children only. */
void pf_report_drop_rows(struct pf_report *report)
{
    size_t kept = 0;
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct pf_frame_info *frame = pf_report_frame(report, &report->rows.items[i]);
        const bool hidden = report->settings.hides_unresolved && frame && !frame->name;
        if (!hidden && (report->settings.children || report->rows.items[i].samples))
            report->rows.items[kept++] = report->rows.items[i];
    }
    report->rows.count = kept;
}
