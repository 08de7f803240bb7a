/* SPDX-License-Identifier: MIT */
/* What info says of hardware traces: the sums over their queues. */
#ifndef PF_OUTPUT_INFO_AUX_H
#define PF_OUTPUT_INFO_AUX_H

#include "analysis/aux_data.h"
#include "base/json.h"

/* Rows, each after its label; nothing where the recording has no trace. */
void pf_info_put_aux(struct pf_text *out, const struct pf_aux_queues *queues);
/* Members of an object. */
void pf_info_put_aux_json(struct pf_json *json, const struct pf_aux_queues *queues);

#endif
