/* SPDX-License-Identifier: MIT */
/* The code that decoders of traces ask for: what a process has at an address, as the session at work says. */
#ifndef PF_ANALYSIS_TRACE_CODE_H
#define PF_ANALYSIS_TRACE_CODE_H

#include <perfile/analysis.h>

#include "hwtrace/flow.h"
#include "symbol/symbols.h"

/* As perfile_code_open, by options that are complete. */
int pf_trace_code_open(struct perfile_reader *reader, const struct pf_find_options *find,
                       struct perfile_code_reader **code, struct perfile_error *error);
/* Memory was short while code or symbols were looked for: what was decoded since may be wrong. NULL is allowed. */
bool pf_trace_code_was_short(const struct perfile_code_reader *code);
struct pf_symbols *pf_trace_code_symbols(const struct perfile_code_reader *code);

/* Before `session` is set, every address has no code. */
struct pf_trace_code {
    struct perfile_code_reader *reader;
    struct perfile_session *session;
};
/* `code` must outlive the source. */
struct pf_code_source pf_trace_code_source(struct pf_trace_code *code);

#endif
