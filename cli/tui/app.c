/* SPDX-License-Identifier: MIT */
#include "app.h"
#include "../handover.h"
#include "tui.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIN_ROWS = 10, MIN_COLUMNS = 40, TALL = 30, POLL_MS = 200 };

struct pf_tui_list *pf_tui_list(struct pf_tui *app)
{
    return app->view < PF_TUI_FLAME ? &app->lists[app->view] : NULL;
}

uint32_t pf_tui_function(struct pf_tui *app)
{
    if (!app->model.index)
        return PF_TUI_NONE;
    if (app->view == PF_TUI_FLAME)
        return pf_tui_flame_function(app);
    const struct pf_tui_item *item = pf_tui_list_at(&app->lists[app->view]);
    if (item && item->function == PF_TUI_NONE)
        pf_tui_say(app, "The row has no single function (Enter shows those of its samples).");
    return item ? item->function : PF_TUI_NONE;
}

void pf_tui_say(struct pf_tui *app, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(app->message, sizeof(app->message), format, arguments);
    va_end(arguments);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* Updates the visible list from the model; other lists are updated when they are shown. */
static void make_list(struct pf_tui *app)
{
    struct pf_tui_list *list = &app->lists[app->view];

    if (app->model.index && list->made_of != app->model.changed &&
        !pf_tui_list_recall(list, pf_tui_list_remember(list)))
        app->short_of_memory = true;
}

void pf_tui_changed(struct pf_tui *app)
{
    if (app->model.index)
        pf_tui_model_add_up(&app->model);
}

/* All lists remember their rows by the index that is about to go. */
static void take_index(struct pf_tui *app, struct pf_tui_index *index)
{
    struct pf_tui_memory *memories[PF_TUI_VIEWS] = {NULL};

    for (size_t i = 0; i < PF_TUI_VIEWS && app->model.index; i++)
        memories[i] = pf_tui_list_remember(&app->lists[i]);
    if (!pf_tui_model_replace(&app->model, index)) {
        pf_tui_index_free(index);
        app->short_of_memory = true;
        return;
    }
    for (size_t i = 0; i < PF_TUI_VIEWS; i++)
        if (!pf_tui_list_recall(&app->lists[i], memories[i]))
            app->short_of_memory = true;
    app->flame.box_count = 0; /* they were of the items before */
    pf_tui_model_discard(&app->model);
}

static void take_fresh(struct pf_tui *app)
{
    struct pf_tui_index *fresh = pf_tui_load_take(&app->load);

    if (!fresh)
        return;
    if (!app->model.index) /* that there was nothing to show yet */
        *app->message = 0;
    take_index(app, fresh);
}

/* ---- the frame of all views -------------------------------------------------------------------------------------- */

static void lay_out(struct pf_tui *app)
{
    struct pf_tui_layout *at = &app->at;
    const bool timed = app->model.index && app->model.index->step_count > 1;
    int line = 1;

    at->notes = pf_message_summary(app->notes, sizeof(app->notes)) ? line++ : -1;
    at->time = line;
    at->time_count = !timed ? 0 : app->screen.rows >= TALL ? 3 : 1;
    line += at->time_count;
    at->header = line;
    line += !app->no_headers && app->view != PF_TUI_FLAME;
    at->body = line;
    at->status = app->screen.rows - 1;
    at->filters = app->model.filters.count ? at->status - 1 : -1;
    at->body_count = (at->filters < 0 ? at->status : at->filters) - line;
}

static void describe_load(struct pf_tui *app, char *text, size_t capacity)
{
    int percent;

    *text = 0;
    if (!pf_tui_load_running(&app->load, &percent))
        snprintf(text, capacity, "%s",
                 app->load.live         ? app->load.result < 0 ? "  recording failed" : "  ended"
                 : app->load.result < 0 ? "  reading failed"
                                        : "");
    else if (app->load.live)
        snprintf(text, capacity, "  live");
    else if (percent >= 0)
        snprintf(text, capacity, "  loading %d%%", percent);
    else
        snprintf(text, capacity, "  loading");
}

static void describe_losses(const struct pf_tui_index *index, char *text, size_t capacity)
{
    const struct perfile_losses *losses = &index->losses;

    *text = 0;
    if (losses->lost)
        snprintf(text, capacity, "  %.2g%% lost",
                 100.0 * (double)losses->lost / (double)(losses->lost + losses->samples));
}

static void draw_title(struct pf_tui *app)
{
    const struct pf_tui_model *model = &app->model;
    const struct pf_tui_index *index = model->index;
    char loading[40], losses[40] = "", numbers[160] = "", count[PF_COUNTED_BYTES], name[120] = "";
    const char *slash = strrchr(app->name, '/');

    describe_load(app, loading, sizeof(loading));
    if (index && index->event_count) {
        describe_losses(index, losses, sizeof(losses));
        snprintf(name, sizeof(name), "  %.60s%s", index->events[model->event].name,
                 model->by_samples ? " (samples)" : "");
        snprintf(numbers, sizeof(numbers), "  %s", pf_counted(model->passed.samples, "samples", count));
    }
    const int capacity = app->screen.columns - (int)(strlen(loading) + strlen(losses) + strlen(numbers));
    const int for_name = capacity - (int)pf_tui_cells(&app->screen, name, 80);
    int x = 0;
    if (for_name >= 8) {
        const char *shown = slash && slash[1] ? slash + 1 : app->name;
        const int of_file = (int)pf_tui_cells(&app->screen, shown, (size_t)for_name);
        x = pf_tui_name(&app->screen, 0, x, of_file, PF_TUI_TITLE, shown);
    }
    const char *event = x || !*name ? name : name + 2; /* without the gap */
    const int cells = (int)pf_tui_cells(&app->screen, event, 80), left = capacity - x;
    x = pf_tui_name(&app->screen, 0, x, cells < left ? cells : left, PF_TUI_WARM, event);
    x = pf_tui_add(&app->screen, 0, x, app->screen.columns - x, PF_TUI_PLAIN, numbers);
    x = pf_tui_add(&app->screen, 0, x, app->screen.columns - x, PF_TUI_ALERT, losses);
    x = pf_tui_add(&app->screen, 0, x, app->screen.columns - x, PF_TUI_ALERT, loading);
}

static void draw_notes(struct pf_tui *app)
{
    pf_tui_add(&app->screen, app->at.notes, 0, 2, PF_TUI_KEY, "! ");
    pf_tui_add(&app->screen, app->at.notes, 2, app->screen.columns - 2, PF_TUI_ALERT, app->notes);
}

static void draw_filters(struct pf_tui *app)
{
    const struct pf_tui_model *model = &app->model;
    const uint64_t all = pf_tui_weight(model, model->unfiltered);
    int x = 0;

    if (app->at.filters < 0)
        return;
    for (size_t i = 0; i < model->filters.count; i++) {
        const struct pf_tui_filter *filter = &model->filters.all[i];
        x = pf_tui_add(&app->screen, app->at.filters, x, app->screen.columns - x, PF_TUI_DIM, i ? " > " : "only ");
        x = pf_tui_add(&app->screen, app->at.filters, x, app->screen.columns - x, PF_TUI_DIM,
                       pf_tui_filter_word(filter->kind));
        x = pf_tui_add(&app->screen, app->at.filters, x, 1, PF_TUI_DIM, " ");
        if (filter->text) {
            int capacity = (app->screen.columns - x) / (int)(model->filters.count - i);
            capacity = capacity < (int)pf_tui_cells(&app->screen, filter->text, 200)
                           ? capacity
                           : (int)pf_tui_cells(&app->screen, filter->text, 200);
            x = pf_tui_name(&app->screen, app->at.filters, x, capacity, PF_TUI_ALERT, filter->text);
        }
    }
    if (app->screen.columns - x > 10)
        pf_tui_format(&app->screen, app->at.filters, x, app->screen.columns - x, PF_TUI_DIM, "  %.1f%% of all",
                      all ? 100.0 * (double)pf_tui_weight(model, model->passed) / (double)all : 0);
}

struct hint {
    const char *key, *what;
};

/* The keys that are used most often; those that do not fit are left out. */
static const struct hint row_hints[] = {{"?", "help"},   {"q", "quit"},    {"Enter", "code"}, {"Right", "open"},
                                        {"/", "filter"}, {"s", "search"},  {"4", "flame"},    {"T", "time"},
                                        {"m", "menu"},   {"f", "filters"}, {"o", "sort"},     {"v", "name"},
                                        {"t", "thread"}, {NULL, NULL}};
static const struct hint key_hints[] = {
    {"?", "help"}, {"q", "quit"},          {"Enter", "functions"}, {"Right", "open"}, {"/", "filter"},  {"s", "search"},
    {"o", "sort"}, {"1", "all functions"}, {"m", "menu"},          {"T", "time"},     {"v", "details"}, {NULL, NULL}};
static const struct hint flame_hints[] = {{"?", "help"},  {"q", "quit"}, {"Arrows", "move"}, {"Enter", "zoom"},
                                          {"Esc", "out"}, {"a", "code"}, {"1", "list"},      {NULL, NULL}};
static const struct hint time_hints[] = {
    {"Left Right", "move"}, {"Space", "from here"}, {"Enter", "to here"}, {"Esc", "leave"}, {NULL, NULL}};

static const struct hint *hints(const struct pf_tui *app)
{
    return app->time.choosing          ? time_hints
           : app->view == PF_TUI_FLAME ? flame_hints
           : app->view == PF_TUI_ROWS  ? key_hints
                                       : row_hints;
}

/* Which row of how many, on the right. */
static int draw_position(struct pf_tui *app)
{
    const struct pf_tui_list *list = pf_tui_list(app);
    char text[64], at[PF_GROUPED_BYTES], all[PF_GROUPED_BYTES];

    if (!list || !list->line_count)
        return app->screen.columns;
    snprintf(text, sizeof(text), " %s/%s ", pf_grouped(list->cursor + 1, at), pf_grouped(list->line_count, all));
    const int x = app->screen.columns - (int)strlen(text);
    pf_tui_put(&app->screen, app->at.status, x, app->screen.columns - x, PF_TUI_STATUS, text);
    return x;
}

static void draw_status(struct pf_tui *app)
{
    const struct pf_tui_screen *screen = &app->screen;
    const int y = app->at.status;
    int x = 0;

    pf_tui_put(screen, y, 0, screen->columns, PF_TUI_STATUS, "");
    const int end = draw_position(app);
    if (app->short_of_memory)
        pf_tui_say(app, "out of memory: not all is shown");
    if (*app->message) {
        pf_tui_put(screen, y, 0, end, PF_TUI_KEY, app->message);
        return;
    }
    for (const struct hint *hint = hints(app); hint->key; hint++) {
        const int cells = (int)(strlen(hint->key) + strlen(hint->what)) + 2;
        if (x + cells > end)
            continue;
        x = pf_tui_add(screen, y, x + 1, end - x, PF_TUI_KEY, hint->key);
        x = pf_tui_add(screen, y, x + 1, end - x, PF_TUI_STATUS, hint->what) + 1;
    }
}

/* Why there are no rows. */
static void draw_nothing(struct pf_tui *app)
{
    const struct pf_tui_index *index = app->model.index;
    int percent;
    const bool reads = pf_tui_load_running(&app->load, &percent);
    const char *why = reads && app->load.live && !index              ? "Recording ..."
                      : reads && app->load.live && !index->row_count ? "Nothing ran yet."
                      : reads && (!index || !index->row_count)       ? "Reading the recording ..."
                      : !index || !index->row_count                  ? "There are no samples."
                      : app->model.filters.count && !app->model.passed.samples
                          ? "No sample passes the filters (Esc takes off the last one)."
                      : app->model.filters.count ? "No function passes the filters (Esc takes off the last one)."
                                                 : "There are no rows above the limit (L changes it).";

    pf_tui_add(&app->screen, app->at.body + 1, 2, app->screen.columns - 2, PF_TUI_ALERT, why);
}

/* The recording can have nothing of these columns: that is known before any sample is read. */
static bool is_refused(struct pf_tui *app)
{
    int percent;

    return app->columns.count && !app->model.index && !pf_tui_load_running(&app->load, &percent) &&
           app->load.result == PERFILE_ERROR_ARGUMENT;
}

static bool is_empty(struct pf_tui *app)
{
    const struct pf_tui_list *list = pf_tui_list(app);

    return !app->model.index || !app->model.passed.samples || (list && !list->line_count);
}

static void draw_all(struct pf_tui *app)
{
    make_list(app);
    lay_out(app);
    draw_title(app);
    if (app->at.notes > 0)
        draw_notes(app);
    pf_tui_draw_time(app);
    if (app->model.index && app->view == PF_TUI_FLAME)
        pf_tui_draw_flame(app);
    else if (app->model.index)
        pf_tui_draw_rows(app);
    if (is_empty(app))
        draw_nothing(app);
    draw_filters(app);
    draw_status(app);
}

static bool is_too_small(const struct pf_tui *app)
{
    return app->screen.rows < MIN_ROWS || app->screen.columns < MIN_COLUMNS;
}

static void draw_too_small(const struct pf_tui *app)
{
    pf_tui_add(&app->screen, 0, 0, app->screen.columns, PF_TUI_ALERT, "The window is too");
    pf_tui_add(&app->screen, 1, 0, app->screen.columns, PF_TUI_ALERT, "small: 40x10.");
}

static void tui_draw(struct pf_tui *app)
{
    if (!is_too_small(app))
        draw_all(app);
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

static void draw_with(struct pf_tui *app, void (*draw)(struct pf_tui *app, void *context), void *context)
{
    pf_tui_screen_clear();
    tui_draw(app);
    if (is_too_small(app))
        draw_too_small(app);
    else if (draw)
        draw(app, context);
    pf_tui_screen_show();
}

int pf_tui_wait(struct pf_tui *app, void (*draw)(struct pf_tui *app, void *context), void *context)
{
    return pf_tui_wait_until(app, draw, context, NULL);
}

int pf_tui_wait_until(struct pf_tui *app, void (*draw)(struct pf_tui *app, void *context), void *context,
                      bool (*over)(void *context))
{
    while (!over || !over(context)) {
        int percent;
        if (is_refused(app))
            return 'q';
        if (!draw) /* the contents of a window stay unchanged */
            take_fresh(app);
        draw_with(app, draw, context);
        const bool polls = over || pf_tui_load_running(&app->load, &percent);
        const int key = pf_tui_screen_key(&app->screen, polls ? POLL_MS : -1);
        if (key == PF_KEY_SUSPEND)
            pf_tui_screen_suspend(&app->screen);
        else if (key == 'L' + PF_KEY_CTRL)
            pf_tui_screen_redraw();
        else if (key != PF_KEY_NONE && key != PF_KEY_WAKE && key != PF_KEY_RESIZE && !is_too_small(app))
            return key;
        else if (key == 'q' && is_too_small(app))
            return key;
    }
    return PF_KEY_NONE;
}

static void use_mouse(struct pf_tui *app)
{
    if (pf_tui_time_mouse(app))
        return;
    if (app->view == PF_TUI_FLAME)
        pf_tui_flame_mouse(app);
    else if (app->model.index)
        pf_tui_rows_mouse(app);
}

static enum pf_tui_mode mode(const struct pf_tui *app)
{
    return app->time.choosing ? PF_TUI_MODE_TIME : app->view == PF_TUI_FLAME ? PF_TUI_MODE_FLAME : PF_TUI_MODE_ROWS;
}

static bool is_read(void *context)
{
    struct pf_tui *app = context;
    int percent;

    return !pf_tui_load_running(&app->load, &percent);
}

/* Unless the user has done something since it was asked for. */
static void show_wanted_code(struct pf_tui *app)
{
    app->wants_code = false;
    *app->message = 0;
    take_fresh(app);
    draw_with(app, NULL, NULL); /* the code's window is laid out by it */
    if (app->wants_row)
        pf_tui_do_annotate(app);
    else if (app->model.index)
        pf_tui_show_code_of(app, app->load.input->settings->annotate.symbol);
}

static void loop(struct pf_tui *app)
{
    pf_tui_offer(app);
    while (!app->quits) {
        const int key = pf_tui_wait_until(app, NULL, app, app->wants_code ? is_read : NULL);
        if (is_refused(app))
            break;
        if (key == PF_KEY_NONE) {
            show_wanted_code(app);
            continue;
        }
        app->wants_code = false;
        *app->message = 0;
        if (key == PF_KEY_MOUSE)
            use_mouse(app);
        else
            pf_tui_press(app, mode(app), key);
    }
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* Makes the first filters from the options. */
static void push_options(struct pf_tui *app, const struct pf_settings *settings)
{
    const struct {
        enum pf_tui_filter_kind kind;
        const char *text;
    } asked[] = {{PF_TUI_BY_PROCESS, settings->filter.pids},
                 {PF_TUI_BY_THREAD, settings->filter.tids},
                 {PF_TUI_BY_COMM, settings->filter.comms},
                 {PF_TUI_BY_DSO, settings->report.dsos},
                 {PF_TUI_BY_SYMBOL, settings->report.symbol_filter}};

    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        const struct pf_tui_filter filter = {.kind = asked[i].kind, .text = (char *)(uintptr_t)asked[i].text};
        if (filter.text && !pf_tui_filters_push(&app->model.filters, &filter))
            app->short_of_memory = true;
    }
}

static void set_up(struct pf_tui *app, const struct pf_input *input)
{
    const struct perfile_report_options *report = &input->settings->report;

    app->name = strcmp(input->name, "-") ? input->name : "standard input";
    app->flame.at_all = true;
    app->time.mark = -1;
    app->model.relative = report->percentage && !strcmp(report->percentage, "relative");
    for (size_t i = 0; i < PF_TUI_VIEWS; i++) {
        app->lists[i].model = &app->model;
        app->lists[i].view = i == PF_TUI_FLAME ? PF_TUI_CALLS : (enum pf_tui_view)i;
        app->lists[i].limit = i < PF_TUI_FLAME && report->percent_limit ? strtod(report->percent_limit, NULL) : 0;
    }
    struct pf_tui_list *functions = &app->lists[PF_TUI_FUNCTIONS];
    functions->no_children = report->flags & PERFILE_REPORT_NO_CHILDREN;
    functions->callers = report->call_graph ? strstr(report->call_graph, "callee") != NULL : functions->no_children;
    functions->order = functions->no_children ? PF_TUI_SELF : PF_TUI_TOTAL;
    app->lists[PF_TUI_CALLERS].order = PF_TUI_SELF;
    app->model.sort = app->sort;
    app->model.no_children = functions->no_children;
    app->lists[PF_TUI_ROWS].order =
        functions->no_children || app->columns.exact || !app->columns.has_functions ? PF_TUI_SELF : PF_TUI_TOTAL;
    app->view = app->columns.count ? PF_TUI_ROWS : PF_TUI_FUNCTIONS;
    app->wants_code = !strcmp(input->command->name, "annotate");
    push_options(app, input->settings);
    if (!app->columns.count)
        pf_tui_find_offers(app, input);
}

/* The columns of --sort. A status, with a message. */
static int choose_columns(struct pf_tui *app, const struct pf_input *input)
{
    const char *list = input->settings->report.sort;

    if (!list)
        return PF_STATUS_OK;
    if (asprintf(&app->sort, "%s%s", *list == '+' ? "comm,dso,symbol," : "", list + (*list == '+')) < 0) {
        app->sort = NULL;
        return pf_out_of_memory(input->command->name);
    }
    const int status = input->profile
                           ? pf_profile_columns_choose(&app->columns, input->command->name, app->sort, input->profile)
                           : pf_profile_columns_any(&app->columns, input->command->name, app->sort);
    app->load.columns = app->columns.count ? &app->columns : NULL;
    return status;
}

static void tear_down(struct pf_tui *app)
{
    for (size_t i = 0; i < PF_TUI_VIEWS; i++)
        pf_tui_list_close(&app->lists[i]);
    free(app->flame.boxes);
    pf_tui_code_close(app->code);
    pf_tui_model_close(&app->model);
    pf_tui_load_close(&app->load);
    free(app->columns.names);
    free(app->sort);
}

/* Called after the terminal was returned to the shell. */
static int finish(struct pf_tui *app, struct pf_input *input)
{
    if (app->other_verb)
        pf_message_discard(); /* it has its own */
    else
        pf_message_release();
    if (!pf_tui_load_stop(&app->load)) {
        fflush(NULL);
        _exit(app->other_verb ? pf_handover_run(app->other_verb)
                              : PF_STATUS_OK); /* what is still looked up in another thread is not worth a wait */
    }
    const int result = app->load.result;
    if (app->other_verb)
        return pf_handover_run(app->other_verb);
    if (result < 0)
        pf_log_finish(&input->log);
    if (app->load.live)
        return result < 0 ? pf_live_failure(app->load.live, result) : PF_STATUS_OK;
    if (result < 0 && result != PERFILE_ERROR_STOPPED)
        return pf_input_failure(input, result);
    return result < 0 ? PF_STATUS_OK : app->load.status;
}

static int show(struct pf_tui *app, struct pf_input *input, struct pf_live *live, const struct pf_tui_end *end)
{
    int status = PF_STATUS_MEMORY;

    set_up(app, input);
    if (!pf_tui_screen_open(&app->screen, pf_wants_color(input->settings->color, STDOUT_FILENO))) {
        pf_message_release();
        pf_message("%s: the terminal cannot be used", input->command->name);
        status = PF_STATUS_OUTPUT;
    } else if (!pf_tui_load_start(&app->load, input, live, end)) {
        pf_tui_screen_close();
        pf_message_release();
        pf_message("%s: no thread can be started", input->command->name);
    } else {
        loop(app);
        pf_tui_screen_close();
        status = finish(app, input);
    }
    tear_down(app);
    return status;
}

static int run(struct pf_input *input, struct pf_live *live, const struct pf_tui_end *end)
{
    struct pf_tui *app = calloc(1, sizeof(*app));

    if (!app)
        return PF_STATUS_MEMORY;
    app->load.live = live;
    int status = choose_columns(app, input);
    if (!status) {
        status = show(app, input, live, end);
    } else {
        free(app->columns.names);
        free(app->sort);
    }
    free(app);
    return status;
}

int pf_tui_run(struct pf_input *input, const struct pf_tui_end *end)
{
    return run(input, NULL, end);
}

int pf_tui_run_live(struct pf_input *input, struct pf_live *live, const struct pf_tui_end *end)
{
    return run(input, live, end);
}
