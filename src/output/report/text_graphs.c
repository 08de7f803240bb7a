/* SPDX-License-Identifier: MIT */
/* Call graphs in the text of a report. */
#include <inttypes.h>
#include <pthread.h>

#include "output/report/text.h"
#include "analysis/report/graph.h"
#include "base/stages.h"
#include "output/output.h"

enum {
    MARGIN = 12,        /* of graphs */
    BRANCH_INDENT = 10, /* after the pipe of a branch */
    MAX_LEVELS = 256,   /* of branches in branches: deeper ones cannot be read any more */
    MAX_IN_RUN = 512,   /* frames, for the same reason */
    MAX_DRAWERS = 4,    /* threads that draw graphs: each but one may need 8 bytes for each node of the tree */
    DRAWER_ROWS = 8,    /* rows that are worth a thread */
    ROWS_AHEAD = 8,     /* graphs of a thread that may wait for their turn: the first ones take longest */
};

/* ---- call graphs ---- */

const char *pf_report_text_color(const struct pf_report_text *table, double percent)
{
    if (!table->report->options->color)
        return NULL;
    return percent >= 5.0 ? PF_RED : percent >= 0.5 ? PF_GREEN : NULL;
}

static void put_margin(struct pf_report_text *table)
{
    pf_put(table->out, table->margin.data, table->margin.used);
}

static void put_module(struct pf_text *out, const struct pf_module *module)
{
    pf_put_name_bytes(out, module->short_name, strnlen(module->short_name, 200));
    pf_put_char(out, '+');
}

/* In what the margin and a share leave of the line. */
static void put_fitted_name(struct pf_report_text *table, const struct pf_frame_info *frame)
{
    enum { SHARE = 12, MIN = 40 };
    const size_t used = table->margin.used + SHARE;
    table->cell.used = 0;
    pf_report_put_name(frame, &table->cell);
    pf_text_escape(&table->cell, 0);
    const struct pf_text *name = pf_report_text_fit(table, pf_max(table->screen - pf_min(table->screen, used), MIN));
    pf_put(table->out, name->data, name->used);
}

/* " a.c:12", or what stands for it without debug info. */
static void put_line(struct pf_report_text *table, const struct pf_frame_info *frame)
{
    const struct pf_frame_address *location = pf_frame_address(frame);
    if (table->report->settings.graph_key == PF_GRAPH_FUNCTION)
        return;
    if (location->file) {
        const char *slash = strrchr(location->file, '/');
        pf_put_char(table->out, ' ');
        pf_put_name(table->out, slash ? slash + 1 : location->file);
        pf_put_format(table->out, ":%" PRIu32, location->line);
    } else if (table->report->settings.graph_key == PF_GRAPH_ADDRESS) {
        pf_put_format(table->out, " +%" PRIu64, frame->address);
    }
}

void pf_report_text_put_frame(struct pf_report_text *table, uint32_t number)
{
    const struct pf_frame_info *frame = pf_profile_frame(table->report->profile, number);
    if (frame->name && table->screen) {
        put_fitted_name(table, frame);
    } else if (frame->name) {
        pf_report_put_name(frame, table->out);
        put_line(table, frame);
    } else {
        const struct pf_module *module = pf_symbols_module(table->report->symbols, frame->module);
        if (module && !module->kernel) /* the address is one in the file */
            put_module(table->out, module);
        pf_put_format(table->out, "%#" PRIx64, frame->address); /* as perf: 0 is "0" */
    }
}

static void put_frame(struct pf_report_text *table, uint32_t number)
{
    pf_report_text_put_frame(table, number);
    pf_put_string(table->out, "\n");
}

void pf_report_text_put_value(struct pf_report_text *table, uint64_t hits, uint64_t samples, uint64_t total)
{
    const double percent = pf_report_percent(hits, total);
    const char *color = pf_report_text_color(table, percent);
    if (table->report->settings.graph_value != PF_GRAPH_PERCENT) {
        pf_put_unsigned(table->out, table->report->settings.graph_value == PF_GRAPH_COUNT ? samples : hits);
        return;
    }
    pf_put_string(table->out, color ? color : "");
    pf_put_hundredths(table->out, percent, 0);
    pf_put_char(table->out, '%');
    pf_put_string(table->out, color ? PF_PLAIN : "");
}

