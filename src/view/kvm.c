/* SPDX-License-Identifier: MIT */
/* Exits of virtual machines, and accesses to their devices and registers, by what they were for. */
#include "analysis/events/kvm.h"

#include "view/gathered.h"

struct kvm {
    struct pf_gathered gathered; /* first */
    struct pf_kvm kvm;
    const struct pf_kvm_row *row; /* in hand */
};

#define ROW const struct pf_kvm_row *row = ((const struct kvm *)state)->row
PF_PUT_AS(event, ROW, pf_set_lasting, pf_kvm_kind_name(row->kind))
PF_PUT_AS(reason, ROW, pf_set_lasting, row->name)
PF_PUT_AS(samples, ROW, pf_set_u64, row->stats.count)
PF_PUT_AS(total, ROW, pf_set_u64, row->stats.sum)
PF_PUT_AS(min, ROW, pf_set_u64, row->stats.min)
PF_PUT_AS(average, ROW, pf_set_u64, pf_stats_average(&row->stats))
PF_PUT_AS(p50, ROW, pf_set_quantile, &row->stats, &row->histogram, 50)
PF_PUT_AS(p99, ROW, pf_set_quantile, &row->stats, &row->histogram, 99)
PF_PUT_AS(max, ROW, pf_set_u64, row->stats.max)
PF_PUT_AS(error, ROW, pf_set_f64, pf_stats_error_percent(&row->stats))

static const struct pf_column columns[] = {
    PF_REQUIRED(event, TEXT, "", "vmexit: the guest was left; mmio, ioport, msr: what it accessed then."),
    PF_REQUIRED(reason, TEXT, "", "Why, as the kernel calls it; of accesses the address, R or PIN to read, W or POUT."),
    PF_REQUIRED(samples, U64, "", "How often."),
    PF_REQUIRED(total, DURATION, "ns",
                "Time in the host, until the guest ran again; of mmio reads until they were done."),
    PF_REQUIRED(min, DURATION, "ns", "The shortest of these times."),
    PF_REQUIRED(average, DURATION, "ns", "Average."),
    PF_REQUIRED(p50, DURATION, "ns", "Half of them took no longer."),
    PF_REQUIRED(p99, DURATION, "ns", "99 % of them took no longer."),
    PF_REQUIRED(max, DURATION, "ns", "The longest."),
    PF_REQUIRED_EXTRA(error, F64, "percent", "Standard error of the average."),
};

static bool take(void *state, const struct pf_delivered *item)
{
    return pf_kvm_take(&((struct kvm *)state)->kvm, item);
}

static int next_row(void *state, struct perfile_error *error)
{
    struct kvm *view = state;
    if (pf_gathered_read(&view->gathered, take, view))
        pf_kvm_sort(&view->kvm);
    const int result = pf_table_row(view->gathered.table, view->kvm.count, error);
    if (result > 0)
        view->row = &view->kvm.rows[view->gathered.table->all.row];
    return result;
}

static int open_view(struct perfile_table *table, void *state, struct perfile_error *error)
{
    struct kvm *view = state;
    pf_kvm_open(&view->kvm, table->reader, table->allocator);
    const int result = pf_kvm_choose(&view->kvm, table->options.events, error);
    return result < 0 ? result : pf_gathered_open(&view->gathered, table, error);
}

static void close_view(void *state)
{
    pf_kvm_close(&((struct kvm *)state)->kvm);
}

static void notes(void *state, pf_on_note *notify, void *context)
{
    pf_kvm_notify(&((struct kvm *)state)->kvm, notify, context);
}

const struct pf_view pf_view_kvm = {
    .info = {"kvm", "why virtual machines were left, what they accessed, and how long the host took for it"},
    .events = &pf_kvm_events,
    .lists = {PF_COLUMNS(columns)},
    .answers = "samples,total",
    .not_filtered = PF_FILTER_EVENTS,
    .state_bytes = sizeof(struct kvm),
    .open = open_view,
    .next = next_row,
    .close = close_view,
    .notes = notes,
};
