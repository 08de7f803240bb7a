/* SPDX-License-Identifier: MIT */
/* Names of events, for options that take them. */
#ifndef PERFILE_CLI_EVENTS_H
#define PERFILE_CLI_EVENTS_H

#include "options.h"

/* Events with the same name on every machine, as completions are generated where perfile is built. */
const char *pf_event_at(size_t index, const char **doc);

#endif
