/* SPDX-License-Identifier: MIT */
/*
 * The annotated code of a function: its instructions with the samples of each, and the source lines between them. This
 * takes another pass over the recording, for all functions at once, with the filters that reading supports.
 */
#include "code.h"
#include "app.h"
#include "../array.h"

#include <perfile/annotate.h>

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A line of the window: an instruction, or the source line that the next ones are of. */
struct code_row {
    uint32_t line;    /* of the listing, or NONE: it is source */
    const char *file; /* of source */
    uint32_t source;
};

struct pf_tui_code {
    struct perfile_annotation *annotation;
    char *filters[7]; /* by which it was made, one text for each member of perfile_filter */
    struct perfile_filter filter;
    /* the pass */
    pthread_t thread;
    pthread_mutex_t lock;
    struct pf_tui *app;
    uint64_t done, total;
    bool over, stops;
    int result;
    struct perfile_error error;
    /* what is shown */
    struct perfile_listing *listing;
    struct code_row *rows;
    size_t row_count, row_capacity, cursor, top;
    uint32_t event;
    struct perfile_weight all; /* of the function */
    const char *name;
    char sought[128];
    bool no_source, offsets, leaves;
};

/* ---- the pass over the recording --------------------------------------------------------------------------------- */

enum { OF_TIME, OF_CPUS, OF_PIDS, OF_TIDS, OF_COMMS, OF_EVENTS, OF_ALL };

static const struct {
    enum pf_tui_filter_kind kind;
    int member;
} members[] = {
    {PF_TUI_BY_CPU, OF_CPUS}, {PF_TUI_BY_PROCESS, OF_PIDS}, {PF_TUI_BY_THREAD, OF_TIDS}, {PF_TUI_BY_COMM, OF_COMMS}};

static bool set(char **text, const char *to)
{
    free(*text);
    *text = to ? strdup(to) : NULL;
    return !to || *text;
}

