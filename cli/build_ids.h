/* SPDX-License-Identifier: MIT */
/* Lists of files with their build ids. */
#ifndef PERFILE_CLI_BUILD_IDS_H
#define PERFILE_CLI_BUILD_IDS_H

#include "input.h"
#include "stream.h"

struct pf_build_id {
    char *path; /* owned */
    uint8_t bytes[20];
    size_t count; /* of these; 0: not known */
};

struct pf_build_ids {
    struct pf_build_id *list; /* owned */
    size_t count, capacity;
};

/*
 * Adds the build ids of a recording. 0, or an error, with input->error filled; the list has what was read until then.
 */
int pf_build_ids_read(struct pf_build_ids *ids, struct pf_input *input, bool with_hits);
/* For perfile_build_ids_options and the like; the context is a struct pf_build_ids. Not 0: out of memory. */
int pf_build_id_rows_add(void *ids, const char *path, const uint8_t *bytes, size_t count);
void pf_build_ids_free(struct pf_build_ids *ids);
/* "ID PATH" for each, as perf: without an id there are spaces instead. */
void pf_build_ids_print(const struct pf_build_ids *ids, struct pf_stream *out);

#define PF_BUILD_ID_TEXT (2 * 20 + 1)
const char *pf_build_id_text(const uint8_t *bytes, size_t count, char text[PF_BUILD_ID_TEXT]);

#endif
