/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/build_id.h"
#include "base/cursor.h"
#include "record/machine_build_id.h"

enum { NOTE_BYTES_MAX = 4096, HEADERS_MAX = 256, PROBES = 16 };

static bool read_notes(const void *notes, size_t bytes, bool swap, struct pf_build_id *id)
{
    struct pf_build_id found = {.size = 0};
    found.size = (uint8_t)pf_notes_build_id(notes, bytes, swap, found.bytes);
    if (found.size)
        *id = found;
    return found.size;
}

bool pf_build_id_from_notes(const void *notes, size_t bytes, struct pf_build_id *id)
{
    return read_notes(notes, bytes, false, id);
}

/* ---- ELF files ---- */

static ssize_t read_piece(int fd, void *to, size_t bytes, uint64_t offset)
{
    ssize_t got;
    if (offset > INT64_MAX)
        return -1;
    do
        got = pread(fd, to, bytes, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got;
}

struct segment {
    uint32_t type;
    uint64_t offset;
    uint64_t bytes;
};

static struct segment read_segment(struct pf_cursor *c, bool wide)
{
    struct segment segment = {.type = pf_cursor_u32(c)};
    if (wide) {
        pf_cursor_u32(c);
        segment.offset = pf_cursor_u64(c);
        pf_cursor_u64(c);
        pf_cursor_u64(c);
        segment.bytes = pf_cursor_u64(c);
    } else {
        segment.offset = pf_cursor_u32(c);
        pf_cursor_u32(c);
        pf_cursor_u32(c);
        segment.bytes = pf_cursor_u32(c);
    }
    return segment;
}

/* Where the program headers are. */
static uint64_t read_header(struct pf_cursor *c, bool wide, uint16_t *count)
{
    uint16_t stride;
    pf_cursor_take(c, EI_NIDENT + 8);
    pf_cursor_take(c, wide ? 8 : 4); /* entry */
    uint64_t offset = wide ? pf_cursor_u64(c) : pf_cursor_u32(c);
    pf_cursor_take(c, wide ? 14 : 10); /* section headers, flags, size of this header */
    stride = pf_cursor_u16(c);
    *count = pf_cursor_u16(c);
    return stride == (wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) && *count <= HEADERS_MAX ? offset : 0;
}

/* From the notes of the file that is open. */
static bool build_id_from_file(int fd, struct pf_build_id *id)
{
    uint8_t head[4096], notes[NOTE_BYTES_MAX];
    ssize_t got = read_piece(fd, head, sizeof(head), 0);
    if (got < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(head, ELFMAG, SELFMAG) != 0)
        return false;
    bool wide = head[EI_CLASS] == ELFCLASS64, swap = (head[EI_DATA] == ELFDATA2MSB) != PF_NATIVE_BIG_ENDIAN;
    uint16_t count;
    struct pf_cursor c = pf_cursor_make(head, (size_t)got, 0, swap);
    uint64_t offset = read_header(&c, wide, &count), stride = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    for (uint64_t i = 0; offset && !c.failed && i < count; i++) {
        uint8_t raw[sizeof(Elf64_Phdr)];
        if (read_piece(fd, raw, stride, offset + i * stride) != (ssize_t)stride)
            return false;
        struct pf_cursor at = pf_cursor_make(raw, stride, 0, swap);
        const struct segment segment = read_segment(&at, wide);
        if (segment.type != PT_NOTE)
            continue;
        got = read_piece(fd, notes, pf_min(segment.bytes, (uint64_t)sizeof(notes)), segment.offset);
        if (got > 0 && read_notes(notes, (size_t)got, swap, id))
            return true;
    }
    return false;
}

/*
 * File systems of several devices, such as btrfs and overlayfs, report devices of major 0 for their files, and some put
 * the device into the upper half of the inode number.
 */
static bool is_file(const struct stat *status, const struct pf_file_key *key)
{
    if (major(status->st_dev) == 0)
        return (uint32_t)status->st_ino == (uint32_t)key->inode;
    return status->st_ino == key->inode && major(status->st_dev) == key->major && minor(status->st_dev) == key->minor;
}

bool pf_build_id_from_path(int folder, const char *path, const struct pf_file_key *key, struct pf_build_id *id)
{
    struct stat status;
    id->size = 0;
    if (fstatat(folder, path, &status, 0) < 0 || !S_ISREG(status.st_mode) || (key && !is_file(&status, key)))
        return false; /* opening a device might do something */
    int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    if (!build_id_from_file(fd, id))
        id->size = 0;
    close(fd);
    return true;
}

/* ---- those that were read ---- */

void pf_build_ids_open(struct pf_build_ids *ids)
{
    memset(ids, 0, sizeof(*ids));
    pthread_mutex_init(&ids->mutex, NULL);
}

void pf_build_ids_close(struct pf_build_ids *ids)
{
    pthread_mutex_destroy(&ids->mutex);
}

static bool same_file(const struct pf_file_key *a, const struct pf_file_key *b)
{
    return a->major == b->major && a->minor == b->minor && a->inode == b->inode && a->name_hash == b->name_hash;
}

/* The slot of a file, or a free one; NULL: neither is near. */
static struct pf_build_id_slot *find_slot(struct pf_build_ids *ids, const struct pf_file_key *key)
{
    uint64_t hash = (key->inode ^ key->name_hash ^ (uint64_t)key->minor << 32) * 0x9e3779b97f4a7c15ull;
    for (size_t i = 0; i < PROBES; i++) {
        struct pf_build_id_slot *slot = &ids->slots[((hash >> 40) + i) % PF_BUILD_ID_SLOTS];
        if (!slot->used || same_file(&slot->key, key))
            return slot;
    }
    return NULL;
}

bool pf_build_ids_find(struct pf_build_ids *ids, const struct pf_file_key *key, struct pf_build_id *id)
{
    pthread_mutex_lock(&ids->mutex);
    const struct pf_build_id_slot *slot = find_slot(ids, key);
    bool found = slot && slot->used;
    if (found)
        *id = slot->id;
    pthread_mutex_unlock(&ids->mutex);
    return found;
}

void pf_build_ids_keep(struct pf_build_ids *ids, const struct pf_file_key *key, const struct pf_build_id *id)
{
    pthread_mutex_lock(&ids->mutex);
    struct pf_build_id_slot *slot = find_slot(ids, key);
    if (slot)
        *slot = (struct pf_build_id_slot){.key = *key, .id = *id, .used = true};
    pthread_mutex_unlock(&ids->mutex);
}
