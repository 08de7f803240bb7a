/* SPDX-License-Identifier: MIT */
#include "output/annotate/annotate.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Returns the samples or the period of the weight, as the options require. */
static uint64_t annotate_value(const struct pf_annotate *annotate, const struct perfile_weight *weight)
{
    return annotate->how->flags & PERFILE_ANNOTATE_HITS ? weight->samples : weight->period;
}

/* Chooses the events that have samples in the function, up to the capacity of the table. */
static void choose_events(const struct pf_annotate *annotate, struct pf_annotate_function *function)
{
    const size_t count = perfile_annotation_event_count(annotate->annotation);
    for (size_t i = 0; i < count && function->event_count < PF_ANNOTATE_EVENTS; i++) {
        struct perfile_weight weight = PERFILE_WEIGHT_INIT;
        (void)!perfile_annotation_weight(annotate->annotation, function->about.rank, i, &weight); /* both exist */
        if (!weight.samples)
            continue;
        const struct perfile_annotation_event event = pf_annotate_event(annotate, i);
        const struct perfile_weight all = {.samples = event.samples, .period = event.period};
        function->totals[function->event_count] =
            annotate_value(annotate, annotate->how->flags & PERFILE_ANNOTATE_GLOBAL ? &all : &weight);
        function->events[function->event_count++] = i;
    }
}

/* Opens the function of that rank; false: out of memory. */
static int open_function(struct pf_annotate *annotate, size_t rank, struct pf_annotate_function *function,
                         struct perfile_error *error)
{
    *function = (struct pf_annotate_function){.about = PERFILE_ANNOTATION_FUNCTION_INIT, .module = PERFILE_MODULE_INIT};
    int result = perfile_annotation_function_at(annotate->annotation, rank, &function->about);
    if (result < 0)
        return pf_fail_memory(error, "function");
    if (function->about.module != PERFILE_NO_ID)
        (void)!perfile_annotation_module(annotate->annotation, function->about.module, &function->module); /* exists */
    result = perfile_annotation_listing(annotate->annotation, rank, &function->listing, error);
    if (result < 0)
        return result;
    function->line_count = perfile_listing_line_count(function->listing);
    choose_events(annotate, function);
    return 0;
}

static void close_function(struct pf_annotate_function *function)
{
    perfile_listing_close(function->listing);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

struct perfile_weight pf_annotate_weight(const struct pf_annotate_function *function, size_t line, size_t column)
{
    struct perfile_weight weight = PERFILE_WEIGHT_INIT;
    (void)!perfile_listing_weight(function->listing, line, function->events[column], &weight); /* both exist */
    return weight;
}

double pf_annotate_percent(const struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t line,
                           size_t column)
{
    const struct perfile_weight weight = pf_annotate_weight(function, line, column);
    const uint64_t total = function->totals[column];
    return total ? 100.0 * (double)annotate_value(annotate, &weight) / (double)total : 0;
}

bool pf_annotate_counts(const struct pf_annotate *annotate)
{
    return annotate->how->flags & (PERFILE_ANNOTATE_SAMPLES | PERFILE_ANNOTATE_PERIODS);
}

const char *pf_annotate_title(const struct pf_annotate *annotate)
{
    const unsigned flags = annotate->how->flags;
    return flags & PERFILE_ANNOTATE_SAMPLES ? "Samples" : flags & PERFILE_ANNOTATE_PERIODS ? "Period" : "Percent";
}

void pf_annotate_format_value(const struct pf_annotate *annotate, const struct pf_annotate_function *function,
                              size_t line, size_t column, int width, char text[PF_ANNOTATE_VALUE_BYTES])
{
    const struct perfile_weight weight = pf_annotate_weight(function, line, column);
    const uint64_t number = annotate->how->flags & PERFILE_ANNOTATE_SAMPLES ? weight.samples : weight.period;
    if (pf_annotate_counts(annotate))
        pf_format(text, PF_ANNOTATE_VALUE_BYTES, "%*" PRIu64, width, number);
    else
        pf_format(text, PF_ANNOTATE_VALUE_BYTES, "%*.2f", width, pf_annotate_percent(annotate, function, line, column));
}

struct perfile_annotation_event pf_annotate_event(const struct pf_annotate *annotate, size_t event)
{
    struct perfile_annotation_event found = PERFILE_ANNOTATION_EVENT_INIT;
    (void)!perfile_annotation_event_at(annotate->annotation, event, &found); /* it exists */
    return found;
}

double pf_annotate_share(const struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t column)
{
    const struct perfile_annotation_event event = pf_annotate_event(annotate, function->events[column]);
    const struct perfile_weight all = {.samples = event.samples, .period = event.period};
    struct perfile_weight weight = PERFILE_WEIGHT_INIT;
    (void)!perfile_annotation_weight(annotate->annotation, function->about.rank, function->events[column],
                                     &weight); /* both exist */
    const uint64_t total = annotate_value(annotate, &all);
    return total ? 100.0 * (double)annotate_value(annotate, &weight) / (double)total : 0;
}

struct perfile_listing_line pf_annotate_line(const struct pf_annotate_function *function, size_t index)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    (void)!perfile_listing_line_at(function->listing, index, &line); /* it exists */
    return line;
}

/* ---- the hottest lines ------------------------------------------------------------------------------------------- */

