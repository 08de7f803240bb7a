/* SPDX-License-Identifier: MIT */
/* Actions of keys that all views share: filters, events, windows with text. */
#include "app.h"
#include "print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- views and events -------------------------------------------------------------------------------------------- */

void pf_tui_do_functions(struct pf_tui *app)
{
    app->view = PF_TUI_FUNCTIONS;
}

void pf_tui_do_calls(struct pf_tui *app)
{
    app->view = PF_TUI_CALLS;
}

void pf_tui_do_callers(struct pf_tui *app)
{
    app->view = PF_TUI_CALLERS;
}

void pf_tui_do_flame(struct pf_tui *app)
{
    app->view = PF_TUI_FLAME;
}

void pf_tui_do_rows(struct pf_tui *app)
{
    if (app->columns.count)
        app->view = PF_TUI_ROWS;
    else
        pf_tui_say(app, "Rows by thread, file, line and so on need the option --sort: -s comm,dso.");
}

static void show_event(struct pf_tui *app, size_t event)
{
    app->model.event = (uint32_t)event;
    pf_tui_changed(app);
}

void pf_tui_do_next_event(struct pf_tui *app)
{
    const size_t count = app->model.index->event_count;

    if (count < 2)
        pf_tui_say(app, "There is only one event.");
    else
        show_event(app, (app->model.event + 1) % count);
}

void pf_tui_do_previous_event(struct pf_tui *app)
{
    const size_t count = app->model.index->event_count;

    if (count < 2)
        pf_tui_say(app, "There is only one event.");
    else
        show_event(app, (app->model.event + count - 1) % count);
}

void pf_tui_do_weights(struct pf_tui *app)
{
    app->model.by_samples = !app->model.by_samples;
    app->model.changed++;
    pf_tui_say(app, app->model.by_samples ? "Shares of the samples." : "Shares of what the event counted (%s).",
               app->model.index->events[app->model.event].unit);
}

void pf_tui_do_relative(struct pf_tui *app)
{
    app->model.relative = !app->model.relative;
    app->model.changed++;
    pf_tui_say(app, app->model.relative ? "Shares of what passes the filters." : "Shares of all.");
}

void pf_tui_do_headers(struct pf_tui *app)
{
    app->no_headers = !app->no_headers;
}

void pf_tui_do_quit(struct pf_tui *app)
{
    app->quits = true;
}

/* The next two are dealt with wherever keys are waited for. */
void pf_tui_do_redraw(struct pf_tui *app)
{
    (void)app;
    pf_tui_screen_redraw();
}

