/* SPDX-License-Identifier: MIT */
#include "model.h"

#include <stdlib.h>
#include <string.h>

/* Flags of a combo. */
enum { IN_BASE = 1, PASSES = 2, OF_EVENT = 4 };

static void free_buffers(struct pf_tui_model *model)
{
    free(model->steps);
    free(model->shown);
    free(model->combo_passes);
    free(model->means);
    free(model->sample_means);
    free(model->function_means);
    free(model->slot);
}

static bool make_buffers(struct pf_tui_model *model, const struct pf_tui_index *index)
{
    model->steps = calloc(index->step_count + 1, sizeof(*model->steps));
    model->shown = calloc(index->function_count + 1, sizeof(*model->shown));
    model->combo_passes = calloc(index->combo_count + 1, sizeof(*model->combo_passes));
    model->means = calloc(index->function_count + 1, sizeof(*model->means));
    model->sample_means = calloc(index->keys.samples.count + 1, sizeof(*model->sample_means));
    model->function_means = calloc(index->keys.functions.count + 1, sizeof(*model->function_means));
    model->slot = malloc((index->function_count + 1) * sizeof(*model->slot));
    if (perfile_calls_start(index->calls, NULL) < 0 || !model->steps || !model->shown || !model->combo_passes ||
        !model->means || !model->sample_means || !model->function_means || !model->slot)
        return false;
    memset(model->slot, 0xff, (index->function_count + 1) * sizeof(*model->slot)); /* NONE */
    return true;
}

/* Whether a column of the list is a field of the event. */
static bool has_field(const char *list, const char *event)
{
    const size_t bytes = strlen(event);

    for (; list; list = (list = strchr(list, ',')) ? list + 1 : NULL)
        if (!strncmp(list, event, bytes) && list[bytes] == '.')
            return true;
    return false;
}

/* At first the event with the most samples, as perf's main event is not marked, or with the field that is a column. */
static uint32_t choose_event(const struct pf_tui_model *model, const struct pf_tui_index *index)
{
    uint32_t best = 0;

    for (uint32_t i = 0; i < index->event_count; i++) {
        if (model->index && model->event < model->index->event_count &&
            !strcmp(model->index->events[model->event].name, index->events[i].name))
            return i;
        if (!model->index && has_field(model->sort, index->events[i].name))
            return i;
        best = index->event_samples[i] > index->event_samples[best] ? i : best;
    }
    return best;
}

bool pf_tui_model_replace(struct pf_tui_model *model, struct pf_tui_index *index)
{
    struct pf_tui_model fresh = *model;

    if (!make_buffers(&fresh, index)) {
        free_buffers(&fresh);
        return false;
    }
    fresh.event = choose_event(model, index);
    fresh.index = index;
    fresh.previous = model->index;
    pf_tui_index_free(model->previous);
    if (fresh.previous) { /* only its names are looked at */
        perfile_calls_close(fresh.previous->calls);
        perfile_calls_close(fresh.previous->keys.calls);
        fresh.previous->calls = fresh.previous->keys.calls = NULL;
    }
    free_buffers(model);
    *model = fresh;
    pf_tui_model_add_up(model);
    return true;
}

void pf_tui_model_discard(struct pf_tui_model *model)
{
    pf_tui_index_free(model->previous);
    model->previous = NULL;
}

void pf_tui_model_close(struct pf_tui_model *model)
{
    free_buffers(model);
    pf_tui_filters_clear(&model->filters);
    pf_tui_index_free(model->index);
    pf_tui_index_free(model->previous);
    *model = (struct pf_tui_model){.index = NULL};
}

/* ---- filters ----------------------------------------------------------------------------------------------------- */

