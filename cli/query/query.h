/* SPDX-License-Identifier: MIT */
/* Statements of SQL over recordings or Parquet files, and their results as rows. */
#ifndef PERFILE_CLI_QUERY_QUERY_H
#define PERFILE_CLI_QUERY_QUERY_H

#include "source.h"
#include "../stream.h"

/* Runs the statement, and writes its rows. An exit status; but for 0, a message was printed. */
int pf_query_run(struct pf_sources *sources, const char *sql, struct pf_stream *out);

#endif
