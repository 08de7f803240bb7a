/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "views.h"

#include <string.h>

static const struct pf_subview views[] = {
    {"stat", "kvm", true, "why virtual machines were left, and how long the host took"},
    {0},
};

/* perf says `kvm stat report`. */
static int run(const struct pf_command *command, struct pf_settings *settings)
{
    for (size_t i = 0; i < 2 && i < settings->operand_count; i++)
        if (!strcmp(settings->operands[i], "report")) {
            for (size_t k = i + 1; k < settings->operand_count; k++)
                settings->operands[k - 1] = settings->operands[k];
            settings->operand_count--;
            break;
        }
    if (!settings->events.classes)
        settings->events.classes = "vmexit";
    return pf_run_subview(command, settings);
}

static const struct pf_value keys[] = {
    {"sample", "how often"},
    {"time", "total time"},
    {0},
};

static const struct pf_value kinds[] = {
    {"vmexit", "exits by reason"},
    {"mmio", "accesses to memory of devices by address; x86"},
    {"ioport", "accesses to ports by number; x86"},
    {"msr", "accesses to model-specific registers by number; x86"},
    {0},
};

static const struct pf_option options[] = {
    PF_OPTIONS_OF_VIEWS,
    PF_OPTION_DUMP,
    PF_VALUES(CHOICE, "event", 0, "EVENT", PF_AT(events.classes), .table = kinds, "What rows are of [vmexit].",
              .first = true),
    PF_VALUES(CHOICE, "key", 'k', "KEY", PF_AT(events.sort), .table = keys, "What rows are sorted by [sample].",
              .first = true),
    PF_ROW(TEXT, "vcpu", 0, "N", PF_AT(events.vcpu), "Only this virtual CPU."),
    PF_OPTION_OUTPUT,
    {0},
};

const struct pf_command pf_command_kvm = {
    .name = "kvm",
    .summary = "show why virtual machines were left, and for how long",
    .doc =
        "Prints why virtual machines of KVM left their guests, how often, and how long the host took until the guest "
        "ran again, of each reason; or the same of accesses to devices and model-specific registers. perfile kvm "
        "record records the events, with the options of perfile record. `kvm stat report` is the "
        "same." PF_SHOWS_COMMAND,
    PF_SUBVIEWS_USUAL(views, 3, "stat"),
    .groups = {PF_GROUP("Options", options), &pf_filter_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
