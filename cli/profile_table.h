/* SPDX-License-Identifier: MIT */
/* Tables of profiles as text: what top prints of each interval, and report of a profile in a file. */
#ifndef PERFILE_CLI_PROFILE_TABLE_H
#define PERFILE_CLI_PROFILE_TABLE_H

#include "profile_columns.h"

struct pf_profile_table {
    const char *verb, *prefix; /* of the line above the table */
    uint64_t top;              /* how many rows; 0: 20 */
};
/* Prints the rows of an event on standard output. A status, with a message. */
int pf_profile_table_print(const struct perfile_profile *profile, uint32_t event,
                           const struct pf_profile_columns *chosen, const struct pf_profile_table *table);

#endif
