/* SPDX-License-Identifier: MIT */
/*
 * The dispatch trace log of POWER's hypervisor (PAPR, "Dispatch Trace Log Buffers"): entries of 48 bytes, big-endian.
 * The kernel puts one before them that has a time of 0, in its own byte order: the time base at boot, and its frequency.
 */
#include "hwtrace/packets.h"

#include <perfile/records.h>

#include <inttypes.h>

enum { BOOT = PF_AUX_PAD + 1, DISPATCH, KINDS, ENTRY_BYTES = 48 };

static void read_entry(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    enum { TIME_AT = 16 };
    (void)state;
    if (packet->bytes < ENTRY_BYTES)
        return;
    packet->bytes = ENTRY_BYTES;
    packet->payload = pf_load64(packet->data + TIME_AT, PF_AUX_BIG);
    packet->kind = packet->payload ? DISPATCH : BOOT;
    packet->detail = machine->big_endian;
}

static void put_boot(struct pf_text *text, const struct pf_aux_packet *packet)
{
    const bool swap = packet->detail != PF_NATIVE_BIG_ENDIAN;
    pf_put_format(text, "boot_tb: %" PRIu64 ", tb_freq: %" PRIu64, pf_load64(packet->data, swap),
                  pf_load64(packet->data + 8, swap));
}

static void put_reason(struct pf_text *text, const char *name, const char *const *reasons, size_t count,
                       unsigned reason)
{
    pf_put_format(text, "%s:", name);
    if (reason < count)
        pf_put_string(text, reasons[reason]);
    else
        pf_put_format(text, "unknown_%u", reason);
    pf_put_string(text, ", ");
}

static void put_dispatch(struct pf_text *text, const struct pf_aux_packet *packet)
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
    put_reason(text, "dispatch_reason", dispatch, PF_COUNT(dispatch), packet->data[0]);
    put_reason(text, "preempt_reason", preempt, PF_COUNT(preempt), packet->data[1]);
    pf_put_format(text, "enqueue_to_dispatch_time:%u, ready_to_enqueue_time:%u, waiting_to_ready_time:%u",
                  pf_load32(packet->data + 4, PF_AUX_BIG), pf_load32(packet->data + 8, PF_AUX_BIG),
                  pf_load32(packet->data + 12, PF_AUX_BIG));
}

static const struct pf_aux_kind kinds[KINDS] = {
    [PF_AUX_BAD] = {"Bad entry!", NULL},
    [PF_AUX_PAD] = {"padding", NULL},
    [BOOT] = {"boot", put_boot},
    [DISPATCH] = {"dispatch", put_dispatch},
};

const struct pf_aux_format pf_aux_vpa_dtl = {
    .type = PERFILE_AUXTRACE_VPA_DTL,
    .heading = "VPA DTL PMU",
    .kinds = kinds,
    .kind_count = KINDS,
    .values_only = true,
    .max_bytes = ENTRY_BYTES,
    .read = read_entry,
};
