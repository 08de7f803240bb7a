/* SPDX-License-Identifier: MIT */
#include "symbol/jit/jitdump.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"
#include "base/files.h"
#include "base/locale.h"

enum {
    MAGIC = 0x4a695444,
    VERSION = 1,
    HEADER_BYTES = 40,
    PREFIX_BYTES = 16,
    LOAD_BYTES = 40, /* without the prefix, up to the name */
    NAME_BYTES_MAX = 4096,
    BUFFER_BYTES = 64 << 10,
    LINES_BYTES_MAX = 16 << 20,
    FLAG_ARCH_TIMESTAMP = 1,
};

enum record_id { CODE_LOAD, CODE_MOVE, CODE_DEBUG_INFO, CODE_CLOSE, CODE_UNWINDING_INFO };

/* ---- bytes ---- */

/* As many bytes of the file as there are, up to `bytes`. */
static size_t read_at(const struct pf_jitdump *dump, uint64_t offset, void *to, size_t bytes)
{
    if (!dump->data)
        return pf_read_from(dump->fd, offset, to, bytes);
    const size_t got = offset < dump->file_bytes ? (size_t)pf_min(dump->file_bytes - offset, (uint64_t)bytes) : 0;
    memcpy(to, dump->data + (got ? offset : 0), got);
    return got;
}

/* `bytes` bytes, at most BUFFER_BYTES, at an offset of the file; a cursor that is empty when they are not all there. */
static struct pf_cursor bytes_at(struct pf_jitdump *dump, uint64_t offset, size_t bytes)
{
    if (offset < dump->buffer_at || offset - dump->buffer_at > dump->buffered ||
        dump->buffered - (offset - dump->buffer_at) < bytes) {
        dump->buffer_at = offset;
        dump->buffered = read_at(dump, offset, dump->buffer, BUFFER_BYTES);
    }
    uint64_t skipped = offset - dump->buffer_at;
    size_t there = dump->buffered - skipped >= bytes ? bytes : 0;
    return pf_cursor_make(dump->buffer + skipped, there, offset, dump->swap);
}

/* ---- opening ---- */

static int read_header(struct pf_jitdump *dump, const char *path, struct perfile_error *error)
{
    struct pf_cursor c = bytes_at(dump, 0, HEADER_BYTES);
    uint32_t magic = pf_cursor_u32(&c);
    c.swap = dump->swap = magic != MAGIC;
    if ((dump->swap && magic != __builtin_bswap32(MAGIC)) || pf_cursor_u32(&c) != VERSION)
        return pf_fail(error, PERFILE_ERROR_FORMAT, 0, "jitdump", "%s is not a jitdump file of version 1", path);
    uint32_t bytes = pf_cursor_u32(&c);
    dump->machine = pf_cursor_u32(&c);
    pf_cursor_take(&c, 4); /* padding */
    dump->pid = pf_cursor_u32(&c);
    pf_cursor_take(&c, 8); /* time */
    dump->has_ticks = pf_cursor_u64(&c) & FLAG_ARCH_TIMESTAMP;
    if (c.failed || bytes < HEADER_BYTES)
        return pf_fail(error, PERFILE_ERROR_FORMAT, 0, "jitdump", "the header of %s is truncated", path);
    dump->at = bytes;
    return 0;
}

/* Of what has its file and its length. */
static int start(struct pf_jitdump *dump, const char *path, struct perfile_error *error)
{
    dump->buffer = pf_resize(dump->allocator, NULL, 0, BUFFER_BYTES);
    const int code = dump->buffer ? read_header(dump, path, error) : pf_fail_memory(error, "jitdump");
    if (code < 0)
        pf_jitdump_close(dump);
    return code;
}

