/* SPDX-License-Identifier: MIT */
/* For tests of script's text: what is printed of a recording that was made by hand. Link with the output layer. */
#ifndef PF_TESTS_SCRIPT_TEXT_H
#define PF_TESTS_SCRIPT_TEXT_H

#include "recording.h"

#include <stdlib.h>

#include "output/output.h"

/*
 * Prints the recording to a text with a NUL at its end; call pf_text_close also after an error. The recording is
 * closed.
 */
static inline int script_text(struct recording *r, const struct perfile_output_options *options, struct pf_text *out,
                              struct perfile_error *error)
{
    const struct perfile_filter filter = PERFILE_FILTER_INIT;
    const struct perfile_symbol_options symbols = PERFILE_SYMBOL_OPTIONS_INIT;
    const struct perfile_script_options script = PERFILE_SCRIPT_OPTIONS_INIT;
    const struct perfile_report_options report = PERFILE_REPORT_OPTIONS_INIT;
    struct perfile_output_options all = *options; /* as perfile_output_write hands them on */
    uint8_t *block;
    all.filter = all.filter ? all.filter : &filter;
    all.symbols = all.symbols ? all.symbols : &symbols;
    all.script = all.script ? all.script : &script;
    all.report = all.report ? all.report : &report;
    recording_finish(r);
    struct perfile_reader *reader = recording_read(r, &block);
    assert_int_equal(pf_text_open(out, pf_allocator_or_default(NULL), NULL, NULL), 0);
    int result = pf_script_text(reader, &all, out, error);
    pf_put_char(out, '\0');
    perfile_close(reader);
    free(block);
    return result;
}

/* Fields and where symbols are; all else as by default. */
static inline struct perfile_output_options script_text_options(const char *fields,
                                                                const struct perfile_symbol_options *symbols)
{
    struct perfile_output_options options = PERFILE_OUTPUT_OPTIONS_INIT;
    options.fields = fields;
    options.symbols = symbols;
    return options;
}

/* The same for every number of threads. The recording is closed. */
static inline void script_text_expect(struct recording *r, const struct perfile_output_options *options,
                                      const char *expected)
{
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct perfile_output_options with = *options;
        struct perfile_error error;
        struct pf_text out;
        with.threads = threads;
        if (script_text(r, &with, &out, &error) < 0)
            fail_msg("%s", error.message);
        assert_string_equal(out.data, expected);
        pf_text_close(&out);
    }
    recording_close(r);
}

#endif
