/* SPDX-License-Identifier: MIT */
/*
 * Samples as a trace in the Common Trace Format 1.8 (diamon.org/ctf), for Babeltrace, Trace Compass and the like: a
 * folder with two files, `metadata`, which describes the events in the language TSDL, and `stream`, which has them in
 * the order of time. Both are made by the same walk over the fields of an event, once with their types and once with
 * their values, so that they cannot disagree. Fields have the names that perf gives them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/frames.h"
#include "analysis/trace/trace_format.h"
#include "base/counted.h"
#include "base/error.h"
#include "output/named_samples.h"
#include "output/output.h"

enum { MAGIC = 0xc1fc1fc1, PACKET_BYTES = 1 << 20, HEAD_BYTES = 48, FIELDS_MAX = 256 };

struct ctf {
    struct perfile_reader *reader;
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_named_samples samples;
    struct pf_frames frames;
    bool failed;                     /* out of memory */
    bool declares;                   /* types are written, to `out`; else values, to `packet` */
    struct pf_text packet;           /* the events of the current one */
    uint64_t first_ns, last_ns;      /* of them */
    uint64_t late;                   /* events that came after later ones */
    const struct pf_delivered *item; /* whose values they are */
};

/* ---- values and their types -------------------------------------------------------------------------------------- */

static void put_integer(struct pf_text *text, uint64_t value, unsigned bytes)
{
    uint8_t data[sizeof(value)];
    for (unsigned i = 0; i < bytes; i++)
        data[i] = (uint8_t)(value >> 8 * i);
    pf_put(text, data, bytes);
}

/* A reader removes the line before a name, without which it could be a word of the language. */
static void put_name(struct ctf *ctf, const char *name)
{
    pf_put_char(ctf->out, '_');
    for (; *name; name++) {
        const bool is_letter = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z');
        pf_put_char(ctf->out, is_letter || (*name >= '0' && *name <= '9') ? *name : '_');
    }
}

static void declare(struct ctf *ctf, const char *type, const char *name)
{
    pf_put_format(ctf->out, "        %s ", type);
    put_name(ctf, name);
    pf_put_string(ctf->out, ";\n");
}

/* As the description says it. */
struct number_type {
    const char *name;
    uint8_t bytes;
};
static const struct number_type address = {"uint64_x_t", 8}, count64 = {"uint64_t", 8}, id32 = {"int32_t", 4};

static void put_number(struct ctf *ctf, const struct number_type *type, const char *name, uint64_t value)
{
    if (ctf->declares)
        declare(ctf, type->name, name);
    else
        put_integer(&ctf->packet, value, type->bytes);
}

static void put_text(struct ctf *ctf, const char *name, const char *text)
{
    if (ctf->declares)
        declare(ctf, "string", name);
    else
        pf_put(&ctf->packet, text, strlen(text) + 1);
}

/* The number of elements of a list, which follow, and are declared here. */
static void put_count(struct ctf *ctf, const char *type, const char *name, uint64_t count)
{
    char count_name[64];
    if (!ctf->declares) {
        put_integer(&ctf->packet, count, 4);
        return;
    }
    snprintf(count_name, sizeof(count_name), "%.50s_size", name);
    declare(ctf, "uint32_t", count_name);
    pf_put_format(ctf->out, "        %s ", type);
    put_name(ctf, name);
    pf_put_char(ctf->out, '[');
    put_name(ctf, count_name);
    pf_put_string(ctf->out, "];\n");
}

/* ---- what a sample has ------------------------------------------------------------------------------------------- */

static const char *function_at(struct ctf *ctf, const struct perfile_space *space, uint64_t ip, bool returns)
{
    const uint32_t position = pf_frames_resolve(&ctf->frames, space, ip, returns);
    ctf->failed |= position == PF_NO_FRAME;
    const struct pf_frame_info *frame =
        position == PF_NO_FRAME ? NULL : pf_frames_at(&ctf->frames, pf_frames_function(&ctf->frames, position));
    return frame && frame->name ? frame->name : "";
}

