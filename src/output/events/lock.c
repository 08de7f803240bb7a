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
    const char *separator; /* of CSV; NULL: a table */
};

/* ---- columns ----------------------------------------------------------------------------------------------------- */

enum field { CONTENDED, TOTAL, MAXIMUM, MINIMUM, AVERAGE, FIELD_COUNT };

static const struct {
    const char *name, *title;
    int width;
} fields[FIELD_COUNT] = {
    [CONTENDED] = {"contended", "contended", 10}, [TOTAL] = {"wait_total", "total wait", 12},
    [MAXIMUM] = {"wait_max", "max wait", 12},     [MINIMUM] = {"wait_min", "min wait", 12},
    [AVERAGE] = {"avg_wait", "avg wait", 12},
};

static uint64_t value_of(const struct pf_lock_row *row, unsigned field)
{
    switch (field) {
    case CONTENDED:
        return row->contended;
    case TOTAL:
        return row->waits.sum;
    case MAXIMUM:
        return row->waits.max;
    case MINIMUM:
        return row->waits.min;
    default:
        return pf_stats_average(&row->waits);
    }
}

static unsigned find_field(const char *text, size_t bytes)
{
    unsigned i = 0;
    while (i < FIELD_COUNT && (strlen(fields[i].name) != bytes || strncmp(fields[i].name, text, bytes) != 0))
        i++;
    return i;
}

static int fail_field(const char *text, size_t bytes, struct perfile_error *error)
{
    return pf_about(error, text, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "lock",
                            "unknown column '%.*s'; valid: contended, wait_total, wait_max, wait_min, avg_wait",
                            (int)pf_min(bytes, 40), text));
}

static int take_fields(const char *text, bool shown[FIELD_COUNT], struct perfile_error *error)
{
    static const bool usual[FIELD_COUNT] = {[CONTENDED] = true, [TOTAL] = true, [MAXIMUM] = true, [AVERAGE] = true};
    memcpy(shown, usual, sizeof(usual));
    if (!text || !*text)
        return 0;
    memset(shown, 0, sizeof(usual));
    for (; *text; text += strspn(text, ", ")) {
        const size_t length = strcspn(text, ", ");
        const unsigned field = find_field(text, length);
        if (field == FIELD_COUNT)
            return fail_field(text, length, error);
        shown[field] = true;
        text += length;
    }
    return 0;
}

static int compare(const void *left, const void *right, void *context)
{
    const unsigned field = *(const unsigned *)context;
    const struct pf_lock_row *a = *(struct pf_lock_row *const *)left, *b = *(struct pf_lock_row *const *)right;
    const uint64_t i = value_of(a, field), k = value_of(b, field);
    if (i != k)
        return i < k ? 1 : -1;
    return a->key < b->key ? -1 : a->key > b->key;
}

/* ---- contention -------------------------------------------------------------------------------------------------- */

static void put_time(struct pf_text *out, uint64_t ns, int width)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = {{3600e9, "h "}, {60e9, "m "}, {1e9, "s "}, {1e6, "ms"}, {1e3, "us"}};
    for (size_t i = 0; i < PF_COUNT(units); i++)
        if ((double)ns >= units[i].ns) {
            pf_put_format(out, "%*.2f %s", width - 3, (double)ns / units[i].ns, units[i].unit);
            return;
        }
    pf_put_format(out, "%*" PRIu64 " ns", width - 3, ns);
}

static void put_title(const struct lock *lock, const bool shown[FIELD_COUNT])
{
    static const char *const separated[] = {"type, caller", "address, type", "pid, comm"};
    static const char *const titles[] = {"        type   caller", "           address   symbol", "         pid   comm"};
    if (lock->separator)
        pf_put_string(lock->out, "# output: ");
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (!shown[i])
            continue;
        if (lock->separator)
            pf_put_format(lock->out, "%s%s ", fields[i].title, lock->separator);
        else
            pf_put_format(lock->out, "%*s ", fields[i].width, fields[i].title);
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
        pf_put_format(out, lock->separator ? "%s" : " (%s)", pf_lock_type(row->flags, false));
    } else {
        if (lock->separator)
            pf_put_format(out, "%" PRId32 "%s ", row->tid, lock->separator);
        else
            pf_put_format(out, "  %10" PRId32 "   ", row->tid);
        pf_put_name(out, row->comm ? row->comm : "");
    }
    pf_put_char(out, '\n');
}

static void put_row(const struct lock *lock, const struct pf_lock_row *row, const bool shown[FIELD_COUNT])
{
    for (unsigned i = 0; i < FIELD_COUNT; i++) {
        if (!shown[i])
            continue;
        if (lock->separator) {
            pf_put_format(lock->out, "%" PRIu64 "%s ", value_of(row, i), lock->separator);
        } else if (i == CONTENDED) {
            pf_put_format(lock->out, "%10" PRIu64 " ", row->contended);
        } else {
            put_time(lock->out, value_of(row, i), fields[i].width);
            pf_put_char(lock->out, ' ');
        }
    }
    put_name(lock, row);
}

