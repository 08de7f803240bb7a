/* SPDX-License-Identifier: MIT */
/*
 * Archives are unpacked into a folder under another name, which is then renamed: other processes see all of it or
 * nothing. libarchive is loaded when it is needed: few need it, and it brings a dozen libraries along.
 */
#include "symbol/find/archive.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/locale.h"
#include "symbol/dwarf/inlines.h"
#include "symbol/find/library.h"

enum {
    MEMBERS_MAX = 1 << 17, /* 131072, as a note says */
    KEPT_MAX = 16,         /* unpacked archives */
    HEX_MIN = 16,          /* digits of a build id: 8 to 20 bytes */
    HEX_MAX = 40,
    PATH_CAPACITY = 4096,
    BLOCK_BYTES = 1 << 18,
    LEFTOVER_SECONDS = 3600,
};
#define UNPACKED_BYTES_MAX (4ull << 30)

/* Whether the last failure was because memory was short; that is then noted at the options' allocator. */
static bool note_failure(const struct pf_find_options *options)
{
    return options->allocator ? pf_memory_note_failure(options->allocator) : errno == ENOMEM;
}

/* ---- libarchive ---- */

struct archive;
struct archive_entry;
enum { LIBARCHIVE_OK = 0, LIBARCHIVE_EOF = 1, LIBARCHIVE_WARN = -20 };

struct libarchive {
    void *library;
    struct archive *(*open)(void);
    int (*close)(struct archive *a);
    int (*format)(struct archive *a);
    int (*filters[4])(struct archive *a);
    int (*open_file)(struct archive *a, const char *path, size_t block_bytes);
    int (*next)(struct archive *a, struct archive_entry **entry);
    int64_t (*read)(struct archive *a, void *to, size_t bytes);
    const char *(*why)(struct archive *a);
    const char *(*path)(struct archive_entry *entry);
    mode_t (*type)(struct archive_entry *entry);
};

/* Not "all" filters: some of them start programs. */
static bool load_libarchive(struct libarchive *l)
{
    const struct {
        void *function;
        const char *name;
    } functions[] = {
        {&l->open, "archive_read_new"},
        {&l->close, "archive_read_free"},
        {&l->format, "archive_read_support_format_tar"},
        {&l->filters[0], "archive_read_support_filter_gzip"},
        {&l->filters[1], "archive_read_support_filter_bzip2"},
        {&l->filters[2], "archive_read_support_filter_xz"},
        {&l->filters[3], "archive_read_support_filter_zstd"},
        {&l->open_file, "archive_read_open_filename"},
        {&l->next, "archive_read_next_header"},
        {&l->read, "archive_read_data"},
        {&l->why, "archive_error_string"},
        {&l->path, "archive_entry_pathname"},
        {&l->type, "archive_entry_filetype"},
    };
    *l = (struct libarchive){.library = pf_library_open(PF_LIBRARY_ARCHIVE, RTLD_LAZY | RTLD_LOCAL)};
    for (size_t i = 0; l->library && i < PF_COUNT(functions); i++) {
        if (!pf_library_function(l->library, functions[i].name, functions[i].function))
            return false;
    }
    return l->library;
}

/* ---- names ---- */

/* Letters of the last part of `path`, before *end, which then stands before its slash. */
static size_t last_part(const char *path, const char **end, const char **part)
{
    const char *stop = *end, *at = stop;
    while (at > path && at[-1] != '/')
        at--;
    *part = at;
    *end = at > path ? at - 1 : path;
    return (size_t)(stop - at);
}

static bool is_build_id(const char *text, size_t length)
{
    return length >= HEX_MIN && length <= HEX_MAX && length % 2 == 0 && strspn(text, "0123456789abcdef") >= length;
}

static bool is_date(const char *text, size_t length)
{
    return length >= 8 && length <= 20 && strspn(text, "0123456789") >= length;
}

static bool is_leaf(const char *text, size_t length)
{
    static const char *const leaves[] = {"elf", "debug", "vdso", "kallsyms", "vmlinux"};
    for (size_t i = 0; i < PF_COUNT(leaves); i++)
        if (strlen(leaves[i]) == length && memcmp(text, leaves[i], length) == 0)
            return true;
    return false;
}

