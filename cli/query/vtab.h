/* SPDX-License-Identifier: MIT */
/* Tables of sources as virtual tables of SQLite: read only, with the rows of all sources. */
#ifndef PERFILE_CLI_QUERY_VTAB_H
#define PERFILE_CLI_QUERY_VTAB_H

#include "source.h"

#include <sqlite3.h>

/* One table for each relation. An error of SQLite. */
int pf_vtab_register(sqlite3 *db, struct pf_sources *sources);

#endif
