/* SPDX-License-Identifier: MIT */
/* What a profile gives out. */
#include "analysis/profile/aggregate.h"
#include "base/bytes.h"
#include "base/sized.h"

/* NULL: there is no such item. */
static const void *item_at(const struct perfile_profile *profile, enum pf_aggregate_kind kind, size_t index)
{
    const struct pf_aggregate_list *list = &profile->lists[kind];
    return index < list->count ? (const char *)list->items + index * pf_aggregate_bytes(kind) : NULL;
}

size_t perfile_profile_recording_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_RECORDINGS);
}

size_t perfile_profile_event_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_EVENTS);
}

size_t perfile_profile_value_type_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_VALUE_TYPES);
}

size_t perfile_profile_module_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_MODULES);
}

size_t perfile_profile_function_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_FUNCTIONS);
}

size_t perfile_profile_frame_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_FRAMES);
}

size_t perfile_profile_stack_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_NODES);
}

size_t perfile_profile_thread_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_THREADS);
}

size_t perfile_profile_sample_count(const struct perfile_profile *profile)
{
    return pf_aggregate_count(profile, PF_AGGREGATE_ROWS);
}

int perfile_profile_recording_at(const struct perfile_profile *profile, size_t index,
                                 struct perfile_profile_recording *recording)
{
    const struct pf_aggregate_recording *known = item_at(profile, PF_AGGREGATE_RECORDINGS, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_recording all = {.path = known->path,
                                                  .hostname = known->hostname,
                                                  .os_release = known->os_release,
                                                  .arch = known->arch,
                                                  .cpu = known->cpu,
                                                  .version = known->version,
                                                  .cmdline = known->cmdline,
                                                  .cmdline_count = known->cmdline_count,
                                                  .first_time = known->first_time,
                                                  .last_time = known->last_time,
                                                  .clock = known->clock,
                                                  .wall_time = known->wall_time,
                                                  .clock_time = known->clock_time,
                                                  .lost = known->lost};
    return pf_sized_give(recording, &all, sizeof(all));
}

int perfile_profile_event_at(const struct perfile_profile *profile, size_t index, struct perfile_profile_event *event)
{
    const struct pf_aggregate_event *known = item_at(profile, PF_AGGREGATE_EVENTS, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_event all = {.name = known->name,
                                              .unit = known->unit,
                                              .config = known->config,
                                              .type = known->type,
                                              .first_value = known->first_value,
                                              .value_count = pf_aggregate_value_count(known)};
    return pf_sized_give(event, &all, sizeof(all));
}

int perfile_profile_value_type_at(const struct perfile_profile *profile, size_t index,
                                  struct perfile_profile_value_type *type)
{
    const struct pf_aggregate_value_type *known = item_at(profile, PF_AGGREGATE_VALUE_TYPES, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_value_type all = {
        .name = known->name, .unit = known->unit, .event = known->event, .total = known->total};
    return pf_sized_give(type, &all, sizeof(all));
}

int perfile_profile_module_at(const struct perfile_profile *profile, size_t index, struct perfile_module *module)
{
    const struct pf_aggregate_module *known = item_at(profile, PF_AGGREGATE_MODULES, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    struct perfile_module all = {.name = known->name,
                                 .short_name = known->short_name,
                                 .path = known->path,
                                 .build_id_bytes = known->build_id_bytes,
                                 .state = known->state,
                                 .kernel = known->kernel,
                                 .jit = known->jit,
                                 .kind = known->kind};
    memcpy(all.build_id, known->build_id, sizeof(all.build_id));
    return pf_sized_give(module, &all, sizeof(all));
}

int perfile_profile_function_at(const struct perfile_profile *profile, size_t index,
                                struct perfile_profile_function *function)
{
    const struct pf_aggregate_function *known = item_at(profile, PF_AGGREGATE_FUNCTIONS, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_function all = {.name = known->name,
                                                 .raw_name = known->raw_name,
                                                 .label = known->label,
                                                 .module = known->module,
                                                 .kind = known->kind,
                                                 .address = known->address,
                                                 .bytes = known->bytes,
                                                 .file = known->file,
                                                 .start_line = known->start_line};
    return pf_sized_give(function, &all, sizeof(all));
}

int perfile_profile_frame_at(const struct perfile_profile *profile, size_t index, struct perfile_profile_frame *frame)
{
    const struct pf_aggregate_frame *known = item_at(profile, PF_AGGREGATE_FRAMES, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_frame all = {.function = known->function,
                                              .kind = known->kind,
                                              .offset = known->offset,
                                              .address = known->address,
                                              .file_offset = known->file_offset,
                                              .file = known->file,
                                              .line = known->line};
    return pf_sized_give(frame, &all, sizeof(all));
}

int perfile_profile_stack_at(const struct perfile_profile *profile, size_t index, struct perfile_profile_stack *stack)
{
    const struct pf_tree_link *known = item_at(profile, PF_AGGREGATE_NODES, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_stack all = {.parent = known->parent, .frame = known->frame};
    return pf_sized_give(stack, &all, sizeof(all));
}

int perfile_profile_thread_at(const struct perfile_profile *profile, size_t index,
                              struct perfile_profile_thread *thread)
{
    const struct pf_aggregate_thread *known = item_at(profile, PF_AGGREGATE_THREADS, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_thread all = {.pid = known->pid,
                                               .tid = known->tid,
                                               .comm = known->comm,
                                               .comms = known->comms,
                                               .comm_count = known->comm_count,
                                               .first_time = known->first_time,
                                               .last_time = known->last_time,
                                               .samples = known->samples};
    return pf_sized_give(thread, &all, sizeof(all));
}

int perfile_profile_sample_at(const struct perfile_profile *profile, size_t index,
                              struct perfile_profile_sample *sample)
{
    const struct pf_aggregate_row *row = item_at(profile, PF_AGGREGATE_ROWS, index);
    if (!row)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_aggregate_key *key = item_at(profile, PF_AGGREGATE_KEYS, row->key);
    const struct perfile_profile_sample all = {
        .event = key->event,
        .stack = row->node,
        .leaf = row->leaf,
        .value_count = pf_aggregate_value_count(item_at(profile, PF_AGGREGATE_EVENTS, key->event)),
        .cpu = key->cpu,
        .values = row->values,
        .pid = key->pid,
        .tid = key->tid,
        .comm = key->comm,
        .time = key->time,
        .cgroup = key->cgroup,
        .recording = key->recording,
        .tags = key->tags};
    return pf_sized_give(sample, &all, sizeof(all));
}

int perfile_profile_tag_at(const struct perfile_profile *profile, size_t index, struct perfile_profile_tag *tag)
{
    const struct pf_aggregate_tag *known = item_at(profile, PF_AGGREGATE_TAGS, index);
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    const struct perfile_profile_tag all = {.name = known->name, .text = known->text, .next = known->next};
    return pf_sized_give(tag, &all, sizeof(all));
}

int perfile_profile_losses(const struct perfile_profile *profile, struct perfile_losses *losses)
{
    return pf_sized_give(losses, &profile->losses, sizeof(profile->losses));
}
