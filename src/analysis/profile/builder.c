/* SPDX-License-Identifier: MIT */
/* <perfile/builder.h>: profiles made of the caller's samples. */
#include <perfile/builder.h>

#include <stdio.h>

#include "analysis/label.h"
#include "analysis/profile/aggregate.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/sized.h"

enum { FRAMES_MAX = 1 << 20 };

struct perfile_builder {
    struct pf_aggregate aggregate; /* its profile is NULL when the builder has finished */
    struct pf_aggregate_recording recording;
    uint64_t quantum_ns;
    const struct perfile_allocator *below; /* the caller's */
};

static int refuse(struct perfile_error *error, const char *what, const char *why)
{
    return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "%s", why);
}

/* ---- opening and closing ----------------------------------------------------------------------------------------- */

static bool take_words(struct pf_aggregate *aggregate, const struct perfile_profile_recording *from,
                       struct pf_aggregate_recording *to)
{
    to->cmdline = pf_arena_new(&aggregate->profile->arena, (from->cmdline_count + 1) * sizeof(*to->cmdline));
    for (size_t i = 0; to->cmdline && i < from->cmdline_count; i++) {
        to->cmdline[i] = from->cmdline[i] ? from->cmdline[i] : "";
        if (!pf_aggregate_text(aggregate, &to->cmdline[i]))
            return false;
    }
    to->cmdline_count = from->cmdline_count;
    return to->cmdline;
}

static bool take_recording(struct perfile_builder *builder, const struct perfile_profile_recording *from)
{
    struct pf_aggregate_recording *to = &builder->recording;
    *to = (struct pf_aggregate_recording){.path = from->path,
                                          .hostname = from->hostname,
                                          .os_release = from->os_release,
                                          .arch = from->arch,
                                          .cpu = from->cpu,
                                          .version = from->version,
                                          .first_time = UINT64_MAX,
                                          .clock = from->clock,
                                          .wall_time = from->wall_time,
                                          .clock_time = from->clock_time,
                                          .lost = from->lost};
    const char **const texts[] = {&to->path, &to->hostname, &to->os_release, &to->arch, &to->cpu, &to->version};
    for (size_t i = 0; i < PF_COUNT(texts); i++)
        if (!pf_aggregate_text(&builder->aggregate, texts[i]))
            return false;
    builder->aggregate.profile->losses.lost = from->lost;
    return take_words(&builder->aggregate, from, to);
}

int perfile_builder_open(const struct perfile_builder_options *options, struct perfile_builder **builder,
                         struct perfile_error *error)
{
    struct perfile_builder_options all = PERFILE_BUILDER_OPTIONS_INIT;
    struct perfile_profile_recording recording = PERFILE_PROFILE_RECORDING_INIT;
    *builder = NULL;
    recording.clock = -1;
    int result = pf_sized_take(&all, sizeof(all), options, "builder options", error);
    if (result == 0)
        result = pf_sized_take(&recording, sizeof(recording), all.recording, "recording", error);
    if (result < 0)
        return result;
    struct perfile_builder *made = pf_new(pf_allocator_or_default(all.allocator), sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "builder");
    made->quantum_ns = all.time_quantum;
    if (!pf_aggregate_open(&made->aggregate, all.allocator)) {
        pf_free(pf_allocator_or_default(all.allocator), made, sizeof(*made));
        return pf_fail_memory(error, "builder");
    }
    made->below = made->aggregate.profile->watch.below;
    *builder = made;
    if (take_recording(made, &recording))
        return 0;
    perfile_builder_close(made);
    *builder = NULL;
    return pf_fail_memory(error, "builder");
}

