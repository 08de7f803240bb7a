/* SPDX-License-Identifier: MIT */
/* CGROUP records: the paths of the ids that samples have. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "record/event_cgroups.h"
#include "record/machine_kernel.h"

/* The id is the file handle of the folder. */
static uint64_t read_id(int root, const char *path)
{
    union {
        struct file_handle handle;
        uint8_t bytes[sizeof(struct file_handle) + 8];
    } file = {.handle = {.handle_bytes = 8}};
    struct stat status;
    int mount;
    uint64_t id;
    if (name_to_handle_at(root, path, &file.handle, &mount, 0) == 0 && file.handle.handle_bytes == 8) {
        memcpy(&id, file.bytes + offsetof(struct file_handle, f_handle), sizeof(id));
        return id;
    }
    return fstatat(root, path, &status, AT_SYMLINK_NOFOLLOW) == 0 ? status.st_ino : 0;
}

static int synthesize(const struct pf_cgroup_walk *walk, const char *inner, struct perfile_error *error)
{
    const struct pf_synthesis *synthesis = walk->context;
    const struct perfile_cgroup record = {.id = read_id(walk->root, walk->path), .path = *inner ? inner : "/"};
    return record.id ? synthesis->put(synthesis->context, PERFILE_RECORD_CGROUP, 0, &record, sizeof(record), error) : 0;
}

int pf_cgroups_synthesize(const struct pf_kernel *kernel, struct perfile_error *error)
{
    struct pf_synthesis synthesis = *kernel->synthesis;
    struct pf_cgroup_walk walk = {
        .allocator = kernel->allocator, .root = kernel->root, .each = synthesize, .context = &synthesis};
    if (pf_cgroup_walk_begin(&walk))
        return pf_cgroup_walk_all(&walk, error);
    pf_kernel_note(kernel, "no cgroup hierarchy is mounted: names of cgroups are not recorded");
    return 0;
}
