/* SPDX-License-Identifier: MIT */
/*
 * The distinct addresses in the code that stacks have, each with its function, module, source file and line. With the
 * key `function` the rows are the functions that the ids in the view `stacks` stand for, once each.
 */
#include "analysis/describe.h"
#include "base/error.h"
#include "base/map.h"
#include "view/ids.h"
#include "view/profiled.h"

struct frames {
    struct pf_profiled profiled; /* first */
    uint64_t *ids;               /* of functions; NULL: not needed */
    size_t id_count;
    struct pf_map known; /* delivered ids, by function */
    bool by_function;
    uint64_t id; /* of the function in hand */
    struct perfile_profile_frame frame;
    struct perfile_profile_function function;
    struct perfile_module module;
    bool mapped; /* the module is there */
};

#define FRAMES const struct frames *frames = state

PF_PUT_AS(function_id, FRAMES, pf_set_u64, frames->id)

/*
 * The kernel and code of JITs are at other addresses each time, so their frames are hashed by the offset in the
 * function.
 */
PF_PUT(frame_id)
{
    FRAMES;
    const uint32_t kind = frames->frame.kind;
    const bool moves = kind == PERFILE_FRAME_KERNEL || kind == PERFILE_FRAME_JIT;
    const uint64_t location = moves && frames->function.name ? frames->frame.offset : frames->frame.address;
    pf_set_u64(vector, pf_location_id(frames->id, location, kind == PERFILE_FRAME_INLINED ? frames->frame.line : 0));
}

PF_PUT_AS(symbol, FRAMES, pf_set_lasting, frames->function.name)
PF_PUT_AS(label, FRAMES, pf_set_lasting, frames->function.label)
PF_PUT_AS(raw_symbol, FRAMES, pf_set_lasting, frames->function.raw_name)
PF_PUT_AS(kind, FRAMES, pf_set_lasting,
          pf_describe_kind(frames->by_function ? frames->function.kind : frames->frame.kind))
PF_PUT_AS(dso, FRAMES, pf_set_lasting, frames->mapped ? frames->module.name : NULL)
PF_PUT_IF(build_id, FRAMES, frames->mapped, pf_profiled_put_build_id, &frames->module)
PF_PUT_IF(start, FRAMES, frames->function.name && frames->function.kind != PERFILE_FRAME_INLINED, pf_set_u64,
          frames->function.address)
PF_PUT_AS(start_file, FRAMES, pf_set_lasting, frames->function.file)
PF_PUT_IF(start_line, FRAMES, frames->function.file && frames->function.start_line, pf_set_u32,
          frames->function.start_line)
PF_PUT_AS(address, FRAMES, pf_set_u64, frames->frame.address)
PF_PUT_IF(offset, FRAMES, frames->function.name && frames->frame.kind != PERFILE_FRAME_INLINED, pf_set_u64,
          frames->frame.offset)
PF_PUT_IF(file_offset, FRAMES, frames->frame.file_offset, pf_set_u64, frames->frame.file_offset)
PF_PUT_AS(srcfile, FRAMES, pf_set_lasting, frames->frame.file)
PF_PUT_IF(srcline, FRAMES, frames->frame.file && frames->frame.line, pf_set_u32, frames->frame.line)

#define FUNCTION_ID "The same for equal functions in all recordings: a hash of module and name."

static const struct pf_column columns[] = {
    PF_REQUIRED_EXTRA(frame_id, U64, "",
                      "The same for equal addresses in all recordings: a hash of function and address."),
    PF_REQUIRED_EXTRA(function_id, U64, "", FUNCTION_ID),
    PF_COLUMN(symbol, TEXT, "", "Function at the address."),
    PF_REQUIRED_EXTRA(label, TEXT, "", "The function as flame graphs name it; never null."),
    PF_EXTRA(raw_symbol, TEXT, "", "The function's name in the symbol table."),
    PF_REQUIRED(kind, TEXT, "", "Where it ran: user, kernel, inlined, jit, unknown."),
    PF_COLUMN(dso, TEXT, "", "File or module that holds the address."),
    PF_COLUMN(build_id, TEXT, "", "Build id of the file as the recording has it, in hexadecimal."),
    PF_REQUIRED(address, ADDRESS, "", "Address as the symbols of the module count: for ELF files a virtual address."),
    PF_COLUMN(offset, U64, "bytes", "Distance from the start of the function."),
    PF_EXTRA(file_offset, U64, "bytes", "Offset of the address in the file."),
    PF_COLUMN(srcfile, TEXT, "", "Source file; of callers, of the call."),
    PF_COLUMN(srcline, U32, "", "Line in that source file."),
};

