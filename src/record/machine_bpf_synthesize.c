/* SPDX-License-Identifier: MIT */
/* KSYMBOL and BPF_EVENT records of the BPF programs that are loaded, and of the trampolines made for them. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/btf.h"
#include "base/error.h"
#include "record/machine_bpf.h"
#include "record/machine_files.h"
#include "record/machine_kernel.h"

enum { PROGRAMS_MAX = 100000, NAME_CAPACITY = 512 };

struct synthesizing {
    const struct pf_kernel *kernel;
    struct perfile_error *error;
    int result;
};

static int put(const struct pf_kernel *kernel, uint32_t type, const void *record, size_t bytes,
               struct perfile_error *error)
{
    return kernel->synthesis->put(kernel->synthesis->context, type, 0, record, bytes, error);
}

/* What follows the tag in the name of a part: that of its function, or of the program when it has one part. */
static const char *part_name(const struct pf_bpf_program *program, uint32_t part, const uint8_t *btf, uint32_t bytes)
{
    uint32_t stride = program->info.func_info_rec_size;
    const uint8_t *functions = pf_bpf_array(program, PF_BPF_FUNCTIONS, (uint64_t)part + 1, stride < 8 ? 8 : stride);
    if (btf && functions) /* u32 offset of the instruction, u32 type */
        return pf_btf_name(btf, bytes, false, pf_load32(functions + (size_t)part * stride + 4, false));
    if (part == 0 && program->info.nr_prog_tags == 1)
        return program->info.name[0] ? program->info.name : NULL;
    return "F";
}

static void make_name(char name[NAME_CAPACITY], const uint8_t *tag, const char *part)
{
    char *at = name + snprintf(name, NAME_CAPACITY, "bpf_prog_");
    for (size_t i = 0; i < BPF_TAG_SIZE; i++)
        at += snprintf(at, 3, "%02x", tag[i]);
    if (part)
        snprintf(at, (size_t)(name + NAME_CAPACITY - at), "_%s", part);
}

static int synthesize_parts(const struct pf_kernel *kernel, const struct pf_bpf_program *program, const uint8_t *btf,
                            uint32_t btf_bytes, struct perfile_error *error)
{
    uint32_t count = program->info.nr_jited_ksyms;
    const uint8_t *addresses = pf_bpf_array(program, PF_BPF_KSYMS, count, 8);
    const uint8_t *lengths = pf_bpf_array(program, PF_BPF_LENGTHS, count, 4);
    const uint8_t *tags = pf_bpf_array(program, PF_BPF_TAGS, count, BPF_TAG_SIZE);
    int result = 0;
    if (!addresses || !lengths || !tags)
        return 0; /* not made into machine code, or hidden */
    for (uint32_t i = 0; i < count && result == 0; i++) {
        char name[NAME_CAPACITY];
        make_name(name, tags + (size_t)i * BPF_TAG_SIZE, part_name(program, i, btf, btf_bytes));
        const struct perfile_ksymbol record = {.addr = pf_load64(addresses + (size_t)i * 8, false),
                                               .len = pf_load32(lengths + (size_t)i * 4, false),
                                               .ksym_type = PERFILE_KSYMBOL_TYPE_BPF,
                                               .name = name};
        result = put(kernel, PERFILE_RECORD_KSYMBOL, &record, sizeof(record), error);
    }
    return result;
}

static int synthesize_program(const struct pf_kernel *kernel, const struct pf_bpf_program *program,
                              struct perfile_error *error)
{
    uint32_t bytes = 0;
    uint8_t *btf = program->info.btf_id ? pf_bpf_types_read(kernel->allocator, program->info.btf_id, &bytes) : NULL;
    int result = synthesize_parts(kernel, program, btf, bytes, error);
    if (btf)
        pf_free(kernel->allocator, btf, bytes);
    struct perfile_bpf_event record = {.bpf_type = PERFILE_BPF_EVENT_PROG_LOAD, .id = program->info.id};
    memcpy(record.tag, program->info.tag, sizeof(record.tag));
    return result < 0 ? result : put(kernel, PERFILE_RECORD_BPF_EVENT, &record, sizeof(record), error);
}

/* Trampolines and dispatchers have no entry of their own in the system call; each is a page. */
static bool synthesize_image(void *context, const struct pf_kernel_symbol *symbol)
{
    struct synthesizing *synthesizing = context;
    char name[NAME_CAPACITY];
    size_t length = strcspn(symbol->name, "\t");
    if ((!pf_starts_with(symbol->name, "bpf_trampoline_") && !pf_starts_with(symbol->name, "bpf_dispatcher_")) ||
        strcmp(symbol->name + length, "\t[bpf]") != 0 || !symbol->address || length >= sizeof(name))
        return true;
    memcpy(name, symbol->name, length);
    name[length] = 0;
    const struct perfile_ksymbol record = {.addr = symbol->address,
                                           .len = (uint32_t)sysconf(_SC_PAGESIZE),
                                           .ksym_type = PERFILE_KSYMBOL_TYPE_BPF,
                                           .name = name};
    synthesizing->result =
        put(synthesizing->kernel, PERFILE_RECORD_KSYMBOL, &record, sizeof(record), synthesizing->error);
    return synthesizing->result == 0;
}

int pf_bpf_synthesize(const struct pf_kernel *kernel, struct perfile_error *error)
{
    struct synthesizing synthesizing = {.kernel = kernel, .error = error};
    uint32_t seen = 0;
    for (uint32_t id = 0; synthesizing.result == 0 && (id = pf_bpf_next_program(id)) && seen < PROGRAMS_MAX; seen++) {
        struct pf_bpf_program program;
        if (!pf_bpf_program_read(kernel->allocator, id, &program))
            continue;
        synthesizing.result = synthesize_program(kernel, &program, error);
        pf_bpf_program_free(kernel->allocator, &program);
    }
    if (synthesizing.result == 0 && seen)
        pf_kernel_symbols(kernel->root, synthesize_image, &synthesizing);
    return synthesizing.result;
}
