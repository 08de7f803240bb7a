/* SPDX-License-Identifier: MIT */
/*
 * A folder of Parquet files that many recordings are added to, for engines that read such folders:
 *
 *     samples/host=H/date=D/ID.parquet    one of each table for each recording, or several of them together
 *     stacks/date=D/ID.parquet            tables that hosts share are not partitioned by host
 *     damaged/samples/...                 the same of recordings that are damaged
 *     _perfile/dataset                    the version of the layout, and the partition keys
 *     _perfile/recordings/ID              the marker of an added recording, which is written last, or of a removed one
 *     _perfile/joined/samples-N           what samples/.../joined-N.parquet was made of
 *     _perfile/adding/ID                  the lock of the process that adds it
 *     _perfile/adding/ID-samples.parquet  its files until all are complete
 *     _perfile/joining/samples/host=H/... a folder that is to replace samples/host=H/..., or that was replaced
 *     _perfile/lock                       the lock of the process that joins or removes files
 *     _perfile/placing                    a lock shared by processes that move files into folders of tables, or held by
 *                                         the only one that exchanges folders
 *
 * ID is the digest of the recording. Folders of tables contain no unfinished files, as DuckDB and ClickHouse read all
 * files, whatever their names begin with.
 */
#ifndef PERFILE_CLI_DATASET_DATASET_H
#define PERFILE_CLI_DATASET_DATASET_H

#include "../options.h"
#include "digest.h"

#include <time.h>

/* Settings of the verb dataset. */
struct pf_dataset_settings {
    bool remove;
    uint64_t joined_bytes;                 /* 0: not given */
    const char *before, *host, *recording; /* which recordings are removed; NULL: not given */
    bool dry_run;
    const char *by; /* stats: what a row is for; NULL: a table */
};

/* The partition keys, in the order of the folders. */
enum { PF_BY_HOST = 1, PF_BY_DATE = 2, PF_BY_HOUR = 4 };

struct pf_dataset {
    const char *path;
    unsigned keys;
    uint64_t version; /* of the layout */
};
/* The layout that has markers of removed recordings. */
enum { PF_DATASET_VERSION = 3 };

/* A table of a dataset. */
struct pf_dataset_table {
    const char *view, *columns, *keys;
    const char
        *distinct; /* what hosts have in common: the column by which rows are the same; NULL: rows are of recordings */
};
enum { PF_DATASET_TABLES = 7 };
extern const struct pf_dataset_table pf_dataset_tables[PF_DATASET_TABLES];
/* The samples table: its file is moved last, so that its rows never refer to rows that are missing. */
enum { PF_TABLE_SAMPLES = PF_DATASET_TABLES - 1 };

/* REMOVING: it is not in any more, but files may still have rows of it. REMOVED: no file has, it can be added again. */
enum pf_added_state { PF_ADDED_VALID, PF_ADDED_DAMAGED, PF_ADDED_UNREADABLE, PF_ADDED_REMOVING, PF_ADDED_REMOVED };

/* The marker of an added recording. */
struct pf_added {
    char id[PF_DIGEST_TEXT];
    enum pf_added_state state;
    char *name;   /* of the file; owned, as the others */
    char *host;   /* "": not known */
    char *folder; /* "host=a/date=2026-01-31", "" */
    char *shared; /* the same without the host */
    uint64_t bytes, samples, lost;
    uint64_t time_ns;   /* when it began, since 1970 */
    uint64_t removed_s; /* when it was removed, since 1970 */
    uint64_t rows[PF_DATASET_TABLES];
    char sums[PF_DATASET_TABLES][PF_DIGEST_TEXT]; /* digests of its files */
};

/* What a dataset is divided by: "host", "date", "hour". */
extern const struct pf_value pf_dataset_keys_known[];
/* Reads "host,date". False: a message was printed. */
bool pf_dataset_keys(const char *verb, const char *list, unsigned *keys);
/* Opens the dataset, or creates it unless `keys` is NULL. PF_STATUS_OK, or a status when a message was printed. */
int pf_dataset_open(struct pf_dataset *dataset, const char *verb, const char *path, const unsigned *keys);

