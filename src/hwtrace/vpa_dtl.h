/* SPDX-License-Identifier: MIT */
/*
 * The dispatch trace log of POWER's hypervisor (PAPR, "Dispatch Trace Log Buffers"): entries of 48 bytes, big-endian.
 * The kernel puts one before them that has a time of 0, in its own byte order: the time base at boot, and its
 * frequency.
 */
#ifndef PF_HWTRACE_VPA_DTL_H
#define PF_HWTRACE_VPA_DTL_H

#include "hwtrace/packets.h"

enum { PF_VPA_ENTRY_BYTES = 48 };

/* The kinds of packets. The payload of a dispatch is its time in nanoseconds since boot; 0: that is not known. */
enum pf_vpa_kind { PF_VPA_BOOT = PF_AUX_PAD + 1, PF_VPA_DISPATCH, PF_VPA_KINDS };

/* The text of a sample whose raw data is an entry, as perf script prints it. */
void pf_vpa_put_sample(struct pf_text *text, const uint8_t *entry);

#endif
