/* SPDX-License-Identifier: MIT */
/* The list as text: events, groups, modifiers. */
#include "record/event_list.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "record/event_parts.h"

void pf_event_list_open(struct pf_event_list *chosen, const struct perfile_allocator *allocator)
{
    *chosen = (struct pf_event_list){.allocator = pf_allocator_or_default(allocator)};
    pf_arena_open(&chosen->arena, chosen->allocator);
}

void pf_event_list_close(struct pf_event_list *chosen)
{
    if (!chosen->allocator)
        return;
    for (size_t i = 0; i < chosen->cgroup_count; i++)
        close(chosen->cgroups[i].fd);
    pf_free(chosen->allocator, chosen->cgroups, chosen->cgroup_capacity * sizeof(*chosen->cgroups));
    pf_free(chosen->allocator, chosen->items, chosen->capacity * sizeof(*chosen->items));
    pf_arena_close(&chosen->arena);
    *chosen = (struct pf_event_list){0};
}

int pf_parse_refuse(struct pf_event_parser *parser, int code, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    return pf_fail(parser->error, code, PERFILE_NO_OFFSET, "events", "%s", text);
}

/* ---- modifiers --------------------------------------------------------------------------------------------------- */

#define PRECISE_MAX 3

/* How often each letter was given. */
struct modifiers {
    struct pf_piece text;
    uint8_t passed[128];
};

/* The letters of perf; b and X are about counting and regrouping, and change nothing here. */
static const char letters[] = "ukhGHIpPSDWebXR";

static int read_modifiers(struct pf_event_parser *parser, struct pf_piece of, struct pf_piece text,
                          struct modifiers *modifiers)
{
    *modifiers = (struct modifiers){.text = text};
    for (size_t i = 0; i < text.bytes; i++) {
        const char letter = text.text[i];
        if (!letter || !strchr(letters, letter))
            return pf_parse_refuse(
                parser, PERFILE_ERROR_ARGUMENT,
                "invalid modifier \"%c\" of %.*s; valid: u k h (modes), G H (guest, host), I p P S D W e",
                letter >= ' ' && letter <= '~' ? letter : '?', PF_SHOW(of));
        if (++modifiers->passed[(unsigned char)letter] > (letter == 'p' ? PRECISE_MAX : 1))
            return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "the modifiers %.*s have %s", PF_SHOW(text),
                                   letter == 'p' ? "more than three p" : "a letter twice");
    }
    if (modifiers->passed['p'] && modifiers->passed['P'])
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "the modifiers %.*s have both p and P", PF_SHOW(text));
    return 0;
}

/* As perf has it: the first of u, k, h excludes the others; those of a group add to those of its events. */
static void apply_modes(struct pf_listed_event *event, const struct modifiers *modifiers)
{
    struct perfile_attr *attr = &event->attr;
    const uint8_t *passed = modifiers->passed;
    if (passed['u'] || passed['k'] || passed['h']) {
        if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
            attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
        if (passed['u'])
            attr->exclude_user = 0;
        if (passed['k'])
            attr->exclude_kernel = 0;
        if (passed['h'])
            attr->exclude_hv = 0;
        event->exclude_is_explicit = true;
    }
    if (passed['G'] || passed['H']) {
        if (!attr->exclude_guest && !attr->exclude_host)
            attr->exclude_guest = attr->exclude_host = 1;
        if (passed['G'])
            attr->exclude_guest = 0;
        if (passed['H'])
            attr->exclude_host = 0;
    }
    if (passed['I'])
        attr->exclude_idle = 1;
}

static void apply_modifiers(struct pf_listed_event *event, const struct modifiers *modifiers, bool leads)
{
    const uint8_t *passed = modifiers->passed;
    apply_modes(event, modifiers);
    if (passed['p'])
        event->attr.precise_ip = passed['p'];
    if (passed['P']) {
        event->attr.precise_ip = PRECISE_MAX;
        event->precise_max = true;
    }
    if (passed['S'])
        event->sample_read = true;
    if (passed['W'])
        event->weak = true;
    if (passed['D'] && leads)
        event->attr.pinned = 1;
    if (passed['e'] && leads)
        event->attr.exclusive = 1;
    if (passed['R'])
        event->attr.sample_type |= UINT64_C(1) << 24; /* WEIGHT_STRUCT, kernel 5.12: it has the latency of retiring */
}

