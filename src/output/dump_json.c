/* SPDX-License-Identifier: MIT */
/* JSON Lines: one object for the header, then one for each record in the order of the file. */
#include <stdio.h>

#include "base/json.h"
#include "output/dump.h"
#include "output/feature_json.h"

static void put_section(struct pf_json *json, const char *name, const struct perfile_section *section)
{
    pf_json_begin(json, name, false);
    pf_json_unsigned(json, "offset", section->offset);
    pf_json_unsigned(json, "size", section->bytes);
    pf_json_end(json, false);
}

/* Names of events by their config, which recorders wrote until 3.11. */
static void put_event_types(struct pf_json *json, const struct perfile_file *file)
{
    if (!file->event_types.bytes)
        return;
    pf_json_begin(json, "event_type_entries", true);
    for (size_t i = 0; i < file->event_type_count; i++) {
        pf_json_begin(json, NULL, false);
        pf_json_unsigned(json, "event_id", file->event_type_entries[i].event_id);
        pf_json_string(json, "name", file->event_type_entries[i].name);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

static void put_feature_bits(struct pf_json *json, const struct perfile_file *file)
{
    pf_json_begin(json, "feature_bits", true);
    for (unsigned bit = 0; bit < 256; bit++)
        if (file->feature_bits[bit / 64] >> bit % 64 & 1)
            pf_json_unsigned(json, NULL, bit);
    pf_json_end(json, true);
    if (file->feature_words_32)
        pf_json_string(json, "bitmap", "32 bit words");
}

static void put_feature_table(struct perfile_reader *reader, struct pf_json *json)
{
    pf_json_begin(json, "feature_table", true);
    for (size_t i = 0; i < perfile_feature_count(reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(reader, i);
        pf_json_begin(json, NULL, false);
        pf_json_unsigned(json, "bit", feature->number);
        pf_json_string(json, "name", feature->name);
        pf_json_unsigned(json, "offset", feature->section.offset);
        pf_json_unsigned(json, "size", feature->section.bytes);
        pf_json_end(json, false);
    }
    pf_json_end(json, true);
}

static int put_event(struct pf_json *json, const struct perfile_event *event, struct perfile_error *error)
{
    const struct perfile_visitor visitor = pf_json_visitor(json);
    pf_json_begin(json, NULL, false);
    int result = perfile_attr_visit(event, &visitor, error);
    put_section(json, "ids_section", &event->ids_section);
    pf_json_begin(json, "ids", true);
    for (size_t i = 0; i < event->id_count; i++)
        pf_json_unsigned(json, NULL, event->ids[i]);
    pf_json_end(json, true);
    pf_json_string(json, "name", event->file_name);
    pf_json_end(json, false);
    return result;
}

static int put_header(struct perfile_reader *reader, struct pf_json *json, struct perfile_error *error)
{
    static const char *const modes[] = {"file", "pipe", "file"}; /* of a directory this is the file `data` */
    const struct perfile_file *file = perfile_reader_file(reader);
    pf_json_begin(json, NULL, false);
    pf_json_string(json, "kind", "header");
    pf_json_unsigned(json, "file_size", file->file_bytes);
    pf_json_unsigned(json, "version", (uint64_t)file->version);
    pf_json_string(json, "byte_order", file->big_endian ? "big" : "little");
    pf_json_unsigned(json, "header_size", file->header_size);
    pf_json_string(json, "mode", modes[file->mode]);
    int result = 0;
    if (file->mode != PERFILE_MODE_PIPE) {
        pf_json_unsigned(json, "attr_size", file->attr_size);
        put_section(json, "attrs", &file->attrs);
        put_section(json, "data", &file->data);
        put_section(json, "event_types", &file->event_types);
        put_event_types(json, file);
        put_feature_bits(json, file);
        put_feature_table(reader, json);
        pf_json_begin(json, "events", true);
        for (size_t i = 0; i < perfile_event_count(reader) && result == 0; i++)
            result = put_event(json, perfile_event_get(reader, i), error);
        pf_json_end(json, true);
        if (result == 0)
            result = pf_json_features(reader, json, "features", NULL, error);
    }
    if (file->mode == PERFILE_MODE_DIRECTORY) {
        pf_json_begin(json, "directory", true);
        for (size_t i = 0; file->parts[i]; i++)
            pf_json_string(json, NULL, file->parts[i]);
        pf_json_end(json, true);
    }
    pf_json_end(json, false);
    pf_put_char(json->text, '\n');
    return result;
}

static struct pf_json json_of(struct pf_text *text, const struct perfile_output_options *options)
{
    return (struct pf_json){.text = text, .max_bytes = options->dump->max_bytes ? options->dump->max_bytes : 4096};
}

static int put_record(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      const struct pf_dumped *dumped, struct perfile_error *error)
{
    const struct perfile_record *record = dumped->record;
    struct pf_json own = json_of(out, options), *json = &own;
    const bool packets = pf_dump_has_packets(options, record);
    struct perfile_visitor visitor = pf_json_visitor(json);
    visitor.leaves_payload = packets;
    const char *name = perfile_record_name(record->type);
    pf_json_begin(json, NULL, false);
    /* AUXTRACE has a field named "offset", so the offset of its record has another name. */
    pf_json_unsigned(json, record->type == PERFILE_RECORD_AUXTRACE ? "record_offset" : "offset", record->offset);
    if (name)
        pf_json_string(json, "type", name);
    else
        pf_json_unsigned(json, "type", record->type);
    pf_json_unsigned(json, "misc", pf_dump_misc(reader, record));
    pf_json_unsigned(json, "size", record->stated_bytes);
    if (record->event)
        pf_json_unsigned(json, "event", record->event->index);
    int result = pf_dump_visit(reader, dumped, &visitor, error);
    if (result == 0 && packets)
        result = pf_dump_packets_json(reader, dumped, json, error);
    if (record->part)
        pf_json_string(json, "file", perfile_reader_file(reader)->parts[record->part - 1]);
    if (record->compressed) {
        pf_json_unsigned(json, "container", record->container);
        pf_json_bool(json, "compressed", true);
    }
    pf_json_end(json, false);
    pf_put_char(json->text, '\n');
    return result;
}

static int write_dump_json(struct perfile_reader *reader, const struct perfile_output_options *options,
                           struct pf_text *out, struct perfile_error *error)
{
    struct pf_json json = json_of(out, options);
    int result = put_header(reader, &json, error);
    if (result == 0 && !options->dump->header_only)
        result = pf_dump_records(reader, options, out, put_record, error);
    return result == PERFILE_ERROR_STOPPED ? PERFILE_ERROR_WRITE : result;
}

const struct pf_output pf_output_dump_json = {
    .info = {"dump", "json", "JSON Lines: the header, then every record with every field"},
    .write = write_dump_json,
};
