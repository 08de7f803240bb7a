/* SPDX-License-Identifier: MIT */
/* The recording that a verb reads: its path, its opening, and the report of what is missing from it. */
#ifndef PERFILE_CLI_INPUT_H
#define PERFILE_CLI_INPUT_H

#include "index.h"
#include "message.h"
#include "options.h"

struct pf_input {
    const struct pf_command *command;
    struct pf_settings *settings;
    const char *name;                      /* as given */
    bool chosen;                           /* by the user; else it is the default */
    int index[PF_INDEX_POSITIONS];         /* those of it, below 0: none */
    int temporary;                         /* a file for what comes through a pipe and must be in a file; 0: none */
    const struct perfile_source *source;   /* to be read instead of the name; NULL: none */
    const struct perfile_profile *profile; /* what is shown instead, without a reader; NULL: the recording is */
    struct perfile_reader *reader;
    struct pf_log log;
    struct perfile_error error;
};

/* The recording at `path`. To be called before the sandbox, in which no temporary file could be made. */
void pf_input_set(struct pf_input *input, const struct pf_command *command, struct pf_settings *settings,
                  const char *path);
/* A file without a name, in $TMPDIR; below 0: none could be made. */
int pf_temporary_file(void);
/* A folder is at the path. */
bool pf_is_folder(const char *path);
/* Both are there, and are one file. */
bool pf_is_same_file(const char *path, const char *other);
/*
 * Chooses the operand, -i, a pipe with a recording as standard input, or perf.data. PF_STATUS_USAGE if there are two.
 */
int pf_input_choose(struct pf_input *input, const struct pf_command *command, struct pf_settings *settings);
/* PF_STATUS_UNREADABLE when a message was printed. */
int pf_input_open(struct pf_input *input);
/* Opens a recording that another reader has open; odd facts were already reported by the first one. */
int pf_input_open_again(struct pf_input *input, const struct pf_input *first);
/* Prints input->error, which came with `code` while reading or writing; the exit status for it. */
int pf_input_failure(const struct pf_input *input, int code);
/* Prints a line if something is missing from the output and the input is open. PF_STATUS_FINDINGS or PF_STATUS_OK. */
int pf_input_losses(const struct pf_input *input);

#endif
