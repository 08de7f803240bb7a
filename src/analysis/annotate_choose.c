/* SPDX-License-Identifier: MIT */
#include "analysis/annotate_choose.h"

#include <stdio.h>

#include "analysis/annotate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"

enum { USUAL_TOP = 5, INLINERS_NAMED = 3 };

struct choosing {
    struct perfile_annotation *annotation;
    const struct perfile_annotate_options *options;
    struct pf_annotation_choice *choice;
    struct pf_names_filter dsos, names;
    bool by_inlined;  /* names of functions that were inlined count, too */
    bool is_one_name; /* the text with commas is */
    size_t inliners;  /* functions that were chosen for what is inlined in them */
    char first_inliners[160];
    double limit_percent;
};

static bool module_passes(struct choosing *c, const struct pf_annotation_function *function)
{
    const struct pf_module *module = pf_symbols_module(c->annotation->symbols, function->module);
    return !c->dsos.active || pf_names_filter_passes(&c->dsos, module ? module->short_name : "[unknown]") ||
           pf_names_filter_passes(&c->dsos, module ? module->name : "");
}

static bool is_hot(const struct choosing *c, const struct pf_annotation_function *function)
{
    const struct perfile_annotation *annotation = c->annotation;
    const struct pf_annotation_event *event = annotation->event_count ? annotation->events : NULL;
    const uint64_t top = c->options->top ? c->options->top : USUAL_TOP;
    return event && c->choice->count < top &&
           100.0 * (double)function->first_period >= c->limit_percent * (double)event->period;
}

/* The complete text may be one name, with commas in it. */
static bool is_named(struct choosing *c, size_t rank, const struct pf_annotation_function *function)
{
    const bool passes =
        pf_names_filter_passes(&c->names, pf_symbols_name(c->annotation->symbols, function->module, function->symbol));
    const bool is_called = pf_annotation_is_called(c->annotation, rank, c->options->symbol);
    c->is_one_name |= is_called;
    return is_called || passes;
}

static bool is_wanted(void *context, const char *name)
{
    struct choosing *c = context;
    const bool passes = pf_names_filter_passes(&c->names, name);
    return pf_annotation_is_name(name, c->options->symbol) || passes;
}

static bool inlines_named(struct choosing *c, size_t rank, struct pf_annotation_function *function)
{
    if (!c->by_inlined || !pf_annotation_inlines(c->annotation, rank, is_wanted, c))
        return false;
    const char *label = pf_annotation_label(c->annotation, function);
    const size_t used = strlen(c->first_inliners);
    if (c->inliners++ < INLINERS_NAMED)
        snprintf(c->first_inliners + used, sizeof(c->first_inliners) - used, "%s%.40s", used ? ", " : "",
                 label ? label : "");
    return true;
}

static bool is_chosen(struct choosing *c, size_t rank)
{
    struct pf_annotation_function *function = pf_annotation_ranked(c->annotation, rank);
    if (!module_passes(c, function))
        return false;
    if (!c->options->symbol)
        return is_hot(c, function);
    return is_named(c, rank, function) || inlines_named(c, rank, function);
}

static int choose_all(struct choosing *c, struct perfile_error *error)
{
    struct pf_annotation_choice *choice = c->choice;
    const size_t count = perfile_annotation_function_count(c->annotation);
    choice->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_chosen(c, i))
            continue;
        if (!PF_APPEND(choice->allocator, choice->ranks, choice->count, choice->capacity, (uint32_t)i))
            return pf_fail_memory(error, "functions");
    }
    return pf_memory_was_short(choice->allocator) ? pf_fail_memory(error, "functions") : 0;
}

/* Names that no function with samples has may be those of functions that were inlined. */
static int choose_inliners(struct choosing *c, struct perfile_error *error)
{
    c->by_inlined =
        c->names.active && c->names.wanted.unmatched && !c->is_one_name && !c->annotation->complete.symbols.no_inline;
    const int result = c->by_inlined ? choose_all(c, error) : 0;
    if (result == 0 && c->inliners)
        pf_find_note(&c->annotation->find, "\"%.80s\" is inlined in %s%s: the code around it is shown",
                     c->options->symbol, c->first_inliners, c->inliners > INLINERS_NAMED ? " and others" : "");
    return result;
}

static void report_unmatched(const struct choosing *c)
{
    const struct perfile_annotation_options *options = &c->annotation->options;
    if (!options->unmatched)
        return;
    pf_names_filter_notify_unmatched(&c->dsos, "dsos", options->unmatched, options->unmatched_context);
    if (!c->choice->count)
        pf_names_filter_notify_unmatched(&c->names, "symbols", options->unmatched, options->unmatched_context);
}

static int parse_limit(struct choosing *c, struct perfile_error *error)
{
    const char *text = c->options->percent_limit ? c->options->percent_limit : "1";
    char *end;
    c->limit_percent = pf_parse_double(text, &end);
    if (end != text && strcmp(end, *end == '%' ? "%" : "") == 0 && c->limit_percent >= 0 && c->limit_percent <= 100)
        return 0;
    return pf_about(error, text, strlen(text),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "percent-limit",
                            "invalid percentage \"%.40s\" (expected 0 to 100)", text));
}

static int open_filters(struct choosing *c, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = c->annotation->allocator;
    const int result = pf_names_filter_open(&c->dsos, c->options->dsos, false, allocator, error);
    return result < 0 ? result : pf_names_filter_open(&c->names, c->options->symbol, true, allocator, error);
}

int pf_annotation_choose(struct perfile_annotation *annotation, const struct perfile_annotate_options *options,
                         struct pf_annotation_choice *choice, struct perfile_error *error)
{
    struct choosing c = {.annotation = annotation, .options = options, .choice = choice};
    *choice = (struct pf_annotation_choice){.allocator = annotation->allocator};
    int result = parse_limit(&c, error);
    if (result == 0)
        result = open_filters(&c, error);
    if (result == 0)
        result = choose_all(&c, error);
    if (result == 0)
        result = choose_inliners(&c, error);
    if (result == 0)
        report_unmatched(&c);
    pf_names_filter_close(&c.dsos);
    pf_names_filter_close(&c.names);
    return result;
}

void pf_annotation_choice_close(struct pf_annotation_choice *choice)
{
    if (choice->allocator)
        pf_free(choice->allocator, choice->ranks, choice->capacity * sizeof(*choice->ranks));
}
