/* SPDX-License-Identifier: MIT */
/*
 * perfile/table.h: what a recording holds, as tables of typed, named columns (libperfile-analysis).
 *
 * After perfile_table_open(reader, "samples", ...), one of
 *
 * - perfile_table_next ... and perfile_table_close;
 * - perfile_table_stream: an ArrowArrayStream for pyarrow, DuckDB, R ...;
 * - perfile_table_write: text, csv, json, jsonl, parquet, arrow.
 *
 * A view defines what the rows are; perfile_view_at() lists them. Rows come in batches, whose form is the Arrow C data
 * interface (https://arrow.apache.org/docs/format/CDataInterface.html): two plain structs, which others take without a
 * copy, and which need no library to be read. Memory is that of a batch and of the distinct texts; views that add up
 * keep their rows, too.
 *
 * Tables of many recordings can be concatenated: whether a column may be null depends on the view alone (schemas state
 * it), and equal stacks and functions have equal ids:
 *
 *     samples.stack_id -> stacks.stack_id, stacks.function_ids -> frames.function_id (also frames.frame_id of each
 *     frame)
 *
 * A function is its module (the build id, else the path; all code of JITs is one) and its name, or "no symbol"; an
 * inlined one is another. A stack is its functions. Ids are 64-bit hashes of these, the same on every machine and in
 * every version. By chance two of n different ones are equal with a probability of n^2 / 2^65: of 10^8 stacks 0.03 %,
 * of 10^9 2.7 %. With perfile_table_options.keys "stack" the view stacks has each stack once, with "function" frames
 * has each function once.
 */
#ifndef PERFILE_TABLE_H
#define PERFILE_TABLE_H

#include <perfile/profile.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the Arrow C data interface and C stream interface, as their specifications define them ---------------------- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* The type of a column; of a table: a struct with a child for each column. */
struct ArrowSchema {
    const char *format; /* "l": int64 ... */
    const char *name;
    const char *metadata; /* encoded pairs: see enum perfile_column_type */
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

/* The values of a column; of a batch: a struct with a child for each column. */
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};
#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};
#endif

/* ---- views ------------------------------------------------------------------------------------------------------- */

struct perfile_view_info {
    const char *name; /* "samples" */
    const char *doc;  /* what a row is, one sentence */
};
/* The views of this build by position; NULL after the last. Static. */
PERFILE_API const struct perfile_view_info *perfile_view_at(size_t index);

/* How much a view needs an event. */
enum perfile_event_need {
    PERFILE_EVENT_NEEDED,  /* without it the view has no rows */
    PERFILE_EVENT_USEFUL,  /* with it the view shows more */
    PERFILE_EVENT_INSTEAD, /* in place of the event before it, where that is missing */
};
struct perfile_view_event {
    const char
        *name; /* as -e takes it: "sched:sched_switch", "minor-faults"; "syscalls:sys_enter_*": all that begin so */
    const char *kind; /* of which rows it is, as perfile_event_options.classes names them: "softirq"; NULL: of all */
    uint32_t need;    /* enum perfile_event_need */
};
/*
 * The events that a view is made of, by position: NULL after the last, and at once for views of whatever was recorded.
 * Static; views that read the same events have the same.
 */
PERFILE_API const struct perfile_view_event *perfile_view_event_at(const char *view, size_t index);

/*
 * What the values of a column are, and their Arrow format. The metadata of its schema has "type" (as below), "unit" and
 * "doc"; columns that are never null, in whatever recording, are not ARROW_FLAG_NULLABLE.
 */
enum perfile_column_type {
    PERFILE_COLUMN_BOOL,      /* "bool": b */
    PERFILE_COLUMN_I32,       /* "i32": i */
    PERFILE_COLUMN_U32,       /* "u32": I */
    PERFILE_COLUMN_I64,       /* "i64": l */
    PERFILE_COLUMN_U64,       /* "u64": L */
    PERFILE_COLUMN_F64,       /* "f64": g */
    PERFILE_COLUMN_TIME,      /* "time": L, ns on the recording's clock */
    PERFILE_COLUMN_DURATION,  /* "duration": L, ns */
    PERFILE_COLUMN_BYTES,     /* "bytes": L, a size */
    PERFILE_COLUMN_ADDRESS,   /* "address": L */
    PERFILE_COLUMN_TEXT,      /* "text": dictionary of u by i; UTF-8: other bytes are \xNN, four characters each */
    PERFILE_COLUMN_TEXTS,     /* "texts": +l of these */
    PERFILE_COLUMN_ADDRESSES, /* "addresses": +l of L */
};

