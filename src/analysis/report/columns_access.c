/* SPDX-License-Identifier: MIT */
/* Columns of the shares of accesses by class: what they are, where their data and their translation came from. */
#include "analysis/report/columns.h"
#include "base/bytes.h"

/* ---- the class of an access, as its number in the group ---- */

enum { UNKNOWN = 0xff };

static uint64_t bits_of(uint64_t data_src, unsigned shift, unsigned bits)
{
    return data_src >> shift & (((uint64_t)1 << bits) - 1);
}

/* A prefetch or a fetch of code may be a load, too. */
static unsigned class_of_op(uint64_t data_src)
{
    enum { LOAD, STORE, LOAD_STORE, PREFETCH, EXEC };
    static const uint8_t classes[8] = {UNKNOWN, UNKNOWN, LOAD, UNKNOWN, STORE, UNKNOWN, LOAD_STORE, UNKNOWN};
    const uint64_t op = bits_of(data_src, 0, 5);
    return op & 8 ? PREFETCH : op & 16 ? EXEC : classes[op];
}

static uint64_t level_number(uint64_t data_src)
{
    return bits_of(data_src, 33, 4);
}

/* Levels that only have bits, which the kernel sets beside the numbers, are of no class, as in perf. */
static unsigned class_of_cache(uint64_t data_src)
{
    enum { L1, L2, L3, L4, L1_BUFFER, L2_BUFFER };
    static const uint8_t classes[16] = {UNKNOWN, L1,      L2,      L3,      L4,        L2_BUFFER, UNKNOWN, UNKNOWN,
                                        UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, L1_BUFFER, UNKNOWN,   UNKNOWN, UNKNOWN};
    return classes[level_number(data_src)];
}

static unsigned class_of_memory(uint64_t data_src)
{
    enum { RAM, SIDE_CACHE, UNCACHED, CXL, IO, PERSISTENT };
    static const uint8_t classes[16] = {UNKNOWN,  UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, SIDE_CACHE, UNKNOWN,
                                        UNCACHED, CXL,     IO,      UNKNOWN, UNKNOWN, RAM,     PERSISTENT, UNKNOWN};
    return classes[level_number(data_src)];
}

static unsigned class_of_snoop(uint64_t data_src)
{
    enum { HIT, HITM, MISS };
    switch (bits_of(data_src, 19, 5)) {
    case 4:
        return HIT;
    case 8:
        return MISS;
    case 16:
        return HITM;
    default:
        return UNKNOWN;
    }
}

static unsigned class_of_dtlb(uint64_t data_src)
{
    enum { L1, L2, ANY, MISS };
    const uint64_t tlb = bits_of(data_src, 26, 7);
    if (tlb & 4)
        return MISS;
    switch (tlb) {
    case 2 | 8:
        return L1;
    case 2 | 16:
        return L2;
    case 2 | 8 | 16:
        return ANY;
    default:
        return UNKNOWN;
    }
}

/* ---- groups ---- */

enum access_group {
#define GROUP(id, title, doc) GROUP_##id,
#define GROUPS                                                                                                         \
    GROUP(op, "Mem Op", "Shares of loads, stores and other accesses, side by side.")                                   \
    GROUP(cache, "Cache", "Shares of accesses by the cache that their data came from, side by side.")                  \
    GROUP(memory, "Memory", "Shares of accesses by the memory that their data came from, side by side.")               \
    GROUP(snoop, "Snoop", "Shares of accesses by what was in other caches, side by side.")                             \
    GROUP(dtlb, "D-TLB", "Shares of accesses by where the address was translated, side by side.")
    GROUPS
#undef GROUP
};

static const struct access_group_row {
    const char *name, *title, *doc;
    unsigned (*class_of)(uint64_t data_src);
} groups[] = {
#define GROUP(id, title, doc) {#id, title, doc, class_of_##id},
    GROUPS
#undef GROUP
};

/* Of each class its group. */
static const uint8_t group_of[PF_REPORT_CLASSES] = {
#define PF_ACCESS_CLASS(group, ...) GROUP_##group,
#include "analysis/report/access_classes.def"
};

