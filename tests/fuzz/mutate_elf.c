/* SPDX-License-Identifier: MIT */
/*
 * Lets libFuzzer mutate the sections of ELF files one by one, so that mutants keep headers that lead to them. What a
 * section gains or loses moves the bytes after it, and the offsets in the headers with them.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/elf_names.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t capacity);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned seed);

/* Where the numbers of its headers are. */
struct elf {
    uint8_t *data;
    size_t bytes;
    bool is_64, swap;
    uint64_t headers; /* of sections: their offset */
    size_t count;
};

enum { SECTION_BYTES_MAX = 1 << 14, GROWTH_MAX = 64 };

static uint64_t load_word(const struct elf *elf, uint64_t at)
{
    return elf->is_64 ? pf_load64(elf->data + at, elf->swap) : pf_load32(elf->data + at, elf->swap);
}

static void store_word(const struct elf *elf, uint64_t at, uint64_t value)
{
    const unsigned bytes = elf->is_64 ? 8 : 4;
    const bool is_big = elf->swap != PF_NATIVE_BIG_ENDIAN;
    for (unsigned i = 0; i < bytes; i++)
        elf->data[at + i] = (uint8_t)(value >> 8 * (is_big ? bytes - 1 - i : i));
}

/* Where the header of the file says where those of its sections are. */
static uint64_t headers_at(const struct elf *elf)
{
    return elf->is_64 ? 40 : 32;
}

/* Where the header of a section says its offset; its size follows. */
static uint64_t offset_at(const struct elf *elf, size_t index)
{
    return elf->headers + (elf->is_64 ? index * ELF64_SHDR_BYTES + 24 : index * ELF32_SHDR_BYTES + 16);
}

static uint64_t size_at(const struct elf *elf, size_t index)
{
    return offset_at(elf, index) + (elf->is_64 ? 8 : 4);
}

static bool open_elf(struct elf *elf, uint8_t *data, size_t bytes)
{
    *elf = (struct elf){.data = data, .bytes = bytes};
    if (bytes < ELF64_EHDR_BYTES || memcmp(data, ELFMAG, SELFMAG) != 0)
        return false;
    elf->is_64 = data[EI_CLASS] == ELFCLASS64;
    elf->swap = (data[EI_DATA] == ELFDATA2MSB) != PF_NATIVE_BIG_ENDIAN;
    elf->headers = load_word(elf, headers_at(elf));
    elf->count = pf_load16(data + (elf->is_64 ? 60 : 48), elf->swap);
    const uint64_t each = elf->is_64 ? ELF64_SHDR_BYTES : ELF32_SHDR_BYTES;
    return elf->count && elf->headers <= bytes && elf->count <= (bytes - elf->headers) / each;
}

/* Whether its bytes are in the file, and apart from the headers. */
static bool is_mutable(const struct elf *elf, size_t index)
{
    const uint64_t at = load_word(elf, offset_at(elf, index)), bytes = load_word(elf, size_at(elf, index));
    const bool is_there =
        bytes && bytes <= SECTION_BYTES_MAX && at >= ELF64_EHDR_BYTES && at <= elf->bytes && bytes <= elf->bytes - at;
    return is_there && (elf->headers >= at + bytes || elf->headers + elf->count * ELF64_SHDR_BYTES <= at);
}

/* The section gets these bytes instead of its own. */
static void replace(struct elf *elf, size_t index, const uint8_t *contents, size_t bytes)
{
    const uint64_t at = load_word(elf, offset_at(elf, index)), old_bytes = load_word(elf, size_at(elf, index));
    const uint64_t end = at + old_bytes, more = bytes - old_bytes;
    memmove(elf->data + at + bytes, elf->data + end, elf->bytes - (size_t)end);
    memcpy(elf->data + at, contents, bytes);
    elf->bytes += (size_t)more;
    if (elf->headers >= end)
        elf->headers += more;
    store_word(elf, headers_at(elf), elf->headers);
    store_word(elf, size_at(elf, index), bytes);
    for (size_t i = 0; i < elf->count; i++)
        if (i != index && load_word(elf, offset_at(elf, i)) >= end)
            store_word(elf, offset_at(elf, i), load_word(elf, offset_at(elf, i)) + more);
}

/* Every third time its size may change. Otherwise what mutation takes away is as it was. */
static void mutate_section(struct elf *elf, size_t index, size_t capacity, unsigned seed)
{
    static uint8_t contents[SECTION_BYTES_MAX + GROWTH_MAX];
    const size_t bytes = (size_t)load_word(elf, size_at(elf, index));
    const bool may_grow = seed % 3 == 0 && capacity - elf->bytes >= GROWTH_MAX;
    memcpy(contents, elf->data + load_word(elf, offset_at(elf, index)), bytes);
    const size_t made = LLVMFuzzerMutate(contents, bytes, bytes + (may_grow ? GROWTH_MAX : 0));
    if (seed % 3 == 0)
        replace(elf, index, contents, made);
    else
        memcpy(elf->data + load_word(elf, offset_at(elf, index)), contents, made);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t capacity, unsigned seed)
{
    enum { TRIES = 8 };
    struct elf elf;
    if (seed % 8 == 0 || !open_elf(&elf, data, bytes))
        return LLVMFuzzerMutate(data, bytes, capacity);
    seed /= 8;
    for (unsigned i = 0; i < TRIES; i++, seed = seed * 1103515245 + 12345) {
        const size_t index = (seed >> 16) % elf.count;
        if (!is_mutable(&elf, index))
            continue;
        mutate_section(&elf, index, capacity, seed);
        return elf.bytes;
    }
    return LLVMFuzzerMutate(data, bytes, capacity);
}
