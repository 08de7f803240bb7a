/* SPDX-License-Identifier: MIT */
/* What read and write of files, and their names, take everywhere. Failures leave their reason in errno. */
#ifndef PF_BASE_FILES_H
#define PF_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/*
 * Identifies a file and its contents: only root and the kernel can set when a file was changed, so no other
 * file can have the same identity. Compared with memcmp; all zeros: no file.
 */
struct pf_file_identity {
    uint64_t device;
    uint64_t inode;
    uint64_t bytes;
    int64_t modified_s, modified_ns;
    int64_t changed_s, changed_ns;
};

_Static_assert(sizeof(struct pf_file_identity) == 7 * sizeof(uint64_t), "no padding: it is compared as bytes");

struct pf_file_identity pf_file_identity_of(const struct stat *status);
/* The same by its path, which may be NULL. */
struct pf_file_identity pf_file_identity_at(const char *path);

/* All of it, however many pieces the kernel takes it in. */
bool pf_write_all(int fd, const void *data, size_t bytes);
/* How many bytes there were from an offset on, up to `bytes`; what cannot be read is not there. */
size_t pf_read_from(int fd, uint64_t offset, void *to, size_t bytes);
/* The folders above the last part of a path, for their owner alone; those that are there stay as they are. */
bool pf_make_folders(const char *path);
/* ".../jit-PID.dump": a JIT compiler describes its code in it, and maps it only so that recordings name it. */
bool pf_is_jitdump(const char *path);
/*
 * The number that a process has in its own namespace, from the text of its /proc/PID/status, which is changed; `pid`
 * when the text does not say.
 */
int32_t pf_own_pid(char *status, int32_t pid);

#endif
