/* SPDX-License-Identifier: MIT */
/* The layout of perf annotate --stdio, which programs read. */
#include <inttypes.h>
#include <stdio.h>

#include "base/locale.h"
#include "output/annotate/annotate.h"

enum { ADDRESS_WIDTH = 8, NUMBER_WIDTH = 12, LINE_WIDTH = 4, SUMMARY_LINES = 64 };

static const char *percent_type(const struct pf_annotate *annotate)
{
    const bool global = annotate->how->flags & PERFILE_ANNOTATE_GLOBAL;
    const bool hits = annotate->how->flags & PERFILE_ANNOTATE_HITS;
    return global ? hits ? "global hits" : "global period" : hits ? "local hits" : "local period";
}

static int width_of(const struct pf_annotate *annotate)
{
    return pf_annotate_counts(annotate) ? NUMBER_WIDTH : ADDRESS_WIDTH;
}

/* What the columns are of, and a line below it. */
static void put_heading(struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t column)
{
    const struct perfile_annotation_event event = pf_annotate_event(annotate, function->events[column]);
    struct perfile_weight weight = PERFILE_WEIGHT_INIT;
    struct pf_text *out = annotate->out;
    (void)!perfile_annotation_weight(annotate->annotation, function->about.rank, function->events[column],
                                     &weight); /* both exist */
    const size_t start = out->used;
    pf_put_format(out, "%*s |\tSource code & Disassembly of ", width_of(annotate), pf_annotate_title(annotate));
    pf_put_name(out, function->module.short_name);
    pf_put_string(out, " for ");
    pf_put_name(out, event.name);
    pf_put_format(out, " (%" PRIu64 " samples, percent: %s)", weight.samples, percent_type(annotate));
    size_t width = out->used > start ? out->used - start : 100; /* what was flushed in between is not counted */
    pf_put_char(out, '\n');
    while (width--)
        pf_put_char(out, '-');
    pf_put_char(out, '\n');
}

static void put_summary(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    struct pf_annotate_location lines[SUMMARY_LINES];
    const size_t count = pf_annotate_hottest(annotate, function, lines, SUMMARY_LINES);
    struct pf_text *out = annotate->out;
    if (!(annotate->how->flags & PERFILE_ANNOTATE_LINES))
        return;
    pf_put_string(out, "\nSorted summary for file ");
    pf_put_name(out, function->module.path ? function->module.path : function->module.name);
    pf_put_string(out, "\n----------------------------------------------\n\n");
    for (size_t i = 0; i < count; i++) {
        pf_put_hundredths(out, lines[i].percent, ADDRESS_WIDTH);
        pf_put_char(out, ' ');
        pf_put_name(out, pf_annotate_file_name(lines[i].file));
        pf_put_format(out, ":%" PRIu32 "\n", lines[i].line);
    }
}

static void put_source(struct pf_annotate *annotate, struct pf_annotate_function *function, size_t index,
                       const struct perfile_listing_line *line)
{
    const struct perfile_listing_line before =
        index ? pf_annotate_line(function, index - 1) : (struct perfile_listing_line){0};
    if (!line->file || !line->line || (before.file == line->file && before.line == line->line))
        return;
    const char *source = perfile_listing_source(function->listing, line->file, line->line);
    if (!source)
        return;
    while (*source == ' ' || *source == '\t')
        source++;
    pf_put_format(annotate->out, "%*s : %-*" PRIu32 " ", width_of(annotate), "", LINE_WIDTH, line->line);
    pf_put_name(annotate->out, source);
    pf_put_char(annotate->out, '\n');
}

static void put_value(struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t index,
                      size_t column)
{
    char number[PF_ANNOTATE_VALUE_BYTES];
    if (!pf_annotate_counts(annotate)) {
        pf_put_hundredths(annotate->out, pf_annotate_percent(annotate, function, index, column), ADDRESS_WIDTH);
        return;
    }
    pf_annotate_format_value(annotate, function, index, column, NUMBER_WIDTH, number);
    pf_put_string(annotate->out, number);
}

static void put_instruction(struct pf_annotate *annotate, struct pf_annotate_function *function, size_t index,
                            size_t column)
{
    const struct perfile_listing_line line = pf_annotate_line(function, index);
    char address[24];
    if (!(annotate->how->flags & PERFILE_ANNOTATE_NO_SOURCE))
        put_source(annotate, function, index, &line);
    put_value(annotate, function, index, column);
    snprintf(address, sizeof(address), "%" PRIx64 ":", line.address);
    if (!line.byte_count) {
        pf_put_format(annotate->out, " :   %s\n", address);
        return;
    }
    pf_put_format(annotate->out, " :   %-*s", ADDRESS_WIDTH, address);
    if (annotate->how->flags & PERFILE_ANNOTATE_BYTES)
        for (uint32_t i = 0; i < line.byte_count; i++)
            pf_put_format(annotate->out, "%02x ", line.bytes[i]);
    pf_put_name(annotate->out, line.text ? line.text : "");
    if (line.taken || line.reached)
        pf_put_string(annotate->out, "   // ");
    pf_annotate_put_branches(annotate->out, &line);
    if (line.data_type) {
        pf_put_string(annotate->out, "\t\t# data-type: ");
        pf_put_name(annotate->out, line.data_type);
    }
    pf_put_char(annotate->out, '\n');
}

static void put_event(struct pf_annotate *annotate, struct pf_annotate_function *function, size_t column)
{
    put_summary(annotate, function);
    put_heading(annotate, function, column);
    pf_put_format(annotate->out, "%*s : 0    %016" PRIx64 " <", width_of(annotate), "", function->about.address);
    pf_put_name(annotate->out, function->about.raw_name ? function->about.raw_name : function->about.label);
    pf_put_string(annotate->out, ">:\n");
    for (size_t i = 0; i < function->line_count && !annotate->out->failed; i++)
        put_instruction(annotate, function, i, column);
}

static int put_function(struct pf_annotate *annotate, struct pf_annotate_function *function,
                        struct perfile_error *error)
{
    const struct perfile_symbol_options *symbols = annotate->options->symbols;
    const char *missing = perfile_listing_missing(function->listing);
    (void)error;
    if (missing && symbols->note)
        symbols->note(symbols->note_context, missing);
    for (size_t i = 0; i < function->event_count; i++)
        put_event(annotate, function, i);
    return 0;
}

static int write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                 struct perfile_error *error)
{
    static const struct pf_annotate_format format = {.function = put_function};
    return pf_annotate_write(reader, options, out, &format, error);
}

const struct pf_output pf_output_annotate_stdio = {
    .info = {"annotate", "stdio", "instructions laid out as perf annotate prints them"},
    .write = write,
    .reports_omissions = true,
};
