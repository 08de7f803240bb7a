/* SPDX-License-Identifier: MIT */
#include "build_ids.h"

#include "array.h"

#include <stdio.h>
#include <stdlib.h>

void pf_build_ids_free(struct pf_build_ids *ids)
{
    for (size_t i = 0; i < ids->count; i++)
        free(ids->list[i].path);
    free(ids->list);
}

int pf_build_id_rows_add(void *context, const char *path, const uint8_t *bytes, size_t count)
{
    struct pf_build_ids *ids = context;
    struct pf_build_id *added;

    if (!pf_array_grow(&ids->list, &ids->capacity, ids->count + 1, sizeof(*added)))
        return -1;
    added = &ids->list[ids->count];
    *added = (struct pf_build_id){.path = strdup(path), .count = count};
    memcpy(added->bytes, bytes, count);
    ids->count += added->path != NULL;
    return added->path ? 0 : -1;
}

int pf_build_ids_read(struct pf_build_ids *ids, struct pf_input *input, bool with_hits)
{
    struct perfile_build_ids_options options = PERFILE_BUILD_IDS_OPTIONS_INIT;

    options.with_hits = with_hits;
    options.take = pf_build_id_rows_add;
    options.context = ids;
    const int result = perfile_build_ids_list(input->reader, &options, &input->error);
    if (result != PERFILE_ERROR_STOPPED)
        return result;
    snprintf(input->error.message, sizeof(input->error.message), "out of memory");
    return PERFILE_ERROR_MEMORY;
}

const char *pf_build_id_text(const uint8_t *bytes, size_t count, char text[PF_BUILD_ID_TEXT])
{
    text[0] = 0;
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return text;
}

void pf_build_ids_print(const struct pf_build_ids *ids, struct pf_stream *out)
{
    char text[PF_BUILD_ID_TEXT];

    for (size_t i = 0; i < ids->count; i++) {
        pf_stream_print(out, "%-40s ", pf_build_id_text(ids->list[i].bytes, ids->list[i].count, text));
        pf_stream_put_name(out, "", ids->list[i].path, "\n");
    }
}
