/* SPDX-License-Identifier: MIT */
/* The instructions of one function, with what was sampled at each of them. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/annotate.h"
#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/sort.h"
#include "symbol/code.h"

enum { CODE_BYTES_MAX = 16 << 20, FRAMES_MAX = 64, MISSING_BYTES = 768 };

struct line {
    uint64_t address;
    uint32_t byte_count;
    uint32_t kind;
    const char *text;
    uint64_t branch; /* where it jumps to or calls; 0: nowhere that is known */
    uint32_t target;
    uint32_t jump_count;
    size_t frames, frame_count;
    size_t hits, hit_count; /* of the annotation */
    const char *data_type;  /* NULL: not known, or not asked for */
    struct pf_annotation_branches branches;
};

struct perfile_listing {
    struct perfile_annotation *annotation;
    const struct perfile_allocator *allocator;
    struct pf_annotation_function *function;
    struct pf_arena arena;
    struct pf_code_bytes code;
    uint64_t start, end; /* of the function, as its table counts */
    enum perfile_listing_state state;
    char missing[MISSING_BYTES];
    struct line *lines;
    size_t line_count, line_capacity;
    struct pf_source_frame *frames;
    size_t frame_count, frame_capacity;
};

/* ---- why there is none ------------------------------------------------------------------------------------------- */

static const struct pf_module *module_of(const struct perfile_listing *code)
{
    return pf_symbols_module(code->annotation->symbols, code->function->module);
}

