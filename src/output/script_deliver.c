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

/* The sample in hand, with the callchain that it is to have. */
static void deliver(struct pf_script *script, const struct perfile_event *event)
{
    const struct perfile_sample *sample = &script->sample;
    if (PF_UNLIKELY(script->plan->absent != 0))
        pf_script_fill_absent(script, script->plan->absent);
    if (PF_UNLIKELY(sample->present & PERFILE_SAMPLE_STACK_USER && script->plan->has_callchain &&
                    script->plan->shows_ip))
        pf_script_unwind(script);
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

enum { HELD_BYTES_MAX = 64 << 20 };

#define USER_DEFERRED ((uint64_t)-640)

/* The chain ends with the marker and a cookie: they are taken off. */
static bool take_cookie(struct perfile_u64s *chain, uint64_t *cookie)
{
    if (chain->count < 2 || perfile_u64_at(chain, chain->count - 2) != USER_DEFERRED)
        return false;
    *cookie = perfile_u64_at(chain, chain->count - 1);
    chain->count -= 2;
    return true;
}

static void release_oldest(struct pf_script *script)
{
    struct pf_script_held *held = script->held;
    script->held = held->next;
    if (!script->held)
        script->held_end = &script->held;
    script->held_bytes -= held->bytes;
    pf_free(script->out->allocator, held, held->bytes);
}

static void deliver_held(struct pf_script *script, const struct pf_script_held *held,
                         const struct perfile_callchain_deferred *deferred)
{
    uint64_t cookie;
    if (!decode(script, &held->record) || !(script->plan = pf_script_plan(script, held->record.event)))
        return;
    take_cookie(&script->sample.callchain, &cookie);
    if (deferred && deferred->cookie == held->cookie)
        script->late_chain = deferred->ips;
    deliver(script, held->record.event);
}

static void hold(struct pf_script *script, const struct perfile_record *record, uint64_t cookie)
{
    size_t bytes = sizeof(struct pf_script_held) + record->bytes;
    struct pf_script_held *held = pf_new(script->out->allocator, bytes);
    if (!held) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return;
    }
    held->bytes = bytes;
    held->record = *record;
    held->record.data = (uint8_t *)(held + 1);
    memcpy(held + 1, record->data, record->bytes);
    held->tid = script->sample.tid;
    held->cookie = cookie;
    *script->held_end = held;
    script->held_end = &held->next;
    script->held_bytes += bytes;
    while (script->held_bytes > HELD_BYTES_MAX) {
        deliver_held(script, script->held, NULL);
        release_oldest(script);
    }
}

void pf_script_callchain_deferred(struct pf_script *script, const struct perfile_record *record)
{
    struct perfile_callchain_deferred deferred;
    struct perfile_sample_id id;
    if (perfile_record_decode(script->reader, record, &deferred, sizeof(deferred), NULL) < 0 ||
        perfile_sample_id_decode(script->reader, record, &id, NULL) < 0)
        return;
    for (struct pf_script_held **link = &script->held; *link;) {
        struct pf_script_held *held = *link;
        if (held->tid != id.tid) {
            link = &held->next;
            continue;
        }
        deliver_held(script, held, &deferred);
        *link = held->next;
        script->held_bytes -= held->bytes;
        pf_free(script->out->allocator, held, held->bytes);
    }
    script->held_end = &script->held;
    while (*script->held_end)
        script->held_end = &(*script->held_end)->next;
}

void pf_script_release_held(struct pf_script *script)
{
    while (script->held) {
        if (!script->failed)
            deliver_held(script, script->held, NULL);
        release_oldest(script);
    }
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
    if (event->attr.defer_callchain && take_cookie(&script->sample.callchain, &cookie))
        hold(script, record, cookie);
    else
        deliver(script, event);
}
