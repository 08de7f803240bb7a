/* SPDX-License-Identifier: MIT */
/* What needs the binary of a module: unwinding, inlined functions and machine code. */
#include "symbol/symbols_parts.h"

#include <errno.h>
#include <unistd.h>

#include "base/text.h"
#include "symbol/dwarf/types.h"
#include "symbol/machine.h"

/* ---- unwinding ---- */

struct unwinder {
    struct pf_symbols *symbols;
    const struct pf_unwinding *how;
};

void pf_module_load_cfi(struct pf_symbols *symbols, struct pf_module_data *module, const char *binary)
{
    module->cfi_tried = true;
    if (pf_cfi_open(binary, module->debug, symbols->allocator, &module->cfi, NULL) < 0)
        module->cfi = NULL;
}

static struct pf_cfi *cfi_of(struct pf_symbols *symbols, struct pf_module_data *module)
{
    if (!module->cfi_tried && module->binary)
        pf_module_load_cfi(symbols, module, module->binary);
    return module->cfi;
}

/* A piece of the code. It is read again only when another one has replaced it. */
static const struct pf_live_code *live_code_at(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip)
{
    enum { STEP = sizeof(symbols->live_code->code) / 2, CALL_BYTES = 8 };
    const int32_t pid = map->pid;
    const uint64_t start = pf_max((pf_max(ip, CALL_BYTES) - CALL_BYTES) & ~(uint64_t)(STEP - 1), map->start);
    const uint32_t hash = (uint32_t)(start / STEP ^ (uint64_t)pid << 8) * 0x9e3779b1u;
    if (!symbols->live_code)
        symbols->live_code = pf_new(symbols->allocator, sizeof(*symbols->live_code) << PF_LIVE_CODE_BITS);
    if (!symbols->live_code)
        return NULL;
    struct pf_live_code *code = &symbols->live_code[hash >> (32 - PF_LIVE_CODE_BITS)];
    if (code->pid != pid || code->start != start) {
        code->pid = pid;
        code->start = start;
        code->bytes = pf_machine_read_memory(pf_find_root(&symbols->find), pid, start, code->code, sizeof(code->code));
    }
    return code;
}

/* Of a process that runs, the code that it made itself: no file has unwind tables for it. */
static void locate_live_code(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip,
                             struct pf_unwind_location *location)
{
    const struct pf_live_code *code = live_code_at(symbols, map, ip);
    if (!code || ip - code->start >= code->bytes)
        return;
    location->code = code->code;
    location->code_bytes = code->bytes;
    location->code_at = (size_t)(ip - code->start);
}

static bool location_of(void *context, uint64_t ip, struct pf_unwind_location *location)
{
    struct unwinder *u = context;
    const struct perfile_map *map = pf_symbols_map(u->symbols, u->how->space, ip);
    uint32_t number;
    *location = (struct pf_unwind_location){.executable = map && pf_map_is_executable(map)};
    struct pf_module_data *module = map ? pf_symbols_loaded(u->symbols, map, &number) : NULL;
    if (!module)
        return map && !u->how->only_known;
    location->cfi = cfi_of(u->symbols, module);
    if (location->cfi && (!module->table || !pf_module_address(module, map, ip, &location->elf_address)))
        location->elf_address = 0;
    if (!location->cfi && module->kind == PF_MODULE_PERF_MAP && u->symbols->find.live && location->executable)
        locate_live_code(u->symbols, map, ip, location);
    return location->cfi || !u->how->only_known;
}

int pf_symbols_unwind(struct pf_symbols *symbols, const struct perfile_sample *sample, const struct pf_unwinding *how,
                      struct pf_unwound *unwound)
{
    const uint64_t dumped = PERFILE_SAMPLE_REGS_USER | PERFILE_SAMPLE_STACK_USER;
    struct unwinder u = {symbols, how};
    struct pf_unwind_location location;
    unwound->count = 0;
    unwound->guessed = false;
    if ((sample->present & dumped) != dumped || !sample->stack_user.bytes || !how->arch)
        return PF_UNWIND_DONE;
    int end = pf_unwind_sample(sample, how->arch, location_of, &u, unwound);
    if (end < 0)
        unwound->count = 0;
    if (unwound->count && how->only_known &&
        (!sample->stack_user.used || !location_of(&u, unwound->addresses[0], &location)))
        unwound->count = 0;
    for (size_t i = 1; i < unwound->count; i++)
        unwound->addresses[i]--;
    return end;
}

/* The addresses of user space in the recorded callchain, and their number. */
static uint64_t find_user_part(const struct perfile_u64s *chain, uint64_t *first)
{
    uint64_t at = 0, end;
    while (at < chain->count && perfile_u64_at(chain, at) != PERFILE_CONTEXT_USER)
        at++;
    *first = at + 1;
    for (end = *first; end < chain->count && perfile_u64_at(chain, end) < PERFILE_CONTEXT_MAX;)
        end++;
    return end > *first ? end - *first : 0;
}

