/* SPDX-License-Identifier: MIT */
/*
 * What salvage.py asks the command, without starting it anew for each question: salvages <QUESTIONS >ANSWERS
 *
 * A question is a line: "script", a tab and a recording; or how to copy it ("repair", "convert file", "convert
 * directory", "merge"), a tab, the recording, a tab and where to. An answer is a line with a status as the command's
 * (0, 1 when the recording is damaged, 3 when that failed) and the sizes of what follows: what the command would write
 * to stderr and to stdout.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfile/analysis.h>
#include <perfile/edit.h>

enum { VALID = 0, DAMAGED = 1, FAILED = 3, TIMEOUT_SECONDS = 60 };

struct text {
    FILE *stream;
    char *data;
    size_t bytes;
};

static struct text stated, printed;

static void begin(struct text *text)
{
    text->stream = open_memstream(&text->data, &text->bytes);
    if (!text->stream)
        abort();
}

static int print(void *context, const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, context) != bytes;
}

static void say(void *context, const struct perfile_diagnostic *diagnostic)
{
    if (diagnostic->severity != PERFILE_NOTE)
        fprintf(context, "%s [%s]\n", diagnostic->message, diagnostic->rule);
}

static int fail(const char *what, const struct perfile_error *error)
{
    fprintf(stated.stream, "%s: %d: %s\n", what, error->code, error->message);
    return FAILED;
}

/* By the counts of the reader, as the command does. */
static int status_of(const struct perfile_reader *reader)
{
    const struct perfile_counts *counts = perfile_reader_counts(reader);
    if (!counts->losses && !counts->bytes_lost && !counts->damaged)
        return VALID;
    fprintf(stated.stream, "damaged: %" PRIu64 " losses, %" PRIu64 " bytes lost, %" PRIu64 " records not decoded\n",
            counts->losses, counts->bytes_lost, counts->damaged);
    return DAMAGED;
}

/* ---- questions ---- */

static int script(struct perfile_reader *reader)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    const struct perfile_sink sink = {printed.stream, print};
    struct perfile_error error = {0};
    options.fields = "tid,time";
    options.nanoseconds = true;
    options.threads = 2;
    const int result = perfile_output_write(reader, "script", NULL, &options, &sink, &error);
    return result < 0 ? fail("script", &error) : status_of(reader);
}

static int repair(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_error *error)
{
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    return perfile_repair(reader, writer, NULL, &report, error);
}

static int convert(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_error *error)
{
    struct perfile_edit_report report = PERFILE_EDIT_REPORT_INIT;
    return perfile_convert(reader, writer, NULL, &report, error);
}

static int merge(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_error *error)
{
    struct perfile_merge_options options = PERFILE_MERGE_OPTIONS_INIT;
    struct perfile_merge_report report = PERFILE_MERGE_REPORT_INIT;
    options.readers = &reader;
    options.reader_count = 1;
    return perfile_merge(writer, &options, &report, error);
}

static const struct copy {
    const char *name;
    int mode;
    int (*edit)(struct perfile_reader *reader, struct perfile_writer *writer, struct perfile_error *error);
} copies[] = {
    {"repair", PERFILE_MODE_FILE, repair},
    {"convert file", PERFILE_MODE_FILE, convert},
    {"convert directory", PERFILE_MODE_DIRECTORY, convert},
    {"merge", PERFILE_MODE_FILE, merge},
};

static int copy(const struct copy *how, struct perfile_reader *reader, const char *target)
{
    struct perfile_writer_options options = PERFILE_WRITER_OPTIONS_INIT;
    struct perfile_writer *writer = NULL;
    struct perfile_error error = {0};
    options.mode = how->mode;
    options.no_sync = true;
    options.diagnostic = say;
    options.diagnostic_context = stated.stream;
    int result = perfile_writer_open_path(target, &options, &writer, &error);
    if (result == 0)
        result = how->edit(reader, writer, &error);
    if (result == 0)
        result = perfile_writer_finish(writer, &error);
    perfile_writer_close(writer);
    return result < 0 ? fail(how->name, &error) : status_of(reader);
}

static int answer(const char *verb, const char *path, const char *target)
{
    struct perfile_open_options options = PERFILE_OPEN_OPTIONS_INIT;
    struct perfile_reader *reader = NULL;
    struct perfile_error error = {0};
    int status = FAILED;
    options.diagnostic = say;
    options.diagnostic_context = stated.stream;
    if (perfile_open_path(path, &options, &reader, &error) < 0)
        return fail("open", &error);
    if (strcmp(verb, "script") == 0)
        status = script(reader);
    for (size_t i = 0; target && i < sizeof(copies) / sizeof(*copies); i++)
        if (strcmp(verb, copies[i].name) == 0)
            status = copy(&copies[i], reader, target);
    perfile_close(reader);
    return status;
}

int main(void)
{
    char *line = NULL, *rest;
    size_t capacity = 0;
    while (getline(&line, &capacity, stdin) > 0) {
        const char *verb = strtok_r(line, "\t\n", &rest);
        const char *path = strtok_r(NULL, "\t\n", &rest);
        begin(&stated);
        begin(&printed);
        alarm(TIMEOUT_SECONDS);
        const int status = verb && path ? answer(verb, path, strtok_r(NULL, "\t\n", &rest)) : FAILED;
        alarm(0);
        if (fclose(stated.stream) || fclose(printed.stream))
            abort();
        printf("%d %zu %zu\n", status, stated.bytes, printed.bytes);
        fwrite(stated.data, 1, stated.bytes, stdout);
        fwrite(printed.data, 1, printed.bytes, stdout);
        free(stated.data);
        free(printed.data);
        if (fflush(stdout) != 0)
            return EXIT_FAILURE;
    }
    free(line);
    return 0;
}
