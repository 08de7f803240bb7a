/* SPDX-License-Identifier: MIT */
/*
 * Binaries keep their layout: sections that are not needed become zeros, which cost nothing compressed, and their
 * headers state that they have no bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/elf_names.h"
#include "base/error.h"
#include "base/map.h"
#include "base/out.h"
#include "symbol/find/bundle.h"
#include "symbol/table_elf.h"

enum {
    LEVEL = 5,
    BLOCK_BYTES = 1 << 18,
    GAPS_MAX = 4096,           /* sections that are left out; binaries have less than 50 of all */
    TEXT_BYTES_MAX = 64 << 20, /* of files without a size, in /proc */
};

/* Bytes of a file that are not stored as they are. */
struct gap {
    uint64_t start, bytes;
    uint64_t type_at; /* where the file says what kind of section it is */
};

struct pf_bundle_writer {
    const struct perfile_allocator *allocator;
    struct pf_text *out;  /* NULL: sizes alone */
    struct pf_text index; /* stays in memory */
    struct pf_map names;  /* hashes of names, to their number */
    ZSTD_CCtx *zstd;
    uint8_t *block, *packed; /* BLOCK_BYTES; packed_capacity */
    size_t packed_capacity;
    struct gap *gaps; /* GAPS_MAX */
    size_t gap_count;
    bool big_endian; /* the file that is stored */
    bool code;
    uint64_t at; /* bytes of members so far */
    uint32_t members;
};

struct pf_bundle_writer *pf_bundle_writer_open(struct pf_text *out, const struct perfile_allocator *allocator,
                                               bool code)
{
    struct pf_bundle_writer *w = pf_new(allocator, sizeof(*w));
    if (!w)
        return NULL;
    *w = (struct pf_bundle_writer){
        .allocator = allocator, .out = out, .code = code, .packed_capacity = ZSTD_CStreamOutSize()};
    const int opened = pf_text_open(&w->index, allocator, NULL, NULL);
    pf_map_open(&w->names, allocator);
    w->zstd = ZSTD_createCCtx();
    w->block = pf_resize(allocator, NULL, 0, BLOCK_BYTES);
    w->packed = pf_resize(allocator, NULL, 0, w->packed_capacity);
    w->gaps = pf_resize(allocator, NULL, 0, GAPS_MAX * sizeof(*w->gaps));
    if (opened == 0 && w->zstd && w->block && w->packed && w->gaps)
        return w;
    pf_bundle_writer_close(w);
    return NULL;
}

void pf_bundle_writer_close(struct pf_bundle_writer *w)
{
    if (!w)
        return;
    pf_text_close(&w->index);
    pf_map_close(&w->names);
    ZSTD_freeCCtx(w->zstd);
    if (w->block)
        pf_free(w->allocator, w->block, BLOCK_BYTES);
    if (w->packed)
        pf_free(w->allocator, w->packed, w->packed_capacity);
    if (w->gaps)
        pf_free(w->allocator, w->gaps, GAPS_MAX * sizeof(*w->gaps));
    pf_free(w->allocator, w, sizeof(*w));
}

/* ---- names ---- */

bool pf_bundle_name(const struct perfile_used_file *file, char *name, size_t capacity)
{
    const uint64_t hash = pf_hash_text(file->name);
    int length;
    if (strcmp(file->kind, "source") == 0)
        length = snprintf(name, capacity, "source/%016" PRIx64, hash);
    else if (strcmp(file->kind, "process") == 0)
        length = snprintf(name, capacity, "process/%" PRId64 "-%016" PRIx64, file->pid, hash);
    else if (strlen(file->build_id) > 2)
        length = snprintf(name, capacity, ".build-id/%.2s/%s/%s", file->build_id, file->build_id + 2, file->kind);
    else
        length = snprintf(name, capacity, "named/%016" PRIx64 "/%s", hash, file->kind);
    return length > 0 && length < (int)capacity && length <= PF_BUNDLE_NAME_BYTES_MAX;
}

/* ---- what is left out of binaries ---- */