int pf_jitdump_open(struct pf_jitdump *dump, const struct perfile_allocator *allocator, const char *path,
                    struct perfile_error *error)
{
    struct stat about;
    *dump = (struct pf_jitdump){.allocator = allocator, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (dump->fd < 0)
        return pf_fail(error, PERFILE_ERROR_OPEN, PERFILE_NO_OFFSET, "jitdump", "%s: %s", path, pf_error_text(errno));
    if (fstat(dump->fd, &about) < 0 || !S_ISREG(about.st_mode)) {
        pf_jitdump_close(dump);
        return pf_fail(error, PERFILE_ERROR_FORMAT, PERFILE_NO_OFFSET, "jitdump", "%s is not a regular file", path);
    }
    dump->file_bytes = (uint64_t)about.st_size;
    return start(dump, path, error);
}

int pf_jitdump_open_memory(struct pf_jitdump *dump, const struct perfile_allocator *allocator,
                           const struct pf_jitdump_content *content, struct perfile_error *error)
{
    *dump = (struct pf_jitdump){.allocator = allocator, .fd = -1, .data = content->data, .file_bytes = content->bytes};
    return start(dump, content->name, error);
}

void pf_jitdump_close(struct pf_jitdump *dump)
{
    pf_free(dump->allocator, dump->buffer, BUFFER_BYTES);
    if (dump->fd >= 0)
        close(dump->fd);
    *dump = (struct pf_jitdump){.fd = -1};
}

/* ---- records ---- */

struct prefix {
    uint32_t id;
    uint64_t time;
    uint64_t body; /* where it begins, and its length */
    uint64_t bytes;
};

static bool next_prefix(struct pf_jitdump *dump, struct prefix *prefix)
{
    struct pf_cursor c = bytes_at(dump, dump->at, PREFIX_BYTES);
    uint32_t bytes;
    prefix->id = pf_cursor_u32(&c);
    bytes = pf_cursor_u32(&c);
    prefix->time = pf_cursor_u64(&c);
    prefix->body = dump->at + PREFIX_BYTES;
    dump->is_cut = dump->at < dump->file_bytes;
    if (c.failed || bytes < PREFIX_BYTES || bytes > dump->file_bytes - pf_min(dump->file_bytes, dump->at))
        return false;
    dump->is_cut = false;
    prefix->bytes = bytes - PREFIX_BYTES;
    dump->at += bytes;
    return true;
}

/* It does not go past the end of all addresses. */
static bool is_position(const struct pf_jitdump_code *code)
{
    return code->bytes <= UINT64_MAX - code->address;
}

/* What lies between the fixed part and the code is the name. */
static bool read_load(struct pf_jitdump *dump, const struct prefix *prefix, struct pf_jitdump_code *code)
{
    size_t bytes = (size_t)pf_min(prefix->bytes, LOAD_BYTES + NAME_BYTES_MAX);
    struct pf_cursor c = bytes_at(dump, prefix->body, bytes);
    *code = dump->pending;
    dump->pending = (struct pf_jitdump_code){0};
    code->time = prefix->time;
    pf_cursor_take(&c, 16); /* pid, tid, vma */
    code->address = pf_cursor_u64(&c);
    code->bytes = pf_cursor_u64(&c);
    code->index = pf_cursor_u64(&c);
    if (c.failed || code->bytes > prefix->bytes - LOAD_BYTES || !is_position(code))
        return false;
    code->code_offset = prefix->body + prefix->bytes - code->bytes;
    size_t capacity = (size_t)pf_min(pf_cursor_left(&c), prefix->bytes - LOAD_BYTES - code->bytes);
    if (!capacity)
        return false;
    char *name = (char *)dump->buffer + (c.at - dump->buffer);
    if (pf_text_length((const uint8_t *)name, capacity) == capacity)
        name[capacity - 1] = 0; /* too long: its end is left out */
    code->name = name;
    return true;
}

static bool read_move(struct pf_jitdump *dump, const struct prefix *prefix, struct pf_jitdump_code *code)
{
    struct pf_cursor c = bytes_at(dump, prefix->body, (size_t)pf_min(prefix->bytes, 48));
    *code = (struct pf_jitdump_code){.time = prefix->time};
    pf_cursor_take(&c, 24); /* pid, tid, vma, old address */
    code->address = pf_cursor_u64(&c);
    code->bytes = pf_cursor_u64(&c);
    code->index = pf_cursor_u64(&c);
    return !c.failed && is_position(code);
}

static void read_debug_info(struct pf_jitdump *dump, const struct prefix *prefix)
{
    struct pf_cursor c = bytes_at(dump, prefix->body, (size_t)pf_min(prefix->bytes, 16));
    pf_cursor_take(&c, 8); /* address of the code */
    dump->pending.lines_count = pf_cursor_u64(&c);
    dump->pending.lines_offset = c.failed ? 0 : prefix->body + 16;
    dump->pending.lines_bytes = c.failed ? 0 : prefix->bytes - 16;
}

static void read_unwinding_info(struct pf_jitdump *dump, const struct prefix *prefix)
{
    struct pf_cursor c = bytes_at(dump, prefix->body, (size_t)pf_min(prefix->bytes, 24));
    const uint64_t bytes = pf_cursor_u64(&c), header_bytes = pf_cursor_u64(&c);
    struct pf_jitdump_code *code = &dump->pending;
    code->mapped_bytes = pf_cursor_u64(&c);
    if (c.failed || bytes > prefix->bytes - 24 || header_bytes > bytes)
        return;
    code->unwinding_offset = prefix->body + 24;
    code->unwinding_bytes = bytes;
    code->unwinding_header_bytes = header_bytes;
}

int pf_jitdump_next(struct pf_jitdump *dump, struct pf_jitdump_code *code)
{
    struct prefix prefix;
    while (next_prefix(dump, &prefix)) {
        if ((prefix.id == CODE_LOAD && read_load(dump, &prefix, code)) ||
            (prefix.id == CODE_MOVE && read_move(dump, &prefix, code)))
            return 1;
        if (prefix.id == CODE_LOAD || prefix.id == CODE_MOVE)
            dump->damaged++;
        else if (prefix.id == CODE_DEBUG_INFO)
            read_debug_info(dump, &prefix);
        else if (prefix.id == CODE_UNWINDING_INFO)
            read_unwinding_info(dump, &prefix);
    }
    return 0;
}

bool pf_jitdump_read(const struct pf_jitdump *dump, uint64_t offset, void *to, size_t bytes)
{
    return read_at(dump, offset, to, bytes) == bytes;
}

/* ---- lines ---- */

/* Node 20 writes names from memory that was reused: then the rows after them cannot be found either. */
static bool is_name(const uint8_t *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (text[i] < ' ' || text[i] == 0x7f)
            return false;
    return bytes;
}

/* Reads a row; "\xff" alone stands for the name of the row before. False: there is no complete row. */
static bool next_line(struct pf_cursor *c, struct pf_jitdump_line *line, struct pf_arena *arena)
{
    const char *before = line->file;
    line->address = pf_cursor_u64(c);
    line->line = pf_cursor_u32(c);
    pf_cursor_u32(c); /* discriminator */
    size_t left = pf_cursor_left(c), length = pf_text_length(c->at, left);
    const uint8_t *name = c->at;
    if (c->failed || length == left || !is_name(name, length))
        return false;
    pf_cursor_take(c, length + 1);
    if (length == 1 && *name == 0xff)
        line->file = before;
    else if (!before || strlen(before) != length || memcmp(before, name, length) != 0)
        line->file = pf_arena_text(arena, name, length);
    return line->file;
}

size_t pf_jitdump_lines(struct pf_jitdump *dump, const struct pf_jitdump_code *code, struct pf_arena *arena,
                        struct pf_jitdump_line **lines)
{
    enum { ROW_BYTES = 17 };
    const size_t capacity = code->lines_bytes <= LINES_BYTES_MAX ? (size_t)code->lines_bytes : 0;
    uint8_t *bytes = capacity ? pf_resize(arena->allocator, NULL, 0, capacity) : NULL;
    size_t got = bytes ? read_at(dump, code->lines_offset, bytes, capacity) : 0;
    size_t max = (size_t)pf_min(code->lines_count, got / ROW_BYTES), count = 0;
    struct pf_jitdump_line row = {0};
    *lines = max ? pf_arena_new(arena, max * sizeof(**lines)) : NULL;
    struct pf_cursor c = pf_cursor_make(bytes, got, code->lines_offset, dump->swap);
    while (*lines && count < max && next_line(&c, &row, arena))
        (*lines)[count++] = row;
    pf_free(arena->allocator, bytes, capacity);
    return count;
}
