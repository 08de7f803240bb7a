/* SPDX-License-Identifier: MIT */
/*
 * The text of tracepoints: as the print format in the recording says; where that is not understood, or the data does
 * not fit it, the fields as NAME=VALUE.
 */
#include "output/script.h"
#include "output/trace_format.h"

struct pf_script_trace {
    struct pf_map formats; /* id of a tracepoint -> struct pf_trace_format, a pointer; 0: not understood */
    struct pf_text scratch;
};

static struct pf_script_trace *get_trace(struct pf_script *script)
{
    if (script->trace)
        return script->trace;
    struct pf_script_trace *trace = pf_new(script->out->allocator, sizeof(*trace));
    if (!trace || pf_text_open(&trace->scratch, script->out->allocator, NULL, NULL) < 0) {
        pf_free(script->out->allocator, trace, sizeof(*trace));
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return NULL;
    }
    pf_map_open(&trace->formats, script->out->allocator);
    return script->trace = trace;
}

void pf_script_trace_close(struct pf_script *script)
{
    if (!script->trace)
        return;
    pf_map_close(&script->trace->formats);
    pf_text_close(&script->trace->scratch);
    pf_free(script->out->allocator, script->trace, sizeof(*script->trace));
}

/* NULL: not understood. */
static const struct pf_trace_format *find_format(struct pf_script *script, struct pf_script_trace *trace,
                                                 const struct perfile_tracepoint *tracepoint)
{
    const struct perfile_tracing *tracing;
    uint64_t found;
    if (pf_map_get(&trace->formats, tracepoint->id, &found))
        return (const struct pf_trace_format *)(uintptr_t)found;
    struct pf_trace_format *format = NULL;
    if (perfile_tracing_get(script->reader, &tracing, NULL) == 0)
        format = pf_trace_parse(&script->arena, tracing, tracepoint);
    if (!pf_map_put(&trace->formats, tracepoint->id, (uintptr_t)format))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return format;
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

static void put_field(struct pf_text *out, const struct perfile_tracepoint_field *field,
                      const struct perfile_bytes *bytes, bool swap)
{
    pf_put_string(out, field->name);
    pf_put_char(out, '=');
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

static void put_fields(struct pf_script *script, const struct perfile_tracepoint *tracepoint, bool swap)
{
    const char *separator = "";
    for (size_t i = 0; i < tracepoint->field_count; i++) {
        struct perfile_bytes bytes;
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        if (field->is_common || !pf_trace_bytes(field, &script->sample.raw, swap, &bytes))
            continue;
        pf_put_string(script->out, separator);
        put_field(script->out, field, &bytes, swap);
        separator = " ";
    }
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

static bool all_there(const struct perfile_tracepoint *tracepoint, const struct perfile_bytes *raw, bool swap)
{
    struct perfile_bytes bytes;
    for (size_t i = 0; i < tracepoint->field_count; i++)
        if (!pf_trace_bytes(&tracepoint->fields[i], raw, swap, &bytes))
            return false;
    return true;
}

char *pf_script_put_trace(struct pf_script *script, char *at)
{
    const struct perfile_event *event = script->plan->event;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(script->reader, event);
    const struct perfile_bytes *raw = &script->sample.raw;
    bool swap = perfile_reader_file(script->reader)->swapped;
    struct pf_script_trace *trace = tracepoint && raw->bytes ? get_trace(script) : NULL;
    if (!trace)
        return at;
    pf_script_leave(script, at);
    const struct pf_trace_format *format = find_format(script, trace, tracepoint);
    if (format && all_there(tracepoint, raw, swap))
        pf_trace_print(format, raw, swap, &trace->scratch, script->out);
    else
        put_fields(script, tracepoint, swap);
    return pf_script_enter(script);
}