/* Rewrites the first line of a dataset of an older version. False: see errno. */
bool pf_dataset_upgrade(const struct pf_dataset *dataset);
/* "2026-01-31T12:00:00Z" in `text`; "" for 0. */
enum { PF_DATASET_TIME = 32 };
const char *pf_dataset_time(uint64_t ns, char text[PF_DATASET_TIME]);
/* A failed write as a status, after a message with errno. */
int pf_dataset_fail(const char *path);

/* "DATASET/damaged/samples/host=a", to be freed; NULL: out of memory. */
char *pf_dataset_folder(const struct pf_dataset *dataset, const struct pf_added *added, size_t table);
char *pf_dataset_marker(const struct pf_dataset *dataset, const char *id);
/*
 * The same with a last line "end DIGEST" of the text before it, which reading removes. NULL and EBADMSG: it is wrong.
 */
bool pf_write_checked(const char *path, const char *text);
char *pf_read_checked(const char *path);
bool pf_is_digest(const char *name);
/* Whether a file has this digest, where one is known ("" otherwise). */
bool pf_file_has_sum(const char *path, const char *sum);
int pf_compare_digests(const void *a, const void *b);
/* mkdir -p; errno says why not. */
bool pf_dataset_make_folders(const char *path);

/* 1: it is in, 0: it is not, below 0: errno says why it cannot be known (EBADMSG: it is not as it should be). */
int pf_added_read(const struct pf_dataset *dataset, const char *id, struct pf_added *added);
/* Writes the marker, which adds the recording to the dataset. False: see errno. */
bool pf_added_write(const struct pf_dataset *dataset, const struct pf_added *added);
void pf_added_free(struct pf_added *added);
/* Whether it is part of the dataset. */
static inline bool pf_added_is_in(const struct pf_added *added)
{
    return added->state < PF_ADDED_REMOVING;
}
/* The sorted ids of all added recordings, in blocks of PF_DIGEST_TEXT bytes, to be freed. NULL: see errno. */
char *pf_added_list(const struct pf_dataset *dataset, size_t *count);

/*
 * Locks that end with the process. Each returns a descriptor, or below 0 with errno set: EAGAIN when `wait` is false
 * and another process holds the lock. On file systems without locks they always succeed.
 */
int pf_lock_recording(const struct pf_dataset *dataset, const char *id, bool wait);
void pf_unlock_recording(const struct pf_dataset *dataset, const char *id, int fd);
int pf_lock_dataset(const struct pf_dataset *dataset);
/*
 * Held while files are moved into folders of tables, or while folders are exchanged (`alone`); always for a short time.
 */
int pf_lock_placing(const struct pf_dataset *dataset, bool alone);
void pf_unlock_dataset(int fd);

/* ---- files of tables --------------------------------------------------------------------------------------------- */

/* The contents of a joined file. */
struct pf_joined {
    char name[PF_DIGEST_TEXT];
    char sum[PF_DIGEST_TEXT]; /* digest of the file */
    char *ids;                /* sorted, in blocks of PF_DIGEST_TEXT; owned */
    size_t count;
    char *replaced; /* names of joined files that it has taken in, likewise; owned */
    size_t replaced_count;
};
/* 1; 0 if there is none; below 0: see errno. */
int pf_joined_read(const struct pf_dataset *dataset, size_t table, const char *name, struct pf_joined *joined);
bool pf_joined_write(const struct pf_dataset *dataset, size_t table, const struct pf_joined *joined);
void pf_joined_remove(const struct pf_dataset *dataset, size_t table, const char *name);
void pf_joined_free(struct pf_joined *joined);
bool pf_joined_has(const struct pf_joined *joined, const char *id);
/* Derives the name from its recordings and the number of files that it is made of. */
void pf_joined_set_name(struct pf_joined *joined, size_t source_count);
/* Writes the rows that the options choose to a file. The status, after a message. */
int pf_rows_copy(const struct perfile_parquet_options *options, const char *path);

enum pf_file_kind { PF_FILE_RECORDING, PF_FILE_JOINED, PF_FILE_HIDDEN, PF_FILE_OTHER };

/* A file of a table. */
struct pf_dataset_file {
    char *path;   /* owned */
    char *folder; /* owned */
    size_t table;
    bool damaged; /* of damaged recordings */
    enum pf_file_kind kind;
    char id[PF_DIGEST_TEXT]; /* of the recording, or the joined file; "": it has none */
    bool unfinished;         /* hidden, and called as our commands call what they write */
    uint64_t bytes;
};
struct pf_dataset_files {
    struct pf_dataset_file *list; /* by folder, then name; owned */
    size_t count, capacity;
};
/*
 * Lists the files of all tables, or those below "/_perfile/joining" or the like. False: see errno; free the list then,
 * too.
 */
