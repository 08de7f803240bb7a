/* SPDX-License-Identifier: MIT */
#ifndef PF_OUTPUT_REPORT_CSV_H
#define PF_OUTPUT_REPORT_CSV_H

#include "base/text.h"

/* A field of RFC 4180: in quotes when it has to be. The text escapes, so that a field is never more than one line. */
void pf_csv_put(struct pf_text *out, const char *separator, const char *text, size_t bytes);

#endif
