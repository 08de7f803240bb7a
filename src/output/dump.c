/* SPDX-License-Identifier: MIT */
/*
 * The records of a dump. With several threads one reads and copies records to batches, any thread prints a batch, and
 * the caller writes them in order. Records of the recorder itself need the reader when they are printed (for features
 * and for payloads that follow the record), so the reading thread prints them.
 *
 * A batch ends with 128 KiB. With its text, which is some three times as much, it needs about 1 MB (more where a record
 * that the recorder wrote is larger), and there are twice as many of them as threads, and one more.
 */
#include "output/dump.h"

#include "analysis/trace/trace_visit.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/stages.h"

enum { PROGRESS_RECORDS = 4096, BATCH_BYTES = 128 * 1024 };

struct copy {
    struct perfile_record record;
    const struct perfile_tracepoint *tracepoint;
    size_t at;        /* of its bytes */
    size_t lines_end; /* of what was printed while reading, before this record */
};

struct batch {
    struct copy *copies;
    size_t count, capacity;
    struct pf_text bytes; /* of records */
    struct pf_text lines; /* what was printed while reading */
    struct pf_text text;  /* all */
    int result;           /* of reading the next record: 1 for more, 0 for the end, or an error */
    struct perfile_error error;
};

struct dump {
    struct perfile_reader *reader;
    const struct perfile_output_options *options;
    pf_dump_put *put;
    const struct perfile_allocator *allocator;
    struct pf_trace_events events;
    struct pf_dump_traces traces;
    struct batch *batches;
    unsigned batch_count;
    uint64_t count; /* records */
    bool stopped;   /* nothing is wanted any more; atomic */
};

uint16_t pf_dump_misc(const struct perfile_reader *reader, const struct perfile_record *record)
{
    enum { MISC_AT = 4 };
    return record->type == PERFILE_RECORD_MMAP2
               ? pf_load16(record->data + MISC_AT, perfile_reader_file(reader)->swapped)
               : record->misc;
}

int pf_dump_visit(struct perfile_reader *reader, const struct pf_dumped *dumped, const struct perfile_visitor *visitor,
                  struct perfile_error *error)
{
    const int result = perfile_record_visit(reader, dumped->record, visitor, error);
    if (PF_LIKELY(!dumped->tracepoint) || result < 0)
        return result;
    return pf_trace_visit(dumped->tracepoint, dumped->record, perfile_reader_file(reader)->swapped, visitor);
}

/* ---- one thread -------------------------------------------------------------------------------------------------- */

static int next_record(struct dump *dump, struct pf_dumped *next, struct perfile_error *error)
{
    if (dump->count++ % PROGRESS_RECORDS == 1)
        pf_output_progress(dump->reader, dump->options);
    const int result = perfile_reader_next(dump->reader, &next->record, error);
    /* Descriptions that are too large are reported with their feature; here their data is put as it is. */
    if (result > 0 &&
        pf_trace_events_take(&dump->events, next->record, &next->tracepoint, NULL) == PERFILE_ERROR_MEMORY)
        return pf_fail_memory(error, "dump");
    next->traces = dump->options->dump->aux || dump->options->dump->perf_heads ? &dump->traces : NULL;
    if (result > 0 && next->traces && !pf_dump_traces_take(next->traces, next->record))
        return pf_fail_memory(error, "dump");
    return result;
}

static int dump_alone(struct dump *dump, struct pf_text *out, struct perfile_error *error)
{
    struct pf_dumped next;
    int result;
    while ((result = next_record(dump, &next, error)) > 0)
        if ((result = dump->put(dump->reader, dump->options, out, &next, error)) < 0)
            break;
    return result;
}

/* ---- several ----------------------------------------------------------------------------------------------------- */

static int fail_memory(struct batch *batch)
{
    return pf_fail_memory(&batch->error, "dump");
}

static int copy_record(const struct dump *dump, struct batch *batch, const struct pf_dumped *next)
{
    static const char zeros[8];
    const struct perfile_record *record = next->record;
    if (!PF_APPEND(dump->allocator, batch->copies, batch->count, batch->capacity,
                   (struct copy){*record, next->tracepoint, .at = batch->bytes.used, .lines_end = batch->lines.used}))
        return fail_memory(batch);
    pf_put(&batch->bytes, record->data, record->bytes);
    pf_put(&batch->bytes, zeros, (8 - record->bytes % 8) % 8);
    return batch->bytes.failed ? fail_memory(batch) : 1;
}

static int take_record(const struct dump *dump, struct batch *batch, const struct pf_dumped *next)
{
    if (next->record->type < PERFILE_RECORD_HEADER_ATTR)
        return copy_record(dump, batch, next);
    const int result = dump->put(dump->reader, dump->options, &batch->lines, next, &batch->error);
    if (batch->lines.failed)
        return fail_memory(batch);
    return result < 0 ? result : 1;
}

