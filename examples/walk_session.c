/* SPDX-License-Identifier: MIT */
/*
 * walk_session FILE: a line for each sample with its complete stack, leaf first, while the records of a session are
 * read by the program itself: for those that look at other records, too.
 */
#include <perfile/profile.h>
#include <stdio.h>

enum { MAX_FRAMES = 4096 };

static int print_stack(struct perfile_resolver *resolver, const struct perfile_record *record,
                       const struct perfile_sample *sample, struct perfile_error *error)
{
    static uint32_t frames[MAX_FRAMES];
    const int count = perfile_resolver_stack(resolver, record, sample, frames, MAX_FRAMES, error);

    for (int i = 0; i < count && i < MAX_FRAMES; i++)
        printf("%s%s", i ? ";" : "", perfile_resolver_label(resolver, frames[i]));
    puts("");
    return count;
}

static int walk(struct perfile_session *session, struct perfile_resolver *resolver, struct perfile_error *error)
{
    struct perfile_sample sample = PERFILE_SAMPLE_INIT;
    const struct perfile_record *record;
    int code = 0;

    while (code >= 0 && (code = perfile_session_next(session, &record, error)) > 0) {
        if (record->type == PERFILE_RECORD_SAMPLE && perfile_sample_decode(record, &sample, error) == 0)
            code = print_stack(resolver, record, &sample, error);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct perfile_reader *reader = NULL;
    struct perfile_session *session = NULL;
    struct perfile_resolver *resolver = NULL;
    struct perfile_error error;

    int code = perfile_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &reader, &error);
    if (code == 0)
        code = perfile_session_open(reader, &session, &error);
    if (code == 0)
        code = perfile_resolver_open(reader, session, NULL, &resolver, &error);
    if (code == 0)
        code = walk(session, resolver, &error);
    if (code < 0)
        fprintf(stderr, "walk_session: %s\n", error.message);
    perfile_resolver_close(resolver);
    perfile_session_close(session);
    perfile_close(reader);
    return code < 0 || fflush(stdout) != 0;
}
