/* SPDX-License-Identifier: MIT */
/* The events of a recording, in perf's words: scripts read them. */
#include "reading.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
    bool frequency, group, trace_fields;
};

/* The line of one event, after its name. */
struct line {
    struct pf_input *input;
    const struct perfile_event *event;
    struct pf_stream *out;
    const char *separator; /* before the next part */
};

static void put_separator(struct line *line)
{
    pf_stream_print(line->out, "%s", line->separator);
    line->separator = ", ";
}

/* ---- the attr -------------------------------------------------------------------------------------------------- */

/* Members of the kernel's unions, as perf calls them. */
static const char *perf_name(const char *member)
{
    static const char *const names[][2] = {
        {"sample_period_or_freq", "{ sample_period, sample_freq }"},
        {"wakeup_events_or_watermark", "{ wakeup_events, wakeup_watermark }"},
        {"bp_addr_or_config1", "{ bp_addr, config1 }"},
        {"bp_len_or_config2", "{ bp_len, config2 }"},
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(member, names[i][0]))
            return names[i][1];
    return member;
}

/* Members that are sets of bits, and what the names of these begin with in the kernel's header. */
static const char *const bit_sets[][2] = {
    {"sample_type", "SAMPLE_"},
    {"read_format", "FORMAT_"},
    {"branch_sample_type", "SAMPLE_BRANCH_"},
};

/* perf prints bits in their order, but for these of sample_type. */
static unsigned bit_at(const char *const set[2], unsigned index)
{
    static const unsigned char order[] = {16, 18, 15, 14, 17}; /* instead of 14 to 18 */

    return set == bit_sets[0] && index >= 14 && index <= 18 ? order[index - 14] : index;
}

/* The first letters of all names of the set are left out. */
static void put_bits(struct pf_stream *out, uint64_t bits, const char *const set[2])
{
    const char *separator = "";

    for (unsigned i = 0; i < 64; i++) {
        const uint64_t bit = bits & 1ull << bit_at(set, i);
        const char *name = bit ? perfile_enum_constant(set[0], bit) : NULL;

        if (name)
            pf_stream_print(out, "%s%s", separator, name + strlen(set[1]));
        separator = name ? "|" : separator;
    }
}

/* A PMU of the recording's machine. */
struct pmu {
    uint64_t wanted, type;
    char name[64];
};

static int see_pmu(void *context, const struct perfile_value *value)
{
    struct pmu *pmu = context;

    if (value->name && !strcmp(value->name, "type"))
        pmu->type = value->number.u;
    if (value->name && !strcmp(value->name, "name") && pmu->type == pmu->wanted)
        snprintf(pmu->name, sizeof(pmu->name), "%.*s", (int)(value->bytes < 63 ? value->bytes : 63),
                 (const char *)value->data);
    return 0;
}

static void put_type(const struct line *line)
{
    const uint32_t type = line->event->attr->type;
    const char *known = perfile_enum_constant("attr_type", type);
    struct pmu pmu = {.wanted = type, .type = UINT64_MAX};
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &pmu, .value = see_pmu};

    if (!known || type == PERFILE_TYPE_RAW) /* the core's own PMU has that number, and perf its name */
        (void)!perfile_feature_visit(line->input->reader, PERFILE_FEATURE_PMU_MAPPINGS, &visitor, NULL);
    pf_stream_print(line->out, "%" PRIu32, type);
    if (pmu.name[0])
        pf_stream_put_name(line->out, " (", pmu.name, ")");
    else if (known)
        pf_stream_print(line->out, " (PERF_%s)", known);
}

static void put_cache_config(struct pf_stream *out, uint64_t config)
{
    const char *cache = perfile_enum_constant("cache", config & 0xff);
    const char *op = perfile_enum_constant("cache_op", config >> 8 & 0xff);
    const char *result = perfile_enum_constant("cache_result", config >> 16 & 0xff);

    if (cache && op && result)
        pf_stream_print(out, " (PERF_%s | PERF_%s | PERF_%s)", result, op, cache);
}

