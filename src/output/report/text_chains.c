/* SPDX-License-Identifier: MIT */
/* Call graphs as lists of the stacks that end in them: flat, with a line for each function, or folded into one line. */
#include <stdlib.h>

#include "output/report/text.h"
#include "analysis/report/graph.h"

/* A step of a stack from the one before it. */
struct step {
    struct pf_graph_branch branch;
    uint64_t hits, samples; /* of the stacks that end here */
    size_t before;          /* in the list; SIZE_MAX: it is the first of its stack */
};

struct steps {
    const struct perfile_allocator *allocator;
    struct step *items;
    size_t count, capacity;
    size_t *next; /* to be expanded, the last one first */
    size_t next_count, next_capacity;
    size_t *path; /* of the stack that is printed */
    size_t path_capacity;
};

static void close_steps(struct steps *steps)
{
    pf_free(steps->allocator, steps->items, steps->capacity * sizeof(*steps->items));
    pf_free(steps->allocator, steps->next, steps->next_capacity * sizeof(*steps->next));
    pf_free(steps->allocator, steps->path, steps->path_capacity * sizeof(*steps->path));
}

/* The steps after one, in perf's order of code. */
static bool add_steps(struct steps *steps, struct pf_graph *graph, size_t before)
{
    struct pf_graph_branch *branches;
    size_t count;
    if (!pf_graph_expand(graph, before == SIZE_MAX ? NULL : &steps->items[before].branch, &branches, &count))
        return false;
    pf_graph_sort_by_code(graph, branches, count);
    for (size_t i = 0; i < count; i++) {
        struct step step = {.branch = branches[i], .before = before};
        pf_graph_ends(graph, &step.branch, &step.hits, &step.samples);
        if (!PF_APPEND(steps->allocator, steps->items, steps->count, steps->capacity, step) ||
            !PF_APPEND(steps->allocator, steps->next, steps->next_count, steps->next_capacity, steps->count - 1))
            return false;
    }
    return true;
}

struct chain {
    size_t step, position;
    uint64_t hits;
};

/* Most hits first; equal ones in the order in which perf meets their ends. */
static int compare_chains(const void *left, const void *right)
{
    const struct chain *a = left, *b = right;
    if (a->hits != b->hits)
        return a->hits > b->hits ? -1 : 1;
    return a->position > b->position ? -1 : 1;
}

static void put_value(struct pf_report_text *table, const struct step *step, uint64_t total)
{
    const bool folded = table->report->settings.shape == PF_GRAPH_FOLDED;
    pf_report_text_put_value(table, folded ? step->hits : step->branch.hits,
                             folded ? step->samples : step->branch.samples, total);
}

static bool put_chain(struct pf_report_text *table, struct steps *steps, size_t last, uint64_t total)
{
    const bool folded = table->report->settings.shape == PF_GRAPH_FOLDED;
    size_t count = 0;
    for (size_t at = last; at != SIZE_MAX; at = steps->items[at].before)
        if (!PF_APPEND(steps->allocator, steps->path, count, steps->path_capacity, at))
            return false;
    pf_put_string(table->out, folded ? "" : "           ");
    put_value(table, &steps->items[last], total);
    pf_put_char(table->out, folded ? ' ' : '\n');
    while (count--) {
        pf_put_string(table->out, folded ? "" : "                ");
        pf_report_text_put_frame(table, steps->items[steps->path[count]].branch.frame);
        pf_put_string(table->out, !folded ? "\n" : count ? ";" : "");
    }
    pf_put_char(table->out, '\n');
    return true;
}

/* All steps: of each stack the end comes before those that it goes on from, so that their order is that of perf. */
static bool find_steps(struct steps *steps, struct pf_graph *graph, struct chain **chains, size_t *count,
                       size_t *capacity)
{
    bool enough = add_steps(steps, graph, SIZE_MAX);
    for (size_t position = 0; enough && steps->next_count; position++) {
        const size_t at = steps->next[--steps->next_count];
        const struct chain chain = {at, position, steps->items[at].hits};
        if (chain.hits && chain.hits >= graph->min)
            enough = PF_APPEND(steps->allocator, *chains, *count, *capacity, chain);
        enough = enough && add_steps(steps, graph, at);
    }
    return enough;
}

bool pf_report_text_put_chains(struct pf_report_text *table, struct pf_graph *graph, uint64_t total)
{
    struct steps steps = {.allocator = table->report->allocator};
    struct chain *chains = NULL;
    size_t count = 0, capacity = 0;
    bool enough = find_steps(&steps, graph, &chains, &count, &capacity) && !graph->short_of_memory;
    if (count)
        qsort(chains, count, sizeof(*chains), compare_chains);
    for (size_t i = 0; i < count && enough && i < table->report->settings.max_branches; i++)
        enough = put_chain(table, &steps, chains[i].step, total);
    pf_free(steps.allocator, chains, capacity * sizeof(*chains));
    close_steps(&steps);
    return enough;
}
