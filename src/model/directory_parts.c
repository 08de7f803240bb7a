/* SPDX-License-Identifier: MIT */
#include "model/directory_parts.h"

#include "base/error.h"
#include "model/sorting.h"

int pf_parts_open(struct pf_parts *parts, struct perfile_reader *reader, struct perfile_error *error)
{
    const uint32_t count = reader->part_count;
    *parts = (struct pf_parts){.reader = reader};
    if (count < 2)
        return 0;
    parts->heads = pf_new(reader->allocator, count * sizeof(*parts->heads));
    parts->has_head = pf_new(reader->allocator, count * sizeof(*parts->has_head));
    return parts->heads && parts->has_head ? 0 : pf_fail_memory(error, "session");
}

void pf_parts_close(struct pf_parts *parts)
{
    const struct perfile_reader *reader = parts->reader;
    pf_free(reader->allocator, parts->heads, reader->part_count * sizeof(*parts->heads));
    pf_free(reader->allocator, parts->has_head, reader->part_count * sizeof(*parts->has_head));
}

static int fetch_head(struct pf_parts *parts, uint32_t part, struct perfile_error *error)
{
    struct perfile_reader *reader = parts->reader;
    const int result = pf_part_next(reader, &reader->parts[part], &parts->heads[part], error);
    parts->has_head[part] = result > 0;
    return result < 0 ? result : 0;
}

/* At first those of all parts, then that of the part whose head was delivered. */
static int fetch_heads(struct pf_parts *parts, struct perfile_error *error)
{
    int result = 0;
    if (parts->heads_read && parts->has_head[parts->last_part])
        return fetch_head(parts, parts->last_part, error);
    for (uint32_t i = 0; !parts->heads_read && i < parts->reader->part_count && result == 0; i++)
        result = fetch_head(parts, i, error);
    parts->heads_read |= result == 0;
    return result;
}

/* A record that does not wait for its turn comes first, then the one with the least time. NULL: none is left. */
static const struct perfile_record *oldest_head(const struct pf_parts *parts)
{
    const struct perfile_record *oldest = NULL;
    for (uint32_t i = 0; i < parts->reader->part_count; i++) {
        const struct perfile_record *head = &parts->heads[i];
        if (!parts->has_head[i])
            continue;
        if (!pf_sorting_must_wait(parts->reader, head))
            return head;
        if (!oldest || head->time < oldest->time)
            oldest = head;
    }
    return oldest;
}

int pf_parts_next(void *context, const struct perfile_record **record, struct perfile_error *error)
{
    struct pf_parts *parts = context;
    const int result = fetch_heads(parts, error);
    *record = result < 0 ? NULL : oldest_head(parts);
    if (!*record)
        return result;
    parts->last_part = (uint32_t)(*record - parts->heads);
    return 1;
}
