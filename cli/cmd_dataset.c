/* SPDX-License-Identifier: MIT */
#include "dataset/dataset.h"
#include "message.h"
#include "sandbox.h"

#include <string.h>

static const struct {
    const char *name, *doc;
    int (*run)(const struct pf_command *command, struct pf_settings *settings, const struct pf_dataset *dataset);
} actions[] = {
    {"check", "whether each recording has all of its files, and what is there besides", pf_dataset_check},
    {"compact", "join small files", pf_dataset_compact},
    {"remove", "recordings before a date, of a machine, or one recording", pf_dataset_remove},
    {"stats", "recordings, hosts, rows and bytes", pf_dataset_stats},
};
enum { ACTIONS = sizeof(actions) / sizeof(actions[0]) };

static const char *action_at(size_t index, const char **doc)
{
    if (index >= ACTIONS)
        return NULL;
    if (doc)
        *doc = actions[index].doc;
    return actions[index].name;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_dataset dataset;
    size_t i = 0;

    if (settings->operand_count < 2) {
        pf_message("%s: an action and a dataset are needed (check, compact, remove or stats)", command->name);
        return PF_STATUS_USAGE;
    }
    while (i < ACTIONS && strcmp(actions[i].name, settings->operands[0]) != 0)
        i++;
    if (i == ACTIONS) {
        pf_message("%s: unknown action '%s'; valid: check, compact, remove, stats", command->name,
                   settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    settings->output = settings->operands[1];
    pf_sandbox_enter(command, settings);
    const int status = pf_dataset_open(&dataset, command->name, settings->operands[1], NULL);
    return status ? status : actions[i].run(command, settings, &dataset);
}

static const struct pf_option options[] = {
    PF_OPTION_TABLE_FORMAT,
    PF_FLAG("remove", 0, PF_OWN_OF(struct pf_dataset_settings, remove),
            "check: remove files that are not needed: those that killed commands left, and those whose rows a "
            "joined file has, too."),
    PF_ROW(SIZE, "size", 0, "SIZE", PF_OWN_OF(struct pf_dataset_settings, joined_bytes),
           "compact: join files that are smaller than SIZE, to files of up to twice that [64M]."),
    PF_ROW(TEXT, "before", 0, "DATE", PF_OWN_OF(struct pf_dataset_settings, before),
           "remove: recordings that began before DATE, such as 2026-01-31 or 2026-01-31T12:30 (UTC)."),
    PF_ROW(TEXT, "host", 0, "NAME", PF_OWN_OF(struct pf_dataset_settings, host),
           "remove: recordings of the machine NAME; with --before, those before DATE."),
    PF_ROW(TEXT, "recording", 0, "ID", PF_OWN_OF(struct pf_dataset_settings, recording),
           "remove: the recording ID, as in the column `recording`."),
    PF_FLAG("dry-run", 0, PF_OWN_OF(struct pf_dataset_settings, dry_run),
            "remove: print the recordings, and remove nothing."),
    PF_VALUES(CHOICE, "by", 0, "KEY", PF_OWN_OF(struct pf_dataset_settings, by), .known = pf_dataset_by_at,
              "stats: a row for each KEY."),
    {0},
};

const struct pf_command pf_command_dataset = {
    .name = "dataset",
    .summary = "check, compact, empty and measure a dataset of many recordings",
    .doc = "Checks, compacts, empties and measures a dataset: a folder of Parquet files for SQL engines that perfile "
           "export "
           "--partition adds recordings to.",
    .operand = "ACTION DATASET",
    .operand_max = 2,
    .operand_values = {.known = action_at},
    .own_bytes = sizeof(struct pf_dataset_settings),
    .groups = {PF_GROUP("Options", options), &pf_common_group},
    .run = run,
};