/* The parts of the chain after each other: addresses, or the functions there. Returns how many there are. */
static uint32_t walk_chain(struct ctf *ctf, bool puts_addresses, bool puts_functions)
{
    const struct perfile_u64s *parts[] = {&ctf->item->sample.callchain, &ctf->item->user_chain};
    uint32_t count = 0;
    for (size_t i = 0; i < PF_COUNT(parts); i++) {
        uint64_t ip;
        for (struct pf_callchain_walk walk = pf_callchain_start(parts[i]); pf_callchain_next(&walk, &ip); count++) {
            if (puts_addresses)
                put_integer(&ctf->packet, ip, 8);
            if (puts_functions)
                put_text(ctf, "", function_at(ctf, pf_delivered_space(ctf->item, walk.mode), ip, walk.calls));
        }
    }
    return count;
}

static void put_callchain(struct ctf *ctf)
{
    put_count(ctf, address.name, "perf_callchain", ctf->declares ? 0 : walk_chain(ctf, false, false));
    if (!ctf->declares)
        walk_chain(ctf, true, false);
    put_count(ctf, "string", "perf_callchain_functions", ctf->declares ? 0 : walk_chain(ctf, false, false));
    if (!ctf->declares)
        walk_chain(ctf, false, true);
}

static void put_ip(struct ctf *ctf)
{
    const struct pf_delivered *item = ctf->item;
    const unsigned mode = ctf->declares ? 0 : item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    put_number(ctf, &address, "perf_ip", ctf->declares ? 0 : item->sample.ip);
    put_text(ctf, "perf_function",
             ctf->declares ? "" : function_at(ctf, pf_delivered_space(item, mode), item->sample.ip, false));
}

/* ---- fields of tracepoints --------------------------------------------------------------------------------------- */

static bool is_integer(uint64_t bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* `element` is 1 for bytes that are not numbers. */
static void put_field(struct ctf *ctf, const struct perfile_tracepoint_field *field, const struct perfile_bytes *bytes,
                      bool swap)
{
    static const struct number_type types[2][9] = {
        {[1] = {"uint8_t", 1}, [2] = {"uint16_t", 2}, [4] = {"uint32_t", 4}, [8] = {"uint64_t", 8}},
        {[1] = {"int8_t", 1}, [2] = {"int16_t", 2}, [4] = {"int32_t", 4}, [8] = {"int64_t", 8}},
    };
    const uint64_t wanted = field->is_array ? field->element_bytes : field->bytes;
    const struct number_type *type = &types[field->is_signed][is_integer(wanted) ? wanted : 1];
    if (!field->is_array && is_integer(wanted)) {
        put_number(ctf, type, field->name,
                   bytes->bytes == type->bytes ? pf_trace_load(bytes->data, type->bytes, field->is_signed, swap) : 0);
        return;
    }
    put_count(ctf, type->name, field->name, bytes->bytes / type->bytes);
    for (uint64_t at = 0; !ctf->declares && at + type->bytes <= bytes->bytes; at += type->bytes)
        put_integer(&ctf->packet, pf_trace_load(bytes->data + at, type->bytes, false, swap), type->bytes);
}

static void put_text_field(struct ctf *ctf, const struct perfile_tracepoint_field *field,
                           const struct perfile_bytes *bytes)
{
    if (ctf->declares) {
        put_text(ctf, field->name, "");
        return;
    }
    pf_put(&ctf->packet, bytes->data, strnlen((const char *)bytes->data, (size_t)bytes->bytes));
    pf_put(&ctf->packet, "", 1);
}

/* Names that are in the description twice would make it invalid. */
static bool is_first(const struct perfile_tracepoint *tracepoint, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(tracepoint->fields[i].name, tracepoint->fields[at].name))
            return false;
    return true;
}

