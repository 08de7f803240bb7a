/* SPDX-License-Identifier: MIT */
#include "analysis/data_types.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/address_cache.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/pairs.h"
#include "base/segments.h"
#include "symbol/code.h"

enum { FUNCTION_BYTES_MAX = 1 << 20, MEMBER_BYTES = 1024 };

static const char unknown[] = "(unknown)";

struct module {
    struct pf_data_types *data;
    uint32_t number;
    bool is_tried;
    struct pf_types *types; /* NULL: no debug info */
};

struct function {
    struct pf_code_bytes code;
    struct pf_types_function *types; /* NULL: its code is not available */
    struct function *next;
};

struct pf_data_types {
    const struct perfile_allocator *allocator;
    struct pf_symbols *symbols;
    struct pf_disassembler *disassembler;
    bool works;
    struct pf_arena arena;
    struct pf_map texts;
    struct pf_map labels;  /* pointers to labels to pointers to the first use of each */
    struct pf_pairs lines; /* pointers to names of types, and lines of them, to the number of the first use */
    struct module **modules;
    size_t module_count, module_capacity;
    struct pf_map functions; /* module and symbol to pointers to functions */
    struct function *function_list;
    struct pf_pairs by_address; /* module and address to the number of a use */
    struct pf_address_cache by_ip;
    struct pf_data_use **uses;
    size_t use_count, use_capacity;
};

struct pf_data_types *pf_data_types_open(struct pf_symbols *symbols, const struct perfile_allocator *allocator)
{
    struct pf_data_types *data = pf_new(allocator, sizeof(*data));
    if (!data)
        return NULL;
    data->allocator = allocator;
    data->symbols = symbols;
    data->works = pf_disassembler_exists(allocator);
    data->disassembler = pf_disassembler_open(allocator);
    if (data->disassembler)
        pf_disassembler_use_intel(data->disassembler);
    pf_arena_open(&data->arena, allocator);
    pf_map_open(&data->texts, allocator);
    pf_map_open(&data->functions, allocator);
    pf_map_open(&data->labels, allocator);
    pf_pairs_open(&data->lines, allocator);
    pf_pairs_open(&data->by_address, allocator);
    pf_address_cache_open(&data->by_ip, allocator);
    return data;
}

bool pf_data_types_work(const struct pf_data_types *data)
{
    return data->works && data->disassembler;
}

