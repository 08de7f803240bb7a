/* SPDX-License-Identifier: MIT */
/* One event of the list. */
#include <errno.h>
#include <stdio.h>

#include "record/aux_kind.h"
#include "record/event_parts.h"

static const char *text_of(struct pf_event_parser *parser, struct pf_piece piece)
{
    return pf_arena_text(&parser->chosen->arena, piece.text, piece.bytes);
}

int pf_event_parser_add(struct pf_event_parser *parser, struct pf_piece name, struct pf_listed_event **event)
{
    struct pf_event_list *chosen = parser->chosen;
    if (chosen->count == PF_CHOSEN_MAX)
        return pf_parse_refuse(parser, PERFILE_ERROR_LIMIT, "more than %d", PF_CHOSEN_MAX);
    if (!pf_grow(chosen->allocator, &chosen->items, &chosen->capacity, chosen->count + 1, sizeof(*chosen->items)))
        return pf_sys_memory(&parser->sys);
    *event = &chosen->items[chosen->count];
    **event = (struct pf_listed_event){.scale = 1, .inherit = -1, .time = -1, .overwrite = -1};
    (*event)->leader = (uint32_t)chosen->count;
    (*event)->name = text_of(parser, name);
    if (!(*event)->name)
        return pf_sys_memory(&parser->sys);
    chosen->count++;
    return 0;
}

/* ---- breakpoints ------------------------------------------------------------------------------------------------- */

/* Letters of "rwx", each once, at the start of a piece; they are taken off. */
static uint32_t take_access(struct pf_piece *piece)
{
    static const struct {
        char letter;
        uint32_t bit;
    } letters[] = {{'r', 1}, {'w', 2}, {'x', 4}};
    uint32_t access = 0;
    for (; piece->bytes; piece->text++, piece->bytes--) {
        uint32_t bit = 0;
        for (size_t i = 0; i < PF_COUNT(letters); i++)
            if (letters[i].letter == *piece->text)
                bit = letters[i].bit;
        if (!bit || access & bit)
            break;
        access |= bit;
    }
    return access;
}

/* What the kernel wants of breakpoints on instructions. */
static uint64_t default_length(uint32_t access)
{
#if defined(__x86_64__) || defined(__i386__)
    return access == 4 ? sizeof(long) : 4;
#else
    (void)access;
    return 4;
#endif
}

static int choose_breakpoint(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    struct pf_listed_event *event;
    struct pf_piece access = text->access;
    uint64_t address, length = 0;
    const uint32_t type = take_access(&access);
    if (!pf_piece_number(text->address, &address))
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "mem:%.*s: the address is not a number",
                               PF_SHOW(text->address));
    if (access.bytes)
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "mem:%.*s: unknown access %.*s; valid: r, w, x",
                               PF_SHOW(text->address), PF_SHOW(text->access));
    if (text->length.text &&
        (!pf_piece_number(text->length, &length) || !length || length > 8 || (length & (length - 1))))
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "mem:%.*s/%.*s: the length is not 1, 2, 4 or 8",
                               PF_SHOW(text->address), PF_SHOW(text->length));
    const int result = pf_event_parser_add(parser, text->complete, &event);
    if (result < 0)
        return result;
    event->attr.type = PERFILE_TYPE_BREAKPOINT;
    event->attr.bp_type = type ? type : 3;
    event->attr.bp_addr_or_config1 = address;
    event->attr.bp_len_or_config2 = length ? length : default_length(event->attr.bp_type);
    event->attr.sample_period_or_freq = 1;
    return text->has_terms ? pf_parse_terms(parser, NULL, event, text->terms) : 0;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

/* "1:0" */
static int choose_number(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    struct pf_listed_event *event;
    uint64_t type, config;
    if (!pf_piece_number(text->name, &type) || type > UINT32_MAX || !pf_piece_number(text->number, &config))
        return pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s is not TYPE:CONFIG, two numbers",
                               PF_SHOW(text->complete));
    const int result = pf_event_parser_add(parser, text->complete, &event);
    if (result < 0)
        return result;
    event->attr.type = (uint32_t)type;
    event->attr.config = config;
    return text->has_terms ? pf_parse_terms(parser, NULL, event, text->terms) : 0;
}

