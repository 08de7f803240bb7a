/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <perfile/index.h>

#include "index.h"
#include "input.h"
#include "sandbox.h"
#include "stream.h"

static const struct pf_option options[] = {
    PF_ROW(TEXT, "output", 'o', "FILE", PF_AT(output),
           "Write the index to this file, instead of the cache. FILE.pfi next to the recording FILE is found "
           "automatically and can be moved with it; times of files must be kept (cp -p)."),
    {0},
};

/* A smaller recording stays one stream: --seekable restarts the compression at about every MiB. */
static bool is_large(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_size > 1 << 20;
}

static int write_index(struct pf_input *input)
{
    struct pf_stream out;
    int status = pf_stream_open(&out, input->settings->output), result, written;

    if (status)
        return status;
    result = perfile_index_write(input->reader, &(struct perfile_sink){&out, pf_stream_write}, &input->error);
    status = result < 0 ? pf_input_failure(input, result) : PF_STATUS_OK;
    if (result == PERFILE_ERROR_UNSUPPORTED && perfile_reader_counts(input->reader)->losses)
        status = PF_STATUS_FINDINGS; /* another recording could have one */
    if (result == PERFILE_ERROR_UNSUPPORTED && !strcmp(input->error.what, "compression") && is_large(input->name))
        pf_message("%s: `perfile convert --seekable -o OUT %s` makes a recording that can have one",
                   input->command->name, input->name);
    written = pf_stream_close(&out, status == PF_STATUS_OK);
    return status ? status : written;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    static char cached[4096];
    struct pf_input input;
    int status = pf_input_choose(&input, command, settings);

    if (status)
        return status;
    if (!settings->output) {
        if (!pf_index_cached(input.name, cached, sizeof(cached), true)) {
            pf_message("%s: %s: no cache folder for the index; use -o FILE", command->name, input.name);
            return PF_STATUS_OUTPUT;
        }
        settings->output = cached;
    }
    pf_sandbox_enter(command, settings);
    if ((status = pf_input_open(&input)))
        return status;
    status = write_index(&input);
    if (!status && settings->output == cached)
        pf_index_trim_cache(cached);
    perfile_close(input.reader);
    return status;
}

const struct pf_command pf_command_index = {
    .name = "index",
    .summary = "make an index: parts of a recording are read without the rest",
    .doc =
        "Reads the complete recording once and stores where to start reading for each time, which tasks and mappings "
        "existed then, and which processes, threads, CPUs and events have samples in each MiB. Verbs with --time, "
        "--pid, --tid, --cpu or --events use the index by themselves: they print the same, at the cost of the samples "
        "asked for. The index is kept in ~/.cache/perfile (limit 1 GiB; least recently used first out), identified by "
        "the recording and its modification time; if the recording has changed, the index is replaced. Streams, "
        "directories and recordings with AUX data, damage or code of JITs cannot have one: the message says why. "
        "Compressed ones can when perfile convert --seekable wrote them.",
    PF_ONE_RECORDING,
    .groups = {PF_GROUP("Options", options), &pf_serial_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