/* ---- one event --------------------------------------------------------------------------------------------------- */

static struct pf_piece skip(struct pf_piece rest, size_t bytes)
{
    return (struct pf_piece){rest.text + bytes, rest.bytes - bytes};
}

static struct pf_piece skip_space(struct pf_piece rest)
{
    while (rest.bytes && strchr(" \t\r\n", *rest.text))
        rest = skip(rest, 1);
    return rest;
}

static bool at(struct pf_piece rest, char c)
{
    return rest.bytes && *rest.text == c;
}

/* Cuts off what stands in front of one of `ends`. */
static struct pf_piece take_until(struct pf_piece *rest, const char *ends)
{
    size_t bytes = 0;
    while (bytes < rest->bytes && !strchr(ends, rest->text[bytes]))
        bytes++;
    const struct pf_piece piece = {rest->text, bytes};
    *rest = skip(*rest, bytes);
    return pf_piece_trim(piece);
}

/* "/terms/" */
static int take_terms(struct pf_event_parser *parser, struct pf_piece *rest, struct pf_event_text *text)
{
    struct pf_piece inner = skip(*rest, 1), terms;
    pf_piece_next(&inner, '/', &terms);
    if (!inner.text)
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "missing / after the terms of %.*s/%.*s",
                               PF_SHOW(text->name), PF_SHOW(terms));
    text->has_terms = true;
    text->terms = terms;
    *rest = inner;
    return 0;
}

/* "/terms/", then modifiers with or without a colon. */
static int take_tail(struct pf_event_parser *parser, struct pf_piece *rest, struct pf_event_text *text)
{
    const int result = at(*rest, '/') && !text->has_terms ? take_terms(parser, rest, text) : 0;
    if (result < 0)
        return result;
    if (at(*rest, ':'))
        *rest = skip(*rest, 1);
    if (!text->modifiers.text)
        text->modifiers = take_until(rest, ",}");
    return 0;
}

/* "mem:ADDRESS/LENGTH:ACCESS/terms/:modifiers"; most of it may be missing. */
static int take_breakpoint(struct pf_event_parser *parser, struct pf_piece *rest, struct pf_event_text *text)
{
    struct pf_piece word, modifiers;
    *rest = skip(*rest, strlen("mem:"));
    text->address = take_until(rest, "/:,}");
    if (rest->bytes > 1 && at(*rest, '/') && rest->text[1] >= '0' && rest->text[1] <= '9') {
        *rest = skip(*rest, 1);
        text->length = take_until(rest, "/:,}");
    }
    if (!at(*rest, ':'))
        return take_tail(parser, rest, text);
    *rest = skip(*rest, 1);
    word = modifiers = take_until(rest, "/:,}");
    while (modifiers.bytes && strchr("rwx", *modifiers.text))
        modifiers = skip(modifiers, 1);
    text->access = (struct pf_piece){word.text, word.bytes - modifiers.bytes};
    if (modifiers.bytes)
        text->modifiers = modifiers;
    return take_tail(parser, rest, text);
}

static bool all_of(struct pf_piece piece, const char *allowed)
{
    for (size_t i = 0; i < piece.bytes; i++)
        if (!piece.text[i] || !strchr(allowed, piece.text[i]))
            return false;
    return piece.bytes > 0;
}

/* "NAME:word": modifiers, the name of a tracepoint, or a number. */
static int take_word(struct pf_event_parser *parser, struct pf_piece *rest, struct pf_event_text *text)
{
    uint64_t number;
    *rest = skip(*rest, 1);
    const struct pf_piece word = take_until(rest, "/:,{}");
    if (!word.bytes)
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "missing text after the colon of %.*s",
                               PF_SHOW(text->name));
    const bool goes_on = at(*rest, '/') || at(*rest, ':');
    if (pf_piece_number(text->name, &number))
        text->number = word;
    else if (!goes_on && (all_of(word, letters) || pf_is_event(parser, text->name)))
        text->modifiers = word;
    else
        text->tracepoint = word;
    return take_tail(parser, rest, text);
}