static void put_share(struct pf_report_text *table, uint64_t hits, uint64_t samples, uint64_t total)
{
    pf_put_string(table->out, "--");
    pf_report_text_put_value(table, hits, samples, total);
    pf_put_string(table->out, "--");
}

/*
 * Frames from here on that all have the same weight, one a line, but not more than `max`; *branch becomes the last,
 * *next what follows it.
 */
static bool put_run(struct pf_report_text *table, struct pf_graph *graph, struct pf_graph_branch *branch, uint64_t max,
                    struct pf_graph_branch **next, size_t *next_count)
{
    for (size_t i = 0; i < MAX_IN_RUN; i++) {
        if (!pf_graph_expand(graph, branch, next, next_count))
            return false;
        if (!*next_count || (*next)[0].hits != branch->hits)
            return true;
        *branch = (*next)[0];
        if (i >= max)
            continue;
        put_margin(table);
        put_frame(table, branch->frame);
    }
    put_margin(table);
    pf_put_string(table->out, "[...]\n");
    *next_count = 0;
    return true;
}

static bool put_branches(struct pf_report_text *table, struct pf_graph *graph, struct pf_graph_branch *branches,
                         size_t count, uint64_t total, unsigned level);

/* "|--62.50%--middle_a", what it calls below it. The pipe goes on while there are further branches. */
static bool put_branch(struct pf_report_text *table, struct pf_graph *graph, struct pf_graph_branch *branch,
                       uint64_t total, unsigned level, bool last)
{
    struct pf_graph_branch *next;
    size_t next_count;
    put_margin(table);
    pf_put_char(table->out, last ? ' ' : '|');
    put_share(table, branch->hits, branch->samples, total);
    put_frame(table, branch->frame);
    pf_put_char(&table->margin, last ? ' ' : '|');
    pf_report_text_pad(&table->margin, BRANCH_INDENT);
    bool enough = put_run(table, graph, branch, UINT64_MAX, &next, &next_count) &&
                  put_branches(table, graph, next, next_count,
                               table->report->settings.fractal ? graph->level_hits : total, level + 1);
    table->margin.used -= BRANCH_INDENT + 1;
    return enough;
}

static void put_separator(struct pf_report_text *table)
{
    put_margin(table);
    pf_put_char(table->out, '|');
    pf_report_text_pad(table->out, BRANCH_INDENT);
    pf_put_char(table->out, '\n');
}

static bool put_branches(struct pf_report_text *table, struct pf_graph *graph, struct pf_graph_branch *branches,
                         size_t count, uint64_t total, unsigned level)
{
    const size_t max = (size_t)pf_min(count, table->report->settings.max_branches);
    uint64_t shown = 0, samples = graph->level_samples;
    bool rest = false, enough = true;
    for (size_t i = 0; i < max; i++) {
        shown += branches[i].hits;
        samples -= branches[i].samples;
    }
    if (table->report->settings.fractal && count)
        rest = shown < total;
    for (size_t i = 0; i < max && enough && level < MAX_LEVELS; i++) {
        put_separator(table);
        enough = put_branch(table, graph, &branches[i], total, level, i + 1 == count && !rest);
    }
    if (rest) {
        put_margin(table);
        pf_put_char(table->out, ' ');
        put_share(table, total - shown, samples, total);
        pf_put_string(table->out, "[...]\n");
    }
    return enough;
}

/* One branch that holds all of the row: its frames are a list, and the graph begins where they part. */
static bool put_trunk(struct pf_report_text *table, struct pf_graph *graph, struct pf_graph_branch *trunk,
                      uint64_t total)
{
    struct pf_graph_branch *next;
    size_t next_count;
    if (table->report->layout.skip_first) { /* the row says it */
        if (!pf_graph_expand(graph, trunk, &next, &next_count))
            return false;
        if (!next_count || next[0].hits != trunk->hits)
            return put_branches(table, graph, next, next_count, total, 0);
        trunk = next;
    }
    put_margin(table);
    pf_put_string(table->out, "|\n");
    put_margin(table);
    pf_put_string(table->out, "---");
    pf_report_text_pad(&table->margin, 3);
    put_frame(table, trunk->frame);
    return put_run(table, graph, trunk, table->report->settings.max_branches - 1, &next, &next_count) &&
           put_branches(table, graph, next, next_count, total, 0);
}

