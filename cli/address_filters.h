/* SPDX-License-Identifier: MIT */
/* Address filters of hardware traces. */
#ifndef PERFILE_CLI_ADDRESS_FILTERS_H
#define PERFILE_CLI_ADDRESS_FILTERS_H

#include <stdbool.h>

/* Whether the text begins as an address filter does. */
bool pf_is_address_filter(const char *text);
/*
 * Replaces *filter by what the kernel takes: functions of files become their offsets and sizes, and files have their
 * full paths. A status; messages are printed.
 */
int pf_resolve_address_filter(const char *verb, char **filter);

#endif
