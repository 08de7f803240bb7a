/* SPDX-License-Identifier: MIT */
/* -F: which fields the samples of each type of event print. */
#include "output/script/script.h"

#include "base/feature.h"
#include "hwtrace/decoder.h"

#include <stdio.h>

const struct pf_script_field_info pf_script_fields[SCRIPT_FIELD_COUNT] = {
#define SCRIPT_FIELD(symbol, name, needs, need_name, not_for, step, doc) {name, doc, need_name, needs, not_for},
#define SCRIPT_LATER(name)
#include "output/script/fields.def"
#undef SCRIPT_FIELD
#undef SCRIPT_LATER
};

/* perf knows these; this version does not print them. */
static const char *const later_fields[] = {
#define SCRIPT_FIELD(symbol, name, needs, need_name, not_for, step, doc)
#define SCRIPT_LATER(name) name,
#include "output/script/fields.def"
#undef SCRIPT_FIELD
#undef SCRIPT_LATER
};

const char *perfile_script_field_at(size_t index, const char **doc)
{
    if (index >= SCRIPT_FIELD_COUNT)
        return NULL;
    if (doc)
        *doc = pf_script_fields[index].doc;
    return pf_script_fields[index].name;
}

/* ---- defaults -------------------------------------------------------------------------------------------------- */

#define B SCRIPT_BIT
enum { ALL_TYPES = (1 << SCRIPT_TYPES) - 1 };

static const uint64_t common_fields = B(SCRIPT_COMM) | B(SCRIPT_TID) | B(SCRIPT_CPU) | B(SCRIPT_TIME) | B(SCRIPT_EVENT);
static const uint64_t location_fields = B(SCRIPT_IP) | B(SCRIPT_SYM) | B(SCRIPT_SYMOFF) | B(SCRIPT_DSO);
static const uint64_t memory_fields = B(SCRIPT_ADDR) | B(SCRIPT_DATA_SRC) | B(SCRIPT_WEIGHT) | B(SCRIPT_PHYS_ADDR) |
                                      B(SCRIPT_DATA_PAGE_SIZE) | B(SCRIPT_CODE_PAGE_SIZE) | B(SCRIPT_INS_LAT) |
                                      B(SCRIPT_RETIRE_LAT);

static void set_defaults(struct pf_script_fields *fields)
{
    *fields = (struct pf_script_fields){.allocator = fields->allocator};
    for (int type = 0; type < SCRIPT_TYPES; type++)
        fields->fields[type] = common_fields | B(SCRIPT_PERIOD) | location_fields;
    fields->fields[SCRIPT_TYPE_TRACEPOINT] = common_fields | B(SCRIPT_TRACE);
    fields->fields[SCRIPT_TYPE_SOFTWARE] |= B(SCRIPT_BPF_OUTPUT);
    fields->fields[SCRIPT_TYPE_RAW] |= memory_fields;
    fields->fields[SCRIPT_TYPE_SYNTH] = common_fields | location_fields | B(SCRIPT_SYNTH);
}

/* ---- the request ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int type;
} type_names[] = {
    {"hw", SCRIPT_TYPE_HARDWARE}, {"sw", SCRIPT_TYPE_SOFTWARE},      {"trace", SCRIPT_TYPE_TRACEPOINT},
    {"raw", SCRIPT_TYPE_RAW},     {"break", SCRIPT_TYPE_BREAKPOINT}, {"synth", SCRIPT_TYPE_SYNTH},
};

struct span {
    const char *text;
    size_t bytes;
};

/* Cuts *rest at the next `separator`; false when it is used up. */
static bool next_span(const char **rest, char separator, struct span *span)
{
    if (!*rest)
        return false;
    const char *end = strchr(*rest, separator);
    *span = (struct span){*rest, end ? (size_t)(end - *rest) : strlen(*rest)};
    *rest = end ? end + 1 : NULL;
    return true;
}

