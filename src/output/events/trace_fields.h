/* SPDX-License-Identifier: MIT */
#ifndef PF_OUTPUT_EVENTS_TRACE_FIELDS_H
#define PF_OUTPUT_EVENTS_TRACE_FIELDS_H

#include <perfile/analysis.h>

#include "base/text.h"

/* The name of a thread, as long as the session; NULL: it is not known. */
const char *pf_task_comm(struct perfile_session *session, int64_t tid);
/* "4711 (ls)"; without a name "4711". */
void pf_put_task(struct pf_text *out, int64_t tid, const char *comm);
/*
 * The fields of a tracepoint's event as `perf trace` prints them: "comm: "ls", pid: 4711 (ls), prio: 120". Numbers that
 * are 0 are left out.
 */
void pf_trace_fields_put(struct pf_text *out, const struct perfile_tracepoint *tracepoint,
                         const struct perfile_bytes *raw, bool swap, struct perfile_session *session);

#endif
