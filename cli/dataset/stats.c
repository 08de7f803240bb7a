/* SPDX-License-Identifier: MIT */
/* dataset stats: how much of what there is. */
#include "dataset.h"

#include "../message.h"
#include "../rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
    uint64_t recordings, hosts, files, rows, bytes;
};
enum { LINES = 2 * PF_DATASET_TABLES }; /* damaged recordings after the others */

struct stats {
    struct line lines[LINES];
    size_t order[LINES]; /* those that have something */
};

static const struct perfile_column *const columns[] = {
    PF_COLUMN("table", PERFILE_COLUMN_TEXT, "The folder."),
    PF_COLUMN("recordings", PERFILE_COLUMN_U64, "Recordings that have a part in it."),
    PF_COLUMN("hosts", PERFILE_COLUMN_U64, "Machines that recorded them."),
    PF_COLUMN("files", PERFILE_COLUMN_U64, "Its files."),
    PF_COLUMN("rows", PERFILE_COLUMN_U64, "Rows in them."),
    PF_COLUMN_IN("bytes", "bytes", PERFILE_COLUMN_U64, "Their size."),
    PF_COLUMN_IN("bytes_per_sample", "bytes", PERFILE_COLUMN_F64, "Of each row of samples."),
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void put_value(void *context, size_t row, size_t column, struct perfile_value *value)
{
    static char text[64];
    const struct stats *stats = context;
    const size_t at = stats->order[row], damaged = at / PF_DATASET_TABLES;
    const struct line *line = &stats->lines[at];
    const uint64_t samples = stats->lines[damaged * PF_DATASET_TABLES + PF_TABLE_SAMPLES].rows;
    const uint64_t numbers[] = {0, line->recordings, line->hosts, line->files, line->rows, line->bytes};

    if (column == 0) {
        snprintf(text, sizeof(text), "%s%s", damaged ? "damaged/" : "", pf_dataset_tables[at % PF_DATASET_TABLES].view);
        *value = pf_text_value(text);
    } else if (column < sizeof(numbers) / sizeof(numbers[0])) {
        *value = pf_number_value(numbers[column]);
    } else if (samples) {
        *value = (struct perfile_value){.kind = PERFILE_VALUE_DOUBLE,
                                        .number.d = (double)(line->bytes * 100 / samples) / 100};
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool count_recordings(struct stats *stats, const struct pf_all_added *all)
{
    for (unsigned state = PF_ADDED_VALID; state <= PF_ADDED_DAMAGED; state++) {
        const char **hosts = malloc((all->count + 1) * sizeof(*hosts));
        uint64_t count = 0, distinct = 0;
        if (!hosts)
            return false;
        for (size_t i = 0; i < all->count; i++)
            if (all->list[i].state == state)
                hosts[count++] = all->list[i].host;
        qsort(hosts, count, sizeof(*hosts), compare_texts);
        for (size_t i = 0; i < count; i++)
            distinct += !i || strcmp(hosts[i], hosts[i - 1]);
        free(hosts);
        for (size_t table = 0; table < PF_DATASET_TABLES; table++) {
            stats->lines[state * PF_DATASET_TABLES + table].recordings = count;
            stats->lines[state * PF_DATASET_TABLES + table].hosts = distinct;
        }
    }
    return true;
}

static int count_files(struct stats *stats, const struct pf_dataset_files *files)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < files->count; i++) {
        const struct pf_dataset_file *file = &files->list[i];
        struct line *line = &stats->lines[file->damaged * PF_DATASET_TABLES + file->table];
        struct perfile_parquet_info info = PERFILE_PARQUET_INFO_INIT;
        struct perfile_error error;
        if (file->kind != PF_FILE_RECORDING && file->kind != PF_FILE_JOINED)
            continue;
        if (perfile_parquet_look(file->path, &info, &error) < 0) {
            pf_message("%s", error.message);
            status = PF_STATUS_FINDINGS;
        }
        line->files++;
        line->rows += info.rows;
        line->bytes += file->bytes;
    }
    return status;
}

static int print(struct stats *stats, const struct pf_command *command, const struct pf_settings *settings)
{
    struct pf_rows rows = {"stats", columns, COLUMNS, 0, put_value, stats};

    for (size_t i = LINES; i--;) { /* samples come first */
        const size_t at = i < PF_DATASET_TABLES ? i + PF_DATASET_TABLES : i - PF_DATASET_TABLES;
        if (stats->lines[at].files)
            stats->order[rows.row_count++] = at;
    }
    return pf_rows_print(&rows, command->name, NULL, settings->format);
}

/* The layout, and what rows do not say. */
static void report_layout(const struct pf_settings *settings, const struct pf_dataset *dataset,
                          const struct pf_all_added *all)
{
    char removed[PF_COUNTED_BYTES];

    if (settings->quiet || (settings->format && strcmp(settings->format, "text")))
        return;
    pf_message("%s: layout version %llu; %s", dataset->path, (unsigned long long)dataset->version,
               pf_counted(all->removed_count, "markers of removed recordings", removed));
}

int pf_dataset_stats(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset)
{
    struct stats stats = {.order = {0}};
    struct pf_dataset_files files = {0};
    struct pf_all_added all = {0};
    int status, printed;

    if (!pf_files_find(dataset, &files) || !pf_all_added_read(dataset, &all) || !count_recordings(&stats, &all)) {
        pf_message("%s: %s", dataset->path, strerror(errno));
        status = errno == ENOMEM ? PF_STATUS_MEMORY : PF_STATUS_UNREADABLE;
    } else if (((const struct pf_dataset_settings *)settings->own)->by) {
        report_layout(settings, dataset, &all);
        status = pf_dataset_stats_by(command, settings, &all);
    } else {
        report_layout(settings, dataset, &all);
        status = count_files(&stats, &files);
        printed = print(&stats, command, settings);
        status = printed ? printed : status;
    }
    pf_all_added_free(&all);
    pf_files_free(&files);
    return status;
}
