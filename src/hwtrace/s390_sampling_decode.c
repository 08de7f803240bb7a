/* SPDX-License-Identifier: MIT */
/*
 * Entries of s390's sampling blocks as samples. All entries of a block have its time. A diagnostic entry belongs to the
 * basic one before it, and IBM documents only its first word: its sample has the bytes.
 */
#include "hwtrace/decoder.h"
#include "hwtrace/s390_sampling.h"

extern const struct pf_aux_format pf_aux_s390_sampling;

enum { BASIC, DIAGNOSTIC };

static const struct pf_aux_event events[] = {
    [BASIC] = {"cycles", 'y', PERFILE_COUNT_HW_CPU_CYCLES, 0, PERFILE_TYPE_HARDWARE},
    [DIAGNOSTIC] = {"diagnostic", 'o', PERFILE_COUNT_HW_CPU_CYCLES, PERFILE_SAMPLE_RAW, PERFILE_TYPE_HARDWARE},
};

struct entry {
    uint64_t ip, program; /* of the basic entry; the program parameter of the host is the thread */
    uint16_t misc;
    bool diagnostic;
    const uint8_t *data; /* of a diagnostic entry */
    size_t bytes;
};

/* The mode, from the problem-state bit and the level: 1 the host, 2 a guest. */
static uint16_t mode_of(const uint8_t *basic)
{
    enum { PROBLEM_STATE = 8, GUEST = 2 };
    const bool user = basic[3] & PROBLEM_STATE;
    return basic[4] >> 6 == GUEST ? (user ? PERFILE_MISC_GUEST_USER : PERFILE_MISC_GUEST_KERNEL)
           : user                 ? PERFILE_MISC_USER
                                  : PERFILE_MISC_KERNEL;
}

static int next_entry(struct pf_aux_walk *walk, void *item, uint64_t *time, struct perfile_error *error)
{
    struct entry *entry = item;
    struct pf_aux_packet packet;
    int result;
    while ((result = pf_aux_walk_next(walk, &packet, error)) > 0 && packet.kind != PF_S390_BASIC &&
           packet.kind != PF_S390_DIAGNOSTIC)
        continue;
    if (result <= 0)
        return result;
    *time = packet.payload;
    entry->diagnostic = packet.kind == PF_S390_DIAGNOSTIC;
    entry->data = packet.data;
    entry->bytes = packet.bytes;
    if (!entry->diagnostic) {
        entry->ip = pf_load64(packet.data + 8, PF_AUX_BIG);
        entry->program = pf_load64(packet.data + 24, PF_AUX_BIG);
        entry->misc = mode_of(packet.data);
    }
    return result;
}

static bool make_sample(const struct pf_aux_recording *recording, const void *item, unsigned event,
                        struct pf_aux_sample *sample)
{
    const struct entry *entry = item;
    (void)recording;
    if (entry->diagnostic != (event == DIAGNOSTIC))
        return false;
    *sample = (struct pf_aux_sample){.ip = entry->ip,
                                     .tid = (int32_t)(uint32_t)entry->program,
                                     .has_thread = true,
                                     .misc = entry->misc,
                                     .raw = entry->data,
                                     .raw_bytes = entry->diagnostic ? entry->bytes : 0};
    return true;
}

const struct pf_aux_decoder pf_aux_decode_s390_sampling = {
    .format = &pf_aux_s390_sampling,
    .events = events,
    .event_count = PF_COUNT(events),
    .item_bytes = sizeof(struct entry),
    .next = next_entry,
    .make = make_sample,
};
