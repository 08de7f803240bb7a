/* SPDX-License-Identifier: MIT */
#include "symbol/jit/jit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "base/counted.h"
#include "base/elf_names.h"
#include "base/error.h"
#include "base/files.h"
#include "base/map.h"
#include "symbol/find/bundle.h"
#include "symbol/jit/jit_elf.h"
#include "symbol/jit/jit_files.h"
#include "symbol/jit/jit_kept.h"
#include "symbol/jit/jitdump.h"

enum {
    CLOCK_OF_JITS = 1, /* CLOCK_MONOTONIC */
    NOTES_MAX = 16,
    DUMPS_MAX = 1 << 14, /* files */
};

struct dump {
    const char *name;  /* in the recording */
    const char *found; /* the file; NULL: it was not used */
    int32_t pid;
    struct pf_jitdump_content kept; /* the file as the recording has it */
};

struct code {
    struct pf_jit_code public;
    uint32_t dump;
    uint64_t mapped_bytes;
    const char *file; /* the name that perf inject gives it */
    uint64_t code_offset;
    uint64_t lines_offset;
    uint64_t lines_bytes;
    uint64_t lines_count;
    bool lines_read;
    struct pf_jitdump_line *lines;
    size_t line_count;
    uint8_t build_id[20]; /* of the file */
};

struct pf_jit {
    const struct perfile_allocator *allocator;
    struct perfile_reader *reader;
    struct perfile_session *session;
    struct pf_find_options find;
    struct pf_arena arena;
    struct dump *dumps;
    size_t dump_count;
    size_t dump_capacity;
    struct code *codes;
    size_t code_count;
    size_t code_capacity;
    struct perfile_time_conv clock; /* of the TSC */
    bool has_clock;
    bool used; /* the dump of the last record */
    unsigned note_count;
    int (*take)(void *context, uint64_t time, const struct perfile_map *map, struct perfile_error *error);
    void *take_context;
    const char *folder; /* of the files that are written */
    struct pf_jit_counts counts;
};

int pf_jit_open(struct perfile_reader *reader, struct perfile_session *session, const struct pf_find_options *find,
                struct pf_jit **jit, struct perfile_error *error)
{
    const struct perfile_allocator *allocator = pf_allocator_or_default(find ? find->allocator : NULL);
    struct pf_jit *made = pf_new(allocator, sizeof(*made));
    *jit = made;
    if (!made)
        return pf_fail_memory(error, "jitdump");
    made->allocator = allocator;
    made->reader = reader;
    made->session = session;
    if (find)
        made->find = *find;
    pf_arena_open(&made->arena, allocator);
    return pf_bundle_load(&made->find) < 0 ? pf_fail_memory(error, "bundle") : 0;
}

void pf_jit_close(struct pf_jit *jit)
{
    if (!jit)
        return;
    pf_bundle_unload(&jit->find);
    pf_free(jit->allocator, jit->dumps, jit->dump_capacity * sizeof(*jit->dumps));
    pf_free(jit->allocator, jit->codes, jit->code_capacity * sizeof(*jit->codes));
    pf_arena_close(&jit->arena);
    pf_free(jit->allocator, jit, sizeof(*jit));
}

void pf_jit_write_files(struct pf_jit *jit, const char *folder,
                        int (*take)(void *context, uint64_t time, const struct perfile_map *map,
                                    struct perfile_error *error),
                        void *context)
{
    jit->folder = folder;
    jit->take = take;
    jit->take_context = context;
}

const struct pf_jit_counts *pf_jit_counts(const struct pf_jit *jit)
{
    return &jit->counts;
}

bool pf_jit_is_used(const struct pf_jit *jit)
{
    return jit->used;
}

/* A sentence for the user. */
static void put_note(struct pf_jit *jit, const char *text)
{
    if (jit->note_count < NOTES_MAX)
        pf_find_note(&jit->find, "%s", text);
    else if (jit->note_count == NOTES_MAX)
        pf_find_note(&jit->find, "more jitdump files could not be used");
    jit->note_count++;
}

