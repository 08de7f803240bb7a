/* SPDX-License-Identifier: MIT */
/*
 * Samples as JSON, in the format of perf's conversion (version 1), for programs that read that. Numbers of tracepoints
 * are texts there, and their fields may have the names of members that come before them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "analysis/frames.h"
#include "analysis/trace/trace_format.h"
#include "base/error.h"
#include "base/json.h"
#include "output/named_samples.h"
#include "output/output.h"

struct data {
    struct perfile_reader *reader;
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_json json;
    struct pf_named_samples samples;
    struct pf_frames frames;
    struct pf_text value; /* of a field */
    bool started;         /* the header is written */
    bool any;             /* sample */
};

/* ---- the header ---- */

static const char *text_of(const struct data *data, uint32_t feature)
{
    const char *text;
    const int result = perfile_feature_text(data->reader, feature, NULL, &text, NULL);
    return pf_memory_check(data->out->allocator, result) == 0 ? text : NULL;
}

static uint64_t number_of(const struct data *data, uint32_t feature, const char *member)
{
    uint64_t number;
    const int result = perfile_feature_number(data->reader, feature, member, &number, NULL);
    return pf_memory_check(data->out->allocator, result) == 0 ? number : 0;
}

/* The file's time, as there is no other. */
static void put_date(struct data *data)
{
    const char *path = data->options->symbols->recording;
    struct stat about;
    struct tm when;
    char text[40];
    if (path && stat(path, &about) == 0 && gmtime_r(&about.st_mtime, &when) &&
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &when))
        pf_json_string(&data->json, "captured-on", text);
}

static uint64_t first_feature_offset(const struct perfile_file *file)
{
    return file->data.offset + file->data.bytes;
}

static int see_argument(void *context, const struct perfile_value *value)
{
    struct pf_json *json = context;
    struct perfile_visitor visitor = pf_json_visitor(json);
    return value->name ? 0 : visitor.value(json, value);
}

static void put_command(struct data *data)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = &data->json, .value = see_argument};
    pf_json_begin(&data->json, "cmdline", true);
    (void)pf_memory_check(data->out->allocator,
                          perfile_feature_visit(data->reader, PERFILE_FEATURE_CMDLINE, &visitor, NULL));
    pf_json_end(&data->json, true);
}

/* What the recording does not say is empty, as in perf, but for the processor's name. */
static void put_text_feature(struct data *data, const char *name, uint32_t feature)
{
    const char *text = text_of(data, feature);
    pf_json_string(&data->json, name, text ? text : "");
}

static void put_clock(struct data *data)
{
    static const char *const members[][2] = {
        {"clockid", "clockid"}, {"clock-time", "clockid_time_ns"}, {"real-time", "wall_clock_ns"}};
    uint64_t value;
    for (size_t i = 0; i < PF_COUNT(members); i++)
        if (pf_memory_check(data->out->allocator, perfile_feature_number(data->reader, PERFILE_FEATURE_CLOCK_DATA,
                                                                         members[i][1], &value, NULL)) == 0)
            pf_json_unsigned(&data->json, members[i][0], value);
}

static void put_header(struct data *data)
{
    const struct perfile_file *file = perfile_reader_file(data->reader);
    struct pf_json *json = &data->json;
    pf_json_begin(json, "headers", false);
    pf_json_unsigned(json, "header-version", 1);
    put_date(data);
    pf_json_unsigned(json, "data-offset", file->data.offset);
    pf_json_unsigned(json, "data-size", file->data.bytes);
    pf_json_unsigned(json, "feat-offset", first_feature_offset(file));
    put_text_feature(data, "hostname", PERFILE_FEATURE_HOSTNAME);
    put_text_feature(data, "os-release", PERFILE_FEATURE_OSRELEASE);
    put_text_feature(data, "arch", PERFILE_FEATURE_ARCH);
    if (text_of(data, PERFILE_FEATURE_CPUDESC))
        put_text_feature(data, "cpu-desc", PERFILE_FEATURE_CPUDESC);
    put_text_feature(data, "cpuid", PERFILE_FEATURE_CPUID);
    pf_json_unsigned(json, "nrcpus-online", number_of(data, PERFILE_FEATURE_NRCPUS, "nr_cpus_online"));
    pf_json_unsigned(json, "nrcpus-avail", number_of(data, PERFILE_FEATURE_NRCPUS, "nr_cpus_available"));
    put_clock(data);
    put_text_feature(data, "perf-version", PERFILE_FEATURE_VERSION);
    put_command(data);
    pf_json_end(json, false);
}