static bool span_is(struct span span, const char *name)
{
    return strlen(name) == span.bytes && memcmp(name, span.text, span.bytes) == 0;
}

static int find_field(struct span name)
{
    for (int i = 0; i < SCRIPT_FIELD_COUNT; i++)
        if (span_is(name, pf_script_fields[i].name))
            return i;
    return -1;
}

static bool is_later(struct span name)
{
    for (size_t i = 0; i < PF_COUNT(later_fields); i++)
        if (span_is(name, later_fields[i]))
            return true;
    return false;
}

static int refuse(struct perfile_error *error, int code, const char *format, struct span name)
{
    return pf_about(error, name.text, name.bytes,
                    pf_fail(error, code, PERFILE_NO_OFFSET, "field list", format, (int)name.bytes, name.text));
}

/* All names do not fit beside the sentence; a list that is cut off says so. */
static int refuse_unknown(struct perfile_error *error, struct span name)
{
    char known[160];
    size_t used = 0;
    for (int i = 0; i < SCRIPT_FIELD_COUNT && used + 24 < sizeof(known); i++)
        used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? "," : "", pf_script_fields[i].name);
    return pf_about(error, name.text, name.bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "field list",
                            "unknown field \"%.*s\"; valid: %s ...", (int)pf_min(name.bytes, 32), name.text, known));
}

/* One list: what it is for, and whether it changes the defaults or replaces them. */
struct request {
    unsigned types; /* bit n: enum pf_script_type */
    bool changes;
};

static int apply_field(struct pf_script_fields *fields, struct request request, struct span name,
                       struct perfile_error *error)
{
    bool remove = *name.text == '-';
    if (request.changes)
        name = (struct span){name.text + 1, name.bytes - 1};
    int field = find_field(name);
    if (field < 0) {
        if (!is_later(name))
            return refuse_unknown(error, name);
        if (remove)
            return 0;
        return refuse(error, PERFILE_ERROR_UNSUPPORTED, "\"%.*s\" is not supported yet", name);
    }
    unsigned types = request.types & ~pf_script_fields[field].not_for;
    if (!types)
        return refuse(error, PERFILE_ERROR_ARGUMENT, "\"%.*s\" is not valid for events of this type", name);
    for (int type = 0; type < SCRIPT_TYPES; type++) {
        if (!(types >> type & 1))
            continue;
        uint64_t bit = SCRIPT_BIT(field);
        fields->fields[type] = remove ? fields->fields[type] & ~bit : fields->fields[type] | bit;
        fields->asked_for[type] = remove ? fields->asked_for[type] & ~bit : fields->asked_for[type] | bit;
    }
    return 0;
}

/* "TYPE:" in front of a list. */
static int parse_type(const char **list, unsigned *types, struct perfile_error *error)
{
    const char *colon = strchr(*list, ':');
    *types = ALL_TYPES;
    if (!colon)
        return 0;
    struct span name = {*list, (size_t)(colon - *list)};
    *list = colon + 1;
    for (size_t i = 0; i < PF_COUNT(type_names); i++) {
        if (span_is(name, type_names[i].name)) {
            *types = 1u << type_names[i].type;
            return 0;
        }
    }
    return refuse(error, PERFILE_ERROR_ARGUMENT, "unknown event type \"%.*s\"; valid: hw, sw, trace, raw, break, synth",
                  name);
}

static void begin_list(struct pf_script_fields *fields, struct request request)
{
    for (int type = 0; type < SCRIPT_TYPES; type++) {
        if (!(request.types >> type & 1))
            continue;
        fields->named[type] = true;
        if (!request.changes)
            fields->fields[type] = fields->asked_for[type] = 0;
    }
}

