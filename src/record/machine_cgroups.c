/* SPDX-License-Identifier: MIT */
/* CGROUP records: the paths behind the ids that samples have. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "record/machine_files.h"
#include "record/machine_kernel.h"

enum { DEPTH_MAX = 128 };

struct walk {
    const struct pf_kernel *kernel;
    char path[PF_PATH_ROOM]; /* from the root of the system, without the first slash */
    size_t mount;            /* length of that of the hierarchy */
};

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

static bool is_folder(int root, const char *path)
{
    struct stat status;
    return fstatat(root, path, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int synthesize_folder(struct walk *walk, unsigned depth, struct perfile_error *error);

static int synthesize_inner(struct walk *walk, unsigned depth, struct perfile_error *error)
{
    struct pf_listing names;
    size_t length = strlen(walk->path);
    bool read = pf_listing_open(&names, walk->kernel->allocator, walk->kernel->root, walk->path);
    int result = 0;
    for (size_t i = 0; read && i < names.count && result == 0; i++) {
        if (pf_path(walk->path + length, sizeof(walk->path) - length, "/%s", names.items[i]) &&
            is_folder(walk->kernel->root, walk->path))
            result = synthesize_folder(walk, depth + 1, error);
        walk->path[length] = 0;
    }
    pf_listing_close(&names);
    return result;
}

static int synthesize_folder(struct walk *walk, unsigned depth, struct perfile_error *error)
{
    const struct pf_synthesis *synthesis = walk->kernel->synthesis;
    const char *inner = walk->path + walk->mount;
    const struct perfile_cgroup record = {.id = read_id(walk->kernel->root, walk->path), .path = *inner ? inner : "/"};
    int result = 0;
    if (record.id)
        result = synthesis->put(synthesis->context, PERFILE_RECORD_CGROUP, 0, &record, sizeof(record), error);
    return result < 0 || depth >= DEPTH_MAX ? result : synthesize_inner(walk, depth, error);
}

int pf_cgroups_synthesize(const struct pf_kernel *kernel, struct perfile_error *error)
{
    struct walk walk = {.kernel = kernel};
    if (!pf_find_cgroups(kernel->allocator, kernel->root, walk.path)) {
        pf_kernel_note(kernel, "no cgroup hierarchy is mounted: names of cgroups are not recorded");
        return 0;
    }
    walk.mount = strlen(walk.path);
    return synthesize_folder(&walk, 0, error);
}
