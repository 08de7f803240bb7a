/* SPDX-License-Identifier: MIT */
/* The hardware traces that PMUs write to AUX buffers, and what readers must know of the PMU to decode them. */
#ifndef PF_RECORD_AUX_KIND_H
#define PF_RECORD_AUX_KIND_H

#include "record/event_parts.h"
#include "record/machine.h"
#include "record/target.h"

struct pf_aux_kind;

/* NULL: the PMU of this name, which may be NULL, writes none. */
const struct pf_aux_kind *pf_aux_kind_of(const char *pmu);
/* Whether the period that is asked for is that of its events, too; else there is only one. */
bool pf_aux_kind_has_period(const struct pf_aux_kind *kind);
/* Records have a multiple of so many bytes. */
size_t pf_aux_kind_alignment(const struct pf_aux_kind *kind);
/* The terms that an event has unless its text says otherwise, as far as the PMU knows them, and its period. MEMORY. */
int pf_aux_set_defaults(struct pf_sys *sys, struct pf_pmu *pmu, struct pf_listed_event *event);
/* The sink of this name, "tmc_etr0", becomes that of the event. ARGUMENT, MEMORY. */
int pf_aux_set_sink(struct pf_sys *sys, struct pf_pmu *pmu, struct pf_piece name, struct perfile_attr *attr);

/* What AUXTRACE_INFO is made of. */
struct pf_aux_setting {
    struct pf_event_list *chosen;
    const struct pf_target *target;
    struct perfile_time_conv time;
    bool snapshot;
};
/* Writes AUXTRACE_INFO for the events that write AUX data. UNSUPPORTED: a part of the PMU is not known; MEMORY. */
int pf_aux_put_info(const struct pf_aux_setting *setting, const struct pf_synthesis *synthesis,
                    struct perfile_error *error);

#endif
