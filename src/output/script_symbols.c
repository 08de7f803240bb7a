/* SPDX-License-Identifier: MIT */
/*
 * Addresses with their symbols and modules: the text of an address is made once for each address space, and copied from
 * then on.
 */
#include "output/script.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/pairs.h"
#include "symbol/demangle.h"
#include "symbol/symbols.h"

enum {
    TEXT_BYTES_MAX = 32 << 20, /* then all texts are forgotten: what is still in use comes back soon */
    COPY_BYTES_MAX = 4096,     /* longer texts exist, but need no speed */
    SOURCES_MAX = 64,
    FRAMES_AT_ONCE = 16,
};

/* The text of one address. In the style of a frame it is "\t", the line and "\n". */
struct place {
    uint32_t bytes;
    uint32_t mapped;
    char text[];
};

/* A page of an address space where no function was inlined into another. */
struct plain_page {
    const struct perfile_space *space;
    uint64_t number; /* + 1; 0: none */
};
enum { PAGE_BITS = 12, PLAIN_PAGES_BITS = 14 };

struct pf_script_places {
    struct pf_script_places *next;
    unsigned style;
    struct plain_page *plain; /* by a hash; NULL: frames are more than their addresses */
    struct pf_pairs known; /* (address space, address) to the place of its struct place in texts, in units of 8 bytes */
    struct pf_text texts;
};

/* ---- opening ----------------------------------------------------------------------------------------------------- */

struct pf_script_places *pf_script_places(struct pf_script *script, unsigned style)
{
    struct pf_script_places *places = script->places;
    while (places && places->style != style)
        places = places->next;
    if (places)
        return places;
    places = pf_arena_new(&script->arena, sizeof(*places));
    if (!places || pf_text_open(&places->texts, script->out->allocator, NULL, NULL) < 0)
        return NULL;
    pf_pairs_open(&places->known, script->out->allocator);
    if (style == SCRIPT_PLACE_FRAME)
        places->plain = pf_arena_new(&script->arena, sizeof(*places->plain) << PLAIN_PAGES_BITS);
    places->style = style;
    places->next = script->places;
    return script->places = places;
}

void pf_script_symbols_close(struct pf_script *script)
{
    for (struct pf_script_places *places = script->places; places; places = places->next) {
        pf_pairs_close(&places->known);
        pf_text_close(&places->texts);
    }
    pf_symbols_close(script->symbols);
    pf_jit_close(script->jit);
}

int pf_script_jit_open(struct pf_script *script)
{
    const struct pf_find_options find = pf_find_options_of(&script->options->symbols);
    return pf_jit_open(script->reader, script->session, &find, &script->jit, script->error);
}

int pf_script_jit_follow(struct pf_script *script, const struct perfile_record *record)
{
    return script->jit ? pf_jit_follow(script->jit, record, script->error) : 0;
}

bool pf_script_open_symbols(struct pf_script *script)
{
    if (PF_LIKELY(script->symbols || script->failed))
        return script->symbols;
    const struct pf_find_options find = pf_find_options_of(&script->options->symbols);
    const int result = pf_symbols_open(script->reader, &find, &script->symbols, script->error);
    script->failed = result < 0 ? result : 0;
    if (script->symbols)
        pf_symbols_use_jit(script->symbols, script->jit);
    return script->symbols;
}

/* ---- the text of an address -------------------------------------------------------------------------------------- */

