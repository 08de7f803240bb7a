/* SPDX-License-Identifier: MIT */
#include "analysis/frames.h"

#include "base/bytes.h"

enum { INLINES_MAX = 64 };

void pf_frames_open(struct pf_frames *frames, struct pf_symbols *symbols, const struct pf_frames_options *options,
                    const struct perfile_allocator *allocator)
{
    const size_t bytes = options->by_address ? sizeof(struct pf_frame_address) : sizeof(struct pf_frame_info);
    *frames = (struct pf_frames){.allocator = allocator, .symbols = symbols, .options = *options};
    pf_segments_open(&frames->frames, bytes, allocator);
    pf_segments_open(&frames->lists, sizeof(uint32_t *), allocator);
    pf_arena_open(&frames->arena, allocator);
    pf_address_cache_open(&frames->positions, allocator);
    pf_pairs_open(&frames->numbered, allocator);
}

void pf_frames_close(struct pf_frames *frames)
{
    if (!frames->allocator)
        return;
    pf_address_cache_close(&frames->positions);
    pf_pairs_close(&frames->numbered);
    pf_segments_close(&frames->frames);
    pf_segments_close(&frames->lists);
    pf_arena_close(&frames->arena);
}

void pf_frames_end(struct pf_frames *frames)
{
    pf_address_cache_close(&frames->positions);
    pf_pairs_close(&frames->numbered);
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static uint8_t kind_of(const struct pf_frames *frames, const struct pf_location *location)
{
    const struct pf_module *module = pf_symbols_module(frames->symbols, location->module);
    if (!module)
        return PF_FRAME_UNKNOWN;
    if (module->kernel)
        return PF_FRAME_KERNEL;
    return module->jit ? PF_FRAME_JIT : PF_FRAME_USER;
}

/* The number of a new frame with these keys; PF_NO_FRAME: out of memory. */
static uint32_t make_frame(struct pf_frames *frames, uint64_t a, uint64_t b, const struct pf_frame_address *info)
{
    const uint32_t frame = (uint32_t)frames->count;
    struct pf_frame_info *made = frame < PF_EXPANDED - 1 ? pf_segments_make(&frames->frames, frame) : NULL;
    if (!made)
        return PF_NO_FRAME;
    memcpy(made, info, frames->frames.bytes);
    if (!info->ip)
        made->function = frame;
    frames->count++;
    return pf_pairs_put(&frames->numbered, a, b, frame) ? frame : PF_NO_FRAME;
}

/* The number of the frame with these keys, a new one when there is none; PF_NO_FRAME: out of memory. */
static uint32_t number_frame(struct pf_frames *frames, uint64_t a, uint64_t b, const struct pf_frame_address *info)
{
    uint32_t frame;
    return pf_pairs_get(&frames->numbered, a, b, &frame) ? frame : make_frame(frames, a, b, info);
}

/* The frame of one address in the function; PF_NO_FRAME: out of memory. */
static uint32_t number_address(struct pf_frames *frames, uint32_t function, const struct pf_location *location,
                               uint64_t ip, const struct pf_source_frame *source)
{
    if (function == PF_NO_FRAME || !frames->options.by_address || !ip)
        return function;
    struct pf_frame_address info = *pf_frame_address(pf_frames_at(frames, function));
    info.frame.function = function;
    info.frame.address = location->offset;
    info.ip = ip;
    info.table_address = location->table_address;
    info.in_module = location->in_module;
    if (source) {
        info.file = source->file;
        info.line = source->line;
    }
    return number_frame(frames, (uint64_t)1 << 62 | function,
                        frames->options.by_location ? location->table_address : ip, &info);
}

static uint32_t number_function(struct pf_frames *frames, const struct pf_location *location)
{
    const bool named = location->symbol != PF_NO_SYMBOL;
    const uint64_t address = named || !frames->options.joins_unnamed ? location->offset : 0;
    const uint64_t a = (uint64_t)location->module << 1 | named, b = named ? location->symbol : address;
    uint32_t frame;
    if (PF_LIKELY(pf_pairs_get(&frames->numbered, a, b, &frame)))
        return frame;
    const struct pf_frame_address info = {
        .frame = {.module = location->module,
                  .symbol = location->symbol,
                  .address = address,
                  .name = pf_symbols_name(frames->symbols, location->module, location->symbol),
                  .kind = kind_of(frames, location)}};
    return make_frame(frames, a, b, &info);
}

static uint32_t number_location(struct pf_frames *frames, const struct pf_location *location, uint64_t ip)
{
    const uint32_t function = number_function(frames, location);
    struct pf_source_frame sources[INLINES_MAX];
    const bool own_line = frames->options.by_location && frames->options.inlines;
    const size_t capacity = own_line ? INLINES_MAX : 1;
    const size_t count = frames->options.by_address && location->module != PF_NO_SYMBOL
                             ? pf_symbols_inlines(frames->symbols, location, sources, capacity)
                             : 0;
    size_t source = 0;
    while (own_line && source + 1 < count && sources[source].inlined)
        source++;
    return number_address(frames, function, location, ip, count ? &sources[source] : NULL);
}

/* Equal names of one module are equal pointers. */
static uint32_t number_inlined(struct pf_frames *frames, const struct pf_location *location, const char *function)
{
    const uint64_t a = (uint64_t)1 << 63 | (uintptr_t)function;
    const uint64_t into = frames->options.inlines_by_function ? location->symbol : PF_NO_SYMBOL;
    const uint64_t b = into << 32 | location->module;
    uint32_t frame;
    if (pf_pairs_get(&frames->numbered, a, b, &frame))
        return frame;
    char *readable = function ? pf_symbols_demangle(frames->symbols, frames->allocator, function) : NULL;
    if (function && !readable)
        (void)pf_memory_note_failure(frames->allocator);
    const char *name = readable ? pf_arena_text(&frames->arena, readable, strlen(readable)) : function;
    pf_text_free(frames->allocator, readable);
    const struct pf_frame_address info = {.frame = {.module = location->module,
                                                    .symbol = PF_NO_SYMBOL,
                                                    .name = name ? name : "[unknown]",
                                                    .kind = PF_FRAME_INLINED},
                                          .raw_name = function};
    return number_frame(frames, a, b, &info);
}

/* ---- positions --------------------------------------------------------------------------------------------------- */

/* Makes a list for so many frames, which has the count as its first number. NULL: out of memory. */
static uint32_t *make_list(struct pf_frames *frames, size_t count)
{
    uint32_t **at = frames->list_count < PF_EXPANDED - 1 ? pf_segments_make(&frames->lists, frames->list_count) : NULL;
    uint32_t *list = at ? pf_arena_new(&frames->arena, (count + 1) * sizeof(*list)) : NULL;
    if (!list)
        return NULL;
    *at = list;
    *list = (uint32_t)count;
    return list;
}

/* The frame of the location, or PF_EXPANDED when functions were inlined there; PF_NO_FRAME: out of memory. */
static uint32_t expand(struct pf_frames *frames, const struct pf_location *location, uint64_t ip, uint32_t frame)
{
    struct pf_source_frame sources[INLINES_MAX];
    const size_t count = pf_symbols_inlined(frames->symbols, location, sources, INLINES_MAX);
    size_t inlined = 0;
    while (inlined < count && sources[inlined].inlined)
        inlined++;
    if (!inlined)
        return frame;
    uint32_t *list = make_list(frames, inlined + 1);
    for (size_t i = 0; list && i < inlined; i++) {
        const uint32_t function = number_inlined(frames, location, sources[i].function);
        if ((list[i + 1] = number_address(frames, function, location, ip, &sources[i])) == PF_NO_FRAME)
            return PF_NO_FRAME;
    }
    if (!list)
        return PF_NO_FRAME;
    list[inlined + 1] = frame;
    return frames->list_count++ | PF_EXPANDED;
}

/*
 * The symbol and the lines are those of the call, the address that is shown is that of the return, as in perf. When the
 * byte before a return address has no symbol, nothing was called: signal handlers return to the start of a function.
 */
static bool locate(struct pf_frames *frames, const struct perfile_space *space, uint64_t ip, bool returns,
                   struct pf_location *location)
{
    const uint64_t at = ip - returns;
    if (!pf_symbols_locate(frames->symbols, pf_symbols_map(frames->symbols, space, at), at, location))
        return false;
    if (returns && location->symbol == PF_NO_SYMBOL)
        return locate(frames, space, ip, false, location);
    location->offset += returns;
    location->in_module += returns;
    location->table_address += returns;
    return true;
}

/* No leaf is one byte before a return address: that would be inside of the call. */
uint32_t pf_frames_resolve_in(struct pf_frames *frames, uint32_t space, uint64_t ip, bool returns)
{
    struct pf_address_slot *at = pf_address_cache_find(&frames->positions, space, ip - returns);
    if (PF_LIKELY(at && at->value))
        return at->value - 1;
    struct pf_location location;
    if (!at || !locate(frames, pf_address_cache_space(&frames->positions, space), ip, returns, &location))
        return PF_NO_FRAME;
    uint32_t position = number_location(frames, &location, ip);
    if (position != PF_NO_FRAME && frames->options.inlines && location.symbol != PF_NO_SYMBOL)
        position = expand(frames, &location, ip, position);
    if (position != PF_NO_FRAME)
        pf_address_cache_fill(&frames->positions, space, at, position);
    return position;
}

void pf_frames_expect(struct pf_frames *frames, const struct perfile_space *space, uint64_t ip, bool returns)
{
    const uint32_t number = pf_address_cache_number_of(&frames->positions, perfile_space_id(space), space);
    const struct pf_address_slots *slots =
        number == UINT32_MAX ? NULL : pf_address_cache_look(&frames->positions, number);
    if (slots)
        __builtin_prefetch(&slots->at[pf_address_slots_first(&frames->positions, slots, ip - returns)]);
}

uint32_t pf_frames_resolve(struct pf_frames *frames, const struct perfile_space *space, uint64_t ip, bool returns)
{
    const uint32_t number = pf_address_cache_number_of(&frames->positions, perfile_space_id(space), space);
    if (number == UINT32_MAX)
        return PF_NO_FRAME;
    pf_address_cache_ask(&frames->positions, number);
    return pf_frames_resolve_in(frames, number, ip, returns);
}
