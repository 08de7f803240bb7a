/* SPDX-License-Identifier: MIT */
/* What counts say beside others: clocks beside the time that went by, events beside clocks, misses beside hits. */
#include "output/stat/sheet.h"

/* In hundreds and so on a second: the unit of rates. */
static const struct {
    double from;
    const char *unit;
} rates[] = {{1e9, "G/sec"}, {1e6, "M/sec"}, {1e3, "K/sec"}, {0, "/sec"}};

static const struct {
    enum pf_stat_kind of;
    double factor;
    const char *unit;
    enum pf_stat_form form;
} relations[PF_STAT_OTHER] = {
    [PF_STAT_CYCLES] = {PF_STAT_CLOCK, 1, "GHz", PF_STAT_RATIO},
    [PF_STAT_INSTRUCTIONS] = {PF_STAT_CYCLES, 1, "insn per cycle", PF_STAT_HUNDREDTHS},
    [PF_STAT_CACHE_MISSES] = {PF_STAT_CACHE_REFERENCES, 100, "of all cache refs", PF_STAT_PERCENT},
    [PF_STAT_BRANCH_MISSES] = {PF_STAT_BRANCHES, 100, "of all branches", PF_STAT_PERCENT},
    [PF_STAT_STALLED_FRONTEND] = {PF_STAT_CYCLES, 100, "frontend cycles idle", PF_STAT_PERCENT},
    [PF_STAT_STALLED_BACKEND] = {PF_STAT_CYCLES, 100, "backend cycles idle", PF_STAT_PERCENT},
};

enum pf_stat_kind pf_stat_kind_of(const struct perfile_event *event)
{
    static const uint8_t hardware[] = {PF_STAT_CYCLES,       PF_STAT_INSTRUCTIONS,     PF_STAT_CACHE_REFERENCES,
                                       PF_STAT_CACHE_MISSES, PF_STAT_BRANCHES,         PF_STAT_BRANCH_MISSES,
                                       PF_STAT_OTHER,        PF_STAT_STALLED_FRONTEND, PF_STAT_STALLED_BACKEND};
    const struct perfile_attr *attr = event->attr;
    if (attr->type == PERFILE_TYPE_SOFTWARE && attr->config <= PERFILE_COUNT_SW_TASK_CLOCK)
        return PF_STAT_CLOCK;
    /* the upper half says which PMU of several */
    if (attr->type == PERFILE_TYPE_HARDWARE && (uint32_t)attr->config < PF_COUNT(hardware))
        return (enum pf_stat_kind)hardware[(uint32_t)attr->config];
    return PF_STAT_OTHER;
}

static struct pf_stat_metric rate_of(double count, double clock)
{
    const double rate = count / clock * 1e9;
    size_t i = 0;
    while (rate < rates[i].from)
        i++;
    return (struct pf_stat_metric){rates[i].from > 0 ? rate / rates[i].from : rate, rates[i].unit, PF_STAT_RATIO};
}

struct pf_stat_metric pf_stat_metric_of(const struct pf_stat_sheet *sheet, const struct pf_stat_line *line)
{
    const struct pf_stat_metric nothing = {0, NULL, PF_STAT_RATIO};
    const struct pf_stat_group *group = &sheet->groups[line->group];
    const enum pf_stat_kind kind = pf_stat_kind_of(line->event);
    if (pf_stat_lack(line))
        return nothing;
    if (kind == PF_STAT_CLOCK)
        return sheet->elapsed ? (struct pf_stat_metric){(double)line->count / (double)sheet->elapsed, "CPUs utilized",
                                                        PF_STAT_RATIO}
                              : nothing;
    if (kind != PF_STAT_OTHER && relations[kind].unit && group->counts[relations[kind].of] > 0)
        return (struct pf_stat_metric){relations[kind].factor * (double)line->count / group->counts[relations[kind].of],
                                       relations[kind].unit, relations[kind].form};
    return group->counts[PF_STAT_CLOCK] > 0 ? rate_of((double)line->count, group->counts[PF_STAT_CLOCK]) : nothing;
}

const char *pf_stat_lack(const struct pf_stat_line *line)
{
    return !line->supported ? "<not supported>" : !line->running ? "<not counted>" : NULL;
}
