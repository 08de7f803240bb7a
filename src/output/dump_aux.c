/* SPDX-License-Identifier: MIT */
#include "output/dump_aux.h"

#include "base/error.h"
#include "hwtrace/metadata.h"
#include "hwtrace/packets.h"

#include <inttypes.h>

static bool sample_has_aux(const struct perfile_record *record)
{
    return record->type == PERFILE_RECORD_SAMPLE && record->event &&
           record->event->attr->sample_type & PERFILE_SAMPLE_AUX;
}

bool pf_dump_has_packets(const struct perfile_output_options *options, const struct perfile_record *record)
{
    return (options->dump->aux || options->dump->perf_heads) && !record->damaged &&
           (record->type == PERFILE_RECORD_AUXTRACE || record->type == PERFILE_RECORD_AUXTRACE_INFO ||
            sample_has_aux(record));
}

static struct pf_aux_machine machine_of(struct perfile_reader *reader)
{
    const char *cpuid;
    const bool known = perfile_feature_text(reader, PERFILE_FEATURE_CPUID, NULL, &cpuid, NULL) >= 0;
    return pf_aux_machine_of(perfile_reader_file(reader)->big_endian, known ? cpuid : NULL);
}

/* The bytes of a trace: the payload of an AUXTRACE record, or a part of a sample. */
struct trace {
    struct perfile_reader *reader;
    const struct pf_aux_format *format; /* NULL: its packets are not decoded */
    bool in_sample;
    struct perfile_bytes sample; /* what is left of it */
};

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    struct trace *trace = context;
    if (!trace->in_sample)
        return perfile_reader_payload(trace->reader, data, bytes, error);
    *data = trace->sample.data;
    *bytes = (size_t)trace->sample.bytes;
    trace->sample.bytes = 0;
    return *bytes > 0;
}

static struct trace trace_of(struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const bool in_sample = record->type == PERFILE_RECORD_SAMPLE;
    const bool decoded = in_sample && perfile_sample_decode(record, &sample, NULL) == 0;
    return (struct trace){.reader = reader,
                          .format = pf_aux_format_find(perfile_reader_counts(reader)->aux_type),
                          .in_sample = in_sample,
                          .sample = {sample.aux.data, decoded ? sample.aux.bytes : 0}};
}

/* Calls `put` with each packet until it fails, which the text reports at the end. */
static int walk_trace(struct trace *trace, const struct perfile_allocator *allocator,
                      int (*put)(void *context, const struct pf_aux_packet *packet), void *context,
                      struct perfile_error *error)
{
    struct pf_aux_walk walk = {
        .format = trace->format, .machine = machine_of(trace->reader), .more = next_piece, .context = trace};
    struct pf_aux_packet packet;
    int result = pf_aux_walk_open(&walk, allocator) ? 0 : pf_fail_memory(error, "dump");
    while (result == 0 && (result = pf_aux_walk_next(&walk, &packet, error)) > 0)
        result = put(context, &packet);
    pf_aux_walk_close(&walk);
    return result == PERFILE_ERROR_TRUNCATED || result == PERFILE_ERROR_WRITE ? 0 : result;
}

static int decode_info(struct perfile_reader *reader, const struct perfile_record *record,
                       struct perfile_auxtrace_info *info)
{
    return perfile_record_decode(reader, record, info, sizeof(*info), NULL);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

struct lines {
    struct pf_text *text;
    const struct pf_aux_format *format;
};

static int put_line(void *context, const struct pf_aux_packet *packet)
{
    enum { HEX_COLUMNS = 16, MAX_HEX_BYTES = 24 };
    struct lines *lines = context;
    size_t shown = (size_t)pf_min(packet->bytes, MAX_HEX_BYTES);
    pf_put_format(lines->text, ".  %08" PRIx64 ":  ", packet->offset);
    for (size_t i = 0; i < shown; i++)
        pf_put_format(lines->text, "%02x ", packet->data[i]);
    for (; shown < HEX_COLUMNS; shown++)
        pf_put_string(lines->text, "   ");
    pf_aux_put(lines->text, lines->format, packet);
    pf_put_char(lines->text, '\n');
    return lines->text->failed;
}

static int put_packets(struct perfile_reader *reader, const struct perfile_record *record, struct pf_text *text,
                       struct perfile_error *error)
{
    struct trace trace = trace_of(reader, record);
    struct lines lines = {text, trace.format};
    if (trace.in_sample && !trace.sample.bytes)
        return 0;
    if (trace.format) {
        pf_put_format(text, ". ... %s data\n", trace.format->heading);
        return walk_trace(&trace, text->allocator, put_line, &lines, error);
    }
    pf_put_string(text, ". ... unknown data: its packets are not decoded\n");
    return 0;
}

int pf_dump_packets_text(struct perfile_reader *reader, const struct perfile_record *record, struct pf_text *text,
                         struct perfile_error *error)
{
    struct perfile_auxtrace_info info;
    if (record->type != PERFILE_RECORD_AUXTRACE_INFO)
        return put_packets(reader, record, text, error);
    if (decode_info(reader, record, &info) == 0)
        pf_aux_put_metadata(text, info.auxtrace_type, &info.priv);
    return 0;
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

struct members {
    struct pf_json *json;
    const struct pf_aux_format *format;
    struct pf_text words;
};

static int put_member(void *context, const struct pf_aux_packet *packet)
{
    struct members *members = context;
    members->words.used = 0;
    pf_aux_put(&members->words, members->format, packet);
    pf_put_char(&members->words, '\0');
    pf_json_begin(members->json, NULL, false);
    pf_json_unsigned(members->json, "offset", packet->offset);
    pf_json_unsigned(members->json, "bytes", packet->bytes);
    pf_json_string(members->json, "kind", members->format->kinds[packet->kind].name);
    pf_json_string(members->json, "text", members->words.failed ? "" : members->words.data);
    pf_json_end(members->json, false);
    return members->json->text->failed;
}

static int put_json_packets(struct perfile_reader *reader, const struct perfile_record *record, struct pf_json *json,
                            struct perfile_error *error)
{
    struct trace trace = trace_of(reader, record);
    struct members members = {.json = json, .format = trace.format};
    if (!members.format || (trace.in_sample && !trace.sample.bytes))
        return 0;
    if (pf_text_open(&members.words, json->text->allocator, NULL, NULL) != 0)
        return pf_fail_memory(error, "dump");
    pf_json_begin(json, "packets", true);
    const int result = walk_trace(&trace, json->text->allocator, put_member, &members, error);
    pf_json_end(json, true);
    pf_text_close(&members.words);
    return result;
}

static void put_json_word(void *context, const struct pf_aux_word *word)
{
    struct pf_json *json = context;
    pf_json_begin(json, NULL, false);
    pf_json_string(json, "name", word->name);
    if (word->string)
        pf_json_string(json, "value", word->string);
    else
        pf_json_unsigned(json, "value", word->value);
    pf_json_end(json, false);
}

int pf_dump_packets_json(struct perfile_reader *reader, const struct perfile_record *record, struct pf_json *json,
                         struct perfile_error *error)
{
    struct perfile_auxtrace_info info;
    if (record->type != PERFILE_RECORD_AUXTRACE_INFO)
        return put_json_packets(reader, record, json, error);
    if (decode_info(reader, record, &info) < 0)
        return 0;
    pf_json_begin(json, "metadata", true);
    pf_aux_metadata_each(info.auxtrace_type, &info.priv, put_json_word, json);
    pf_json_end(json, true);
    return 0;
}
