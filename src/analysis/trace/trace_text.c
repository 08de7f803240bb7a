/* SPDX-License-Identifier: MIT */
#include "analysis/trace/trace_text.h"

#include "analysis/trace/trace_format.h"
#include "base/error.h"

bool pf_trace_texts_open(struct pf_trace_texts *texts, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator)
{
    *texts = (struct pf_trace_texts){.reader = reader};
    pf_arena_open(&texts->arena, allocator);
    pf_map_open(&texts->formats, allocator);
    return pf_text_open(&texts->scratch, allocator, NULL, NULL) == 0;
}

void pf_trace_texts_close(struct pf_trace_texts *texts)
{
    if (!texts->reader)
        return;
    pf_map_close(&texts->formats);
    pf_text_close(&texts->scratch);
    pf_arena_close(&texts->arena);
}

/* False, with the error set. */
static bool is_short(struct pf_trace_texts *texts)
{
    (void)pf_fail_memory(&texts->error, "tracing data");
    return false;
}

/* *tracing NULL: there is none, or it is damaged. False, with the error set: it could be read. */
static bool can_be_read(struct pf_trace_texts *texts, const struct perfile_tracing **tracing)
{
    const int result = perfile_tracing_get(texts->reader, tracing, &texts->error);
    return result != PERFILE_ERROR_MEMORY && result != PERFILE_ERROR_LIMIT;
}

/* Sets *format to NULL when it is not understood. False when the descriptions exceed the memory or a limit. */
static bool find_format(struct pf_trace_texts *texts, const struct perfile_tracepoint *tracepoint,
                        const struct pf_trace_format **format)
{
    const struct perfile_tracing *tracing;
    uint64_t found;
    *format = NULL;
    if (pf_map_get(&texts->formats, tracepoint->id, &found)) {
        *format = (const struct pf_trace_format *)(uintptr_t)found;
        return true;
    }
    if (!can_be_read(texts, &tracing))
        return false;
    if (tracing)
        *format = pf_trace_parse(&texts->arena, tracing, tracepoint);
    return pf_map_put(&texts->formats, tracepoint->id, (uintptr_t)*format) || is_short(texts);
}

/* ---- NAME=VALUE -------------------------------------------------------------------------------------------------- */

static void put_number(struct pf_text *out, const uint8_t *data, uint32_t bytes, bool is_signed, bool swap)
{
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
        pf_put_hex_bytes(out, data, bytes);
    else if (is_signed)
        pf_put_signed(out, (int64_t)pf_trace_load(data, bytes, true, swap));
    else
        pf_put_unsigned(out, pf_trace_load(data, bytes, false, swap));
}

void pf_trace_put_value(const struct perfile_tracepoint_field *field, const struct perfile_bytes *bytes, bool swap,
                        struct pf_text *out)
{
    if (field->is_text) {
        pf_put(out, bytes->data, strnlen((const char *)bytes->data, (size_t)bytes->bytes));
        return;
    }
    uint32_t element = field->element_bytes && field->is_array ? field->element_bytes : (uint32_t)bytes->bytes;
    if (!element || bytes->bytes % element) {
        pf_put_hex_bytes(out, bytes->data, (size_t)bytes->bytes);
        return;
    }
    for (uint64_t at = 0; at < bytes->bytes; at += element) {
        pf_put_string(out, at ? "," : "");
        put_number(out, bytes->data + at, element, field->is_signed, swap);
    }
}

static void put_fields(const struct perfile_tracepoint *tracepoint, const struct perfile_bytes *raw, bool swap,
                       struct pf_text *out)
{
    const char *separator = "";
    for (size_t i = 0; i < tracepoint->field_count; i++) {
        struct perfile_bytes bytes;
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (field->is_common || !pf_trace_bytes(field, raw, swap, &bytes))
            continue;
        pf_put_string(out, separator);
        pf_put_string(out, field->name);
        pf_put_char(out, '=');
        pf_trace_put_value(field, &bytes, swap, out);
        separator = " ";
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool all_there(const struct perfile_tracepoint *tracepoint, const struct perfile_bytes *raw, bool swap)
{
    struct perfile_bytes bytes;
    for (size_t i = 0; i < tracepoint->field_count; i++)
        if (!pf_trace_bytes(&tracepoint->fields[i], raw, swap, &bytes))
            return false;
    return true;
}

bool pf_trace_texts_find(struct pf_trace_texts *texts, const struct perfile_event *event, struct pf_trace_text *text)
{
    const struct perfile_tracing *tracing;
    *text = (struct pf_trace_text){.swap = perfile_reader_file(texts->reader)->swapped};
    if (event->attr->type == PERFILE_TYPE_TRACEPOINT && !can_be_read(texts, &tracing))
        return false;
    text->tracepoint = perfile_tracepoint_find(texts->reader, event);
    return !text->tracepoint || find_format(texts, text->tracepoint, &text->format);
}

void pf_trace_text_put(const struct pf_trace_text *text, const struct perfile_bytes *raw, struct pf_text *scratch,
                       struct pf_text *out)
{
    if (text->format && all_there(text->tracepoint, raw, text->swap))
        pf_trace_print(text->format, raw, text->swap, scratch, out);
    else
        put_fields(text->tracepoint, raw, text->swap, out);
}

bool pf_trace_texts_put(struct pf_trace_texts *texts, const struct perfile_event *event,
                        const struct perfile_bytes *raw, struct pf_text *out)
{
    struct pf_trace_text text;
    if (!raw->bytes)
        return true;
    if (!pf_trace_texts_find(texts, event, &text))
        return false;
    if (text.tracepoint)
        pf_trace_text_put(&text, raw, &texts->scratch, out);
    return !texts->scratch.failed || is_short(texts);
}
