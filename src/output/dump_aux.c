/* SPDX-License-Identifier: MIT */
#include "output/dump_aux.h"

#include "base/error.h"
#include "hwtrace/packets.h"

#include <inttypes.h>

bool pf_dump_has_packets(const struct perfile_output_options *options, const struct perfile_record *record)
{
    return (options->dump->aux || options->dump->perf_heads) && record->type == PERFILE_RECORD_AUXTRACE &&
           !record->damaged;
}

static struct pf_aux_machine machine_of(struct perfile_reader *reader)
{
    const char *cpuid;
    const bool known = perfile_feature_text(reader, PERFILE_FEATURE_CPUID, NULL, &cpuid, NULL) >= 0;
    return pf_aux_machine_of(perfile_reader_file(reader)->big_endian, known ? cpuid : NULL);
}

static int next_piece(void *context, const uint8_t **data, size_t *bytes, struct perfile_error *error)
{
    return perfile_reader_payload(context, data, bytes, error);
}

/* Calls `put` with each packet until it fails, which the text reports at the end. */
static int walk_payload(struct perfile_reader *reader, const struct pf_aux_format *format,
                        const struct perfile_allocator *allocator,
                        int (*put)(void *context, const struct pf_aux_packet *packet), void *context,
                        struct perfile_error *error)
{
    struct pf_aux_walk walk = {.format = format, .more = next_piece, .context = reader};
    struct pf_aux_packet packet;
    walk.machine = machine_of(reader);
    int result = pf_aux_walk_open(&walk, allocator) ? 0 : pf_fail_memory(error, "dump");
    while (result == 0 && (result = pf_aux_walk_next(&walk, &packet, error)) > 0)
        result = put(context, &packet);
    pf_aux_walk_close(&walk);
    return result == PERFILE_ERROR_TRUNCATED || result == PERFILE_ERROR_WRITE ? 0 : result;
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

int pf_dump_packets_text(struct perfile_reader *reader, struct pf_text *text, struct perfile_error *error)
{
    const uint32_t type = perfile_reader_counts(reader)->aux_type;
    struct lines lines = {text, pf_aux_format_find(type)};
    const char *name = perfile_enum_name("auxtrace_type", type);
    if (lines.format) {
        pf_put_format(text, ". ... %s data\n", lines.format->heading);
        return walk_payload(reader, lines.format, text->allocator, put_line, &lines, error);
    }
    pf_put_format(text, ". ... %s data: its packets are not decoded\n", name ? name : "unknown");
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

int pf_dump_packets_json(struct perfile_reader *reader, struct pf_json *json, struct perfile_error *error)
{
    struct members members = {.json = json, .format = pf_aux_format_find(perfile_reader_counts(reader)->aux_type)};
    if (!members.format)
        return 0;
    if (pf_text_open(&members.words, json->text->allocator, NULL, NULL) != 0)
        return pf_fail_memory(error, "dump");
    pf_json_begin(json, "packets", true);
    const int result = walk_payload(reader, members.format, json->text->allocator, put_member, &members, error);
    pf_json_end(json, true);
    pf_text_close(&members.words);
    return result;
}
