/* SPDX-License-Identifier: MIT */
/* For tests of edits: a recording is made in memory, edited, and read again. */
#ifndef PF_TESTS_EDITED_H
#define PF_TESTS_EDITED_H

#include <sys/mman.h>
#include <unistd.h>

#include "counting.h"
#include "edit/edit.h"

struct edited {
    int fd;
    struct perfile_writer *writer; /* while it is made */
    struct perfile_reader *reader; /* of the edited one */
    struct perfile_edit_report report;
    struct perfile_error error;
};

static inline int edited_file(void)
{
    int fd = memfd_create("recording", MFD_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static inline struct edited edited_start(void)
{
    struct edited made = {.fd = edited_file(), .report = PERFILE_EDIT_REPORT_INIT};
    assert_int_equal(perfile_writer_open_fd(made.fd, NULL, &made.writer, NULL), 0);
    return made;
}

static inline void edited_event(struct edited *made, const struct perfile_attr *attr, uint64_t id, const char *name)
{
    struct perfile_event_spec spec = PERFILE_EVENT_SPEC_INIT;
    struct perfile_attr with_ids = *attr;
    with_ids.sample_id_all = 1;
    spec.attr = &with_ids;
    spec.attr_bytes = sizeof(with_ids);
    spec.ids = &id;
    spec.id_count = 1;
    spec.name = name;
    assert_int_equal(perfile_writer_add_event(made->writer, &spec, NULL, NULL), 0);
}

/* One of the public calls; `options` are its own. */
typedef int edited_call(struct perfile_reader *reader, struct perfile_writer *writer, const void *options,
                        struct perfile_edit_report *report, struct perfile_error *error);

/* Edits what was made, which is over then; `writer` is finished and closed. */
static inline int edited_into(struct edited *made, struct perfile_writer *writer, edited_call *call,
                              const void *options)
{
    struct perfile_reader *reader;
    assert_int_equal(perfile_writer_finish(made->writer, &made->error), 0);
    perfile_writer_close(made->writer);
    lseek(made->fd, 0, SEEK_SET);
    assert_int_equal(perfile_open_fd(made->fd, NULL, &reader, NULL), 0);
    int result = call(reader, writer, options, &made->report, &made->error);
    if (result == 0)
        result = perfile_writer_finish(writer, &made->error);
    perfile_writer_close(writer);
    perfile_close(reader);
    close(made->fd);
    made->fd = -1;
    return result;
}

/* The same into memory, where it is read from when it is complete. `how` may be NULL. */
static inline int edited_run(struct edited *made, const struct perfile_writer_options *how, edited_call *call,
                             const void *options)
{
    struct perfile_writer *writer;
    const int fd = edited_file();
    assert_int_equal(perfile_writer_open_fd(fd, how, &writer, NULL), 0);
    int result = edited_into(made, writer, call, options);
    made->fd = fd;
    lseek(fd, 0, SEEK_SET);
    if (result == 0)
        assert_int_equal(perfile_open_fd(fd, NULL, &made->reader, NULL), 0);
    return result;
}

static inline void edited_end(struct edited *made)
{
    perfile_close(made->reader);
    close(made->fd);
}

#endif
