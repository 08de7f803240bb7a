/* SPDX-License-Identifier: MIT */
/* Events with their attributes, in perf's words. */
#include <inttypes.h>

#include "output/header_walk.h"

#define PUT(...) pf_put_format(walk->out, __VA_ARGS__)

/* ---- numbers that are words -------------------------------------------------------------------------------------- */

struct bit {
    uint64_t bit;
    const char *name;
};

/* In perf's order. */
static const struct bit sample_bits[] = {
#define BIT(name)                                                                                                      \
    {                                                                                                                  \
        PERFILE_SAMPLE_##name, #name                                                                                   \
    }
    BIT(IP),
    BIT(TID),
    BIT(TIME),
    BIT(ADDR),
    BIT(READ),
    BIT(CALLCHAIN),
    BIT(ID),
    BIT(CPU),
    BIT(PERIOD),
    BIT(STREAM_ID),
    BIT(RAW),
    BIT(BRANCH_STACK),
    BIT(REGS_USER),
    BIT(STACK_USER),
    BIT(IDENTIFIER),
    BIT(REGS_INTR),
    BIT(DATA_SRC),
    BIT(WEIGHT),
    BIT(TRANSACTION),
    BIT(PHYS_ADDR),
    BIT(AUX),
    BIT(CGROUP),
    BIT(DATA_PAGE_SIZE),
    BIT(CODE_PAGE_SIZE),
    BIT(WEIGHT_STRUCT),
#undef BIT
    {0, NULL},
};

static const struct bit read_bits[] = {
#define BIT(name)                                                                                                      \
    {                                                                                                                  \
        PERFILE_FORMAT_##name, #name                                                                                   \
    }
    BIT(TOTAL_TIME_ENABLED),
    BIT(TOTAL_TIME_RUNNING),
    BIT(ID),
    BIT(GROUP),
    BIT(LOST),
#undef BIT
    {0, NULL},
};

static const struct bit branch_bits[] = {
#define BIT(name)                                                                                                      \
    {                                                                                                                  \
        PERFILE_SAMPLE_BRANCH_##name, #name                                                                            \
    }
    BIT(USER),     BIT(KERNEL),    BIT(HV),        BIT(ANY),      BIT(ANY_CALL),   BIT(ANY_RETURN), BIT(IND_CALL),
    BIT(ABORT_TX), BIT(IN_TX),     BIT(NO_TX),     BIT(COND),     BIT(CALL_STACK), BIT(IND_JUMP),   BIT(CALL),
    BIT(NO_FLAGS), BIT(NO_CYCLES), BIT(TYPE_SAVE), BIT(HW_INDEX), BIT(PRIV_SAVE),  BIT(COUNTERS),
#undef BIT
    {0, NULL},
};

static void put_bits(struct pf_text *out, uint64_t value, const struct bit *bits)
{
    uint64_t rest = value;
    for (; bits->name; bits++) {
        if (!(value & bits->bit))
            continue;
        pf_put_format(out, "%s%s", rest == value ? "" : "|", bits->name);
        rest &= ~bits->bit;
    }
    if (rest)
        pf_put_format(out, "%s%#" PRIx64, rest == value ? "" : "|", rest);
}

#define NAMES(prefix, ...) static const char *const prefix[] = {__VA_ARGS__}
NAMES(types, "PERF_TYPE_HARDWARE", "PERF_TYPE_SOFTWARE", "PERF_TYPE_TRACEPOINT", "PERF_TYPE_HW_CACHE", "PERF_TYPE_RAW",
      "PERF_TYPE_BREAKPOINT");
NAMES(hardware, "CPU_CYCLES", "INSTRUCTIONS", "CACHE_REFERENCES", "CACHE_MISSES", "BRANCH_INSTRUCTIONS",
      "BRANCH_MISSES", "BUS_CYCLES", "STALLED_CYCLES_FRONTEND", "STALLED_CYCLES_BACKEND", "REF_CPU_CYCLES");
NAMES(software, "CPU_CLOCK", "TASK_CLOCK", "PAGE_FAULTS", "CONTEXT_SWITCHES", "CPU_MIGRATIONS", "PAGE_FAULTS_MIN",
      "PAGE_FAULTS_MAJ", "ALIGNMENT_FAULTS", "EMULATION_FAULTS", "DUMMY", "BPF_OUTPUT", "CGROUP_SWITCHES");
NAMES(caches, "L1D", "L1I", "LL", "DTLB", "ITLB", "BPU", "NODE");
NAMES(cache_ops, "READ", "WRITE", "PREFETCH");
NAMES(cache_results, "ACCESS", "MISS");

#define NAME_OF(names, value) ((value) < PF_COUNT(names) ? names[value] : NULL)

/* ---- one attribute ----------------------------------------------------------------------------------------------- */

static void find_pmu(struct pf_header_walk *walk, const char *list)
{
    struct pf_header_walk *asker = walk->context;
    (void)list;
    if (pf_header_number(walk, "type") == asker->count)
        pf_header_put_text(walk, &asker->scratch, "name");
}

/* The PMU of a type, as the recording calls it; an empty scratch when it does not. */
static void look_up_pmu(struct pf_header_walk *walk, uint64_t type)
{
    static const struct pf_header_rows rows = {.object = find_pmu};
    struct pf_header_walk pmus = {.reader = walk->reader, .out = walk->out, .context = walk};
    walk->count = type;
    walk->scratch.used = 0;
    (void)pf_memory_check(walk->out->allocator, pf_header_walk(&pmus, PERFILE_FEATURE_PMU_MAPPINGS, &rows, NULL));
}