static int compare_positions(const void *a, const void *b)
{
    const struct pf_annotate_location *x = a, *y = b;
    const int files = strcmp(x->file, y->file);
    return files ? files : (x->line > y->line) - (x->line < y->line);
}

static int compare_percents(const void *a, const void *b)
{
    const struct pf_annotate_location *x = a, *y = b;
    return x->percent == y->percent ? compare_positions(a, b) : x->percent < y->percent ? 1 : -1;
}

static size_t gather(const struct pf_annotate *annotate, const struct pf_annotate_function *function,
                     struct pf_annotate_location *lines)
{
    size_t count = 0;
    for (size_t i = 0; i < function->line_count; i++) {
        const struct perfile_listing_line line = pf_annotate_line(function, i);
        const double percent = pf_annotate_percent(annotate, function, i, 0);
        if (line.file && line.line && percent > 0)
            lines[count++] = (struct pf_annotate_location){line.file, line.line, percent};
    }
    return count;
}

static size_t join(struct pf_annotate_location *lines, size_t count)
{
    size_t joined = 0;
    for (size_t i = 0; i < count; i++)
        if (joined && compare_positions(&lines[joined - 1], &lines[i]) == 0)
            lines[joined - 1].percent += lines[i].percent;
        else
            lines[joined++] = lines[i];
    return joined;
}

size_t pf_annotate_hottest(const struct pf_annotate *annotate, const struct pf_annotate_function *function,
                           struct pf_annotate_location *lines, size_t count)
{
    const struct perfile_allocator *allocator = annotate->options->allocator;
    const size_t bytes = (function->line_count + 1) * sizeof(struct pf_annotate_location);
    struct pf_annotate_location *all = function->event_count ? pf_new(allocator, bytes) : NULL;
    if (!all)
        return 0;
    size_t found = gather(annotate, function, all);
    qsort(all, found, sizeof(*all), compare_positions);
    found = join(all, found);
    qsort(all, found, sizeof(*all), compare_percents);
    found = pf_min(found, count);
    memcpy(lines, all, found * sizeof(*lines));
    pf_free(allocator, all, bytes);
    return found;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

bool pf_annotate_put_branches(struct pf_text *text, const struct perfile_listing_line *line)
{
    if (line->taken) {
        pf_put_format(text, "taken %" PRIu64, line->taken);
        if (line->mispredicted)
            pf_put_format(text, " (%.1f%% mispredicted)", 100.0 * (double)line->mispredicted / (double)line->taken);
        if (line->cycle_count)
            pf_put_format(text, ", %.1f cycles", (double)line->cycles / (double)line->cycle_count);
    }
    if (line->reached)
        pf_put_format(text, "%sreached %" PRIu64, line->taken ? "; " : "", line->reached);
    return line->taken || line->reached;
}

const char *pf_annotate_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int open_annotation(struct pf_annotate *annotate, struct perfile_error *error)
{
    const struct perfile_output_options *options = annotate->options;
    const struct perfile_annotation_options how = {.size = sizeof(how),
                                                   .filter = options->filter,
                                                   .symbols = options->symbols,
                                                   .threads = options->threads,
                                                   .progress = options->progress,
                                                   .progress_context = options->progress_context,
                                                   .unmatched = options->unmatched,
                                                   .unmatched_context = options->unmatched_context,
                                                   .allocator = options->allocator,
                                                   .syntax = annotate->how->syntax,
                                                   .disassemble = annotate->how->disassemble,
                                                   .disassemble_context = annotate->how->disassemble_context,
                                                   .data_types = annotate->how->flags & PERFILE_ANNOTATE_CODE_TYPES};
    int result = perfile_annotation_open(annotate->reader, &how, &annotate->annotation, error);
    if (result == 0)
        result = pf_annotation_choose(annotate->annotation, annotate->how, &annotate->choice, error);
    return result;
}

static int write_functions(struct pf_annotate *annotate, const struct pf_annotate_format *format,
                           struct perfile_error *error)
{
    struct pf_annotate_function function;
    int result = 0;
    for (size_t i = 0; i < annotate->choice.count && result == 0 && !annotate->out->failed; i++) {
        result = open_function(annotate, annotate->choice.ranks[i], &function, error);
        if (result == 0)
            result = format->function(annotate, &function, error);
        close_function(&function);
    }
    return result;
}

static int write_all(struct pf_annotate *annotate, const struct pf_annotate_format *format, struct perfile_error *error)
{
    int result = open_annotation(annotate, error);
    if (result == 0 && annotate->how->flags & PF_ANNOTATE_ABOUT_TYPES)
        result = pf_annotate_write_types(annotate, error);
    if (result != 0 || annotate->how->flags & PERFILE_ANNOTATE_TYPES)
        return result;
    if (format->begin)
        result = format->begin(annotate, error);
    if (result == 0)
        result = write_functions(annotate, format, error);
    if (result == 0 && format->end)
        format->end(annotate);
    return result;
}

int pf_annotate_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      const struct pf_annotate_format *format, struct perfile_error *error)
{
    struct pf_annotate annotate = {.options = options, .how = options->annotate, .reader = reader, .out = out};
    int result = write_all(&annotate, format, error);
    if (result == 0 && annotate.how->symbol && !annotate.choice.count)
        result = 1;
    pf_annotation_choice_close(&annotate.choice);
    perfile_annotation_close(annotate.annotation);
    return result;
}
