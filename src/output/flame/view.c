/* SPDX-License-Identifier: MIT */
/* From frames to names: labels, equal ones merged, everything in byte order. */
#include "output/flame/flame.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/diff/names.h"
#include "analysis/label.h"
#include "base/work_parts.h"
#include "platform/platform.h"

struct entry {
    const char *text;
    size_t frame; /* of the set, and after those, of `before` */
    uint8_t kind;
};

struct rank {
    const char *text;
    uint32_t position; /* odd: a ';' follows */
};

static const char *suffix_of(uint8_t kind)
{
    return kind == PF_FLAME_KERNEL ? "_[k]" : kind == PF_FLAME_INLINED ? "_[i]" : kind == PF_FLAME_JIT ? "_[j]" : "";
}

static const char *bottom_name(struct pf_arena *arena, const struct pf_flame_frame *frame,
                               const struct pf_flame_view_options *options)
{
    char ids[32] = "";
    if (frame->kind == PF_FLAME_THREAD && frame->by == PF_FLAME_BY_PID)
        snprintf(ids, sizeof(ids), "-%u", frame->pid);
    else if (frame->kind == PF_FLAME_THREAD && frame->by == PF_FLAME_BY_TID)
        snprintf(ids, sizeof(ids), "-%u/%u", frame->pid, frame->tid);
    char *name = pf_label_make(arena, frame->name, NULL, sizeof(ids));
    if (name && (options->one_line || !options->names.raw))
        name = pf_label_one_line(arena, name, sizeof(ids), true);
    return name ? strcat(name, ids) : NULL;
}

static const char *frame_name(struct pf_arena *arena, const struct pf_flame_frame *frame,
                              const struct pf_flame_view_options *options)
{
    if (frame->kind >= PF_FLAME_THREAD)
        return bottom_name(arena, frame, options);
    const char *suffix = options->names.annotate ? suffix_of(frame->kind) : "";
    char *name = pf_label_make(arena, frame->name, frame->module, strlen(suffix));
    if (name && options->before.set)
        pf_diff_function_name(name, name); /* of another build */
    if (name && (options->one_line || !options->names.raw))
        name = pf_label_one_line(arena, name, strlen(suffix), false);
    if (!name)
        return NULL;
    if (!options->names.raw && pf_label_is_named(frame->name))
        pf_label_tidy(name, frame->kind == PF_FLAME_JIT);
    return strcat(name, suffix);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    int order = strcmp(a->text, b->text);
    return order ? order : (a->kind > b->kind) - (a->kind < b->kind);
}

/* The byte at `i` of the line's piece: the name, then ';' when more follows. */
static int byte_at(const struct rank *rank, size_t length, size_t i)
{
    return i < length ? (unsigned char)rank->text[i] : i == length && rank->position & 1 ? ';' : 0;
}

static int compare_ranks(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;
    size_t same = 0;
    while (a->text[same] && a->text[same] == b->text[same])
        same++;
    size_t length_a = same + strlen(a->text + same), length_b = same + strlen(b->text + same);
    int byte = byte_at(a, length_a, same) - byte_at(b, length_b, same);
    return byte ? byte : byte_at(a, length_a, same + 1) - byte_at(b, length_b, same + 1);
}

static int make_ranks(struct pf_flame_view *view)
{
    size_t count = view->name_count * 2;
    struct rank *sorted = pf_new(view->allocator, (count + 1) * sizeof(*sorted));
    view->ranks = pf_new(view->allocator, (count + 1) * sizeof(*view->ranks));
    if (sorted && view->ranks) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = (struct rank){view->names[i / 2], (uint32_t)i};
        qsort(sorted, count, sizeof(*sorted), compare_ranks);
        for (size_t i = 0; i < count; i++)
            view->ranks[sorted[i].position] = (uint32_t)i;
    }
    pf_free(view->allocator, sorted, (count + 1) * sizeof(*sorted));
    return sorted && view->ranks ? 0 : PERFILE_ERROR_MEMORY;
}

static bool name_frames(struct pf_arena *arena, const struct pf_flame_set *set,
                        const struct pf_flame_view_options *options, struct entry *entries)
{
    for (size_t i = 0; i < set->frame_count; i++) {
        uint8_t kind = options->by_kind && set->frames[i].kind < PF_FLAME_KINDS ? set->frames[i].kind : 0;
        entries[i] = (struct entry){frame_name(arena, &set->frames[i], options), i, kind};
        if (!entries[i].text)
            return false;
    }
    return true;
}