/* printf's text without its end. */
static void missing(struct perfile_listing *code, enum perfile_listing_state state, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void missing(struct perfile_listing *code, enum perfile_listing_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(code->missing, sizeof(code->missing), format, arguments);
    va_end(arguments);
    code->state = state;
}

static void missing_file(struct perfile_listing *code)
{
    const struct pf_module *module = module_of(code);
    switch (pf_module_missing_kind(module)) {
    case PF_MISSING_BUILD:
        missing(code, PERFILE_LISTING_OTHER_BUILD, "%.400s here is another build (%.40s) than the recorded one (%.40s)",
                module->name,
                module->other_build_id && *module->other_build_id ? module->other_build_id : "no build id",
                module->build_id);
        return;
    case PF_MISSING_KERNEL:
        missing(code, PERFILE_LISTING_NO_KERNEL, "the code of %.400s is not here: the recorded kernel's vmlinux has it",
                module->name);
        return;
    case PF_MISSING_JIT:
        missing(code, PERFILE_LISTING_NOT_KEPT, "this is JIT-compiled code: only a jitdump file keeps it");
        return;
    default:
        missing(code, PERFILE_LISTING_NO_FILE,
                "%.400s was not found: a copy of the recorded machine's files, its build-id cache or debuginfod has it",
                module->name);
    }
}

static void missing_bytes(struct perfile_listing *code)
{
    const struct pf_module *module = module_of(code);
    if (module->kernel && !module->path)
        missing(
            code, PERFILE_LISTING_NO_KERNEL,
            "the kernel's code cannot be read from %.400s: the recorded kernel's vmlinux has it, and root may read its "
            "memory",
            code->code.path);
    else
        missing(code, PERFILE_LISTING_NO_BYTES, "%.400s has no code at 0x%" PRIx64, code->code.path, code->start);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static struct line *add_line(struct perfile_listing *code, uint64_t address)
{
    if (!pf_grow(code->allocator, &code->lines, &code->line_capacity, code->line_count + 1, sizeof(*code->lines)))
        return NULL;
    struct line *line = &code->lines[code->line_count++];
    *line = (struct line){.address = address, .target = PERFILE_NO_ID};
    return line;
}

/* How far it is to what may be the next instruction. */
static uint32_t step(const struct pf_insn_machine *machine, const uint8_t *bytes, size_t count)
{
    static const struct {
        uint16_t elf_machine;
        uint8_t bytes;
    } steps[] = {{EM_ARM, 2}, {EM_S390, 2}, {EM_RISCV, 2}};
    struct pf_insn insn;
    const bool is_x86 = machine->elf_machine == EM_X86_64 || machine->elf_machine == EM_386;
    size_t found = is_x86 ? 1 : 4;
    for (size_t i = 0; i < PF_COUNT(steps); i++)
        if (steps[i].elf_machine == machine->elf_machine)
            found = steps[i].bytes;
    if (pf_insn_decode(machine, bytes, count, &insn))
        found = insn.bytes;
    return (uint32_t)pf_min(found, count);
}

static const char *text_of(struct perfile_listing *code, const char *mnemonic, const char *operands)
{
    const size_t capacity = strlen(mnemonic) + strlen(operands) + 8;
    char *text = pf_arena_new(&code->arena, capacity);
    if (text)
        snprintf(text, capacity, *operands ? "%-6s %s" : "%s", mnemonic, operands);
    return text;
}

/* "bl 11f0 <spin+0x60>": what stands for the number of a target. */
static const char *text_of_branch(struct perfile_listing *code, const struct pf_insn_words *words)
{
    struct perfile_annotation *annotation = code->annotation;
    const uint32_t module = code->function->module;
    const char *comma = strrchr(words->operands, ',');
    const int kept = comma ? (int)(comma - words->operands) + 2 : 0;
    uint64_t offset;
    const uint32_t symbol = pf_symbols_at(annotation->symbols, module, words->branch, &offset);
    const char *name = symbol == code->function->symbol && module_of(code)->jit
                           ? pf_annotation_label(annotation, code->function)
                           : pf_annotation_short_name(annotation, pf_symbols_name(annotation->symbols, module, symbol));
    char plus[24] = "";
    if (!name)
        return text_of(code, words->mnemonic, words->operands);
    if (offset)
        snprintf(plus, sizeof(plus), "+0x%" PRIx64, offset);
    const size_t capacity = sizeof(words->operands) + strlen(name) + 64;
    char *operands = pf_arena_new(&code->arena, capacity);
    if (!operands)
        return NULL;
    snprintf(operands, capacity, "%.*s%" PRIx64 " <%s%s>", kept, words->operands, words->branch, name, plus);
    return text_of(code, words->mnemonic, operands);
}

/* A call in code that is not linked yet goes nowhere. */
static bool is_open(const struct line *line, const struct pf_insn_words *words)
{
    return words->flow & PF_FLOW_CALL && words->branch == line->address + words->bytes;
}

static bool take_apart(struct perfile_listing *code, struct line *line, const uint8_t *bytes, size_t count)
{
    struct pf_disassembler *disassembler = code->annotation->disassembler;
    struct pf_insn_words words;
    if (!pf_disassemble(disassembler, &code->code.machine, bytes, count, line->address, &words)) {
        line->byte_count = step(&code->code.machine, bytes, count);
        line->text = code->state == PERFILE_LISTING_READY ? "(bad)" : NULL;
        return !pf_memory_was_short(code->allocator);
    }
    line->byte_count = words.bytes;
    line->kind = words.flow;
    if (words.has_branch && !is_open(line, &words)) {
        line->branch = words.branch;
        line->text = text_of_branch(code, &words);
    } else {
        line->text = text_of(code, words.mnemonic, words.operands);
    }
    return line->text;
}

/* Takes an instruction (perfile_disassemble); those out of order or outside of the function are ignored. */
static void take_passed(void *listing, uint64_t address, const char *text)
{
    struct perfile_listing *code = listing;
    struct line *line = &code->lines[code->line_count - 1];
    if (address < line->address || address - code->start >= code->code.count)
        return;
    if (address > line->address)
        line = add_line(code, address);
    if (!line || !(line->text = pf_arena_text(&code->arena, text, strlen(text))))
        pf_memory_note_short(code->allocator);
}

/* Bytes in between belong to the instruction before. */
static void measure_passed(struct perfile_listing *code, size_t first)
{
    for (size_t i = first; i < code->line_count; i++) {
        const bool is_last = i + 1 == code->line_count;
        const uint64_t end = is_last ? code->start + code->code.count : code->lines[i + 1].address;
        code->lines[i].byte_count = (uint32_t)(end - code->lines[i].address);
    }
}

/* *any: it gave something. False: out of memory. */
static bool add_passed(struct perfile_listing *code, bool *any)
{
    const struct perfile_annotation_options *options = &code->annotation->options;
    const size_t first = code->line_count;
    const struct perfile_machine_code passed = {.size = sizeof(passed),
                                                .bytes = code->code.bytes,
                                                .byte_count = code->code.count,
                                                .address = code->start,
                                                .elf_machine = code->code.machine.elf_machine,
                                                .is_64 = code->code.machine.is_64,
                                                .is_big_endian = code->code.machine.is_big_endian};
    if (!add_line(code, code->start))
        return false;
    options->disassemble(options->disassemble_context, &passed, take_passed, code);
    *any = code->line_count > first + 1 || code->lines[first].text;
    if (*any)
        measure_passed(code, first);
    else
        code->line_count = first;
    return !pf_memory_was_short(code->allocator);
}

static void missing_machine(struct perfile_listing *code)
{
    if (!pf_disassembler_exists(code->allocator)) {
        missing(code, PERFILE_LISTING_NO_MACHINE, "nothing disassembles here: libcapstone is not installed");
        return;
    }
    missing(code, PERFILE_LISTING_NO_MACHINE,
            "capstone does not know the instructions of this machine (%u in ELF files)",
            code->code.machine.elf_machine);
}

static bool knows_machine(const struct perfile_listing *code)
{
    struct pf_disassembler *disassembler = code->annotation->disassembler;
    return disassembler && pf_disassembler_knows(disassembler, &code->code.machine);
}

static bool add_instructions(struct perfile_listing *code)
{
    bool any = false;
    if (code->annotation->options.disassemble && !add_passed(code, &any))
        return false;
    if (any)
        return true;
    if (!knows_machine(code))
        missing_machine(code);
    bool enough = true;
    for (size_t at = 0; at < code->code.count && enough;) {
        struct line *line = add_line(code, code->start + at);
        enough = line && take_apart(code, line, code->code.bytes + at, code->code.count - at);
        at += enough ? line->byte_count : 0;
    }
    return enough;
}

/* ---- what was sampled -------------------------------------------------------------------------------------------- */

static const struct pf_annotation_hit *hit_at(const struct perfile_listing *code, size_t index)
{
    return &code->annotation->hits[code->function->hits + index];
}

/* A line for each sampled address from hit `index` on that is below `end`; *index is the next hit. */
static bool add_addresses(struct perfile_listing *code, size_t *index, uint64_t end, bool to_last)
{
    for (; *index < code->function->hit_count; ++*index) {
        const uint64_t address = hit_at(code, *index)->address;
        if (!to_last && address >= end)
            break;
        if (code->line_count && code->lines[code->line_count - 1].address == address)
            continue;
        if (!add_line(code, address))
            return false;
    }
    return true;
}

/* The line that an address is in, or the number of lines: `from` on, addresses ascend. */
static size_t line_of(const struct perfile_listing *code, uint64_t address, size_t from)
{
    while (from < code->line_count) {
        const struct line *line = &code->lines[from];
        if (address < line->address)
            return code->line_count;
        if (address - line->address < pf_max(line->byte_count, 1u))
            break;
        from++;
    }
    return from;
}

static void take_hits(struct perfile_listing *code)
{
    size_t at = 0;
    for (size_t i = 0; i < code->function->hit_count; i++) {
        at = line_of(code, hit_at(code, i)->address, at); /* there is one */
        struct line *line = &code->lines[at];
        line->hits = line->hit_count++ ? line->hits : code->function->hits + i;
    }
}

static void add_branches(struct pf_annotation_branches *sum, const struct pf_annotation_branches *more)
{
    sum->taken += more->taken;
    sum->mispredicted += more->mispredicted;
    sum->reached += more->reached;
    sum->cycles += more->cycles;
    sum->cycle_count += more->cycle_count;
}

static void take_branches(struct perfile_listing *code)
{
    const struct pf_annotation_branches *branches = code->annotation->branches; /* NULL means none at all */
    size_t at = 0;
    for (size_t i = code->function->branches; i < code->function->branches + code->function->branch_count; i++) {
        const size_t found = line_of(code, branches[i].address, at);
        if (found == code->line_count)
            continue; /* not the address of a known instruction */
        at = found;
        add_branches(&code->lines[at].branches, &branches[i]);
    }
}

/* The line at exactly this address; PERFILE_NO_ID: none. */
static uint32_t line_at(const struct perfile_listing *code, uint64_t address)
{
    const size_t after = PF_COUNT_BEFORE(code->line_count, i, code->lines[i].address <= address);
    return after && code->lines[after - 1].address == address ? (uint32_t)(after - 1) : PERFILE_NO_ID;
}

static void find_targets(struct perfile_listing *code)
{
    for (size_t i = 0; i < code->line_count; i++) {
        struct line *line = &code->lines[i];
        if (!(line->kind & PF_FLOW_JUMP) || !line->branch)
            continue;
        line->target = line_at(code, line->branch);
        if (line->target != PERFILE_NO_ID)
            code->lines[line->target].jump_count++;
    }
}

/* ---- source ------------------------------------------------------------------------------------------------------ */

static bool is_frame(const struct pf_source_frame *a, const struct pf_source_frame *b)
{
    return a->function == b->function && a->file == b->file && a->line == b->line && a->inlined == b->inlined;
}

/* The frames are those of the line before, as they mostly are. */
static bool has_frames(const struct perfile_listing *code, const struct line *line,
                       const struct pf_source_frame *frames, size_t count)
{
    if (line->frame_count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!is_frame(&code->frames[line->frames + i], &frames[i]))
            return false;
    return true;
}

size_t pf_annotation_frames(const struct perfile_annotation *annotation, const struct pf_annotation_function *function,
                            uint64_t address, struct pf_source_frame *frames, size_t capacity)
{
    const struct pf_location location = {.module = function->module, .symbol = function->symbol, .address = address};
    return pf_symbols_inlines(annotation->symbols, &location, frames, capacity);
}

/* False: out of memory. */
static bool find_frames(struct perfile_listing *code, size_t index)
{
    struct pf_source_frame frames[FRAMES_MAX];
    struct line *line = &code->lines[index];
    const size_t capacity = code->annotation->complete.symbols.no_inline ? 1 : FRAMES_MAX;
    const size_t count = pf_annotation_frames(code->annotation, code->function, line->address, frames, capacity);
    if (index && has_frames(code, line - 1, frames, count)) {
        line->frames = line[-1].frames;
        line->frame_count = count;
        return true;
    }
    if (!pf_grow(code->allocator, &code->frames, &code->frame_capacity, code->frame_count + count,
                 sizeof(*code->frames)))
        return false;
    if (count)
        memcpy(code->frames + code->frame_count, frames, count * sizeof(*frames));
    line->frames = code->frame_count;
    line->frame_count = count;
    code->frame_count += count;
    return true;
}

static bool find_sources(struct perfile_listing *code)
{
    bool enough = true;
    for (size_t i = 0; i < code->line_count && enough; i++)
        enough = find_frames(code, i);
    return enough;
}

/* False: out of memory. */
static bool find_types(struct perfile_listing *code)
{
    const struct pf_annotation_function *function = code->function;
    struct pf_data_types *types = pf_annotation_data_types(code->annotation);
    for (size_t i = 0; i < code->line_count && types; i++) {
        struct line *line = &code->lines[i];
        const struct pf_data_use *use = pf_data_types_at(types, function->module, function->symbol, line->address);
        if (!use)
            return false;
        line->data_type = use->use.type ? use->label : NULL;
    }
    return types;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* False: out of memory. */
static bool open_disassembler(struct perfile_annotation *annotation)
{
    if (annotation->disassembler)
        return true;
    annotation->disassembler = pf_disassembler_open(annotation->allocator);
    if (annotation->disassembler && annotation->options.syntax && strcmp(annotation->options.syntax, "intel") == 0)
        pf_disassembler_use_intel(annotation->disassembler);
    return annotation->disassembler || !pf_memory_was_short(annotation->allocator);
}

/* 0, or MEMORY. */
static int read_code(struct perfile_listing *code)
{
    struct perfile_annotation *annotation = code->annotation;
    const struct pf_annotation_function *function = code->function;
    code->state = PERFILE_LISTING_READY;
    if (!pf_symbols_range(annotation->symbols, function->module, function->symbol, &code->start, &code->end)) {
        const struct pf_module *module = module_of(code);
        if (module && !module->table)
            missing_file(code);
        else
            missing(code, PERFILE_LISTING_NO_SYMBOL, "no symbol covers these addresses");
        return 0;
    }
    if (code->end - code->start > CODE_BYTES_MAX) {
        missing(code, PERFILE_LISTING_TOO_LONG, "it is longer than 16 MiB");
        return 0;
    }
    const int read = pf_code_bytes_read(annotation->symbols, function->module, code->start,
                                        (size_t)(code->end - code->start), &code->code);
    code->code.machine.is_thumb = pf_symbols_is_thumb(annotation->symbols, function->module, function->symbol);
    if (read == PF_CODE_NO_FILE)
        missing_file(code);
    else if (read == PF_CODE_NO_BYTES)
        missing_bytes(code);
    else if (!open_disassembler(annotation))
        return PERFILE_ERROR_MEMORY;
    return read < 0 ? read : 0;
}

/* False: out of memory. */
static bool make_lines(struct perfile_listing *code)
{
    size_t hit = 0;
    const bool has_code = code->code.count;
    bool enough = !has_code || (add_addresses(code, &hit, code->start, false) && add_instructions(code));
    if (has_code)
        while (hit < code->function->hit_count && hit_at(code, hit)->address - code->start < code->code.count)
            hit++;
    return enough && add_addresses(code, &hit, 0, true);
}

static int fill(struct perfile_listing *code, struct perfile_error *error)
{
    if (read_code(code) < 0 || !make_lines(code))
        return pf_fail_memory(error, "code");
    take_hits(code);
    take_branches(code);
    find_targets(code);
    if (code->annotation->options.data_types && !find_types(code))
        return pf_fail_memory(error, "types");
    return find_sources(code) && !pf_memory_was_short(code->allocator) ? 0 : pf_fail_memory(error, "code");
}

int perfile_annotation_listing(struct perfile_annotation *annotation, size_t function, struct perfile_listing **code,
                               struct perfile_error *error)
{
    struct pf_annotation_function *found = pf_annotation_ranked(annotation, function);
    *code = NULL;
    if (!found)
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "function", "there is no such number");
    struct perfile_listing *made = pf_new(annotation->allocator, sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "code");
    made->annotation = annotation;
    made->allocator = annotation->allocator;
    made->function = found;
    pf_arena_open(&made->arena, made->allocator);
    const int result = fill(made, error);
    if (result == 0)
        *code = made;
    else
        perfile_listing_close(made);
    return result;
}

void perfile_listing_close(struct perfile_listing *code)
{
    if (!code)
        return;
    pf_code_bytes_close(code->annotation->symbols, &code->code);
    pf_free(code->allocator, code->lines, code->line_capacity * sizeof(*code->lines));
    pf_free(code->allocator, code->frames, code->frame_capacity * sizeof(*code->frames));
    pf_arena_close(&code->arena);
    pf_free(code->allocator, code, sizeof(*code));
}

/* ---- for others -------------------------------------------------------------------------------------------------- */

int perfile_listing_state(const struct perfile_listing *code)
{
    return (int)code->state;
}

const char *perfile_listing_missing(const struct perfile_listing *code)
{
    return code->state == PERFILE_LISTING_READY ? NULL : code->missing;
}

size_t perfile_listing_line_count(const struct perfile_listing *code)
{
    return code->line_count;
}

int perfile_listing_line_at(const struct perfile_listing *code, size_t index, struct perfile_listing_line *line)
{
    if (index >= code->line_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct line *one = &code->lines[index];
    const struct pf_source_frame *frame = one->frame_count ? &code->frames[one->frames] : NULL;
    const struct perfile_listing_line all = {
        .address = one->address,
        .bytes = one->byte_count ? code->code.bytes + (one->address - code->start) : NULL,
        .byte_count = one->byte_count,
        .kind = one->kind,
        .text = one->text,
        .target = one->target,
        .line = frame ? frame->line : 0,
        .file = frame ? frame->file : NULL,
        .frame_count = (uint32_t)one->frame_count,
        .jump_count = one->jump_count,
        .taken = one->branches.taken,
        .mispredicted = one->branches.mispredicted,
        .reached = one->branches.reached,
        .cycles = one->branches.cycles,
        .cycle_count = one->branches.cycle_count,
        .data_type = one->data_type,
    };
    return pf_sized_give(line, &all, sizeof(all));
}

int perfile_listing_weight(const struct perfile_listing *code, size_t line, size_t event, struct perfile_weight *weight)
{
    struct perfile_weight all = {0};
    if (line >= code->line_count || event >= code->annotation->event_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_annotation_hit *hits = code->annotation->hits + code->lines[line].hits;
    for (size_t i = 0; i < code->lines[line].hit_count; i++) {
        if (hits[i].event != event)
            continue;
        all.samples += hits[i].samples;
        all.period += hits[i].period;
    }
    return pf_sized_give(weight, &all, sizeof(all));
}

int perfile_listing_frame_at(const struct perfile_listing *code, size_t line, size_t frame,
                             struct perfile_listing_frame *found)
{
    if (line >= code->line_count || frame >= code->lines[line].frame_count)
        return PERFILE_ERROR_ARGUMENT;
    const struct pf_source_frame *one = &code->frames[code->lines[line].frames + frame];
    const struct perfile_listing_frame all = {
        .name = one->function ? pf_symbols_readable(code->annotation->symbols, one->function) : NULL,
        .file = one->file,
        .line = one->line,
        .inlined = one->inlined};
    return one->function && !all.name ? PERFILE_ERROR_MEMORY : pf_sized_give(found, &all, sizeof(all));
}

/* ---- source files ------------------------------------------------------------------------------------------------ */

static const char *fetch(void *context, const char *name)
{
    const struct perfile_listing *code = context;
    return pf_symbols_fetch_source(code->annotation->symbols, code->function->module, name);
}

const char *perfile_listing_source(struct perfile_listing *code, const char *file, uint32_t line)
{
    return file ? pf_source_line(pf_sources_find(&code->annotation->sources, file, fetch, code), line) : NULL;
}

static bool is_newer(const struct pf_source *source, const char *binary)
{
    struct stat about;
    if (!binary || stat(binary, &about) != 0)
        return false;
    return source->changed.tv_sec > about.st_mtim.tv_sec ||
           (source->changed.tv_sec == about.st_mtim.tv_sec && source->changed.tv_nsec > about.st_mtim.tv_nsec);
}

const char *perfile_listing_source_path(struct perfile_listing *code, const char *file, bool *newer)
{
    const struct pf_source *source = file ? pf_sources_find(&code->annotation->sources, file, fetch, code) : NULL;
    if (newer)
        *newer = source && source->text && is_newer(source, code->code.path);
    return source ? source->path : NULL;
}
