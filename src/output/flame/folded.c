/* SPDX-License-Identifier: MIT */
/* Folded stacks: what stackcollapse-perf.pl makes of perf script's text, made of the tree. */
#include "output/flame/flame.h"

struct walk {
    const struct pf_flame_view *view;
    struct pf_text *text;
    double before_scale;
    struct pf_text prefix; /* "comm;main;" of the node whose children are at work */
    uint32_t *leaves;      /* children by the order of lines that end there */
    uint32_t *next_leaf;   /* by node: which of its children comes next, as the end of a line ... */
    uint32_t *next_parent; /* ... and as a part of longer ones */
};

static const char *name_of(const struct walk *walk, uint32_t node)
{
    return walk->view->names[walk->view->tree.nodes[node].frame];
}

static void put_line(const struct walk *walk, const char *name, uint32_t node)
{
    pf_put(walk->text, walk->prefix.data, walk->prefix.used);
    pf_put_string(walk->text, name);
    pf_put_char(walk->text, ' ');
    if (walk->view->before) {
        pf_put_unsigned(walk->text, walk->before_scale == 1
                                        ? walk->view->before_self[node]
                                        : (uint64_t)((double)walk->view->before_self[node] * walk->before_scale));
        pf_put_char(walk->text, ' ');
    }
    pf_put_unsigned(walk->text, walk->view->tree.nodes[node].self);
    pf_put_char(walk->text, '\n');
}

static bool has_line(const struct walk *walk, uint32_t node)
{
    return walk->view->tree.nodes[node].self || (walk->view->before && walk->view->before_self[node]);
}

static uint32_t peek_leaf(const struct walk *walk, uint32_t parent)
{
    uint32_t end = walk->view->first[parent + 1], *next = &walk->next_leaf[parent];
    while (*next < end && !has_line(walk, walk->leaves[*next]))
        ++*next;
    return *next < end ? walk->leaves[*next] : 0;
}

static uint32_t peek_parent(const struct walk *walk, uint32_t parent)
{
    uint32_t end = walk->view->first[parent + 1], *next = &walk->next_parent[parent];
    const uint32_t *children = walk->view->children, *first = walk->view->first;
    while (*next < end && first[children[*next]] == first[children[*next] + 1])
        ++*next;
    return *next < end ? children[*next] : 0;
}

/* All lines in byte order. The line of a stack and the lines of longer ones do not stand side by side: "a" < "a b;c" <
 * "a;b", so the two are walked in parallel. */
static void put_lines(struct walk *walk)
{
    const struct pf_tree_node *nodes = walk->view->tree.nodes;
    uint32_t at = 0;
    for (;;) {
        uint32_t leaf = peek_leaf(walk, at), parent = peek_parent(walk, at);
        if (leaf &&
            (!parent || walk->view->ranks[2 * nodes[leaf].frame] < walk->view->ranks[2 * nodes[parent].frame + 1])) {
            walk->next_leaf[at]++;
            put_line(walk, name_of(walk, leaf), leaf);
        } else if (parent) {
            walk->next_parent[at]++;
            at = parent;
            pf_put_string(&walk->prefix, name_of(walk, at));
            pf_put_char(&walk->prefix, ';');
        } else if (at) {
            walk->prefix.used -= strlen(name_of(walk, at)) + 1;
            at = nodes[at].parent;
        } else {
            return;
        }
        if (walk->text->failed || walk->prefix.failed)
            return;
    }
}

static int put_all(const struct pf_flame_view *view, double before_scale, struct pf_text *text)
{
    size_t bytes = view->tree.count * sizeof(uint32_t);
    struct walk walk = {.view = view, .text = text, .before_scale = before_scale};
    int result = pf_text_open(&walk.prefix, view->allocator, NULL, NULL);
    walk.leaves = pf_flame_view_sort(view, 0);
    walk.next_leaf = pf_new(view->allocator, bytes);
    walk.next_parent = pf_new(view->allocator, bytes);
    if (result == 0 && !(walk.leaves && walk.next_leaf && walk.next_parent))
        result = PERFILE_ERROR_MEMORY;
    if (result == 0) {
        memcpy(walk.next_leaf, view->first, bytes);
        memcpy(walk.next_parent, view->first, bytes);
        if (has_line(&walk, 0)) /* stacks of nothing */
            put_line(&walk, "[unknown]", 0);
        put_lines(&walk);
        result = text->failed ? text->failed : walk.prefix.failed;
    }
    pf_free(view->allocator, walk.next_parent, bytes);
    pf_free(view->allocator, walk.next_leaf, bytes);
    pf_free(view->allocator, walk.leaves, bytes);
    pf_text_close(&walk.prefix);
    return result;
}

int pf_flame_folded(const struct pf_flame_set *set, uint32_t event, const struct pf_folded_options *options,
                    struct pf_text *text)
{
    const struct pf_flame_view_options view_options = {
        .names = options->names, .one_line = true, .before = options->before};
    struct pf_flame_view view;
    int result = pf_flame_view_open(&view, text->allocator, set, event, &view_options);
    if (result == 0) {
        result = put_all(&view, pf_flame_view_scale(&view, &options->before), text);
        pf_flame_view_close(&view);
    }
    return result;
}
