/* SPDX-License-Identifier: MIT */
/*
 * Names for procedure linkage tables. An entry jumps through a slot of the global offset table, and a relocation names
 * the symbol whose address the slot gets. Where the code of an entry is understood that is followed; elsewhere entries
 * have the order of the relocations, after a header, as perf assumes everywhere but on x86.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/elf_names.h"
#include "base/map.h"
#include "base/sort.h"
#include "symbol/table_elf.h"

enum {
    NAMES_MAX = 64 << 20, /* bytes; a made file may have many relocations that share one long name */
    ENTRY_MAX = 32,
};

struct slot {
    uint64_t address; /* in the global offset table */
    uint64_t symbol;  /* index in .dynsym, or 0 */
    uint64_t target;  /* symbol 0: the resolver's address */
};

struct plt {
    struct pf_symbol_build *build;
    const struct pf_elf *elf;
    size_t resolvable; /* sorted entries of the build that were there before */
    size_t names_bytes;
    struct slot *slots; /* those of .rela.plt first, in their order */
    size_t count;
    size_t capacity;
    size_t in_order; /* how many are of .rela.plt */
    struct pf_map by_address;
    struct pf_elf_symbols symbols; /* .dynsym */
};

/* ---- slots ---- */

/* Without an addend in the relocation it is what the slot holds. */
static uint64_t target_in_slot(const struct plt *p, uint64_t address)
{
    size_t bytes;
    const uint8_t *at = pf_elf_bytes_at(p->elf, address, &bytes);
    if (!at || bytes < (p->elf->is_64 ? 8u : 4u))
        return 0;
    return p->elf->is_64 ? pf_load64(at, p->elf->swap) : pf_load32(at, p->elf->swap);
}

/* Addresses, both included. */
struct span {
    uint64_t low, high;
};

static bool add_slot(struct plt *p, struct slot slot)
{
    if (!pf_grow(p->build->allocator, &p->slots, &p->capacity, p->count + 1, sizeof(slot)))
        return false;
    p->slots[p->count] = slot;
    return pf_map_put(&p->by_address, slot.address, p->count++);
}

/* Of the relocations at addresses of the span. */
static bool add_slots(struct plt *p, const struct pf_elf_section *section, const struct span *span)
{
    struct pf_elf_relocations all;
    if (!pf_elf_relocations_open(&all, p->elf, section))
        return true;
    for (size_t i = 0; i < all.count; i++) {
        const struct pf_elf_relocation r = pf_elf_relocation_at(&all, i);
        if (r.r_offset < span->low || r.r_offset > span->high)
            continue;
        const uint64_t target = r.symbol ? 0 : all.with_addend ? r.r_addend : target_in_slot(p, r.r_offset);
        if (!add_slot(p, (struct slot){r.r_offset, r.symbol, target}))
            return false;
    }
    return true;
}

static const struct pf_elf_section *either(const struct pf_elf *elf, const char *first, const char *second)
{
    const struct pf_elf_section *section = pf_elf_section(elf, first);
    return section ? section : pf_elf_section(elf, second);
}

/* ---- names ---- */

static size_t symbol_name(const struct plt *p, uint64_t index, const char **name)
{
    if (index >= p->symbols.count)
        return 0;
    const struct pf_elf_symbol symbol = pf_elf_symbol_at(&p->symbols, index);
    if (symbol.st_name >= p->symbols.names_bytes)
        return 0;
    *name = (const char *)p->symbols.names + symbol.st_name;
    return pf_text_length(*name, p->symbols.names_bytes - symbol.st_name);
}

/* The name of the function at exactly this address. */
static size_t function_name(const struct plt *p, uint64_t address, const char **name)
{
    const struct pf_symbol_entry *entries = p->build->entries;
    const size_t after = PF_COUNT_BEFORE(p->resolvable, i, entries[i].start <= address);
    if (!after || entries[after - 1].start != address)
        return 0;
    *name = p->build->text + entries[after - 1].name;
    return strlen(*name);
}

