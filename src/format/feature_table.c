/* SPDX-License-Identifier: MIT */
/* Which features a recording has, and their bytes. */
#include <inttypes.h>
#include <stdio.h>

#include "base/counted.h"
#include "base/error.h"
#include "format/reader.h"

/* "feature NAME" or "feature 99" */
static const char *feature_label(char *label, size_t capacity, uint32_t number)
{
    const char *name = perfile_feature_name(number);
    if (name)
        snprintf(label, capacity, "feature %s", name);
    else
        snprintf(label, capacity, "feature %u", number);
    return label;
}

int pf_feature_add(struct perfile_reader *reader, uint32_t number, const struct perfile_section *section,
                   struct perfile_error *error)
{
    if (!pf_grow(reader->allocator, &reader->features, &reader->feature_capacity, reader->feature_count + 1,
                 sizeof(*reader->features)))
        return pf_fail_memory(error, "features");
    uint64_t end;
    bool inside = pf_add(section->offset, section->bytes, &end) &&
                  (reader->file.file_bytes == 0 || end <= reader->file.file_bytes);
    reader->features[reader->feature_count++] = (struct pf_feature){
        .public = {.number = number, .name = perfile_feature_name(number), .section = *section, .readable = inside}};
    return 0;
}

static int report_outside(struct perfile_reader *reader, const struct pf_feature *feature, struct perfile_error *error)
{
    char label[64], message[320], count[PF_COUNTED_BYTES];
    const struct perfile_section *section = &feature->public.section;
    snprintf(message, sizeof(message), "%s: section of %s at 0x%" PRIx64 " is outside the file",
             feature_label(label, sizeof(label), feature->public.number), pf_count_of(section->bytes, "bytes", count),
             section->offset);
    const struct perfile_diagnostic loss = {.rule = "feature-outside",
                                            .severity = PERFILE_LOSS,
                                            .offset = section->offset,
                                            .length = section->bytes,
                                            .message = message};
    return pf_diagnose(reader, NULL, &loss, error);
}

static int report_table_cut(struct perfile_reader *reader, uint64_t offset, struct perfile_error *error)
{
    const struct perfile_diagnostic loss = {.rule = "feature-table-cut",
                                            .severity = PERFILE_LOSS,
                                            .offset = offset,
                                            .message = "the feature table is outside the file"};
    return pf_diagnose(reader, NULL, &loss, error);
}

int pf_feature_table_read(struct perfile_reader *reader, uint64_t table_offset, struct perfile_error *error)
{
    uint64_t at = table_offset;
    for (uint32_t number = 0; number <= PF_FEATURE_NUMBER_MAX; number++) {
        if (!(reader->file.feature_bits[number / 64] >> number % 64 & 1))
            continue;
        uint8_t entry[16];
        size_t got;
        int result = pf_source_read(&reader->parts[0].source, at, entry, sizeof(entry), &got, error);
        if (result < 0)
            return result;
        if (got < sizeof(entry))
            return report_table_cut(reader, at, error);
        const struct perfile_section section = {pf_load64(entry, reader->file.swapped),
                                                pf_load64(entry + 8, reader->file.swapped)};
        result = pf_feature_add(reader, number, &section, error);
        if (result == 0 && !reader->features[reader->feature_count - 1].public.readable)
            result = report_outside(reader, &reader->features[reader->feature_count - 1], error);
        if (result < 0)
            return result;
        at += sizeof(entry);
    }
    return 0;
}

size_t perfile_feature_count(const struct perfile_reader *reader)
{
    return reader->feature_count;
}

const struct perfile_feature *perfile_feature_get(const struct perfile_reader *reader, size_t index)
{
    return index < reader->feature_count ? &reader->features[index].public : NULL;
}

static struct pf_feature *find(const struct perfile_reader *reader, uint32_t number)
{
    for (size_t i = 0; i < reader->feature_count; i++)
        if (reader->features[i].public.number == number)
            return &reader->features[i];
    return NULL;
}

static void drop(struct perfile_reader *reader, struct pf_feature *feature)
{
    const uint64_t bytes = feature->public.section.bytes;
    reader->feature_bytes -= pf_min(bytes, reader->feature_bytes);
    pf_free(reader->allocator, (void *)(uintptr_t)feature->data, (size_t)bytes + 1);
    feature->data = NULL;
}

