/* SPDX-License-Identifier: MIT */
/* New entries of the feature BUILD_ID, each once. */
#ifndef PF_EDIT_BUILD_IDS_H
#define PF_EDIT_BUILD_IDS_H

#include "base/pairs.h"
#include "edit/edit.h"

struct pf_known_ids {
    struct perfile_writer *writer;
    struct pf_pairs seen; /* hash of the name and start of the id */
    uint64_t added;
};

/* A file that was mapped. */
struct pf_build_id_file {
    uint16_t mode;           /* cpumode of its mapping */
    const char *filename;    /* of the mapping */
    const uint8_t *build_id; /* up to 20 bytes */
    uint8_t bytes;
};

void pf_known_ids_open(struct pf_known_ids *ids, struct perfile_reader *reader, struct perfile_writer *writer);
void pf_known_ids_close(struct pf_known_ids *ids);
/* Nothing is written for files that have an entry, or no build id. */
int pf_build_ids_add(struct pf_known_ids *ids, const struct pf_build_id_file *file, struct perfile_error *error);
enum { PF_BUILD_ID_NAME_BYTES = 4096 };
/* The name of a mapping's file. The kernel's mapping is named after its reference symbol: [kernel.kallsyms]_text. */
void pf_build_id_name(const char *from, char to[PF_BUILD_ID_NAME_BYTES]);
/* Each entry of the feature's body; those without an end of their name are left out. */
int pf_build_ids_each(const struct perfile_bytes *body, bool swap,
                      int (*each)(void *context, const struct pf_build_id_file *file, struct perfile_error *error),
                      void *context, struct perfile_error *error);
/* The entries of a feature that the output has anyway. */
int pf_build_ids_note(struct pf_known_ids *ids, const struct perfile_bytes *body, bool swap,
                      struct perfile_error *error);

#endif
