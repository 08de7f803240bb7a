/* SPDX-License-Identifier: MIT */
#include "symbol/find/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/files.h"
#include "base/locale.h"
#include "platform/platform.h"
#include "symbol/find/archive.h"

enum {
    INDEX_BYTES_MAX = PF_BUNDLE_MEMBERS_MAX * (PF_BUNDLE_ENTRY_BYTES + PF_BUNDLE_NAME_BYTES_MAX),
    BLOCK_BYTES = 1 << 17,
    WINDOW_LOG_MAX = 27,
    PATH_CAPACITY = 4096,
    GROWTH_MAX = 64, /* bytes on disk for each byte of the bundle; binaries have 3 to 10 */
    GROWTH_FREE = 16 << 20,
};
#define UNPACKED_BYTES_MAX (16ull << 30) /* zeros do not count on disk */

static const char no_memory[] = "out of memory"; /* recognised by its address */
const char pf_bundle_magic[PF_BUNDLE_MAGIC_BYTES + 1] = "PFBUNDL1";

static uint64_t little64(const uint8_t *at)
{
    return pf_load64(at, PF_NATIVE_BIG_ENDIAN);
}

static uint32_t little32(const uint8_t *at)
{
    return pf_load32(at, PF_NATIVE_BIG_ENDIAN);
}

static uint32_t little16(const uint8_t *at)
{
    return pf_load16(at, PF_NATIVE_BIG_ENDIAN);
}

/* ---- the footer ---- */

static const char *read_footer(int fd, uint64_t file_bytes, uint8_t *footer, struct pf_bundle *bundle)
{
    if (file_bytes <= PF_BUNDLE_FOOTER_BYTES ||
        pf_read_from(fd, file_bytes - PF_BUNDLE_FOOTER_BYTES, footer, PF_BUNDLE_FOOTER_BYTES) <
            PF_BUNDLE_FOOTER_BYTES ||
        memcmp(footer + PF_BUNDLE_FOOTER_BYTES - PF_BUNDLE_MAGIC_BYTES, pf_bundle_magic, PF_BUNDLE_MAGIC_BYTES) != 0)
        return NULL;
    const struct pf_bundle stated = {.bytes = little64(footer),
                                     .index_bytes = little32(footer + 8),
                                     .members = little32(footer + 12),
                                     .flags = little32(footer + 16)};
    if (stated.bytes >= file_bytes || stated.bytes < PF_BUNDLE_FOOTER_BYTES ||
        stated.index_bytes > stated.bytes - PF_BUNDLE_FOOTER_BYTES || stated.index_bytes > INDEX_BYTES_MAX ||
        stated.members > PF_BUNDLE_MEMBERS_MAX || stated.members > stated.index_bytes / PF_BUNDLE_ENTRY_BYTES)
        return "its sizes are impossible";
    *bundle = stated;
    bundle->start = file_bytes - stated.bytes;
    return NULL;
}

const char *pf_bundle_look(int fd, struct pf_bundle *bundle)
{
    struct stat about;
    uint8_t footer[PF_BUNDLE_FOOTER_BYTES];
    *bundle = (struct pf_bundle){0};
    if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode) || about.st_size < 0)
        return NULL;
    return read_footer(fd, (uint64_t)about.st_size, footer, bundle);
}

/* ---- unpacking ---- */

struct member {
    uint64_t start, bytes, unpacked;
    int64_t changed_ns;
    uint32_t crc;
    char name[PF_BUNDLE_NAME_BYTES_MAX + 1];
};

struct unpacking {
    const struct pf_find_options *options;
    int fd;
    struct pf_bundle bundle;
    uint8_t footer[PF_BUNDLE_FOOTER_BYTES];
    ZSTD_DCtx *zstd;
    uint8_t *in, *out;          /* BLOCK_BYTES each */
    uint64_t on_disk, promised; /* bytes */
    unsigned files;
    bool was_short;
    bool was_filled; /* there was a folder to unpack it in */
};