static int load(struct perfile_reader *reader, struct pf_feature *feature, struct perfile_error *error)
{
    char label[64], count[PF_COUNTED_BYTES];
    feature_label(label, sizeof(label), feature->public.number);
    const struct perfile_section *section = &feature->public.section;
    if (!feature->public.readable)
        return pf_fail(error, PERFILE_ERROR_TRUNCATED, section->offset, label, "section past the end of the file");
    if (section->bytes > reader->options.limit_feature_bytes)
        return pf_fail(error, PERFILE_ERROR_LIMIT, section->offset, label,
                       "%" PRIu64 " bytes are more than limit_feature_bytes", section->bytes);
    reader->feature_bytes += section->bytes;
    if (reader->feature_bytes > reader->file.file_bytes)
        return pf_fail(error, PERFILE_ERROR_DAMAGED, section->offset, label,
                       "the features together are larger than the file");
    uint8_t *data = pf_new(reader->allocator, (size_t)section->bytes + 1);
    size_t got = 0;
    int result =
        data ? pf_source_read(&reader->parts[0].source, section->offset, data, (size_t)section->bytes, &got, error)
             : pf_fail_memory(error, label);
    if (result == 0 && got < section->bytes)
        result = pf_fail(error, PERFILE_ERROR_TRUNCATED, section->offset, label, "%s, of which there are %zu",
                         pf_count_of(section->bytes, "bytes are needed", count), got);
    feature->data = data;
    if (result < 0)
        drop(reader, feature); /* it may be asked for again */
    return result;
}

void pf_feature_discard(struct perfile_reader *reader, uint32_t number)
{
    struct pf_feature *feature = find(reader, number);
    if (feature && feature->data && !feature->from_record && !feature->lent)
        drop(reader, feature);
}

void pf_features_free(struct perfile_reader *reader)
{
    for (size_t i = 0; i < reader->feature_count; i++)
        if (!reader->features[i].from_record)
            drop(reader, &reader->features[i]);
    pf_free(reader->allocator, reader->features, reader->feature_capacity * sizeof(*reader->features));
}

int pf_feature_look(struct perfile_reader *reader, uint32_t number, const uint8_t **data, size_t *bytes,
                    struct perfile_error *error)
{
    struct pf_feature *feature = find(reader, number);
    char label[64];
    *data = NULL;
    *bytes = 0;
    if (!feature)
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, feature_label(label, sizeof(label), number),
                       "the recording does not have it");
    int result = feature->data ? 0 : load(reader, feature, error);
    if (result < 0)
        return result;
    *data = feature->data;
    *bytes = (size_t)feature->public.section.bytes;
    return 0;
}

int perfile_feature_bytes(struct perfile_reader *reader, uint32_t number, const uint8_t **data, size_t *bytes,
                          struct perfile_error *error)
{
    const int result = pf_feature_look(reader, number, data, bytes, error);
    if (result == 0)
        find(reader, number)->lent = true;
    return result;
}

static struct pf_feature_context context_of(struct perfile_reader *reader, uint32_t number)
{
    struct pf_feature_context context = {.allocator = reader->allocator, .big_endian = reader->file.big_endian};
    uint64_t cpus;
    if (number == PERFILE_FEATURE_CPU_TOPOLOGY &&
        perfile_feature_number(reader, PERFILE_FEATURE_NRCPUS, "nr_cpus_available", &cpus, NULL) == 0) {
        context.has_cpu_count = true;
        context.cpus_available = (uint32_t)cpus;
    }
    return context;
}

int pf_feature_check(struct perfile_reader *reader, uint32_t number, const uint8_t *data, size_t bytes,
                     struct perfile_error *error)
{
    const struct pf_feature_context context = context_of(reader, number);
    const struct perfile_visitor none = {.size = sizeof(none)};
    struct pf_emit e = {.visitor = &none};
    struct pf_cursor c = pf_cursor_make(data, bytes, 0, reader->file.swapped);
    return pf_feature_emit(number, NULL, &c, &context, &e, error);
}

bool pf_feature_turn(struct perfile_reader *reader, uint32_t number, const uint8_t *data, size_t bytes, uint8_t *copy)
{
    const struct pf_feature_context context = context_of(reader, number);
    const struct perfile_visitor none = {.size = sizeof(none)};
    struct pf_emit e = {.visitor = &none};
    struct pf_cursor c = pf_cursor_make(data, bytes, 0, reader->file.swapped);
    if (bytes)
        memcpy(copy, data, bytes);
    c.mirror = (ptrdiff_t)((uintptr_t)copy - (uintptr_t)data);
    return pf_feature_emit(number, NULL, &c, &context, &e, NULL) == 0 && perfile_feature_name(number);
}