static void put_fields(struct ctf *ctf, const struct perfile_event *event)
{
    const struct perfile_tracepoint *tracepoint =
        event->attr->type == PERFILE_TYPE_TRACEPOINT ? perfile_tracepoint_find(ctf->reader, event) : NULL;
    const bool swap = perfile_reader_file(ctf->reader)->swapped;
    for (size_t i = 0; tracepoint && i < tracepoint->field_count && i < FIELDS_MAX; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        struct perfile_bytes bytes = {.data = (const uint8_t *)"", .bytes = 0};
        if (field->is_common || !is_first(tracepoint, i))
            continue;
        if (!ctf->declares && !pf_trace_bytes(field, &ctf->item->sample.raw, swap, &bytes))
            bytes = (struct perfile_bytes){.data = (const uint8_t *)"", .bytes = 0};
        if (field->is_text)
            put_text_field(ctf, field, &bytes);
        else
            put_field(ctf, field, &bytes, swap);
    }
}

static void put_event(struct ctf *ctf, const struct perfile_event *event)
{
    const uint64_t type = event->attr->sample_type;
    const struct perfile_sample none = {0}, *sample = ctf->declares ? &none : &ctf->item->sample;
    if (type & PERFILE_SAMPLE_IP)
        put_ip(ctf);
    if (type & PERFILE_SAMPLE_ADDR)
        put_number(ctf, &address, "perf_addr", sample->addr);
    put_number(ctf, &count64, "perf_period", sample->period);
    if (type & (PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT))
        put_number(ctf, &count64, "perf_weight", sample->weight);
    if (type & PERFILE_SAMPLE_DATA_SRC)
        put_number(ctf, &address, "perf_data_src", sample->data_src);
    if (type & PERFILE_SAMPLE_TRANSACTION)
        put_number(ctf, &address, "perf_transaction", sample->transaction);
    if (type & PERFILE_SAMPLE_PHYS_ADDR)
        put_number(ctf, &address, "perf_phys_addr", sample->phys_addr);
    if (type & PERFILE_SAMPLE_CALLCHAIN)
        put_callchain(ctf);
    put_fields(ctf, event);
}

/* What all events have before their own fields. */
static void put_context(struct ctf *ctf)
{
    const struct perfile_sample none = {0}, *sample = ctf->declares ? &none : &ctf->item->sample;
    put_number(ctf, &id32, "cpu_id", sample->cpu);
    put_number(ctf, &id32, "perf_pid", (uint32_t)sample->pid);
    put_number(ctf, &id32, "perf_tid", (uint32_t)sample->tid);
    put_text(ctf, "perf_comm", ctf->declares || !ctf->item->comm ? "" : ctf->item->comm);
}

/* ---- the description --------------------------------------------------------------------------------------------- */

static void put_quoted(struct pf_text *out, const char *text)
{
    pf_put_char(out, '"');
    for (; *text; text++)
        pf_put_char(out, *text == '"' || *text == '\\' || (uint8_t)*text < ' ' || (uint8_t)*text > '~' ? '_' : *text);
    pf_put_char(out, '"');
}

static int put_environment(struct ctf *ctf)
{
    static const struct {
        const char *name;
        uint32_t feature;
    } facts[] = {{"hostname", PERFILE_FEATURE_HOSTNAME},
                 {"kernel_release", PERFILE_FEATURE_OSRELEASE},
                 {"machine", PERFILE_FEATURE_ARCH},
                 {"tracer_version", PERFILE_FEATURE_VERSION}};
    pf_put_string(ctf->out, "env {\n    sysname = \"Linux\";\n    domain = \"kernel\";\n    tracer_name = \"perf\";\n");
    for (size_t i = 0; i < PF_COUNT(facts); i++) {
        const char *text;
        const int result = perfile_feature_text(ctf->reader, facts[i].feature, NULL, &text, NULL);
        if (pf_memory_check(ctf->out->allocator, result) < 0)
            continue;
        pf_put_format(ctf->out, "    %s = ", facts[i].name);
        put_quoted(ctf->out, text);
        pf_put_string(ctf->out, ";\n");
    }
    pf_put_string(ctf->out, "};\n\n");
    return 0;
}

