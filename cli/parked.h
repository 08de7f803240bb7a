/* SPDX-License-Identifier: MIT */
/* Recordings of which only a few have an open file: the others' files are opened again when they are read. */
#ifndef PERFILE_CLI_PARKED_H
#define PERFILE_CLI_PARKED_H

#include <perfile/perfile.h>
#include <pthread.h>
#include <sys/stat.h>

struct pf_parked {
    struct pf_parking *in;
    const char *path;
    int fd; /* below 0: it is closed */
    uint64_t at, used;
    struct stat status; /* of the file that was opened first: it must be the same */
};

struct pf_parking {
    pthread_mutex_t lock;
    struct pf_parked *files; /* owned */
    size_t count;
    size_t open_count, open_max;
    uint64_t used;
};

/* Prepares for `files` files, of which at most `open_max` are open. False: out of memory. */
bool pf_parking_open(struct pf_parking *parking, size_t files, size_t open_max);
/*
 * Makes the file a source that is valid as long as the parking. False: it cannot be opened, or is not a regular file.
 */
bool pf_parking_add(struct pf_parking *parking, const char *path, struct perfile_source *source);
void pf_parking_close(struct pf_parking *parking);

#endif
