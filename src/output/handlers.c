/* SPDX-License-Identifier: MIT */
/*
 * Samples and other records as JSON, a line each, with what the handlers of perf's Python scripts get. The module
 * cli/scripting/perf_handlers.py reads them, and names their members.
 */
#include <string.h>

#include "analysis/data_src.h"
#include "analysis/stack.h"
#include "analysis/stat.h"
#include "analysis/trace/trace_format.h"
#include "base/error.h"
#include "base/json.h"
#include "output/named_samples.h"
#include "output/output.h"

struct handlers {
    struct perfile_reader *reader;
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_json json;
    struct pf_named_samples samples;
    struct pf_stack stack;
    struct pf_stat stat;
    enum pf_unwind_policy policy;
    struct pf_map described; /* by index of the event, that its line was written */
    const char *arch;
    bool short_of_memory;
};

static void put_signed(struct handlers *to, const char *name, int64_t number)
{
    const struct perfile_value value = {.name = name, .kind = PERFILE_VALUE_SIGNED, .number.s = number};
    const struct perfile_visitor visitor = pf_json_visitor(&to->json);
    (void)visitor.value(&to->json, &value);
}

static void put_data(struct handlers *to, const char *name, int kind, const struct perfile_bytes *bytes)
{
    const struct perfile_value value = {.name = name, .kind = kind, .data = bytes->data, .bytes = (size_t)bytes->bytes};
    const struct perfile_visitor visitor = pf_json_visitor(&to->json);
    (void)visitor.value(&to->json, &value);
}

static void begin_line(struct handlers *to, const char *kind)
{
    to->json.comma = false;
    pf_json_begin(&to->json, NULL, false);
    pf_json_string(&to->json, "kind", kind);
}

