/* SPDX-License-Identifier: MIT */
/* Columns of the addresses of memory accesses: what they keep are frames that are single addresses. */
#include <inttypes.h>

#include "analysis/report/columns.h"

enum {
    LINE_BYTES = 64,       /* perf uses the reading machine's; all machines with such samples have 64 */
    ADDRESS_CAPACITY = 16, /* perf keeps the width of an address after each symbol */
    LEVEL_CAPACITY = 4,    /* "[.] " */
    OFFSET_CAPACITY = 2,   /* "0x" */
    LEVEL_UNMAPPED = 'X',  /* of cache lines */
};

#define MEMORY ((uint64_t)1 << 32) /* instead of a module */

static const struct pf_frame_info *frame_of(const struct pf_report *report, uint64_t frame)
{
    return pf_profile_frame(report->profile, (uint32_t)frame);
}

static uint32_t keep_frame_at(struct pf_report *report, uint64_t address)
{
    const uint32_t frame = pf_profile_frame_at(report->profile, address);
    report->texts.short_of_memory |= frame == UINT32_MAX;
    return frame == UINT32_MAX ? 0 : frame;
}

static unsigned level_of(const struct pf_report_row *row)
{
    return row->level ? row->level : '.';
}

static size_t min_of(const struct pf_frame_info *frame)
{
    return LEVEL_CAPACITY + (frame->name ? strlen(frame->name) : 0) + ADDRESS_CAPACITY + OFFSET_CAPACITY;
}

int pf_compare_accesses(const struct pf_report *report, uint64_t a, uint64_t b)
{
    const int64_t x = (int64_t)pf_frame_address(frame_of(report, a))->ip;
    const int64_t y = (int64_t)pf_frame_address(frame_of(report, b))->ip;
    return (x > y) - (x < y);
}

/* The first frame that was seen at this position of a module or of memory. */
static uint32_t first_of(struct pf_report *report, uint64_t where, uint64_t position, uint32_t frame)
{
    uint32_t first = frame;
    if (!pf_pairs_get(&report->data.lines, where, position, &first))
        report->texts.short_of_memory |= !pf_pairs_put(&report->data.lines, where, position, frame);
    return first;
}

/* ---- dso_daddr ---- */

void pf_take_dso_daddr(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    const uint32_t frame = pf_profile_frame_at(report->profile, pf_field_addr(sample->decoded));
    report->texts.short_of_memory |= frame == UINT32_MAX;
    report->data.unmapped |= frame != UINT32_MAX && frame_of(report, frame)->module == PF_NO_SYMBOL;
    keyed->values[PF_VALUE_dso_daddr] = pf_report_dso_of(report, frame);
}

void pf_text_dso_daddr(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    pf_put_interned(text, pf_report_value(report, row, PF_VALUE_dso_daddr));
}

size_t pf_min_dso_daddr(const struct pf_report *report, const struct pf_report_row *row)
{
    (void)row;
    return report->data.unmapped ? ADDRESS_CAPACITY : 0;
}

/* ---- symbol_daddr, symbol_iaddr ---- */

/* Equal addresses are one row, whatever process they are in. */
void pf_take_symbol_daddr(struct pf_report *report, struct pf_report_keyed *keyed,
                          const struct pf_profile_sample *sample)
{
    const uint64_t address = pf_field_addr(sample->decoded);
    keyed->values[PF_VALUE_symbol_daddr] = first_of(report, MEMORY, address, keep_frame_at(report, address));
}

void pf_text_symbol_daddr(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_frame_info *frame = frame_of(report, pf_report_value(report, row, PF_VALUE_symbol_daddr));
    pf_report_put_level(level_of(row), text);
    if (!frame->name) {
        pf_report_put_address(pf_frame_address(frame)->ip, text);
        return;
    }
    pf_report_put_name(frame, text);
    pf_put_format(text, "+0x%" PRIx64, frame->address);
}

size_t pf_min_symbol_daddr(const struct pf_report *report, const struct pf_report_row *row)
{
    return min_of(frame_of(report, pf_report_value(report, row, PF_VALUE_symbol_daddr)));
}

