/* SPDX-License-Identifier: MIT */
/*
 * Finding binaries and their debug files. The paths come out of recordings, which anyone may have written: only regular
 * files are opened, none below /proc, /sys or /dev, and where the recording has a build id the file must have it too.
 */
#include "symbol/find/find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "symbol/find/bundle.h"
#include "symbol/table_elf.h"

enum { BUILD_ID_MAX = 20 };

struct build_id {
    uint8_t bytes[BUILD_ID_MAX];
    size_t count; /* without zeros at its end; 0: not known */
    size_t shown; /* its length where it becomes a name */
    char hex[2 * BUILD_ID_MAX + 1];
};

struct search {
    const struct pf_find_options *options;
    const struct perfile_allocator *allocator;
    const char *symfs;
    char *cache;           /* perf's build-id cache, or NULL */
    const char *caches[2]; /* the archive's and this one */
    char *name;            /* without what the kernel adds to it */
    struct build_id id;
    struct pf_found *found;
    int64_t debuginfod_ms; /* that it has taken */
    bool no_memory;
};

/* ---- build ids ---- */

static void set_build_id(struct build_id *id, const uint8_t *bytes, size_t count)
{
    *id = (struct build_id){.count = count > BUILD_ID_MAX ? BUILD_ID_MAX : count};
    /* recordings pad shorter ids with zeros; one of zeros alone is none */
    while (id->count && !bytes[id->count - 1])
        id->count--;
    if (!id->count)
        return;
    memcpy(id->bytes, bytes, id->count);
    id->shown = count > BUILD_ID_MAX ? BUILD_ID_MAX : count;
    if (id->shown == BUILD_ID_MAX && id->count <= 16)
        id->shown = id->count <= 8 ? 8 : 16; /* a hash of lld, MD5 or UUID in a field for SHA-1 */
    *pf_hex_bytes(id->hex, id->bytes, id->shown) = '\0';
}

static bool is_same_id(const struct build_id *a, const struct build_id *b)
{
    return a->count == b->count && memcmp(a->bytes, b->bytes, a->count) == 0;
}

int pf_elf_build_id(const struct perfile_allocator *allocator, const char *path, uint8_t build_id[20])
{
    struct pf_elf elf;
    struct pf_watch watch;
    pf_watch_open(&watch, allocator);
    int code = pf_elf_open(&elf, path, &watch.allocator, NULL);
    if (code < 0)
        return code;
    code = (int)pf_elf_note_build_id(&elf, build_id);
    pf_elf_close(&elf);
    return pf_memory_was_short(&watch.allocator) ? PERFILE_ERROR_MEMORY : code;
}

/* ---- lack of memory ---- */

/* What is looked for and where it may be is not known any more. */
static void note_short(struct search *s)
{
    s->no_memory = true;
    if (s->options->allocator)
        pf_memory_note_short(s->options->allocator);
}

/* What the C library gave; NULL may be for lack of memory, else there is none. */
static void *note_null(struct search *s, void *search_of)
{
    if (!search_of && errno == ENOMEM)
        note_short(s);
    return search_of;
}

/* The same for what has no other reason. */
static void *need(struct search *s, void *search_of)
{
    if (!search_of)
        note_short(s);
    return search_of;
}

/* ---- candidates ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

static bool is_file(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

enum verdict {
    VERDICT_ABSENT, /* or nothing that could be compared */
    VERDICT_OTHER,
    VERDICT_SAME,
};

static enum verdict judge(struct search *s, const char *path, const struct build_id *wanted, struct build_id *id)
{
    uint8_t bytes[BUILD_ID_MAX] = {0};
    if (!is_file(path))
        return VERDICT_ABSENT;
    if (!wanted->count)
        return VERDICT_SAME;
    int count = pf_elf_build_id(s->options->allocator, path, bytes);
    if (count == PERFILE_ERROR_MEMORY)
        note_short(s);
    if (count < 0)
        return VERDICT_ABSENT;
    set_build_id(id, bytes, (size_t)count);
    return is_same_id(id, wanted) ? VERDICT_SAME : VERDICT_OTHER;
}

