/* SPDX-License-Identifier: MIT */
/* Rows that are kept: for a second reading, and to have those with equal values of a field beside each other. */
#ifndef PERFILE_CLI_QUERY_STORE_H
#define PERFILE_CLI_QUERY_STORE_H

#include "source.h"

struct pf_row {
    uint32_t batch, row;
};

enum { PF_GROUP_FIELDS_MAX = 8 };

/* The rows in the order of the values of fields; their groups are those of the first field. */
struct pf_groups {
    size_t fields[PF_GROUP_FIELDS_MAX], field_count;
    struct pf_row *rows; /* group after group */
    uint32_t *starts;    /* of `count` groups, and the end */
    struct pf_cell *values;
    uint32_t *slots;   /* hash table: number of a group plus 1 */
    size_t slot_count; /* a power of two */
    size_t count, capacity;
    struct pf_groups *next;
};

struct pf_store {
    bool *wanted, *selected; /* of the request; owned; `selected` may be NULL */
    struct pf_batch *batches;
    size_t batch_count, batch_capacity;
    uint32_t row_count;
    struct pf_groups *groups; /* of each field that was asked for */
};

/* Reads everything that the request needs. NULL: an error, with sources->error filled. */
struct pf_store *pf_store_read(struct pf_sources *sources, const struct pf_request *request);
void pf_store_free(struct pf_store *store);
/* Groups by at least one field. NULL: out of memory. */
const struct pf_groups *pf_store_group(struct pf_store *store, const size_t *fields, size_t count);
/* The group with this value, which is not a list; `count` when no row has it. */
size_t pf_groups_find(const struct pf_groups *groups, const struct pf_cell *value);

#endif