static void note_about(struct pf_jit *jit, const char *name, const char *what)
{
    char text[512];
    snprintf(text, sizeof(text), "%.300s %s", name, what);
    put_note(jit, text);
}

/* ---- which files ---- */

static int open_dump(const struct pf_jit *jit, const struct dump *dump, struct pf_jitdump *file,
                     struct perfile_error *error)
{
    return dump->kept.data ? pf_jitdump_open_memory(file, jit->allocator, &dump->kept, error)
                           : pf_jitdump_open(file, jit->allocator, dump->found, error);
}

static const struct dump *find_dump(const struct pf_jit *jit, const char *name, int32_t pid)
{
    for (size_t i = jit->dump_count; i-- > 0;)
        if (jit->dumps[i].pid == pid && strcmp(jit->dumps[i].name, name) == 0)
            return &jit->dumps[i];
    return NULL;
}

/* The times of samples can be compared with those of JITs. */
static bool has_same_clock(const struct pf_jit *jit)
{
    size_t count = perfile_event_count(jit->reader);
    for (size_t i = 0; i < count; i++) {
        const struct perfile_attr *attr = perfile_event_get(jit->reader, i)->attr;
        if (!attr->use_clockid || attr->clockid != CLOCK_OF_JITS)
            return false;
    }
    return count;
}

static uint64_t time_of(const struct pf_jit *jit, const struct pf_jitdump *dump, uint64_t time)
{
    const struct perfile_time_conv *c = &jit->clock;
    unsigned shift = c->time_shift & 63;
    if (!dump->has_ticks)
        return time;
    if (c->cap_user_time_short)
        time = c->time_cycles + ((time - c->time_cycles) & c->time_mask);
    return c->time_zero + (time >> shift) * c->time_mult + (((time & ((1ull << shift) - 1)) * c->time_mult) >> shift);
}

/* ---- code ---- */

/* One dump while it is read. */
struct reading {
    struct pf_jit *jit;
    struct pf_jitdump file;
    struct pf_map by_index; /* of the JIT to the number of the code */
    uint32_t number;        /* of the dump */
    const char *folder;     /* of the files that perf inject makes, */
    int folder_bytes;
    struct pf_jit_folder made; /* when they are written */
    bool has_other;            /* dump of the process, before this one */
};

/* An earlier dump of the process, such as one of another folder, has files in the same one. */
static bool has_other_dump(const struct pf_jit *jit, uint32_t number)
{
    for (uint32_t i = 0; i < number; i++)
        if (jit->dumps[i].found && jit->dumps[i].pid == jit->dumps[number].pid)
            return true;
    return false;
}

static const char *file_of(const struct reading *r, uint64_t index)
{
    struct pf_jit *jit = r->jit;
    uint64_t known;
    char tail[80], again[24] = "", *text;
    /* the number of a piece of code should be another one each time */
    if (jit->take && (r->has_other || pf_map_get(&r->by_index, index, &known)))
        snprintf(again, sizeof(again), "-%zu", jit->code_count);
    int length =
        snprintf(tail, sizeof(tail), "/jitted-%" PRId32 "-%" PRIu64 "%s.so", jit->dumps[r->number].pid, index, again);
    if ((text = pf_arena_new(&jit->arena, (size_t)(r->folder_bytes + length) + 1))) {
        memcpy(text, r->folder, (size_t)r->folder_bytes);
        memcpy(text + r->folder_bytes, tail, (size_t)length);
    }
    return text;
}

static int write_file(struct reading *r, const struct pf_jitdump_code *made, struct code *code,
                      struct perfile_error *error)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s%s", r->made.real, strrchr(code->file, '/'));
    int result = pf_jit_file_write(&r->file, made, path, code->build_id, error);
    r->jit->counts.files += result == 0;
    return result;
}

