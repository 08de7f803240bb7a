/* SPDX-License-Identifier: MIT */
/* From the options of a recording to the attrs of its events. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"
#include "record/aux_kind.h"
#include "record/events.h"
#include "schema/since.h"

enum {
    FREQUENCY = 4000,
    STACK_BYTES = 8192,
    UNWOUND_BYTES = 32768, /* of a stack that is unwound while recording: what is not used is not kept */
    STACK_BYTES_MAX = 65528,
    KERNEL_FRAMES_MAX = 127, /* /proc/sys/kernel/perf_event_max_stack, by default */
};

void pf_events_note(const struct perfile_recorder_options *options, const char *format, ...)
{
    char sentence[256];
    va_list arguments;
    if (!options->note)
        return;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof(sentence), format, arguments);
    va_end(arguments);
    options->note(options->note_context, sentence);
}

static int refuse(struct perfile_error *error, const char *what, const char *passed, const char *known)
{
    return pf_about(error, passed, strlen(passed),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what,
                            "invalid value \"%.40s\"; valid: %s", passed, known));
}

/* ---- words of the options ---- */

struct word {
    const char *name;
    uint64_t value;
};

/* "any,u": the bits of all words, or-ed. */
static int branches_of(const char *list, uint64_t *values)
{
    *values = 0;
    for (const char *at = list; *at;) {
        const size_t bytes = strcspn(at, ",");
        uint64_t value;
        if (!pf_enum_value("branch_sample_type", at, bytes, &value))
            return PERFILE_ERROR_ARGUMENT;
        *values |= value;
        at += bytes + (at[bytes] == ',');
    }
    return 0;
}

static const struct word clocks[] = {
    {"realtime", CLOCK_REALTIME},
    {"monotonic", CLOCK_MONOTONIC},
    {"monotonic_raw", CLOCK_MONOTONIC_RAW},
    {"mono", CLOCK_MONOTONIC},
    {"raw", CLOCK_MONOTONIC_RAW},
    {"boottime", CLOCK_BOOTTIME},
    {"boot", CLOCK_BOOTTIME},
    {"real", CLOCK_REALTIME},
    {"tai", CLOCK_TAI},
    {NULL, 0},
};

/* ---- registers ---- */

/* arch/ARCH/include/uapi/asm/perf_regs.h: what user space has, and what unwinding needs of it. */
#if defined(__x86_64__)
static const uint64_t all_registers = 0xff0fff;
static const char architecture[] = "x86_64";
#elif defined(__i386__)
static const uint64_t all_registers = 0xfff;
static const char architecture[] = "i386";
#elif defined(__aarch64__)
static const uint64_t all_registers = 0x1ffffffff;
static const char architecture[] = "aarch64";
#elif defined(__arm__)
static const uint64_t all_registers = 0xffff;
static const char architecture[] = "arm";
#elif defined(__riscv)
static const uint64_t all_registers = 0xffffffff;
static const char architecture[] = "riscv64";
#elif defined(__s390x__)
static const uint64_t all_registers = 0x3ffffffff;
static const char architecture[] = "s390x";
#elif defined(__powerpc64__)
static const uint64_t all_registers = 0x7ffffffffff;
static const char architecture[] = "ppc64le";
#else
static const uint64_t all_registers = 0;
static const char architecture[] = "";
#endif

static bool same_letters(const char *name, const char *passed, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (!name[i] || (name[i] | 0x20) != (passed[i] | 0x20))
            return false;
    return !name[bytes];
}

/* Adds those of "ip,sp" to the mask; "" is all of them. */
static int add_registers(const char *list, uint64_t *mask, struct perfile_error *error)
{
    *mask |= *list ? 0 : all_registers;
    for (const char *at = list; *at;) {
        const size_t bytes = strcspn(at, ",");
        const char *name;
        unsigned number = 0;
        for (; number < 64; number++)
            if ((all_registers >> number & 1) && (name = perfile_register_name(architecture, number)) &&
                same_letters(name, at, bytes))
                break;
        if (number == 64)
            return pf_about(error, at, bytes,
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "registers",
                                    "unknown register \"%.*s\" of %s", (int)pf_min(bytes, 20), at, architecture));
        *mask |= 1ull << number;
        at += bytes + (at[bytes] == ',');
    }
    return 0;
}

