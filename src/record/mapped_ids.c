/* SPDX-License-Identifier: MIT */
#include "record/mapped_ids.h"

#include <fcntl.h>
#include <inttypes.h>

#include "base/bytes.h"
#include "base/text.h"
#include "record/machine_build_id.h"
#include "record/machine_files.h"

/* Offsets in the record. */
enum { MISC = 4, PID = 8, START = 16, LENGTH = 24, MAJOR = 40, MINOR = 44, INODE = 48, NAME = 72 };
enum { ID_SIZE = 40, ID_UNUSED = 41, ID = 44 };

bool pf_mapped_ids_open(struct pf_mapped_ids *mapped, const struct perfile_allocator *allocator)
{
    struct pf_build_ids *files = pf_new(allocator, sizeof(*files));
    *mapped = (struct pf_mapped_ids){.allocator = allocator, .files = files};
    if (files)
        pf_build_ids_open(files);
    return files;
}

void pf_mapped_ids_close(struct pf_mapped_ids *mapped)
{
    if (!mapped->files)
        return;
    pf_build_ids_close(mapped->files);
    pf_free(mapped->allocator, mapped->files, sizeof(*mapped->files));
    mapped->files = NULL;
}

/*
 * The file that is mapped, if its process still runs; which takes privileges. Else the file of that path, in the root
 * of the process, or in ours when the process has ended: it may have been replaced, so that its identity is compared.
 */
static bool read_id(const uint8_t *record, const struct pf_file_key *key, struct pf_build_id *id)
{
    char path[PF_PATH_CAPACITY];
    const uint32_t pid = pf_load32(record + PID, false);
    const uint64_t start = pf_load64(record + START, false), end = start + pf_load64(record + LENGTH, false);
    const char *name = (const char *)record + NAME;
    return (pf_path(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, pid, start, end) &&
            pf_build_id_from_path(AT_FDCWD, path, key, id)) ||
           (pf_path(path, sizeof(path), "/proc/%" PRIu32 "/root%s", pid, name) &&
            pf_build_id_from_path(AT_FDCWD, path, key, id)) ||
           pf_build_id_from_path(AT_FDCWD, name, key, id);
}

static bool find_id(const struct pf_mapped_ids *mapped, const uint8_t *record, struct pf_build_id *id)
{
    const char *name = (const char *)record + NAME;
    const struct pf_file_key key = {pf_load32(record + MAJOR, false), pf_load32(record + MINOR, false),
                                    pf_load64(record + INODE, false), pf_hash_text(name)};
    if (!mapped->files || name[0] != '/' || name[1] == '/' || !key.inode)
        return false;
    if (!pf_build_ids_find(mapped->files, &key, id)) {
        if (!read_id(record, &key, id))
            return false;
        pf_build_ids_keep(mapped->files, &key, id);
    }
    return id->size;
}

static void put_id(uint8_t *record, const struct pf_build_id *id)
{
    memset(record + ID_UNUSED, 0, ID - ID_UNUSED);
    record[ID_SIZE] = id->size;
    memcpy(record + ID, id->bytes, sizeof(id->bytes));
}

bool pf_mapped_ids_change(const struct pf_mapped_ids *mapped, const uint8_t *record, size_t bytes,
                          uint8_t changed[PF_MAPPED_BYTES])
{
    struct pf_build_id id;
    if (bytes <= NAME || bytes > PF_MAPPED_BYTES || !memchr(record + NAME, 0, bytes - NAME))
        return false;
    const uint16_t misc = pf_load16(record + MISC, false);
    const bool found = find_id(mapped, record, &id);
    const uint16_t cleared = misc & (uint16_t)~PERFILE_MISC_MMAP_BUILD_ID;
    const uint16_t now = found ? cleared | PERFILE_MISC_MMAP_BUILD_ID : cleared;
    if (!found && now == misc)
        return false;
    memcpy(changed, record, bytes);
    memcpy(changed + MISC, &now, sizeof(now));
    if (found)
        put_id(changed, &id);
    return true;
}
