/* SPDX-License-Identifier: MIT */
/* BPF programs: where their parts are, and their names as the kernel makes them. */
#include <inttypes.h>

#include "base/btf.h"
#include "base/bytes.h"
#include "base/error.h"
#include "output/header.h"
#include "output/header_walk.h"

enum { TAG_BYTES = 8, NAME_BYTES = 16 };

/* Offsets of members of struct bpf_prog_info; members for arrays hold offsets into the data that follows the struct. */
enum {
    INFO_ID = 4,
    INFO_NAME = 64,
    INFO_KSYM_COUNT = 104,
    INFO_KSYMS = 112,
    INFO_LENGTHS = 120,
    INFO_TYPES = 128,
    INFO_FUNCTION_BYTES = 132,
    INFO_FUNCTIONS = 136,
    INFO_FUNCTION_COUNT = 144,
    INFO_TAG_COUNT = 180,
    INFO_TAGS = 184,
};

struct program {
    const uint8_t *info, *data;
    size_t info_bytes, data_bytes;
    bool swap;
};

static uint64_t number_at(const struct program *program, size_t at, size_t bytes)
{
    if (at + bytes > program->info_bytes)
        return 0;
    return bytes == 4 ? pf_load32(program->info + at, program->swap) : pf_load64(program->info + at, program->swap);
}