static size_t class_number(const struct pf_report_column *column)
{
    return (size_t)(column - &pf_report_columns[PF_COLUMN_op_load]);
}

static bool is_class(const struct pf_report_column *column)
{
    return column->needs == PF_COLUMN_NEEDS_CLASSES;
}

const char *pf_report_title(const struct pf_report_column *column)
{
    return is_class(column) ? groups[group_of[class_number(column)]].title : NULL;
}

const char *pf_report_access_group_at(size_t index, const char **doc)
{
    index += index >= GROUP_snoop; /* which is listed as a column of its own */
    if (index >= PF_COUNT(groups))
        return NULL;
    *doc = groups[index].doc;
    return groups[index].name;
}

/* `snoop` is a column of its own, too. */
size_t pf_report_access_columns(const char *word, size_t bytes, bool snoop, enum pf_column_number *first)
{
    for (size_t i = 0; i < PF_COUNT(groups); i++) {
        if (strlen(groups[i].name) != bytes || memcmp(groups[i].name, word, bytes) != 0 || (i == GROUP_snoop && !snoop))
            continue;
        size_t from = 0, count = 0;
        while (group_of[from] != i)
            from++;
        while (from + count < PF_REPORT_CLASSES && group_of[from + count] == i)
            count++;
        *first = (enum pf_column_number)(PF_COLUMN_op_load + from);
        return count;
    }
    return 0;
}

/* ---- sums ---- */

/* The classes of a sample, one of each group. */
static void find_classes(const struct pf_profile_sample *sample, uint8_t classes[PF_COUNT(groups)])
{
    const uint64_t data_src = pf_field_data_src(sample->decoded);
    size_t next = 0;
    for (size_t i = 0; i < PF_COUNT(groups); i++) {
        const size_t first = next;
        while (next < PF_REPORT_CLASSES && group_of[next] == i)
            next++;
        const unsigned class = groups[i].class_of(data_src);
        classes[i] = (uint8_t)(class == UNKNOWN ? next - 1 : first + class);
    }
}

void pf_report_note_classes(struct pf_report_event *event, const struct pf_profile_sample *sample)
{
    uint8_t classes[PF_COUNT(groups)];
    find_classes(sample, classes);
    for (size_t i = 0; i < PF_COUNT(groups); i++)
        event->classes |= (uint32_t)1 << classes[i];
}

void pf_report_add_classes(uint64_t sums[PF_REPORT_CLASSES], const struct pf_profile_sample *sample)
{
    uint8_t classes[PF_COUNT(groups)];
    find_classes(sample, classes);
    for (size_t i = 0; i < PF_COUNT(groups); i++)
        (void)pf_add_to_sum(&sums[classes[i]], sample->period);
}

bool pf_report_class_occurs(const struct pf_report *report, const struct pf_report_column *column,
                            const struct perfile_event *event)
{
    if (!is_class(column) || !event)
        return true;
    const struct pf_report_event *of = &report->events.items[event->index];
    uint32_t classes = 0;
    for (uint32_t i = 0; i < pf_report_shown(of); i++)
        classes |= pf_report_member(report, of, i)->classes;
    return classes >> class_number(column) & 1;
}

/* ---- cells ---- */

static double share_of(const struct pf_report *report, const struct pf_report_row *row, uint32_t position, size_t class)
{
    const uint64_t *sums = report->groups.classes + (size_t)(row->parts + position) * PF_REPORT_CLASSES;
    return pf_report_percent(sums[class], pf_report_member(report, pf_report_event(report, row), position)->period);
}

void pf_report_put_class(const struct pf_report *report, const struct pf_report_row *row, size_t class,
                         struct pf_text *text)
{
    const uint32_t shown = pf_report_shown(pf_report_event(report, row));
    for (uint32_t i = 0; i < shown; i++)
        pf_put_format(text, "%6.1f%%", share_of(report, row, i, class));
}

double pf_report_class_share(const struct pf_report *report, const struct pf_report_row *row, size_t class)
{
    return share_of(report, row, 0, class);
}