/* Collects the filters of the command line, then those of the user; the last of a kind counts. False: out of memory. */
static bool choose_filters(const struct pf_tui *app, char *texts[OF_ALL])
{
    const struct perfile_filter *passed = &app->load.input->settings->filter;
    bool fine = set(&texts[OF_TIME], passed->time) && set(&texts[OF_CPUS], passed->cpus) &&
                set(&texts[OF_EVENTS], passed->events);
    char range[64];

    for (size_t i = 0; i < app->model.filters.count && fine; i++) {
        const struct pf_tui_filter *filter = &app->model.filters.all[i];
        for (size_t k = 0; k < sizeof(members) / sizeof(members[0]); k++)
            if (members[k].kind == filter->kind)
                fine = fine && set(&texts[members[k].member], filter->text);
        if (filter->kind != PF_TUI_BY_TIME)
            continue;
        snprintf(range, sizeof(range), "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64, filter->from_ns / 1000000000,
                 filter->from_ns % 1000000000, (filter->to_ns - 1) / 1000000000, (filter->to_ns - 1) % 1000000000);
        fine = fine && set(&texts[OF_TIME], range);
    }
    return fine;
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static void progress(void *context, uint64_t done, uint64_t total)
{
    struct pf_tui_code *code = context;

    pthread_mutex_lock(&code->lock);
    code->done = done;
    code->total = total;
    const bool stops = code->stops;
    pthread_mutex_unlock(&code->lock);
    if (stops)
        perfile_reader_stop(code->app->load.input->reader);
}

static int annotate(struct pf_tui_code *code)
{
    const struct perfile_output_options *print = &code->app->load.input->settings->print;
    struct perfile_annotation_options options = PERFILE_ANNOTATION_OPTIONS_INIT;
    struct perfile_reader *reader = code->app->load.input->reader;

    options.filter = &code->filter;
    options.symbols = print->symbols;
    options.threads = print->threads;
    options.progress = progress;
    options.progress_context = code;
    const int result = perfile_reader_rewind(reader, &code->error);
    return result < 0 ? result : perfile_annotation_open(reader, &options, &code->annotation, &code->error);
}

static void *run(void *context)
{
    struct pf_tui_code *code = context;
    const int result = annotate(code);

    pthread_mutex_lock(&code->lock);
    code->result = result;
    code->over = true;
    pthread_mutex_unlock(&code->lock);
    pf_tui_screen_wake();
    return NULL;
}

static bool is_over(void *context)
{
    struct pf_tui_code *code = context;

    pthread_mutex_lock(&code->lock);
    const bool over = code->over;
    pthread_mutex_unlock(&code->lock);
    return over;
}

static void draw_progress(struct pf_tui *app, void *context)
{
    struct pf_tui_code *code = context;

    pthread_mutex_lock(&code->lock);
    const double share = code->total ? 100.0 * (double)code->done / (double)code->total : 0;
    pthread_mutex_unlock(&code->lock);
    pf_tui_format(&app->screen, app->at.status, 0, app->screen.columns, PF_TUI_STATUS,
                  " Reading the samples of each instruction ... %.0f%%   Esc stops", share);
}

static bool read_annotation(struct pf_tui *app, struct pf_tui_code *code)
{
    code->over = code->stops = false;
    code->done = code->total = 0;
    app->load.input->log.over = true; /* what is wrong with the recording was reported the first time */
    if (pthread_create(&code->thread, NULL, run, code)) {
        pf_tui_say(app, "No thread can be started.");
        return false;
    }
    while (!is_over(code)) {
        const int key = pf_tui_wait_until(app, draw_progress, code, is_over);
        pthread_mutex_lock(&code->lock);
        code->stops |= key == PF_KEY_ESCAPE || key == 'q';
        pthread_mutex_unlock(&code->lock);
    }
    pthread_join(code->thread, NULL);
    if (code->result == PERFILE_ERROR_STOPPED)
        pf_tui_say(app, "Stopped.");
    else if (code->result < 0)
        pf_tui_say(app, "%s", code->error.message);
    return code->result >= 0;
}

static void close_annotation(struct pf_tui_code *code)
{
    perfile_listing_close(code->listing);
    perfile_annotation_close(code->annotation);
    code->listing = NULL;
    code->annotation = NULL;
}

static struct pf_tui_code *make_code(struct pf_tui *app)
{
    struct pf_tui_code *code = calloc(1, sizeof(*code));

    if (!code)
        return NULL;
    pthread_mutex_init(&code->lock, NULL);
    code->app = app;
    return code;
}

void pf_tui_code_close(struct pf_tui_code *code)
{
    if (!code)
        return;
    close_annotation(code);
    for (size_t i = 0; i < OF_ALL; i++)
        free(code->filters[i]);
    free(code->rows);
    pthread_mutex_destroy(&code->lock);
    free(code);
}

/* The code is that of the last interval. */
static void take_part(struct pf_tui *app)
{
    close_annotation(app->code); /* before its reader */
    if (pf_tui_load_take_part(&app->load) < 0)
        pf_tui_say(app, "%s", app->load.input->error.message);
}

/* Prepares reading, unless the result of the last time can be used again. */
static bool prepare(struct pf_tui *app)
{
    char *wanted[OF_ALL] = {NULL};
    int percent;
    bool same = true;

    if (!app->load.live && pf_tui_load_running(&app->load, &percent)) {
        app->wants_code = app->wants_row = true;
        pf_tui_say(app, "The code is shown when the recording is read; any key stops that.");
        return false;
    }
    if (!app->code)
        app->code = make_code(app);
    if (!app->code || !choose_filters(app, wanted)) {
        app->short_of_memory = true;
        return false;
    }
    struct pf_tui_code *code = app->code;
    if (app->load.live)
        take_part(app);
    for (size_t i = 0; i < OF_ALL; i++) {
        same = same && is_same(code->filters[i], wanted[i]);
        free(code->filters[i]);
        code->filters[i] = wanted[i];
    }
    if (same && code->annotation)
        return true;
    close_annotation(code);
    if (app->load.input->profile)
        pf_tui_say(app, "A profile has no addresses: the code needs the recording.");
    if (!app->load.input->reader)
        return false; /* with a message */
    code->filter = (struct perfile_filter){.size = sizeof(code->filter),
                                           .time = wanted[OF_TIME],
                                           .cpus = wanted[OF_CPUS],
                                           .pids = wanted[OF_PIDS],
                                           .tids = wanted[OF_TIDS],
                                           .comms = wanted[OF_COMMS],
                                           .events = wanted[OF_EVENTS]};
    return read_annotation(app, code);
}

/* ---- the function ------------------------------------------------------------------------------------------------ */

/* Inlined code is part of the function that it is in: of several the one where it weighs most. */
static uint32_t function_around(const struct pf_tui *app, uint32_t function)
{
    const struct pf_tui_index *index = app->model.index;
    uint64_t max = 0;
    uint32_t found = function;
    size_t count;
    const uint32_t *nodes = perfile_calls_nodes(index->calls, function, &count);

    for (size_t i = 0; i < count && index->functions[function].kind == PERFILE_FRAME_INLINED; i++) {
        uint32_t node = nodes[i];
        const uint64_t weight = pf_tui_weight(&app->model, pf_tui_node_total(&app->model, node));
        while (node != PF_TUI_NONE &&
               index->functions[perfile_calls_group(index->calls, node)].kind == PERFILE_FRAME_INLINED)
            node = perfile_calls_parent(index->calls, node);
        if (node != PF_TUI_NONE && weight > max) {
            max = weight;
            found = perfile_calls_group(index->calls, node);
        }
    }
    return found;
}

static bool is_function(struct pf_tui_code *code, const struct perfile_annotation_function *candidate,
                        const struct pf_tui_index *index, uint32_t wanted)
{
    const struct pf_tui_function *function = &index->functions[wanted];
    struct perfile_module module = PERFILE_MODULE_INIT;

    if (!function->named || !candidate->name || candidate->address != function->address ||
        strcmp(candidate->name, function->name) != 0)
        return false;
    return candidate->module == PERFILE_NO_ID || function->module == PF_TUI_NONE ||
           perfile_annotation_module(code->annotation, candidate->module, &module) < 0 ||
           !strcmp(module.short_name, index->modules[function->module].short_name);
}

/* The number in the annotation, or NONE: the function has no samples of its own. */
static uint32_t find_function(struct pf_tui_code *code, const struct pf_tui_index *index, uint32_t wanted)
{
    struct perfile_annotation_function candidate = PERFILE_ANNOTATION_FUNCTION_INIT;
    const size_t count = perfile_annotation_function_count(code->annotation);

    for (size_t i = 0; i < count; i++)
        if (perfile_annotation_function_at(code->annotation, i, &candidate) == 0 &&
            is_function(code, &candidate, index, wanted)) {
            code->name = candidate.name;
            return (uint32_t)i;
        }
    return PF_TUI_NONE;
}

static uint32_t find_event(struct pf_tui_code *code, const char *name)
{
    struct perfile_annotation_event event = PERFILE_ANNOTATION_EVENT_INIT;

    for (uint32_t i = 0; perfile_annotation_event_at(code->annotation, i, &event) == 0; i++)
        if (!strcmp(event.name, name))
            return i;
    return 0;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool add_row(struct pf_tui_code *code, struct code_row row)
{
    if (!pf_array_grow(&code->rows, &code->row_capacity, code->row_count + 1, sizeof(*code->rows)))
        return false;
    code->rows[code->row_count++] = row;
    return true;
}

static bool make_rows(struct pf_tui_code *code)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    const char *file = NULL;
    uint32_t source = 0;
    bool fine = true;

    code->row_count = 0;
    for (uint32_t i = 0; fine && perfile_listing_line_at(code->listing, i, &line) == 0; i++) {
        if (!code->no_source && line.line && line.file && (line.line != source || !is_same(file, line.file))) {
            file = line.file;
            source = line.line;
            fine = add_row(code, (struct code_row){PF_TUI_NONE, file, source});
        }
        fine = fine && add_row(code, (struct code_row){.line = i});
    }
    return fine;
}

static uint64_t weight_at(const struct pf_tui_code *code, uint32_t line)
{
    struct perfile_weight weight = PERFILE_WEIGHT_INIT;

    if (line == PF_TUI_NONE || perfile_listing_weight(code->listing, line, code->event, &weight) < 0)
        return 0;
    return code->app->model.by_samples ? weight.samples : weight.period;
}

static double share_at(const struct pf_tui_code *code, uint32_t line)
{
    const uint64_t all = code->app->model.by_samples ? code->all.samples : code->all.period;

    return all ? 100.0 * (double)weight_at(code, line) / (double)all : 0;
}

static void go_to_line(struct pf_tui_code *code, uint32_t line)
{
    for (size_t i = 0; i < code->row_count; i++)
        if (code->rows[i].line == line)
            code->cursor = i;
}

/* The hottest line that is less hot than this one, or hotter. */
static void go_to_hot(struct pf_tui_code *code, bool hottest, bool cooler)
{
    const uint64_t now = code->row_count ? weight_at(code, code->rows[code->cursor].line) : 0;
    uint64_t best = 0;
    size_t at = code->cursor;

    for (size_t i = 0; i < code->row_count; i++) {
        const uint64_t weight = weight_at(code, code->rows[i].line);
        const bool fits = hottest || (cooler ? weight < now || (weight == now && i > code->cursor)
                                             : weight > now || (weight == now && i < code->cursor));
        if (!weight || !fits || i == code->cursor)
            continue;
        if (!best || (cooler || hottest ? weight > best : weight <= best)) {
            best = weight;
            at = i;
        }
    }
    if (!hottest || best > now)
        code->cursor = at;
}

/* ---- drawing ----------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "?";
}

static void draw_source(struct pf_tui *app, const struct code_row *row, int y, unsigned chosen)
{
    const char *text = perfile_listing_source(app->code->listing, row->file, row->source);
    int x = pf_tui_put(&app->screen, y, 0, 9, PF_TUI_PLAIN | chosen, "");

    x = pf_tui_format(&app->screen, y, x, text ? 6 : app->screen.columns - x, PF_TUI_DIM | chosen,
                      text ? "%5" PRIu32 : "%" PRIu32 " %s", row->source, base_name(row->file));
    for (; text && *text == '\t'; text++)
        x = pf_tui_put(&app->screen, y, x, 4, PF_TUI_PLAIN | chosen, "");
    if (text)
        pf_tui_put(&app->screen, y, x, app->screen.columns - x, PF_TUI_SOURCE | chosen, text);
}

static uint32_t target_of(const struct pf_tui_code *code)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    const uint32_t at = code->cursor < code->row_count ? code->rows[code->cursor].line : PF_TUI_NONE;

    return at != PF_TUI_NONE && perfile_listing_line_at(code->listing, at, &line) == 0 ? line.target : PF_TUI_NONE;
}

static void draw_instruction(struct pf_tui *app, uint32_t at, int y, unsigned chosen)
{
    struct pf_tui_code *code = app->code;
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT, first = PERFILE_LISTING_LINE_INIT;
    const double share = share_at(code, at);
    const unsigned heat = share >= 5 ? PF_TUI_HOT : share >= 0.5 ? PF_TUI_WARM : PF_TUI_PLAIN;
    int x;

    if (perfile_listing_line_at(code->listing, at, &line) < 0 || perfile_listing_line_at(code->listing, 0, &first) < 0)
        return;
    if (share > 0)
        x = pf_tui_format(&app->screen, y, 0, 9, heat | chosen, "%7.2f%% ", share);
    else
        x = pf_tui_put(&app->screen, y, 0, 9, chosen, "");
    const bool is_target = target_of(code) == at;
    x = pf_tui_put(&app->screen, y, x, 2, PF_TUI_ALERT | chosen, is_target ? "> " : line.jump_count ? ": " : "  ");
    x = pf_tui_format(&app->screen, y, x, 10, PF_TUI_DIM | chosen,
                      code->offsets ? "%7" PRIx64 ":  " : "+0x%-6" PRIx64 " ",
                      code->offsets ? line.address : line.address - first.address);
    const bool found = *code->sought && line.text && pf_tui_has_text(line.text, code->sought);
    pf_tui_put(&app->screen, y, x, app->screen.columns - x,
               (found                              ? PF_TUI_FOUND
                : line.kind & PERFILE_LISTING_CALL ? PF_TUI_KERNEL
                                                   : PF_TUI_PLAIN) |
                   chosen,
               line.text ? line.text : "");
}

/* Describes a line: its file, and the functions that it was inlined into. */
static void describe_line(struct pf_tui_code *code, char *text, size_t capacity)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    struct perfile_listing_frame frame = PERFILE_LISTING_FRAME_INIT;
    const uint32_t at = code->cursor < code->row_count ? code->rows[code->cursor].line : PF_TUI_NONE;
    size_t used = 0;

    *text = 0;
    if (at == PF_TUI_NONE || perfile_listing_line_at(code->listing, at, &line) < 0)
        return;
    for (uint32_t i = 0; i < line.frame_count && i < 8 && used < capacity; i++) {
        if (perfile_listing_frame_at(code->listing, at, i, &frame) < 0)
            break;
        used += (size_t)snprintf(text + used, capacity - used, "%s%.80s %.60s:%" PRIu32, i ? " < " : "",
                                 frame.name ? frame.name : "?", base_name(frame.file), frame.line);
    }
}

