/* SPDX-License-Identifier: MIT */
/*
 * Addresses with their symbols and modules. What follows an address is made once for each function, and found by the
 * ranges of addresses that have it. Where a text also depends on the address itself, it is made once for each address
 * of an address space.
 */
#include "output/script/script.h"

#include <stdio.h>

#include "base/range_cache.h"
#include "symbol/symbols.h"

enum {
    TEXT_BYTES_MAX = 16 << 20, /* then all texts are discarded: those that are still in use are made again soon */
    TAIL_BYTES_MAX = 4096,     /* longer texts exist, but need no speed */
    SOURCES_MAX = 64,
    HEAD_CAPACITY = 40, /* of an address, and of an offset */
};

enum {
    MARK_MAPPED = 1 << 0, /* something is there */
    MARK_TAIL = 1 << 1,   /* the address comes before the text */
    MARK_OFFSET = 1 << 2, /* and its offset from the start of the symbol within it */
    MARK_STOP = 1 << 3,   /* of a frame: its callers are left out */
    MARK_BITS = 4,        /* after so many bytes: the other bits */
};

/* A text, and the address that offsets count from. */
struct words {
    const struct pf_text_cache_text *text; /* NULL: none was made yet */
    uint64_t origin;
    bool is_new; /* a tail: the address was not counted yet, nor one beside it */
};

/* Texts in one style. Of a frame they are a line, which starts with a tab; their marks are those above. */
struct pf_script_locations {
    struct pf_script_locations *next;
    unsigned style;
    struct pf_text_cache texts;   /* by address space and address */
    struct pf_range_cache ranges; /* of address spaces; their values are tails */
    struct pf_text_cache tails;   /* by module and symbol */
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
    pf_text_cache_open(&locations->ranges.pages, script->out->allocator, script->team);
    pf_text_cache_open(&locations->tails, script->out->allocator, script->team);
    locations->style = style;
    locations->next = script->locations;
    __atomic_store_n(&script->locations, locations, __ATOMIC_RELEASE); /* another thread may be forgetting texts */
    return locations;
}

static bool is_full(const struct pf_script_locations *locations)
{
    return locations->texts.bytes + locations->ranges.pages.bytes + locations->tails.bytes > TEXT_BYTES_MAX;
}

static void discard(struct pf_script_locations *locations)
{
    pf_text_cache_discard(&locations->texts);
    pf_text_cache_discard(&locations->ranges.pages);
    pf_text_cache_discard(&locations->tails);
}

void pf_script_discard_locations(struct pf_script *script)
{
    struct pf_script_locations *locations = __atomic_load_n(&script->locations, __ATOMIC_ACQUIRE);
    for (; locations; locations = locations->next)
        if (is_full(locations))
            discard(locations);
}

void pf_script_symbols_close(struct pf_script *script)
{
    for (struct pf_script_locations *locations = script->locations; locations; locations = locations->next) {
        pf_text_cache_close(&locations->texts);
        pf_text_cache_close(&locations->ranges.pages);
        pf_text_cache_close(&locations->tails);
    }
    pf_symbols_close(script->symbols);
}

