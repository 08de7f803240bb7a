/* SPDX-License-Identifier: MIT */
/* Folded stacks: what stackcollapse-perf.pl makes of perf script's text, made of the tree. */
#include "output/flame/flame.h"

#include "base/stages.h"

/* Where a walk stands among the children of a node: */
struct step {
    uint32_t node;
    uint32_t next_leaf;   /* which of them comes next, as the end of a line ... */
    uint32_t next_parent; /* ... and as a part of longer ones */
    uint32_t end;
    size_t prefix_bytes; /* without its name */
};

struct walk {
    const struct pf_flame_view *view;
    const struct perfile_allocator *allocator;
    const uint32_t *leaves; /* children by the order of lines that end there */
    double before_scale;
    struct pf_text *text;
    struct pf_text prefix;  /* "comm;main;" of the node whose children are at work */
    struct step *steps;     /* down to it */
    size_t depth, capacity; /* 0: it is over */
    int failed;
};

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static const char *name_of(const struct walk *walk, uint32_t node)
{
    return walk->view->names[walk->view->tree.nodes[node].frame];
}

/* Scaled to the total of now; sums of hostile weights may be anything. */
static uint64_t weight_before(const struct walk *walk, uint32_t node)
{
    const uint64_t weight = walk->view->before_self[node];
    const double scaled = (double)weight * walk->before_scale;
    return walk->before_scale == 1 ? weight : scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

static void put_line(const struct walk *walk, const char *name, uint32_t node)
{
    pf_put(walk->text, walk->prefix.data, walk->prefix.used);
    pf_put_string(walk->text, name);
    pf_put_char(walk->text, ' ');
    if (walk->view->before) {
        pf_put_unsigned(walk->text, weight_before(walk, node));
        pf_put_char(walk->text, ' ');
    }
    pf_put_unsigned(walk->text, walk->view->tree.nodes[node].self);
    pf_put_char(walk->text, '\n');
}

static bool has_line(const struct walk *walk, uint32_t node)
{
    return walk->view->tree.nodes[node].self || (walk->view->before && walk->view->before_self[node]);
}

/* ---- walks ------------------------------------------------------------------------------------------------------- */

static int open_walk(struct walk *walk, const struct pf_flame_view *view, const uint32_t *leaves, double before_scale)
{
    *walk = (struct walk){.view = view, .allocator = view->allocator, .leaves = leaves, .before_scale = before_scale};
    return pf_text_open(&walk->prefix, view->allocator, NULL, NULL);
}

static void close_walk(struct walk *walk)
{
    if (!walk->view)
        return;
    pf_text_close(&walk->prefix);
    pf_free(walk->allocator, walk->steps, walk->capacity * sizeof(*walk->steps));
}

/* To the children of a node. */
static void enter(struct walk *walk, uint32_t node)
{
    const uint32_t *first = walk->view->first;
    if (!pf_grow(walk->allocator, &walk->steps, &walk->capacity, walk->depth + 1, sizeof(*walk->steps))) {
        walk->failed = PERFILE_ERROR_MEMORY;
        return;
    }
    walk->steps[walk->depth++] = (struct step){node, first[node], first[node], first[node + 1], walk->prefix.used};
    if (node) {
        pf_put_string(&walk->prefix, name_of(walk, node));
        pf_put_char(&walk->prefix, ';');
    }
}

static void leave(struct walk *walk)
{
    walk->prefix.used = walk->steps[--walk->depth].prefix_bytes;
}

static uint32_t peek_leaf(const struct walk *walk, struct step *step)
{
    while (step->next_leaf < step->end && !has_line(walk, walk->leaves[step->next_leaf]))
        step->next_leaf++;
    return step->next_leaf < step->end ? walk->leaves[step->next_leaf] : 0;
}

static uint32_t peek_parent(const struct walk *walk, struct step *step)
{
    const uint32_t *children = walk->view->children, *first = walk->view->first;
    while (step->next_parent < step->end &&
           first[children[step->next_parent]] == first[children[step->next_parent] + 1])
        step->next_parent++;
    return step->next_parent < step->end ? children[step->next_parent] : 0;
}

/*
 * What comes next, in byte order: a node that has a line, or one whose longer lines come now, which *enters then. The
 * line of a stack and the lines of longer ones do not stand side by side: "a" < "a b;c" < "a;b", so the two are walked
 * in parallel. 0: that was all below this node.
 */
static uint32_t next_node(const struct walk *walk, bool *enters)
{
    const struct pf_tree_node *nodes = walk->view->tree.nodes;
    const uint32_t *ranks = walk->view->ranks;
    struct step *step = &walk->steps[walk->depth - 1];
    const uint32_t leaf = peek_leaf(walk, step), parent = peek_parent(walk, step);
    *enters = !leaf || (parent && ranks[2 * nodes[leaf].frame] >= ranks[2 * nodes[parent].frame + 1]);
    if (*enters)
        step->next_parent++;
    else
        step->next_leaf++;
    return *enters ? parent : leaf;
}

static bool has_failed(const struct walk *walk)
{
    return walk->text->failed || walk->prefix.failed || walk->failed;
}

/* All lines below a node. */
static void put_lines(struct walk *walk, uint32_t node)
{
    bool enters;
    for (enter(walk, node); walk->depth && !has_failed(walk);) {
        const uint32_t next = next_node(walk, &enters);
        if (!next)
            leave(walk);
        else if (enters)
            enter(walk, next);
        else
            put_line(walk, name_of(walk, next), next);
    }
}

/* ---- pieces on several threads ----------------------------------------------------------------------------------- */

enum { PIECE_NODES = 16384 };

/* Lines that follow each other: those of one node each, or all that are below one. */
struct piece {
    uint32_t node;
    bool below;
};

struct job {
    struct piece *pieces;
    size_t count, capacity;
    struct walk walk;
    struct pf_text text;
};

struct jobs {
    struct walk top;       /* which only enters nodes that have too much below for one job */
    const uint32_t *sizes; /* of the view */
    struct job *jobs;
    unsigned count;
};

static uint32_t add_piece(struct jobs *all, struct job *job, uint32_t node, bool below)
{
    if (!pf_grow(all->top.allocator, &job->pieces, &job->capacity, job->count + 1, sizeof(*job->pieces))) {
        job->walk.failed = PERFILE_ERROR_MEMORY;
        return PIECE_NODES;
    }
    job->pieces[job->count++] = (struct piece){node, below};
    return below ? all->sizes[node] : 1;
}

static bool choose_pieces(void *context, void *item, unsigned worker)
{
    struct jobs *all = context;
    struct job *job = item;
    struct walk *top = &all->top;
    bool enters;
    (void)worker;
    job->count = 0;
    for (uint32_t nodes = 0; nodes < PIECE_NODES && top->depth && !top->failed && !top->prefix.failed;) {
        const uint32_t next = next_node(top, &enters);
        if (!next)
            leave(top);
        else if (enters && all->sizes[next] > PIECE_NODES)
            enter(top, next);
        else
            nodes += add_piece(all, job, next, enters);
    }
    job->walk.failed |= top->failed | top->prefix.failed;
    return top->depth && !job->walk.failed;
}

/* The prefix of lines that end in a child of this node. */
static void put_prefix(struct walk *walk, uint32_t node)
{
    const struct pf_tree_node *nodes = walk->view->tree.nodes;
    size_t depth = 0;
    for (uint32_t at = node; at; at = nodes[at].parent)
        depth++;
    if (!pf_grow(walk->allocator, &walk->steps, &walk->capacity, depth, sizeof(*walk->steps))) {
        walk->failed = PERFILE_ERROR_MEMORY;
        return;
    }
    for (uint32_t at = node; at; at = nodes[at].parent)
        walk->steps[--depth].node = at;
    for (walk->prefix.used = 0; node && (depth == 0 || walk->steps[depth - 1].node != node); depth++) {
        pf_put_string(&walk->prefix, name_of(walk, walk->steps[depth].node));
        pf_put_char(&walk->prefix, ';');
    }
}

static bool put_pieces(void *context, void *item, unsigned worker)
{
    struct job *job = item;
    struct walk *walk = &job->walk;
    uint32_t last = UINT32_MAX;
    (void)context;
    (void)worker;
    job->text.used = 0;
    walk->text = &job->text;
    for (size_t i = 0; i < job->count && !has_failed(walk); i++) {
        const uint32_t node = job->pieces[i].node, parent = walk->view->tree.nodes[node].parent;
        if (parent != last)
            put_prefix(walk, parent);
        last = parent;
        if (job->pieces[i].below)
            put_lines(walk, node);
        else
            put_line(walk, name_of(walk, node), node);
    }
    return true;
}

static int put_jobs(struct jobs *all, const struct pf_stages_plan *plan, struct pf_text *text)
{
    struct pf_stages *running = pf_stages_open(plan, all->top.allocator);
    const struct job *job;
    int result = running ? 0 : PERFILE_ERROR_MEMORY;
    while (result == 0 && (job = pf_stages_next(running)) != NULL) {
        pf_put_through(text, job->text.data, job->text.used);
        result = has_failed(&job->walk) ? PERFILE_ERROR_MEMORY : text->failed;
    }
    pf_stages_close(running);
    return result;
}

static bool open_jobs(struct jobs *all)
{
    const struct walk *top = &all->top;
    const unsigned count = pf_stages_items(top->view->threads);
    bool opened = true;
    all->jobs = pf_new(top->allocator, count * sizeof(*all->jobs));
    all->count = all->jobs ? count : 0;
    for (unsigned i = 0; i < all->count; i++)
        opened &= open_walk(&all->jobs[i].walk, top->view, top->leaves, top->before_scale) == 0 &&
                  pf_text_open(&all->jobs[i].text, top->allocator, NULL, NULL) == 0;
    return opened && all->jobs;
}

static void close_jobs(struct jobs *all)
{
    const struct perfile_allocator *allocator = all->top.allocator;
    for (unsigned i = 0; i < all->count; i++) {
        close_walk(&all->jobs[i].walk);
        if (all->jobs[i].text.allocator)
            pf_text_close(&all->jobs[i].text);
        pf_free(allocator, all->jobs[i].pieces, all->jobs[i].capacity * sizeof(*all->jobs[i].pieces));
    }
    pf_free(allocator, all->jobs, all->count * sizeof(*all->jobs));
    close_walk(&all->top);
}

static int put_together(const struct walk *walk, struct pf_text *text)
{
    static const struct pf_stage stages[] = {{.work = choose_pieces}, {.work = put_pieces, .parallel = true}};
    const struct pf_flame_view *view = walk->view;
    struct jobs all = {.sizes = view->sizes};
    int result = open_walk(&all.top, view, walk->leaves, walk->before_scale);
    if (result == 0 && !open_jobs(&all))
        result = PERFILE_ERROR_MEMORY;
    if (result == 0) {
        const struct pf_stages_plan plan = {.stages = stages,
                                            .stage_count = PF_COUNT(stages),
                                            .threads = view->threads,
                                            .context = &all,
                                            .items = all.jobs,
                                            .item_bytes = sizeof(*all.jobs),
                                            .item_count = all.count};
        enter(&all.top, 0);
        result = put_jobs(&all, &plan, text);
    }
    close_jobs(&all);
    return result;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int put_alone(struct walk *walk)
{
    put_lines(walk, 0);
    return walk->text->failed ? walk->text->failed : has_failed(walk) ? PERFILE_ERROR_MEMORY : 0;
}

static int put_all(const struct pf_flame_view *view, double before_scale, struct pf_text *text)
{
    uint32_t *leaves = pf_flame_view_leaves(view);
    struct walk walk = {.view = NULL};
    int result = leaves ? open_walk(&walk, view, leaves, before_scale) : PERFILE_ERROR_MEMORY;
    walk.text = text;
    if (result == 0 && has_line(&walk, 0)) /* stacks of nothing */
        put_line(&walk, "[unknown]", 0);
    if (result == 0)
        result = view->sizes ? put_together(&walk, text) : put_alone(&walk);
    close_walk(&walk);
    pf_free(view->allocator, leaves, view->tree.count * sizeof(*leaves));
    return result;
}

int pf_flame_folded(const struct pf_flame_set *set, uint32_t event, const struct pf_folded_options *options,
                    struct pf_text *text)
{
    const struct pf_flame_view_options view_options = {
        .names = options->names, .one_line = true, .sizes = true, .before = options->before, .means = options->means};
    struct pf_flame_view view;
    int result = pf_flame_view_open(&view, text->allocator, set, event, &view_options);
    if (result == 0) {
        result = put_all(&view, pf_flame_view_scale(&view, &options->before), text);
        pf_flame_view_close(&view);
    }
    return result;
}