void perfile_builder_close(struct perfile_builder *builder)
{
    if (!builder)
        return;
    pf_aggregate_close(&builder->aggregate);
    pf_free(builder->below, builder, sizeof(*builder));
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

/* The caller's struct as this build knows it, or an error. */
static int take(const struct perfile_builder *builder, void *all, size_t bytes, const void *theirs, const char *what,
                struct perfile_error *error)
{
    if (!builder->aggregate.profile)
        return refuse(error, "builder", "has finished");
    return theirs ? pf_sized_take(all, bytes, theirs, what, error) : refuse(error, what, "is NULL");
}

static bool is_number(const struct perfile_builder *builder, enum pf_aggregate_kind kind, uint32_t number)
{
    return number < pf_aggregate_count(builder->aggregate.profile, kind);
}

/* Numbers the item, whose texts become the profile's. */
static int number_item(struct perfile_builder *builder, enum pf_aggregate_kind kind, void *item,
                       const char **const *texts, uint32_t *number, struct perfile_error *error)
{
    bool fine = true;
    for (; fine && *texts; texts++)
        fine = pf_aggregate_text(&builder->aggregate, *texts);
    *number = fine ? pf_aggregate_number(&builder->aggregate, kind, item) : PF_AGGREGATE_NONE;
    return *number == PF_AGGREGATE_NONE ? pf_fail_memory(error, "builder") : 0;
}

int perfile_builder_event(struct perfile_builder *builder, const struct perfile_profile_event *event, uint32_t *number,
                          struct perfile_error *error)
{
    struct perfile_profile_event all = PERFILE_PROFILE_EVENT_INIT;
    *number = PERFILE_NO_ID;
    const int result = take(builder, &all, sizeof(all), event, "event", error);
    if (result < 0)
        return result;
    if (!all.name || !*all.name || !all.unit || !*all.unit)
        return refuse(error, "event", "has no name or no unit");
    if (all.value_count == 1 || all.value_count > PF_AGGREGATE_VALUES)
        return refuse(error, "event", "value_count is neither 2 nor 3");
    struct pf_aggregate_event made = {.name = all.name,
                                      .unit = all.unit,
                                      .type = all.type,
                                      .config = all.config,
                                      .has_weight = all.value_count == PF_AGGREGATE_VALUES};
    return number_item(builder, PF_AGGREGATE_EVENTS, &made, (const char **const[]){&made.name, &made.unit, NULL},
                       number, error);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

int perfile_builder_module(struct perfile_builder *builder, const struct perfile_module *module, uint32_t *number,
                           struct perfile_error *error)
{
    struct perfile_module all = PERFILE_MODULE_INIT;
    *number = PERFILE_NO_ID;
    const int result = take(builder, &all, sizeof(all), module, "module", error);
    if (result < 0)
        return result;
    if (!all.name || !*all.name)
        return refuse(error, "module", "has no name");
    if (all.build_id_bytes > sizeof(all.build_id) || all.state > PERFILE_MODULE_SYMBOLS ||
        all.kind > PERFILE_MODULE_JIT)
        return refuse(error, "module", "build_id_bytes is above 20, or state or kind is unknown");
    if (!all.short_name)
        all.short_name = last_part(all.name);
    *number = pf_aggregate_number_module(&builder->aggregate, &all);
    return *number == PF_AGGREGATE_NONE ? pf_fail_memory(error, "builder") : 0;
}

static int add_function(struct perfile_builder *builder, struct pf_aggregate_function *made, uint32_t *number,
                        struct perfile_error *error)
{
    const struct pf_aggregate_module *modules = builder->aggregate.profile->lists[PF_AGGREGATE_MODULES].items;
    const struct pf_aggregate_module *module = made->module == PERFILE_NO_ID ? NULL : &modules[made->module];
    struct pf_arena labels;
    pf_arena_open(&labels, builder->aggregate.allocator);
    if (!made->label || !*made->label)
        made->label =
            pf_label_of_frame(&labels, made->name, module ? module->name : NULL, made->kind == PERFILE_FRAME_JIT);
    const int result =
        !made->label
            ? pf_fail_memory(error, "builder")
            : number_item(builder, PF_AGGREGATE_FUNCTIONS, made,
                          (const char **const[]){&made->name, &made->raw_name, &made->label, &made->file, NULL}, number,
                          error);
    pf_arena_close(&labels);
    return result;
}

int perfile_builder_function(struct perfile_builder *builder, const struct perfile_profile_function *function,
                             uint32_t *number, struct perfile_error *error)
{
    struct perfile_profile_function all = PERFILE_PROFILE_FUNCTION_INIT;
    *number = PERFILE_NO_ID;
    const int result = take(builder, &all, sizeof(all), function, "function", error);
    if (result < 0)
        return result;
    if (all.module != PERFILE_NO_ID && !is_number(builder, PF_AGGREGATE_MODULES, all.module))
        return refuse(error, "function", "module is not a number of this builder");
    if (all.kind > PERFILE_FRAME_UNKNOWN || (all.module == PERFILE_NO_ID && !all.name))
        return refuse(error, "function", "has neither a name nor a module, or its kind is unknown");
    struct pf_aggregate_function made = {.name = all.name && *all.name ? all.name : NULL,
                                         .raw_name = all.raw_name,
                                         .label = all.label,
                                         .file = all.file,
                                         .address = all.address,
                                         .bytes = all.bytes,
                                         .module = all.module,
                                         .kind = all.kind,
                                         .start_line = all.start_line};
    return add_function(builder, &made, number, error);
}

int perfile_builder_frame(struct perfile_builder *builder, const struct perfile_profile_frame *frame, uint32_t *number,
                          struct perfile_error *error)
{
    struct perfile_profile_frame all = PERFILE_PROFILE_FRAME_INIT;
    *number = PERFILE_NO_ID;
    const int result = take(builder, &all, sizeof(all), frame, "frame", error);
    if (result < 0)
        return result;
    if (!is_number(builder, PF_AGGREGATE_FUNCTIONS, all.function) || all.kind > PERFILE_FRAME_UNKNOWN)
        return refuse(error, "frame", "function is not a number of this builder, or kind is unknown");
    struct pf_aggregate_frame made = {.file = all.file,
                                      .offset = all.offset,
                                      .address = all.address,
                                      .file_offset = all.file_offset,
                                      .function = all.function,
                                      .kind = all.kind,
                                      .line = all.line};
    return number_item(builder, PF_AGGREGATE_FRAMES, &made, (const char **const[]){&made.file, NULL}, number, error);
}

int perfile_builder_address(struct perfile_builder *builder, uint32_t module, uint64_t file_offset, uint32_t *number,
                            struct perfile_error *error)
{
    struct perfile_profile_function function = PERFILE_PROFILE_FUNCTION_INIT;
    struct perfile_profile_frame frame = PERFILE_PROFILE_FRAME_INIT;
    *number = PERFILE_NO_ID;
    if (module == PERFILE_NO_ID)
        return refuse(error, "address", "has no module");
    function.module = module;
    function.address = frame.address = frame.file_offset = file_offset;
    const int result = perfile_builder_function(builder, &function, &frame.function, error);
    return result < 0 ? result : perfile_builder_frame(builder, &frame, number, error);
}

/* ---- samples ----------------------------------------------------------------------------------------------------- */

static const char *check_sample(const struct perfile_builder *builder, const struct perfile_builder_sample *sample)
{
    if (!is_number(builder, PF_AGGREGATE_EVENTS, sample->event))
        return "event is not a number of this builder";
    if (!sample->frames || !sample->frame_count || sample->frame_count > FRAMES_MAX)
        return "has no frames, or too many";
    for (uint32_t i = 0; i < sample->frame_count; i++)
        if (!is_number(builder, PF_AGGREGATE_FRAMES, sample->frames[i]))
            return "a frame is not a number of this builder";
    return NULL;
}

/* Of a thread that no sample has named, the number stands for the name, as in recordings. */
static bool note_thread(struct perfile_builder *builder, const struct perfile_builder_sample *sample, const char *comm)
{
    char number[16];
    snprintf(number, sizeof(number), ":%d", (int)sample->tid);
    struct pf_aggregate_thread thread = {
        .pid = sample->pid, .tid = sample->tid, .comm = comm ? comm : number, .first_time = UINT64_MAX};
    thread.samples = sample->count;
    if (sample->has_time)
        thread.first_time = thread.last_time = sample->time;
    if (comm)
        thread.comm_time = thread.last_time;
    if (!pf_aggregate_text(&builder->aggregate, &thread.comm))
        return false;
    struct pf_aggregate_comm name = {.text = thread.comm};
    name.thread = pf_aggregate_number(&builder->aggregate, PF_AGGREGATE_THREADS, &thread);
    return name.thread != PF_AGGREGATE_NONE &&
           pf_aggregate_number(&builder->aggregate, PF_AGGREGATE_COMMS, &name) != PF_AGGREGATE_NONE;
}

/* NONE: out of memory. */
static uint32_t number_key(struct perfile_builder *builder, const struct perfile_builder_sample *sample)
{
    const bool timed = sample->has_time && builder->quantum_ns;
    struct pf_aggregate_key key = {.event = sample->event,
                                   .pid = sample->has_thread ? sample->pid : -1,
                                   .tid = sample->has_thread ? sample->tid : -1,
                                   .cpu = sample->has_cpu ? sample->cpu : -1,
                                   .comm = sample->comm,
                                   .cgroup = sample->cgroup,
                                   .time = timed ? sample->time - sample->time % builder->quantum_ns : UINT64_MAX,
                                   .recording = PERFILE_NO_ID,
                                   .tags = PERFILE_NO_ID};
    if (!pf_aggregate_text(&builder->aggregate, &key.comm) || !pf_aggregate_text(&builder->aggregate, &key.cgroup) ||
        (sample->has_thread && !note_thread(builder, sample, key.comm)))
        return PF_AGGREGATE_NONE;
    return pf_aggregate_number(&builder->aggregate, PF_AGGREGATE_KEYS, &key);
}

/* The node where the stack ends. NONE: out of memory. */
static uint32_t number_stack(struct perfile_builder *builder, const struct perfile_builder_sample *sample)
{
    struct pf_tree_link node = {.parent = PERFILE_NO_ID};
    for (uint32_t i = sample->frame_count; i-- > 0;) {
        node.frame = sample->frames[i];
        node.parent = pf_aggregate_number(&builder->aggregate, PF_AGGREGATE_NODES, &node);
        if (node.parent == PF_AGGREGATE_NONE)
            return PF_AGGREGATE_NONE;
    }
    return node.parent;
}

/* The innermost frame that is not inlined; the outermost one when all are. */
static uint32_t leaf_of(const struct perfile_builder *builder, const struct perfile_builder_sample *sample)
{
    const struct pf_aggregate_frame *frames = builder->aggregate.profile->lists[PF_AGGREGATE_FRAMES].items;
    uint32_t i = 0;
    while (i + 1 < sample->frame_count && frames[sample->frames[i]].kind == PERFILE_FRAME_INLINED)
        i++;
    return sample->frames[i];
}

static void add_totals(struct perfile_builder *builder, const struct perfile_builder_sample *sample)
{
    const struct pf_aggregate_function *functions = builder->aggregate.profile->lists[PF_AGGREGATE_FUNCTIONS].items;
    const struct pf_aggregate_frame *frames = builder->aggregate.profile->lists[PF_AGGREGATE_FRAMES].items;
    struct perfile_losses *losses = &builder->aggregate.profile->losses;
    (void)pf_add_to_sum(&losses->samples, sample->count);
    if (!functions[frames[leaf_of(builder, sample)].function].name)
        (void)pf_add_to_sum(&losses->unresolved, sample->count);
    if (!sample->has_time)
        return;
    builder->recording.first_time = pf_min(builder->recording.first_time, sample->time);
    builder->recording.last_time = pf_max(builder->recording.last_time, sample->time);
}

int perfile_builder_add(struct perfile_builder *builder, const struct perfile_builder_sample *sample,
                        struct perfile_error *error)
{
    struct perfile_builder_sample all = PERFILE_BUILDER_SAMPLE_INIT;
    const int result = take(builder, &all, sizeof(all), sample, "sample", error);
    const char *why = result < 0 ? NULL : check_sample(builder, &all);
    if (result < 0 || why)
        return why ? refuse(error, "sample", why) : result;
    all.count = all.count ? all.count : 1;
    struct pf_aggregate_row row = {.values = {all.count, all.period, all.weight}};
    row.key = number_key(builder, &all);
    row.node = row.key == PF_AGGREGATE_NONE ? row.key : number_stack(builder, &all);
    row.leaf = leaf_of(builder, &all);
    if (row.node == PF_AGGREGATE_NONE ||
        pf_aggregate_number(&builder->aggregate, PF_AGGREGATE_ROWS, &row) == PF_AGGREGATE_NONE)
        return pf_fail_memory(error, "builder");
    add_totals(builder, &all);
    return 0;
}

int perfile_builder_finish(struct perfile_builder *builder, struct perfile_profile **profile,
                           struct perfile_error *error)
{
    *profile = NULL;
    if (!builder->aggregate.profile)
        return refuse(error, "builder", "has finished");
    if (pf_aggregate_append(&builder->aggregate, PF_AGGREGATE_RECORDINGS, &builder->recording) == PF_AGGREGATE_NONE ||
        !pf_aggregate_finish(&builder->aggregate)) {
        pf_aggregate_close(&builder->aggregate);
        return pf_fail_memory(error, "builder");
    }
    *profile = builder->aggregate.profile;
    builder->aggregate.profile = NULL;
    return 0;
}
