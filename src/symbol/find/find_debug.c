/* SPDX-License-Identifier: MIT */
/* The debug file of a binary, by .gnu_debuglink, .gnu_debugaltlink and by its name, and copies with more in them. */
#include "symbol/find/find_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/text.h"
#include "symbol/machine.h"
#include "symbol/table_elf.h"

/* ---- .gnu_debuglink and .gnu_debugaltlink ---- */

/* The same for what has no other reason. */
static void *need(struct pf_search *s, void *result)
{
    if (!result)
        pf_search_note_short(s);
    return result;
}

static bool has_crc(struct pf_search *s, const char *path, uint32_t wanted)
{
    enum { PIECE = 64 * 1024 };
    uint32_t crc = 0;
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    uint8_t *piece = fd >= 0 ? need(s, pf_resize(s->allocator, NULL, 0, PIECE)) : NULL;
    while (piece && ((got = read(fd, piece, PIECE)) > 0 || (got < 0 && errno == EINTR)))
        crc = pf_crc32(crc, piece, got > 0 ? (size_t)got : 0);
    pf_free(s->allocator, piece, PIECE);
    if (fd >= 0)
        close(fd);
    return got == 0 && crc == wanted;
}

/* What an ELF file says about other files. */
struct links {
    struct pf_find_id id;
    char *debug; /* name, or NULL */
    uint32_t debug_crc;
    char *alternate; /* path, or NULL */
    struct pf_find_id alternate_id;
    unsigned contents; /* of enum contents */
};

/* What a file says of its code: more is better, and DWARF is more than symbols. */
enum contents {
    HAS_SYMBOLS = 1,
    HAS_DWARF = 2,
    HAS_ALL = HAS_SYMBOLS | HAS_DWARF,
};

/* Whether a section has more than one entry: the first entry of a table of symbols is empty. */
static bool has_section(const struct pf_elf *elf, const char *name)
{
    const struct pf_elf_section *section = pf_elf_section(elf, name);
    return section && section->header.sh_type != SHT_NOBITS && section->header.sh_size > section->header.sh_entsize;
}

static void read_links(struct pf_search *s, struct links *links, const struct pf_elf *elf)
{
    size_t bytes = 0;
    const struct pf_elf_section *section = pf_elf_section(elf, ".gnu_debuglink");
    const uint8_t *data = section ? pf_elf_bytes(elf, section, &bytes) : NULL;
    size_t length = data ? pf_text_length(data, bytes) : 0;
    size_t crc_at = (length + 4) & ~(size_t)3;
    if (length && crc_at + 4 <= bytes) {
        links->debug = need(s, pf_text_copy(s->allocator, (const char *)data, length));
        links->debug_crc = pf_load32(data + crc_at, elf->swap);
    }
    section = pf_elf_section(elf, ".gnu_debugaltlink");
    data = section ? pf_elf_bytes(elf, section, &bytes) : NULL;
    length = data ? pf_text_length(data, bytes) : 0;
    if (length && length + 1 < bytes) {
        links->alternate = need(s, pf_text_copy(s->allocator, (const char *)data, length));
        pf_find_id_set(&links->alternate_id, data + length + 1, bytes - length - 1);
    }
    links->contents =
        (has_section(elf, ".symtab") ? HAS_SYMBOLS : 0) | (has_section(elf, ".debug_info") ? HAS_DWARF : 0);
}

static void open_links(struct pf_search *s, struct links *links, const char *path)
{
    struct pf_elf elf;
    uint8_t bytes[PF_BUILD_ID_BYTES];
    *links = (struct links){0};
    const int code = pf_elf_open(&elf, path, pf_allocator_or_default(s->options->allocator), NULL);
    if (code == PERFILE_ERROR_MEMORY)
        pf_search_note_short(s);
    if (code < 0)
        return;
    pf_find_id_set(&links->id, bytes, pf_elf_note_build_id(&elf, bytes));
    read_links(s, links, &elf);
    if (pf_elf_check(&elf, 0) < 0)
        pf_search_note_short(s);
    pf_elf_close(&elf);
}

static void close_links(const struct pf_search *s, struct links *links)
{
    pf_text_free(s->allocator, links->debug);
    pf_text_free(s->allocator, links->alternate);
}

/* A file with the right CRC; one with another build id is another file all the same. */
static bool take_with_crc(struct pf_search *s, char *path, const struct links *links, char **result)
{
    uint8_t bytes[PF_BUILD_ID_BYTES] = {0};
    struct pf_find_id id = {0};
    if (path && pf_search_is_file(path)) {
        int count = links->id.count ? pf_elf_build_id(s->options->allocator, path, bytes, NULL) : 0;
        if (count == PERFILE_ERROR_MEMORY)
            pf_search_note_short(s);
        pf_find_id_set(&id, bytes, count > 0 ? (size_t)count : 0);
        if ((!id.count || pf_find_id_is_same(&id, &links->id)) && has_crc(s, path, links->debug_crc)) {
            *result = path;
            return true;
        }
    }
    pf_text_free(s->allocator, path);
    return false;
}

/* Beside the binary, in .debug beside it, below /usr/lib/debug. */
static bool take_by_link(struct pf_search *s, const char *binary, const struct links *links, char **result)
{
    if (!links->debug || strchr(links->debug, '/'))
        return false;
    int own = pf_directory_length(binary), named = pf_directory_length(s->name);
    if (strcmp(pf_base_name(binary), links->debug) != 0 &&
        take_with_crc(s, pf_search_path(s, "%.*s/%s", own, binary, links->debug), links, result))
        return true;
    if (take_with_crc(s, pf_search_path(s, "%.*s/.debug/%s", own, binary, links->debug), links, result))
        return true;
    return take_with_crc(s, pf_search_path(s, "%s" PF_MACHINE_DEBUG "%.*s/%s", s->root, named, s->name, links->debug),
                         links, result) ||
           (s->name[0] == '/' &&
            take_with_crc(s, pf_search_path(s, "%s%.*s/%s", s->root, named, s->name, links->debug), links, result));
}