void pf_data_types_close(struct pf_data_types *data)
{
    if (!data)
        return;
    const struct perfile_allocator *allocator = data->allocator;
    for (size_t i = 0; i < data->module_count; i++)
        pf_types_close(data->modules[i] ? data->modules[i]->types : NULL);
    for (struct function *f = data->function_list; f; f = f->next)
        pf_code_bytes_close(data->symbols, &f->code);
    pf_disassembler_close(data->disassembler);
    pf_free(allocator, data->modules, data->module_capacity * sizeof(struct module *));
    pf_free(allocator, data->uses, data->use_capacity * sizeof(struct pf_data_use *));
    pf_map_close(&data->texts);
    pf_map_close(&data->functions);
    pf_map_close(&data->labels);
    pf_pairs_close(&data->lines);
    pf_pairs_close(&data->by_address);
    pf_address_cache_close(&data->by_ip);
    pf_arena_close(&data->arena);
    pf_free(allocator, data, sizeof(*data));
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static const char *symbol_at(void *context, uint64_t address, uint64_t *offset)
{
    const struct module *module = context;
    struct pf_symbols *symbols = module->data->symbols;
    const uint32_t symbol = pf_symbols_at(symbols, module->number, address, offset);
    return pf_symbols_raw_name(symbols, module->number, symbol);
}

/* NULL: out of memory. */
static struct module *module_of(struct pf_data_types *data, uint32_t number)
{
    struct pf_types_files files;
    if (!pf_grow_zeroed(data->allocator, &data->modules, &data->module_capacity, (size_t)number + 1,
                        sizeof(*data->modules)))
        return NULL;
    data->module_count = pf_max(data->module_count, (size_t)number + 1);
    struct module *module = data->modules[number];
    if (!module && !(data->modules[number] = module = pf_arena_new(&data->arena, sizeof(*module))))
        return NULL;
    if (module->is_tried)
        return module;
    *module = (struct module){.data = data, .number = number, .is_tried = true};
    const struct pf_types_symbols symbols = {.at = symbol_at, .context = module};
    if (pf_symbols_debug_files(data->symbols, number, &files) &&
        pf_memory_check(data->allocator,
                        pf_types_open(&files, &symbols, data->disassembler, data->allocator, &module->types, NULL)) < 0)
        module->types = NULL;
    return module;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static bool read_function(struct pf_data_types *data, struct module *module, uint32_t symbol, struct function *f)
{
    uint64_t start, end;
    if (!pf_symbols_range(data->symbols, module->number, symbol, &start, &end) || end <= start)
        return true;
    const int state = pf_code_bytes_read(data->symbols, module->number, start,
                                         (size_t)pf_min(end - start, FUNCTION_BYTES_MAX), &f->code);
    if (state != PF_CODE_READ)
        return state != PERFILE_ERROR_MEMORY;
    const struct pf_types_code code = {
        .address = start, .code = f->code.bytes, .bytes = f->code.count, .machine = f->code.machine};
    return (f->types = pf_types_function(module->types, &code));
}

/* NULL: out of memory. */
static struct function *function_of(struct pf_data_types *data, struct module *module, uint32_t symbol)
{
    const uint64_t key = (uint64_t)module->number << 32 | symbol;
    uint64_t known;
    if (pf_map_get(&data->functions, key, &known))
        return (struct function *)(uintptr_t)known;
    struct function *made = pf_arena_new(&data->arena, sizeof(*made));
    if (!made)
        return NULL;
    *made = (struct function){.next = data->function_list};
    data->function_list = made;
    return read_function(data, module, symbol, made) && pf_map_put(&data->functions, key, (uintptr_t)made) ? made
                                                                                                           : NULL;
}

/* ---- uses -------------------------------------------------------------------------------------------------------- */

static const char *intern(struct pf_data_types *data, const char *text)
{
    return pf_map_text(&data->texts, &data->arena, text, strlen(text));
}

/* "struct node +0x14 (in.y)": perf writes an offset of 0 without its 0x. NULL: out of memory. */
static const char *make_label(struct pf_data_types *data, const struct pf_data_use *use, const char *member)
{
    const char *what = member[0] ? member : "no field";
    char *label = pf_text_format(data->allocator, "%s +%#" PRIx64 " (%s)", use->type, use->use.offset, what);
    const char *kept = label ? intern(data, label) : NULL;
    pf_text_free(data->allocator, label);
    return kept;
}

/* False when out of memory. */
static bool name_use(struct pf_data_types *data, struct pf_data_use *use)
{
    char member[MEMBER_BYTES];
    use->type = intern(data, use->use.type ? use->use.type->name : unknown);
    use->label = use->type;
    if (!use->type || !use->use.type || !use->use.type->is_described)
        return use->type;
    if (!pf_type_path(use->types, use->use.type, use->use.offset, member, sizeof(member)))
        return false;
    use->member = intern(data, member);
    use->label = make_label(data, use, member);
    return use->member && use->label;
}

/* The first uses that are the same to columns. False when out of memory. */
static bool find_same(struct pf_data_types *data, struct pf_data_use *use)
{
    const uint64_t line = use->use.offset / PF_DATA_LINE_BYTES;
    uint64_t label;
    uint32_t number;
    use->first_use = use->first_of_line = use;
    if (pf_map_get(&data->labels, (uintptr_t)use->label, &label))
        use->first_use = (const struct pf_data_use *)(uintptr_t)label;
    else if (!pf_map_put(&data->labels, (uintptr_t)use->label, (uintptr_t)use))
        return false;
    if (pf_pairs_get(&data->lines, (uintptr_t)use->type, line, &number))
        use->first_of_line = data->uses[number];
    else if (!pf_pairs_put(&data->lines, (uintptr_t)use->type, line, use->number))
        return false;
    return true;
}

static bool find_use(struct pf_data_types *data, struct pf_data_use *use, uint32_t symbol, uint64_t address)
{
    use->use.reason = PF_TYPE_NO_SYM;
    if (use->module == PF_NO_SYMBOL || symbol == PF_NO_SYMBOL)
        return true;
    struct module *module = module_of(data, use->module);
    if (!module)
        return false;
    use->use.reason = PF_TYPE_NO_DBGINFO;
    if (!(use->types = module->types))
        return true;
    const struct function *function = function_of(data, module, symbol);
    if (!function)
        return false;
    use->use.reason = PF_TYPE_NO_INSN;
    return !function->types || !pf_data_types_work(data) ||
           pf_types_find(module->types, function->types, address, &use->use);
}

struct pf_data_use *pf_data_types_at(struct pf_data_types *data, uint32_t module, uint32_t symbol, uint64_t address)
{
    uint32_t known;
    if (pf_pairs_get(&data->by_address, module, address, &known))
        return data->uses[known];
    const uint32_t number = (uint32_t)data->use_count;
    struct pf_data_use *use = pf_arena_new(&data->arena, sizeof(*use));
    if (!use)
        return NULL;
    *use = (struct pf_data_use){.module = module, .number = number};
    if (!find_use(data, use, symbol, address) || !name_use(data, use) || !find_same(data, use) ||
        !PF_APPEND(data->allocator, data->uses, data->use_count, data->use_capacity, use) ||
        !pf_pairs_put(&data->by_address, module, address, number))
        return NULL;
    return use;
}

static struct pf_data_use *locate(struct pf_data_types *data, const struct perfile_space *space, uint64_t ip)
{
    const struct perfile_map *map = pf_symbols_map(data->symbols, space, ip);
    struct pf_location location;
    if (!pf_symbols_locate(data->symbols, map, ip, &location))
        return NULL;
    return pf_data_types_at(data, location.module, location.symbol, location.table_address);
}

struct pf_data_use *pf_data_types_in(struct pf_data_types *data, const struct perfile_space *space, uint64_t ip)
{
    const uint32_t number = pf_address_cache_number_of(&data->by_ip, space ? perfile_space_id(space) : 0, space);
    if (number == UINT32_MAX)
        return NULL;
    pf_address_cache_ask(&data->by_ip, number);
    struct pf_address_slot *slot = pf_address_cache_find(&data->by_ip, number, ip);
    if (!slot)
        return NULL;
    if (slot->value)
        return data->uses[slot->value - 1];
    struct pf_data_use *use = locate(data, space, ip);
    if (use)
        pf_address_cache_fill(&data->by_ip, number, slot, use->number);
    return use;
}

struct pf_data_use *pf_data_types_next(const struct pf_data_types *data, size_t *index)
{
    return *index < data->use_count ? data->uses[(*index)++] : NULL;
}
