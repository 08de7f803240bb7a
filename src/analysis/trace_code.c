/* SPDX-License-Identifier: MIT */
#include "analysis/trace_code.h"

#include "analysis/complete_options.h"
#include "base/error.h"
#include "symbol/code.h"

struct perfile_code_reader {
    struct pf_watch watch;
    struct pf_symbols *symbols;
};

int pf_trace_code_open(struct perfile_reader *reader, const struct pf_find_options *find,
                       struct perfile_code_reader **code, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = perfile_reader_allocator(reader);
    struct perfile_code_reader *made = *code = pf_new(allocator, sizeof(*made));
    struct pf_find_options own = *find;
    if (!made)
        return pf_fail_memory(error, "code");
    pf_watch_open(&made->watch, allocator);
    own.allocator = &made->watch.allocator;
    own.note = NULL;
    own.trouble = NULL;
    const int result = pf_symbols_open(reader, &own, &made->symbols, error);
    if (result < 0) {
        perfile_code_close(made);
        *code = NULL;
    }
    return result;
}

int perfile_code_open(struct perfile_reader *reader, const struct perfile_symbol_options *options,
                      struct perfile_code_reader **code, struct perfile_error *error)
{
    struct perfile_symbol_options all;
    *code = NULL;
    const int result = pf_complete_symbols(&all, reader, options, error);
    const struct pf_find_options find = pf_find_options_of(&all, perfile_reader_allocator(reader));
    return result < 0 ? result : pf_trace_code_open(reader, &find, code, error);
}

bool pf_trace_code_was_short(const struct perfile_code_reader *code)
{
    return code && pf_memory_was_short(&code->watch.allocator);
}

struct pf_symbols *pf_trace_code_symbols(const struct perfile_code_reader *code)
{
    return code->symbols;
}

void perfile_code_close(struct perfile_code_reader *code)
{
    if (!code)
        return;
    pf_symbols_close(code->symbols);
    pf_free(code->watch.below, code, sizeof(*code));
}

/* What is not mapped from a file as it is: the kernel, and code of JITs. */
static size_t read_located(struct perfile_code_reader *code, const struct perfile_map *map, uint64_t address, void *to,
                           size_t bytes)
{
    struct pf_location location;
    struct pf_code_bytes read;
    size_t got = 0;
    if (!pf_symbols_locate(code->symbols, map, address, &location) ||
        location.module >= pf_symbols_module_count(code->symbols))
        return 0;
    if (pf_code_bytes_read(code->symbols, location.module, location.address, bytes, &read) == PF_CODE_READ) {
        got = (size_t)pf_min(read.count, bytes);
        memcpy(to, read.bytes, got);
    }
    pf_code_bytes_close(code->symbols, &read);
    return got;
}

size_t perfile_code_read(void *code, struct perfile_session *session, int32_t pid, uint64_t address, void *to,
                         size_t bytes)
{
    struct perfile_code_reader *from = code;
    struct pf_insn_machine machine;
    const struct perfile_space *space = perfile_session_space(session, pid);
    const struct perfile_map *map = space ? pf_symbols_map(from->symbols, space, address) : NULL;
    if (!map)
        return 0;
    const size_t left = address < map->end ? (size_t)pf_min(map->end - address, bytes) : bytes;
    const size_t got = map->kernel ? 0 : pf_symbols_code(from->symbols, map, address, to, left, &machine);
    return got ? got : read_located(from, map, address, to, left);
}

/* ---- for decoders ------------------------------------------------------------------------------------------------ */

static uint64_t space_of(void *context, int32_t pid)
{
    const struct pf_trace_code *code = context;
    return code->session ? perfile_space_id(perfile_session_space(code->session, pid)) : 0;
}

static size_t read_code(void *context, int32_t pid, uint64_t address, uint8_t *bytes, size_t count)
{
    const struct pf_trace_code *code = context;
    return code->session ? perfile_code_read(code->reader, code->session, pid, address, bytes, count) : 0;
}

struct pf_code_source pf_trace_code_source(struct pf_trace_code *code)
{
    return (struct pf_code_source){.space = space_of, .read = read_code, .context = code};
}