void pf_tui_do_suspend(struct pf_tui *app)
{
    pf_tui_screen_suspend(&app->screen);
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

static void push(struct pf_tui *app, enum pf_tui_filter_kind kind, const char *text, const char *dso)
{
    const struct pf_tui_filter filter = {.kind = kind, .text = (char *)(uintptr_t)text, .dso = (char *)(uintptr_t)dso};

    if (!pf_tui_filters_push(&app->model.filters, &filter))
        pf_tui_say(app, "There are too many filters.");
    pf_tui_changed(app);
}

/* A filter by a row leads back to the rows. */
void pf_tui_do_pop(struct pf_tui *app)
{
    const struct pf_tui_filters *filters = &app->model.filters;
    const bool is_row = filters->count && filters->all[filters->count - 1].kind == PF_TUI_BY_ROW;

    app->view = is_row ? PF_TUI_ROWS : app->view;
    if (pf_tui_filters_pop(&app->model.filters))
        pf_tui_changed(app);
    else
        pf_tui_say(app, "There is no filter to remove (q quits).");
}

void pf_tui_do_reset(struct pf_tui *app)
{
    pf_tui_filters_clear(&app->model.filters);
    pf_tui_changed(app);
}

void pf_tui_do_filter_symbol(struct pf_tui *app)
{
    const bool by_rows = app->view == PF_TUI_ROWS;
    char text[128] = "";

    if (pf_tui_ask(app, by_rows ? "Rows with: " : "Functions with: ", text, sizeof(text)) && *text)
        push(app, by_rows ? PF_TUI_BY_TEXT : PF_TUI_BY_SYMBOL, text, NULL);
}

/* The columns of the row, as they stand in its line. NULL: out of memory. */
static char *row_text(const struct pf_tui_keys *keys, const struct pf_tui_item *item)
{
    char *text = NULL;
    size_t bytes;
    FILE *to = open_memstream(&text, &bytes);

    for (size_t i = 0; to && i < keys->columns->count; i++)
        fprintf(to, "%s%s", i ? "  " : "", pf_tui_keys_cell(keys, item->by_sample, item->by_function, i));
    return to && fclose(to) == 0 ? text : NULL;
}

/* The functions of the samples of a row. */
static void narrow_to_row(struct pf_tui *app, const struct pf_tui_item *item)
{
    const struct pf_tui_keys *keys = &app->model.index->keys;
    struct pf_tui_filter filter = {.kind = PF_TUI_BY_ROW,
                                   .text = row_text(keys, item),
                                   .dso = keys->calls ? keys->functions.joined[item->by_function] : NULL,
                                   .sample = keys->samples.joined[item->by_sample]};

    if (!filter.text)
        app->short_of_memory = true;
    else if (!pf_tui_filters_push(&app->model.filters, &filter))
        pf_tui_say(app, "There are too many filters.");
    else
        app->view = PF_TUI_FUNCTIONS;
    free(filter.text);
    pf_tui_changed(app);
}

void pf_tui_do_enter(struct pf_tui *app)
{
    const struct pf_tui_item *item = pf_tui_list_at(pf_tui_list(app));

    if (item && item->keyed)
        narrow_to_row(app, item);
    else
        pf_tui_do_annotate(app);
}

void pf_tui_do_filter_dso(struct pf_tui *app)
{
    const uint32_t function = pf_tui_function(app);

    if (function != PF_TUI_NONE)
        push(app, PF_TUI_BY_DSO, pf_tui_dso(app->model.index, function), NULL);
}

void pf_tui_do_filter_kernel(struct pf_tui *app)
{
    push(app, PF_TUI_BY_KERNEL, NULL, NULL);
}

void pf_tui_do_filter_function(struct pf_tui *app)
{
    const uint32_t function = pf_tui_function(app);

    if (function != PF_TUI_NONE)
        push(app, PF_TUI_BY_FUNCTION, app->model.index->functions[function].name,
             pf_tui_dso(app->model.index, function));
}

/* A property that distinguishes combos, and its name. */
struct group {
    enum pf_tui_filter_kind kind;
    const char *title;
    bool (*is_same)(const struct pf_tui_combo *a, const struct pf_tui_combo *b);
    int (*print)(const struct pf_tui_index *index, const struct pf_tui_combo *combo, char **text);
};

static const char *comm_of(const struct pf_tui_index *index, int32_t pid, int32_t tid)
{
    for (size_t i = 0; i < index->thread_count; i++)
        if (index->threads[i].tid == tid && (pid == -1 || index->threads[i].pid == pid))
            return index->threads[i].comm;
    return "";
}

static bool is_same_thread(const struct pf_tui_combo *a, const struct pf_tui_combo *b)
{
    return a->tid == b->tid;
}

static int print_thread(const struct pf_tui_index *index, const struct pf_tui_combo *combo, char **text)
{
    return asprintf(text, "%" PRId32 "  %s  (process %" PRId32 ")", combo->tid, comm_of(index, combo->pid, combo->tid),
                    combo->pid);
}

static bool is_same_process(const struct pf_tui_combo *a, const struct pf_tui_combo *b)
{
    return a->pid == b->pid;
}

static int print_process(const struct pf_tui_index *index, const struct pf_tui_combo *combo, char **text)
{
    const char *name = comm_of(index, combo->pid, combo->pid);

    return asprintf(text, "%" PRId32 "  %s", combo->pid, *name ? name : combo->comm ? combo->comm : "");
}

static bool is_same_comm(const struct pf_tui_combo *a, const struct pf_tui_combo *b)
{
    return a->comm == b->comm || (a->comm && b->comm && !strcmp(a->comm, b->comm));
}

static int print_comm(const struct pf_tui_index *index, const struct pf_tui_combo *combo, char **text)
{
    (void)index;
    return asprintf(text, "%s", combo->comm ? combo->comm : "[unknown]");
}

static bool is_same_cpu(const struct pf_tui_combo *a, const struct pf_tui_combo *b)
{
    return a->cpu == b->cpu;
}

static int print_cpu(const struct pf_tui_index *index, const struct pf_tui_combo *combo, char **text)
{
    (void)index;
    return asprintf(text, "CPU %" PRId32, combo->cpu);
}

static const struct group groups[] = {
    {PF_TUI_BY_THREAD, "Only one thread", is_same_thread, print_thread},
    {PF_TUI_BY_PROCESS, "Only one process", is_same_process, print_process},
    {PF_TUI_BY_COMM, "Only threads of one name", is_same_comm, print_comm},
    {PF_TUI_BY_CPU, "Only one CPU", is_same_cpu, print_cpu},
};

static const struct group *group_of(enum pf_tui_filter_kind kind)
{
    const struct group *group = groups;

    while (group->kind != kind)
        group++;
    return group;
}

/* The weight of each combo with the current filters. */
static uint64_t *weigh_combos(const struct pf_tui *app)
{
    const struct pf_tui_index *index = app->model.index;
    uint64_t *weights = calloc(index->combo_count + 1, sizeof(*weights));

    for (size_t i = 0; i < index->row_count && weights; i++) {
        if (pf_tui_row_passes(&app->model, i))
            weights[index->rows[i].combo] += pf_tui_weight(&app->model, pf_tui_row_value(&app->model, i));
    }
    return weights;
}

static bool add_choice(const struct pf_tui_index *index, const struct group *group, size_t combo,
                       struct pf_tui_choice *choices, size_t *count)
{
    struct pf_tui_choice *choice = &choices[*count];

    if (group->print(index, &index->combos[combo], &choice->text) < 0)
        return false;
    choice->value = (int64_t)combo;
    choice->weight = 0;
    ++*count;
    return true;
}

enum { MAX_CHOICES = 5000 };

/* Combos of the same thread (process ...) become one choice. Threads are thousands at most where it matters. */
static size_t make_choices(struct pf_tui *app, const struct group *group, const uint64_t *weights,
                           struct pf_tui_choice *choices)
{
    const struct pf_tui_index *index = app->model.index;
    size_t count = 0;

    for (size_t i = 0; i < index->combo_count; i++) {
        size_t at = 0;
        if (!weights[i])
            continue;
        while (at < count && !group->is_same(&index->combos[choices[at].value], &index->combos[i]))
            at++;
        if (at == MAX_CHOICES)
            continue;
        if (at == count && !add_choice(index, group, i, choices, &count)) {
            app->short_of_memory = true;
            break;
        }
        choices[at].weight += weights[i];
    }
    return count;
}

static void push_combo(struct pf_tui *app, enum pf_tui_filter_kind kind, const struct pf_tui_combo *combo)
{
    const int32_t number = kind == PF_TUI_BY_THREAD ? combo->tid : kind == PF_TUI_BY_PROCESS ? combo->pid : combo->cpu;
    char text[16];

    snprintf(text, sizeof(text), "%" PRId32, number);
    push(app, kind, kind == PF_TUI_BY_COMM ? combo->comm : text, NULL);
}

static void filter_combo(struct pf_tui *app, enum pf_tui_filter_kind kind)
{
    struct pf_tui_choice *choices = calloc(app->model.index->combo_count + 1, sizeof(*choices));
    uint64_t *weights = weigh_combos(app);
    char title[128], number[PF_GROUPED_BYTES];
    size_t count = 0;
    const struct pf_tui_index *index = app->model.index; /* may be replaced while the user chooses */

    if (choices && weights)
        count = make_choices(app, group_of(kind), weights, choices);
    struct pf_tui_combo *combos = calloc(count + 1, sizeof(*combos));
    for (size_t i = 0; i < count && combos; i++) {
        combos[i] = index->combos[choices[i].value];
        choices[i].value = (int64_t)i;
    }
    if (!count || !combos)
        pf_tui_say(app, "There is nothing to choose from.");
    snprintf(title, sizeof(title), count < MAX_CHOICES ? "%s" : "%s (%s are listed; there may be more)",
             group_of(kind)->title, pf_grouped(count, number));
    const int chosen = combos ? pf_tui_choose(app, title, choices, count, true) : -1;
    if (chosen >= 0)
        push_combo(app, kind, &combos[choices[chosen].value]);
    for (size_t i = 0; i < count; i++)
        free(choices[i].text);
    free(combos);
    free(choices);
    free(weights);
}

void pf_tui_do_filter_thread(struct pf_tui *app)
{
    filter_combo(app, PF_TUI_BY_THREAD);
}

void pf_tui_do_filter_process(struct pf_tui *app)
{
    filter_combo(app, PF_TUI_BY_PROCESS);
}

void pf_tui_do_filter_cpu(struct pf_tui *app)
{
    filter_combo(app, PF_TUI_BY_CPU);
}

static void filter_comm(struct pf_tui *app)
{
    filter_combo(app, PF_TUI_BY_COMM);
}

static void choose_event(struct pf_tui *app)
{
    const struct pf_tui_index *index = app->model.index;
    const size_t count = index->event_count;
    struct pf_tui_choice *choices = calloc(count + 1, sizeof(*choices));

    for (size_t i = 0; i < count && choices; i++)
        choices[i] = (struct pf_tui_choice){
            .text = (char *)(uintptr_t)index->events[i].name, .weight = index->event_samples[i], .value = (int64_t)i};
    const int chosen = choices ? pf_tui_choose(app, "Show one event", choices, count, true) : -1;
    if (chosen >= 0)
        show_event(app, (size_t)choices[chosen].value);
    free(choices);
}

void pf_tui_do_filter_menu(struct pf_tui *app)
{
    static const struct {
        const char *text;
        pf_tui_action *action;
    } kinds[] = {{"Thread", pf_tui_do_filter_thread},
                 {"Process", pf_tui_do_filter_process},
                 {"Name of threads", filter_comm},
                 {"CPU", pf_tui_do_filter_cpu},
                 {"File (dso) of the row", pf_tui_do_filter_dso},
                 {"Text in names of functions", pf_tui_do_filter_symbol},
                 {"Function of the row", pf_tui_do_filter_function},
                 {"Kernel", pf_tui_do_filter_kernel},
                 {"Range of time", pf_tui_do_time_line},
                 {"Event", choose_event}};
    enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
    struct pf_tui_choice choices[KINDS];

    for (size_t i = 0; i < KINDS; i++)
        choices[i] = (struct pf_tui_choice){.text = (char *)(uintptr_t)kinds[i].text, .value = (int64_t)i};
    const int chosen = pf_tui_choose(app, "Filter by", choices, KINDS, false);
    if (chosen >= 0)
        kinds[choices[chosen].value].action(app);
}

/* ---- windows ----------------------------------------------------------------------------------------------------- */

static void print_value(FILE *to, const struct pf_tui *app, const char *what, struct pf_tui_value value)
{
    const struct pf_tui_model *model = &app->model;
    char period[PF_GROUPED_BYTES], samples[PF_COUNTED_BYTES];

    fprintf(to, "%-12s %6.2f%%  %s %s in %s\n", what, pf_tui_share(model, value), pf_grouped(value.period, period),
            model->index->events[model->event].unit, pf_counted(value.samples, "samples", samples));
}

static void print_details(FILE *to, const struct pf_tui *app, uint32_t function)
{
    static const char *const kinds[] = {"user", "kernel", "inlined", "JIT-compiled", "not mapped"};
    const struct pf_tui_index *index = app->model.index;
    const struct pf_tui_function *at = &index->functions[function];

    fprintf(to, "%s\n\n", at->name);
    fprintf(to, "%-12s %s\n", "File", at->module == PF_TUI_NONE ? "[unknown]" : index->modules[at->module].name);
    if (at->address)
        fprintf(to, "%-12s 0x%" PRIx64 "\n", "Address", at->address);
    if (at->kind < sizeof(kinds) / sizeof(kinds[0]))
        fprintf(to, "%-12s %s\n", "Code", kinds[at->kind]);
    print_value(to, app, "Total", pf_tui_total(&app->model, function));
    print_value(to, app, "Self", pf_tui_self(&app->model, function));
}

static void print_row(FILE *to, const struct pf_tui *app, const struct pf_tui_item *item)
{
    const struct pf_tui_keys *keys = &app->model.index->keys;

    for (size_t i = 0; i < keys->columns->count; i++)
        fprintf(to, "%-14s %s\n", keys->columns->columns[i].title,
                pf_tui_keys_cell(keys, item->by_sample, item->by_function, i));
    fputs("\n", to);
    if (pf_tui_rows_have_children(&app->model))
        print_value(to, app, "Total", item->total);
    print_value(to, app, "Self", item->self);
}

void pf_tui_do_details(struct pf_tui *app)
{
    const struct pf_tui_list *list = pf_tui_list(app);
    const struct pf_tui_item *item = list ? pf_tui_list_at(list) : NULL;
    const bool keyed = item && item->keyed;
    const uint32_t function = keyed ? PF_TUI_NONE : pf_tui_function(app);
    char *text = NULL;
    size_t bytes;
    FILE *to = keyed || function != PF_TUI_NONE ? open_memstream(&text, &bytes) : NULL;

    if (!to)
        return;
    if (keyed)
        print_row(to, app, item);
    else
        print_details(to, app, function);
    if (fclose(to) == 0)
        pf_tui_show_text(app, keyed ? "Row" : "Function", text, keyed ? 15 : 0);
    free(text);
}

void pf_tui_do_facts(struct pf_tui *app)
{
    char *text = strdup(app->model.index->facts); /* which another index may replace meanwhile */

    if (text)
        pf_tui_show_text(app, "Recording", *text ? text : "The recording does not say where it is from.", 15);
    free(text);
}

static void print_losses(FILE *to, const struct perfile_losses *losses)
{
    const struct {
        uint64_t count;
        const char *what;
    } parts[] = {{losses->lost, "lost while recording"},
                 {losses->unmapped, "at unmapped addresses"},
                 {losses->unresolved, "in code without a symbol"},
                 {losses->truncated, "with a stack that ends before the outermost caller"},
                 {losses->guessed, "with callers that were found without call frame information"},
                 {losses->filtered, "left out by the filters of the command line"}};
    char count[PF_COUNTED_BYTES];

    fprintf(to, "%s read\n", pf_counted(losses->samples, "samples", count));
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (parts[i].count)
            fprintf(to, "%s %s\n", pf_grouped(parts[i].count, count), parts[i].what);
}

void pf_tui_do_notes(struct pf_tui *app)
{
    char *text = NULL;
    size_t bytes;
    char *notes = pf_message_kept();
    FILE *to = open_memstream(&text, &bytes);

    if (to && notes)
        fputs(notes, to);
    if (to && notes && *notes && app->model.index)
        fputs("\n", to);
    if (to && app->model.index)
        print_losses(to, &app->model.index->losses);
    if (to && app->load.result < 0)
        fprintf(to, "\nReading failed: %s\n", app->load.input->error.message);
    if (to && fclose(to) == 0)
        pf_tui_show_text(app, "Notes", *text ? text : "No notes so far.", 0);
    free(text);
    free(notes);
}

void pf_tui_do_print(struct pf_tui *app)
{
    char *text = NULL;
    size_t bytes = 0;
    const bool fine = pf_tui_rows_print(app, &text, &bytes);
    const int number = fine ? pf_tui_print(text, bytes) : -1;

    if (!fine)
        pf_tui_say(app, "out of memory");
    else if (number < 0)
        pf_tui_say(app, "The file cannot be written: %s", strerror(-number));
    else
        pf_tui_say(app, "Written to perf.hist.%d.", number);
    free(text);
}

void pf_tui_do_annotate(struct pf_tui *app)
{
    const uint32_t function = pf_tui_function(app);

    if (function != PF_TUI_NONE)
        pf_tui_show_code(app, function);
}

void pf_tui_do_zero(struct pf_tui *app)
{
    if (!app->load.live) {
        pf_tui_say(app, "Only perfile top has intervals to discard.");
        return;
    }
    atomic_store(&app->load.live->discards, true);
    pf_tui_say(app, "The sums start again from 0.");
}