/* All that a text is made of. */
struct subject {
    struct pf_script_spot spot;
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

static bool is_kernel_itself(const struct pf_script_spot *spot)
{
    return pf_starts_with(spot->module->name, "[kernel.") || pf_starts_with(spot->module->name, "[guest.kernel.");
}

/* The pgoff of the kernel's mapping says something else, and old kernels give the vdso's address as its pgoff. */
static uint64_t map_offset(const struct pf_script_spot *spot)
{
    bool from_start = is_kernel_itself(spot) || pf_starts_with(spot->module->name, "[vdso");
    return spot->address - spot->map->start + (from_start ? 0 : spot->map->pgoff);
}

/* The address as the module's own: in its file when it is one. */
static uint64_t module_address(const struct pf_script_spot *spot)
{
    return is_file(spot->module) && !is_kernel_itself(spot) ? map_offset(spot) : spot->address;
}

/* None is shown of kallsyms and of BPF programs, whose symbols are no file's. */
static bool has_file_offset(const struct pf_script_spot *spot)
{
    const struct pf_module *module = spot->module;
    return !spot->map->symbol && (!module->kernel || !module->table || module->path);
}

/* "\t%16x": one for each distinct address. */
static void put_frame_address(struct pf_text *text, uint64_t address)
{
    char digits[16];
    const size_t count = (size_t)(pf_hex_digits(digits, address) - digits);
    char *at = pf_text_reserve(text, 17);
    *at = '\t';
    memset(at + 1, ' ', 16 - count);
    memcpy(at + 17 - count, digits, count);
    pf_text_commit(text, at + 17);
}

static void put_address(struct pf_text *text, const struct pf_script_spot *spot, unsigned style)
{
    uint64_t address = spot->address;
    if (style & SCRIPT_PLACE_FRAME) {
        put_frame_address(text, address);
        return;
    }
    if (style & SCRIPT_PLACE_OFFSET && spot->map)
        address = map_offset(spot);
    if (!(style & SCRIPT_PLACE_BARE)) {
        pf_put_string(text, "0x");
        pf_put_hex(text, address);
    }
}

/* `symbol` may be NULL. */
static void put_symbol(struct pf_text *text, const char *symbol, uint64_t offset, unsigned style)
{
    if (!(style & SCRIPT_PLACE_BARE))
        pf_put_char(text, ' ');
    pf_put_string(text, symbol ? symbol : "[unknown]");
    if (symbol && style & SCRIPT_PLACE_SYMOFF) {
        pf_put_string(text, "+0x");
        pf_put_hex(text, offset);
    }
}

static void put_module(struct pf_text *text, const struct pf_script_spot *spot, unsigned style)
{
    pf_put_string(text, " (");
    pf_put_string(text, spot->module ? spot->module->name : "[unknown]");
    if (spot->module && style & SCRIPT_PLACE_DSOFF && has_file_offset(spot)) {
        pf_put_string(text, "+0x");
        pf_put_hex(text, module_address(spot));
    }
    pf_put_char(text, ')');
}

/* FILE:LINE; as in perf the module and the address where that is not known. `source` may be NULL. */
static void put_source_line(struct pf_text *text, const struct pf_script_spot *spot,
                            const struct pf_source_frame *source, bool full_path)
{
    if (!source || !source->file) {
        const uint64_t elf_address = spot->location.address;
        pf_put_format(text, "%s[%" PRIx64 "]", spot->module->short_name,
                      elf_address ? elf_address : module_address(spot));
        return;
    }
    const char *slash = full_path ? NULL : strrchr(source->file, '/');
    pf_put_format(text, "%s:%" PRIu32, slash ? slash + 1 : source->file, source->line);
}

static bool locate(struct pf_script *script, const struct perfile_space *space, struct pf_script_spot *spot)
{
    if (!pf_script_open_symbols(script))
        return false;
    spot->map = pf_symbols_map(script->symbols, space, spot->address);
    if (!spot->map)
        return true;
    if (!pf_symbols_locate(script->symbols, spot->map, spot->address, &spot->location))
        return false;
    spot->module = pf_symbols_module(script->symbols, spot->location.module);
    return true;
}

static bool look_up(struct pf_script *script, const struct perfile_space *space, unsigned style,
                    struct subject *subject)
{
    const struct perfile_symbol_options *options = &script->options->symbols;
    const struct pf_location *location = &subject->spot.location;
    if (!locate(script, space, &subject->spot))
        return false;
    if (!subject->spot.map)
        return true;
    if (style & SCRIPT_PLACE_SYM)
        subject->symbol = pf_symbols_name(script->symbols, location->module, location->symbol);
    const bool inlined = style & SCRIPT_PLACE_FRAME && !(style & SCRIPT_PLACE_SINGLE) && !options->no_inline &&
                         location->symbol != PF_NO_SYMBOL;
    if (style & SCRIPT_PLACE_SRCLINE)
        subject->source_count = pf_symbols_inlines(script->symbols, location, subject->sources, SOURCES_MAX);
    else if (inlined)
        subject->source_count = pf_symbols_inlined(script->symbols, location, subject->sources, SOURCES_MAX);
    while (inlined && subject->inlined < subject->source_count && subject->sources[subject->inlined].inlined)
        subject->inlined++;
    subject->full_paths = options->full_source_path;
    return true;
}

/* A line of its own. As in perf, its address and offset are those of the function that it was inlined into. */
static void put_inlined(struct pf_text *text, const struct subject *subject, size_t index, unsigned style)
{
    const struct pf_source_frame *source = &subject->sources[index];
    char *readable = source->function ? pf_demangle(source->function) : NULL;
    put_address(text, &subject->spot, style);
    if (style & SCRIPT_PLACE_SYM)
        put_symbol(text, readable ? readable : source->function, subject->spot.location.offset, style);
    if (style & SCRIPT_PLACE_SRCLINE) {
        pf_put_string(text, "\n  ");
        put_source_line(text, &subject->spot, source, subject->full_paths);
    }
    pf_put_string(text, " (inlined)\n");
    free(readable);
}

static void put_lines(struct pf_text *text, const struct subject *subject, unsigned style)
{
    for (size_t i = 0; i < subject->inlined; i++)
        put_inlined(text, subject, i, style);
    put_address(text, &subject->spot, style);
    if (style & SCRIPT_PLACE_SYM)
        put_symbol(text, subject->symbol, subject->spot.location.offset, style);
    if (style & SCRIPT_PLACE_DSO)
        put_module(text, &subject->spot, style);
    if (style & SCRIPT_PLACE_SRCLINE && subject->spot.map) {
        const bool known = subject->inlined < subject->source_count;
        pf_put_string(text, "\n  ");
        put_source_line(text, &subject->spot, known ? &subject->sources[subject->inlined] : NULL, subject->full_paths);
    }
    if (style & SCRIPT_PLACE_FRAME)
        pf_put_char(text, '\n');
}

/* Begins a text; returns its place among the texts. */
static size_t begin_text(struct pf_text *text)
{
    static const char head[sizeof(struct place)];
    pf_put(text, head, -text->used % 8);
    pf_put(text, head, sizeof(head));
    return text->used - sizeof(head);
}

static void end_text(struct pf_text *text, size_t start, bool mapped)
{
    if (text->failed)
        return;
    struct place *place = (struct place *)(text->data + start);
    place->bytes = (uint32_t)(text->used - start - sizeof(*place));
    place->mapped = mapped;
}

/* False after a failure. */
static bool put_text(struct pf_script *script, struct pf_script_places *places, const struct perfile_space *space,
                     struct subject *subject)
{
    if (!(places->style & SCRIPT_PLACE_CODE)) {
        if (!look_up(script, space, places->style, subject))
            return false;
        put_lines(&places->texts, subject, places->style);
        return true;
    }
    if (!locate(script, space, &subject->spot))
        return false;
    pf_script_put_code_at(script, &places->texts, space, &subject->spot, places->style);
    return true;
}

static struct plain_page *plain_page(const struct pf_script_places *places, const struct perfile_space *space,
                                     uint64_t address)
{
    const uint64_t hash = ((uintptr_t)space ^ address >> PAGE_BITS << 40) * 0x9e3779b97f4a7c15ull;
    return &places->plain[hash >> (64 - PLAIN_PAGES_BITS)];
}

static bool is_plain(const struct pf_script_places *places, const struct perfile_space *space, uint64_t address)
{
    const struct plain_page *page = plain_page(places, space, address);
    return page->number == (address >> PAGE_BITS) + 1 && page->space == space;
}

/* The page of a place that was looked up, when all of it is of one mapping. */
static void learn_page(struct pf_script *script, const struct pf_script_places *places,
                       const struct perfile_space *space, const struct pf_script_spot *spot)
{
    const uint64_t inside = (1u << PAGE_BITS) - 1, first = spot->address & ~inside;
    if (spot->map && spot->map->start <= first && perfile_space_find(space, first | inside) == spot->map &&
        !pf_symbols_may_inline(script->symbols, spot->location.module))
        *plain_page(places, space, first) = (struct plain_page){space, (first >> PAGE_BITS) + 1};
}

static const struct place *make_place(struct pf_script *script, struct pf_script_places *places,
                                      const struct perfile_space *space, uint64_t address)
{
    static const struct place none;
    struct subject subject = {.spot.address = address};
    if (places->texts.used > TEXT_BYTES_MAX) {
        places->texts.used = 0;
        pf_pairs_close(&places->known);
    }
    const size_t start = begin_text(&places->texts);
    const bool made = put_text(script, places, space, &subject);
    end_text(&places->texts, start, subject.spot.map != NULL);
    if (!made || places->texts.failed ||
        !pf_pairs_put(&places->known, (uintptr_t)space, address, (uint32_t)(start / 8))) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "symbols", "out of memory");
        return &none;
    }
    if (places->plain)
        learn_page(script, places, space, &subject.spot);
    return (const struct place *)(places->texts.data + start);
}

