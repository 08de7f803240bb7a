/* SPDX-License-Identifier: MIT */
/* Rows of comparisons, for the targets that make some. */
#ifndef PF_TESTS_FUZZ_DIFF_ROW_H
#define PF_TESTS_FUZZ_DIFF_ROW_H

#include "fuzz.h"

#include <perfile/diff.h>

static inline void fuzz_touch_row(const struct perfile_diff_row *row)
{
    fuzz_touch_text(row->function);
    fuzz_touch_text(row->module);
    fuzz_touch_text(row->line);
    fuzz_touch_text(row->thread);
    fuzz_touch_text(row->path);
    fuzz_touch_text(row->other);
}

#endif