/* A path made as by printf; NULL when out of memory, which is remembered. */
static char *make_path(struct search *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static char *make_path(struct search *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *path = pf_text_format_list(s->allocator, format, arguments);
    va_end(arguments);
    if (!path)
        note_short(s);
    return path;
}

/* Takes `path`: it becomes *result when it is the right file. `found`, or NULL, is told of another one. */
static bool take_if(struct search *s, char *path, const struct build_id *wanted, char **result, struct pf_found *found)
{
    struct build_id id = {0};
    enum verdict verdict = path ? judge(s, path, wanted, &id) : VERDICT_ABSENT;
    if (verdict == VERDICT_SAME) {
        *result = path;
        return true;
    }
    if (verdict == VERDICT_OTHER && found) {
        found->build_id_differs = true;
        snprintf(found->other_build_id, sizeof(found->other_build_id), "%s", id.hex);
    }
    pf_text_free(s->allocator, path);
    return false;
}

static bool take_any(struct search *s, char *path, char **result)
{
    static const struct build_id none;
    return take_if(s, path, &none, result, NULL);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int directory_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    return length > INT32_MAX ? 0 : (int)length;
}

/* ---- the bundle ---- */

static bool take_member(struct search *s, const struct perfile_used_file *file, const struct build_id *wanted,
                        char **result)
{
    char name[PF_BUNDLE_NAME_BYTES_MAX + 1], path[PF_BUNDLE_PATH_BYTES];
    return pf_bundle_name(file, name, sizeof(name)) && pf_bundle_path(s->options, name, path) &&
           take_if(s, make_path(s, "%s", path), wanted, result, NULL);
}

/* What a build id proves. */
static bool take_member_of_id(struct search *s, const char *kind, const struct build_id *id,
                              const struct build_id *wanted, char **result)
{
    const struct perfile_used_file file = {.kind = kind, .name = s->name, .build_id = id->hex};
    return id->count && take_member(s, &file, wanted, result);
}

/* ---- perf's build-id cache and .build-id trees ---- */

/* CACHE/.build-id/xx/yyyy/LEAF, and CACHE/PATH/ID/LEAF, where `.build-id` has the link. */
static bool take_leaf(struct search *s, const char *cache, const char *leaf, const struct build_id *wanted,
                      char **result)
{
    const char *name = s->name[0] == '/' ? s->name + 1 : s->name;
    return take_if(s, make_path(s, "%s/.build-id/%.2s/%s/%s", cache, s->id.hex, s->id.hex + 2, leaf), wanted, result,
                   NULL) ||
           take_if(s, make_path(s, "%s/%s/%s/%s", cache, name, s->id.hex, leaf), wanted, result, NULL);
}

static bool take_from_cache(struct search *s, const char *leaf, char **result)
{
    if (take_member_of_id(s, leaf, &s->id, &s->id, result))
        return true;
    for (size_t i = 0; s->id.count && i < PF_COUNT(s->caches); i++)
        if (s->caches[i] && take_leaf(s, s->caches[i], leaf, &s->id, result))
            return true;
    return false;
}

/* What only its name finds comes out of the bundle before all that has the name here; but not before what the user names. */
static bool take_named(struct search *s, const char *kind, char **result)
{
    static const struct build_id none;
    const struct perfile_used_file file = {.kind = kind, .name = s->name, .build_id = ""};
    return !s->id.count && pf_find_is_local(s->options) && take_member(s, &file, &none, result);
}

/* Before perf 4.11 the link led to the file itself. */
static bool take_old_cache(struct search *s, char **result)
{
    for (size_t i = 0; s->id.count && i < PF_COUNT(s->caches); i++)
        if (s->caches[i] && take_if(s, make_path(s, "%s/.build-id/%.2s/%s", s->caches[i], s->id.hex, s->id.hex + 2),
                                    &s->id, result, NULL))
            return true;
    return false;
}

/* Links to binaries, as Fedora has them. */
static bool take_from_tree(struct search *s, char **result)
{
    return s->id.count &&
           (take_if(s, make_path(s, "%s/usr/lib/.build-id/%.2s/%s", s->symfs, s->id.hex, s->id.hex + 2), &s->id, result,
                    NULL) ||
            take_if(s, make_path(s, "%s/usr/lib/debug/.build-id/%.2s/%s", s->symfs, s->id.hex, s->id.hex + 2), &s->id,
                    result, NULL));
}

static bool take_debug_from_tree(struct search *s, const struct build_id *id, char **result)
{
    return id->count &&
           take_if(s, make_path(s, "%s/usr/lib/debug/.build-id/%.2s/%s.debug", s->symfs, id->hex, id->hex + 2), id,
                   result, NULL);
}

/* ---- .gnu_debuglink and .gnu_debugaltlink ---- */

static bool has_crc(struct search *s, const char *path, uint32_t wanted)
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
    struct build_id id;
    char *debug; /* name, or NULL */
    uint32_t debug_crc;
    char *alternate; /* path, or NULL */
    struct build_id alternate_id;
    unsigned contents; /* of enum tells */
};

/* What a file says of its code: more is better, and DWARF is more than symbols. */
enum contents {
    HAS_SYMBOLS = 1,
    HAS_DWARF = 2,
    HAS_ALL = HAS_SYMBOLS | HAS_DWARF,
};

/* The first entry of a table of symbols is none. */
static bool has_section(const struct pf_elf *elf, const char *name)
{
    const struct pf_elf_section *section = pf_elf_section(elf, name);
    return section && section->header.sh_type != SHT_NOBITS && section->header.sh_size > section->header.sh_entsize;
}