static void end_line(struct handlers *to)
{
    pf_json_end(&to->json, false);
    pf_put_char(to->out, '\n');
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void put_tracepoint(struct handlers *to, const struct perfile_tracepoint *tracepoint)
{
    struct pf_json *json = &to->json;
    pf_json_string(json, "system", tracepoint->system);
    pf_json_string(json, "tracepoint", tracepoint->name);
    pf_json_string(json, "print", tracepoint->print_fmt);
    pf_json_begin(json, "fields", true);
    for (size_t i = 0; i < tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (field->is_common)
            continue;
        pf_json_begin(json, NULL, false);
        pf_json_string(json, "name", field->name);
        pf_json_bool(json, "text", field->is_text);
        pf_json_bool(json, "signed", field->is_signed);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

static void put_event(struct handlers *to, const struct perfile_event *event, const struct pf_trace_text *how)
{
    const struct perfile_bytes attr = {.data = event->attr_data, .bytes = event->attr_bytes};
    begin_line(to, "event");
    pf_json_unsigned(&to->json, "event", event->index);
    pf_json_string(&to->json, "name", event->name);
    put_data(to, "attr", PERFILE_VALUE_BYTES, &attr);
    if (how->tracepoint)
        put_tracepoint(to, how->tracepoint);
    end_line(to);
}

/* The line of the event comes before its first sample. */
static int describe(struct handlers *to, const struct perfile_event *event, struct pf_trace_text *how,
                    struct perfile_error *error)
{
    uint64_t known;
    *how = (struct pf_trace_text){.tracepoint = NULL};
    if (event->attr->type == PERFILE_TYPE_TRACEPOINT && !pf_trace_texts_find(&to->samples.traces, event, how)) {
        if (error)
            *error = to->samples.traces.error;
        return to->samples.traces.error.code;
    }
    if (pf_map_get(&to->described, event->index, &known) && known == (how->tracepoint != NULL))
        return 0;
    if (!pf_map_put(&to->described, event->index, how->tracepoint != NULL))
        return pf_fail_memory(error, "handlers");
    put_event(to, event, how);
    return 0;
}

/* All of them, for those that make a script of the recording. */
static int describe_all(struct handlers *to, struct perfile_error *error)
{
    struct pf_trace_text how;
    int result = 0;
    for (size_t i = 0; result == 0 && i < perfile_event_count(to->reader); i++)
        result = describe(to, perfile_event_get(to->reader, i), &how, error);
    return result;
}

/* ---- addresses --------------------------------------------------------------------------------------------------- */

struct position {
    const struct perfile_map *map;
    const struct pf_module *module;
    struct pf_location location;
};

static bool locate(struct handlers *to, const struct perfile_space *space, uint64_t ip, struct position *position)
{
    *position = (struct position){.map = pf_symbols_map(to->samples.symbols, space, ip)};
    if (!pf_symbols_locate(to->samples.symbols, position->map, ip, &position->location))
        to->short_of_memory = true;
    else if (position->location.module != PF_NO_SYMBOL)
        position->module = pf_symbols_module(to->samples.symbols, position->location.module);
    return position->map && position->module;
}

static void put_symbol(struct handlers *to, const char *name, const struct position *position)
{
    const struct pf_location *location = &position->location;
    uint64_t start, end;
    if (!name)
        return;
    if (!pf_symbols_range(to->samples.symbols, location->module, location->symbol, &start, &end)) {
        start = 0; /* the map is the symbol */
        end = position->map->end - position->map->start;
    }
    pf_json_string(&to->json, "symbol", name);
    pf_json_unsigned(&to->json, "offset", location->offset);
    pf_json_unsigned(&to->json, "start", start);
    pf_json_unsigned(&to->json, "end", end);
}

static const char *name_of(struct handlers *to, const struct position *position)
{
    return pf_symbols_name(to->samples.symbols, position->location.module, position->location.symbol);
}

static void put_position(struct handlers *to, const char *name, const struct perfile_space *space, uint64_t ip)
{
    struct pf_json *json = &to->json;
    struct position at;
    if (!locate(to, space, ip, &at))
        return;
    pf_json_begin(json, name, false);
    pf_json_string(json, "dso", at.module->name);
    pf_json_string(json, "build_id", at.module->build_id);
    pf_json_unsigned(json, "map_start", at.map->start);
    pf_json_unsigned(json, "map_end", at.map->end);
    pf_json_unsigned(json, "pgoff", at.map->kernel ? 0 : at.map->pgoff);
    put_symbol(to, name_of(to, &at), &at);
    pf_json_end(json, false);
}

/* ---- callchains and branches ------------------------------------------------------------------------------------- */

static void put_frame(struct handlers *to, uint64_t ip, const struct position *at, const char *symbol, bool inlined)
{
    pf_json_begin(&to->json, NULL, false);
    pf_json_unsigned(&to->json, "ip", ip);
    if (at->module) {
        put_symbol(to, symbol, at);
        pf_json_string(&to->json, "dso", at->module->name);
    }
    if (inlined)
        pf_json_bool(&to->json, "inlined", true);
    pf_json_end(&to->json, false);
}

static void put_frames(struct handlers *to, const struct perfile_space *space, uint64_t ip)
{
    const char *names[PF_INLINED_MAX];
    struct position at;
    size_t count = 0;
    if (locate(to, space, ip, &at) && !to->options->symbols->no_inline)
        count = pf_symbols_inlined_names(to->samples.symbols, &at.location, names, PF_INLINED_MAX);
    for (size_t i = 0; i < count; i++)
        put_frame(to, ip, &at, names[i], true);
    put_frame(to, ip, &at, at.module ? name_of(to, &at) : NULL, false);
}

static void put_callchain(struct handlers *to, const struct pf_delivered *item)
{
    const struct pf_stack_options how = {.symbols = to->samples.symbols, .arch = to->arch, .policy = to->policy};
    struct pf_stack_address address;
    if (!(item->sample.present & (PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_STACK_USER)))
        return;
    pf_stack_gather(&to->stack, item, &how);
    pf_json_begin(&to->json, "callchain", true);
    for (struct pf_stack_walk walk = pf_stack_start(&to->stack); pf_stack_next(&walk, &address);)
        put_frames(to, pf_delivered_space(item, address.mode), address.ip);
    pf_json_end(&to->json, true);
}

/* Branches need not be where the sample's mode says. */
static const struct perfile_space *space_of(struct handlers *to, const struct pf_delivered *item, uint64_t ip)
{
    return pf_symbols_map(to->samples.symbols, item->user_space, ip) ? item->user_space : item->kernel_space;
}

static void put_branches(struct handlers *to, const struct pf_delivered *item)
{
    const struct perfile_branch_stack *stack = &item->sample.branch_stack;
    struct perfile_branch branch;
    if (!(item->sample.present & PERFILE_SAMPLE_BRANCH_STACK))
        return;
    pf_json_begin(&to->json, "branches", true);
    for (uint64_t i = 0; i < stack->count; i++) {
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        pf_json_begin(&to->json, NULL, false);
        pf_json_unsigned(&to->json, "from", branch.from);
        pf_json_unsigned(&to->json, "to", branch.to);
        pf_json_bool(&to->json, "mispred", branch.mispred);
        pf_json_bool(&to->json, "predicted", branch.predicted);
        pf_json_bool(&to->json, "in_tx", branch.in_tx);
        pf_json_bool(&to->json, "abort", branch.abort);
        pf_json_unsigned(&to->json, "cycles", branch.cycles);
        put_position(to, "from_position", space_of(to, item, branch.from), branch.from);
        put_position(to, "to_position", space_of(to, item, branch.to), branch.to);
        pf_json_end(&to->json, false);
    }
    pf_json_end(&to->json, true);
}

/* ---- the parts of a sample --------------------------------------------------------------------------------------- */

static void put_registers(struct handlers *to, const char *name, const struct perfile_regs *regs)
{
    uint64_t mask = regs->mask;
    pf_json_begin(&to->json, name, true);
    for (uint64_t i = 0; i < regs->values.count && mask; i++, mask &= mask - 1) {
        const char *known = to->arch ? perfile_register_name(to->arch, (unsigned)__builtin_ctzll(mask)) : NULL;
        pf_json_begin(&to->json, NULL, true);
        pf_json_string(&to->json, NULL, known ? known : "unknown");
        pf_json_unsigned(&to->json, NULL, perfile_u64_at(&regs->values, i));
        pf_json_end(&to->json, true);
    }
    pf_json_end(&to->json, true);
}

static void put_read(struct handlers *to, const struct perfile_read *read)
{
    struct perfile_read_value value;
    if (read->format & PERFILE_FORMAT_TOTAL_TIME_ENABLED)
        pf_json_unsigned(&to->json, "time_enabled", read->time_enabled);
    if (read->format & PERFILE_FORMAT_TOTAL_TIME_RUNNING)
        pf_json_unsigned(&to->json, "time_running", read->time_running);
    pf_json_begin(&to->json, "values", true);
    for (uint64_t i = 0; i < read->count; i++) {
        perfile_read_at(read, i, &value, sizeof(value));
        pf_json_begin(&to->json, NULL, true);
        pf_json_unsigned(&to->json, NULL, value.id);
        pf_json_unsigned(&to->json, NULL, value.value);
        pf_json_unsigned(&to->json, NULL, value.lost);
        pf_json_end(&to->json, true);
    }
    pf_json_end(&to->json, true);
}

static void put_access(struct handlers *to, const struct perfile_sample *sample)
{
    struct pf_words words;
    pf_data_src_all(&words, sample->data_src);
    words.text[words.used] = 0;
    pf_json_unsigned(&to->json, "datasrc", sample->data_src);
    pf_json_string(&to->json, "datasrc_decode", words.text);
}

/* What is absent has no member: the module knows what perf has instead. */
static void put_numbers(struct handlers *to, const struct pf_delivered *item)
{
    const struct perfile_sample *sample = &item->sample;
    const struct {
        uint64_t part;
        const char *name;
        uint64_t value;
    } numbers[] = {
        {PERFILE_SAMPLE_ID | PERFILE_SAMPLE_IDENTIFIER, "id", item->id},
        {PERFILE_SAMPLE_STREAM_ID, "stream_id", sample->stream_id},
        {PERFILE_SAMPLE_IP, "ip", sample->ip},
        {PERFILE_SAMPLE_TIME, "time", sample->time},
        {PERFILE_SAMPLE_CPU, "cpu", sample->cpu},
        {PERFILE_SAMPLE_PHYS_ADDR, "phys_addr", sample->phys_addr},
        {PERFILE_SAMPLE_ADDR, "addr", sample->addr},
        {PERFILE_SAMPLE_WEIGHT, "weight", sample->weight},
        {PERFILE_SAMPLE_WEIGHT_STRUCT, "weight", (uint32_t)sample->weight},
        {PERFILE_SAMPLE_WEIGHT_STRUCT, "ins_lat", sample->weight >> 32 & UINT16_MAX},
        {PERFILE_SAMPLE_TRANSACTION, "transaction", sample->transaction},
    };
    for (size_t i = 0; i < PF_COUNT(numbers); i++)
        if (sample->present & numbers[i].part)
            pf_json_unsigned(&to->json, numbers[i].name, numbers[i].value);
    pf_json_unsigned(&to->json, "period", sample->period);
    put_signed(to, "pid", sample->pid);
    put_signed(to, "tid", sample->tid);
    pf_json_unsigned(&to->json, "cpumode", item->record->misc & PERFILE_MISC_CPUMODE_MASK);
    if (sample->present & PERFILE_SAMPLE_DATA_SRC)
        put_access(to, sample);
    if (sample->present & PERFILE_SAMPLE_READ)
        put_read(to, &sample->read);
    if (sample->present & PERFILE_SAMPLE_REGS_INTR)
        put_registers(to, "iregs", &sample->regs_intr);
    if (sample->present & PERFILE_SAMPLE_REGS_USER)
        put_registers(to, "uregs", &sample->regs_user);
}

/* perf knows of these events alone that their addresses are such of data. */
static bool has_data_address(const struct pf_delivered *item)
{
    const struct perfile_attr *attr = item->event->attr;
    return item->sample.present & PERFILE_SAMPLE_ADDR && attr->type == PERFILE_TYPE_SOFTWARE &&
           (attr->config == PERFILE_COUNT_SW_PAGE_FAULTS || attr->config == PERFILE_COUNT_SW_PAGE_FAULTS_MIN ||
            attr->config == PERFILE_COUNT_SW_PAGE_FAULTS_MAJ);
}

/* ---- fields of tracepoints --------------------------------------------------------------------------------------- */

static void put_number(struct handlers *to, const struct perfile_tracepoint_field *field, const uint8_t *data,
                       uint64_t bytes, bool swap)
{
    const uint64_t number = pf_trace_load(data, bytes, field->is_signed, swap);
    if (field->is_signed)
        put_signed(to, NULL, (int64_t)number);
    else
        pf_json_unsigned(&to->json, NULL, number);
}

static void put_list(struct handlers *to, const struct perfile_tracepoint_field *field,
                     const struct perfile_bytes *bytes, bool swap)
{
    const uint64_t element = field->element_bytes ? field->element_bytes : 1;
    pf_json_begin(&to->json, NULL, true);
    for (uint64_t at = 0; at + element <= bytes->bytes; at += element)
        put_number(to, field, bytes->data + at, element, swap);
    pf_json_end(&to->json, true);
}

static void put_field(struct handlers *to, const struct perfile_tracepoint_field *field,
                      const struct perfile_bytes *raw, bool swap)
{
    struct perfile_bytes bytes;
    if (!pf_trace_bytes(field, raw, swap, &bytes)) {
        pf_json_string(&to->json, NULL, NULL);
    } else if (field->is_text) {
        bytes.bytes = strnlen((const char *)bytes.data, (size_t)bytes.bytes);
        put_data(to, NULL, PERFILE_VALUE_TEXT, &bytes);
    } else if (field->is_array || field->is_dynamic || field->is_relative) {
        put_list(to, field, &bytes, swap);
    } else {
        put_number(to, field, bytes.data, bytes.bytes, swap);
    }
}

/* Those that all tracepoints have are members by their names, the others a list in the order of the format. */
static void put_fields(struct handlers *to, const struct pf_trace_text *how, const struct perfile_bytes *raw)
{
    const struct perfile_tracepoint *tracepoint = how->tracepoint;
    struct perfile_bytes bytes;
    for (size_t i = 0; i < tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (field->is_common && pf_trace_bytes(field, raw, how->swap, &bytes))
            pf_json_unsigned(&to->json, field->name, pf_trace_load(bytes.data, bytes.bytes, false, how->swap));
    }
    pf_json_begin(&to->json, "fields", true);
    for (size_t i = 0; i < tracepoint->field_count; i++)
        if (!tracepoint->fields[i].is_common)
            put_field(to, &tracepoint->fields[i], raw, how->swap);
    pf_json_end(&to->json, true);
}

/* ---- samples and records ----------------------------------------------------------------------------------------- */

static int put_sample(struct handlers *to, const struct pf_delivered *item, struct perfile_error *error)
{
    const unsigned mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    struct pf_trace_text how;
    if (!item->event)
        return 0;
    const int result = describe(to, item->event, &how, error);
    if (result < 0)
        return result;
    to->arch = pf_delivery_arch(to->samples.delivery);
    begin_line(to, "sample");
    pf_json_unsigned(&to->json, "event", item->event->index);
    pf_json_string(&to->json, "comm", item->comm);
    put_numbers(to, item);
    put_position(to, "position", pf_delivered_space(item, mode), item->sample.ip);
    if (has_data_address(item))
        put_position(to, "addr_position", space_of(to, item, item->sample.addr), item->sample.addr);
    put_callchain(to, item);
    put_branches(to, item);
    if (item->sample.raw.bytes) {
        put_data(to, "raw", PERFILE_VALUE_BYTES, &item->sample.raw);
        if (how.tracepoint)
            put_fields(to, &how, &item->sample.raw);
    }
    end_line(to);
    return to->short_of_memory ? pf_fail_memory(error, "handlers") : 0;
}

static void put_row(struct handlers *to, const struct perfile_event *event, size_t thread, size_t cpu)
{
    const struct pf_stat *stat = &to->stat;
    const struct pf_stat_cell *cell = pf_stat_at(stat, event->index, thread, stat->cpus[cpu]);
    struct pf_stat_count count = {0, 0, 0};
    if (!cell)
        return;
    count = pf_stat_added(cell);
    begin_line(to, "count");
    pf_json_unsigned(&to->json, "event", event->index);
    put_signed(to, "cpu", stat->cpus[cpu]);
    put_signed(to, "thread", stat->threads[thread].tid);
    pf_json_unsigned(&to->json, "time", stat->round.time);
    pf_json_unsigned(&to->json, "value", count.value);
    pf_json_unsigned(&to->json, "enabled", count.enabled);
    pf_json_unsigned(&to->json, "running", count.running);
    end_line(to);
}

/* Counts of `perf stat record`, at the end of each interval. */
static int take_counts(struct handlers *to, const struct perfile_record *record, struct perfile_error *error)
{
    const struct perfile_event *event;
    const int ended = pf_stat_take(&to->stat, to->reader, record, error);
    if (ended <= 0)
        return ended;
    const int result = describe_all(to, error);
    for (size_t i = 0; result == 0 && (event = perfile_event_get(to->reader, i)) != NULL; i++)
        for (size_t thread = 0; thread < to->stat.thread_count; thread++)
            for (size_t cpu = 0; cpu < to->stat.cpu_count; cpu++)
                put_row(to, event, thread, cpu);
    begin_line(to, "interval");
    pf_json_unsigned(&to->json, "time", to->stat.round.time);
    end_line(to);
    return result;
}

/* The members of other records are those of `dump`, with the trailer of the record. */
static int put_record(struct handlers *to, const struct perfile_record *record, struct perfile_error *error)
{
    const struct perfile_visitor visitor = pf_json_visitor(&to->json);
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    begin_line(to, "record");
    pf_json_string(&to->json, "type", perfile_record_name(record->type));
    pf_json_unsigned(&to->json, "misc", record->misc);
    const int result = perfile_record_visit(to->reader, record, &visitor, error);
    if (result == 0 && perfile_sample_id_decode(to->reader, record, &id, NULL) == 0 && id.present) {
        pf_json_begin(&to->json, "owner", false);
        put_signed(to, "cpu", id.present & PERFILE_SAMPLE_CPU ? (int32_t)id.cpu : -1);
        put_signed(to, "pid", id.pid);
        put_signed(to, "tid", id.tid);
        put_signed(to, "time", id.present & PERFILE_SAMPLE_TIME ? (int64_t)id.time : -1);
        pf_json_end(&to->json, false);
    }
    end_line(to);
    return result;
}

static int take_record(struct handlers *to, const struct perfile_record *record, struct perfile_error *error)
{
    static const uint32_t wanted[] = {PERFILE_RECORD_THROTTLE, PERFILE_RECORD_UNTHROTTLE, PERFILE_RECORD_SWITCH,
                                      PERFILE_RECORD_SWITCH_CPU_WIDE, PERFILE_RECORD_AUXTRACE_ERROR};
    for (size_t i = 0; i < PF_COUNT(wanted); i++)
        if (record->type == wanted[i] && !record->damaged)
            return put_record(to, record, error);
    return record->damaged ? 0 : take_counts(to, record, error);
}

/* ---- entry ------------------------------------------------------------------------------------------------------- */

static int put_all(struct handlers *to, struct perfile_error *error)
{
    struct pf_delivered item = {.record = NULL};
    int result = perfile_reader_file(to->reader)->mode == PERFILE_MODE_PIPE ? 0 : describe_all(to, error);
    int more = 0;
    while (result == 0 && !to->out->failed && (more = pf_delivery_next(to->samples.delivery, &item, error)) > 0) {
        result = item.is_sample ? put_sample(to, &item, error) : take_record(to, item.record, error);
        (void)perfile_session_trim(pf_delivery_session(to->samples.delivery));
    }
    if (result == 0 && more == 0)
        result = describe_all(to, error);
    if (result == 0 && more == 0)
        pf_delivery_notify_unmatched(to->samples.delivery, to->options->unmatched, to->options->unmatched_context);
    return result < 0 ? result : more;
}

static int open_parts(struct handlers *to, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = to->out->allocator;
    struct pf_find_options find = pf_find_options_of(to->options->symbols, allocator);
    struct pf_delivery_options how = pf_delivery_options_of(to->options, &find);
    how.gives_records = how.reads_all = true;
    pf_map_open(&to->described, allocator);
    pf_stat_open(&to->stat, allocator);
    const int result = pf_unwind_policy_parse(to->options->symbols->unwind, PF_UNWIND_CFI, &to->policy, error);
    return result < 0 ? result : pf_named_samples_open(&to->samples, to->reader, &how, &find, error);
}

static void close_parts(struct handlers *to)
{
    pf_named_samples_close(&to->samples);
    pf_stat_close(&to->stat);
    pf_map_close(&to->described);
}

static int write_handlers(struct perfile_reader *reader, const struct perfile_output_options *options,
                          struct pf_text *out, struct perfile_error *error)
{
    struct handlers *to = pf_new(out->allocator, sizeof(*to));
    if (!to)
        return pf_fail_memory(error, "handlers");
    *to = (struct handlers){
        .reader = reader, .options = options, .out = out, .json = {.text = out, .max_bytes = UINT64_MAX}};
    int result = open_parts(to, error);
    if (result == 0)
        result = put_all(to, error);
    close_parts(to);
    pf_free(out->allocator, to, sizeof(*to));
    return result;
}

const struct pf_output pf_output_handlers = {
    .info = {"handlers", "jsonl", "what the handlers of perf's Python scripts get, a line each", false},
    .write = write_handlers,
    .reports_omissions = true,
};
