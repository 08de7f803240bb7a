/* SPDX-License-Identifier: MIT */
/* Which perf knows what: questions to ages.def, and to `since` of records and features. */
#ifndef PF_SCHEMA_SINCE_H
#define PF_SCHEMA_SINCE_H

#include "schema/schema.h"

#define PF_VERSION(major, minor) ((major)*1000 + (minor))

/* "5.10", "perf-5.10", "v6.1.7" as PF_VERSION; 0: none from 3.0 to 7.99. */
uint32_t pf_since_parse(const char *text);
/* Texts of the schema: "6.16", "2.6.37", "simpleperf". */
bool pf_since_knows(uint32_t version, const char *since);

uint32_t pf_since_attr_bytes(uint32_t version);
/* Clears the flags that are younger. */
void pf_since_clear_flags(uint32_t version, struct perfile_attr *attr);
/* Bits that are younger. */
uint64_t pf_since_read_format(uint32_t version);
uint64_t pf_since_sample_type(uint32_t version);
uint64_t pf_since_branches(uint32_t version);
uint32_t pf_since_prog_info_bytes(uint32_t version);
/* What it does not read of these ways of writing; NULL: it reads them. */
const char *pf_since_output(uint32_t version, bool pipe, bool directory, bool compressed);

#endif
