/* SPDX-License-Identifier: MIT */
/* An event's fields as a row of steps. */
#include "output/script/script.h"

#define pf_script_put_nothing NULL
static pf_script_step *const field_steps[SCRIPT_FIELD_COUNT] = {
#define SCRIPT_FIELD(symbol, name, needs, need_name, not_for, step, doc) pf_script_put_##step,
#define SCRIPT_LATER(name)
#include "output/script/fields.def"
#undef SCRIPT_FIELD
#undef SCRIPT_LATER
};

static bool has(const struct pf_script_plan *plan, int field)
{
    return plan->fields >> field & 1;
}

static pf_script_step *choose_ip_step(const struct pf_script_plan *plan)
{
    if (plan->has_callchain)
        return plan->locations ? pf_script_put_callchain_locations : pf_script_put_callchain;
    if (!plan->shows_ip)
        return pf_script_put_no_ip;
    return plan->locations ? pf_script_put_ip_location : pf_script_put_ip;
}

/* perf finds the data address worth a name in page faults only. */
static bool is_page_fault(const struct perfile_attr *attr)
{
    enum { PAGE_FAULTS = 2, PAGE_FAULTS_MIN = 5, PAGE_FAULTS_MAJ = 6 };
    return attr->type == SCRIPT_TYPE_SOFTWARE &&
           (attr->config == PAGE_FAULTS || attr->config == PAGE_FAULTS_MIN || attr->config == PAGE_FAULTS_MAJ);
}

/* Each sample is a branch: what decoders of hardware traces make, and recordings of all branches. */
bool pf_script_is_branches(const struct perfile_attr *attr)
{
    return attr->type == SCRIPT_TYPE_HARDWARE && attr->config == PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS &&
           attr->sample_period_or_freq == 1;
}

/* The target of a branch is shown after the branch, as in perf also when no fields besides flags were chosen. */
static bool shows_target(const struct pf_script *script, const struct pf_script_plan *plan)
{
    const struct perfile_attr *attr = plan->event->attr;
    const bool chosen = script->fields.asked_for[pf_script_type(plan->event)] & ~SCRIPT_BIT(SCRIPT_FLAGS);
    return pf_script_is_branches(attr) && has(plan, SCRIPT_IP) &&
           (has(plan, SCRIPT_ADDR) || (!chosen && attr->sample_type & PERFILE_SAMPLE_ADDR));
}

/* Fields that look different beside others. */
static pf_script_step *choose_step(const struct pf_script *script, const struct pf_script_plan *plan, int field)
{
    switch (field) {
    case SCRIPT_COMM:
        if (script->options->script->latency)
            return pf_script_put_short_comm;
        return has(plan, SCRIPT_IP) && plan->has_callchain ? pf_script_put_bare_comm : pf_script_put_comm;
    case SCRIPT_CPU:
        return script->options->script->latency ? pf_script_put_bare_cpu : pf_script_put_cpu;
    case SCRIPT_PID:
        return has(plan, SCRIPT_TID) ? pf_script_put_pid_tid : pf_script_put_pid;
    case SCRIPT_TID:
        return has(plan, SCRIPT_PID) ? NULL : pf_script_put_tid;
    case SCRIPT_TIME:
        return script->options->nanoseconds ? pf_script_put_time_ns : pf_script_put_time;
    case SCRIPT_IP:
        return choose_ip_step(plan);
    case SCRIPT_ADDR:
        if (shows_target(script, plan))
            return NULL;
        return plan->addr_locations && is_page_fault(plan->event->attr) ? pf_script_put_addr_location
                                                                        : pf_script_put_addr;
    case SCRIPT_INSN:
        return has(plan, SCRIPT_INSNLEN) ? NULL : pf_script_put_code;
    case SCRIPT_DISASM:
        return has(plan, SCRIPT_INSNLEN) || has(plan, SCRIPT_INSN) ? NULL : pf_script_put_code;
    case SCRIPT_BRSTACKINSNLEN:
        return has(plan, SCRIPT_BRSTACKINSN) ? NULL : pf_script_put_brstackinsn;
    case SCRIPT_BRSTACKDISASM:
        return has(plan, SCRIPT_BRSTACKINSN) || has(plan, SCRIPT_BRSTACKINSNLEN) ? NULL : pf_script_put_brstackinsn;
    case SCRIPT_BRSTACKSYM:
        return has(plan, SCRIPT_BRSTACK) ? NULL : pf_script_put_brstacksym;
    case SCRIPT_BRSTACKOFF:
        return has(plan, SCRIPT_BRSTACK) || has(plan, SCRIPT_BRSTACKSYM) ? NULL : pf_script_put_brstackoff;
    default:
        return field_steps[field];
    }
}

