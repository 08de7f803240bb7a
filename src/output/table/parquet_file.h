/* SPDX-License-Identifier: MIT */
/* A Parquet file that is read: its footer, as far as files of ours have one. */
#ifndef PF_OUTPUT_TABLE_PARQUET_FILE_H
#define PF_OUTPUT_TABLE_PARQUET_FILE_H

#include "output/table/decode.h"
#include "output/table/parquet.h"

enum { PF_PARQUET_MAX_LEAVES = 4096 };

/* A column. */
struct pf_parquet_leaf {
    char *name;
    int type; /* enum pf_parquet_type */
    bool is_required, is_list, is_wall;
};

/* The part of a column that a row group has. */
struct pf_parquet_chunk {
    uint64_t offset, bytes, values;
};

struct pf_parquet_file {
    const struct perfile_allocator *allocator;
    struct pf_arena arena;
    int fd; /* below 0: not open */
    uint64_t bytes, rows;
    char *view; /* "": it does not say */
    struct pf_parquet_leaf *leaves;
    size_t leaf_count;
    uint64_t *group_rows;
    struct pf_parquet_chunk *chunks; /* those of the first group, then the next */
    size_t group_count;
};

/* 0; OPEN, FORMAT, UNSUPPORTED: the file is not like those of ours, MEMORY. To be closed then, too. */
int pf_parquet_file_open(struct pf_parquet_file *file, const struct perfile_allocator *allocator, const char *path,
                         struct perfile_error *error);
void pf_parquet_file_close(struct pf_parquet_file *file);
/* An error of a file, with a message that begins with its path: of one that is too long the end. Returns the code. */
int pf_parquet_fail(struct perfile_error *error, int code, const char *path, const char *why);
/* True when all were read. */
bool pf_parquet_file_read(const struct pf_parquet_file *file, uint64_t offset, void *to, size_t bytes);

#endif
