/* SPDX-License-Identifier: MIT */
/* Memory accesses by cache line, and the code and threads that accessed which bytes of it. */
#include <stdio.h>
#include <string.h>

#include "analysis/data_types.h"
#include "analysis/events/lines.h"
#include "view/view.h"

struct cache_lines {
    struct perfile_table *table;
    struct pf_lines lines;
    bool by_row; /* of the view cache_line_accesses */
    const struct pf_line *line;
    const struct pf_line_row *row; /* NULL: rows are lines */
    const struct pf_access_sums *sums;
    const struct pf_accessors *accessors;
    struct pf_data_types *types; /* NULL: not asked for yet */
    size_t first_row;            /* of the line, or of one before, where rows are lines */
};

#define LINES const struct cache_lines *view = state

static const struct pf_frame_info *frame_at(const struct cache_lines *view, uint32_t frame)
{
    return frame == PF_NO_FRAME ? NULL : pf_profile_frame(view->lines.profile, frame);
}

static void put_module(const struct cache_lines *view, struct pf_vector *vector, uint32_t number)
{
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(view->lines.profile), number);
    pf_set_lasting(vector, module ? module->name : NULL);
}

/* ---- of lines and of rows ---------------------------------------------------------------------------------------- */

#define PF_ACCESS(id, rare, text)                                                                                      \
    PF_PUT(id)                                                                                                         \
    {                                                                                                                  \
        LINES;                                                                                                         \
        pf_set_u64(vector, view->sums->of[PF_ACCESS_##id]);                                                            \
    }
#include "analysis/events/accesses.def"
#undef PF_ACCESS

#define PUT(name, set, value) PF_PUT_AS(name, LINES, set, value)
PUT(line, pf_set_u64, view->line->address)
PUT(samples, pf_set_u64, view->sums->samples)
PUT(records, pf_set_u64, pf_access_records(view->sums))
PUT(hitm, pf_set_u64, pf_access_hitm(view->sums))
PUT(peer, pf_set_u64, pf_access_peer(view->sums))
PUT(threads, pf_set_u32, view->accessors->threads)

PF_PUT(cpus)
{
    LINES;
    const uint32_t count = pf_accessors_count(view->accessors, PF_ACCESSOR_CPUS);
    if (count)
        pf_set_u32(vector, count);
    else
        pf_set_null(vector);
}

PF_PUT(nodes)
{
    LINES;
    char number[12];
    uint32_t node = pf_accessors_next(view->accessors, PF_ACCESSOR_NODES, 0);
    if (node == UINT32_MAX) {
        pf_set_null(vector);
        return;
    }
    for (; node != UINT32_MAX; node = pf_accessors_next(view->accessors, PF_ACCESSOR_NODES, node + 1)) {
        const int bytes = snprintf(number, sizeof(number), "%u", node);
        pf_add_code(vector, pf_dictionary_put(&vector->dictionary, number, (size_t)bytes));
    }
    pf_end_list(vector);
}

static void put_cost(const struct cache_lines *view, struct pf_vector *vector, enum pf_access_cost cost)
{
    if (view->sums->weighed[cost])
        pf_set_f64(vector, (double)view->sums->weights[cost] / (double)view->sums->weighed[cost]);
    else
        pf_set_null(vector);
}
#define PUT_COST(name, cost)                                                                                           \
    PF_PUT(name)                                                                                                       \
    {                                                                                                                  \
        put_cost(state, vector, cost);                                                                                 \
    }
PUT_COST(remote_hitm_weight, PF_COST_REMOTE_HITM)
PUT_COST(local_hitm_weight, PF_COST_LOCAL_HITM)
PUT_COST(remote_peer_weight, PF_COST_REMOTE_PEER)
PUT_COST(local_peer_weight, PF_COST_LOCAL_PEER)
PUT_COST(load_weight, PF_COST_LOAD)

/* ---- types of data ----------------------------------------------------------------------------------------------- */

/* What the code of the row accesses; NULL: not known. */
static const char *data_type_of(struct cache_lines *view, const struct pf_line_row *row)
{
    const struct pf_frame_info *frame = frame_at(view, row->frame);
    if (!frame || frame->module == PF_NO_SYMBOL)
        return NULL;
    if (!view->types)
        view->types = pf_data_types_open(pf_profile_symbols(view->lines.profile), view->table->allocator);
    const struct pf_data_use *use = view->types ? pf_data_types_at(view->types, frame->module, frame->symbol,
                                                                   pf_frame_address(frame)->table_address)
                                                : NULL;
    if (!use)
        pf_memory_note_short(view->table->allocator);
    return use && use->use.type ? use->label : NULL;
}

/* Whether one of the rows before has it, as far as that is looked at: those of one member are beside each other. */
static bool is_stated(struct cache_lines *view, size_t first, size_t row, const char *type)
{
    enum { LOOKS_BACK = 16 };
    for (size_t i = row; i-- > first && row - i <= LOOKS_BACK;)
        if (data_type_of(view, view->lines.rows[i]) == type)
            return true;
    return false;
}

/* ---- of lines ---------------------------------------------------------------------------------------------------- */

/* Rows are in the order of lines, and of offsets in these. */
PF_PUT(data_types)
{
    struct cache_lines *view = state;
    const struct pf_lines *lines = &view->lines;
    bool any = false;
    while (view->first_row < lines->row_count && lines->rows[view->first_row]->line != view->line)
        view->first_row++;
    for (size_t i = view->first_row; i < lines->row_count && lines->rows[i]->line == view->line; i++) {
        const char *type = data_type_of(view, lines->rows[i]);
        if (!type || is_stated(view, view->first_row, i, type))
            continue;
        pf_add_code(vector, pf_dictionary_put(&vector->dictionary, type, strlen(type)));
        any = true;
    }
    if (any)
        pf_end_list(vector);
    else
        pf_set_null(vector);
}

PF_PUT(hitm_percent)
{
    LINES;
    const uint64_t all = pf_access_hitm(&view->lines.sums);
    pf_set_f64(vector, all ? 100 * (double)pf_access_hitm(view->sums) / (double)all : 0);
}

PF_PUT(sharing)
{
    LINES;
    const struct pf_line *line = view->line;
    if (line->false_sharing || line->true_sharing)
        pf_set_lasting(vector, !line->true_sharing ? "false" : line->false_sharing ? "both" : "true");
    else
        pf_set_null(vector);
}

PF_PUT_IF(phys_addr, LINES, view->line->has_phys, pf_set_u64, view->line->phys_address)

PF_PUT(data_symbol)
{
    LINES;
    const struct pf_frame_info *frame = frame_at(view, view->line->frame);
    pf_set_lasting(vector, frame ? frame->name : NULL);
}

PF_PUT(data_dso)
{
    LINES;
    const struct pf_frame_info *frame = frame_at(view, view->line->frame);
    put_module(view, vector, frame ? frame->module : PF_NO_SYMBOL);
}

PUT(line_bytes, pf_set_u64, view->lines.line_bytes)
PUT(places, pf_set_u32, view->line->rows)

/* ---- of rows ----------------------------------------------------------------------------------------------------- */

static void set_id(struct pf_vector *vector, int32_t id)
{
    if (id < 0)
        pf_set_null(vector);
    else
        pf_set_i32(vector, id);
}

PUT(offset, pf_set_u32, view->row->offset)
PUT(pid, set_id, view->row->pid)
PUT(tid, set_id, view->row->tid)
PUT(comm, pf_set_lasting, view->row->comm)

PF_PUT(ip)
{
    LINES;
    const struct pf_frame_info *frame = frame_at(view, view->row->frame);
    if (frame)
        pf_set_u64(vector, pf_frame_address(frame)->ip);
    else
        pf_set_null(vector);
}

PF_PUT(symbol)
{
    LINES;
    const struct pf_frame_info *frame = frame_at(view, view->row->frame);
    pf_set_lasting(vector, frame ? frame->name : NULL);
}

PF_PUT(dso)
{
    LINES;
    put_module(view, vector, view->row->module);
}

PF_PUT(srcfile)
{
    LINES;
    const struct pf_frame_info *frame = frame_at(view, view->row->frame);
    pf_set_lasting(vector, frame ? pf_frame_address(frame)->file : NULL);
}

PF_PUT(srcline)
{
    LINES;
    const struct pf_frame_info *frame = frame_at(view, view->row->frame);
    const struct pf_frame_address *address = frame ? pf_frame_address(frame) : NULL;
    if (address && address->file && address->line)
        pf_set_u32(vector, address->line);
    else
        pf_set_null(vector);
}

PF_PUT(data_type)
{
    struct cache_lines *view = state;
    pf_set_lasting(vector, data_type_of(view, view->row));
}

#define PF_ACCESS(id, rare, text) PF_COLUMN_AS(id, U64, "", text, .required = true, .extra = rare),
#define SHARED_COLUMNS                                                                                                 \
    PF_COLUMN(remote_hitm_weight, F64, "", "Average weight of its remote HITM loads; null: there are none."),          \
        PF_COLUMN(local_hitm_weight, F64, "", "The same of local HITM loads."),                                        \
        PF_EXTRA(remote_peer_weight, F64, "", "The same of loads that a cache of another node answered."),             \
        PF_EXTRA(local_peer_weight, F64, "", "The same of loads that another cache of the node answered."),            \
        PF_COLUMN(load_weight, F64, "", "The same of all other loads."),                                               \
        PF_REQUIRED(threads, U32, "", "How many threads accessed it."),                                                \
        PF_COLUMN(cpus, U32, "", "On how many processors; null: not recorded."),                                       \
        PF_COLUMN(nodes, TEXTS, "", "The memory nodes of these; null: not known."),                                    \
        PF_REQUIRED(samples, U64, "samples", "How many samples."),                                                     \
        PF_REQUIRED_EXTRA(records, U64, "", "Accesses by where they were answered, each once."),                       \
        PF_REQUIRED(hitm, U64, "", "Loads of modified lines, local and remote."),                                      \
        PF_REQUIRED_EXTRA(peer, U64, "", "Loads that other caches answered, local and remote.")

static const struct pf_column line_columns[] = {
    PF_REQUIRED(line, ADDRESS, "", "Address of the line, in the process that accessed it first."),
    PF_COLUMN(phys_addr, ADDRESS, "", "Its physical address; null: not recorded."),
    PF_COLUMN(data_symbol, TEXT, "", "Variable at the start of the line."),
    PF_COLUMN(data_dso, TEXT, "", "File or module that holds the line."),
    PF_COLUMN(data_types, TEXTS, "", "Types, offsets and members that were accessed there; null: not known."),
    PF_REQUIRED_EXTRA(line_bytes, BYTES, "bytes",
                      "How long lines are on the machine that recorded; 64 when it does not say."),
    PF_COLUMN(
        sharing, TEXT, "",
        "false: threads access different bytes, and one of them stores; true: the same bytes; both; null: neither, "
        "as far as samples show it."),
    PF_REQUIRED(hitm_percent, F64, "percent", "Its share of all HITM loads."),
    PF_REQUIRED(places, U32, "", "How many rows it has in the view cache_line_accesses."),
    SHARED_COLUMNS,
#include "analysis/events/accesses.def"
};

static const struct pf_column row_columns[] = {
    PF_REQUIRED(line, ADDRESS, "", "Address of the line, as in the view cache_lines."),
    PF_REQUIRED(offset, U32, "bytes", "Where in the line."),
    PF_COLUMN(ip, ADDRESS, "", "Address of the instruction; null: of several."),
    PF_COLUMN(symbol, TEXT, "", "Function at that address."),
    PF_COLUMN(dso, TEXT, "", "File or module that holds the code; null: of several, or not known."),
    PF_COLUMN(srcfile, TEXT, "", "Source file of the address."),
    PF_COLUMN(srcline, U32, "", "Line in that source file."),
    PF_EXTRA(data_type, TEXT, "", "Type, offset and member that the instruction accesses; null: not known."),
    PF_COLUMN(pid, I32, "", "Process; null: of several."),
    PF_COLUMN(tid, I32, "", "Thread; null: of several."),
    PF_COLUMN(comm, TEXT, "", "Name of the thread; null: of several."),
    SHARED_COLUMNS,
#include "analysis/events/accesses.def"
};

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static int next_row(void *state, struct perfile_error *error)
{
    struct cache_lines *view = state;
    const struct pf_lines *lines = &view->lines;
    struct pf_all_rows *all = &view->table->all;
    if (!all->read)
        all->result = pf_lines_read(&view->lines, &all->error);
    all->read = true;
    const int result = pf_table_row(view->table, view->by_row ? lines->row_count : lines->line_count, error);
    if (result <= 0)
        return result;
    view->row = view->by_row ? lines->rows[all->row] : NULL;
    view->line = view->by_row ? view->row->line : lines->lines[all->row];
    view->sums = view->by_row ? &view->row->sums : &view->line->sums;
    view->accessors = view->by_row ? &view->row->accessors : &view->line->accessors;
    return 1;
}

static int open_view(struct perfile_table *table, void *state, struct perfile_error *error)
{
    const struct pf_lines_options how = {
        .allocator = table->allocator,
        .filter = table->options.filter,
        .symbols = &table->complete.symbols,
        .drive = {table->options.threads, table->options.progress, table->options.progress_context},
        .keys = table->options.keys};
    struct cache_lines *view = state;
    view->by_row = table->view->lists[0].items == row_columns;
    const int result = pf_lines_open(&view->lines, table->reader, &how, error);
    table->profile = view->lines.profile;
    return result;
}

static void close_view(void *state)
{
    struct cache_lines *view = state;
    pf_data_types_close(view->types);
    pf_lines_close(&view->lines);
}

static void report_notes(void *state, pf_on_note *notify, void *context)
{
    pf_lines_notify(&((struct cache_lines *)state)->lines, notify, context);
}

#define LINE_VIEW(id, text, columns)                                                                                   \
    const struct pf_view pf_view_##id = {                                                                              \
        .info = {#id, text},                                                                                           \
        .lists = {PF_COLUMNS(columns)},                                                                                \
        .answers = "ip,sharing,hitm",                                                                                  \
        .state_bytes = sizeof(struct cache_lines),                                                                     \
        .open = open_view,                                                                                             \
        .next = next_row,                                                                                              \
        .close = close_view,                                                                                           \
        .notes = report_notes,                                                                                         \
    }
LINE_VIEW(cache_lines, "cache lines with the loads and stores that were sampled in them, the most contended first",
          line_columns);
LINE_VIEW(cache_line_accesses, "the accesses to the bytes of a cache line, by the address of the code", row_columns);
