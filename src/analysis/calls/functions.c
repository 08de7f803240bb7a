/* SPDX-License-Identifier: MIT */
#include "analysis/calls/functions.h"

#include "symbol/unwind/callchain.h"

enum { KNOWN = 8192 };

struct pf_call_known {
    uint64_t space, address;
    struct pf_call_function function;
    bool used;
};

bool pf_call_functions_open(struct pf_call_functions *functions, const struct perfile_allocator *allocator,
                            const struct pf_trace_code *code)
{
    *functions = (struct pf_call_functions){.allocator = allocator, .code = code};
    functions->known = pf_new(allocator, KNOWN * sizeof(*functions->known));
    return functions->known;
}

void pf_call_functions_close(struct pf_call_functions *functions)
{
    if (functions->allocator)
        pf_free(functions->allocator, functions->known, KNOWN * sizeof(*functions->known));
}

static struct pf_call_function look_up(const struct pf_call_functions *functions, const struct perfile_space *space,
                                       uint64_t address)
{
    struct pf_symbols *symbols = pf_trace_code_symbols(functions->code->reader);
    const struct perfile_map *map = space ? pf_symbols_map(symbols, space, address) : NULL;
    struct pf_location location;
    uint64_t start, end;
    if (!map || !pf_symbols_locate(symbols, map, address, &location) || location.symbol == PF_NO_SYMBOL ||
        !pf_symbols_range(symbols, location.module, location.symbol, &start, &end))
        return (struct pf_call_function){0};
    const uint64_t first = address - location.offset;
    return (struct pf_call_function){first, first + (end - start)};
}

/* While the number of a space stays the same, so do its mappings. */
struct pf_call_function pf_call_functions_find(void *context, int32_t pid, uint64_t address)
{
    struct pf_call_functions *functions = context;
    struct perfile_session *session = functions->code->reader ? functions->code->session : NULL;
    const struct perfile_space *space =
        session ? perfile_session_space(session, address >> 63 ? PF_KERNEL_PID : pid) : NULL;
    const uint64_t number = perfile_space_id(space);
    struct pf_call_known *known = &functions->known[(address * UINT64_C(0x9e3779b97f4a7c15)) >> 51 & (KNOWN - 1)];
    if (known->used && known->space == number && known->address == address)
        return known->function;
    *known = (struct pf_call_known){number, address, look_up(functions, space, address), true};
    return known->function;
}
