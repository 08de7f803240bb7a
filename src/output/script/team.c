/* SPDX-License-Identifier: MIT */
/*
 * script with several threads. One reads: it orders the records, tracks threads and processes, filters, and puts what
 * is to be printed in batches, each sample with all that the recording knew at its moment. Any thread formats a batch.
 * What this cannot do by itself, because it has to be found out in the order of the samples, waits for the next stage,
 * which takes one batch after the other: the first address of a module, unwinding, fields that depend on the samples
 * before. So the texts are those of one thread. The caller writes them.
 *
 *     read -> format -> format in order -> write
 *
 * A batch ends with 4,096 samples, or with as many records as give 2 MB of text: batches shrink when their texts are
 * longer, and never have more than 256 KiB of records. So each needs some 4 MB, and there are twice as many of them as
 * threads, and one more. Smaller ones cost more than they save: threads that wait for each other are slow to wake.
 */
#include "output/script/script.h"

#include <pthread.h>

#include "analysis/guard.h"
#include "base/stages.h"

enum {
    BATCH_SAMPLES = 4096,
    BATCH_MIN = 4 * 1024, /* bytes of records: where the batches begin, and how far they go back */
    BATCH_MAX = 256 * 1024,
    TEXT_MAX = 2048 * 1024, /* of a batch that is not too large */
};

/* One sample, or one counter of a group: what is in struct pf_script when it is printed, and where its record lies. */
struct task {
    struct perfile_record record;
    const struct pf_script_plan *plan;
    const struct pf_trace_text *trace;
    const char *comm, *cgroup, *arch;
    const struct perfile_space *kernel_space, *user_space;
    uint64_t id, period, chain_count;
    struct perfile_u64s user_chain; /* after the record */
    size_t at;                      /* of the record, among the bytes of the batch */
    size_t lines_end;               /* of what other records print before this */
    struct pf_traced traced;
    bool asks_binaries;
};

/* A task that was left for later: its text follows the batch's first text_end bytes. */
struct cut {
    size_t task, text_end, late_end;
};

struct batch {
    struct task *tasks;
    size_t count, capacity;
    uint8_t *bytes;
    size_t byte_count, byte_capacity;
    struct cut *cuts;
    size_t cut_count, cut_capacity;
    struct pf_text lines;       /* of records that are no samples */
    struct pf_text text;        /* all, but for the tasks that were left */
    struct pf_text late;        /* those */
    struct pf_symbols *symbols; /* NULL: not opened yet */
    int result;                 /* of reading the next record: 1 for more, 0 for the end, or an error */
    struct perfile_error error;
};

struct pf_script_team {
    struct pf_script *script; /* the script that reads */
    const struct perfile_allocator *allocator;
    unsigned thread_count;
    struct pf_script *formatters; /* one for each thread, and the last formats in order */
    struct batch *batches;
    unsigned batch_count;
    uint64_t started;     /* batches */
    uint64_t trimmed;     /* how many there were when mappings were given back */
    struct batch *filled; /* the number of batches when mappings were released */
    size_t batch_bytes;   /* the batch that is being filled */
    bool stopped;         /* no more batches are required; atomic */
    struct perfile_error error;
    pthread_rwlock_t texts; /* shared: kept texts are used; exclusive: they are discarded */
    bool is_full;           /* there are too many kept texts; atomic */
    struct pf_guard guard;  /* its lock also guards the adding of texts */
};

/* ---- locks ------------------------------------------------------------------------------------------------------- */

void pf_script_team_lock(struct pf_script_team *team)
{
    pf_guard_lock(&team->guard);
}

void pf_script_team_unlock(struct pf_script_team *team)
{
    pf_guard_unlock(&team->guard);
}

void pf_script_team_lock_reading(struct pf_script_team *team)
{
    pf_guard_lock_reading(&team->guard);
}

void pf_script_team_guard(struct pf_script_team *team, struct pf_find_options *find)
{
    pf_guard_notes(&team->guard, find);
}

void pf_script_team_is_full(struct pf_script_team *team)
{
    __atomic_store_n(&team->is_full, true, __ATOMIC_RELAXED);
}

static void discard_texts(struct pf_script_team *team)
{
    pthread_rwlock_wrlock(&team->texts);
    if (__atomic_exchange_n(&team->is_full, false, __ATOMIC_RELAXED))
        pf_script_discard_locations(team->script);
    pthread_rwlock_unlock(&team->texts);
}