/* A stream says these things before its first sample. */
static void begin(struct data *data)
{
    if (data->started)
        return;
    data->started = true;
    pf_json_begin(&data->json, NULL, false);
    pf_json_unsigned(&data->json, "linux-perf-json-version", 1);
    put_header(data);
    pf_json_begin(&data->json, "samples", true);
}

/* ---- samples ---- */

static bool put_position(struct data *data, const struct perfile_space *space, uint64_t ip, bool returns)
{
    struct pf_json *json = &data->json;
    const uint32_t position = pf_frames_resolve(&data->frames, space, ip, returns);
    if (position == PF_NO_FRAME)
        return false;
    const struct pf_frame_info *frame = pf_frames_at(&data->frames, pf_frames_function(&data->frames, position));
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, ip);
    pf_json_begin(json, NULL, false);
    pf_json_string(json, "ip", text);
    if (frame && frame->name && *frame->name) {
        pf_json_string(json, "symbol", frame->name);
        if (frame->module != PF_NO_SYMBOL)
            pf_json_string(json, "dso", pf_symbols_module(data->samples.symbols, frame->module)->short_name);
    }
    pf_json_end(json, false);
    return true;
}

/*
 * Puts the addresses of a callchain. The first one after a context mark was interrupted, the others are return
 * addresses.
 */
static bool put_chain(struct data *data, const struct pf_delivered *item, const struct perfile_u64s *ips, unsigned mode)
{
    bool returns = false;
    for (uint64_t i = 0; i < ips->count; i++) {
        const uint64_t ip = perfile_u64_at(ips, i);
        if (ip >= PERFILE_CONTEXT_MAX) {
            mode = ip == PERFILE_CONTEXT_KERNEL ? PERFILE_MISC_KERNEL
                   : ip == PERFILE_CONTEXT_USER ? PERFILE_MISC_USER
                                                : 0;
            returns = false;
            continue;
        }
        if (!put_position(data, pf_delivered_space(item, mode), ip, returns))
            return false;
        returns = true;
    }
    return true;
}

static bool put_callchain(struct data *data, const struct pf_delivered *item)
{
    const unsigned mode = item->record->misc & PERFILE_MISC_CPUMODE_MASK;
    bool fine = true;
    pf_json_begin(&data->json, "callchain", true);
    if (item->sample.present & PERFILE_SAMPLE_CALLCHAIN)
        fine = put_chain(data, item, &item->sample.callchain, mode) &&
               put_chain(data, item, &item->user_chain, PERFILE_MISC_USER);
    else
        fine = put_position(data, pf_delivered_space(item, mode), item->sample.ip, false);
    pf_json_end(&data->json, true);
    return fine;
}

/* Also the casts that system calls have. */
static bool is_field(const struct pf_trace_node *node, const struct perfile_tracepoint_field *field)
{
    for (unsigned depth = 0; node && node->kind == PF_TRACE_CAST && depth < 4; depth++)
        node = node->a;
    return node && node->kind == PF_TRACE_FIELD && node->field == field;
}

/* The conversion of the print format that prints the field alone; NULL: there is none. */
static const struct pf_trace_piece *piece_of(const struct pf_trace_format *format,
                                             const struct perfile_tracepoint_field *field)
{
    for (const struct pf_trace_piece *piece = format ? format->pieces : NULL; piece; piece = piece->next)
        if (piece->conversion && piece->value && is_field(piece->value, field))
            return piece;
    return NULL;
}

/* 0x%lx */
static bool has_prefix(const struct pf_trace_piece *piece)
{
    return piece->text_bytes >= 2 && memcmp(piece->text + piece->text_bytes - 2, "0x", 2) == 0;
}

static void put_array(const struct perfile_bytes *bytes, struct pf_text *out)
{
    char text[8];
    pf_put_string(out, "ARRAY[");
    for (uint64_t i = 0; i < bytes->bytes; i++) {
        snprintf(text, sizeof(text), "%s%02x", i ? ", " : "", bytes->data[i]);
        pf_put_string(out, text);
    }
    pf_put_string(out, "]");
}

/* As the kernel prints the field, like perf. */
static void put_value(struct data *data, const struct pf_trace_text *how, const struct perfile_tracepoint_field *field,
                      const struct perfile_bytes *raw)
{
    const struct pf_trace_piece *piece = piece_of(how->format, field);
    struct perfile_bytes bytes;
    if (!pf_trace_bytes(field, raw, how->swap, &bytes))
        return;
    if (piece && !field->is_array) {
        struct pf_trace_piece alone = *piece;
        const struct pf_trace_format format = {.tracing = how->format->tracing, .pieces = &alone};
        alone.next = NULL;
        alone.text_bytes = 0;
        pf_put_string(&data->value, has_prefix(piece) ? "0x" : "");
        pf_trace_print(&format, raw, how->swap, &data->samples.traces.scratch, &data->value);
    } else if (field->is_array && !field->is_text) {
        put_array(&bytes, &data->value);
    } else if (field->is_signed && bytes.bytes == 4 && strstr(field->type, "long")) { /* of a 32-bit machine */
        pf_put_string(&data->value, "0x");
        pf_put_hex(&data->value, (uint32_t)pf_trace_load(bytes.data, 4, false, how->swap));
    } else {
        pf_trace_put_value(field, &bytes, how->swap, &data->value);
    }
    pf_put(&data->value, "", 1);
    if (!data->value.failed)
        pf_json_string(&data->json, field->name, data->value.data);
}

