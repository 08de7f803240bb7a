/* SPDX-License-Identifier: MIT */
/*
 * The program's code as blocks, each decoded once. One thread makes blocks. Others may look for them meanwhile: so the
 * links between blocks are atomic, and slots that are too few are kept, with blocks that are still found, or are not.
 */
#include "hwtrace/flow.h"

enum {
    SLOT_BITS = 4,        /* at first; doubled as often as there are more blocks */
    MAX_BLOCKS = 1 << 20, /* more than this many are discarded, and decoded again */
    MAX_INSNS = 64,       /* of a block: longer ones are divided */
    MAX_INSN_BYTES = 15,
    KERNEL_PID = -1,
};

struct pf_flow_slots {
    struct pf_flow_slots *next;
    struct pf_flow_block **slots;
    unsigned bits;
};

bool pf_flow_code_open(struct pf_flow_code *code, const struct perfile_allocator *allocator,
                       const struct pf_code_source *source)
{
    *code = (struct pf_flow_code){.allocator = allocator, .source = *source, .slot_bits = SLOT_BITS, .pid = KERNEL_PID};
    pf_arena_open(&code->arena, allocator);
    code->slots = pf_new(allocator, sizeof(*code->slots) << code->slot_bits);
    return code->slots;
}

static void free_slots(struct pf_flow_code *code, struct pf_flow_block **slots, unsigned bits)
{
    pf_free(code->allocator, slots, sizeof(*slots) << bits);
}

static void free_outgrown(struct pf_flow_code *code)
{
    for (struct pf_flow_slots *old = code->outgrown, *next; old; old = next) {
        next = old->next;
        free_slots(code, old->slots, old->bits);
        pf_free(code->allocator, old, sizeof(*old));
    }
    code->outgrown = NULL;
}

void pf_flow_code_close(struct pf_flow_code *code)
{
    pf_arena_close(&code->arena);
    free_outgrown(code);
    free_slots(code, code->slots, code->slot_bits);
    code->slots = NULL;
}

static void discard_all(struct pf_flow_code *code)
{
    pf_arena_close(&code->arena);
    pf_arena_open(&code->arena, code->allocator);
    memset(code->slots, 0, sizeof(*code->slots) << code->slot_bits);
    code->block_count = 0;
    free_outgrown(code);
}

bool pf_flow_code_is_full(const struct pf_flow_code *code)
{
    return code->block_count > MAX_BLOCKS;
}

void pf_flow_code_enter(struct pf_flow_code *code, int32_t pid)
{
    const struct pf_code_source *source = &code->source;
    code->pid = pid;
    code->user = source->space ? source->space(source->context, pid) : 0;
    code->kernel = source->space ? source->space(source->context, KERNEL_PID) : 0;
    if (pf_flow_code_is_full(code))
        discard_all(code);
}

struct pf_flow_code pf_flow_code_view(struct pf_flow_code *code)
{
    struct pf_flow_code view = *code;
    code->has_views = true;
    view.is_view = true;
    view.missed = false;
    return view;
}

/* Addresses of the upper half are the kernel's. */
static bool is_kernel(uint64_t address)
{
    return address >> 63;
}

/* Decodes instructions up to one that goes elsewhere, or to the end of the bytes. */
static void decode_block(struct pf_flow_block *block, const uint8_t *code, size_t bytes, uint8_t *insn_bytes)
{
    struct pf_x86_insn insn = {.flow = PF_X86_ON};
    size_t at = 0;
    while (block->count < MAX_INSNS && insn.flow == PF_X86_ON &&
           pf_x86_decode(block->is_64, code + at, bytes - at, &insn)) {
        block->last = block->start + at;
        insn_bytes[block->count++] = (uint8_t)insn.bytes;
        at += insn.bytes;
    }
    block->next = block->start + at;
    block->target = block->next + (uint64_t)insn.displacement;
    block->flow = block->count ? (uint8_t)insn.flow : PF_X86_ON;
    block->flags = (uint16_t)(pf_flow_flags_of(block->flow) | PF_FLOW_IS_BRANCH);
}

