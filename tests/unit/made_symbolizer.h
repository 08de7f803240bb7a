/* SPDX-License-Identifier: MIT */
/* A symbolizer that looks nowhere but at the paths that it is given. */
#ifndef PF_TESTS_MADE_SYMBOLIZER_H
#define PF_TESTS_MADE_SYMBOLIZER_H

#include <perfile/symbolize.h>

#include "made_elf.h"

static inline int made_symbolizer_open(const struct perfile_allocator *allocator,
                                       struct perfile_symbolizer **symbolizer)
{
    struct perfile_symbol_options where = PERFILE_SYMBOL_OPTIONS_INIT;
    struct perfile_symbolizer_options options = PERFILE_SYMBOLIZER_OPTIONS_INIT;
    where.buildid_dir = made_directory;
    options.symbols = &where;
    options.allocator = allocator;
    return perfile_symbolizer_open(&options, symbolizer, NULL);
}

#endif
