/* SPDX-License-Identifier: MIT */
/* The distinct places in the code that stacks have: an address with its function, module, source file and line. */
#include "analysis/describe.h"
#include "base/error.h"
#include "view/profiled.h"

struct frames {
    struct pf_profiled profiled; /* first */
    struct perfile_profile_frame frame;
    struct perfile_profile_function function;
    struct perfile_module module;
    bool mapped; /* the module is there */
};

#define FRAMES const struct frames *frames = state

PF_PUT(symbol)
{
    FRAMES;
    pf_set_lasting(vector, frames->function.name);
}

PF_PUT(label)
{
    FRAMES;
    pf_set_lasting(vector, frames->function.label);
}

PF_PUT(raw_symbol)
{
    FRAMES;
    pf_set_lasting(vector, frames->function.raw_name);
}

PF_PUT(kind)
{
    FRAMES;
    pf_set_lasting(vector, pf_describe_kind(frames->frame.kind));
}

PF_PUT(dso)
{
    FRAMES;
    pf_set_lasting(vector, frames->mapped ? frames->module.name : NULL);
}

PF_PUT(build_id)
{
    FRAMES;
    if (frames->mapped)
        pf_profiled_put_build_id(vector, &frames->module);
    else
        pf_set_null(vector);
}

PF_PUT(address)
{
    FRAMES;
    pf_set_u64(vector, frames->frame.address);
}

PF_PUT(offset)
{
    FRAMES;
    if (frames->function.name && frames->frame.kind != PERFILE_FRAME_INLINED)
        pf_set_u64(vector, frames->frame.offset);
    else
        pf_set_null(vector);
}

PF_PUT(file_offset)
{
    FRAMES;
    if (frames->frame.file_offset)
        pf_set_u64(vector, frames->frame.file_offset);
    else
        pf_set_null(vector);
}

PF_PUT(srcfile)
{
    FRAMES;
    pf_set_lasting(vector, frames->frame.file);
}

PF_PUT(srcline)
{
    FRAMES;
    if (frames->frame.file && frames->frame.line)
        pf_set_u32(vector, frames->frame.line);
    else
        pf_set_null(vector);
}

static const struct pf_column columns[] = {
    PF_COLUMN(symbol, TEXT, "", "Function at the address."),
    PF_REQUIRED_EXTRA(label, TEXT, "", "The function as flame graphs name it; never null."),
    PF_EXTRA(raw_symbol, TEXT, "", "The function's name in the symbol table."),
    PF_REQUIRED(kind, TEXT, "", "Where it ran: user, kernel, inlined, jit, unknown."),
    PF_COLUMN(dso, TEXT, "", "File or module that holds the address."),
    PF_COLUMN(build_id, TEXT, "", "Build id of the file as the recording has it, in hexadecimal."),
    PF_REQUIRED(address, ADDRESS, "", "Address as the symbols of the module count: for ELF files a virtual address."),
    PF_COLUMN(offset, BYTES, "bytes", "Distance from the start of the function."),
    PF_EXTRA(file_offset, BYTES, "bytes", "Offset of the address in the file."),
    PF_COLUMN(srcfile, TEXT, "", "Source file; of callers, of the call."),
    PF_COLUMN(srcline, U32, "", "Line in that source file."),
};

static int open_frames(struct perfile_table *table, void **state, struct perfile_error *error)
{
    struct frames *frames = pf_new(table->allocator, sizeof(*frames));
    *state = frames;
    if (!frames)
        return pf_fail_memory(error, "frames");
    const int result = pf_profiled_open(&frames->profiled, table, PERFILE_STREAM_ADDRESSES, error);
    if (result < 0)
        return result;
    frames->profiled.count = perfile_profile_frame_count(frames->profiled.profile);
    return pf_table_add_all(table, columns, PF_COUNT(columns)) ? 0 : pf_fail_memory(error, "frames");
}

static int next_frame(void *state, struct perfile_error *error)
{
    struct frames *frames = state;
    struct pf_profiled *profiled = &frames->profiled;
    (void)error;
    if (profiled->row == profiled->count)
        return 0;
    frames->frame.size = sizeof(frames->frame);
    frames->function.size = sizeof(frames->function);
    frames->module.size = sizeof(frames->module);
    (void)!perfile_profile_frame_at(profiled->profile, profiled->row++, &frames->frame);
    (void)!perfile_profile_function_at(profiled->profile, frames->frame.function, &frames->function);
    frames->mapped = perfile_profile_module_at(profiled->profile, frames->function.module, &frames->module) == 0;
    return 1;
}

static void close_frames(void *state)
{
    struct frames *frames = state;
    if (!frames)
        return;
    const struct perfile_allocator *allocator = frames->profiled.table->allocator;
    pf_profiled_close(&frames->profiled);
    pf_free(allocator, frames, sizeof(*frames));
}

const struct pf_view pf_view_frames = {
    .info = {"frames", "the distinct addresses that stacks have: function, module with build id, source line"},
    .open = open_frames,
    .next = next_frame,
    .close = close_frames,
    .losses = pf_profiled_losses,
};
