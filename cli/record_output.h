/* SPDX-License-Identifier: MIT */
/* The output of a recording: a file, a stream, or a sequence of files. */
#ifndef PERFILE_CLI_RECORD_OUTPUT_H
#define PERFILE_CLI_RECORD_OUTPUT_H

#include "message.h"
#include "options.h"

#include <sys/types.h>

/* PF_SWITCH_END: one file, which gets its stamped name at the end. */
enum pf_switch_mode { PF_SWITCH_NEVER, PF_SWITCH_END, PF_SWITCH_SIGNAL, PF_SWITCH_SIZE, PF_SWITCH_TIME };

enum { PF_STAMPED_BYTES = 4096 + 32 };

struct pf_record_output {
    const struct pf_settings *settings;
    const char *path;  /* "-": standard output */
    const char *named; /* as the caller named it */
    char *resolved;    /* owned: of a link to a file */
    struct perfile_writer *writer;
    struct perfile_writer *next; /* while files are switched */
    bool shown;                  /* the writer's file stands under its name */
    dev_t device;                /* then: which file it is */
    uint64_t inode;              /* ino_t of Windows is shorter */
    int mode;                    /* enum pf_switch_mode */
    uint64_t switch_bytes;
    int64_t switch_ms;
    int64_t next_ms;       /* of CLOCK_MONOTONIC */
    uint64_t bytes_before; /* of the files that are done */
    uint64_t file_count;
    char **kept; /* with --switch-max-files: the names of the newest files, in a ring; owned */
    char last[PF_STAMPED_BYTES];
    struct pf_log log;
};

/* Understands -o, --switch-output and --switch-max-files, and looks whether the output can be. A status. */
int pf_record_output_prepare(struct pf_record_output *output, const struct pf_settings *settings);
bool pf_record_output_streams(const struct pf_record_output *output);
/* Whether the output is a sequence of files. */
bool pf_record_output_switches(const struct pf_record_output *output);
/* `writer` is one of the two of `output`. A status of its own, with `error` filled, but not printed. */
int pf_record_output_open(struct pf_record_output *output, struct perfile_writer **writer, struct perfile_error *error);
/* Gives the writer's file its name; an existing recording of that name is renamed. A status, with `error` filled. */
int pf_record_output_publish(struct pf_record_output *output, struct perfile_error *error);
/* Whether the next file is due; `written` bytes are in this one so far. */
bool pf_record_output_is_due(struct pf_record_output *output, uint64_t written, int64_t now_ms);
/* The bytes of all files so far. */
uint64_t pf_record_output_bytes(const struct pf_record_output *output, uint64_t written);
/* The name of the file that was finished last. */
const char *pf_record_output_name(const struct pf_record_output *output);
/* Ends the file; when files are switched, or at the end, it gets its stamped name. */
int pf_record_output_finish(struct pf_record_output *output, struct perfile_error *error);
void pf_record_output_close(struct pf_record_output *output);

#endif
