/* SPDX-License-Identifier: MIT */
/*
 * The fields of files of columns: the shown columns, and after each column that is a time the time of day, where the
 * recording says how its clock relates to it.
 */
#ifndef PF_OUTPUT_TABLE_FIELDS_H
#define PF_OUTPUT_TABLE_FIELDS_H

#include "base/json.h"
#include "output/table/format.h"

struct pf_field {
    size_t index; /* of the vector, in pf_sheet.columns */
    const struct pf_column *column;
    char *name;   /* of no other field; UTF-8 */
    bool is_wall; /* of the vector's times: us since 1970 */
};

struct pf_fields {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    struct pf_field *list;
    size_t count;
    uint64_t ahead_ns; /* of the time of day, before the recording's clock; modulo 2^64 */
};

/* Of the table as it is with its first rows. False when out of memory; to be closed then, too. */
bool pf_fields_open(struct pf_fields *fields, struct perfile_table *table);
void pf_fields_close(struct pf_fields *fields);

/* Never null. */
bool pf_field_is_required(const struct pf_field *field);
/* us since 1970. */
int64_t pf_fields_wall_time(const struct pf_fields *fields, uint64_t time_ns);
/* "type", "unit", "doc". */
enum { PF_FIELD_FACTS = 3 };
struct pf_field_fact {
    const char *name, *text;
};
void pf_field_facts(const struct pf_field *field, struct pf_field_fact facts[PF_FIELD_FACTS]);

/*
 * The facts about the complete table, as keys with values of text or JSON: view, columns, recording, losses (at the
 * end), version.
 */
enum { PF_TABLE_FACTS = 5 };
/* Returns the key; its value is appended to `value`. NULL: there is no such fact. */
const char *pf_fields_table_fact(const struct pf_fields *fields, struct perfile_table *table, size_t index,
                                 struct pf_text *value);

#endif
