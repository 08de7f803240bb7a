/* SPDX-License-Identifier: MIT */
/*
 * libopencsd, which decodes what trace units of Arm processors write. It is loaded when a trace is decoded, not when a
 * program starts.
 */
#ifndef PF_HWTRACE_OPENCSD_H
#define PF_HWTRACE_OPENCSD_H

#ifdef PF_HAVE_OPENCSD

#include "base/bytes.h"

#include <opencsd/c_api/opencsd_c_api.h>
#include <opencsd/ete/trc_pkt_types_ete.h>
#include <opencsd/etmv4/trc_pkt_types_etmv4.h>

#define PF_OPENCSD_FUNCTIONS(X)                                                                                        \
    X(create_dcd_tree)                                                                                                 \
    X(destroy_dcd_tree)                                                                                                \
    X(dt_process_data)                                                                                                 \
    X(dt_set_gen_elem_outfn)                                                                                           \
    X(dt_create_decoder)                                                                                               \
    X(dt_add_callback_mem_acc)                                                                                         \
    X(dt_remove_mem_acc)                                                                                               \
    X(dt_attach_packet_callback)                                                                                       \
    X(pkt_str)

struct pf_opencsd {
    void *library; /* NULL: it is not loaded */
#define FUNCTION(name) __typeof__(ocsd_##name) *name;
    PF_OPENCSD_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* False: the library cannot be loaded, or is one that does not have all functions. */
bool pf_opencsd_open(struct pf_opencsd *csd);
void pf_opencsd_close(struct pf_opencsd *csd);

#endif

/* Why traces cannot be decoded; NULL: they can. */
const char *pf_opencsd_missing(void);

#endif