/*
 * Whether the addresses from `at` on are those that were unwound; `missing` of the callers of the first function are
 * not among them, as it may have no frame pointer yet. Recursion repeats addresses: so all are compared.
 */
static bool begins_as(const struct perfile_u64s *chain, uint64_t at, const struct pf_unwound *unwound, size_t missing)
{
    bool same = perfile_u64_at(chain, at) == unwound->addresses[0];
    for (size_t i = missing + 1; i < unwound->count && same; i++)
        same = perfile_u64_at(chain, at + i - missing) == unwound->addresses[i] + 1;
    return same;
}

bool pf_symbols_unwind_on(struct pf_symbols *symbols, const struct perfile_sample *sample,
                          const struct pf_unwinding *how, struct pf_unwound *unwound)
{
    const struct perfile_u64s *chain = &sample->callchain;
    const size_t before = unwound->count;
    uint64_t at, count = find_user_part(chain, &at);
    if (!before || !(sample->present & PERFILE_SAMPLE_CALLCHAIN) || count < before)
        return false;
    const size_t missing = begins_as(chain, at, unwound, 0) ? 0 : 1;
    if (missing && (before == 1 || !begins_as(chain, at, unwound, missing)))
        return false;
    for (uint64_t i = before - missing; i < count && unwound->count < unwound->capacity; i++) {
        const uint64_t caller = perfile_u64_at(chain, at + i) - 1;
        const struct perfile_map *map = pf_symbols_map(symbols, how->space, caller);
        if (!map || !pf_map_is_executable(map)) {
            unwound->count = before;
            break;
        }
        unwound->addresses[unwound->count++] = caller;
    }
    unwound->guessed |= unwound->count > before;
    return unwound->count > before;
}

enum pf_return_at pf_symbols_return_at(struct pf_symbols *symbols, const struct perfile_space *space, uint64_t ip)
{
    const struct pf_unwinding how = {.space = space, .only_known = true};
    struct unwinder u = {symbols, &how};
    struct pf_unwind_location location;
    return location_of(&u, ip, &location) && location.cfi ? pf_unwind_return_at(location.cfi, location.elf_address)
                                                          : PF_RETURN_UNKNOWN;
}

/* ---- inlined functions ---- */

/* The debug info, else what programs in Go have without it. */
static bool read_inlines(const struct pf_symbols *symbols, struct pf_module_data *module, const char *path)
{
    const struct pf_inlines_request request = {
        .path = path, .alternate_path = module->alternate, .threads = symbols->find.threads};
    return pf_inlines_read(&request, symbols->allocator, &module->inlines, NULL) == 0 ||
           (module->binary && pf_inlines_open_go(module->binary, symbols->allocator, &module->inlines, NULL) == 0);
}

static void open_inlines(struct pf_symbols *symbols, struct pf_module_data *module)
{
    enum { CACHE_BYTES_MAX = 1 << 30 };
    const char *path = module->debug ? module->debug : module->binary;
    struct pf_inlines_key key;
    if (!path)
        return;
    if (!symbols->cache_tried) {
        symbols->cache_tried = true;
        errno = 0;
        symbols->cache = pf_cache_directory(symbols->allocator);
        if (!symbols->cache)
            (void)pf_memory_note_failure(symbols->allocator);
    }
    const bool kept = symbols->cache && pf_inlines_key_of(symbols->allocator, path, module->alternate, &key);
    if (kept && pf_inlines_load(symbols->cache, &key, symbols->allocator, &module->inlines, NULL) == 0)
        return;
    if (read_inlines(symbols, module, path) && kept && pf_inlines_are_of(module->inlines, &key))
        (void)pf_inlines_save(module->inlines, symbols->cache, &key, CACHE_BYTES_MAX, NULL);
}

/* NULL means none. */
static const struct pf_inlines *inlines_at(struct pf_symbols *symbols, const struct pf_location *location)
{
    if (location->module >= symbols->count || !location->address)
        return NULL;
    struct pf_module_data *module = pf_module_at(symbols, location->module);
    if (!module->inlines_tried) {
        module->inlines_tried = true;
        open_inlines(symbols, module);
    }
    return module->inlines;
}

bool pf_symbols_may_inline(const struct pf_symbols *symbols, uint32_t number)
{
    const struct pf_module_data *module = number < symbols->count ? pf_module_at(symbols, number) : NULL;
    if (!module || !module->public.looked_for)
        return true;
    return pf_module_has_inlines(module) && (!module->inlines_tried || module->inlines);
}