static bool read_batch(void *context, void *item, unsigned worker)
{
    struct dump *dump = context;
    struct batch *batch = item;
    struct pf_dumped next;
    (void)worker;
    batch->count = batch->bytes.used = batch->lines.used = batch->text.used = 0;
    do {
        batch->result = next_record(dump, &next, &batch->error);
        if (batch->result > 0)
            batch->result = take_record(dump, batch, &next);
    } while (batch->result > 0 && batch->bytes.used + batch->lines.used < BATCH_BYTES &&
             !__atomic_load_n(&dump->stopped, __ATOMIC_RELAXED));
    return batch->result > 0;
}

static bool print_batch(void *context, void *item, unsigned worker)
{
    const struct dump *dump = context;
    struct batch *batch = item;
    struct pf_text *text = &batch->text;
    size_t lines = 0;
    int result = 0;
    (void)worker;
    for (size_t i = 0; i < batch->count && result >= 0; i++) {
        struct copy *copy = &batch->copies[i];
        pf_put(text, batch->lines.data + lines, copy->lines_end - lines);
        lines = copy->lines_end;
        copy->record.data = (const uint8_t *)batch->bytes.data + copy->at;
        const struct pf_dumped dumped = {&copy->record, copy->tracepoint, NULL};
        result = dump->put(dump->reader, dump->options, text, &dumped, NULL);
    }
    pf_put(text, batch->lines.data + lines, batch->lines.used - lines);
    if (text->failed || result < 0)
        batch->result = fail_memory(batch);
    return true;
}

static int write_batches(struct pf_stages *stages, struct pf_text *out, struct perfile_error *error)
{
    const struct batch *batch;
    while ((batch = pf_stages_next(stages)) != NULL) {
        pf_put_through(out, batch->text.data, batch->text.used);
        if (batch->result < 0 && error)
            *error = batch->error;
        if (batch->result < 0 || out->failed)
            return batch->result < 0 ? batch->result : PERFILE_ERROR_STOPPED;
    }
    return 0;
}

static bool open_batches(struct dump *dump, bool escapes)
{
    int failed = 0;
    dump->batches = pf_new(dump->allocator, dump->batch_count * sizeof(*dump->batches));
    for (unsigned i = 0; dump->batches && i < dump->batch_count; i++) {
        failed |= pf_text_open(&dump->batches[i].bytes, dump->allocator, NULL, NULL) |
                  pf_text_open(&dump->batches[i].lines, dump->allocator, NULL, NULL) |
                  pf_text_open(&dump->batches[i].text, dump->allocator, NULL, NULL);
        dump->batches[i].lines.escapes = dump->batches[i].text.escapes = escapes;
    }
    return dump->batches && !failed;
}

static void close_batches(struct dump *dump)
{
    for (unsigned i = 0; dump->batches && i < dump->batch_count; i++) {
        struct batch *batch = &dump->batches[i];
        pf_free(dump->allocator, batch->copies, batch->capacity * sizeof(*batch->copies));
        pf_text_close(&batch->bytes);
        pf_text_close(&batch->lines);
        pf_text_close(&batch->text);
    }
    pf_free(dump->allocator, dump->batches, dump->batch_count * sizeof(*dump->batches));
}

static int dump_together(struct dump *dump, struct pf_text *out, struct perfile_error *error)
{
    static const struct pf_stage stages[] = {{.work = read_batch}, {.work = print_batch, .parallel = true}};
    dump->batch_count = pf_stages_items(dump->options->threads);
    const bool opened = open_batches(dump, out->escapes);
    const struct pf_stages_plan plan = {.stages = stages,
                                        .stage_count = PF_COUNT(stages),
                                        .threads = dump->options->threads,
                                        .context = dump,
                                        .items = dump->batches,
                                        .item_bytes = sizeof(*dump->batches),
                                        .item_count = dump->batch_count};
    struct pf_stages *pool = opened ? pf_stages_open(&plan, dump->allocator) : NULL;
    const int result = pool ? write_batches(pool, out, error) : pf_fail_memory(error, "dump");
    __atomic_store_n(&dump->stopped, true, __ATOMIC_RELAXED);
    pf_stages_close(pool);
    close_batches(dump);
    return result;
}

int pf_dump_records(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                    pf_dump_put *put, struct perfile_error *error)
{
    struct dump dump = {.reader = reader, .options = options, .put = put, .allocator = out->allocator};
    pf_trace_events_open(&dump.events, reader, out->allocator);
    pf_dump_traces_open(&dump.traces, reader, out->allocator);
    const int result = options->threads > 1 ? dump_together(&dump, out, error) : dump_alone(&dump, out, error);
    pf_dump_traces_close(&dump.traces);
    pf_trace_events_close(&dump.events);
    return result == PERFILE_ERROR_STOPPED ? PERFILE_ERROR_WRITE : result;
}
