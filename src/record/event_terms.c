/* SPDX-License-Identifier: MIT */
/* What stands between the slashes: terms of every event, formats of the PMU, names of its events. */
#include <errno.h>
#include <stdio.h>

#include "base/locale.h"
#include "record/aux_kind.h"
#include "record/event_parts.h"

struct term {
    struct pf_piece complete;
    struct pf_piece name;
    struct pf_piece value; /* without its quotes; text NULL: none was given */
};

static bool is_quoted(struct pf_piece piece)
{
    return piece.bytes >= 2 && strchr("'\"", piece.text[0]) && piece.text[piece.bytes - 1] == piece.text[0];
}

static bool next_term(struct pf_piece *rest, struct term *term)
{
    struct pf_piece left;
    if (!pf_piece_next(rest, ',', &left))
        return false;
    left = pf_piece_trim(left);
    *term = (struct term){.complete = left};
    pf_piece_next(&left, '=', &term->name);
    term->name = pf_piece_trim(term->name);
    if (left.text)
        left = pf_piece_trim(left);
    term->value = left;
    if (left.text && is_quoted(left))
        term->value = (struct pf_piece){left.text + 1, left.bytes - 2};
    return true;
}

/* ---- terms of every event ---------------------------------------------------------------------------------------- */

enum term_kind {
    TERM_U64,
    TERM_U32,
    TERM_TEXT,
    TERM_BIT,    /* uint8_t 1 */
    TERM_SWITCH, /* signed char; =0 turns it off, and no- in front */
    TERM_ACTION,
    TERM_CPU,
    TERM_NOTHING, /* for perf stat, or for reading only */
    TERM_REFUSED,
};
struct known_term {
    const char *name;
    enum term_kind kind;
    size_t offset; /* in struct pf_listed_event */
};
#define EVENT(member) offsetof(struct pf_listed_event, member)
static const struct known_term known_terms[] = {
    {"config", TERM_U64, EVENT(attr.config)},
    {"config1", TERM_U64, EVENT(attr.bp_addr_or_config1)},
    {"config2", TERM_U64, EVENT(attr.bp_len_or_config2)},
    {"config3", TERM_U64, EVENT(attr.config3)},
    {"config4", TERM_U64, EVENT(attr.config4)},
    {"period", TERM_U64, EVENT(period)},
    {"freq", TERM_U64, EVENT(frequency)},
    {"nr", TERM_REFUSED, 0},
    {"name", TERM_TEXT, EVENT(name)},
    {"branch_type", TERM_TEXT, EVENT(branch_filter)},
    {"call-graph", TERM_TEXT, EVENT(call_graph)},
    {"stack-size", TERM_U32, EVENT(stack_bytes)},
    {"max-stack", TERM_U32, EVENT(max_stack)},
    {"time", TERM_SWITCH, EVENT(time)},
    {"inherit", TERM_SWITCH, EVENT(inherit)},
    {"overwrite", TERM_SWITCH, EVENT(overwrite)},
    {"aux-output", TERM_BIT, EVENT(attr.aux_output)},
    {"aux-sample-size", TERM_U32, EVENT(attr.aux_sample_size)},
    {"aux-action", TERM_ACTION, 0},
    {"cpu", TERM_CPU, 0},
    {"percore", TERM_NOTHING, 0},
    {"metric-id", TERM_NOTHING, 0},
    {"driver-config", TERM_REFUSED, 0},
    {"ratio-to-prev", TERM_REFUSED, 0},
};

/* With *off for no-NAME. */
static const struct known_term *find_term(struct pf_piece name, bool *off)
{
    *off = name.bytes > 3 && !memcmp(name.text, "no-", 3);
    const struct pf_piece bare = {name.text + 3, *off ? name.bytes - 3 : 0};
    for (size_t i = 0; i < PF_COUNT(known_terms); i++) {
        const struct known_term *known = &known_terms[i];
        if (pf_piece_is(name, known->name) || (*off && known->kind == TERM_SWITCH && pf_piece_is(bare, known->name)))
            return known;
    }
    return NULL;
}

