/* SPDX-License-Identifier: MIT */
/* A page that needs nothing else: no scripts, and nothing is requested. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"
#include "output/annotate/annotate.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>perfile annotate</title>\n<style>\n"
    ":root{color-scheme:light dark}\n"
    "body{font:14px/1.4 system-ui,sans-serif;margin:1em}\n"
    "h2{font-size:1.1em;margin:2em 0 0;overflow-wrap:anywhere}\n"
    "p{margin:.3em 0}\n"
    "table{border-collapse:collapse;font:12px/1.35 ui-monospace,monospace}\n"
    "td,th{padding:0 .6em;white-space:pre;text-align:left;font-weight:normal}\n"
    "td.n,th.n{text-align:right}\n"
    "tr.s td{color:#07707c}\n"
    "tr.c td{color:#8250a0}\n"
    "tr:target{outline:2px solid}\n"
    "@media(prefers-color-scheme:dark){tr.s td{color:#6cc}tr.c td{color:#c9a0e8}}\n"
    "</style>\n</head>\n<body>\n<h1>perfile annotate</h1>\n";

/* Text between tags or in an attribute: what cannot be printed has escapes, too. */
static void put_html(struct pf_text *out, const char *text)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}, {'\t', "    "}};
    while (*text) {
        const size_t run = strcspn(text, "<>&\"\t");
        pf_put_name_bytes(out, text, run);
        text += run;
        for (size_t i = 0; *text && i < PF_COUNT(entities); i++)
            if (entities[i].character == *text) {
                pf_put_string(out, entities[i].entity);
                text++;
                break;
            }
    }
}

static const char *name_of(const struct perfile_annotation_function *function)
{
    return function->name ? function->name : function->label;
}

static int begin(struct pf_annotate *annotate, struct perfile_error *error)
{
    struct pf_text *out = annotate->out;
    pf_put_string(out, head);
    pf_put_string(out, "<ol>\n");
    for (size_t i = 0; i < annotate->choice.count; i++) {
        struct perfile_annotation_function function = PERFILE_ANNOTATION_FUNCTION_INIT;
        if (perfile_annotation_function_at(annotate->annotation, annotate->choice.ranks[i], &function) < 0)
            return pf_fail_memory(error, "annotate");
        pf_put_format(out, "<li><a href=\"#f%" PRIu32 "\">", function.rank);
        put_html(out, name_of(&function));
        pf_put_string(out, "</a></li>\n");
    }
    pf_put_string(out, "</ol>\n");
    return 0;
}

static void put_shares(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    for (size_t i = 0; i < function->event_count; i++) {
        pf_put_string(annotate->out, i ? ", " : ": ");
        pf_put_hundredths(annotate->out, pf_annotate_share(annotate, function, i), 0);
        pf_put_string(annotate->out, "% of ");
        put_html(annotate->out, pf_annotate_event(annotate, function->events[i]).name);
    }
}

static void put_heading(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    struct pf_text *out = annotate->out;
    const char *missing = perfile_listing_missing(function->listing);
    pf_put_format(out, "<h2 id=\"f%" PRIu32 "\">", function->about.rank);
    put_html(out, name_of(&function->about));
    pf_put_string(out, "</h2>\n<p>");
    put_html(out, function->module.name ? function->module.name : "[unknown]");
    put_shares(annotate, function);
    pf_put_string(out, "</p>\n");
    if (missing) {
        pf_put_string(out, "<p>No instructions: ");
        put_html(out, missing);
        pf_put_string(out, "</p>\n");
    }
}

static void put_columns(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    pf_put_string(annotate->out, "<table>\n<tr>");
    for (size_t i = 0; i < function->event_count; i++) {
        pf_put_string(annotate->out, "<th class=\"n\">");
        put_html(annotate->out, pf_annotate_event(annotate, function->events[i]).name);
        pf_put_string(annotate->out, "</th>");
    }
    pf_put_string(annotate->out, "<th class=\"n\">address</th><th>instruction</th></tr>\n");
}

/* A row without shares, across what is left. */
static void begin_row(struct pf_annotate *annotate, const struct pf_annotate_function *function, const char *kind)
{
    pf_put_format(annotate->out, "<tr class=\"%s\"><td colspan=\"%zu\"></td><td>", kind, function->event_count + 1);
}

static void put_file_line(struct pf_text *out, const char *file, uint32_t line)
{
    put_html(out, pf_annotate_file_name(file));
    pf_put_format(out, ":%" PRIu32, line);
}