/* Fills names, kinds, shared and name_of: the name of each frame. */
static void number_names(struct pf_flame_view *view, struct entry *entries, size_t count, uint32_t *name_of)
{
    if (count)
        qsort(entries, count, sizeof(*entries), compare_entries);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || compare_entries(&entries[i - 1], &entries[i]) != 0) {
            view->kinds[view->name_count] = entries[i].kind;
            view->names[view->name_count++] = entries[i].text;
        } else {
            view->shared[view->name_count - 1] = true;
        }
        name_of[entries[i].frame] = (uint32_t)view->name_count - 1;
    }
}

static int make_names(struct pf_flame_view *view, const struct pf_flame_set *set,
                      const struct pf_flame_view_options *options, uint32_t *name_of)
{
    size_t mine = set->frame_count, count = mine + (options->before.set ? options->before.set->frame_count : 0);
    struct entry *entries = pf_new(view->allocator, (count + 1) * sizeof(*entries));
    view->names = pf_arena_new(&view->arena, (count + 1) * sizeof(*view->names));
    view->kinds = pf_arena_new(&view->arena, count + 1);
    view->shared = pf_arena_new(&view->arena, count + 1);
    bool fine =
        entries && view->names && view->kinds && view->shared && name_frames(&view->arena, set, options, entries);
    if (fine && options->before.set) {
        fine = name_frames(&view->arena, options->before.set, options, entries + mine);
        for (size_t i = mine; i < count; i++)
            entries[i].frame = i;
    }
    if (fine)
        number_names(view, entries, count, name_of);
    pf_free(view->allocator, entries, (count + 1) * sizeof(*entries));
    return fine ? make_ranks(view) : PERFILE_ERROR_MEMORY;
}

/* The names of a tree's frames. */
struct naming {
    const uint32_t *name_of; /* of frames of its set */
    size_t plain_count;
};

static uint32_t name_at(const struct naming *naming, uint32_t frame)
{
    return naming->name_of[frame & PF_FLAME_BOTTOM ? (frame & ~PF_FLAME_BOTTOM) + naming->plain_count : frame];
}

/*
 * The node of the view that a child becomes; 0 when out of memory. Most names belong to one frame: below those, as far
 * as that goes from the root, every child is a new node, and none has to be searched for. Notes mark the others.
 */
static uint32_t map_child(struct pf_flame_view *view, uint32_t parent, uint32_t name)
{
    const bool joined = view->shared[name] || view->tree.nodes[parent].note;
    const uint32_t node = (joined ? pf_tree_child : pf_tree_append)(&view->tree, parent, name);
    if (node)
        view->tree.nodes[node].note = joined;
    return node;
}

/* Which node of the view a node of the tree becomes; the weight goes into `add`, if any. */
static int map_nodes(struct pf_flame_view *view, const struct pf_tree *tree, const struct naming *naming, bool add,
                     uint32_t *position_of)
{
    position_of[0] = 0;
    for (size_t i = 1; i < tree->count; i++) {
        const struct pf_tree_node *node = &tree->nodes[i];
        position_of[i] = map_child(view, position_of[node->parent], name_at(naming, node->frame));
        if (!position_of[i])
            return PERFILE_ERROR_MEMORY;
    }
    for (size_t i = 0; add && i < tree->count; i++) {
        view->tree.nodes[position_of[i]].self += tree->nodes[i].self;
        view->tree.nodes[position_of[i]].samples += tree->nodes[i].samples;
    }
    return 0;
}

/* The same with each stack turned round. Nodes without weight of their own end nowhere: they become the root. */
static int map_reversed(struct pf_flame_view *view, const struct pf_tree *tree, const struct naming *naming, bool add,
                        uint32_t *position_of)
{
    for (size_t i = 0; i < tree->count; i++) {
        uint32_t position = 0;
        for (size_t at = i; at && tree->nodes[i].self; at = tree->nodes[at].parent) {
            position = pf_tree_child(&view->tree, position, name_at(naming, tree->nodes[at].frame));
            if (!position)
                return PERFILE_ERROR_MEMORY;
        }
        position_of[i] = position;
        if (add) {
            view->tree.nodes[position].self += tree->nodes[i].self;
            view->tree.nodes[position].samples += tree->nodes[i].samples;
        }
    }
    return 0;
}