/* The number of new code, which begins with 1. */
static int64_t add_code(struct reading *r, const struct pf_jitdump_code *made, struct perfile_error *error)
{
    struct pf_jit *jit = r->jit;
    if (!pf_grow(jit->allocator, &jit->codes, &jit->code_capacity, jit->code_count + 1, sizeof(*jit->codes)))
        return pf_fail_memory(error, "jitdump");
    struct code *code = &jit->codes[jit->code_count];
    *code = (struct code){.public = {.name = pf_arena_text(&jit->arena, made->name, strlen(made->name)),
                                     .address = made->address,
                                     .bytes = made->bytes},
                          .dump = r->number,
                          .mapped_bytes = made->mapped_bytes,
                          .file = file_of(r, made->index),
                          .code_offset = made->code_offset,
                          .lines_offset = made->lines_offset,
                          .lines_bytes = made->lines_bytes,
                          .lines_count = made->lines_count};
    if (!code->public.name || !code->file)
        return pf_fail_memory(error, "jitdump");
    int result = jit->take && made->bytes ? write_file(r, made, code, error) : 0;
    if (result < 0)
        return result;
    const int64_t number = (int64_t)++jit->code_count;
    return pf_map_put(&r->by_index, made->index, (uint64_t)number) ? number : pf_fail_memory(error, "jitdump");
}

/* The end of the code with the tables for unwinding that were mapped after it. */
static uint64_t end_of(const struct pf_jitdump_code *made, const struct code *code)
{
    const uint64_t end = made->address + made->bytes;
    const uint64_t mapped = code->mapped_bytes ? end + -made->bytes % 8 + code->mapped_bytes : end;
    return pf_max(end, mapped);
}

static int add_map(struct reading *r, const struct pf_jitdump_code *made, uint32_t number, struct perfile_error *error)
{
    struct pf_jit *jit = r->jit;
    const struct code *code = &jit->codes[number - 1];
    const uint64_t time = time_of(jit, &r->file, made->time);
    struct perfile_map map = {.size = sizeof(map),
                              .start = made->address,
                              .end = end_of(made, code),
                              .pgoff = jit->take ? pf_jit_elf_text_offset(r->file.machine) : PF_JIT_TEXT_OFFSET,
                              .filename = code->file,
                              .pid = r->jit->dumps[r->number].pid,
                              .prot = PERFILE_PROT_READ | PERFILE_PROT_EXEC,
                              .flags = PERFILE_MAP_PRIVATE,
                              .code = number};
    if (!made->bytes || !code->public.bytes)
        return 0; /* there is no code, and no file */
    if (!jit->take)
        return perfile_session_add_map(jit->session, time, &map, error);
    map.build_id_bytes = sizeof(code->build_id);
    memcpy(map.build_id, code->build_id, sizeof(code->build_id));
    return jit->take(jit->take_context, time, &map, error);
}

static int read_codes(struct reading *r, struct perfile_error *error)
{
    struct pf_jitdump_code made;
    int result = 0;
    while (result == 0 && pf_jitdump_next(&r->file, &made)) {
        uint64_t known = 0;
        int64_t number;
        if (made.name)
            number = add_code(r, &made, error);
        else if (pf_map_get(&r->by_index, made.index, &known))
            number = (int64_t)known;
        else
            continue; /* it was not described */
        if (number == PERFILE_ERROR_TRUNCATED || (number == PERFILE_ERROR_LIMIT && made.name)) {
            r->file.damaged++;
            continue;
        }
        result = number < 0 ? (int)number : add_map(r, &made, (uint32_t)number, error);
    }
    return result;
}

/* ---- files ---- */

/* NULL when the times of the file can be converted, else why not. */
static const char *wrong_clock(const struct pf_jit *jit, const struct pf_jitdump *file)
{
    if (file->has_ticks)
        return jit->has_clock ? NULL
                              : "is not used: its times are in ticks of a counter that the recording does not describe";
    return has_same_clock(jit)
               ? NULL
               : "is not used: its clock is CLOCK_MONOTONIC, and the recording's is not (perfile record "
                 "-k 1)";
}

static int choose_folder(struct reading *r, struct perfile_error *error)
{
    const struct pf_jit *jit = r->jit;
    const struct dump *dump = &jit->dumps[r->number];
    r->folder = dump->name;
    r->folder_bytes = (int)(strrchr(dump->name, '/') - dump->name);
    if (!jit->take)
        return 0;
    r->has_other = has_other_dump(jit, r->number);
    int result = pf_jit_files_folder(&r->file, jit->folder, jit->find.symfs ? jit->find.symfs : "", &r->made, error);
    r->folder = r->made.named;
    r->folder_bytes = r->folder ? (int)strlen(r->folder) : 0;
    return result;
}

