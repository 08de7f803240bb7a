/* SPDX-License-Identifier: MIT */
/* The words of AUXTRACE_INFO by their names: how the processor was to trace, and the clock of the trace. */
#ifndef PF_HWTRACE_METADATA_H
#define PF_HWTRACE_METADATA_H

#include "base/text.h"

struct pf_aux_word {
    const char *name;
    uint64_t value;
    const char *string; /* instead of the value; NULL: it is a number */
    bool hexadecimal;
    bool nested; /* of a processor */
};

/*
 * Calls `put` with each word whose meaning is known. Lists of processors end with the words that there are, whatever
 * their count says.
 */
void pf_aux_metadata_each(uint32_t type, const struct perfile_u64s *priv,
                          void (*put)(void *context, const struct pf_aux_word *word), void *context);
/* Lines as those of perf report -D. */
void pf_aux_put_metadata(struct pf_text *text, uint32_t type, const struct perfile_u64s *priv);

#endif
