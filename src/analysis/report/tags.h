/* SPDX-License-Identifier: MIT */
/*
 * What columns of reports show of samples, as texts: for profiles and flame graphs, which keep samples apart by columns
 * without making a report.
 */
#ifndef PF_ANALYSIS_REPORT_TAGS_H
#define PF_ANALYSIS_REPORT_TAGS_H

#include "analysis/profile.h"

enum { PF_TAGS_MAX = 16 };

struct pf_tags;

/* The column of that index that can be a tag, and what it shows; NULL after the last. */
const char *pf_tag_at(size_t index, const char **doc);

/*
 * NULL when out of memory. The reader must live as long as the tags. `addresses`: columns of exact addresses are
 * allowed, for which the frames of samples must be addresses.
 */
struct pf_tags *pf_tags_open(struct perfile_reader *reader, const struct perfile_allocator *allocator, bool addresses);
/* NULL is allowed. */
void pf_tags_close(struct pf_tags *tags);
/*
 * Adds a column, or a field of tracepoints, and returns its number. ARGUMENT: not a column that describes samples, or
 * added before; LIMIT: too many of them; MEMORY.
 */
int pf_tags_add(struct pf_tags *tags, const char *word, size_t bytes, struct perfile_error *error);
/* To be called once, when all columns are added. MEMORY. */
int pf_tags_begin(struct pf_tags *tags, struct perfile_error *error);
/* Whether samples must have all that was recorded: pf_profile_options.decoded. */
bool pf_tags_need_decoded(const struct pf_tags *tags);
/* Whether their frames must be addresses: pf_frames_options.by_address. */
bool pf_tags_need_addresses(const struct pf_tags *tags);
/* Whether samples must have what pf_profile_options.parallelism adds. */
bool pf_tags_need_parallelism(const struct pf_tags *tags);
/* The profile that the samples are of, which is not closed with the tags. */
void pf_tags_attach(struct pf_tags *tags, struct pf_profile *profile);

size_t pf_tags_count(const struct pf_tags *tags);
/* The name of a column, and its text for a sample: equal texts of a column are equal pointers. Valid as the tags. */
const char *pf_tags_name(const struct pf_tags *tags, size_t column);
const char *pf_tags_text(const struct pf_tags *tags, uint32_t number, size_t column);
/* The number of the texts of a sample, from 0 on; the same texts mostly have the same. UINT32_MAX: out of memory. */
uint32_t pf_tags_number(struct pf_tags *tags, const struct pf_profile_sample *sample);

#endif