/* ---- callchains ---- */

/* "dwarf", "dwarf,8192": whether the name is that of the way. */
static bool is_way(const char *how, const char *name)
{
    const size_t bytes = strlen(name);
    return strncmp(how, name, bytes) == 0 && (!how[bytes] || how[bytes] == ',');
}

static int configure_dump(struct perfile_attr *attr, const char *bytes, unsigned long usual,
                          struct perfile_error *error)
{
    char *end = NULL;
    const unsigned long wanted = *bytes == ',' ? strtoul(bytes + 1, &end, 0) : usual;
    if ((end && *end) || wanted == 0 || wanted > STACK_BYTES_MAX)
        return pf_about(error, bytes + 1, strlen(bytes + 1),
                        pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "call graph",
                                "invalid stack size \"%.40s\": expected 8 to %d bytes", bytes + 1, STACK_BYTES_MAX));
    attr->sample_type |= PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    attr->sample_regs_user = all_registers;
    attr->sample_stack_user = (uint32_t)pf_align8(wanted);
    attr->exclude_callchain_user = 1;
    return 0;
}

static int configure_call_graph(struct perfile_attr *attr, const char *how, struct perfile_error *error)
{
    if (!how || strcmp(how, "no") == 0)
        return 0;
    if (strcmp(how, "fp") == 0) {
        attr->sample_type |= PERFILE_SAMPLE_CALLCHAIN;
        return 0;
    }
    if (is_way(how, "auto")) {
        const int result = configure_dump(attr, how + 4, UNWOUND_BYTES, error);
        attr->exclude_callchain_user = 0; /* for what is not in the dump */
        return result;
    }
    if (is_way(how, "dwarf"))
        return configure_dump(attr, how + 5, STACK_BYTES, error);
    if (strcmp(how, "lbr") != 0)
        return refuse(error, "call graph", how, "auto, auto,BYTES, fp, dwarf, dwarf,BYTES, lbr");
    attr->sample_type |= PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_BRANCH_STACK;
    attr->branch_sample_type = PERFILE_SAMPLE_BRANCH_USER | PERFILE_SAMPLE_BRANCH_CALL_STACK |
                               PERFILE_SAMPLE_BRANCH_NO_FLAGS | PERFILE_SAMPLE_BRANCH_NO_CYCLES;
    attr->exclude_callchain_user = 1;
    return 0;
}

static const char *call_graph_of(const struct pf_listed_event *event, const struct perfile_recorder_options *options)
{
    return event->call_graph ? event->call_graph : options->call_graph;
}

/*
 * "auto" where a stage can make a callchain of the dump, and neither the registers nor the dump are recorded. One event
 * whose dumps are recorded means all of them: the stage looks at all.
 */
static int choose_unwinding(struct pf_event_list *chosen, size_t count, const struct perfile_recorder_options *options,
                            struct perfile_error *error)
{
    bool dumps = false, unwinds = false;
    for (size_t i = 0; i < count; i++) {
        const char *how = call_graph_of(&chosen->items[i], options);
        dumps |= how && is_way(how, "dwarf");
        unwinds |= how && is_way(how, "auto");
    }
    if (!unwinds)
        return 0;
    if (!options->stage)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "call graph", "auto needs a stage");
    const bool wanted = !options->user_regs && !(options->flags & PERFILE_RECORDER_KERNEL_CALLCHAINS);
    chosen->unwinds = all_registers && !dumps && wanted;
    if (options->user_regs && !dumps)
        pf_events_note(options, "callchains by frame pointers (call graph fp), not auto, which does not go with user "
                                "registers");
    for (size_t i = 0; i < count && !chosen->unwinds && !dumps; i++) {
        const char *how = call_graph_of(&chosen->items[i], options);
        if (how && is_way(how, "auto"))
            chosen->items[i].call_graph = "fp";
    }
    return 0;
}