static void put_config(const struct line *line)
{
    const uint64_t config = line->event->attr->config;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(line->input->reader, line->event);
    const char *known = NULL;

    pf_stream_print(line->out, "%#" PRIx64, config);
    if (line->event->attr->type == PERFILE_TYPE_HARDWARE) /* the upper half says which PMU */
        known = perfile_enum_constant("hardware_event", config & UINT32_MAX);
    else if (line->event->attr->type == PERFILE_TYPE_SOFTWARE)
        known = perfile_enum_constant("software_event", config);
    else if (line->event->attr->type == PERFILE_TYPE_HW_CACHE)
        put_cache_config(line->out, config & UINT32_MAX);
    if (known)
        pf_stream_print(line->out, " (PERF_%s)", known);
    if (tracepoint && tracepoint->system && tracepoint->name) {
        pf_stream_put_name(line->out, " (", tracepoint->system, ":");
        pf_stream_put_name(line->out, "", tracepoint->name, ")");
    }
}

static void put_number(struct line *line, const struct perfile_value *value)
{
    for (size_t i = 0; i < sizeof(bit_sets) / sizeof(bit_sets[0]); i++)
        if (!strcmp(value->name, bit_sets[i][0])) {
            put_bits(line->out, value->number.u, bit_sets[i]);
            return;
        }
    if (!strcmp(value->name, "type"))
        put_type(line);
    else if (!strcmp(value->name, "config"))
        put_config(line);
    else if (value->kind == PERFILE_VALUE_SIGNED)
        pf_stream_print(line->out, "%" PRId64, value->number.s);
    else
        pf_stream_print(line->out, value->meaning == PERFILE_MEANS_FLAGS ? "%#" PRIx64 : "%" PRIu64, value->number.u);
}

/* Members that are 0 are not printed, except type and config. */
static int see_member(void *context, const struct perfile_value *value)
{
    struct line *line = context;
    const bool is_always = value->name && (!strcmp(value->name, "type") || !strcmp(value->name, "config"));

    if (!value->name || (!value->number.u && !is_always) || !strncmp(value->name, "__", 2))
        return 0;
    put_separator(line);
    pf_stream_print(line->out, "%s: ", perf_name(value->name));
    put_number(line, value);
    return 0;
}

static int put_attr(struct line *line)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = line, .value = see_member};

    return perfile_attr_visit(line->event, &visitor, &line->input->error);
}

/* ---- fields of tracepoints ------------------------------------------------------------------------------------- */

static void put_trace_fields(struct line *line)
{
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(line->input->reader, line->event);
    const char *separator = "";

    put_separator(line);
    if (line->event->attr->type != PERFILE_TYPE_TRACEPOINT) {
        pf_stream_print(line->out, "(not a tracepoint)");
        return;
    }
    for (size_t i = 0; tracepoint && i < tracepoint->field_count; i++) {
        if (tracepoint->fields[i].is_common)
            continue;
        pf_stream_print(line->out, "%s", *separator ? separator : "trace_fields: ");
        pf_stream_put_name(line->out, "", tracepoint->fields[i].name, "");
        separator = ",";
    }
    if (!*separator)
        pf_stream_print(line->out, "(no trace field)");
}

/* ---- groups ---------------------------------------------------------------------------------------------------- */

struct group {
    char name[64];
    uint64_t leader, members;
};

struct groups {
    struct group *list; /* owned */
    size_t count;
    bool no_memory;
};

static int begin_group(void *context, const char *name, bool is_list)
{
    struct groups *groups = context;
    struct group *grown;

    if (name || is_list) /* the feature itself */
        return 0;
    grown = reallocarray(groups->list, groups->count + 1, sizeof(*grown));
    if (!grown) {
        groups->no_memory = true;
        return -1;
    }
    groups->list = grown;
    grown[groups->count++] = (struct group){.members = 0};
    return 0;
}

static int see_group(void *context, const struct perfile_value *value)
{
    struct groups *groups = context;
    struct group *group = groups->count ? &groups->list[groups->count - 1] : NULL;

    if (!group || !value->name)
        return 0;
    if (!strcmp(value->name, "name"))
        snprintf(group->name, sizeof(group->name), "%.*s", (int)(value->bytes < 63 ? value->bytes : 63),
                 (const char *)value->data);
    else if (!strcmp(value->name, "leader_idx"))
        group->leader = value->number.u;
    else if (!strcmp(value->name, "nr_members"))
        group->members = value->number.u;
    return 0;
}

/* The feature may be absent, or damaged: then those before the damage are known. */
static int read_groups(struct pf_input *input, struct groups *groups)
{
    const struct perfile_visitor visitor = {
        .size = sizeof(visitor), .context = groups, .begin = begin_group, .value = see_group};
    const int result = perfile_feature_visit(input->reader, PERFILE_FEATURE_GROUP_DESC, &visitor, &input->error);

    if (!groups->no_memory && result != PERFILE_ERROR_MEMORY)
        return 0;
    snprintf(input->error.message, sizeof(input->error.message), "out of memory");
    return PERFILE_ERROR_MEMORY;
}