static void read_links(struct search *s, struct links *links, const struct pf_elf *elf)
{
    size_t bytes = 0;
    const struct pf_elf_section *section = pf_elf_section(elf, ".gnu_debuglink");
    const uint8_t *data = section ? pf_elf_bytes(elf, section, &bytes) : NULL;
    size_t length = data ? pf_text_length(data, bytes) : 0;
    size_t crc_at = (length + 4) & ~(size_t)3;
    if (length && crc_at + 4 <= bytes) {
        links->debug = need(s, pf_text_copy(s->allocator, (const char *)data, length));
        links->debug_crc = pf_load32(data + crc_at, elf->is_big_endian != PF_NATIVE_BIG_ENDIAN);
    }
    section = pf_elf_section(elf, ".gnu_debugaltlink");
    data = section ? pf_elf_bytes(elf, section, &bytes) : NULL;
    length = data ? pf_text_length(data, bytes) : 0;
    if (length && length + 1 < bytes) {
        links->alternate = need(s, pf_text_copy(s->allocator, (const char *)data, length));
        set_build_id(&links->alternate_id, data + length + 1, bytes - length - 1);
    }
    links->contents =
        (has_section(elf, ".symtab") ? HAS_SYMBOLS : 0) | (has_section(elf, ".debug_info") ? HAS_DWARF : 0);
}

static void open_links(struct search *s, struct links *links, const char *path)
{
    struct pf_elf elf;
    uint8_t bytes[BUILD_ID_MAX];
    *links = (struct links){0};
    struct pf_watch watch;
    pf_watch_open(&watch, s->options->allocator);
    const int code = pf_elf_open(&elf, path, &watch.allocator, NULL);
    if (code == PERFILE_ERROR_MEMORY)
        note_short(s);
    if (code < 0)
        return;
    set_build_id(&links->id, bytes, pf_elf_note_build_id(&elf, bytes));
    read_links(s, links, &elf);
    pf_elf_close(&elf);
    if (pf_memory_was_short(&watch.allocator))
        note_short(s);
}

static void close_links(const struct search *s, struct links *links)
{
    pf_text_free(s->allocator, links->debug);
    pf_text_free(s->allocator, links->alternate);
}

/* A file with the right CRC; one with another build id is another file all the same. */
static bool take_with_crc(struct search *s, char *path, const struct links *links, char **result)
{
    uint8_t bytes[BUILD_ID_MAX] = {0};
    struct build_id id = {0};
    if (path && is_file(path)) {
        int count = links->id.count ? pf_elf_build_id(s->options->allocator, path, bytes) : 0;
        if (count == PERFILE_ERROR_MEMORY)
            note_short(s);
        set_build_id(&id, bytes, count > 0 ? (size_t)count : 0);
        if ((!id.count || is_same_id(&id, &links->id)) && has_crc(s, path, links->debug_crc)) {
            *result = path;
            return true;
        }
    }
    pf_text_free(s->allocator, path);
    return false;
}

/* Beside the binary, in .debug beside it, below /usr/lib/debug. */
static bool take_by_link(struct search *s, const char *binary, const struct links *links, char **result)
{
    if (!links->debug || strchr(links->debug, '/'))
        return false;
    int own = directory_length(binary), named = directory_length(s->name);
    if (strcmp(base_name(binary), links->debug) != 0 &&
        take_with_crc(s, make_path(s, "%.*s/%s", own, binary, links->debug), links, result))
        return true;
    if (take_with_crc(s, make_path(s, "%.*s/.debug/%s", own, binary, links->debug), links, result))
        return true;
    return take_with_crc(s, make_path(s, "%s/usr/lib/debug%.*s/%s", s->symfs, named, s->name, links->debug), links,
                         result) ||
           (s->name[0] == '/' &&
            take_with_crc(s, make_path(s, "%s%.*s/%s", s->symfs, named, s->name, links->debug), links, result));
}

/* Without the ending of a compressed kernel module. */
static int plain_length(const char *name)
{
    static const char *const endings[] = {".ko.xz", ".ko.gz", ".ko.zst"};
    size_t length = strlen(name);
    for (size_t i = 0; i < PF_COUNT(endings); i++)
        if (ends_with(name, endings[i]))
            length -= strlen(endings[i]) - 3;
    return length > INT32_MAX ? 0 : (int)length;
}

/* /usr/lib/debug/PATH.debug and the like: only with the build id to prove it. */
static bool take_by_name(struct search *s, const struct build_id *id, char **result)
{
    if (!id->count || s->name[0] != '/')
        return false;
    int length = plain_length(s->name);
    return take_if(s, make_path(s, "%s/usr/lib/debug%.*s.debug", s->symfs, length, s->name), id, result, NULL) ||
           take_if(s, make_path(s, "%s/usr/lib/debug%.*s", s->symfs, length, s->name), id, result, NULL) ||
           take_if(s, make_path(s, "%s%.*s.debug", s->symfs, length, s->name), id, result, NULL);
}

