/* SPDX-License-Identifier: MIT */
/* The name of a recording in a dataset: BLAKE2b (RFC 7693) of its content, with 128 bits, as b2sum -l 128. */
#ifndef PERFILE_CLI_DATASET_DIGEST_H
#define PERFILE_CLI_DATASET_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PF_DIGEST_BYTES = 16, PF_DIGEST_TEXT = 2 * PF_DIGEST_BYTES + 1 };

struct pf_digest {
    uint64_t state[8];
    uint64_t count; /* bytes that were taken in */
    uint8_t block[128];
    size_t used;
};

void pf_digest_start(struct pf_digest *digest);
void pf_digest_add(struct pf_digest *digest, const void *data, size_t bytes);
void pf_digest_text(struct pf_digest *digest, char text[PF_DIGEST_TEXT]);

/*
 * The digest of a file; for a folder, that of its files' names in order, each followed by the digest of the file.
 * False: see errno, which is 0 when the path is neither.
 */
bool pf_digest_path(const char *path, char text[PF_DIGEST_TEXT], uint64_t *bytes);

#endif
