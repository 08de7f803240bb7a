/* SPDX-License-Identifier: MIT */
#include "output/events/trace_fields.h"

#include <string.h>

#include "analysis/trace/trace_format.h"
#include "analysis/trace/trace_text.h"
#include "base/bytes.h"

static bool ends_in(const char *text, const char *end)
{
    const size_t bytes = strlen(text), end_bytes = strlen(end);
    return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

const char *pf_task_comm(struct perfile_session *session, int64_t tid)
{
    const char *comm = tid > 0 ? perfile_session_comm(session, -1, (int32_t)tid) : NULL;
    return comm && *comm && *comm != ':' ? comm : NULL;
}

void pf_put_task(struct pf_text *out, int64_t tid, const char *comm)
{
    pf_put_signed(out, tid);
    if (comm) {
        pf_put_string(out, " (");
        pf_put_name(out, comm);
        pf_put_char(out, ')');
    }
}

/* Pointers, and unsigned numbers that can only be addresses of the kernel, are hexadecimal. */
static bool is_address(const struct perfile_tracepoint_field *field, uint64_t value)
{
    return strchr(field->type, '*') || (!field->is_signed && field->bytes == 8 && value >> 63);
}

static void put_number(struct pf_text *out, const struct perfile_tracepoint_field *field, uint64_t value,
                       struct perfile_session *session)
{
    if (strcmp(field->type, "pid_t") == 0 || strcmp(field->name, "pid") == 0 || ends_in(field->name, "_pid")) {
        pf_put_task(out, (int64_t)value, pf_task_comm(session, (int64_t)value));
    } else if (is_address(field, value)) {
        pf_put_string(out, "0x");
        pf_put_hex(out, value);
    } else if (field->is_signed) {
        pf_put_signed(out, (int64_t)value);
    } else {
        pf_put_unsigned(out, value);
    }
}

static void put_text(struct pf_text *out, const struct perfile_bytes *bytes)
{
    pf_put_char(out, '"');
    pf_put_name_bytes(out, bytes->data, strnlen((const char *)bytes->data, (size_t)bytes->bytes));
    pf_put_char(out, '"');
}

static bool is_number(const struct perfile_tracepoint_field *field)
{
    return !field->is_array && !field->is_dynamic && field->bytes <= 8 && !(field->bytes & (field->bytes - 1));
}

void pf_trace_fields_put(struct pf_text *out, const struct perfile_tracepoint *tracepoint,
                         const struct perfile_bytes *raw, bool swap, struct perfile_session *session)
{
    const char *separator = "";
    for (size_t i = 0; i < tracepoint->field_count; i++) {
        const struct perfile_tracepoint_field *field = &tracepoint->fields[i];
        struct perfile_bytes bytes;
        if (field->is_common || !pf_trace_bytes(field, raw, swap, &bytes))
            continue;
        const bool number = is_number(field);
        const uint64_t value = number ? pf_trace_load(bytes.data, bytes.bytes, field->is_signed, swap) : 1;
        if (!value)
            continue;
        pf_put_string(out, separator);
        pf_put_string(out, field->name);
        pf_put_string(out, ": ");
        if (field->is_text)
            put_text(out, &bytes);
        else if (number)
            put_number(out, field, value, session);
        else
            pf_trace_put_value(field, &bytes, swap, out);
        separator = ", ";
    }
}