/* `count` elements of `bytes`, or NULL. */
static const uint8_t *array_at(const struct program *program, size_t at, uint64_t count, uint64_t bytes)
{
    const uint64_t offset = number_at(program, at, 8);
    uint64_t all;
    if (at + 8 > program->info_bytes || !pf_multiply(count, bytes, &all) || offset > program->data_bytes ||
        all > program->data_bytes - offset)
        return NULL;
    return program->data + offset;
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

struct types {
    uint64_t id;
    const uint8_t *data;
    size_t bytes;
};

static const struct perfile_value *find(const struct pf_header_walk *walk, const char *name)
{
    for (unsigned i = walk->member_count; i > 0; i--)
        if (strcmp(walk->members[i - 1].name, name) == 0 && walk->members[i - 1].kind == PERFILE_VALUE_BYTES)
            return &walk->members[i - 1];
    return NULL;
}

static void take_types(struct pf_header_walk *walk, const char *list)
{
    struct types *types = walk->context;
    const struct perfile_value *data = find(walk, "data");
    (void)list;
    if (data && pf_header_number(walk, "id") == types->id) {
        types->data = data->data;
        types->bytes = data->bytes;
    }
}

/* Those of another feature, whose bytes stay where they are. */
static void find_types(struct perfile_reader *reader, struct pf_text *out, struct types *types)
{
    static const struct pf_header_rows rows = {.object = take_types};
    struct pf_header_walk walk = {.reader = reader, .out = out, .context = types};
    (void)pf_memory_check(out->allocator, pf_header_walk(&walk, PERFILE_FEATURE_BPF_BTF, &rows, NULL));
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

struct part {
    const struct program *program;
    const struct types *types;
    uint64_t index, count;
};

/* What follows the tag in the name: that of its function, or of the program when it has one part. */
static void put_part_name(struct pf_text *text, const struct part *part)
{
    const struct program *program = part->program;
    const uint64_t stride = number_at(program, INFO_FUNCTION_BYTES, 4);
    const uint8_t *functions = stride >= 8 && number_at(program, INFO_FUNCTION_COUNT, 4) > part->index
                                   ? array_at(program, INFO_FUNCTIONS, part->index + 1, stride)
                                   : NULL;
    const bool has_name = program->info_bytes >= INFO_NAME + NAME_BYTES && program->info[INFO_NAME];
    const char *name = NULL;
    if (part->types->data && functions) /* u32 offset of the instruction, u32 type */
        name = pf_btf_name(part->types->data, part->types->bytes, program->swap,
                           pf_load32(functions + part->index * stride + 4, program->swap));
    else if (part->count > 1)
        name = "F";
    else if (has_name)
        name = (const char *)program->info + INFO_NAME;
    if (!name)
        return;
    pf_put_char(text, '_');
    pf_put_name_bytes(text, name,
                      name == (const char *)program->info + INFO_NAME ? strnlen(name, NAME_BYTES) : strlen(name));
}

/* What is done with the parts of all programs. */
struct each {
    void (*each)(void *context, const struct pf_header_bpf *part);
    void *context;
};

static void give_part(struct pf_header_walk *walk, const struct part *part, const uint8_t *arrays[3])
{
    const struct each *each = walk->context;
    const bool swap = part->program->swap;
    struct pf_text *name = &walk->scratch;
    name->used = 0;
    pf_put_string(name, "bpf_prog_");
    pf_put_hex_bytes(name, arrays[2] + part->index * TAG_BYTES, TAG_BYTES);
    put_part_name(name, part);
    pf_put_char(name, 0);
    if (!name->failed)
        each->each(each->context, &(struct pf_header_bpf){.id = number_at(part->program, INFO_ID, 4),
                                                          .name = name->data,
                                                          .address = pf_load64(arrays[0] + part->index * 8, swap),
                                                          .bytes = pf_load32(arrays[1] + part->index * 4, swap),
                                                          .index = part->index,
                                                          .count = part->count});
}

static void give_program(struct pf_header_walk *walk, const char *list)
{
    const struct perfile_value *info = find(walk, "info"), *data = find(walk, "data");
    (void)list;
    if (!info || !data)
        return;
    const struct program program = {info->data, data->data, info->bytes, data->bytes,
                                    perfile_reader_file(walk->reader)->swapped};
    struct types types = {.id = number_at(&program, INFO_TYPES, 4)};
    struct part part = {&program, &types, 0, number_at(&program, INFO_KSYM_COUNT, 4)};
    const uint8_t *arrays[] = {array_at(&program, INFO_KSYMS, part.count, 8),
                               array_at(&program, INFO_LENGTHS, part.count, 4),
                               array_at(&program, INFO_TAGS, part.count, TAG_BYTES)};
    walk->count++;
    if (!part.count || !arrays[0] || !arrays[1] || !arrays[2] || number_at(&program, INFO_TAG_COUNT, 4) < part.count)
        return; /* not made into machine code, or hidden */
    if (types.id)
        find_types(walk->reader, walk->out, &types);
    for (; part.index < part.count; part.index++)
        give_part(walk, &part, arrays);
}

static const struct pf_header_rows program_rows = {.object = give_program};

int pf_header_each_bpf(struct perfile_reader *reader, struct pf_text *out,
                       void (*each)(void *context, const struct pf_header_bpf *part), void *context,
                       struct perfile_error *error)
{
    struct each target = {each, context};
    struct pf_header_walk walk = {.reader = reader, .out = out, .context = &target};
    if (pf_text_open(&walk.scratch, out->allocator, NULL, NULL) < 0)
        return pf_fail_memory(error, "header");
    const int result = pf_header_walk(&walk, PERFILE_FEATURE_BPF_PROG_INFO, &program_rows, error);
    const bool is_short = walk.scratch.failed;
    pf_text_close(&walk.scratch);
    return result == 0 && is_short ? pf_fail_memory(error, "header") : result;
}

static void put_part(void *context, const struct pf_header_bpf *part)
{
    struct pf_text *out = context;
    if (part->index == 0)
        pf_put_format(out, "# bpf_prog_info %" PRIu64 ":%s", part->id, part->count > 1 ? "\n" : " ");
    if (part->count > 1)
        pf_put_format(out, "# \tsub_prog %" PRIu64 ": ", part->index);
    pf_put_name(out, part->name);
    pf_put_format(out, " addr 0x%" PRIx64 " size %" PRIu32 "\n", part->address, part->bytes);
}

int pf_header_put_bpf_programs(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    struct each target = {put_part, walk->out};
    walk->context = &target;
    const int result = pf_header_walk(walk, feature, &program_rows, error);
    if (!walk->count)
        pf_put_string(walk->out, "# bpf_prog_info empty\n");
    return result;
}

static void put_types(struct pf_header_walk *walk, const char *list)
{
    (void)list;
    walk->count++;
    pf_put_format(walk->out, "# btf info of id %" PRIu64 "\n", pf_header_number(walk, "id"));
}

int pf_header_put_bpf_types(struct pf_header_walk *walk, uint32_t feature, struct perfile_error *error)
{
    static const struct pf_header_rows rows = {.object = put_types};
    const int result = pf_header_walk(walk, feature, &rows, error);
    if (!walk->count)
        pf_put_string(walk->out, "# btf info empty\n");
    return result;
}