static const struct pf_column columns_by_function[] = {
    PF_REQUIRED(function_id, U64, "", FUNCTION_ID),
    PF_COLUMN(symbol, TEXT, "", "Function; null: the code of the module that has no symbol."),
    PF_REQUIRED(label, TEXT, "", "The function as flame graphs name it."),
    PF_COLUMN(raw_symbol, TEXT, "", "The function's name in the symbol table."),
    PF_REQUIRED(kind, TEXT, "", "Where it ran: user, kernel, inlined, jit, unknown."),
    PF_COLUMN(dso, TEXT, "", "File or module that holds it."),
    PF_COLUMN(build_id, TEXT, "", "Build id of the file as the recording has it, in hexadecimal."),
    PF_COLUMN(start, ADDRESS, "",
              "Where it begins as the symbols of the module count: for ELF files a virtual address."),
    {.name = "srcfile",
     .type = PERFILE_COLUMN_TEXT,
     .unit = "",
     .doc = "Source file of where it begins.",
     .put = put_start_file,
     .extra = true},
    {.name = "srcline",
     .type = PERFILE_COLUMN_U32,
     .unit = "",
     .doc = "Line there.",
     .put = put_start_line,
     .extra = true},
};

/* Functions need no addresses, but for their source lines. */
static uint32_t flags_of(const struct frames *frames, const struct perfile_table *table)
{
    return frames->by_function && !pf_table_may_show(table, "srcfile") && !pf_table_may_show(table, "srcline")
               ? PERFILE_STREAM_JOIN_UNNAMED
               : PERFILE_STREAM_ADDRESSES;
}

static bool add_columns(struct frames *frames, struct perfile_table *table)
{
    frames->profiled.count = perfile_profile_frame_count(frames->profiled.profile);
    if (!frames->by_function)
        return pf_table_add_all(table, columns, PF_COUNT(columns));
    frames->profiled.count = perfile_profile_function_count(frames->profiled.profile);
    return pf_table_add_all(table, columns_by_function, PF_COUNT(columns_by_function));
}

static int open_frames(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct frames *frames = state;
    pf_map_open(&frames->known, table->allocator);
    frames->by_function = pf_profiled_is_by(table, table->view->own_key);
    frames->profiled.frames_only = true;
    const int result = pf_profiled_open(&frames->profiled, table, flags_of(frames, table), error);
    if (result < 0)
        return result;
    if (!add_columns(frames, table))
        return pf_fail_memory(error, "frames");
    if (frames->by_function || pf_table_may_show(table, "function_id") || pf_table_may_show(table, "frame_id"))
        if (!(frames->ids = pf_profiled_function_ids(&frames->profiled, &frames->id_count)))
            return pf_fail_memory(error, "frames");
    return 0;
}

/* Takes a function; false: out of memory. */
static bool take_function(struct frames *frames, uint32_t number)
{
    frames->function.size = sizeof(frames->function);
    frames->module.size = sizeof(frames->module);
    (void)!perfile_profile_function_at(frames->profiled.profile, number, &frames->function);
    frames->mapped = perfile_profile_module_at(frames->profiled.profile, frames->function.module, &frames->module) == 0;
    frames->id = frames->ids ? frames->ids[number] : 0;
    return !frames->by_function || pf_map_put(&frames->known, frames->id, number);
}

static int next_frame(void *state, struct perfile_error *error)
{
    struct frames *frames = state;
    struct pf_profiled *profiled = &frames->profiled;
    uint64_t known;
    while (frames->by_function && profiled->row < profiled->count &&
           pf_map_get(&frames->known, frames->ids[profiled->row], &known))
        profiled->row++;
    if (profiled->row == profiled->count)
        return 0;
    frames->frame.size = sizeof(frames->frame);
    if (!frames->by_function)
        (void)!perfile_profile_frame_at(profiled->profile, profiled->row, &frames->frame);
    if (!take_function(frames, frames->by_function ? (uint32_t)profiled->row : frames->frame.function))
        return pf_fail_memory(error, "frames");
    profiled->row++;
    return 1;
}

static void close_frames(void *state)
{
    struct frames *frames = state;
    const struct perfile_allocator *allocator = frames->profiled.table->allocator;
    pf_profiled_close(&frames->profiled);
    pf_map_close(&frames->known);
    pf_free(allocator, frames->ids, (frames->id_count + 1) * sizeof(*frames->ids));
}

const struct pf_view pf_view_frames = {
    .info = {"frames", "the distinct addresses that stacks have: function, module with build id, source line"},
    .lists = {PF_COLUMNS(columns), PF_COLUMNS(columns_by_function)},
    .own_key = "function",
    .state_bytes = sizeof(struct frames),
    .open = open_frames,
    .next = next_frame,
    .close = close_frames,
    .losses = pf_profiled_losses,
};
