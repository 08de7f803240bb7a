/* SPDX-License-Identifier: MIT */
/* Views of recordings as virtual tables of SQLite: read only, of all recordings at once. */
#ifndef PERFILE_CLI_QUERY_VTAB_H
#define PERFILE_CLI_QUERY_VTAB_H

#include "source.h"

#include <sqlite3.h>

/* By position; NULL after the last. */
const struct pf_relation *pf_relation_at(size_t index);
const struct pf_relation *pf_relation_find(const char *name);
/* One table for each relation. An error of SQLite. */
int pf_vtab_register(sqlite3 *db, struct pf_sources *sources);

#endif
