/* SPDX-License-Identifier: MIT */
/* Options of record and stat that are about the events before them on the command line. */
#ifndef PERFILE_CLI_EVENT_FILTERS_H
#define PERFILE_CLI_EVENT_FILTERS_H

#include "options.h"

/* How many events a list has: commas between slashes separate terms. NULL: none. */
size_t pf_count_events(const char *list);
/* For pf_option.set: a filter of the last event, and one that leaves out this process. */
int pf_add_event_filter(const struct pf_option *option, const char *text, struct pf_settings *settings);
int pf_exclude_self(const struct pf_option *option, const char *text, struct pf_settings *settings);

#endif