static void draw_hints(struct pf_tui *app, const char *text)
{
    const int y = app->screen.rows - 1;

    pf_tui_put(&app->screen, y, 0, app->screen.columns, PF_TUI_STATUS, *app->message ? app->message : text);
}

static void draw_code(struct pf_tui *app, void *context)
{
    struct pf_tui_code *code = context;
    const char *missing = perfile_listing_missing(code->listing);
    const int from = missing ? 2 : 1, rows = app->screen.rows - from - 2;
    char text[512];

    code->cursor = code->cursor < code->row_count ? code->cursor : code->row_count ? code->row_count - 1 : 0;
    code->top = code->cursor < code->top ? code->cursor : code->top;
    code->top = code->cursor >= code->top + (size_t)rows ? code->cursor - (size_t)rows + 1 : code->top;
    pf_tui_screen_clear();
    char samples[PF_COUNTED_BYTES];
    int x = pf_tui_format(&app->screen, 0, 0, 24, PF_TUI_HEADER | PF_TUI_BOLD, " %s  ",
                          pf_counted(code->all.samples, "samples", samples));
    pf_tui_name(&app->screen, 0, x, app->screen.columns - x, PF_TUI_HEADER | PF_TUI_BOLD, code->name);
    if (missing)
        pf_tui_add(&app->screen, 1, 1, app->screen.columns - 1, PF_TUI_ALERT, missing);
    for (int i = 0; i < rows && code->top + (size_t)i < code->row_count; i++) {
        const struct code_row *row = &code->rows[code->top + (size_t)i];
        const unsigned chosen = code->top + (size_t)i == code->cursor ? PF_TUI_SELECTED : 0;
        if (row->line == PF_TUI_NONE)
            draw_source(app, row, from + i, chosen);
        else
            draw_instruction(app, row->line, from + i, chosen);
    }
    describe_line(code, text, sizeof(text));
    pf_tui_name(&app->screen, app->screen.rows - 2, 1, app->screen.columns - 1, PF_TUI_DIM, text);
    draw_hints(app, " ? help  Esc back  H hottest  Tab next  Enter jump  s source  o offset  / search");
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static size_t page(const struct pf_tui *app)
{
    return (size_t)app->screen.rows - 4;
}

static void move(struct pf_tui *app, long by)
{
    struct pf_tui_code *code = app->code;
    const long at = (long)code->cursor + by, last = (long)code->row_count - 1;

    code->cursor = at < 0 || last < 0 ? 0 : (size_t)(at > last ? last : at);
}

void pf_tui_do_code_up(struct pf_tui *app)
{
    move(app, -1);
}

void pf_tui_do_code_down(struct pf_tui *app)
{
    move(app, 1);
}

void pf_tui_do_code_page_up(struct pf_tui *app)
{
    move(app, -(long)page(app));
}

void pf_tui_do_code_page_down(struct pf_tui *app)
{
    move(app, (long)page(app));
}

void pf_tui_do_code_home(struct pf_tui *app)
{
    app->code->cursor = 0;
}

void pf_tui_do_code_end(struct pf_tui *app)
{
    move(app, (long)app->code->row_count);
}

void pf_tui_do_code_hottest(struct pf_tui *app)
{
    go_to_hot(app->code, true, false);
}

void pf_tui_do_code_cooler(struct pf_tui *app)
{
    go_to_hot(app->code, false, true);
}

void pf_tui_do_code_hotter(struct pf_tui *app)
{
    go_to_hot(app->code, false, false);
}

void pf_tui_do_code_jump(struct pf_tui *app)
{
    const uint32_t target = target_of(app->code);

    if (target == PF_TUI_NONE)
        pf_tui_say(app, "This is not a jump inside the function.");
    else
        go_to_line(app->code, target);
}

void pf_tui_do_code_source(struct pf_tui *app)
{
    struct pf_tui_code *code = app->code;
    size_t at = code->cursor;

    while (at < code->row_count && code->rows[at].line == PF_TUI_NONE)
        at++;
    const uint32_t line = at < code->row_count ? code->rows[at].line : 0;
    code->no_source = !code->no_source;
    if (!make_rows(code))
        app->short_of_memory = true;
    go_to_line(code, line);
}

void pf_tui_do_code_offsets(struct pf_tui *app)
{
    app->code->offsets = !app->code->offsets;
}

static const char *row_text(struct pf_tui_code *code, size_t at)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    const struct code_row *row = &code->rows[at];
    const char *text = row->line == PF_TUI_NONE ? perfile_listing_source(code->listing, row->file, row->source)
                       : perfile_listing_line_at(code->listing, row->line, &line) == 0 ? line.text
                                                                                       : NULL;

    return text ? text : "";
}

