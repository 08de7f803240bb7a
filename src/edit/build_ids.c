/* SPDX-License-Identifier: MIT */
#include "edit/build_ids.h"

#include <stdio.h>

#include "base/bytes.h"
#include "base/error.h"

enum { NAME_MAX_BYTES = 4096, BUILD_ID_BYTES = 20, ENTRY_ID_AT = 12, ENTRY_NAME_AT = 36 };

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

/* The kernel's mapping is called by the symbol it was found by: [kernel.kallsyms]_text. */
static void name_file(const char *from, char to[NAME_MAX_BYTES])
{
    const char *end = *from == '[' && strstr(from, "kernel.kallsyms") ? strchr(from, ']') : NULL;
    const size_t bytes = end ? (size_t)(end + 1 - from) : strlen(from);
    snprintf(to, NAME_MAX_BYTES, "%.*s", (int)pf_min(bytes, NAME_MAX_BYTES - 1), from);
}

int pf_build_ids_add(struct pf_known_ids *ids, const struct pf_build_id_file *file, struct perfile_error *error)
{
    enum { GUEST_KERNEL = 4, HOST = -1, GUEST = 0 };
    struct perfile_header_build_id entry = {.pid = file->mode >= GUEST_KERNEL ? GUEST : HOST,
                                            .build_id_size = file->bytes};
    char name[NAME_MAX_BYTES];
    if (!file->bytes || file->bytes > BUILD_ID_BYTES)
        return 0;
    name_file(file->filename, name);
    entry.filename = name;
    memcpy(entry.build_id, file->build_id, file->bytes);
    int result = remember(ids, hash_text(name, sizeof(name)), entry.build_id, error);
    if (result <= 0)
        return result;
    ids->added++;
    return perfile_writer_build_id(ids->writer, file->mode, &entry, error);
}

int pf_build_ids_note(struct pf_known_ids *ids, const struct perfile_bytes *body, bool swap,
                      struct perfile_error *error)
{
    int result = 0;
    for (size_t at = 0; result >= 0 && body->bytes - at > ENTRY_NAME_AT;) {
        const uint8_t *entry = body->data + at;
        const size_t bytes = pf_load16(entry + 6, swap);
        if (bytes <= ENTRY_NAME_AT || bytes > body->bytes - at)
            break;
        result = remember(ids, hash_text((const char *)entry + ENTRY_NAME_AT, bytes - ENTRY_NAME_AT),
                          entry + ENTRY_ID_AT, error);
        at += bytes;
    }
    return result < 0 ? result : 0;
}