/* Without the ending of a compressed kernel module. */
int pf_search_plain_length(const char *name)
{
    static const char *const endings[] = {".ko.xz", ".ko.gz", ".ko.zst"};
    size_t length = strlen(name);
    for (size_t i = 0; i < PF_COUNT(endings); i++)
        if (pf_ends_with(name, endings[i]))
            length -= strlen(endings[i]) - 3;
    return length > INT32_MAX ? 0 : (int)length;
}

/* /usr/lib/debug/PATH.debug and the like: only with the build id to prove it. */
bool pf_search_take_by_name(struct pf_search *s, const struct pf_find_id *id, char **result)
{
    if (!id->count || s->name[0] != '/')
        return false;
    int length = pf_search_plain_length(s->name);
    return pf_search_take(s, pf_search_path(s, "%s" PF_MACHINE_DEBUG "%.*s.debug", s->root, length, s->name), id,
                          result, NULL) ||
           pf_search_take(s, pf_search_path(s, "%s" PF_MACHINE_DEBUG "%.*s", s->root, length, s->name), id, result,
                          NULL) ||
           pf_search_take(s, pf_search_path(s, "%s%.*s.debug", s->root, length, s->name), id, result, NULL);
}

static void find_alternate(struct pf_search *s, const char *holder, const struct links *links)
{
    char **result = &s->found->alternate_path;
    const char *path = links->alternate;
    if (!path || !links->alternate_id.count || *result)
        return;
    char *first = path[0] == '/' ? pf_search_path(s, "%s%s", s->root, path)
                                 : pf_search_path(s, "%.*s/%s", pf_directory_length(holder), holder, path);
    if (pf_search_take_member_of_id(s, "dwz", &links->alternate_id, &links->alternate_id, result)) {
        pf_text_free(s->allocator, first);
        return;
    }
    if (pf_search_take(s, first, &links->alternate_id, result, NULL) ||
        pf_search_take_debug_from_tree(s, &links->alternate_id, result))
        return;
    pf_search_take(s, pf_search_path(s, "%s" PF_MACHINE_DEBUG "/.dwz/%s", s->root, pf_base_name(path)),
                   &links->alternate_id, result, NULL);
}

/* ---- the best of all ---- */

/* What was found so far, beside the binary. */
struct beside {
    char *candidate;
    unsigned contents; /* the best of all so far */
};

/* Takes the candidate when its contents are better, or when `as_debug` is set and there is no debug file yet. */
static bool consider(struct pf_search *s, struct beside *beside, bool as_debug)
{
    struct links links;
    open_links(s, &links, beside->candidate);
    close_links(s, &links);
    if (links.contents > beside->contents || (as_debug && !s->found->debug_path)) {
        pf_text_free(s->allocator, s->found->debug_path);
        s->found->debug_path = beside->candidate;
        beside->contents = (unsigned)pf_max(beside->contents, links.contents);
    } else {
        pf_text_free(s->allocator, beside->candidate);
    }
    beside->candidate = NULL;
    return beside->contents == HAS_ALL;
}

/* Debug files; true: nothing better can be found. */
static bool consider_debug(struct pf_search *s, struct beside *beside, const struct links *links)
{
    char **c = &beside->candidate;
    const char *binary = s->found->path;
    return (pf_search_take_named(s, "debug", c) && consider(s, beside, true)) ||
           (pf_search_take_from_cache(s, "debug", c) && consider(s, beside, true)) ||
           (pf_search_take_debug_from_tree(s, &links->id, c) && consider(s, beside, true)) ||
           (binary && take_by_link(s, binary, links, c) && consider(s, beside, true)) ||
           (s->name[0] == '/' && pf_search_take_by_name(s, &links->id, c) && consider(s, beside, true));
}

/* The same binary elsewhere: one that was stripped later lies in front of one that was not. */
static bool consider_copies(struct pf_search *s, struct beside *beside)
{
    char **c = &beside->candidate;
    for (size_t i = 0; s->id.count && i < PF_COUNT(s->caches); i++)
        if (s->caches[i] && pf_search_take_leaf(s, s->caches[i], "elf", &s->id, c) && consider(s, beside, false))
            return true;
    return (pf_search_take_old_cache(s, c) && consider(s, beside, false)) ||
           (pf_search_take_from_tree(s, c) && consider(s, beside, false)) ||
           (pf_search_take_from_folder(s, c) && consider(s, beside, false));
}

void pf_search_debug(struct pf_search *s)
{
    struct links links = {.id = s->id};
    char **result = &s->found->debug_path;
    const char *binary = s->found->path;
    if (binary)
        open_links(s, &links, binary);
    if (!links.id.count)
        links.id = s->id;
    struct beside beside = {.contents = links.contents};
    if (links.contents != HAS_ALL && !consider_debug(s, &beside, &links))
        consider_copies(s, &beside);
    if (links.contents != HAS_ALL && !*result && s->options->debuginfod && links.id.count)
        pf_search_ask_debuginfod(s, &links.id, true);
    if (binary)
        find_alternate(s, binary, &links);
    close_links(s, &links);
    if (*result) {
        open_links(s, &links, *result);
        find_alternate(s, *result, &links);
        close_links(s, &links);
    }
}
