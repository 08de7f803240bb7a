/* SPDX-License-Identifier: MIT */
/*
 * What pprof and OTLP make of an aggregated profile, both in numbered tables:
 *
 *     texts       printable UTF-8, 0 is ""
 *     mappings    binaries; the program itself comes first
 *     functions   with the file of their lines: code of another file in a function is another one there
 *     locations   an address with its lines, the innermost inlined function first
 *     stacks      a node of the profile's tree: the location where it ends, and the node that calls it
 *
 * Mappings, functions and locations are numbered from 1 on, without gaps, and all of them are used by rows.
 */
#ifndef PF_OUTPUT_EXPORT_TABLES_H
#define PF_OUTPUT_EXPORT_TABLES_H

#include "base/pairs.h"
#include "output/export/export.h"
#include "view/dictionary.h"

/* A stack. There are many, so that it is small. */
struct pf_tables_node {
    uint32_t location; /* 0: neither a stack nor a part of one */
    uint32_t caller;   /* the node of the caller's location; PERFILE_NO_ID: no caller is known */
};

/* A location: an address, with the functions that are inlined there up to `frame`. */
struct pf_tables_location {
    uint32_t frame;  /* of the profile: the innermost function */
    uint32_t within; /* the location of the enclosing function; PERFILE_NO_ID: the function is not inlined */
    uint32_t number; /* 0: not used by a stack */
};

struct pf_tables_function {
    uint32_t name, system_name, file; /* texts */
    uint32_t start_line;
    uint32_t kind; /* enum perfile_frame_kind */
};

struct pf_tables_mapping {
    struct perfile_module module;
    uint64_t start, limit; /* of the part that is used, in pages */
    uint64_t offset;       /* of `start` in the file; 0 also where there is no file */
    uint32_t name;         /* text */
    char build_id[41];     /* in hexadecimal; "": not known */
    bool is_used, has_functions, has_files, has_lines, has_inlines;
};

struct pf_tables_line {
    uint32_t function;
    uint32_t line;
};

struct pf_tables_entry {
    uint64_t address;
    uint32_t mapping;
    uint32_t kind;       /* enum perfile_frame_kind, of the function that the others are inlined in */
    uint32_t first_line; /* in lines */
    uint32_t line_count;
};

/* A cache of texts whose numbers were looked up lately. */
enum { PF_TABLES_RECENT = 256 };
struct pf_tables_recent {
    const char *text;
    uint32_t number;
};

struct pf_tables {
    const struct perfile_allocator *allocator;
    const struct perfile_output_options *options;
    const struct perfile_profile *profile;
    struct pf_dictionary texts;
    struct pf_tables_recent recent[PF_TABLES_RECENT]; /* by their addresses */
    struct pf_text scratch;
    struct pf_tables_node *nodes;
    size_t node_count;
    struct pf_tables_location *locations;
    size_t location_count, location_capacity;
    struct pf_pairs inlined;         /* a location and the frame of a function inlined there, to the location with it */
    struct pf_tables_entry *entries; /* by the numbers of locations; [0] is unused */
    size_t entry_count, entry_capacity;
    struct pf_tables_line *lines;
    size_t line_count, line_capacity;
    struct pf_tables_function *functions; /* [0] is unused */
    size_t function_count, function_capacity;
    struct pf_pairs known_functions;
    struct pf_tables_mapping *mappings; /* [0] is unused; while tables are made, there is one for each module */
    size_t mapping_count;
};

/*
 * False when out of memory. Call pf_tables_close after failures, too. The options and `profile` must live as long. With
 * `no_names`, locations of functions without a name have no lines.
 */
bool pf_tables_open(struct pf_tables *tables, const struct perfile_output_options *options,
                    const struct perfile_profile *profile);
void pf_tables_close(struct pf_tables *tables);
/* Returns the number of a text, which must stay where it is; NULL is "". */
uint32_t pf_tables_text(struct pf_tables *tables, const char *text);
/* Returns the number of a text, which is copied. */
uint32_t pf_tables_text_now(struct pf_tables *tables, const char *text);

/* Appends the numbers of the locations of a stack, PERFILE_NO_ID or a node, as varints. */
void pf_tables_put_locations(const struct pf_tables *tables, uint32_t stack, struct pf_text *text);

/* Returns the wall-clock time for a time of the recording, ns since 1970; 0: not known. */
uint64_t pf_tables_wall_time(const struct perfile_profile_recording *recording, uint64_t time);
/* Returns the fixed distance of the event's samples in its unit; 0: it is not fixed. */
uint64_t pf_tables_fixed_period(const struct perfile_reader *reader, const struct perfile_output_options *options,
                                const struct perfile_profile_event *event);

#endif