static int set_number(struct pf_event_parser *parser, const struct term *term, uint64_t max, uint64_t *number)
{
    if (!term->value.text || !pf_piece_number(term->value, number))
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s needs a number: %.*s=N", PF_SHOW(term->complete),
                               PF_SHOW(term->name));
    if (*number > max)
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s is too large: at most %llu",
                               PF_SHOW(term->complete), (unsigned long long)max);
    return 0;
}

static int set_text(struct pf_event_parser *parser, const struct term *term, const char **text)
{
    if (!term->value.text || !term->value.bytes)
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s needs a value: %.*s=...", PF_SHOW(term->complete),
                               PF_SHOW(term->name));
    *text = pf_arena_text(&parser->chosen->arena, term->value.text, term->value.bytes);
    return *text ? 0 : pf_sys_memory(&parser->sys);
}

static int set_action(struct pf_event_parser *parser, const struct term *term, struct perfile_attr *attr)
{
    if (term->value.text && pf_piece_is(term->value, "pause"))
        attr->aux_pause = 1;
    else if (term->value.text && pf_piece_is(term->value, "resume"))
        attr->aux_resume = 1;
    else if (term->value.text && pf_piece_is(term->value, "start-paused"))
        attr->aux_start_paused = 1;
    else
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT,
                               "invalid AUX action %.*s; valid: pause, resume, start-paused", PF_SHOW(term->complete));
    return 0;
}

static int set_term(struct pf_event_parser *parser, struct pf_listed_event *event, const struct known_term *known,
                    const struct term *term, bool off)
{
    static const uint64_t maxima[] = {[TERM_U64] = UINT64_MAX, [TERM_U32] = UINT32_MAX};
    uint64_t number = 1;
    void *member = (char *)event + known->offset;
    int result = 0;
    switch (known->kind) {
    case TERM_U64:
    case TERM_U32:
        if ((result = set_number(parser, term, maxima[known->kind], &number)) < 0)
            return result;
        memcpy(member, known->kind == TERM_U32 ? (void *)&(uint32_t){(uint32_t)number} : &number,
               known->kind == TERM_U32 ? 4 : 8);
        return 0;
    case TERM_TEXT:
        return set_text(parser, term, member);
    case TERM_BIT:
    case TERM_SWITCH:
        if (term->value.text && (result = set_number(parser, term, 1, &number)) < 0)
            return result;
        *(signed char *)member = (signed char)(number != off);
        return 0;
    case TERM_ACTION:
        return set_action(parser, term, &event->attr);
    case TERM_CPU:
        result = set_number(parser, term, INT32_MAX, &number);
        return result < 0 ? result : set_text(parser, term, &event->cpus);
    case TERM_NOTHING:
        return 0;
    case TERM_REFUSED:
        break;
    }
    return pf_parse_refuse(parser, PERFILE_ERROR_UNSUPPORTED, "%.*s cannot be recorded", PF_SHOW(term->name));
}

/* ---- formats ----------------------------------------------------------------------------------------------------- */

static uint64_t *config_word(struct perfile_attr *attr, unsigned word)
{
    uint64_t *const words[] = {&attr->config, &attr->bp_addr_or_config1, &attr->bp_len_or_config2, &attr->config3,
                               &attr->config4};
    return words[word];
}

