/* SPDX-License-Identifier: MIT */
#include "analysis/events/kvm.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/events/advice.h"
#include "base/counted.h"
#include "base/error.h"
#include "platform/platform.h"

enum { VCPU };                                                                                     /* of kvm_entry */
enum { X86_REASON, X86_ISA, ARM_TYPE, ARM_CLASS, S390_CODE, PPC_TRAP, RISCV_CAUSE, LOONG_REASON }; /* of kvm_exit */
enum { MMIO_TYPE, MMIO_ADDRESS };
enum { PIO_WRITES, PIO_PORT };
enum { MSR_WRITES, MSR_NUMBER };

enum required {
#define PF_KVM(id, ...) id,
#include "analysis/events/events.def"
};

static const struct pf_required_event required[] = {
#define PF_KVM PF_REQUIRED_EVENT
#include "analysis/events/events.def"
};
const struct pf_required_events pf_kvm_events = {required, PF_COUNT(required)};

static const char *const kind_names[PF_KVM_KINDS] = {"vmexit", "mmio", "ioport", "msr"};

const char *pf_kvm_kind_name(enum pf_kvm_kind kind)
{
    return kind_names[kind];
}

void pf_kvm_open(struct pf_kvm *kvm, struct perfile_reader *reader, const struct perfile_allocator *allocator)
{
    *kvm = (struct pf_kvm){.reader = reader, .allocator = allocator, .vcpu = -1};
    pf_bound_events_open(&kvm->events, reader, &pf_kvm_events, allocator);
    pf_arena_open(&kvm->arena, allocator);
    pf_map_open(&kvm->names, allocator);
    pf_map_open(&kvm->index, allocator);
    pf_map_open(&kvm->threads, allocator);
}

void pf_kvm_close(struct pf_kvm *kvm)
{
    if (!kvm->reader)
        return;
    pf_free(kvm->allocator, kvm->rows, kvm->capacity * sizeof(*kvm->rows));
    pf_free(kvm->allocator, kvm->vcpus, kvm->vcpu_capacity * sizeof(*kvm->vcpus));
    pf_map_close(&kvm->names);
    pf_map_close(&kvm->index);
    pf_map_close(&kvm->threads);
    pf_bound_events_close(&kvm->events);
    pf_arena_close(&kvm->arena);
}

/* ---- what was asked for ------------------------------------------------------------------------------------------ */

enum key { SAMPLES, TIME };

int pf_kvm_choose(struct pf_kvm *kvm, const struct perfile_event_options *options, struct perfile_error *error)
{
    static const struct pf_sort_names names = {{[SAMPLES] = "sample", [TIME] = "time"}, "sample"};
    const char *vcpu = options->vcpu;
    char *end = NULL;
    kvm->kinds = options->classes;
    if (vcpu) {
        kvm->vcpu = (int64_t)strtoul(vcpu, &end, 10);
        if (!*vcpu || *end || kvm->vcpu > UINT32_MAX)
            return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, "vcpu",
                           "the number of a virtual CPU is expected, not \"%s\"", vcpu);
    }
    return pf_sort_keys_parse(&kvm->keys, options->sort, &names, error);
}

static bool wants(const struct pf_kvm *kvm, enum pf_kvm_kind kind)
{
    const size_t bytes = strlen(kind_names[kind]);
    const char *at = kvm->kinds;
    while (at && *at && (strncmp(at, kind_names[kind], bytes) != 0 || (at[bytes] && at[bytes] != ',')))
        at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',');
    return !at || *at;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Whether the field is in the expression. */
static bool has_field(const struct pf_trace_node *node, const char *field)
{
    if (!node)
        return false;
    return (node->kind == PF_TRACE_FIELD && node->field && !strcmp(node->field->name, field)) ||
           has_field(node->a, field) || has_field(node->b, field) || has_field(node->c, field);
}

/* The list of names of the field's values; `skip`: after so many of them. NULL: the format has no such list. */
static const struct pf_trace_node *find_symbols(const struct pf_trace_node *node, const char *field, unsigned *skip)
{
    const struct pf_trace_node *found;
    if (!node)
        return NULL;
    if (node->kind == PF_TRACE_SYMBOL && has_field(node->a, field) && !(*skip)--)
        return node;
    if ((found = find_symbols(node->a, field, skip)) || (found = find_symbols(node->b, field, skip)))
        return found;
    return find_symbols(node->c, field, skip);
}

/* The kernel's name of the value of a field of kvm_exit; NULL: none is known. */
static const char *name_of(const struct pf_kvm *kvm, const char *field, uint64_t value, unsigned skip)
{
    const struct pf_trace_node *symbols = NULL;
    for (const struct pf_trace_piece *piece = kvm->exits ? kvm->exits->pieces : NULL; piece && !symbols;
         piece = piece->next)
        symbols = find_symbols(piece->value, field, &skip);
    for (const struct pf_trace_entry *entry = symbols ? symbols->entries : NULL; entry; entry = entry->next)
        if (entry->value == value || (uint32_t)entry->value == value)
            return entry->text;
    return NULL;
}

