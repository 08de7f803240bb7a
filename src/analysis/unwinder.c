/* SPDX-License-Identifier: MIT */
/* Unwinding and build ids for who has a session and samples, but no profile. */
#include "base/error.h"
#include "symbol/symbols.h"

struct perfile_unwinder {
    struct perfile_reader *reader;
    struct pf_symbols *symbols;
    const char *arch; /* uname -m of the recording; NULL: not known yet */
};

int perfile_unwinder_open(struct perfile_reader *reader, const struct perfile_symbol_options *options,
                          struct perfile_unwinder **unwinder, struct perfile_error *error)
{
    const struct perfile_symbol_options none = {0};
    const struct pf_find_options find = pf_find_options_of(options ? options : &none);
    struct perfile_unwinder *made = pf_new(pf_allocator_or_default(NULL), sizeof(*made));
    *unwinder = NULL;
    if (!made)
        return pf_fail_memory(error, "unwinding");
    made->reader = reader;
    int result = pf_symbols_open(reader, &find, &made->symbols, error);
    if (result < 0) {
        perfile_unwinder_close(made);
        return result;
    }
    *unwinder = made;
    return 0;
}

void perfile_unwinder_close(struct perfile_unwinder *unwinder)
{
    if (!unwinder)
        return;
    pf_symbols_close(unwinder->symbols);
    pf_free(pf_allocator_or_default(NULL), unwinder, sizeof(*unwinder));
}

int perfile_unwind(void *context, struct perfile_session *session, const struct perfile_sample *sample,
                   uint64_t *addresses, size_t room)
{
    struct perfile_unwinder *unwinder = context;
    size_t count;
    /* a stream says it in a record */
    if (!unwinder->arch &&
        perfile_feature_text(unwinder->reader, PERFILE_FEATURE_ARCH, NULL, &unwinder->arch, NULL) < 0)
        unwinder->arch = NULL;
    const struct pf_unwinding how = {.space = perfile_session_space(session, sample->pid), .arch = unwinder->arch};
    pf_symbols_unwind(unwinder->symbols, sample, &how, addresses, room, &count);
    return (int)count;
}

int perfile_build_id_find(void *symbol_options, const struct perfile_map *map, uint8_t build_id[20])
{
    const struct pf_find_options find = pf_find_options_of(symbol_options);
    struct pf_found found;
    int bytes = pf_find_binary(&find, map->filename, NULL, 0, &found);
    if (bytes < 0)
        return bytes;
    bytes = found.path ? pf_elf_build_id(found.path, build_id) : 0;
    pf_found_close(&found);
    return bytes > 0 ? bytes : 0; /* a file that cannot be read says nothing */
}
