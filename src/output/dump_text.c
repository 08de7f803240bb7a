/* SPDX-License-Identifier: MIT */
/* A line for each record: where, what, and every field as name=value; nested ones in braces and brackets. */
#include "base/bytes.h"
#include "base/error.h"
#include "output/dump.h"

#include <inttypes.h>

struct lines {
    struct pf_text *text;
    uint64_t max_bytes;
    bool space; /* the next value needs a space before it */
};

static void put_name(struct lines *lines, const char *name)
{
    if (lines->space)
        pf_put_char(lines->text, ' ');
    lines->space = true;
    if (name) {
        pf_put_string(lines->text, name);
        pf_put_char(lines->text, '=');
    }
}

static void put_hex(struct pf_text *text, uint64_t value)
{
    pf_put_string(text, "0x");
    pf_put_hex(text, value);
}

static void put_number(struct pf_text *text, uint64_t value, int meaning)
{
    if (meaning == PERFILE_MEANS_ADDRESS || meaning == PERFILE_MEANS_FLAGS || meaning == PERFILE_MEANS_REGISTER)
        put_hex(text, value);
    else if (meaning == PERFILE_MEANS_INSTANT || meaning == PERFILE_MEANS_DURATION)
        pf_put_format(text, "%" PRIu64 ".%09" PRIu64, value / 1000000000, value % 1000000000);
    else
        pf_put_unsigned(text, value);
}

static int visit_value(void *context, const struct perfile_value *value)
{
    struct lines *lines = context;
    put_name(lines, value->name);
    switch (value->kind) {
    case PERFILE_VALUE_UNSIGNED:
    case PERFILE_VALUE_BOOL:
        put_number(lines->text, value->number.u, value->meaning);
        break;
    case PERFILE_VALUE_SIGNED:
        pf_put_signed(lines->text, value->number.s);
        break;
    case PERFILE_VALUE_DOUBLE:
        pf_put_format(lines->text, "%g", value->number.d);
        break;
    case PERFILE_VALUE_TEXT:
        pf_put_json_string(lines->text, value->data, value->bytes); /* quotes and escapes control bytes */
        break;
    case PERFILE_VALUE_BYTES:
        pf_put_hex_bytes(lines->text, value->data, (size_t)pf_min(value->bytes, lines->max_bytes));
        if (value->bytes > lines->max_bytes)
            pf_put_format(lines->text, "...(%zu bytes)", value->bytes);
        break;
    default:
        pf_put_char(lines->text, '-');
    }
    return lines->text->failed;
}

static int visit_begin(void *context, const char *name, bool list)
{
    struct lines *lines = context;
    put_name(lines, name);
    pf_put_char(lines->text, list ? '[' : '{');
    lines->space = false;
    return lines->text->failed;
}

static int visit_end(void *context, bool list)
{
    struct lines *lines = context;
    pf_put_char(lines->text, list ? ']' : '}');
    lines->space = true;
    return lines->text->failed;
}

static void put_error(struct pf_text *text, const char *message)
{
    pf_put_string(text, " error: ");
    pf_put_name(text, message);
}

static int put_header(struct perfile_reader *reader, struct lines *lines, const struct perfile_visitor *visitor,
                      struct perfile_error *error)
{
    static const char *const modes[] = {"file", "pipe", "directory"};
    const struct perfile_file *file = perfile_reader_file(reader);
    pf_put_format(lines->text, "perf.data version %d, %s endian, %s mode\n", file->version,
                  file->big_endian ? "big" : "little", modes[file->mode]);
    if (file->mode != PERFILE_MODE_PIPE)
        pf_put_format(lines->text,
                      "header %" PRIu64 " bytes, attrs 0x%" PRIx64 "+%" PRIu64 ", data 0x%" PRIx64 "+%" PRIu64 "\n",
                      file->header_size, file->attrs.offset, file->attrs.bytes, file->data.offset, file->data.bytes);
    for (size_t i = 0; i < perfile_event_count(reader); i++) {
        const struct perfile_event *event = perfile_event_get(reader, i);
        pf_put_format(lines->text, "event %zu: ", i);
        pf_put_name(lines->text, event->name);
        lines->space = true;
        if (perfile_attr_visit(event, visitor, NULL) < 0)
            return 0; /* the text failed, which is reported at the end */
        pf_put_char(lines->text, '\n');
    }
    for (size_t i = 0; i < perfile_feature_count(reader); i++) {
        const struct perfile_feature *feature = perfile_feature_get(reader, i);
        struct perfile_error damage;
        pf_put_format(lines->text, "feature %u at 0x%" PRIx64 "+%" PRIu64 ":", feature->number, feature->section.offset,
                      feature->section.bytes);
        lines->space = true;
        const int result = perfile_feature_visit(reader, feature->number, visitor, &damage);
        if (result == PERFILE_ERROR_MEMORY)
            return pf_fail_memory(error, "dump");
        if (result < 0)
            put_error(lines->text, damage.message);
        pf_put_char(lines->text, '\n');
    }
    return 0;
}

