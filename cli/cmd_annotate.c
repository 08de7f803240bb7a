/* SPDX-License-Identifier: MIT */
#include "message.h"
#include "objdump.h"
#include "options.h"
#include "stream.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define AT(member) PF_AT(annotate.member)
#define FLAG(option, short_option, bit, text) PF_BITS(option, short_option, AT(flags), bit, text)
#define TEXT(option, short_option, value, member, text) PF_ROW(TEXT, option, short_option, value, AT(member), text)

static const struct pf_value styles[] = {
    {"att", "AT&T's, as objdump; the default"},
    {"intel", "Intel's"},
    {0},
};

static const struct pf_value percent_types[] = {
    {"local-period", "of the function's period; the default", 0},
    {"local-hits", "of the function's samples", PERFILE_ANNOTATE_HITS},
    {"global-period", "of the event's period", PERFILE_ANNOTATE_GLOBAL},
    {"global-hits", "of the event's samples", PERFILE_ANNOTATE_GLOBAL | PERFILE_ANNOTATE_HITS},
    {0},
};

static int choose_text(const struct pf_option *option, const char *text, struct pf_settings *settings)
{
    (void)option, (void)text;
    settings->format = "text";
    return PF_STATUS_OK;
}

static const struct pf_option options[] = {
    PF_OPTION_FORMAT,
    TEXT("symbol", 's', "SYMBOL", symbol,
         "The function, or several separated by commas; the same as giving SYMBOL. compute also means "
         "geometry::compute<int>(double); with * and ? it is a pattern. Of a function that is only inlined: those that "
         "it is inlined in."),
    TEXT("dsos", 'd', "LIST", dsos, "Only functions in these files: libc.so.6,make."),
    PF_ROW(NUMBER, "top", 0, "N", AT(top), "Without SYMBOL: at most N functions [5]."),
    TEXT("percent-limit", 0, "PERCENT", percent_limit,
         "Without SYMBOL: only functions that have at least this percentage of the first event [1]."),
    PF_VALUES(CHOICE, "percent-type", 0, "TYPE", PF_AT(percent_type), .table = percent_types,
              "What percentages are of."),
    FLAG("no-source", 0, PERFILE_ANNOTATE_NO_SOURCE, "Print instructions without source lines."),
    PF_OPTION_SOURCE_DIR,
    PF_OPTIONS_PREFIX,
    FLAG("show-nr-samples", 'n', PERFILE_ANNOTATE_SAMPLES,
         "text and stdio: print how many samples each instruction has, not percentages."),
    FLAG("show-total-period", 0, PERFILE_ANNOTATE_PERIODS,
         "text and stdio: print the sum of the periods of each instruction, not percentages."),
    FLAG("print-line", 'l', PERFILE_ANNOTATE_LINES, "Print the source file and line of each instruction."),
    FLAG("asm-raw", 0, PERFILE_ANNOTATE_BYTES, "Print the bytes of instructions."),
    PF_VALUES(CHOICE, "disassembler-style", 'M', "STYLE", AT(syntax), .table = styles,
              "The syntax of x86 instructions."),
    PF_ROW(TEXT, "objdump", 0, "PATH", PF_AT(objdump),
           "Have this objdump print the instructions, for machines that capstone does not know. It gets the bytes of "
           "functions, never the recording or its binaries."),
    PF_ROW(TEXT, "data-type", 0, "TYPE", AT(data_type),
           "Print the types of data that samples accessed, with the percentage of each member, instead of code: all "
           "types, "
           "or TYPE: node also means struct node; with * and ? it is a pattern.",
           .usual = "*"),
    FLAG("type-stat", 0, PERFILE_ANNOTATE_TYPE_STAT,
         "Print how many sampled addresses access a known type, and why the others do not."),
    FLAG("insn-stat", 0, PERFILE_ANNOTATE_INSN_STAT, "Print the same by instruction."),
    FLAG("code-with-type", 0, PERFILE_ANNOTATE_CODE_TYPES,
         "Print after each instruction the type and member that it accesses."),
    PF_FLAG("no-arrows", 0, PF_AT(no_arrows), "text: do not draw jumps."),
    PF_FLAG("stdio", 0, PF_AT(stdio), "perf's layout; the same as --format stdio."),
    PF_FLAG("tui", 0, PF_AT(tui),
            "Show the code in the interactive view, which is the default on a terminal, unless an option requires "
            "text; an error if it cannot be shown. --format text is text on a terminal, too."),
    PF_FLAG("stdio2", 0, .set = choose_text, "perf's name for --format text.", .hidden = true),
    PF_OPTION_DUMP,
    PF_OPTION_ITRACE,
    PF_OPTION_STDIO_COLOR,
    PF_OPTION_NO_INLINE,
    PF_OPTION_OUTPUT,
    {0},
};