/* Makes the tree the view's in its own memory: each node stays at its position or moves forward. */
static int take_nodes(struct pf_flame_view *view, const struct naming *naming, uint32_t *position_of)
{
    const size_t count = view->tree.count;
    struct pf_tree_node *nodes = view->tree.nodes;
    pf_tree_restart(&view->tree);
    position_of[0] = 0;
    for (size_t i = 1; i < count; i++) {
        const struct pf_tree_node node = nodes[i];
        position_of[i] = map_child(view, position_of[node.parent], name_at(naming, node.frame));
        if (!position_of[i])
            return PERFILE_ERROR_MEMORY;
        nodes[position_of[i]].self += node.self;
        nodes[position_of[i]].samples += node.samples;
    }
    return 0;
}

/* Each name is that of one frame: nodes stay what they are. */
struct renaming {
    struct pf_tree *tree;
    const struct naming *naming;
};

enum { PART_NODES = 65536 };

static void rename_part(void *context, size_t part)
{
    const struct renaming *renaming = context;
    const size_t end = pf_min_size((part + 1) * PART_NODES, renaming->tree->count);
    for (size_t i = pf_max(part * PART_NODES, 1); i < end; i++) {
        struct pf_tree_node *node = &renaming->tree->nodes[i];
        node->frame = name_at(renaming->naming, node->frame);
    }
}

static void rename_nodes(struct pf_flame_view *view, const struct naming *naming)
{
    struct renaming renaming = {&view->tree, naming};
    const struct pf_work_parts parts = {rename_part, &renaming, (view->tree.count + PART_NODES - 1) / PART_NODES,
                                        view->threads};
    pf_work_parts_do(&parts, view->allocator);
}

static bool shares_names(const struct pf_flame_view *view)
{
    for (size_t i = 0; i < view->name_count; i++)
        if (view->shared[i])
            return true;
    return false;
}

static int take_tree(struct pf_flame_view *view, struct pf_tree *tree, const struct naming *naming)
{
    const size_t bytes = (tree->count + 1) * sizeof(uint32_t);
    pf_tree_close(&view->tree);
    view->tree = *tree;
    *tree = (struct pf_tree){.allocator = tree->allocator};
    if (!shares_names(view)) {
        rename_nodes(view, naming);
        return 0;
    }
    uint32_t *position_of = pf_new(view->allocator, bytes);
    if (!position_of)
        return PERFILE_ERROR_MEMORY;
    const int result = take_nodes(view, naming, position_of);
    pf_free(view->allocator, position_of, bytes);
    return result;
}

static int weigh_before(struct pf_flame_view *view, const struct pf_tree *tree, const uint32_t *position_of)
{
    const size_t count = view->tree.count;
    view->before = pf_new(view->allocator, count * sizeof(*view->before));
    view->before_self = pf_new(view->allocator, count * sizeof(*view->before_self));
    if (!view->before || !view->before_self)
        return PERFILE_ERROR_MEMORY;
    for (size_t i = 0; i < tree->count; i++)
        view->before_self[position_of[i]] += tree->nodes[i].self;
    memcpy(view->before, view->before_self, count * sizeof(*view->before));
    for (size_t i = count; i-- > 1;)
        view->before[view->tree.nodes[i].parent] += view->before[i];
    return 0;
}

static int map_tree(struct pf_flame_view *view, const struct pf_tree *tree, const struct naming *naming,
                    const struct pf_flame_view_options *options, bool differs)
{
    size_t bytes = (tree->count + 1) * sizeof(uint32_t);
    uint32_t *position_of = pf_new(view->allocator, bytes);
    if (!position_of)
        return PERFILE_ERROR_MEMORY;
    int result = (options->reverse ? map_reversed : map_nodes)(view, tree, naming, !differs, position_of);
    if (result == 0 && differs)
        result = weigh_before(view, tree, position_of);
    pf_free(view->allocator, position_of, bytes);
    return result;
}

