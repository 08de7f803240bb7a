/* SPDX-License-Identifier: MIT */
/* The recorder of builds that do not record (the build option system=read): every call is UNSUPPORTED. */
#include <perfile/recorder.h>

#include "base/error.h"

static int fail(struct perfile_error *error)
{
    return pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "recorder",
                   "this build reads recordings, and does not record: use perfile on Linux");
}

int perfile_recorder_open(const struct perfile_recorder_options *options, struct perfile_writer *writer,
                          struct perfile_recorder **recorder, struct perfile_error *error)
{
    (void)options;
    (void)writer;
    *recorder = NULL;
    return fail(error);
}

int perfile_recorder_enable(struct perfile_recorder *recorder, struct perfile_error *error)
{
    (void)recorder;
    return fail(error);
}

int perfile_recorder_disable(struct perfile_recorder *recorder, struct perfile_error *error)
{
    (void)recorder;
    return fail(error);
}

int perfile_recorder_enable_event(struct perfile_recorder *recorder, const char *name, struct perfile_error *error)
{
    (void)recorder;
    (void)name;
    return fail(error);
}

int perfile_recorder_disable_event(struct perfile_recorder *recorder, const char *name, struct perfile_error *error)
{
    (void)recorder;
    (void)name;
    return fail(error);
}

int perfile_recorder_drain(struct perfile_recorder *recorder, int timeout_ms, struct perfile_error *error)
{
    (void)recorder;
    (void)timeout_ms;
    return fail(error);
}

int perfile_recorder_fd(const struct perfile_recorder *recorder)
{
    (void)recorder;
    return -1;
}

int perfile_recorder_snapshot(struct perfile_recorder *recorder, struct perfile_error *error)
{
    (void)recorder;
    return fail(error);
}

int perfile_recorder_switch_output(struct perfile_recorder *recorder, struct perfile_writer *writer,
                                   struct perfile_error *error)
{
    (void)recorder;
    (void)writer;
    return fail(error);
}

int perfile_recorder_stop(struct perfile_recorder *recorder, struct perfile_error *error)
{
    (void)recorder;
    return fail(error);
}

void perfile_recorder_close(struct perfile_recorder *recorder)
{
    (void)recorder;
}

const struct perfile_recorder_counts *perfile_recorder_counts_get(const struct perfile_recorder *recorder)
{
    static const struct perfile_recorder_counts none;
    (void)recorder;
    return &none;
}

const char *perfile_recorder_event_lost(const struct perfile_recorder *recorder, size_t index, uint64_t *lost)
{
    (void)recorder;
    (void)index;
    *lost = 0;
    return NULL;
}

int perfile_counter_open(const struct perfile_counter_options *options, struct perfile_writer *writer,
                         struct perfile_counter **counter, struct perfile_error *error)
{
    (void)options;
    (void)writer;
    *counter = NULL;
    return fail(error);
}

int perfile_counter_enable(struct perfile_counter *counter, struct perfile_error *error)
{
    (void)counter;
    return fail(error);
}

int perfile_counter_disable(struct perfile_counter *counter, struct perfile_error *error)
{
    (void)counter;
    return fail(error);
}

int perfile_counter_write(struct perfile_counter *counter, uint64_t since_start, bool last, struct perfile_error *error)
{
    (void)counter;
    (void)since_start;
    (void)last;
    return fail(error);
}

void perfile_counter_close(struct perfile_counter *counter)
{
    (void)counter;
}

int perfile_known_events(const char *pattern, int (*each)(void *context, const struct perfile_known_event *event),
                         void *context, struct perfile_error *error)
{
    (void)pattern;
    (void)each;
    (void)context;
    return fail(error);
}

int perfile_probes_list(const char *tracefs, int (*take)(void *context, const struct perfile_probe_entry *entry),
                        void *context, struct perfile_error *error)
{
    (void)tracefs;
    (void)take;
    (void)context;
    return fail(error);
}

int perfile_probes_write(const char *tracefs, bool is_kernel, const char *line, struct perfile_error *error)
{
    (void)tracefs;
    (void)is_kernel;
    (void)line;
    return fail(error);
}

int perfile_probes_folder(char *path, size_t capacity, struct perfile_error *error)
{
    (void)path;
    (void)capacity;
    return fail(error);
}