/* ---- what the operands are --------------------------------------------------------------------------------------- */

/* A single operand is the recording if there is such a file, or if it is named like one. */
static bool is_recording(const char *operand)
{
    const size_t bytes = strlen(operand);

    return access(operand, F_OK) == 0 || !strcmp(operand, "-") || (bytes > 5 && !strcmp(operand + bytes - 5, ".data"));
}

static int choose_symbol(const struct pf_command *command, struct pf_settings *settings)
{
    const bool has_symbol =
        settings->operand_count == 2 || (settings->operand_count == 1 && settings->input) ||
        (settings->operand_count == 1 && !settings->annotate.symbol && !is_recording(settings->operands[0]));

    if (!has_symbol)
        return PF_STATUS_OK;
    if (settings->annotate.symbol) {
        pf_message("%s: two functions given, %s and %s", command->name, settings->annotate.symbol,
                   settings->operands[0]);
        return PF_STATUS_USAGE;
    }
    settings->annotate.symbol = *settings->operands++;
    settings->operand_count--;
    return PF_STATUS_OK;
}

/* The width of the terminal on standard output; 0 when it is not a terminal. */
static uint64_t terminal_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return 0;
    if (columns && atoi(columns) > 0)
        return (uint64_t)atoi(columns);
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

static int run(const struct pf_command *command, struct pf_settings *settings)
{
    struct perfile_annotate_options *annotate = &settings->annotate;
    int status = choose_symbol(command, settings);

    if (status)
        return status;
    if (settings->stdio && settings->format) {
        pf_message("%s: --stdio and --format cannot be combined", command->name);
        return PF_STATUS_USAGE;
    }
    if (settings->stdio || (pf_called_perf() && !settings->format && !settings->tui))
        settings->format = "stdio";
    if (!settings->no_arrows)
        annotate->flags |= PERFILE_ANNOTATE_ARROWS;
    if (annotate->data_type)
        annotate->flags |= PERFILE_ANNOTATE_TYPES;
    annotate->flags |= pf_value_number(percent_types, settings->percent_type);
    if (settings->objdump) {
        if (!pf_objdump_start(settings->objdump, settings->annotate.syntax))
            return PF_STATUS_UNREADABLE;
        annotate->disassemble = pf_objdump_disassemble;
    }
    annotate->width = settings->output && !pf_stream_is_standard(settings->output) ? 0 : terminal_width();
    return pf_run_output(command, settings);
}

const struct pf_command pf_command_annotate = {
    .name = "annotate",
    .summary = "print instructions and source lines with the samples at each",
    .doc = "Shows the instructions of SYMBOL, or of the hottest functions, with the percentage of samples at each, and "
           "the source lines between them where there are debug info and source files. A single argument is FILE if "
           "such a file exists, else SYMBOL. The exit status is 1 if no function of that name has samples.",
    .operand = "[SYMBOL] [FILE]",
    .operand_max = 2,
    .pages = true,
    .interactive = true,
    .groups = {PF_GROUP("Options", options), PF_SAMPLE_GROUPS},
    .run = run,
};