static bool put_graph(struct pf_report_text *table, const struct pf_report_row *row, uint64_t *marks)
{
    const uint64_t weight = pf_report_weight(table->report, row);
    const uint64_t total = table->report->settings.fractal ? weight : table->event->period;
    const size_t used = table->out->used;
    struct pf_graph graph;
    struct pf_graph_branch *branches;
    size_t count;
    table->margin.used = 0;
    pf_report_text_pad(&table->margin, MARGIN);
    pf_graph_open_apart(&graph, table->report, row, marks);
    if (table->report->settings.shape != PF_GRAPH_TREE) {
        const bool printed = pf_report_text_put_chains(table, &graph, total);
        pf_graph_close(&graph);
        return printed;
    }
    bool enough = pf_graph_expand(&graph, NULL, &branches, &count);
    if (enough && count == 1 && branches[0].hits == weight)
        enough = put_trunk(table, &graph, branches, total);
    else if (enough)
        enough = put_branches(table, &graph, branches, count, total, 0);
    pf_graph_close(&graph);
    if (table->out->used != used)
        pf_put_string(table->out, "\n");
    return enough;
}

/* ---- the graphs of a table, drawn ahead of their rows by several threads ---- */

struct drawing {
    const struct pf_report_row *row; /* NULL means the end */
    struct pf_report_text table;     /* writes to `text` */
    struct pf_text text;
    bool enough;
};

struct pf_report_drawers {
    const struct pf_report_text *table;
    size_t next; /* row to look at */
    struct drawing *drawings;
    unsigned drawing_count;
    uint64_t *marks[MAX_DRAWERS]; /* by worker; NULL: not needed yet */
    pthread_mutex_t lock;
    uint32_t keys[MAX_DRAWERS]; /* by worker, plus one: of the row whose graph has the tree's own marks; 0: none */
    struct pf_stages *stages;
};

bool pf_report_text_open(struct pf_report_text *table)
{
    const struct perfile_allocator *allocator = table->report->allocator;
    bool enough = pf_text_open(&table->cell, allocator, NULL, NULL) == 0;
    enough = pf_text_open(&table->fitted, allocator, NULL, NULL) == 0 && enough;
    return pf_text_open(&table->margin, allocator, NULL, NULL) == 0 && enough;
}

/* False: memory was short. */
bool pf_report_text_close(struct pf_report_text *table)
{
    const bool enough = !table->cell.failed && !table->fitted.failed && !table->margin.failed;
    pf_text_close(&table->cell);
    pf_text_close(&table->fitted);
    pf_text_close(&table->margin);
    return enough;
}

bool pf_report_text_has_graph(const struct pf_report_text *table, const struct pf_report_row *row)
{
    return pf_report_shows(table->report, row) && !pf_graph_is_empty(table->report, row);
}

static bool choose_row(void *context, void *item, unsigned worker)
{
    struct pf_report_drawers *drawers = context;
    struct drawing *drawing = item;
    const struct pf_report_event *event = drawers->table->event;
    (void)worker;
    while (drawers->next < event->row_count && !pf_report_text_has_graph(drawers->table, &event->rows[drawers->next]))
        drawers->next++;
    drawing->row = drawers->next < event->row_count ? &event->rows[drawers->next++] : NULL;
    return drawing->row;
}

/*
 * Rows of two keys have no node in common: the tree's own marks, which stand where a graph looks anyway, serve one of
 * each. False when out of memory.
 */
static bool take_marks(struct pf_report_drawers *drawers, unsigned worker, uint32_t key, uint64_t **marks)
{
    const struct pf_report *report = drawers->table->report;
    bool taken = false;
    pthread_mutex_lock(&drawers->lock);
    for (unsigned i = 0; i < MAX_DRAWERS; i++)
        taken |= drawers->keys[i] == key + 1;
    if (!taken)
        drawers->keys[worker] = key + 1;
    pthread_mutex_unlock(&drawers->lock);
    if (taken && !drawers->marks[worker])
        drawers->marks[worker] = pf_new(report->allocator, report->chains.tree.count * sizeof(uint64_t));
    *marks = taken ? drawers->marks[worker] : NULL;
    return !taken || *marks;
}

static void release_marks(struct pf_report_drawers *drawers, unsigned worker)
{
    pthread_mutex_lock(&drawers->lock);
    drawers->keys[worker] = 0;
    pthread_mutex_unlock(&drawers->lock);
}

