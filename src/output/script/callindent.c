/* SPDX-License-Identifier: MIT */
/* What decoded traces say of calls: the functions, indented, and instructions per cycle. */
#include "output/script/script.h"

#include "hwtrace/flow.h"

enum { COLUMNS_PER_CALL = 4, MODULE_WIDTH = 50 };

const char *pf_script_function_at(struct pf_script *script, uint64_t address)
{
    struct pf_script_location location;
    const unsigned mode = address >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
    const bool known = address && script->symbols && pf_script_locate(script, mode, address, &location) &&
                       location.map && location.location.symbol != PF_NO_SYMBOL;
    const char *name =
        known ? pf_symbols_name(script->symbols, location.location.module, location.location.symbol) : NULL;
    return name ? name : "";
}

static const char *module_at(struct pf_script *script, uint64_t address)
{
    struct pf_script_location location;
    const unsigned mode = address >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER;
    return address && script->symbols && pf_script_locate(script, mode, address, &location) && location.map
               ? location.map->filename
               : "[unknown]";
}

/* Where no field has the address, the module comes first; alone it is a column. */
static void put_module(struct pf_script *script, uint64_t address)
{
    const uint64_t fields = script->plan->fields;
    const bool is_column = !(fields >> SCRIPT_FLAGS & 1);
    if (!(fields >> SCRIPT_DSO & 1) || fields >> SCRIPT_IP & 1 || fields >> SCRIPT_ADDR & 1)
        return;
    const char *module = module_at(script, address);
    pf_put_char(script->out, '(');
    pf_put_name(script->out, module);
    for (size_t width = strlen(module); is_column && width < MODULE_WIDTH; width++)
        pf_put_char(script->out, ' ');
    pf_put_string(script->out, ")\t");
}

static void put_spaces(struct pf_script *script, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pf_put_char(script->out, ' ');
}

/* The width grows with the texts, and falls when they are much shorter, so that it seldom changes. */
static void pad(struct pf_script *script, size_t bytes)
{
    enum { STEP = 32, MARGIN = 4, SHORTER = 52 };
    unsigned *width = &script->callindent_width;
    if (bytes > *width || (bytes && bytes + SHORTER < *width))
        *width = (unsigned)((bytes + MARGIN + STEP - 1) / STEP * STEP);
    if (bytes < *width)
        put_spaces(script, *width - bytes);
}

char *pf_script_put_callindent(struct pf_script *script, char *at)
{
    const struct perfile_sample *sample = &script->item.sample;
    const uint32_t flags = script->item.traced.flags;
    const bool enters = flags & (PF_FLOW_IS_CALL | PF_FLOW_IS_BEGIN);
    const bool leaves = flags & (PF_FLOW_IS_RETURN | PF_FLOW_IS_END);
    const uint64_t address = enters ? sample->addr : leaves ? sample->ip : 0;
    const size_t indent = COLUMNS_PER_CALL * ((size_t)script->item.traced.depth + ((flags & PF_FLOW_IS_RETURN) != 0));
    if (!pf_script_is_branches(script->plan->event->attr))
        return at;
    pf_script_leave(script, at);
    const char *name = pf_script_function_at(script, address);
    put_module(script, sample->ip);
    if (*name || address) {
        put_spaces(script, indent);
        if (*name)
            pf_put_name(script->out, name);
        else
            pf_put_format(script->out, "%16" PRIx64, address);
    }
    pad(script, *name || address ? indent + (*name ? strlen(name) : 16) : 0);
    return pf_script_enter(script);
}

char *pf_script_put_ipc(struct pf_script *script, char *at)
{
    const struct pf_traced *traced = &script->item.traced;
    if (!traced->cycles || !traced->insns)
        return at;
    const uint64_t hundredths = traced->insns * 100 / traced->cycles;
    pf_script_leave(script, at);
    pf_put_format(script->out, " \t IPC: %" PRIu64 ".%02" PRIu64 " (%" PRIu64 "/%" PRIu64 ")", hundredths / 100,
                  hundredths % 100, traced->insns, traced->cycles);
    return pf_script_enter(script);
}