static void judge_combos(struct pf_tui_model *model)
{
    struct pf_tui_filters cpus = {.count = 0};

    for (size_t i = 0; i < model->filters.count; i++)
        if (model->filters.all[i].kind == PF_TUI_BY_CPU)
            cpus.all[cpus.count++] = model->filters.all[i];
    for (size_t i = 0; i < model->index->combo_count; i++) {
        const struct pf_tui_combo *combo = &model->index->combos[i];
        const bool is_of_event = combo->event == model->event;
        const bool counts = is_of_event && pf_tui_filters_pass_combo(&cpus, model->index, combo);
        const bool passes = counts && pf_tui_filters_pass_combo(&model->filters, model->index, combo);
        model->combo_passes[i] =
            (uint8_t)((is_of_event ? OF_EVENT : 0) | (counts ? IN_BASE : 0) | (passes ? PASSES : 0));
    }
}

bool pf_tui_rows_have_children(const struct pf_tui_model *model)
{
    const struct pf_tui_index *index = model->index;

    return index->keys.functions.columns && index->has_stacks && !model->no_children && !index->keys.columns->exact;
}

/* The texts of rows by keys. */
static void judge_keys(struct pf_tui_model *model)
{
    const struct pf_tui_keys *keys = &model->index->keys;

    memset(model->function_means, 0, keys->functions.count * sizeof(*model->function_means));
    for (size_t i = 0; i < model->index->function_count && keys->columns; i++)
        model->function_means[keys->function_of[i]] |= model->means[i];
    memset(model->sample_means, 0, keys->samples.count * sizeof(*model->sample_means));
    for (size_t i = 0; i < model->filters.count; i++)
        for (uint32_t k = 0; k < keys->samples.count && model->filters.all[i].kind == PF_TUI_BY_TEXT; k++)
            if (pf_tui_texts_have(&keys->samples, k, model->filters.all[i].text))
                model->sample_means[k] |= (uint16_t)(1u << i);
}

bool pf_tui_row_is_shown(const struct pf_tui_model *model, uint32_t by_sample, uint32_t by_function)
{
    const bool has_functions = model->index->keys.functions.columns;
    uint16_t needed = 0;

    for (size_t i = 0; i < model->filters.count; i++)
        if (model->filters.all[i].kind == PF_TUI_BY_TEXT ||
            (has_functions && pf_tui_filter_hides_functions(&model->filters.all[i])))
            needed |= (uint16_t)(1u << i);
    return ((model->sample_means[by_sample] | model->function_means[by_function]) & needed) == needed;
}

static bool is_of_rows(const struct pf_tui_filter *filter)
{
    return filter->kind == PF_TUI_BY_TEXT || filter->kind == PF_TUI_BY_ROW;
}

static void judge_functions(struct pf_tui_model *model)
{
    const struct pf_tui_filters *filters = &model->filters;
    uint16_t of_rows = 0;

    model->all_met = model->by_leaf = 0;
    memset(model->means, 0, model->index->function_count * sizeof(*model->means));
    for (size_t i = 0; i < filters->count; i++) {
        const uint16_t bit = (uint16_t)(1u << i);
        if (!pf_tui_filter_is_of_functions(&filters->all[i]))
            continue;
        model->all_met |= bit;
        model->by_leaf |= is_of_rows(&filters->all[i]) && !pf_tui_rows_have_children(model) ? bit : 0;
        of_rows |= pf_tui_filter_hides_functions(&filters->all[i]) ? bit : 0;
        for (uint32_t k = 0; k < model->index->function_count; k++)
            model->means[k] |= pf_tui_filter_means(&filters->all[i], model->index, k) ? bit : 0;
    }
    for (size_t i = 0; i < model->index->function_count; i++)
        model->shown[i] = (model->means[i] & of_rows) == of_rows;
    judge_keys(model);
    perfile_calls_mark(model->index->calls, model->all_met ? model->means : NULL);
}

static bool has_time_filter(const struct pf_tui_model *model)
{
    for (size_t i = 0; i < model->filters.count; i++)
        if (model->filters.all[i].kind == PF_TUI_BY_TIME)
            return true;
    return false;
}

static bool functions_pass(const struct pf_tui_model *model, size_t row)
{
    const uint32_t key = model->index->combos[model->index->rows[row].combo].key;

    if (!model->all_met)
        return true;
    const uint16_t of_leaf = model->means[perfile_calls_leaf(model->index->calls, row)];
    const uint16_t of_stack = perfile_calls_marks(model->index->calls, row);
    return ((of_stack & ~model->by_leaf) | (of_leaf & model->by_leaf) | model->sample_means[key]) == model->all_met;
}