static void search(struct pf_tui *app, bool forward)
{
    struct pf_tui_code *code = app->code;
    const size_t count = code->row_count;

    for (size_t i = 1; i <= count && *code->sought; i++) {
        const size_t at = (code->cursor + (forward ? i : count - i)) % count;
        if (pf_tui_has_text(row_text(code, at), code->sought)) {
            code->cursor = at;
            return;
        }
    }
    pf_tui_say(app, *code->sought ? "No line has \"%s\"." : "Nothing to search for yet (/).", code->sought);
}

void pf_tui_do_code_search(struct pf_tui *app)
{
    char text[sizeof(app->code->sought)] = "";

    if (!pf_tui_ask(app, "Search: ", text, sizeof(text)))
        return;
    memcpy(app->code->sought, text, sizeof(text));
    if (*text)
        search(app, true);
}

void pf_tui_do_code_next(struct pf_tui *app)
{
    search(app, true);
}

void pf_tui_do_code_previous(struct pf_tui *app)
{
    search(app, false);
}

void pf_tui_do_code_leave(struct pf_tui *app)
{
    app->code->leaves = true;
}

static void use_mouse(struct pf_tui *app)
{
    const struct pf_tui_mouse *mouse = &app->screen.mouse;
    const int from = perfile_listing_missing(app->code->listing) ? 2 : 1;

    if (mouse->press == PF_MOUSE_UP || mouse->press == PF_MOUSE_DOWN)
        move(app, mouse->press == PF_MOUSE_UP ? -3 : 3);
    else if (mouse->y >= from && mouse->press != PF_MOUSE_RELEASE)
        app->code->cursor = app->code->top + (size_t)(mouse->y - from);
}

