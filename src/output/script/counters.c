/* SPDX-License-Identifier: MIT */
/* What happened in each block of branches, when the hardware counted it (perf record -j any,counter). */
#include "output/script/script.h"

enum { WIDTH_MAX = 8 };

struct pf_script_counters {
    unsigned width;    /* bits of one counter; 0: the recording does not say */
    uint32_t *leaders; /* by event index: the leader of its group */
    size_t count, capacity;
    uint64_t leader; /* of the group that is being read */
    bool next_is_width;
};

static bool counts(const struct perfile_event *event)
{
    return event->attr->branch_sample_type & PERFILE_SAMPLE_BRANCH_COUNTERS;
}

static uint64_t number_of(const struct perfile_value *value)
{
    uint64_t number = 0;
    for (size_t i = 0; i < value->bytes && i < 3 && value->data[i] >= '0' && value->data[i] <= '9'; i++)
        number = number * 10 + (uint64_t)(value->data[i] - '0');
    return number;
}

/* Capabilities are pairs of texts. */
static int read_capability(void *context, const struct perfile_value *value)
{
    static const char width[] = "branch_counter_width";
    struct pf_script_counters *counters = context;
    if (!value->data)
        return 0;
    if (counters->next_is_width && !counters->width)
        counters->width = number_of(value) <= WIDTH_MAX ? (unsigned)number_of(value) : 0;
    counters->next_is_width = value->bytes == sizeof(width) - 1 && memcmp(value->data, width, sizeof(width) - 1) == 0;
    return 0;
}

static int read_group(void *context, const struct perfile_value *value)
{
    struct pf_script_counters *counters = context;
    if (value->name && strcmp(value->name, "leader_idx") == 0)
        counters->leader = value->number.u;
    if (!value->name || strcmp(value->name, "nr_members") != 0)
        return 0;
    for (uint64_t i = counters->leader; i < counters->count && i - counters->leader < value->number.u; i++)
        counters->leaders[i] = (uint32_t)counters->leader;
    return 0;
}

static void visit(struct pf_script *script, uint32_t feature,
                  int (*value)(void *context, const struct perfile_value *value))
{
    const struct perfile_visitor visitor = {
        .size = sizeof(visitor), .context = script->counters_of_branches, .value = value};
    if (pf_memory_check(script->out->allocator, perfile_feature_visit(script->reader, feature, &visitor, NULL)) < 0)
        script->counters_of_branches->next_is_width = false; /* it is absent or damaged: nothing more is known */
}

/* NULL when out of memory. */
static const struct pf_script_counters *get_counters(struct pf_script *script)
{
    struct pf_script_counters *counters = script->counters_of_branches;
    if (counters || !(counters = pf_arena_new(&script->arena, sizeof(*counters))))
        return counters;
    counters->count = perfile_event_count(script->reader);
    counters->leaders = pf_arena_new(&script->arena, counters->count * sizeof(*counters->leaders) + 1);
    if (!counters->leaders)
        return NULL;
    for (size_t i = 0; i < counters->count; i++)
        counters->leaders[i] = (uint32_t)i;
    script->counters_of_branches = counters;
    visit(script, PERFILE_FEATURE_CPU_PMU_CAPS, read_capability);
    visit(script, PERFILE_FEATURE_PMU_CAPS, read_capability);
    visit(script, PERFILE_FEATURE_GROUP_DESC, read_group);
    return counters;
}

/* Events that count have letters, in their order. */
static char letter(unsigned number)
{
    return (char)('A' + pf_min(number, 'z' - 'A'));
}

static void put_letter(struct pf_text *out, const char *name, char of_name)
{
    pf_put_string(out, "# ");
    pf_put_name(out, name);
    pf_put_format(out, " = %c\n", of_name);
}

char *pf_script_put_brcntr(struct pf_script *script, char *at)
{
    const struct perfile_event *event;
    unsigned number = 0;
    pf_script_leave(script, at);
    pf_put_string(script->out, "# Branch counter abbr list:\n");
    for (size_t i = 0; (event = perfile_event_get(script->reader, i)) != NULL; i++)
        if (counts(event))
            put_letter(script->out, event->name, letter(number++));
    pf_put_string(script->out, "# '-' No event occurs\n"
                               "# '+' Event occurrences may be lost due to branch counter saturated\n");
    return pf_script_enter(script);
}

/* The letters of one event. */
static void put_count(struct pf_text *out, char name, uint64_t count, uint64_t full)
{
    for (uint64_t i = 0; i < count; i++)
        pf_put_char(out, name);
    if (count == full)
        pf_put_char(out, '+');
}

void pf_script_put_branch_counter(struct pf_script *script, uint64_t value)
{
    const struct pf_script_counters *counters = get_counters(script);
    const size_t index = script->plan->event->index;
    const struct perfile_event *event;
    unsigned number = 0, shift = 0;
    uint64_t all = 0;
    if (!counters) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return;
    }
    const uint64_t full = (UINT64_C(1) << counters->width) - 1;
    pf_put_string(script->out, "\t# br_cntr: ");
    for (size_t i = 0; i < counters->count && index < counters->count; i++) {
        event = perfile_event_get(script->reader, i);
        if (!counts(event))
            continue;
        if (counters->leaders[i] == counters->leaders[index] && shift + counters->width <= 64 && counters->width) {
            const uint64_t count = value >> shift & full;
            put_count(script->out, letter(number), count, full);
            all += count;
            shift += counters->width;
        }
        number++;
    }
    pf_put_string(script->out, !counters->width ? "? " : all ? " " : "- ");
}
