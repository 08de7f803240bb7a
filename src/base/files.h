/* SPDX-License-Identifier: MIT */
/* What read and write of files, and their names, take everywhere. Failures leave their reason in errno. */
#ifndef PF_BASE_FILES_H
#define PF_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* All of it, however many pieces the kernel takes it in. */
bool pf_write_all(int fd, const void *data, size_t bytes);
/* The folders above the last part of a path, for their owner alone; those that are there stay as they are. */
bool pf_make_folders(const char *path);
/* ".../jit-PID.dump": what a JIT compiler tells of its code. It maps the file only to be found in recordings. */
bool pf_is_jitdump(const char *path);

#endif
