/* SPDX-License-Identifier: MIT */
/* Outputs from the inside: each is one `const struct pf_output`, named in outputs.def. */
#ifndef PF_OUTPUT_OUTPUT_H
#define PF_OUTPUT_OUTPUT_H

#include <perfile/analysis.h>

#include "base/text.h"

struct pf_output {
    struct perfile_output_info info;
    /*
     * Writes all of it to `out`; the caller flushes. 0, 1 for a finding, or an error. The options have all members that
     * this build knows, and point at others that have, never at nothing.
     */
    int (*write)(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                 struct perfile_error *error);
    /* The same of an output that is a table in one of several formats; NULL: `write`. */
    int (*write_table)(const struct pf_output *output, struct perfile_reader *reader,
                       const struct perfile_output_options *options, struct pf_text *out, struct perfile_error *error);
    const char *view;       /* what the rows of a table are */
    bool takes_a_profile;   /* perfile_export_options.profile, instead of a reader */
    bool merges;            /* takes further recordings, perfile_output_options.more */
    bool reports_omissions; /* the caller is notified of what the recording holds and the output does not show */
};

/* Reports to the caller how far the reading is, now and then. */
void pf_output_progress(struct perfile_reader *reader, const struct perfile_output_options *options);

#define PF_RED "\033[31m"
#define PF_GREEN "\033[32m"
#define PF_YELLOW "\033[33m"
#define PF_PLAIN "\033[m"
/* `text` between the colour and its end, when colours are wanted. */
void pf_output_put_color(struct pf_text *out, const struct perfile_output_options *options, const char *color,
                         const char *text);

/* script.c */
int pf_script_text(struct perfile_reader *reader, const struct perfile_output_options *options, struct pf_text *out,
                   struct perfile_error *error);

#endif