static int configure_branches(struct perfile_attr *attr, const char *filter, struct perfile_error *error)
{
    uint64_t values;
    if (branches_of(filter, &values) < 0)
        return refuse(error, "branch filter", filter,
                      "any, any_call, any_ret, ind_call, call, cond, u, k, save_type ...");
    const unsigned user = PERFILE_SAMPLE_BRANCH_USER, kernel = PERFILE_SAMPLE_BRANCH_KERNEL,
                   hv = PERFILE_SAMPLE_BRANCH_HV;
    if (!(values & (user | kernel | hv))) /* as the event itself counts */
        values |= (attr->exclude_user ? 0 : user) | (attr->exclude_kernel ? 0 : kernel) | (attr->exclude_hv ? 0 : hv);
    attr->branch_sample_type |= values;
    attr->sample_type |= PERFILE_SAMPLE_BRANCH_STACK;
    return 0;
}

/* ---- AUX data ---- */

/* All events that write it have PMUs of one kind, as readers know one only. */
static int check_aux(struct pf_event_list *chosen, const struct perfile_recorder_options *options, bool overwrite,
                     struct perfile_error *error)
{
    const struct pf_aux_kind *kind = NULL;
    for (size_t i = 0; i < chosen->count; i++) {
        const struct pf_listed_event *event = &chosen->items[i];
        const struct pf_aux_kind *own = pf_aux_kind_of(event->aux);
        if (own && kind && own != kind)
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, event->name,
                           "a recording has hardware traces of one kind only");
        kind = own ? own : kind;
    }
    chosen->has_aux = kind != NULL;
    if (!kind && options->aux_mode != PERFILE_RECORDER_AUX_ALL)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "AUX snapshots",
                       "need an event that writes a hardware trace, such as intel_pt//");
    return kind && overwrite ? pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "overwrite",
                                       "hardware traces do not go with buffers that are overwritten: snapshots of them "
                                       "are a mode of their own")
                             : 0;
}

/* An event that writes AUX data has no samples of its own. */
static void prepare_aux(struct pf_listed_event *event, const struct perfile_recorder_options *options)
{
    const struct pf_aux_kind *kind = pf_aux_kind_of(event->aux);
    if (!kind)
        return;
    if (!event->period)
        event->period =
            options->period && pf_aux_kind_has_period(kind) ? options->period : event->attr.sample_period_or_freq;
    event->frequency = 0;
    event->call_graph = "no";
    event->attr.sample_type |= PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_CPU;
}

/* Samples of the events that an AUX event leads have the newest of its data. */
static int configure_aux_samples(struct pf_event_list *chosen, uint64_t bytes, struct perfile_error *error)
{
    for (size_t i = 0; i < chosen->count; i++) {
        struct pf_listed_event *event = &chosen->items[i];
        struct perfile_attr *attr = &event->attr;
        if (event->aux || !chosen->items[event->leader].aux)
            continue;
        attr->aux_sample_size = attr->aux_sample_size ? attr->aux_sample_size : (uint32_t)bytes;
        if (!attr->aux_sample_size)
            continue;
        attr->sample_type |= PERFILE_SAMPLE_AUX;
        chosen->samples_aux = true;
    }
    return !bytes || chosen->samples_aux
               ? 0
               : pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "AUX samples",
                         "the events need a leader that writes AUX data: {intel_pt//u,cycles:u}");
}

/* ---- one event ---- */

static void configure_period(struct pf_listed_event *event, const struct perfile_recorder_options *options)
{
    struct perfile_attr *attr = &event->attr;
    uint64_t period = event->period, frequency = event->frequency;
    if (!period && !frequency) {
        period = options->period;
        frequency = options->frequency;
    }
    if (!period && !frequency) /* each occurrence, where that is the custom */
        period = attr->sample_period_or_freq;
    attr->freq = !period;
    attr->sample_period_or_freq = period ? period : frequency ? frequency : FREQUENCY;
    if (attr->freq)
        attr->sample_type |= PERFILE_SAMPLE_PERIOD;
    if (options->flags & PERFILE_RECORDER_NO_SAMPLES) {
        attr->freq = 0;
        attr->sample_period_or_freq = 0;
    }
}

