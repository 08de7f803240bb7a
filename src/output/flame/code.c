/* SPDX-License-Identifier: MIT */
/*
 * The page's code, an object:
 *     counts     the page counts samples, not periods
 *     limits     [functions, bytes] that a page has at most; left: how many functions with samples are not here
 *     events     [name, samples, period], as weights number them
 *     functions  {name, module, address (hexadecimal, of what offsets count from), missing (why there are no
 *                instructions, or ""), weights, positions, lines, types}
 *     weights    [event, samples, period, ...]
 *     positions  [text of the source line or null, name, file, line, name, file, line, ...]: the innermost source frame
 *                first; what is not known is null or 0
 *     lines      [offset, text or null, position (-1), line that it jumps to (-1), weights, branches, type]; branches
 *                are [taken, mispredicted, reached, cycles, times that cycles were counted], or 0; they and the type may
 *                be missing
 *     types      what lines access, as they number it: "struct node +0x14 (in.y)"
 */
#include "output/flame/code.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/annotate.h"
#include "analysis/annotate_choose.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/varint.h"
#include "output/flame/page.h"

enum { SHARE_OF_PAGE = 2 };

struct writer {
    struct pf_flame_code *code;
    struct pf_text *text;
    struct perfile_annotation *annotation;
    struct perfile_listing *listing;
    size_t line_count;
    size_t event_count;
    size_t max_bytes;
    bool counts;           /* samples are what the page shows */
    uint32_t *location_of; /* by line of the function */
    size_t position_capacity;
    struct pf_map types; /* of the function: texts to their numbers, plus one */
    const char **type_texts;
    size_t type_count, type_capacity;
};

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static void put_text(struct pf_text *text, const char *string)
{
    if (string)
        pf_put_json_string(text, string, strlen(string));
    else
        pf_put_string(text, "null");
}

static void put_member(struct pf_text *text, const char *before, const char *string)
{
    pf_put_string(text, before);
    put_text(text, string);
}

/* ---- a function -------------------------------------------------------------------------------------------------- */

static void put_weight(struct pf_text *text, size_t event, const struct perfile_weight *weight, bool *first)
{
    if (!weight->samples)
        return;
    pf_put_format(text, "%s%zu,%" PRIu64 ",%" PRIu64, *first ? "" : ",", event, weight->samples, weight->period);
    *first = false;
}

static void put_weights(struct writer *w, size_t rank)
{
    bool first = true;
    pf_put_char(w->text, '[');
    for (size_t i = 0; i < w->event_count; i++) {
        struct perfile_weight weight = PERFILE_WEIGHT_INIT;
        (void)!perfile_annotation_weight(w->annotation, rank, i, &weight); /* both exist */
        put_weight(w->text, i, &weight, &first);
    }
    pf_put_char(w->text, ']');
}

static void put_line_weights(struct writer *w, size_t line)
{
    bool first = true;
    pf_put_char(w->text, '[');
    for (size_t i = 0; i < w->event_count; i++) {
        struct perfile_weight weight = PERFILE_WEIGHT_INIT;
        (void)!perfile_listing_weight(w->listing, line, i, &weight); /* both exist */
        put_weight(w->text, i, &weight, &first);
    }
    pf_put_char(w->text, ']');
}