static void find_alternate(struct search *s, const char *holder, const struct links *links)
{
    char **result = &s->found->alternate_path;
    const char *path = links->alternate;
    if (!path || !links->alternate_id.count || *result)
        return;
    char *first = path[0] == '/' ? make_path(s, "%s%s", s->symfs, path)
                                 : make_path(s, "%.*s/%s", directory_length(holder), holder, path);
    if (take_member_of_id(s, "dwz", &links->alternate_id, &links->alternate_id, result)) {
        pf_text_free(s->allocator, first);
        return;
    }
    if (take_if(s, first, &links->alternate_id, result, NULL) || take_debug_from_tree(s, &links->alternate_id, result))
        return;
    take_if(s, make_path(s, "%s/usr/lib/debug/.dwz/%s", s->symfs, base_name(path)), &links->alternate_id, result, NULL);
}

/* ---- debuginfod ---- */

static void say_slow(void *context)
{
    const struct search *s = context;
    const int64_t max_ms = PF_DEBUGINFOD_FILE_SECONDS * 1000, left_ms = s->options->debuginfod->left_ms;
    pf_find_note(s->options, "waiting for debuginfod: %s, at most %d seconds", s->name,
                 (int)((left_ms < max_ms ? left_ms : max_ms) / 1000));
}

/* The binary and its debug file together have PF_DEBUGINFOD_FILE_SECONDS. */
static void ask_debuginfod(struct search *s, const struct build_id *id, bool wants_debug)
{
    const struct pf_debuginfod_question question = {.build_id = id->bytes,
                                                    .build_id_bytes = id->shown,
                                                    .wants_debug = wants_debug,
                                                    .limit_ms = PF_DEBUGINFOD_FILE_SECONDS * 1000 - s->debuginfod_ms,
                                                    .slow = s->debuginfod_ms < 1000 ? say_slow : NULL,
                                                    .context = s,
                                                    .allocator = s->allocator};
    const int64_t before = s->options->debuginfod->left_ms;
    errno = 0;
    char *path = pf_debuginfod_find(s->options->debuginfod, &question);
    if (!path && (errno == ENOMEM || s->options->debuginfod->last_error == ENOMEM))
        note_short(s);
    s->debuginfod_ms += before - s->options->debuginfod->left_ms;
    if (path)
        take_if(s, path, id, wants_debug ? &s->found->debug_path : &s->found->path, NULL);
}

/* ---- the kernel ---- */

static bool take_kernel_in(struct search *s, const char *directory, const char *prefix, const char *tail)
{
    bool consumed = false;
    char *path = make_path(s, "%s%s", s->symfs, directory);
    DIR *entries = path ? note_null(s, opendir(path)) : NULL;
    for (struct dirent *entry; entries && !consumed && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.' && pf_starts_with(entry->d_name, prefix))
            consumed = take_if(s, make_path(s, "%s/%s%s", path, entry->d_name, tail), &s->id, &s->found->path, NULL);
    if (entries)
        closedir(entries);
    pf_text_free(s->allocator, path);
    return consumed;
}

/* Any installed kernel may be the one, so only the build id tells. */
static bool take_installed_kernel(struct search *s)
{
    return s->id.count &&
           (take_kernel_in(s, "/usr/lib/debug/boot", "vmlinux", "") ||
            take_kernel_in(s, "/usr/lib/debug/lib/modules", "", "/vmlinux") ||
            take_kernel_in(s, "/boot", "vmlinux", "") || take_kernel_in(s, "/lib/modules", "", "/build/vmlinux") ||
            take_kernel_in(s, "/lib/modules", "", "/vmlinux"));
}

static bool is_running_kernel(const struct build_id *wanted)
{
    uint8_t notes[4096];
    ssize_t got = -1;
    int fd = open("/sys/kernel/notes", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, notes, sizeof(notes));
        close(fd);
    }
    uint8_t bytes[BUILD_ID_MAX];
    struct build_id id;
    set_build_id(&id, bytes, got > 0 ? pf_notes_build_id(notes, (size_t)got, false, bytes) : 0);
    return !wanted->count || is_same_id(&id, wanted);
}

/* The text says that the kernel ran where the recording says. */
static bool is_of_this_boot(struct search *s, const char *path)
{
    const struct pf_find_options *options = s->options;
    uint64_t address = 0;
    size_t bytes = 0;
    const struct perfile_allocator *allocator = pf_allocator_or_default(options->allocator);
    char *text = options->reference ? note_null(s, pf_read_text(allocator, path, &bytes)) : NULL;
    bool same =
        text && pf_kallsyms_address(text, bytes, options->reference, &address) && address == options->reference_address;
    pf_free(allocator, text, bytes + 1);
    return same;
}