/*
 * The path of a member below the folder; false when it does not belong to a build-id cache: NAME/ID/elf,
 * [kernel.kcore]/ID/DATE/kallsyms, and ID itself of perf before 4.11.
 */
static bool position_of(const char *member, char *to, size_t capacity)
{
    const char *end = member + strlen(member), *leaf, *part, *above;
    const size_t leaf_length = last_part(member, &end, &leaf);
    if (is_build_id(leaf, leaf_length))
        return snprintf(to, capacity, ".build-id/%.2s/%.*s/elf", leaf, (int)leaf_length - 2, leaf + 2) < (int)capacity;
    if (!is_leaf(leaf, leaf_length))
        return false;
    const size_t length = last_part(member, &end, &part), above_length = last_part(member, &end, &above);
    if (is_date(part, length) && is_build_id(above, above_length)) /* a date may look like an id */
        return snprintf(to, capacity, "[kernel.kcore]/%.*s/%.*s/%.*s", (int)above_length, above, (int)length, part,
                        (int)leaf_length, leaf) < (int)capacity;
    return is_build_id(part, length) && snprintf(to, capacity, ".build-id/%.2s/%.*s/%.*s", part, (int)length - 2,
                                                 part + 2, (int)leaf_length, leaf) < (int)capacity;
}

/* ---- folders ---- */

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *where)
{
    (void)about, (void)kind, (void)where;
    remove(path);
    return 0;
}

static void remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Removes what killed processes left, and the folder that was used longest ago when there are many. */
static void reserve(const char *cache)
{
    char oldest[PATH_CAPACITY] = "", path[PATH_CAPACITY];
    time_t oldest_time = 0;
    unsigned count = 0;
    DIR *folder = opendir(cache);
    const struct dirent *item;
    struct stat about;
    while (folder && (item = readdir(folder))) {
        if (strncmp(item->d_name, "archive-", 8) != 0 ||
            snprintf(path, sizeof(path), "%s/%s", cache, item->d_name) >= (int)sizeof(path) ||
            lstat(path, &about) < 0 || !S_ISDIR(about.st_mode))
            continue;
        if (strchr(item->d_name, '.')) {
            if (about.st_mtime + LEFTOVER_SECONDS < time(NULL))
                remove_folder(path);
            continue;
        }
        if (!count++ || about.st_mtime < oldest_time) {
            oldest_time = about.st_mtime;
            memcpy(oldest, path, sizeof(path));
        }
    }
    if (folder)
        closedir(folder);
    if (count >= KEPT_MAX)
        remove_folder(oldest);
}

/* ---- unpacking ---- */

struct unpacking {
    const struct libarchive *l;
    const struct pf_find_options *options;
    const char *path; /* of the archive */
    struct archive *archive;
    char folder[PATH_CAPACITY];
    uint8_t *block;
    uint64_t bytes;
    unsigned files;
    bool is_inner;       /* it came out of another archive */
    char inner_why[256]; /* what was wrong with the one inside */
};

/* What libarchive says is wrong. */
static const char *why_of(const struct unpacking *u)
{
    const char *why = u->archive ? u->l->why(u->archive) : "out of memory";
    return why ? why : "damaged";
}

/* NULL, or what went wrong. */
static const char *copy_member(struct unpacking *u, int fd)
{
    int64_t got;
    while ((got = u->l->read(u->archive, u->block, BLOCK_BYTES)) > 0) {
        u->bytes += (uint64_t)got;
        if (u->bytes > UNPACKED_BYTES_MAX)
            return "it holds more than 4 GiB";
        if (!pf_write_all(fd, u->block, (size_t)got))
            return pf_error_text(errno);
    }
    return got < 0 ? why_of(u) : NULL;
}

