/* SPDX-License-Identifier: MIT */
#include "output/dump_aux.h"

#include "analysis/aux_data.h"
#include "base/error.h"
#include "hwtrace/metadata.h"
#include "hwtrace/records.h"

#include <inttypes.h>

bool pf_dump_has_packets(const struct perfile_output_options *options, const struct perfile_record *record)
{
    const bool is_info = record->type == PERFILE_RECORD_AUXTRACE_INFO && !record->damaged;
    return (options->dump->aux || options->dump->perf_heads) && (is_info || pf_aux_payload_is_in(record));
}

/* ---- what records say -------------------------------------------------------------------------------------------- */

void pf_dump_traces_open(struct pf_dump_traces *traces, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator)
{
    *traces = (struct pf_dump_traces){.reader = reader};
    pf_aux_queues_open(&traces->queues, allocator);
    pf_map_open(&traces->source_cpus, allocator);
}

void pf_dump_traces_close(struct pf_dump_traces *traces)
{
    if (traces->unpacked)
        traces->unpacker->close(traces->unpacked);
    if (traces->unpacker)
        pf_free(traces->queues.allocator, traces->unpacked, traces->unpacker->state_bytes);
    pf_map_close(&traces->source_cpus);
    pf_aux_queues_close(&traces->queues);
}

bool pf_dump_traces_take(struct pf_dump_traces *traces, const struct perfile_record *record)
{
    union pf_aux_body body;
    struct pf_aux_record from;
    if (record->type == PERFILE_RECORD_AUX_OUTPUT_HW_ID)
        return pf_aux_take_source(&traces->source_cpus, traces->reader, record);
    return (record->type != PERFILE_RECORD_AUXTRACE_INFO && record->type != PERFILE_RECORD_AUX) ||
           !pf_aux_record_decode(traces->reader, record, &body, &from) ||
           pf_aux_queues_take(&traces->queues, &from, NULL);
}

/* Gets ready to unpack the packets of this payload. Returns false when out of memory. */
static bool begin_unpacking(struct pf_dump_traces *traces, const struct pf_aux_format *format,
                            const struct perfile_record *record)
{
    struct perfile_auxtrace stated = {.cpu = -1};
    if (!format->unpacker)
        return true;
    if (record->type == PERFILE_RECORD_AUXTRACE)
        (void)!perfile_record_decode(traces->reader, record, &stated, sizeof(stated), NULL);
    traces->recording =
        (struct pf_aux_recording){.priv = traces->queues.priv,
                                  .priv_count = traces->queues.priv_count,
                                  .cpu = stated.cpu,
                                  .source_cpus = traces->source_cpus.size ? &traces->source_cpus : NULL};
    if (!traces->unpacked) {
        traces->unpacker = format->unpacker;
        traces->unpacked = pf_new(traces->queues.allocator, format->unpacker->state_bytes);
        if (traces->unpacked)
            format->unpacker->open(traces->unpacked, &traces->recording);
    }
    if (traces->unpacked)
        traces->unpacker->restart(traces->unpacked);
    return traces->unpacked;
}

/* ---- the packets of a record ------------------------------------------------------------------------------------- */

/* How packets are printed, and packets in packets; `put` fails when the text did. */
struct printer {
    int (*put)(void *context, const struct pf_aux_packet *packet);
    pf_aux_put_part *put_part;
    void *context;
};

/* Prints each packet until the text fails, which the text reports at the end. */
static int each_packet(struct pf_aux_payload *payload, struct pf_dump_traces *traces, const struct printer *printer,
                       struct perfile_error *error)
{
    struct pf_aux_packet packet;
    int result = 0;
    while (result == 0 && (result = pf_aux_payload_next(payload, &packet, error)) > 0) {
        result = printer->put(printer->context, &packet);
        if (result == 0 && traces && traces->unpacked)
            traces->unpacker->unpack(traces->unpacked, &packet, printer->put_part, printer->context);
    }
    return result == PERFILE_ERROR_WRITE ? 0 : result;
}

