/* SPDX-License-Identifier: MIT */
/* dataset stats --by: recordings of each host, or of each day. */
#include "dataset.h"

#include "../message.h"
#include "../rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_BYTES = 10 }; /* of "2026-01-31" */

static const struct {
    const char *name, *doc;
} keys[] = {{"host", "The machine that recorded them."},
            {"date", "The day on which they began (UTC); empty: not known."}};
enum { BY_HOST, BY_DATE, KEYS };

const char *pf_dataset_by_at(size_t index, const char **doc)
{
    if (index >= KEYS)
        return NULL;
    if (doc)
        *doc = keys[index].doc;
    return keys[index].name;
}

/* Recordings of one host or day. */
struct group {
    char *key; /* owned */
    uint64_t recordings, damaged, unreadable, samples, lost, bytes;
    uint64_t first_ns, last_ns; /* when they began; 0: not known */
};

struct groups {
    struct group *list;
    size_t count;
    int by;
};

static int compare_groups(const void *a, const void *b)
{
    return strcmp(((const struct group *)a)->key, ((const struct group *)b)->key);
}

static char *make_key(const struct pf_added *added, int by)
{
    char time[PF_DATASET_TIME];

    return by == BY_HOST ? strdup(added->host) : strndup(pf_dataset_time(added->time_ns, time), DAY_BYTES);
}

static void add_group(struct group *to, const struct group *from)
{
    uint64_t *const sums[] = {&to->recordings, &to->damaged, &to->unreadable, &to->samples, &to->lost, &to->bytes};
    const uint64_t more[] = {from->recordings, from->damaged, from->unreadable, from->samples, from->lost, from->bytes};

    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        *sums[i] += more[i];
    if (from->first_ns && (!to->first_ns || from->first_ns < to->first_ns))
        to->first_ns = from->first_ns;
    if (from->last_ns > to->last_ns)
        to->last_ns = from->last_ns;
}

static bool make_groups(struct groups *groups, const struct pf_all_added *all)
{
    bool is_ok = true;

    for (size_t i = 0; i < all->count; i++) {
        const struct pf_added *added = &all->list[i];
        groups->list[i] = (struct group){.key = make_key(added, groups->by),
                                         .recordings = 1,
                                         .damaged = added->state == PF_ADDED_DAMAGED,
                                         .unreadable = added->state == PF_ADDED_UNREADABLE,
                                         .samples = added->samples,
                                         .lost = added->lost,
                                         .bytes = added->bytes,
                                         .first_ns = added->time_ns,
                                         .last_ns = added->time_ns};
        is_ok = is_ok && groups->list[i].key;
    }
    return is_ok;
}

/* Rows of the same key become one. */
static void merge_groups(struct groups *groups, size_t count)
{
    if (count)
        qsort(groups->list, count, sizeof(*groups->list), compare_groups);
    for (size_t i = 0; i < count; i++) {
        struct group *last = groups->count ? &groups->list[groups->count - 1] : NULL;
        if (last && !compare_groups(last, &groups->list[i])) {
            add_group(last, &groups->list[i]);
            free(groups->list[i].key);
        } else {
            groups->list[groups->count++] = groups->list[i];
        }
    }
}

static const struct perfile_column *const columns[] = {
    PF_COLUMN("key", PERFILE_COLUMN_TEXT, "The host or the day."),
    PF_COLUMN("recordings", PERFILE_COLUMN_U64, "Its recordings."),
    PF_COLUMN("damaged", PERFILE_COLUMN_U64, "How many of them are damaged."),
    PF_COLUMN("unreadable", PERFILE_COLUMN_U64, "How many of them could not be read at all."),
    PF_COLUMN("samples", PERFILE_COLUMN_U64, "Their samples."),
    PF_COLUMN("lost", PERFILE_COLUMN_U64, "Samples that were lost while they were recorded."),
    PF_COLUMN_IN("bytes", "bytes", PERFILE_COLUMN_U64, "Size of the recordings themselves."),
    PF_COLUMN("first", PERFILE_COLUMN_TEXT, "When the first began (UTC)."),
    PF_COLUMN("last", PERFILE_COLUMN_TEXT, "When the last began (UTC)."),
    PF_COLUMN("age_days", PERFILE_COLUMN_I64, "Days since the last began."),
};
enum { FIRST = 7, LAST, AGE, COLUMNS };

static int64_t age_days(uint64_t ns)
{
    enum { DAY_SECONDS = 24 * 60 * 60 };

    return ((int64_t)time(NULL) - (int64_t)(ns / 1000000000u)) / DAY_SECONDS;
}

static void put_value(void *context, size_t row, size_t column, struct perfile_value *value)
{
    static char text[PF_DATASET_TIME];
    const struct groups *groups = context;
    const struct group *group = &groups->list[row];
    const uint64_t numbers[FIRST] = {0,           group->recordings, group->damaged, group->unreadable, group->samples,
                                     group->lost, group->bytes};

    if (column == 0)
        *value = pf_text_value(group->key);
    else if (column < FIRST)
        *value = pf_number_value(numbers[column]);
    else if (column < AGE && group->last_ns)
        *value = pf_text_value(pf_dataset_time(column == FIRST ? group->first_ns : group->last_ns, text));
    else if (group->last_ns)
        *value = (struct perfile_value){.kind = PERFILE_VALUE_SIGNED, .number.s = age_days(group->last_ns)};
}

int pf_dataset_stats_by(const struct pf_command *command, const struct pf_settings *settings,
                        const struct pf_all_added *all)
{
    const struct pf_dataset_settings *own = settings->own;
    struct groups groups = {.list = calloc(all->count + 1, sizeof(*groups.list)),
                            .by = strcmp(own->by, keys[BY_HOST].name) ? BY_DATE : BY_HOST};
    const struct perfile_column *shown[COLUMNS];
    struct perfile_column key = *columns[0];
    int status = PF_STATUS_MEMORY;

    memcpy(shown, columns, sizeof(shown));
    key.name = keys[groups.by].name;
    key.doc = keys[groups.by].doc;
    shown[0] = &key;
    if (groups.list && make_groups(&groups, all)) {
        merge_groups(&groups, all->count);
        const struct pf_rows rows = {"stats", shown, COLUMNS, groups.count, put_value, &groups};
        status = pf_rows_print(&rows, command->name, NULL, settings->format);
    } else {
        (void)pf_out_of_memory(command->name);
        groups.count = groups.list ? all->count : 0;
    }
    for (size_t i = 0; i < groups.count; i++)
        free(groups.list[i].key);
    free(groups.list);
    return status;
}
