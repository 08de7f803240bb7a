/* SPDX-License-Identifier: MIT */
/*
 * A column of a Parquet file. Values come batch by batch and become pages that are compressed at once; when the row group
 * is full, they go out behind their dictionary.
 */
#ifndef PF_OUTPUT_TABLE_PARQUET_H
#define PF_OUTPUT_TABLE_PARQUET_H

#include <zstd.h>

#include "base/map.h"
#include "output/table/encode.h"
#include "output/table/fields.h"
#include "output/table/thrift.h"

/* As the format numbers them. */
enum pf_parquet_type {
    PF_PARQUET_BOOLEAN = 0,
    PF_PARQUET_INT32 = 1,
    PF_PARQUET_INT64 = 2,
    PF_PARQUET_DOUBLE = 5,
    PF_PARQUET_BYTE_ARRAY = 6
};
enum pf_parquet_encoding {
    PF_PARQUET_PLAIN = 0,
    PF_PARQUET_RLE = 3,
    PF_PARQUET_DELTA_BINARY_PACKED = 5,
    PF_PARQUET_RLE_DICTIONARY = 8
};
enum { PF_PARQUET_ZSTD = 6 };

/* What pages are made in; of all columns that one thread makes. */
struct pf_parquet_press {
    const struct perfile_allocator *allocator;
    ZSTD_CCtx *zstd;
    struct pf_block page;  /* before it is compressed */
    struct pf_block small; /* compressed */
    struct pf_block other; /* another encoding of the same values */
    int64_t *numbers;      /* of the values that are not null */
    size_t number_room;
    uint32_t *codes;
    size_t code_room;
};

struct pf_parquet_text {
    uint8_t data[128];
    size_t bytes;
};

/* The least and the greatest value. */
struct pf_parquet_range {
    bool known;    /* there are values */
    bool no_range; /* they have none that could be said */
    int64_t least, most;
    struct pf_parquet_text least_text, most_text;
};

struct pf_parquet_column {
    const struct perfile_allocator *allocator;
    const struct pf_fields *fields;
    const struct pf_field *field;
    enum pf_parquet_type type;
    unsigned most_defined; /* definition level of a value */
    bool is_list;

    /* of the row group */
    bool has_dictionary;   /* still */
    struct pf_map numbers; /* value to number in the dictionary */
    int64_t *values;       /* the dictionary, of numbers */
    uint32_t *texts;       /* the dictionary, of texts: numbers in the vector's */
    size_t dictionary_count, dictionary_room;
    uint64_t dictionary_bytes; /* of texts */
    uint32_t *number_of;       /* of a text of the vector's dictionary its number in this one, plus one */
    size_t number_of_room;
    struct pf_block pages;
    unsigned encodings; /* a bit for each */
    uint64_t value_count, null_count;
    uint64_t raw_bytes; /* of the pages before they were compressed, with their headers */
    struct pf_parquet_range range;
};

/* False when out of memory; to be closed then, too. */
bool pf_parquet_press_open(struct pf_parquet_press *press, const struct perfile_allocator *allocator);
void pf_parquet_press_close(struct pf_parquet_press *press);

void pf_parquet_column_open(struct pf_parquet_column *column, const struct pf_fields *fields,
                            const struct pf_field *field);
void pf_parquet_column_close(struct pf_parquet_column *column);
/* Adds the rows that the vector has. */
void pf_parquet_column_add(struct pf_parquet_column *column, struct pf_parquet_press *press, size_t rows);
/* The page of its dictionary as it stands in the file; empty when there is none. */
void pf_parquet_column_dictionary(struct pf_parquet_column *column, struct pf_parquet_press *press,
                                  struct pf_block *to);
/* What the footer says of it; it begins at `offset`, with `dictionary` bytes of that page. */
void pf_parquet_column_describe(struct pf_parquet_column *column, struct pf_thrift *thrift, uint64_t offset,
                                size_t dictionary);
/* Begins the next row group. */
void pf_parquet_column_clear(struct pf_parquet_column *column);

#endif