static bool starts_with_any(const char *name, const char *const *starts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

/* Stubs have names by what their code says. */
static bool is_needless(const struct pf_bundle_writer *w, const struct pf_elf_section *section)
{
    static const char *const data[] = {".rodata",    ".data",       ".lrodata",     ".ldata",
                                       ".debug_loc", ".zdebug_loc", ".debug_macro", ".debug_gnu_pub",
                                       ".debug_pub", ".gdb_index",  ".debug_names"};
    static const char *const stubs[] = {".plt", ".iplt", ".MIPS.stubs"};
    if (section->header.sh_type != SHT_PROGBITS)
        return false;
    if (starts_with_any(section->name, data, PF_COUNT(data)))
        return true;
    return !w->code && section->header.sh_flags & SHF_EXECINSTR &&
           !starts_with_any(section->name, stubs, PF_COUNT(stubs));
}

/* Kernel modules get their addresses only when loaded, and are stored completely; so are compressed binaries. */
static int find_gaps(struct pf_bundle_writer *w, const char *path)
{
    struct pf_elf elf;
    w->gap_count = 0;
    int code = pf_elf_open(&elf, path, w->allocator, NULL);
    if (code == 0) {
        const bool plain = elf.fd >= 0 && elf.header.e_type != ET_REL && elf.header.e_shentsize >= 8;
        w->big_endian = elf.is_big_endian;
        for (size_t i = 1; plain && i < elf.section_count && w->gap_count < GAPS_MAX; i++)
            if (elf.sections[i].name && is_needless(w, &elf.sections[i]))
                w->gaps[w->gap_count++] = (struct gap){elf.sections[i].header.sh_offset, elf.sections[i].header.sh_size,
                                                       elf.header.e_shoff + i * (uint64_t)elf.header.e_shentsize + 4};
        code = pf_elf_check(&elf, 0);
        pf_elf_close(&elf);
    }
    return code == PERFILE_ERROR_MEMORY ? code : 0;
}

/* ---- bytes ---- */

/* What of `bytes` bytes of the file from `start` on lies in the block that begins at `offset`. */
static void patch(uint8_t *block, uint64_t offset, size_t count, uint64_t start, uint64_t bytes, const uint8_t *with)
{
    uint64_t end;
    if (!pf_add(start, bytes, &end))
        end = UINT64_MAX;
    const uint64_t from = pf_max(start, offset), to = pf_min(end, offset + count);
    for (uint64_t i = from; i < to && with; i++)
        block[i - offset] = with[i - start];
    if (!with && from < to)
        memset(block + (from - offset), 0, (size_t)(to - from));
}

static void leave_out(const struct pf_bundle_writer *w, uint64_t offset, size_t count)
{
    const uint32_t nobits = SHT_NOBITS;
    uint8_t type[4];
    const uint32_t stored = pf_load32(&nobits, w->big_endian != PF_NATIVE_BIG_ENDIAN);
    memcpy(type, &stored, sizeof(type));
    for (size_t i = 0; i < w->gap_count; i++)
        patch(w->block, offset, count, w->gaps[i].start, w->gaps[i].bytes, NULL);
    for (size_t i = 0; i < w->gap_count; i++)
        patch(w->block, offset, count, w->gaps[i].type_at, sizeof(type), type);
}

struct storing {
    int fd;
    uint64_t bytes, stored;
    uint32_t crc;
};

static int press(struct pf_bundle_writer *w, struct storing *s, size_t count, bool last)
{
    ZSTD_inBuffer in = {w->block, count, 0};
    size_t left;
    do {
        ZSTD_outBuffer to = {w->packed, w->packed_capacity, 0};
        left = ZSTD_compressStream2(w->zstd, &to, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return PERFILE_ERROR_MEMORY;
        s->stored += to.pos;
        if (w->out)
            pf_put_through(w->out, w->packed, to.pos);
    } while (last ? left : in.pos < in.size);
    return w->out ? w->out->failed : 0;
}

/* As many bytes as the file has, whatever it does meanwhile; up to its end when it says no size. */
static int store(struct pf_bundle_writer *w, struct storing *s, uint64_t size)
{
    const uint64_t max = size ? size : TEXT_BYTES_MAX;
    int result = 0;
    ZSTD_CCtx_reset(w->zstd, ZSTD_reset_session_and_parameters);
    if (ZSTD_isError(ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, LEVEL)))
        return PERFILE_ERROR_MEMORY;
    while (result == 0 && s->bytes < max) {
        const size_t wanted = (size_t)pf_min(max - s->bytes, (uint64_t)BLOCK_BYTES);
        ssize_t got = read(s->fd, w->block, wanted);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0 && !size)
            break;
        if (got <= 0) {
            memset(w->block, 0, wanted);
            got = (ssize_t)wanted;
        }
        leave_out(w, s->bytes, (size_t)got);
        s->crc = pf_crc32(s->crc, w->block, (size_t)got);
        s->bytes += (uint64_t)got;
        result = press(w, s, (size_t)got, false);
    }
    return result ? result : press(w, s, 0, true);
}

