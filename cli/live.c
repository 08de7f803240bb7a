/* SPDX-License-Identifier: MIT */
#include "live.h"
#include "array.h"
#include "message.h"
#include "sandbox.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOK_MS = 100, MS_PER_S = 1000, USUAL_S = 2 };

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / 1000000;
}

int pf_live_failure(const struct pf_live *live, int result)
{
    pf_message("top: %s", live->error.message);
    return result == PERFILE_ERROR_ARGUMENT ? PF_STATUS_USAGE : pf_status_of_error(result, PF_STATUS_UNREADABLE);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static int keep(void *context, const void *data, size_t bytes)
{
    struct pf_live_part *part = context;

    if (!pf_array_grow(&part->data, &part->capacity, part->used + bytes, 1))
        return -1;
    memcpy(part->data + part->used, data, bytes);
    part->used += bytes;
    return 0;
}

static int open_part(struct pf_live *live, struct pf_live_part *part)
{
    const struct perfile_sink sink = {part, keep};
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;

    options.mode = PERFILE_MODE_PIPE;
    part->used = 0;
    return perfile_writer_open_sink(&sink, &options, &part->writer, &live->error);
}

/* Ends the part; the recording goes on in the other one, unless it was the last. */
static int end_part(struct pf_live *live, bool last)
{
    struct pf_live_part *ends = &live->parts[live->writes], *next = &live->parts[!live->writes];
    int result;

    if (last) {
        result = perfile_recorder_stop(live->recorder, &live->error);
    } else if ((result = open_part(live, next)) == 0) {
        result = perfile_recorder_switch_output(live->recorder, next->writer, &live->error);
    }
    if (result < 0)
        return result;
    result = perfile_writer_finish(ends->writer, &live->error);
    perfile_writer_close(ends->writer);
    ends->writer = NULL;
    live->writes = !live->writes;
    return result;
}

uint8_t *pf_live_take(struct pf_live *live, size_t *bytes)
{
    struct pf_live_part *part = &live->parts[!live->writes];
    uint8_t *data = part->data;

    *bytes = part->used;
    *part = (struct pf_live_part){.data = NULL};
    return data;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

/* Without times, so that the sum grows with what runs, not with how long it does. */
static int read_part(struct pf_live *live, struct perfile_profile **profile)
{
    const struct pf_live_part *part = &live->parts[!live->writes];
    struct perfile_profile_options options = PERFILE_PROFILE_OPTIONS_INIT;
    struct perfile_filter filter = live->settings->filter;
    struct perfile_reader *reader;

    filter.counting = &live->is_counting; /* parts follow each other */
    options.symbols = live->settings->print.symbols;
    options.threads = live->settings->print.threads;
    options.filter = &filter;
    options.max_frames = live->settings->report.max_stack;
    options.keys = ((const struct pf_top_settings *)live->settings->own)->keys;
    options.path = "top";
    int result = perfile_open_memory(part->data, part->used, NULL, &reader, &live->error);
    if (result < 0)
        return result;
    result = perfile_profile_open(reader, &options, profile, &live->error);
    perfile_close(reader);
    return result;
}

static int add_part(struct pf_live *live, int64_t began_ms)
{
    struct perfile_profile *part, *merged;
    int result = read_part(live, &part);

    if (result < 0)
        return result;
    if (live->each || atomic_exchange(&live->discards, false)) {
        perfile_profile_close(live->sum);
        live->sum = NULL;
    }
    if (!live->sum) {
        live->sum = part;
        live->sum_ms = began_ms;
        return 0;
    }
    const struct perfile_profile *both[] = {live->sum, part};
    result = perfile_profile_merge(both, 2, NULL, &merged, &live->error);
    perfile_profile_close(part);
    if (result < 0)
        return result;
    perfile_profile_close(live->sum);
    live->sum = merged;
    return 0;
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* 1: the interval is over; 0: the recording is. */
static int wait_for_end(struct pf_live *live)
{
    const int64_t next = live->part_ms + live->interval_ms;

    while (!atomic_load(&live->stops) && !(live->is_stopped && live->is_stopped())) {
        const int64_t now = now_ms(), until = live->end_ms && live->end_ms < next ? live->end_ms : next;
        if (live->end_ms && now >= live->end_ms)
            return 0;
        if (now >= next || atomic_load(&live->discards))
            return 1;
        const int result =
            perfile_recorder_drain(live->recorder, until - now < LOOK_MS ? (int)(until - now) : LOOK_MS, &live->error);
        if (result <= 0)
            return result;
    }
    return 0;
}

int pf_live_next(struct pf_live *live)
{
    const int64_t began_ms = live->part_ms;
    const int going = wait_for_end(live);
    int result = going < 0 ? going : end_part(live, !going);

    live->part_ms = now_ms();
    if (result == 0)
        result = add_part(live, began_ms);
    live->ended = result < 0 || !going;
    return result < 0 ? result : going;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

static void note(void *context, const char *sentence)
{
    const struct pf_live *live = context;

    if (!live->settings->quiet)
        pf_message("top: %s", sentence);
}

static struct perfile_recorder_options choose(struct pf_live *live)
{
    const struct pf_record_settings *record = &live->settings->record;
    struct perfile_recorder_options options = record->options;

    options.size = sizeof(options);
    options.events = record->events;
    options.filters = (const char *const *)record->filters;
    options.filter_count = record->filter_count;
    options.note = note;
    options.note_context = live;
    if (record->frame_pointers && !options.call_graph)
        options.call_graph = pf_usual_call_graph();
    if (!options.pids && !options.tids && !options.user)
        options.flags |= PERFILE_RECORDER_ALL_CPUS;
    return options;
}

/* The programs that are looked at are not trusted; Landlock comes later, for all threads. */
static void enter_sandbox(void *settings)
{
    pf_sandbox_enter_thread(settings);
}

static int open_stage(struct pf_live *live, struct perfile_recorder_options *recorder)
{
    struct perfile_unwind_stage_options options = PERFILE_UNWIND_STAGE_OPTIONS_INIT;

    options.symbols = live->settings->print.symbols;
    options.max_frames = recorder->max_stack;
    options.started = enter_sandbox;
    options.started_context = live->settings;
    const int result = perfile_unwind_stage_open(&options, &live->unwinding, &live->error);

    if (result == 0)
        recorder->stage = perfile_unwind_stage_get(live->unwinding);
    return result;
}

int pf_live_start(struct pf_live *live, struct pf_settings *settings)
{
    *live = (struct pf_live){.settings = settings, .is_counting = !settings->filter.switch_on};
    struct perfile_recorder_options options = choose(live);
    int result = open_stage(live, &options);

    if (result == 0)
        result = open_part(live, &live->parts[0]);
    if (result == 0)
        result = perfile_recorder_open(&options, live->parts[0].writer, &live->recorder, &live->error);
    if (result == 0)
        result = perfile_recorder_enable(live->recorder, &live->error);
    if (result < 0)
        return pf_live_failure(live, result);
    live->start_ms = live->part_ms = now_ms();
    const struct pf_top_settings *top = settings->own;

    live->interval_ms = (int64_t)(top->interval_s ? top->interval_s : USUAL_S) * MS_PER_S;
    live->end_ms = top->duration_s ? live->start_ms + (int64_t)top->duration_s * MS_PER_S : 0;
    live->each = top->each;
    return PF_STATUS_OK;
}

void pf_live_close(struct pf_live *live)
{
    perfile_recorder_close(live->recorder);
    perfile_unwind_stage_close(live->unwinding);
    for (size_t i = 0; i < 2; i++) {
        perfile_writer_close(live->parts[i].writer);
        free(live->parts[i].data);
    }
    perfile_profile_close(live->sum);
    *live = (struct pf_live){.settings = NULL};
}
