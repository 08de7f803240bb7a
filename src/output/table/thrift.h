/* SPDX-License-Identifier: MIT */
/* Thrift's compact protocol, which the metadata of Parquet is in: fields in the order of their numbers. */
#ifndef PF_OUTPUT_TABLE_THRIFT_H
#define PF_OUTPUT_TABLE_THRIFT_H

#include "output/table/block.h"

enum pf_thrift_type {
    PF_THRIFT_TRUE = 1,
    PF_THRIFT_FALSE = 2,
    PF_THRIFT_I16 = 4,
    PF_THRIFT_I32 = 5,
    PF_THRIFT_I64 = 6,
    PF_THRIFT_BINARY = 8,
    PF_THRIFT_LIST = 9,
    PF_THRIFT_STRUCT = 12
};

struct pf_thrift {
    struct pf_block *to;
    unsigned depth;
    int last[8]; /* field of the struct at each depth; 0: none yet */
};

/* A member of the struct that is open: its number and its value. */
void pf_thrift_number(struct pf_thrift *thrift, int field, enum pf_thrift_type type, int64_t value);
void pf_thrift_bool(struct pf_thrift *thrift, int field, bool value);
void pf_thrift_bytes(struct pf_thrift *thrift, int field, const void *data, size_t bytes);
void pf_thrift_text(struct pf_thrift *thrift, int field, const char *text);
/* A list: its `count` items follow, structs with pf_thrift_item, others with pf_thrift_item_... */
void pf_thrift_list(struct pf_thrift *thrift, int field, enum pf_thrift_type type, size_t count);
void pf_thrift_item_number(struct pf_thrift *thrift, int64_t value);
void pf_thrift_item_text(struct pf_thrift *thrift, const char *text);
/* A struct: as a member, or (field 0) an item of a list. */
void pf_thrift_begin(struct pf_thrift *thrift, int field);
void pf_thrift_end(struct pf_thrift *thrift);

#endif
