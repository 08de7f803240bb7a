/* SPDX-License-Identifier: MIT */
/* `diff` as perf prints it: several recordings beside the first one, without verdicts. */
#include "diff.h"
#include "message.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_sides(const struct pf_diff_settings *diff)
{
    return diff->before || diff->after || diff->against;
}

bool pf_diff_is_perfs(const struct pf_settings *settings)
{
    const struct pf_diff_settings *diff = pf_diff_own(settings);

    if (diff->stdio || diff->compute || diff->order || diff->changes.flags || settings->report.dsos ||
        settings->report.symbols || settings->report.percentage || settings->report.separator)
        return true;
    return !has_sides(diff) && !settings->format && !diff->tree &&
           (settings->operand_count > 2 || (pf_called_perf() && !diff->fail_above && !diff->noise));
}

/* The option that belongs to the comparison with verdicts, or NULL. */
static const char *other_option(const struct pf_settings *settings)
{
    const struct pf_diff_settings *diff = pf_diff_own(settings);
    const struct {
        bool is_set;
        const char *name;
    } others[] = {
        {diff->before || diff->after, "--before and --after"},
        {diff->against != NULL, "--against"},
        {diff->per != NULL, "--per"},
        {diff->work != NULL, "--work"},
        {diff->relative, "--relative"},
        {diff->inclusive, "--children"},
        {diff->maps != NULL, "--map"},
        {diff->no_guesses, "--no-guess"},
        {diff->noise || diff->margin || diff->alpha, "--noise, --margin and --alpha"},
        {diff->fail_above != NULL, "--fail-above"},
        {diff->tree, "--tree"},
        {settings->columns != NULL, "--columns"},
        {settings->format && strcmp(settings->format, "text") != 0, "--format"},
    };

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (others[i].is_set)
            return others[i].name;
    return NULL;
}

/* "wdiff:1,2" */
static int parse_weights(const char *text, struct perfile_changes_options *changes)
{
    char *end;

    errno = 0;
    changes->weight_before = strtoll(text, &end, 10);
    if (*end != ',')
        return PF_STATUS_USAGE;
    changes->weight_after = strtoll(end + 1, &end, 10);
    return *end || errno || !changes->weight_before || !changes->weight_after ? PF_STATUS_USAGE : PF_STATUS_OK;
}

static int parse_compute(const struct pf_command *command, struct pf_diff_settings *diff)
{
    static const char *const names[] = {"delta-abs", "delta", "ratio"};

    if (!diff->compute)
        return PF_STATUS_OK;
    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(diff->compute, names[i])) {
            diff->changes.compute = i;
            return PF_STATUS_OK;
        }
    diff->changes.compute = PERFILE_CHANGES_WEIGHTED;
    if (!strncmp(diff->compute, "wdiff:", 6) && !parse_weights(diff->compute + 6, &diff->changes))
        return PF_STATUS_OK;
    pf_message("%s: invalid value \"%s\" for --compute: expected delta-abs, delta, ratio or wdiff:W1,W2, such as "
               "wdiff:1,2",
               command->name, diff->compute);
    return PF_STATUS_USAGE;
}

static int parse_order(const struct pf_command *command, const struct pf_settings *settings)
{
    struct pf_diff_settings *diff = pf_diff_own(settings);
    char *end;

    diff->changes.order = settings->operand_count > 1;
    if (!diff->order)
        return PF_STATUS_OK;
    diff->changes.order = strtoul(diff->order, &end, 10);
    if (*diff->order >= '0' && *diff->order <= '9' && !*end && diff->changes.order < settings->operand_count)
        return PF_STATUS_OK;
    pf_message("%s: invalid value \"%s\" for --order: expected 0, to sort by the baseline, or the number of another "
               "recording, below %zu",
               command->name, diff->order, settings->operand_count);
    return PF_STATUS_USAGE;
}

/* perf's default names. */
static void complete_operands(struct pf_settings *settings, char *operands[2])
{
    static char old[] = "perf.data.old", now[] = "perf.data";

    if (settings->operand_count > 1)
        return;
    operands[0] = old;
    operands[1] = settings->operand_count ? settings->operands[0] : now;
    settings->operands = operands;
    settings->operand_count = 2;
}

int pf_diff_run_perfs(const struct pf_command *command, struct pf_settings *settings)
{
    struct pf_diff_settings *diff = pf_diff_own(settings);
    const char *other = other_option(settings);
    char *operands[2];
    int status;

    if (other) {
        pf_message("%s: perf's layout has no verdicts: %s cannot be combined with its options, --stdio, or more than "
                   "two recordings without sides",
                   command->name, other);
        return PF_STATUS_USAGE;
    }
    complete_operands(settings, operands);
    if ((status = parse_compute(command, diff)) || (status = parse_order(command, settings)))
        return status;
    diff->changes.size = sizeof(diff->changes);
    settings->report.sort = diff->sort;
    settings->print.changes = &diff->changes;
    settings->kind = "diff";
    settings->format = "text";
    return pf_run_output(command, settings);
}
