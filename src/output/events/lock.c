/* SPDX-License-Identifier: MIT */
/* Waits for locks as `perf lock contention` and `perf lock report` print them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/locks.h"
#include "base/error.h"
#include "output/events/events.h"

struct lock {
    struct pf_text *out;
    const struct perfile_output_options *options;
    struct pf_locks locks;
    struct pf_profile *profile;
    struct pf_sort_keys columns; /* enum pf_lock_field */
    const char *separator;       /* of CSV; NULL: a table */
};

/* ---- columns ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *title;
    int width;
} fields[PF_LOCK_FIELDS] = {
    [PF_LOCK_ACQUIRED] = {"acquired", 10}, [PF_LOCK_CONTENDED] = {"contended", 10},
    [PF_LOCK_AVERAGE] = {"avg wait", 12},  [PF_LOCK_TOTAL] = {"total wait", 12},
    [PF_LOCK_MAXIMUM] = {"max wait", 12},  [PF_LOCK_MINIMUM] = {"min wait", 12},
};

/* What one of the two texts shows when it is not asked for anything else. */
struct usual {
    const char *fields, *sort;
    bool acquired; /* it has that field */
    void (*put)(const struct lock *lock);
};

static struct pf_sort_names names_of(const struct usual *usual)
{
    struct pf_sort_names names = pf_lock_fields;
    if (!usual->acquired)
        names.names[PF_LOCK_ACQUIRED] = NULL;
    return names;
}

/* Those that are asked for, in their order, and what rows are sorted by. */
static int choose_columns(struct lock *lock, const struct usual *usual, struct perfile_error *error)
{
    struct pf_sort_names names = names_of(usual);
    names.usual = usual->sort;
    int result = pf_locks_order(&lock->locks, &names, error);
    names.usual = usual->fields;
    names.list = "fields";
    names.word = "column";
    if (result == 0)
        result = pf_sort_keys_parse(&lock->columns, lock->options->events->fields, &names, error);
    for (size_t i = 0; result == 0 && i < lock->locks.keys.count; i++)
        pf_sort_keys_add(&lock->columns, lock->locks.keys.list[i]);
    return result;
}

/* perf divides single-precision numbers: 9,725 ns are 9.73 us. */
static void put_time(struct pf_text *out, uint64_t ns, int width)
{
    static const struct {
        float ns;
        const char *unit;
    } units[] = {{3600e9f, "h "}, {60e9f, "m "}, {1e9f, "s "}, {1e6f, "ms"}, {1e3f, "us"}};
    for (size_t i = 0; i < PF_COUNT(units); i++)
        if ((float)ns >= units[i].ns) {
            const float value = (float)ns / units[i].ns;
            pf_put_format(out, "%*.2f %s", width - 3, (double)value, units[i].unit);
            return;
        }
    pf_put_format(out, "%*" PRIu64 " ns", width - 3, ns);
}

static bool is_count(unsigned field)
{
    return field == PF_LOCK_ACQUIRED || field == PF_LOCK_CONTENDED;
}

static void put_values(const struct lock *lock, const struct pf_lock_row *row)
{
    for (size_t i = 0; i < lock->columns.count; i++) {
        const unsigned field = lock->columns.list[i];
        if (lock->separator) {
            pf_put_format(lock->out, "%" PRIu64 "%s ", pf_lock_value(row, field), lock->separator);
        } else if (is_count(field)) {
            pf_put_format(lock->out, "%*" PRIu64 " ", fields[field].width, pf_lock_value(row, field));
        } else {
            put_time(lock->out, pf_lock_value(row, field), fields[field].width);
            pf_put_char(lock->out, ' ');
        }
    }
}

/* ---- contention -------------------------------------------------------------------------------------------------- */

static void put_title(const struct lock *lock)
{
    static const char *const separated[] = {"type, caller", "address, symbol, type", "pid, comm"};
    static const char *const titles[] = {"        type   caller", "           address   symbol", "         pid   comm"};
    if (lock->separator)
        pf_put_string(lock->out, "# output: ");
    for (size_t i = 0; i < lock->columns.count; i++) {
        const unsigned field = lock->columns.list[i];
        if (lock->separator)
            pf_put_format(lock->out, "%s%s ", fields[field].title, lock->separator);
        else
            pf_put_format(lock->out, "%*s ", fields[field].width, fields[field].title);
    }
    if (!lock->separator) {
        pf_put_format(lock->out, "%s\n\n", titles[lock->locks.by]);
        return;
    }
    for (const char *at = separated[lock->locks.by]; *at; at++)
        pf_put_format(lock->out, *at == ',' ? "%s" : "%.0s%c", lock->separator, *at);
    pf_put_char(lock->out, '\n');
}