/* Puts "NAME@plt" in the text; NAME may be part of the text. */
static bool put_name(struct plt *p, const char *name, size_t bytes, uint32_t *at)
{
    static const char suffix[] = "@plt";
    struct pf_symbol_build *b = p->build;
    uintptr_t inside = (uintptr_t)name - (uintptr_t)b->text;
    bool is_inside = b->text && inside < b->text_bytes;
    if (!pf_build_text_capacity(b, bytes + sizeof(suffix)))
        return false;
    char *to = b->text + b->text_bytes;
    memcpy(to, is_inside ? b->text + inside : name, bytes);
    memcpy(to + bytes, suffix, sizeof(suffix));
    *at = (uint32_t)b->text_bytes;
    b->text_bytes += bytes + sizeof(suffix);
    p->names_bytes += bytes + sizeof(suffix);
    return true;
}

/* An entry for which there is no name gets perf's: where it stands. */
static bool add_entry(struct plt *p, const struct slot *slot, uint64_t start, uint64_t end, uint64_t file_offset)
{
    char position[32];
    uint32_t at;
    const char *name = NULL;
    size_t bytes = slot->symbol ? symbol_name(p, slot->symbol, &name) : function_name(p, slot->target, &name);
    if (!bytes) {
        bytes = (size_t)snprintf(position, sizeof(position), "offset_0x%" PRIx64, file_offset);
        name = position;
    }
    if (bytes > NAMES_MAX - 8 || p->names_bytes > NAMES_MAX - 8 - bytes)
        return true;
    return put_name(p, name, bytes, &at) && pf_build_add(p->build, start, end, at, PF_SYMBOL_GLOBAL | PF_SYMBOL_PLT);
}

static bool add_header(struct plt *p, uint64_t start, uint64_t end)
{
    uint32_t name;
    return start == end || (pf_build_text(p->build, ".plt", 4, &name) &&
                            pf_build_add(p->build, start, end, name, PF_SYMBOL_GLOBAL | PF_SYMBOL_PLT));
}

/* ---- entries by their code ---- */

struct code {
    const uint8_t *bytes;
    size_t count;
    uint64_t address;
    uint64_t got; /* i386: what ebx holds */
    bool swap;    /* instructions, not data */
};

/* If an entry's code is at `at`: true, where the entry begins, and the slot's address. */
typedef bool decode_entry(const struct code *code, size_t at, size_t *start, uint64_t *slot);

/* [endbr] [bnd] jmp *slot */
static bool decode_x86(const struct code *code, size_t at, size_t *start, uint64_t *slot, bool is_64)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e};
    const uint8_t *b = code->bytes;
    *start = at;
    if (at + sizeof(endbr) < code->count && memcmp(b + at, endbr, sizeof(endbr)) == 0)
        at += 4;
    if (at < code->count && b[at] == 0xf2)
        at++;
    if (at + 6 > code->count || b[at] != 0xff)
        return false;
    int32_t distance = (int32_t)pf_load32(b + at + 2, PF_NATIVE_BIG_ENDIAN);
    if (b[at + 1] == 0x25)
        *slot = is_64 ? code->address + at + 6 + (uint64_t)(int64_t)distance : (uint32_t)distance;
    else if (b[at + 1] == 0xa3 && !is_64)
        *slot = (uint32_t)(code->got + (uint64_t)(int64_t)distance);
    else
        return false;
    return true;
}

static bool decode_x86_64(const struct code *code, size_t at, size_t *start, uint64_t *slot)
{
    return decode_x86(code, at, start, slot, true);
}

static bool decode_i386(const struct code *code, size_t at, size_t *start, uint64_t *slot)
{
    return decode_x86(code, at, start, slot, false);
}

static uint32_t instruction(const struct code *code, size_t at)
{
    return at + 4 <= code->count ? pf_load32(code->bytes + at, code->swap) : 0;
}

/* [bti c] adrp x16, page; ldr x17, [x16, offset] */
static bool decode_aarch64(const struct code *code, size_t at, size_t *start, uint64_t *slot)
{
    uint32_t adrp = instruction(code, at), ldr = instruction(code, at + 4);
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
        return false;
    uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    if (pages & 1ull << 20)
        pages |= ~((1ull << 21) - 1);
    *slot = ((code->address + at) & ~4095ull) + (pages << 12) + (uint64_t)(ldr >> 10 & 0xfff) * 8;
    *start = at >= 4 && instruction(code, at - 4) == 0xd503245f ? at - 4 : at;
    return true;
}

static uint32_t arm_immediate(uint32_t code)
{
    uint32_t turn = (code >> 8 & 15) * 2, value = code & 0xff;
    return turn ? value >> turn | value << (32 - turn) : value;
}