static void add_steps(const struct pf_script *script, struct pf_script_plan *plan)
{
    for (int field = 0; field < SCRIPT_FIELD_COUNT; field++) {
        pf_script_step *step = has(plan, field) ? choose_step(script, plan, field) : NULL;
        if (!step)
            continue;
        plan->steps[plan->step_count++] = step;
        if (field <= SCRIPT_TIME)
            plan->head_count = plan->step_count;
        if (field == SCRIPT_IP && shows_target(script, plan))
            plan->steps[plan->step_count++] = pf_script_put_target;
    }
}

/* Nothing but the address is shown when there is no `style`. False when out of memory. */
static bool add_style(struct pf_script *script, struct pf_script_locations **locations, unsigned style, unsigned kind)
{
    if (style)
        *locations = pf_script_locations(script, style | kind);
    return *locations || !style;
}

/* The styles in which the plan shows addresses. False when out of memory. */
static bool add_positions(struct pf_script *script, struct pf_script_plan *plan)
{
    unsigned module = has(plan, SCRIPT_DSO) || has(plan, SCRIPT_DSOFF) ? SCRIPT_LOCATION_DSO : 0;
    unsigned style = module;
    if (has(plan, SCRIPT_SYM))
        style |= SCRIPT_LOCATION_SYM | (has(plan, SCRIPT_SYMOFF) ? SCRIPT_LOCATION_SYMOFF : 0);
    if (has(plan, SCRIPT_DSOFF))
        style |= SCRIPT_LOCATION_DSOFF;
    const unsigned single = SCRIPT_LOCATION_FRAME | SCRIPT_LOCATION_SINGLE;
    const unsigned lines = has(plan, SCRIPT_SRCLINE) ? SCRIPT_LOCATION_SRCLINE : 0;
    const unsigned code = (has(plan, SCRIPT_INSNLEN) ? SCRIPT_LOCATION_INSNLEN : 0) |
                          (has(plan, SCRIPT_INSN) ? SCRIPT_LOCATION_INSN : 0) |
                          (has(plan, SCRIPT_DISASM) ? SCRIPT_LOCATION_DISASM : 0);
    /* functions that were inlined have lines of their own, and some end a callchain, whatever is printed of them */
    const bool by_function = !script->options->symbols->no_inline || script->stops.active;
    const unsigned frames = plan->has_callchain && has(plan, SCRIPT_IP) && by_function ? SCRIPT_LOCATION_FRAME : 0;
    unsigned branches = 0;
    if (has(plan, SCRIPT_BRSTACK))
        branches = module ? module | SCRIPT_LOCATION_ADDRESS : 0;
    else if (has(plan, SCRIPT_BRSTACKSYM))
        branches = module | SCRIPT_LOCATION_BARE | SCRIPT_LOCATION_SYM | SCRIPT_LOCATION_SYMOFF;
    else if (has(plan, SCRIPT_BRSTACKOFF))
        branches = module | SCRIPT_LOCATION_OFFSET;
    return add_style(script, &plan->locations, style | lines | frames,
                     plan->has_callchain ? SCRIPT_LOCATION_FRAME : single) &&
           add_style(script, &plan->addr_locations, style, single) &&
           add_style(script, &plan->branch_locations, branches, 0) && add_style(script, &plan->code_locations, code, 0);
}

/* All event names are right-aligned; the longest known at the first line decides, as in perf. */
static unsigned find_name_width(const struct perfile_reader *reader)
{
    const struct perfile_event *event;
    size_t width = 0;
    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++)
        width = pf_max(width, strlen(event->name));
    return (unsigned)width;
}

