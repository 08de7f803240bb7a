/* SPDX-License-Identifier: MIT */
/*
 * One file for each key, written under another name and renamed: readers see the old one, the new one or no file, and
 * what is mapped stays as it is. Nothing is ever changed in place, so no lock is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cache_trim.h"
#include "base/error.h"
#include "base/files.h"
#include "base/locale.h"
#include "base/text.h"
#include "symbol/table.h"
#include "symbol/dwarf/debug_file.h"
#include "symbol/dwarf/inlines_tables.h"

static const char what[] = "cache";
static const char suffix[] = ".inlines";

char *pf_cache_directory(const struct perfile_allocator *allocator)
{
    const char *base = getenv("XDG_CACHE_HOME"), *below = "/perfile";
    struct stat status;
    if (!base || *base != '/') { /* a relative one is to be ignored, says its specification */
        base = getenv("HOME");
        below = "/.cache/perfile";
    }
    /* users without a home have the name of a folder that must not be made */
    if (!base || !*base || (below[1] == '.' && stat(base, &status) < 0))
        return NULL;
    return pf_text_format(allocator, "%s%s", base, below);
}

static int cannot(struct perfile_error *error, int code, const char *path)
{
    return pf_fail(error, code, PERFILE_NO_OFFSET, what, "%s: %s", path, pf_error_text(errno));
}

/* DIRECTORY/BUILDID-FILES and `more`; false when it is too long. */
static bool make_name(char name[4096], const char *directory, const struct pf_inlines_key *key, const char *more)
{
    char digits[2 * sizeof(key->build_id) + 1];
    if (!directory || !key->build_id_bytes || key->build_id_bytes > sizeof(key->build_id))
        return false;
    *pf_hex_bytes(digits, key->build_id, key->build_id_bytes) = '\0';
    const uint64_t files = pf_inlines_checksum(&key->files, sizeof(key->files));
    return snprintf(name, 4096, "%s/%s-%016" PRIx64 "%s", directory, digits, files, more) < 4096;
}

bool pf_inlines_key_of(const struct perfile_allocator *allocator, const char *path, const char *alternate_path,
                       struct pf_inlines_key *key)
{
    char package[4096];
    *key = (struct pf_inlines_key){.files.debug = pf_file_identity_at(path),
                                   .files.alternate = pf_file_identity_at(alternate_path)};
    if (pf_package_name(package, path))
        key->files.package = pf_file_identity_at(package);
    const int bytes = pf_elf_build_id(allocator, path, key->build_id, NULL);
    key->build_id_bytes = bytes > 0 ? (uint32_t)bytes : 0;
    return bytes > 0;
}

bool pf_inlines_are_of(const struct pf_inlines *inlines, const struct pf_inlines_key *key)
{
    return memcmp(&inlines->files, &key->files, sizeof(key->files)) == 0;
}

/* ---- saving --------------------------------------------------------------------------------------------------- */

static bool write_block(int fd, const struct pf_inlines *inlines, const struct pf_inlines_key *key)
{
    struct pf_inlines_header header;
    const char *body = (const char *)inlines->block + sizeof(header);
    size_t body_bytes = inlines->bytes - sizeof(header);
    memcpy(&header, inlines->block, sizeof(header));
    header.key = *key;
    header.body_checksum = pf_inlines_checksum(body, body_bytes);
    header.header_checksum = pf_inlines_checksum(&header, offsetof(struct pf_inlines_header, header_checksum));
    return pf_write_all(fd, &header, sizeof(header)) && pf_write_all(fd, body, body_bytes);
}

int pf_inlines_save(const struct pf_inlines *inlines, const char *directory, const struct pf_inlines_key *key,
                    uint64_t limit_bytes, struct perfile_error *error)
{
    char name[4096], temporary[4096];
    if (!make_name(name, directory, key, suffix) || !make_name(temporary, directory, key, ".inlines-XXXXXX"))
        return pf_fail(error, PERFILE_ERROR_ARGUMENT, PERFILE_NO_OFFSET, what, "no directory or no build id");
    if (inlines->bytes > limit_bytes)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, what,
                       "the tables alone are larger than it may be");
    if (!pf_make_folders(name))
        return cannot(error, PERFILE_ERROR_WRITE, directory);
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return cannot(error, PERFILE_ERROR_WRITE, directory);
    /* not synced: the checksum shows when a crash of the machine left half a file */
    bool fine = write_block(fd, inlines, key);
    fine = close(fd) == 0 && fine;
    if (!fine || rename(temporary, name) != 0) {
        int result = cannot(error, PERFILE_ERROR_WRITE, name);
        unlink(temporary);
        return result;
    }
    pf_cache_trim(inlines->allocator, directory, suffix, strrchr(name, '/') + 1, limit_bytes);
    return 0;
}

/* ---- loading -------------------------------------------------------------------------------------------------- */

static bool block_is_valid(struct pf_inlines *inlines, const struct pf_inlines_key *key)
{
    struct pf_inlines_header header;
    if (inlines->bytes < sizeof(header))
        return false;
    memcpy(&header, inlines->block, sizeof(header));
    return pf_inlines_checksum(&header, offsetof(struct pf_inlines_header, header_checksum)) ==
               header.header_checksum &&
           memcmp(&header.key, key, sizeof(*key)) == 0 && pf_inlines_attach(inlines) &&
           pf_inlines_checksum((const char *)inlines->block + sizeof(header), inlines->bytes - sizeof(header)) ==
               header.body_checksum;
}

static bool map_file(struct pf_inlines *inlines, int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0 ||
        (uint64_t)status.st_size > SIZE_MAX)
        return false;
    int flags = MAP_PRIVATE;
#ifdef MAP_POPULATE
    flags |= MAP_POPULATE; /* the checksum reads all of it */
#endif
    void *block = mmap(NULL, (size_t)status.st_size, PROT_READ, flags, fd, 0);
    if (block == MAP_FAILED)
        return false;
    inlines->block = block;
    inlines->bytes = (size_t)status.st_size;
    inlines->mapped = true;
    return true;
}

static int load_file(int fd, const char *name, const struct pf_inlines_key *key, struct pf_inlines *inlines,
                     struct perfile_error *error)
{
    errno = 0;
    const bool mapped = map_file(inlines, fd);
    if (!mapped && errno == ENOMEM) /* nothing is wrong with the file; what it was made of is there, too */
        return pf_fail_memory(error, what);
    if (!mapped || !block_is_valid(inlines, key)) {
        unlink(name);
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, what, "%s: damaged or of another version", name);
    }
    futimens(fd, NULL); /* its time says when it was used last */
    return 0;
}

int pf_inlines_load(const char *directory, const struct pf_inlines_key *key, const struct perfile_allocator *allocator,
                    struct pf_inlines **result, struct perfile_error *error)
{
    char name[4096];
    *result = NULL;
    if (!make_name(name, directory, key, suffix))
        return pf_fail(error, PERFILE_ERROR_ABSENT, PERFILE_NO_OFFSET, what, "no directory or no build id");
    int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return cannot(error, PERFILE_ERROR_ABSENT, name);
    allocator = pf_allocator_or_default(allocator);
    struct pf_inlines *inlines = pf_new(allocator, sizeof(*inlines));
    int code = inlines ? 0 : pf_fail_memory(error, what);
    if (inlines) {
        inlines->allocator = allocator;
        code = load_file(fd, name, key, inlines, error);
    }
    close(fd);
    if (code == 0)
        *result = inlines;
    else
        pf_inlines_close(inlines);
    return code;
}