/* `perf buildid-cache --kcore`: one folder for each boot that was kept, CACHE/[kernel.kcore]/ID/DATE. */
static bool take_kcore_of(struct search *s, const char *cache)
{
    enum { BOOTS_MAX = 256 };
    bool consumed = false;
    char *path = make_path(s, "%s/[kernel.kcore]/%s", cache, s->id.hex);
    DIR *boots = path ? note_null(s, opendir(path)) : NULL;
    struct dirent *boot;
    for (unsigned i = 0; boots && !consumed && i < BOOTS_MAX && (boot = readdir(boots)) != NULL; i++) {
        char *text = boot->d_name[0] != '.' ? make_path(s, "%s/%s/kallsyms", path, boot->d_name) : NULL;
        consumed = text && is_file(text) && is_of_this_boot(s, text);
        if (consumed)
            s->found->path = text;
        else
            pf_text_free(s->allocator, text);
    }
    if (boots)
        closedir(boots);
    pf_text_free(s->allocator, path);
    return consumed;
}

/* Of the bundle and the archive always; of this machine only where its files may be asked. */
static bool take_kernel_text(struct search *s)
{
    static const struct build_id none;
    const char *caches[] = {s->options->archive_dir, pf_find_is_local(s->options) ? s->cache : NULL};
    for (size_t i = 0; s->id.count && i < PF_COUNT(caches); i++)
        if (caches[i] && take_kcore_of(s, caches[i]))
            return true;
    if (take_member_of_id(s, "kallsyms", &s->id, &none, &s->found->path))
        return true;
    for (size_t i = 0; s->id.count && i < PF_COUNT(caches); i++)
        if (caches[i] && take_leaf(s, caches[i], "kallsyms", &none, &s->found->path))
            return true;
    return false;
}

static void find_kernel(struct search *s)
{
    const struct pf_find_options *o = s->options;
    char **result = &s->found->path;
    if (o->kallsyms && take_any(s, make_path(s, "%s", o->kallsyms), result))
        return;
    if (o->vmlinux && take_if(s, make_path(s, "%s", o->vmlinux), &s->id, result, s->found))
        return;
    /* perf record --kcore: the recording is a directory that holds a copy */
    if (o->recording && take_any(s, make_path(s, "%s/kcore_dir/kallsyms", o->recording), result))
        return;
    if (take_named(s, "elf", result) || take_named(s, "kallsyms", result) || take_from_cache(s, "elf", result) ||
        take_from_cache(s, "vmlinux", result) || take_debug_from_tree(s, &s->id, result) || take_installed_kernel(s) ||
        take_kernel_text(s))
        return;
    if (pf_find_is_local(o) && o->same_machine && is_running_kernel(&s->id))
        take_any(s, make_path(s, "/proc/kallsyms"), result);
}

/* ---- names ---- */

static bool is_kernel(const char *name)
{
    return pf_starts_with(name, "[kernel.kallsyms]") || pf_starts_with(name, "[kernel.vmlinux]") ||
           pf_starts_with(name, "[guest.kernel.kallsyms");
}

/* Memory that no file stands behind, and files that are more than bytes. */
static bool is_no_file(const char *name)
{
    static const char *const beginnings[] = {
        "//anon", "/anon_hugepage", "/dev/zero", "/SYSV",  "/memfd:",    "/[aio]", "anon_inode:",
        "/drm ",  "[anon:",         "[heap]",    "[stack", "[vsyscall]", "inode:",
    };
    for (size_t i = 0; i < PF_COUNT(beginnings); i++)
        if (pf_starts_with(name, beginnings[i]))
            return true;
    return !*name;
}

static bool may_be_opened(const struct search *s)
{
    if (*s->symfs || pf_starts_with(s->name, "/dev/shm/"))
        return true;
    return !pf_starts_with(s->name, "/proc/") && !pf_starts_with(s->name, "/sys/") && !pf_starts_with(s->name, "/dev/");
}

/* ---- kernel modules ---- */

void pf_kernel_module_name(char *text, size_t capacity, const char *name)
{
    const char *start = name[0] == '/' ? base_name(name) : name;
    start += start[0] == '[';
    snprintf(text, capacity, "%.*s", (int)pf_min(strcspn(start, ".]"), capacity - 1), start);
    for (char *c = text; *c; c++)
        if (*c == '-')
            *c = '_';
}

/* Installed kernels may compress what the recorded path names, or not. */
static bool take_module_at(struct search *s, const char *directory, const char *path)
{
    static const char *const endings[] = {"", ".xz", ".zst"};
    for (size_t i = 0; i < PF_COUNT(endings); i++)
        if (take_if(s, make_path(s, "%s%s%.*s%s", s->symfs, directory, plain_length(path), path, endings[i]), &s->id,
                    &s->found->path, s->found))
            return true;
    return false;
}

/* Lines are "kernel/net/nf_nat.ko.xz: kernel/lib/libcrc32c.ko.xz", or the first file alone. */
static bool take_listed_module(struct search *s, FILE *list, const char *directory)
{
    enum { LINES_MAX = 100000 };
    char line[4096], wanted[128], name[128];
    pf_kernel_module_name(wanted, sizeof(wanted), s->name);
    for (unsigned i = 0; i < LINES_MAX && fgets(line, sizeof(line), list); i++) {
        line[strcspn(line, ":\n")] = 0;
        const char *slash = strrchr(line, '/');
        pf_kernel_module_name(name, sizeof(name), slash ? slash + 1 : line);
        if (strcmp(name, wanted) == 0 && !strstr(line, "..") && take_module_at(s, directory, line))
            return true;
    }
    return false;
}