static void put_type(struct pf_header_walk *walk, uint64_t type)
{
    const char *name = type == PERFILE_TYPE_RAW ? NULL : NAME_OF(types, type);
    PUT("%" PRIu64, type);
    if (!name)
        look_up_pmu(walk, type);
    if (!name && walk->scratch.used) {
        PUT(" (");
        pf_put(walk->out, walk->scratch.data, walk->scratch.used);
        PUT(")");
    } else if (name || type == PERFILE_TYPE_RAW) {
        PUT(" (%s)", name ? name : types[type]);
    }
}

static void put_cache_config(struct pf_header_walk *walk, uint64_t config)
{
    const char *cache = NAME_OF(caches, config & 0xff), *op = NAME_OF(cache_ops, config >> 8 & 0xff);
    const char *result = NAME_OF(cache_results, config >> 16 & 0xff);
    if (cache && op && result)
        PUT(" (PERF_COUNT_HW_CACHE_RESULT_%s | PERF_COUNT_HW_CACHE_OP_%s | PERF_COUNT_HW_CACHE_%s)", result, op, cache);
}

/* Tracepoints have their name, which is that of the recording: numbers are different on each machine. */
static void put_config(struct pf_header_walk *walk, uint64_t type, uint64_t config)
{
    const char *name = type == PERFILE_TYPE_HARDWARE   ? NAME_OF(hardware, config & UINT32_MAX)
                       : type == PERFILE_TYPE_SOFTWARE ? NAME_OF(software, config)
                                                       : NULL;
    PUT(config ? "%#" PRIx64 : "%" PRIu64, config);
    if (name)
        PUT(" (PERF_COUNT_%s_%s)", type == PERFILE_TYPE_HARDWARE ? "HW" : "SW", name);
    else if (type == PERFILE_TYPE_HW_CACHE)
        put_cache_config(walk, config);
    else if (type == PERFILE_TYPE_TRACEPOINT) {
        PUT(" (");
        pf_header_put_text(walk, walk->out, "name");
        PUT(")");
    }
}

/* ---- the members ------------------------------------------------------------------------------------------------- */

enum look { DECIMAL, SIGNED, HEX, SAMPLE_BITS, READ_BITS, BRANCH_BITS };

/* Those that perf calls otherwise, or prints otherwise than as a decimal number. */
static const struct {
    const char *name, *label;
    enum look look;
} looks[] = {
    {"sample_period_or_freq", "{ sample_period, sample_freq }", DECIMAL},
    {"sample_type", NULL, SAMPLE_BITS},
    {"read_format", NULL, READ_BITS},
    {"wakeup_events_or_watermark", "{ wakeup_events, wakeup_watermark }", DECIMAL},
    {"bp_addr_or_config1", "{ bp_addr, config1 }", HEX},
    {"bp_len_or_config2", "{ bp_len, config2 }", HEX},
    {"branch_sample_type", NULL, BRANCH_BITS},
    {"sample_regs_user", NULL, HEX},
    {"clockid", NULL, SIGNED},
    {"sample_regs_intr", NULL, HEX},
    {"sig_data", NULL, HEX},
    {"config3", NULL, HEX},
    {"config4", NULL, HEX},
};

static void put_member(struct pf_text *out, const struct perfile_value *member)
{
    const char *label = member->name;
    const uint64_t value = member->number.u;
    enum look look = DECIMAL;
    for (size_t i = 0; i < PF_COUNT(looks); i++)
        if (strcmp(looks[i].name, member->name) == 0) {
            look = looks[i].look;
            label = looks[i].label ? looks[i].label : label;
        }
    pf_put_format(out, ", %s = ", label);
    if (look == SAMPLE_BITS)
        put_bits(out, value, sample_bits);
    else if (look == READ_BITS)
        put_bits(out, value, read_bits);
    else if (look == BRANCH_BITS)
        put_bits(out, value, branch_bits);
    else if (look == HEX)
        pf_put_format(out, "%#" PRIx64, value);
    else if (look == SIGNED)
        pf_put_signed(out, (int32_t)value);
    else
        pf_put_unsigned(out, value);
}

/* Puts the attributes of an event. Zeros are left out, except in the members that identify the event. */
static void put_attr(struct pf_header_walk *walk)
{
    static const char *const first[] = {"type", "size", "config", "name"};
    const uint64_t type = pf_header_number(walk, "type");
    PUT(", type = ");
    put_type(walk, type);
    PUT(", size = %" PRIu64 ", config = ", pf_header_number(walk, "size"));
    put_config(walk, type, pf_header_number(walk, "config"));
    for (unsigned i = 0; i < walk->member_count; i++) {
        bool is_first = false;
        for (size_t k = 0; k < PF_COUNT(first); k++)
            is_first |= strcmp(walk->members[i].name, first[k]) == 0;
        if (!is_first && walk->members[i].kind != PERFILE_VALUE_TEXT && walk->members[i].number.u)
            put_member(walk->out, &walk->members[i]);
    }
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void begin_ids(struct pf_header_walk *walk, const char *name)
{
    if (strcmp(name, "ids") != 0)
        return;
    PUT("# event : name = ");
    pf_header_put_text(walk, walk->out, "name");
    PUT(", ");
    walk->count = 0;
}

static void put_id(struct pf_header_walk *walk, const char *list, const struct perfile_value *value)
{
    if (strcmp(list, "ids") == 0)
        PUT("%s %" PRIu64, walk->count++ ? "," : ", id = {", value->number.u);
}

static void put_event(struct pf_header_walk *walk, const char *list)
{
    if (strcmp(list, "EVENT_DESC") != 0 || walk->depth != 2)
        return;
    PUT(walk->count ? " }" : "");
    put_attr(walk);
    PUT("\n");
}

int pf_header_put_events(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.begin = begin_ids, .object = put_event, .item = put_id};
    return pf_header_walk(walk, feature, &rows, error);
}
