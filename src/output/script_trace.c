/* SPDX-License-Identifier: MIT */
/*
 * The text of tracepoints. libtraceevent prints it as the format in the recording says, like perf; without it, and for
 * data that the format does not fit, the fields are listed as NAME=VALUE.
 */
#include "output/script.h"

#ifdef PF_HAVE_TRACEEVENT
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <event-parse.h>
#endif

/* ---- where a field's bytes lie ------------------------------------------------------------------------------------
 */

/* The bytes of a field; false when they are not all there. */
static bool find_bytes(const struct perfile_tracepoint_field *field, const struct perfile_bytes *raw, bool swap,
                       struct perfile_bytes *bytes)
{
    if (field->offset > raw->bytes || field->bytes > raw->bytes - field->offset)
        return false;
    *bytes = (struct perfile_bytes){raw->data + field->offset, field->bytes};
    if (!field->is_dynamic && !field->is_relative)
        return true;
    if (field->bytes != 4)
        return false;
    uint32_t word = pf_load32(bytes->data, swap); /* length and offset in one */
    uint64_t offset = word & 0xffff;
    if (field->is_relative)
        offset += field->offset + field->bytes;
    if (offset > raw->bytes || word >> 16 > raw->bytes - offset)
        return false;
    *bytes = (struct perfile_bytes){raw->data + offset, word >> 16};
    return true;
}

static bool all_there(const struct perfile_tracepoint *tracepoint, const struct perfile_bytes *raw, bool swap)
{
    struct perfile_bytes bytes;
    for (size_t i = 0; i < tracepoint->field_count; i++)
        if (!find_bytes(&tracepoint->fields[i], raw, swap, &bytes))
            return false;
    return true;
}

/* ---- NAME=VALUE ---------------------------------------------------------------------------------------------------
 */

static uint64_t load_number(const uint8_t *data, uint32_t bytes, bool swap)
{
    switch (bytes) {
    case 1:
        return *data;
    case 2:
        return pf_load16(data, swap);
    case 4:
        return pf_load32(data, swap);
    default:
        return pf_load64(data, swap);
    }
}

static void put_number(struct pf_text *out, const uint8_t *data, uint32_t bytes, bool is_signed, bool swap)
{
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
        pf_put_hex_bytes(out, data, bytes);
        return;
    }
    uint64_t value = load_number(data, bytes, swap);
    if (is_signed)
        pf_put_signed(out, (int64_t)(value << (64 - bytes * 8)) >> (64 - bytes * 8));
    else
        pf_put_unsigned(out, value);
}

static void put_field(struct pf_text *out, const struct perfile_tracepoint_field *field,
                      const struct perfile_bytes *bytes, bool swap)
{
    pf_put_string(out, field->name);
    pf_put_char(out, '=');
    if (field->is_text) {
        pf_put(out, bytes->data, strnlen((const char *)bytes->data, bytes->bytes));
        return;
    }
    uint32_t element = field->element_bytes && field->is_array ? field->element_bytes : (uint32_t)bytes->bytes;
    if (!element || bytes->bytes % element) {
        pf_put_hex_bytes(out, bytes->data, bytes->bytes);
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
        if (field->is_common || !find_bytes(field, &script->sample.raw, swap, &bytes))
            continue;
        pf_put_string(script->out, separator);
        put_field(script->out, field, &bytes, swap);
        separator = " ";
    }
}

/* ---- libtraceevent --------------------------------------------------------------------------------------------------
 */

#ifdef PF_HAVE_TRACEEVENT

enum { RAW_MARGIN = 16 };

struct pf_script_trace {
    struct tep_handle *tep; /* NULL: the recording has no tracing data */
    struct trace_seq text;
    struct pf_map loaded; /* id of a tracepoint -> was understood */
    char *raw;            /* the data with zeros behind it: libtraceevent looks for the NUL of a text */
    size_t raw_room;
};