bool pf_files_find_below(const struct pf_dataset *dataset, const char *below, struct pf_dataset_files *files);
/* Lists the files of all tables, and unfinished files of other kinds. */
bool pf_files_find(const struct pf_dataset *dataset, struct pf_dataset_files *files);
void pf_files_free(struct pf_dataset_files *files);
/*
 * Half a list of what a joined file was made of: only the process that has the lock of the dataset writes such lists.
 */
bool pf_file_is_half_list(const struct pf_dataset_file *file);

/* All added recordings, and the markers of removed ones, by id. */
struct pf_all_added {
    struct pf_added *list, *removed; /* owned */
    size_t count, removed_count;
    size_t broken; /* markers that are not as they should be */
};
bool pf_all_added_read(const struct pf_dataset *dataset, struct pf_all_added *all);
void pf_all_added_free(struct pf_all_added *all);
/* NULL: it is not in, or was not removed. */
struct pf_added *pf_all_added_find(const struct pf_all_added *all, const char *id);
struct pf_added *pf_all_removed_find(const struct pf_all_added *all, const char *id);

/* ---- exchanging folders (stage.c) -------------------------------------------------------------------------------- */

struct pf_swap {
    const char *folder, *stage;
    const char **replaced; /* paths of files of the folder that the new one does without; is sorted */
    size_t replaced_count;
    bool in_steps; /* the file system has no exchange: for a moment there was no folder */
};
/* What is common to all folders that a command replaces. */
struct pf_swaps {
    const struct pf_dataset *dataset;
    bool reported_steps;
    struct timespec last; /* when the last folder was replaced; 0: never */
};
/* As pf_stage_swap. The status, after a message. */
int pf_swaps_replace(struct pf_swaps *swaps, struct pf_swap *swap);
/* Removes the old folders, after readers had time to list them. `status`, or a later one after a message. */
int pf_swaps_finish(const struct pf_swaps *swaps, int status);
/* The path of the new folder that is to replace `folder`, to be freed. NULL: out of memory. */
char *pf_stage_path(const struct pf_dataset *dataset, const char *folder);
/* False, here and below: errno. */
bool pf_stage_make(const char *stage, const char *folder);
/* Links all other files of the folder into the new one, and exchanges both. */
bool pf_stage_swap(const struct pf_dataset *dataset, struct pf_swap *swap);
bool pf_swap_replaces(const struct pf_swap *swap, const char *path); /* after the swap */
/* Removes what is left of those that were replaced, or did not come so far; `any`: there was something. */
bool pf_stages_clear(const struct pf_dataset *dataset, bool *any);
bool pf_stages_any(const struct pf_dataset *dataset);
/* Removes folders of tables that have no file. */
void pf_folders_tidy(const struct pf_dataset *dataset);

/* ---- removing recordings (remove.c) ------------------------------------------------------------------------------ */

struct pf_removal {
    size_t recordings, removed_files, rewritten_files;
};
/*
 * Removes all rows of recordings whose markers say so. Files are only listed where there are such markers. The caller
 * has the lock of the dataset, and no folder is staged. The status, after a message.
 */
int pf_removal_finish(const struct pf_command *command, const struct pf_dataset *dataset, struct pf_all_added *all,
                      struct pf_removal *removal);
/* Drops markers of recordings that were removed long ago. */
void pf_removal_drop_markers(const struct pf_dataset *dataset, const struct pf_all_added *all);

/* export --partition. */
int pf_dataset_add(const struct pf_command *command, struct pf_settings *settings);
/* The verb dataset. */
int pf_dataset_check(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset);
int pf_dataset_compact(const struct pf_command *command, struct pf_settings *settings,
                       const struct pf_dataset *dataset);
int pf_dataset_remove(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset);
/* What dataset stats has rows for: "host", "date". NULL after the last. */
const char *pf_dataset_by_at(size_t index, const char **doc);
/* Its rows for recordings, by settings->by. */
int pf_dataset_stats_by(const struct pf_command *command, const struct pf_settings *settings,
                        const struct pf_all_added *all);
int pf_dataset_stats(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset);

#endif
