/* SPDX-License-Identifier: MIT */
/* JSON that verbs write themselves: reports of edits, help. Rows of tables are written by the library. */
#ifndef PERFILE_CLI_JSON_H
#define PERFILE_CLI_JSON_H

#include <stdio.h>

#include <perfile/perfile.h>

struct pf_json_writer {
    struct perfile_sink sink;
    bool comma; /* the next member needs one before it */
};

struct pf_json_writer pf_json_writer_to_file(FILE *to);

/* Adds a member to the open object; `name` is NULL inside a list. The sink's owner notices failed writes. */
void pf_json_writer_begin(struct pf_json_writer *json, const char *name, bool list);
void pf_json_writer_end(struct pf_json_writer *json, bool list);
/* Bytes that are not UTF-8 become \xHH. */
void pf_json_writer_text(struct pf_json_writer *json, const char *name, const char *text);
void pf_json_writer_number(struct pf_json_writer *json, const char *name, uint64_t value);
void pf_json_writer_bool(struct pf_json_writer *json, const char *name, bool value);
/* The next member starts a new line. */
void pf_json_writer_break(struct pf_json_writer *json);
/* Called once after the complete object. */
void pf_json_writer_finish(struct pf_json_writer *json);

/* A member of a struct that is a count. */
struct pf_json_count {
    const char *name;
    size_t offset;
};
#define PF_JSON_COUNT(type, member)                                                                                    \
    {                                                                                                                  \
#member, offsetof(struct type, member)                                                                         \
    }
void pf_json_writer_counts(struct pf_json_writer *json, const struct pf_json_count *counts, size_t count,
                           const void *of);

#endif