static void describe_machine(struct tep_handle *tep, const struct perfile_tracing *tracing)
{
    tep_set_local_bigendian(tep, PF_NATIVE_BIG_ENDIAN ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_file_bigendian(tep, tracing->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_long_size(tep, tracing->long_bytes);
    tep_set_page_size(tep, (int)tracing->page_bytes);
}

/* One line of a text: an address in hexadecimal, and a copy of the rest. */
struct line {
    uint64_t address;
    char rest[512];
};

/* Takes a line off the text; false when none is left. What has no address has an empty rest. */
static bool next_line(const char **text, size_t *bytes, struct line *line)
{
    if (!*bytes)
        return false;
    const char *end = memchr(*text, '\n', *bytes);
    size_t length = end ? (size_t)(end - *text) : *bytes;
    char copy[sizeof(line->rest)];
    size_t kept = pf_min(length, sizeof(copy) - 1);
    memcpy(copy, *text, kept);
    copy[kept] = '\0';
    char *rest = copy;
    line->address = strtoull(copy, &rest, 16);
    memcpy(line->rest, rest, (size_t)(copy + kept + 1 - rest));
    *text += length + (end != NULL);
    *bytes -= length + (end != NULL);
    return true;
}

/*
 * Lines such as: 0xffffffff828195af : "rcu_preempt"
 * libtraceevent's own reader of this text, and its way with texts of one or two letters, look outside their memory.
 */
static void load_printk_formats(struct tep_handle *tep, const struct perfile_tracing *tracing)
{
    enum { SHORTEST = 5 }; /* with its quotes */
    const char *text = tracing->printk_formats;
    size_t left = tracing->printk_formats_bytes;
    struct line line;
    while (next_line(&text, &left, &line)) {
        size_t bytes = strlen(line.rest);
        if (bytes > 3 + SHORTEST && !memcmp(line.rest, " : \"", 4) && line.rest[bytes - 1] == '"')
            tep_register_print_string(tep, line.rest + 3, line.address);
    }
}

/* Lines such as: ffffffff828195af t name [module] */
static void load_kallsyms(struct tep_handle *tep, const struct perfile_tracing *tracing)
{
    const char *text = tracing->kallsyms;
    size_t left = tracing->kallsyms_bytes;
    struct line line;
    while (next_line(&text, &left, &line)) {
        char name[256], module[64] = "";
        if (sscanf(line.rest, " %*c %255s [%63[^]]", name, module) >= 1)
            tep_register_function(tep, name, line.address, *module ? module : NULL);
    }
}

static struct pf_script_trace *open_trace(struct pf_script *script)
{
    const struct perfile_tracing *tracing;
    struct pf_script_trace *trace = pf_new(script->out->allocator, sizeof(*trace));
    if (!trace)
        return NULL;
    pf_map_open(&trace->loaded, script->out->allocator);
    if (perfile_tracing_get(script->reader, &tracing, NULL) < 0)
        return trace;
    tep_set_loglevel(TEP_LOG_NONE);
    trace->tep = tep_alloc();
    if (!trace->tep)
        return trace;
    trace_seq_init(&trace->text);
    describe_machine(trace->tep, tracing);
    load_kallsyms(trace->tep, tracing);
    load_printk_formats(trace->tep, tracing);
    return trace;
}

void pf_script_trace_close(struct pf_script *script)
{
    struct pf_script_trace *trace = script->trace;
    if (!trace)
        return;
    if (trace->tep) {
        trace_seq_destroy(&trace->text);
        tep_free(trace->tep);
    }
    pf_map_close(&trace->loaded);
    pf_free(script->out->allocator, trace->raw, trace->raw_room);
    pf_free(script->out->allocator, trace, sizeof(*trace));
}

/*
 * libtraceevent calls itself for each operator and parenthesis of a print format, as deep as the format goes. The
 * kernel's have a few dozen; a format made to fill the stack has more.
 */
static bool goes_too_deep(const struct perfile_tracepoint *tracepoint)
{
    enum { OPERATORS_MAX = 1024 };
    unsigned operators = 0;
    bool quoted = false;
    for (const char *p = tracepoint->print_fmt; p && *p; p++) {
        if (*p == '"' && (p == tracepoint->print_fmt || p[-1] != '\\'))
            quoted = !quoted;
        operators += !quoted && strchr("(!~-+*/%&|^<>=?:[", *p);
    }
    return operators > OPERATORS_MAX || quoted;
}

static bool understands(struct pf_script_trace *trace, const struct perfile_tracepoint *tracepoint)
{
    uint64_t good;
    if (pf_map_get(&trace->loaded, tracepoint->id, &good))
        return good;
    if (!goes_too_deep(tracepoint))
        tep_parse_event(trace->tep, tracepoint->format, strlen(tracepoint->format), tracepoint->system);
    good = tep_find_event(trace->tep, (int)tracepoint->id) != NULL;
    return pf_map_put(&trace->loaded, tracepoint->id, good) && good;
}

/* False: not printed. */
static bool put_locked(struct pf_script *script, const struct perfile_tracepoint *tracepoint)
{
    const struct perfile_bytes *raw = &script->sample.raw;
    if (!script->trace)
        script->trace = open_trace(script);
    struct pf_script_trace *trace = script->trace;
    if (!trace || !trace->tep || !understands(trace, tracepoint) ||
        !pf_grow(script->out->allocator, &trace->raw, &trace->raw_room, raw->bytes + RAW_MARGIN, 1))
        return false;
    memcpy(trace->raw, raw->data, raw->bytes);
    memset(trace->raw + raw->bytes, 0, RAW_MARGIN);
    struct tep_record record = {
        .ts = script->sample.time, .size = (int)raw->bytes, .data = trace->raw, .cpu = (int)script->sample.cpu};
    trace_seq_reset(&trace->text);
    tep_print_event(trace->tep, &trace->text, &record, "%s", TEP_PRINT_INFO);
    trace_seq_terminate(&trace->text);
    pf_put_string(script->out, trace->text.buffer);
    return true;
}

/* libtraceevent's parser keeps its state in variables of the whole process; readers may be in different threads. */
static bool put_with_library(struct pf_script *script, const struct perfile_tracepoint *tracepoint)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    bool done = put_locked(script, tracepoint);
    pthread_mutex_unlock(&lock);
    return done;
}

#else

void pf_script_trace_close(struct pf_script *script)
{
    (void)script;
}

static bool put_with_library(struct pf_script *script, const struct perfile_tracepoint *tracepoint)
{
    (void)script;
    (void)tracepoint;
    return false;
}

#endif

/* ---- the step -------------------------------------------------------------------------------------------------------
 */

char *pf_script_put_trace(struct pf_script *script, char *at)
{
    const struct perfile_event *event = script->plan->event;
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(script->reader, event);
    bool swap = perfile_reader_file(script->reader)->swapped;
    if (!tracepoint || !script->sample.raw.bytes)
        return at;
    pf_script_leave(script, at);
    if (!all_there(tracepoint, &script->sample.raw, swap) || !put_with_library(script, tracepoint))
        put_fields(script, tracepoint, swap);
    return pf_script_enter(script);
}