/* What was asked for by an option stays also when the system does not let this user look at the kernel. */
static void configure_privilege(struct pf_listed_event *event, unsigned flags)
{
    const unsigned all = flags & (PERFILE_RECORDER_ALL_USER | PERFILE_RECORDER_ALL_KERNEL);
    if (!all)
        return;
    event->exclude_is_explicit = true;
    event->attr.exclude_kernel = all == PERFILE_RECORDER_ALL_USER;
    event->attr.exclude_user = all == PERFILE_RECORDER_ALL_KERNEL;
}

static void configure_callchain_parts(struct perfile_attr *attr, unsigned flags)
{
    if (flags & PERFILE_RECORDER_USER_CALLCHAINS)
        attr->exclude_callchain_kernel = 1;
    if (flags & PERFILE_RECORDER_KERNEL_CALLCHAINS)
        attr->exclude_callchain_user = 1;
}

static void configure_parts(struct pf_listed_event *event, const struct pf_target *target, unsigned flags)
{
    static const struct {
        unsigned flag;
        uint64_t part;
    } parts[] = {
        {PERFILE_RECORDER_ADDRESS, PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_DATA_SRC},
        {PERFILE_RECORDER_PHYS_ADDRESS, PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_PHYS_ADDR},
        {PERFILE_RECORDER_DATA_PAGE_SIZE, PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_DATA_PAGE_SIZE},
        {PERFILE_RECORDER_CODE_PAGE_SIZE, PERFILE_SAMPLE_CODE_PAGE_SIZE},
        {PERFILE_RECORDER_WEIGHT, PERFILE_SAMPLE_WEIGHT},
        {PERFILE_RECORDER_TRANSACTION, PERFILE_SAMPLE_TRANSACTION},
        {PERFILE_RECORDER_CPU, PERFILE_SAMPLE_CPU},
        {PERFILE_RECORDER_PERIOD, PERFILE_SAMPLE_PERIOD},
        {PERFILE_RECORDER_RAW, PERFILE_SAMPLE_RAW},
        {PERFILE_RECORDER_CGROUPS, PERFILE_SAMPLE_CGROUP},
    };
    struct perfile_attr *attr = &event->attr;
    attr->sample_type |= PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID;
    if (event->time != 0 && (event->time > 0 || !(flags & PERFILE_RECORDER_NO_TIME)))
        attr->sample_type |= PERFILE_SAMPLE_TIME;
    if (target->everybody || target->some_cpus)
        attr->sample_type |= PERFILE_SAMPLE_CPU;
    if (attr->type == PERFILE_TYPE_TRACEPOINT)
        attr->sample_type |= PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_RAW | PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_PERIOD;
    for (size_t i = 0; i < PF_COUNT(parts); i++)
        if (flags & parts[i].flag)
            attr->sample_type |= parts[i].part;
}

static int configure_registers(struct perfile_attr *attr, const struct perfile_recorder_options *options,
                               struct perfile_error *error)
{
    int result = 0;
    if (options->user_regs) {
        result = add_registers(options->user_regs, &attr->sample_regs_user, error);
        attr->sample_type |= PERFILE_SAMPLE_REGS_USER;
    }
    if (result == 0 && options->intr_regs) {
        result = add_registers(options->intr_regs, &attr->sample_regs_intr, error);
        attr->sample_type |= PERFILE_SAMPLE_REGS_INTR;
    }
    return result;
}

/* As perf has it: in any case, with CLOCK_ in front, or a number. */
static bool clock_of(const char *name, uint64_t *value)
{
    enum { CLOCK_MAX = 1 << 16 };
    char *end;
    if (*name >= '0' && *name <= '9') {
        *value = strtoul(name, &end, 0);
        return !*end && *value <= CLOCK_MAX;
    }
    name += pf_begins_but_case(name, "CLOCK_", 6) ? 6 : 0;
    for (const struct word *word = clocks; word->name; word++)
        if (pf_equal_but_case(word->name, name)) {
            *value = word->value;
            return true;
        }
    return false;
}

