/* SPDX-License-Identifier: MIT */
/* For people: a heading for each function, then its instructions with the source lines between them. */
#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/locale.h"
#include "output/annotate/annotate.h"
#include "output/notes.h"

#define SOURCE_COLOR "\033[36m"

enum {
    PERCENT_WIDTH = 8,
    NUMBER_WIDTH = 14,
    INDENT = 2,    /* of instructions below source lines */
    TAB = 8,       /* characters, at most */
    HOTTEST = 5,   /* source lines in the heading */
    MIN = 20,      /* characters of an instruction, however narrow lines are */
    FILES_MAX = 16 /* of a function whose age is looked at */
};

struct body {
    struct pf_annotate *annotate;
    struct pf_annotate_function *function;
    struct pf_text *out;
    struct pf_arrows arrows;
    struct pf_text tail; /* what is truncated */
    size_t address_width;
    size_t capacity; /* for the tail; SIZE_MAX: any */
    const char *files[FILES_MAX];
    size_t file_count;
};

static bool has(const struct pf_annotate *annotate, unsigned flag)
{
    return annotate->how->flags & flag;
}

static void put_colored(struct pf_annotate *annotate, const char *color, const char *text)
{
    const bool wanted = annotate->options->color && color;
    pf_put_string(annotate->out, wanted ? color : "");
    pf_put_string(annotate->out, text);
    pf_put_string(annotate->out, wanted ? PF_PLAIN : "");
}

/* ---- text of any length ------------------------------------------------------------------------------------------ */

static void put_spaces(struct pf_text *text, size_t count)
{
    for (; count; count--)
        pf_put_char(text, ' ');
}

/* Source code: tabs become spaces, and what cannot be printed escapes. */
static void put_code(struct pf_text *text, const char *code)
{
    for (size_t column = 0; *code;) {
        const size_t run = strcspn(code, "\t");
        pf_put_name_bytes(text, code, run);
        column += run;
        code += run;
        if (*code == '\t') {
            const size_t spaces = TAB - column % TAB;
            put_spaces(text, spaces);
            column += spaces;
            code++;
        }
    }
}

/* Returns how many bytes of the text make up at most `capacity` characters. */
static size_t fitting(const struct pf_text *text, size_t capacity)
{
    size_t at = 0;
    for (size_t characters = 0; at < text->used && characters < capacity; characters++) {
        const size_t bytes = pf_utf8_length((const uint8_t *)text->data + at, text->used - at);
        at += bytes ? bytes : 1;
    }
    return at;
}

/* Puts as much of the tail as fits, and the end of the line. */
static void put_tail(struct body *body, const char *color)
{
    const size_t complete = body->tail.used;
    size_t bytes = body->capacity == SIZE_MAX ? complete : fitting(&body->tail, body->capacity);
    const bool cut = bytes < complete;
    if (cut)
        bytes = fitting(&body->tail, body->capacity - 1);
    const bool colored = color && body->annotate->options->color;
    pf_put_string(body->out, colored ? color : "");
    pf_put(body->out, body->tail.data, bytes);
    pf_put_string(body->out, cut ? "~" : "");
    pf_put_string(body->out, colored ? PF_PLAIN : "");
    pf_put_char(body->out, '\n');
    body->tail.used = 0;
}

/* ---- the heading ------------------------------------------------------------------------------------------------- */

static void put_shares(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    for (size_t i = 0; i < function->event_count; i++) {
        const struct perfile_annotation_event event = pf_annotate_event(annotate, function->events[i]);
        struct perfile_weight weight = PERFILE_WEIGHT_INIT;
        char count[PF_COUNTED_BYTES];
        (void)!perfile_annotation_weight(annotate->annotation, function->about.rank, function->events[i],
                                         &weight); /* both exist */
        pf_put_string(annotate->out, i ? ", " : ": ");
        pf_put_hundredths(annotate->out, pf_annotate_share(annotate, function, i), 0);
        pf_put_string(annotate->out, "% of ");
        pf_put_name(annotate->out, event.name);
        pf_put_format(annotate->out, " (%s)", pf_count_of(weight.samples, "samples", count));
    }
}