bool pf_tui_row_passes(const struct pf_tui_model *model, size_t number)
{
    const struct pf_tui_row *row = &model->index->rows[number];

    return model->combo_passes[row->combo] & PASSES && functions_pass(model, number) &&
           (!model->timed || (row->step >= model->first_step && row->step < model->end_step));
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static void add(struct pf_tui_value *to, struct pf_tui_value value)
{
    to->period += value.period;
    to->samples += value.samples;
}

static struct pf_tui_value value_of(const uint64_t *values)
{
    return (struct pf_tui_value){values[1], values[0]};
}

struct pf_tui_value pf_tui_self(const struct pf_tui_model *model, uint32_t function)
{
    return value_of(perfile_calls_self(model->index->calls, function));
}

struct pf_tui_value pf_tui_total(const struct pf_tui_model *model, uint32_t function)
{
    return value_of(perfile_calls_total(model->index->calls, function));
}

struct pf_tui_value pf_tui_row_value(const struct pf_tui_model *model, size_t row)
{
    return value_of(perfile_calls_sample(model->index->calls, row));
}

/* The time line does not depend on the range that is chosen on it. */
static void add_row(struct pf_tui_model *model, size_t number)
{
    const struct pf_tui_row *row = &model->index->rows[number];
    const struct pf_tui_value value = pf_tui_row_value(model, number);
    const unsigned combo = model->combo_passes[row->combo];
    const bool met = functions_pass(model, number);

    if (combo & OF_EVENT)
        add(&model->unfiltered, value);
    if (combo & PASSES && met && row->step != PF_TUI_NONE)
        add(&model->steps[row->step], value);
    if (!(combo & IN_BASE) || (model->timed && (row->step < model->first_step || row->step >= model->end_step)))
        return;
    add(&model->all, value);
    if (!(combo & PASSES) || !met)
        return;
    add(&model->passed, value);
    perfile_calls_add(model->index->calls, number);
}

struct pf_tui_value pf_tui_node_total(const struct pf_tui_model *model, uint32_t node)
{
    return value_of(perfile_calls_node(model->index->calls, node));
}

struct pf_tui_value pf_tui_node_self(const struct pf_tui_model *model, uint32_t node)
{
    const struct perfile_calls *calls = model->index->calls;
    struct pf_tui_value value = pf_tui_node_total(model, node);

    for (uint32_t at = perfile_calls_first(calls, node); at != PF_TUI_NONE; at = perfile_calls_next(calls, at)) {
        const struct pf_tui_value below = pf_tui_node_total(model, at);
        value.period -= below.period;
        value.samples -= below.samples < value.samples ? below.samples : value.samples;
    }
    return value;
}

void pf_tui_model_add_up(struct pf_tui_model *model)
{
    const struct pf_tui_index *index = model->index;

    (void)!perfile_calls_start(index->calls, NULL); /* make_buffers has done it before */
    memset(model->steps, 0, index->step_count * sizeof(*model->steps));
    model->all = model->passed = model->unfiltered = (struct pf_tui_value){0, 0};
    judge_combos(model);
    judge_functions(model);
    model->timed = has_time_filter(model);
    pf_tui_filters_steps(&model->filters, index, &model->first_step, &model->end_step);
    for (size_t i = 0; i < index->row_count; i++)
        add_row(model, i);
    perfile_calls_sum(index->calls);
    model->changed++;
}

uint64_t pf_tui_weight(const struct pf_tui_model *model, struct pf_tui_value value)
{
    return model->by_samples ? value.samples : value.period;
}

static uint64_t model_base(const struct pf_tui_model *model)
{
    return pf_tui_weight(model, model->relative ? model->passed : model->all);
}

double pf_tui_share(const struct pf_tui_model *model, struct pf_tui_value value)
{
    const uint64_t base = model_base(model);

    return base ? 100.0 * (double)pf_tui_weight(model, value) / (double)base : 0;
}