static int put_contention(struct lock *lock, struct perfile_error *error)
{
    const struct perfile_event_options *events = lock->options->events;
    bool shown[FIELD_COUNT];
    unsigned sort = TOTAL;
    uint64_t rows = 0;
    int result = take_fields(events->fields, shown, error);
    if (result == 0 && events->sort && *events->sort &&
        (sort = find_field(events->sort, strlen(events->sort))) == FIELD_COUNT)
        result = fail_field(events->sort, strlen(events->sort), error);
    if (result < 0)
        return result;
    if (lock->locks.count && sort != TOTAL)
        qsort_r(lock->locks.rows, lock->locks.count, sizeof(*lock->locks.rows), compare, &sort);
    put_title(lock, shown);
    for (size_t i = 0; i < lock->locks.count && (!events->rows || rows < events->rows); i++)
        if (lock->locks.rows[i]->waits.sum) {
            put_row(lock, lock->locks.rows[i], shown);
            rows++;
        }
    return 0;
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

static int put_report(struct lock *lock, struct perfile_error *error)
{
    (void)error;
    pf_put_string(
        lock->out,
        "                Name   acquired  contended     avg wait   total wait     max wait     min wait \n\n");
    for (size_t i = 0; i < lock->locks.count; i++) {
        const struct pf_lock_row *row = lock->locks.rows[i];
        const char *name = lock->locks.by == PF_LOCKS_BY_THREAD ? row->comm : row->name;
        pf_put_format(lock->out, "%20s %10" PRIu64 " %10" PRIu64 " ", name ? name : "", row->waits.count,
                      row->contended);
        const uint64_t times[] = {pf_stats_average(&row->waits), row->waits.sum, row->waits.max, row->waits.min};
        for (size_t k = 0; k < PF_COUNT(times); k++) {
            put_time(lock->out, times[k], 12);
            pf_put_char(lock->out, ' ');
        }
        pf_put_char(lock->out, '\n');
    }
    return 0;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int read_all(struct lock *lock, struct perfile_error *error)
{
    const struct pf_profile_sample *sample;
    int result;
    while ((result = pf_profile_next(lock->profile, &sample, error)) > 0)
        if (!pf_locks_take(&lock->locks, sample))
            return pf_fail_memory(error, "locks");
    return result;
}

static int open_lock(struct lock *lock, struct perfile_reader *reader, struct perfile_error *error)
{
    const struct perfile_output_options *options = lock->options;
    pf_locks_open(&lock->locks, reader, options->allocator);
    lock->locks.skip = options->events->stack_skip;
    lock->locks.types = options->events->classes;
    const int result =
        pf_event_profile_open(options, reader, pf_locks_take_record, &lock->locks, &lock->profile, error);
    lock->locks.profile = lock->profile;
    return result;
}

static int write_lock(struct lock *lock, struct perfile_reader *reader,
                      int (*put)(struct lock *lock, struct perfile_error *error), struct perfile_error *error)
{
    const struct perfile_output_options *options = lock->options;
    enum pf_locks_by by;
    if (!pf_locks_by_parse(options->keys, &by))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "keys",
                       "waits for locks are added up by caller, lock or thread, not by '%.40s'", options->keys);
    int result = open_lock(lock, reader, error);
    lock->locks.by = by;
    if (result == 0)
        result = read_all(lock, error);
    if (result != PERFILE_ERROR_MEMORY && lock->profile) {
        pf_locks_end(&lock->locks);
        const int printed = put(lock, error);
        result = printed < 0 ? printed : result;
        pf_locks_tell(&lock->locks, options->symbols->note, options->symbols->note_context);
        pf_profile_tell_unmatched(lock->profile, options->unmatched, options->unmatched_context);
    }
    pf_locks_close(&lock->locks);
    pf_profile_close(lock->profile);
    return result;
}

static int write_contention(struct perfile_reader *reader, const struct perfile_output_options *options,
                            struct pf_text *out, struct perfile_error *error)
{
    struct lock lock = {.out = out, .options = options, .separator = options->events->separator};
    return write_lock(&lock, reader, put_contention, error);
}

static int write_report(struct perfile_reader *reader, const struct perfile_output_options *options,
                        struct pf_text *out, struct perfile_error *error)
{
    struct perfile_output_options by_lock = *options;
    struct lock lock = {.out = out, .options = &by_lock};
    if (!by_lock.keys)
        by_lock.keys = "lock";
    return write_lock(&lock, reader, put_report, error);
}

const struct pf_output pf_output_lock_contention = {
    .info = {"lock_contention", "stdio", "waits for locks as perf lock contention prints them"},
    .write = write_contention,
};
const struct pf_output pf_output_lock_report = {
    .info = {"lock_report", "stdio", "waits for locks as perf lock report prints them"},
    .write = write_report,
};
