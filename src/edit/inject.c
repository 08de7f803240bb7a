/* SPDX-License-Identifier: MIT */
/* What can be added to a recording afterwards. */
#include "base/error.h"
#include "base/feature.h"
#include "base/sized.h"
#include "base/map.h"
#include "edit/convert.h"
#include "edit/inject.h"
#include "edit/trace.h"

enum { KERNEL_PID = -1, NO_PID = INT32_MIN };

static const char sched_stat[] = "sched:sched_stat_";

/* The sample that a thread went to sleep with. */
struct sleeper {
    struct perfile_record record; /* bytes 0: none */
    uint8_t *data;
    size_t capacity;
};

struct inject {
    struct pf_edit edit;
    struct perfile_inject_options options;
    struct pf_strip strip;
    struct pf_unwind_step *unwind; /* NULL: dumped stacks stay */
    struct pf_trace *trace;        /* NULL: it stays */
    struct pf_inject_maps maps;
    struct pf_code code;
    struct pf_known_ids ids;
    struct pf_map hit;      /* mappings, by their id */
    struct pf_map sleeping; /* tid to index in `sleepers` */
    struct sleeper *sleepers;
    size_t sleeper_count;
    size_t sleeper_capacity;
};

/* ---- build ids ---- */

/* Notes an address of a sample. */
static int hit(struct inject *inject, const struct pf_inject_location *location, uint64_t ip,
               struct perfile_error *error)
{
    const struct perfile_space *space = perfile_session_space(inject->edit.session, location->pid);
    const struct perfile_map *map = space ? perfile_space_find(space, ip) : NULL;
    uint64_t seen;
    if (!map)
        return 0;
    int result = pf_inject_maps_hit(&inject->maps, location, map, error);
    if (result < 0 || (!inject->options.build_ids && !map->code) || pf_map_get(&inject->hit, map->id, &seen))
        return result;
    if (!pf_map_put(&inject->hit, map->id, 1))
        return pf_fail_memory(error, "build id");
    return pf_inject_add_build_id(&inject->maps, &inject->ids, map, error);
}

/* `mode` is the mode of an address; 0: of an unknown one. */
static struct pf_inject_location location_of(const struct perfile_sample *sample, unsigned mode)
{
    return (struct pf_inject_location){.pid = mode == PERFILE_MISC_USER     ? sample->pid
                                              : mode == PERFILE_MISC_KERNEL ? KERNEL_PID
                                                                            : NO_PID,
                                       .time = sample->time};
}

static int hit_chain(struct inject *inject, const struct perfile_sample *sample, unsigned mode,
                     struct perfile_error *error)
{
    struct pf_inject_location location = location_of(sample, mode);
    int result = 0;
    for (uint64_t i = 0; i < sample->callchain.count && result == 0; i++) {
        const uint64_t ip = perfile_u64_at(&sample->callchain, i);
        if (ip == PERFILE_CONTEXT_USER_DEFERRED)
            break; /* what follows is a cookie */
        if (ip >= PERFILE_CONTEXT_MAX)
            location = location_of(sample, ip == PERFILE_CONTEXT_KERNEL ? PERFILE_MISC_KERNEL
                                           : ip == PERFILE_CONTEXT_USER ? PERFILE_MISC_USER
                                                                        : 0);
        else if (location.pid != NO_PID)
            result = hit(inject, &location, ip, error);
    }
    return result;
}

/* Notes the other addresses of samples besides those of code that ran: their mappings must not be left out either. */
static int hit_rest(struct inject *inject, const struct perfile_sample *sample, struct perfile_error *error)
{
    const struct pf_inject_location location = location_of(sample, PERFILE_MISC_USER);
    struct perfile_branch branch;
    int result = sample->addr ? hit(inject, &location, sample->addr, error) : 0;
    for (uint64_t i = 0; i < sample->branch_stack.count && result == 0; i++) {
        perfile_branch_at(&sample->branch_stack, i, &branch, sizeof(branch));
        result = hit(inject, &location, branch.from, error);
        if (result == 0)
            result = hit(inject, &location, branch.to, error);
    }
    return result;
}

static int hit_sample(struct inject *inject, struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_sample *sample = &item->sample;
    const unsigned mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    const struct pf_inject_location location = location_of(sample, mode);
    if (location.pid != NO_PID)
        result = hit(inject, &location, sample->ip, error);
    if (result == 0)
        result = hit_chain(inject, sample, mode, error);
    if (result == 0 && inject->options.map_build_ids == PERFILE_MAP_BUILD_IDS_HIT)
        result = hit_rest(inject, sample, error);
    return result;
}