static struct perfile_listing_line line_at(const struct writer *w, size_t index)
{
    struct perfile_listing_line line = PERFILE_LISTING_LINE_INIT;
    (void)!perfile_listing_line_at(w->listing, index, &line); /* it exists */
    return line;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_same_location(const struct writer *w, size_t a, size_t b, uint32_t count)
{
    struct perfile_listing_frame x = PERFILE_LISTING_FRAME_INIT, y = PERFILE_LISTING_FRAME_INIT;
    if (line_at(w, a).frame_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (perfile_listing_frame_at(w->listing, a, i, &x) < 0 || perfile_listing_frame_at(w->listing, b, i, &y) < 0 ||
            x.line != y.line || !is_same_text(x.name, y.name) || !is_same_text(x.file, y.file))
            return false;
    return true;
}

static bool put_location(struct writer *w, size_t index, const struct perfile_listing_line *line, uint32_t number)
{
    pf_put_string(w->text, number ? ",\n[" : "\n[");
    put_text(w->text, line->line ? perfile_listing_source(w->listing, line->file, line->line) : NULL);
    for (uint32_t i = 0; i < line->frame_count; i++) {
        struct perfile_listing_frame frame = PERFILE_LISTING_FRAME_INIT;
        if (perfile_listing_frame_at(w->listing, index, i, &frame) < 0)
            return false;
        put_member(w->text, ",", frame.name);
        put_member(w->text, ",", frame.file);
        pf_put_format(w->text, ",%" PRIu32, frame.line);
    }
    pf_put_char(w->text, ']');
    return true;
}

/*
 * Numbers the positions of the lines. Code of one position is mostly in one piece: only those of the last lines are
 * compared. False: out of memory.
 */
static bool put_positions(struct writer *w)
{
    enum { LOOKS_BACK = 16 };
    uint32_t count = 0;
    if (!pf_grow(w->text->allocator, &w->location_of, &w->position_capacity, w->line_count + 1,
                 sizeof(*w->location_of)))
        return false;
    for (size_t i = 0; i < w->line_count && w->text->used <= w->max_bytes; i++) {
        const struct perfile_listing_line line = line_at(w, i);
        w->location_of[i] = UINT32_MAX;
        for (size_t back = 1; line.frame_count && back <= pf_min(i, LOOKS_BACK) && w->location_of[i] == UINT32_MAX;
             back++)
            if (is_same_location(w, i - back, i, line.frame_count))
                w->location_of[i] = w->location_of[i - back];
        if (!line.frame_count || w->location_of[i] != UINT32_MAX)
            continue;
        w->location_of[i] = count;
        if (!put_location(w, i, &line, count++))
            return false;
    }
    return true;
}

static int64_t or_none(uint32_t number)
{
    return number == UINT32_MAX ? -1 : (int64_t)number;
}

/* -1: out of memory, and the text knows. */
static int64_t number_type(struct writer *w, const char *type)
{
    uint64_t known;
    if (pf_map_get(&w->types, (uintptr_t)type, &known))
        return (int64_t)known - 1;
    const bool enough = PF_APPEND(w->text->allocator, w->type_texts, w->type_count, w->type_capacity, type) &&
                        pf_map_put(&w->types, (uintptr_t)type, w->type_count);
    w->text->failed |= !enough;
    return enough ? (int64_t)w->type_count - 1 : -1;
}

static void put_types(struct writer *w)
{
    for (size_t i = 0; i < w->type_count && w->text->used <= w->max_bytes; i++)
        put_member(w->text, i ? ",\n" : "\n", w->type_texts[i]);
    w->type_count = 0;
    pf_map_close(&w->types);
}

static void put_line(struct writer *w, size_t index, uint64_t base)
{
    const struct perfile_listing_line line = line_at(w, index);
    pf_put_format(w->text, "%s\n[%" PRIu64 ",", index ? "," : "", line.address - base);
    put_text(w->text, line.text);
    pf_put_format(w->text, ",%" PRId64 ",%" PRId64 ",", or_none(w->location_of[index]),
                  line.target < w->line_count ? (int64_t)line.target : -1);
    put_line_weights(w, index);
    if (line.taken || line.reached)
        pf_put_format(w->text, ",[%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", line.taken,
                      line.mispredicted, line.reached, line.cycles, line.cycle_count);
    else if (line.data_type)
        pf_put_string(w->text, ",0");
    if (line.data_type)
        pf_put_format(w->text, ",%" PRId64, number_type(w, line.data_type));
    pf_put_char(w->text, ']');
}

/* False: out of memory. What is longer than the page may be ends anywhere. */
static bool put_listing(struct writer *w, uint64_t base)
{
    const char *missing = perfile_listing_missing(w->listing);
    pf_put_format(w->text, ",\"address\":\"%" PRIx64 "\"", base);
    put_member(w->text, ",\"missing\":", missing ? missing : "");
    pf_put_string(w->text, ",\"positions\":[");
    if (!put_positions(w))
        return false;
    pf_put_string(w->text, "],\n\"lines\":[");
    pf_map_open(&w->types, w->text->allocator);
    for (size_t i = 0; i < w->line_count && w->text->used <= w->max_bytes; i++)
        put_line(w, i, base);
    pf_put_string(w->text, "],\n\"types\":[");
    put_types(w);
    pf_put_string(w->text, "]}");
    return true;
}

static int open_listing(struct writer *w, size_t rank, struct perfile_error *error)
{
    const int result = perfile_annotation_listing(w->annotation, rank, &w->listing, error);
    w->line_count = result == 0 ? perfile_listing_line_count(w->listing) : 0;
    return result;
}

static int put_function(struct writer *w, const struct perfile_annotation_function *function, uint64_t *base,
                        struct perfile_error *error)
{
    struct perfile_module module = PERFILE_MODULE_INIT;
    if (function->module != PERFILE_NO_ID)
        (void)!perfile_annotation_module(w->annotation, function->module, &module); /* it exists */
    put_member(w->text, w->code->function_count ? ",\n{\"name\":" : "\n{\"name\":", function->name);
    put_member(w->text, ",\"module\":", module.name ? module.name : "");
    pf_put_string(w->text, ",\"weights\":");
    put_weights(w, function->rank);
    const int result = open_listing(w, function->rank, error);
    *base = w->line_count ? line_at(w, 0).address : 0;
    const bool fine = result == 0 && put_listing(w, *base);
    const char *missing = result == 0 ? perfile_listing_missing(w->listing) : NULL;
    if (fine && missing && !*w->code->missing)
        snprintf(w->code->missing, sizeof(w->code->missing), "%s", missing);
    w->code->listed_count += fine && !missing;
    perfile_listing_close(w->listing);
    w->listing = NULL;
    return result < 0 ? result : fine ? 0 : pf_fail_memory(error, "code");
}

/* ---- where samples are ------------------------------------------------------------------------------------------- */

static uint64_t add_ip(uint64_t hash, uint64_t ip)
{
    return (hash ^ ip) * 0x9e3779b97f4a7c15u;
}

static bool see_sample(void *context, uint64_t ip, uint32_t function, uint64_t address)
{
    struct pf_flame_code_samples *samples = context;
    const uint64_t step = address - samples->last_address;
    samples->last_address = address;
    samples->ips = add_ip(samples->ips, ip);
    return pf_numbers_put(&samples->functions, samples->allocator, function) &&
           pf_numbers_put(&samples->addresses, samples->allocator, pf_zigzag((int64_t)step));
}

/* False: out of memory. */
static bool number_function(struct writer *w, size_t rank, uint64_t base)
{
    struct pf_flame_code_samples *samples = &w->code->samples;
    const uint32_t function = w->annotation->order[rank];
    struct pf_flame_code_function *at = PF_ELEMENT(samples->allocator, samples->numbers, samples->capacity, function);
    if (!at)
        return false;
    *at = (struct pf_flame_code_function){(uint32_t)w->code->function_count + 1, base};
    return true;
}

void pf_flame_code_next(struct pf_flame_code_samples *samples, uint64_t ip, uint32_t *code, uint64_t *offset)
{
    static const struct pf_flame_code_function none = {0};
    *code = PF_PAGE_NONE;
    samples->read_ips = add_ip(samples->read_ips, ip);
    if (samples->read++ >= samples->functions.count)
        return;
    const uint64_t function = pf_numbers_get(&samples->functions, &samples->at_function);
    samples->address += (uint64_t)pf_unzigzag(pf_numbers_get(&samples->addresses, &samples->at_address));
    const struct pf_flame_code_function *at = function < samples->capacity ? &samples->numbers[function] : &none;
    if (at->number && samples->address >= at->base) {
        *code = at->number - 1;
        *offset = samples->address - at->base;
    }
}

bool pf_flame_code_is_read(const struct pf_flame_code_samples *samples)
{
    return samples->read == samples->functions.count && samples->read_ips == samples->ips;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

/* Of what is too long for the rest of the page nothing stays; lighter ones may be shorter. */
static int take_function(struct writer *w, size_t rank, struct perfile_error *error)
{
    struct perfile_annotation_function function = PERFILE_ANNOTATION_FUNCTION_INIT;
    const size_t before = w->text->used, listed = w->code->listed_count;
    if (perfile_annotation_function_at(w->annotation, rank, &function) < 0)
        return pf_fail_memory(error, "code");
    if (!function.name)
        return 0;
    if (w->code->function_count == PF_FLAME_CODE_FUNCTIONS) {
        w->code->left_count++;
        return 0;
    }
    uint64_t base = 0;
    const int result = put_function(w, &function, &base, error);
    if (result < 0 || w->text->used <= w->max_bytes) {
        const bool numbered = number_function(w, rank, base);
        w->code->function_count++;
        return result < 0 ? result : numbered ? 0 : pf_fail_memory(error, "code");
    }
    w->text->used = before;
    w->code->listed_count = listed;
    w->code->left_count++;
    return 0;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void put_events(struct writer *w)
{
    pf_put_format(w->text, "{\"counts\":%s,\"events\":[", w->counts ? "true" : "false");
    for (size_t i = 0; i < w->event_count; i++) {
        struct perfile_annotation_event event = PERFILE_ANNOTATION_EVENT_INIT;
        (void)!perfile_annotation_event_at(w->annotation, i, &event); /* it exists */
        put_member(w->text, i ? ",[" : "[", event.name);
        pf_put_format(w->text, ",%" PRIu64 ",%" PRIu64 "]", event.samples, event.period);
    }
    pf_put_char(w->text, ']');
}

static int put_chosen(struct writer *w, struct perfile_error *error)
{
    struct pf_annotation_choice choice = {0};
    int result = pf_annotation_choose(w->annotation, w->code->choice, &choice, error);
    for (size_t i = 0; i < choice.count && result == 0 && !w->text->failed; i++)
        result = take_function(w, choice.ranks[i], error);
    w->code->chosen_count = choice.count;
    pf_annotation_choice_close(&choice);
    return result;
}

static int put_heaviest(struct writer *w, struct perfile_error *error)
{
    const size_t count = perfile_annotation_function_count(w->annotation);
    int result = 0;
    for (size_t i = 0; i < count && result == 0 && !w->text->failed; i++)
        result = take_function(w, i, error);
    return result;
}

static int put_all(struct writer *w, struct perfile_error *error)
{
    w->event_count = perfile_annotation_event_count(w->annotation);
    put_events(w);
    pf_put_string(w->text, ",\n\"functions\":[");
    const int result = w->code->choice ? put_chosen(w, error) : put_heaviest(w, error);
    pf_put_format(w->text, "],\n\"limits\":[%d,%zu],\"left\":%zu}", PF_FLAME_CODE_FUNCTIONS, w->max_bytes,
                  w->code->left_count);
    pf_free(w->text->allocator, w->location_of, w->position_capacity * sizeof(*w->location_of));
    pf_free(w->text->allocator, w->type_texts, w->type_capacity * sizeof(*w->type_texts));
    return result == 0 && w->text->failed ? pf_fail_memory(error, "code") : result;
}

/* Reads without notes: what is wrong with the recording and what is missing is reported when the stacks are read. */
static int read_quietly(struct writer *w, struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct perfile_error *error)
{
    struct perfile_symbol_options symbols = *options->symbols;
    symbols.note = NULL;
    symbols.trouble = NULL;
    const struct perfile_annotation_options how = {.size = sizeof(how),
                                                   .filter = options->filter,
                                                   .symbols = &symbols,
                                                   .threads = options->threads,
                                                   .progress = options->progress,
                                                   .progress_context = options->progress_context,
                                                   .unmatched = w->code->choice ? options->unmatched : NULL,
                                                   .unmatched_context = options->unmatched_context,
                                                   .allocator = options->allocator,
                                                   .syntax = options->annotate->syntax,
                                                   .data_types = true,
                                                   .disassemble = options->annotate->disassemble,
                                                   .disassemble_context = options->annotate->disassemble_context};
    perfile_reader_mute(reader, true);
    const struct pf_annotation_watcher watcher = {see_sample, &w->code->samples};
    int result = pf_annotation_open(reader, &how, &watcher, &w->annotation, error);
    if (result == 0)
        result = put_all(w, error);
    perfile_annotation_close(w->annotation);
    perfile_reader_mute(reader, false);
    return result < 0 ? result : perfile_reader_rewind(reader, error);
}

int pf_flame_code_open(struct pf_flame_code *code, struct perfile_reader *reader,
                       const struct perfile_output_options *options, struct perfile_error *error)
{
    const uint64_t page_bytes = options->flame->page_bytes;
    struct writer w = {
        .code = code, .text = &code->text, .max_bytes = PF_FLAME_CODE_BYTES, .counts = options->flame->count_samples};
    *code = (struct pf_flame_code){.choice = code->choice,
                                   .samples.allocator = pf_allocator_or_default(options->allocator)};
    if (page_bytes && page_bytes / SHARE_OF_PAGE < w.max_bytes)
        w.max_bytes = (size_t)page_bytes / SHARE_OF_PAGE;
    if (options->filter && options->filter->off_cpu)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "code",
                       "times off CPU have no instructions: choose either");
    if (perfile_reader_rewind(reader, NULL) < 0)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "code",
                       "the recording is a stream, and must be read twice: make a file of it first");
    if (pf_text_open(&code->text, options->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "code");
    return read_quietly(&w, reader, options, error);
}

void pf_flame_code_close(struct pf_flame_code *code)
{
    if (code->text.allocator)
        pf_text_close(&code->text);
    code->text = (struct pf_text){0};
    if (!code->samples.allocator)
        return;
    pf_numbers_close(&code->samples.functions, code->samples.allocator);
    pf_numbers_close(&code->samples.addresses, code->samples.allocator);
    pf_free(code->samples.allocator, code->samples.numbers, code->samples.capacity * sizeof(*code->samples.numbers));
}

void pf_flame_code_notify(const struct pf_flame_code *code, const struct perfile_output_options *options)
{
    char note[512], left[96] = "";
    if (!options->symbols->note)
        return;
    const char *missing = *code->missing     ? code->missing
                          : code->left_count ? "no function of those with samples is short enough"
                                             : "no function with samples has a symbol";
    if (code->left_count)
        snprintf(left, sizeof(left), "; %zu lighter or longer ones are left out", code->left_count);
    if (code->listed_count)
        snprintf(note, sizeof(note), "the page holds code, of %zu function%s: whoever gets it can read it%s",
                 code->listed_count, code->listed_count == 1 ? "" : "s", left);
    else
        snprintf(note, sizeof(note), "the page holds no code: %s", missing);
    options->symbols->note(options->symbols->note_context, note);
}