static void put_chain(struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t index,
                      const struct perfile_listing_line *line)
{
    begin_row(annotate, function, "c");
    for (size_t i = 0; i + 1 < line->frame_count; i++) {
        struct perfile_listing_frame frame = PERFILE_LISTING_FRAME_INIT, caller = PERFILE_LISTING_FRAME_INIT;
        if (perfile_listing_frame_at(function->listing, index, i, &frame) < 0 ||
            perfile_listing_frame_at(function->listing, index, i + 1, &caller) < 0)
            break;
        pf_put_string(annotate->out, i ? " in " : "");
        put_html(annotate->out, frame.name ? frame.name : "[unknown]");
        pf_put_string(annotate->out, ", inlined");
        if (caller.file && caller.line) {
            pf_put_string(annotate->out, " at ");
            put_file_line(annotate->out, caller.file, caller.line);
        }
    }
    pf_put_string(annotate->out, "</td></tr>\n");
}

static void put_source(struct pf_annotate *annotate, struct pf_annotate_function *function, size_t index,
                       const struct perfile_listing_line *line)
{
    const struct perfile_listing_line before =
        index ? pf_annotate_line(function, index - 1) : (struct perfile_listing_line){0};
    if (!line->file || !line->line ||
        (before.file == line->file && before.line == line->line && before.frame_count == line->frame_count))
        return;
    if (line->frame_count > 1)
        put_chain(annotate, function, index, line);
    const char *source = perfile_listing_source(function->listing, line->file, line->line);
    begin_row(annotate, function, "s");
    put_file_line(annotate->out, line->file, line->line);
    pf_put_string(annotate->out, source ? ": " : "");
    put_html(annotate->out, source ? source : "");
    pf_put_string(annotate->out, "</td></tr>\n");
}

static void put_percent(struct pf_annotate *annotate, const struct pf_annotate_function *function, size_t index,
                        size_t column)
{
    const double percent = pf_annotate_percent(annotate, function, index, column);
    if (!pf_annotate_weight(function, index, column).samples) {
        pf_put_string(annotate->out, "<td></td>");
        return;
    }
    pf_put_string(annotate->out, "<td class=\"n\" style=\"background:rgba(230,60,40,");
    pf_put_hundredths(annotate->out, 0.08 + percent / 110, 0);
    pf_put_string(annotate->out, ")\">");
    pf_put_hundredths(annotate->out, percent, 0);
    pf_put_string(annotate->out, "</td>");
}

/* A jump within the function is a link to where it leads. */
static void put_words(struct pf_annotate *annotate, const struct pf_annotate_function *function,
                      const struct perfile_listing_line *line)
{
    const bool links = line->target != PERFILE_NO_ID;
    if (links)
        pf_put_format(annotate->out, "<a href=\"#f%" PRIu32 "-%" PRIu32 "\">", function->about.rank, line->target);
    put_html(annotate->out, line->text ? line->text : "");
    pf_put_string(annotate->out, links ? "</a>" : "");
    pf_put_string(annotate->out, line->taken || line->reached ? "  # " : "");
    pf_annotate_put_branches(annotate->out, line);
}

static void put_instruction(struct pf_annotate *annotate, struct pf_annotate_function *function, size_t index)
{
    const struct perfile_listing_line line = pf_annotate_line(function, index);
    if (!(annotate->how->flags & PERFILE_ANNOTATE_NO_SOURCE))
        put_source(annotate, function, index, &line);
    if (line.jump_count)
        pf_put_format(annotate->out, "<tr id=\"f%" PRIu32 "-%zu\">", function->about.rank, index);
    else
        pf_put_string(annotate->out, "<tr>");
    for (size_t i = 0; i < function->event_count; i++)
        put_percent(annotate, function, index, i);
    pf_put_format(annotate->out, "<td class=\"n\">%" PRIx64 "</td><td>  ", line.address);
    put_words(annotate, function, &line);
    pf_put_string(annotate->out, "</td></tr>\n");
}

static int put_function(struct pf_annotate *annotate, struct pf_annotate_function *function,
                        struct perfile_error *error)
{
    (void)error;
    put_heading(annotate, function);
    put_columns(annotate, function);
    for (size_t i = 0; i < function->line_count && !annotate->out->failed; i++)
        put_instruction(annotate, function, i);
    pf_put_string(annotate->out, "</table>\n");
    return 0;
}

static void end(struct pf_annotate *annotate)
{
    if (!annotate->choice.count)
        pf_put_string(annotate->out, "<p>There is no such function with samples.</p>\n");
    pf_put_string(annotate->out, "</body>\n</html>\n");
}

static int write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                 struct perfile_error *error)
{
    static const struct pf_annotate_format format = {.begin = begin, .function = put_function, .end = end};
    return pf_annotate_write(reader, options, out, &format, error);
}

const struct pf_output pf_output_annotate_html = {
    .info = {"annotate", "html", "a page of its own, which works offline"},
    .write = write,
    .reports_omissions = true,
};
