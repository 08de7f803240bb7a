/* SPDX-License-Identifier: MIT */
/* Branches of Intel BTS as samples: each record is one. They have no time of their own. */
#include "hwtrace/decoder.h"

extern const struct pf_aux_format pf_aux_intel_bts;

static const struct pf_aux_event events[] = {
    {"branches", 'b', PERFILE_COUNT_HW_BRANCH_INSTRUCTIONS, PERFILE_SAMPLE_ADDR},
};

struct branch {
    uint64_t from, to;
};

static int next_branch(struct pf_aux_walk *walk, void *item, uint64_t *time, struct perfile_error *error)
{
    struct branch *branch = item;
    struct pf_aux_packet packet;
    int result;
    while ((result = pf_aux_walk_next(walk, &packet, error)) > 0 && packet.kind == PF_AUX_BAD)
        continue;
    if (result > 0)
        *branch = (struct branch){pf_load64(packet.data, PF_AUX_LITTLE), pf_load64(packet.data + 8, PF_AUX_LITTLE)};
    *time = 0;
    return result;
}

static bool make_branch(const struct pf_aux_recording *recording, const void *item, unsigned event,
                        struct pf_aux_sample *sample)
{
    const struct branch *branch = item;
    const uint64_t where = branch->from ? branch->from : branch->to;
    (void)recording;
    (void)event;
    *sample = (struct pf_aux_sample){
        .ip = branch->from,
        .addr = branch->to,
        .misc = where >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER,
    };
    return true;
}

const struct pf_aux_decoder pf_aux_decode_intel_bts = {
    .format = &pf_aux_intel_bts,
    .events = events,
    .event_count = PF_COUNT(events),
    .item_bytes = sizeof(struct branch),
    .timeless = true,
    .reads_code = true,
    .next = next_branch,
    .make = make_branch,
};