/* [bx pc; nop] add ip, pc, #; add ip, ip, # ...; ldr pc, [ip, #]! */
static bool decode_arm(const struct code *code, size_t at, size_t *start, uint64_t *slot)
{
    uint32_t add = instruction(code, at);
    if ((add & 0xfffff000) != 0xe28fc000)
        return false;
    uint32_t sum = (uint32_t)(code->address + at) + 8 + arm_immediate(add);
    size_t next = at + 4;
    while ((instruction(code, next) & 0xfffff000) == 0xe28cc000) {
        sum += arm_immediate(instruction(code, next));
        next += 4;
    }
    uint32_t load = instruction(code, next);
    if ((load & 0xfffff000) != 0xe5bcf000)
        return false;
    *slot = sum + (load & 0xfff);
    uint32_t before = at >= 4 ? instruction(code, at - 4) : 0;
    *start = (before & 0xffff) == 0x4778 ? at - 4 : at;
    return true;
}

/* larl %r1, slot: a distance in halfwords */
static bool decode_s390(const struct code *code, size_t at, size_t *start, uint64_t *slot)
{
    if (at + 6 > code->count || code->bytes[at] != 0xc0 || code->bytes[at + 1] != 0x10)
        return false;
    int32_t distance = (int32_t)pf_load32(code->bytes + at + 2, !PF_NATIVE_BIG_ENDIAN);
    *slot = code->address + at + 2 * (uint64_t)(int64_t)distance;
    *start = at;
    return true;
}

/* auipc t3, high; ld (or lw) t3, low(t3) */
static bool decode_riscv(const struct code *code, size_t at, size_t *start, uint64_t *slot)
{
    uint32_t auipc = instruction(code, at), load = instruction(code, at + 4);
    if ((auipc & 0xfff) != 0xe17 || ((load & 0xfffff) != 0xe3e03 && (load & 0xfffff) != 0xe2e03))
        return false;
    *slot = code->address + at + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000) +
            (uint64_t)(int64_t)((int32_t)load >> 20);
    *start = at;
    return true;
}

struct machine {
    unsigned machine;
    decode_entry *decode;
    unsigned step;   /* of decoding */
    unsigned header; /* bytes, where entries stand in the order of the relocations */
    unsigned entry;
};

static const struct machine machines[] = {
    {EM_X86_64, decode_x86_64, 8, 0, 0}, {EM_386, decode_i386, 8, 0, 0},    {EM_AARCH64, decode_aarch64, 4, 0, 0},
    {EM_ARM, decode_arm, 4, 0, 0},       {EM_RISCV, decode_riscv, 4, 0, 0}, {EM_S390, decode_s390, 2, 0, 0},
    {EM_LOONGARCH, NULL, 0, 32, 16},     {EM_MIPS, NULL, 0, 32, 16},
};

static const struct machine *machine_of(const struct pf_elf *elf)
{
    for (size_t i = 0; i < PF_COUNT(machines); i++)
        if (machines[i].machine == elf->header.e_machine)
            return &machines[i];
    return NULL;
}

struct open_entry {
    const struct slot *slot;
    size_t start;
};

static bool close_entry(struct plt *p, const struct pf_elf_section *section, const struct open_entry *entry, size_t end)
{
    if (!entry->slot)
        return strcmp(section->name, ".plt") != 0 || add_header(p, section->address, section->address + end);
    end = (size_t)pf_min(end, entry->start + ENTRY_MAX);
    return add_entry(p, entry->slot, section->address + entry->start, section->address + end,
                     section->header.sh_offset + entry->start);
}

static bool add_decoded(struct plt *p, const struct machine *machine, const struct pf_elf_section *section,
                        const struct code *code)
{
    struct open_entry entry = {0};
    size_t start;
    uint64_t address, slot;
    for (size_t at = 0; at < code->count; at += machine->step) {
        if (!machine->decode(code, at, &start, &address) || !pf_map_get(&p->by_address, address, &slot) ||
            (entry.slot && start <= entry.start))
            continue;
        if (!close_entry(p, section, &entry, start))
            return false;
        entry = (struct open_entry){&p->slots[slot], start};
    }
    return close_entry(p, section, &entry, code->count);
}