static uint64_t highest(uint64_t bits)
{
    const int count = __builtin_popcountll(bits);
    return count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

/* The value's bits go where the format has its bits, lowest first. */
static uint64_t spread(uint64_t value, uint64_t bits)
{
    uint64_t result = 0;
    for (; bits && value; bits &= bits - 1, value >>= 1)
        if (value & 1)
            result |= bits & -bits;
    return result;
}

void pf_format_set(struct perfile_attr *attr, const struct pf_format *format, uint64_t value)
{
    uint64_t *word = config_word(attr, format->word);
    *word = (*word & ~format->bits) | spread(value, format->bits);
}

static int set_format(struct pf_event_parser *parser, struct pf_listed_event *event, const struct pf_format *format,
                      const struct term *term)
{
    uint64_t value = 1;
    const int result = term->value.text ? set_number(parser, term, highest(format->bits), &value) : 0;
    if (result == 0)
        pf_format_set(&event->attr, format, value);
    return result;
}

/* ---- all terms of an event --------------------------------------------------------------------------------------- */

static int refuse_term(struct pf_event_parser *parser, const struct pf_pmu *pmu, struct pf_piece name)
{
    struct pf_near near = {.wanted = name};
    struct pf_names events = {0};
    char buffer[PF_CACHE_NAME_BYTES];
    struct pf_known_name known;
    for (size_t i = 0; i < PF_COUNT(known_terms); i++)
        pf_near_offer(&near, known_terms[i].name, known_terms[i].name);
    for (size_t i = 0; pmu && i < pmu->format_count; i++)
        pf_near_offer(&near, pmu->formats[i].name, pmu->formats[i].name);
    if (pmu)
        pf_pmu_events(&parser->sys, pmu, &events);
    for (size_t i = 0; i < events.count; i++)
        pf_near_offer(&near, events.items[i], events.items[i]);
    for (size_t i = 0; pmu && (pmu->core || pmu->type == PERFILE_TYPE_SOFTWARE) && pf_known_name_at(i, &known, buffer);
         i++)
        if (pmu->core != (known.type == PERFILE_TYPE_SOFTWARE))
            pf_near_offer(&near, known.name, known.name);
    pf_names_close(&parser->sys, &events);
    return pf_about(parser->error, name.text, name.bytes,
                    pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%s%s has no term%s %.*s%s",
                                    pmu ? "the PMU " : "an event", pmu ? pmu->name : "", pmu ? " or event" : "",
                                    PF_SHOW(name), pf_near_text(&near, PF_NEAR_TEXT)));
}

/* The scale, the unit, and with ? in `terms` what the user must add. */
static int describe(struct pf_event_parser *parser, const struct pf_pmu *pmu, struct pf_listed_event *event,
                    const char *name)
{
    struct pf_sys *sys = &parser->sys;
    static const char where[] = "bus/event_source/devices/%s/events/%s.%s";
    int reason, other;
    const char *scale = pf_sys_read(sys, pf_sys_path(sys, where, pmu->name, name, "scale"), &reason);
    event->unit = pf_sys_read(sys, pf_sys_path(sys, where, pmu->name, name, "unit"), &other);
    char *end = NULL;
    const double value = scale ? pf_parse_double(scale, &end) : 0;
    if (end != scale)
        event->scale = value;
    return reason == ENOMEM || other == ENOMEM ? pf_sys_memory(sys) : 0;
}

/* Whether the user gave this term himself. */
static bool gives(struct pf_piece terms, struct pf_piece name)
{
    for (struct term term; next_term(&terms, &term);)
        if (term.name.bytes == name.bytes && !memcmp(term.name.text, name.text, name.bytes))
            return term.value.text != NULL;
    return false;
}

/* The terms that sysfs has for an event; `given` are those of the user, for what sysfs leaves to him. */
static int apply_event(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                       const char *text, struct pf_piece passed)
{
    struct pf_piece rest = pf_piece_of(text);
    int result = pf_pmu_formats(&parser->sys, pmu);
    for (struct term term; result >= 0 && next_term(&rest, &term);) {
        const struct pf_format *format = pf_pmu_format(pmu, term.name);
        bool off;
        const struct known_term *known = find_term(term.name, &off);
        if (!term.name.bytes)
            continue;
        if (term.value.text && pf_piece_is(term.value, "?"))
            result = gives(passed, term.name) ? 0
                                              : pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT,
                                                                "this event of %s needs a value of yours: %.*s=N",
                                                                pmu->name, PF_SHOW(term.name));
        else if (known)
            result = set_term(parser, event, known, &term, off);
        else if (format)
            result = set_format(parser, event, format, &term);
        else
            result = refuse_term(parser, pmu, term.name);
    }
    return result;
}

