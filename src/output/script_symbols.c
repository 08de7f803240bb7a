/* SPDX-License-Identifier: MIT */
/*
 * Addresses with their symbols and modules: the text of an address is made once for each address space, and copied from
 * then on.
 */
#include "output/script.h"

#include <stdlib.h>

#include "base/pairs.h"
#include "symbol/demangle.h"
#include "symbol/symbols.h"

enum {
    TEXT_BYTES_MAX = 32 << 20, /* then all texts are forgotten: what is still in use comes back soon */
    COPY_BYTES_MAX = 4096,     /* longer texts exist, but need no speed */
    INLINES_MAX = 64,
    KERNEL_PID = -1,
    MODE_KERNEL = 1, /* of misc */
    MODE_USER = 2,
};

/* The text of one address. In the style of a frame it is "\t", the line and "\n". */
struct place {
    uint32_t bytes;
    uint32_t mapped;
    char text[];
};

struct pf_script_places {
    struct pf_script_places *next;
    unsigned style;
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

/* Not before the first sample: the recording's build ids may come as records. False after a failure. */
static bool open_symbols(struct pf_script *script)
{
    const struct perfile_symbol_options *options = &script->options->symbols;
    const struct pf_find_options find = pf_find_options_of(options);
    if (!script->symbols && !script->failed) {
        int result = pf_symbols_open(script->reader, &find, &script->symbols, script->error);
        script->failed = result < 0 ? result : 0;
        if (script->symbols)
            pf_symbols_use_jit(script->symbols, script->jit);
    }
    return script->symbols;
}

/* ---- the text of an address -------------------------------------------------------------------------------------- */

/* All that a text is made of. */
struct subject {
    uint64_t address;
    const struct perfile_map *map; /* NULL: nothing is there, and nothing below is known */
    const struct pf_module *module;
    const char *symbol;
    uint64_t symbol_offset;
    size_t inlined; /* functions before the symbol's own, innermost first */
    struct pf_source_frame inlines[INLINES_MAX];
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Code that comes from no file has no offsets: perf shows its addresses. */
static bool is_file(const struct pf_module *module)
{
    return !starts_with(module->name, "/tmp/perf-") && !starts_with(module->name, "//anon") &&
           !starts_with(module->name, "[heap]") && !starts_with(module->name, "[stack");
}

static bool is_kernel_itself(const struct subject *subject)
{
    return starts_with(subject->module->name, "[kernel.") || starts_with(subject->module->name, "[guest.kernel.");
}

/* The pgoff of the kernel's mapping says something else, and old kernels give the vdso's address as its pgoff. */
static uint64_t map_offset(const struct subject *subject)
{
    bool from_start = is_kernel_itself(subject) || starts_with(subject->module->name, "[vdso");
    return subject->address - subject->map->start + (from_start ? 0 : subject->map->pgoff);
}

/* False: none is shown, because symbols of kallsyms and of BPF programs are no file's. */
static bool file_offset(const struct subject *subject, uint64_t *offset)
{
    const struct pf_module *module = subject->module;
    *offset = is_file(module) && !is_kernel_itself(subject) ? map_offset(subject) : subject->address;
    return !subject->map->symbol && (!module->kernel || !module->table || module->path);
}

static void put_address(struct pf_text *text, const struct subject *subject, unsigned style)
{
    uint64_t address = subject->address;
    if (style & SCRIPT_PLACE_FRAME) {
        pf_put_format(text, "\t%16" PRIx64, address);
        return;
    }
    if (style & SCRIPT_PLACE_OFFSET && subject->map)
        address = map_offset(subject);
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

static void put_module(struct pf_text *text, const struct subject *subject, unsigned style)
{
    uint64_t offset;
    pf_put_string(text, " (");
    pf_put_string(text, subject->module ? subject->module->name : "[unknown]");
    if (subject->module && style & SCRIPT_PLACE_DSOFF && file_offset(subject, &offset)) {
        pf_put_string(text, "+0x");
        pf_put_hex(text, offset);
    }
    pf_put_char(text, ')');
}

static bool look_up(struct pf_script *script, const struct perfile_space *space, unsigned style,
                    struct subject *subject)
{
    struct pf_location location;
    if (!open_symbols(script))
        return false;
    subject->map = pf_symbols_map(script->symbols, space, subject->address);
    if (!subject->map)
        return true;
    if (!pf_symbols_locate(script->symbols, subject->map, subject->address, &location))
        return false;
    subject->module = pf_symbols_module(script->symbols, location.module);
    if (style & SCRIPT_PLACE_SYM)
        subject->symbol = pf_symbols_name(script->symbols, location.module, location.symbol);
    subject->symbol_offset = location.offset;
    if (subject->symbol && style & SCRIPT_PLACE_FRAME && !script->options->symbols.no_inline) {
        size_t count = pf_symbols_inlines(script->symbols, &location, subject->inlines, INLINES_MAX);
        while (subject->inlined < count && subject->inlines[subject->inlined].inlined)
            subject->inlined++;
    }
    return true;
}

/* A line of its own. As in perf, its address and offset are those of the function that it was inlined into. */
static void put_inlined(struct pf_text *text, const struct subject *subject, const char *function, unsigned style)
{
    char *readable = function ? pf_demangle(function) : NULL;
    put_address(text, subject, style);
    put_symbol(text, readable ? readable : function, subject->symbol_offset, style);
    pf_put_string(text, " (inlined)\n");
    free(readable);
}

/* Makes the text; returns its place among the texts. */
static size_t put_text(struct pf_text *text, const struct subject *subject, unsigned style)
{
    static const char head[sizeof(struct place)];
    pf_put(text, head, -text->used % 8);
    size_t start = text->used;
    pf_put(text, head, sizeof(head));
    for (size_t i = 0; i < subject->inlined; i++)
        put_inlined(text, subject, subject->inlines[i].function, style);
    put_address(text, subject, style);
    if (style & SCRIPT_PLACE_SYM)
        put_symbol(text, subject->symbol, subject->symbol_offset, style);
    if (style & SCRIPT_PLACE_DSO)
        put_module(text, subject, style);
    if (style & SCRIPT_PLACE_FRAME)
        pf_put_char(text, '\n');
    if (!text->failed) {
        struct place *place = (struct place *)(text->data + start);
        place->bytes = (uint32_t)(text->used - start - sizeof(head));
        place->mapped = subject->map != NULL;
    }
    return start;
}

static const struct place *make_place(struct pf_script *script, struct pf_script_places *places,
                                      const struct perfile_space *space, uint64_t address)
{
    static const struct place none;
    struct subject subject = {.address = address};
    if (places->texts.used > TEXT_BYTES_MAX) {
        places->texts.used = 0;
        pf_pairs_close(&places->known);
    }
    bool found = look_up(script, space, places->style, &subject);
    size_t start = found ? put_text(&places->texts, &subject, places->style) : 0;
    if (!found || places->texts.failed ||
        !pf_pairs_put(&places->known, (uintptr_t)space, address, (uint32_t)(start / 8))) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "symbols", "out of memory");
        return &none;
    }
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
static const struct perfile_space *space_of(struct pf_script *script, unsigned mode)
{
    if (mode == MODE_KERNEL)
        return perfile_session_space(script->session, KERNEL_PID);
    int32_t pid = script->sample.pid;
    return mode == MODE_USER && pid >= 0 ? perfile_session_space(script->session, pid) : NULL;
}

/* Data addresses and branches need not be where the sample's mode says: the kernel touches user memory, too. */
static const struct place *find_anywhere(struct pf_script *script, struct pf_script_places *places, uint64_t address)
{
    unsigned mode = script->record->misc & PERFILE_MISC_CPUMODE_MASK;
    unsigned other = mode == MODE_KERNEL ? MODE_USER : MODE_KERNEL;
    const struct place *place = find_place(script, places, space_of(script, mode), address);
    if (!place->mapped)
        place = find_place(script, places, space_of(script, other), address);
    return place;
}

void pf_script_put_place(struct pf_script *script, struct pf_script_places *places, uint64_t address)
{
    const struct place *place = find_anywhere(script, places, address);
    pf_put(script->out, place->text, place->bytes);
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
                     find_place(script, script->plan->places, space_of(script, mode), script->sample.ip));
}

char *pf_script_put_addr_place(struct pf_script *script, char *at)
{
    return put_frame(script, at, find_anywhere(script, script->plan->places, script->sample.addr));
}

/* The space of the addresses behind a marker. */
static const struct perfile_space *space_of_marker(struct pf_script *script, uint64_t marker)
{
    enum { CONTEXT_KERNEL = -128, CONTEXT_USER = -512 };
    int64_t context = (int64_t)marker;
    return space_of(script, context == CONTEXT_KERNEL ? MODE_KERNEL : context == CONTEXT_USER ? MODE_USER : 0);
}

/* *left frames at most. */
static void put_chain(struct pf_script *script, const struct perfile_u64s *chain, unsigned *left)
{
    const struct perfile_space *space = space_of(script, MODE_USER);
    struct pf_text *out = script->out;
    for (uint64_t i = 0; i < chain->count && *left; i++) {
        uint64_t ip = perfile_u64_at(chain, i);
        if (PF_UNLIKELY(pf_script_is_marker(ip))) {
            space = space_of_marker(script, ip);
            continue;
        }
        const struct place *place = find_place(script, script->plan->places, space, ip);
        if (PF_LIKELY(place->bytes <= COPY_BYTES_MAX)) {
            char *at = pf_text_reserve(out, COPY_BYTES_MAX);
            memcpy(at, place->text, place->bytes);
            pf_text_commit(out, at + place->bytes);
        } else {
            pf_put(out, place->text, place->bytes);
        }
        --*left;
    }
}

void pf_script_unwind(struct pf_script *script)
{
    size_t count;
    if (script->late_chain.count || !open_symbols(script))
        return;
    if (!script->arch && perfile_feature_text(script->reader, PERFILE_FEATURE_ARCH, NULL, &script->arch, NULL) < 0)
        return;
    const struct pf_unwinding how = {.space = space_of(script, MODE_USER), .arch = script->arch, .only_known = true};
    pf_symbols_unwind(script->symbols, &script->sample, &how, script->unwound, SCRIPT_MAX_STACK, &count);
    script->late_chain = (struct perfile_u64s){.data = (const uint8_t *)script->unwound, .count = count};
}

char *pf_script_put_callchain_places(struct pf_script *script, char *at)
{
    *at++ = '\n';
    pf_script_leave(script, at);
    if (script->plan->shows_ip) {
        unsigned left = SCRIPT_MAX_STACK;
        put_chain(script, &script->sample.callchain, &left);
        put_chain(script, &script->late_chain, &left);
    }
    return pf_script_enter(script);
}