static void put_entry(struct pf_bundle_writer *w, const struct storing *s, const struct stat *about, const char *name)
{
    uint8_t entry[PF_BUNDLE_ENTRY_BYTES];
    struct pf_out o = pf_out_make(entry, sizeof(entry), PF_NATIVE_BIG_ENDIAN);
    const int64_t seconds =
        about->st_mtim.tv_sec > 0 && about->st_mtim.tv_sec < INT32_MAX * 2ll ? about->st_mtim.tv_sec : 0;
    pf_out_u64(&o, w->at);
    pf_out_u64(&o, s->stored);
    pf_out_u64(&o, s->bytes);
    pf_out_u64(&o, (uint64_t)seconds * 1000000000 + (uint64_t)about->st_mtim.tv_nsec);
    pf_out_u32(&o, s->crc);
    pf_out_u16(&o, (uint16_t)strlen(name));
    pf_out_u16(&o, 0);
    pf_put(&w->index, entry, sizeof(entry));
    pf_put(&w->index, name, strlen(name));
    w->at += s->stored;
    w->members++;
}

static int add_open(struct pf_bundle_writer *w, struct storing *s, const struct perfile_used_file *file,
                    const char *name)
{
    struct stat about;
    int result = 0;
    w->gap_count = 0;
    if (fstat(s->fd, &about) < 0 || !S_ISREG(about.st_mode))
        return 0;
    if (strcmp(file->kind, "source") != 0 && strcmp(file->kind, "process") != 0 && strcmp(file->kind, "kallsyms") != 0)
        result = find_gaps(w, file->path);
    if (result == 0)
        result = store(w, s, (uint64_t)about.st_size);
    if (result == 0)
        put_entry(w, s, &about, name);
    return result ? result : w->index.failed;
}

int pf_bundle_writer_add(struct pf_bundle_writer *w, const struct perfile_used_file *file,
                         struct pf_bundle_added *added)
{
    char name[PF_BUNDLE_NAME_BYTES_MAX + 1];
    uint64_t number;
    *added = (struct pf_bundle_added){0};
    if (!pf_bundle_name(file, name, sizeof(name)) || w->members >= PF_BUNDLE_MEMBERS_MAX)
        return 0;
    const uint64_t hash = pf_hash_text(name);
    added->known = pf_map_get(&w->names, hash, &number);
    if (added->known)
        return 0;
    if (!pf_map_put(&w->names, hash, w->members))
        return PERFILE_ERROR_MEMORY;
    struct storing s = {.fd = file->path ? open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1};
    const uint32_t before = w->members;
    const int result = s.fd >= 0 ? add_open(w, &s, file, name) : 0;
    if (s.fd >= 0)
        close(s.fd);
    added->bytes = s.bytes;
    added->stored = s.stored;
    added->missing = w->members == before;
    return result;
}

int pf_bundle_writer_finish(struct pf_bundle_writer *w)
{
    uint8_t footer[PF_BUNDLE_FOOTER_BYTES];
    struct pf_out o = pf_out_make(footer, sizeof(footer), PF_NATIVE_BIG_ENDIAN);
    pf_out_u64(&o, w->at + w->index.used + sizeof(footer));
    pf_out_u32(&o, (uint32_t)w->index.used);
    pf_out_u32(&o, w->members);
    pf_out_u32(&o, w->code ? PF_BUNDLE_CODE : 0);
    pf_out_u32(&o, pf_crc32(pf_crc32(0, w->index.data, w->index.used), footer, PF_BUNDLE_CRC_AT));
    pf_out_put(&o, pf_bundle_magic, PF_BUNDLE_MAGIC_BYTES);
    if (!w->out)
        return w->index.failed;
    pf_put_through(w->out, w->index.data, w->index.used);
    pf_put(w->out, footer, sizeof(footer));
    return w->index.failed ? w->index.failed : w->out->failed;
}
