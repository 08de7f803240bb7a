/* SPDX-License-Identifier: MIT */
#include "inputs.h"
#include "message.h"

#include <stdlib.h>
#include <sys/resource.h>

int pf_inputs_set(struct pf_inputs *inputs, const struct pf_command *command, struct pf_settings *settings,
                  char **paths, size_t count)
{
    *inputs = (struct pf_inputs){.command = command,
                                 .settings = settings,
                                 .inputs = calloc(count, sizeof(*inputs->inputs)),
                                 .readers = calloc(count, sizeof(*inputs->readers)),
                                 .names = calloc(count, sizeof(*inputs->names)),
                                 .paths = calloc(count, sizeof(*inputs->paths))};
    if (!inputs->inputs || !inputs->readers || !inputs->names || !inputs->paths)
        return pf_out_of_memory(command->name);
    for (; inputs->wanted < count; inputs->wanted++) {
        pf_input_set(&inputs->inputs[inputs->wanted], command, settings, paths[inputs->wanted]);
        inputs->paths[inputs->wanted] = paths[inputs->wanted];
    }
    return PF_STATUS_OK;
}

int pf_inputs_check(const struct pf_command *command, char **paths, size_t count)
{
    size_t streams = 0;

    for (size_t i = 0; i < count; i++)
        streams += !strcmp(paths[i], "-");
    if (streams < 2)
        return PF_STATUS_OK;
    pf_message("%s: standard input was given twice", command->name);
    return PF_STATUS_USAGE;
}

rlim_t pf_allow_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return RLIM_INFINITY;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_max;
}

int pf_inputs_open(struct pf_inputs *inputs)
{
    enum { OTHER_FILES = 32 };
    const rlim_t allowed = pf_allow_open_files();
    const bool parks = inputs->wanted + OTHER_FILES > allowed;
    struct perfile_source source;

    if (parks && !pf_parking_open(&inputs->parking, inputs->wanted,
                                  allowed > 2 * OTHER_FILES ? allowed - OTHER_FILES : allowed / 4 + 1))
        return pf_out_of_memory(inputs->command->name);
    for (; inputs->count < inputs->wanted; inputs->count++) {
        struct pf_input *input = &inputs->inputs[inputs->count];
        input->source = parks && pf_parking_add(&inputs->parking, input->name, &source) ? &source : NULL;
        int status = pf_input_open(input);
        input->source = NULL;
        if (status && inputs->wanted >= allowed)
            pf_message("%s: cannot keep %zu recordings open: ulimit -n allows %llu files; raise it, or merge in steps",
                       inputs->command->name, inputs->wanted, (unsigned long long)allowed);
        if (status)
            return status;
        inputs->readers[inputs->count] = input->reader;
        inputs->names[inputs->count] = input->log.input;
    }
    return PF_STATUS_OK;
}

bool pf_inputs_have(const struct pf_inputs *inputs, const char *path)
{
    for (size_t i = 0; i < inputs->wanted; i++)
        if (pf_is_same_file(inputs->inputs[i].name, path))
            return true;
    return false;
}

int pf_inputs_losses(const struct pf_inputs *inputs)
{
    int status = PF_STATUS_OK;

    for (size_t i = 0; i < inputs->count; i++)
        if (pf_input_losses(&inputs->inputs[i]))
            status = PF_STATUS_FINDINGS;
    return status;
}

void pf_inputs_close(struct pf_inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++)
        perfile_close(inputs->readers[i]);
    pf_parking_close(&inputs->parking);
    free(inputs->inputs);
    free(inputs->readers);
    free(inputs->names);
    free(inputs->paths);
    *inputs = (struct pf_inputs){0};
}