bool pf_is_raw(struct pf_piece name, uint64_t *config)
{
    return name.bytes > 1 && name.text[0] == 'r' &&
           pf_piece_digits((struct pf_piece){name.text + 1, name.bytes - 1}, 16, config);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* On a hybrid machine the name says which of the processors: "cycles/period=1/u" is "cpu_core/cycles,period=1/u". */
static int name_for_core(struct pf_event_parser *parser, const struct pf_pmu *pmu, const struct pf_event_text *text,
                         struct pf_listed_event *event)
{
    const struct pf_piece *terms = &text->terms;
    const size_t bytes = strlen(pmu->name) + text->name.bytes + terms->bytes + text->modifiers.bytes + 4;
    if (!pmu->core || parser->sys.core_count < 2)
        return 0;
    char *name = pf_arena_new(&parser->chosen->arena, bytes);
    const bool of_pmu = text->has_terms && pf_pmu_matches(pmu, text->name);
    if (!name)
        return pf_sys_memory(&parser->sys);
    snprintf(name, bytes, "%s/%.*s%s%.*s/%.*s", pmu->name, of_pmu ? 0 : (int)text->name.bytes, text->name.text,
             !of_pmu && terms->bytes ? "," : "", (int)terms->bytes, terms->bytes ? terms->text : "",
             (int)text->modifiers.bytes, text->modifiers.bytes ? text->modifiers.text : "");
    event->name = name;
    return 0;
}

/* An event of the PMU; what it counts comes later. */
static int add_of(struct pf_event_parser *parser, const struct pf_pmu *pmu, const struct pf_event_text *text,
                  struct pf_listed_event **event)
{
    const int result = pf_event_parser_add(parser, text->complete, event);
    if (result < 0)
        return result;
    (*event)->attr.type = pmu->type;
    (*event)->cpus = pmu->cpus;
    return name_for_core(parser, pmu, text, *event);
}

/* bpf-output has a sample for each event, as tracepoints have. */
static void set_custom(struct pf_listed_event *event)
{
    if (event->attr.type == PERFILE_TYPE_SOFTWARE && event->attr.config == PERFILE_COUNT_SW_BPF_OUTPUT)
        event->attr.sample_period_or_freq = 1;
}

static int choose_of_pmu(struct pf_event_parser *parser, struct pf_pmu *pmu, const struct pf_event_text *text)
{
    struct pf_listed_event *event;
    const size_t before = parser->chosen->count;
    int result = add_of(parser, pmu, text, &event);
    if (result >= 0)
        result = pf_aux_set_defaults(&parser->sys, pmu, event);
    if (result >= 0)
        result = pf_parse_terms(parser, pmu, event, text->terms);
    if (result >= 0)
        set_custom(event);
    else
        parser->chosen->count = before;
    return result;
}

/* "PMU/terms/": all PMUs of this name; of many, those that do not know a term are not meant. *count: how many are. */
static int choose_of_pmus(struct pf_event_parser *parser, const struct pf_event_text *text, size_t *count)
{
    const struct pf_sys *sys = &parser->sys;
    bool exact = false;
    int refused = 0;
    *count = 0;
    for (size_t i = 0; i < sys->pmu_count; i++)
        exact = exact || pf_piece_is(text->name, sys->pmus[i].name);
    for (size_t i = 0; i < sys->pmu_count; i++) {
        if (exact ? !pf_piece_is(text->name, sys->pmus[i].name) : !pf_pmu_matches(&sys->pmus[i], text->name))
            continue;
        const int result = choose_of_pmu(parser, &sys->pmus[i], text);
        if (result == PERFILE_ERROR_ARGUMENT)
            refused = result;
        else if (result < 0)
            return result;
        *count += result >= 0;
    }
    return *count ? 0 : refused;
}

/* An event that PMUs have, without their names. Adds one for each of them. */
static int choose_of_names(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    struct pf_sys *sys = &parser->sys;
    uint32_t type;
    uint64_t config;
    const bool known = pf_known_name_find(text->name, &type, &config);
    int result = 0;
    for (size_t i = 0; result >= 0 && i < sys->pmu_count; i++) {
        struct pf_pmu *pmu = &sys->pmus[i];
        struct pf_listed_event *event;
        const size_t before = parser->chosen->count;
        if (known && (type == PERFILE_TYPE_SOFTWARE ? pmu->type != type : !pmu->core && sys->core_count))
            continue;
        if ((result = add_of(parser, pmu, text, &event)) < 0)
            break;
        result = pf_parse_pmu_event(parser, pmu, event, text->name, text->terms);
        if (result > 0 && text->has_terms)
            result = pf_parse_terms(parser, pmu, event, text->terms) ?: 1;
        if (result > 0)
            set_custom(event);
        else
            parser->chosen->count = before;
    }
    return result;
}

/* Adds a well-known or raw event that no PMU of this machine describes. 1: done, 0: not such an event, or an error. */
static int choose_plain(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    struct pf_listed_event *event;
    struct pf_pmu *pmu = NULL;
    uint32_t type = PERFILE_TYPE_RAW;
    uint64_t config;
    if (!pf_known_name_find(text->name, &type, &config)) {
        type = PERFILE_TYPE_RAW;
        if (!pf_is_raw(text->name, &config))
            return 0;
    }
    int result = pf_event_parser_add(parser, text->complete, &event);
    for (size_t i = 0; result >= 0 && i < parser->sys.pmu_count; i++)
        if (type == PERFILE_TYPE_RAW && parser->sys.pmus[i].type == PERFILE_TYPE_RAW)
            pmu = &parser->sys.pmus[i];
    if (result < 0)
        return result;
    event->attr.type = type;
    event->attr.config = config;
    event->cpus = pmu ? pmu->cpus : NULL;
    set_custom(event);
    result = pmu ? name_for_core(parser, pmu, text, event) : 0;
    if (result >= 0 && text->has_terms)
        result = pf_parse_terms(parser, pmu, event, text->terms);
    return result < 0 ? result : 1;
}

bool pf_is_event(struct pf_event_parser *parser, struct pf_piece name)
{
    uint32_t type;
    uint64_t config;
    const char *spelled;
    bool found = pf_known_name_find(name, &type, &config) || pf_is_raw(name, &config);
    for (size_t i = 0; !found && i < parser->sys.pmu_count; i++)
        found = pf_pmu_event(&parser->sys, &parser->sys.pmus[i], name, &spelled) != NULL;
    return found;
}

/* ---- what there is not ------------------------------------------------------------------------------------------- */

static void offer_tracepoints(struct pf_event_parser *parser, struct pf_near *near)
{
    struct pf_sys sys = parser->sys;
    struct pf_names systems = {0};
    sys.error = NULL;
    const char *folder;
    if (pf_sys_tracing(&sys, &folder) == 0)
        pf_sys_list(&sys, folder, &systems);
    for (size_t i = 0; i < systems.count; i++) {
        struct pf_names names = {0};
        pf_sys_list(&sys, pf_sys_path(&sys, "%s/%s", folder + strlen(sys.root) + 1, systems.items[i]), &names);
        for (size_t j = 0; j < names.count; j++) {
            char shown[520];
            snprintf(shown, sizeof(shown), "%s:%s", systems.items[i], names.items[j]);
            pf_near_offer(near, names.items[j], shown);
        }
        pf_names_close(&sys, &names);
    }
    pf_names_close(&sys, &systems);
}

static int refuse_event(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    static const char *const of_perf[] = {"duration_time", "user_time", "system_time"};
    struct pf_near near = {.wanted = text->name};
    struct pf_sys *sys = &parser->sys;
    char buffer[PF_CACHE_NAME_BYTES];
    struct pf_known_name known;
    for (size_t i = 0; pf_known_name_at(i, &known, buffer); i++) {
        pf_near_offer(&near, known.name, known.name);
        if (known.other)
            pf_near_offer(&near, known.other, known.other);
    }
    for (size_t i = 0; i < sys->pmu_count; i++) {
        struct pf_names names = {0};
        pf_pmu_events(sys, &sys->pmus[i], &names);
        for (size_t j = 0; j < names.count; j++)
            pf_near_offer(&near, names.items[j], names.items[j]);
        pf_names_close(sys, &names);
    }
    for (size_t i = 0; i < sys->pmu_count; i++)
        if (pf_pmu_matches(&sys->pmus[i], text->name))
            return pf_about(parser->error, text->name.text, text->name.bytes,
                            pf_parse_refuse(parser, PERFILE_ERROR_ARGUMENT, "%.*s is a PMU; name its event: %.*s/.../",
                                            PF_SHOW(text->name), PF_SHOW(text->name)));
    for (size_t i = 0; i < PF_COUNT(of_perf); i++)
        if (pf_piece_is(text->name, of_perf[i]))
            return pf_about(parser->error, text->name.text, text->name.bytes,
                            pf_parse_refuse(parser, PERFILE_ERROR_ABSENT,
                                            "%s is not an event, but a time that perf stat takes itself", of_perf[i]));
    offer_tracepoints(parser, &near);
    return pf_about(parser->error, text->name.text, text->name.bytes,
                    pf_parse_refuse(parser, PERFILE_ERROR_ABSENT, "unknown event %.*s%s", PF_SHOW(text->name),
                                    pf_near_text(&near, PF_NEAR_TEXT)));
}

static int refuse_pmu(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    struct pf_near near = {.wanted = text->name};
    const struct pf_sys *sys = &parser->sys;
    for (size_t i = 0; i < sys->pmu_count; i++)
        pf_near_offer(&near, sys->pmus[i].name, sys->pmus[i].name);
    return pf_parse_refuse(parser, PERFILE_ERROR_ABSENT, "unknown PMU or event %.*s%s%s", PF_SHOW(text->name),
                           sys->core_count ? "" : "; this machine has no CPU PMU, like many virtual machines",
                           pf_near_text(&near, PF_NEAR_TEXT));
}

int pf_parse_event(struct pf_event_parser *parser, const struct pf_event_text *text)
{
    const size_t before = parser->chosen->count;
    size_t pmus = 0;
    int result = 0;
    if (text->address.text)
        return choose_breakpoint(parser, text);
    if (text->number.text)
        return choose_number(parser, text);
    if (text->tracepoint.text)
        return pf_parse_tracepoints(parser, text);
    if (text->has_terms)
        result = choose_of_pmus(parser, text, &pmus);
    if (result < 0 || pmus)
        return result;
    if ((result = choose_of_names(parser, text)) < 0 || parser->chosen->count > before)
        return result;
    result = choose_plain(parser, text);
    if (result)
        return result < 0 ? result : 0;
    return text->has_terms ? refuse_pmu(parser, text) : refuse_event(parser, text);
}