static int parse_list(struct pf_script_fields *fields, const char *list, struct perfile_error *error)
{
    struct request request = {0};
    struct span name;
    int result = parse_type(&list, &request.types, error);
    if (result < 0)
        return result;
    if (!*list && request.types == ALL_TYPES)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "field list", "it is empty");
    request.changes = *list == '+' || *list == '-';
    begin_list(fields, request);
    while (next_span(&list, ',', &name)) {
        if (!name.bytes)
            continue;
        if ((*name.text == '+' || *name.text == '-') != request.changes)
            return refuse(error, PERFILE_ERROR_ARGUMENT,
                          "\"%.*s\": +FIELD and -FIELD change the defaults and cannot be mixed with plain fields",
                          name);
        if ((result = apply_field(fields, request, name, error)) < 0)
            return result;
    }
    return 0;
}

int pf_script_fields_parse(struct pf_script_fields *fields, const char *request, struct perfile_error *error)
{
    struct span span;
    set_defaults(fields);
    while (next_span(&request, ';', &span)) {
        char list[1024];
        if (span.bytes >= sizeof(list))
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "field list", "too long");
        memcpy(list, span.text, span.bytes);
        list[span.bytes] = '\0';
        int result = parse_list(fields, list, error);
        if (result < 0)
            return result;
    }
    return 0;
}

/* ---- against the recording ----------------------------------------------------------------------------------- */

int pf_script_type(const struct perfile_event *event)
{
    return event->attr->type <= SCRIPT_TYPE_BREAKPOINT ? (int)event->attr->type
           : event->attr->type == PF_AUX_TYPE_SYNTH    ? SCRIPT_TYPE_SYNTH
                                                       : SCRIPT_TYPE_OTHER;
}

/* Returns whether the event is software event 9, which is recorded for the sake of other records. */
static bool is_dummy(const struct perfile_event *event)
{
    return event->attr->type == SCRIPT_TYPE_SOFTWARE && event->attr->config == PERFILE_COUNT_SW_DUMMY;
}

const struct perfile_event *pf_script_first_event(const struct perfile_reader *reader, int type)
{
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++)
        if (pf_script_type(event) == type && !is_dummy(event))
            return event;
    return NULL;
}

static bool has_field(const struct pf_script_fields *fields, int type, int field)
{
    return fields->fields[type] >> field & 1;
}

/* Some event was recorded with it. */
static bool has_branch_type(const struct perfile_reader *reader, uint64_t type)
{
    uint64_t types = 0;
    for (size_t i = 0; i < perfile_event_count(reader); i++)
        types |= perfile_event_get(reader, i)->attr->branch_sample_type;
    return types & type;
}

/* Fields that need other fields, or certain branches. */
static int check_company(struct pf_script_fields *fields, int type, const struct perfile_reader *reader,
                         struct perfile_error *error)
{
    const char *message = NULL;
    const bool blocks = has_field(fields, type, SCRIPT_BRSTACKINSN) || has_field(fields, type, SCRIPT_BRSTACKINSNLEN) ||
                        has_field(fields, type, SCRIPT_BRSTACKDISASM);
    const bool words = has_field(fields, type, SCRIPT_DISASM) || has_field(fields, type, SCRIPT_BRSTACKDISASM);
    const bool has_ip = has_field(fields, type, SCRIPT_IP);
    if (has_field(fields, type, SCRIPT_SYMOFF) && !has_field(fields, type, SCRIPT_SYM)) {
        if (fields->named[type])
            message = "\"symoff\" goes with \"sym\", which is not in the list";
        fields->fields[type] &= ~SCRIPT_BIT(SCRIPT_SYMOFF);
    }
    if (!has_ip && (has_field(fields, type, SCRIPT_SRCLINE) || has_field(fields, type, SCRIPT_SRCCODE)))
        message = "source lines go with \"ip\", which is not in the list";
    if (blocks && !pf_has_feature(reader, PERFILE_FEATURE_AUXTRACE) &&
        !has_branch_type(reader, PERFILE_SAMPLE_BRANCH_ANY))
        message = "the instructions between branches need all branches, which perfile record -b records";
    if (has_field(fields, type, SCRIPT_BRCNTR) && !has_branch_type(reader, PERFILE_SAMPLE_BRANCH_COUNTERS))
        message = "\"brcntr\" needs branch counters, which perfile record -j any,counter records";
    if (words && !pf_disassembler_exists(fields->allocator))
        return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "field list",
                       "\"disasm\" and \"brstackdisasm\" need capstone, which this build or machine does not have");
    return message ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "field list", "%s", message) : 0;
}

