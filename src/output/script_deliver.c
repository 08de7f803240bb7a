/* SPDX-License-Identifier: MIT */
/* Which lines a sample is good for. */
#include "output/script.h"

/* ---- one line ---------------------------------------------------------------------------------------------------- */

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
    pf_script_put_sample(script);
}

/* ---- counters ---------------------------------------------------------------------------------------------------- */

static bool grow_counters(struct pf_script *script)
{
    return pf_grow(script->out->allocator, &script->last_values, &script->value_room, script->value_count + 1,
                   sizeof(*script->last_values));
}

/* Small numbers for ids, so that an id and a thread fit one key. */
static bool number_id(struct pf_script *script, uint64_t id, uint64_t *number)
{
    if (pf_map_get(&script->counter_ids, id, number))
        return true;
    *number = script->counter_id_count++;
    return pf_map_put(&script->counter_ids, id, *number);
}

/* Where the last value of a counter is kept; NULL when memory is short. */
static uint64_t *find_counter(struct pf_script *script, uint64_t id, uint32_t tid)
{
    uint64_t index, number;
    if (!number_id(script, id, &number))
        return NULL;
    uint64_t key = number << 32 | tid;
    if (pf_map_get(&script->counters, key, &index))
        return &script->last_values[index];
    index = script->value_count;
    if (!grow_counters(script) || !pf_map_put(&script->counters, key, index))
        return NULL;
    script->last_values[index] = 0;
    script->value_count++;
    return &script->last_values[index];
}

/*
 * The line of one counter: its period is what was counted since the last time; nothing counted, no line. An inherited
 * counter counts in each thread for itself.
 */
static void print_counter(struct pf_script *script, const struct perfile_event *event, uint64_t id, uint64_t value)
{
    bool per_thread = event->attr.inherit && event->attr.sample_type & PERFILE_SAMPLE_TID;
    uint64_t *last = find_counter(script, id, per_thread ? (uint32_t)script->sample.tid : 0);
    if (!last) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return;
    }
    script->id = id;
    script->sample.period = value - *last;
    *last = value;
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
    else if (sample->present & PERFILE_SAMPLE_STACK_USER)
        pf_script_unwind(script);
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

/* False when the record is damaged, which the reader has counted. */
static bool decode(struct pf_script *script, const struct perfile_record *record)
{
    script->record = record;
    script->sample.size = sizeof(script->sample);
    script->late_chain.count = 0;
    return perfile_sample_decode(record, &script->sample, NULL) == 0;
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

void pf_script_release_held(struct pf_script *script)
{
    struct pf_held *held;
    while ((held = pf_held_take(&script->held, NULL)) != NULL)
        deliver_held(script, held, NULL);
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
