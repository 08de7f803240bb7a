/* SPDX-License-Identifier: MIT */
/* Which lines a sample is good for. */
#include "output/script.h"

/* ---- one line ---------------------------------------------------------------------------------------------------- */

/* What the line needs of the recording; false after a failure. */
static bool prepare(struct pf_script *script)
{
    const struct pf_script_plan *plan = script->plan;
    if ((plan->wants_symbols || script->unwinds) && !pf_script_open_symbols(script))
        return false;
    if (script->unwinds && !pf_script_learn_arch(script))
        script->unwinds = false;
    script->trace = NULL;
    return !(plan->fields >> SCRIPT_TRACE & 1) || !script->sample.raw.bytes || pf_script_find_trace(script, plan);
}

static void print(struct pf_script *script)
{
    const struct perfile_sample *sample = &script->sample;
    if (!script->plan->fields)
        return;
    script->comm = perfile_session_comm(script->session, sample->pid, sample->tid);
    if (script->filter.active) {
        const struct pf_filter_subject subject = {.time = sample->time,
                                                  .cpu = (int32_t)sample->cpu,
                                                  .pid = sample->pid,
                                                  .tid = sample->tid,
                                                  .comm = script->comm,
                                                  .event = script->plan->event};
        if (!pf_filter_passes(&script->filter, &subject))
            return;
    }
    if (PF_UNLIKELY(script->plan->prepares || script->unwinds) && !prepare(script))
        return;
    if (script->team) {
        pf_script_team_add(script);
        return;
    }
    if (script->unwinds)
        pf_script_unwind(script);
    pf_script_put_sample(script);
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

/* The line of one counter: its period is what was counted since the last time; nothing counted, no line. */
static void print_counter(struct pf_script *script, const struct perfile_event *event, uint64_t id, uint64_t value)
{
    const struct pf_counter_value now = {event, id, script->sample.tid, value};
    if (!pf_counters_advance(&script->counters, &now, &script->sample.period)) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return;
    }
    script->id = id;
    if (!script->sample.period || !(script->plan = pf_script_plan(script, event)))
        return;
    print(script);
}

enum { READ_ID = 4, READ_GROUP = 8 };

static void print_counters(struct pf_script *script, const struct perfile_event *event)
{
    const struct perfile_read read = script->sample.read;
    bool has_id = read.format & READ_ID;
    if (!has_id && read.format & READ_GROUP) { /* nobody can tell whose values these are */
        print(script);
        return;
    }
    for (uint64_t i = 0; i < read.count; i++) {
        struct perfile_read_value value;
        perfile_read_at(&read, i, &value);
        const struct perfile_event *member = has_id ? perfile_event_find(script->reader, value.id) : event;
        if (member && !script->failed)
            print_counter(script, member, has_id ? value.id : script->id, value.value);
    }
}

/* ---- a sample ---------------------------------------------------------------------------------------------------- */

/* The user part of the callchain that stands elsewhere in the sample. */
static void add_user_part(struct pf_script *script)
{
    struct perfile_sample *sample = &script->sample;
    size_t count = pf_callchain_has_branches(&script->plan->event->attr)
                       ? pf_callchain_branches(sample, script->user_part, PF_CALLCHAIN_MAX)
                       : 0;
    if (count)
        script->late_chain = (struct perfile_u64s){.data = (const uint8_t *)script->user_part, .count = count};
    else
        script->unwinds = sample->present & PERFILE_SAMPLE_STACK_USER;
}

/* The sample in hand, with the callchain that it is to have. */
static void deliver(struct pf_script *script, const struct perfile_event *event)
{
    const struct perfile_sample *sample = &script->sample;
    if (PF_UNLIKELY(script->plan->absent != 0))
        pf_script_fill_absent(script, script->plan->absent);
    if (PF_UNLIKELY(script->plan->has_user_part) && script->plan->shows_ip)
        add_user_part(script);
    script->id = sample->present & PERFILE_SAMPLE_IDENTIFIER ? sample->identifier : sample->id;
    if (PF_LIKELY(!(sample->present & PERFILE_SAMPLE_READ)))
        print(script);
    else
        print_counters(script, event);
}

static inline bool decode(struct pf_script *script, const struct perfile_record *record)
{
    script->record = record;
    script->sample.size = sizeof(script->sample);
    script->late_chain.count = 0;
    script->unwinds = false;
    return perfile_sample_decode(record, &script->sample, NULL) == 0;
}

bool pf_script_decode(struct pf_script *script, const struct perfile_record *record)
{
    return decode(script, record);
}

/* ---- callchains whose user part comes later ---------------------------------------------------------------------- */

/* The sample goes, with what came of its callchain; NULL: nothing came. */
static void deliver_held(struct pf_script *script, struct pf_held *held,
                         const struct perfile_callchain_deferred *deferred)
{
    uint64_t cookie;
    if (!script->failed && decode(script, &held->record) &&
        (script->plan = pf_script_plan(script, held->record.event)) != NULL) {
        pf_held_take_cookie(&script->sample.callchain, &cookie);
        if (deferred && deferred->cookie == held->cookie)
            script->late_chain = deferred->ips;
        deliver(script, held->record.event);
    }
    pf_held_free(&script->held, held);
}

static void hold(struct pf_script *script, const struct perfile_record *record, uint64_t cookie)
{
    if (!pf_held_add(&script->held, record, script->sample.tid, cookie))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    while (pf_held_is_full(&script->held))
        deliver_held(script, pf_held_take(&script->held, NULL), NULL);
}

void pf_script_callchain_deferred(struct pf_script *script, const struct perfile_record *record)
{
    struct perfile_callchain_deferred deferred;
    struct perfile_sample_id id;
    struct pf_held *held;
    if (perfile_record_decode(script->reader, record, &deferred, sizeof(deferred), NULL) < 0 ||
        perfile_sample_id_decode(script->reader, record, &id, NULL) < 0)
        return;
    while ((held = pf_held_take(&script->held, &id.tid)) != NULL)
        deliver_held(script, held, &deferred);
}

bool pf_script_release_held(struct pf_script *script)
{
    struct pf_held *held = pf_held_take(&script->held, NULL);
    if (held)
        deliver_held(script, held, NULL);
    return held;
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

void pf_script_sample(struct pf_script *script, const struct perfile_record *record)
{
    const struct perfile_event *event = record->event;
    uint64_t cookie;
    if (!event || !(script->plan = pf_script_plan(script, event)))
        return;
    if (!pf_filter_time(&script->filter, record->time) && !(event->attr.sample_type & PERFILE_SAMPLE_READ) &&
        event->attr.sample_type & PERFILE_SAMPLE_TIME)
        return;
    if (!decode(script, record))
        return;
    if (event->attr.defer_callchain && pf_held_take_cookie(&script->sample.callchain, &cookie))
        hold(script, record, cookie);
    else
        deliver(script, event);
}
