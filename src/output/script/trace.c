/* SPDX-License-Identifier: MIT */
/* The text of tracepoints. */
#include "output/script/script.h"

bool pf_script_find_trace(struct pf_script *script, const struct pf_script_plan *plan)
{
    struct pf_script_plan *own = script->plans[plan->event->index];
    script->trace = &own->trace;
    if (own->trace.tracepoint)
        return true;
    struct pf_trace_text found;
    if (!script->traces.reader && !pf_trace_texts_open(&script->traces, script->reader, script->out->allocator)) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return false;
    }
    if (!pf_trace_texts_find(&script->traces, plan->event, &found)) {
        script->failed = script->traces.error.code;
        if (script->error)
            *script->error = script->traces.error;
        return false;
    }
    if (found.tracepoint)
        own->trace = found; /* it is not written again: other threads may look at it */
    else
        script->trace = NULL;
    return true;
}

/* The format, too, is the recording's: it may say anything. */
static void put_escaped(struct pf_script *script)
{
    struct pf_text *text = &script->trace_scratch;
    text->used = 0;
    pf_trace_text_put(script->trace, &script->item.sample.raw, &script->scratch, text);
    pf_put_name_bytes(script->out, text->data, text->used);
    if (text->failed)
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
}

char *pf_script_put_trace(struct pf_script *script, char *at)
{
    if (!script->trace || !script->item.sample.raw.bytes)
        return at;
    pf_script_leave(script, at);
    if (script->out->escapes)
        put_escaped(script);
    else
        pf_trace_text_put(script->trace, &script->item.sample.raw, &script->scratch, script->out);
    return pf_script_enter(script);
}
