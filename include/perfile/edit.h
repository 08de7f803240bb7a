/* SPDX-License-Identifier: MIT */
/*
 * perfile/edit.h: recordings in, recordings out (libperfile).
 *
 * Every call reads a recording that was just opened and writes one that was just opened, and neither finishes nor closes
 * the writer: look at the report first, then call perfile_writer_finish. What these calls change is said with each; all
 * else is copied byte for byte, records in the order of the file (of a directory that becomes one file: in the order of
 * time). Records that are damaged are left out and counted. Since 0.2.
 */
#ifndef PERFILE_EDIT_H
#define PERFILE_EDIT_H

#include <perfile/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of the records. Made by the library. */
struct perfile_edit_report {
    uint64_t records_kept; /* those that stand for themselves: not the containers of compressed ones */
    uint64_t samples_kept;
    uint64_t records_dropped; /* because the call was to leave them out */
    uint64_t samples_dropped;
    uint64_t records_damaged; /* left out because they cannot be read */
    uint64_t bytes_dropped;   /* of the input, that belong to no whole record */
    uint64_t features_rebuilt;
    uint64_t features_dropped; /* that could not be read, or not be said in the output */
};

/* What all calls take. */
struct perfile_edit_options {
    size_t size; /* sizeof(struct perfile_edit_options) */
    /* Called now and then with the bytes read and the bytes there are (0: unknown). May be NULL. */
    void (*progress)(void *context, uint64_t done, uint64_t total);
    void *progress_context;
};
#define PERFILE_EDIT_OPTIONS_INIT PERFILE_SIZED(struct perfile_edit_options)

/*
 * The same recording in the mode, byte order and compression of the writer. Errors: those of reading and writing.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_convert(struct perfile_reader *reader, struct perfile_writer *writer,
                                                   const struct perfile_edit_options *options,
                                                   struct perfile_edit_report *report, struct perfile_error *error);

/*
 * All that is whole of a damaged recording, byte for byte and in order. Features that are missing are made anew from the
 * records, as far as these tell: SAMPLE_TIME, BRANCH_STACK, BUILD_ID; the writer makes EVENT_DESC and AUXTRACE.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_repair(struct perfile_reader *reader, struct perfile_writer *writer,
                                                  const struct perfile_edit_options *options,
                                                  struct perfile_edit_report *report, struct perfile_error *error);

/* ---- recordings for strangers --------------------------------------------------------------------------------- */

/* One kind of things that a recording tells, and what became of it. Made by the library. */
struct perfile_anonymized {
    const char *name; /* "comms" */
    const char *doc;
    const char *action; /* what was to be done: "keep", "change", "drop" */
    uint64_t changed;   /* how often something else stands there now */
    uint64_t removed;
    uint64_t kept; /* how often it stayed: as was asked, or because it is one of the words that tell nothing */
};

enum { PERFILE_ANONYMIZE_CATEGORIES_MAX = 32 };

struct perfile_anonymize_report {
    struct perfile_edit_report edit;
    size_t category_count;
    struct perfile_anonymized categories[PERFILE_ANONYMIZE_CATEGORIES_MAX];
};

struct perfile_anonymize_options {
    size_t size;     /* sizeof(struct perfile_anonymize_options) */
    const void *key; /* what names are made of: the same key, the same names. NULL: a random one that nobody knows */
    size_t key_bytes;
    const char *keep; /* names of categories, separated by commas, that stay as they are; NULL: none */
    const char *change;
    const char *drop;
    bool strict;                             /* no word of a path and no tracepoint stays because it is well known */
    const struct perfile_edit_options *edit; /* or NULL */
};
#define PERFILE_ANONYMIZE_OPTIONS_INIT PERFILE_SIZED(struct perfile_anonymize_options)

/*
 * A recording that strangers may have, and that is still worth having: who ran, which files were mapped where, what was
 * on stacks and in tracepoints is replaced by names and numbers that only the key could tell, or left out; what each
 * sample hit, relative to its mapping, stays. Records come in the order of time. What is not understood is left out and
 * counted. `options` and `report` may be NULL. Errors: ARGUMENT (a category that is unknown, or that cannot be treated
 * like that), and those of reading and writing.
 */
PERFILE_API PERFILE_MUST_CHECK int perfile_anonymize(struct perfile_reader *reader, struct perfile_writer *writer,
                                                     const struct perfile_anonymize_options *options,
                                                     struct perfile_anonymize_report *report,
                                                     struct perfile_error *error);
/* The categories by position: name, and what they are about (`doc` may be NULL). NULL behind the last. */
PERFILE_API const char *perfile_anonymize_category(size_t index, const char **doc);
/* The words that may stay, by position; NULL behind the last. */
PERFILE_API const char *perfile_anonymize_word(size_t index);

#ifdef __cplusplus
}
#endif
#endif