/* The texts are valid as long as the table. */
struct perfile_column {
    size_t size;
    const char *name;
    const char *unit; /* "ns", "bytes", "events" ...; "": none. Of `period`: that of the row's event */
    const char *doc;  /* one sentence */
    uint32_t type;    /* enum perfile_column_type */
    bool shown;       /* of this table; see perfile_table_options.columns */
};
#define PERFILE_COLUMN_INIT PERFILE_SIZED(struct perfile_column)

/*
 * The columns that a view may have in any recording, by position (also of `diff`, which does not belong to one
 * recording); columns that a recording describes itself (fields of its tracepoints) are not among them. `shown`: it is
 * shown by default where the recording has it. The texts are static. Returns 0, or ARGUMENT: there is no such view, no
 * such column, or column->size is not set.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_view_column(const char *view, size_t index, struct perfile_column *column);
/* "u64", "text" ... of an enum perfile_column_type; NULL: there is no such type. Static. */
PERFILE_API const char *perfile_column_type_name(uint32_t type);

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* A column with the same in all rows; the texts must live as long as the table. */
struct perfile_constant {
    const char *name, *doc;
    const char *text; /* NULL: null */
};

struct perfile_table_options {
    size_t size;                                  /* sizeof(struct perfile_table_options) */
    const struct perfile_filter *filter;          /* which samples, or rows; NULL: all */
    const struct perfile_symbol_options *symbols; /* where symbols are; NULL: where perf would look */
    const struct perfile_report_options *report;  /* functions: what rows are of and which; NULL: by dso and symbol */
    /*
     * Which columns: "pid,comm,symbol" in that order; "+srcline" adds to the usual ones, "-stack" takes one away, "all"
     * is every column. NULL: the usual ones, of what the recording has.
     */
    const char *columns;
    /*
     * stacks: by what samples are kept apart, as in perfile_profile_options: "comm,cpu"; or "stack": a row for each
     * stack_id, of all events together. frames: "function": a row for each function_id, not for each address.
     * cache_lines, cache_line_accesses: the order of lines, by loads of modified lines ("tot"), by local or remote ones
     * ("lcl", "rmt") or by loads that other caches answered ("peer"); and what accesses have rows of besides the
     * offset: "pid,tid,iaddr,dso". NULL: "tot,iaddr".
     */
    const char *keys;
    uint64_t batch_rows; /* at most; 0: 65,536 */
    unsigned threads;    /* as in perfile_output_options, for samples, views that add up and perfile_table_write */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
    /* Called at the end for filters that matched nothing. May be NULL. */
    perfile_on_unmatched *unmatched;
    void *unmatched_context;
    /*
     * NULL: malloc. Batches are given back to it by whoever releases them: it must outlive them all, and take calls
     * from their threads.
     */
    const struct perfile_allocator *allocator;
    bool gzip;           /* what perfile_table_write writes is a gzip file; not for formats that are binary */
    uint64_t text_width; /* the format text: for a terminal of so many columns; 0: lines are as long as needed */
    const struct perfile_event_options *events; /* of views over tracepoints; NULL: the defaults */
    /*
     * For tables of many recordings, whose columns must be the same. `fills`: a column of `columns` that the view has,
     * but not of this recording, is null instead of an error. `constants`: columns that are called before those of the
     * view, of one text each. `wall_times`: parquet and arrow have of times the time of day alone; of a recording that
     * does not say how its clock relates to it, that is `wall_ahead_ns` (modulo 2^64) more.
     */
    bool fills;
    bool wall_times;
    uint64_t wall_ahead_ns;
    const struct perfile_constant *constants;
    size_t constant_count;
};
#define PERFILE_TABLE_OPTIONS_INIT PERFILE_SIZED(struct perfile_table_options)

struct perfile_table;

