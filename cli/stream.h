/* SPDX-License-Identifier: MIT */
/* The output of data: standard output, also through a pager, or a file, with one large buffer. */
#ifndef PERFILE_CLI_STREAM_H
#define PERFILE_CLI_STREAM_H

#include "options.h"

struct pf_stream {
    int fd;
    const char *path; /* NULL: standard output */
    char *temporary;  /* the file that becomes `path`, or NULL when it is written in place; owned */
    bool unnamed;     /* so far it has no name at all */
    char *buffer;     /* owned */
    size_t used;
    bool started;     /* something was written */
    int error;        /* errno of the first failure */
    bool gzip;        /* what goes to it is to be a gzip file, as its name says: outputs and tables make it one */
    bool keeps_old;   /* a file that was there before gets a name that ends in .old */
    bool closed_pipe; /* the reader of the pipe went away: no error */
};

/* Whether the path is "-", standard output. */
bool pf_stream_is_standard(const char *path);
/*
 * A `path` of NULL or "-" is standard output. A regular file appears under its name when _close succeeds; until then
 * the old one stays. PF_STATUS_OK, or PF_STATUS_OUTPUT or _MEMORY when a message was printed.
 */
int pf_stream_open(struct pf_stream *stream, const char *path);
/* For struct perfile_sink; the context is a struct pf_stream. */
int pf_stream_write(void *stream, const void *data, size_t bytes);
/* Writes what is in the buffer. */
void pf_stream_flush(struct pf_stream *stream);
/* Failures show in _close. */
__attribute__((format(printf, 2, 3))) void pf_stream_print(struct pf_stream *stream, const char *format, ...);
/* A name of a recording or of the command line, with escapes (perfile_text_escape), between two texts of ours. */
void pf_stream_put_name(struct pf_stream *stream, const char *before, const char *name, const char *after);
/*
 * Writes rows of the caller in a format of tables. PF_STATUS_OK, or another status when a message was printed; _close
 * reports failed writes.
 */
struct perfile_rows;
int pf_stream_put_rows(struct pf_stream *stream, const char *verb, const struct perfile_rows *rows, const char *format);
/* The same of what perfile_table_of_... gave: an error, or the table, which is closed. */
struct perfile_table;
int pf_stream_put_table(struct pf_stream *stream, const char *verb, struct perfile_table *table, const char *format);
/*
 * Writes what is left and closes; `keep` false discards an unfinished file. PF_STATUS_OK, or PF_STATUS_OUTPUT or
 * _MEMORY when a message was printed.
 *
 * When the reader of the pipe is gone (`| head`), the status is PF_STATUS_OK without a message: the reader has what it
 * needs.
 */
int pf_stream_close(struct pf_stream *stream, bool keep);

/* Refuses a binary format for a terminal: PF_STATUS_USAGE, after a message. */
int pf_stream_check_binary(const struct pf_stream *stream, const char *verb, const char *format);
/* Refuses a recording for `output` "-" that is a terminal: PF_STATUS_USAGE, after a message. */
int pf_stream_check_recording(const char *verb, const char *output);

#endif
