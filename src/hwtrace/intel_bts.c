/* SPDX-License-Identifier: MIT */
/*
 * Records of Intel's Branch Trace Store: Intel's Software Developer's Manual, volume 3, "Branch Trace Store". Each has
 * 24 bytes: the address of the branch, that of its target, and flags, of which bit 4 says that it was predicted.
 */
#include "hwtrace/packets.h"

#include <perfile/records.h>

#include <inttypes.h>

enum { BRANCH = PF_AUX_PAD + 1, KINDS, BRANCH_BYTES = 24, PREDICTED = 1 << 4 };

static void read_branch(const struct pf_aux_machine *machine, void *state, struct pf_aux_packet *packet)
{
    (void)machine;
    (void)state;
    if (packet->bytes < BRANCH_BYTES)
        return; /* a bad packet as long as what is left */
    packet->kind = BRANCH;
    packet->bytes = BRANCH_BYTES;
    packet->detail = packet->data[16] & PREDICTED;
}

static void put_branch(struct pf_text *text, const struct pf_aux_packet *packet)
{
    pf_put_format(text, "%" PRIx64 " -> %" PRIx64 " %s", pf_load64(packet->data, PF_AUX_LITTLE),
                  pf_load64(packet->data + 8, PF_AUX_LITTLE), packet->detail ? "pred" : "miss");
}

static const struct pf_aux_kind kinds[KINDS] = {
    [PF_AUX_BAD] = {"Bad record!", NULL, 0},
    [PF_AUX_PAD] = {"padding", NULL, 0},
    [BRANCH] = {"branch", put_branch, PF_AUX_RECORD | PF_AUX_ENTRY_AFTER | PF_AUX_AT_REFERENCE},
};

const struct pf_aux_format pf_aux_intel_bts = {
    .type = PERFILE_AUXTRACE_INTEL_BTS,
    .heading = "Intel BTS",
    .kinds = kinds,
    .kind_count = KINDS,
    .values_only = true,
    .max_bytes = BRANCH_BYTES,
    .converts = true,
    .clock_at = 1,
    .snapshot_at = 5,
    .record_bytes = BRANCH_BYTES,
    .read = read_branch,
};
