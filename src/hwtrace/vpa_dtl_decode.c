/* SPDX-License-Identifier: MIT */
/* Dispatches of POWER's virtual processors as samples, of the thread that is idle: each has its entry of the log. */
#include "hwtrace/decoder.h"
#include "hwtrace/vpa_dtl.h"

extern const struct pf_aux_format pf_aux_vpa_dtl;

static const struct pf_aux_event events[] = {
    {"vpa-dtl", 'o', PF_AUX_SYNTH_VPA_DTL, PERFILE_SAMPLE_RAW, PF_AUX_TYPE_SYNTH},
};

struct dispatch {
    const uint8_t *data;
};

static int next_dispatch(struct pf_aux_walk *walk, void *item, uint64_t *time, struct perfile_error *error)
{
    struct dispatch *dispatch = item;
    struct pf_aux_packet packet;
    int result;
    while ((result = pf_aux_walk_next(walk, &packet, error)) > 0 && packet.kind != PF_VPA_DISPATCH)
        continue;
    if (result > 0) {
        dispatch->data = packet.data;
        *time = packet.payload;
    }
    return result;
}

static bool make_sample(const struct pf_aux_recording *recording, const void *item, unsigned event,
                        struct pf_aux_sample *sample)
{
    enum { RESTART_AT = 32 }; /* SRR0: where the thread goes on */
    const struct dispatch *dispatch = item;
    const uint64_t ip = pf_load64(dispatch->data + RESTART_AT, PF_AUX_BIG);
    (void)recording;
    (void)event;
    *sample = (struct pf_aux_sample){.ip = ip,
                                     .has_thread = true,
                                     .misc = ip >> 63 ? PERFILE_MISC_KERNEL : PERFILE_MISC_USER,
                                     .raw = dispatch->data,
                                     .raw_bytes = PF_VPA_ENTRY_BYTES};
    return true;
}

const struct pf_aux_decoder pf_aux_decode_vpa_dtl = {
    .format = &pf_aux_vpa_dtl,
    .events = events,
    .event_count = PF_COUNT(events),
    .item_bytes = sizeof(struct dispatch),
    .next = next_dispatch,
    .make = make_sample,
};
