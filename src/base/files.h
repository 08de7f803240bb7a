/* SPDX-License-Identifier: MIT */
/* What read and write of files takes everywhere. Failures leave their reason in errno. */
#ifndef PF_BASE_FILES_H
#define PF_BASE_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* All of it, however many pieces the kernel takes it in. */
bool pf_write_all(int fd, const void *data, size_t bytes);
/* The folders above the last part of a path, for their owner alone; those that are there stay as they are. */
bool pf_make_folders(const char *path);

#endif
