/* SPDX-License-Identifier: MIT */
/*
 * The distinct stacks with what they weigh, kept apart by the keys that are asked for: what `flame --format folded`
 * draws.
 */
#include "analysis/label.h"
#include "base/error.h"
#include "view/distinct_stacks.h"
#include "view/ids.h"
#include "view/profiled.h"

struct stacks {
    struct pf_profiled profiled; /* first */
    struct perfile_profile_sample sample;
    struct perfile_profile_event event;
    uint64_t *functions, *ids; /* of functions and of stacks */
    size_t function_count, id_count;
};

#define STACKS const struct stacks *stacks = state

PF_PUT_AS(event, STACKS, pf_set_lasting, stacks->event.name)
PF_PUT_IF(time, STACKS, stacks->sample.time != UINT64_MAX, pf_set_u64, stacks->sample.time)

static void put_id(struct pf_vector *vector, int32_t id)
{
    if (id == -1)
        pf_set_null(vector);
    else
        pf_set_i32(vector, id);
}

PF_PUT_AS(pid, STACKS, put_id, stacks->sample.pid)
PF_PUT_AS(tid, STACKS, put_id, stacks->sample.tid)
PF_PUT_AS(cpu, STACKS, put_id, stacks->sample.cpu)
PF_PUT_AS(comm, STACKS, pf_set_lasting, stacks->sample.comm)

static uint32_t function_of(const struct perfile_profile *profile, uint32_t frame)
{
    struct perfile_profile_frame location = PERFILE_PROFILE_FRAME_INIT;
    (void)!perfile_profile_frame_at(profile, frame, &location); /* numbers of the profile are valid */
    return location.function;
}

static const char *name_of(const struct perfile_profile *profile, uint32_t frame)
{
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    (void)!perfile_profile_function_at(profile, function_of(profile, frame), &function);
    return pf_label_or_name(&function);
}

PF_PUT_AS(stack_id, STACKS, pf_set_u64, stacks->ids[stacks->sample.stack])

PF_PUT(function_ids)
{
    STACKS;
    const struct perfile_profile *profile = stacks->profiled.profile;
    struct perfile_profile_stack node = PERFILE_PROFILE_STACK_INIT;
    for (uint32_t at = stacks->sample.stack; at != PERFILE_NO_ID; at = node.parent) {
        (void)!perfile_profile_stack_at(profile, at, &node);
        pf_add_address(vector, stacks->functions[function_of(profile, node.frame)]);
    }
    pf_end_list(vector);
}

PF_PUT_IF(cgroup, STACKS, stacks->sample.cgroup, pf_set_lasting, stacks->sample.cgroup)

PF_PUT(stack)
{
    STACKS;
    const struct perfile_profile *profile = stacks->profiled.profile;
    struct perfile_profile_stack node = PERFILE_PROFILE_STACK_INIT;
    for (uint32_t at = stacks->sample.stack; at != PERFILE_NO_ID; at = node.parent) {
        (void)!perfile_profile_stack_at(profile, at, &node);
        pf_add_code(vector, pf_dictionary_put_lasting(&vector->dictionary, name_of(profile, node.frame)));
    }
    pf_end_list(vector);
}

PF_PUT_AS(leaf, STACKS, pf_set_lasting, name_of(stacks->profiled.profile, stacks->sample.leaf))
PF_PUT_AS(samples, STACKS, pf_set_u64, stacks->sample.values[0])
PF_PUT_AS(period, STACKS, pf_set_u64, stacks->sample.values[1])
PF_PUT_AS(unit, STACKS, pf_set_lasting, stacks->event.unit)
PF_PUT_IF(weight, STACKS, stacks->sample.value_count > 2, pf_set_u64, stacks->sample.values[2])

/* Those of keys are there when they are asked for. */
static const struct {
    struct pf_column column;
    const char *key;
} columns[] = {
    {PF_REQUIRED(event, TEXT, "", "Name of the event."), NULL},
    {PF_COLUMN(time, TIME, "ns", "Where the step of time begins."), "time"},
    {PF_COLUMN(pid, I32, "", "Process."), "pid"},
    {PF_COLUMN(tid, I32, "", "Thread."), "tid"},
    {PF_COLUMN(comm, TEXT, "", "Name of the thread."), "comm"},
    {PF_COLUMN(cpu, I32, "", "Processor."), "cpu"},
    {PF_COLUMN(cgroup, TEXT, "", "Path of the control group."), "cgroup"},
    {PF_REQUIRED_EXTRA(stack_id, U64, "", PF_STACK_ID_DOC), NULL},
    {PF_REQUIRED(stack, TEXTS, "", PF_STACK_DOC), NULL},
    {PF_REQUIRED_EXTRA(function_ids, ADDRESSES, "", PF_FUNCTION_IDS_DOC), NULL},
    {PF_REQUIRED_EXTRA(leaf, TEXT, "", "Function of the sampled address, never an inlined one."), NULL},
    {PF_REQUIRED(samples, U64, "samples", "Number of samples."), NULL},
    {PF_REQUIRED(period, U64, "", "What they stand for, in the unit of the event."), NULL},
    {PF_REQUIRED(unit, TEXT, "", "What the period counts: ns, cycles, events ..."), NULL},
    {PF_EXTRA(weight, U64, "", "Sum of the recorded weights."), NULL},
};

