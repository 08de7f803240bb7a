/* SPDX-License-Identifier: MIT */
#include "analysis/describe.h"

#include "analysis/label.h"
#include "base/bytes.h"
#include "base/sized.h"

_Static_assert((int)PERFILE_FRAME_USER == PF_FRAME_USER && (int)PERFILE_FRAME_KERNEL == PF_FRAME_KERNEL &&
                   (int)PERFILE_FRAME_INLINED == PF_FRAME_INLINED && (int)PERFILE_FRAME_JIT == PF_FRAME_JIT &&
                   (int)PERFILE_FRAME_UNKNOWN == PF_FRAME_UNKNOWN,
               "the kinds of frames are public");

struct pf_frames_options pf_describe_options(uint32_t flags, const struct perfile_symbol_options *symbols)
{
    return (struct pf_frames_options){.by_address = flags & PERFILE_STREAM_ADDRESSES,
                                      .inlines = !(symbols->no_inline || flags & PERFILE_STREAM_NO_INLINES),
                                      .joins_unnamed = flags & PERFILE_STREAM_JOIN_UNNAMED};
}

const char *pf_describe_kind(uint32_t kind)
{
    static const char *const kinds[] = {"user", "kernel", "inlined", "jit", "unknown"};
    return kinds[kind < PF_COUNT(kinds) ? kind : PERFILE_FRAME_UNKNOWN];
}

int pf_describe_frame(const struct pf_frame_info *info, bool by_address, struct perfile_frame *frame)
{
    if (!info)
        return PERFILE_ERROR_ARGUMENT;
    struct perfile_frame all = {.name = info->name,
                                .module = info->module,
                                .function = info->function,
                                .offset = info->address,
                                .kind = info->kind};
    if (by_address) {
        const struct pf_frame_address *location = pf_frame_address(info);
        all.address = location->ip;
        all.file = location->file;
        all.line = location->line;
    }
    return pf_sized_give(frame, &all, sizeof(all));
}

static uint32_t state_of(const struct pf_module *module)
{
    return module->table              ? PERFILE_MODULE_SYMBOLS
           : module->build_id_differs ? PERFILE_MODULE_OTHER_BUILD
           : module->path             ? PERFILE_MODULE_NO_SYMBOLS
                                      : PERFILE_MODULE_NO_FILE;
}

static uint32_t kind_of(const struct pf_module *module)
{
    if (module->jit)
        return PERFILE_MODULE_JIT;
    if (pf_starts_with(module->name, "[vdso"))
        return PERFILE_MODULE_VDSO;
    if (!module->kernel)
        return PERFILE_MODULE_FILE;
    const bool is_itself = pf_starts_with(module->name, "[kernel.") || pf_starts_with(module->name, "[guest.kernel.");
    return is_itself ? PERFILE_MODULE_KERNEL : PERFILE_MODULE_KERNEL_MODULE;
}

int pf_describe_module(const struct pf_symbols *symbols, uint32_t id, struct perfile_module *module)
{
    const struct pf_module *known = pf_symbols_module(symbols, id);
    const uint8_t *build_id;
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    struct perfile_module all = {.name = known->name,
                                 .short_name = known->short_name,
                                 .path = known->path,
                                 .build_id_bytes = (uint32_t)pf_symbols_build_id(symbols, id, &build_id),
                                 .state = state_of(known),
                                 .kernel = known->kernel,
                                 .jit = known->jit,
                                 .kind = kind_of(known)};
    memcpy(all.build_id, build_id, all.build_id_bytes);
    return pf_sized_give(module, &all, sizeof(all));
}

/* ---- labels ---- */

void pf_describe_start(struct pf_symbols *symbols, const struct pf_frame_info *info, const char **file, uint32_t *line)
{
    const struct pf_module *module = pf_symbols_module(symbols, info->module);
    const struct pf_symbol_table *table = module ? module->table : NULL;
    struct pf_source_frame sources[64];
    if (info->kind != PF_FRAME_USER || info->symbol == PF_NO_SYMBOL || !table || info->symbol >= table->count)
        return;
    const struct pf_symbol *symbol = &table->symbols[info->symbol];
    if (symbol->flags & PF_SYMBOL_GUESSED_END || symbol->end == symbol->start)
        return;
    const struct pf_location start = {
        .module = info->module, .symbol = info->symbol, .address = symbol->start, .in_module = symbol->start};
    const size_t count = pf_symbols_inlines(symbols, &start, sources, PF_COUNT(sources));
    if (!count || count > PF_COUNT(sources))
        return;
    *file = sources[count - 1].file;
    *line = sources[count - 1].line;
}

void pf_labels_open(struct pf_labels *labels, const struct perfile_allocator *allocator)
{
    pf_arena_open(&labels->arena, allocator);
    pf_map_open(&labels->of, allocator);
    pf_map_open(&labels->comms, allocator);
}

void pf_labels_close(struct pf_labels *labels)
{
    pf_map_close(&labels->of);
    pf_map_close(&labels->comms);
    pf_arena_close(&labels->arena);
}

const char *pf_labels_get(struct pf_labels *labels, const struct pf_symbols *symbols, uint32_t id,
                          const struct pf_frame_info *info)
{
    uint64_t label = 0;
    if (!info || pf_map_get(&labels->of, id, &label))
        return (const char *)(uintptr_t)label;
    const struct pf_module *module = pf_symbols_module(symbols, info->module);
    const char *made =
        pf_label_of_frame(&labels->arena, info->name, module ? module->name : NULL, info->kind == PF_FRAME_JIT);
    return made && pf_map_put(&labels->of, id, (uintptr_t)made) ? made : NULL;
}

const char *pf_labels_get_comm(struct pf_labels *labels, const char *comm)
{
    uint64_t label = 0;
    if (pf_map_get(&labels->comms, (uintptr_t)comm, &label))
        return (const char *)(uintptr_t)label;
    char *made = pf_label_make(&labels->arena, comm, NULL, 0);
    made = made ? pf_label_one_line(&labels->arena, made, 0, true) : NULL;
    return made && pf_map_put(&labels->comms, (uintptr_t)comm, (uintptr_t)made) ? made : NULL;
}
