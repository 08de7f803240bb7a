/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cursor.h"
#include "record/machine_body.h"
#include "record/machine_bpf.h"
#include "schema/since.h"

enum { DATA_BYTES_MAX = 16 << 20, TYPES_BYTES_MAX = 4 << 20, FEATURE_BYTES_MAX = 128 << 20, PROGRAMS_MAX = 100000 };

/* ---- the system call ---- */

static long call_bpf(enum bpf_cmd command, union bpf_attr *attr)
{
    return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static uint32_t next_id(enum bpf_cmd command, uint32_t id)
{
    union bpf_attr attr = {.start_id = id};
    return call_bpf(command, &attr) < 0 ? 0 : attr.next_id;
}

uint32_t pf_bpf_next_program(uint32_t id)
{
    return next_id(BPF_PROG_GET_NEXT_ID, id);
}

static uint32_t next_types(uint32_t id)
{
    return next_id(BPF_BTF_GET_NEXT_ID, id);
}

static int open_id(enum bpf_cmd command, uint32_t id)
{
    union bpf_attr attr = {.prog_id = id};
    return (int)call_bpf(command, &attr);
}

/* *bytes: of the struct that the caller knows; then what the kernel filled in. */
static bool get_info(int fd, void *info, uint32_t *bytes)
{
    union bpf_attr attr = {.info = {.bpf_fd = (uint32_t)fd, .info_len = *bytes, .info = (uintptr_t)info}};
    if (call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0)
        return false;
    *bytes = attr.info.info_len;
    return true;
}

/* ---- the arrays of a program ---- */

/* In the order of the bits of `arrays`; where their address, their length and the size of an element stand. */
static const struct array {
    size_t pointer;
    size_t count;
    size_t stride_at; /* 0: `stride` bytes always */
    uint32_t stride;
} arrays[] = {
#define AT(member) offsetof(struct bpf_prog_info, member)
    {AT(jited_prog_insns), AT(jited_prog_len), 0, 1},
    {AT(xlated_prog_insns), AT(xlated_prog_len), 0, 1},
    {AT(map_ids), AT(nr_map_ids), 0, 4},
    {AT(jited_ksyms), AT(nr_jited_ksyms), 0, 8},
    {AT(jited_func_lens), AT(nr_jited_func_lens), 0, 4},
    {AT(func_info), AT(nr_func_info), AT(func_info_rec_size), 0},
    {AT(line_info), AT(nr_line_info), AT(line_info_rec_size), 0},
    {AT(jited_line_info), AT(nr_jited_line_info), AT(jited_line_info_rec_size), 0},
    {AT(prog_tags), AT(nr_prog_tags), 0, 8},
#undef AT
};
enum { ARRAYS_OF_PERF = 0x1fd }; /* all but the instructions before the JIT */

static uint32_t get_u32(const struct bpf_prog_info *info, size_t at)
{
    return pf_load32((const uint8_t *)info + at, false);
}

static void set_u32(struct bpf_prog_info *info, size_t at, uint32_t value)
{
    memcpy((uint8_t *)info + at, &value, sizeof(value));
}

static uint64_t get_u64(const struct bpf_prog_info *info, size_t at)
{
    return pf_load64((const uint8_t *)info + at, false);
}

static void set_u64(struct bpf_prog_info *info, size_t at, uint64_t value)
{
    memcpy((uint8_t *)info + at, &value, sizeof(value));
}

static uint32_t stride_of(const struct bpf_prog_info *info, const struct array *array)
{
    return array->stride_at ? get_u32(info, array->stride_at) : array->stride;
}

/*
 * What the second call asks for: the lengths that the first one returned, with pointers from `base` on. As in perf's
 * files, empty arrays are there, too: `known` is how much of the struct the kernel has.
 */
static uint64_t position_arrays(const struct bpf_prog_info *synthesis, uint32_t known, struct pf_bpf_program *program,
                                uint64_t base)
{
    struct bpf_prog_info *info = &program->info;
    uint64_t bytes = 0;
    memset(info, 0, sizeof(*info));
    program->arrays = 0;
    for (size_t i = 0; i < PF_COUNT(arrays); i++) {
        uint32_t stride = stride_of(synthesis, &arrays[i]), count = stride ? get_u32(synthesis, arrays[i].count) : 0;
        if (!(ARRAYS_OF_PERF >> i & 1) || known < arrays[i].pointer + 8)
            continue;
        set_u32(info, arrays[i].count, count);
        if (arrays[i].stride_at)
            set_u32(info, arrays[i].stride_at, stride);
        set_u64(info, arrays[i].pointer, base + bytes);
        bytes += pf_align8((uint64_t)count * stride);
        program->arrays |= 1ull << i;
    }
    return bytes;
}

static void make_offsets(struct pf_bpf_program *program)
{
    for (size_t i = 0; i < PF_COUNT(arrays); i++) {
        uint64_t address = get_u64(&program->info, arrays[i].pointer);
        bool here = program->arrays >> i & 1;
        set_u64(&program->info, arrays[i].pointer, here ? address - (uintptr_t)program->data : 0);
    }
}

/* A program may have changed between the calls: the kernel leaves out arrays that do not fit any more. */
static bool read_open(const struct perfile_allocator *allocator, int fd, struct pf_bpf_program *program)
{
    struct bpf_prog_info synthesis = {0};
    uint32_t bytes = sizeof(synthesis);
    if (!get_info(fd, &synthesis, &bytes))
        return false;
    uint64_t needed = position_arrays(&synthesis, bytes, program, 0);
    if (needed > DATA_BYTES_MAX || !(program->data = pf_new(allocator, needed ? (size_t)needed : 8)))
        return false;
    program->data_bytes = (uint32_t)needed;
    position_arrays(&synthesis, bytes, program, (uintptr_t)program->data);
    struct bpf_prog_info asked = program->info;
    program->info_bytes = sizeof(program->info);
    if (!get_info(fd, &program->info, &program->info_bytes))
        return false;
    for (size_t i = 0; i < PF_COUNT(arrays); i++)
        if ((program->arrays >> i & 1) &&
            (get_u32(&program->info, arrays[i].count) != get_u32(&asked, arrays[i].count) ||
             stride_of(&program->info, &arrays[i]) != stride_of(&asked, &arrays[i])))
            return false;
    make_offsets(program);
    return true;
}

bool pf_bpf_program_read(const struct perfile_allocator *allocator, uint32_t id, struct pf_bpf_program *program)
{
    *program = (struct pf_bpf_program){.data = NULL};
    int fd = open_id(BPF_PROG_GET_FD_BY_ID, id);
    if (fd < 0)
        return false;
    bool read = read_open(allocator, fd, program);
    close(fd);
    if (!read)
        pf_bpf_program_free(allocator, program);
    return read;
}

void pf_bpf_program_free(const struct perfile_allocator *allocator, struct pf_bpf_program *program)
{
    if (program->data)
        pf_free(allocator, program->data, program->data_bytes ? program->data_bytes : 8);
    program->data = NULL;
}

const uint8_t *pf_bpf_array(const struct pf_bpf_program *program, unsigned array, uint64_t count, uint32_t stride)
{
    uint64_t bytes, at = get_u64(&program->info, arrays[array].pointer);
    if (!(program->arrays >> array & 1) || get_u32(&program->info, arrays[array].count) < count ||
        stride_of(&program->info, &arrays[array]) < stride || !pf_multiply(count, stride, &bytes) ||
        at > program->data_bytes || bytes > program->data_bytes - at)
        return NULL;
    return program->data + at;
}

/* ---- types ---- */

uint8_t *pf_bpf_types_read(const struct perfile_allocator *allocator, uint32_t id, uint32_t *bytes)
{
    struct bpf_btf_info info = {0}, complete = {0};
    uint32_t info_bytes = sizeof(info);
    uint8_t *data = NULL;
    int fd = open_id(BPF_BTF_GET_FD_BY_ID, id);
    if (fd < 0)
        return NULL;
    if (get_info(fd, &info, &info_bytes) && info.btf_size && info.btf_size <= TYPES_BYTES_MAX &&
        (data = pf_new(allocator, info.btf_size))) {
        complete.btf = (uintptr_t)data;
        complete.btf_size = info.btf_size;
        info_bytes = sizeof(complete);
        if (!get_info(fd, &complete, &info_bytes) || complete.btf_size != info.btf_size) {
            pf_free(allocator, data, info.btf_size);
            data = NULL;
        }
    }
    *bytes = info.btf_size;
    close(fd);
    return data;
}

/* ---- the features ---- */

static void put_program(struct pf_body *body, const struct pf_bpf_program *program)
{
    const uint32_t known = body->events->version ? pf_since_prog_info_bytes(body->events->version) : UINT32_MAX;
    const uint32_t info_bytes = (uint32_t)pf_min(program->info_bytes, known);
    pf_body_u32(body, info_bytes);
    pf_body_u32(body, program->data_bytes);
    pf_body_u64(body, program->arrays);
    pf_put(body->text, &program->info, info_bytes);
    pf_put(body->text, program->data, program->data_bytes);
}

/* As perf: also when there is none. */
bool pf_body_bpf_programs(struct pf_body *body)
{
    struct pf_bpf_program program;
    size_t start = body->text->used;
    uint32_t count = 0;
    pf_body_u32(body, 0);
    for (uint32_t id = 0, seen = 0; (id = pf_bpf_next_program(id)) && seen < PROGRAMS_MAX; seen++) {
        if (body->text->used > FEATURE_BYTES_MAX || !pf_bpf_program_read(body->allocator, id, &program))
            continue;
        put_program(body, &program);
        pf_bpf_program_free(body->allocator, &program);
        count++;
    }
    pf_body_set_u32(body, start, count);
    return true;
}

/* Only what programs have; the kernel's own types are of no use to readers, and large. */
static bool is_of_program(uint32_t types)
{
    struct bpf_btf_info info = {0};
    uint32_t bytes = sizeof(info);
    int fd = open_id(BPF_BTF_GET_FD_BY_ID, types);
    if (fd < 0)
        return false;
    bool known = get_info(fd, &info, &bytes);
    close(fd);
    return known && !info.kernel_btf;
}

bool pf_body_bpf_types(struct pf_body *body)
{
    size_t start = body->text->used;
    uint32_t bytes, count = 0;
    pf_body_u32(body, 0);
    for (uint32_t id = 0, seen = 0; (id = next_types(id)) && seen < PROGRAMS_MAX; seen++) {
        uint8_t *data;
        if (body->text->used > FEATURE_BYTES_MAX || !is_of_program(id) ||
            !(data = pf_bpf_types_read(body->allocator, id, &bytes)))
            continue;
        pf_body_u32(body, id);
        pf_body_u32(body, bytes);
        pf_put(body->text, data, bytes);
        pf_free(body->allocator, data, bytes);
        count++;
    }
    pf_body_set_u32(body, start, count);
    return true;
}
