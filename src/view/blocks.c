/* SPDX-License-Identifier: MIT */
/* Cycles of basic blocks, from branch stacks: the rows of `report --total-cycles`. */
#include "analysis/basic_blocks.h"

#include "base/error.h"
#include "view/profile_source.h"

struct blocks_view {
    struct pf_profiled_events source; /* first */
    struct pf_basic_blocks blocks;
    const struct pf_basic_block *block; /* of the row */
    struct pf_text text;
    bool open; /* the text */
};

#define VIEW_OF struct blocks_view *view = state
#define BLOCK                                                                                                          \
    const struct blocks_view *view = state;                                                                            \
    const struct pf_basic_block *block = view->block

static const struct pf_block_event *event_of(const struct blocks_view *view)
{
    return &view->blocks.events[view->block->event];
}

static const struct pf_frame_info *frame_of(const struct blocks_view *view)
{
    return pf_profile_frame(view->source.profile, view->block->end_frame);
}

static const char *module_of(const struct blocks_view *view)
{
    const struct pf_module *module =
        pf_symbols_module(pf_profile_symbols(view->source.profile), frame_of(view)->module);
    return module ? module->name : NULL;
}

static void put_line(struct blocks_view *view, struct pf_vector *vector, bool of_start)
{
    const bool known = !of_start || view->block->start != PF_BLOCK_NO_START;
    const uint32_t frame = of_start ? view->block->start_frame : view->block->end_frame;
    if (!known || !pf_frame_address(pf_profile_frame(view->source.profile, frame))->file) {
        pf_set_null(vector);
        return;
    }
    view->text.used = 0;
    pf_basic_block_put_line(&view->blocks, view->block, of_start, view->source.table->complete.symbols.full_source_path,
                            &view->text);
    pf_set_u32(vector, pf_dictionary_put(&vector->dictionary, view->text.data, view->text.used));
}

static double percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

PF_PUT_AS(event, VIEW_OF, pf_set_lasting, event_of(view)->event->name)
PF_PUT_AS(function, VIEW_OF, pf_set_lasting, frame_of(view)->name)
PF_PUT_AS(dso, VIEW_OF, pf_set_lasting, module_of(view))
PF_PUT_IF(start, BLOCK, block->start != PF_BLOCK_NO_START, pf_set_u64, block->start)
PF_PUT_AS(end, BLOCK, pf_set_u64, block->end)

PF_PUT(start_line)
{
    put_line(state, vector, true);
}

PF_PUT(end_line)
{
    put_line(state, vector, false);
}

PF_PUT_AS(count, BLOCK, pf_set_u64, block->count)
PF_PUT_AS(cycles, BLOCK, pf_set_u64, block->cycles)
PF_PUT_AS(cycles_percent, BLOCK, pf_set_f64, percent((double)block->cycles, (double)event_of(view)->cycles))
PF_PUT_AS(average, BLOCK, pf_set_f64, pf_basic_block_average(block))
PF_PUT_AS(average_percent, BLOCK, pf_set_f64, percent(pf_basic_block_average(block), event_of(view)->averages))

static const struct pf_column columns[] = {
    PF_REQUIRED(event, TEXT, "", "Event of the samples."),
    PF_REQUIRED(cycles_percent, F64, "percent", "Share of the cycles of all branches of the event."),
    PF_REQUIRED(cycles, U64, "cycles", "Cycles up to the branch that ends the block, in all samples."),
    PF_REQUIRED(average_percent, F64, "percent", "Share of the sum of the averages of all blocks."),
    PF_REQUIRED(average, F64, "cycles", "Cycles each time, on average."),
    PF_REQUIRED(count, U64, "", "How often the branch was taken, in branch stacks."),
    PF_REQUIRED(function, TEXT, "", "Function that the block is in."),
    PF_COLUMN(
        start, U64, "bytes",
        "Offset of its start in the function, the lowest of those seen; null: the branch before was in other code."),
    PF_REQUIRED(end, U64, "bytes", "Offset of the branch that ends it."),
    PF_COLUMN(start_line, TEXT, "", "Source line of its start; null: not known."),
    PF_COLUMN(end_line, TEXT, "", "Source line of its end; null: not known."),
    PF_COLUMN(dso, TEXT, "", "File of the code."),
};

/* ---- rows ---- */

static int open_blocks(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct blocks_view *view = state;
    static const struct pf_event_needs needs = {.only = NULL};
    if (pf_text_open(&view->text, table->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "blocks");
    view->open = true;
    const int result = pf_profiled_events_open(&view->source, table, &needs, error);
    if (result == 0)
        pf_basic_blocks_open(&view->blocks, view->source.profile, table->allocator);
    return result;
}

static int next_block(void *state, struct perfile_error *error)
{
    struct blocks_view *view = state;
    struct perfile_table *table = view->source.table;
    if (pf_profiled_events_read(&view->source, pf_basic_blocks_take, &view->blocks))
        pf_basic_blocks_end(&view->blocks);
    const int result = pf_table_row(table, view->blocks.count, error);
    if (result > 0)
        view->block = &view->blocks.items[table->all.row];
    return result;
}

static void close_blocks(void *state)
{
    struct blocks_view *view = state;
    if (view->blocks.allocator)
        pf_basic_blocks_close(&view->blocks);
    pf_profiled_events_close(&view->source);
    if (view->open)
        pf_text_close(&view->text);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    const struct blocks_view *view = state;
    if (!view->blocks.count)
        notify(context, "no branch in a known function has cycles: record with -b on a processor that counts them");
}

const struct pf_view pf_view_blocks = {
    .lists = {PF_COLUMNS(columns)},
    .info = {"blocks", "cycles of basic blocks, from branch stacks, the most expensive first"},
    .state_bytes = sizeof(struct blocks_view),
    .open = open_blocks,
    .next = next_block,
    .close = close_blocks,
    .notes = notes,
};