/* Valid until the next call. */
static inline const struct place *find_place(struct pf_script *script, struct pf_script_places *places,
                                             const struct perfile_space *space, uint64_t address)
{
    uint32_t unit;
    if (PF_LIKELY(pf_pairs_get(&places->known, (uintptr_t)space, address, &unit)))
        return (const struct place *)(places->texts.data + (size_t)unit * 8);
    return make_place(script, places, space, address);
}

/* ---- where ------------------------------------------------------------------------------------------------------- */

/* Guests and hypervisors have no mappings here. */
const struct perfile_space *pf_script_space(struct pf_script *script, unsigned mode)
{
    if (mode == PF_MODE_KERNEL)
        return perfile_session_space(script->session, PF_KERNEL_PID);
    int32_t pid = script->sample.pid;
    return mode == PF_MODE_USER && pid >= 0 ? perfile_session_space(script->session, pid) : NULL;
}

/* Data addresses and branches need not be where the sample's mode says: the kernel touches user memory, too. */
static const struct place *find_anywhere(struct pf_script *script, struct pf_script_places *places, uint64_t address)
{
    unsigned mode = script->record->misc & PERFILE_MISC_CPUMODE_MASK;
    unsigned other = mode == PF_MODE_KERNEL ? PF_MODE_USER : PF_MODE_KERNEL;
    const struct place *place = find_place(script, places, pf_script_space(script, mode), address);
    if (!place->mapped)
        place = find_place(script, places, pf_script_space(script, other), address);
    return place;
}