/* Times stay those of the recording; the offset makes them times of the day, where the recording has it. */
static void put_clock(struct ctf *ctf)
{
    uint64_t wall = 0, clock = 0;
    if (pf_memory_check(ctf->out->allocator, perfile_feature_number(ctf->reader, PERFILE_FEATURE_CLOCK_DATA,
                                                                    "wall_clock_ns", &wall, NULL)) < 0 ||
        pf_memory_check(ctf->out->allocator, perfile_feature_number(ctf->reader, PERFILE_FEATURE_CLOCK_DATA,
                                                                    "clockid_time_ns", &clock, NULL)) < 0 ||
        wall < clock)
        wall = clock = 0;
    pf_put_format(ctf->out,
                  "clock {\n    name = perf_clock;\n    freq = 1000000000;\n    offset = %" PRIu64 ";\n};\n\n"
                  "typealias integer { size = 64; align = 8; signed = false; map = clock.perf_clock.value; } := "
                  "perf_clock_t;\n\n",
                  wall - clock);
}

static void put_stream_class(struct ctf *ctf)
{
    pf_put_string(ctf->out,
                  "stream {\n    id = 0;\n    packet.context := struct {\n"
                  "        perf_clock_t timestamp_begin;\n        perf_clock_t timestamp_end;\n"
                  "        uint64_t content_size;\n        uint64_t packet_size;\n"
                  "        uint64_t events_discarded;\n    };\n"
                  "    event.header := struct {\n        uint32_t id;\n        perf_clock_t timestamp;\n    };\n"
                  "    event.context := struct {\n");
    put_context(ctf);
    pf_put_string(ctf->out, "    };\n};\n");
}

static void put_event_class(struct ctf *ctf, const struct perfile_event *event)
{
    pf_put_string(ctf->out, "\nevent {\n    name = ");
    put_quoted(ctf->out, event->name);
    pf_put_format(ctf->out, ";\n    id = %" PRIu32 ";\n    stream_id = 0;\n    fields := struct {\n", event->index);
    put_event(ctf, event);
    pf_put_string(ctf->out, "    };\n};\n");
}

/* Fields that cannot be read are left out, but not because memory ran out. */
static int read_tracepoints(struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_tracing *tracing;
    const int result = perfile_tracing_get(reader, &tracing, error);
    return result == PERFILE_ERROR_MEMORY ? result : 0;
}

/* A stream describes its events in its records. */
static int read_all(struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_record *record;
    int result = 0;
    if (perfile_reader_file(reader)->mode == PERFILE_MODE_PIPE)
        while ((result = perfile_reader_next(reader, &record, error)) > 0)
            ;
    return result < 0 ? result : read_tracepoints(reader, error);
}

static int write_metadata(struct perfile_reader *reader, const struct perfile_output_options *options,
                          struct pf_text *out, struct perfile_error *error)
{
    static const unsigned sizes[] = {8, 16, 32, 64};
    struct ctf ctf = {.reader = reader, .options = options, .out = out, .declares = true};
    const struct perfile_event *event;
    const int result = read_all(reader, error);
    if (result < 0)
        return result;
    pf_put_string(out, "/* CTF 1.8 */\n\n");
    for (size_t i = 0; i < PF_COUNT(sizes); i++)
        pf_put_format(out,
                      "typealias integer { size = %u; align = 8; signed = false; } := uint%u_t;\n"
                      "typealias integer { size = %u; align = 8; signed = true; } := int%u_t;\n",
                      sizes[i], sizes[i], sizes[i], sizes[i]);
    pf_put_string(out, "typealias integer { size = 64; align = 8; signed = false; base = hex; } := uint64_x_t;\n\n"
                       "trace {\n    major = 1;\n    minor = 8;\n    byte_order = le;\n"
                       "    packet.header := struct {\n        uint32_t magic;\n        uint32_t stream_id;\n    };\n"
                       "};\n\n");
    put_environment(&ctf);
    put_clock(&ctf);
    put_stream_class(&ctf);
    for (size_t i = 0; (event = perfile_event_get(reader, i)) != NULL; i++)
        put_event_class(&ctf, event);
    return 0;
}