static int note_feature(void *context, struct perfile_reader *reader, uint32_t number, struct perfile_bytes *body,
                        struct perfile_error *error)
{
    struct inject *inject = context;
    if (number != PERFILE_FEATURE_BUILD_ID)
        return 0;
    int result = pf_build_ids_note(&inject->ids, body, reader->file.swapped, error);
    return result < 0 ? result
                      : pf_build_ids_each(body, reader->file.swapped, pf_inject_maps_know, &inject->maps, error);
}

/* ---- sleeping times ---- */

static struct sleeper *find_sleeper(struct inject *inject, int32_t tid)
{
    uint64_t index;
    return pf_map_get(&inject->sleeping, (uint32_t)tid, &index) ? &inject->sleepers[index] : NULL;
}

static int fall_asleep(struct inject *inject, const struct pf_item *item, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = inject->edit.reader->allocator;
    const struct perfile_record *record = item->record;
    struct sleeper *sleeper = find_sleeper(inject, item->sample.tid);
    if (!sleeper) {
        if (!pf_grow(allocator, &inject->sleepers, &inject->sleeper_capacity, inject->sleeper_count + 1,
                     sizeof(*inject->sleepers)) ||
            !pf_map_put(&inject->sleeping, (uint32_t)item->sample.tid, inject->sleeper_count))
            return pf_fail_memory(error, "sleeping threads");
        sleeper = &inject->sleepers[inject->sleeper_count++];
        *sleeper = (struct sleeper){.data = NULL};
    }
    if (!pf_grow(allocator, &sleeper->data, &sleeper->capacity, record->bytes, 1))
        return pf_fail_memory(error, "sleeping threads");
    memcpy(sleeper->data, record->data, record->bytes);
    sleeper->record = *record;
    sleeper->record.data = sleeper->data;
    return PF_EDIT_DROP;
}

static int discard(struct inject *inject, const struct pf_item *item)
{
    struct sleeper *sleeper = find_sleeper(inject, item->sample.tid);
    if (sleeper)
        sleeper->record.bytes = 0;
    return PF_EDIT_DROP;
}

/* A number among the raw data of a tracepoint. */
static bool take_field(struct inject *inject, const struct pf_item *item, const char *name, int32_t *value)
{
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(inject->edit.reader, item->record->event);
    const struct perfile_bytes *raw = &item->sample.raw;
    for (size_t i = 0; tracepoint && i < tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (strcmp(field->name, name) != 0 || field->bytes != sizeof(*value) || field->offset > raw->bytes ||
            raw->bytes - field->offset < sizeof(*value))
            continue;
        *value = (int32_t)pf_load32(raw->data + field->offset, inject->edit.reader->file.swapped);
        return true;
    }
    return false;
}

static int wake_up(struct inject *inject, struct pf_item *item, struct perfile_error *error)
{
    const uint64_t time = item->sample.time, period = item->sample.period;
    int32_t tid;
    struct sleeper *sleeper = take_field(inject, item, "pid", &tid) ? find_sleeper(inject, tid) : NULL;
    if (!sleeper || !sleeper->record.bytes)
        return PF_EDIT_DROP;
    pf_item_set(item, item->reader, &sleeper->record);
    int result = pf_item_decode(item, error);
    item->sample.time = time;
    item->sample.period = period;
    item->changed = true;
    return result;
}

static int follow_sleep(struct inject *inject, struct pf_item *item, struct perfile_error *error)
{
    const char *name = item->record->event ? item->record->event->name : "";
    const bool asleep = strcmp(name, "sched:sched_switch") == 0, gone = strcmp(name, "sched:sched_process_exit") == 0;
    if (!asleep && !gone && strncmp(name, sched_stat, sizeof(sched_stat) - 1) != 0)
        return PF_EDIT_KEEP;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    return asleep ? fall_asleep(inject, item, error) : gone ? discard(inject, item) : wake_up(inject, item, error);
}

/* ---- records ---- */

static bool looks_at_maps(const struct inject *inject)
{
    return inject->options.build_ids || inject->options.follow_code ||
           inject->options.map_build_ids == PERFILE_MAP_BUILD_IDS_HIT;
}

static int inject_record(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct inject *inject = context;
    if (item->record->type != PERFILE_RECORD_SAMPLE)
        return pf_inject_maps_record(&inject->maps, item, inject->options.all_build_ids ? &inject->ids : NULL, error);
    if (!item->record->event)
        return PF_EDIT_KEEP;
    int result = inject->options.sched_stat ? follow_sleep(inject, item, error) : PF_EDIT_KEEP;
    if (result == PF_EDIT_KEEP && looks_at_maps(inject))
        result = hit_sample(inject, item, error);
    return result;
}

/* A stream says later which events it has. */
static int check_events(const struct inject *inject, struct perfile_error *error)
{
    const struct perfile_reader *reader = inject->edit.reader;
    if (!inject->options.sched_stat || reader->file.mode == PERFILE_MODE_PIPE)
        return 0;
    for (size_t i = 0; i < reader->event_count; i++)
        if (strncmp(reader->events[i]->public.name, sched_stat, sizeof(sched_stat) - 1) == 0)
            return 0;
    return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, "recording", "it has no event sched:sched_stat_*");
}