static int visit(struct perfile_reader *reader, uint32_t number, const struct perfile_visitor *visitor,
                 struct perfile_error *error)
{
    const uint8_t *data;
    size_t bytes;
    struct perfile_visitor all;
    int result = pf_visitor_take(&all, visitor, error);
    if (result == 0)
        result = pf_feature_look(reader, number, &data, &bytes, error);
    if (result < 0)
        return result;
    const struct pf_feature_context context = context_of(reader, number);
    const struct perfile_section *section = &find(reader, number)->public.section;
    struct pf_cursor c = pf_cursor_make(data, bytes, section->offset, reader->file.swapped);
    struct pf_emit e = {.visitor = &all};
    char unknown[16];
    snprintf(unknown, sizeof(unknown), "%u", number);
    const char *name = perfile_feature_name(number);
    result = pf_feature_emit(number, name ? name : unknown, &c, &context, &e, error);
    if (e.stopped)
        return pf_fail(error, PERFILE_ERROR_STOPPED, PERFILE_NO_OFFSET, "visitor", "stopped by the caller");
    return result;
}

int perfile_feature_visit(struct perfile_reader *reader, uint32_t number, const struct perfile_visitor *visitor,
                          struct perfile_error *error)
{
    const int result = visit(reader, number, visitor, error);
    struct pf_feature *feature = find(reader, number);
    if (feature)
        feature->lent = true;
    return result;
}

/* ---- one member of a feature ---- */

struct wanted {
    const char *member; /* NULL: the feature itself is the value */
    int kind;
    struct perfile_value found;
    bool done;
};

static int pick_value(void *context, const struct perfile_value *value)
{
    struct wanted *wanted = context;
    if (wanted->done || value->kind != wanted->kind)
        return 0;
    if (wanted->member && (!value->name || strcmp(value->name, wanted->member) != 0))
        return 0;
    wanted->found = *value;
    wanted->done = true;
    return 0;
}

static int pick(struct perfile_reader *reader, uint32_t number, struct wanted *wanted, struct perfile_error *error)
{
    const struct perfile_visitor visitor = {.size = sizeof(visitor), .context = wanted, .value = pick_value};
    int result = visit(reader, number, &visitor, error);
    if (wanted->done)
        return 0;
    char label[64];
    return result < 0 ? result
                      : pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET,
                                feature_label(label, sizeof(label), number), "it has no such member");
}

int perfile_feature_text(struct perfile_reader *reader, uint32_t number, const char *member, const char **text,
                         struct perfile_error *error)
{
    struct wanted wanted = {.member = member, .kind = PERFILE_VALUE_TEXT};
    int result = pick(reader, number, &wanted, error);
    if (result < 0)
        return result;
    *text = pf_arena_text(&reader->arena, wanted.found.data, wanted.found.bytes);
    return *text ? 0 : pf_fail_memory(error, "feature");
}

int perfile_feature_number(struct perfile_reader *reader, uint32_t number, const char *member, uint64_t *value,
                           struct perfile_error *error)
{
    struct wanted wanted = {.member = member, .kind = PERFILE_VALUE_UNSIGNED};
    int result = pick(reader, number, &wanted, error);
    if (result == 0)
        *value = wanted.found.number.u;
    return result;
}

/* ---- tracing data ---- */

int perfile_tracing_get(struct perfile_reader *reader, const struct perfile_tracing **tracing,
                        struct perfile_error *error)
{
    const uint8_t *data = reader->tracing_data;
    size_t bytes = reader->tracing_bytes;
    *tracing = NULL;
    if (!reader->tracing) {
        uint64_t offset = reader->tracing_offset;
        if (!data) {
            int result = pf_feature_look(reader, PERFILE_FEATURE_TRACING_DATA, &data, &bytes, error);
            if (result < 0)
                return result;
            offset = find(reader, PERFILE_FEATURE_TRACING_DATA)->public.section.offset;
        }
        int result = pf_tracing_open(data, bytes, offset, reader->allocator, &reader->tracing, error);
        if (result < 0)
            return result;
    }
    *tracing = pf_tracing_view(reader->tracing);
    return 0;
}

const struct perfile_tracepoint *perfile_tracepoint_find(struct perfile_reader *reader,
                                                         const struct perfile_event *event)
{
    const struct perfile_tracing *tracing;
    if (event->attr->type != PERFILE_TYPE_TRACEPOINT || perfile_tracing_get(reader, &tracing, NULL) < 0)
        return NULL;
    return pf_tracing_find(reader->tracing, event->attr->config);
}