/* A member under that name below the folder. */
static const char *take_file(struct unpacking *u, const char *path)
{
    int fd = pf_make_folders(path) ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0)
        return errno == EEXIST ? NULL : pf_error_text(errno);
    const char *wrong = copy_member(u, fd);
    if (close(fd) < 0 && !wrong)
        wrong = pf_error_text(errno);
    if (wrong)
        unlink(path);
    return wrong;
}

static const char *take_members(struct unpacking *u);
static bool open_archive(struct unpacking *u);

/* `perf archive --all` packs the recording and an archive of the binaries. */
static const char *take_inner(struct unpacking *u)
{
    char path[PATH_CAPACITY + 16];
    struct unpacking inner = {.l = u->l, .options = u->options, .path = path, .bytes = u->bytes, .is_inner = true};
    memcpy(inner.folder, u->folder, sizeof(inner.folder));
    snprintf(path, sizeof(path), "%s/inner.tar", u->folder);
    const char *wrong = take_file(u, path);
    if (wrong)
        return wrong;
    wrong = open_archive(&inner) ? take_members(&inner) : why_of(&inner);
    if (wrong)
        snprintf(u->inner_why, sizeof(u->inner_why), "%s", wrong);
    if (inner.archive)
        u->l->close(inner.archive);
    pf_free(pf_find_allocator(u->options), inner.block, BLOCK_BYTES);
    unlink(path);
    u->files += inner.files;
    u->bytes = pf_max(u->bytes, inner.bytes);
    return wrong ? u->inner_why : NULL;
}

static const char *take_member(struct unpacking *u, const char *name)
{
    char position[256], path[PATH_CAPACITY + 256];
    const char *slash = strrchr(name, '/');
    if (!u->is_inner && strcmp(slash ? slash + 1 : name, "perf.symbols.tar.bz2") == 0)
        return take_inner(u);
    if (!position_of(name, position, sizeof(position)))
        return NULL;
    snprintf(path, sizeof(path), "%s/%s", u->folder, position);
    const char *wrong = take_file(u, path);
    u->files += !wrong;
    return wrong;
}

static const char *take_members(struct unpacking *u)
{
    struct archive_entry *entry;
    const char *wrong = NULL;
    int code = LIBARCHIVE_OK;
    for (unsigned i = 0; !wrong && i < MEMBERS_MAX; i++) {
        code = u->l->next(u->archive, &entry);
        if (code != LIBARCHIVE_OK && code != LIBARCHIVE_WARN)
            break;
        const char *name = S_ISREG(u->l->type(entry)) ? u->l->path(entry) : NULL;
        if (name)
            wrong = take_member(u, name);
    }
    if (wrong || code == LIBARCHIVE_EOF)
        return wrong;
    return code == LIBARCHIVE_OK || code == LIBARCHIVE_WARN ? "it holds more than 131072 files" : why_of(u);
}

static bool open_archive(struct unpacking *u)
{
    const struct libarchive *l = u->l;
    u->block = pf_resize(pf_find_allocator(u->options), NULL, 0, BLOCK_BYTES);
    u->archive = l->open();
    if (!u->block)
        errno = ENOMEM;
    if (!u->block || !u->archive)
        return false;
    for (size_t i = 0; i < PF_COUNT(l->filters); i++)
        l->filters[i](u->archive);
    l->format(u->archive);
    return l->open_file(u->archive, u->path, BLOCK_BYTES) == LIBARCHIVE_OK;
}

/* What could be read before damage is kept. The texts of libarchive live as long as the archive. */
static bool unpack(struct unpacking *u)
{
    errno = 0;
    const char *wrong = open_archive(u) ? take_members(u) : why_of(u);
    const bool is_short = wrong && note_failure(u->options);
    if (wrong)
        pf_find_note(u->options, "%s: %s; binaries used: %u", u->path, wrong, u->files);
    else if (!u->files)
        pf_find_note(u->options, "%s has no binaries in the layout of `perf archive`", u->path);
    if (u->archive)
        u->l->close(u->archive);
    pf_free(pf_find_allocator(u->options), u->block, BLOCK_BYTES);
    return u->files && !is_short;
}

