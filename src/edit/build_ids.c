/* SPDX-License-Identifier: MIT */
#include "edit/build_ids.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"

enum { BUILD_ID_BYTES = 20, ENTRY_ID_AT = 12, ENTRY_SIZE_AT = 32, ENTRY_NAME_AT = 36 };

void pf_known_ids_open(struct pf_known_ids *ids, struct perfile_reader *reader, struct perfile_writer *writer)
{
    *ids = (struct pf_known_ids){.writer = writer};
    pf_pairs_open(&ids->seen, reader->allocator);
}

void pf_known_ids_close(struct pf_known_ids *ids)
{
    pf_pairs_close(&ids->seen);
}

static uint64_t hash_text(const char *text, size_t bytes)
{
    return pf_hash_bytes(PF_HASH_START, text, pf_text_length(text, bytes));
}

/* 1: it is new, 0: it was there; negative: MEMORY. */
static int remember(struct pf_known_ids *ids, uint64_t name, const uint8_t *build_id, struct perfile_error *error)
{
    const uint64_t id = pf_load64(build_id, false);
    uint32_t seen;
    if (pf_pairs_get(&ids->seen, name, id, &seen))
        return 0;
    return pf_pairs_put(&ids->seen, name, id, 0) ? 1 : pf_fail_memory(error, "build id");
}

void pf_build_id_name(const char *from, char to[PF_BUILD_ID_NAME_BYTES])
{
    const char *end = *from == '[' && strstr(from, "kernel.kallsyms") ? strchr(from, ']') : NULL;
    const size_t bytes = end ? (size_t)(end + 1 - from) : strlen(from);
    snprintf(to, PF_BUILD_ID_NAME_BYTES, "%.*s", (int)pf_min(bytes, PF_BUILD_ID_NAME_BYTES - 1), from);
}

int pf_build_ids_add(struct pf_known_ids *ids, const struct pf_build_id_file *file, struct perfile_error *error)
{
    enum { HOST = -1, GUEST = 0 };
    struct perfile_header_build_id entry = {.pid = file->mode >= PERFILE_MISC_GUEST_KERNEL ? GUEST : HOST,
                                            .build_id_size = file->bytes};
    char name[PF_BUILD_ID_NAME_BYTES];
    if (!file->bytes || file->bytes > BUILD_ID_BYTES)
        return 0;
    pf_build_id_name(file->filename, name);
    entry.filename = name;
    memcpy(entry.build_id, file->build_id, file->bytes);
    int result = remember(ids, hash_text(name, sizeof(name)), entry.build_id, error);
    if (result <= 0)
        return result;
    ids->added++;
    return perfile_writer_build_id(ids->writer, file->mode, &entry, sizeof(entry), error);
}

int pf_build_ids_each(const struct perfile_bytes *body, bool swap,
                      int (*each)(void *context, const struct pf_build_id_file *file, struct perfile_error *error),
                      void *context, struct perfile_error *error)
{
    int result = 0;
    for (size_t at = 0; result >= 0 && body->bytes - at > ENTRY_NAME_AT;) {
        const uint8_t *entry = body->data + at, *name = entry + ENTRY_NAME_AT;
        const size_t bytes = pf_load16(entry + 6, swap);
        if (bytes <= ENTRY_NAME_AT || bytes > body->bytes - at)
            break;
        const uint16_t misc = pf_load16(entry + 4, swap);
        const uint8_t size = misc & PERFILE_MISC_BUILD_ID_SIZE ? entry[ENTRY_SIZE_AT] : BUILD_ID_BYTES;
        const struct pf_build_id_file file = {.mode = misc & PERFILE_MISC_CPUMODE_MASK,
                                              .filename = (const char *)name,
                                              .build_id = entry + ENTRY_ID_AT,
                                              .bytes = (uint8_t)pf_min(size, BUILD_ID_BYTES)};
        if (memchr(name, 0, bytes - ENTRY_NAME_AT))
            result = each(context, &file, error);
        at += bytes;
    }
    return result < 0 ? result : 0;
}

static int note_entry(void *ids, const struct pf_build_id_file *file, struct perfile_error *error)
{
    return remember(ids, hash_text(file->filename, PF_BUILD_ID_NAME_BYTES), file->build_id, error);
}

int pf_build_ids_note(struct pf_known_ids *ids, const struct perfile_bytes *body, bool swap,
                      struct perfile_error *error)
{
    return pf_build_ids_each(body, swap, note_entry, ids, error);
}
