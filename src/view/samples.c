/* SPDX-License-Identifier: MIT */
/*
 * Every sample, with what was recorded, whose it is, and its stack. analysis/fields.def has the columns; tracepoints
 * add theirs.
 */
#include "analysis/fields.h"
#include "analysis/profile.h"
#include "base/error.h"
#include "view/ids.h"
#include "view/tracepoints.h"
#include "view/view.h"

struct samples {
    struct pf_tracepoints tracepoints; /* first: the functions of its columns are given it as their state */
    struct pf_profile *profile;
    const struct pf_profile_sample *sample; /* in hand; NULL: none */
    const struct perfile_sample *decoded;
    const struct pf_frame_info *leaf;
    const struct pf_module *module; /* of the leaf, or NULL */
    bool ahead;                     /* the sample in hand was not given yet */
    int first;                      /* what the first read returned */
    struct perfile_error error;     /* of it */
    const char *modes[PERFILE_MISC_CPUMODE_MASK + 1];
    uint32_t *stack_codes; /* of frames: their text in the column `stack`, plus one */
    size_t stack_code_count;
    bool wants_ids;
    struct pf_stack_ids ids;
    uint64_t id; /* of the stack of the sample in hand */
};

/* ---- what the columns put ---------------------------------------------------------------------------------------- */

#define PUT(name) static void put_##name(void *state, struct pf_vector *vector)
#define SAMPLES struct samples *samples = state
/* Null where the event of this sample does not record it. */
#define PUT_RECORDED(name, bits, set, value)                                                                           \
    PUT(name)                                                                                                          \
    {                                                                                                                  \
        SAMPLES;                                                                                                       \
        if (samples->decoded->present & (bits))                                                                        \
            set(vector, value);                                                                                        \
        else                                                                                                           \
            pf_set_null(vector);                                                                                       \
    }