/* Only what the writer makes: no other name leads anywhere. */
static bool is_name(const char *name)
{
    static const char *const starts[] = {".build-id/", "named/", "process/", "source/"};
    if (strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz/.-") != strlen(name) || strstr(name, "..") ||
        strstr(name, "//") || strstr(name, "/."))
        return false;
    for (size_t i = 0; i < PF_COUNT(starts); i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return name[strlen(name) - 1] != '/';
    return false;
}

static bool is_zero(const uint8_t *data, size_t bytes)
{
    return bytes && !data[0] && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Zeros stay a hole: binaries without their code are mostly that. */
static const char *put_out(struct unpacking *u, int fd, size_t bytes)
{
    if (is_zero(u->out, bytes))
        return lseek(fd, (off_t)bytes, SEEK_CUR) < 0 ? pf_error_text(errno) : NULL;
    u->on_disk += bytes;
    if (u->on_disk / GROWTH_MAX > u->bundle.bytes + GROWTH_FREE / GROWTH_MAX)
        return "it unpacks to too much";
    return pf_write_all(fd, u->out, bytes) ? NULL : pf_error_text(errno);
}

struct progress {
    uint64_t left;     /* in the bundle */
    uint64_t unpacked; /* so far */
    uint32_t crc;
};

/* One block out of the bundle; *left as ZSTD_decompressStream says it. */
static const char *take_block(struct unpacking *u, const struct member *m, struct progress *p, int fd, size_t *left)
{
    const size_t count = (size_t)pf_min(p->left, (uint64_t)BLOCK_BYTES);
    if (pf_read_from(u->fd, u->bundle.start + m->start + m->bytes - p->left, u->in, count) < count)
        return "it cannot be read";
    p->left -= count;
    ZSTD_inBuffer in = {u->in, count, 0};
    ZSTD_outBuffer to;
    do {
        to = (ZSTD_outBuffer){u->out, BLOCK_BYTES, 0};
        *left = ZSTD_decompressStream(u->zstd, &to, &in);
        if (ZSTD_isError(*left))
            return ZSTD_getErrorCode(*left) == ZSTD_error_memory_allocation ? no_memory : "it is damaged";
        p->unpacked += to.pos;
        if (p->unpacked > m->unpacked)
            return "it is damaged";
        p->crc = pf_crc32(p->crc, u->out, to.pos);
        const char *wrong = put_out(u, fd, to.pos);
        if (wrong)
            return wrong;
    } while (in.pos < in.size || to.pos == to.size);
    return NULL;
}

static const char *take_bytes(struct unpacking *u, const struct member *m, int fd)
{
    struct progress p = {.left = m->bytes};
    size_t left = 1;
    ZSTD_DCtx_reset(u->zstd, ZSTD_reset_session_only);
    while (p.left) {
        const char *wrong = take_block(u, m, &p, fd, &left);
        if (wrong)
            return wrong;
    }
    if (left || p.unpacked != m->unpacked || p.crc != m->crc)
        return "it is damaged";
    const struct timespec changed = {m->changed_ns / 1000000000, (long)(m->changed_ns % 1000000000)};
    const struct timespec times[2] = {changed, changed};
    return ftruncate(fd, (off_t)m->unpacked) < 0 || futimens(fd, times) < 0 ? pf_error_text(errno) : NULL;
}

static const char *take_member(struct unpacking *u, const struct member *m, const char *folder)
{
    char path[PATH_CAPACITY + PF_BUNDLE_NAME_BYTES_MAX + 2];
    snprintf(path, sizeof(path), "%s/%s", folder, m->name);
    const int fd = pf_make_folders(path) ? open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0)
        return errno == EEXIST ? "two files have one name" : pf_error_text(errno);
    const char *wrong = take_bytes(u, m, fd);
    if (close(fd) < 0 && !wrong)
        wrong = pf_error_text(errno);
    if (wrong)
        unlink(path);
    u->files += !wrong;
    return wrong;
}

/* NULL, or what is wrong; *at becomes the next entry. */
static const char *read_entry(struct unpacking *u, const uint8_t **at, const uint8_t *end, struct member *m)
{
    const uint8_t *p = *at;
    const uint64_t payload = u->bundle.bytes - PF_BUNDLE_FOOTER_BYTES - u->bundle.index_bytes;
    if ((size_t)(end - p) < PF_BUNDLE_ENTRY_BYTES)
        return "its index ends too early";
    *m = (struct member){.start = little64(p),
                         .bytes = little64(p + 8),
                         .unpacked = little64(p + 16),
                         .changed_ns = (int64_t)little64(p + 24),
                         .crc = little32(p + 32)};
    const size_t name_bytes = little16(p + 36);
    if (name_bytes > PF_BUNDLE_NAME_BYTES_MAX || (size_t)(end - p) - PF_BUNDLE_ENTRY_BYTES < name_bytes)
        return "its index ends too early";
    memcpy(m->name, p + PF_BUNDLE_ENTRY_BYTES, name_bytes);
    *at = p + PF_BUNDLE_ENTRY_BYTES + name_bytes;
    if (strlen(m->name) != name_bytes || !is_name(m->name) || m->changed_ns < 0)
        return "its index has a wrong name";
    if (m->start > payload || m->bytes > payload - m->start || m->unpacked > UNPACKED_BYTES_MAX - u->promised)
        return "its sizes are impossible";
    u->promised += m->unpacked;
    return NULL;
}

/* What becomes of a member: NULL, or what is wrong with it. */
typedef const char *on_member(struct unpacking *u, const struct member *m, void *context);

static const char *take_into_folder(struct unpacking *u, const struct member *m, void *folder)
{
    return take_member(u, m, folder);
}

/* A member that is damaged is left out; a wrong index ends it. */
static const char *take_members(struct unpacking *u, const uint8_t *index, on_member *handle, void *context)
{
    const uint8_t *at = index, *end = index + u->bundle.index_bytes;
    const char *wrong = NULL, *lost = NULL;
    struct member m;
    for (uint32_t i = 0; i < u->bundle.members && !wrong; i++) {
        wrong = read_entry(u, &at, end, &m);
        const char *damage = wrong ? NULL : handle(u, &m, context);
        lost = damage && !lost ? damage : lost;
    }
    return wrong ? wrong : lost;
}

static bool is_valid(const struct unpacking *u, const uint8_t *index)
{
    const uint32_t crc = pf_crc32(pf_crc32(0, index, u->bundle.index_bytes), u->footer, PF_BUNDLE_CRC_AT);
    return crc == little32(u->footer + PF_BUNDLE_CRC_AT);
}

static const char *unpack(struct unpacking *u, on_member *handle, void *context)
{
    const size_t index_capacity = u->bundle.index_bytes + (size_t)1;
    uint8_t *index = pf_resize(pf_find_allocator(u->options), NULL, 0, index_capacity);
    const uint64_t at = u->bundle.start + u->bundle.bytes - PF_BUNDLE_FOOTER_BYTES - u->bundle.index_bytes;
    const char *wrong = NULL;
    if (!index || !u->in || !u->out || !u->zstd)
        wrong = no_memory;
    else if (pf_read_from(u->fd, at, index, u->bundle.index_bytes) < u->bundle.index_bytes ||
             pf_read_from(u->fd, at + u->bundle.index_bytes, u->footer, PF_BUNDLE_FOOTER_BYTES) <
                 PF_BUNDLE_FOOTER_BYTES ||
             !is_valid(u, index))
        wrong = "its index is damaged";
    else if (ZSTD_isError(ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
        wrong = "zstd is too old";
    else
        wrong = take_members(u, index, handle, context);
    pf_free(pf_find_allocator(u->options), index, index_capacity);
    return wrong;
}

/* What is missing unpack() reports. */
static void open_blocks(struct unpacking *u)
{
    const struct perfile_allocator *allocator = pf_find_allocator(u->options);
    u->in = pf_resize(allocator, NULL, 0, BLOCK_BYTES);
    u->out = pf_resize(allocator, NULL, 0, BLOCK_BYTES);
    u->zstd = ZSTD_createDCtx();
}

static void close_blocks(struct unpacking *u)
{
    const struct perfile_allocator *allocator = pf_find_allocator(u->options);
    pf_free(allocator, u->in, BLOCK_BYTES);
    pf_free(allocator, u->out, BLOCK_BYTES);
    ZSTD_freeDCtx(u->zstd);
}

static bool fill(void *context, const struct pf_find_options *options, const char *folder)
{
    struct unpacking *u = context;
    u->was_filled = true;
    open_blocks(u);
    char part[PF_COUNTED_BYTES];
    const char *wrong = unpack(u, take_into_folder, (void *)(uintptr_t)folder);
    const unsigned left_out = u->bundle.members - u->files;
    u->was_short = wrong == no_memory;
    if (u->was_short)
        u->files = 0; /* what is there already would be taken for all */
    else if (wrong && !u->files)
        pf_find_note(options, "%s: the bundle is not used: %s", options->recording, wrong);
    else if (wrong)
        pf_find_note(options, "%s: %s: %s", options->recording,
                     pf_part_of(left_out, u->bundle.members, "files of the bundle are not used", part), wrong);
    close_blocks(u);
    return u->files;
}

/* ---- without a folder ---- */

struct held {
    struct member member;
    int fd; /* of a file in memory; negative without one */
    bool was_used;
};

/* Files in memory have no name, and end with the process; each is unpacked when it is first looked for. */
struct pf_bundle_memory {
    const struct perfile_allocator *allocator;
    struct unpacking u;
    struct held *members; /* by name */
    size_t count, capacity;
};

static const char *hold(struct unpacking *u, const struct member *m, void *context)
{
    struct pf_bundle_memory *memory = context;
    (void)u;
    if (!PF_APPEND(memory->allocator, memory->members, memory->count, memory->capacity,
                   (struct held){.member = *m, .fd = -1}))
        return no_memory;
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct held *)a)->member.name, ((const struct held *)b)->member.name);
}