/* The format of the exits is parsed once. False: out of memory. */
static bool find_format(struct pf_kvm *kvm, const struct perfile_event *event)
{
    const struct perfile_tracepoint *tracepoint = perfile_tracepoint_find(kvm->reader, event);
    const struct perfile_tracing *tracing;
    if (kvm->has_exits || !tracepoint)
        return true;
    kvm->has_exits = true;
    const int result = perfile_tracing_get(kvm->reader, &tracing, NULL);
    if (result == 0)
        kvm->exits = pf_trace_parse(&kvm->arena, tracing, tracepoint);
    return pf_memory_check(kvm->allocator, result) != PERFILE_ERROR_MEMORY;
}

/* Without a name a number, where the kernel has none for this machine. */
static const char *exit_name(struct pf_kvm *kvm, const struct pf_event_fields *event, const struct perfile_bytes *raw,
                             char text[32])
{
    static const struct {
        unsigned field;
        bool is_numbered; /* the kernel has no names for them */
    } others[] = {{ARM_TYPE, false}, {S390_CODE, false}, {PPC_TRAP, false}, {RISCV_CAUSE, true}, {LOONG_REASON, false}};
    uint64_t value, isa = 0;
    const char *name = NULL;
    if (pf_event_number(&kvm->events, event, X86_REASON, raw, &value)) {
        pf_event_number(&kvm->events, event, X86_ISA, raw, &isa);
        name = name_of(kvm, event->fields[X86_REASON]->name, value, isa == 2);
    }
    for (size_t i = 0; i < PF_COUNT(others) && !name; i++)
        if (pf_event_number(&kvm->events, event, others[i].field, raw, &value)) {
            name = name_of(kvm, event->fields[others[i].field]->name, value, 0);
            if (!name && others[i].is_numbered) {
                snprintf(text, 32, "%#" PRIx64, value);
                name = text;
            }
        }
    if (name && event->fields[ARM_CLASS] && !strcmp(name, "TRAP") &&
        pf_event_number(&kvm->events, event, ARM_CLASS, raw, &value))
        name = name_of(kvm, event->fields[ARM_CLASS]->name, value, 0);
    kvm->unknown += !name;
    return name ? name : "UNKNOWN";
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* UINT64_MAX: out of memory. */
static uint64_t find_row(struct pf_kvm *kvm, enum pf_kvm_kind kind, const char *text)
{
    const char *name = pf_map_text(&kvm->names, &kvm->arena, text, strlen(text));
    const uint64_t key = (uint64_t)(uintptr_t)name * PF_KVM_KINDS + kind;
    uint64_t row;
    if (!name)
        return UINT64_MAX;
    if (pf_map_get(&kvm->index, key, &row))
        return row;
    if (!pf_grow(kvm->allocator, &kvm->rows, &kvm->capacity, kvm->count + 1, sizeof(*kvm->rows)) ||
        !pf_map_put(&kvm->index, key, kvm->count))
        return UINT64_MAX;
    kvm->rows[kvm->count] = (struct pf_kvm_row){.kind = kind, .name = name};
    return kvm->count++;
}

/* `name` NULL: what it is is not known before its end. */
static bool begin(struct pf_kvm *kvm, struct pf_kvm_vcpu *vcpu, enum pf_kvm_kind kind, const char *name, uint64_t time)
{
    if (!wants(kvm, kind))
        return true;
    vcpu->open[kind].start = time;
    vcpu->open[kind].row = name ? find_row(kvm, kind, name) : UINT64_MAX;
    return !name || vcpu->open[kind].row != UINT64_MAX;
}

static bool end(struct pf_kvm *kvm, struct pf_kvm_vcpu *vcpu, enum pf_kvm_kind kind, const char *name, uint64_t time)
{
    const uint64_t start = vcpu->open[kind].start;
    uint64_t row = vcpu->open[kind].row;
    if (!wants(kvm, kind) || !start || (row == UINT64_MAX && !name))
        return true;
    if (row == UINT64_MAX && (row = find_row(kvm, kind, name)) == UINT64_MAX)
        return false;
    vcpu->open[kind].start = 0;
    if (time < start)
        return true;
    pf_stats_add(&kvm->rows[row].stats, time - start);
    pf_histogram_add(&kvm->rows[row].histogram, time - start);
    return true;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

/* Virtual CPUs are known from their first entry on. *vcpu may be NULL. False: out of memory. */
static bool find_vcpu(struct pf_kvm *kvm, const struct pf_event_fields *event, const struct pf_delivered *item,
                      struct pf_kvm_vcpu **vcpu)
{
    uint64_t known, number = 0;
    *vcpu = NULL;
    if (pf_map_get(&kvm->threads, (uint32_t)item->sample.tid, &known)) {
        *vcpu = &kvm->vcpus[known];
        return true;
    }
    if (event->id > ENTER_AGAIN)
        return true;
    pf_event_number(&kvm->events, event, VCPU, &item->sample.raw, &number);
    if (!pf_grow(kvm->allocator, &kvm->vcpus, &kvm->vcpu_capacity, kvm->vcpu_count + 1, sizeof(*kvm->vcpus)) ||
        !pf_map_put(&kvm->threads, (uint32_t)item->sample.tid, kvm->vcpu_count))
        return false;
    *vcpu = &kvm->vcpus[kvm->vcpu_count++];
    **vcpu = (struct pf_kvm_vcpu){.number = (uint32_t)number};
    return true;
}

/* The host took the CPU; what the guest wanted to read ends before the entry. */
static bool take_exit(struct pf_kvm *kvm, struct pf_kvm_vcpu *vcpu, const struct pf_event_fields *event,
                      const struct pf_delivered *item)
{
    char text[32];
    const uint64_t time = item->sample.time;
    if (!find_format(kvm, item->event))
        return false;
    return (!wants(kvm, PF_KVM_VMEXIT) ||
            begin(kvm, vcpu, PF_KVM_VMEXIT, exit_name(kvm, event, &item->sample.raw, text), time)) &&
           begin(kvm, vcpu, PF_KVM_MMIO, NULL, time);
}

static bool take_entry(struct pf_kvm *kvm, struct pf_kvm_vcpu *vcpu, uint64_t time)
{
    for (enum pf_kvm_kind kind = 0; kind < PF_KVM_KINDS; kind++)
        if (!end(kvm, vcpu, kind, NULL, time))
            return false;
    return true;
}

static bool take_access(struct pf_kvm *kvm, struct pf_kvm_vcpu *vcpu, const struct pf_event_fields *event,
                        const struct pf_delivered *item)
{
    enum { MMIO_READ = 1, MMIO_WRITE = 2 };
    char text[48];
    uint64_t how = 0, what = 0;
    pf_event_number(&kvm->events, event, 0, &item->sample.raw, &how);
    pf_event_number(&kvm->events, event, 1, &item->sample.raw, &what);
    if (event->id == PIO) {
        snprintf(text, sizeof(text), "%#" PRIx64 ":%s", what, how ? "POUT" : "PIN");
        return begin(kvm, vcpu, PF_KVM_IOPORT, text, item->sample.time);
    }
    if (event->id == MSR) {
        snprintf(text, sizeof(text), "%#" PRIx64 ":%s", what, how ? "W" : "R");
        return begin(kvm, vcpu, PF_KVM_MSR, text, item->sample.time);
    }
    snprintf(text, sizeof(text), "%#" PRIx64 ":%s", what, how == MMIO_WRITE ? "W" : "R");
    if (how == MMIO_WRITE)
        return begin(kvm, vcpu, PF_KVM_MMIO, text, item->sample.time);
    return how != MMIO_READ || end(kvm, vcpu, PF_KVM_MMIO, text, item->sample.time);
}

bool pf_kvm_take(struct pf_kvm *kvm, const struct pf_delivered *item)
{
    const struct pf_event_fields *event = item->is_sample ? pf_events_find(&kvm->events, item->event) : NULL;
    struct pf_kvm_vcpu *vcpu;
    if (!event)
        return true;
    if (!find_vcpu(kvm, event, item, &vcpu))
        return false;
    if (!vcpu || (kvm->vcpu >= 0 && vcpu->number != kvm->vcpu))
        return true;
    if (event->id <= ENTER_AGAIN)
        return take_entry(kvm, vcpu, item->sample.time);
    return event->id >= MMIO ? take_access(kvm, vcpu, event, item) : take_exit(kvm, vcpu, event, item);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static int by_key(unsigned key, const void *left, const void *right)
{
    const struct pf_kvm_row *a = left, *b = right;
    return key == SAMPLES ? pf_sort_down(a->stats.count, b->stats.count) : pf_sort_down(a->stats.sum, b->stats.sum);
}

static int compare(const void *left, const void *right, void *keys)
{
    const struct pf_kvm_row *a = left, *b = right;
    return PF_COMPARE(a->kind, b->kind) ?: pf_sort_keys_compare(keys, a, b, by_key) ?: strcmp(a->name, b->name);
}

void pf_kvm_sort(struct pf_kvm *kvm)
{
    size_t count = 0;
    for (size_t i = 0; i < kvm->count; i++) {
        if (kvm->rows[i].stats.count)
            kvm->rows[count++] = kvm->rows[i];
    }
    kvm->count = count;
    for (size_t i = 0; i < kvm->vcpu_count; i++)
        kvm->open_count += kvm->vcpus[i].open[PF_KVM_VMEXIT].start != 0;
    if (count)
        pf_platform_sort(kvm->rows, count, sizeof(*kvm->rows), compare, &kvm->keys);
}

void pf_kvm_notify(struct pf_kvm *kvm, pf_on_note *notify, void *context)
{
    char text[PF_COUNTED_BYTES];
    if (!notify)
        return;
    if (!kvm->vcpu_count)
        notify(context, "the recording has no events of virtual machines; record with: " PF_RECORD_KVM);
    if (kvm->unknown)
        notify(context, pf_count_of(kvm->unknown, "exits are for reasons that the recording has no names for", text));
    if (kvm->open_count)
        notify(context, pf_count_of(kvm->open_count, "exits did not end before the recording", text));
}