static bool add_in_order(struct plt *p, const struct machine *machine, const struct pf_elf_section *section)
{
    uint64_t bytes = section->header.sh_size;
    if (bytes < machine->header || !p->in_order)
        return true;
    if (!add_header(p, section->address, section->address + machine->header))
        return false;
    for (size_t i = 0; i < p->in_order; i++) {
        uint64_t at = machine->header + (uint64_t)i * machine->entry;
        if (at + machine->entry > bytes)
            break;
        uint64_t start = section->address + at;
        if (!add_entry(p, &p->slots[i], start, start + machine->entry, section->header.sh_offset + at))
            return false;
    }
    return true;
}

static bool are_instructions_big_endian(const struct pf_elf *elf)
{
    if (elf->header.e_machine == EM_AARCH64 || elf->header.e_machine == EM_RISCV)
        return false;
    return elf->is_big_endian && !(elf->header.e_machine == EM_ARM && elf->header.e_flags & EF_ARM_BE8);
}

static const struct pf_elf_section *code_section(const struct plt *p, const char *name)
{
    const struct pf_elf_section *section = pf_elf_section(p->elf, name);
    uint64_t end;
    return section && section->header.sh_flags & SHF_EXECINSTR &&
                   pf_add(section->address, section->header.sh_size, &end)
               ? section
               : NULL;
}

static struct code code_of(const struct plt *p, const struct pf_elf_section *section)
{
    struct code code = {.address = section->address,
                        .swap = are_instructions_big_endian(p->elf) != PF_NATIVE_BIG_ENDIAN};
    code.bytes = pf_elf_bytes(p->elf, section, &code.count);
    const struct pf_elf_section *got = either(p->elf, ".got.plt", ".got");
    code.got = got ? got->address : 0;
    return code;
}

static bool add_section(struct plt *p, const struct machine *machine, const char *name)
{
    const struct pf_elf_section *section = code_section(p, name);
    if (!section)
        return true;
    if (!machine->decode)
        return add_in_order(p, machine, section);
    const struct code code = code_of(p, section);
    return !code.bytes || add_decoded(p, machine, section, &code);
}

/* The sections of entries that are decoded. */
static const char *const decoded[] = {".plt", ".plt.got", ".plt.sec", ".plt.bnd"};

/* What the entries refer to: of the relocations of position-independent programs few are for these. */
static struct span span_of_slots(const struct plt *p, const struct machine *machine)
{
    struct span span = {UINT64_MAX, 0};
    size_t start;
    uint64_t address;
    for (size_t i = 0; i < PF_COUNT(decoded); i++) {
        const struct pf_elf_section *section = code_section(p, decoded[i]);
        const struct code code = section ? code_of(p, section) : (struct code){0};
        for (size_t at = 0; code.bytes && at < code.count; at += machine->step) {
            if (!machine->decode(&code, at, &start, &address))
                continue;
            span.low = pf_min(span.low, address);
            span.high = pf_max(span.high, address);
        }
    }
    return span;
}

static bool add_all(struct plt *p, const struct machine *machine)
{
    const struct pf_elf_section *calls = either(p->elf, ".rela.plt", ".rel.plt");
    const struct pf_elf_section *others = either(p->elf, ".rela.dyn", ".rel.dyn");
    if (calls && !add_slots(p, calls, &(struct span){0, UINT64_MAX}))
        return false;
    p->in_order = p->count;
    bool more = machine->decode && (pf_elf_section(p->elf, ".plt.got") || pf_elf_section(p->elf, ".plt.sec"));
    if (more && others) {
        const struct span span = span_of_slots(p, machine);
        if (!add_slots(p, others, &span))
            return false;
    }
    for (size_t i = 0; i < (machine->decode ? PF_COUNT(decoded) : 1); i++)
        if (!add_section(p, machine, decoded[i]))
            return false;
    return true;
}

bool pf_build_add_plt(struct pf_symbol_build *build, const struct pf_elf *elf)
{
    const struct machine *machine = machine_of(elf);
    if (!machine || elf->header.e_type == ET_REL)
        return true;
    struct plt p = {.build = build, .elf = elf, .resolvable = build->count};
    pf_map_open(&p.by_address, build->allocator);
    const struct pf_elf_section *symbols = pf_elf_section_of_type(elf, SHT_DYNSYM);
    if (symbols)
        (void)pf_elf_symbols_open(&p.symbols, elf, symbols);
    bool done = add_all(&p, machine);
    pf_map_close(&p.by_address);
    pf_free(build->allocator, p.slots, p.capacity * sizeof(*p.slots));
    return done;
}
