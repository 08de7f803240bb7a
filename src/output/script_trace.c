/* SPDX-License-Identifier: MIT */
/* The text of tracepoints. */
#include "analysis/trace_text.h"
#include "output/script.h"

struct pf_script_trace {
    struct pf_trace_texts texts;
};

static struct pf_script_trace *get_trace(struct pf_script *script)
{
    const struct perfile_allocator *allocator = script->out->allocator;
    if (script->trace)
        return script->trace;
    script->trace = pf_new(allocator, sizeof(*script->trace));
    if (!script->trace || !pf_trace_texts_open(&script->trace->texts, script->reader, allocator))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return script->failed ? NULL : script->trace;
}

void pf_script_trace_close(struct pf_script *script)
{
    if (script->trace)
        pf_trace_texts_close(&script->trace->texts);
    pf_free(script->out->allocator, script->trace, sizeof(*script->trace));
}

char *pf_script_put_trace(struct pf_script *script, char *at)
{
    struct pf_script_trace *trace = script->sample.raw.bytes ? get_trace(script) : NULL;
    if (!trace)
        return at;
    pf_script_leave(script, at);
    if (!pf_trace_texts_put(&trace->texts, script->plan->event, &script->sample.raw, script->out))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
    return pf_script_enter(script);
}
