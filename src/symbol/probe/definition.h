/* SPDX-License-Identifier: MIT */
/* The texts in which users describe probes and lines, in perf's language: parsed, nothing is looked up. */
#ifndef PF_SYMBOL_PROBE_DEFINITION_H
#define PF_SYMBOL_PROBE_DEFINITION_H

#include "base/memory.h"

/* A step from a variable into it: a member, or an element of an array. */
struct pf_probe_field {
    const char *name; /* NULL: an element */
    int64_t index;
    bool is_arrow; /* name follows -> instead of . */
};

struct pf_probe_argument {
    const char *name;     /* as it is to be called; NULL: it has none */
    const char *variable; /* or what the kernel evaluates itself, such as %ax and $retval */
    const char *type;     /* after the colon; NULL: that of the variable */
    const struct pf_probe_field *fields;
    size_t field_count;
    bool is_user; /* memory of the process is read, in a probe of the kernel */
};

/* GROUP:EVENT=FUNCTION@FILE+OFFSET%return:LINE, or FILE:LINE, or an address. */
struct pf_probe_point {
    const char *group, *event; /* NULL: not given */
    const char *text;          /* without them */
    const char *function;      /* NULL: a line of the file */
    const char *file;          /* NULL: any */
    uint64_t offset, address;
    int64_t line; /* with a function, from its first one */
    bool has_offset, has_address, has_line, is_return;
};

struct pf_probe_definition {
    struct pf_probe_point point;
    const char *argument_text; /* "": none */
    const struct pf_probe_argument *arguments;
    size_t argument_count;
};

/* FUNCTION[@FILE][:FROM[-TO|+COUNT]] or FILE[:FROM[-TO|+COUNT]]. */
struct pf_probe_range {
    const char *function; /* NULL: lines of the file */
    const char *file;     /* NULL: that of the function */
    int64_t from, to;     /* of functions from their first lines; to: INT32_MAX is the last line */
};

/* What they return lives as long as the arena. Errors: ARGUMENT, UNSUPPORTED, MEMORY. */
int pf_probe_parse(struct pf_arena *arena, const char *text, struct pf_probe_definition *definition,
                   struct perfile_error *error);
int pf_probe_parse_range(struct pf_arena *arena, const char *text, struct pf_probe_range *range,
                         struct perfile_error *error);
/* The text begins as names in C do: it is a variable, and nothing that the kernel evaluates itself. */
bool pf_probe_is_variable(const char *text);
/* A letter, a digit or _. */
bool pf_probe_is_name_character(char c);

#endif
