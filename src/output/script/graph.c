/* SPDX-License-Identifier: MIT */
/*
 * Of a decoded trace the calls of some functions, and what happens until they return: the member graph_function of
 * struct perfile_script_options.
 */
#include "output/script/script.h"

#include "hwtrace/flow.h"

int pf_script_graph_open(struct pf_script *script)
{
    pf_map_open(&script->graph_levels, script->out->allocator);
    return pf_names_filter_open(&script->graph, script->options->script->graph_function, true, script->out->allocator,
                                script->error);
}

void pf_script_graph_close(struct pf_script *script)
{
    pf_names_filter_close(&script->graph);
    pf_map_close(&script->graph_levels);
}

/* Branches of the function itself have its depth of calls, as calls of others from where it was called do. */
static bool is_within(const struct pf_delivered *item, uint64_t level)
{
    return item->traced.depth + ((item->traced.flags & PF_FLOW_IS_CALL) == 0) > level;
}

bool pf_script_graph_passes(struct pf_script *script)
{
    const struct pf_delivered *item = &script->item;
    const bool is_branch = pf_script_is_branches(script->plan->event->attr);
    const bool enters = is_branch && item->traced.flags & (PF_FLOW_IS_CALL | PF_FLOW_IS_BEGIN);
    const uint32_t thread = (uint32_t)item->sample.tid;
    uint64_t level; /* that of the function, plus one; 0: none is called now */
    if (!pf_map_get(&script->graph_levels, thread, &level))
        level = 0;
    if (level && (!is_branch || is_within(item, level - 1)))
        return true;
    if (!is_branch || (!enters && !level) || !pf_script_open_symbols(script))
        return false;
    const char *name = enters ? pf_script_function_at(script, item->sample.addr) : NULL;
    const bool calls = name && pf_names_filter_passes(&script->graph, name);
    if (!pf_map_put(&script->graph_levels, thread, calls ? item->traced.depth + UINT64_C(1) : 0))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return calls;
}