static int configure_clock(struct perfile_attr *attr, const char *clock, struct perfile_error *error)
{
    uint64_t value;
    if (!clock)
        return 0;
    if (!clock_of(clock, &value))
        return refuse(error, "clock", clock, "realtime, monotonic, monotonic_raw, boottime, tai");
    attr->use_clockid = 1;
    attr->clockid = (int32_t)value;
    return 0;
}

static int configure_event(struct pf_listed_event *event, const struct pf_target *target,
                           const struct perfile_recorder_options *options, struct perfile_error *error)
{
    struct perfile_attr *attr = &event->attr;
    const char *how = call_graph_of(event, options);
    attr->disabled = 1;
    attr->sample_id_all = 1;
    attr->inherit = event->inherit >= 0 ? event->inherit != 0 : !(options->flags & PERFILE_RECORDER_NO_INHERIT);
    attr->enable_on_exec = (options->flags & PERFILE_RECORDER_ENABLE_ON_EXEC) && !options->delay_ms;
    attr->sample_max_stack = (uint16_t)(event->max_stack ? event->max_stack : options->max_stack);
    attr->read_format = PERFILE_FORMAT_ID | PERFILE_FORMAT_LOST;
    if (options->flags & PERFILE_RECORDER_STAT) {
        attr->inherit_stat = 1;
        attr->read_format |= PERFILE_FORMAT_TOTAL_TIME_ENABLED | PERFILE_FORMAT_TOTAL_TIME_RUNNING;
    }
    configure_parts(event, target, options->flags);
    configure_period(event, options);
    configure_privilege(event, options->flags);
    int result = configure_call_graph(attr, how, error);
    configure_callchain_parts(attr, options->flags);
    event->stack_is_usual = how && strcmp(how, "auto") == 0 && !event->stack_bytes;
    if (how && is_way(how, "auto")) /* the kernel's part is shorter, and it refuses more than its limit */
        attr->sample_max_stack = (uint16_t)pf_min(attr->sample_max_stack, (uint64_t)KERNEL_FRAMES_MAX);
    if (result == 0 && event->stack_bytes && attr->sample_stack_user)
        attr->sample_stack_user = event->stack_bytes;
    const char *branches_wanted = event->branch_filter ? event->branch_filter : options->branch_filter;
    if (result == 0 && branches_wanted)
        result = configure_branches(attr, branches_wanted, error);
    if (result == 0)
        result = configure_registers(attr, options, error);
    return result < 0 ? result : configure_clock(attr, options->clock, error);
}

/* An event without samples, which records maps, comms and tasks from its opening on. */
static int configure_dummy(struct pf_listed_event *event, const struct pf_target *target,
                           const struct perfile_recorder_options *options, struct perfile_error *error)
{
    struct perfile_attr *attr = &event->attr;
    attr->sample_id_all = 1;
    attr->inherit = !(options->flags & PERFILE_RECORDER_NO_INHERIT);
    attr->read_format = PERFILE_FORMAT_ID | PERFILE_FORMAT_LOST;
    attr->sample_period_or_freq = 1;
    configure_parts(event, target, options->flags & PERFILE_RECORDER_NO_TIME);
    return configure_clock(attr, options->clock, error);
}

/* One event records what else happens. */
static void configure_tracking(struct perfile_attr *attr, unsigned flags)
{
    attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
    attr->ksymbol = attr->bpf_event = 1;
    attr->build_id = (flags & PERFILE_RECORDER_KERNEL_BUILD_IDS) && !(flags & PERFILE_RECORDER_NO_BUILD_IDS);
    attr->mmap_data = (flags & (PERFILE_RECORDER_ADDRESS | PERFILE_RECORDER_DATA_MAPS)) != 0;
    attr->namespaces = (flags & PERFILE_RECORDER_NAMESPACES) != 0;
    attr->cgroup = (flags & PERFILE_RECORDER_CGROUPS) != 0;
    attr->context_switch = (flags & PERFILE_RECORDER_SWITCHES) != 0;
}

