/* SPDX-License-Identifier: MIT */
/*
 * Records a command twice at once: unwound while recording, and with its stacks, which are then unwound as convert
 * --unwind does. Prints how many samples there are, and how many of them differ.
 *
 *     both UNWOUND DUMPED CONVERTED COMMAND [ARGUMENT...]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <perfile/analysis.h>
#include <perfile/edit.h>
#include <perfile/recorder.h>

static struct perfile_error error;

static void check(int result, const char *what)
{
    if (result >= 0)
        return;
    printf("%s: %s\n", what, error.message);
    exit(2);
}

/* ---- a stage that passes records on to another, and writes them to a file ---- */

struct tee {
    const struct perfile_recorder_stage *stage;
    struct perfile_writer *input, *own;
    FILE *file;
    uint8_t *stream; /* what is not passed on yet */
    size_t used, capacity;
    bool has_header;
};

static size_t pass_one(struct tee *tee, const uint8_t *data, size_t bytes)
{
    enum { HEADER = 16 };
    uint16_t size = HEADER;
    if (tee->has_header && bytes >= 8)
        memcpy(&size, data + 6, sizeof(size));
    if (bytes < size)
        return 0;
    if (tee->has_header && perfile_writer_raw(tee->input, data, size, &error) < 0)
        check(-1, "raw");
    tee->has_header = true;
    return size;
}

static int take(void *context, const void *data, size_t bytes)
{
    struct tee *tee = context;
    size_t done = 0, size;
    fwrite(data, 1, bytes, tee->file);
    if (tee->capacity < tee->used + bytes)
        tee->stream = realloc(tee->stream, tee->capacity = 2 * (tee->used + bytes));
    memcpy(tee->stream + tee->used, data, bytes);
    tee->used += bytes;
    while (tee->used > done && (size = pass_one(tee, tee->stream + done, tee->used - done)))
        done += size;
    memmove(tee->stream, tee->stream + done, tee->used -= done);
    return perfile_writer_flush(tee->input, &error);
}

static int open_tee(void *context, struct perfile_writer *writer, struct perfile_writer **input,
                    struct perfile_error *why)
{
    struct tee *tee = context;
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    const struct perfile_sink sink = {tee, take};
    options.mode = PERFILE_MODE_PIPE;
    check(tee->stage->open(tee->stage->context, writer, &tee->input, &error), "stage");
    const int result = perfile_writer_open_sink(&sink, &options, &tee->own, why);
    *input = tee->own;
    return result;
}

static int settle_tee(void *context, struct perfile_writer *input, struct perfile_error *why)
{
    const struct tee *tee = context;
    (void)input;
    return tee->stage->settle(tee->stage->context, tee->input, why);
}

static uint64_t written_of_tee(void *context, struct perfile_writer *input)
{
    const struct tee *tee = context;
    (void)input;
    return tee->stage->written(tee->stage->context, tee->input);
}

static int close_tee(void *context, struct perfile_writer *input, struct perfile_error *why)
{
    struct tee *tee = context;
    check(perfile_writer_finish(input, &error), "copy");
    perfile_writer_close(input);
    fclose(tee->file);
    free(tee->stream);
    return tee->stage->close(tee->stage->context, tee->input, why);
}

/* ---- the recording ---- */

/* The command, which waits for the end of the pipe. */
static pid_t start(char **command, int *go)
{
    int ends[2];
    char byte;
    check(pipe(ends), "pipe");
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[1]);
        if (read(ends[0], &byte, 1) == 0)
            execvp(command[0], command);
        _exit(127);
    }
    close(ends[0]);
    *go = ends[1];
    return pid;
}

