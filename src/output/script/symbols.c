/* SPDX-License-Identifier: MIT */
/*
 * Addresses with their symbols and modules: the text of an address is made once for each address space, and copied from
 * then on.
 */
#include "output/script/script.h"

#include <stdio.h>

#include "base/text_cache.h"
#include "symbol/demangle/demangle.h"
#include "symbol/symbols.h"

enum {
    TEXT_BYTES_MAX = 16 << 20, /* then all texts are discarded: those that are still in use are made again soon */
    COPY_BYTES_MAX = 4096,     /* longer texts exist, but need no speed */
    SOURCES_MAX = 64,
};

enum {
    MARK_MAPPED = 1 << 0, /* something is there */
    MARK_PLAIN = 1 << 1,  /* the texts of all addresses of the page are the addresses alone */
};

struct pf_script_locations {
    struct pf_script_locations *next;
    unsigned style;
    /*
     * By address space and address. In the style of a frame a text is "\t", the line and "\n". Marks are those below.
     */
    struct pf_text_cache texts;
};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

struct pf_script_locations *pf_script_locations(struct pf_script *script, unsigned style)
{
    struct pf_script_locations *locations = script->locations;
    while (locations && locations->style != style)
        locations = locations->next;
    if (locations)
        return locations;
    locations = pf_arena_new(&script->arena, sizeof(*locations));
    if (!locations)
        return NULL;
    pf_text_cache_open(&locations->texts, script->out->allocator, script->team);
    locations->style = style;
    locations->next = script->locations;
    __atomic_store_n(&script->locations, locations, __ATOMIC_RELEASE); /* another thread may be forgetting texts */
    return locations;
}

void pf_script_discard_locations(struct pf_script *script)
{
    struct pf_script_locations *locations = __atomic_load_n(&script->locations, __ATOMIC_ACQUIRE);
    for (; locations; locations = locations->next)
        if (locations->texts.bytes > TEXT_BYTES_MAX)
            pf_text_cache_discard(&locations->texts);
}

void pf_script_symbols_close(struct pf_script *script)
{
    for (struct pf_script_locations *locations = script->locations; locations; locations = locations->next)
        pf_text_cache_close(&locations->texts);
    pf_symbols_close(script->symbols);
}

bool pf_script_open_symbols(struct pf_script *script)
{
    const struct perfile_symbol_options *options = script->options->symbols;
    if (!script->symbols && !script->failed) {
        struct pf_find_options find = pf_find_options_of(options, script->out->allocator);
        if (script->team)
            pf_script_team_guard(script->team, &find);
        int result = pf_symbols_open(script->reader, &find, &script->symbols, script->error);
        script->failed = result < 0 ? result : 0;
        if (script->symbols)
            pf_symbols_use_jit(script->symbols, pf_delivery_jit(script->delivery));
    }
    return script->symbols;
}

/* ---- the text of an address -------------------------------------------------------------------------------------- */

/* All that a text is made of. */
struct subject {
    struct pf_script_location location;
    const char *symbol; /* NULL: none, or it is not to be shown */
    bool full_paths;    /* of source files */
    size_t inlined;     /* functions before the symbol's own, innermost first */
    size_t source_count;
    struct pf_source_frame sources[SOURCES_MAX];
};

/* Code that comes from no file has no offsets: perf shows its addresses. */
static bool is_file(const struct pf_module *module)
{
    return !pf_starts_with(module->name, "/tmp/perf-") && !pf_starts_with(module->name, "//anon") &&
           !pf_starts_with(module->name, "[heap]") && !pf_starts_with(module->name, "[stack");
}

static bool is_kernel_itself(const struct pf_script_location *location)
{
    return pf_starts_with(location->module->name, "[kernel.") ||
           pf_starts_with(location->module->name, "[guest.kernel.");
}

/* The pgoff of the kernel's mapping says something else, and old kernels give the vdso's address as its pgoff. */
static uint64_t map_offset(const struct pf_script_location *location)
{
    bool from_start = is_kernel_itself(location) || pf_starts_with(location->module->name, "[vdso");
    return location->address - location->map->start + (from_start ? 0 : location->map->pgoff);
}

