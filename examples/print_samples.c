/* SPDX-License-Identifier: MIT */
/* print_samples FILE: prints a line for each sample of a recording, in the order of their times. */
#include <inttypes.h>
#include <perfile/perfile.h>
#include <stdio.h>

/* 0; 1 when samples were damaged; negative when the reading failed. */
static int print_samples(struct perfile_session *session, struct perfile_error *error)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const struct perfile_record *record;
    int code, damaged = 0;

    while ((code = perfile_session_next(session, &record, error)) > 0) {
        if (record->type != PERFILE_RECORD_SAMPLE)
            continue;
        if (perfile_sample_decode(record, &sample, error) < 0) {
            fprintf(stderr, "print_samples: %s\n", error->message);
            damaged = 1;
            continue;
        }
        printf("%" PRIu64 ".%09" PRIu64 " %s %" PRId32 "/%" PRId32 " %s 0x%" PRIx64 "\n", sample.time / 1000000000,
               sample.time % 1000000000, perfile_session_comm(session, sample.pid, sample.tid), sample.pid, sample.tid,
               record->event->name, sample.ip);
    }
    return code < 0 ? code : damaged;
}

int main(int argc, char **argv)
{
    struct perfile_reader *reader = NULL;
    struct perfile_session *session = NULL;
    struct perfile_error error;

    int code = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);
    if (code == 0)
        code = perfile_session_open(reader, &session, &error);
    if (code == 0)
        code = print_samples(session, &error);
    if (code < 0)
        fprintf(stderr, "print_samples: %s\n", error.message);
    perfile_session_close(session);
    perfile_close(reader);
    return code != 0 || fflush(stdout) != 0;
}