static int refuse_empty(struct pf_event_parser *parser, struct pf_piece rest)
{
    return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT,
                           rest.bytes ? "missing event before \"%.*s\"" : "missing event at the end%.*s",
                           PF_SHOW(rest));
}

/* One event off the start of *rest, without what it means. */
static int take_event(struct pf_event_parser *parser, struct pf_piece *rest, struct pf_event_text *text)
{
    const struct pf_piece start = *rest;
    int result;
    *text = (struct pf_event_text){0};
    if (rest->bytes > 4 && !memcmp(rest->text, "mem:", 4)) {
        text->name = (struct pf_piece){rest->text, 3};
        result = take_breakpoint(parser, rest, text);
    } else {
        text->name = take_until(rest, "/:,{}");
        if (!text->name.bytes)
            return refuse_empty(parser, start);
        result = at(*rest, ':') ? take_word(parser, rest, text) : take_tail(parser, rest, text);
    }
    text->complete = pf_piece_trim((struct pf_piece){start.text, (size_t)(rest->text - start.text)});
    return result;
}

static int choose_one(struct pf_event_parser *parser, struct pf_piece *rest)
{
    struct pf_event_list *chosen = parser->chosen;
    const size_t first = chosen->count;
    struct pf_event_text text;
    struct modifiers modifiers;
    int result = take_event(parser, rest, &text);
    if (result >= 0)
        result = read_modifiers(parser, text.name, text.modifiers, &modifiers);
    if (result >= 0)
        result = pf_parse_event(parser, &text);
    for (size_t i = first; result >= 0 && i < chosen->count; i++) {
        apply_modifiers(&chosen->items[i], &modifiers, true);
        chosen->items[i].position = chosen->positions;
    }
    chosen->positions++;
    return result;
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

/* Which hardware counts it; 0: none, it goes with any. Events of different hardware cannot be in one group. */
static uint64_t hardware_of(const struct pf_event_parser *parser, const struct pf_listed_event *event)
{
    const struct perfile_attr *attr = &event->attr;
    if (attr->type == PERFILE_TYPE_SOFTWARE || attr->type == PERFILE_TYPE_TRACEPOINT ||
        attr->type == PERFILE_TYPE_BREAKPOINT || event->aux)
        return 0;
    if ((attr->type == PERFILE_TYPE_HARDWARE || attr->type == PERFILE_TYPE_HW_CACHE) && attr->config >> 32)
        return attr->config >> 32;
    for (size_t i = 0; i < parser->sys.pmu_count; i++)
        if (parser->sys.pmus[i].type == attr->type && parser->sys.pmus[i].core && parser->sys.core_count == 1)
            return PERFILE_TYPE_RAW;
    return attr->type == PERFILE_TYPE_HARDWARE || attr->type == PERFILE_TYPE_HW_CACHE ? PERFILE_TYPE_RAW : attr->type;
}

/* The hardware of each event; what needs none stays with its neighbour. */
static void list_hardware(const struct pf_event_parser *parser, size_t first, uint64_t *hardware)
{
    const struct pf_event_list *chosen = parser->chosen;
    uint64_t last = 0;
    for (size_t i = first; i < chosen->count && !last; i++)
        last = hardware_of(parser, &chosen->items[i]);
    for (size_t i = first; i < chosen->count; i++) {
        const uint64_t own = hardware_of(parser, &chosen->items[i]);
        hardware[i - first] = last = own ? own : last;
    }
}

/* Moves the events of the same hardware together, in their order, and makes groups of them. */
static void part(struct pf_event_list *chosen, size_t first, uint64_t *hardware, struct pf_listed_event *moved)
{
    const size_t count = chosen->count - first;
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t wanted = hardware[i];
        const size_t leader = done;
        for (size_t j = i; wanted != UINT64_MAX && j < count; j++)
            if (hardware[j] == wanted) {
                moved[done] = chosen->items[first + j];
                moved[done++].leader = (uint32_t)(first + leader);
                hardware[j] = UINT64_MAX;
            }
    }
    memcpy(chosen->items + first, moved, count * sizeof(*moved));
}

