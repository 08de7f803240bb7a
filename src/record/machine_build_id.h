/* SPDX-License-Identifier: MIT */
/* Build ids of ELF notes, and those that were read before. */
#ifndef PF_RECORD_MACHINE_BUILD_ID_H
#define PF_RECORD_MACHINE_BUILD_ID_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pf_build_id {
    uint8_t bytes[20];
    uint8_t size; /* 0: it has none */
};

/* From ELF notes, such as /sys/kernel/notes: false when there is none. */
bool pf_build_id_from_notes(const void *notes, size_t bytes, struct pf_build_id *id);

/* A file as /proc/PID/maps and MMAP2 records name it. */
struct pf_file_key {
    uint32_t major;
    uint32_t minor;
    uint64_t inode;
    uint64_t name_hash; /* inodes of some file systems are not unique */
};

/*
 * From the regular file at `path`, which must be the one of `key`; NULL: any will do. False when it cannot be read or
 * is another one, true also with size 0.
 */
bool pf_build_id_from_path(int folder, const char *path, const struct pf_file_key *key, struct pf_build_id *id);

/* Of fixed size, for several threads; when it is full, files are read again. */
enum { PF_BUILD_ID_SLOTS = 8192 };
struct pf_build_ids {
    pthread_mutex_t mutex;
    struct pf_build_id_slot {
        struct pf_file_key key;
        struct pf_build_id id;
        bool used;
    } slots[PF_BUILD_ID_SLOTS];
};

void pf_build_ids_open(struct pf_build_ids *ids);
void pf_build_ids_close(struct pf_build_ids *ids);
bool pf_build_ids_find(struct pf_build_ids *ids, const struct pf_file_key *key, struct pf_build_id *id);
void pf_build_ids_keep(struct pf_build_ids *ids, const struct pf_file_key *key, const struct pf_build_id *id);

#endif
