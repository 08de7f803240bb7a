/* SPDX-License-Identifier: MIT */
#include "options.h"

#define AT(member) offsetof(struct pf_settings, member)
#define FLAG(option, short_option, member, text)                                                                       \
    {                                                                                                                  \
        .name = option, .letter = short_option, .kind = PF_OPTION_FLAG, .offset = AT(print.member), .doc = text        \
    }
#define SHOW(option, bit, text)                                                                                        \
    {                                                                                                                  \
        .name = "show-" option "-events", .kind = PF_OPTION_BITS, .offset = AT(print.show), .bits = bit, .doc = text   \
    }

static const char *field_at(const struct pf_command *command, size_t index, const char **doc)
{
    (void)command;
    return perfile_script_field_at(index, doc);
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    {.name = "fields",
     .letter = 'F',
     .kind = PF_OPTION_FIELDS,
     .argument = "LIST",
     .offset = AT(fields),
     .value_at = field_at,
     .doc = "The fields to print, separated by commas. +FIELD adds to the default and -FIELD removes from it; "
            "TYPE:LIST applies to one type of event only: hw, sw, trace, raw, synth. Can be given several times."},
    {.name = "ns",
     .kind = PF_OPTION_FLAG,
     .offset = AT(print.nanoseconds),
     .doc = "Print times with 9 decimal places instead of 6."},
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    {.name = "inline", .kind = PF_OPTION_IGNORE, .doc = "The default; accepted for compatibility with perf."},
    {.name = "full-source-path",
     .kind = PF_OPTION_FLAG,
     .offset = AT(symbols.full_source_path),
     .doc = "Print source files with their directories."},
    FLAG("header", 0, header, "Print the header of the recording first, as perf does."),
    FLAG("header-only", 0, header_only, "Print only the header."),
    FLAG("show-info", 'I', full_header, "With the header: processors, caches and memory in full."),
    PF_OPTION_OUTPUT,
    {0},
};
static const struct pf_option_group group = {"Options", options};

static const struct pf_option shows[] = {
    SHOW("task", PERFILE_SHOW_TASK, "Print COMM, FORK and EXIT records too."),
    SHOW("mmap", PERFILE_SHOW_MMAP, "Print MMAP and MMAP2 records too."),
    SHOW("switch", PERFILE_SHOW_SWITCH, "Print SWITCH and SWITCH_CPU_WIDE records too."),
    SHOW("namespace", PERFILE_SHOW_NAMESPACE, "Print NAMESPACES records too."),
    SHOW("lost", PERFILE_SHOW_LOST, "Print LOST and LOST_SAMPLES records too."),
    SHOW("round", PERFILE_SHOW_ROUND, "Print FINISHED_ROUND records too."),
    SHOW("bpf", PERFILE_SHOW_BPF, "Print KSYMBOL and BPF_EVENT records too."),
    SHOW("cgroup", PERFILE_SHOW_CGROUP, "Print CGROUP records too."),
    SHOW("text-poke", PERFILE_SHOW_TEXT_POKE, "Print TEXT_POKE records too."),
    {0},
};
static const struct pf_option_group show_group = {"Records between the samples", shows};

const struct pf_command pf_command_script = {
    .name = "script",
    .summary = "print every sample in time order, in the format of perf script",
    .doc = "Prints every sample in time order, in the format of perf script, for the many programs that read it.",
    .operand = "[FILE]",
    .operand_max = 1,
    .pages = true,
    .groups = {&group, &pf_filter_group, &show_group, &pf_symbol_group, &pf_input_group, &pf_limit_group,
               &pf_common_group},
    .run = pf_run_output,
};
