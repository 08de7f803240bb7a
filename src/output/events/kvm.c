/* SPDX-License-Identifier: MIT */
/* Exits of virtual machines as `perf kvm stat report` prints them. */
#include "analysis/events/kvm.h"

#include <inttypes.h>

#include "base/error.h"
#include "output/events/events.h"

static const char *const titles[PF_KVM_KINDS] = {"VM-EXIT", "MMIO Access", "IO Port Access", "MSR Access"};

static void put_title(struct pf_text *out, const struct perfile_output_options *options, enum pf_kvm_kind kind)
{
    const char *pids = options->filter ? options->filter->pids : NULL, *vcpu = options->events->vcpu;
    pf_put_string(out, "\n\nAnalyze events for ");
    if (pids)
        pf_put_format(out, "pid(s) %s, ", pids);
    else
        pf_put_string(out, "all VMs, ");
    if (vcpu)
        pf_put_format(out, "VCPU %s:\n\n", vcpu);
    else
        pf_put_string(out, "all VCPUs:\n\n");
    pf_put_format(out, "%40s %10s %9s %9s %11s %11s %16s \n\n", titles[kind], "Samples", "Samples%", "Time%",
                  "Min Time", "Max Time", "Avg time");
}

static void put_name(struct pf_text *out, const char *name)
{
    for (size_t width = strlen(name); width < 40; width++)
        pf_put_char(out, ' ');
    pf_put_name(out, name);
}

static void put_row(struct pf_text *out, const struct pf_kvm_row *row, const struct pf_stats *total)
{
    const struct pf_stats *stats = &row->stats;
    put_name(out, row->name);
    pf_put_format(out, " %10" PRIu64 " %8.2f%% %8.2f%% %9.2fus %9.2fus %9.2fus ( +-%7.2f%% )\n", stats->count,
                  (double)stats->count * 100 / (double)total->count,
                  total->sum ? (double)stats->sum * 100 / (double)total->sum : 0, (double)stats->min / 1e3,
                  (double)stats->max / 1e3, (double)stats->sum / (double)stats->count / 1e3,
                  pf_stats_error_percent(stats));
}

static void put_kind(struct pf_text *out, const struct perfile_output_options *options, const struct pf_kvm *kvm,
                     enum pf_kvm_kind kind)
{
    struct pf_stats total = {0};
    for (size_t i = 0; i < kvm->count; i++)
        if (kvm->rows[i].kind == kind) {
            total.count += kvm->rows[i].stats.count;
            total.sum += kvm->rows[i].stats.sum;
        }
    put_title(out, options, kind);
    for (size_t i = 0; i < kvm->count; i++)
        if (kvm->rows[i].kind == kind)
            put_row(out, &kvm->rows[i], &total);
    pf_put_format(out, "\nTotal Samples:%" PRIu64 ", Total events handled time:%.2fus.\n\n", total.count,
                  (double)total.sum / 1e3);
}

static int read_all(struct pf_kvm *kvm, struct pf_delivery *delivery, struct perfile_error *error)
{
    struct pf_delivered item;
    int result;
    while ((result = pf_delivery_next(delivery, &item, error)) > 0)
        if (!pf_kvm_take(kvm, &item))
            return pf_fail_memory(error, "virtual machines");
    return result;
}

static void put_all(struct pf_text *out, const struct perfile_output_options *options, struct pf_kvm *kvm)
{
    pf_kvm_sort(kvm);
    for (enum pf_kvm_kind kind = 0; kind < PF_KVM_KINDS; kind++)
        if (!kvm->kinds || !strcmp(kvm->kinds, pf_kvm_kind_name(kind)))
            put_kind(out, options, kvm, kind);
}

static int write_kvm(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                     struct perfile_error *error)
{
    const struct pf_event_source source = {options->allocator, options->filter, options->progress,
                                           options->progress_context};
    struct pf_delivery *delivery = NULL;
    struct pf_kvm kvm;
    pf_kvm_open(&kvm, reader, options->allocator);
    int result = pf_kvm_choose(&kvm, options->events, error);
    if (result == 0)
        result = pf_event_source_open(&source, reader, &delivery, error);
    if (result == 0)
        result = read_all(&kvm, delivery, error);
    if (delivery && result != PERFILE_ERROR_MEMORY) {
        put_all(out, options, &kvm);
        pf_kvm_notify(&kvm, options->symbols->note, options->symbols->note_context);
        pf_delivery_notify_unmatched(delivery, options->unmatched, options->unmatched_context);
    }
    pf_kvm_close(&kvm);
    pf_delivery_close(delivery);
    return result;
}

const struct pf_output pf_output_kvm = {
    .info = {"kvm", "stdio", "exits of virtual machines as perf kvm stat report prints them"},
    .write = write_kvm,
};
