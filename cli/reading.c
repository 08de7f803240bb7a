/* SPDX-License-Identifier: MIT */
#include "reading.h"
#include "sandbox.h"

static int print_open(struct pf_input *input, int (*print)(struct pf_input *input, struct pf_stream *out))
{
    struct pf_stream out;
    int status = pf_stream_open(&out, input->settings->output), result, losses, written;

    if (status)
        return status;
    result = print(input, &out);
    status = result < 0 ? pf_input_failure(input, result) : PF_STATUS_OK;
    pf_log_finish(&input->log);
    losses = pf_input_losses(input);
    status = status ? status : losses;
    written = pf_stream_close(&out, status <= PF_STATUS_FINDINGS);
    return written ? written : status;
}

int pf_read_and_print(const struct pf_command *command, struct pf_settings *settings,
                      int (*print)(struct pf_input *input, struct pf_stream *out))
{
    struct pf_input input;
    int status = pf_input_choose(&input, command, settings);

    if (status)
        return status;
    pf_sandbox_enter(command, settings);
    if ((status = pf_input_open(&input)))
        return status;
    status = print_open(&input, print);
    perfile_close(input.reader);
    return status;
}

int pf_read_to_end(struct pf_input *input)
{
    const struct perfile_record *record;
    int result;

    while ((result = perfile_reader_next(input->reader, &record, &input->error)) > 0)
        continue;
    return result;
}