/* :S: the leader's samples hold the values of all; the others only count. */
static void configure_group(struct pf_event_list *chosen, struct pf_listed_event *event, unsigned flags)
{
    struct pf_listed_event *leader = &chosen->items[event->leader];
    if (leader != event) {
        event->attr.disabled = 0; /* it follows the leader */
        event->attr.enable_on_exec = 0;
    }
    if (!event->sample_read)
        return;
    event->attr.inherit = 0;
    event->attr.read_format |= PERFILE_FORMAT_GROUP;
    if (flags & PERFILE_RECORDER_RUNNING_TIME)
        event->attr.read_format |= PERFILE_FORMAT_TOTAL_TIME_ENABLED | PERFILE_FORMAT_TOTAL_TIME_RUNNING;
    leader->attr.sample_type |= PERFILE_SAMPLE_READ;
    if (leader == event)
        return;
    event->attr.freq = 0;
    event->attr.sample_period_or_freq = 0;
    event->attr.sample_type = leader->attr.sample_type;
}

/* Adds ids to the samples of several events; when these have equal parts, the id has the same offset in all. */
static void configure_ids(struct pf_event_list *chosen, unsigned flags)
{
    const bool is_wanted = flags & PERFILE_RECORDER_IDENTIFIER;
    bool alike = !is_wanted;
    for (size_t i = 1; i < chosen->count; i++)
        alike = alike && chosen->items[i].attr.sample_type == chosen->items[0].attr.sample_type;
    for (size_t i = 0; i < chosen->count && (is_wanted || chosen->count > 1); i++)
        chosen->items[i].attr.sample_type |= alike ? PERFILE_SAMPLE_ID : PERFILE_SAMPLE_IDENTIFIER;
}

/* One event that says so means all of them: they share their buffers. */
static bool overwrites(const struct pf_event_list *chosen, const struct perfile_recorder_options *options)
{
    bool overwrite = options->flags & PERFILE_RECORDER_OVERWRITE;
    for (size_t i = 0; i < chosen->count; i++)
        overwrite |= chosen->items[i].overwrite > 0;
    return overwrite;
}

/*
 * What runs already forks while the recorder starts: its children are recorded, and nothing would record those that
 * come between the opening of the events and their start.
 */
static bool may_fork_meanwhile(const struct pf_target *target, const struct perfile_recorder_options *options)
{
    return target->everybody || !(options->flags & (PERFILE_RECORDER_NO_INHERIT | PERFILE_RECORDER_ENABLE_ON_EXEC));
}

static int configure_overwrite(struct pf_listed_event *event, bool overwrite, struct perfile_error *error)
{
    event->attr.write_backward = overwrite;
    if (overwrite && event->overwrite == 0)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "no-overwrite",
                       "overwriting must be used for all events or for none");
    return 0;
}

/* "cgroup, namespaces" as text: a growing list. */
static void add_word(char *list, size_t capacity, const char *word)
{
    const size_t used = strlen(list);
    snprintf(list + used, capacity - used, "%s%s", used ? ", " : "", word);
}

/* Refuses terms that the attr of the older perf cannot hold. */
static int check_terms(const struct pf_listed_event *event, uint32_t version, struct perfile_error *error)
{
    const uint32_t known = pf_since_attr_bytes(version);
    const struct perfile_attr *attr = &event->attr;
    const char *young = attr->aux_sample_size && known < 120 ? "aux-sample-size"
                        : attr->config3 && known < 136       ? "config3"
                        : attr->config4 && known < 144       ? "config4"
                                                             : NULL;
    return !young ? 0
                  : pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, event->name,
                            "perf %u.%u does not know %s", version / 1000, version % 1000, young);
}