/* The group that the event leads. */
static const struct group *group_led_by(const struct groups *groups, size_t index)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->list[i].leader == index && groups->list[i].members > 1)
            return &groups->list[i];
    return NULL;
}

/* ---- the list -------------------------------------------------------------------------------------------------- */

static void put_group(struct pf_input *input, struct pf_stream *out, const struct group *group)
{
    const size_t count = perfile_event_count(input->reader), first = (size_t)group->leader;

    pf_stream_put_name(out, "", strcmp(group->name, "{anon_group}") != 0 ? group->name : "", "{");
    for (size_t i = first; i < count && i - first < group->members; i++)
        pf_stream_put_name(out, i == first ? "" : ",", perfile_event_get(input->reader, i)->name, "");
    pf_stream_print(out, "}\n");
}

static int put_event(struct line *line)
{
    const struct pf_settings *settings = line->input->settings;
    const struct perfile_attr *attr = line->event->attr;

    pf_stream_put_name(line->out, "", line->event->name, "");
    if (settings->verbose) {
        const int result = put_attr(line);
        if (result < 0)
            return result;
    } else if (pf_own(settings)->frequency) {
        put_separator(line);
        pf_stream_print(line->out, "sample_%s=%" PRIu64, attr->freq ? "freq" : "period", attr->sample_period_or_freq);
    }
    if (pf_own(settings)->trace_fields)
        put_trace_fields(line);
    pf_stream_print(line->out, "\n");
    return 0;
}

static void put_tips(const struct pf_settings *settings, struct pf_stream *out, bool has_tracepoint, bool has_group)
{
    if (has_tracepoint && !pf_own(settings)->trace_fields)
        pf_stream_print(out, "# Tip: use '%s evlist --trace-fields' to show fields for tracepoint events\n",
                        pf_program_name());
    if (has_group && !pf_own(settings)->group)
        pf_stream_print(out, "# Tip: use '%s evlist -g' to show group information\n", pf_program_name());
}

static int put_events(struct pf_input *input, struct pf_stream *out, const struct groups *groups)
{
    const size_t count = perfile_event_count(input->reader);
    bool has_tracepoint = false, has_group = false;
    int result = 0;

    for (size_t i = 0; i < count && result >= 0; i++) {
        struct line line = {input, perfile_event_get(input->reader, i), out, ": "};
        const struct group *group = group_led_by(groups, i);

        has_group = has_group || group;
        has_tracepoint = has_tracepoint || line.event->attr->type == PERFILE_TYPE_TRACEPOINT;
        if (group && pf_own(input->settings)->group) {
            put_group(input, out, group);
            i += (size_t)(group->members < count - i ? group->members : count - i) - 1;
        } else {
            result = put_event(&line);
        }
    }
    put_tips(input->settings, out, has_tracepoint, has_group);
    return result;
}

static int print(struct pf_input *input, struct pf_stream *out)
{
    struct groups groups = {0};
    int result = 0;

    if (perfile_reader_file(input->reader)->mode == PERFILE_MODE_PIPE)
        result = pf_read_to_end(input);
    if (result >= 0)
        result = read_groups(input, &groups);
    if (result >= 0)
        result = put_events(input, out, &groups);
    free(groups.list);
    return result;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (pf_own(settings)->group && (settings->verbose || pf_own(settings)->frequency)) {
        pf_message("evlist: --group prints groups alone, without --verbose or --freq");
        return PF_STATUS_USAGE;
    }
    return pf_read_and_print(command, settings, print);
}

static const struct pf_option options[] = {
    PF_FLAG("freq", 'F', PF_OWN(frequency), "Print the sample frequency, or the period."),
    PF_FLAG("group", 'g', PF_OWN(group), "Print the events of a group on one line: {cycles,instructions}."),
    PF_FLAG("trace-fields", 0, PF_OWN(trace_fields), "Print the names of the fields of tracepoints."),
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_evlist = {
    .name = "evlist",
    .summary = "list the events of a recording, as perf evlist does",
    .doc =
        "Prints the name of each event of a recording, with -v all its attributes, as perf evlist does. perfile table "
        "events has the same as a table.",
    PF_ONE_RECORDING,
    .pages = true,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
