/* SPDX-License-Identifier: MIT */
#include "edit.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool copy(int from, off_t at, uint64_t bytes, int to)
{
    char block[1 << 16];

    while (bytes) {
        const ssize_t got = pread(from, block, bytes < sizeof(block) ? (size_t)bytes : sizeof(block), at);
        if (got <= 0 || write(to, block, (size_t)got) != got)
            return false;
        at += got;
        bytes -= (uint64_t)got;
    }
    return true;
}

/* The bundle is valid only once its last bytes are written; until then the file is a complete recording without it. */
static bool append(const char *input, const struct perfile_bundle *bundle, const char *output)
{
    const int from = open(input, O_RDONLY | O_CLOEXEC), to = open(output, O_WRONLY | O_APPEND | O_CLOEXEC);
    struct stat before;
    bool done = from >= 0 && to >= 0 && fstat(to, &before) == 0;

    if (done && !copy(from, (off_t)bundle->start, bundle->bytes, to)) {
        done = false;
        if (ftruncate(to, before.st_size) < 0)
            pf_message("%s: %s", output, strerror(errno));
    }
    if (from >= 0)
        close(from);
    if (to >= 0 && close(to) < 0)
        done = false;
    return done;
}

/* Finds the bundle after the recording at `input`. Returns false when it is missing, or when it cannot be read. */
static bool has_bundle(const char *input, struct perfile_bundle *bundle)
{
    *bundle = (struct perfile_bundle)PERFILE_BUNDLE_INIT;
    return perfile_bundle_look(input, bundle, NULL) == 0 && bundle->bytes;
}

static bool is_file(const char *path)
{
    struct stat about;

    return strcmp(path, "-") && stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

int pf_carry_bundle(const char *verb, const char *input, const char *output, bool wanted)
{
    struct perfile_bundle bundle;

    if (!has_bundle(input, &bundle))
        return PF_STATUS_OK;
    if (!wanted || !is_file(output)) {
        char files[PF_COUNTED_BYTES];
        pf_message("%s: the bundle of %s is left out (%s)", verb, input, pf_counted(bundle.files, "files", files));
        return PF_STATUS_OK;
    }
    if (append(input, &bundle, output))
        return PF_STATUS_OK;
    pf_message("%s: the bundle of %s could not be written to %s", verb, input, output);
    return PF_STATUS_OUTPUT;
}
