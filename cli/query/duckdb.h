/* SPDX-License-Identifier: MIT */
/*
 * DuckDB as the engine of statements: its library is loaded when it is wanted, by its C interface, which all versions since 1.3 have.
 * Views of recordings are table functions that give batches as they are read; Parquet files are DuckDB's own business.
 */
#ifndef PERFILE_CLI_QUERY_DUCKDB_H
#define PERFILE_CLI_QUERY_DUCKDB_H

#include "query.h"

/*
 * Loads the library: $PERFILE_DUCKDB, or the one that the system has. To be called before the sandbox. `verb` NULL: nothing is said
 * when there is none. False: there is none.
 */
bool pf_duckdb_load(const char *verb);
/* As pf_query_run. */
int pf_duckdb_run(struct pf_sources *sources, const char *sql, struct pf_stream *out);
/* A folder of Parquet files, or one of them: no recording. */
bool pf_duckdb_reads(const char *path);
/* The same for these, which `sources` does not have: a table for each name. */
int pf_duckdb_run_files(struct pf_sources *sources, char **paths, size_t count, const char *sql, struct pf_stream *out);
/* From a signal handler: the statement ends. */
void pf_duckdb_stop(void);

#endif