/* Descriptors are left for all else that is opened. */
static bool is_among_last(int fd)
{
    enum { LEFT_FOR_OTHERS = 128 };
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && (rlim_t)fd + LEFT_FOR_OTHERS >= limit.rlim_cur;
}

static const char *take_into_memory(struct unpacking *u, struct held *held)
{
    const int fd = pf_platform_memory_file("perfile");
    if (fd < 0)
        return pf_error_text(errno);
    const char *wrong = is_among_last(fd) ? pf_error_text(EMFILE) : take_bytes(u, &held->member, fd);
    if (wrong)
        close(fd);
    else
        held->fd = fd;
    return wrong;
}

static struct held *find_held(const struct pf_find_options *options, const char *name)
{
    struct pf_bundle_memory *memory = options->bundle_memory;
    struct held wanted = {.fd = -1};
    if (!memory || !memory->count || snprintf(wanted.member.name, sizeof(wanted.member.name), "%s", name) < 0)
        return NULL;
    struct held *held = bsearch(&wanted, memory->members, memory->count, sizeof(wanted), by_name);
    const char *wrong = NULL;
    if (held && !held->was_used)
        wrong = take_into_memory(&memory->u, held);
    if (held)
        held->was_used = true;
    if (wrong == no_memory && options->allocator)
        pf_memory_note_short(options->allocator);
    else if (wrong)
        pf_find_note(options, "%s: a file of the bundle is not used: %s", options->recording, wrong);
    return held && held->fd >= 0 ? held : NULL;
}