static void put_location(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    const struct perfile_annotation_function *about = &function->about;
    char bytes[PF_COUNTED_BYTES];
    pf_put_name(annotate->out, function->module.name);
    if (about->name && about->bytes)
        pf_put_format(annotate->out, " 0x%" PRIx64 ", %s", about->address, pf_count_of(about->bytes, "bytes", bytes));
    put_shares(annotate, function);
    pf_put_char(annotate->out, '\n');
}

static void put_hottest(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    struct pf_annotate_location lines[HOTTEST];
    const size_t count = pf_annotate_hottest(annotate, function, lines, HOTTEST);
    for (size_t i = 0; i < count; i++) {
        pf_put_string(annotate->out, i ? ", " : "Hottest lines: ");
        pf_put_name(annotate->out, pf_annotate_file_name(lines[i].file));
        pf_put_format(annotate->out, ":%" PRIu32 " ", lines[i].line);
        pf_put_hundredths(annotate->out, lines[i].percent, 0);
        pf_put_char(annotate->out, '%');
    }
    if (count)
        pf_put_char(annotate->out, '\n');
}

static void put_heading(struct pf_annotate *annotate, const struct pf_annotate_function *function)
{
    const char *missing = perfile_listing_missing(function->listing);
    const char *name = function->about.name ? function->about.name : function->about.label;
    pf_put_string(annotate->out, annotate->options->color ? "\033[1m" : "");
    pf_put_name(annotate->out, name);
    pf_put_string(annotate->out, annotate->options->color ? PF_PLAIN : "");
    pf_put_char(annotate->out, '\n');
    put_location(annotate, function);
    put_hottest(annotate, function);
    if (missing) {
        pf_put_string(annotate->out, "No instructions: ");
        pf_put_name(annotate->out, missing);
        pf_put_char(annotate->out, '\n');
    }
    pf_put_char(annotate->out, '\n');
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static int width_of(const struct body *body)
{
    return pf_annotate_counts(body->annotate) ? NUMBER_WIDTH : PERCENT_WIDTH;
}

/* Puts the end of the event's name: this is the part that differs between events. */
static void put_event_name(struct body *body, const char *name)
{
    const size_t width = (size_t)width_of(body), bytes = strlen(name), shown = pf_min(bytes, width - 1);
    put_spaces(body->out, width - shown);
    pf_put_name_bytes(body->out, name, shown);
}

static void put_columns(struct body *body)
{
    for (size_t i = 0; i < body->function->event_count; i++)
        put_event_name(body, body->function->event_count == 1
                                 ? pf_annotate_title(body->annotate)
                                 : pf_annotate_event(body->annotate, body->function->events[i]).name);
    put_spaces(body->out, body->address_width - strlen("Address") + 2);
    pf_put_string(body->out, "Address\n");
}

static const char *color_of(double percent)
{
    return percent >= 5.0 ? PF_RED : percent >= 0.5 ? PF_GREEN : NULL;
}

static void put_percents(struct body *body, size_t line)
{
    for (size_t i = 0; i < body->function->event_count; i++) {
        const struct perfile_weight weight = pf_annotate_weight(body->function, line, i);
        const double percent = pf_annotate_percent(body->annotate, body->function, line, i);
        char text[PF_ANNOTATE_VALUE_BYTES] = "";
        if (weight.samples)
            pf_annotate_format_value(body->annotate, body->function, line, i, width_of(body), text);
        if (*text)
            put_colored(body->annotate, color_of(percent), text);
        else
            put_spaces(body->out, (size_t)width_of(body));
    }
}

/* ---- source lines ------------------------------------------------------------------------------------------------ */

static void put_margin(struct body *body, size_t line)
{
    put_spaces(body->out, body->function->event_count * PERCENT_WIDTH + 2 + body->address_width + 2);
    pf_arrows_put(&body->arrows, line, true, body->out);
}

static void put_file_line(struct pf_text *text, const char *file, uint32_t line)
{
    pf_put_name(text, pf_annotate_file_name(file));
    pf_put_format(text, ":%" PRIu32, line);
}

static struct perfile_listing_frame frame_at(const struct body *body, size_t line, size_t index)
{
    struct perfile_listing_frame frame = PERFILE_LISTING_FRAME_INIT;
    if (perfile_listing_frame_at(body->function->listing, line, index, &frame) < 0)
        frame = (struct perfile_listing_frame)PERFILE_LISTING_FRAME_INIT; /* out of memory, which the caller looks at */
    return frame;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The inlined functions of the line are those of the line before. */
static bool same_chain(const struct body *body, size_t line, const struct perfile_listing_line *now)
{
    if (!line)
        return now->frame_count <= 1;
    if (pf_annotate_line(body->function, line - 1).frame_count != now->frame_count)
        return false;
    for (size_t i = 0; i < now->frame_count; i++) {
        const struct perfile_listing_frame a = frame_at(body, line - 1, i), b = frame_at(body, line, i);
        if (a.name != b.name || (i && (a.line != b.line || !same_text(a.file, b.file))))
            return false;
    }
    return true;
}

/* "-- mix, inlined at hot.c:14 in step, inlined at hot.c:30" */
static void put_chain(struct body *body, size_t line, const struct perfile_listing_line *now)
{
    put_margin(body, line);
    for (size_t i = 0; i + 1 < now->frame_count; i++) {
        const struct perfile_listing_frame frame = frame_at(body, line, i), caller = frame_at(body, line, i + 1);
        if (!frame.inlined)
            break;
        pf_put_string(&body->tail, i ? " in " : "-- ");
        pf_put_name(&body->tail, frame.name);
        pf_put_string(&body->tail, ", inlined");
        if (caller.file && caller.line) {
            pf_put_string(&body->tail, " at ");
            put_file_line(&body->tail, caller.file, caller.line);
        }
    }
    put_tail(body, SOURCE_COLOR);
}

/* Says once of each file that it was changed since. */
static void check_age(struct body *body, const char *file)
{
    const struct perfile_symbol_options *symbols = body->annotate->options->symbols;
    char text[512];
    bool newer = false;
    for (size_t i = 0; i < body->file_count; i++)
        if (body->files[i] == file)
            return;
    if (body->file_count == FILES_MAX)
        return;
    body->files[body->file_count++] = file;
    const char *path = perfile_listing_source_path(body->function->listing, file, &newer);
    if (!path || !newer || !symbols->note)
        return;
    snprintf(text, sizeof(text), "%.300s was changed after the binary was made: its lines may be others", path);
    symbols->note(symbols->note_context, text);
}

static void put_source(struct body *body, size_t line, const struct perfile_listing_line *now)
{
    const bool chained = same_chain(body, line, now);
    if (!chained && now->frame_count > 1)
        put_chain(body, line, now);
    if (!now->file || !now->line)
        return;
    if (chained && line) {
        const struct perfile_listing_line before = pf_annotate_line(body->function, line - 1);
        if (before.line == now->line && same_text(before.file, now->file))
            return;
    }
    const char *source = perfile_listing_source(body->function->listing, now->file, now->line);
    check_age(body, now->file);
    put_margin(body, line);
    put_file_line(&body->tail, now->file, now->line);
    pf_put_string(&body->tail, source ? ": " : "");
    put_code(&body->tail, source ? source : "");
    put_tail(body, SOURCE_COLOR);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

/* Pads to the width of the longest common instruction, when something follows. */
static void put_bytes(struct pf_text *text, const struct perfile_listing_line *line)
{
    enum { SHOWN = 8 };
    for (uint32_t i = 0; i < line->byte_count; i++)
        pf_put_format(text, i ? " %02x" : "%02x", line->bytes[i]);
    for (uint32_t i = line->byte_count; line->text && i < SHOWN; i++)
        pf_put_string(text, "   ");
    pf_put_string(text, line->text ? " " : "");
}

static void put_words(struct body *body, const struct perfile_listing_line *line)
{
    struct pf_text *tail = &body->tail;
    if (has(body->annotate, PERFILE_ANNOTATE_BYTES) || (!line->text && line->byte_count))
        put_bytes(tail, line);
    pf_put_name(tail, line->text ? line->text : "");
    if (line->taken || line->reached)
        pf_put_string(tail, "  # ");
    pf_annotate_put_branches(tail, line);
    if (line->data_type) {
        pf_put_string(tail, "  # ");
        pf_put_name(tail, line->data_type);
    }
    if (has(body->annotate, PERFILE_ANNOTATE_LINES) && line->file && line->line) {
        pf_put_string(tail, "  # ");
        put_file_line(tail, line->file, line->line);
    }
}

static void put_instruction(struct body *body, size_t index)
{
    const struct perfile_listing_line line = pf_annotate_line(body->function, index);
    char address[24];
    if (!has(body->annotate, PERFILE_ANNOTATE_NO_SOURCE))
        put_source(body, index, &line);
    put_percents(body, index);
    snprintf(address, sizeof(address), "  %*" PRIx64, (int)body->address_width, line.address);
    pf_put_string(body->out, address);
    if (!line.byte_count) {
        pf_put_char(body->out, '\n');
        return;
    }
    put_spaces(body->out, 2);
    pf_arrows_put(&body->arrows, index, false, body->out);
    put_spaces(&body->tail, INDENT);
    put_words(body, &line);
    put_tail(body, NULL);
}

static void measure(struct body *body)
{
    const struct pf_annotate_function *function = body->function;
    const uint64_t last = function->line_count ? pf_annotate_line(function, function->line_count - 1).address : 0;
    char digits[20];
    body->address_width = pf_max((size_t)(pf_hex_digits(digits, last) - digits), strlen("Address"));
    const size_t before = function->event_count * PERCENT_WIDTH + 2 + body->address_width + 2 +
                          (body->arrows.cells ? body->arrows.lanes + 1 : 0);
    const uint64_t width = body->annotate->how->width;
    body->capacity = !width ? SIZE_MAX : width > before + MIN ? (size_t)width - before : MIN;
}

static void put_body(struct body *body)
{
    measure(body);
    put_columns(body);
    for (size_t i = 0; i < body->function->line_count && !body->out->failed; i++)
        put_instruction(body, i);
}

static int put_function(struct pf_annotate *annotate, struct pf_annotate_function *function,
                        struct perfile_error *error)
{
    const struct perfile_allocator *allocator = annotate->options->allocator;
    struct body body = {.annotate = annotate, .function = function, .out = annotate->out};
    if (function->about.rank != annotate->choice.ranks[0])
        pf_put_char(annotate->out, '\n');
    put_heading(annotate, function);
    bool enough = pf_text_open(&body.tail, allocator, NULL, NULL) == 0;
    body.tail.escapes = true;
    if (enough && has(annotate, PERFILE_ANNOTATE_ARROWS))
        enough = pf_arrows_open(&body.arrows, function, allocator);
    if (enough)
        put_body(&body);
    if (body.arrows.cells)
        pf_arrows_close(&body.arrows);
    enough = enough && !body.tail.failed;
    pf_text_close(&body.tail);
    return enough ? 0 : pf_fail_memory(error, "annotate");
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void put_losses(struct pf_annotate *annotate)
{
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    char lost[PF_COUNTED_BYTES];
    (void)!perfile_annotation_losses(annotate->annotation, &losses); /* the size is set */
    if (losses.lost)
        pf_put_format(annotate->out, "%s\n", pf_count_of(losses.lost, "samples were lost while recording", lost));
    if (losses.samples && losses.unresolved && !annotate->how->symbol)
        pf_put_format(annotate->out, "%.1f%% of the samples have no function\n",
                      100.0 * (double)losses.unresolved / (double)losses.samples);
    if (losses.lost || (losses.unresolved && !annotate->how->symbol))
        pf_put_char(annotate->out, '\n');
}

static void put_limit(const struct pf_annotate *annotate)
{
    const char *limit = annotate->how->percent_limit ? annotate->how->percent_limit : "1";
    pf_put_format(annotate->out, "No function has %.*s%% of the samples; a lower limit shows the hottest ones\n",
                  (int)strcspn(limit, "%"), limit);
}

static int begin(struct pf_annotate *annotate, struct perfile_error *error)
{
    struct perfile_losses losses = PERFILE_LOSSES_INIT;
    char note[PF_NOTE_BYTES];
    (void)error;
    put_losses(annotate);
    (void)!perfile_annotation_losses(annotate->annotation, &losses); /* the size is set */
    if (!losses.samples && pf_note_no_samples(annotate->reader, losses.filtered, note))
        pf_put_format(annotate->out, "%s\n", note);
    else if (!annotate->choice.count && !annotate->how->symbol)
        put_limit(annotate);
    return 0;
}

static int write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                 struct perfile_error *error)
{
    static const struct pf_annotate_format format = {.begin = begin, .function = put_function};
    return pf_annotate_write(reader, options, out, &format, error);
}

const struct pf_output pf_output_annotate_text = {
    .info = {"annotate", "text", "instructions with the source lines between them, for people"},
    .write = write,
    .reports_omissions = true,
};