static bool open_listing(struct pf_tui *app, uint32_t function)
{
    struct pf_tui_code *code = app->code;
    struct perfile_error error;

    const uint32_t found = find_function(code, app->model.index, function);
    if (found == PF_TUI_NONE) {
        pf_tui_say(app, app->model.index->functions[function].named
                            ? app->load.live ? "No sample was taken in this function itself in the last interval."
                                             : "No sample was taken in this function itself, only in what it calls."
                            : "There is no symbol, so it is not known where the function begins.");
        return false;
    }
    perfile_listing_close(code->listing);
    code->listing = NULL;
    code->event = find_event(code, app->model.index->events[app->model.event].name);
    code->all.size = sizeof(code->all);
    if (perfile_annotation_listing(code->annotation, found, &code->listing, &error) < 0 ||
        perfile_annotation_weight(code->annotation, found, code->event, &code->all) < 0 || !make_rows(code)) {
        app->short_of_memory = true;
        return false;
    }
    code->cursor = code->top = 0;
    go_to_hot(code, true, false);
    code->top = code->cursor > page(app) / 2 ? code->cursor - page(app) / 2 : 0;
    return true;
}

/* The code view applies only the filters by thread, processor, event and time. */
static void report_filters(struct pf_tui *app, uint32_t function)
{
    const struct pf_tui_model *model = &app->model;

    if (model->all_met && model->means[function] != model->all_met)
        pf_tui_say(app, "All samples of this function: filters by file or name do not choose among them.");
}