static bool draw(void *context, void *item, unsigned worker)
{
    struct pf_report_drawers *drawers = context;
    struct drawing *drawing = item;
    uint64_t *marks;
    drawing->text.used = 0;
    if (!drawing->row)
        return true;
    drawing->enough = take_marks(drawers, worker, drawing->row->key, &marks) &&
                      put_graph(&drawing->table, drawing->row, marks) && !drawing->text.failed &&
                      !drawing->table.margin.failed && !drawing->table.cell.failed && !drawing->table.fitted.failed;
    release_marks(drawers, worker);
    return true;
}

void pf_report_text_close_drawers(struct pf_report_drawers *drawers)
{
    if (!drawers)
        return;
    const struct pf_report *report = drawers->table->report;
    pf_stages_close(drawers->stages);
    for (unsigned i = 0; i < drawers->drawing_count; i++) {
        pf_text_close(&drawers->drawings[i].text);
        pf_report_text_close(&drawers->drawings[i].table);
    }
    pf_free(report->allocator, drawers->drawings, drawers->drawing_count * sizeof(*drawers->drawings));
    for (size_t i = 0; i < MAX_DRAWERS; i++)
        pf_free(report->allocator, drawers->marks[i], report->chains.tree.count * sizeof(uint64_t));
    pthread_mutex_destroy(&drawers->lock);
    pf_free(report->allocator, drawers, sizeof(*drawers));
}

static unsigned drawer_count(const struct pf_report_text *table)
{
    size_t graphs = 0, max = pf_min(table->report->options->threads, MAX_DRAWERS);
    for (size_t i = 0; i < table->event->row_count && graphs / DRAWER_ROWS < max; i++)
        graphs += pf_report_text_has_graph(table, &table->event->rows[i]);
    return (unsigned)(graphs / DRAWER_ROWS);
}

/* False when out of memory. */
static bool open_drawings(struct pf_report_drawers *drawers)
{
    const struct pf_report_text *table = drawers->table;
    const struct perfile_allocator *allocator = table->report->allocator;
    bool enough = true;
    for (unsigned i = 0; i < drawers->drawing_count; i++) {
        struct drawing *drawing = &drawers->drawings[i];
        drawing->table = (struct pf_report_text){
            .report = table->report, .event = table->event, .out = &drawing->text, .screen = table->screen};
        enough = pf_text_open(&drawing->text, allocator, NULL, NULL) == 0 && enough;
        drawing->text.escapes = table->out->escapes;
        enough = pf_report_text_open(&drawing->table) && enough;
    }
    return enough;
}

struct pf_report_drawers *pf_report_text_open_drawers(const struct pf_report_text *table)
{
    static const struct pf_stage stages[] = {{.work = choose_row}, {.work = draw, .parallel = true}};
    const struct perfile_allocator *allocator = table->report->allocator;
    const unsigned threads = drawer_count(table);
    const unsigned count = pf_stages_items(threads > 1 ? threads * ROWS_AHEAD : 1);
    struct pf_report_drawers *drawers = pf_new(allocator, sizeof(*drawers));
    if (!drawers)
        return NULL;
    drawers->table = table;
    drawers->drawings = pf_new(allocator, count * sizeof(*drawers->drawings));
    drawers->drawing_count = drawers->drawings ? count : 0;
    pthread_mutex_init(&drawers->lock, NULL);
    const bool prepared = pf_graphs_prepare(table->report);
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = threads,
                                        .context = drawers,
                                        .items = drawers->drawings,
                                        .item_bytes = sizeof(*drawers->drawings),
                                        .item_count = count};
    drawers->stages = prepared && open_drawings(drawers) && drawers->drawings ? pf_stages_open(&plan, allocator) : NULL;
    if (drawers->stages)
        return drawers;
    pf_report_text_close_drawers(drawers);
    return NULL;
}

/* The graph of a row that has one. */
bool pf_report_text_put_drawing(struct pf_report_text *table, struct pf_report_drawers *drawers,
                                const struct pf_report_row *row)
{
    const struct drawing *drawing;
    do
        drawing = pf_stages_next(drawers->stages);
    while (drawing && drawing->enough && drawing->row != row); /* of rows that are hidden with their entry */
    if (!drawing || !drawing->enough)
        return false;
    pf_put(table->out, drawing->text.data, drawing->text.used);
    return true;
}