/* Either list may be missing: depmod makes the first, the build of the kernel the second. */
static bool take_module_of_release(struct search *s)
{
    static const char *const lists[] = {"dep", "order"};
    const char *release = s->options->release;
    bool consumed = false;
    if (!release || strchr(release, '/') || release[0] == '.')
        return false;
    char *directory = make_path(s, "/lib/modules/%s/", release);
    for (size_t i = 0; directory && i < PF_COUNT(lists) && !consumed; i++) {
        char *path = make_path(s, "%s%smodules.%s", s->symfs, directory, lists[i]);
        FILE *list = path && is_file(path) ? note_null(s, fopen(path, "re")) : NULL;
        if (list) {
            consumed = take_listed_module(s, list, directory);
            fclose(list);
        }
        pf_text_free(s->allocator, path);
    }
    pf_text_free(s->allocator, directory);
    return consumed;
}

static void find_module(struct search *s)
{
    char **result = &s->found->path;
    bool is_path = s->name[0] == '/' && may_be_opened(s);
    if (take_named(s, "elf", result) || (is_path && take_module_at(s, "", s->name)) ||
        take_from_cache(s, "elf", result) || take_module_of_release(s) || take_debug_from_tree(s, &s->id, result) ||
        (is_path && take_by_name(s, &s->id, result)))
        return;
    if (is_path && *s->symfs && s->id.count)
        take_if(s, make_path(s, "%s/%s", s->symfs, base_name(s->name)), &s->id, result, NULL);
}

/* ---- all together ---- */

/* A folder of binaries, without the folders that they were in. */
static bool take_from_folder(struct search *s, char **result)
{
    return s->name[0] != '[' && *s->symfs && s->id.count &&
           take_if(s, make_path(s, "%s/%s", s->symfs, base_name(s->name)), &s->id, result, NULL);
}

static void find_file(struct search *s)
{
    char **result = &s->found->path;
    bool named = s->name[0] != '[' && may_be_opened(s);
    if (take_named(s, "elf", result))
        return;
    if (named && take_if(s, make_path(s, "%s%s%s", s->symfs, *s->symfs && s->name[0] != '/' ? "/" : "", s->name),
                         &s->id, result, s->found))
        return;
    if (take_from_cache(s, "elf", result) || take_from_cache(s, "vdso", result) || take_old_cache(s, result) ||
        take_from_tree(s, result))
        return;
    if (take_from_folder(s, result))
        return;
    if (s->options->debuginfod && s->id.count)
        ask_debuginfod(s, &s->id, false);
}

/* What was found so far, beside the binary. */
struct beside {
    char *candidate;
    unsigned contents; /* the best of all so far */
};

/* Takes the candidate when it tells more; `as_debug`: it is meant as a debug file, the first of them need not. */
static bool consider(struct search *s, struct beside *beside, bool as_debug)
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
static bool consider_debug(struct search *s, struct beside *beside, const struct links *links)
{
    char **c = &beside->candidate;
    const char *binary = s->found->path;
    return (take_named(s, "debug", c) && consider(s, beside, true)) ||
           (take_from_cache(s, "debug", c) && consider(s, beside, true)) ||
           (take_debug_from_tree(s, &links->id, c) && consider(s, beside, true)) ||
           (binary && take_by_link(s, binary, links, c) && consider(s, beside, true)) ||
           (s->name[0] == '/' && take_by_name(s, &links->id, c) && consider(s, beside, true));
}

/* The same binary elsewhere: one that was stripped later lies in front of one that was not. */
static bool consider_copies(struct search *s, struct beside *beside)
{
    char **c = &beside->candidate;
    for (size_t i = 0; s->id.count && i < PF_COUNT(s->caches); i++)
        if (s->caches[i] && take_leaf(s, s->caches[i], "elf", &s->id, c) && consider(s, beside, false))
            return true;
    return (take_old_cache(s, c) && consider(s, beside, false)) ||
           (take_from_tree(s, c) && consider(s, beside, false)) ||
           (take_from_folder(s, c) && consider(s, beside, false));
}

static void find_debug(struct search *s)
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
        ask_debuginfod(s, &links.id, true);
    if (binary)
        find_alternate(s, binary, &links);
    close_links(s, &links);
    if (*result) {
        open_links(s, &links, *result);
        find_alternate(s, *result, &links);
        close_links(s, &links);
    }
}

bool pf_find_is_local(const struct pf_find_options *options)
{
    return !options->symfs || !*options->symfs;
}

