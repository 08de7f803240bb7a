/* SPDX-License-Identifier: MIT */
/* A blob of tracing data. */
#include "fuzz.h"

#include "base/memory.h"
#include "format/tracing.h"

static void touch_text(const char *text)
{
    if (text)
        fuzz_touch(text, strlen(text));
}

static void touch(const struct perfile_tracing *tracing)
{
    touch_text(tracing->version);
    fuzz_touch(tracing->kallsyms, tracing->kallsyms_bytes);
    fuzz_touch(tracing->printk_formats, tracing->printk_formats_bytes);
    fuzz_touch(tracing->saved_cmdlines, tracing->saved_cmdlines_bytes);
    for (size_t i = 0; i < tracing->tracepoint_count; i++) {
        const struct perfile_tracepoint *tracepoint = &tracing->tracepoints[i];
        touch_text(tracepoint->system);
        touch_text(tracepoint->name);
        touch_text(tracepoint->format);
        touch_text(tracepoint->print_fmt);
        for (size_t field = 0; field < tracepoint->field_count; field++) {
            touch_text(tracepoint->fields[field].name);
            touch_text(tracepoint->fields[field].type);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fuzz_visit visit;
    const struct perfile_visitor visitor = fuzz_visitor(&visit);
    struct pf_emit e = {.visitor = &visitor};
    struct pf_tracing *tracing;
    struct perfile_error error;
    FUZZ_REQUIRE(pf_tracing_emit(data, bytes, 0, "tracing", &e) <= bytes && visit.depth == 0);
    if (pf_tracing_open(data, bytes, 0, pf_allocator_or_default(NULL), &tracing, &error) < 0)
        return 0;
    touch(pf_tracing_view(tracing));
    for (size_t i = 0; i < pf_tracing_view(tracing)->tracepoint_count; i++)
        FUZZ_REQUIRE(pf_tracing_find(tracing, pf_tracing_view(tracing)->tracepoints[i].id));
    pf_tracing_close(tracing);
    return 0;
}
