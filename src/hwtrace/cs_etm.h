/* SPDX-License-Identifier: MIT */
/* Packets of CoreSight data: frames, which have the bytes of several sources. */
#ifndef PF_HWTRACE_CS_ETM_H
#define PF_HWTRACE_CS_ETM_H

#include "hwtrace/packets.h"

/* PF_CS_FRAME's payload is the source of its first bytes. */
enum { PF_CS_FRAME = PF_AUX_PAD + 1, PF_CS_BARRIER, PF_CS_RAW, PF_CS_KINDS };
enum { PF_CS_FRAME_BYTES = 16 };

extern const struct pf_aux_format pf_aux_cs_etm;
/* The packets of ETMv4 and ETE in frames; in builds with libopencsd. */
extern const struct pf_aux_unpacker pf_aux_unpack_cs_etm;

typedef void pf_cs_add(void *context, unsigned source, uint8_t byte);
/* Calls `add` for each byte of the frame that a source wrote; returns the source of the next frame. */
unsigned pf_cs_walk_frame(const uint8_t *frame, unsigned source, pf_cs_add *add, void *context);

#endif
