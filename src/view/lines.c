/* SPDX-License-Identifier: MIT */
/*
 * What was sampled at each source line of each function: inlined code counts for the line that it was written in, as in
 * `report --sort srcline`. Code without a known line has one row for each function.
 */
#include <stdlib.h>

#include "analysis/annotate.h"
#include "base/error.h"
#include "view/annotated.h"

struct row {
    uint32_t event;
    uint32_t line;
    const char *file; /* NULL: not known */
    size_t number;    /* of the chosen function */
    uint64_t samples, period;
};

struct lines {
    struct pf_annotated annotated; /* first */
    struct row *rows;
    size_t count, capacity, next;
    const struct row *row;
};

#define LINES const struct lines *lines = state

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

static const struct pf_annotation_event *event_of(const struct lines *lines)
{
    return &lines->annotated.annotation->events[lines->row->event];
}

PF_PUT_AS(event, LINES, pf_set_lasting, event_of(lines)->event ? event_of(lines)->event->name : "[unknown]")
PF_PUT_AS(unit, LINES, pf_set_lasting, event_of(lines)->unit)
PF_PUT_AS(srcfile, LINES, pf_set_lasting, lines->row->file)
PF_PUT_IF(srcline, LINES, lines->row->file && lines->row->line, pf_set_u32, lines->row->line)

PF_PUT(source)
{
    LINES;
    struct pf_sources *sources = &lines->annotated.annotation->sources;
    const char *file = lines->row->file;
    pf_set_text(vector, file ? pf_source_line(pf_sources_find(sources, file, NULL, NULL), lines->row->line) : NULL);
}

PF_PUT_AS(samples, LINES, pf_set_u64, lines->row->samples)
PF_PUT_AS(period, LINES, pf_set_u64, lines->row->period)
PF_PUT_AS(overhead, LINES, pf_set_f64, pf_annotated_percent(lines->row->period, event_of(lines)->period))

PF_PUT(share)
{
    LINES;
    struct perfile_weight total = PERFILE_WEIGHT_INIT;
    (void)!perfile_annotation_weight(lines->annotated.annotation, lines->annotated.function.rank, lines->row->event,
                                     &total); /* both exist */
    pf_set_f64(vector, pf_annotated_percent(lines->row->period, total.period));
}

#define OF_FUNCTION(field, kind, text, ...)                                                                            \
    {                                                                                                                  \
        .name = #field, .type = PERFILE_COLUMN_##kind, .unit = "", .doc = text, .put = pf_annotated_put_##field,       \
        __VA_ARGS__                                                                                                    \
    }

static const struct pf_column columns[] = {
    PF_REQUIRED(event, TEXT, "", "Event of the samples."),
    PF_COLUMN(srcfile, TEXT, "", "Source file that the code was written in; null: not known."),
    PF_COLUMN(srcline, U32, "", "Line in it."),
    PF_EXTRA(source, TEXT, "", "What the line says, where the file was found."),
    OF_FUNCTION(symbol, TEXT, "Function that the code is in, never an inlined one; null: no symbol covers it.",
                .extra = false),
    OF_FUNCTION(dso, TEXT, "File or module that holds the function.", .extra = false),
    OF_FUNCTION(function_id, U64, "Id of that function, as in the view frames.", .required = true, .extra = true),
    OF_FUNCTION(label, TEXT, "That function without its parameters.", .required = true, .extra = true),
    OF_FUNCTION(kind, TEXT, "Where the code ran: user, kernel, jit, unknown.", .required = true, .extra = true),
    OF_FUNCTION(build_id, TEXT, "Build id of the module as the recording has it, in hexadecimal.", .extra = true),
    PF_REQUIRED(samples, U64, "samples", "Samples at the line."),
    PF_REQUIRED(period, U64, "", "Period of the samples at the line, in the unit of the event."),
    PF_REQUIRED(overhead, F64, "percent", "Share of the period of all samples of the event that the line has."),
    PF_REQUIRED_EXTRA(share, F64, "percent", "Share of the period of that function."),
    PF_REQUIRED_EXTRA(unit, TEXT, "", "What the periods of the event count."),
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const char *a, const char *b)
{
    return a == b ? 0 : !a || !b ? (a ? -1 : 1) : strcmp(a, b);
}