size_t pf_symbols_inlines(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t capacity)
{
    const struct pf_module_data *module =
        location->module < symbols->count && location->address ? pf_module_at(symbols, location->module) : NULL;
    if (module && module->kind == PF_MODULE_JIT)
        return capacity && pf_jit_line(symbols->jit, module->code, location->address, &frames[0]);
    const struct pf_inlines *inlines = inlines_at(symbols, location);
    return inlines ? pf_min(pf_inlines_find(inlines, location->address, frames, capacity), capacity) : 0;
}

size_t pf_symbols_inlined(struct pf_symbols *symbols, const struct pf_location *location,
                          struct pf_source_frame *frames, size_t capacity)
{
    const struct pf_inlines *inlines = inlines_at(symbols, location); /* jitdump files know of none */
    return inlines && pf_inlines_any(inlines, location->address)
               ? pf_min(pf_inlines_find(inlines, location->address, frames, capacity), capacity)
               : 0;
}

/* ---- machine code ---- */

size_t pf_symbols_code(struct pf_symbols *symbols, const struct perfile_map *map, uint64_t ip, uint8_t *code,
                       size_t capacity, struct pf_insn_machine *machine)
{
    const uint32_t number = map ? pf_symbols_module_of(symbols, map) : UINT32_MAX;
    *machine = (struct pf_insn_machine){0};
    if (number == UINT32_MAX)
        return 0;
    struct pf_module_data *module = pf_module_at(symbols, number);
    if (!module->public.looked_for)
        pf_module_load(symbols, module);
    const uint64_t offset = ip - map->start + (pf_module_is_vdso(module) ? 0 : map->pgoff);
    if ((module->kind != PF_MODULE_ELF && !pf_module_is_vdso(module)) || offset > INT64_MAX ||
        !pf_symbols_open_code(symbols, number))
        return 0;
    *machine = symbols->code_machine;
    ssize_t got;
    do
        got = pread(symbols->code_file, code, capacity, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got > 0 ? (size_t)got : 0;
}

/* What lies beside the text of kallsyms: /proc/kcore, or the copy that perf made of it. NULL: out of memory. */
static const char *kcore_path(struct pf_symbols *symbols)
{
    static const char name[] = "kcore";
    const char *slash = strrchr(symbols->kallsyms_path, '/');
    const size_t folder = slash ? (size_t)(slash - symbols->kallsyms_path) + 1 : 0;
    char *path = pf_arena_new(&symbols->arena, folder + sizeof(name));
    if (path) {
        memcpy(path, symbols->kallsyms_path, folder);
        memcpy(path + folder, name, sizeof(name));
    }
    return path;
}

static bool is_kernel(const struct pf_module_data *module)
{
    return module->kind == PF_MODULE_KERNEL || module->kind == PF_MODULE_KERNEL_MODULE;
}

bool pf_symbols_code_file(struct pf_symbols *symbols, uint32_t number, struct pf_code_file *file)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    *file = (struct pf_code_file){0};
    if (!module || module->embedded)
        return false;
    if (module->kind == PF_MODULE_JIT) {
        *file = (struct pf_code_file){
            .path = pf_jit_path(symbols->jit, module->code), .jit = symbols->jit, .code = module->code};
    } else if (is_kernel(module) && module->table && !module->public.path && symbols->kallsyms_path) {
        file->path = kcore_path(symbols);
    } else {
        file->path = is_kernel(module) ? module->public.path : module->binary;
    }
    return file->path;
}

bool pf_symbols_debug_files(const struct pf_symbols *symbols, uint32_t number, struct pf_types_files *files)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    if (!module || module->embedded || !module->table)
        return false;
    const char *debug = module->kind == PF_MODULE_KERNEL ? module->public.path
                        : module->kind == PF_MODULE_ELF  ? module->debug ? module->debug : module->binary
                                                         : NULL;
    *files = (struct pf_types_files){.debug = debug, .alternate = module->alternate};
    return debug;
}

const char *pf_symbols_fetch_source(struct pf_symbols *symbols, uint32_t number, const char *name)
{
    const struct pf_module_data *module = pf_module_at(symbols, number);
    if (!symbols->find.debuginfod || !module || !module->build_id_bytes || name[0] != '/')
        return NULL;
    const struct pf_debuginfod_question question = {.build_id = module->build_id,
                                                    .build_id_bytes = module->build_id_bytes,
                                                    .source = name,
                                                    .limit_ms = PF_DEBUGINFOD_FILE_SECONDS * 1000,
                                                    .allocator = symbols->allocator};
    char *path = pf_debuginfod_find(symbols->find.debuginfod, &question);
    if (!path && symbols->find.debuginfod->last_error == ENOMEM)
        pf_memory_note_short(symbols->allocator);
    const char *kept = path ? pf_arena_text(&symbols->arena, path, strlen(path)) : NULL;
    pf_text_free(symbols->allocator, path);
    return kept;
}
