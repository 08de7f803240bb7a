/* SPDX-License-Identifier: MIT */
/*
 * A verb that records what it shows, without a file: this process records a stream, and a second one shows it as if it
 * were the recording on standard input.
 */
#ifndef PERFILE_CLI_RECORD_SHOW_H
#define PERFILE_CLI_RECORD_SHOW_H

#include "options.h"

#include <sys/types.h>

/* Where the stream is written to. */
struct pf_record_stream {
    int fd;           /* a pipe to the process that shows it, or an unnamed file */
    bool aside;       /* standard output is for what is shown: the command's own output goes to standard error */
    pid_t reader;     /* the process that shows the stream while it is recorded; 0: it is shown later */
    bool has_ended;   /* the reader, with ... */
    int status;       /* ... this status, as wait(2) has it */
    bool is_complete; /* the recording was finished */
};
/* For perfile_sink; its context is the stream. */
int pf_record_stream_write(void *context, const void *data, size_t bytes);
/* Whether the reader has ended, because it needs no more of the stream; does not wait. */
bool pf_record_stream_ended(struct pf_record_stream *stream);

/* What is shown. */
struct pf_record_show {
    const struct pf_command *command; /* of which verb; it records, too: settings->operands is the command */
    bool at_once;                     /* while it is recorded; else afterwards */
    bool to_stderr;                   /* not to standard output, which is the command's; -o and -o - say otherwise */
    /* Called in the process that records, before it does; may be NULL. A status, after a message. */
    int (*before)(const struct pf_command *command, struct pf_settings *settings, pid_t reader);
    int (*show)(const struct pf_command *command, struct pf_settings *settings);
};
/*
 * Records with settings->record, and shows it: the exit status of the command that ran, unless recording or showing
 * failed.
 */
int pf_record_show(const struct pf_record_show *how, struct pf_settings *settings);

#endif
