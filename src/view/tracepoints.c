/* SPDX-License-Identifier: MIT */
#include "view/tracepoints.h"

#include <stdio.h>

struct pf_tracepoint_fields {
    size_t count;
    const struct perfile_tracepoint_field *of_column[]; /* NULL: the event has none of that name */
};

/* What its values are: fields of one name need not be alike. */
static unsigned type_of(const struct perfile_tracepoint_field *field)
{
    const uint32_t bytes = field->bytes;
    const bool number = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    if (!number || field->is_text || field->is_array || field->is_dynamic || field->is_relative)
        return PERFILE_COLUMN_TEXT;
    return field->is_signed ? PERFILE_COLUMN_I64 : PERFILE_COLUMN_U64;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* The bytes of the column's field; false: the sample has none, which is put. */
static bool find_bytes(const struct pf_tracepoints *tracepoints, struct pf_vector *vector,
                       const struct perfile_tracepoint_field **field, struct perfile_bytes *bytes)
{
    const uint32_t index = vector->column.index;
    *field = tracepoints->fields && index < tracepoints->fields->count ? tracepoints->fields->of_column[index] : NULL;
    if (*field && pf_trace_bytes(*field, tracepoints->raw, tracepoints->swap, bytes))
        return true;
    pf_set_null(vector);
    return false;
}

static void put_number(void *state, struct pf_vector *vector)
{
    const struct pf_tracepoints *tracepoints = state;
    const struct perfile_tracepoint_field *field;
    struct perfile_bytes bytes;
    if (find_bytes(tracepoints, vector, &field, &bytes))
        pf_set_u64(vector, pf_trace_load(bytes.data, bytes.bytes, field->is_signed, tracepoints->swap));
}

static void put_text(void *state, struct pf_vector *vector)
{
    struct pf_tracepoints *tracepoints = state;
    const struct perfile_tracepoint_field *field;
    struct perfile_bytes bytes;
    if (!find_bytes(tracepoints, vector, &field, &bytes))
        return;
    const char *text = (const char *)bytes.data;
    size_t length = strnlen(text, bytes.bytes);
    if (!field->is_text) {
        tracepoints->scratch.used = 0;
        pf_trace_put_value(field, &bytes, tracepoints->swap, &tracepoints->scratch);
        text = tracepoints->scratch.data;
        length = tracepoints->scratch.used;
    }
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, text, length));
}

void pf_tracepoints_put_text(struct pf_tracepoints *tracepoints, struct pf_vector *vector)
{
    tracepoints->scratch.used = 0;
    if (!tracepoints->fields) {
        pf_set_null(vector);
        return;
    }
    if (!pf_trace_texts_put(&tracepoints->texts, tracepoints->event, tracepoints->raw, &tracepoints->scratch))
        vector->failed = true;
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, tracepoints->scratch.data, tracepoints->scratch.used));
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* The column of a field; SIZE_MAX: there is none (yet). */
static size_t column_of(const struct pf_tracepoints *tracepoints, const struct perfile_tracepoint_field *field)
{
    for (size_t i = 0; i < tracepoints->count; i++)
        if (tracepoints->columns[i].type == type_of(field) && !strcmp(tracepoints->columns[i].name, field->name))
            return i;
    return SIZE_MAX;
}

static bool has_name(const struct pf_tracepoints *tracepoints, const char *name)
{
    for (size_t i = 0; i < tracepoints->count; i++)
        if (!strcmp(tracepoints->columns[i].name, name))
            return true;
    return false;
}