static void report_losses(const struct reading *r, int result)
{
    const char *name = r->jit->dumps[r->number].name;
    char text[PF_COUNTED_BYTES + 16], pieces[PF_COUNTED_BYTES];
    if (result == PERFILE_ERROR_LIMIT)
        note_about(r->jit, name, "was not read completely: too much code");
    if (result == 0 && r->file.is_cut)
        note_about(r->jit, name, "ends within a record: its last piece of code is missing");
    snprintf(text, sizeof(text), "is damaged: %s",
             pf_count_of(r->file.damaged, "pieces of code cannot be used", pieces));
    if (r->file.damaged)
        note_about(r->jit, name, text);
}

static void close_reading(struct reading *r)
{
    pf_text_free(r->jit->allocator, r->made.real);
    pf_text_free(r->jit->allocator, r->made.named);
    pf_jitdump_close(&r->file);
}

static int read_file(struct reading *r, struct perfile_error *error)
{
    struct pf_jit *jit = r->jit;
    struct dump *dump = &jit->dumps[r->number];
    struct perfile_error why;
    int code = open_dump(jit, dump, &r->file, &why);
    const char *wrong = code == 0 ? wrong_clock(jit, &r->file) : NULL;
    if (wrong)
        note_about(jit, dump->name, wrong);
    if (code < 0 && code != PERFILE_ERROR_MEMORY)
        put_note(jit, why.message);
    if (code < 0 || wrong) {
        dump->found = NULL;
        close_reading(r);
        return code == PERFILE_ERROR_MEMORY ? pf_fail_memory(error, "jitdump") : 0;
    }
    pf_map_open(&r->by_index, jit->allocator);
    code = choose_folder(r, error);
    if (code == 0)
        code = read_codes(r, error);
    jit->counts.dumps++;
    report_losses(r, code);
    pf_map_close(&r->by_index);
    close_reading(r);
    return code == PERFILE_ERROR_LIMIT ? 0 : code;
}

/* What the recorder has kept was the right file; else what is found under the name. */
static int find_file(struct pf_jit *jit, struct dump *dump, struct perfile_error *error)
{
    char *path = NULL;
    pf_find_read_names(&jit->find, jit->reader);
    int result = pf_jit_kept_find(jit->reader, dump->pid, &jit->arena, &dump->kept);
    if (result == 0 && !dump->kept.data)
        result = pf_find_jitdump(&jit->find, dump->name, dump->pid, &path);
    dump->found = dump->kept.data ? dump->name : path ? pf_arena_text(&jit->arena, path, strlen(path)) : NULL;
    if (result < 0 || (path && !dump->found))
        result = pf_fail_memory(error, "jitdump");
    pf_text_free(jit->allocator, path);
    return result;
}

static int follow_file(struct pf_jit *jit, const char *name, int32_t pid, struct perfile_error *error)
{
    if (!pf_is_jitdump(name))
        return 0;
    const struct dump *seen = find_dump(jit, name, pid);
    jit->used = seen && seen->found;
    if (seen || jit->dump_count >= DUMPS_MAX)
        return 0;
    struct dump dump = {.name = pf_arena_text(&jit->arena, name, strlen(name)), .pid = pid};
    dump.kept.name = dump.name;
    if (!dump.name ||
        !pf_grow(jit->allocator, &jit->dumps, &jit->dump_capacity, jit->dump_count + 1, sizeof(*jit->dumps)))
        return pf_fail_memory(error, "jitdump");
    int result = find_file(jit, &dump, error);
    if (result < 0)
        return result;
    struct reading r = {.jit = jit, .number = (uint32_t)jit->dump_count};
    jit->dumps[jit->dump_count++] = dump;
    if (!dump.found)
        note_about(jit, name, "was not found");
    result = dump.found ? read_file(&r, error) : 0;
    jit->used = jit->dumps[r.number].found;
    return result;
}