static int record(const char *unwound, const char *dumped, char **command)
{
    struct perfile_unwind_stage *unwinding;
    struct perfile_recorder_options options = PERFILE_RECORDER_OPTIONS_INIT;
    struct perfile_recorder *recorder;
    struct perfile_writer *writer;
    char tids[16];
    int go, status;
    check(perfile_unwind_stage_open(NULL, &unwinding, &error), "stage");
    struct tee tee = {.stage = perfile_unwind_stage_get(unwinding), .file = fopen(dumped, "w")};
    const struct perfile_recorder_stage stage = {.size = sizeof(stage),
                                                 .context = &tee,
                                                 .open = open_tee,
                                                 .settle = settle_tee,
                                                 .written = written_of_tee,
                                                 .close = close_tee};
    const pid_t pid = start(command, &go);
    snprintf(tids, sizeof(tids), "%d", (int)pid);
    options.tids = tids;
    options.events = "cpu-clock";
    options.frequency = 1000;
    options.call_graph = "auto";
    options.stage = &stage;
    options.flags = PERFILE_RECORDER_ENABLE_ON_EXEC;
    check(perfile_writer_open_path(unwound, NULL, &writer, &error), "output");
    const int result = perfile_recorder_open(&options, writer, &recorder, &error);
    if (result == PERFILE_ERROR_OPEN || result == PERFILE_ERROR_UNSUPPORTED)
        return 77;
    check(result, "recorder");
    close(go);
    while (waitpid(pid, &status, WNOHANG) == 0)
        check(perfile_recorder_drain(recorder, 50, &error), "drain");
    check(perfile_recorder_stop(recorder, &error), "stop");
    check(perfile_writer_finish(writer, &error), "finish");
    perfile_recorder_close(recorder);
    perfile_writer_close(writer);
    perfile_unwind_stage_close(unwinding);
    return 0;
}

/* ---- the comparison ---- */

static void convert(const char *from, const char *to)
{
    struct perfile_convert_options how = PERFILE_CONVERT_OPTIONS_INIT;
    struct perfile_unwinder *unwinder;
    struct perfile_reader *reader;
    struct perfile_writer *writer;
    check(perfile_open_path(from, NULL, &reader, &error), from);
    check(perfile_writer_open_path(to, NULL, &writer, &error), to);
    check(perfile_unwinder_open(reader, NULL, &unwinder, &error), "unwinder");
    how.unwind = perfile_unwind;
    how.unwind_context = unwinder;
    check(perfile_convert(reader, writer, &how, NULL, &error), "convert");
    check(perfile_writer_finish(writer, &error), to);
    perfile_unwinder_close(unwinder);
    perfile_writer_close(writer);
    perfile_close(reader);
}

static bool next_sample(struct perfile_reader *reader, struct perfile_sample *sample)
{
    const struct perfile_record *record;
    while (perfile_reader_next(reader, &record, &error) > 0)
        if (record->type == PERFILE_RECORD_SAMPLE)
            return perfile_sample_decode(record, sample, &error) == 0;
    return false;
}

static bool same(const struct perfile_sample *a, const struct perfile_sample *b)
{
    return a->time == b->time && a->tid == b->tid && a->callchain.count == b->callchain.count &&
           memcmp(a->callchain.data, b->callchain.data, 8 * (size_t)a->callchain.count) == 0;
}

static int compare(const char *unwound, const char *converted)
{
    struct perfile_sample a = PERFILE_SAMPLE_INIT, b = PERFILE_SAMPLE_INIT;
    struct perfile_reader *first, *second;
    uint64_t samples = 0, differ = 0;
    check(perfile_open_path(unwound, NULL, &first, &error), unwound);
    check(perfile_open_path(converted, NULL, &second, &error), converted);
    for (;;) {
        const bool more = next_sample(first, &a), as_well = next_sample(second, &b);
        if (!more && !as_well)
            break;
        samples++;
        if (more == as_well && same(&a, &b))
            continue;
        differ++;
        printf("differs: sample %" PRIu64 " at %" PRIu64 "\n", samples, a.time);
        if (more != as_well)
            break;
    }
    printf("%" PRIu64 " samples, %" PRIu64 " differ\n", samples, differ);
    perfile_close(first);
    perfile_close(second);
    return differ || !samples;
}

int main(int count, char **arguments)
{
    if (count < 5)
        return 2;
    const int status = record(arguments[1], arguments[2], arguments + 4);
    if (status)
        return status;
    convert(arguments[2], arguments[3]);
    return compare(arguments[1], arguments[3]);
}