#define SET_I32(vector, number) pf_set_u32(vector, (uint32_t)(number))
#define SET_U32(vector, number) pf_set_u32(vector, (uint32_t)(number))
#define SET_U64 pf_set_u64
#define SET_BYTES pf_set_u64
#define SET_ADDRESS pf_set_u64
#define PF_FIELD(...)
#define PF_FIELD_SURE(...)
#define PF_FIELD_NUMBER(id, alias, type, unit, needs, extra, value, doc)                                               \
    PUT_RECORDED(id, needs, SET_##type, pf_field_##id(samples->decoded))
#include "analysis/fields.def"
PUT_RECORDED(time, PERFILE_SAMPLE_TIME, pf_set_u64, samples->sample->time)
PUT_RECORDED(pid, PERFILE_SAMPLE_TID, pf_set_i32, samples->sample->pid)
PUT_RECORDED(tid, PERFILE_SAMPLE_TID, pf_set_i32, samples->sample->tid)
PUT_RECORDED(comm, PERFILE_SAMPLE_TID, pf_set_lasting, samples->sample->comm)
PUT_RECORDED(ip, PERFILE_SAMPLE_IP, pf_set_u64, samples->sample->ip)
PUT_RECORDED(symbol, PERFILE_SAMPLE_IP, pf_set_lasting, samples->leaf->name)
PUT_RECORDED(dso, PERFILE_SAMPLE_IP, pf_set_lasting, samples->module ? samples->module->name : NULL)
PUT_RECORDED(cgroup, PERFILE_SAMPLE_CGROUP, pf_set_text, samples->sample->cgroup)

PF_PUT_AS(event, SAMPLES, pf_set_lasting, samples->sample->event ? samples->sample->event->name : NULL)
PF_PUT_AS(mode, SAMPLES, pf_set_lasting, samples->modes[samples->sample->cpumode & PERFILE_MISC_CPUMODE_MASK])
PF_PUT_AS(period, SAMPLES, pf_set_u64, samples->sample->period)

PUT(unit)
{
    SAMPLES;
    char unit[64];
    const struct perfile_event *event = samples->sample->event;
    pf_set_text(vector, event ? perfile_event_unit(event, unit, sizeof(unit)) : NULL);
}

PF_PUT_IF(symbol_offset, SAMPLES, samples->leaf->name && samples->decoded->present & PERFILE_SAMPLE_IP, pf_set_u64,
          samples->leaf->address)
PF_PUT_AS(build_id, SAMPLES, pf_set_lasting,
          samples->module && * samples->module->build_id ? samples->module->build_id : NULL)
PF_PUT_AS(srcfile, SAMPLES, pf_set_lasting, pf_frame_address(samples->leaf)->file)

PUT(srcline)
{
    SAMPLES;
    const struct pf_frame_address *address = pf_frame_address(samples->leaf);
    if (address->file && address->line)
        pf_set_u32(vector, address->line);
    else
        pf_set_null(vector);
}

static const struct pf_frame_info *frame_of_data(const struct samples *samples)
{
    const uint32_t frame = samples->decoded->present & PERFILE_SAMPLE_ADDR
                               ? pf_profile_frame_at(samples->profile, samples->decoded->addr)
                               : PF_NO_FRAME;
    return frame == PF_NO_FRAME ? NULL : pf_profile_frame(samples->profile, frame);
}

PUT(data_symbol)
{
    const struct pf_frame_info *frame = frame_of_data(state);
    pf_set_lasting(vector, frame ? frame->name : NULL);
}

PUT(data_dso)
{
    SAMPLES;
    const struct pf_frame_info *frame = frame_of_data(samples);
    const struct pf_module *module =
        frame ? pf_symbols_module(pf_profile_symbols(samples->profile), frame->module) : NULL;
    pf_set_lasting(vector, module ? module->name : NULL);
}

static void put_numbers(struct pf_vector *vector, const struct perfile_u64s *numbers, bool recorded)
{
    if (!recorded) {
        pf_set_null(vector);
        return;
    }
    for (uint64_t i = 0; i < numbers->count; i++)
        pf_add_address(vector, perfile_u64_at(numbers, i));
    pf_end_list(vector);
}

PF_PUT_AS(callchain, SAMPLES, put_numbers, &samples->decoded->callchain,
          samples->decoded->present &PERFILE_SAMPLE_CALLCHAIN)
PF_PUT_AS(regs_user, SAMPLES, put_numbers, &samples->decoded->regs_user.values,
          samples->decoded->present &PERFILE_SAMPLE_REGS_USER)
PF_PUT_AS(regs_intr, SAMPLES, put_numbers, &samples->decoded->regs_intr.values,
          samples->decoded->present &PERFILE_SAMPLE_REGS_INTR)

static void put_branches(const struct samples *samples, struct pf_vector *vector, bool from)
{
    struct perfile_branch branch;
    const struct perfile_branch_stack *stack = &samples->decoded->branch_stack;
    if (!(samples->decoded->present & PERFILE_SAMPLE_BRANCH_STACK)) {
        pf_set_null(vector);
        return;
    }
    for (uint64_t i = 0; i < stack->count; i++) {
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        pf_add_address(vector, from ? branch.from : branch.to);
    }
    pf_end_list(vector);
}

PUT(branch_from)
{
    put_branches(state, vector, true);
}

PUT(branch_to)
{
    put_branches(state, vector, false);
}

PUT(trace)
{
    pf_tracepoints_put_text(state, vector);
}

/* ---- stacks ------------------------------------------------------------------------------------------------------ */

PUT(stack)
{
    SAMPLES;
    const struct pf_profile_sample *sample = samples->sample;
    for (size_t i = 0; i < sample->frame_count; i++) {
        uint32_t *code = &samples->stack_codes[sample->frames[i]];
        if (PF_UNLIKELY(!*code))
            *code = pf_frame_code(samples->profile, sample->frames[i], vector) + 1;
        pf_add_code(vector, *code - 1);
    }
    pf_end_list(vector);
}

PF_PUT_AS(stack_id, SAMPLES, pf_set_u64, samples->id)

/* Zeros for frames that are new; false when out of memory. */
static bool make_stack_codes(struct samples *samples)
{
    return pf_grow_zeroed(samples->tracepoints.table->allocator, &samples->stack_codes, &samples->stack_code_count,
                          pf_profile_frame_count(samples->profile), sizeof(*samples->stack_codes));
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int read_sample(struct samples *samples, struct perfile_error *error)
{
    const int result = pf_profile_next(samples->profile, &samples->sample, error);
    if (result <= 0)
        return result;
    const struct pf_profile_sample *sample = samples->sample;
    if (!make_stack_codes(samples) ||
        (samples->wants_ids &&
         !pf_stack_ids_of(&samples->ids, samples->profile, sample->frames, sample->frame_count, &samples->id)))
        return pf_fail_memory(error, "samples");
    samples->decoded = samples->sample->decoded;
    samples->leaf = pf_profile_frame(samples->profile, samples->sample->leaf);
    samples->module = pf_symbols_module(pf_profile_symbols(samples->profile), samples->leaf->module);
    return 1;
}

static int next_sample(void *state, struct perfile_error *error)
{
    struct samples *samples = state;
    int result = samples->first;
    if (samples->ahead && result < 0)
        *error = samples->error;
    if (!samples->ahead)
        result = read_sample(samples, error);
    samples->ahead = false;
    if (result == 1 && samples->tracepoints.count)
        pf_tracepoints_take(&samples->tracepoints, samples->sample->event, &samples->decoded->raw);
    return result;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static const struct {
    struct pf_column column;
    uint64_t needs;
} fields[] = {
#define ONE(field, other, kind, what, bits, rare, sure)                                                                \
    {{.name = #field,                                                                                                  \
      .alias = other,                                                                                                  \
      .type = PERFILE_COLUMN_##kind,                                                                                   \
      .unit = what,                                                                                                    \
      .doc = pf_field_doc_##field,                                                                                     \
      .put = put_##field,                                                                                              \
      .extra = rare,                                                                                                   \
      .required = sure},                                                                                               \
     bits},
#define PF_FIELD(field, other, kind, what, bits, rare, text) ONE(field, other, kind, what, bits, rare, false)
#define PF_FIELD_SURE(field, other, kind, what, bits, rare, text) ONE(field, other, kind, what, bits, rare, true)
#define PF_FIELD_NUMBER(field, other, kind, what, bits, rare, value, text)                                             \
    ONE(field, other, kind, what, bits, rare, false)
#include "analysis/fields.def"
#undef ONE
};

/* Fields of tracepoints are columns, too, which each recording describes. */
static bool column_at(size_t index, struct pf_column *column)
{
    if (index < PF_COUNT(fields))
        *column = fields[index].column;
    return index < PF_COUNT(fields);
}

/* Bits of sample_type that any event has. */
static uint64_t recorded_of(struct perfile_reader *reader)
{
    uint64_t recorded = 0;
    for (size_t i = 0; i < perfile_event_count(reader); i++)
        recorded |= perfile_event_get(reader, i)->attr->sample_type;
    return recorded;
}

static bool add_columns(struct samples *samples)
{
    const uint64_t recorded = recorded_of(samples->tracepoints.table->reader);
    for (size_t i = 0; i < PF_COUNT(fields); i++)
        if ((!fields[i].needs || fields[i].needs & recorded) &&
            !pf_table_add(samples->tracepoints.table, &fields[i].column))
            return false;
    return !(recorded & PERFILE_SAMPLE_RAW) || pf_tracepoints_add(&samples->tracepoints, samples->tracepoints.table);
}

/*
 * Whether samples may be copies that several threads make. What is at the addresses of data is found by their address
 * spaces, tracepoints may need the reader, and the events of a stream are not known when it is opened.
 */
static bool may_copy(const struct perfile_table *table)
{
    enum { ALONE = PERFILE_SAMPLE_ADDR | PERFILE_SAMPLE_RAW };
    const struct perfile_filter *filter = table->options.filter;
    return table->options.threads > 1 && perfile_reader_file(table->reader)->mode != PERFILE_MODE_PIPE &&
           !(recorded_of(table->reader) & ALONE) && !(filter && filter->off_cpu) &&
           !perfile_reader_attachment(table->reader);
}

static int open_profile(struct samples *samples, struct perfile_error *error)
{
    struct perfile_table *table = samples->tracepoints.table;
    struct pf_profile_options how = {
        .filter = table->options.filter,
        .find = pf_find_options_of(&table->complete.symbols, table->allocator),
        .unwind = table->complete.symbols.unwind,
        .decoded = true,
        .copied = may_copy(table),
        .frames = {.inlines = !table->complete.symbols.no_inline,
                   .by_address = pf_table_may_show(table, "srcfile") || pf_table_may_show(table, "srcline") ||
                                 pf_table_may_show(table, "symbol_offset") || pf_table_may_show(table, "symoff")},
        .drive = {table->options.threads, table->options.progress, table->options.progress_context}};
    const int result = pf_profile_open(table->reader, &how, &samples->profile, error);
    table->profile = samples->profile;
    return result;
}

static int open_samples(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct samples *samples = state;
    samples->ids.allocator = table->allocator;
    samples->wants_ids = pf_table_may_show(table, "stack_id");
    for (unsigned i = 0; i < PF_COUNT(samples->modes); i++) {
        const char *name = perfile_enum_name("cpumode", i);
        samples->modes[i] = name ? name : "unknown";
    }
    const int result = open_profile(samples, error);
    if (result < 0)
        return result;
    samples->first = read_sample(samples, &samples->error); /* of a stream, what its events have is known then */
    samples->ahead = true;
    return add_columns(samples) ? 0 : pf_fail_memory(error, "samples");
}

static void close_samples(void *state)
{
    struct samples *samples = state;
    const struct perfile_allocator *allocator = samples->tracepoints.table->allocator;
    pf_tracepoints_close(&samples->tracepoints);
    pf_profile_close(samples->profile);
    pf_stack_ids_close(&samples->ids);
    pf_free(allocator, samples->stack_codes, samples->stack_code_count * sizeof(*samples->stack_codes));
}

const struct pf_view pf_view_samples = {
    .info = {"samples",
             "every sample: time, thread, address, with its stack, what it recorded and the fields of tracepoints"},
    .column_at = column_at,
    .state_bytes = sizeof(struct samples),
    .open = open_samples,
    .next = next_sample,
    .close = close_samples,
};
