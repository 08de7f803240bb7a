/* SPDX-License-Identifier: MIT */
/* record --probe: probes that exist as long as the recording runs. */
#ifndef PERFILE_CLI_RECORD_PROBES_H
#define PERFILE_CLI_RECORD_PROBES_H

#include "options.h"

struct pf_record_probes;

/*
 * Adds the probes of settings->record.probes, and their events to those that are recorded. First it removes what
 * earlier recordings have left that were killed. *probes is NULL when no probe was
 * asked for. PF_STATUS_OK, or another status after a message.
 */
int pf_record_probes_open(struct pf_settings *settings, struct pf_record_probes **probes);
/* Removes them. The events must be closed. NULL is allowed. */
void pf_record_probes_close(struct pf_record_probes *probes);

#endif
