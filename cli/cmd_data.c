/* SPDX-License-Identifier: MIT */
/* perf's `data convert`: writes its JSON, and traces in the Common Trace Format. */
#include "message.h"
#include "stream.h"

struct settings {
    const char *to_json, *to_ctf; /* NULL: not given */
};

static const char *subverb_at(size_t index, const char **doc)
{
    *doc = "write the samples in another format";
    return index ? NULL : "convert";
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->operand_count) {
        pf_message("data: what to do is missing (usage: %s data convert --to-json OUT)", pf_program_name());
        return PF_STATUS_USAGE;
    }
    settings->operands++;
    settings->operand_count--;
    if (pf_own(settings)->to_ctf) {
        settings->parts = pf_ctf_parts;
        settings->output = pf_own(settings)->to_ctf;
        return pf_run_output(command, settings);
    }
    if (!pf_own(settings)->to_json) {
        pf_message("data: --to-json OUT or --to-ctf DIR is missing");
        return PF_STATUS_USAGE;
    }
    settings->output = pf_own(settings)->to_json;
    settings->symbols.no_inline = true;
    return pf_run_output(command, settings);
}

static const struct pf_option options[] = {
    PF_ROW(TEXT, "to-json", 0, "OUT", PF_OWN(to_json),
           "Write the samples as JSON to OUT, - for standard output. OUT appears when it is complete.",
           .is_output = true),
    PF_ROW(TEXT, "to-ctf", 0, "DIR", PF_OWN(to_ctf),
           "Write the samples as a trace in the Common Trace Format 1.8 to DIR, for Babeltrace and Trace Compass. DIR "
           "appears when it is complete.",
           .is_output = true),
    PF_FLAG("all", 0, PF_AT(all),
            "Ignored, for compatibility with perf: records without samples are not in the trace. With --help: all "
            "options."),
    PF_IGNORED("tod", 0, NULL,
               "Ignored, for compatibility with perf: times of the day are in the trace if the recording has them."),
    {0},
};

const struct pf_command pf_command_data = {
    .name = "data",
    .summary = "convert samples to JSON or CTF, as perf data convert does",
    .doc =
        "With convert --to-json OUT: writes samples with their symbols, callchains and the fields of tracepoints as "
        "one JSON object, in the shape of perf data convert. perfile script --format json has more, with types. With "
        "convert --to-ctf DIR: as a trace in the Common Trace Format.",
    .operand = "convert [FILE]",
    .operand_max = 2,
    .operand_values = {.known = subverb_at},
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_filter_group, &pf_symbol_group, &pf_serial_group, &pf_limit_group,
               &pf_common_group},
    .run = run,
};
