/* SPDX-License-Identifier: MIT */
/* Columns of what an access or an instruction cost. */
#include "analysis/report/columns.h"
#include "base/bytes.h"

static uint64_t class_of(uint64_t cost)
{
    enum { HIGHEST = 63 };
    return cost ? UINT64_C(1) << (HIGHEST - __builtin_clzll(cost)) : 0;
}

#define COST(id, value)                                                                                                \
    void pf_take_##id(struct pf_report *report, struct pf_report_keyed *keyed, const struct pf_profile_sample *sample) \
    {                                                                                                                  \
        (void)report;                                                                                                  \
        keyed->values[PF_VALUE_##id] = value;                                                                          \
    }
COST(local_weight, pf_field_weight(sample->decoded))
COST(weight_class, class_of(pf_field_weight(sample->decoded)))
COST(weight, pf_field_weight(sample->decoded))
COST(local_ins_lat, pf_field_ins_lat(sample->decoded))
COST(ins_lat, pf_field_ins_lat(sample->decoded))
COST(local_retire_lat, pf_field_retire_lat(sample->decoded))
COST(retire_lat, pf_field_retire_lat(sample->decoded))
COST(local_p_stage_cyc, pf_field_retire_lat(sample->decoded))
COST(p_stage_cyc, pf_field_retire_lat(sample->decoded))

/* ---- sums ---- */

#define OF_ROW ((uint64_t)1 << 32) /* beside the key: the frame is one of a row */

/* Of a branch the cost is its cycles, as in perf. */
static uint64_t total_of(const struct pf_report *report, const struct pf_profile_sample *sample)
{
    return report->branching.active ? pf_max(report->branching.current.cycles, 1) : pf_field_weight(sample->decoded);
}

static uint64_t *classes_of(const struct pf_report *report, uint32_t number)
{
    return report->costs.classes + (size_t)number * PF_REPORT_CLASSES;
}

static void add_branches(uint64_t *sums, const struct perfile_branch_stack *stack)
{
    for (uint64_t i = 0; i < stack->count; i++) {
        struct perfile_branch branch;
        perfile_branch_at(stack, i, &branch, sizeof(branch));
        (void)pf_add_to_sum(&sums[PF_COST_BRANCHES], 1);
        (void)pf_add_to_sum(&sums[PF_COST_PREDICTED], branch.predicted);
        (void)pf_add_to_sum(&sums[PF_COST_ABORTS], branch.abort);
        (void)pf_add_to_sum(&sums[PF_COST_CYCLES], branch.cycles);
    }
}

bool pf_report_note_cost(struct pf_report *report, uint32_t key, const struct pf_profile_sample *sample)
{
    uint32_t number;
    if (!pf_pairs_get(&report->costs.index, key, sample->leaf, &number)) {
        number = (uint32_t)report->costs.count;
        if (number == UINT32_MAX ||
            !pf_grow(report->allocator, &report->costs.items, &report->costs.capacity, report->costs.count + 1,
                     sizeof(*report->costs.items)) ||
            (report->layout.by_class &&
             !pf_grow(report->allocator, &report->costs.classes, &report->costs.class_capacity,
                      (report->costs.count + 1) * PF_REPORT_CLASSES, sizeof(*report->costs.classes))) ||
            !pf_pairs_put(&report->costs.index, key, sample->leaf, number))
            return false;
        if (report->layout.by_class)
            memset(classes_of(report, number), 0, PF_REPORT_CLASSES * sizeof(*report->costs.classes));
        report->costs.items[report->costs.count++] = (struct pf_report_cost){.key = key, .frame = sample->leaf};
    }
    uint64_t *sums = report->costs.items[number].sums;
    (void)pf_add_to_sum(&sums[0], total_of(report, sample));
    (void)pf_add_to_sum(&sums[1], pf_field_ins_lat(sample->decoded));
    (void)pf_add_to_sum(&sums[2], pf_field_retire_lat(sample->decoded));
    if (sample->decoded->present & PERFILE_SAMPLE_BRANCH_STACK && !report->branching.active)
        add_branches(sums, &sample->decoded->branch_stack);
    if (report->layout.by_class)
        pf_report_add_classes(classes_of(report, number), sample);
    return true;
}

bool pf_report_gather_costs(struct pf_report *report)
{
    for (uint32_t i = 0; i < report->costs.count; i++) {
        const struct pf_report_cost *cost = &report->costs.items[i];
        const uint32_t frame = report->layout.by_frame ? report->rows.same[cost->frame] : PF_NO_SYMBOL;
        uint32_t first;
        if (!pf_pairs_get(&report->costs.index, cost->key | OF_ROW, frame, &first)) {
            if (!pf_pairs_put(&report->costs.index, cost->key | OF_ROW, frame, i))
                return false;
            continue;
        }
        for (size_t j = 0; j < PF_REPORT_COSTS; j++)
            (void)pf_add_to_sum(&report->costs.items[first].sums[j], cost->sums[j]);
        for (size_t j = 0; j < PF_REPORT_CLASSES && report->layout.by_class; j++)
            (void)pf_add_to_sum(&classes_of(report, first)[j], classes_of(report, i)[j]);
    }
    return true;
}

const struct pf_report_cost *pf_report_cost_of(const struct pf_report *report, const struct pf_report_row *row)
{
    uint32_t number;
    return pf_pairs_get(&report->costs.index, row->key | OF_ROW, row->frame, &number) ? &report->costs.items[number]
                                                                                      : NULL;
}

const uint64_t *pf_report_classes_of(const struct pf_report *report, const struct pf_report_row *row)
{
    const struct pf_report_cost *cost = pf_report_cost_of(report, row);
    return cost ? classes_of(report, (uint32_t)(cost - report->costs.items)) : NULL;
}

/* ---- headers ---- */

void pf_report_see_machine(struct pf_report *report)
{
    const char *arch;
    if (pf_memory_check(report->allocator,
                        perfile_feature_text(report->reader, PERFILE_FEATURE_ARCH, NULL, &arch, NULL)) < 0)
        arch = "";
    report->layout.powerpc = strncmp(arch, "ppc", 3) == 0;
    report->layout.x86 =
        strcmp(arch, "x86_64") == 0 || (strlen(arch) == 4 && arch[0] == 'i' && strcmp(arch + 2, "86") == 0);
}

const char *pf_report_header(const struct pf_report *report, const struct pf_report_column *column)
{
    static const struct {
        const struct pf_report_column *column;
        const char *header;
    } powerpc[] = {{&pf_report_columns[PF_COLUMN_local_ins_lat], "Finish Cyc"},
                   {&pf_report_columns[PF_COLUMN_ins_lat], "Global Finish_cyc"},
                   {&pf_report_columns[PF_COLUMN_local_p_stage_cyc], "Dispatch Cyc"},
                   {&pf_report_columns[PF_COLUMN_p_stage_cyc], "Global Dispatch_cyc"}};
    for (size_t i = 0; i < PF_COUNT(powerpc) && report->layout.powerpc; i++)
        if (powerpc[i].column == column)
            return powerpc[i].header;
    return column->header;
}
