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

enum field { ACQUIRED, CONTENDED, AVERAGE, TOTAL, MAXIMUM, MINIMUM, FIELD_COUNT };

static const struct {
    const char *name, *title;
    int width;
} fields[FIELD_COUNT] = {
    [ACQUIRED] = {"acquired", "acquired", 10}, [CONTENDED] = {"contended", "contended", 10},
    [AVERAGE] = {"avg_wait", "avg wait", 12},  [TOTAL] = {"wait_total", "total wait", 12},
    [MAXIMUM] = {"wait_max", "max wait", 12},  [MINIMUM] = {"wait_min", "min wait", 12},
};

static uint64_t value_of(const struct pf_lock_row *row, unsigned field)
{
    switch (field) {
    case ACQUIRED:
        return row->waits.count;
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

/* What one of the two texts shows when it is not asked for anything else. */
struct usual {
    unsigned first; /* it has the fields from this one on */
    const char *fields, *sort, *valid;
};
static const struct usual usual_of_contention = {CONTENDED, "contended,wait_total,wait_max,avg_wait", "wait_total",
                                                 "contended, wait_total, wait_max, wait_min, avg_wait"};
static const struct usual usual_of_report = {ACQUIRED, "acquired,contended,avg_wait,wait_total,wait_max,wait_min",
                                             "acquired",
                                             "acquired, contended, avg_wait, wait_total, wait_max, wait_min"};

/* In their order. */
struct columns {
    unsigned list[FIELD_COUNT];
    size_t count;
    unsigned sort;
};

static int find_field(const struct usual *usual, const char *text, size_t bytes, struct perfile_error *error)
{
    for (unsigned i = usual->first; i < FIELD_COUNT; i++)
        if (strlen(fields[i].name) == bytes && strncmp(fields[i].name, text, bytes) == 0)
            return (int)i;
    return pf_about(error, text, bytes,
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "lock",
                            "unknown column '%.*s'; valid: %s", (int)pf_min(bytes, 40), text, usual->valid));
}

static void add_column(struct columns *columns, unsigned field)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->list[i] == field)
            return;
    columns->list[columns->count++] = field;
}

/* The column that rows are sorted by is shown, too. */
static int take_columns(const struct perfile_event_options *events, const struct usual *usual, struct columns *columns,
                        struct perfile_error *error)
{
    const char *text = events->fields && *events->fields ? events->fields : usual->fields;
    const char *sort = events->sort && *events->sort ? events->sort : usual->sort;
    int field;
    for (columns->count = 0; *text; text += strspn(text, ", ")) {
        const size_t length = strcspn(text, ", ");
        if ((field = find_field(usual, text, length, error)) < 0)
            return field;
        add_column(columns, (unsigned)field);
        text += length;
    }
    if ((field = find_field(usual, sort, strlen(sort), error)) < 0)
        return field;
    columns->sort = (unsigned)field;
    add_column(columns, columns->sort);
    return 0;
}

static int compare(const void *left, const void *right, void *context)
{
    const unsigned order[] = {*(const unsigned *)context, TOTAL};
    const struct pf_lock_row *a = *(struct pf_lock_row *const *)left, *b = *(struct pf_lock_row *const *)right;
    for (size_t i = 0; i < PF_COUNT(order); i++)
        if (value_of(a, order[i]) != value_of(b, order[i]))
            return value_of(a, order[i]) < value_of(b, order[i]) ? 1 : -1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static int choose_columns(struct lock *lock, const struct usual *usual, struct columns *columns,
                          struct perfile_error *error)
{
    const int result = take_columns(lock->options->events, usual, columns, error);
    if (result == 0 && lock->locks.count)
        qsort_r(lock->locks.rows, lock->locks.count, sizeof(*lock->locks.rows), compare, &columns->sort);
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

static void put_values(const struct lock *lock, const struct pf_lock_row *row, const struct columns *columns)
{
    for (size_t i = 0; i < columns->count; i++) {
        const unsigned field = columns->list[i];
        if (lock->separator) {
            pf_put_format(lock->out, "%" PRIu64 "%s ", value_of(row, field), lock->separator);
        } else if (field <= CONTENDED) {
            pf_put_format(lock->out, "%*" PRIu64 " ", fields[field].width, value_of(row, field));
        } else {
            put_time(lock->out, value_of(row, field), fields[field].width);
            pf_put_char(lock->out, ' ');
        }
    }
}

/* ---- contention -------------------------------------------------------------------------------------------------- */

static void put_title(const struct lock *lock, const struct columns *columns)
{
    static const char *const separated[] = {"type, caller", "address, symbol, type", "pid, comm"};
    static const char *const titles[] = {"        type   caller", "           address   symbol", "         pid   comm"};
    if (lock->separator)
        pf_put_string(lock->out, "# output: ");
    for (size_t i = 0; i < columns->count; i++) {
        const unsigned field = columns->list[i];
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

static int put_contention(struct lock *lock, struct perfile_error *error)
{
    const uint64_t most = lock->options->events->rows;
    struct columns columns;
    uint64_t rows = 0;
    const int result = choose_columns(lock, &usual_of_contention, &columns, error);
    if (result < 0)
        return result;
    put_title(lock, &columns);
    for (size_t i = 0; i < lock->locks.count && (!most || rows < most); i++)
        if (lock->locks.rows[i]->waits.sum) {
            put_values(lock, lock->locks.rows[i], &columns);
            put_name(lock, lock->locks.rows[i]);
            rows++;
        }
    return 0;
}

/* ---- report ------------------------------------------------------------------------------------------------------ */

static int put_report(struct lock *lock, struct perfile_error *error)
{
    const uint64_t most = lock->options->events->rows;
    struct columns columns;
    const int result = choose_columns(lock, &usual_of_report, &columns, error);
    if (result < 0)
        return result;
    pf_put_format(lock->out, "%20s ", "Name");
    for (size_t i = 0; i < columns.count; i++)
        pf_put_format(lock->out, "%*s ", fields[columns.list[i]].width, fields[columns.list[i]].title);
    pf_put_string(lock->out, "\n\n");
    for (size_t i = 0; i < lock->locks.count && (!most || i < most); i++) {
        const struct pf_lock_row *row = lock->locks.rows[i];
        const char *name = lock->locks.by == PF_LOCKS_BY_THREAD ? row->comm : row->name;
        pf_put_format(lock->out, "%20s ", name ? name : "");
        put_values(lock, row, &columns);
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
    pf_locks_open(&lock->locks, reader, options->events, options->allocator);
    const int result = pf_event_profile_open(
        options, reader, &(struct pf_event_needs){.take_record = pf_locks_take_record, .state = &lock->locks},
        &lock->profile, error);
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
