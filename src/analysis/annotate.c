/* SPDX-License-Identifier: MIT */
#include "analysis/annotate.h"

#include "analysis/describe.h"
#include "analysis/label.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/function_name.h"
#include "base/locale.h"
#include "base/sized.h"
#include "base/sort.h"
#include "symbol/find/bundle.h"

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int check_syntax(const char *syntax, struct perfile_error *error)
{
    if (!syntax || strcmp(syntax, "att") == 0 || strcmp(syntax, "intel") == 0)
        return 0;
    return pf_about(error, syntax, strlen(syntax),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "syntax",
                            "unknown syntax '%s'; there are att, intel", syntax));
}

static int take_options(struct perfile_annotation *made, const struct perfile_reader *reader,
                        const struct perfile_annotation_options *options, struct perfile_error *error)
{
    int result = pf_complete_options_take(&made->complete, reader, options->filter, options->symbols, error);
    if (result == 0)
        result = check_syntax(options->syntax, error);
    made->options = *options;
    made->options.filter = &made->complete.filter;
    made->options.symbols = &made->complete.symbols;
    return result;
}

static int open_parts(struct perfile_annotation *made, struct perfile_reader *reader, struct perfile_error *error)
{
    made->find = pf_find_options_of(&made->complete.symbols, made->allocator);
    made->find.threads = made->options.threads;
    const struct pf_delivery_options delivery = {.allocator = made->allocator,
                                                 .filter = made->options.filter,
                                                 .find = &made->find,
                                                 .progress = made->options.progress,
                                                 .progress_context = made->options.progress_context};
    if (pf_bundle_load(&made->find) < 0) /* for its sources */
        return pf_fail_memory(error, "bundle");
    int result = pf_symbols_open(reader, &made->find, &made->symbols, error);
    if (result == 0)
        result = pf_delivery_open(reader, &delivery, &made->delivery, error);
    if (result < 0)
        return result;
    pf_symbols_use_jit(made->symbols, pf_delivery_jit(made->delivery));
    return 0;
}

static void count_losses(struct perfile_annotation *made, const struct perfile_reader *reader)
{
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    made->losses.lost = counts->lost_samples ? counts->lost_samples : counts->lost_events;
    made->losses.filtered = pf_delivery_filtered(made->delivery);
    pf_filter_notify(pf_delivery_filter(made->delivery), made->find.note, made->find.note_context);
    if (made->options.unmatched)
        pf_delivery_notify_unmatched(made->delivery, made->options.unmatched, made->options.unmatched_context);
}

static int read_all(struct perfile_annotation *made, struct perfile_reader *reader, struct perfile_error *error)
{
    int result = open_parts(made, reader, error);
    if (result == 0)
        result = pf_annotation_read(made, error);
    if (result < 0)
        return result;
    count_losses(made, reader);
    return pf_memory_was_short(made->allocator) ? pf_fail_memory(error, "annotation") : 0;
}

int perfile_annotation_open(struct perfile_reader *reader, const struct perfile_annotation_options *options,
                            struct perfile_annotation **annotation, struct perfile_error *error)
{
    return pf_annotation_open(reader, options, NULL, annotation, error);
}

int pf_annotation_open(struct perfile_reader *reader, const struct perfile_annotation_options *options,
                       const struct pf_annotation_watcher *watcher, struct perfile_annotation **annotation,
                       struct perfile_error *error)
{
    struct perfile_annotation_options all = PERFILE_ANNOTATION_OPTIONS_INIT;
    *annotation = NULL;
    int result = pf_sized_take(&all, sizeof(all), options, "annotation options", error);
    if (result < 0)
        return result;
    struct perfile_annotation *made = pf_new(pf_allocator_or_default(all.allocator), sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "annotation");
    pf_watch_open(&made->watch, all.allocator);
    made->allocator = &made->watch.allocator;
    made->watcher = watcher ? *watcher : (struct pf_annotation_watcher){0};
    pf_arena_open(&made->arena, made->allocator);
    pf_map_open(&made->short_names, made->allocator);
    result = take_options(made, reader, &all, error);
    pf_sources_open(&made->sources, made->complete.symbols.source_dirs, made->complete.symbols.symfs, made->allocator);
    made->sources.find = &made->find;
    if (result == 0)
        result = read_all(made, reader, error);
    if (result == 0)
        *annotation = made;
    else
        perfile_annotation_close(made);
    return result;
}

