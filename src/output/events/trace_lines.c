/* SPDX-License-Identifier: MIT */
#include "output/events/trace_lines.h"

#include <inttypes.h>
#include <string.h>

#include "output/events/trace_fields.h"

enum { ALIGNMENT = 70, MARK = 4 /* " ..." */ };

static const struct pf_syscall_names nameless;

bool pf_trace_lines_add(struct pf_trace_lines *lines, const struct perfile_allocator *allocator,
                        const struct pf_trace_line *line, const struct pf_syscall_names *names)
{
    if (!PF_APPEND(allocator, lines->lines, lines->count, lines->capacity, *line))
        return false;
    if (!memcmp(names, &nameless, sizeof(nameless)))
        return true;
    if (!PF_APPEND(allocator, lines->names, lines->name_count, lines->name_capacity, *names))
        return false;
    lines->lines[lines->count - 1].names = lines->name_count;
    return true;
}

void pf_trace_lines_close(struct pf_trace_lines *lines, const struct perfile_allocator *allocator)
{
    pf_free(allocator, lines->lines, lines->capacity * sizeof(*lines->lines));
    pf_free(allocator, lines->names, lines->name_capacity * sizeof(*lines->names));
    *lines = (struct pf_trace_lines){.lines = NULL};
}

bool pf_trace_printer_open(struct pf_trace_printer *printer, struct pf_text *out, unsigned flags,
                           const struct perfile_allocator *allocator)
{
    *printer = (struct pf_trace_printer){.out = out, .flags = flags};
    const bool enough = pf_text_open(&printer->scratch, allocator, NULL, NULL) == 0;
    printer->scratch.escapes = out->escapes;
    return enough;
}

void pf_trace_printer_close(struct pf_trace_printer *printer)
{
    pf_text_close(&printer->scratch);
}

void pf_trace_put_time(const struct pf_trace_printer *printer, uint64_t ns)
{
    pf_put_ms(printer->out, ns - (printer->flags & PERFILE_EVENTS_FULL_TIME ? 0 : printer->base), 10);
    pf_put_char(printer->out, ' ');
}

void pf_trace_put_cpu(const struct pf_trace_printer *printer, uint32_t cpu)
{
    if (printer->flags & PERFILE_EVENTS_CPU && cpu != UINT32_MAX)
        pf_put_format(printer->out, "[%03" PRIu32 "] ", cpu);
}

void pf_trace_put_thread(const struct pf_trace_printer *printer, const char *comm, int32_t tid)
{
    if (!(printer->flags & PERFILE_EVENTS_NO_COMM)) {
        enum { MAX_BYTES = 14 };
        char name[MAX_BYTES + 1] = "";
        if (comm)
            memcpy(name, comm, strnlen(comm, MAX_BYTES));
        pf_put_name(printer->out, name);
        pf_put_char(printer->out, '/');
    }
    pf_put_signed(printer->out, tid);
    pf_put_char(printer->out, ' ');
}

void pf_trace_put_head(const struct pf_trace_printer *printer, const struct pf_trace_line *line)
{
    const bool finished = line->kind == PF_TRACE_CALL || line->kind == PF_TRACE_CONTINUED;
    if (line->entered)
        pf_trace_put_time(printer, line->start);
    else
        pf_put_string(printer->out, "         ? ");
    pf_trace_put_cpu(printer, line->cpu);
    if (line->entered && finished) {
        pf_put_char(printer->out, '(');
        pf_put_ms(printer->out, line->duration, 6);
        pf_put_string(printer->out, " ms): ");
    } else {
        pf_put_string(printer->out, "(         ): ");
    }
    pf_trace_put_thread(printer, line->comm, line->tid);
}

/* "read(fd: 3)" in printer->scratch. */
static void make_call(struct pf_trace_printer *printer, const struct pf_trace_line *line,
                      const struct pf_syscall_names *names)
{
    struct pf_text *text = &printer->scratch;
    char label[32];
    text->used = 0;
    if (line->kind == PF_TRACE_CONTINUED) {
        pf_put_string(text, " ... [continued]: ");
        pf_put_string(text, pf_syscall_label(line->call, line->number, label));
        pf_put_string(text, "())");
        return;
    }
    pf_put_string(text, pf_syscall_label(line->call, line->number, label));
    pf_put_char(text, '(');
    pf_syscall_put_arguments(text, line->abi, line->call, line->arguments, names);
    pf_put_char(text, ')');
}

static void put_padded(const struct pf_trace_printer *printer, size_t width)
{
    pf_put(printer->out, printer->scratch.data, printer->scratch.used);
    if (printer->scratch.used < width) {
        const size_t blanks = width - printer->scratch.used;
        char *at = pf_text_reserve(printer->out, blanks);
        memset(at, ' ', blanks);
        pf_text_commit(printer->out, at + blanks);
    }
}

static void put_error(struct pf_text *out, uint64_t number)
{
    const char *name = pf_errno_name(number), *text = pf_errno_text(number);
    if (name)
        pf_put_format(out, "-1 %s", name);
    else
        pf_put_format(out, "-%" PRIu64, number);
    if (text)
        pf_put_format(out, " (%s)", text);
}

static void put_result(struct pf_text *out, const struct pf_trace_line *line)
{
    enum { ERRORS = 4095 };
    const enum pf_syscall_result kind = pf_syscall_result_kind(line->call);
    if (line->result < 0 && line->result >= -ERRORS) {
        put_error(out, (uint64_t)-line->result);
    } else if (kind == PF_RESULT_HEX) {
        pf_put_string(out, "0x");
        pf_put_hex(out, (uint64_t)line->result);
    } else if (kind == PF_RESULT_PID) {
        pf_put_task(out, line->result, line->result_comm);
    } else {
        pf_put_signed(out, line->result);
        pf_put_string(out, kind == PF_RESULT_TIMEOUT && line->result == 0 ? " (Timeout)" : "");
    }
    pf_put_char(out, '\n');
}

void pf_trace_put_line(struct pf_trace_printer *printer, const struct pf_trace_line *line,
                       const struct pf_syscall_names *names)
{
    pf_trace_put_head(printer, line);
    make_call(printer, line, names);
    if (line->kind == PF_TRACE_INTERRUPTED) {
        put_padded(printer, ALIGNMENT - MARK);
        pf_put_string(printer->out, " ...\n");
        return;
    }
    put_padded(printer, ALIGNMENT - 1);
    if (line->kind == PF_TRACE_NO_RETURN) {
        pf_put_string(printer->out, " = ?\n");
        return;
    }
    pf_put_string(printer->out, " = ");
    put_result(printer->out, line);
}

void pf_trace_put_lines(struct pf_trace_printer *printer, const struct pf_trace_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct pf_trace_line *line = &lines->lines[i];
        pf_trace_put_line(printer, line, line->names ? &lines->names[line->names - 1] : &nameless);
    }
}