/* The address as the module's own: in its file when it is one. */
static uint64_t module_address(const struct pf_script_location *location)
{
    return is_file(location->module) && !is_kernel_itself(location) ? map_offset(location) : location->address;
}

/* None is shown of kallsyms and of BPF programs, whose symbols are no file's. */
static bool has_file_offset(const struct pf_script_location *location)
{
    const struct pf_module *module = location->module;
    return !location->map->symbol && (!module->kernel || !module->table || module->path);
}

static void put_address(struct pf_text *text, const struct pf_script_location *location, unsigned style)
{
    uint64_t address = location->address;
    if (style & SCRIPT_LOCATION_FRAME) {
        char *at = pf_text_reserve(text, SCRIPT_STEP_CAPACITY);
        *at = '\t';
        pf_text_commit(text, pf_script_right_hex(at + 1, address));
        return;
    }
    if (style & SCRIPT_LOCATION_OFFSET && location->map)
        address = map_offset(location);
    if (!(style & SCRIPT_LOCATION_BARE)) {
        pf_put_string(text, "0x");
        pf_put_hex(text, address);
    }
}

/* `symbol` may be NULL. */
static void put_symbol(struct pf_text *text, const char *symbol, uint64_t offset, unsigned style)
{
    if (!(style & SCRIPT_LOCATION_BARE))
        pf_put_char(text, ' ');
    pf_put_name(text, symbol);
    if (symbol && style & SCRIPT_LOCATION_SYMOFF) {
        pf_put_string(text, "+0x");
        pf_put_hex(text, offset);
    }
}

static void put_module(struct pf_text *text, const struct pf_script_location *location, unsigned style)
{
    pf_put_string(text, " (");
    pf_put_name(text, location->module ? location->module->name : NULL);
    if (location->module && style & SCRIPT_LOCATION_DSOFF && has_file_offset(location)) {
        pf_put_string(text, "+0x");
        pf_put_hex(text, module_address(location));
    }
    pf_put_char(text, ')');
}

/* FILE:LINE; as in perf the module and the address where that is not known. `source` may be NULL. */
static void put_source_line(struct pf_text *text, const struct pf_script_location *location,
                            const struct pf_source_frame *source, bool full_path)
{
    if (!source || !source->file) {
        const uint64_t elf_address = location->location.address;
        pf_put_name(text, location->module->short_name);
        pf_put_format(text, "[%" PRIx64 "]", elf_address ? elf_address : module_address(location));
        return;
    }
    const char *slash = full_path ? NULL : strrchr(source->file, '/');
    pf_put_name(text, slash ? slash + 1 : source->file);
    pf_put_format(text, ":%" PRIu32, source->line);
}

static bool locate(struct pf_script *script, const struct perfile_space *space, struct pf_script_location *location)
{
    if (!pf_script_open_symbols(script))
        return false;
    location->map = pf_symbols_map(script->symbols, space, location->address);
    if (!location->map)
        return true;
    if (!pf_symbols_locate(script->symbols, location->map, location->address, &location->location))
        return false;
    location->module = pf_symbols_module(script->symbols, location->location.module);
    return true;
}

static bool look_up(struct pf_script *script, const struct perfile_space *space, unsigned style,
                    struct subject *subject)
{
    const struct perfile_symbol_options *options = script->options->symbols;
    const struct pf_location *location = &subject->location.location;
    if (!locate(script, space, &subject->location))
        return false;
    if (!subject->location.map)
        return true;
    if (style & SCRIPT_LOCATION_SYM)
        subject->symbol = pf_symbols_name(script->symbols, location->module, location->symbol);
    const bool inlined = style & SCRIPT_LOCATION_FRAME && !(style & SCRIPT_LOCATION_SINGLE) && !options->no_inline &&
                         location->symbol != PF_NO_SYMBOL;
    if (inlined || style & SCRIPT_LOCATION_SRCLINE)
        subject->source_count = pf_symbols_inlines(script->symbols, location, subject->sources, SOURCES_MAX);
    while (inlined && subject->inlined < subject->source_count && subject->sources[subject->inlined].inlined)
        subject->inlined++;
    subject->full_paths = options->full_source_path;
    return true;
}