/* The context is the path. */
static bool fill(void *context, const struct pf_find_options *options, const char *folder)
{
    struct libarchive l;
    struct unpacking u = {.l = &l, .options = options, .path = context};
    bool any = false;
    errno = 0;
    if (!load_libarchive(&l)) {
        (void)note_failure(options);
        pf_find_note(options, "%s is not read: libarchive (libarchive.so.13) is missing", u.path);
    } else if (snprintf(u.folder, sizeof(u.folder), "%s", folder) < (int)sizeof(u.folder)) {
        any = unpack(&u);
    }
    pf_library_close(l.library);
    return any;
}

/* ---- what is unpacked ---- */

/* Why there is no folder with what the file holds. */
static void note_no_folder(const struct pf_unpack *how, const char *folder, const char *why)
{
    if (!how->has_other_way)
        pf_find_note(how->options, "%s is not read: %s%s%s", how->path, folder, *folder ? ": " : "", why);
}

/* Under its name, if there is anything in it. Another process may have been faster: then that one's is taken. */
static bool fill_as(const struct pf_unpack *how, const char *made, const char *folder)
{
    const bool any = how->fill(how->context, how->options, made);
    if (any && rename(made, folder) == 0)
        return true;
    const int why = errno;
    remove_folder(made);
    if (any && access(folder, R_OK) == 0)
        return true;
    if (any)
        note_no_folder(how, folder, pf_error_text(why));
    return false;
}

static bool fill_into(const struct pf_unpack *how, const char *cache, const char *folder)
{
    char made[PATH_CAPACITY];
    if (snprintf(made, sizeof(made), "%s.XXXXXX", folder) >= (int)sizeof(made))
        return false;
    errno = 0;
    if (pf_make_folders(made) && mkdtemp(made))
        return fill_as(how, made, folder);
    note_no_folder(how, cache, pf_error_text(errno));
    return false;
}

/* The same file at the same time is the same archive. */
static char *folder_of(const struct perfile_allocator *allocator, const char *cache, const struct stat *about)
{
    const uint64_t time = (uint64_t)about->st_mtim.tv_sec * 1000000000 + (uint64_t)about->st_mtim.tv_nsec;
    return pf_text_format(allocator, "%s/archive-%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64, cache,
                          (uint64_t)about->st_dev, (uint64_t)about->st_ino, (uint64_t)about->st_size, time);
}

int pf_unpack_cached(const struct pf_unpack *how, const struct stat *about, char **directory)
{
    const struct perfile_allocator *allocator = pf_find_allocator(how->options);
    errno = 0;
    char *cache = pf_cache_directory(allocator);
    char *folder = cache ? folder_of(allocator, cache, about) : NULL;
    *directory = NULL;
    if (!folder && note_failure(how->options)) {
        pf_text_free(allocator, cache);
        return PERFILE_ERROR_MEMORY;
    }
    if (!cache)
        note_no_folder(how, "", "no directory to unpack it in (HOME or XDG_CACHE_HOME)");
    if (folder && utimensat(AT_FDCWD, folder, NULL, AT_SYMLINK_NOFOLLOW) < 0) {
        reserve(cache);
        if (!fill_into(how, cache, folder)) {
            pf_text_free(allocator, folder);
            folder = NULL;
        }
    }
    pf_text_free(allocator, cache);
    *directory = folder;
    return 0;
}

/* ---- entry ---- */

int pf_archive_open(const struct pf_find_options *options, const char *path, char **directory)
{
    struct stat about;
    *directory = NULL;
    const bool exists = stat(path, &about) == 0;
    if (exists && S_ISREG(about.st_mode))
        return pf_unpack_cached(
            &(struct pf_unpack){.options = options, .path = path, .fill = fill, .context = (void *)(uintptr_t)path},
            &about, directory);
    if (exists && S_ISDIR(about.st_mode))
        return (*directory = pf_text_copy(pf_find_allocator(options), path, strlen(path))) ? 0 : PERFILE_ERROR_MEMORY;
    pf_find_note(options, "%s is not read: %s", path, exists ? "not a regular file" : pf_error_text(errno));
    return 0;
}