/*
 * The reader must be at its start; until perfile_table_close it is the table's. What the options point at must live as
 * long as the table; `options` may be NULL. Errors: ARGUMENT (unknown view or column, invalid filter, or one that says
 * nothing about the rows of the view; the reader is not at its start), ABSENT, MEMORY, and those of
 * perfile_session_open and _next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_open(struct perfile_reader *reader, const char *view,
                                                      const struct perfile_table_options *options,
                                                      struct perfile_table **table, struct perfile_error *error);
/* Batches and schemas that were given stay valid. NULL is allowed. */
PERFILE_API void perfile_table_close(struct perfile_table *table);
/* All columns that the view has of this recording, those that are shown first and in their order. */
PERFILE_API size_t perfile_table_column_count(const struct perfile_table *table);
/* ARGUMENT: no such column, or column->size is not set. */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_column(const struct perfile_table *table, size_t index,
                                                        struct perfile_column *column);
/* The schema; the caller has to call schema->release. MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_schema(const struct perfile_table *table, struct ArrowSchema *schema,
                                                        struct perfile_error *error);
/*
 * The next rows: 1 and *batch, for which the caller has to call batch->release, in any thread; 0 at the end, or an
 * error: those of perfile_session_next, MEMORY. Dictionaries hold at least the texts of their batch, and may differ
 * between batches.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_next(struct perfile_table *table, struct ArrowArray *batch,
                                                      struct perfile_error *error);
/*
 * The table as a stream that closes it when it is released: the table is the stream's from now on, and the reader must
 * live as long. Its calls return errno values: ENOMEM, EIO, EINVAL.
 */
PERFILE_API void perfile_table_stream(struct perfile_table *table, struct ArrowArrayStream *stream);

/*
 * What the rows do not show, in samples; of the view `records`, in records, and of `maps`, in mappings. Final at the
 * end. ARGUMENT: losses->size is not set.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_losses(const struct perfile_table *table,
                                                        struct perfile_losses *losses);

/* ---- rows of one's own ------------------------------------------------------------------------------------------- */

/*
 * A source of rows that are of no recording, for the same formats and for Arrow. In JSON `recording` and `losses` are
 * {}.
 */
struct perfile_rows {
    size_t size;                                 /* sizeof(struct perfile_rows) */
    const char *view;                            /* what they are called */
    const struct perfile_column *const *columns; /* no lists; they and their texts must live as long as the table */
    size_t column_count;
    /* Goes to the next row: 1, 0 at the end, or an error, which the table gives. */
    int (*next)(void *context, struct perfile_error *error);
    /*
     * Sets kind, and number or data and bytes, of a column's value in this row; without a kind, or with one that does
     * not suit the column, there is none. The data must live until the next call.
     */
    void (*value)(void *context, size_t column, struct perfile_value *value);
    void *context;
    const struct perfile_allocator *allocator; /* as in perfile_table_options */
    bool gzip;                                 /* the same */
    uint64_t text_width;                       /* the same */
};
#define PERFILE_ROWS_INIT PERFILE_SIZED(struct perfile_rows)

/* Errors: ARGUMENT (what is missing, a column that is a list), MEMORY. */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_of_rows(const struct perfile_rows *rows, struct perfile_table **table,
                                                         struct perfile_error *error);

/* ---- comparisons ------------------------------------------------------------------------------------------------- */

/*
 * What perfile_diff_open found (perfile/diff.h), as a table of the view `diff`: the total, then the rows in their
 * order, with typed columns that perfile_view_column("diff", ...) names. Columns of weights have the unit of the
 * comparison. Of `options`, which may be NULL, only columns, batch_rows, gzip and allocator matter. The comparison must
 * live as long as the table. Errors: ARGUMENT (what is missing, an unknown column), MEMORY.
 */
struct perfile_diff;
PERFILE_API PERFILE_MUST_CHECK int perfile_table_of_diff(const struct perfile_diff *diff,
                                                         const struct perfile_table_options *options,
                                                         struct perfile_table **table, struct perfile_error *error);

/* ---- Parquet files ----------------------------------------------------------------------------------------------- */

