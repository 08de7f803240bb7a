/* SPDX-License-Identifier: MIT */
/* Columns of the very address, not only of its function. Such a column makes each address a frame of its own. */
#include <inttypes.h>

#include "analysis/report/columns.h"
#include "base/bytes.h"

static const struct pf_frame_info *frame_of(const struct pf_report *report, const struct pf_report_row *row)
{
    return pf_report_frame(report, row);
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- source lines ---- */

/*
 * Writes "work.c:8"; without debug info "leaf_hot+37", without a symbol "libc.so.6[1770da]", as perf does: that address
 * is one for addr2line.
 */
static void put_line(const struct pf_report *report, const struct pf_frame_info *frame, struct pf_text *text)
{
    const struct pf_module *module = pf_symbols_module(report->symbols, frame->module);
    const struct pf_frame_address *location = pf_frame_address(frame);
    if (location->file)
        pf_put_string(text, report->options->symbols->full_source_path ? location->file : last_part(location->file));
    else if (frame->name)
        pf_put_string(text, frame->name);
    else
        pf_put_string(text, module ? module->short_name : "??:0");
    if (location->file)
        pf_put_format(text, ":%" PRIu32, location->line);
    else if (frame->name)
        pf_put_format(text, "+%" PRIu64, frame->address);
    else if (module)
        pf_put_format(text, "[%" PRIx64 "]", location->table_address);
}

static int compare_texts(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b)
{
    const char *x = (const char *)(uintptr_t)pf_distinguish_srcline((struct pf_report *)report, frame_of(report, a));
    const char *y = (const char *)(uintptr_t)pf_distinguish_srcline((struct pf_report *)report, frame_of(report, b));
    return x && y ? strcmp(x, y) : 0;
}

uint64_t pf_distinguish_srcline(struct pf_report *report, const struct pf_frame_info *frame)
{
    report->texts.scratch.used = 0;
    put_line(report, frame, &report->texts.scratch);
    return pf_report_intern_scratch(report);
}

int pf_compare_srcline(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b)
{
    return compare_texts(report, a, b);
}

void pf_text_srcline(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    put_line(report, frame_of(report, row), text);
}

static const char *file_of(const struct pf_frame_info *frame)
{
    const char *file = pf_frame_address(frame)->file;
    return file ? last_part(file) : "";
}

uint64_t pf_distinguish_srcfile(struct pf_report *report, const struct pf_frame_info *frame)
{
    const char *file = file_of(frame);
    return pf_report_intern(report, file, strlen(file));
}

int pf_compare_srcfile(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b)
{
    return strcmp(file_of(frame_of(report, a)), file_of(frame_of(report, b)));
}

void pf_text_srcfile(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_string(text, file_of(frame_of(report, row)));
}

/* ---- addresses ---- */

uint64_t pf_distinguish_symoff(struct pf_report *report, const struct pf_frame_info *frame)
{
    const uint64_t offset = frame->name ? (uint32_t)frame->address : 0; /* addresses without a name are functions */
    (void)report;
    return (uint64_t)frame->function << 32 | offset;
}

int pf_compare_symoff(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b)
{
    const struct pf_frame_info *left = frame_of(report, a), *right = frame_of(report, b);
    const int named = !left->name - !right->name;
    const int difference = left->name && right->name ? strcmp(left->name, right->name) : named;
    return difference ? difference : order(right->address, left->address);
}

void pf_text_symoff(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_frame_info *frame = frame_of(report, row);
    pf_report_put_level(row->level, text);
    if (frame->name) {
        pf_report_put_name(frame, text);
        pf_put_format(text, "+0x%" PRIx64, frame->address);
    } else {
        pf_report_put_address(frame->address, text);
    }
}

uint64_t pf_distinguish_addr(struct pf_report *report, const struct pf_frame_info *frame)
{
    (void)report;
    return pf_frame_address(frame)->ip;
}

int pf_compare_addr(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b)
{
    return order(pf_frame_address(frame_of(report, a))->ip, pf_frame_address(frame_of(report, b))->ip);
}

void pf_text_addr(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_format(text, "%#" PRIx64, pf_frame_address(frame_of(report, row))->ip);
}

static uint64_t size_of(const struct pf_report *report, const struct pf_frame_info *frame)
{
    const struct pf_module *module = pf_symbols_module(report->symbols, frame->module);
    if (!module || !module->table || frame->symbol >= module->table->count)
        return 0;
    return module->table->symbols[frame->symbol].end - module->table->symbols[frame->symbol].start;
}

uint64_t pf_distinguish_symbol_size(struct pf_report *report, const struct pf_frame_info *frame)
{
    return size_of(report, frame);
}

int pf_compare_symbol_size(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b)
{
    return order(size_of(report, frame_of(report, a)), size_of(report, frame_of(report, b)));
}

void pf_text_symbol_size(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const uint64_t bytes = size_of(report, frame_of(report, row));
    pf_put_format(text, bytes ? "%" PRIu64 : "unknown", bytes);
}
