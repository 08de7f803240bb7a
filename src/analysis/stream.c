/* SPDX-License-Identifier: MIT */
/* <perfile/profile.h>: resolved samples for others. */
#include <perfile/profile.h>

#include "analysis/label.h"
#include "analysis/profile.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "base/sized.h"

struct perfile_stream {
    struct pf_watch watch;
    struct pf_profile *profile;
    struct perfile_stream_sample sample;
    struct pf_arena labels;
    struct pf_map label_of; /* frames */
};

/* ---- the stream -------------------------------------------------------------------------------------------------- */

int perfile_stream_open(struct perfile_reader *reader, const struct perfile_stream_options *options,
                        struct perfile_stream **stream, struct perfile_error *error)
{
    struct perfile_stream_options all = PERFILE_STREAM_OPTIONS_INIT;
    *stream = NULL;
    struct perfile_filter filter = PERFILE_FILTER_INIT;
    struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    int result = pf_sized_take(&all, sizeof(all), options, "stream options", error);
    if (result == 0)
        result = pf_sized_take(&filter, sizeof(filter), all.filter, "filter", error);
    if (result == 0)
        result = pf_sized_take(&symbols, sizeof(symbols), all.symbols, "symbol options", error);
    if (result < 0)
        return result;
    struct perfile_stream *made = pf_new(pf_allocator_or_default(NULL), sizeof(*made));
    if (!made)
        return pf_fail_memory(error, "stream");
    pf_watch_open(&made->watch, NULL);
    pf_map_open(&made->label_of, &made->watch.allocator);
    pf_arena_open(&made->labels, &made->watch.allocator);
    struct pf_profile_options how = {
        .filter = &filter,
        .find = pf_find_options_of(&symbols),
        .unwind = symbols.unwind,
        .decoded = all.flags & PERFILE_STREAM_DECODED,
        .frames = {.by_address = all.flags & PERFILE_STREAM_ADDRESSES,
                   .inlines = !(symbols.no_inline || all.flags & PERFILE_STREAM_NO_INLINES),
                   .joins_unnamed = all.flags & PERFILE_STREAM_JOIN_UNNAMED},
        .drive = {all.threads, all.progress, all.progress_context}};
    how.find.allocator = &made->watch.allocator;
    result = pf_profile_open(reader, &how, &made->profile, error);
    if (result < 0) {
        perfile_stream_close(made);
        return result;
    }
    *stream = made;
    return 0;
}

void perfile_stream_close(struct perfile_stream *stream)
{
    if (!stream)
        return;
    pf_profile_close(stream->profile);
    pf_map_close(&stream->label_of);
    pf_arena_close(&stream->labels);
    pf_free(pf_allocator_or_default(NULL), stream, sizeof(*stream));
}

int perfile_stream_next(struct perfile_stream *stream, const struct perfile_stream_sample **sample,
                        struct perfile_error *error)
{
    const struct pf_profile_sample *next;
    const int result = pf_profile_next(stream->profile, &next, error);
    if (result <= 0)
        return result;
    stream->sample = (struct perfile_stream_sample){.size = sizeof(stream->sample),
                                                    .event = next->event,
                                                    .time = next->time,
                                                    .period = next->period,
                                                    .pid = next->pid,
                                                    .tid = next->tid,
                                                    .cpu = next->has_cpu ? (int32_t)next->cpu : -1,
                                                    .frame_count = (uint32_t)next->frame_count,
                                                    .frames = next->frames,
                                                    .leaf = next->leaf,
                                                    .cpumode = next->cpumode,
                                                    .ip = next->ip,
                                                    .comm = next->comm,
                                                    .decoded = next->decoded};
    *sample = &stream->sample;
    return 1;
}

/* ---- what ids stand for ------------------------------------------------------------------------------------------ */

_Static_assert((int)PERFILE_FRAME_USER == PF_FRAME_USER && (int)PERFILE_FRAME_KERNEL == PF_FRAME_KERNEL &&
                   (int)PERFILE_FRAME_INLINED == PF_FRAME_INLINED && (int)PERFILE_FRAME_JIT == PF_FRAME_JIT &&
                   (int)PERFILE_FRAME_UNKNOWN == PF_FRAME_UNKNOWN,
               "the kinds of frames are public");

