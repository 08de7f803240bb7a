/* SPDX-License-Identifier: MIT */
/*
 * The formats of tables: X(name, is_binary, doc, ...) for each `const struct pf_table_format pf_table_format_<name>`.
 * The first one is the default; the others are also formats of the verbs whose rows are a view (TABLES in outputs.def).
 */
#ifndef PF_OUTPUT_TABLE_FORMATS_H
#define PF_OUTPUT_TABLE_FORMATS_H

#define PF_TABLE_FILES(X, ...)                                                                                         \
    X(csv, false, "a header line and a line for each row; lists have ; between their items", __VA_ARGS__)              \
    X(json, false, "one object: columns, rows, losses, notes", __VA_ARGS__)                                            \
    X(jsonl, false, "an object on a line for each row, with the columns as members", __VA_ARGS__)                      \
    X(parquet, true, "Apache Parquet: columns, compressed with zstd", __VA_ARGS__)                                     \
    X(arrow, true, "an Arrow IPC file", __VA_ARGS__)
#define PF_TABLE_FORMATS(X, ...) X(text, false, "human-readable", __VA_ARGS__) PF_TABLE_FILES(X, __VA_ARGS__)

#endif
