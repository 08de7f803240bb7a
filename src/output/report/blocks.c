/* SPDX-License-Identifier: MIT */
#include "output/report/lists.h"

#include <inttypes.h>

#include "analysis/basic_blocks.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"
#include "output/events/events.h"
#include "output/report/text.h"

enum { RANGE_WIDTH = 70, DSO_WIDTH = 20, CYCLES_BYTES = 32 };

static void format_cycles(uint64_t cycles, char text[CYCLES_BYTES])
{
    if (cycles >= 1000000)
        pf_format(text, CYCLES_BYTES, "%.1fM", (double)cycles / 1e6);
    else if (cycles >= 1000)
        pf_format(text, CYCLES_BYTES, "%.1fK", (double)cycles / 1e3);
    else
        pf_format(text, CYCLES_BYTES, "%" PRIu64, cycles);
}

static void put_right(struct pf_text *out, const struct pf_text *cell, size_t width)
{
    pf_report_text_pad(out, width > cell->used ? width - cell->used : 0);
    pf_put(out, cell->data, cell->used);
}

static const char *module_of(const struct pf_basic_blocks *blocks, const struct pf_basic_block *block)
{
    const struct pf_frame_info *frame = pf_profile_frame(blocks->profile, block->end_frame);
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(blocks->profile), frame->module);
    return module ? module->short_name : "[unknown]";
}

static void put_block(const struct pf_basic_blocks *blocks, const struct pf_basic_block *block, bool full_path,
                      struct pf_text *cell, struct pf_text *out)
{
    const struct pf_block_event *event = &blocks->events[block->event];
    char cycles[CYCLES_BYTES], average[CYCLES_BYTES];
    format_cycles(block->cycles, cycles);
    format_cycles((uint64_t)pf_basic_block_average(block), average);
    pf_put_format(out, "  %14.2f%%%16s  %10.2f%%%12s  ", 100 * (double)block->cycles / (double)event->cycles, cycles,
                  100 * pf_basic_block_average(block) / event->averages, average);
    cell->used = 0;
    pf_put_char(cell, '[');
    pf_basic_block_put_line(blocks, block, true, full_path, cell);
    pf_put_string(cell, " -> ");
    pf_basic_block_put_line(blocks, block, false, full_path, cell);
    pf_put_char(cell, ']');
    put_right(out, cell, RANGE_WIDTH);
    cell->used = 0;
    pf_put_name(cell, module_of(blocks, block));
    put_right(out, cell, DSO_WIDTH + 2);
    pf_put_char(out, '\n');
}

static void put_header(const struct pf_block_event *event, struct pf_text *out)
{
    static const size_t widths[] = {15, 14, 11, 10, RANGE_WIDTH, DSO_WIDTH};
    pf_report_text_put_samples(out, event->samples, false);
    pf_put_name(out, event->event->name);
    pf_put_format(out, "'\n# Event count (approx.): %" PRIu64 "\n#\n", event->branches);
    pf_put_format(out, "# Sampled Cycles%%  Sampled Cycles  Avg Cycles%%  Avg Cycles  %*s  %*s\n# ", RANGE_WIDTH,
                  "[Program Block Range]", DSO_WIDTH, "Shared Object");
    for (size_t i = 0; i < PF_COUNT(widths); i++) {
        pf_put_string(out, i ? "  " : "");
        pf_report_text_dots(out, widths[i]);
    }
    pf_put_string(out, "\n#\n");
}

static void put_events(const struct pf_basic_blocks *blocks, const struct perfile_output_options *options,
                       struct pf_text *cell, struct pf_text *out)
{
    const bool headed = !(options->report->flags & PERFILE_REPORT_NO_HEADER);
    size_t block = 0;
    for (size_t i = 0; i < blocks->event_count; i++) {
        if (headed && blocks->events[i].samples)
            put_header(&blocks->events[i], out);
        for (; block < blocks->count && blocks->items[block].event == i; block++)
            put_block(blocks, &blocks->items[block], options->symbols->full_source_path, cell, out);
        if (blocks->events[i].samples)
            pf_put_string(out, "\n\n");
    }
    if (headed && !blocks->count)
        pf_put_string(out, "# No branch in a known function has cycles.\n");
}

int pf_blocks_write(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                    struct perfile_error *error)
{
    static const struct pf_event_needs needs = {.only = NULL};
    struct pf_basic_blocks blocks;
    struct pf_profile *profile;
    struct pf_text cell;
    int result = pf_event_profile_open(options, reader, &needs, &profile, error);
    if (result < 0)
        return result;
    if (pf_text_open(&cell, out->allocator, NULL, NULL) < 0) {
        pf_profile_close(profile);
        return pf_fail_memory(error, "report");
    }
    pf_basic_blocks_open(&blocks, profile, out->allocator);
    result = pf_event_profile_read(profile, pf_basic_blocks_take, &blocks, error);
    pf_basic_blocks_end(&blocks);
    put_events(&blocks, options, &cell, out);
    if (cell.failed && result == 0)
        result = pf_fail_memory(error, "report");
    pf_basic_blocks_close(&blocks);
    pf_text_close(&cell);
    pf_profile_close(profile);
    return result;
}
