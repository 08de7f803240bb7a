/* SPDX-License-Identifier: MIT */
#include "filters.h"

#include <stdlib.h>
#include <string.h>

const char *pf_tui_filter_word(enum pf_tui_filter_kind kind)
{
    static const char *const words[] = {
        [PF_TUI_BY_THREAD] = "thread", [PF_TUI_BY_PROCESS] = "process",   [PF_TUI_BY_COMM] = "command",
        [PF_TUI_BY_CPU] = "cpu",       [PF_TUI_BY_DSO] = "dso",           [PF_TUI_BY_SYMBOL] = "symbol",
        [PF_TUI_BY_KERNEL] = "kernel", [PF_TUI_BY_FUNCTION] = "function", [PF_TUI_BY_TEXT] = "text",
        [PF_TUI_BY_ROW] = "row",       [PF_TUI_BY_TIME] = "time",         [PF_TUI_BY_EVENT] = "event"};

    return words[kind];
}

/* ---- the stack --------------------------------------------------------------------------------------------------- */

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool is_same(const struct pf_tui_filter *a, const struct pf_tui_filter *b)
{
    return a->kind == b->kind && is_same_text(a->text, b->text) && is_same_text(a->dso, b->dso) &&
           is_same_text(a->sample, b->sample) && a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

static void free_filter(struct pf_tui_filter *filter)
{
    free(filter->text);
    free(filter->dso);
    free(filter->sample);
    *filter = (struct pf_tui_filter){.text = NULL};
}

static bool copy_text(char **text)
{
    const char *from = *text;

    *text = from ? strdup(from) : NULL;
    return !from || *text;
}

bool pf_tui_filters_push(struct pf_tui_filters *filters, const struct pf_tui_filter *filter)
{
    struct pf_tui_filter copy = *filter;

    for (size_t i = 0; i < filters->count; i++)
        if (is_same(&filters->all[i], filter))
            return true;
    if (filters->count == PF_TUI_FILTERS)
        return false;
    const bool fine = copy_text(&copy.text) & copy_text(&copy.dso) & copy_text(&copy.sample);
    if (!fine) {
        free_filter(&copy);
        return false;
    }
    filters->all[filters->count++] = copy;
    return true;
}

bool pf_tui_filters_pop(struct pf_tui_filters *filters)
{
    if (!filters->count)
        return false;
    free_filter(&filters->all[--filters->count]);
    return true;
}

void pf_tui_filters_clear(struct pf_tui_filters *filters)
{
    while (pf_tui_filters_pop(filters))
        ;
}

/* ---- what they mean ---------------------------------------------------------------------------------------------- */

/* Whether the word is one of a list with commas between them. */
static bool is_listed(const char *list, const char *word)
{
    const size_t bytes = strlen(word);

    if (!strcmp(list, word)) /* which may have commas itself */
        return true;
    for (size_t piece; *list; list += piece + (list[piece] == ',')) {
        piece = strcspn(list, ",");
        if (piece == bytes && !memcmp(list, word, bytes))
            return true;
    }
    return false;
}

/* Lists of processors may have ranges: 0-3,7. */
static bool is_number_listed(const char *list, int32_t number)
{
    while (*list) {
        char *end;
        const long from = strtol(list, &end, 10);
        const long to = *end == '-' && end != list ? strtol(end + 1, &end, 10) : from;
        if (end != list && number >= from && number <= to)
            return true;
        list = end + strcspn(end, ",");
        list += *list == ',';
    }
    return false;
}

static bool passes(const struct pf_tui_filter *filter, const struct pf_tui_index *index,
                   const struct pf_tui_combo *combo)
{
    switch (filter->kind) {
    case PF_TUI_BY_THREAD:
        return is_number_listed(filter->text, combo->tid);
    case PF_TUI_BY_PROCESS:
        return is_number_listed(filter->text, combo->pid);
    case PF_TUI_BY_COMM:
        return combo->comm && is_listed(filter->text, combo->comm);
    case PF_TUI_BY_CPU:
        return is_number_listed(filter->text, combo->cpu);
    case PF_TUI_BY_ROW:
        return !strcmp(index->keys.samples.joined[combo->key], filter->sample);
    default:
        return true;
    }
}

bool pf_tui_filters_pass_combo(const struct pf_tui_filters *filters, const struct pf_tui_index *index,
                               const struct pf_tui_combo *combo)
{
    for (size_t i = 0; i < filters->count; i++)
        if (!passes(&filters->all[i], index, combo))
            return false;
    return true;
}

bool pf_tui_filter_is_of_functions(const struct pf_tui_filter *filter)
{
    return filter->kind == PF_TUI_BY_DSO || filter->kind == PF_TUI_BY_SYMBOL || filter->kind == PF_TUI_BY_KERNEL ||
           filter->kind == PF_TUI_BY_FUNCTION || filter->kind == PF_TUI_BY_TEXT ||
           (filter->kind == PF_TUI_BY_ROW && filter->dso);
}

bool pf_tui_filter_hides_functions(const struct pf_tui_filter *filter)
{
    return filter->kind == PF_TUI_BY_DSO || filter->kind == PF_TUI_BY_SYMBOL || filter->kind == PF_TUI_BY_KERNEL;
}

bool pf_tui_filter_means(const struct pf_tui_filter *filter, const struct pf_tui_index *index, uint32_t function)
{
    const struct pf_tui_function *at = &index->functions[function];

    switch (filter->kind) {
    case PF_TUI_BY_DSO:
        return is_listed(filter->text, pf_tui_dso(index, function)) ||
               (at->module != PF_TUI_NONE && is_listed(filter->text, index->modules[at->module].name));
    case PF_TUI_BY_SYMBOL:
        return pf_tui_has_text(at->name, filter->text);
    case PF_TUI_BY_KERNEL:
        return at->module != PF_TUI_NONE && index->modules[at->module].kernel;
    case PF_TUI_BY_FUNCTION:
        return !strcmp(at->name, filter->text) && !strcmp(pf_tui_dso(index, function), filter->dso);
    case PF_TUI_BY_TEXT:
        return pf_tui_texts_have(&index->keys.functions, index->keys.function_of[function], filter->text);
    case PF_TUI_BY_ROW:
        return !strcmp(index->keys.functions.joined[index->keys.function_of[function]], filter->dso);
    default:
        return true;
    }
}

void pf_tui_filters_steps(const struct pf_tui_filters *filters, const struct pf_tui_index *index, uint32_t *first,
                          uint32_t *end)
{
    uint64_t from = 0, to = UINT64_MAX;

    for (size_t i = 0; i < filters->count; i++) {
        const struct pf_tui_filter *filter = &filters->all[i];
        if (filter->kind != PF_TUI_BY_TIME)
            continue;
        from = filter->from_ns > from ? filter->from_ns : from;
        to = filter->to_ns < to ? filter->to_ns : to;
    }
    const uint64_t low = from > index->first_time ? (from - index->first_time) / index->quantum_ns : 0;
    const uint64_t high = to > index->first_time ? (to - index->first_time - 1) / index->quantum_ns + 1 : 0;
    *first = low < index->step_count ? (uint32_t)low : index->step_count;
    *end = high < index->step_count ? (uint32_t)high : index->step_count;
}
