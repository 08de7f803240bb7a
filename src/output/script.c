/* SPDX-License-Identifier: MIT */
/* perf's `script` text: the drive from the reader to the lines. */
#include "output/script.h"

#include "analysis/profile.h"
#include "output/output.h"

enum { PROGRESS_RECORDS = 256 };

int pf_script_fail(struct pf_script *script, int code, const char *what, const char *message)
{
    if (!script->failed)
        script->failed = pf_fail(script->error, code, PERFILE_NO_OFFSET, what, "%s", message);
    return script->failed;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static int open_filter(struct pf_script *script)
{
    struct pf_range span;
    const bool wanted = script->options->filter.time && strpbrk(script->options->filter.time, "%+");
    return pf_filter_open(&script->filter, &script->options->filter,
                          wanted ? pf_profile_span(script->reader, &span) : NULL, script->out->allocator,
                          script->error);
}

/* A name that no event has is a mistake; in pipe mode the events are not known yet. */
static int check_event_names(struct pf_script *script)
{
    char known[160] = "";
    size_t used = 0;
    const struct perfile_event *event;
    for (size_t i = 0; (event = perfile_event_get(script->reader, i)) != NULL; i++) {
        if (pf_filter_event(&script->filter, event))
            return 0;
        size_t bytes = strlen(event->name);
        if (used + bytes + 3 > sizeof(known))
            continue;
        known[used] = ' ';
        memcpy(known + used + 1, event->name, bytes + 1);
        used += bytes + 1;
    }
    return pf_fail(script->error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "event list",
                   "no event is called \"%.40s\"; there are%s", script->options->filter.events, known);
}

/* Wall-clock times exist only when the recorder noted both clocks at one moment. */
static int open_clock(struct pf_script *script)
{
    bool wanted = false;
    for (int type = 0; type < SCRIPT_TYPES; type++)
        wanted |= script->fields.fields[type] >> SCRIPT_TOD & 1;
    if (!wanted)
        return 0;
    if (perfile_feature_number(script->reader, PERFILE_FEATURE_CLOCK_DATA, "wall_clock_ns", &script->wall_ns, NULL) ==
            0 &&
        perfile_feature_number(script->reader, PERFILE_FEATURE_CLOCK_DATA, "clockid_time_ns", &script->wall_base_ns,
                               NULL) == 0)
        return 0;
    return pf_script_fail(script, PERFILE_ERROR_ABSENT, "field list",
                          "\"tod\" needs the feature CLOCK_DATA, which recordings made with -k (--clockid) have");
}

/*
 * Dumped stacks are unwound whatever is printed of them, and callchains have lines for inlined functions; the events of
 * a stream come later.
 */
static bool stacks_want_maps(const struct pf_script *script)
{
    const uint64_t chains = script->options->symbols.no_inline ? 0 : PERFILE_SAMPLE_CALLCHAIN;
    for (size_t i = 0; i < perfile_event_count(script->reader); i++)
        if (perfile_event_get(script->reader, i)->attr.sample_type & (PERFILE_SAMPLE_STACK_USER | chains))
            return true;
    return script->pipe;
}

static int open_parts(struct pf_script *script)
{
    const struct perfile_output_options *options = script->options;
    int result = pf_script_fields_parse(&script->fields, options->fields, script->error);
    if (result == 0)
        result = open_filter(script);
    if (result == 0 && !script->pipe) {
        script->fields_checked = true;
        result = pf_script_fields_check(&script->fields, script->reader, script->error);
    }
    if (result == 0 && !script->pipe && script->filter.has_events)
        result = check_event_names(script);
    if (result == 0)
        result = open_clock(script);
    if (result == 0)
        result = perfile_session_open(script->reader, &script->session, script->error);
    if (result == 0 && (pf_script_fields_want_maps(&script->fields) || stacks_want_maps(script)))
        perfile_session_follow_maps(script->session);
    if (result == 0 && pf_script_fields_want_maps(&script->fields))
        result = pf_script_jit_open(script);
    return result;
}

bool pf_script_open_formatting(struct pf_script *script, struct pf_text *out)
{
    script->out = out;
    memcpy(script->second_text, "    0.", 6); /* of second_ns 0 */
    script->second_bytes = 6;
    pf_arena_open(&script->arena, out->allocator);
    return pf_text_open(&script->scratch, out->allocator, NULL, NULL) == 0;
}

void pf_script_close_formatting(struct pf_script *script, struct pf_text *out)
{
    script->out = out;
    pf_script_source_close(script);
    pf_disassembler_close(script->disassembler);
    pf_text_close(&script->scratch);
    pf_arena_close(&script->arena);
}

static bool open_script(struct pf_script *script, struct pf_text *out)
{
    pf_held_open(&script->held, out->allocator);
    script->pipe = perfile_reader_file(script->reader)->mode == PERFILE_MODE_PIPE;
    if (perfile_feature_text(script->reader, PERFILE_FEATURE_ARCH, NULL, &script->arch, NULL) < 0)
        script->arch = NULL;
    pf_map_open(&script->guest_index, out->allocator);
    pf_counters_open(&script->counters, out->allocator);
    return pf_script_open_formatting(script, out);
}

static void close_script(struct pf_script *script)
{
    const struct perfile_allocator *allocator = script->out->allocator;
    pf_trace_texts_close(&script->traces);
    pf_script_stat_close(script);
    pf_script_symbols_close(script);
    pf_script_team_close(script);
    perfile_session_close(script->session);
    pf_filter_close(&script->filter);
    pf_held_close(&script->held);
    pf_map_close(&script->guest_index);
    pf_counters_close(&script->counters);
    pf_free(allocator, script->guests, script->guest_room * sizeof(*script->guests));
    pf_free(allocator, script->plans, script->plan_room * sizeof(*script->plans));
    pf_script_close_formatting(script, script->out);
}

/* ---- the drive --------------------------------------------------------------------------------------------------- */

static inline int take(struct pf_script *script, const struct perfile_record *record)
{
    if (PF_LIKELY(record->type == PERFILE_RECORD_SAMPLE)) {
        pf_script_sample(script, record);
    } else {
        const int result = pf_script_jit_follow(script, record);
        if (result < 0)
            return result;
        pf_script_record(script, record);
    }
    if (PF_UNLIKELY(script->until_progress-- == 0)) {
        script->until_progress = PROGRESS_RECORDS;
        pf_output_progress(script->reader, script->options);
    }
    return script->failed;
}

int pf_script_take(struct pf_script *script, const struct perfile_record *record)
{
    return take(script, record);
}

static int drive(struct pf_script *script)
{
    const struct perfile_record *record;
    int result = 0, taken = 0;
    while (!script->out->failed && taken == 0 &&
           (result = perfile_session_next(script->session, &record, script->error)) > 0)
        taken = take(script, record);
    while (pf_script_release_held(script))
        ;
    return script->failed ? script->failed : taken < 0 ? taken : result;
}

int pf_script_text(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                   struct perfile_error *error)
{
    struct pf_script *script = pf_new(out->allocator, sizeof(*script));
    if (!script)
        return pf_fail_memory(error, "script");
    script->reader = reader;
    script->options = options;
    script->error = error;
    script->until_progress = PROGRESS_RECORDS;
    int result = open_script(script, out) ? open_parts(script) : pf_fail_memory(error, "script");
    if (result == 0)
        result = options->threads > 1 && pf_script_team_can(script) ? pf_script_team_drive(script) : drive(script);
    if (result == 0 && out->failed)
        result = pf_fail(error, out->failed, PERFILE_NO_OFFSET, "output", "it could not be written");
    close_script(script);
    pf_free(out->allocator, script, sizeof(*script));
    return result;
}
