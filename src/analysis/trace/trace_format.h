/* SPDX-License-Identifier: MIT */
/*
 * The print format of a tracepoint: the kernel's printf call as the recording has it,
 *
 *     "comm=%s pid=%d", REC->comm, REC->pid
 *
 * compiled to a small tree. The text comes from the file, so depth and size are limited, and every value is looked up
 * within the sample's data. (libtraceevent can do the same, but it recurses as deep as the text goes, does not check
 * all of the text, and keeps its parser's state in global variables.)
 */
#ifndef PF_ANALYSIS_TRACE_TRACE_FORMAT_H
#define PF_ANALYSIS_TRACE_TRACE_FORMAT_H

#include <perfile/perfile.h>

#include "base/memory.h"
#include "base/text.h"

enum pf_trace_kind {
    PF_TRACE_NUMBER,
    PF_TRACE_STRING,
    PF_TRACE_FIELD,
    PF_TRACE_UNARY,
    PF_TRACE_BINARY,
    PF_TRACE_CHOICE, /* a ? b : c */
    PF_TRACE_CAST,
    PF_TRACE_ELEMENT, /* a[b] */
    PF_TRACE_SYMBOL,  /* __print_symbolic: a, entries */
    PF_TRACE_FLAGS,   /* __print_flags: a, text between them, entries */
    PF_TRACE_HEX,     /* __print_hex: a, length b, text between the bytes */
    PF_TRACE_ARRAY,   /* __print_array: a, count b, bytes of an element c */
    PF_TRACE_DYNAMIC, /* __get_dynamic_array and __get_str: field */
    PF_TRACE_LENGTH,  /* __get_dynamic_array_len: field */
    PF_TRACE_MASK,    /* __get_bitmask: field */
    PF_TRACE_CPUS,    /* __get_cpumask: field */
};

struct pf_trace_entry {
    struct pf_trace_entry *next;
    uint64_t value;
    const char *text;
};

struct pf_trace_node {
    uint8_t kind;     /* enum pf_trace_kind */
    uint8_t bytes;    /* CAST: of the type */
    bool is_signed;   /* CAST */
    bool is_unknown;  /* NUMBER: a name that only the kernel knows */
    char operator[3]; /* UNARY, BINARY */
    uint64_t number;
    const char *text;
    const struct perfile_tracepoint_field *field;
    struct pf_trace_node *a, *b, *c;
    struct pf_trace_entry *entries;
};

/* A piece of the format: text, or a conversion with its argument. */
struct pf_trace_piece {
    struct pf_trace_piece *next;
    const char *text; /* before the conversion */
    size_t text_bytes;
    char conversion;                                   /* 0: none, the last piece */
    char flags[6];                                     /* of "-+ #0" */
    int8_t size;                                       /* -2 hh, -1 h, 0, 1 l, 2 ll */
    char pointer[3];                                   /* what follows a p */
    int width, precision;                              /* -1: none */
    struct pf_trace_node *width_node, *precision_node; /* '*' */
    struct pf_trace_node *value;
};

struct pf_trace_format {
    const struct perfile_tracing *tracing;
    struct pf_trace_piece *pieces;
};

/* NULL: the format is not understood, or out of memory. Lives in the arena. */
struct pf_trace_format *pf_trace_parse(struct pf_arena *arena, const struct perfile_tracing *tracing,
                                       const struct perfile_tracepoint *tracepoint);
/* The value of an expression without fields. */
bool pf_trace_constant(const struct pf_trace_node *node, uint64_t *value);
/* `scratch` is a text without a sink, for pieces that are put together before they are aligned. */
void pf_trace_print(const struct pf_trace_format *format, const struct perfile_bytes *raw, bool swap,
                    struct pf_text *scratch, struct pf_text *out);
/* The bytes of a field, of a dynamic one those it points to; false when they are not all there. */
bool pf_trace_bytes(const struct perfile_tracepoint_field *field, const struct perfile_bytes *raw, bool swap,
                    struct perfile_bytes *bytes);
/* The field with that name; NULL when the tracepoint does not have it. */
const struct perfile_tracepoint_field *pf_trace_field(const struct perfile_tracepoint *tracepoint, const char *name);
/* An integer of 1, 2, 4 or 8 bytes; others are 0. */
uint64_t pf_trace_load(const uint8_t *data, uint64_t bytes, bool is_signed, bool swap);

#endif