/* Until pthread_rwlock_unlock the kept texts stay. */
static void keep_texts(struct pf_script_team *team)
{
    if (__atomic_load_n(&team->is_full, __ATOMIC_RELAXED))
        discard_texts(team);
    pthread_rwlock_rdlock(&team->texts);
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

bool pf_script_team_can(const struct pf_script *script)
{
    const uint64_t asking = SCRIPT_BIT(SCRIPT_BRCNTR) | SCRIPT_BIT(SCRIPT_MACHINE_PID) | SCRIPT_BIT(SCRIPT_VCPU);
    for (int type = 0; type < SCRIPT_TYPES; type++)
        if (script->fields.fields[type] & asking)
            return false;
    /* lines of code that is changed have symbols, and times may depend on the line before, whatever it is */
    return !(script->options->script->show & PERFILE_SHOW_TEXT_POKE) && !script->names.active &&
           !script->stops.active && !script->graph.active && script->options->script->times == PERFILE_TIMES_OF_CLOCK;
}

static bool copy_bytes(struct batch *batch, const struct perfile_allocator *allocator, const void *data, size_t bytes)
{
    const size_t end = batch->byte_count + ((bytes + 7) & ~(size_t)7);
    if (!pf_grow(allocator, &batch->bytes, &batch->byte_capacity, end, 1))
        return false;
    if (bytes)
        memcpy(batch->bytes + batch->byte_count, data, bytes);
    batch->byte_count = end;
    return true;
}

static struct task *add_task(struct pf_script *script, struct batch *batch)
{
    const struct perfile_allocator *allocator = script->team->allocator;
    const struct pf_delivered *item = &script->item;
    const size_t at = batch->byte_count;
    if (!pf_grow(allocator, &batch->tasks, &batch->capacity, batch->count + 1, sizeof(*batch->tasks)) ||
        !copy_bytes(batch, allocator, item->record->data, item->record->bytes) ||
        !copy_bytes(batch, allocator, item->user_chain.data, (size_t)item->user_chain.count * sizeof(uint64_t)))
        return NULL;
    struct task *task = &batch->tasks[batch->count++];
    task->at = at;
    return task;
}

void pf_script_team_add(struct pf_script *script)
{
    struct batch *batch = script->team->filled;
    const struct pf_delivered *item = &script->item;
    const struct pf_script_plan *plan = script->plan;
    struct task *task = add_task(script, batch);
    if (!task) {
        pf_script_fail(script, PERFILE_ERROR_MEMORY, "script", "out of memory");
        return;
    }
    const bool has_cgroup = plan->fields >> SCRIPT_CGROUP & 1;
    *task = (struct task){
        .record = *item->record,
        .plan = plan,
        .trace = script->trace,
        .comm = item->comm,
        .cgroup = has_cgroup ? perfile_session_cgroup(script->session, item->sample.cgroup) : NULL,
        .arch = script->arch,
        .kernel_space = item->kernel_space,
        .user_space = item->user_space,
        .id = item->id,
        .period = item->sample.period,
        .chain_count = item->sample.callchain.count,
        .user_chain = item->user_chain,
        .at = task->at,
        .lines_end = batch->lines.used,
        .traced = item->traced,
        .asks_binaries = script->asks_binaries,
    };
}

static void clear(struct batch *batch)
{
    batch->count = batch->byte_count = batch->cut_count = 0;
    batch->lines.used = batch->text.used = batch->late.used = 0;
}

static bool is_full(const struct pf_script_team *team, const struct batch *batch)
{
    return batch->count >= BATCH_SAMPLES ||
           batch->byte_count + batch->lines.used >= __atomic_load_n(&team->batch_bytes, __ATOMIC_RELAXED);
}

/* Batches to come are as large as those whose texts were good. */
static void note_size(struct pf_script_team *team, const struct batch *batch)
{
    const size_t text = batch->text.used + batch->late.used;
    size_t bytes = team->batch_bytes;
    if (text > TEXT_MAX && bytes > BATCH_MIN)
        bytes /= 2;
    else if (text < TEXT_MAX / 2 && bytes < BATCH_MAX)
        bytes *= 2;
    __atomic_store_n(&team->batch_bytes, bytes, __ATOMIC_RELAXED);
}

static void end(struct batch *batch, int result, const struct perfile_error *error)
{
    batch->result = result;
    if (result < 0)
        batch->error = *error;
}

static void read_on(struct pf_script_team *team)
{
    struct pf_script *script = team->script;
    int result = pf_delivery_next(script->delivery, &script->item, script->error);
    if (result > 0 && pf_script_take(script) < 0)
        result = script->failed;
    if (result <= 0)
        end(team->filled, result, &team->error);
}

/* Batches that were not printed yet have spaces of before: these are good until it is done again. */
static void trim(struct pf_script_team *team)
{
    team->started++;
    if (team->started > team->trimmed + team->batch_count && perfile_session_trim(team->script->session))
        team->trimmed = team->started;
}

static bool read_batch(void *context, void *item, unsigned worker)
{
    struct pf_script_team *team = context;
    struct pf_script *script = team->script;
    struct batch *batch = item;
    (void)worker;
    clear(batch);
    batch->result = 1;
    team->filled = batch;
    script->out = &batch->lines;
    script->error = &team->error;
    pf_guard_begin_reading(&team->guard);
    trim(team);
    while (batch->result > 0 && !is_full(team, batch) && !__atomic_load_n(&team->stopped, __ATOMIC_RELAXED))
        read_on(team);
    pf_guard_end_reading(&team->guard);
    batch->symbols = script->symbols;
    return batch->result > 0;
}

/* ---- formatting -------------------------------------------------------------------------------------------------- */

static void fail_memory(struct batch *batch)
{
    if (batch->result >= 0)
        batch->result = pf_fail_memory(&batch->error, "script");
}

/* Puts the current sample as it was when it was read, and prints it. */
static void print_task(struct pf_script *script, const struct batch *batch, struct task *task)
{
    struct pf_delivered *item = &script->item;
    task->record.data = batch->bytes + task->at;
    script->plan = task->plan;
    item->record = &task->record;
    if (!pf_delivered_decode(item))
        return; /* it could be decoded before */
    item->sample.period = task->period;
    item->sample.callchain.count = task->chain_count;
    item->user_chain = task->user_chain;
    item->user_chain.data = task->record.data + ((task->record.bytes + 7) & ~(size_t)7);
    item->id = task->id;
    item->traced = task->traced;
    item->comm = task->comm;
    item->kernel_space = task->kernel_space;
    item->user_space = task->user_space;
    script->cgroup = task->cgroup;
    script->arch = task->arch;
    script->trace = task->trace;
    script->asks_binaries = task->asks_binaries;
    pf_script_gather_stack(script);
    pf_script_put_sample(script);
}

static void start(struct pf_script *script, struct batch *batch, struct pf_text *out)
{
    script->symbols = batch->symbols;
    script->error = &batch->error;
    script->out = out;
}

/* What a formatter ran into. */
static void take_failure(struct batch *batch, const struct pf_script *script)
{
    if (script->out->failed)
        fail_memory(batch);
    else if (script->failed && batch->result >= 0)
        batch->result = script->failed;
}

/* The task waits when it cannot be printed yet. */
static bool try_task(struct pf_script *script, struct batch *batch, struct task *task)
{
    const size_t start = batch->text.used;
    script->waits = task->asks_binaries || task->plan->in_order;
    if (!script->waits)
        print_task(script, batch, task);
    if (script->waits)
        batch->text.used = start;
    return !script->waits;
}

static bool add_cut(const struct pf_script_team *team, struct batch *batch, size_t task)
{
    return PF_APPEND(team->allocator, batch->cuts, batch->cut_count, batch->cut_capacity,
                     (struct cut){.task = task, .text_end = batch->text.used});
}

static bool format(void *context, void *item, unsigned worker)
{
    struct pf_script_team *team = context;
    struct batch *batch = item;
    struct pf_script *script = &team->formatters[worker];
    size_t lines = 0;
    keep_texts(team);
    start(script, batch, &batch->text);
    for (size_t i = 0; i < batch->count && !script->failed && !batch->text.failed; i++) {
        struct task *task = &batch->tasks[i];
        pf_put(&batch->text, batch->lines.data + lines, task->lines_end - lines);
        lines = task->lines_end;
        if (!try_task(script, batch, task) && !add_cut(team, batch, i))
            fail_memory(batch);
    }
    pf_put(&batch->text, batch->lines.data + lines, batch->lines.used - lines);
    if (batch->lines.failed)
        fail_memory(batch);
    take_failure(batch, script);
    pthread_rwlock_unlock(&team->texts);
    return true;
}

static bool format_in_order(void *context, void *item, unsigned worker)
{
    struct pf_script_team *team = context;
    struct batch *batch = item;
    struct pf_script *script = &team->formatters[team->thread_count];
    (void)worker;
    if (!batch->cut_count) {
        note_size(team, batch);
        return true;
    }
    keep_texts(team);
    start(script, batch, &batch->late);
    for (size_t i = 0; i < batch->cut_count && !script->failed && !batch->late.failed; i++) {
        struct cut *cut = &batch->cuts[i];
        pf_script_team_lock(team);
        print_task(script, batch, &batch->tasks[cut->task]);
        pf_script_team_unlock(team);
        cut->late_end = batch->late.used;
    }
    note_size(team, batch);
    take_failure(batch, script);
    pthread_rwlock_unlock(&team->texts);
    return true;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void write_batch(struct pf_text *out, const struct batch *batch)
{
    size_t text = 0, late = 0;
    for (size_t i = 0; i < batch->cut_count && batch->cuts[i].late_end >= late; i++) {
        const struct cut *cut = &batch->cuts[i];
        pf_put_through(out, batch->text.data + text, cut->text_end - text);
        pf_put_through(out, batch->late.data + late, cut->late_end - late);
        text = cut->text_end;
        late = cut->late_end;
    }
    pf_put_through(out, batch->text.data + text, batch->text.used - text);
}

/* ---- the team ---------------------------------------------------------------------------------------------------- */

static bool open_batch(struct batch *batch, const struct pf_text *out)
{
    const struct perfile_allocator *allocator = out->allocator;
    const int failed = pf_text_open(&batch->lines, allocator, NULL, NULL) |
                       pf_text_open(&batch->text, allocator, NULL, NULL) |
                       pf_text_open(&batch->late, allocator, NULL, NULL);
    batch->lines.escapes = batch->text.escapes = batch->late.escapes = out->escapes;
    return !failed;
}

static bool open_formatter(struct pf_script *formatter, const struct pf_script *script)
{
    formatter->options = script->options;
    formatter->policy = script->policy;
    formatter->clock = script->clock;
    formatter->team = script->team;
    formatter->is_copy = true;
    return pf_script_open_formatting(formatter, script->out);
}

static bool open_team(struct pf_script_team *team)
{
    bool opened = true;
    team->formatters = pf_new(team->allocator, (team->thread_count + 1) * sizeof(*team->formatters));
    team->batches = pf_new(team->allocator, team->batch_count * sizeof(*team->batches));
    for (unsigned i = 0; team->formatters && i <= team->thread_count; i++)
        opened &= open_formatter(&team->formatters[i], team->script);
    for (unsigned i = 0; team->batches && i < team->batch_count; i++)
        opened &= open_batch(&team->batches[i], team->script->out);
    if (team->formatters)
        team->formatters[team->thread_count].in_order = true;
    return opened && team->formatters && team->batches;
}

static void close_batch(struct batch *batch, const struct perfile_allocator *allocator)
{
    pf_free(allocator, batch->tasks, batch->capacity * sizeof(*batch->tasks));
    pf_free(allocator, batch->bytes, batch->byte_capacity);
    pf_free(allocator, batch->cuts, batch->cut_capacity * sizeof(*batch->cuts));
    pf_text_close(&batch->lines);
    pf_text_close(&batch->text);
    pf_text_close(&batch->late);
}

void pf_script_team_close(struct pf_script *script)
{
    struct pf_script_team *team = script->team;
    if (!team)
        return;
    for (unsigned i = 0; team->formatters && i <= team->thread_count; i++)
        pf_script_close_formatting(&team->formatters[i], script->out);
    for (unsigned i = 0; team->batches && i < team->batch_count; i++)
        close_batch(&team->batches[i], team->allocator);
    pf_free(team->allocator, team->formatters, (team->thread_count + 1) * sizeof(*team->formatters));
    pf_free(team->allocator, team->batches, team->batch_count * sizeof(*team->batches));
    pthread_rwlock_destroy(&team->texts);
    pf_guard_close(&team->guard);
    pf_free(team->allocator, team, sizeof(*team));
}

/* Writes what comes; 0, 1 when the output failed, or an error. */
static int work(struct pf_stages *stages, struct pf_text *out, struct perfile_error *error)
{
    const struct batch *batch;
    while ((batch = pf_stages_next(stages)) != NULL) {
        write_batch(out, batch);
        if (batch->result < 0 && error)
            *error = batch->error;
        if (batch->result < 0 || out->failed)
            return batch->result;
    }
    return 0;
}

int pf_script_team_drive(struct pf_script *script)
{
    static const struct pf_stage stages[] = {
        {.work = read_batch}, {.work = format, .parallel = true}, {.work = format_in_order}};
    struct pf_text *out = script->out;
    struct perfile_error *error = script->error;
    struct pf_script_team *team = script->team = pf_new(out->allocator, sizeof(*team));
    if (!team)
        return pf_fail_memory(error, "script");
    team->script = script;
    team->allocator = out->allocator;
    team->thread_count = (unsigned)pf_min(script->options->threads, PF_THREADS_MAX);
    team->batch_count = pf_stages_items(team->thread_count);
    team->batch_bytes = BATCH_MIN;
    pf_guard_open(&team->guard);
    pthread_rwlock_init(&team->texts, NULL);
    if (!open_team(team))
        return pf_fail_memory(error, "script");
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = team->thread_count,
                                        .context = team,
                                        .items = team->batches,
                                        .item_bytes = sizeof(*team->batches),
                                        .item_count = team->batch_count};
    struct pf_stages *pool = pf_stages_open(&plan, out->allocator);
    int result = pool ? work(pool, out, error) : pf_fail_memory(error, "script");
    __atomic_store_n(&team->stopped, true, __ATOMIC_RELAXED);
    pf_stages_close(pool);
    script->out = out;
    script->error = error;
    return result;
}
