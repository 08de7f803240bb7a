/* SPDX-License-Identifier: MIT */
/*
 * What virtual machines of KVM left their guests for, and how long the host took: the tracepoints kvm_exit and
 * kvm_entry of each virtual CPU, and between them accesses to devices (kvm_mmio, kvm_pio) and to model-specific
 * registers (kvm_msr). What exits are called is in the print format of kvm_exit.
 */
#ifndef PF_ANALYSIS_EVENTS_KVM_H
#define PF_ANALYSIS_EVENTS_KVM_H

#include "analysis/events/fields.h"
#include "analysis/events/sort_keys.h"
#include "analysis/events/source.h"
#include "analysis/stats.h"

extern const struct pf_required_events pf_kvm_events;

enum pf_kvm_kind { PF_KVM_VMEXIT, PF_KVM_MMIO, PF_KVM_IOPORT, PF_KVM_MSR, PF_KVM_KINDS };

struct pf_kvm_row {
    enum pf_kvm_kind kind;
    const char *name; /* "HLT", "0xfee000b0:W" */
    struct pf_stats stats;
    struct pf_histogram histogram;
};

/* What a virtual CPU is at. */
struct pf_kvm_vcpu {
    uint32_t number;
    struct {
        uint64_t start; /* 0: nothing is open */
        uint64_t row;   /* of `rows`; UINT64_MAX: its end says it */
    } open[PF_KVM_KINDS];
};

struct pf_kvm {
    struct perfile_reader *reader;
    const struct perfile_allocator *allocator;
    struct pf_events events;
    struct pf_arena arena;
    struct pf_trace_format *exits; /* the format of kvm_exit; NULL: not understood */
    bool has_exits;                /* it was looked for */
    struct pf_map names;           /* distinct texts */
    struct pf_map index;           /* of rows, by name and kind */
    struct pf_map threads;         /* virtual CPUs, by thread */
    struct pf_kvm_vcpu *vcpus;
    size_t vcpu_count, vcpu_capacity;
    struct pf_kvm_row *rows;
    size_t count, capacity;
    struct pf_sort_keys keys;
    const char *kinds; /* "vmexit,mmio,ioport,msr"; NULL: all */
    int64_t vcpu;      /* only this one; -1: all */
    uint64_t unknown, open_count;
};

void pf_kvm_open(struct pf_kvm *kvm, struct perfile_reader *reader, const struct perfile_allocator *allocator);
void pf_kvm_close(struct pf_kvm *kvm);
/* By what an output was asked for: sort keys, kinds and virtual CPU. 0, or ARGUMENT. */
int pf_kvm_choose(struct pf_kvm *kvm, const struct perfile_event_options *options, struct perfile_error *error);
/* False: out of memory. */
bool pf_kvm_take(struct pf_kvm *kvm, const struct pf_delivered *item);
/* At the end. */
void pf_kvm_sort(struct pf_kvm *kvm);
/* "vmexit". */
const char *pf_kvm_kind_name(enum pf_kvm_kind kind);
void pf_kvm_notify(struct pf_kvm *kvm, pf_on_note *notify, void *context);

#endif
