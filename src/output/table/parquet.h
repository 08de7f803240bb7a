/* SPDX-License-Identifier: MIT */
/*
 * A column of a Parquet file. Values come batch by batch and become pages, which are compressed and collected; when the
 * row group is full, they are written after their dictionary. Three threads may work on columns at a time: one encodes,
 * in the order of the batches, others compress, and one collects.
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

struct pf_parquet_column;

/* A page that is encoded. */
struct pf_parquet_page {
    struct pf_parquet_column *column;
    int kind;
    int64_t facts[2];
    struct pf_block raw, small; /* as it is, and compressed */
};

struct pf_parquet_pages {
    struct pf_parquet_page *list;
    size_t count, capacity;
};

/* What pages are encoded in. */
struct pf_parquet_press {
    const struct perfile_allocator *allocator;
    ZSTD_CCtx *zstd;                /* with which pages are compressed and collected at once; NULL: ... */
    struct pf_parquet_pages *later; /* ... they are left here */
    struct pf_block page, small;    /* before and after it */
    struct pf_block other;          /* another encoding of the same values */
    uint64_t raw_bytes;             /* of all pages so far, without their headers */
    int64_t *numbers;               /* of the values that are not null */
    size_t number_capacity;
    uint32_t *codes;
    size_t code_capacity;
};

struct pf_parquet_text {
    uint8_t data[128];
    size_t bytes;
};

/* The least and the greatest value. */
struct pf_parquet_range {
    bool known;    /* there are values */
    bool no_range; /* the values have no range that could be stated */
    int64_t min, max;
    struct pf_parquet_text min_text, max_text;
};

/* What the footer says of a column in a row group. */
struct pf_parquet_facts {
    unsigned encodings; /* a bit for each */
    bool has_dictionary;
    uint64_t value_count, null_count;
    struct pf_parquet_range range;
};

struct pf_parquet_column {
    const struct perfile_allocator *allocator;
    const struct pf_fields *fields;
    const struct pf_field *field;
    enum pf_parquet_type type;
    unsigned max_defined; /* definition level of a value */
    bool is_list;

    /* of the row group, for the encoding thread */
    const struct pf_vector *vector; /* with the rows in hand */
    bool has_dictionary;            /* still */
    struct pf_map numbers;          /* value to number in the dictionary */
    int64_t *values;                /* the dictionary, of numbers */
    uint32_t *texts;                /* the dictionary, of texts: numbers in the vector's */
    size_t dictionary_count, dictionary_capacity;
    uint64_t dictionary_bytes; /* of texts */
    uint32_t *number_of;       /* of a text of the vector's dictionary its number in this one, plus one */
    size_t number_of_capacity;
    struct pf_parquet_facts chunk;

    /* of the row group, for the collecting thread */
    struct pf_block pages, dictionary_page; /* as they are in the file */
    uint64_t raw_bytes;                     /* before they were compressed, with their headers */
};

void pf_parquet_press_open(struct pf_parquet_press *press, const struct perfile_allocator *allocator);
void pf_parquet_press_close(struct pf_parquet_press *press);

void pf_parquet_pages_close(struct pf_parquet_pages *pages, const struct perfile_allocator *allocator);
/* In any thread. */
void pf_parquet_pages_compress(struct pf_parquet_pages *pages, ZSTD_CCtx *zstd);
void pf_parquet_pages_collect(struct pf_parquet_pages *pages);

void pf_parquet_column_open(struct pf_parquet_column *column, const struct pf_fields *fields,
                            const struct pf_field *field);
void pf_parquet_column_close(struct pf_parquet_column *column);
/* Encodes the rows that the vector has, which is that of the column. */
void pf_parquet_column_add(struct pf_parquet_column *column, const struct pf_vector *vector,
                           struct pf_parquet_press *press, size_t rows);
/* Encodes the dictionary after the last rows of the row group, and begins the next one; the vector has all texts. */
void pf_parquet_column_end(struct pf_parquet_column *column, const struct pf_vector *vector,
                           struct pf_parquet_press *press, struct pf_parquet_facts *chunk);
/* Describes for the footer what was collected; it begins at `offset`. */
void pf_parquet_column_describe(const struct pf_parquet_column *column, const struct pf_parquet_facts *chunk,
                                struct pf_thrift *thrift, uint64_t offset);
/* It is written. */
void pf_parquet_column_drop(struct pf_parquet_column *column);

#endif
