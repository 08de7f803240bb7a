/* SPDX-License-Identifier: MIT */
/*
 * The encodings of Parquet's pages and of its metadata, read back. What is read may be anybody's: nothing goes beyond
 * its end.
 */
#ifndef PF_OUTPUT_TABLE_DECODE_H
#define PF_OUTPUT_TABLE_DECODE_H

#include "base/bytes.h"

/*
 * Bytes that are read from their start; `bad` once something was missing or senseless, and then all that is read is
 * zero.
 */
struct pf_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline size_t pf_bytes_left(const struct pf_bytes *bytes)
{
    return bytes->bad ? 0 : (size_t)(bytes->end - bytes->at);
}

/* The next `count` bytes, or NULL. */
const uint8_t *pf_bytes_take(struct pf_bytes *bytes, uint64_t count);
uint32_t pf_bytes_u32(struct pf_bytes *bytes);

/* What pf_encode_runs has made; false when there are not so many numbers. */
bool pf_decode_runs(struct pf_bytes *from, uint32_t *numbers, size_t count, unsigned width);
bool pf_decode_deltas(struct pf_bytes *from, int64_t *numbers, size_t count);
bool pf_decode_plain(struct pf_bytes *from, int64_t *numbers, size_t count, size_t width);
bool pf_decode_bits(struct pf_bytes *from, int64_t *numbers, size_t count);

/* A struct of Thrift's compact protocol whose fields are read one by one. */
struct pf_thrift_reader {
    struct pf_bytes *from;
    int field; /* the number of the field in hand */
    int type;  /* enum pf_thrift_type */
};

struct pf_thrift_reader pf_thrift_open(struct pf_bytes *from);
/* The next field, whose value is to be read or skipped; false: there are no more. */
bool pf_thrift_next(struct pf_thrift_reader *reader);
/* The value of the field in hand; 0 of one of another type, which is skipped. */
int64_t pf_thrift_take_number(struct pf_thrift_reader *reader);
/* Returns a text without a terminator, and its bytes. */
const char *pf_thrift_take_text(struct pf_thrift_reader *reader, size_t *bytes);
/* Returns how many items follow; 0 when the value is not a list of `type`. */
size_t pf_thrift_take_list(struct pf_thrift_reader *reader, int type);
void pf_thrift_skip(struct pf_thrift_reader *reader);

#endif