bool pf_bundle_path(const struct pf_find_options *options, const char *name, char path[PF_BUNDLE_PATH_BYTES])
{
    if (*options->bundle_dir)
        return snprintf(path, PF_BUNDLE_PATH_BYTES, "%s/%s", options->bundle_dir, name) < PF_BUNDLE_PATH_BYTES;
    const struct held *held = find_held(options, name);
    if (held)
        pf_platform_memory_path(held->fd, path);
    return held != NULL;
}

static int open_recording(const struct pf_find_options *options)
{
    return options->recording ? open(options->recording, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
}

/* NULL, or what is wrong. */
static const char *read_members(struct pf_bundle_memory *memory)
{
    memory->u.fd = open_recording(memory->u.options);
    if (memory->u.fd < 0)
        return pf_error_text(errno);
    const char *wrong = pf_bundle_look(memory->u.fd, &memory->u.bundle);
    open_blocks(&memory->u);
    wrong = wrong ? wrong : unpack(&memory->u, hold, memory);
    if (memory->count)
        qsort(memory->members, memory->count, sizeof(*memory->members), by_name);
    return wrong;
}

static void close_memory(struct pf_bundle_memory *memory)
{
    memory->u.options = &(struct pf_find_options){.allocator = memory->allocator};
    for (size_t i = 0; i < memory->count; i++)
        if (memory->members[i].fd >= 0)
            close(memory->members[i].fd);
    if (memory->u.fd >= 0)
        close(memory->u.fd);
    close_blocks(&memory->u);
    pf_free(memory->allocator, memory->members, memory->capacity * sizeof(*memory->members));
    pf_free(memory->allocator, memory, sizeof(*memory));
}

int pf_bundle_load(struct pf_find_options *options)
{
    options->bundle_memory = NULL;
    if (!options->bundle_needs_memory)
        return 0;
    struct pf_bundle_memory *memory = pf_new(pf_find_allocator(options), sizeof(*memory));
    if (!memory)
        return PERFILE_ERROR_MEMORY;
    memory->allocator = pf_find_allocator(options);
    memory->u.options = options;
    const char *wrong = read_members(memory);
    if (wrong == no_memory) {
        close_memory(memory);
        return PERFILE_ERROR_MEMORY;
    }
    if (wrong)
        pf_find_note(options, "%s: the bundle is not used: %s", options->recording, wrong);
    memory->u.options = NULL;
    options->bundle_needs_memory = memory->count;
    if (memory->count)
        options->bundle_memory = memory;
    else
        close_memory(memory);
    return 0;
}

void pf_bundle_unload(struct pf_find_options *options)
{
    if (options->bundle_memory)
        close_memory(options->bundle_memory);
    options->bundle_memory = NULL;
}

/* ---- entry ---- */

/* Sets the folder of the members, or that they are read in memory (bundle_needs_memory). */
static int open_found(struct unpacking *u, const struct stat *about, struct pf_find_options *options)
{
    char *directory = NULL;
    const struct pf_unpack how = {
        .options = options, .path = options->recording, .fill = fill, .context = u, .has_other_way = true};
    int result = pf_unpack_cached(&how, about, &directory);
    const bool fits = directory && snprintf(options->bundle_dir, sizeof(options->bundle_dir), "%s", directory) <
                                       (int)sizeof(options->bundle_dir);
    if (!fits)
        options->bundle_dir[0] = 0;
    /* what is damaged was reported when it was unpacked */
    options->bundle_needs_memory = result == 0 && !fits && (!u->was_filled || u->files);
    pf_text_free(pf_find_allocator(options), directory);
    if (options->bundle_needs_memory) { /* what is wrong with it is reported once, here */
        result = pf_bundle_load(options);
        pf_bundle_unload(options);
    }
    return result;
}

int pf_bundle_open(struct pf_find_options *options)
{
    struct unpacking u = {.options = options};
    struct stat about;
    int result = 0;
    u.fd = open_recording(options);
    if (u.fd < 0)
        return 0;
    const char *wrong = pf_bundle_look(u.fd, &u.bundle);
    if (wrong)
        pf_find_note(options, "%s: the bundle is not used: %s", options->recording, wrong);
    else if (u.bundle.members && fstat(u.fd, &about) == 0)
        result = open_found(&u, &about, options);
    close(u.fd);
    return u.was_short ? PERFILE_ERROR_MEMORY : result;
}
