/* SPDX-License-Identifier: MIT */
/*
 * The binaries of a recording as a tar file that unpacks to a build-id cache, like perf archive's: NAME/ID/elf, and
 * links .build-id/xx/yyy to NAME/ID. Members have no times and owners, so equal binaries give equal files.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/error.h"
#include "output/output.h"
#include "symbol/find/bundle.h"
#include "symbol/find/find.h"

enum {
    TAR_BLOCK = 512,
    PATH_CAPACITY = 4096,
    NAME_CAPACITY = 100,
    HEX_CAPACITY = 2 * 20 + 1,
    READ_BYTES = 1 << 16,
    TEXT_BYTES_MAX = 64 << 20
};

struct archive {
    const struct perfile_output_options *options;
    struct pf_text *out;
    struct pf_find_options find;
    uint8_t *block; /* READ_BYTES */
    uint64_t packed, missing;
    char first_missing[96];
    struct perfile_error *error;
    int failure;
};

/* ---- tar ---- */

enum { TYPE_FILE = '0', TYPE_LINK = '2', TYPE_LONG_LINK = 'K', TYPE_LONG_NAME = 'L' };

static void put_padding(struct archive *a, uint64_t bytes)
{
    static const char zeros[TAR_BLOCK];
    if (bytes % TAR_BLOCK)
        pf_put(a->out, zeros, TAR_BLOCK - bytes % TAR_BLOCK);
}

/* Octal digits up to the end of the field, but for its NUL. */
static void put_octal(char *field, size_t bytes, uint64_t value)
{
    field[bytes - 1] = 0;
    for (size_t i = bytes - 1; i-- > 0; value >>= 3)
        field[i] = (char)('0' + (value & 7));
}

static void put_header(struct archive *a, const char *name, int type, uint64_t bytes, const char *link)
{
    char header[TAR_BLOCK] = "";
    unsigned sum = 0;
    memcpy(header, name, strnlen(name, NAME_CAPACITY));
    put_octal(header + 100, 8, type == TYPE_LINK ? 0777 : 0644);
    put_octal(header + 108, 8, 0);
    put_octal(header + 116, 8, 0);
    put_octal(header + 124, 12, bytes);
    put_octal(header + 136, 12, 0);
    memset(header + 148, ' ', 8);
    header[156] = (char)type;
    memcpy(header + 157, link, strnlen(link, NAME_CAPACITY));
    memcpy(header + 257, "ustar  ", 8); /* GNU's */
    for (size_t i = 0; i < sizeof(header); i++)
        sum += (unsigned char)header[i];
    put_octal(header + 148, 7, sum);
    pf_put(a->out, header, sizeof(header));
}

static void put_long(struct archive *a, int type, const char *text)
{
    const size_t bytes = strlen(text) + 1;
    if (bytes <= NAME_CAPACITY)
        return;
    put_header(a, "././@LongLink", type, bytes, "");
    pf_put(a->out, text, bytes);
    put_padding(a, bytes);
}

static void put_member(struct archive *a, const char *name, int type, uint64_t bytes, const char *link)
{
    put_long(a, TYPE_LONG_LINK, link);
    put_long(a, TYPE_LONG_NAME, name);
    put_header(a, name, type, bytes, link);
}

/* ---- files ---- */

/* As many bytes as the header says, whatever the file does meanwhile. */
static void put_bytes(struct archive *a, int fd, uint64_t bytes)
{
    uint64_t left = bytes;
    while (left) {
        const size_t wanted = left < READ_BYTES ? (size_t)left : READ_BYTES;
        ssize_t got = read(fd, a->block, wanted);
        if (got <= 0) {
            memset(a->block, 0, wanted);
            got = (ssize_t)wanted;
        }
        pf_put_through(a->out, a->block, (size_t)got);
        left -= (uint64_t)got;
    }
    put_padding(a, bytes);
}

/* What has no size before it is read: /proc/kallsyms. */
static bool put_text(struct archive *a, int fd, const char *name)
{
    struct pf_text text;
    ssize_t got = 0;
    if (pf_text_open(&text, a->out->allocator, NULL, NULL) < 0) {
        a->failure = PERFILE_ERROR_MEMORY;
        return false;
    }
    while (text.used < TEXT_BYTES_MAX && (got = read(fd, a->block, READ_BYTES)) > 0)
        pf_put(&text, a->block, (size_t)got);
    if (text.failed)
        a->failure = text.failed;
    else if (text.used) {
        put_member(a, name, TYPE_FILE, text.used, "");
        pf_put_through(a->out, text.data, text.used);
        put_padding(a, text.used);
    }
    const bool fine = !text.failed && text.used;
    pf_text_close(&text);
    return fine;
}

static bool put_file(struct archive *a, const char *path, const char *name)
{
    struct stat about;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool fine = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode);
    if (fine && about.st_size) {
        put_member(a, name, TYPE_FILE, (uint64_t)about.st_size, "");
        put_bytes(a, fd, (uint64_t)about.st_size);
    } else if (fine) {
        fine = put_text(a, fd, name);
    }
    if (fd >= 0)
        close(fd);
    return fine;
}