int pf_jit_follow(struct pf_jit *jit, const struct perfile_record *record, struct perfile_error *error)
{
    union {
        struct perfile_mmap mmap;
        struct perfile_mmap2 mmap2;
    } r;
    size_t bytes = record->type == PERFILE_RECORD_MMAP    ? sizeof(r.mmap)
                   : record->type == PERFILE_RECORD_MMAP2 ? sizeof(r.mmap2)
                                                          : 0;
    jit->used = false;
    if (record->type == PERFILE_RECORD_TIME_CONV && !record->damaged)
        jit->has_clock = perfile_record_decode(jit->reader, record, &jit->clock, sizeof(jit->clock), NULL) == 0 &&
                         jit->clock.cap_user_time_zero;
    if (!bytes || record->damaged || perfile_record_decode(jit->reader, record, &r, bytes, NULL) < 0)
        return 0;
    return record->type == PERFILE_RECORD_MMAP ? follow_file(jit, r.mmap.filename, r.mmap.pid, error)
                                               : follow_file(jit, r.mmap2.filename, r.mmap2.pid, error);
}

/* ---- look-ups ---- */

const struct pf_jit_code *pf_jit_code(const struct pf_jit *jit, uint32_t number)
{
    return jit && number && number <= jit->code_count ? &jit->codes[number - 1].public : NULL;
}

static void read_lines(struct pf_jit *jit, struct code *code)
{
    struct pf_jitdump file;
    const struct pf_jitdump_code where = {
        .lines_offset = code->lines_offset, .lines_bytes = code->lines_bytes, .lines_count = code->lines_count};
    code->lines_read = true;
    if (!where.lines_bytes)
        return;
    const int result = open_dump(jit, &jit->dumps[code->dump], &file, NULL);
    if (result == PERFILE_ERROR_MEMORY)
        pf_memory_note_short(jit->allocator);
    if (result < 0)
        return;
    code->line_count = pf_jitdump_lines(&file, &where, &jit->arena, &code->lines);
    pf_jitdump_close(&file);
}

const char *pf_jit_path(const struct pf_jit *jit, uint32_t number)
{
    return pf_jit_code(jit, number) ? jit->dumps[jit->codes[number - 1].dump].found : NULL;
}

/* The header of the file knows no more than the machine. */
static struct pf_insn_machine machine_of(const struct pf_jitdump *file)
{
    const bool is_32 = file->machine == EM_386 || file->machine == EM_ARM || file->machine == EM_PPC;
    return (struct pf_insn_machine){
        .elf_machine = (uint16_t)file->machine, .is_64 = !is_32, .is_big_endian = file->swap != PF_NATIVE_BIG_ENDIAN};
}

size_t pf_jit_read(struct pf_jit *jit, uint32_t number, uint64_t address, uint8_t *to, size_t count,
                   struct pf_insn_machine *machine)
{
    struct pf_jitdump file;
    if (!pf_jit_code(jit, number))
        return 0;
    const struct code *code = &jit->codes[number - 1];
    const uint64_t skipped = address - code->public.address;
    if (skipped >= code->public.bytes ||
        pf_memory_check(jit->allocator, open_dump(jit, &jit->dumps[code->dump], &file, NULL)) < 0)
        return 0;
    count = (size_t)pf_min(code->public.bytes - skipped, count);
    *machine = machine_of(&file);
    if (!pf_jitdump_read(&file, code->code_offset + skipped, to, count))
        count = 0;
    pf_jitdump_close(&file);
    return count;
}

bool pf_jit_line(struct pf_jit *jit, uint32_t number, uint64_t address, struct pf_source_frame *frame)
{
    if (!pf_jit_code(jit, number))
        return false;
    struct code *code = &jit->codes[number - 1];
    const struct pf_jitdump_line *best = NULL;
    if (!code->lines_read)
        read_lines(jit, code);
    for (size_t i = 0; i < code->line_count; i++)
        if (code->lines[i].address <= address && (!best || code->lines[i].address >= best->address))
            best = &code->lines[i];
    if (!best)
        return false;
    *frame = (struct pf_source_frame){.function = code->public.name, .file = best->file, .line = best->line};
    return true;
}
