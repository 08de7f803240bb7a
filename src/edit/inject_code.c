/* SPDX-License-Identifier: MIT */
/* Mappings of code that JIT compilers made, as records at their times. */
#include "base/counted.h"
#include "edit/inject.h"

#include <stdio.h>

#include "base/error.h"
#include "base/memory_name.h"
#include "model/maps.h"

enum { PIECES_MAX = 1 << 20 }; /* a hostile jitdump file may have one in 60 bytes */

void pf_code_open(struct pf_code *code, struct pf_inject_maps *out)
{
    *code = (struct pf_code){.out = out, .edit = out->edit, .options = out->options};
    pf_arena_open(&code->arena, code->edit->reader->allocator);
    pf_heap_open(&code->waiting, code->edit->reader->allocator);
    pf_map_open(&code->pids, code->edit->reader->allocator);
}

void pf_code_close(struct pf_code *code)
{
    pf_heap_close(&code->waiting);
    pf_map_close(&code->pids);
    pf_arena_close(&code->arena);
}

/* ---- what comes in ---- */

/* Adds the mapping to the session, which finds where samples hit. */
static int report_session(struct pf_code *code, uint64_t time, const struct perfile_map *map,
                          struct perfile_error *error)
{
    int result = perfile_session_add_map(code->edit->session, time, map, error);
    code->untold += result == PERFILE_ERROR_LIMIT;
    return result == PERFILE_ERROR_LIMIT ? 0 : result;
}

static int add(void *context, uint64_t time, const struct perfile_map *map, struct perfile_error *error)
{
    struct pf_code *code = context;
    if (code->count >= PIECES_MAX)
        return pf_fail(error, PERFILE_ERROR_LIMIT, PERFILE_NO_OFFSET, "code", "too many pieces, at most %d",
                       PIECES_MAX);
    int result = report_session(code, time, map, error);
    if (result < 0)
        return result;
    struct perfile_map *made = pf_arena_new(&code->arena, sizeof(*made));
    const struct pf_heap_item item = {.time = time, .number = code->count, .value = (uintptr_t)made};
    if (!made || !pf_map_put(&code->pids, (uint32_t)map->pid, 1))
        return pf_fail_memory(error, "code");
    *made = *map;
    made->filename = pf_arena_text(&code->arena, map->filename, strlen(map->filename));
    if (!made->filename || !pf_heap_put(&code->waiting, &item))
        return pf_fail_memory(error, "code");
    code->count++;
    return 0;
}

/* ---- what goes out ---- */

static int write_until(struct pf_code *code, uint64_t time, struct perfile_error *error)
{
    const struct pf_heap_item *first;
    int result = 0;
    while (result == 0 && (first = pf_heap_first(&code->waiting)) && first->time <= time) {
        const struct perfile_map *map = (const struct perfile_map *)first->value;
        const struct pf_inject_location location = {.pid = map->pid, .time = first->time};
        result = pf_inject_map(code->out, &location, map, error);
        code->added += result == 0;
        pf_heap_take(&code->waiting);
    }
    return result;
}

/* ---- the step ---- */

/* A JIT changes the protection of memory that holds its code: the record would cover the code. */
static int leave_out_memory(struct pf_code *code, struct pf_item *item, struct perfile_error *error)
{
    uint64_t value;
    int result = pf_item_decode(item, error);
    if (result < 0)
        return result;
    const bool old = item->record->type == PERFILE_RECORD_MMAP;
    const char *name = old ? item->body.mmap.filename : item->body.mmap2.filename;
    const int32_t pid = old ? item->body.mmap.pid : item->body.mmap2.pid;
    return pf_is_memory_name(name) && pf_map_get(&code->pids, (uint32_t)pid, &value) ? PF_EDIT_DROP : PF_EDIT_KEEP;
}

static int follow(void *context, struct pf_item *item, struct perfile_error *error)
{
    struct pf_code *code = context;
    const struct perfile_record *record = item->record;
    const bool timed = record->time && record->time != UINT64_MAX;
    int result = timed ? write_until(code, record->time, error) : 0;
    if (result < 0 || record->type == PERFILE_RECORD_SAMPLE)
        return result;
    result = code->options->follow_code(code->options->code_context, record, add, code, error);
    if (result > 0)
        return PF_EDIT_DROP;
    if (result == 0 && code->pids.used && (record->type == PERFILE_RECORD_MMAP || record->type == PERFILE_RECORD_MMAP2))
        result = leave_out_memory(code, item, error);
    return result;
}

static int write_rest(void *context, struct perfile_reader *reader, struct perfile_writer *writer,
                      struct perfile_error *error)
{
    struct pf_code *code = context;
    char message[PF_COUNTED_BYTES];
    (void)reader;
    if (code->untold)
        pf_writer_diagnose(
            writer, "code-limit",
            pf_count_of(code->untold, "pieces of code are not searched for build ids: too many", message));
    return write_until(code, UINT64_MAX, error);
}

struct pf_edit_step pf_code_step(struct pf_code *code)
{
    return (struct pf_edit_step){.context = code, .record = follow, .end = write_rest};
}
