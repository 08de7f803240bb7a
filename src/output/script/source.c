/* SPDX-License-Identifier: MIT */
/* Lines of source code, from the files that debug info names. */
#include "output/script/script.h"

#include "analysis/sources.h"

struct pf_script_source {
    struct pf_sources files;
    struct pf_map last; /* tid to the line that was printed last, as its text */
};

static struct pf_script_source *open_source(struct pf_script *script)
{
    struct pf_script_source *source = script->source;
    const struct perfile_symbol_options *symbols = script->options->symbols;
    if (source || !(source = pf_arena_new(&script->arena, sizeof(*source))))
        return source;
    pf_sources_open(&source->files, symbols->source_dirs, symbols->symfs, script->out->allocator);
    pf_map_open(&source->last, script->out->allocator);
    return script->source = source;
}

void pf_script_source_close(struct pf_script *script)
{
    struct pf_script_source *source = script->source;
    if (!source)
        return;
    pf_sources_close(&source->files);
    pf_map_close(&source->last);
}

/* False when out of memory. */
static bool put_source(struct pf_script *script, const struct pf_source_frame *frame, const char *lead, const char *end)
{
    struct pf_script_source *source = open_source(script);
    const struct pf_source *file = source ? pf_sources_find(&source->files, frame->file, NULL, NULL) : NULL;
    if (!file)
        return false;
    const char *line = pf_source_line(file, frame->line);
    const uint64_t tid = (uint32_t)script->item.sample.tid;
    uint64_t last;
    if (!line || (pf_map_get(&source->last, tid, &last) && last == (uintptr_t)line))
        return true;
    pf_put_string(script->out, lead);
    pf_put_format(script->out, "|%-8" PRIu32 " ", frame->line);
    pf_put_name_bytes(script->out, line, strlen(line));
    pf_put_string(script->out, end);
    return pf_map_put(&source->last, tid, (uintptr_t)line);
}

void pf_script_put_source_code(struct pf_script *script, unsigned mode, uint64_t address, const char *lead,
                               const char *end)
{
    struct pf_script_location location;
    struct pf_source_frame frame;
    if (!pf_script_locate(script, mode, address, &location) || !location.map ||
        !pf_symbols_inlines(script->symbols, &location.location, &frame, 1) || !frame.file)
        return;
    if (!put_source(script, &frame, lead, end))
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
}

/* A line of its own; the last of them ends as the sample's line would have. */
char *pf_script_put_srccode(struct pf_script *script, char *at)
{
    pf_script_leave(script, at);
    pf_script_put_source_code(script, script->item.record->misc & PERFILE_MISC_CPUMODE_MASK, script->item.sample.ip,
                              "\n", "");
    return pf_script_enter(script);
}