void pf_script_put_place(struct pf_script *script, struct pf_script_places *places, uint64_t address)
{
    const struct place *place = find_anywhere(script, places, address);
    pf_put(script->out, place->text, place->bytes);
}

void pf_script_put_ip_text(struct pf_script *script, struct pf_script_places *places)
{
    const unsigned mode = script->record->misc & PERFILE_MISC_CPUMODE_MASK;
    const struct place *place = find_place(script, places, pf_script_space(script, mode), script->sample.ip);
    pf_put(script->out, place->text, place->bytes);
}

bool pf_script_locate(struct pf_script *script, unsigned mode, uint64_t address, struct pf_script_spot *spot)
{
    *spot = (struct pf_script_spot){.address = address};
    if (locate(script, pf_script_space(script, mode), spot))
        return true;
    pf_script_fail(script, PERFILE_ERROR_MEMORY, "symbols", "out of memory");
    return false;
}

size_t pf_script_put_function(struct pf_script *script, struct pf_text *text, const struct perfile_space *space,
                              uint64_t address)
{
    char offset[24];
    struct pf_script_spot spot = {.address = address};
    const char *name = locate(script, space, &spot) && spot.map
                           ? pf_symbols_name(script->symbols, spot.location.module, spot.location.symbol)
                           : NULL;
    if (!name)
        return 0;
    const size_t bytes = (size_t)snprintf(offset, sizeof(offset), "+0x%" PRIx64, spot.location.offset);
    pf_put_string(text, name);
    pf_put(text, offset, bytes);
    return strlen(name) + bytes;
}