static bool open_search(struct search *s, const struct pf_find_options *options, const char *name)
{
    static const char deleted[] = " (deleted)";
    name = name ? name : "";
    s->options = options;
    s->allocator = pf_find_allocator(options);
    s->symfs = options->symfs ? options->symfs : "";
    s->name = pf_text_copy(s->allocator, name, strlen(name) - (ends_with(name, deleted) ? sizeof(deleted) - 1 : 0));
    const char *home = getenv("HOME");
    if (options->buildid_dir)
        s->cache = pf_text_copy(s->allocator, options->buildid_dir, strlen(options->buildid_dir));
    else if (home && *home)
        s->cache = make_path(s, "%s/.debug", home);
    s->caches[0] = options->archive_dir;
    s->caches[1] = s->cache;
    return s->name && (s->cache || !(options->buildid_dir || (home && *home)));
}

struct pf_find_options pf_find_options_of(const struct perfile_symbol_options *wanted,
                                          const struct perfile_allocator *allocator)
{
    const char *urls = getenv("DEBUGINFOD_URLS");
    struct pf_find_options made = {.allocator = allocator,
                                   .symfs = wanted->symfs,
                                   .vmlinux = wanted->vmlinux,
                                   .kallsyms = wanted->kallsyms,
                                   .buildid_dir = wanted->buildid_dir,
                                   .asks_debuginfod = urls && *urls,
                                   .debuginfod_seconds = wanted->debuginfod_seconds,
                                   .debuginfod_bytes = wanted->debuginfod_bytes,
                                   .archive = wanted->archive,
                                   .recording = wanted->recording,
                                   .note = wanted->note,
                                   .note_context = wanted->note_context,
                                   .trouble = wanted->trouble,
                                   .trouble_context = wanted->trouble_context,
                                   .reach = wanted->reach,
                                   .reach_context = wanted->reach_context,
                                   .used = wanted->used,
                                   .used_context = wanted->used_context};
    made.was_short = pf_bundle_open(&made) < 0;
    return made;
}

