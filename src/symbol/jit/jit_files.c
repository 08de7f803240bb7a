/* SPDX-License-Identifier: MIT */
#include "symbol/jit/jit_files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/locale.h"
#include "symbol/jit/jit_elf.h"

enum { CODE_BYTES_MAX = 64 << 20, UNWINDING_BYTES_MAX = 16 << 20, NAME_BYTES_MAX = 4096 };
enum { TEMPORARY_BYTES = NAME_BYTES_MAX + 16, TEMPORARY_TRIES = 100 };

/* ---- one file, complete or not at all ---- */

static int cannot(struct perfile_error *error, const char *path)
{
    return pf_fail(error, PERFILE_ERROR_WRITE, PERFILE_NO_OFFSET, "code", "%s: %s", path, pf_error_text(errno));
}

/* Users that may read the dump may read the code. */
static mode_t mode_of(const struct pf_jitdump *dump)
{
    struct stat status;
    return fstat(dump->fd, &status) == 0 ? status.st_mode & 0644 : 0600;
}

/*
 * A file that is not there yet, beside `path`; with its mode from the start, as the sandbox of the command changes
 * none.
 */
static int create_beside(const char *path, mode_t mode, char temporary[TEMPORARY_BYTES])
{
    for (int i = 0; i < TEMPORARY_TRIES; i++) {
        uint32_t random = (uint32_t)i;
        (void)!getrandom(&random, sizeof(random), 0);
        if (snprintf(temporary, TEMPORARY_BYTES, "%s.%08" PRIx32, path, random) >= TEMPORARY_BYTES) {
            errno = ENAMETOOLONG;
            return -1;
        }
        const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

static int save(const struct pf_text *file, const char *path, mode_t mode, struct perfile_error *error)
{
    char temporary[TEMPORARY_BYTES];
    const int fd = create_beside(path, mode, temporary);
    if (fd < 0)
        return cannot(error, path);
    bool done = pf_write_all(fd, file->data, file->used);
    done = close(fd) == 0 && done;
    if (done && rename(temporary, path) == 0)
        return 0;
    int result = cannot(error, path);
    unlink(temporary);
    return result;
}

/* ---- what goes into it ---- */

static void free_bytes(const struct pf_jitdump *dump, uint8_t *data, uint64_t bytes)
{
    pf_free(dump->allocator, data, (size_t)bytes + 1);
}

/* To be ended by free_bytes. TRUNCATED: the dump ends before; MEMORY. */
static int read_bytes(const struct pf_jitdump *dump, uint64_t offset, uint64_t bytes, uint8_t **data)
{
    *data = pf_resize(dump->allocator, NULL, 0, (size_t)bytes + 1);
    if (!*data)
        return PERFILE_ERROR_MEMORY;
    if (pf_jitdump_read(dump, offset, *data, (size_t)bytes))
        return 0;
    free_bytes(dump, *data, bytes);
    *data = NULL;
    return PERFILE_ERROR_TRUNCATED;
}

/* Tables that are not mapped after their code belong to other addresses: those of LLVM, and empty ones of V8. */
static bool has_unwinding(const struct pf_jitdump_code *code)
{
    return code->mapped_bytes && code->unwinding_header_bytes && code->unwinding_bytes > code->unwinding_header_bytes &&
           code->unwinding_bytes <= UNWINDING_BYTES_MAX;
}

static int make_and_save(const struct pf_jitdump *dump, struct pf_jit_elf *elf, const char *path, uint8_t build_id[20],
                         struct perfile_error *error)
{
    struct pf_text file;
    if (pf_text_open(&file, dump->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "jitdump");
    int result = pf_jit_elf_make(elf, &file, build_id);
    result = result < 0 ? pf_fail_memory(error, "jitdump") : save(&file, path, mode_of(dump), error);
    pf_text_close(&file);
    return result;
}

int pf_jit_file_write(struct pf_jitdump *dump, const struct pf_jitdump_code *code, const char *path,
                      uint8_t build_id[20], struct perfile_error *error)
{
    struct pf_arena arena;
    struct pf_watch watch;
    struct pf_jitdump_line *lines;
    if (code->bytes > CODE_BYTES_MAX)
        return pf_fail(error, PERFILE_ERROR_LIMIT, code->code_offset, "jitdump", "code of more than %d bytes",
                       CODE_BYTES_MAX);
    uint8_t *bytes, *unwinding = NULL;
    int result = read_bytes(dump, code->code_offset, code->bytes, &bytes);
    if (result == 0 && has_unwinding(code))
        result = read_bytes(dump, code->unwinding_offset, code->unwinding_bytes, &unwinding);
    if (result < 0) {
        free_bytes(dump, bytes, code->bytes);
        return pf_fail(error, result, code->code_offset, "jitdump", "code cannot be read");
    }
    pf_watch_open(&watch, dump->allocator);
    pf_arena_open(&arena, &watch.allocator);
    struct pf_jit_elf elf = {.machine = dump->machine,
                             .big_endian = dump->swap != PF_NATIVE_BIG_ENDIAN,
                             .name = code->name,
                             .address = code->address,
                             .code = bytes,
                             .code_bytes = (size_t)code->bytes,
                             .unwinding = unwinding,
                             .unwinding_bytes = (size_t)code->unwinding_bytes,
                             .unwinding_header_bytes = (size_t)code->unwinding_header_bytes};
    elf.line_count = pf_jitdump_lines(dump, code, &arena, &lines);
    elf.lines = lines;
    result = pf_memory_was_short(&watch.allocator) ? pf_fail_memory(error, "jitdump")
                                                   : make_and_save(dump, &elf, path, build_id, error);
    pf_arena_close(&arena);
    free_bytes(dump, unwinding, code->unwinding_bytes);
    free_bytes(dump, bytes, code->bytes);
    return result;
}

/* ---- where ---- */

int pf_jit_files_folder(const struct pf_jitdump *dump, const char *folder, const char *symfs,
                        struct pf_jit_folder *made, struct perfile_error *error)
{
    char root[PATH_MAX], real[PATH_MAX];
    const size_t bytes = *symfs && realpath(symfs, root) && strcmp(root, "/") != 0 ? strlen(root) : 0;
    *made = (struct pf_jit_folder){NULL, NULL};
    if (!realpath(folder, real))
        return errno == ENOMEM ? pf_fail_memory(error, "jitdump") : cannot(error, folder);
    if (strcmp(real, "/") == 0)
        *real = 0;
    const bool below = bytes && strncmp(real, root, bytes) == 0 && (real[bytes] == '/' || !real[bytes]);
    const char *named = real + (below ? bytes : 0);
    made->real = pf_text_copy(dump->allocator, real, strlen(real));
    made->named = pf_text_copy(dump->allocator, named, strlen(named));
    return made->real && made->named ? 0 : pf_fail_memory(error, "jitdump");
}