static int put_fields(struct data *data, const struct pf_delivered *item, struct perfile_error *error)
{
    struct pf_trace_text how = {.tracepoint = NULL};
    if (!item->event || item->event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return 0;
    if (!pf_trace_texts_find(&data->samples.traces, item->event, &how)) {
        if (error)
            *error = data->samples.traces.error;
        return data->samples.traces.error.code;
    }
    for (size_t i = 0; how.tracepoint && i < how.tracepoint->field_count; i++) {
        data->value.used = 0;
        if (!how.tracepoint->fields[i].is_common)
            put_value(data, &how, &how.tracepoint->fields[i], &item->sample.raw);
    }
    return 0;
}

static void put_number(struct pf_json *json, const char *name, int64_t value)
{
    const struct perfile_value number = {.name = name, .kind = PERFILE_VALUE_SIGNED, .number.s = value};
    const struct perfile_visitor visitor = pf_json_visitor(json);
    (void)visitor.value(json, &number);
}

static int put_sample(struct data *data, const struct pf_delivered *item, struct perfile_error *error)
{
    struct pf_json *json = &data->json;
    begin(data);
    pf_put_string(data->out, data->any ? ",\n" : "\n");
    json->comma = false;
    data->any = true;
    pf_json_begin(json, NULL, false);
    put_number(json, "timestamp", (int64_t)item->sample.time); /* -1: not recorded */
    put_number(json, "pid", item->sample.pid);
    put_number(json, "tid", item->sample.tid);
    if (item->sample.present & PERFILE_SAMPLE_CPU)
        pf_json_unsigned(json, "cpu", item->sample.cpu);
    pf_json_string(json, "comm", item->comm);
    if (!put_callchain(data, item))
        return pf_fail_memory(error, "data");
    const int result = put_fields(data, item, error);
    pf_json_end(json, false);
    return result;
}

static int put_samples(struct data *data, struct perfile_error *error)
{
    struct pf_delivered item = {.record = NULL};
    int result;
    while ((result = pf_delivery_next(data->samples.delivery, &item, error)) > 0)
        if (item.is_sample && (result = put_sample(data, &item, error)) < 0)
            return result;
    if (result < 0)
        return result;
    begin(data);
    pf_put_string(data->out, "\n");
    pf_json_end(&data->json, true);
    pf_json_end(&data->json, false);
    pf_put_string(data->out, "\n");
    pf_delivery_notify_unmatched(data->samples.delivery, data->options->unmatched, data->options->unmatched_context);
    return 0;
}

/* ---- entry ---- */

static int open_parts(struct data *data, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = data->out->allocator;
    struct pf_find_options find = pf_find_options_of(data->options->symbols, allocator);
    const struct pf_delivery_options how = pf_delivery_options_of(data->options, &find);
    const struct pf_frames_options frames = {.joins_unnamed = true};
    const int result = pf_named_samples_open(&data->samples, data->reader, &how, &find, error);
    if (result < 0)
        return result;
    pf_frames_open(&data->frames, data->samples.symbols, &frames, allocator);
    return pf_text_open(&data->value, allocator, NULL, NULL) == 0 ? 0 : pf_fail_memory(error, "data");
}

static void close_parts(struct data *data)
{
    pf_text_close(&data->value);
    pf_frames_close(&data->frames);
    pf_named_samples_close(&data->samples);
}

static int write_data(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      struct perfile_error *error)
{
    struct data data = {
        .reader = reader, .options = options, .out = out, .json = {.text = out, .max_bytes = UINT64_MAX}};
    int result = open_parts(&data, error);
    if (result == 0)
        result = put_samples(&data, error);
    if (result == 0 && data.value.failed)
        result = pf_fail_memory(error, "data");
    close_parts(&data);
    return result;
}

const struct pf_output pf_output_data_json = {
    .info = {"data", "json", "samples with symbols and the fields of tracepoints, as perf data convert writes them",
             false},
    .write = write_data,
    .reports_omissions = true,
};