int perfile_stream_frame(const struct perfile_stream *stream, uint32_t id, struct perfile_frame *frame)
{
    const struct pf_frame_info *info =
        id < pf_profile_frame_count(stream->profile) ? pf_profile_frame(stream->profile, id) : NULL;
    if (!info)
        return PERFILE_ERROR_ARGUMENT;
    struct perfile_frame all = {.name = info->name,
                                .module = info->module,
                                .function = info->function,
                                .offset = info->address,
                                .kind = info->kind};
    if (pf_profile_is_by_address(stream->profile)) {
        const struct pf_frame_address *place = pf_frame_address(info);
        all.address = place->ip;
        all.file = place->file;
        all.line = place->line;
    }
    return pf_sized_give(frame, &all, sizeof(all));
}

static const char *make_label(struct perfile_stream *stream, const struct pf_frame_info *info)
{
    const struct pf_module *module = pf_symbols_module(pf_profile_symbols(stream->profile), info->module);
    char *label = pf_label_make(&stream->labels, info->name, module ? module->name : NULL, 0);
    if (label) {
        pf_label_separators(label, false);
        pf_label_tidy(label, info->kind == PF_FRAME_JIT);
    }
    return label;
}

const char *perfile_stream_label(struct perfile_stream *stream, uint32_t id)
{
    const struct pf_frame_info *info =
        id < pf_profile_frame_count(stream->profile) ? pf_profile_frame(stream->profile, id) : NULL;
    uint64_t label = 0;
    if (!info || pf_map_get(&stream->label_of, id, &label))
        return (const char *)(uintptr_t)label;
    const char *made = make_label(stream, info);
    return made && pf_map_put(&stream->label_of, id, (uintptr_t)made) ? made : NULL;
}

int perfile_stream_module(const struct perfile_stream *stream, uint32_t id, struct perfile_module *module)
{
    const struct pf_symbols *symbols = pf_profile_symbols(stream->profile);
    const struct pf_module *known = pf_symbols_module(symbols, id);
    const uint8_t *build_id;
    if (!known)
        return PERFILE_ERROR_ARGUMENT;
    struct perfile_module all = {.name = known->name,
                                 .short_name = known->short_name,
                                 .path = known->path,
                                 .build_id_bytes = (uint32_t)pf_symbols_build_id(symbols, id, &build_id),
                                 .state = known->table              ? PERFILE_MODULE_SYMBOLS
                                          : known->build_id_differs ? PERFILE_MODULE_OTHER_BUILD
                                          : known->path             ? PERFILE_MODULE_NO_SYMBOLS
                                                                    : PERFILE_MODULE_NO_FILE,
                                 .kernel = known->kernel,
                                 .jit = known->jit};
    memcpy(all.build_id, build_id, all.build_id_bytes);
    return pf_sized_give(module, &all, sizeof(all));
}

void pf_profile_losses(const struct pf_profile *profile, struct perfile_losses *losses)
{
    const struct pf_profile_totals *totals = pf_profile_totals(profile);
    *losses = (struct perfile_losses){.samples = totals->samples,
                                      .filtered = totals->filtered,
                                      .lost = totals->lost,
                                      .unmapped = totals->unmapped,
                                      .unresolved = totals->unresolved,
                                      .truncated = totals->truncated,
                                      .guessed = totals->guessed};
}

int perfile_stream_losses(const struct perfile_stream *stream, struct perfile_losses *losses)
{
    struct perfile_losses all;
    pf_profile_losses(stream->profile, &all);
    return pf_sized_give(losses, &all, sizeof(all));
}

/* ---- units ------------------------------------------------------------------------------------------------------- */

/* "cycles" of "cycles:u" and of "cpu/cycles/u"; NULL for names that are no word, such as "cpu/event=0x3c/". */
static const char *plain_name(const char *name, size_t *bytes)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *slash = strchr(name, '/');
    name = slash ? slash + 1 : name;
    *bytes = strspn(name, word);
    const char end = name[*bytes];
    return *bytes && (slash ? end == '/' : !end || (end == ':' && !strchr(name + *bytes + 1, '_'))) ? name : NULL;
}

const char *perfile_event_unit(const struct perfile_event *event, char *text, size_t room)
{
    const struct perfile_attr *attr = event->attr;
    size_t bytes;
    const char *name = plain_name(event->name, &bytes);
    if (attr->type == PERFILE_TYPE_SOFTWARE &&
        (attr->config == PERFILE_COUNT_SW_CPU_CLOCK || attr->config == PERFILE_COUNT_SW_TASK_CLOCK))
        name = "ns", bytes = 2;
    else if (attr->type == PERFILE_TYPE_TRACEPOINT || !name)
        name = "events", bytes = 6;
    if (!room)
        return text;
    bytes = pf_min(bytes, room - 1);
    memcpy(text, name, bytes);
    text[bytes] = '\0';
    return text;
}
