/* SPDX-License-Identifier: MIT */
/* Header features in the making: where things are read, and the section that grows. */
#ifndef PF_RECORD_MACHINE_BODY_H
#define PF_RECORD_MACHINE_BODY_H

#include "record/machine.h"
#include "record/machine_files.h"

struct pf_body {
    int root;
    const struct perfile_allocator *allocator;
    const struct pf_event_list *events;
    struct pf_text *text; /* the section, in this machine's byte order */
    unsigned cpus;        /* the highest that is present, plus one */
    char online[4096];    /* list of CPUs */
};

void pf_body_u32(struct pf_body *body, uint32_t value);
void pf_body_u64(struct pf_body *body, uint64_t value);
/* Length and text, padded to 64 bytes as perf does. */
void pf_body_text(struct pf_body *body, const char *text);
/* Sets a number that was written before its value was known. */
void pf_body_set_u32(struct pf_body *body, size_t at, uint32_t value);

/* Each writes one section; false: this machine does not say it. */
bool pf_body_cpu_description(struct pf_body *body);
bool pf_body_cpuid(struct pf_body *body);
bool pf_body_cpu_topology(struct pf_body *body);
bool pf_body_cache(struct pf_body *body);
bool pf_body_cpu_domains(struct pf_body *body);
bool pf_body_cache_line(struct pf_body *body);
bool pf_body_total_memory(struct pf_body *body);
bool pf_body_numa_topology(struct pf_body *body);
bool pf_body_memory_topology(struct pf_body *body);
bool pf_body_pmu_mappings(struct pf_body *body);
bool pf_body_cpu_pmu_caps(struct pf_body *body);
bool pf_body_pmu_caps(struct pf_body *body);
bool pf_body_hybrid_topology(struct pf_body *body);
bool pf_body_bpf_programs(struct pf_body *body);
bool pf_body_bpf_types(struct pf_body *body);

#endif