/* Names that cannot be printed as they are, once for all samples. */
static bool escape_name(struct pf_script *script, struct pf_script_plan *plan)
{
    const size_t capacity = 4 * plan->name_bytes + 1;
    char *name = pf_arena_new(&script->arena, capacity);
    if (!name)
        return false;
    plan->name_bytes = perfile_text_escape(plan->name, plan->name_bytes, name, capacity);
    plan->name = name;
    return true;
}

static bool make_name(struct pf_script *script, struct pf_script_plan *plan)
{
    if (!script->name_width)
        script->name_width = find_name_width(script->reader);
    size_t bytes = strlen(plan->event->name);
    size_t width = pf_max(bytes, script->name_width);
    char *name = pf_arena_new(&script->arena, width + 3);
    if (!name)
        return false;
    memset(name, ' ', width - bytes);
    memcpy(name + width - bytes, plan->event->name, bytes);
    memcpy(name + width, ": ", 3);
    plan->name = name;
    plan->name_bytes = width + 2;
    return !script->out->escapes || escape_name(script, plan);
}

static struct pf_script_plan *make_plan(struct pf_script *script, const struct perfile_event *event)
{
    static const uint64_t by_address = SCRIPT_BIT(SCRIPT_BRSTACKINSN) | SCRIPT_BIT(SCRIPT_BRSTACKINSNLEN) |
                                       SCRIPT_BIT(SCRIPT_BRSTACKDISASM) | SCRIPT_BIT(SCRIPT_SRCCODE);
    /* a column that grows, the line of source code that was printed last; and instructions, whose targets are named */
    static const uint64_t on_what_came_before = by_address | SCRIPT_BIT(SCRIPT_DATA_SRC) | SCRIPT_BIT(SCRIPT_INSN) |
                                                SCRIPT_BIT(SCRIPT_INSNLEN) | SCRIPT_BIT(SCRIPT_DISASM) |
                                                SCRIPT_BIT(SCRIPT_CALLINDENT);
    struct pf_script_plan *plan = pf_arena_new(&script->arena, sizeof(*plan));
    if (!plan)
        return NULL;
    int type = pf_script_type(event);
    plan->event = event;
    plan->fields = script->fields.fields[type];
    plan->has_callchain = event->attr->sample_type & PERFILE_SAMPLE_CALLCHAIN && !script->options->script->no_callchain;
    plan->shows_ip = pf_script_first_event(script->reader, type) != NULL;
    plan->shows_chain = plan->has_callchain && has(plan, SCRIPT_IP) && plan->shows_ip;
    if (!add_positions(script, plan))
        return NULL;
    plan->wants_symbols = plan->locations || plan->addr_locations || plan->branch_locations || plan->code_locations ||
                          event->attr->sample_type & PERFILE_SAMPLE_STACK_USER ||
                          plan->fields & (by_address | SCRIPT_BIT(SCRIPT_CALLINDENT));
    plan->in_order = plan->fields & on_what_came_before;
    plan->prepares = plan->wants_symbols || has(plan, SCRIPT_TRACE);
    plan->head_first = has(plan, SCRIPT_BRCNTR); /* its legend stands before samples only */
    add_steps(script, plan);
    return make_name(script, plan) ? plan : NULL;
}

/* In pipe mode the events come among the records, so the lists are compared at the first line. */
static bool check_fields(struct pf_script *script)
{
    if (script->fields_checked)
        return true;
    script->fields_checked = true;
    int result = pf_script_fields_check(&script->fields, script->reader, script->options, script->error);
    if (result < 0)
        script->failed = result;
    return result == 0;
}

const struct pf_script_plan *pf_script_plan(struct pf_script *script, const struct perfile_event *event)
{
    size_t index = event->index;
    if (PF_LIKELY(index < script->plan_capacity && script->plans[index]))
        return script->plans[index];
    if (!check_fields(script))
        return NULL;
    struct pf_script_plan *plan = NULL;
    if (PF_HAS_ELEMENT(script->out->allocator, script->plans, script->plan_capacity, index))
        plan = script->plans[index] = make_plan(script, event);
    if (!plan)
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return plan;
}