/* What became samples is left out. */
static bool strips(const struct inject *inject)
{
    return inject->options.strip || inject->trace;
}

static int open_inject(struct inject *inject, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = inject->edit.reader->allocator;
    pf_known_ids_open(&inject->ids, inject->edit.reader, inject->edit.writer);
    pf_map_open(&inject->hit, allocator);
    pf_map_open(&inject->sleeping, allocator);
    inject->edit.by_time = true;
    inject->edit.follows_maps |= looks_at_maps(inject);
    pf_inject_maps_open(&inject->maps, &inject->edit, &inject->options);
    inject->maps.has_trace = pf_has_feature(inject->edit.reader, PERFILE_FEATURE_AUXTRACE);
    pf_code_open(&inject->code, &inject->maps);
    int result = check_events(inject, error);
    return result < 0 || !strips(inject) ? result : pf_strip_open(&inject->strip, "aux", error);
}

static void close_inject(struct inject *inject)
{
    const struct perfile_allocator *allocator = inject->edit.reader->allocator;
    for (size_t i = 0; i < inject->sleeper_count; i++)
        pf_free(allocator, inject->sleepers[i].data, inject->sleepers[i].capacity);
    pf_free(allocator, inject->sleepers, inject->sleeper_capacity * sizeof(*inject->sleepers));
    pf_map_close(&inject->hit);
    pf_map_close(&inject->sleeping);
    pf_known_ids_close(&inject->ids);
    pf_code_close(&inject->code);
    pf_inject_maps_close(&inject->maps);
    pf_unwind_close(inject->unwind);
    pf_trace_close(inject->trace);
}

static int open_unwinding(struct inject *inject, struct perfile_error *error)
{
    struct perfile_convert_options how = PERFILE_CONVERT_OPTIONS_INIT;
    how.unwind = inject->options.unwind;
    how.unwind_context = inject->options.unwind_context;
    inject->edit.reshapes = how.unwind != NULL;
    return how.unwind ? pf_unwind_open(&how, &inject->edit, &inject->unwind, error) : 0;
}

static int inject(struct perfile_reader *reader, struct perfile_writer *writer,
                  const struct perfile_inject_options *options, struct perfile_edit_report *report,
                  struct perfile_error *error)
{
    struct inject inject = {.options = PERFILE_INJECT_OPTIONS_INIT};
    struct pf_edit_step steps[5];
    int result = pf_sized_take(&inject.options, sizeof(inject.options), options, "inject options", error);
    if (result == 0)
        result = pf_edit_open(&inject.edit, reader, writer, inject.options.edit, error);
    if (result == 0 && inject.options.itrace)
        result = pf_trace_open(&inject.edit, inject.options.itrace,
                               &(struct pf_trace_code){inject.options.read_code, inject.options.read_code_context},
                               &inject.trace, error);
    if (result == 0)
        result = open_unwinding(&inject, error);
    if (result < 0)
        return result;
    inject.edit.steps = steps;
    if (inject.unwind) /* first, so that the others see the callchains */
        steps[inject.edit.step_count++] = pf_unwind_step(inject.unwind);
    if (inject.options.follow_code)
        steps[inject.edit.step_count++] = pf_code_step(&inject.code);
    steps[inject.edit.step_count++] =
        (struct pf_edit_step){.context = &inject, .feature = note_feature, .record = inject_record};
    if (inject.trace)
        steps[inject.edit.step_count++] = pf_trace_step(inject.trace);
    if (strips(&inject))
        steps[inject.edit.step_count++] = pf_strip_step(&inject.strip);
    result = open_inject(&inject, error);
    if (result == 0)
        result = pf_edit_run(&inject.edit, report, error);
    if (strips(&inject))
        report->bytes_stripped = inject.strip.bytes + inject.edit.bytes_saved;
    report->build_ids_added = inject.ids.added;
    pf_inject_maps_notify(&inject.maps);
    report->build_ids_missing = inject.maps.missing;
    report->code_added = inject.code.added;
    report->maps_added = inject.maps.added;
    report->samples_added = inject.trace ? pf_trace_samples(inject.trace) : 0;
    close_inject(&inject);
    return result;
}

int perfile_inject(struct perfile_reader *reader, struct perfile_writer *writer,
                   const struct perfile_inject_options *options, struct perfile_edit_report *report,
                   struct perfile_error *error)
{
    struct perfile_edit_report counts = PERFILE_EDIT_REPORT_INIT;
    int result = pf_sized_check(report, "edit report", error);
    if (result < 0)
        return result;
    result = inject(reader, writer, options, &counts, error);
    pf_sized_give(report, &counts, sizeof(counts));
    return result;
}