static bool is_elf(const char *path)
{
    char magic[4];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is = fd >= 0 && pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && memcmp(magic, "\177ELF", 4) == 0;
    if (fd >= 0)
        close(fd);
    return is;
}

/* ---- the binaries of the recording ---- */

/* A name that leads out of the folder where the archive is unpacked is not taken. */
static bool is_plain(const char *name)
{
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += strspn(part, "/");
        const size_t length = strcspn(part, "/");
        if ((length == 1 && part[0] == '.') || (length == 2 && memcmp(part, "..", 2) == 0))
            return false;
    }
    return *name && strlen(name) < PATH_CAPACITY;
}

static const char *leaf_of(const char *name, const char *path)
{
    return strcmp(name, "[vdso]") == 0 ? "vdso" : is_elf(path) ? "elf" : "kallsyms";
}

static bool put_leaf(struct archive *a, const char *folder, const char *leaf, const char *path)
{
    char member[PATH_CAPACITY + HEX_CAPACITY + 32];
    snprintf(member, sizeof(member), "%s/%s", folder, leaf);
    return put_file(a, path, member);
}

static void put_link(struct archive *a, const char *folder, const char *hex)
{
    char member[HEX_CAPACITY + 16], target[PATH_CAPACITY + HEX_CAPACITY + 8];
    snprintf(member, sizeof(member), ".build-id/%.2s/%s", hex, hex + 2);
    snprintf(target, sizeof(target), "../../%s", folder);
    put_member(a, member, TYPE_LINK, 0, target);
}

static void miss(struct archive *a, const char *name)
{
    if (!a->missing++)
        snprintf(a->first_missing, sizeof(a->first_missing), "%s", name);
}

static bool put_found(struct archive *a, const char *name, const char *hex, const struct pf_found *found)
{
    char folder[PATH_CAPACITY + HEX_CAPACITY];
    snprintf(folder, sizeof(folder), "%s/%s", name + strspn(name, "/"), hex);
    if (!found->path || !is_plain(name) || !put_leaf(a, folder, leaf_of(name, found->path), found->path))
        return false;
    if (found->debug_path)
        (void)put_leaf(a, folder, "debug", found->debug_path);
    put_link(a, folder, hex);
    return true;
}

static bool is_module(const char *name)
{
    return (*name == '[' && strcmp(name, "[vdso]") != 0 && strncmp(name, "[kernel", 7) != 0) || strstr(name, ".ko");
}

static int take(void *context, const char *name, const uint8_t *id, size_t bytes)
{
    struct archive *a = context;
    struct pf_found found = {.path = NULL};
    char hex[HEX_CAPACITY] = "";
    for (size_t i = 0; i < bytes; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    if (!bytes) {
        if (*name == '/' && name[1] != '/')
            miss(a, name);
        return 0;
    }
    const int result = (is_module(name) ? pf_find_kernel_module : pf_find_binary)(&a->find, name, id, bytes, &found);
    if (result < 0)
        a->failure = result;
    else if (put_found(a, name, hex, &found))
        a->packed++;
    else
        miss(a, name);
    pf_found_close(&found);
    a->failure = a->failure ? a->failure : a->out->failed;
    return a->failure;
}

static void report_notes(const struct archive *a)
{
    const struct perfile_symbol_options *symbols = a->options->symbols;
    char others[PF_COUNTED_BYTES + 8] = "", count[PF_COUNTED_BYTES], text[512];
    if (!symbols->note)
        return;
    if (a->missing > 1)
        snprintf(others, sizeof(others), " and %s", pf_count_of(a->missing - 1, "others", count));
    if (a->missing) {
        snprintf(text, sizeof(text),
                 "binaries packed: %" PRIu64 "; not found, or without a build id in the recording: %s%s", a->packed,
                 a->first_missing, others);
        symbols->note(symbols->note_context, text);
    }
}

static int write_archive(struct perfile_reader *reader, const struct perfile_output_options *options,
                         struct pf_text *out, struct perfile_error *error)
{
    static const char end[2 * TAR_BLOCK];
    struct archive a = {
        .options = options, .out = out, .find = pf_find_options_of(options->symbols, out->allocator), .error = error};
    const struct perfile_build_ids_options how = {
        .size = sizeof(how), .with_hits = true, .allocator = out->allocator, .take = take, .context = &a};
    pf_find_read_names(&a.find, reader);
    a.block = pf_resize(out->allocator, NULL, 0, READ_BYTES);
    int result = a.block && pf_bundle_load(&a.find) == 0 ? perfile_build_ids_list(reader, &how, error)
                                                         : pf_fail_memory(error, "archive");
    if (a.failure)
        result = pf_fail(error, a.failure, PERFILE_NO_OFFSET, "archive", "%s",
                         a.failure == PERFILE_ERROR_MEMORY ? "out of memory" : "it cannot be written");
    if (result == 0) {
        pf_put(out, end, sizeof(end));
        report_notes(&a);
    }
    pf_bundle_unload(&a.find);
    pf_free(out->allocator, a.block, READ_BYTES);
    return result;
}

const struct pf_output pf_output_archive_tar = {
    .info = {"archive", "tar", "binaries with symbols, as perf archive packs them", true},
    .write = write_archive,
};
