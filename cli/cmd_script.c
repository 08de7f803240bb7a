/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "options.h"
#include "scripting.h"
#include "stdin.h"

#include <string.h>
#include <unistd.h>

struct settings {
    const char *program;    /* -s; NULL: not given */
    const char *language;   /* -g; NULL: not given */
    bool lists;             /* -l */
    const char *insn_trace; /* NULL: not given */
    bool call_trace, call_ret_trace;
};

#define FLAG(option, short_option, member, text) PF_FLAG(option, short_option, PF_AT(script.member), text)
#define HEADER(option, short_option, bit, text) PF_BITS(option, short_option, PF_AT(print.header), bit, text)
#define SHOW(option, bit, text) PF_BITS("show-" option "-events", 0, PF_AT(script.show), bit, text)

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    PF_VALUES(FIELDS, "fields", 'F', "LIST", PF_AT(fields), .known = perfile_script_field_at,
              "The fields to print, separated by commas. +FIELD adds to the default and -FIELD removes from it; "
              "TYPE:LIST applies to one type of event only: hw, sw, trace, raw, synth. Can be given several times.",
              .first = true),
    PF_FLAG("ns", 0, PF_AT(print.nanoseconds), "Print times with 9 decimals instead of 6.", .first = true),
    PF_BITS("reltime", 0, PF_AT(script.times), PERFILE_TIMES_SINCE_FIRST, "Print times since the first line."),
    PF_BITS("deltatime", 0, PF_AT(script.times), PERFILE_TIMES_SINCE_LAST, "Print times since the line before."),
    FLAG("hide-call-graph", 'G', no_callchain, "Do not print callchains: each sample is one line."),
    PF_ROW(NUMBER, "max-stack", 0, "N", PF_AT(script.max_stack), "Print at most N entries of a callchain [0: all]."),
    PF_ROW(TEXT, "stop-bt", 0, "LIST", PF_AT(script.stop_at),
           "End callchains with these functions, separated by commas: their callers are not printed."),
    PF_ROW(TEXT, "symbols", 'S', "LIST", PF_AT(report.symbols),
           "Only samples in these functions, or where they are inlined; compute also matches "
           "geometry::compute<int>(double)."),
    FLAG("Latency", 'L', latency, "Print thread names in 8 columns, and processors without brackets."),
    PF_OPTION_NO_INLINE,
    PF_OPTION_UNWIND,
    PF_OPTION_STITCH,
    PF_IGNORED("inline", 0, NULL, "The default; accepted for compatibility with perf."),
    PF_FLAG("full-source-path", 0, PF_AT(symbols.full_source_path), "Print source files with their directories."),
    HEADER("header", 0, PERFILE_HEADER_FIRST, "Print the header of the recording first, as perf does."),
    HEADER("header-only", 0, PERFILE_HEADER_ONLY, "Print only the header."),
    HEADER("show-info", 'I', PERFILE_HEADER_FULL, "With the header: processors, caches and memory in full."),
    PF_OPTION_DUMP,
    PF_FLAG("dump-unsorted-raw-trace", 0, PF_AT(dumps), "The same: it is always in the order of the file."),
    PF_OPTION_FAIL_EMPTY,
    PF_FLAG("per-event-dump", 0, PF_AT(per_event),
            "Write the samples of each event to a separate file, RECORDING.EVENT.dump."),
    PF_OPTION_ITRACE,
    PF_IGNORED("no-itrace", 0, NULL, "The default; accepted for compatibility with perf."),
    PF_ROW(TEXT, "insn-trace", 0, "HOW", PF_OWN(insn_trace),
           "Print every instruction of a decoded trace: --itrace=i0nse -F +insn,-event,-period --ns. HOW is raw, the "
           "usual one, or disasm: the instructions as text.",
           .usual = "raw"),
    PF_FLAG("call-trace", 0, PF_OWN(call_trace),
            "Print the calls of a decoded trace: --itrace=cewp -F -ip,-addr,-event,-period,+callindent --ns."),
    PF_FLAG("call-ret-trace", 0, PF_OWN(call_ret_trace),
            "Print calls and returns: --itrace=crewp -F -ip,-addr,-event,-period,+flags,+callindent --ns."),
    PF_ROW(TEXT, "graph-function", 0, "LIST", PF_AT(script.graph_function),
           "With --call-trace or --call-ret-trace: only calls of these functions, separated by commas, and what they "
           "call."),
    PF_ROW(TEXT, "script", 's', "SCRIPT", PF_OWN(program),
           "Have python3 run SCRIPT, a file or the name of a script that comes with perf, with the handlers of perf "
           "script; what follows -- are its arguments."),
    PF_ROW(TEXT, "gen-script", 'g', "python|FILE.py", PF_OWN(language),
           "Write a Python script with a handler for each tracepoint of the recording, to perf-script.py or FILE.py."),
    PF_FLAG("list", 'l', PF_OWN(lists), "List the Python scripts that come with perf."),
    PF_OPTIONS_SWITCH,
    PF_OPTION_OUTPUT,
    {0},
};

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

/* True when an option applies to the text only: tables have no lines around them, raw numbers, and all samples. */
static bool is_about_text(const struct pf_settings *settings)
{
    const struct perfile_script_options *lines = &settings->script;

    return settings->print.header || lines->no_callchain || lines->latency || lines->times || lines->max_stack ||
           lines->stop_at || lines->graph_function || settings->report.symbols || settings->dumps;
}