static int make_groups(struct pf_event_parser *parser, size_t first)
{
    struct pf_event_list *chosen = parser->chosen;
    const size_t count = chosen->count - first;
    uint64_t *hardware = pf_new(chosen->allocator, count * sizeof(*hardware));
    struct pf_listed_event *moved = pf_new(chosen->allocator, count * sizeof(*moved));
    if (hardware && moved) {
        list_hardware(parser, first, hardware);
        part(chosen, first, hardware, moved);
    }
    const int result = hardware && moved ? 0 : pf_sys_memory(&parser->sys);
    pf_free(chosen->allocator, hardware, count * sizeof(*hardware));
    pf_free(chosen->allocator, moved, count * sizeof(*moved));
    return result;
}

/* "a,b}:modifiers" */
static int choose_group(struct pf_event_parser *parser, struct pf_piece *rest)
{
    struct pf_event_list *chosen = parser->chosen;
    const size_t first = chosen->count;
    struct modifiers modifiers;
    struct pf_piece letters_passed = {0};
    int result;
    do {
        *rest = skip_space(skip(*rest, 1)); /* the brace, or a comma */
        if ((result = choose_one(parser, rest)) < 0)
            return result;
        *rest = skip_space(*rest);
    } while (at(*rest, ','));
    if (!at(*rest, '}'))
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "missing } after the last event of a group");
    *rest = skip(*rest, 1);
    if (at(*rest, ':')) {
        *rest = skip(*rest, 1);
        letters_passed = take_until(rest, ",{}");
    }
    result = read_modifiers(parser, (struct pf_piece){"the group", 9}, letters_passed, &modifiers);
    if (result >= 0)
        result = make_groups(parser, first);
    for (size_t i = first; result >= 0 && i < chosen->count; i++)
        apply_modifiers(&chosen->items[i], &modifiers, chosen->items[i].leader == i);
    return result;
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

/* Goes to the brace of "{" or "name{". */
static bool is_group(struct pf_piece *rest)
{
    size_t bytes = 0;
    while (bytes < rest->bytes && !strchr("/:,{}", rest->text[bytes]))
        bytes++;
    if (bytes == rest->bytes || rest->text[bytes] != '{')
        return false;
    *rest = skip(*rest, bytes);
    return true;
}

static int choose_item(struct pf_event_parser *parser, struct pf_piece *rest)
{
    const size_t first = parser->chosen->count;
    if (is_group(rest))
        return choose_group(parser, rest);
    const int result = choose_one(parser, rest);
    for (size_t i = first; result >= 0 && i < parser->chosen->count; i++)
        if (parser->chosen->items[i].weak)
            return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%s: W is only valid for groups",
                                   parser->chosen->items[i].name);
    return result;
}

static int choose_list(struct pf_event_parser *parser, struct pf_piece rest)
{
    for (;;) {
        rest = skip_space(rest);
        const int result = choose_item(parser, &rest);
        if (result < 0)
            return result;
        rest = skip_space(rest);
        if (!rest.bytes)
            return 0;
        if (!at(rest, ','))
            return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "missing comma before \"%.*s\"", PF_SHOW(rest));
        rest = skip(rest, 1);
    }
}

int pf_event_list_parse(struct pf_event_list *chosen, const char *list, struct perfile_error *error)
{
    struct pf_event_parser parser = {.chosen = chosen, .error = error};
    const size_t before = chosen->count;
    const uint32_t positions = chosen->positions;
    pf_sys_open(&parser.sys, &chosen->arena, chosen->sysfs, error);
    int result = pf_sys_pmus(&parser.sys);
    if (result >= 0)
        result = choose_list(&parser, pf_piece_of(list));
    if (result < 0) {
        chosen->count = before;
        chosen->positions = positions;
    }
    pf_sys_close(&parser.sys);
    return result;
}