/* A line of its own. As in perf, its address and offset are those of the function that it was inlined into. */
static void put_inlined(struct pf_text *text, const struct subject *subject, size_t index, unsigned style)
{
    const struct pf_source_frame *source = &subject->sources[index];
    char *readable = source->function ? pf_demangle(text->allocator, source->function) : NULL;
    if (source->function && !readable)
        (void)pf_memory_note_failure(text->allocator);
    put_address(text, &subject->location, style);
    if (style & SCRIPT_LOCATION_SYM)
        put_symbol(text, readable ? readable : source->function, subject->location.location.offset, style);
    if (style & SCRIPT_LOCATION_SRCLINE) {
        pf_put_string(text, "\n  ");
        put_source_line(text, &subject->location, source, subject->full_paths);
    }
    pf_put_string(text, " (inlined)\n");
    pf_text_free(text->allocator, readable);
}

static void put_lines(struct pf_text *text, const struct subject *subject, unsigned style)
{
    for (size_t i = 0; i < subject->inlined; i++)
        put_inlined(text, subject, i, style);
    put_address(text, &subject->location, style);
    if (style & SCRIPT_LOCATION_SYM)
        put_symbol(text, subject->symbol, subject->location.location.offset, style);
    if (style & SCRIPT_LOCATION_DSO)
        put_module(text, &subject->location, style);
    if (style & SCRIPT_LOCATION_SRCLINE && subject->location.map) {
        const bool known = subject->inlined < subject->source_count;
        pf_put_string(text, "\n  ");
        put_source_line(text, &subject->location, known ? &subject->sources[subject->inlined] : NULL,
                        subject->full_paths);
    }
    if (style & SCRIPT_LOCATION_FRAME)
        pf_put_char(text, '\n');
}

/* Puts the text together; false after a failure. */
static bool put_text(struct pf_script *script, unsigned style, const struct perfile_space *space,
                     struct subject *subject)
{
    script->scratch.used = 0;
    if (!(style & SCRIPT_LOCATION_CODE)) {
        if (!look_up(script, space, style, subject))
            return false;
        put_lines(&script->scratch, subject, style);
        return true;
    }
    if (!locate(script, space, &subject->location))
        return false;
    pf_script_put_code_at(script, &script->scratch, space, &subject->location, style);
    return true;
}

/* ---- pages whose frames need no look ----------------------------------------------------------------------------- */

/*
 * Frames without names are looked up only for the functions that were inlined there. Where a page of a mapping belongs
 * to a module without such functions, a text says so, and a thread that has seen it looks up no other address of the
 * page.
 */
struct pf_script_plain {
    uint64_t space; /* its id */
    uint64_t page;  /* its number + 1; 0: none */
};

enum { PAGE_BITS = 12, PLAIN_BITS = 14, PAGE_INSIDE = (1 << PAGE_BITS) - 1 };

static unsigned marks_of(const struct pf_script *script, unsigned style, const struct perfile_space *space,
                         const struct pf_script_location *location)
{
    const uint64_t first = location->address & ~(uint64_t)PAGE_INSIDE;
    if (!location->map)
        return 0;
    const bool plain = style == SCRIPT_LOCATION_FRAME && location->map->start <= first &&
                       perfile_space_find(space, first | PAGE_INSIDE) == location->map &&
                       !pf_symbols_may_inline(script->symbols, location->location.module);
    return MARK_MAPPED | (plain ? MARK_PLAIN : 0);
}

static struct pf_script_plain *plain_of(const struct pf_script *script, uint64_t space, uint64_t ip)
{
    const uint64_t key = (space ^ ip >> PAGE_BITS << 40 ^ ip >> PAGE_BITS) * 0x9e3779b97f4a7c15ull;
    return &script->plain[key >> (64 - PLAIN_BITS)];
}

static bool is_plain(const struct pf_script *script, uint64_t space, uint64_t ip)
{
    const struct pf_script_plain *plain = script->plain ? plain_of(script, space, ip) : NULL;
    return plain && plain->page == (ip >> PAGE_BITS) + 1 && plain->space == space;
}