/*
 * What an older perf does not know is not asked for. Flags that only say how the kernel counts stay: they are left out
 * of the recording.
 */
static void configure_age(struct pf_event_list *chosen, const struct perfile_recorder_options *options)
{
    uint64_t young = 0;
    char list[128] = "";
    for (size_t i = 0; i < chosen->count; i++) {
        struct perfile_attr *attr = &chosen->items[i].attr, old = *attr;
        young |= attr->sample_type & pf_since_sample_type(chosen->version);
        attr->sample_type &= ~pf_since_sample_type(chosen->version);
        attr->branch_sample_type &= ~pf_since_branches(chosen->version);
        attr->read_format &= ~pf_since_read_format(chosen->version);
        pf_since_clear_flags(chosen->version, &old);
        if (i != chosen->tracking)
            continue;
        if (attr->namespaces && !old.namespaces)
            add_word(list, sizeof(list), "namespaces");
        if (attr->context_switch && !old.context_switch)
            add_word(list, sizeof(list), "context switches");
        attr->namespaces = old.namespaces;
        attr->context_switch = old.context_switch;
        attr->cgroup = old.cgroup;
        attr->ksymbol = old.ksymbol;
        attr->bpf_event = old.bpf_event;
        attr->build_id = old.build_id;
    }
    for (; young; young &= young - 1)
        add_word(list, sizeof(list), perfile_sample_field_name(young & -young));
    if (list[0])
        pf_events_note(options, "recorded without %s, which that version of perf cannot read", list);
}

void pf_event_take_filter(struct pf_listed_event *event, const struct perfile_recorder_options *options)
{
    if (event->position < options->filter_count && options->filters && options->filters[event->position])
        event->filter = options->filters[event->position];
}

static bool reads_build_ids(uint32_t version)
{
    struct perfile_attr asked = {.build_id = 1};
    if (version)
        pf_since_clear_flags(version, &asked);
    return asked.build_id;
}

int pf_events_configure(struct pf_event_list *chosen, const struct pf_target *target,
                        const struct perfile_recorder_options *options, struct perfile_error *error)
{
    const size_t count = chosen->count;
    const bool overwrite = overwrites(chosen, options);
    int result = check_aux(chosen, options, overwrite, error);
    const bool dummy = overwrite || chosen->has_aux || target->some_cpus || options->flags & PERFILE_RECORDER_TRACK ||
                       may_fork_meanwhile(target, options);
    if (result == 0 && dummy)
        result = pf_event_list_parse(chosen, "dummy:u", error);
    chosen->tracking = dummy && result == 0 ? count : 0;
    for (size_t i = 0; i < count; i++)
        prepare_aux(&chosen->items[i], options);
    if (result == 0)
        result = choose_unwinding(chosen, count, options, error);
    for (size_t i = 0; i < count && result == 0; i++) {
        pf_event_take_filter(&chosen->items[i], options);
        result = configure_event(&chosen->items[i], target, options, error);
    }
    if (result == 0 && dummy)
        result = configure_dummy(&chosen->items[count], target, options, error);
    if (result == 0)
        result = configure_aux_samples(chosen, options->aux_sample_bytes, error);
    for (size_t i = 0; i < chosen->count && result == 0; i++)
        result = configure_overwrite(&chosen->items[i], overwrite, error);
    if (result < 0)
        return result;
    chosen->overwrite = overwrite;
    chosen->build_ids = !(options->flags & PERFILE_RECORDER_NO_BUILD_IDS) && reads_build_ids(chosen->version);
    configure_tracking(&chosen->items[chosen->tracking].attr,
                       options->flags | (chosen->has_aux ? PERFILE_RECORDER_SWITCHES : 0));
    for (size_t i = 0; i < chosen->count; i++)
        configure_group(chosen, &chosen->items[i], options->flags);
    if (chosen->version)
        configure_age(chosen, options);
    configure_ids(chosen, options->flags);
    for (size_t i = 0; i < chosen->count && chosen->version && result == 0; i++)
        result = check_terms(&chosen->items[i], chosen->version, error);
    return result;
}