/* first[p + 1] - first[p] is how many children p has. */
static bool make_first(struct pf_flame_view *view)
{
    size_t count = view->tree.count;
    view->first = pf_new(view->allocator, (count + 1) * sizeof(*view->first));
    if (!view->first)
        return false;
    for (size_t i = 1; i < count; i++)
        view->first[view->tree.nodes[i].parent + 1]++;
    for (size_t i = 0; i < count; i++)
        view->first[i + 1] += view->first[i];
    return true;
}

/* By parent. */
static bool list_children(struct pf_flame_view *view)
{
    const size_t count = view->tree.count, bytes = count * sizeof(uint32_t);
    uint32_t *next = pf_new(view->allocator, bytes);
    view->children = pf_new(view->allocator, bytes);
    if (next && view->children) {
        memcpy(next, view->first, bytes);
        for (size_t i = 1; i < count; i++)
            view->children[next[view->tree.nodes[i].parent]++] = (uint32_t)i;
    }
    pf_free(view->allocator, next, bytes);
    return next && view->children;
}

static bool make_sizes(struct pf_flame_view *view)
{
    view->sizes = pf_new(view->allocator, view->tree.count * sizeof(*view->sizes));
    for (size_t i = view->tree.count; view->sizes && i-- > 1;)
        view->sizes[view->tree.nodes[i].parent] += ++view->sizes[i];
    return view->sizes;
}

/* What is made of the nodes alone, side by side. */
struct making {
    struct pf_flame_view *view;
    bool sums, sizes;
    bool made[2];
};

static void make_part(void *context, size_t part)
{
    struct making *making = context;
    struct pf_flame_view *view = making->view;
    if (part)
        making->made[part] = make_first(view) && list_children(view);
    else
        making->made[part] = (!making->sums || pf_tree_sum(&view->tree)) && (!making->sizes || make_sizes(view));
}

