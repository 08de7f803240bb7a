/* SPDX-License-Identifier: MIT */
/*
 * Blocks of the CPU-measurement sampling facility of s390 (IBM, "The Load-Program-Parameter and the CPU-Measurement
 * Facilities", SA23-2260): 4096 bytes, big-endian, with basic entries, each followed by a diagnostic one where these
 * are recorded, and a trailer in the last 64 bytes, which says how large the entries are, and when the block was
 * filled.
 */
#ifndef PF_HWTRACE_S390_SAMPLING_H
#define PF_HWTRACE_S390_SAMPLING_H

#include "hwtrace/packets.h"

/* The kinds of packets. Payloads are the time of the block in nanoseconds; 0: the trailer does not say it. */
enum pf_s390_kind {
    PF_S390_BASIC = PF_AUX_PAD + 1,
    PF_S390_DIAGNOSTIC,
    PF_S390_TRAILER, /* detail says how many samples were lost */
    PF_S390_UNUSED,
    PF_S390_KINDS
};

#endif