bool pf_script_open_symbols(struct pf_script *script)
{
    const struct perfile_symbol_options *options = script->options->symbols;
    if (!script->symbols && !script->failed) {
        struct pf_find_options find = pf_find_options_of(options, script->out->allocator);
        find.threads = script->options->threads;
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

/* Writes at most HEAD_CAPACITY bytes. */
static char *put_head(char *at, uint64_t address, unsigned style)
{
    if (style & SCRIPT_LOCATION_BARE)
        return at;
    if (style & SCRIPT_LOCATION_FRAME) {
        *at = '\t';
        return pf_script_right_hex(at + 1, address);
    }
    memcpy(at, "0x", 2);
    return pf_hex_digits(at + 2, address);
}

static void put_address(struct pf_text *text, const struct pf_script_location *location, unsigned style)
{
    const bool is_offset = style & SCRIPT_LOCATION_OFFSET && location->map;
    char *at = pf_text_reserve(text, HEAD_CAPACITY);
    pf_text_commit(text, put_head(at, is_offset ? map_offset(location) : location->address, style));
}

/* Writes at most HEAD_CAPACITY bytes. */
static char *put_offset(char *at, uint64_t offset)
{
    memcpy(at, "+0x", 3);
    return pf_hex_digits(at + 3, offset);
}

/* `symbol` may be NULL. */
static void put_symbol(struct pf_text *text, const char *symbol, uint64_t offset, unsigned style)
{
    if (!(style & SCRIPT_LOCATION_BARE))
        pf_put_char(text, ' ');
    pf_put_name(text, symbol);
    if (symbol && style & SCRIPT_LOCATION_SYMOFF)
        pf_text_commit(text, put_offset(pf_text_reserve(text, HEAD_CAPACITY), offset));
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

/*
 * A line of its own. As in perf, its address and offset are those of the function that it was inlined into. Returns its
 * name, which may be NULL.
 */
static const char *put_inlined(struct pf_script *script, const struct subject *subject, size_t index, unsigned style)
{
    const struct pf_source_frame *source = &subject->sources[index];
    const char *readable = source->function ? pf_symbols_readable(script->symbols, source->function) : NULL;
    const char *name = readable ? readable : source->function;
    struct pf_text *text = &script->scratch;
    put_address(text, &subject->location, style);
    if (style & SCRIPT_LOCATION_SYM)
        put_symbol(text, name, subject->location.location.offset, style);
    if (style & SCRIPT_LOCATION_SRCLINE) {
        pf_put_string(text, "\n  ");
        put_source_line(text, &subject->location, source, subject->full_paths);
    }
    pf_put_string(text, " (inlined)\n");
    return name;
}

/* Returns the mark of a frame with which a callchain ends, or 0. `function` may be NULL. */
static uint32_t stop_mark(struct pf_script *script, const char *function)
{
    return script->stops.active && pf_names_filter_passes(&script->stops, function) ? MARK_STOP : 0;
}

static uint32_t stop_mark_of(struct pf_script *script, const struct pf_script_location *at)
{
    if (!script->stops.active || !at->map)
        return 0;
    return stop_mark(script, pf_symbols_name(script->symbols, at->location.module, at->location.symbol));
}

/* Returns its marks. */
static uint32_t put_lines(struct pf_script *script, const struct subject *subject, unsigned style)
{
    struct pf_text *text = &script->scratch;
    for (size_t i = 0; i < subject->inlined; i++)
        if (stop_mark(script, put_inlined(script, subject, i, style)))
            return MARK_MAPPED | MARK_STOP;
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
    return subject->location.map ? MARK_MAPPED | stop_mark_of(script, &subject->location) : 0;
}

/* What comes after the address where that is all that its text has of it, but for the offset. Returns its marks. */
static uint32_t put_tail(struct pf_text *text, const struct subject *subject, unsigned style)
{
    uint32_t mark = MARK_MAPPED | MARK_TAIL;
    if (style & SCRIPT_LOCATION_SYM)
        put_symbol(text, subject->symbol, 0, style & ~(unsigned)SCRIPT_LOCATION_SYMOFF);
    if (subject->symbol && style & SCRIPT_LOCATION_SYMOFF)
        mark |= MARK_OFFSET | (uint32_t)text->used << MARK_BITS;
    if (style & SCRIPT_LOCATION_DSO)
        put_module(text, &subject->location, style);
    if (style & SCRIPT_LOCATION_FRAME)
        pf_put_char(text, '\n');
    return mark;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static const struct pf_text_cache_text no_text;

/* Source lines and inlined functions are asked for. */
static bool wants_lines(const struct pf_script *script, unsigned style)
{
    return style & SCRIPT_LOCATION_SRCLINE ||
           (style & SCRIPT_LOCATION_FRAME && !(style & SCRIPT_LOCATION_SINGLE) && !script->options->symbols->no_inline);
}

/* Whether the text of the address is one of put_tail. */
static bool has_tail(const struct pf_script *script, unsigned style, const struct pf_script_location *location)
{
    enum { OWN = SCRIPT_LOCATION_CODE | SCRIPT_LOCATION_DSOFF | SCRIPT_LOCATION_OFFSET | SCRIPT_LOCATION_SRCLINE };
    return location->map && !(style & OWN) &&
           !(wants_lines(script, style) && pf_symbols_may_inline(script->symbols, location->location.module));
}

/* Makes and keeps the text of one address. */
static const struct pf_text_cache_text *add_own(struct pf_script *script, struct pf_script_locations *locations,
                                                const struct perfile_space *space, const struct subject *subject)
{
    uint32_t mark = subject->location.map ? MARK_MAPPED : 0;
    if (locations->style & SCRIPT_LOCATION_CODE)
        pf_script_put_code_at(script, &script->scratch, space, &subject->location, locations->style);
    else
        mark = put_lines(script, subject, locations->style);
    const struct pf_text_cache_text head = {perfile_space_id(space), subject->location.address,
                                            (uint32_t)script->scratch.used, mark};
    return script->scratch.failed ? NULL : pf_text_cache_add(&locations->texts, &head, script->scratch.data);
}

/* NULL: it is too long, or memory is short. */
static const struct pf_text_cache_text *find_tail(struct pf_script *script, struct pf_script_locations *locations,
                                                  const struct subject *subject)
{
    const struct pf_location *location = &subject->location.location;
    const struct pf_text_cache_text *tail = pf_text_cache_find(&locations->tails, location->module, location->symbol);
    if (tail)
        return tail;
    const uint32_t mark =
        put_tail(&script->scratch, subject, locations->style) | stop_mark_of(script, &subject->location);
    if (script->scratch.used > TAIL_BYTES_MAX)
        return NULL;
    const struct pf_text_cache_text head = {location->module, location->symbol, (uint32_t)script->scratch.used, mark};
    return script->scratch.failed ? NULL : pf_text_cache_add(&locations->tails, &head, script->scratch.data);
}

/* For all addresses of the extent that are in the page of the subject. False when out of memory. */
static bool add_range(struct pf_script_locations *locations, uint64_t space, const struct pf_script_location *location,
                      const struct pf_extent *extent, const struct words *words)
{
    const uint64_t page = location->address & ~(uint64_t)PF_RANGE_PAGE_OFFSET;
    const uint64_t first = pf_max(extent->first, page), last = pf_min(extent->last, page | PF_RANGE_PAGE_OFFSET);
    const struct pf_range_value value = {words->text, words->origin};
    if (!pf_range_cache_add(&locations->ranges, space, first, last, &value))
        return false;
    (void)pf_range_cache_mark(&locations->ranges, space, location->address);
    return true;
}

/* Makes a text that the addresses around have, too. */
static struct words make_shared(struct pf_script *script, struct pf_script_locations *locations,
                                const struct perfile_space *space, const struct subject *subject)
{
    const struct pf_script_location *location = &subject->location;
    const uint64_t origin = location->address - location->location.offset;
    const struct words none = {0};
    struct pf_extent extent;
    if (!has_tail(script, locations->style, location) ||
        !pf_symbols_extent(script->symbols, space, location->map, location->address, &location->location, &extent))
        return none;
    const struct words words = {.text = find_tail(script, locations, subject), .origin = origin};
    return words.text && add_range(locations, perfile_space_id(space), location, &extent, &words) ? words : none;
}

/* Its text is NULL after a failure. */
static struct words make_text(struct pf_script *script, struct pf_script_locations *locations,
                              const struct perfile_space *space, struct subject *subject)
{
    const bool found = locations->style & SCRIPT_LOCATION_CODE ? locate(script, space, &subject->location)
                                                               : look_up(script, space, locations->style, subject);
    script->scratch.used = 0;
    const struct words words = found ? make_shared(script, locations, space, subject) : (struct words){0};
    if (words.text || !found)
        return words;
    script->scratch.used = 0;
    return (struct words){.text = add_own(script, locations, space, subject)};
}

static struct words add_text(struct pf_script *script, struct pf_script_locations *locations,
                             const struct perfile_space *space, uint64_t address)
{
    struct subject subject = {.location.address = address};
    if (is_full(locations)) {
        if (script->team)
            pf_script_team_is_full(script->team);
        else
            discard(locations);
    }
    struct words words = make_text(script, locations, space, &subject);
    if (!words.text) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "symbols", "out of memory");
        words.text = &no_text;
    }
    return words;
}

static inline struct words known_text(const struct pf_script_locations *locations, uint64_t space, uint64_t address)
{
    bool marked;
    const struct pf_range_value *value = pf_range_cache_find(&locations->ranges, space, address, &marked);
    return PF_LIKELY(value != NULL) ? (struct words){value->of, value->origin, !marked}
                                    : (struct words){.text = pf_text_cache_find(&locations->texts, space, address)};
}

/* Reports of modules without symbols state how many addresses they have. */
static __attribute__((noinline)) void count_address(struct pf_script *script, struct pf_script_locations *locations,
                                                    uint64_t space, uint64_t address, struct words words)
{
    const bool locks = script->is_copy && !script->in_order;
    if (locks)
        pf_script_team_lock(script->team);
    if (pf_range_cache_mark(&locations->ranges, space, address))
        pf_symbols_count_address(script->symbols, (uint32_t)words.text->a);
    if (locks)
        pf_script_team_unlock(script->team);
}

/* What has to be found out in order is left for later: the sample waits. */
static struct words add_text_if_settled(struct pf_script *script, struct pf_script_locations *locations,
                                        const struct perfile_space *space, uint64_t address)
{
    pf_script_team_lock(script->team);
    struct words words = known_text(locations, perfile_space_id(space), address);
    if (!words.text && pf_symbols_is_settled(script->symbols, space, address, wants_lines(script, locations->style)))
        words = add_text(script, locations, space, address);
    pf_script_team_unlock(script->team);
    script->waits |= !words.text;
    return words.text ? words : (struct words){.text = &no_text};
}

static __attribute__((noinline)) struct words new_text(struct pf_script *script, struct pf_script_locations *locations,
                                                       const struct perfile_space *space, uint64_t address)
{
    return script->is_copy && !script->in_order ? add_text_if_settled(script, locations, space, address)
                                                : add_text(script, locations, space, address);
}

/* Finds a text, which is valid until texts are discarded: the next call may do that. `id` is that of the space. */
static inline struct words find_text_in(struct pf_script *script, struct pf_script_locations *locations,
                                        const struct perfile_space *space, uint64_t id, uint64_t address)
{
    const struct words words = known_text(locations, id, address);
    if (PF_UNLIKELY(words.is_new))
        count_address(script, locations, id, address, words);
    return PF_LIKELY(words.text != NULL) ? words : new_text(script, locations, space, address);
}

static struct words find_text(struct pf_script *script, struct pf_script_locations *locations,
                              const struct perfile_space *space, uint64_t address)
{
    return find_text_in(script, locations, space, perfile_space_id(space), address);
}

/* Copies the bytes from `from` up to `end`, and at most PF_TEXT_CACHE_STEP - 1 after them. */
static inline char *copy_part(char *at, const struct pf_text_cache_text *text, uint32_t from, uint32_t end)
{
    const char *bytes = pf_text_cache_bytes(text);
    for (uint32_t i = from; i < end; i += PF_TEXT_CACHE_STEP)
        memcpy(at + (i - from), bytes + i, PF_TEXT_CACHE_STEP);
    return at + (end - from);
}

/* `cut`: 1 for a frame without its tab and line end, else 0. */
static inline void put_words(struct pf_text *out, struct words words, uint64_t address, unsigned style, uint32_t cut)
{
    const struct pf_text_cache_text *text = words.text;
    uint32_t from = 0;
    if (PF_UNLIKELY(!(text->mark & MARK_TAIL))) {
        if (text->bytes >= 2 * cut)
            pf_put(out, pf_text_cache_bytes(text) + cut, text->bytes - 2 * cut);
        return;
    }
    char *at = pf_text_reserve(out, 2 * HEAD_CAPACITY + TAIL_BYTES_MAX + PF_TEXT_CACHE_STEP);
    at = cut ? pf_script_right_hex(at, address) : put_head(at, address, style);
    if (text->mark & MARK_OFFSET) {
        from = text->mark >> MARK_BITS;
        at = put_offset(copy_part(at, text, 0, from), address - words.origin);
    }
    pf_text_commit(out, copy_part(at, text, from, text->bytes - cut));
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

const struct perfile_space *pf_script_space(struct pf_script *script, unsigned mode)
{
    return pf_delivered_space(&script->item, mode);
}

/* Data addresses and branches need not be where the sample's mode says: the kernel touches user memory, too. */
static struct words find_anywhere(struct pf_script *script, struct pf_script_locations *locations, uint64_t address)
{
    unsigned mode = script->item.record->misc & PERFILE_MISC_CPUMODE_MASK;
    unsigned other = mode == PERFILE_MISC_KERNEL ? PERFILE_MISC_USER : PERFILE_MISC_KERNEL;
    const struct words words = find_text(script, locations, pf_script_space(script, mode), address);
    return words.text->mark & MARK_MAPPED ? words
                                          : find_text(script, locations, pf_script_space(script, other), address);
}

static struct words find_ip(struct pf_script *script, struct pf_script_locations *locations)
{
    const unsigned mode = script->item.record->misc & PERFILE_MISC_CPUMODE_MASK;
    return find_text(script, locations, pf_script_space(script, mode), script->item.sample.ip);
}

void pf_script_put_location(struct pf_script *script, struct pf_script_locations *locations, uint64_t address)
{
    put_words(script->out, find_anywhere(script, locations, address), address, locations->style, 0);
}

void pf_script_put_ip_text(struct pf_script *script, struct pf_script_locations *locations)
{
    put_words(script->out, find_ip(script, locations), script->item.sample.ip, locations->style, 0);
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
static char *put_frame(struct pf_script *script, char *at, struct words words, uint64_t address)
{
    pf_script_leave(script, at);
    put_words(script->out, words, address, SCRIPT_LOCATION_FRAME, 1);
    return pf_script_enter(script);
}

char *pf_script_put_ip_location(struct pf_script *script, char *at)
{
    *at = ' ';
    return put_frame(script, at + 1, find_ip(script, script->plan->locations), script->item.sample.ip);
}

char *pf_script_put_addr_location(struct pf_script *script, char *at)
{
    const uint64_t address = script->item.sample.addr;
    return put_frame(script, at, find_anywhere(script, script->plan->addr_locations, address), address);
}

char *pf_script_put_target(struct pf_script *script, char *at)
{
    memcpy(at, " => ", 4);
    return script->plan->addr_locations ? pf_script_put_addr_location(script, at + 4)
                                        : pf_script_right_hex(at + 4, script->item.sample.addr);
}

/* *left frames at most; with one that is to end the chain none is left. */
static void put_chain(struct pf_script *script, const struct perfile_u64s *chain, unsigned *left)
{
    struct pf_script_locations *locations = script->plan->locations;
    struct pf_callchain_walk walk = pf_callchain_start(chain);
    unsigned mode = walk.mode;
    const struct perfile_space *space = pf_script_space(script, mode);
    uint64_t id = perfile_space_id(space);
    for (uint64_t ip; *left && pf_callchain_next(&walk, &ip);) {
        if (PF_UNLIKELY(walk.mode != mode)) {
            space = pf_script_space(script, mode = walk.mode);
            id = perfile_space_id(space);
        }
        const struct words words = find_text_in(script, locations, space, id, ip);
        put_words(script->out, words, ip, locations->style, 0);
        *left = words.text->mark & MARK_STOP ? 0 : *left - 1;
    }
}

char *pf_script_put_callchain_locations(struct pf_script *script, char *at)
{
    const struct pf_stack_part *parts = script->stack.parts;
    unsigned left = pf_script_chain_max(script);
    *at++ = '\n';
    pf_script_leave(script, at);
    for (unsigned i = 0; script->plan->shows_ip && i < script->stack.part_count; i++)
        put_chain(script, &parts[i].ips, &left);
    return pf_script_enter(script);
}
