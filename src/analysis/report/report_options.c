/* SPDX-License-Identifier: MIT */
/* What was asked for: the settings of a report. */
#include <stdlib.h>

#include "analysis/report/report.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/locale.h"

static bool parse_percent(const char *text, double *percent)
{
    char *end;
    double value = pf_parse_double(text, &end);
    if (end == text || (*end && strcmp(end, "%") != 0) || !(value >= 0.0 && value <= 100.0))
        return false;
    *percent = value;
    return true;
}

/* One word of perf's -g; words of its defaults are taken and change nothing. */
struct graph_words {
    bool limited; /* there was a number, the percentage: the next one is the number of branches */
};

#define AT(member, number) offsetof(struct pf_report_settings, member), number
static const struct graph_word {
    const char *word;
    size_t offset; /* of a uint8_t in the settings */
    uint8_t value;
} graph_words[] = {
    {"none", AT(order, PF_GRAPH_NONE)},
    {"caller", AT(order, PF_GRAPH_CALLER)},
    {"callee", AT(order, PF_GRAPH_CALLEE)},
    {"graph", AT(shape, PF_GRAPH_TREE)},
    {"fractal", AT(shape, PF_GRAPH_TREE)},
    {"flat", AT(shape, PF_GRAPH_FLAT)},
    {"folded", AT(shape, PF_GRAPH_FOLDED)},
    {"percent", AT(graph_value, PF_GRAPH_PERCENT)},
    {"period", AT(graph_value, PF_GRAPH_PERIOD)},
    {"count", AT(graph_value, PF_GRAPH_COUNT)},
    {"function", AT(graph_key, PF_GRAPH_FUNCTION)},
    {"address", AT(graph_key, PF_GRAPH_ADDRESS)},
    {"srcline", AT(graph_key, PF_GRAPH_SRCLINE)},
};
#undef AT

static bool set_known_word(struct pf_report *report, const char *word)
{
    for (size_t i = 0; i < PF_COUNT(graph_words); i++)
        if (strcmp(word, graph_words[i].word) == 0) {
            ((uint8_t *)&report->settings)[graph_words[i].offset] = graph_words[i].value;
            if (graph_words[i].offset == offsetof(struct pf_report_settings, shape))
                report->settings.fractal = strcmp(word, "fractal") == 0;
            return true;
        }
    return false;
}

/* perf's numbers: a percentage, then the branches of each level. */
static bool set_number(struct pf_report *report, const char *word, struct graph_words *words)
{
    char *end;
    if (!words->limited)
        return words->limited = parse_percent(word, &report->settings.graph_limit_percent);
    const unsigned long number = strtoul(word, &end, 10);
    if (word[0] < '0' || word[0] > '9' || *end)
        return false;
    report->settings.max_branches = number ? number : UINT64_MAX;
    return true;
}

static int set_graph_word(struct pf_report *report, const char *word, struct graph_words *words,
                          struct perfile_error *error)
{
    char *end;
    if (!*word || set_known_word(report, word) || set_number(report, word, words))
        return 0;
    (void)pf_parse_double(word, &end);
    if (strcmp(word, "branch") == 0)
        return pf_about(error, word, strlen(word),
                        pf_fail(error, PERFILE_ERROR_UNSUPPORTED, PERFILE_NO_OFFSET, "call-graph",
                                "'%s' is not supported yet", word));
    return pf_about(error, word, strlen(word),
                    pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "call-graph",
                            *end || end == word ? "unknown value '%.40s'; valid: graph, fractal, flat, folded, none, "
                                                  "caller, callee, function, address, srcline, percent, period, "
                                                  "count, and a least percentage"
                                                : "invalid percentage %.40s",
                            word));
}

static int parse_graph(struct pf_report *report, const char *text, struct perfile_error *error)
{
    char word[48];
    struct graph_words words = {false};
    int result = 0;
    for (; result == 0; text++) {
        size_t bytes = strcspn(text, ",");
        size_t kept = pf_min(bytes, sizeof(word) - 1);
        memcpy(word, text, kept);
        word[kept] = '\0';
        result = set_graph_word(report, word, &words, error);
        text += bytes;
        if (!*text)
            break;
    }
    return result;
}

static int parse_limits(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_report_options *options = report->options->report;
    report->settings.graph_limit_percent = 0.5;
    report->settings.max_branches = UINT64_MAX;
    report->settings.max_stack = options->max_stack ? options->max_stack : UINT64_MAX;
    if (options->percent_limit) {
        if (!parse_percent(options->percent_limit, &report->settings.limit_percent))
            return pf_about(error, options->percent_limit, strlen(options->percent_limit),
                            pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "percent-limit",
                                    "invalid percentage \"%.40s\" (expected 0 to 100)", options->percent_limit));
        report->settings.graph_limit_percent = report->settings.limit_percent; /* as perf has it; -g may say more */
    }
    return 0;
}

/* By default graphs go from caller to callee with children, and from callee to caller without, as in perf. */
static int parse_graph_options(struct pf_report *report, struct perfile_error *error)
{
    const struct perfile_report_options *options = report->options->report;
    report->settings.children = !(options->flags & (PERFILE_REPORT_NO_CHILDREN | PERFILE_REPORT_MEMORY));
    report->settings.order = options->flags & PERFILE_REPORT_NO_CHILDREN ? PF_GRAPH_CALLEE : PF_GRAPH_CALLER;
    if (options->flags & PERFILE_REPORT_INVERTED)
        report->settings.order = PF_GRAPH_CALLER;
    else if (options->columns && !options->call_graph)
        report->settings.order = PF_GRAPH_NONE;
    int result = options->call_graph ? parse_graph(report, options->call_graph, error) : 0;
    report->settings.relative = options->percentage && strcmp(options->percentage, "relative") == 0;
    report->settings.hides_unresolved = options->flags & PERFILE_REPORT_RESOLVED;
    if (result == 0)
        result = pf_report_choose_branches(report, error);
    report->settings.by_weight = options->flags & PERFILE_REPORT_MEMORY;
    if (report->branching.history) {
        report->settings.children = false;
        report->settings.graph_key = PF_GRAPH_ADDRESS;
        report->settings.order = report->settings.order == PF_GRAPH_NONE ? PF_GRAPH_NONE : PF_GRAPH_CALLEE;
    }
    if (report->branching.active) {
        report->settings.children = false;
        report->settings.order = PF_GRAPH_NONE;
    }
    report->settings.stacks = report->settings.children || report->settings.order != PF_GRAPH_NONE;
    report->chains.arriving.limit = report->settings.stacks ? (size_t)pf_min(options->max_nodes, SIZE_MAX) : 0;
    return result;
}

_Static_assert(sizeof(struct pf_tree_node) + 2 * sizeof(struct pf_tree_slot) + sizeof(uint64_t) <=
                   PERFILE_REPORT_NODE_BYTES,
               "a node, its slot in a table that is half empty, and its total");

int pf_report_parse_settings(struct pf_report *report, struct perfile_error *error)
{
    report->settings.by_latency = report->options->report->flags & PERFILE_REPORT_LATENCY;
    report->settings.hierarchy = report->options->report->flags & PERFILE_REPORT_HIERARCHY;
    const int result = parse_limits(report, error);
    return result < 0 ? result : parse_graph_options(report, error);
}
