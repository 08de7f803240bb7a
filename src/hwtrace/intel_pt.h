/* SPDX-License-Identifier: MIT */
/* Packets of Intel PT. */
#ifndef PF_HWTRACE_INTEL_PT_H
#define PF_HWTRACE_INTEL_PT_H

#include "hwtrace/packets.h"

/* The kinds of packets. What `detail` and `payload` are is for the functions in intel_pt.c that read them. */
enum pf_pt_kind {
    PF_PT_BAD = PF_AUX_BAD,
    PF_PT_PAD = PF_AUX_PAD,
    PF_PT_TNT, /* `detail` results in `payload`, the oldest one in the highest bit */
    PF_PT_TIP, /* addresses: `detail` says which bits of them are in `payload` */
    PF_PT_TIP_PGE,
    PF_PT_TIP_PGD,
    PF_PT_FUP,
    PF_PT_PSB,
    PF_PT_PSBEND,
    PF_PT_OVF,
    PF_PT_TRACESTOP,
    PF_PT_TSC,
    PF_PT_TMA,
    PF_PT_MTC,
    PF_PT_CYC,
    PF_PT_CBR,
    PF_PT_PIP,
    PF_PT_VMCS,
    PF_PT_MNT,
    PF_PT_MODE_EXEC,
    PF_PT_MODE_TSX,
    PF_PT_PTWRITE,
    PF_PT_EXSTOP,
    PF_PT_MWAIT,
    PF_PT_PWRE,
    PF_PT_PWRX,
    PF_PT_BBP,
    PF_PT_BIP,
    PF_PT_BEP,
    PF_PT_CFE,
    PF_PT_EVD,
    PF_PT_TRIG,
    PF_PT_KINDS
};

#endif