/* Without memory the page is looked up on. */
static void remember_plain(struct pf_script *script, uint64_t space, uint64_t ip)
{
    if (!script->plain)
        script->plain = pf_arena_new(&script->arena, sizeof(*script->plain) << PLAIN_BITS);
    if (script->plain)
        *plain_of(script, space, ip) = (struct pf_script_plain){space, (ip >> PAGE_BITS) + 1};
}

static void put_plain(struct pf_text *out, uint64_t ip)
{
    char *at = pf_text_reserve(out, SCRIPT_STEP_CAPACITY);
    *at = '\t';
    at = pf_script_right_hex(at + 1, ip);
    *at++ = '\n';
    pf_text_commit(out, at);
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const struct pf_text_cache_text no_text;

static const struct pf_text_cache_text *add_text(struct pf_script *script, struct pf_script_locations *locations,
                                                 const struct perfile_space *space, uint64_t address)
{
    struct subject subject = {.location.address = address};
    const struct pf_text_cache_text *text = NULL;
    if (locations->texts.bytes > TEXT_BYTES_MAX) {
        if (script->team)
            pf_script_team_is_full(script->team);
        else
            pf_text_cache_discard(&locations->texts);
    }
    if (put_text(script, locations->style, space, &subject) && !script->scratch.failed) {
        const struct pf_text_cache_text head = {perfile_space_id(space), address, (uint32_t)script->scratch.used,
                                                marks_of(script, locations->style, space, &subject.location)};
        text = pf_text_cache_add(&locations->texts, &head, script->scratch.data);
    }
    if (!text)
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "symbols", "out of memory");
    return text ? text : &no_text;
}

/* Source lines and inlined functions are asked for. */
static bool wants_lines(const struct pf_script *script, unsigned style)
{
    return style & SCRIPT_LOCATION_SRCLINE ||
           (style & SCRIPT_LOCATION_FRAME && !(style & SCRIPT_LOCATION_SINGLE) && !script->options->symbols->no_inline);
}

/* What has to be found out in order is left for later: the sample waits. */
static const struct pf_text_cache_text *add_text_if_settled(struct pf_script *script,
                                                            struct pf_script_locations *locations,
                                                            const struct perfile_space *space, uint64_t address)
{
    pf_script_team_lock(script->team);
    const struct pf_text_cache_text *text = pf_text_cache_find(&locations->texts, perfile_space_id(space), address);
    if (!text && pf_symbols_is_settled(script->symbols, space, address, wants_lines(script, locations->style)))
        text = add_text(script, locations, space, address);
    pf_script_team_unlock(script->team);
    script->waits |= !text;
    return text ? text : &no_text;
}

static const struct pf_text_cache_text *make_text(struct pf_script *script, struct pf_script_locations *locations,
                                                  const struct perfile_space *space, uint64_t address)
{
    return script->is_copy && !script->in_order ? add_text_if_settled(script, locations, space, address)
                                                : add_text(script, locations, space, address);
}