/* ---- the stream -------------------------------------------------------------------------------------------------- */

static void end_packet(struct ctf *ctf)
{
    const uint64_t bits = (HEAD_BYTES + ctf->packet.used) * 8;
    if (!ctf->packet.used)
        return;
    put_integer(ctf->out, MAGIC, 4);
    put_integer(ctf->out, 0, 4);
    put_integer(ctf->out, ctf->first_ns, 8);
    put_integer(ctf->out, ctf->last_ns, 8);
    put_integer(ctf->out, bits, 8);
    put_integer(ctf->out, bits, 8);
    put_integer(ctf->out, perfile_reader_counts(ctf->reader)->lost_events, 8);
    pf_put(ctf->out, ctf->packet.data, ctf->packet.used);
    ctf->packet.used = 0;
}

static void put_sample(struct ctf *ctf)
{
    const struct pf_delivered *item = ctf->item;
    const bool is_late = item->sample.time < ctf->last_ns, has_time = item->sample.present & PERFILE_SAMPLE_TIME;
    ctf->late += is_late && has_time;
    ctf->last_ns = is_late || !has_time ? ctf->last_ns : item->sample.time;
    if (!ctf->packet.used)
        ctf->first_ns = ctf->last_ns;
    put_integer(&ctf->packet, item->event->index, 4);
    put_integer(&ctf->packet, ctf->last_ns, 8);
    put_context(ctf);
    put_event(ctf, item->event);
    if (ctf->packet.used >= PACKET_BYTES)
        end_packet(ctf);
}

static int put_samples(struct ctf *ctf, struct perfile_error *error)
{
    const struct perfile_symbol_options *symbols = ctf->options->symbols;
    struct pf_delivered item = {.record = NULL};
    char counted[PF_COUNTED_BYTES];
    int result;
    ctf->item = &item;
    while ((result = pf_delivery_next(ctf->samples.delivery, &item, error)) > 0)
        if (item.is_sample && item.event && !ctf->failed)
            put_sample(ctf);
    if (result < 0)
        return result;
    end_packet(ctf);
    pf_delivery_notify_unmatched(ctf->samples.delivery, ctf->options->unmatched, ctf->options->unmatched_context);
    if (ctf->late && symbols->note)
        symbols->note(
            symbols->note_context,
            pf_count_of(ctf->late, "samples have an earlier time than the one before, whose time is written", counted));
    return ctf->packet.failed || ctf->failed ? pf_fail_memory(error, "ctf") : 0;
}

static int write_stream(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = out->allocator;
    struct ctf ctf = {.reader = reader, .options = options, .out = out};
    struct pf_find_options find = pf_find_options_of(options->symbols, allocator);
    const struct pf_delivery_options how = pf_delivery_options_of(options, &find);
    const struct pf_frames_options frames = {.joins_unnamed = true};
    int result = read_tracepoints(reader, error);
    if (result == 0)
        result = pf_named_samples_open(&ctf.samples, reader, &how, &find, error);
    if (result == 0) {
        pf_frames_open(&ctf.frames, ctf.samples.symbols, &frames, allocator);
        result = pf_text_open(&ctf.packet, allocator, NULL, NULL) == 0 ? put_samples(&ctf, error)
                                                                       : pf_fail_memory(error, "ctf");
        pf_text_close(&ctf.packet);
        pf_frames_close(&ctf.frames);
    }
    pf_named_samples_close(&ctf.samples);
    return result;
}

const struct pf_output pf_output_ctf_metadata = {
    .info = {"ctf", "metadata", "the description of a trace in the Common Trace Format", false},
    .write = write_metadata,
};
const struct pf_output pf_output_ctf_stream = {
    .info = {"ctf", "stream", "the samples of such a trace", true},
    .write = write_stream,
    .reports_omissions = true,
};