/* Opens the payload of a record as what is known of it says. 0, or an error. */
static int open_payload(struct pf_aux_payload *payload, struct perfile_reader *reader, const struct pf_dumped *dumped,
                        const struct perfile_allocator *allocator, struct perfile_error *error)
{
    struct pf_dump_traces *traces = dumped->traces;
    const int result = pf_aux_payload_open(payload, reader, dumped->record, allocator, error);
    if (result < 0 || !traces || !payload->walk.format)
        return result;
    payload->walk.machine.unformatted = traces->queues.unformatted;
    return begin_unpacking(traces, payload->walk.format, dumped->record) ? 0 : pf_fail_memory(error, "dump");
}

static bool is_empty(const struct pf_aux_payload *payload)
{
    return payload->in_sample && !payload->sample.bytes;
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

/* As perf prints packets of CoreSight. */
static void put_part_line(void *context, const struct pf_aux_part *part)
{
    struct lines *lines = context;
    pf_put_format(lines->text, "\tIdx:%" PRIu64 "; ID:%x;\t%s\n", part->offset, part->source, part->text);
}

static int put_packets(struct perfile_reader *reader, const struct pf_dumped *dumped, struct pf_text *text,
                       struct perfile_error *error)
{
    struct pf_aux_payload payload;
    int result = open_payload(&payload, reader, dumped, text->allocator, error);
    struct lines lines = {text, payload.walk.format};
    if (result == 0 && !is_empty(&payload)) {
        pf_put_format(text, ". ... %s data%s\n", lines.format ? lines.format->heading : "unknown",
                      lines.format ? "" : ": its packets are not decoded");
        result = each_packet(&payload, dumped->traces, &(struct printer){put_line, put_part_line, &lines}, error);
    }
    pf_aux_payload_close(&payload);
    return result;
}

int pf_dump_packets_text(struct perfile_reader *reader, const struct pf_dumped *dumped, struct pf_text *text,
                         struct perfile_error *error)
{
    struct perfile_auxtrace_info info;
    if (dumped->record->type != PERFILE_RECORD_AUXTRACE_INFO)
        return put_packets(reader, dumped, text, error);
    if (decode_info(reader, dumped->record, &info) == 0)
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

static void put_part_member(void *context, const struct pf_aux_part *part)
{
    struct members *members = context;
    members->words.used = 0;
    pf_put(&members->words, part->text, strcspn(part->text, " "));
    pf_put_char(&members->words, '\0');
    pf_json_begin(members->json, NULL, false);
    pf_json_unsigned(members->json, "offset", part->offset);
    pf_json_unsigned(members->json, "bytes", part->bytes);
    pf_json_unsigned(members->json, "source", part->source);
    pf_json_string(members->json, "kind", members->words.failed ? "" : members->words.data);
    pf_json_string(members->json, "text", part->text);
    pf_json_end(members->json, false);
}

static int put_json_packets(struct perfile_reader *reader, const struct pf_dumped *dumped, struct pf_json *json,
                            struct perfile_error *error)
{
    struct pf_aux_payload payload;
    struct members members = {.json = json};
    int result = open_payload(&payload, reader, dumped, json->text->allocator, error);
    members.format = payload.walk.format;
    if (result == 0 && members.format && !is_empty(&payload)) {
        if (pf_text_open(&members.words, json->text->allocator, NULL, NULL) != 0)
            result = pf_fail_memory(error, "dump");
        pf_json_begin(json, "packets", true);
        if (result == 0)
            result =
                each_packet(&payload, dumped->traces, &(struct printer){put_member, put_part_member, &members}, error);
        pf_json_end(json, true);
        pf_text_close(&members.words);
    }
    pf_aux_payload_close(&payload);
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

int pf_dump_packets_json(struct perfile_reader *reader, const struct pf_dumped *dumped, struct pf_json *json,
                         struct perfile_error *error)
{
    struct perfile_auxtrace_info info;
    if (dumped->record->type != PERFILE_RECORD_AUXTRACE_INFO)
        return put_json_packets(reader, dumped, json, error);
    if (decode_info(reader, dumped->record, &info) < 0)
        return 0;
    pf_json_begin(json, "metadata", true);
    pf_aux_metadata_each(info.auxtrace_type, &info.priv, put_json_word, json);
    pf_json_end(json, true);
    return 0;
}