/* Samples are made of a hardware trace, or were: the ids of their events begin at a thousand millions. */
static bool has_decoded_events(const struct perfile_reader *reader)
{
    enum { FIRST_ID = 1000000000 };
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++)
        if (event->id_count && event->ids[0] >= FIRST_ID && event->attr->type == PERFILE_TYPE_HARDWARE)
            return true;
    return pf_has_feature(reader, PERFILE_FEATURE_AUXTRACE);
}

static int check_type(struct pf_script_fields *fields, int type, const struct perfile_reader *reader,
                      struct perfile_error *error)
{
    const struct perfile_event *event = pf_script_first_event(reader, type);
    if (!event)
        return 0;
    for (int field = 0; field < SCRIPT_FIELD_COUNT; field++) {
        const struct pf_script_field_info *info = &pf_script_fields[field];
        uint64_t bit = SCRIPT_BIT(field);
        if (!(fields->fields[type] & bit) || !info->needs || event->attr->sample_type & info->needs)
            continue;
        if (fields->asked_for[type] & bit && has_decoded_events(reader))
            continue; /* events decoded from a trace may have what the recorded ones do not have */
        if (fields->asked_for[type] & bit)
            return pf_about(error, info->name, strlen(info->name),
                            pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "field list",
                                    "samples of event %s have no %s: \"%s\" cannot be printed", event->name,
                                    info->need_name, info->name));
        fields->fields[type] &= ~bit;
    }
    return check_company(fields, type, reader, error);
}

static void show_tracepoint_chains(struct pf_script_fields *fields, const struct perfile_reader *reader)
{
    const struct perfile_event *event;
    if (fields->named[SCRIPT_TYPE_TRACEPOINT])
        return;
    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++)
        if (event->attr->type == SCRIPT_TYPE_TRACEPOINT && event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN)
            fields->fields[SCRIPT_TYPE_TRACEPOINT] |= location_fields;
}

bool pf_script_fields_want_maps(const struct pf_script_fields *fields)
{
    const uint64_t mapped = SCRIPT_BIT(SCRIPT_SYM) | SCRIPT_BIT(SCRIPT_DSO) | SCRIPT_BIT(SCRIPT_DSOFF) |
                            SCRIPT_BIT(SCRIPT_BRSTACKSYM) | SCRIPT_BIT(SCRIPT_BRSTACKOFF) | SCRIPT_BIT(SCRIPT_INSN) |
                            SCRIPT_BIT(SCRIPT_INSNLEN) | SCRIPT_BIT(SCRIPT_SRCLINE) | SCRIPT_BIT(SCRIPT_SRCCODE) |
                            SCRIPT_BIT(SCRIPT_BRSTACKINSN) | SCRIPT_BIT(SCRIPT_BRSTACKINSNLEN) |
                            SCRIPT_BIT(SCRIPT_BRSTACKDISASM) | SCRIPT_BIT(SCRIPT_DISASM);
    uint64_t all = 0;
    for (int type = 0; type < SCRIPT_TYPES; type++)
        all |= fields->fields[type];
    return all & mapped;
}

int pf_script_fields_check(struct pf_script_fields *fields, const struct perfile_reader *reader,
                           const struct perfile_output_options *options, struct perfile_error *error)
{
    if (pf_has_feature(reader, PERFILE_FEATURE_STAT)) /* counters, no samples */
        return 0;
    for (int type = 0; type < SCRIPT_TYPES; type++) {
        int result = check_type(fields, type, reader, error);
        if (result < 0)
            return result;
    }
    if (!options->script->no_callchain)
        show_tracepoint_chains(fields, reader);
    return 0;
}
