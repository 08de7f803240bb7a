/* SPDX-License-Identifier: MIT */
/* The functions of columns that have a file of their own. */
#ifndef PF_ANALYSIS_REPORT_COLUMNS_H
#define PF_ANALYSIS_REPORT_COLUMNS_H

#include "analysis/report/report.h"

/* columns_memory.c: the order of frames by their address, and of cache lines; the width that perf leaves for them. */
int pf_compare_accesses(const struct pf_report *report, uint64_t a, uint64_t b);
int pf_compare_lines(const struct pf_report *report, uint64_t a, uint64_t b);
size_t pf_min_dso_daddr(const struct pf_report *report, const struct pf_report_row *row);
size_t pf_min_symbol_daddr(const struct pf_report *report, const struct pf_report_row *row);
size_t pf_min_symbol_iaddr(const struct pf_report *report, const struct pf_report_row *row);
size_t pf_min_dcacheline(const struct pf_report *report, const struct pf_report_row *row);
/* columns_types.c: the order of members of types, and of their cache lines. */
int pf_compare_members(const struct pf_report *report, uint64_t a, uint64_t b);
int pf_compare_type_lines(const struct pf_report *report, uint64_t a, uint64_t b);
/* A value that is an interned text, or 0. */
void pf_put_interned(struct pf_text *text, uint64_t value);

#define PF_COLUMN_VALUE(...)
#define PF_COLUMN_SAMPLE(...)
#define PF_COLUMN_FRAME(...)
#define PF_COLUMN_KEPT(id, ...)                                                                                        \
    void pf_take_##id(struct pf_report *report, struct pf_report_keyed *keyed,                                         \
                      const struct pf_profile_sample *sample);                                                         \
    void pf_text_##id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text);
#define PF_COLUMN_LOCATION(id, ...)                                                                                    \
    uint64_t pf_distinguish_##id(struct pf_report *report, const struct pf_frame_info *frame);                         \
    int pf_compare_##id(const struct pf_report *report, const struct pf_report_row *a, const struct pf_report_row *b); \
    void pf_text_##id(const struct pf_report *report, const struct pf_report_row *row, struct pf_text *text);
#define PF_COLUMN_LATER(...)
#include "analysis/report/columns.def"

#endif
