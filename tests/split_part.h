/* SPDX-License-Identifier: MIT */
/* For tests of split: how a part ends whose writer was opened by the test. */
#ifndef PF_TESTS_SPLIT_PART_H
#define PF_TESTS_SPLIT_PART_H

#include <perfile/edit.h>

static inline int close_part(void *context, const struct perfile_split_part *part, struct perfile_writer *writer,
                             bool complete, struct perfile_error *error)
{
    (void)context, (void)part;
    int result = complete ? perfile_writer_finish(writer, error) : 0;
    perfile_writer_close(writer);
    return result;
}

#endif