void pf_find_note(const struct pf_find_options *options, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    if (!options->note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    options->note(options->note_context, text);
}

static void find_any(struct search *s)
{
    if (is_kernel(s->name)) {
        find_kernel(s);
    } else if (!is_no_file(s->name)) {
        find_file(s);
        find_debug(s);
    }
}

static bool begins_as_elf(const char *path)
{
    char magic[4];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is =
        fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* The file that debug files share has a build id of its own. */
static void report_alternate(const struct search *s)
{
    uint8_t bytes[BUILD_ID_MAX] = {0};
    struct build_id id;
    const int count = pf_elf_build_id(s->options->allocator, s->found->alternate_path, bytes);
    set_build_id(&id, bytes, count > 0 ? (size_t)count : 0);
    const struct perfile_used_file file = {
        .kind = "dwz", .name = s->found->alternate_path, .path = s->found->alternate_path, .build_id = id.hex};
    if (id.count)
        s->options->used(s->options->used_context, &file);
}

static void report_used(const struct search *s)
{
    const struct pf_found *found = s->found;
    struct perfile_used_file file = {.kind = "elf", .name = s->name, .path = found->path, .build_id = s->id.hex};
    if (is_kernel(s->name) && found->path && !begins_as_elf(found->path))
        file.kind = "kallsyms";
    if (found->path || !found->debug_path)
        s->options->used(s->options->used_context, &file);
    file.kind = "debug";
    file.path = found->debug_path;
    if (file.path)
        s->options->used(s->options->used_context, &file);
    if (found->alternate_path)
        report_alternate(s);
}

/* One search of the kind that `look` is for. */
static int find(void (*look)(struct search *), struct search *s, const char *name, const uint8_t *build_id,
                size_t build_id_bytes)
{
    *s->found = (struct pf_found){.allocator = s->options->allocator};
    set_build_id(&s->id, build_id, build_id ? build_id_bytes : 0);
    s->no_memory = !open_search(s, s->options, name);
    if (!s->no_memory)
        look(s);
    if (!s->no_memory && s->options->used && !is_no_file(s->name))
        report_used(s);
    pf_text_free(s->allocator, s->cache);
    pf_text_free(s->allocator, s->name);
    if (!s->no_memory)
        return 0;
    note_short(s);
    pf_found_close(s->found);
    return PERFILE_ERROR_MEMORY;
}

int pf_find_binary(const struct pf_find_options *options, const char *name, const uint8_t *build_id,
                   size_t build_id_bytes, struct pf_found *found)
{
    return find(find_any, &(struct search){.options = options, .found = found}, name, build_id, build_id_bytes);
}

int pf_find_kernel_module(const struct pf_find_options *options, const char *name, const uint8_t *build_id,
                          size_t build_id_bytes, struct pf_found *found)
{
    return find(find_module, &(struct search){.options = options, .found = found}, name, build_id, build_id_bytes);
}

/* The pid that the process has where it lives itself; `pid` when it lives here, or is gone. */
static int32_t own_pid(const struct pf_find_options *options, int32_t pid)
{
    char path[64], line[256];
    int32_t own = pid;
    snprintf(path, sizeof(path), "/proc/%" PRId32 "/status", pid);
    FILE *status = fopen(path, "re");
    if (!status && options->allocator)
        (void)pf_memory_note_failure(options->allocator);
    while (status && fgets(line, sizeof(line), status))
        if (pf_starts_with(line, "NStgid:")) {
            const char *last = strrchr(line, '\t'); /* the innermost namespace */
            own = last ? (int32_t)strtol(last, NULL, 10) : pid;
        }
    if (status)
        fclose(status);
    return own;
}

/* Where the process sees the file itself. */
static bool take_from_root(struct search *s, int32_t pid, const char *own_name, char **result)
{
    const struct pf_find_options *o = s->options;
    char *path = make_path(s, "/proc/%" PRId32 "/root%s", pid, own_name);
    const char *other = path && o->reach ? o->reach(o->reach_context, path) : NULL;
    if (other) {
        pf_text_free(s->allocator, path);
        path = make_path(s, "%s", other);
    }
    return take_any(s, path, result);
}

/* The pid may be another process's here by now. */
static bool take_bundled(struct search *s, int32_t pid, char **result)
{
    static const struct build_id none;
    const struct perfile_used_file file = {.kind = "process", .name = s->name, .build_id = "", .pid = pid};
    return take_member(s, &file, &none, result);
}

/* What a process writes for those who look at it. */
static bool take_of_process(struct search *s, int32_t pid, const char *own_name, char **result)
{
    const char *beside = s->options->recording;
    if (*s->symfs && (take_any(s, make_path(s, "%s%s", s->symfs, s->name), result) ||
                      take_any(s, make_path(s, "%s/%s", s->symfs, base_name(s->name)), result)))
        return true;
    if (take_bundled(s, pid, result))
        return true;
    if (pf_find_is_local(s->options) && ((s->options->same_machine && take_from_root(s, pid, own_name, result)) ||
                                         take_any(s, make_path(s, "%s", s->name), result)))
        return true;
    if (!beside)
        return false;
    return take_any(s,
                    strchr(beside, '/') ? make_path(s, "%.*s/%s", directory_length(beside), beside, base_name(s->name))
                                        : make_path(s, "%s", base_name(s->name)),
                    result);
}

/* `own_name` is what the process calls it; NULL: the same. */
static int find_of_process(const struct pf_find_options *options, const char *name, int32_t pid, const char *own_name,
                           char **path)
{
    struct search s = {0};
    *path = NULL;
    s.no_memory = !open_search(&s, options, name);
    if (!s.no_memory && s.name[0] == '/' && may_be_opened(&s))
        take_of_process(&s, pid, own_name ? own_name : s.name, path);
    if (!s.no_memory && options->used)
        options->used(
            options->used_context,
            &(struct perfile_used_file){.kind = "process", .name = s.name, .path = *path, .build_id = "", .pid = pid});
    pf_text_free(s.allocator, s.cache);
    pf_text_free(s.allocator, s.name);
    if (!s.no_memory)
        return 0;
    note_short(&s);
    pf_text_free(s.allocator, *path);
    *path = NULL;
    return PERFILE_ERROR_MEMORY;
}

int pf_find_jitdump(const struct pf_find_options *options, const char *name, int32_t pid, char **path)
{
    return find_of_process(options, name, pid, NULL, path);
}

int pf_find_perf_map(const struct pf_find_options *options, int32_t pid, char **path)
{
    char name[64], own_name[64];
    snprintf(name, sizeof(name), "/tmp/perf-%" PRId32 ".map", pid);
    snprintf(own_name, sizeof(own_name), "/tmp/perf-%" PRId32 ".map",
             options->same_machine ? own_pid(options, pid) : pid);
    return find_of_process(options, name, pid, own_name, path);
}

/* NULL: the recording does not say. */
static const char *recorded_text(const struct pf_find_options *options, struct perfile_reader *reader, uint32_t feature)
{
    const char *text;
    const int result = perfile_feature_text(reader, feature, NULL, &text, NULL);
    if (options->allocator)
        (void)pf_memory_check(options->allocator, result);
    return result == 0 ? text : NULL;
}

void pf_find_load(struct pf_find_options *options, struct perfile_reader *reader)
{
    struct utsname here;
    const char *host = recorded_text(options, reader, PERFILE_FEATURE_HOSTNAME);
    options->release = recorded_text(options, reader, PERFILE_FEATURE_OSRELEASE);
    /* made on this machine with the kernel that runs now; addresses still have to agree */
    options->same_machine = uname(&here) == 0 && host && options->release && strcmp(host, here.nodename) == 0 &&
                            strcmp(options->release, here.release) == 0;
}

void pf_found_close(struct pf_found *found)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(found->allocator);
    pf_text_free(allocator, found->path);
    pf_text_free(allocator, found->debug_path);
    pf_text_free(allocator, found->alternate_path);
    *found = (struct pf_found){0};
}