static int compare_positions(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int events = order(x->event, y->event), files = compare_texts(x->file, y->file);
    return events ? events : files ? files : order(x->line, y->line);
}

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    const int events = order(x->event, y->event), periods = order(y->period, x->period);
    const int functions = order(x->number, y->number);
    return events ? events : periods ? periods : functions ? functions : compare_positions(a, b);
}

/* What is the same from row `first` on becomes one. */
static void join(struct lines *lines, size_t first)
{
    size_t joined = first;
    if (lines->count > first)
        qsort(lines->rows + first, lines->count - first, sizeof(*lines->rows), compare_positions);
    for (size_t i = first; i < lines->count; i++) {
        if (joined > first && compare_positions(&lines->rows[joined - 1], &lines->rows[i]) == 0) {
            lines->rows[joined - 1].samples += lines->rows[i].samples;
            lines->rows[joined - 1].period += lines->rows[i].period;
        } else {
            lines->rows[joined++] = lines->rows[i];
        }
    }
    lines->count = joined;
}

/* False: out of memory. */
static bool add_function(struct lines *lines, size_t number)
{
    struct perfile_annotation *annotation = lines->annotated.annotation;
    const struct pf_annotation_function *function =
        pf_annotation_ranked(annotation, lines->annotated.choice.ranks[number]);
    const size_t first = lines->count;
    if (!pf_grow(lines->annotated.table->allocator, &lines->rows, &lines->capacity, first + function->hit_count,
                 sizeof(*lines->rows)))
        return false;
    for (size_t i = function->hits; i < function->hits + function->hit_count; i++) {
        const struct pf_annotation_hit *hit = &annotation->hits[i];
        struct pf_source_frame frame = {0};
        (void)pf_annotation_frames(annotation, function, hit->address, &frame, 1);
        lines->rows[lines->count++] = (struct row){.event = hit->event,
                                                   .line = frame.file ? frame.line : 0,
                                                   .file = frame.file,
                                                   .number = number,
                                                   .samples = hit->samples,
                                                   .period = hit->period};
    }
    join(lines, first);
    return true;
}

static int add_functions(struct lines *lines, struct perfile_error *error)
{
    bool enough = true;
    for (size_t i = 0; i < lines->annotated.choice.count && enough; i++)
        enough = add_function(lines, i);
    if (lines->count && enough)
        qsort(lines->rows, lines->count, sizeof(*lines->rows), compare_rows);
    return enough ? 0 : pf_fail_memory(error, "lines");
}

static int next_line(void *state, struct perfile_error *error)
{
    struct lines *lines = state;
    if (lines->next >= lines->count)
        return 0;
    lines->row = &lines->rows[lines->next++];
    const int result = pf_annotated_take(&lines->annotated, lines->row->number, error);
    return result < 0 ? result : 1;
}

static int open_lines(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct lines *lines = state;
    const int result = pf_annotated_open(&lines->annotated, table, error);
    return result < 0 ? result : add_functions(lines, error);
}

static void close_lines(void *state)
{
    struct lines *lines = state;
    const struct perfile_allocator *allocator = lines->annotated.table->allocator;
    pf_free(allocator, lines->rows, lines->capacity * sizeof(*lines->rows));
    pf_annotated_close(&lines->annotated);
}

const struct pf_view pf_view_lines = {
    .lists = {PF_COLUMNS(columns)},
    .info = {"lines", "for each event the source lines of functions that have samples, the hottest first"},
    .state_bytes = sizeof(struct lines),
    .open = open_lines,
    .next = next_line,
    .close = close_lines,
    .losses = pf_annotated_losses,
};