static bool column_at(size_t index, struct pf_column *column)
{
    if (index < PF_COUNT(columns))
        *column = columns[index].column;
    return index < PF_COUNT(columns);
}

static bool has_key(const struct perfile_table *table, const char *key)
{
    const size_t bytes = strlen(key);
    for (const char *at = table->options.keys; at && *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        if ((length == bytes && memcmp(at, key, bytes) == 0) || (!strncmp(at, "tid", length) && !strcmp(key, "pid")))
            return true;
        at += length;
    }
    return false;
}

/* ---- ids --------------------------------------------------------------------------------------------------------- */

/* A stack comes after its caller. False when out of memory. */
static bool make_ids(struct stacks *stacks)
{
    const struct perfile_profile *profile = stacks->profiled.profile;
    const struct perfile_allocator *allocator = stacks->profiled.table->allocator;
    stacks->functions = pf_profiled_function_ids(&stacks->profiled, &stacks->function_count);
    stacks->id_count = perfile_profile_stack_count(profile);
    stacks->ids = pf_new(allocator, (stacks->id_count + 1) * sizeof(*stacks->ids));
    if (!stacks->functions || !stacks->ids)
        return false;
    for (size_t i = 0; i < stacks->id_count; i++) {
        struct perfile_profile_stack node = PERFILE_PROFILE_STACK_INIT;
        (void)!perfile_profile_stack_at(profile, i, &node);
        const uint64_t caller = node.parent == PERFILE_NO_ID ? PF_STACK_START : stacks->ids[node.parent];
        stacks->ids[i] = pf_stack_id(caller, stacks->functions[function_of(profile, node.frame)]);
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static bool add_columns(struct perfile_table *table)
{
    for (size_t i = 0; i < PF_COUNT(columns); i++)
        if ((!columns[i].key || has_key(table, columns[i].key)) && !pf_table_add(table, &columns[i].column))
            return false;
    return true;
}

static int open_stacks(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct stacks *stacks = state;
    const int result = pf_profiled_open(&stacks->profiled, table, PERFILE_STREAM_JOIN_UNNAMED, error);
    if (result < 0)
        return result;
    stacks->profiled.count = perfile_profile_sample_count(stacks->profiled.profile);
    const bool wants_ids = pf_table_may_show(table, "stack_id") || pf_table_may_show(table, "function_ids");
    return add_columns(table) && (!wants_ids || make_ids(stacks)) ? 0 : pf_fail_memory(error, "stacks");
}

static int next_stack(void *state, struct perfile_error *error)
{
    struct stacks *stacks = state;
    struct pf_profiled *profiled = &stacks->profiled;
    (void)error;
    if (profiled->row == profiled->count)
        return 0;
    stacks->sample.size = sizeof(stacks->sample);
    stacks->event.size = sizeof(stacks->event);
    (void)!perfile_profile_sample_at(profiled->profile, profiled->row++, &stacks->sample);
    (void)!perfile_profile_event_at(profiled->profile, stacks->sample.event, &stacks->event);
    return 1;
}

static void close_stacks(void *state)
{
    struct stacks *stacks = state;
    const struct perfile_allocator *allocator = stacks->profiled.table->allocator;
    pf_profiled_close(&stacks->profiled);
    pf_free(allocator, stacks->functions, (stacks->function_count + 1) * sizeof(*stacks->functions));
    pf_free(allocator, stacks->ids, (stacks->id_count + 1) * sizeof(*stacks->ids));
}

const struct pf_view pf_view_stacks = {
    .info = PF_STACKS_INFO,
    .column_at = column_at,
    .own_key = "stack",
    .by_own_key = &pf_view_distinct_stacks,
    .state_bytes = sizeof(struct stacks),
    .open = open_stacks,
    .next = next_stack,
    .close = close_stacks,
    .losses = pf_profiled_losses,
};