int pf_parse_pmu_event(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                       struct pf_piece name, struct pf_piece passed)
{
    struct pf_sys *sys = &parser->sys;
    const char *spelled;
    uint32_t type;
    uint64_t config;
    const char *text = pf_pmu_event(sys, pmu, name, &spelled);
    if (text) {
        const int result = apply_event(parser, pmu, event, text, passed);
        return result < 0 ? result : (describe(parser, pmu, event, spelled) < 0 ? PERFILE_ERROR_MEMORY : 1);
    }
    if (!pf_known_name_find(name, &type, &config) || (type == PERFILE_TYPE_SOFTWARE ? pmu->type != type : !pmu->core))
        return 0;
    event->attr.type = type;
    event->attr.config = config;
    if (type != PERFILE_TYPE_SOFTWARE && sys->core_count > 1) /* which of the processors: kernel 5.13 */
        event->attr.config |= (uint64_t)pmu->type << 32;
    return 1;
}

/* A term without a value may be an event of the PMU. 1: it was, 0: it was not, or an error. */
static int apply_name(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                      const struct term *term, struct pf_piece terms)
{
    bool off;
    uint64_t config;
    if (term->value.text || !term->name.bytes || find_term(term->name, &off))
        return 0;
    const int result = pf_parse_pmu_event(parser, pmu, event, term->name, terms);
    if (result || !pf_is_raw(term->name, &config) || pf_pmu_format(pmu, term->name))
        return result;
    event->attr.config = config;
    return 1;
}

static int apply_term(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                      const struct term *term)
{
    bool off;
    const struct known_term *known = find_term(term->name, &off);
    const struct pf_format *format = pmu ? pf_pmu_format(pmu, term->name) : NULL;
    if (known)
        return set_term(parser, event, known, term, off);
    if (format)
        return set_format(parser, event, format, term);
    if (pmu && term->name.bytes > 1 && term->name.text[0] == '@')
        return pf_aux_set_sink(&parser->sys, pmu, (struct pf_piece){term->name.text + 1, term->name.bytes - 1},
                               &event->attr);
    return refuse_term(parser, pmu, term->name);
}

/* The event first: what the user says of it comes on top. At most one event. */
static int apply_names(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                       struct pf_piece terms, struct pf_piece *name)
{
    struct pf_piece rest = terms;
    for (struct term term; next_term(&rest, &term);) {
        const int result = apply_name(parser, pmu, event, &term, terms);
        if (result < 0)
            return result;
        if (result && name->text)
            return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s and %.*s are two events of %s", PF_SHOW(*name),
                                   PF_SHOW(term.name), pmu->name);
        if (result)
            *name = term.name;
    }
    return 0;
}

int pf_parse_terms(struct pf_event_parser *parser, struct pf_pmu *pmu, struct pf_listed_event *event,
                   struct pf_piece terms)
{
    struct pf_piece rest = terms, name = {0};
    int result = pmu ? pf_pmu_formats(&parser->sys, pmu) : 0;
    if (pmu && result >= 0)
        result = apply_names(parser, pmu, event, terms, &name);
    for (struct term term; result >= 0 && next_term(&rest, &term);)
        if (term.name.bytes && term.name.text != name.text)
            result = apply_term(parser, pmu, event, &term);
        else if (term.value.text && !term.name.bytes)
            result = pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT,
                                     "%.*s has no name in front of the =", PF_SHOW(term.complete));
    if (result >= 0 && event->period && event->frequency)
        result =
            pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s: period and freq exclude each other", PF_SHOW(terms));
    return result;
}