void pf_tui_show_code(struct pf_tui *app, uint32_t function)
{
    const uint32_t around = function_around(app, function);

    if (!prepare(app) || !open_listing(app, around))
        return;
    report_filters(app, around);
    app->code->leaves = false;
    while (!app->code->leaves && !app->quits) {
        const int key = pf_tui_wait(app, draw_code, app->code);
        *app->message = 0;
        if (key == PF_KEY_MOUSE)
            use_mouse(app);
        else
            pf_tui_press(app, PF_TUI_MODE_CODE, key);
    }
}

/* compute is also geometry::compute<int>(double). */
static bool is_called(const char *name, const char *wanted)
{
    const size_t bytes = strlen(wanted);
    const char *at = name;

    if (!strcmp(name, wanted) || (strpbrk(wanted, "*?") && fnmatch(wanted, name, 0) == 0))
        return true;
    while (bytes && (at = strstr(at, wanted)) != NULL) {
        const bool begins = at == name || (at >= name + 2 && at[-1] == ':' && at[-2] == ':');
        if (begins && (at[bytes] == 0 || at[bytes] == '<' || at[bytes] == '('))
            return true;
        at++;
    }
    return false;
}

/* The weight of a function: pf_tui_self or pf_tui_total. */
typedef struct pf_tui_value weight_of(const struct pf_tui_model *model, uint32_t function);

/* The function that weighs the most, and not 0. `name` NULL: of any name. */
static uint32_t find_hottest(const struct pf_tui *app, const char *name, weight_of *value)
{
    const struct pf_tui_index *index = app->model.index;
    uint32_t best = PF_TUI_NONE;
    uint64_t max = 0;

    for (uint32_t i = 0; i < index->function_count; i++) {
        const uint64_t weight = pf_tui_weight(&app->model, value(&app->model, i));
        if (weight > max && index->functions[i].named && (!name || is_called(index->functions[i].name, name))) {
            max = weight;
            best = i;
        }
    }
    return best;
}

void pf_tui_show_code_of(struct pf_tui *app, const char *name)
{
    uint32_t best = find_hottest(app, name, pf_tui_self);

    if (best == PF_TUI_NONE && name)
        best = find_hottest(app, name, pf_tui_total); /* inlined functions have no samples of their own */
    if (best != PF_TUI_NONE)
        pf_tui_show_code(app, best);
    else if (name)
        pf_tui_say(app, "No function %.80s has samples.", name);
}