static void put_name(const struct lock *lock, const struct pf_lock_row *row)
{
    const char *name = row->name ? row->name : "Unknown";
    struct pf_text *out = lock->out;
    if (lock->locks.by == PF_LOCKS_BY_CALLER) {
        if (lock->separator)
            pf_put_format(out, "%s%s ", pf_lock_type(row->flags, true), lock->separator);
        else
            pf_put_format(out, "  %10s   ", pf_lock_type(row->flags, true));
        pf_put_name(out, name);
    } else if (lock->locks.by == PF_LOCKS_BY_LOCK) {
        if (lock->separator)
            pf_put_format(out, "%" PRIx64 "%s ", row->lock, lock->separator);
        else
            pf_put_format(out, "  %16" PRIx64 "   ", row->lock);
        pf_put_name(out, row->name ? row->name : "");
        if (lock->separator)
            pf_put_format(out, "%s %s", lock->separator, pf_lock_type(row->flags, false));
        else
            pf_put_format(out, " (%s)", pf_lock_type(row->flags, false));
    } else {
        if (lock->separator)
            pf_put_format(out, "%" PRId32 "%s ", row->tid, lock->separator);
        else
            pf_put_format(out, "  %10" PRId32 "   ", row->tid);
        pf_put_name(out, row->comm ? row->comm : "");
    }
    pf_put_char(out, '\n');
}

static void put_contention(const struct lock *lock)
{
    const uint64_t max = lock->options->events->rows;
    uint64_t rows = 0;
    put_title(lock);
    for (size_t i = 0; i < lock->locks.count && (!max || rows < max); i++)
        if (lock->locks.rows[i]->waits.sum) {
            put_values(lock, lock->locks.rows[i]);
            put_name(lock, lock->locks.rows[i]);
            rows++;
        }
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

static void put_report(const struct lock *lock)
{
    const struct pf_sort_keys *columns = &lock->columns;
    const uint64_t max = lock->options->events->rows;
    pf_put_format(lock->out, "%20s ", "Name");
    for (size_t i = 0; i < columns->count; i++)
        pf_put_format(lock->out, "%*s ", fields[columns->list[i]].width, fields[columns->list[i]].title);
    pf_put_string(lock->out, "\n\n");
    for (size_t i = 0; i < lock->locks.count && (!max || i < max); i++) {
        const struct pf_lock_row *row = lock->locks.rows[i];
        const char *name = lock->locks.by == PF_LOCKS_BY_THREAD ? row->comm : row->name;
        pf_put_format(lock->out, "%20s ", name ? name : "");
        put_values(lock, row);
        pf_put_char(lock->out, '\n');
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static bool take(void *lock, const struct pf_profile_sample *sample)
{
    return pf_locks_take(&((struct lock *)lock)->locks, sample);
}

static int open_lock(struct lock *lock, struct perfile_reader *reader, const struct usual *usual, enum pf_locks_by by,
                     struct perfile_error *error)
{
    const struct perfile_output_options *options = lock->options;
    pf_locks_open(&lock->locks, reader, options->events, options->allocator);
    lock->locks.by = by;
    int result = choose_columns(lock, usual, error);
    if (result == 0)
        result = pf_event_profile_open(
            options, reader, &(struct pf_event_needs){.take_record = pf_locks_take_record, .state = &lock->locks},
            &lock->profile, error);
    pf_locks_use(&lock->locks, lock->profile);
    return result;
}

static int write_lock(struct lock *lock, struct perfile_reader *reader, const struct usual *usual,
                      struct perfile_error *error)
{
    const struct perfile_output_options *options = lock->options;
    enum pf_locks_by by;
    if (!pf_locks_by_parse(options->events->keys, &by))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                       "waits for locks are added up by caller, lock or thread, not by '%.40s'", options->events->keys);
    int result = open_lock(lock, reader, usual, by, error);
    if (result == 0)
        result = pf_event_profile_read(lock->profile, take, lock, error);
    if (result != PERFILE_ERROR_MEMORY && lock->profile) {
        pf_locks_end(&lock->locks);
        usual->put(lock);
        pf_locks_notify(&lock->locks, options->symbols->note, options->symbols->note_context);
        pf_profile_notify_unmatched(lock->profile, options->unmatched, options->unmatched_context);
    }
    pf_locks_close(&lock->locks);
    pf_profile_close(lock->profile);
    return result;
}

static int write_contention(struct perfile_reader *reader, const struct perfile_output_options *options,
                            struct pf_text *out, struct perfile_error *error)
{
    static const struct usual usual = {"contended,wait_total,wait_max,avg_wait", "wait_total", false, put_contention};
    struct lock lock = {.out = out, .options = options, .separator = options->events->separator};
    return write_lock(&lock, reader, &usual, error);
}

static int write_report(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    static const struct usual usual = {"acquired,contended,avg_wait,wait_total,wait_max,wait_min", "acquired", true,
                                       put_report};
    struct perfile_output_options by_lock = *options;
    struct perfile_event_options events = *options->events;
    struct lock lock = {.out = out, .options = &by_lock};
    if (!events.keys)
        events.keys = "lock";
    by_lock.events = &events;
    return write_lock(&lock, reader, &usual, error);
}

const struct pf_output pf_output_lock_contention = {
    .info = {"lock_contention", "stdio", "waits for locks as perf lock contention prints them"},
    .write = write_contention,
};
const struct pf_output pf_output_lock_report = {
    .info = {"lock_report", "stdio", "waits for locks as perf lock report prints them"},
    .write = write_report,
};