/* Files that perfile_table_write has made. */
struct perfile_parquet_options {
    size_t size;              /* sizeof(struct perfile_parquet_options) */
    const char *const *paths; /* one at least */
    size_t path_count;
    const char *const *columns; /* names: those of them that the files have; else the first column. NULL: all */
    size_t column_count;
    const char *distinct; /* a column of ids: of rows with the same one only the first; NULL: all rows */
    const struct perfile_allocator *allocator; /* as in perfile_table_options */
    /*
     * Rows are left out when this returns false for the value of the column `keeps_column`, which is not a list; NULL:
     * all rows. The value is a text, a number by its bits (UNSIGNED), or NULL, and valid during the call.
     */
    bool (*keeps)(void *context, const struct perfile_value *value);
    void *keeps_context;
    const char *keeps_column;
};
#define PERFILE_PARQUET_OPTIONS_INIT PERFILE_SIZED(struct perfile_parquet_options)

/*
 * Their rows, of one file after the other, to be written in any format or delivered as batches. The columns are those
 * that any of the files has, as files of other versions may have more: they are NULL in rows of files without them, and
 * columns of one name have one type. Columns that are not shown are not read. A column `timestamp` is a time of day in ns since 1970. In a file without `time` it is called
 * `time`, and becomes `timestamp` in Parquet again; `timestamp` is a second name for it, which is shown only when it is
 * asked for. Memory is that of the columns of a row group as they are in the file, and with `distinct` 32 bytes for
 * each id. Errors: ARGUMENT, OPEN, READ, FORMAT (no Parquet), UNSUPPORTED (not as perfile writes it, a column of
 * another type), DAMAGED, MEMORY; those of rows come with the rows.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_of_parquet(const struct perfile_parquet_options *options,
                                                            struct perfile_table **table, struct perfile_error *error);

struct perfile_parquet_info {
    size_t size; /* sizeof(struct perfile_parquet_info) */
    uint64_t rows, groups, bytes;
};
#define PERFILE_PARQUET_INFO_INIT PERFILE_SIZED(struct perfile_parquet_info)

/* What its footer says, which must be complete. Errors: the same, but for DAMAGED. */
PERFILE_API PERFILE_MUST_CHECK int perfile_parquet_look(const char *path, struct perfile_parquet_info *info,
                                                        struct perfile_error *error);

/* ---- formats ----------------------------------------------------------------------------------------------------- */

/* The formats of perfile_table_write by position; NULL after the last. Static text; doc may be NULL. */
PERFILE_API const char *perfile_table_format_at(size_t index, const char **doc);
/* It is not for terminals. False of formats that there are not. */
PERFILE_API bool perfile_table_format_is_binary(const char *format);
/*
 * Writes all rows that are left. NULL is text.
 *
 * - "text", for people: durations and sizes with one unit a column (ns, us, ms, s; B, kB, MB, GB by 1000) and three
 *   decimals, times in seconds. With `text_width` long names are shortened, stacks are below their rows, and the last
 *   columns that do not fit are left out and named after the rows. All other formats are exact and complete.
 * - "csv" (RFC 4180, a header line), "json" (one object: columns, rows, losses, notes), "jsonl" (an object for each
 *   row).
 * - "parquet": row groups of about 2^20 rows (or 128 MiB) with the range of each column, pages compressed with zstd.
 *   Types are those that all SQL engines have: BOOLEAN, INT32 (i32), INT64 (all other integers, by their bits: what is
 *   above 2^63 is negative), DOUBLE, STRING, LIST. Memory is that of a compressed row group.
 * - "arrow": an Arrow IPC file with the types of perfile_table_schema, not compressed; the dictionaries are after the
 *   batches, and texts that hardly repeat have none.
 *
 * In the last two, which are binary, a column of type time is followed by the same as a time of day (us, UTC) if the
 * recording has a CLOCK_DATA feature: `timestamp` after `time`, `start_timestamp` after `start_time`. Key-value
 * metadata: perfile.view, .version, and as JSON .columns (name, type, unit, doc), .recording, .losses.
 *
 * Returns 0, or 1: something could not be read that perfile_reader_counts does not count but the rows show. Errors:
 * ARGUMENT (unknown format), WRITE, and those of perfile_table_next.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_table_write(struct perfile_table *table, const char *format,
                                                       const struct perfile_sink *sink, struct perfile_error *error);

#ifdef __cplusplus
}
#endif
#endif