static struct lines lines_of(struct pf_text *text, const struct perfile_output_options *options)
{
    return (struct lines){.text = text, .max_bytes = options->dump->max_bytes ? options->dump->max_bytes : 4096};
}

/* The time in ns, as in perf; 0: the record has none. */
static uint64_t time_of(struct perfile_reader *reader, const struct perfile_record *record)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    struct perfile_sample_id id = PERFILE_SAMPLE_ID_INIT;
    if (record->type == PERFILE_RECORD_SAMPLE)
        return perfile_sample_decode(record, &sample, NULL) == 0 ? sample.time : 0;
    return record->event && perfile_sample_id_decode(reader, record, &id, NULL) == 0 ? id.time : 0;
}

static void put_type(struct pf_text *out, const struct perfile_record *record, const char *before)
{
    const char *name = perfile_record_name(record->type);
    if (name)
        pf_put_format(out, " %s%s", before, name);
    else
        pf_put_format(out, " type %u", record->type);
}

static void put_part(struct pf_text *text, const char *name)
{
    pf_put_name(text, name);
    pf_put_char(text, ' ');
}

static int put_record(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                      const struct pf_dumped *dumped, struct perfile_error *error)
{
    const struct perfile_record *record = dumped->record;
    struct lines lines = lines_of(out, options);
    const bool packets = pf_dump_has_packets(options, record);
    const struct perfile_visitor visitor = {sizeof(visitor), &lines, visit_begin, visit_end, visit_value, packets};
    if (options->dump->perf_heads)
        pf_put_format(out, "%" PRIu64 " ", time_of(reader, record));
    if (record->part)
        put_part(out, perfile_reader_file(reader)->parts[record->part - 1]);
    if (record->compressed)
        pf_put_format(out, "0x%" PRIx64 ">", record->container);
    put_hex(out, record->offset);
    if (options->dump->perf_heads) {
        pf_put_format(out, " [0x%x]:", record->stated_bytes);
        put_type(out, record, "PERF_RECORD_");
        pf_put_format(out, " misc=0x%x", record->misc);
    } else {
        put_type(out, record, "");
        pf_put_format(out, " misc=0x%x size=%u", record->misc, record->stated_bytes);
    }
    if (record->event)
        pf_put_format(out, " event=%u", record->event->index);
    lines.space = true;
    const int result = pf_dump_visit(reader, dumped, &visitor, error);
    pf_put_char(out, '\n');
    return result == 0 && packets ? pf_dump_packets_text(reader, dumped, out, error) : result;
}

static int write_dump_text(struct perfile_reader *reader, const struct perfile_output_options *options,
                           struct pf_text *out, struct perfile_error *error)
{
    struct lines lines = lines_of(out, options);
    const struct perfile_visitor visitor = {sizeof(visitor), &lines, visit_begin, visit_end, visit_value, false};
    const int result = put_header(reader, &lines, &visitor, error);
    return result < 0 || options->dump->header_only ? result : pf_dump_records(reader, options, out, put_record, error);
}

const struct pf_output pf_output_dump_text = {
    .info = {"dump", "text", "the header, then a line for every record with every field"},
    .write = write_dump_text,
};
