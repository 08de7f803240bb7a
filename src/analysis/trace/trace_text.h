/* SPDX-License-Identifier: MIT */
/*
 * The text of tracepoints: as the print format in the recording says; where that is not understood, or the data does
 * not fit it, the fields as NAME=VALUE.
 */
#ifndef PF_ANALYSIS_TRACE_TRACE_TEXT_H
#define PF_ANALYSIS_TRACE_TRACE_TEXT_H

#include <perfile/perfile.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/text.h"

struct pf_trace_format;

struct pf_trace_texts {
    struct perfile_reader *reader;
    struct pf_arena arena; /* of the formats */
    struct pf_map formats; /* id of a tracepoint -> struct pf_trace_format, a pointer; 0: not understood */
    struct pf_text scratch;
    struct perfile_error error; /* why a find or a put was false: MEMORY, or LIMIT */
};

/* False when out of memory. Close it also then; what is all zeros may be closed, too. */
bool pf_trace_texts_open(struct pf_trace_texts *texts, struct perfile_reader *reader,
                         const struct perfile_allocator *allocator);
void pf_trace_texts_close(struct pf_trace_texts *texts);

/* How the samples of an event are printed. It lives as long as the texts, and then nothing of it changes. */
struct pf_trace_text {
    const struct perfile_tracepoint *tracepoint; /* NULL: not a tracepoint, or its format is not known (yet) */
    const struct pf_trace_format *format;        /* NULL: not understood */
    bool swap;
};
/* False when out of memory, or when the formats are larger than a feature may be: see `error` of the texts. */
bool pf_trace_texts_find(struct pf_trace_texts *texts, const struct perfile_event *event, struct pf_trace_text *text);
/* `scratch` is a text without a sink. */
void pf_trace_text_put(const struct pf_trace_text *text, const struct perfile_bytes *raw, struct pf_text *scratch,
                       struct pf_text *out);
/* Both at once. Nothing for events that are no tracepoints. False as above. */
bool pf_trace_texts_put(struct pf_trace_texts *texts, const struct perfile_event *event,
                        const struct perfile_bytes *raw, struct pf_text *out);
/* The value of a field, lists with commas. `bytes` as of pf_trace_bytes. */
void pf_trace_put_value(const struct perfile_tracepoint_field *field, const struct perfile_bytes *bytes, bool swap,
                        struct pf_text *out);

#endif