/* Why the options are refused: they have no meaning here, or contradict each other. */
static const char *why_not(const struct pf_settings *settings)
{
    const unsigned both = PERFILE_TIMES_SINCE_FIRST | PERFILE_TIMES_SINCE_LAST;

    if ((pf_own(settings)->program || pf_own(settings)->language) &&
        (settings->format || settings->output || settings->fields || is_about_text(settings)))
        return "a Python script writes what it likes: without --format, --output, --fields and options of the text";
    if ((settings->script.times & both) == both)
        return "--reltime and --deltatime cannot both be given";
    if (settings->format && strcmp(settings->format, "text") && is_about_text(settings))
        return "--header, --header-only, -I, -G, -L, -S, -D, --max-stack, --stop-bt, --graph-function, --reltime and "
               "--deltatime are for --format text";
    if (settings->script.graph_function && !settings->itrace)
        return "--graph-function is for calls of a decoded trace: add --call-trace or --call-ret-trace";
    if (settings->per_event && (settings->output || settings->format))
        return "--per-event-dump chooses the names of its files: without --output and --format";
    return NULL;
}

/*
 * --itrace and the fields of views of a trace; what the user chose stays. PF_STATUS_OK, or a status when a message was
 * printed.
 */
static int choose_view(struct pf_settings *settings)
{
    const struct settings *own = pf_own(settings);
    const char *insn_trace = own->insn_trace ? own->insn_trace : "raw";
    const bool disassembles = !strcmp(insn_trace, "disasm");
    const struct {
        bool wanted;
        const char *itrace, *fields;
    } views[] = {
        {own->insn_trace && !disassembles, "i0nse", "+insn,-event,-period"},
        {own->insn_trace && disassembles, "i0nse", "+disasm,-event,-period"},
        {own->call_trace, "cewp", "-ip,-addr,-event,-period,+callindent"},
        {own->call_ret_trace, "crewp", "-ip,-addr,-event,-period,+flags,+callindent"},
    };

    settings->lists_trace = true;
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++)
        if (views[i].wanted) {
            settings->itrace = settings->itrace ? settings->itrace : views[i].itrace;
            if (!settings->fields && !(settings->fields = strdup(views[i].fields)))
                return pf_out_of_memory("script");
            settings->print.fields = settings->fields;
            settings->print.nanoseconds = true;
        }
    if (disassembles || !strcmp(insn_trace, "raw"))
        return PF_STATUS_OK;
    pf_message("script: --insn-trace: unknown form; valid: raw, disasm");
    return PF_STATUS_USAGE;
}

/* After --, or a single operand that is not a recording. */
static char **arguments_of(struct pf_settings *settings)
{
    if (settings->workload || !settings->operand_count || pf_is_recording(settings->operands[0]))
        return settings->workload;
    settings->operands[1] = NULL; /* the list of arguments had the script before it */
    settings->operand_count = 0;
    return settings->operands;
}

/* What does the same as a script of perf that is not on this machine; NULL for all other names. */
static const char *instead_of_script(const char *name)
{
    static const char *const scripts[][2] = {
        {"flamegraph", "flame --format html"}, {"stackcollapse", "flame --format folded"},
        {"syscall-counts", "trace -s"},        {"failed-syscalls", "trace --failure"},
        {"futex-contention", "offcpu"},        {"export-to-sqlite", "query"},
    };

    for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++)
        if (!strcmp(name, scripts[i][0]))
            return scripts[i][1];
    return NULL;
}

static bool is_missing_script(const struct pf_command *command, const struct pf_settings *settings)
{
    const char *name = settings->operand_count ? settings->operands[0] : "", *instead = instead_of_script(name);

    if (!instead || access(name, F_OK) == 0)
        return false;
    pf_message("%s: there is no file %s, and no script of perf with that name here; instead: perfile %s", command->name,
               name, instead);
    return true;
}

/* Without a script, what follows -- is the recording. */
static int take_recording(const struct pf_command *command, struct pf_settings *settings)
{
    if (!settings->workload)
        return PF_STATUS_OK;
    if (settings->operand_count || settings->workload[1]) {
        pf_message("%s: unexpected argument \"%s\"", command->name,
                   settings->workload[settings->operand_count ? 0 : 1]);
        return PF_STATUS_USAGE;
    }
    settings->operands = settings->workload;
    settings->operand_count = 1;
    return PF_STATUS_OK;
}

static int print_samples(const struct pf_command *command, struct pf_settings *settings)
{
    const int status = is_missing_script(command, settings) ? PF_STATUS_USAGE : take_recording(command, settings);

    return status ? status : pf_run_output(command, settings);
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    const struct settings *own = pf_own(settings);
    const int status = choose_view(settings);

    if (status)
        return status;
    const char *why = why_not(settings);
    if (why) {
        pf_message("%s: %s", command->name, why);
        return PF_STATUS_USAGE;
    }
    if (own->lists)
        return pf_scripting_list();
    if (own->language)
        return pf_scripting_generate(command, settings, own->language);
    if (own->program)
        return pf_scripting_run(command, settings, own->program, arguments_of(settings));
    if (settings->workload && pf_scripting_is_command(settings->workload[0]))
        return pf_scripting_become(command, settings, settings->workload);
    return print_samples(command, settings);
}

const struct pf_command pf_command_script = {
    .name = "script",
    .summary = "print every sample in time order, in the format of perf script",
    .doc = "Prints every sample in time order, in the format of perf script, for the many programs that read it.",
    PF_ONE_RECORDING,
    .pages = true,
    .shows_command = true,
    .is_command = pf_scripting_is_command,
    .own_bytes = sizeof(struct settings),
    .groups = {PF_GROUP("Options", options), &pf_filter_group, PF_GROUP("Records between the samples", shows),
               &pf_symbol_group, &pf_input_group, &pf_limit_group, &pf_common_group},
    .run = run,
};