static bool make_parts(struct making *making)
{
    const struct pf_work_parts parts = {make_part, making, PF_COUNT(making->made), making->view->threads};
    pf_work_parts_do(&parts, making->view->allocator);
    return making->made[0] && making->made[1];
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

struct sorting {
    const struct pf_flame_view *view;
    unsigned which;
    uint32_t *children;
};

enum { SORTED_PARENTS = 16384 }; /* in a part */

static uint32_t rank_of(const struct sorting *sorting, uint32_t node)
{
    return sorting->view->ranks[2 * sorting->view->tree.nodes[node].frame + sorting->which];
}

/* Of one parent all ranks are different. */
static int compare_children(const void *left, const void *right, void *sorting)
{
    const uint32_t a = rank_of(sorting, *(const uint32_t *)left), b = rank_of(sorting, *(const uint32_t *)right);
    return (a > b) - (a < b);
}

static void sort_children(const struct sorting *sorting, uint32_t *children, size_t count)
{
    enum { FEW = 8 };
    if (count > FEW) {
        pf_platform_sort(children, count, sizeof(*children), compare_children, (void *)(uintptr_t)sorting);
        return;
    }
    for (size_t i = 1; i < count; i++) {
        const uint32_t child = children[i], rank = rank_of(sorting, child);
        size_t at = i;
        for (; at > 0 && rank_of(sorting, children[at - 1]) > rank; at--)
            children[at] = children[at - 1];
        children[at] = child;
    }
}

static void sort_part(void *context, size_t part)
{
    const struct sorting *sorting = context;
    const uint32_t *first = sorting->view->first;
    const size_t start = part * SORTED_PARENTS, end = pf_min(start + SORTED_PARENTS, sorting->view->tree.count);
    for (size_t i = start; i < end; i++)
        if (first[i + 1] - first[i] > 1)
            sort_children(sorting, sorting->children + first[i], first[i + 1] - first[i]);
}

static void sort_all(const struct pf_flame_view *view, unsigned which, uint32_t *children)
{
    struct sorting sorting = {.view = view, .which = which, .children = children};
    const struct pf_work_parts parts = {sort_part, &sorting, (view->tree.count + SORTED_PARENTS - 1) / SORTED_PARENTS,
                                        view->threads};
    pf_work_parts_do(&parts, view->allocator);
}

uint32_t *pf_flame_view_leaves(const struct pf_flame_view *view)
{
    const size_t bytes = view->tree.count * sizeof(uint32_t);
    uint32_t *leaves = pf_new(view->allocator, bytes);
    if (!leaves)
        return NULL;
    memcpy(leaves, view->children, bytes);
    sort_all(view, 0, leaves);
    return leaves;
}

/*
 * ---- the view
 * --------------------------------------------------------------------------------------------------------
 */

static bool takes_tree(const struct pf_flame_view_options *options)
{
    return options->means.tree && !options->reverse && !options->before.set;
}

static int make_nodes(struct pf_flame_view *view, const struct pf_flame_set *set, uint32_t event,
                      const struct pf_flame_view_options *options, const uint32_t *name_of)
{
    const struct pf_flame_event *now = &set->events[event];
    const struct naming naming = {name_of, set->plain_count};
    return takes_tree(options) ? take_tree(view, options->means.tree, &naming)
                               : map_tree(view, now->tree, &naming, options, false);
}

static int make_before(struct pf_flame_view *view, const struct pf_flame_before *with,
                       const struct pf_flame_view_options *options, const uint32_t *name_of)
{
    const struct pf_flame_event *before = &with->set->events[with->event];
    const struct naming naming = {name_of, with->set->plain_count};
    const int result = map_tree(view, before->tree, &naming, options, true);
    view->before_total = result == 0 ? pf_max(before->total, view->before[0]) : 0;
    return result;
}

static int make_tree(struct pf_flame_view *view, const struct pf_flame_set *set, uint32_t event,
                     const struct pf_flame_view_options *options, const uint32_t *name_of)
{
    const bool sums = options->sums || options->before.set;
    view->threads = set->events[event].tree->count < PF_FLAME_THREAD_NODES ? 1 : options->means.threads;
    int result = make_nodes(view, set, event, options, name_of);
    if (result == 0 && options->before.set)
        result = make_before(view, &options->before, options, name_of + set->frame_count);
    struct making making = {.view = view, .sums = sums, .sizes = options->sizes && view->threads > 1};
    if (result != 0)
        return result;
    if (!make_parts(&making))
        return PERFILE_ERROR_MEMORY;
    view->total = sums ? pf_max(set->events[event].total, view->tree.totals[0]) : 0;
    sort_all(view, 1, view->children);
    return 0;
}

int pf_flame_view_open(struct pf_flame_view *view, const struct perfile_allocator *allocator,
                       const struct pf_flame_set *set, uint32_t event, const struct pf_flame_view_options *options)
{
    size_t frames = set->frame_count + (options->before.set ? options->before.set->frame_count : 0);
    *view = (struct pf_flame_view){.allocator = allocator};
    pf_arena_open(&view->arena, allocator);
    int result = pf_tree_open(&view->tree, allocator);
    uint32_t *name_of = pf_new(allocator, (frames + 1) * sizeof(*name_of));
    if (result == 0 && !name_of)
        result = PERFILE_ERROR_MEMORY;
    if (result == 0)
        result = make_names(view, set, options, name_of);
    if (result == 0)
        result = make_tree(view, set, event, options, name_of);
    pf_free(allocator, name_of, (frames + 1) * sizeof(*name_of));
    if (result != 0)
        pf_flame_view_close(view);
    return result;
}

void pf_flame_view_close(struct pf_flame_view *view)
{
    const struct perfile_allocator *allocator = view->allocator;
    pf_free(allocator, view->ranks, (view->name_count * 2 + 1) * sizeof(*view->ranks));
    pf_free(allocator, view->children, view->tree.count * sizeof(*view->children));
    pf_free(allocator, view->sizes, view->tree.count * sizeof(*view->sizes));
    pf_free(allocator, view->first, (view->tree.count + 1) * sizeof(*view->first));
    pf_free(allocator, view->before, view->tree.count * sizeof(*view->before));
    pf_free(allocator, view->before_self, view->tree.count * sizeof(*view->before_self));
    pf_tree_close(&view->tree);
    pf_arena_close(&view->arena);
    *view = (struct pf_flame_view){.allocator = allocator};
}

double pf_flame_view_scale(const struct pf_flame_view *view, const struct pf_flame_before *before)
{
    return before->normalized && view->before_total ? (double)view->total / (double)view->before_total : 1;
}

bool pf_flame_event_find(const struct pf_flame_set *set, const char *name, uint32_t *event)
{
    for (*event = 0; *event < set->event_count; ++*event)
        if (strcmp(set->events[*event].name, name) == 0)
            return true;
    return false;
}
