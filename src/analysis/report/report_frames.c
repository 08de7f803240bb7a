/* SPDX-License-Identifier: MIT */
/* Which frames are the same to the columns of a report: they have one row. */
#include "analysis/report/report.h"
#include "base/bytes.h"

enum { NO_DSO = 1 }; /* not the address of any text */

/* What the column of symbols compares: the function of a frame, or its address without one. *kind says which. */
static uint64_t symbol_key(const struct pf_report *report, const struct pf_frame_info *info, uint64_t *kind)
{
    *kind = 0;
    if (!report->layout.by_symbol)
        return 0;
    if (info->name) {
        *kind = 1;
        return info->function;
    }
    *kind = 2;
    return info->address;
}

/* A file by its short name, which others may have, too. */
struct dso {
    uint64_t name; /* interned */
    bool shared;
};

static bool name_dsos(struct pf_report *report, struct dso *dsos, size_t count)
{
    struct pf_map known;
    bool enough = true;
    pf_map_open(&known, report->allocator);
    for (uint32_t i = 0; i < count && enough; i++) {
        const char *name = pf_symbols_module(report->symbols, i)->short_name;
        uint64_t first;
        dsos[i] = (struct dso){.name = pf_report_intern(report, name, strlen(name))};
        if (pf_map_get(&known, dsos[i].name, &first))
            dsos[first].shared = dsos[i].shared = true;
        else
            enough = dsos[i].name && pf_map_put(&known, dsos[i].name, i);
    }
    pf_map_close(&known);
    return enough;
}

/* Nothing else can be the same: of functions there is one frame each, and of addresses one in each file. */
static bool is_alone(const struct pf_report *report, const struct pf_frame_info *info, bool only_file)
{
    return report->layout.by_symbol && !report->layout.by_address &&
           (info->name || (report->layout.by_dso && only_file));
}

static bool number_frames(struct pf_report *report, const struct dso *dsos)
{
    static const struct dso none = {NO_DSO, false};
    const size_t count = pf_profile_frame_count(report->profile);
    struct pf_pairs known;
    bool enough = true;
    pf_pairs_open(&known, report->allocator);
    for (uint32_t frame = 0; frame < count && enough; frame++) {
        const struct pf_frame_info *info = pf_profile_frame(report->profile, frame);
        const struct dso *dso = info->module == PF_NO_SYMBOL ? &none : &dsos[info->module];
        uint64_t kind, symbol = symbol_key(report, info, &kind);
        const uint64_t a = (report->layout.by_dso ? dso->name : 0) << 2 | kind;
        if (is_alone(report, info, !dso->shared)) {
            report->rows.same[frame] = frame;
        } else if (!pf_pairs_get(&known, a, symbol, &report->rows.same[frame])) {
            report->rows.same[frame] = frame;
            enough = pf_pairs_put(&known, a, symbol, frame);
        }
    }
    pf_pairs_close(&known);
    return enough;
}

/* Frames that were the same so far stay the same only if the column has the same value for them. */
static bool distinguish(struct pf_report *report, const struct pf_report_column *column)
{
    const size_t count = pf_profile_frame_count(report->profile);
    struct pf_pairs known;
    bool enough = true;
    pf_pairs_open(&known, report->allocator);
    for (uint32_t frame = 0; frame < count && enough; frame++) {
        const uint64_t value = column->distinguish(report, pf_profile_frame(report->profile, frame));
        const uint32_t same = report->rows.same[frame];
        if (!pf_pairs_get(&known, same, value, &report->rows.same[frame])) {
            report->rows.same[frame] = frame;
            enough = pf_pairs_put(&known, same, value, frame);
        }
    }
    pf_pairs_close(&known);
    return enough && !report->texts.short_of_memory;
}

bool pf_report_find_same_frames(struct pf_report *report)
{
    const size_t count = pf_symbols_module_count(report->symbols);
    size_t capacity = 0;
    struct dso *dsos = NULL;
    if (!report->layout.by_frame)
        return true;
    bool enough = pf_grow(report->allocator, &dsos, &capacity, count + 1, sizeof(*dsos)) &&
                  pf_grow(report->allocator, &report->rows.same, &report->rows.same_capacity,
                          pf_profile_frame_count(report->profile) + 1, sizeof(*report->rows.same)) &&
                  name_dsos(report, dsos, count) && number_frames(report, dsos);
    for (size_t i = 0; i < report->layout.key_count && enough; i++)
        if (report->layout.keys[i]->distinguish)
            enough = distinguish(report, report->layout.keys[i]);
    pf_free(report->allocator, dsos, capacity * sizeof(*dsos));
    return enough;
}