void perfile_annotation_close(struct perfile_annotation *annotation)
{
    if (!annotation)
        return;
    const struct perfile_allocator *allocator = annotation->allocator;
    pf_data_types_close(annotation->data_types);
    pf_disassembler_close(annotation->disassembler);
    pf_sources_close(&annotation->sources);
    pf_bundle_unload(&annotation->find);
    pf_symbols_close(annotation->symbols);
    pf_delivery_close(annotation->delivery);
    pf_free(allocator, annotation->order, annotation->order_capacity * sizeof(*annotation->order));
    pf_free(allocator, annotation->functions, annotation->function_capacity * sizeof(*annotation->functions));
    pf_free(allocator, annotation->events, annotation->event_capacity * sizeof(*annotation->events));
    pf_free(allocator, annotation->hits, annotation->hit_capacity * sizeof(*annotation->hits));
    pf_free(allocator, annotation->sums, annotation->sum_capacity * sizeof(*annotation->sums));
    pf_free(allocator, annotation->branches, annotation->branch_capacity * sizeof(*annotation->branches));
    pf_map_close(&annotation->short_names);
    pf_arena_close(&annotation->arena);
    pf_free(annotation->watch.below, annotation, sizeof(*annotation));
}

struct pf_data_types *pf_annotation_data_types(struct perfile_annotation *annotation)
{
    if (!annotation->data_types)
        annotation->data_types = pf_data_types_open(annotation->symbols, annotation->allocator);
    return annotation->data_types;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

size_t perfile_annotation_event_count(const struct perfile_annotation *annotation)
{
    return annotation->event_count;
}

int perfile_annotation_event_at(const struct perfile_annotation *annotation, size_t index,
                                struct perfile_annotation_event *event)
{
    if (index >= annotation->event_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_annotation_event *one = &annotation->events[index];
    const struct perfile_annotation_event all = {.name = one->event ? one->event->name : "[unknown]",
                                                 .unit = one->unit,
                                                 .samples = one->samples,
                                                 .period = one->period};
    return pf_sized_give(event, &all, sizeof(all));
}

int perfile_annotation_losses(const struct perfile_annotation *annotation, struct perfile_losses *losses)
{
    return pf_sized_give(losses, &annotation->losses, sizeof(annotation->losses));
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

size_t perfile_annotation_function_count(const struct perfile_annotation *annotation)
{
    return annotation->ranked_count;
}

const char *pf_annotation_label(struct perfile_annotation *annotation, struct pf_annotation_function *function)
{
    const struct pf_module *module = pf_symbols_module(annotation->symbols, function->module);
    if (!function->label)
        function->label = pf_label_of_frame(&annotation->arena,
                                            pf_symbols_name(annotation->symbols, function->module, function->symbol),
                                            module ? module->name : NULL, module && module->jit);
    return function->label;
}

static uint32_t kind_of(const struct pf_module *module)
{
    return !module          ? PERFILE_FRAME_UNKNOWN
           : module->kernel ? PERFILE_FRAME_KERNEL
           : module->jit    ? PERFILE_FRAME_JIT
                            : PERFILE_FRAME_USER;
}

int perfile_annotation_function_at(struct perfile_annotation *annotation, size_t index,
                                   struct perfile_annotation_function *function)
{
    struct pf_annotation_function *one = pf_annotation_ranked(annotation, index);
    uint64_t start, end;
    if (!one)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_symbols *symbols = annotation->symbols;
    const char *label = pf_annotation_label(annotation, one);
    (void)pf_symbols_range(symbols, one->module, one->symbol, &start, &end);
    const struct perfile_annotation_function all = {.name =
                                                        pf_symbols_name(annotation->symbols, one->module, one->symbol),
                                                    .raw_name = pf_symbols_raw_name(symbols, one->module, one->symbol),
                                                    .label = label,
                                                    .module = one->module,
                                                    .kind = kind_of(pf_symbols_module(symbols, one->module)),
                                                    .address = start,
                                                    .bytes = end - start,
                                                    .rank = (uint32_t)index};
    return label && !pf_memory_was_short(annotation->allocator) ? pf_sized_give(function, &all, sizeof(all))
                                                                : PERFILE_ERROR_MEMORY;
}

int perfile_annotation_module(const struct perfile_annotation *annotation, uint32_t module,
                              struct perfile_module *found)
{
    return pf_describe_module(annotation->symbols, module, found);
}

int perfile_annotation_weight(const struct perfile_annotation *annotation, size_t function, size_t event,
                              struct perfile_weight *weight)
{
    const struct pf_annotation_function *one = pf_annotation_ranked(annotation, function);
    struct perfile_weight all = {0};
    if (!one || event >= annotation->event_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_annotation_sum *sums = annotation->sums + one->sums;
    const size_t at = PF_COUNT_BEFORE(one->sum_count, i, sums[i].event < event);
    if (at < one->sum_count && sums[at].event == event)
        all = (struct perfile_weight){.samples = sums[at].samples, .period = sums[at].period};
    return pf_sized_give(weight, &all, sizeof(all));
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

const char *pf_annotation_short_name(struct perfile_annotation *annotation, const char *name)
{
    uint64_t known;
    if (!name)
        return NULL;
    if (pf_map_get(&annotation->short_names, (uintptr_t)name, &known))
        return (const char *)(uintptr_t)known;
    const char *made = pf_label_of_frame(&annotation->arena, name, NULL, false);
    return made && pf_map_put(&annotation->short_names, (uintptr_t)name, (uintptr_t)made) ? made : NULL;
}

bool pf_annotation_is_name(const char *name, const char *wanted)
{
    return strcmp(name, wanted) == 0 || pf_function_is_called(name, wanted) ||
           (strpbrk(wanted, "*?") && pf_glob_matches(wanted, name, false));
}

bool pf_annotation_is_called(struct perfile_annotation *annotation, size_t rank, const char *name)
{
    const struct pf_annotation_function *function = pf_annotation_ranked(annotation, rank);
    const char *raw = pf_symbols_raw_name(annotation->symbols, function->module, function->symbol);
    const char *readable = pf_symbols_name(annotation->symbols, function->module, function->symbol);
    return raw && (strcmp(raw, name) == 0 || (readable && pf_annotation_is_name(readable, name)));
}

bool pf_annotation_inlines(struct perfile_annotation *annotation, size_t rank,
                           bool (*is_wanted)(void *context, const char *name), void *context)
{
    const struct pf_annotation_function *function = pf_annotation_ranked(annotation, rank);
    const char *names[PF_INLINED_MAX];
    bool found = false;
    for (size_t i = function->hits; i < function->hits + function->hit_count && !found; i++) {
        const struct pf_location location = {
            .module = function->module, .symbol = function->symbol, .address = annotation->hits[i].address};
        const size_t count = pf_symbols_inlined_names(annotation->symbols, &location, names, PF_INLINED_MAX);
        for (size_t n = 0; n < count && !found; n++)
            found = is_wanted(context, names[n]);
    }
    return found;
}

static bool is_name(void *wanted, const char *name)
{
    return pf_annotation_is_name(name, wanted);
}

static bool has_inlined(struct perfile_annotation *annotation, size_t rank, const char *name)
{
    return !annotation->complete.symbols.no_inline && pf_annotation_inlines(annotation, rank, is_name, (void *)name);
}

static uint32_t find_from(struct perfile_annotation *annotation, const char *name, size_t from,
                          bool (*has)(struct perfile_annotation *annotation, size_t rank, const char *name))
{
    for (; from < annotation->ranked_count; from++)
        if (has(annotation, from, name))
            return (uint32_t)from;
    return PERFILE_NO_ID;
}

uint32_t perfile_annotation_find(struct perfile_annotation *annotation, const char *name, size_t from)
{
    const uint32_t found = find_from(annotation, name, from, pf_annotation_is_called);
    const bool is_only_inlined =
        from == 0 ? found == PERFILE_NO_ID : find_from(annotation, name, 0, pf_annotation_is_called) == PERFILE_NO_ID;
    return is_only_inlined ? find_from(annotation, name, from, has_inlined) : found;
}