static bool add_column(struct pf_tracepoints *tracepoints, const struct perfile_tracepoint_field *field)
{
    static const char doc[] = "Field of tracepoints.";
    const unsigned type = type_of(field);
    const bool twice = has_name(tracepoints, field->name);
    const size_t capacity = strlen(field->name) + sizeof("trace__text");
    char *name = pf_arena_new(&tracepoints->arena, capacity);
    if (!name || !pf_grow(tracepoints->table->allocator, &tracepoints->columns, &tracepoints->capacity,
                          tracepoints->count + 1, sizeof(*tracepoints->columns)))
        return false;
    snprintf(name, capacity, "trace_%s%s%s", field->name, twice ? "_" : "", twice ? pf_column_type_name(type) : "");
    const uint32_t index = (uint32_t)tracepoints->count++;
    tracepoints->columns[index] = (struct pf_tracepoint_column){field->name, type};
    return pf_table_add(tracepoints->table,
                        &(struct pf_column){.name = name,
                                            .type = type,
                                            .unit = "",
                                            .doc = doc,
                                            .put = type == PERFILE_COLUMN_TEXT ? put_text : put_number,
                                            .index = index});
}

static bool add_columns(struct pf_tracepoints *tracepoints, const struct perfile_tracepoint *tracepoint)
{
    for (size_t i = 0; i < tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (!field->is_common && column_of(tracepoints, field) == SIZE_MAX && !add_column(tracepoints, field))
            return false;
    }
    return true;
}

bool pf_tracepoints_add(struct pf_tracepoints *tracepoints, struct perfile_table *table)
{
    tracepoints->table = table;
    tracepoints->swap = perfile_reader_file(table->reader)->swapped;
    pf_arena_open(&tracepoints->arena, table->allocator);
    pf_map_open(&tracepoints->of_event, table->allocator);
    bool enough = pf_trace_texts_open(&tracepoints->texts, table->reader, table->allocator) &&
                  pf_text_open(&tracepoints->scratch, table->allocator, NULL, NULL) == 0;
    for (size_t i = 0; enough && i < perfile_event_count(table->reader); i++) {
        const struct perfile_tracepoint *tracepoint =
            perfile_tracepoint_find(table->reader, perfile_event_get(table->reader, i));
        enough = !tracepoint || add_columns(tracepoints, tracepoint);
    }
    return enough;
}

void pf_tracepoints_close(struct pf_tracepoints *tracepoints)
{
    pf_trace_texts_close(&tracepoints->texts);
    pf_text_close(&tracepoints->scratch);
    pf_map_close(&tracepoints->of_event);
    pf_arena_close(&tracepoints->arena);
    pf_free(tracepoints->table->allocator, tracepoints->columns, tracepoints->capacity * sizeof(*tracepoints->columns));
}

/* ---- the sample in hand ------------------------------------------------------------------------------------------ */

static const struct pf_tracepoint_fields *find_fields(struct pf_tracepoints *tracepoints,
                                                      const struct perfile_event *event)
{
    uint64_t known;
    if (pf_map_get(&tracepoints->of_event, event->index, &known))
        return (const struct pf_tracepoint_fields *)(uintptr_t)known;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(tracepoints->table->reader, event);
    struct pf_tracepoint_fields *fields =
        tracepoint
            ? pf_arena_new(&tracepoints->arena, sizeof(*fields) + tracepoints->count * sizeof(fields->of_column[0]))
            : NULL;
    for (size_t i = 0; fields && i < tracepoint->field_count; i++) {
        const size_t column = column_of(tracepoints, &tracepoint->fields[i]);
        fields->count = tracepoints->count;
        if (!tracepoint->fields[i].is_common && column != SIZE_MAX)
            fields->of_column[column] = &tracepoint->fields[i];
    }
    (void)pf_map_put(&tracepoints->of_event, event->index, (uintptr_t)fields); /* else it is looked for again */
    return fields;
}

void pf_tracepoints_take(struct pf_tracepoints *tracepoints, const struct perfile_event *event,
                         const struct perfile_bytes *raw)
{
    if (event != tracepoints->event) {
        tracepoints->event = event;
        tracepoints->fields = event ? find_fields(tracepoints, event) : NULL;
    }
    tracepoints->raw = raw;
}