/* Finds a text, which is valid until texts are discarded: the next call may do that. */
static inline const struct pf_text_cache_text *find_text(struct pf_script *script,
                                                         struct pf_script_locations *locations,
                                                         const struct perfile_space *space, uint64_t address)
{
    const struct pf_text_cache_text *text = pf_text_cache_find(&locations->texts, perfile_space_id(space), address);
    return PF_LIKELY(text != NULL) ? text : make_text(script, locations, space, address);
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

const struct perfile_space *pf_script_space(struct pf_script *script, unsigned mode)
{
    return pf_delivered_space(&script->item, mode);
}

/* Data addresses and branches need not be where the sample's mode says: the kernel touches user memory, too. */
static const struct pf_text_cache_text *find_anywhere(struct pf_script *script, struct pf_script_locations *locations,
                                                      uint64_t address)
{
    unsigned mode = script->item.record->misc & PERFILE_MISC_CPUMODE_MASK;
    unsigned other = mode == PERFILE_MISC_KERNEL ? PERFILE_MISC_USER : PERFILE_MISC_KERNEL;
    const struct pf_text_cache_text *text = find_text(script, locations, pf_script_space(script, mode), address);
    if (!(text->mark & MARK_MAPPED))
        text = find_text(script, locations, pf_script_space(script, other), address);
    return text;
}

void pf_script_put_location(struct pf_script *script, struct pf_script_locations *locations, uint64_t address)
{
    const struct pf_text_cache_text *text = find_anywhere(script, locations, address);
    pf_put(script->out, pf_text_cache_bytes(text), text->bytes);
}

void pf_script_put_ip_text(struct pf_script *script, struct pf_script_locations *locations)
{
    const unsigned mode = script->item.record->misc & PERFILE_MISC_CPUMODE_MASK;
    const struct pf_text_cache_text *text =
        find_text(script, locations, pf_script_space(script, mode), script->item.sample.ip);
    pf_put(script->out, pf_text_cache_bytes(text), text->bytes);
}

uint64_t pf_script_hash_ip(struct pf_script *script)
{
    if (!script->plan->locations)
        return 0;
    const struct perfile_space *space = pf_script_space(script, script->item.record->misc & PERFILE_MISC_CPUMODE_MASK);
    return pf_text_cache_hash(&script->plan->locations->texts, perfile_space_id(space), script->item.sample.ip);
}

void pf_script_expect_ip(const struct pf_script_plan *plan, uint64_t hash, bool text)
{
    if (!plan->locations)
        return;
    if (text)
        pf_text_cache_expect_text(&plan->locations->texts, hash);
    else
        pf_text_cache_expect_slot(&plan->locations->texts, hash);
}

bool pf_script_locate(struct pf_script *script, unsigned mode, uint64_t address, struct pf_script_location *location)
{
    *location = (struct pf_script_location){.address = address};
    if (locate(script, pf_script_space(script, mode), location))
        return true;
    pf_script_fail(script, PERFILE_ERROR_MEMORY, "symbols", "out of memory");
    return false;
}

static bool passes_inlined(struct pf_script *script, const struct pf_location *location)
{
    const char *names[PF_INLINED_MAX];
    const size_t count = pf_symbols_inlined_names(script->symbols, location, names, PF_INLINED_MAX);
    bool passes = false;
    for (size_t i = 0; i < count && !passes; i++)
        passes = pf_names_filter_passes(&script->names, names[i]);
    return passes;
}

bool pf_script_is_named(struct pf_script *script)
{
    struct pf_script_location location;
    if (!pf_script_locate(script, script->item.record->misc & PERFILE_MISC_CPUMODE_MASK, script->item.sample.ip,
                          &location))
        return false;
    const char *name =
        location.map ? pf_symbols_name(script->symbols, location.location.module, location.location.symbol) : NULL;
    return pf_names_filter_passes(&script->names, name) ||
           (location.map && !script->options->symbols->no_inline && passes_inlined(script, &location.location));
}

size_t pf_script_put_function(struct pf_script *script, struct pf_text *text, const struct perfile_space *space,
                              uint64_t address)
{
    char offset[24];
    struct pf_script_location location = {.address = address};
    const char *name = locate(script, space, &location) && location.map
                           ? pf_symbols_name(script->symbols, location.location.module, location.location.symbol)
                           : NULL;
    if (!name)
        return 0;
    const size_t bytes = (size_t)snprintf(offset, sizeof(offset), "+0x%" PRIx64, location.location.offset);
    pf_put_name(text, name);
    pf_put(text, offset, bytes);
    return strlen(name) + bytes;
}

void pf_script_put_source_line(struct pf_script *script, const struct pf_script_location *location, const char *lead)
{
    struct pf_source_frame source;
    if (!location->map)
        return;
    const bool known = pf_symbols_inlines(script->symbols, &location->location, &source, 1);
    pf_put_string(script->out, lead);
    put_source_line(script->out, location, known ? &source : NULL, script->options->symbols->full_source_path);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The frame without its tab and line end. */
static char *put_frame(struct pf_script *script, char *at, const struct pf_text_cache_text *text)
{
    pf_script_leave(script, at);
    if (PF_LIKELY(text->bytes >= 2))
        pf_put(script->out, pf_text_cache_bytes(text) + 1, text->bytes - 2);
    return pf_script_enter(script);
}

char *pf_script_put_ip_location(struct pf_script *script, char *at)
{
    unsigned mode = script->item.record->misc & PERFILE_MISC_CPUMODE_MASK;
    *at = ' ';
    return put_frame(script, at + 1,
                     find_text(script, script->plan->locations, pf_script_space(script, mode), script->item.sample.ip));
}

char *pf_script_put_addr_location(struct pf_script *script, char *at)
{
    return put_frame(script, at, find_anywhere(script, script->plan->addr_locations, script->item.sample.addr));
}

static void put_text_of(struct pf_text *out, const struct pf_text_cache_text *text)
{
    if (PF_UNLIKELY(text->bytes > COPY_BYTES_MAX)) {
        pf_put(out, pf_text_cache_bytes(text), text->bytes);
        return;
    }
    char *at = pf_text_reserve(out, COPY_BYTES_MAX);
    memcpy(at, pf_text_cache_bytes(text), text->bytes);
    pf_text_commit(out, at + text->bytes);
}

/* An address of a callchain. */
struct frame {
    const struct perfile_space *space;
    uint64_t id; /* of the space */
    uint64_t ip, hash;
};

/* Frames that are their addresses alone are written without a look where that is known. */
static inline __attribute__((always_inline)) bool is_known(const struct pf_script *script, const struct frame *frame,
                                                           const bool plain)
{
    return plain && is_plain(script, frame->id, frame->ip);
}

/* At most `most`; returns how many. */
static inline __attribute__((always_inline)) unsigned gather_frames(struct pf_script *script,
                                                                    const struct perfile_u64s *chain, unsigned max,
                                                                    struct frame *frames, const bool plain)
{
    const struct pf_text_cache *texts = &script->plan->locations->texts;
    struct pf_callchain_walk walk = pf_callchain_start(chain);
    unsigned mode = walk.mode, count = 0;
    const struct perfile_space *space = pf_script_space(script, mode);
    uint64_t id = perfile_space_id(space);
    for (uint64_t ip; count < max && pf_callchain_next(&walk, &ip); count++) {
        if (PF_UNLIKELY(walk.mode != mode)) {
            space = pf_script_space(script, mode = walk.mode);
            id = perfile_space_id(space);
        }
        frames[count] = (struct frame){space, id, ip, pf_text_cache_hash(texts, id, ip)};
        if (!is_known(script, &frames[count], plain))
            pf_text_cache_expect_slot(texts, frames[count].hash);
    }
    for (unsigned i = 0; i < count; i++)
        if (!is_known(script, &frames[i], plain))
            pf_text_cache_expect_text(texts, frames[i].hash);
    return count;
}

/* *left frames at most. `plain` is a constant for the compiler: frames with names lose no time. */
static inline __attribute__((always_inline)) void put_chain(struct pf_script *script, const struct perfile_u64s *chain,
                                                            unsigned *left, const bool plain)
{
    struct pf_script_locations *locations = script->plan->locations;
    struct frame frames[PF_CALLCHAIN_MAX];
    const unsigned count = gather_frames(script, chain, *left, frames, plain);
    for (unsigned i = 0; i < count; i++) {
        const struct frame *frame = &frames[i];
        if (is_known(script, frame, plain)) {
            put_plain(script->out, frame->ip);
            continue;
        }
        const struct pf_text_cache_text *text =
            pf_text_cache_find_hashed(&locations->texts, frame->hash, frame->id, frame->ip);
        if (PF_UNLIKELY(!text))
            text = make_text(script, locations, frame->space, frame->ip);
        put_text_of(script->out, text);
        if (plain && text->mark & MARK_PLAIN)
            remember_plain(script, frame->id, frame->ip);
    }
    *left -= count;
}

static void put_chains(struct pf_script *script)
{
    const struct pf_stack_part *parts = script->stack.parts;
    const bool plain = script->plan->locations->style == SCRIPT_LOCATION_FRAME;
    unsigned left = pf_script_chain_max(script);
    for (unsigned i = 0; i < script->stack.part_count; i++)
        if (plain)
            put_chain(script, &parts[i].ips, &left, true);
        else
            put_chain(script, &parts[i].ips, &left, false);
}

char *pf_script_put_callchain_locations(struct pf_script *script, char *at)
{
    *at++ = '\n';
    pf_script_leave(script, at);
    if (script->plan->shows_ip) {
        put_chains(script);
    }
    return pf_script_enter(script);
}