void pf_script_put_source_line(struct pf_script *script, const struct pf_script_spot *spot, const char *lead)
{
    struct pf_source_frame source;
    if (!spot->map)
        return;
    const bool known = pf_symbols_inlines(script->symbols, &spot->location, &source, 1);
    pf_put_string(script->out, lead);
    put_source_line(script->out, spot, known ? &source : NULL, script->options->symbols.full_source_path);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The frame without its tab and line end. */
static char *put_frame(struct pf_script *script, char *at, const struct place *place)
{
    pf_script_leave(script, at);
    if (PF_LIKELY(place->bytes >= 2))
        pf_put(script->out, place->text + 1, place->bytes - 2);
    return pf_script_enter(script);
}

char *pf_script_put_ip_place(struct pf_script *script, char *at)
{
    unsigned mode = script->record->misc & PERFILE_MISC_CPUMODE_MASK;
    *at = ' ';
    return put_frame(script, at + 1,
                     find_place(script, script->plan->places, pf_script_space(script, mode), script->sample.ip));
}

char *pf_script_put_addr_place(struct pf_script *script, char *at)
{
    return put_frame(script, at, find_anywhere(script, script->plan->addr_places, script->sample.addr));
}

/*
 * Some frames of a chain at a time: there are more addresses than caches hold, so that the memory of all of them is asked
 * for before the first is needed.
 */
struct frames {
    size_t count;
    struct {
        const struct perfile_space *space;
        uint64_t ip;
        const struct place *place; /* NULL: there is none yet */
        bool is_plain;             /* it needs none */
    } items[FRAMES_AT_ONCE];
};

static void take_frames(struct pf_script *script, struct pf_callchain_walk *walk, size_t most, struct frames *frames)
{
    const struct pf_script_places *places = script->plan->places;
    unsigned mode = walk->mode;
    const struct perfile_space *space = pf_script_space(script, mode);
    uint64_t ip;
    frames->count = 0;
    while (frames->count < pf_min_size(most, FRAMES_AT_ONCE) && pf_callchain_next(walk, &ip)) {
        if (PF_UNLIKELY(walk->mode != mode))
            space = pf_script_space(script, mode = walk->mode);
        const bool plain = places->plain && is_plain(places, space, ip);
        if (!plain)
            pf_pairs_prefetch(&places->known, (uintptr_t)space, ip);
        frames->items[frames->count].space = space;
        frames->items[frames->count].is_plain = plain;
        frames->items[frames->count++].ip = ip;
    }
    for (size_t i = 0; i < frames->count; i++) {
        uint32_t unit;
        if (frames->items[i].is_plain)
            continue;
        const bool known = pf_pairs_get(&places->known, (uintptr_t)frames->items[i].space, frames->items[i].ip, &unit);
        frames->items[i].place = known ? (const struct place *)(places->texts.data + (size_t)unit * 8) : NULL;
        __builtin_prefetch(frames->items[i].place);
    }
}

/* Texts that are made may move those that were found. */
static void put_frames(struct pf_script *script, const struct frames *frames)
{
    struct pf_text *out = script->out;
    bool moved = false;
    for (size_t i = 0; i < frames->count; i++) {
        if (frames->items[i].is_plain) {
            put_frame_address(out, frames->items[i].ip);
            pf_put_char(out, '\n');
            continue;
        }
        const struct place *place = frames->items[i].place;
        if (PF_UNLIKELY(!place || moved)) {
            place = find_place(script, script->plan->places, frames->items[i].space, frames->items[i].ip);
            moved = true;
        }
        if (PF_LIKELY(place->bytes <= COPY_BYTES_MAX)) {
            char *at = pf_text_reserve(out, COPY_BYTES_MAX);
            memcpy(at, place->text, place->bytes);
            pf_text_commit(out, at + place->bytes);
        } else {
            pf_put(out, place->text, place->bytes);
        }
    }
}

/* *left frames at most. */
static void put_chain(struct pf_script *script, const struct perfile_u64s *chain, unsigned *left)
{
    struct pf_callchain_walk walk = pf_callchain_start(chain);
    struct frames frames;
    do {
        take_frames(script, &walk, *left, &frames);
        put_frames(script, &frames);
        *left -= (unsigned)frames.count;
    } while (frames.count == FRAMES_AT_ONCE);
}

void pf_script_unwind(struct pf_script *script)
{
    size_t count;
    if (script->late_chain.count || !pf_script_open_symbols(script))
        return;
    if (!script->arch && perfile_feature_text(script->reader, PERFILE_FEATURE_ARCH, NULL, &script->arch, NULL) < 0)
        return;
    const struct pf_unwinding how = {
        .space = pf_script_space(script, PF_MODE_USER), .arch = script->arch, .only_known = true};
    pf_symbols_unwind(script->symbols, &script->sample, &how, script->user_part, PF_CALLCHAIN_MAX, &count);
    script->late_chain = (struct perfile_u64s){.data = (const uint8_t *)script->user_part, .count = count};
}

char *pf_script_put_callchain_places(struct pf_script *script, char *at)
{
    *at++ = '\n';
    pf_script_leave(script, at);
    if (script->plan->shows_ip) {
        unsigned left = PF_CALLCHAIN_MAX;
        put_chain(script, &script->sample.callchain, &left);
        put_chain(script, &script->late_chain, &left);
    }
    return pf_script_enter(script);
}
