/* SPDX-License-Identifier: MIT */
/* Finds and prints the entries of the log. */
#include "hwtrace/vpa_dtl.h"

#include <perfile/records.h>

#include <inttypes.h>

enum { TIME_AT = 16 };

struct state {
    uint64_t boot, frequency; /* the time base at boot, and how often it counts in a second */
};

/* The time of an entry in nanoseconds since boot. */
static uint64_t time_of(const struct state *s, uint64_t time_base)
{
    const uint64_t second_ns = 1000000000;
    const uint64_t count = time_base - s->boot;
    return s->frequency ? count / s->frequency * second_ns + count % s->frequency * second_ns / s->frequency : 0;
}

static void read_boot(struct state *s, bool big_endian, struct pf_aux_packet *packet)
{
    const bool swap = big_endian != PF_NATIVE_BIG_ENDIAN;
    s->boot = pf_load64(packet->data, swap);
    s->frequency = pf_load64(packet->data + 8, swap);
    packet->kind = PF_VPA_BOOT;
    packet->detail = swap;
}

static void read_entry(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    if (packet->bytes < PF_VPA_ENTRY_BYTES)
        return;
    packet->bytes = PF_VPA_ENTRY_BYTES;
    const uint64_t time_base = pf_load64(packet->data + TIME_AT, PF_AUX_BIG);
    if (!time_base) {
        read_boot(state, machine->big_endian, packet);
        return;
    }
    packet->kind = PF_VPA_DISPATCH;
    packet->payload = time_of(state, time_base);
}

static void put_boot(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, "boot_tb: %" PRIu64 ", tb_freq: %" PRIu64, pf_load64(packet->data, packet->detail),
                  pf_load64(packet->data + 8, packet->detail));
}

static void put_reason(struct pf_text *text, const char *name, const char *const *reasons, size_t count,
                       unsigned reason)
{
    pf_put_format(text, "%s:", name);
    if (reason < count)
        pf_put_string(text, reasons[reason]);
    else
        pf_put_format(text, "unknown_%u", reason);
    pf_put_char(text, ',');
}

static void put_reasons(struct pf_text *text, const uint8_t *entry)
{
    static const char *const dispatch[] = {"external_interrupt",
                                           "firmware_internal_event",
                                           "H_PROD",
                                           "decrementer_interrupt",
                                           "system_reset",
                                           "firmware_internal_event",
                                           "conferred_cycles",
                                           "time_slice",
                                           "virtual_memory_page_fault",
                                           "expropriated_adjunct",
                                           "priv_doorbell"};
    static const char *const preempt[] = {"unused",
                                          "firmware_internal_event",
                                          "H_CEDE",
                                          "H_CONFER",
                                          "time_slice",
                                          "migration_hibernation_page_fault",
                                          "virtual_memory_page_fault",
                                          "H_CONFER_ADJUNCT",
                                          "hcall_adjunct",
                                          "HDEC_adjunct"};
    put_reason(text, "dispatch_reason", dispatch, PF_COUNT(dispatch), entry[0]);
    pf_put_char(text, ' ');
    put_reason(text, "preempt_reason", preempt, PF_COUNT(preempt), entry[1]);
}

static void put_dispatch(struct pf_text *text, const struct pf_aux_packet *packet)
{
    put_reasons(text, packet->data);
    pf_put_format(text, " enqueue_to_dispatch_time:%u, ready_to_enqueue_time:%u, waiting_to_ready_time:%u",
                  pf_load32(packet->data + 4, PF_AUX_BIG), pf_load32(packet->data + 8, PF_AUX_BIG),
                  pf_load32(packet->data + 12, PF_AUX_BIG));
}

void pf_vpa_put_sample(struct pf_text *text, const uint8_t *entry)
{
    enum { PROCESSOR_AT = 2 };
    pf_put_format(text, "timebase: %" PRIu64 " ", pf_load64(entry + TIME_AT, PF_AUX_BIG));
    put_reasons(text, entry);
    pf_put_format(text,
                  "\nenqueue_to_dispatch_time:%u, ready_to_enqueue_time:%u,waiting_to_ready_time:%u, processor_id: %u",
                  pf_load32(entry + 4, PF_AUX_BIG), pf_load32(entry + 8, PF_AUX_BIG), pf_load32(entry + 12, PF_AUX_BIG),
                  pf_load16(entry + PROCESSOR_AT, PF_AUX_BIG));
}

static const struct pf_aux_kind kinds[PF_VPA_KINDS] = {
    [PF_AUX_BAD] = {"Bad entry!", NULL, 0},
    [PF_AUX_PAD] = {"padding", NULL, 0},
    [PF_VPA_BOOT] = {"boot", put_boot, PF_AUX_SYNC},
    [PF_VPA_DISPATCH] = {"dispatch", put_dispatch, PF_AUX_RECORD | PF_AUX_TIME},
};

const struct pf_aux_format pf_aux_vpa_dtl = {
    .type = PERFILE_AUXTRACE_VPA_DTL,
    .heading = "VPA DTL PMU",
    .kinds = kinds,
    .kind_count = PF_VPA_KINDS,
    .values_only = true,
    .state_bytes = sizeof(struct state),
    .max_bytes = PF_VPA_ENTRY_BYTES,
    .read = read_entry,
};
