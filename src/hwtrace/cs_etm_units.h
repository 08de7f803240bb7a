/* SPDX-License-Identifier: MIT */
/* The trace units of a recording with CoreSight traces (ETMv4, ETE), and libopencsd's decoders for them. */
#ifndef PF_HWTRACE_CS_ETM_UNITS_H
#define PF_HWTRACE_CS_ETM_UNITS_H

#include "hwtrace/decoder.h"
#include "hwtrace/opencsd.h"

enum { PF_CS_SOURCES = 0x70 }; /* numbers of sources; larger ones are reserved */

/* What AUXTRACE_INFO says of the unit of a processor. */
struct pf_cs_unit {
    int32_t cpu;
    bool is_ete;
    uint64_t config, source; /* TRCCONFIGR, TRCTRACEIDR */
    uint32_t id0, id1, id2, id8, devarch;
};

/*
 * Finds the unit that writes with this number of a source; number 0: that of the processor, or the first one if `cpu`
 * is negative. Newer kernels give the numbers in records. Returns false if no unit has it.
 */
bool pf_cs_find_unit(const struct pf_aux_recording *recording, int32_t cpu, unsigned source, struct pf_cs_unit *unit);

#ifdef PF_HAVE_OPENCSD
/*
 * A tree with the decoder for the unit, which the caller destroys; NULL if it cannot be made. `flags` are the library's;
 * *source is the number that it knows the decoder by.
 */
dcd_tree_handle_t pf_cs_open_tree(const struct pf_opencsd *csd, const struct pf_cs_unit *unit, int flags,
                                  unsigned char *source);
#endif

#endif
