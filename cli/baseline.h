/* SPDX-License-Identifier: MIT */
/*
 * A folder with the profiles of earlier recordings, to compare new ones with. Its files have increasing numbers as
 * names, and only the newest ones are kept.
 */
#ifndef PERFILE_CLI_BASELINE_H
#define PERFILE_CLI_BASELINE_H

#include "profile_file.h"
#include "stream.h"

#include <perfile/profile.h>

struct pf_baseline {
    const char *folder;
    char **paths; /* by ascending number; owned */
    size_t count;
    uint64_t last; /* the highest number */
};

/* Lists the folder, and makes it when it is to be written. To be called before the sandbox. A status. */
int pf_baseline_open(struct pf_baseline *baseline, const char *verb, const char *folder, bool writes);
/* Puts the profile into a file of its own. A status. */
int pf_baseline_add(struct pf_baseline *baseline, const char *verb, const struct perfile_profile *profile);
/* Removes the oldest files that were there when it was opened, so that with `added` new ones `keep` are left. */
void pf_baseline_prune(const struct pf_baseline *baseline, uint64_t added, uint64_t keep);
void pf_baseline_close(struct pf_baseline *baseline);

#endif