/* At the start of a line. */
static struct pf_flow_block *new_block(struct pf_flow_code *code, size_t insn_count)
{
    const size_t bytes = sizeof(struct pf_flow_block) + insn_count + PF_FLOW_LINE - 1;
    const uintptr_t at = (uintptr_t)pf_arena_new(&code->arena, bytes);
    return (struct pf_flow_block *)(at ? (at + PF_FLOW_LINE - 1) & ~(uintptr_t)(PF_FLOW_LINE - 1) : 0);
}

static struct pf_flow_block *make_block(struct pf_flow_code *code, uint64_t space, uint64_t address, bool is_64)
{
    uint8_t bytes[MAX_INSNS * MAX_INSN_BYTES], insn_bytes[MAX_INSNS];
    const int32_t pid = is_kernel(address) ? KERNEL_PID : code->pid;
    const struct pf_code_source *source = &code->source;
    struct pf_flow_block made = {.space = space, .start = address, .is_64 = is_64};
    const size_t got = source->read ? source->read(source->context, pid, address, bytes, sizeof(bytes)) : 0;
    decode_block(&made, bytes, got, insn_bytes);
    struct pf_flow_block *block = made.count ? new_block(code, made.count) : NULL;
    if (block) {
        *block = made;
        memcpy(block->bytes, insn_bytes, made.count);
    }
    return block;
}

static struct pf_flow_block **slot_of(const struct pf_flow_code *code, uint64_t space, uint64_t address)
{
    return &code->slots[(address ^ space << 40) * 0x9e3779b97f4a7c15U >> (64 - code->slot_bits)];
}

static struct pf_flow_block *follow(struct pf_flow_block *const *link)
{
    return __atomic_load_n(link, __ATOMIC_ACQUIRE);
}

static void put_first(struct pf_flow_block **slot, struct pf_flow_block *block)
{
    __atomic_store_n(&block->chained, *slot, __ATOMIC_RELEASE);
    __atomic_store_n(slot, block, __ATOMIC_RELEASE);
}

/* Views may look for blocks in there. False when out of memory. */
static bool keep_slots(struct pf_flow_code *code)
{
    struct pf_flow_slots *old = pf_new(code->allocator, sizeof(*old));
    if (!old)
        return false;
    *old = (struct pf_flow_slots){code->outgrown, code->slots, code->slot_bits};
    code->outgrown = old;
    return true;
}

/* Without memory for it, finding takes longer. */
static void grow(struct pf_flow_code *code)
{
    struct pf_flow_block **old = code->slots;
    const unsigned bits = code->slot_bits;
    struct pf_flow_block **slots = pf_new(code->allocator, sizeof(*slots) << (bits + 1));
    if (!slots || (code->has_views && !keep_slots(code))) {
        free_slots(code, slots, bits + 1);
        return;
    }
    code->slots = slots;
    code->slot_bits++;
    for (size_t i = 0; i < (size_t)1 << bits; i++)
        for (struct pf_flow_block *block = old[i], *next; block; block = next) {
            next = block->chained;
            put_first(slot_of(code, block->space, block->start), block);
        }
    if (!code->has_views)
        free_slots(code, old, bits);
}

static struct pf_flow_block *add_block(struct pf_flow_code *code, struct pf_flow_block *block)
{
    if (!block)
        return NULL;
    if (code->block_count++ >> code->slot_bits)
        grow(code);
    put_first(slot_of(code, block->space, block->start), block);
    return block;
}

struct pf_flow_block *pf_flow_code_find(struct pf_flow_code *code, uint64_t address, bool is_64)
{
    const uint64_t space = is_kernel(address) ? code->kernel : code->user;
    struct pf_flow_block *block = follow(slot_of(code, space, address));
    while (block && (block->start != address || block->space != space || block->is_64 != is_64))
        block = follow(&block->chained);
    if (PF_LIKELY(block != NULL))
        return block;
    code->missed = code->is_view;
    return code->is_view ? NULL : add_block(code, make_block(code, space, address, is_64));
}
