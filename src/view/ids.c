/* SPDX-License-Identifier: MIT */

#include "view/ids.h"

#include <perfile/table.h>

#include "analysis/label.h"
#include "view/vector.h"

/* What a module is known by: where it lies is the machine's, and the names of run-time code are those of processes. */
enum kind { NOWHERE, BY_BUILD_ID, BY_NAME, RUN_TIME };

static uint64_t hash_module(enum kind kind, const void *data, size_t bytes)
{
    const uint64_t key[2] = {0x70657266696c652dull, kind};
    return pf_siphash(key, data, bytes);
}

static uint64_t hash_function(uint64_t module, const char *name, bool inlined)
{
    const uint64_t key[2] = {module, (name ? 1u : 0) + (inlined ? 2u : 0)};
    return pf_siphash(key, name ? name : "", name ? strlen(name) : 0);
}

static uint64_t module_id(const uint8_t *build_id, size_t build_id_bytes, const char *name, bool jit)
{
    if (jit)
        return hash_module(RUN_TIME, "", 0);
    return build_id_bytes ? hash_module(BY_BUILD_ID, build_id, build_id_bytes)
                          : hash_module(BY_NAME, name, strlen(name));
}

/*
 * A function is a name in a module, and an inlined one another. `module` PF_NO_SYMBOL: nothing is mapped; `name` NULL:
 * no symbol.
 */
static uint64_t function_id(const struct pf_symbols *symbols, uint32_t module, const char *name, bool inlined)
{
    const struct pf_module *known = pf_symbols_module(symbols, module);
    const uint8_t *build_id;
    if (!known)
        return hash_function(hash_module(NOWHERE, "", 0), name, inlined);
    const size_t bytes = pf_symbols_build_id(symbols, module, &build_id);
    return hash_function(module_id(build_id, bytes, known->name, known->jit), name, inlined);
}

uint64_t pf_function_id_in(const struct perfile_module *module, const char *name, bool inlined)
{
    return hash_function(module ? module_id(module->build_id, module->build_id_bytes, module->name, module->jit)
                                : hash_module(NOWHERE, "", 0),
                         name, inlined);
}

uint64_t pf_location_id(uint64_t function, uint64_t address, uint32_t line)
{
    return pf_stack_id(pf_stack_id(function, address), line);
}

const char *pf_frame_text(struct pf_arena *arena, struct pf_profile *profile, uint32_t frame)
{
    const struct pf_frame_info *info = pf_profile_frame(profile, frame);
    if (pf_label_is_named(info->name))
        return info->name;
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(profile), info->module);
    return pf_label_of_frame(arena, NULL, module ? module->name : NULL, info->kind == PF_FRAME_JIT);
}

uint32_t pf_frame_code(struct pf_profile *profile, uint32_t frame, struct pf_vector *vector)
{
    struct pf_arena arena;
    pf_arena_open(&arena, vector->allocator);
    const char *text = pf_frame_text(&arena, profile, frame); /* NULL: the table is short of memory */
    const uint32_t code = pf_dictionary_put(&vector->dictionary, text ? text : "", text ? strlen(text) : 0);
    pf_arena_close(&arena);
    return code;
}

void pf_stack_ids_close(struct pf_stack_ids *ids)
{
    pf_free(ids->allocator, ids->functions, ids->count * sizeof(*ids->functions));
    ids->functions = NULL;
    ids->count = 0;
}

/* Zeros for frames that are new; false when out of memory. */
static bool reserve(struct pf_stack_ids *ids, size_t count)
{
    return PF_LIKELY(count <= ids->count) ||
           pf_grow_zeroed(ids->allocator, &ids->functions, &ids->count, count, sizeof(*ids->functions));
}

static uint64_t function_of(struct pf_profile *profile, uint32_t frame)
{
    const struct pf_frame_info *info = pf_profile_frame(profile, frame);
    return function_id(pf_profile_symbols(profile), info->module, info->name, info->kind == PF_FRAME_INLINED);
}

bool pf_stack_ids_of(struct pf_stack_ids *ids, struct pf_profile *profile, const uint32_t *frames, size_t count,
                     uint64_t *id)
{
    if (!reserve(ids, pf_profile_frame_count(profile)))
        return false;
    *id = PF_STACK_START;
    for (size_t i = count; i-- > 0;) {
        uint64_t *function = &ids->functions[frames[i]];
        if (PF_UNLIKELY(!*function))
            *function = function_of(profile, frames[i]);
        *id = pf_stack_id(*id, *function);
    }
    return true;
}