void pf_take_symbol_iaddr(struct pf_report *report, struct pf_report_keyed *keyed,
                          const struct pf_profile_sample *sample)
{
    (void)report;
    keyed->values[PF_VALUE_symbol_iaddr] = sample->leaf;
}

void pf_text_symbol_iaddr(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_frame_info *frame = frame_of(report, pf_report_value(report, row, PF_VALUE_symbol_iaddr));
    pf_report_put_level(level_of(row), text);
    if (frame->name)
        pf_report_put_name(frame, text);
    else
        pf_report_put_address(pf_frame_address(frame)->ip, text);
}

size_t pf_min_symbol_iaddr(const struct pf_report *report, const struct pf_report_row *row)
{
    return min_of(frame_of(report, pf_report_value(report, row, PF_VALUE_symbol_iaddr)));
}

/* ---- dcacheline ---- */

static bool is_file(const struct pf_module *module)
{
    return module && !module->kernel && module->name[0] == '/' && module->name[1] != '/'; /* not "//anon" */
}

/*
 * A cache line of a file is one row for all processes, and its value is the frame that was seen first. Of memory
 * without a file each process has its own row: the upper half of the value is the process id.
 */
static uint64_t line_of(struct pf_report *report, uint32_t frame, int32_t pid)
{
    const struct pf_frame_info *info = frame_of(report, frame);
    const struct pf_module *module = pf_symbols_module(report->symbols, info->module);
    const uint64_t named = (uint64_t)1 << 63 | (uint64_t)info->symbol << 32 | info->address;
    if (module && !module->kernel && !is_file(module))
        return (uint64_t)(uint32_t)pid << 32 | frame;
    return first_of(report, info->module, info->name ? named : info->address, frame);
}

void pf_take_dcacheline(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample)
{
    const uint32_t frame = keep_frame_at(report, pf_field_addr(sample->decoded) & ~(uint64_t)(LINE_BYTES - 1));
    keyed->values[PF_VALUE_dcacheline] = report->texts.short_of_memory ? 0 : line_of(report, frame, sample->pid);
}

void pf_text_dcacheline(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text)
{
    const struct pf_frame_info *frame = frame_of(report, pf_report_value(report, row, PF_VALUE_dcacheline));
    pf_report_put_level(frame->module == PF_NO_SYMBOL ? LEVEL_UNMAPPED : level_of(row), text);
    if (!frame->name) {
        pf_report_put_address(frame->address, text);
        return;
    }
    pf_report_put_name(frame, text);
    pf_put_format(text, "+0x%" PRIx64, frame->address);
}

size_t pf_min_dcacheline(const struct pf_report *report, const struct pf_report_row *row)
{
    const struct pf_frame_info *frame = frame_of(report, pf_report_value(report, row, PF_VALUE_dcacheline));
    return min_of(frame) + (frame->name != NULL);
}

/* Memory of no file, then files by name, then what is not mapped. */
static unsigned rank_of(const struct pf_module *module)
{
    return !module ? 2 : is_file(module);
}

static uint64_t position_of(const struct pf_module *module, const struct pf_frame_info *frame)
{
    const bool named = module && module->table && frame->symbol < module->table->count;
    return frame->address + (named ? module->table->symbols[frame->symbol].start : 0);
}

int pf_compare_lines(const struct pf_report *report, uint64_t a, uint64_t b)
{
    const struct pf_frame_info *left = frame_of(report, a), *right = frame_of(report, b);
    const struct pf_module *x = pf_symbols_module(report->symbols, left->module);
    const struct pf_module *y = pf_symbols_module(report->symbols, right->module);
    const int ranks = (int)rank_of(x) - (int)rank_of(y);
    const int names = !ranks && is_file(x) ? strcmp(x->name, y->name) : ranks;
    const int64_t first = (int64_t)position_of(x, left), second = (int64_t)position_of(y, right);
    return names ? names : (first > second) - (first < second);
}
